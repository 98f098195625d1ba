"""The command line: ``gpucoh``, also ``python -m gpucoh``."""

from gpucoh.cli.commands import app
from gpucoh.cli.program import call, main

__all__ = ["app", "call", "main"]
