"""Runs of workloads, and the store of their rows: single runs, comparisons, sweeps."""
