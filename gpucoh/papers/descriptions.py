"""Numbers of the protocols' descriptions beside a paper's: states, transitions, bits of state and of timestamps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpucoh.device.gpu import resolve
from gpucoh.device.protocols import Protocol
from gpucoh.machines import machine
from gpucoh.papers.claims import Claim, Paper, StateCount
from gpucoh.papers.runs import missing_protocol
from gpucoh.papers.structures import STRUCTURES, TIMESTAMPS, structure_size

_WORD_BITS = 32
# The state of the words of a line that is not present.
_ABSENT = "NP"


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


def _controller(protocol: Protocol, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(
        item for item in protocol.json["controllers"] if item["name"] == name
    )
    return found


def timestamp_bits(protocol: str, controller: str, machine_id: str) -> int:
    """Bits of the timestamps that a controller keeps of a line."""
    fields = _controller(resolve(protocol).protocol, controller)["metadata"]["tags"]
    timestamps: int = sum(item["kind"] in TIMESTAMPS for item in fields)
    return timestamps * int(machine(machine_id).timestamp_bits)


def state_bits(protocol: str, controller: str, per: str) -> int:
    """Bits of state and of write masks that a controller's cache keeps, per ``line`` or ``word``.

    The stable states of the table over ``per`` are encoded, those of the words of lines that are present; transient
    states are in MSHRs. Where lines have the states, and blocks of one core synchronise without writing back, each
    word of the L1 needs a dirty bit too.
    """
    found = resolve(protocol).protocol
    table = _controller(found, controller)["tables"][0]
    if table["object"] == per:
        present_states = set(table["stable"]) - ({_ABSENT} if per == "word" else set())
        return (len(present_states) - 1).bit_length()
    keeps_local_writes = controller == "L1" and "hrf" in found.models
    return int(table["object"] == "line" and keeps_local_writes)


def _size(paper: Paper, claim: Claim, protocol: str) -> float:
    if claim.per in STRUCTURES:
        return structure_size(protocol, claim.per, paper.machine)
    return state_bits(protocol, claim.controller, claim.per)


def claimed_size(paper: Paper, claim: Claim) -> float:
    """The bits, entries or share that a claim of storage is about, beyond those of its baseline if it has one."""
    if not claim.per:
        return timestamp_bits(claim.subject, claim.controller, paper.machine)
    ours, base = (
        _size(paper, claim, name) if name else 0 for name in (claim.subject, claim.baseline)
    )
    return ours - base


# measure -> the number that the descriptions give for a claim
DESCRIBED: dict[str, Callable[[Paper, Claim], float]] = {
    "states": lambda paper, claim: (
        transient_coherence_states(claim.subject) - transient_coherence_states(claim.baseline)
    ),
    "states_total": lambda paper, claim: states(claim.subject),
    "storage_bits": claimed_size,
    "storage_entries": claimed_size,
    "storage_ratio": claimed_size,
}


def storage_rows(paper: Paper, line_bits: int) -> list[dict[str, object]]:
    """Storage of lines and words: the paper's bits, those here, and the share of a line of ``line_bits`` or a word."""
    return [
        {
            "protocol": f"{claim.subject} beyond {claim.baseline}"
            if claim.baseline
            else claim.subject,
            "controller": claim.controller,
            "per": claim.per or "line",
            "paper: bits": claim.value,
            "paper: overhead": f"{claim.value / (_WORD_BITS if claim.per == 'word' else line_bits):.1%}",
            "here: bits": None
            if missing_protocol(claim.subject)
            else int(claimed_size(paper, claim)),
        }
        for claim in paper.claims
        if claim.measure == "storage_bits" and claim.value is not None
    ]


def structure_rows(paper: Paper) -> list[dict[str, object]]:
    """Bits of structures: the paper's, and those here."""
    return [
        {
            "structure": claim.per,
            "protocol": claim.subject,
            "where": claim.where,
            "paper: bits": int(claim.value),
            "here: bits": None
            if missing_protocol(claim.subject)
            else int(claimed_size(paper, claim)),
            "what": claim.says,
        }
        for claim in paper.claims
        if claim.per in STRUCTURES and claim.measure == "storage_bits" and claim.value is not None
    ]


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


# The rows of a paper's tables, by the name that its file of figures gives them.
ROWS: dict[str, Callable[..., list[dict[str, object]]]] = {
    "states": state_rows,
    "storage": storage_rows,
    "structures": structure_rows,
}
