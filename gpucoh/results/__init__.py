"""What a run leaves: counters, energy, and the run's result."""
