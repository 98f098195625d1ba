"""The program with all its commands, for tools that list them: ``python -m typer gpucoh.cli.whole utils docs``."""

from __future__ import annotations

from gpucoh.cli.application import application

app = application()
