"""Numbers of the protocols' descriptions beside a paper's: states, transitions, bits of timestamps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpucoh.gpu import resolve
from gpucoh.machines import machine
from gpucoh.papers.claims import Claim, Paper, StateCount
from gpucoh.papers.runs import missing_protocol
from gpucoh.protocols import Protocol

# Kinds of metadata that are timestamps.
_TIMESTAMPS = ("TIME", "LOGICAL")


def _tables(protocol: Protocol) -> Iterator[Mapping[str, Any]]:
    """The tables over lines; units have tables of their own."""
    for controller in protocol.json["controllers"]:
        yield from (table for table in controller["tables"] if table["object"] == "line")


def transient_coherence_states(protocol: str) -> int:
    """Number of transient coherence states, L1 and L2."""
    return sum(
        state["kind"] == "transient_coherence"
        for table in _tables(resolve(protocol).protocol)
        for state in table["states"]
    )


def states(protocol: str) -> int:
    """Number of states, L1 and L2."""
    return sum(len(table["states"]) for table in _tables(resolve(protocol).protocol))


def storage_bits(protocol: str, controller: str, machine_id: str) -> int:
    """Bits of the timestamps that a controller keeps of a line."""
    fields = next(
        item["metadata"]["tags"]
        for item in resolve(protocol).protocol.json["controllers"]
        if item["name"] == controller
    )
    timestamps: int = sum(item["kind"] in _TIMESTAMPS for item in fields)
    return timestamps * int(machine(machine_id).timestamp_bits)


# measure -> the number that the descriptions give for a claim
DESCRIBED: dict[str, Callable[[Paper, Claim], float]] = {
    "states": lambda paper, claim: (
        transient_coherence_states(claim.subject) - transient_coherence_states(claim.baseline)
    ),
    "states_total": lambda paper, claim: states(claim.subject),
    "storage_bits": lambda paper, claim: storage_bits(
        claim.subject, claim.controller, paper.machine
    ),
}


def state_rows(paper: Paper) -> list[dict[str, object]]:
    """The paper's counts of states and transitions, and those here; hardened cells are counted apart."""
    return [_state_row(count) for count in paper.state_counts]


def _state_row(count: StateCount) -> dict[str, object]:
    table = None
    if not missing_protocol(count.protocol):
        table = resolve(count.protocol).selected.controllers[count.controller]
    return {
        "protocol": count.protocol,
        "controller": count.controller,
        "paper: states": count.total,
        "paper: stable": count.stable,
        "paper: transitions": count.transitions,
        "here: states": table and len(table.states),
        "here: stable": table and len(table.stable),
        "here: transitions": table and table.transitions,
        "here: hardened": table and table.hardened,
    }
