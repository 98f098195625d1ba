"""The machine fields that nothing of one machine under one protocol reads.

Most fields are read always. For the others, :data:`READERS` names the parts that read them; a GPU that has none of the
parts has the same statistics whatever the field's value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpucoh.device.choices import Choice
from gpucoh.machines import Machine


@dataclass(frozen=True)
class Reader:
    """A part that not every GPU has.

    Attributes
    ----------
    lack : str
        What a GPU without it lacks.
    fields : tuple of str
        The machine fields that it alone reads.
    exists : callable
        Whether a machine under a protocol and a consistency rule has it.
    """

    lack: str
    fields: tuple[str, ...]
    exists: Callable[[Machine, Choice, str], bool]


def _at(position: str) -> Callable[[Machine, Choice, str], bool]:
    return lambda machine, choice, rule: any(
        controller["position"] == position for controller in choice.selected.json["controllers"]
    )


def _has_star(machine: Machine, choice: Choice, rule: str) -> bool:
    return any(network["star"] for network in choice.selected.json["networks"])


def _under(*rules: str) -> Callable[[Machine, Choice, str], bool]:
    return lambda machine, choice, rule: rule in rules


_ROWS = (
    *("dram_row_bytes", "dram_burst_bytes", "dram_t_cl", "dram_t_rp", "dram_t_rc"),
    *("dram_t_ras", "dram_t_ccd", "dram_t_wl", "dram_t_rcd", "dram_t_rrd", "dram_t_cdlr"),
    *("dram_t_wr", "dram_t_rtpl"),
)
_L3 = ("memory_units", "memory_mhz", "l3_kib", "l3_ways", "l3_mshrs", "l3_latency")
READERS = (
    Reader(
        "the protocol's stores pass the L2 on their way to the memory side",
        ("l2_byte_masks",),
        lambda machine, choice, rule: not _at("memory")(machine, choice, rule),
    ),
    Reader(
        "the machine translates nothing (tlb_reach_kib = 0)",
        ("tlb_miss_cycles",),
        lambda machine, choice, rule: machine.tlb_reach_kib > 0,
    ),
    Reader(
        "the protocol has no L1",
        ("l1_kib", "l1_ways", "l1_replacement", "l1_latency"),
        lambda machine, choice, rule: choice.protocol.has_l1,
    ),
    Reader("the protocol has no controller at the memory side", _L3, _at("memory")),
    Reader(
        "the protocol has no controller for the whole machine",
        ("global_units", "global_mhz"),
        _at("global"),
    ),
    Reader("the protocol has no host agent", ("host_units", "host_mhz"), _at("host")),
    Reader(
        "the protocol sends nothing over the star",
        ("star_mhz", "star_latency", "star_ports"),
        _has_star,
    ),
    Reader(
        "the protocol has no timestamps",
        ("timestamp_bits",),
        lambda machine, choice, rule: choice.protocol.keeps_time,
    ),
    Reader(
        "the machine has one die",
        ("page_kib", "placement_of_pages", "links", "l2_near"),
        lambda machine, choice, rule: machine.dies > 1,
    ),
    Reader(
        "no two dies are on a GPU (dies = gpus)",
        ("die_latency", "die_bytes"),
        lambda machine, choice, rule: machine.dies > machine.gpus,
    ),
    Reader(
        "the machine has one GPU",
        ("gpu_latency", "gpu_bytes"),
        lambda machine, choice, rule: machine.gpus > 1,
    ),
    Reader(
        "the machine has no CPU cache (cpu_kib = 0)",
        ("cpu_ways", "cpu_probe_cycles", "cpu_transfer_cycles"),
        lambda machine, choice, rule: machine.cpu_kib > 0,
    ),
    Reader(
        "the machine's network is not a mesh",
        ("mesh_width",),
        lambda machine, choice, rule: machine.topology == "mesh",
    ),
    Reader(
        "the machine's DRAM has no banks (dram_model = fixed)",
        ("dram_banks",),
        lambda machine, choice, rule: machine.dram_model != "fixed",
    ),
    Reader(
        "the machine's DRAM has no rows (dram_model = fixed or closed)",
        _ROWS,
        lambda machine, choice, rule: machine.dram_model == "fr_fcfs",
    ),
    Reader(
        "the machine's DRAM is not closed (dram_model = fixed or fr_fcfs)",
        ("dram_bank_cycles",),
        lambda machine, choice, rule: machine.dram_model == "closed",
    ),
    Reader("no DRAM model has bank groups", ("dram_t_ccdl",), _under()),
    Reader("the consistency rule is not sc", ("scratchpad_order",), _under("sc")),
    Reader(
        "the consistency rule is neither drf nor hrf", ("relaxed_unordered",), _under("drf", "hrf")
    ),
    Reader(
        "the consistency rule is sc",
        ("block_fences_free", "word_order", "fence_drains"),
        _under("rc", "drf", "hrf"),
    ),
    Reader(
        "the protocol's releases travel by themselves",
        ("fence_trip",),
        lambda machine, choice, rule: not choice.protocol.release_travels,
    ),
)


def unread(machine: Machine, choice: Choice, rule: str) -> dict[str, str]:
    """The fields that nothing reads, each with the reason."""
    return {
        field: reader.lack
        for reader in READERS
        if not reader.exists(machine, choice, rule)
        for field in reader.fields
    }


def notes(given: Iterable[str], machine: Machine, choice: Choice, rule: str) -> tuple[str, ...]:
    """A note for each of the fields that a user set and nothing reads."""
    given = list(given)
    found = unread(machine, choice, rule) if given else {}
    named = {field: machine.numbers()[field] for field in given if field in found}
    return tuple(
        f"{field} = {value if isinstance(value, str) else f'{value:.12g}'} has no effect: {found[field]}"
        for field, value in named.items()
    )
