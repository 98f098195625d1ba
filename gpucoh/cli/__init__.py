"""The command line: ``gpucoh``, also ``python -m gpucoh``."""

from gpucoh.cli.program import call, main

__all__ = ["call", "main"]
