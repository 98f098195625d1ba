"""Bits of the structures that the papers' tables of hardware cost name, by description, options and machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from gpucoh.device.gpu import GPU, resolve
from gpucoh.machines import Machine, machine

# Kinds of metadata that are timestamps.
TIMESTAMPS = ("TIME", "LOGICAL")
_ADDRESS_BITS = 32
# Table 1 of QuickRelease: 256 kB for the 32,768 entries, eight for each line of the L2.
_DIRECTORY_ENTRY_BITS = 64
_WIDTHS = {"uint8_t": 8, "uint16_t": 16}  # declared fields of an MSHR, in bits


@dataclass(frozen=True)
class _Described:
    """A protocol with its standard options, on a machine."""

    json: dict[str, Any]
    machine: Machine

    def pieces(self) -> dict[str, dict[str, int]]:
        """The arrays and parts besides the caches, as they are built: entries, units, bits."""
        storage = GPU(machine=self.machine, protocol=self.json["id"]).stats()["storage"]
        return {name: dict(piece) for pieces in storage.values() for name, piece in pieces.items()}

    def option(self, name: str, otherwise: int = 0) -> int:
        """An option's default, or what replaces it in a protocol without it."""
        found = (option["default"] for option in self.json["options"] if option["name"] == name)
        return int(next(found, otherwise))

    def fields(self, controller: str, of: str) -> dict[str, str]:
        """The fields, and their kinds, that a controller keeps of something."""
        return {
            field["name"]: field["kind"]
            for one in self.json["controllers"]
            if one["name"] == controller
            for field in one["metadata"].get(of, ())
        }

    def keeps(self, field: str) -> bool:
        """Whether STC's epoch unit has a field."""
        return field in self.fields("EMU", "unit")

    @property
    def epoch_bits(self) -> int:
        """Bits of an epoch's number."""
        return (self.option("epochs", 1) - 1).bit_length()


def _counters(given: _Described) -> int:
    """The current epoch's number, and the unit's cycles between two ticks."""
    ticks = given.option("epoch", 1) * int(given.machine.global_mhz) // int(given.machine.core_mhz)
    return given.epoch_bits + (ticks - 1).bit_length()


def _leases(given: _Described) -> int:
    """Timestamps of every line of the L1s and of the L2, and of the L2's MSHRs."""
    m = given.machine
    lines = {
        ("L1", "tags"): m.cores * m.l1_kib * 1024 / m.line_bytes,
        ("L2", "tags"): m.partitions * m.l2_kib * 1024 / m.line_bytes,
        ("L2", "mshr"): m.partitions * m.l2_mshrs,
    }
    entries = sum(
        count * (kind in TIMESTAMPS)
        for place, count in lines.items()
        for kind in given.fields(*place).values()
    )
    return int(entries) * int(m.timestamp_bits)


def _line(given: _Described) -> int:
    """Of one line of an L1 and one of the L2: the bits beside tag and data, but timestamps whole bytes as declared."""
    return sum(
        int(given.machine.timestamp_bits) if kind in TIMESTAMPS else 8
        for controller in ("L1", "L2")
        for kind in given.fields(controller, "tags").values()
    )


def _write_caches(given: _Described) -> int:
    """Data of the write caches of all levels."""
    lines = sum(
        piece["entries"] * piece["units"]
        for name, piece in given.pieces().items()
        if name in ("wL1", "wL2", "wL3")
    )
    return lines * int(given.machine.line_bytes) * 8


def _written_bit(given: _Described) -> int:
    """Of one tag of a read cache: what tells present lines apart."""
    tables = [controller["tables"][0] for controller in given.json["controllers"]]
    return max((len(table["stable"]) - 2).bit_length() for table in tables if table["name"] != "L3")


def _directory(given: _Described) -> int:
    """All entries of the directory: tag, state, sharers and owner, which 8 bytes hold."""
    m = given.machine
    lines = m.partitions * m.l2_kib * 1024 // m.line_bytes
    return given.option("dir_ratio") * int(lines) * _DIRECTORY_ENTRY_BITS


def _l1_mshrs(given: _Described) -> int:
    """MSHRs of all L1s."""
    return int(given.machine.cores) * int(given.machine.l1_mshrs)


def _owned(given: _Described) -> int:
    """The directory, and the L1s' MSHRs: the address of a line, its words, and the fields as declared."""
    line_bits = 8 * int(given.machine.line_bytes)
    address = _ADDRESS_BITS - (int(given.machine.line_bytes) - 1).bit_length()
    described = next(one for one in given.json["controllers"] if one["name"] == "L1")
    fields = sum(
        line_bits if field["kind"] == "DATA" else _WIDTHS[field["type"]]
        for field in described["metadata"]["mshr"]
    )
    return _directory(given) + _l1_mshrs(given) * (address + fields)


def _write_cache_share(given: _Described) -> float:
    """The largest share of a level's cache that its write cache has in size."""
    m, pieces = given.machine, given.pieces()
    shares = (
        pieces[name]["entries"] * int(m.line_bytes) / (1024 * kib)
        for name, kib in (("wL1", m.l1_kib), ("wL2", m.l2_kib))
    )
    return float(max(shares))


def _entries(structure: str, given: _Described) -> int:
    """Entries of one of the arrays of a name."""
    return given.pieces()[structure]["entries"]


STRUCTURES: dict[str, Callable[[_Described], float]] = {
    # Addresses in the blocked-store queues of all CUs; the data stay in the coalescing buffers.
    "BSQ": lambda given: int(given.machine.cores) * given.option("bsq") * _ADDRESS_BITS,
    # Of every epoch the address of a blocked store, and whether it is demanded.
    "ERV": lambda given: (
        given.option("epochs") * (given.keeps("address") * _ADDRESS_BITS + given.keeps("demanded"))
    ),
    # Of every epoch whether its conflicts have moved the bands.
    "ETV": lambda given: given.option("epochs") * given.keeps("stepped"),
    "counters": _counters,
    # Of one CU: the numbers of the epochs that may be current together.
    "CER": lambda given: given.epoch_bits * given.option("bands", 1),
    "leases": _leases,
    "line metadata": _line,
    "write caches": _write_caches,
    # Of one line of a write cache: dirty bytes, or words where masks count those.
    "write mask": lambda given: int(given.machine.line_bytes) // (4 if given.option("mask") else 1),
    "written bit": _written_bit,
    "directory": _directory,
    "directory and MSHRs": _owned,
    # Data of the L1s and of the L2.
    "caches": lambda given: (
        8
        * 1024
        * int(
            given.machine.cores * given.machine.l1_kib
            + given.machine.partitions * given.machine.l2_kib
        )
    ),
    "L1 MSHRs": _l1_mshrs,
    **{name: partial(_entries, name) for name in ("S-FIFO1", "S-FIFO2", "S-FIFO3")},
    "write cache, of its level's cache": _write_cache_share,
}


def structure_size(protocol: str, structure: str, machine_id: str) -> float:
    """Bits, entries or share of a structure, one of :data:`STRUCTURES`, of a protocol on a machine."""
    given = _Described(dict(resolve(protocol).protocol.json), machine(machine_id))
    return STRUCTURES[structure](given)
