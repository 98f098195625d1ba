"""Exhaustive exploration of small programs on small machines, and the outcomes that memory models allow."""
