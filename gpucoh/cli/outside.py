"""``gpucoh new-protocol``: the beginning of a protocol of one's own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.device import outside
from gpucoh.device.gpu import protocols

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_protocol_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The protocol's id; the file is NAME.c.")
    ],
    leases: Annotated[
        bool,
        typer.Option("--leases", help="Begin with L1 copies that have leases, not without copies."),
    ] = False,
    owners: Annotated[
        bool,
        typer.Option(
            "--owners", help="Begin with L1s that own lines (MSI), which a directory calls home."
        ),
    ] = False,
    acquires: Annotated[
        bool,
        typer.Option(
            "--acquires",
            help="Begin with L1 copies that acquires drop, for programs without data races.",
        ),
    ] = False,
) -> None:
    """Write the C file of a new protocol: a small one that runs and is explored, to be changed.

    It compiles where it lies; every command takes it in place of a protocol's id.

    Examples:

      gpucoh new-protocol mine

      gpucoh run stn -p ./mine.c --scale tiny --check

      gpucoh verify -p ./mine.c --states 200000

      gpucoh compare -p no-l1,tc-weak,./mine.c

      gpucoh new-protocol msi --owners

      gpucoh new-protocol plain --acquires
    """
    given = {"leases": leases, "owners": owners, "acquires": acquires}
    kinds = [kind for kind, is_given in given.items() if is_given]
    if len(kinds) > 1:
        options = " and ".join(f"--{kind}" for kind in kinds)
        raise ConfigError(f"{options} are {len(kinds)} beginnings: give one")
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{quoted(name)} is no protocol's id: give small letters, digits and hyphens, a letter first"
        )
    if name in protocols():
        raise ConfigError(f"{quoted(name)} is a protocol of gpucoh: choose another id")
    file = Path(f"{name}.c")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(outside.skeleton(name, *kinds))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from None
    sys.stdout.write(
        f"wrote {file}: it says how to go on. gpucoh run stn -p ./{file} --scale tiny --check\n"
    )
