"""Runs of workloads: one run, matrices, sweeps, and the files of their results."""
