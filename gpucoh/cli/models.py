"""Models of protocols for other checkers, as ``gpucoh protocols --murphi`` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import whole_file
from gpucoh.cli.options import stdout_console
from gpucoh.export.exporting import DEFAULT_PROGRAMS, export

__all__ = ["DEFAULT_PROGRAMS", "write_model"]


def write_model(protocol: str | None, path: Path, programs: Sequence[str], evictions: int) -> None:
    """Write the model, and print what gpucoh's own explorer counts."""
    if protocol is None:
        raise ConfigError("--murphi takes one protocol: gpucoh protocols ID --murphi FILE")
    found = export(protocol, programs=programs, evictions=evictions)
    with whole_file(path) as part:
        part.write_text(found.text, encoding="utf-8")
    console = stdout_console()
    for item in found.counted:
        wrong = f"; {item.violation}" if item.violation else ""
        console.print(Text(f"{item.program}: {item.states:,} states{wrong}"), soft_wrap=True)
    console.print(Text(f"{sum(item.states for item in found.counted):,} states in all; {path}"))
