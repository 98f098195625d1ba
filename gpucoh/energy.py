"""Energy: what was counted, times coefficients, each coefficient with its unit and source.

The network is modelled in the manner of ORION: dynamic energy by events (buffer write and read, crossbar, arbiters,
link), static energy by ports x virtual networks x buffer depth x time. Caches, scratchpad, DRAM and cores have an
energy an event and a power. The coefficients are for a 40 nm GPU of the papers' time: the model is for ratios between
protocols on one machine, not for the joules of a product.

References
----------
.. [1] A. Kahng et al., "ORION 2.0: A Power-Area Simulator for Interconnection Networks", TVLSI 2012.
.. [2] S. Keckler et al., "GPUs and the Future of Parallel Computing", IEEE Micro 2011.
.. [3] N. Muralimanohar, R. Balasubramonian, N. Jouppi, "CACTI 6.0", HP Laboratories 2009.
.. [4] J. Leng et al., "GPUWattch: Enabling Energy Optimizations in GPGPUs", ISCA 2013.
.. [5] M. O'Connor et al., "Fine-Grained DRAM", MICRO 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARTS = ("noc_dynamic", "noc_static", "l1", "l2", "dram", "scratchpad", "core")

# To joules, or to joules a second, from the first word of a coefficient's unit.
_SCALES = {"pJ": 1e-12, "uW": 1e-6, "mW": 1e-3, "W": 1.0}

# The cache that cache_data is given for; an access of another size costs the square root of the ratio.
REFERENCE_CACHE_KIB = 32.0


@dataclass(frozen=True)
class Coefficient:
    """A number with its unit, what it is of, and where it comes from."""

    value: float
    unit: str
    text: str
    source: str

    @property
    def scale(self) -> float:
        """From the unit to joules (of events) or watts (of powers)."""
        return _SCALES[self.unit.partition("/")[0]]


@dataclass(frozen=True)
class Term:
    """One product of the model: so much of what a coefficient is of, in one part.

    Attributes
    ----------
    part : str
        One of :data:`PARTS`, or an array or part of a controller: ``l2_directory``, ``l1_store_buffer``.
    coefficient : str
        Its name in :data:`COEFFICIENTS`.
    amount : float
        In what the unit is divided by: bits, bit mm, events; for powers that times seconds.
    """

    part: str
    coefficient: str
    amount: float


_ORION = "inferred: order of ORION 2.0's routers [1] at 45 to 40 nm"
_WIRE = "240 fJ a transition, bit and mm at 40 nm (table 1 of [2]); half the bits change"
_CACTI = "inferred: order of CACTI [3] for a small 40 nm SRAM; [2] has 14 pJ for 64 bits of 8 KiB"
_WATTCH = "inferred: fermi at full issue and bandwidth comes to about 100 W, GPUWattch's [4] order"

COEFFICIENTS: dict[str, Coefficient] = {
    "buffer_write": Coefficient(0.06, "pJ/bit", "a flit into a virtual-channel buffer", _ORION),
    "buffer_read": Coefficient(0.05, "pJ/bit", "a flit out of a virtual-channel buffer", _ORION),
    "crossbar": Coefficient(
        0.005,
        "pJ/bit/port",
        "a flit through a router's crossbar, whose wires grow with its inputs and outputs",
        _ORION,
    ),
    "vc_allocation": Coefficient(1.0, "pJ", "arbitration for a message at a router", _ORION),
    "switch_allocation": Coefficient(0.5, "pJ", "arbitration for a flit at a router", _ORION),
    "link": Coefficient(0.12, "pJ/bit/mm", "a flit over a link", _WIRE),
    "buffer_power": Coefficient(
        2.0,
        "uW/bit",
        "leakage of a bit of virtual-channel buffer, with its share of clock and control",
        "inferred: equals the dynamic part at about a twentieth of the fermi network's peak load",
    ),
    "cache_tags": Coefficient(5.0, "pJ", "a look-up in a set's tags", _CACTI),
    "cache_data": Coefficient(
        0.2,
        "pJ/bit",
        "a line read or written, in 32 KiB; grows with the square root of the size",
        _CACTI,
    ),
    "cache_power": Coefficient(0.3, "mW/KiB", "a cache's leakage and clock", _CACTI),
    "scratchpad_data": Coefficient(
        0.1, "pJ/bit", "a word a lane of a warp's access to the scratchpad", _CACTI
    ),
    "scratchpad_power": Coefficient(0.3, "mW/KiB", "a scratchpad's leakage and clock", _CACTI),
    "dram_data": Coefficient(
        12.0,
        "pJ/bit",
        "a bit read or written: column access and interface",
        "14 pJ/bit of GDDR5 in all [5]; inferred: less the share of one row a line",
    ),
    "dram_row": Coefficient(
        2500.0,
        "pJ",
        "a row opened and closed",
        "inferred: order of activate and precharge of a 2 KiB row",
    ),
    "dram_power": Coefficient(
        150.0,
        "mW",
        "a channel's standby and refresh",
        "inferred: order of the active standby of two GDDR5 devices",
    ),
    "warp_instruction": Coefficient(
        400.0, "pJ", "fetch, decode, scheduling and scoreboard of a warp instruction", _WATTCH
    ),
    "lane_instruction": Coefficient(
        40.0, "pJ", "registers and execution of one lane's instruction", _WATTCH
    ),
    "core_cycle": Coefficient(
        700.0, "pJ", "a core cycle with a resident block: clock and pipeline latches", _WATTCH
    ),
    "core_power": Coefficient(1.0, "W", "a core's leakage", _WATTCH),
}

# Millimetres of a link, by topology; inferred. The die of a GTX 480 is 529 mm2: about half its side between a core and
# the crossbar's far end, about a quarter between neighbours of a 4 x 4 grid.
LINK_MM = {"crossbar": 10.0, "star": 10.0, "mesh": 5.0}


def terms(
    counted: Mapping[str, Any], machine: Mapping[str, Any], *, networks: int, has_l1: bool
) -> list[Term]:
    """Every product that the energy of a run is the sum of.

    Parameters
    ----------
    counted : mapping
        A GPU's statistics.
    machine : mapping
        The machine's fields by name.
    networks : int
        Virtual networks that the protocol declares.
    has_l1 : bool
        Whether the protocol keeps lines in a first-level cache.

    Returns
    -------
    list of Term
    """
    seconds = counted["cycles"] / (machine["core_mhz"] * 1e6)
    l1, l2 = counted["l1"], counted["l2"]
    out = _network(counted["traffic"], machine, networks, seconds)
    if has_l1:
        # An L1 fills a line for each load that it sent on.
        out += _cache("l1", l1, l1["load_misses"], machine, machine["cores"], seconds)
    out += _cache("l2", l2, l2["fetches"], machine, machine["partitions"], seconds)
    for controller, pieces in counted.get("storage", {}).items():
        for name, piece in pieces.items():
            out += _storage(f"{controller.lower()}_{name}", piece, seconds)
    out += _dram(counted["dram"], machine, seconds)
    bits = counted["core"]["shared_accesses"] * machine["lanes_per_warp"] * 32
    kib = machine["scratchpad_kib"] * machine["cores"]
    return [
        *out,
        Term("scratchpad", "scratchpad_data", bits),
        Term("scratchpad", "scratchpad_power", kib * seconds),
        Term("core", "warp_instruction", counted["instructions"]),
        Term("core", "lane_instruction", counted["thread_instructions"]),
        Term("core", "core_cycle", counted["core"]["active_cycles"]),
        Term("core", "core_power", machine["cores"] * seconds),
    ]


def estimate(
    counted: Mapping[str, Any],
    machine: Mapping[str, Any],
    *,
    networks: int,
    has_l1: bool,
    coefficients: Mapping[str, Coefficient] = COEFFICIENTS,
) -> dict[str, float]:
    """Energy of what was counted.

    Parameters
    ----------
    counted, machine, networks, has_l1
        As for :func:`terms`.
    coefficients : mapping, optional
        Other coefficients, one for each name in :data:`COEFFICIENTS`.

    Returns
    -------
    dict
        Joules: ``noc_dynamic noc_static l1 l2 dram scratchpad core``, one for each array or part that ``storage``
        tells, and ``total``, their sum.
    """
    parts = dict.fromkeys(PARTS, 0.0)
    for term in terms(counted, machine, networks=networks, has_l1=has_l1):
        coefficient = coefficients[term.coefficient]
        joules = float(term.amount * coefficient.value * coefficient.scale)
        parts[term.part] = parts.get(term.part, 0.0) + joules
    return parts | {"total": sum(parts.values())}


def router_ports(machine: Mapping[str, Any]) -> tuple[int, int]:
    """Ports of the network's buffers in all, and inputs and outputs of one router.

    A pair of crossbars has an input a core in one and an input a partition in the other. A mesh has a router a node,
    with four neighbours and the node. The hub of a star has an input and an output a node.
    """
    nodes = machine["cores"] + machine["partitions"]
    if machine["topology"] == "mesh":
        return 5 * max(machine["cores"], machine["partitions"]), 10
    return nodes, 2 * nodes if machine["topology"] == "star" else nodes


def _network(
    traffic: Mapping[str, Any], machine: Mapping[str, Any], networks: int, seconds: float
) -> list[Term]:
    """Each flit and hop: into a buffer, out of it, through a crossbar, over a link. All buffers, all the time."""
    flit_bits = machine["flit_bytes"] * 8
    flit_hops = sum(kind["flit_hops"] for kind in traffic.values())
    # Every flit of a message takes the same hops.
    message_hops = sum(
        kind["messages"] * kind["flit_hops"] / kind["flits"]
        for kind in traffic.values()
        if kind["flits"]
    )
    bits = flit_hops * flit_bits
    ports, of_a_router = router_ports(machine)
    buffered = ports * networks * machine["vc_flits"] * flit_bits
    return [
        Term("noc_dynamic", "buffer_write", bits),
        Term("noc_dynamic", "buffer_read", bits),
        Term("noc_dynamic", "crossbar", bits * of_a_router),
        Term("noc_dynamic", "vc_allocation", message_hops),
        Term("noc_dynamic", "switch_allocation", flit_hops),
        Term("noc_dynamic", "link", bits * LINK_MM[machine["topology"]]),
        Term("noc_static", "buffer_power", buffered * seconds),
    ]


def _cache(
    level: str,
    counted: Mapping[str, Any],
    fills: int,
    machine: Mapping[str, Any],
    count: int,
    seconds: float,
) -> list[Term]:
    """All caches of a level: look-ups of tags, lines read and written, static power.

    An atomic reads and writes. A store is charged a whole line, since words are not counted here.
    """
    kib = machine[f"{level}_kib"]
    lookups = sum(counted[name] for name in ("loads", "stores", "atomics", "invalidations"))
    lines = sum(counted[name] for name in ("load_hits", "stores", "writebacks"))
    lines += 2 * counted["atomics"] + fills
    growth = (kib / REFERENCE_CACHE_KIB) ** 0.5
    return [
        Term(level, "cache_tags", lookups),
        Term(level, "cache_data", lines * machine["line_bytes"] * 8 * growth),
        Term(level, "cache_power", kib * count * seconds),
    ]


def _storage(part: str, piece: Mapping[str, int], seconds: float) -> list[Term]:
    """An array or part that no cache's counters tell: each look-up reads or writes one entry; static power."""
    kib = piece["entries"] * piece["bits"] / 8 / 1024
    growth = (kib / REFERENCE_CACHE_KIB) ** 0.5
    return [
        Term(part, "cache_tags", piece["accesses"]),
        Term(part, "cache_data", piece["accesses"] * piece["bits"] * growth),
        Term(part, "cache_power", kib * piece["units"] * seconds),
    ]


def _dram(counted: Mapping[str, Any], machine: Mapping[str, Any], seconds: float) -> list[Term]:
    """Bits moved, rows opened, standby. Where rows are not modelled every access opens one."""
    accesses = counted["reads"] + counted["writes"]
    rows = counted["row_misses"] + counted["row_conflicts"]
    return [
        Term("dram", "dram_data", accesses * machine["line_bytes"] * 8),
        Term("dram", "dram_row", accesses if machine["dram_model"] == "fixed" else rows),
        Term("dram", "dram_power", machine["partitions"] * seconds),
    ]
