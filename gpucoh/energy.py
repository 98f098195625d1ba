"""Energy: what was counted, times coefficients, each coefficient with its source.

The network is modelled in the manner of ORION: dynamic energy for each flit and hop (buffer write and read, crossbar,
arbiter, link), static energy by ports x virtual networks x buffer depth x time. Caches, scratchpad, DRAM and cores have
an energy an event and a power. The coefficients are for a 40 nm GPU of the papers' time; the model tells ratios between
protocols on one machine, not for joules of a product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARTS = ("noc_dynamic", "noc_static", "l1", "l2", "dram", "scratchpad", "core")


@dataclass(frozen=True)
class Coefficient:
    """A number with its unit, what it is of, and where it comes from."""

    value: float
    unit: str
    text: str
    source: str


_ORION = "inferred: order of ORION 2.0's estimates for wide routers, scaled to 40 nm"
_CACTI = "inferred: order of CACTI 6's estimates at 40 nm"
_CORE = "inferred: order of GPUWattch's breakdown of a GTX 480"

COEFFICIENTS: dict[str, Coefficient] = {
    "buffer_write": Coefficient(0.06, "pJ/bit", "a flit into a virtual-channel buffer", _ORION),
    "buffer_read": Coefficient(0.05, "pJ/bit", "a flit out of a virtual-channel buffer", _ORION),
    "crossbar": Coefficient(0.12, "pJ/bit", "a flit through a crossbar of a router", _ORION),
    "arbiter": Coefficient(0.5, "pJ", "arbitration for a flit", _ORION),
    "link": Coefficient(
        0.12,
        "pJ/bit/mm",
        "a flit over a link",
        "inferred: repeated global wire at 40 nm, half its bits change",
    ),
    "link_length_crossbar": Coefficient(
        10.0, "mm", "core to partition", "inferred: about half the side of a GTX 480's 529 mm2 die"
    ),
    "link_length_mesh": Coefficient(
        5.0, "mm", "node to node", "inferred: the same die in a 4 x 4 grid"
    ),
    "buffer_leakage": Coefficient(
        2.0,
        "uW/bit",
        "a bit of a virtual-channel buffer, with its share of clock and control",
        _ORION,
    ),
    "cache_access": Coefficient(
        100.0,
        "pJ",
        "a line access of a 32 KiB cache; grows with the square root of the size",
        _CACTI,
    ),
    "cache_leakage": Coefficient(0.3, "mW/KiB", "a cache's static power", _CACTI),
    "scratchpad_access": Coefficient(
        60.0, "pJ", "a warp's access to the scratchpad, 32 lanes", _CACTI
    ),
    "scratchpad_leakage": Coefficient(0.3, "mW/KiB", "the scratchpad's static power", _CACTI),
    "dram_bit": Coefficient(
        14.0,
        "pJ/bit",
        "a bit read or written, interface included",
        "inferred: commonly cited figure for GDDR5",
    ),
    "dram_activation": Coefficient(
        2500.0,
        "pJ",
        "a row opened and closed",
        "inferred: IDD0 of a 1 Gb GDDR5 device, order of magnitude",
    ),
    "dram_background": Coefficient(
        150.0,
        "mW",
        "a channel's standby and refresh",
        "inferred: IDD3N of two GDDR5 devices, order of magnitude",
    ),
    "warp_instruction": Coefficient(
        150.0, "pJ", "fetch, decode and scheduling of a warp instruction", _CORE
    ),
    "lane_instruction": Coefficient(
        15.0, "pJ", "operands and execution of one lane's instruction", _CORE
    ),
    "core_leakage": Coefficient(1.0, "W", "a core's static and clock power", _CORE),
}


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
    counted : mapping
        A GPU's statistics.
    machine : mapping
        The machine's fields by name.
    networks : int
        Virtual networks that the protocol declares.
    has_l1 : bool
        Whether the protocol keeps lines in a first-level cache.
    coefficients : mapping, optional
        Other coefficients.

    Returns
    -------
    dict
        Joules: ``noc_dynamic noc_static l1 l2 dram scratchpad core`` and ``total``, their sum.
    """
    c = {name: item.value for name, item in coefficients.items()}
    seconds = counted["cycles"] / (machine["core_mhz"] * 1e6)
    parts = {
        "noc_dynamic": _network_dynamic(counted, machine, c),
        "noc_static": _buffer_bits(machine, networks) * c["buffer_leakage"] * 1e-6 * seconds,
        "l1": _cache(counted["l1"], machine["l1_kib"], machine["cores"], c, seconds)
        if has_l1
        else 0.0,
        "l2": _cache(counted["l2"], machine["l2_kib"], machine["partitions"], c, seconds),
        "dram": _dram(counted["dram"], machine, c, seconds),
        "scratchpad": counted["core"]["shared_accesses"]
        * c["scratchpad_access"]
        * (machine["lanes_per_warp"] / 32)
        * 1e-12
        + machine["scratchpad_kib"] * machine["cores"] * c["scratchpad_leakage"] * 1e-3 * seconds,
        "core": counted["instructions"] * c["warp_instruction"] * 1e-12
        + counted["thread_instructions"] * c["lane_instruction"] * 1e-12
        + machine["cores"] * c["core_leakage"] * seconds,
    }
    return parts | {"total": sum(parts.values())}


def _network_dynamic(
    counted: Mapping[str, Any], machine: Mapping[str, Any], c: Mapping[str, float]
) -> float:
    """Each flit and hop: into a buffer, out of it, through a crossbar, over a link."""
    bits = machine["flit_bytes"] * 8
    length = c["link_length_mesh" if machine["topology"] == "mesh" else "link_length_crossbar"]
    a_hop = (
        bits * (c["buffer_write"] + c["buffer_read"] + c["crossbar"] + c["link"] * length)
        + c["arbiter"]
    )
    hops = sum(message["flit_hops"] for message in counted["traffic"].values())
    return float(hops * a_hop * 1e-12)


def _buffer_bits(machine: Mapping[str, Any], networks: int) -> int:
    """Bits of all virtual-channel buffers: every port has the depth for every virtual network."""
    if machine["topology"] == "mesh":
        ports = 5 * max(machine["cores"], machine["partitions"])  # four neighbours and the node
    else:
        ports = machine["cores"] + machine["partitions"]
    return int(ports * networks * machine["vc_flits"] * machine["flit_bytes"] * 8)


def _cache(
    counted: Mapping[str, Any], kib: float, count: int, c: Mapping[str, float], seconds: float
) -> float:
    """Accesses, fills and write-backs of all caches of a level, and their static power."""
    accesses = sum(
        counted[name] for name in ("loads", "stores", "atomics", "load_misses", "writebacks")
    )
    return float(
        accesses * c["cache_access"] * (kib / 32) ** 0.5 * 1e-12
        + kib * count * c["cache_leakage"] * 1e-3 * seconds
    )


def _dram(
    counted: Mapping[str, Any], machine: Mapping[str, Any], c: Mapping[str, float], seconds: float
) -> float:
    """Bits moved, rows opened, standby. Where rows are not modelled every access opens one."""
    accesses = counted["reads"] + counted["writes"]
    opened = counted["row_misses"] + counted["row_conflicts"]
    if machine["dram_model"] == "fixed":
        opened = accesses
    return float(
        accesses * machine["line_bytes"] * 8 * c["dram_bit"] * 1e-12
        + opened * c["dram_activation"] * 1e-12
        + machine["partitions"] * c["dram_background"] * 1e-3 * seconds
    )
