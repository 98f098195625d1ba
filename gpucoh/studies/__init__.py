"""Studies: matrices of runs in one store, their tables and figures."""
