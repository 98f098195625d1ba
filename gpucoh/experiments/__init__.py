"""Runs of workloads: single runs, matrices, sweeps, and result files."""
