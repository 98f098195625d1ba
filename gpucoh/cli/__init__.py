"""The command line: ``gpucoh``, also ``python -m gpucoh``."""

from gpucoh.cli.commands import app, call, main

__all__ = ["app", "call", "main"]
