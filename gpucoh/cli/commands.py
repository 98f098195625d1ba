"""``gpucoh protocols``, ``machines`` and ``workloads``: what there is."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.cli.options import (
    JsonOption,
    machine_names,
    one_form,
    print_json,
    protocol_ids,
    stdout_console,
    workload_ids,
)
from gpucoh.device.gpu import protocols, resolve
from gpucoh.machines import machine, machines
from gpucoh.suite import find, workloads
from gpucoh.terminal import tables


def protocols_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Protocol id. Default: list all.", autocompletion=protocol_ids
        ),
    ] = None,
    as_json: JsonOption = False,
    dot: Annotated[
        bool, typer.Option("--dot", help="Print the state graphs in Graphviz' DOT language.")
    ] = False,
    murphi: Annotated[str | None, typer.Option("--murphi", hidden=True)] = None,
) -> None:
    """List the protocols, or print one protocol's states and transition tables.

    Examples:

      gpucoh protocols

      gpucoh protocols ideal

      gpucoh protocols no-l1 --dot | dot -Tsvg > no-l1.svg
    """
    one_form(("--json", as_json), ("--dot", dot))
    if murphi is not None:
        raise ConfigError("--murphi was removed; 0.3.0 was the last version that has it")
    chosen = protocols() if name is None else {name: resolve(name).selected}
    if dot:
        if name is None:
            raise ConfigError("--dot takes one protocol: gpucoh protocols ID --dot")
        sys.stdout.write(chosen[name].dot())
    elif as_json:
        print_json([item.to_dict() for item in chosen.values()])
    elif name is None:
        tables.print_protocols(stdout_console(), chosen)
    else:
        tables.print_protocol(stdout_console(), chosen[name])


def machines_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            autocompletion=machine_names,
            help="Machine id or TOML file. Default: list all.",
        ),
    ] = None,
    as_json: JsonOption = False,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the machine as TOML, to edit and pass with -m.")
    ] = False,
) -> None:
    """List the machines, or print one machine's numbers with their sources.

    Fixed in every machine: an L1 has one port and no banks; a partition's L2
    is one bank that accepts one request per L2 cycle and port, an atomic with
    all its lanes; consecutive DRAM rows are in consecutive banks (docs/how-to/add-a-machine.md).

    Examples:

      gpucoh machines fermi

      gpucoh machines fermi --toml > mine.toml; gpucoh run bfs -p ideal -m mine.toml
    """
    one_form(("--json", as_json), ("--toml", toml))
    chosen = machines() if name is None else {name: machine(name)}
    if toml:
        if name is None:
            raise ConfigError("--toml takes one machine: gpucoh machines ID --toml")
        sys.stdout.write(chosen[name].toml())
    elif as_json:
        listed = [
            {
                "id": item.name,
                "fields": item.numbers(),
                "derived": item.derived,
                "sources": {field: item.source(field) for field in item.numbers()},
            }
            for item in chosen.values()
        ]
        print_json(listed if name is None else listed[0])
    elif name is None:
        tables.print_machines(stdout_console(), chosen)
    else:
        tables.print_machine(stdout_console(), chosen[name])


def workloads_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            autocompletion=workload_ids,
            help="Workload id, or FILE.py:NAME for one of your own. Default: list all.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the workloads, or print one workload's parameters.

    Examples:

      gpucoh workloads

      gpucoh workloads bfs
    """
    chosen = workloads() if name is None else {name: find(name)}
    if as_json:
        listed = [item.to_dict() for item in chosen.values()]
        print_json(listed if name is None else listed[0])
    elif name is None:
        tables.print_workloads(stdout_console(), chosen)
    else:
        tables.print_workload(stdout_console(), chosen[name])
