"""Energy: event counts times coefficients; every coefficient has a unit and a source.

The network model follows ORION: dynamic energy per event (buffer write and read, crossbar, arbiters, link), static
energy from ports x virtual networks x buffer depth x time. Caches, scratchpad, DRAM and cores have an energy per event
and a static power. The coefficients describe a 40 nm GPU of the papers' time: the model compares protocols on one
machine; it does not predict the energy of a product. A second set describes logic of the 7 nm class and HBM. Both
are in ``energy.toml``.

References
----------
.. [1] A. Kahng et al., "ORION 2.0: A Power-Area Simulator for Interconnection Networks", TVLSI 2012.
.. [2] S. Keckler et al., "GPUs and the Future of Parallel Computing", IEEE Micro 2011.
.. [3] N. Muralimanohar, R. Balasubramonian, N. Jouppi, "CACTI 6.0", HP Laboratories 2009.
.. [4] J. Leng et al., "GPUWattch: Enabling Energy Optimizations in GPGPUs", ISCA 2013.
.. [5] M. O'Connor et al., "Fine-Grained DRAM", MICRO 2017.
.. [6] S. Li et al., "DRAMsim3: A Cycle-Accurate, Thermal-Capable DRAM Simulator", IEEE CAL 2020.
.. [7] N. Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i", ISCA 2021.
.. [8] "LRM-GPU", HPCA 2026.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

PARTS = ("noc_dynamic", "noc_static", "l1", "l2", "dram", "scratchpad", "core")

# Scale to joules (events) or watts (powers), by the first word of a coefficient's unit.
_SCALES = {"pJ": 1e-12, "uW": 1e-6, "mW": 1e-3, "W": 1.0}

# The cache size of the coefficient cache_data; for another size energy scales with the square root of the ratio.
REFERENCE_CACHE_KIB = 32.0


@dataclass(frozen=True)
class Coefficient:
    """A number with its unit, description and source."""

    value: float
    unit: str
    text: str
    source: str

    @property
    def scale(self) -> float:
        """The factor from the unit to joules (events) or watts (powers)."""
        return _SCALES[self.unit.partition("/")[0]]


@dataclass(frozen=True)
class Term:
    """One product of the model: an amount times a coefficient, for one part.

    Attributes
    ----------
    part : str
        One of :data:`PARTS`, or an array or part of a controller: ``l2_directory``, ``l1_store_buffer``.
    coefficient : str
        A name in :data:`COEFFICIENTS`.
    amount : float
        In the denominator of the unit: bits, bit mm, events; for powers that times seconds.
    """

    part: str
    coefficient: str
    amount: float


_DATA = tomllib.loads(files(__package__).joinpath("energy.toml").read_text(encoding="utf-8"))
# Decade -> coefficients.
MODELS: dict[str, Mapping[str, Coefficient]] = {
    decade: {
        name: Coefficient(one[decade][0], one["unit"], one["text"], one[decade][1])
        for name, one in _DATA.items()
    }
    for decade in ("2013", "2024")
}
COEFFICIENTS, COEFFICIENTS_2024 = (dict(one) for one in MODELS.values())

# In tables of studies, columns of amounts are named term_PART__COEFFICIENT.
TERM = "term_"

# Link length in mm by topology; inferred. The die of a GTX 480 is 529 mm2: a core and the crossbar's far end are about
# half its side apart, neighbours of a 4 x 4 grid about a quarter.
LINK_MM = {"crossbar": 10.0, "star": 10.0, "mesh": 5.0}


def terms(
    counted: Mapping[str, Any], machine: Mapping[str, Any], *, networks: int, has_l1: bool
) -> list[Term]:
    """The products whose sum is the energy of a run.

    Parameters
    ----------
    counted : mapping
        A GPU's statistics.
    machine : mapping
        The machine's fields by name.
    networks : int
        Number of virtual networks between cores and banks.
    has_l1 : bool
        Whether the protocol stores lines in a first-level cache.

    Returns
    -------
    list of Term
    """
    seconds = counted["cycles"] / (machine["core_mhz"] * 1e6)
    l1, l2 = counted["l1"], counted["l2"]
    out = _network(counted, machine, networks, seconds)
    if has_l1:
        # An L1 fills a line for each load that it sends on.
        out += _cache("l1", l1, l1["load_misses"], machine, machine["cores"], seconds)
    # An L2 fills a line for each fetch, or for each miss that it sends to the memory side.
    fills = l2["load_misses"] if "l3" in counted else l2["fetches"]
    out += _cache("l2", l2, fills, machine, machine["partitions"], seconds)
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
        Term("core", "core_cycle", counted["core"]["issue_cycles"]),
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
    """The energy of a run, by part.

    Parameters
    ----------
    counted, machine, networks, has_l1
        As for :func:`terms`.
    coefficients : mapping, optional
        Other coefficients, one for each name in :data:`COEFFICIENTS`.

    Returns
    -------
    dict
        Joules: ``noc_dynamic noc_static l1 l2 dram scratchpad core``, one for each array or part in
        ``storage``, and ``total``, their sum.
    """
    parts = dict.fromkeys(PARTS, 0.0)
    for term in terms(counted, machine, networks=networks, has_l1=has_l1):
        coefficient = coefficients[term.coefficient]
        joules = float(term.amount * coefficient.value * coefficient.scale)
        parts[term.part] = parts.get(term.part, 0.0) + joules
    return parts | {"total": sum(parts.values())}


def router_ports(machine: Mapping[str, Any]) -> tuple[int, int]:
    """Total number of buffer ports in the network, and inputs and outputs of one router.

    A crossbar pair has one input per core and one per port of a partition. A mesh has one router per node, with four
    neighbours and the node's ports. The hub of a star has an input and an output per port. The star beside the network
    is not counted: its links carry a few flits.
    """
    ports = machine.get("l2_ports", 1)
    nodes = machine["cores"] + machine["partitions"] * ports
    if machine["topology"] == "mesh":
        each = 4 + ports
        return each * max(machine["cores"], machine["partitions"]), 2 * each
    return nodes, 2 * nodes if machine["topology"] == "star" else nodes


def _network(
    counted: Mapping[str, Any], machine: Mapping[str, Any], networks: int, seconds: float
) -> list[Term]:
    """Dynamic energy of each flit and hop (buffer, crossbar, link), and static energy of all buffers.

    No source gives the energy of a link between GPUs, which is not counted.
    """
    traffic, links = counted["traffic"], counted.get("links", {})
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
    between_dies = sum(
        8 * link["bytes"] for name, link in links.items() if not name.startswith("gpu")
    )
    return [
        Term("noc_dynamic", "die_link", between_dies),
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
    """All caches of a level: tag look-ups, lines read and written, static power.

    An atomic reads and writes. A store is charged a whole line, since the counters do not count words.
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
    """An array or part besides the caches: each look-up reads or writes one entry; static power."""
    kib = piece["entries"] * piece["bits"] / 8 / 1024
    growth = (kib / REFERENCE_CACHE_KIB) ** 0.5
    return [
        Term(part, "cache_tags", piece["accesses"]),
        Term(part, "cache_data", piece["accesses"] * piece["bits"] * growth),
        Term(part, "cache_power", kib * piece["units"] * seconds),
    ]


def _dram(counted: Mapping[str, Any], machine: Mapping[str, Any], seconds: float) -> list[Term]:
    """Bits transferred, rows opened, standby. Without a model of rows every access opens one."""
    accesses = counted["reads"] + counted["writes"]
    rows = counted["row_misses"] + counted["row_conflicts"]
    return [
        Term("dram", "dram_data", accesses * machine["line_bytes"] * 8),
        Term("dram", "dram_row", accesses if machine["dram_model"] == "fixed" else rows),
        Term(
            "dram", "dram_power", (machine.get("dram_channels") or machine["partitions"]) * seconds
        ),
    ]
