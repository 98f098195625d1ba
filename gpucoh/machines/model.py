"""Machine descriptions: validated numbers with units and sources, read from and written to TOML.

A :class:`Machine` is frozen; :meth:`Machine.replace` makes a changed copy. :mod:`gpucoh.machines.presets` defines the
presets. :meth:`Machine.to_core` gives the plain numbers that the C core takes.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpucoh.base import markup
from gpucoh.base.doors import door, public
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of, read_toml, whole_file
from gpucoh.base.quoting import quoted
from gpucoh.base.units import format_kib
from gpucoh.base.wording import MACHINE_FIELDS, nearest, unknown
from gpucoh.machines.fields import (
    WORDS,
    Bytes,
    Count,
    DramModel,
    Kib,
    Mhz,
    Name,
    Placement,
    Scheduler,
    Topology,
    choice,
    core_name,
    field,
    first_error,
    unit_of,
)
from gpucoh.machines.presets import DESCRIPTIONS, PRESETS

# The core counts time in ticks of 1 / LCM of all clocks; a 64-bit tick must not overflow in any run.
LARGEST_CLOCK_LCM_HZ = 2**40

# Unit and rule of each number in Machine.derived.
DERIVED = {
    "l1_lines": ("", "l1_kib / line_bytes"),
    "l1_sets": ("", "l1_lines / l1_ways"),
    "l2_lines": ("", "l2_kib / line_bytes, per partition"),
    "l2_sets": ("", "l2_lines / l2_ways, per partition"),
    "l2_total_kib": ("KiB", "l2_kib x partitions"),
    "threads": ("", "cores x warps_per_core x lanes_per_warp"),
    "noc_gb_per_s": (
        "GB/s",
        "flit_bytes x noc_mhz / (1 + noc_flit_gap) x partitions x l2_ports, each direction",
    ),
    "dram_gb_per_s": ("GB/s", "dram_bytes_per_cycle x dram_mhz x channels"),
    "beyond_l2_cycles": (
        "core cycles",
        "dram_round_trip - l2_round_trip: memory latency, row closed",
    ),
    "clock_lcm_mhz": ("MHz", "least common multiple of the four clocks; its cycle is a tick"),
}

# Names from other simulators, and the field that corresponds.
_HINTS = {
    "l1_bytes": "l1_kib",
    "l2_bytes": "l2_kib",
    "scratchpad_bytes": "scratchpad_kib",
    "sms": "cores",
}
_HINTS |= {"cus": "cores", "l1_kb": "l1_kib", "l2_kb": "l2_kib", "warp_size": "lanes_per_warp"}


class Machine(BaseModel):
    """A GPU's numbers, one flat table. Frozen; all fields are keyword arguments.

    Numbers may carry units: sizes ``"32KiB"``, clocks ``"1.4GHz"``. A plain number has the field's unit
    (KiB for fields ending in ``_kib``, bytes for ``_bytes``, MHz for ``_mhz``).

    Raises
    ------
    ConfigError
        For an unknown field (the message suggests the nearest one), a value out of range, or values that contradict
        each other.

    Examples
    --------
    >>> import gpucoh
    >>> small = gpucoh.machine("fermi").replace(cores=4, l1_kib="16KiB")
    >>> small.cores, small.derived["l1_sets"]
    (4, 32)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name = Field(default="custom", description="preset, or the preset it derives from")

    cores: Count = field("cores")
    core_mhz: Mhz = field("core_mhz")
    warps_per_core: Count = field("warps_per_core")
    lanes_per_warp: Count = field("lanes_per_warp")
    blocks_per_core: Count = field("blocks_per_core")
    registers_per_core: Count = field("registers_per_core")
    scratchpad_kib: Kib = field("scratchpad_kib")
    scratchpad_latency: Count = field("scratchpad_latency")
    scratchpad_banks: Count = field("scratchpad_banks")
    scratchpad_order: Count = field("scratchpad_order", default=0)
    relaxed_unordered: Count = field("relaxed_unordered", default=0)
    block_fences_free: Count = field("block_fences_free", default=0)
    word_order: Count = field("word_order", default=0)
    fence_drains: Count = field("fence_drains", default=0)
    fence_trip: Count = field("fence_trip", default=0)
    scheduler: Scheduler = field("scheduler")
    issue_width: Count = field("issue_width")
    issue_cycles: Count = field("issue_cycles")
    alu_latency: Count = field("alu_latency")
    sfu_latency: Count = field("sfu_latency")
    sfu_cycles: Count = field("sfu_cycles")
    division_latency: Count = field("division_latency")
    division_cycles: Count = field("division_cycles")
    f64_cycles: Count = field("f64_cycles", default=0)
    launch_latency: Count = field("launch_latency")
    start_skew: Count = field("start_skew", default=0)
    block_start_cycles: Count = field("block_start_cycles", default=0)
    placement: Placement = choice(
        "placement of blocks on cores: round_robin, first_free, static or rotating",
        default="round_robin",
    )
    load_store_queue: Count = field("load_store_queue")
    requests_per_core: Count = field("requests_per_core")
    l1_kib: Kib = field("l1_kib")
    l1_ways: Count = field("l1_ways")
    l1_mshrs: Count = field("l1_mshrs")
    l1_latency: Count = field("l1_latency")
    l1_bytes_per_cycle: Bytes = field("l1_bytes_per_cycle", default=0)
    tlb_reach_kib: Kib = field("tlb_reach_kib", default=0)
    tlb_miss_cycles: Count = field("tlb_miss_cycles", default=0)
    line_bytes: Bytes = field("line_bytes")
    sector_bytes: Bytes = field("sector_bytes", default=0)
    partitions: Count = field("partitions")
    interleave_bytes: Bytes = field("interleave_bytes")
    l2_kib: Kib = field("l2_kib")
    l2_ways: Count = field("l2_ways")
    l2_byte_masks: Count = field("l2_byte_masks", default=0)
    l2_mshrs: Count = field("l2_mshrs")
    l2_crossing: Count = field("l2_crossing", default=0)
    l2_ports: Count = field("l2_ports", default=1)
    l2_mhz: Mhz = field("l2_mhz")
    l2_round_trip: Count = field("l2_round_trip")
    atomic_lanes: Count = field("atomic_lanes", default=0)
    atomic_cycles: Count = field("atomic_cycles", default=0)
    memory_units: Count = field("memory_units", default=1)
    memory_mhz: Mhz = field("memory_mhz", default=0)
    l3_kib: Kib = field("l3_kib", default=0)
    l3_ways: Count = field("l3_ways", default=0)
    l3_mshrs: Count = field("l3_mshrs", default=0)
    l3_latency: Count = field("l3_latency", default=0)
    global_units: Count = field("global_units", default=1)
    global_mhz: Mhz = field("global_mhz", default=0)
    host_units: Count = field("host_units", default=0)
    host_mhz: Mhz = field("host_mhz", default=0)
    cpu_kib: Kib = field("cpu_kib", default=0)
    cpu_ways: Count = field("cpu_ways", default=16)
    cpu_probe_cycles: Count = field("cpu_probe_cycles", default=100)
    cpu_transfer_cycles: Count = field("cpu_transfer_cycles", default=8)
    star_mhz: Mhz = field("star_mhz", default=0)
    star_latency: Count = field("star_latency", default=5)
    star_ports: Count = field("star_ports", default=1)
    topology: Topology = field("topology")
    mesh_width: Count = field("mesh_width")
    noc_mhz: Mhz = field("noc_mhz")
    noc_latency: Count = field("noc_latency")
    noc_jitter: Count = field("noc_jitter", default=0)
    noc_flit_gap: Count = field("noc_flit_gap", default=0)
    flit_bytes: Bytes = field("flit_bytes")
    vc_flits: Count = field("vc_flits")
    dram_model: DramModel = field("dram_model")
    dram_channels: Count = field("dram_channels", default=0)
    dram_mhz: Mhz = field("dram_mhz")
    dram_round_trip: Count = field("dram_round_trip")
    dram_queue: Count = field("dram_queue")
    dram_bytes_per_cycle: Bytes = field("dram_bytes_per_cycle")
    dram_banks: Count = field("dram_banks")
    dram_row_bytes: Bytes = field("dram_row_bytes")
    dram_burst_bytes: Bytes = field("dram_burst_bytes")
    dram_bank_cycles: Count = field("dram_bank_cycles", default=11)
    dram_t_cl: Count = field("dram_t_cl")
    dram_t_rp: Count = field("dram_t_rp")
    dram_t_rc: Count = field("dram_t_rc")
    dram_t_ras: Count = field("dram_t_ras")
    dram_t_ccd: Count = field("dram_t_ccd")
    dram_t_wl: Count = field("dram_t_wl")
    dram_t_rcd: Count = field("dram_t_rcd")
    dram_t_rrd: Count = field("dram_t_rrd")
    dram_t_cdlr: Count = field("dram_t_cdlr")
    dram_t_wr: Count = field("dram_t_wr")
    dram_t_ccdl: Count = field("dram_t_ccdl")
    dram_t_rtpl: Count = field("dram_t_rtpl")
    timestamp_bits: Count = field("timestamp_bits")

    @public
    def __init__(self, **values: Any) -> None:
        label = f"machine {quoted(values.get('name', 'custom'))}"
        _refuse_unknown(label, values, type(self).model_fields)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigError(f"{label}: {first_error(error, type(self).model_fields)}") from None
        _check_fit(label, self)

    def __dir__(self) -> list[str]:
        """Fields and methods, without those that every model of pydantic has."""
        return sorted({*super().__dir__()} - {*dir(BaseModel)} - {"to_core"})

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value}" for name, value in self.changes.items())
        if self.name not in PRESETS:
            changed = ""
        text = (
            f"<gpucoh.Machine {self.name}: {self.cores} cores at {self.core_mhz} MHz, L1 {format_kib(self.l1_kib)}, "
            f"L2 {format_kib(self.derived['l2_total_kib'])}{'; ' if changed else ''}{changed}>"
        )
        return markup.shortened(text)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        columns = ("field", "value", "unit", "description", "source")
        return markup.table(columns, self.rows(), repr(self).strip("<>"))

    @public
    def replace(self, **changes: Any) -> Machine:
        """The same machine with some fields changed.

        Parameters
        ----------
        **changes
            Field names and values, units allowed: ``cores=32, l1_kib="16KiB"``. A cache at the memory side that only
            ``l3_kib`` names has the L2's ways and MSHR entries.

        Raises
        ------
        ConfigError
            As for :class:`Machine`.
        """
        if changes.get("l3_kib", 0) not in (0, "0"):
            like_l2 = {"l3_ways": self.l2_ways, "l3_mshrs": self.l2_mshrs}
            changes = {name: n for name, n in like_l2.items() if not getattr(self, name)} | changes
        return Machine(**(self.model_dump() | changes))

    def to_core(self) -> dict[str, int]:
        """The plain numbers that the C core takes: exactly its machine fields."""
        out: dict[str, int] = {}
        for name, value in self.numbers().items():
            if name == "placement":
                continue  # an argument of each launch
            if name in WORDS:
                out[name] = WORDS[name].index(str(value))
            else:
                scale = 1024 if name.endswith("_kib") else 1
                out[core_name(name)] = round(float(value) * scale)
        return out

    def numbers(self) -> dict[str, int | float | str]:
        """Every field except the name: name -> value, in the order of the table."""
        found: dict[str, int | float | str] = dict(self.__dict__)
        del found["name"]
        return found

    @property
    def derived(self) -> dict[str, int | float]:
        """Numbers that follow from the fields: sets, lines, peak bandwidths (GB/s), the tick's clock (MHz)."""
        l1, l2 = _lines(self.l1_kib, self.line_bytes), _lines(self.l2_kib, self.line_bytes)
        return {
            "l1_lines": l1,
            "l1_sets": l1 // self.l1_ways,
            "l2_lines": l2,
            "l2_sets": l2 // self.l2_ways,
            "l2_total_kib": self.l2_kib * self.partitions,
            "threads": self.cores * self.warps_per_core * self.lanes_per_warp,
            "noc_gb_per_s": self.flit_bytes
            * self.noc_mhz
            * self.partitions
            * self.l2_ports
            / (1 + self.noc_flit_gap)
            / 1000,
            "dram_gb_per_s": self.dram_bytes_per_cycle
            * self.dram_mhz
            * (self.dram_channels or self.partitions)
            / 1000,
            "beyond_l2_cycles": self.dram_round_trip - self.l2_round_trip,
            "clock_lcm_mhz": math.lcm(self.core_mhz, self.l2_mhz, self.noc_mhz, self.dram_mhz),
        }

    @property
    def changes(self) -> dict[str, int | float | str]:
        """The fields in which this machine differs from its preset; all fields if it has no preset."""
        preset = PRESETS.get(self.name)
        if preset is None:
            return self.numbers()
        preset_machine = machine(self.name)
        return {
            name: value
            for name, value in self.numbers().items()
            if getattr(preset_machine, name) != value
        }

    @door
    def source(self, field: str) -> str:
        """The source of a field's number: paper and table, ``inferred`` with the reason, or ``given``.

        Raises
        ------
        ConfigError
            If the field is unknown.
        """
        _refuse_unknown(f"machine {quoted(self.name)}", [field], type(self).model_fields)
        preset = PRESETS.get(self.name)
        if preset is None or field not in preset or field in self.changes:
            return "given"
        return preset[field][1]

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """For display: (field, value, unit, description, source) of every field."""
        out = []
        for name, value in self.numbers().items():
            info = type(self).model_fields[name]
            unit = unit_of(info)
            shown = format_kib(float(value)) if name.endswith("_kib") else str(value)
            out.append(
                (
                    name,
                    shown,
                    "" if name.endswith("_kib") else unit,
                    info.description or "",
                    self.source(name),
                )
            )
        return out

    def toml(self) -> str:
        """The machine as TOML text; a comment on each line gives unit and source."""
        lines = [f"name = {json.dumps(self.name, ensure_ascii=False)}"]
        for name, value in self.numbers().items():
            unit = unit_of(type(self).model_fields[name])
            text = f'"{value}"' if isinstance(value, str) else f"{value}"
            lines.append(f"{name} = {text}  # {unit + '; ' if unit else ''}{self.source(name)}")
        return "\n".join(lines) + "\n"

    @door
    def to_toml(self, path: str | Path) -> None:
        """Write :meth:`toml` to a file.

        Raises
        ------
        ConfigError
            If the file cannot be written.
        """
        with whole_file(path_of("machine file", path)) as part:
            part.write_text(self.toml(), encoding="utf-8")

    @classmethod
    @door
    def from_toml(cls, path: str | Path) -> Self:
        """Read a machine from TOML: all fields, or ``base = "fermi"`` and the fields that differ.

        The base is a preset's id, or a path ending in ``.toml``, relative to this file's folder.

        Raises
        ------
        ConfigError
            If the file cannot be read, is not TOML, or does not describe a machine.
        """
        return cls(**_read_toml(path_of("machine file", path), ()))


def _read_toml(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    """The fields of a machine file and its base; ``above``: the files of which it is a base."""
    values = read_toml(path, "machine file")
    base = values.pop("base", None)
    if base is not None and not (isinstance(base, str) and base.isprintable()):
        raise ConfigError(
            f"machine file {path}: base = {quoted(base)} is not the name of a machine"
        )
    try:
        if base is not None and base.endswith(".toml"):
            below = path.parent / base
            if below.resolve() in (path.resolve(), *above):
                raise ConfigError(f"base = {quoted(base)} is circular: it leads back to this file")
            values = _read_toml(below, (path.resolve(), *above)) | values
        elif base is not None:
            values = machine(base).model_dump() | values
        return Machine(**values).model_dump()
    except ConfigError as error:
        raise ConfigError(f"machine file {path}: {error}") from None


def _lines(kib: float, line_bytes: int) -> int:
    return round(kib * 1024) // line_bytes


def _refuse_unknown(label: str, given: Iterable[str], known: Mapping[str, object]) -> None:
    for name in given:
        if name not in known:
            hint = (
                f"; did you mean {quoted(_HINTS[name])}?"
                if name in _HINTS
                else nearest(name, known)
            )
            hint = hint or "; gpucoh machines fermi lists the fields"
            raise ConfigError(f"{label}: unknown field {quoted(name)}{hint}")


def _power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _check_cache(label: str, level: str, size_kib: float, ways: int, line_bytes: int) -> None:
    """Check that a cache has whole sets, whatever their number."""
    size = round(size_kib * 1024)
    if ways == 0:
        raise ConfigError(f"{label}: {level}_ways = 0; {level}_kib = {size_kib:g} needs at least 1")
    if size < ways * line_bytes:
        raise ConfigError(
            f"{label}: {level}_kib = {size_kib} is smaller than its {ways} ways of {line_bytes}-byte lines "
            f"({ways * line_bytes} bytes)"
        )
    if size % (ways * line_bytes):
        raise ConfigError(
            f"{label}: {level}_kib = {size_kib} with {level}_ways = {ways} and line_bytes = {line_bytes} makes "
            f"{size / (ways * line_bytes):g} sets; they must be whole"
        )


def _check_fit(label: str, m: Machine) -> None:
    """Check the rules between fields; one error line each."""
    if m.lanes_per_warp not in (32, 64):
        raise ConfigError(f"{label}: lanes_per_warp = {m.lanes_per_warp} is not 32 or 64")
    for name in (
        "line_bytes",
        "interleave_bytes",
        "dram_row_bytes",
        "dram_burst_bytes",
        "dram_banks",
    ):
        if not _power_of_two(getattr(m, name)):
            raise ConfigError(f"{label}: {name} = {getattr(m, name)} is not a power of two")
    if m.scratchpad_banks and not _power_of_two(m.scratchpad_banks):
        raise ConfigError(
            f"{label}: scratchpad_banks = {m.scratchpad_banks} is not 0 or a power of two"
        )
    if m.sector_bytes and (
        not _power_of_two(m.sector_bytes) or not 4 <= m.sector_bytes <= m.line_bytes
    ):
        raise ConfigError(
            f"{label}: sector_bytes = {m.sector_bytes} is not 0 or a power of two from 4 to line_bytes = {m.line_bytes}"
        )
    if m.interleave_bytes < m.line_bytes:
        raise ConfigError(
            f"{label}: interleave_bytes = {m.interleave_bytes} is less than line_bytes = {m.line_bytes}"
        )
    if m.l1_kib:
        _check_cache(label, "l1", m.l1_kib, m.l1_ways, m.line_bytes)
    _check_cache(label, "l2", m.l2_kib, m.l2_ways, m.line_bytes)
    if m.l3_kib:
        _check_cache(label, "l3", m.l3_kib, m.l3_ways, m.line_bytes)
    if m.cpu_kib:
        _check_cache(label, "cpu", m.cpu_kib, m.cpu_ways, m.line_bytes)
    if m.dram_row_bytes < m.line_bytes:
        raise ConfigError(
            f"{label}: dram_row_bytes = {m.dram_row_bytes} is less than line_bytes = {m.line_bytes}"
        )
    if m.dram_burst_bytes > m.line_bytes:
        raise ConfigError(
            f"{label}: dram_burst_bytes = {m.dram_burst_bytes} is more than line_bytes = {m.line_bytes}"
        )
    if m.dram_t_rc < m.dram_t_ras:
        raise ConfigError(
            f"{label}: dram_t_rc = {m.dram_t_rc} is less than dram_t_ras = {m.dram_t_ras}"
        )
    if m.dram_round_trip <= m.l2_round_trip:
        raise ConfigError(
            f"{label}: dram_round_trip = {m.dram_round_trip} is not greater than l2_round_trip = {m.l2_round_trip}"
        )
    if m.topology == "mesh" and m.mesh_width > max(m.cores, m.partitions):
        raise ConfigError(f"{label}: mesh_width = {m.mesh_width} is more than the number of nodes")
    lcm = math.lcm(m.core_mhz, m.l2_mhz, m.noc_mhz, m.dram_mhz)
    if lcm * 1_000_000 > LARGEST_CLOCK_LCM_HZ:
        raise ConfigError(
            f"{label}: the clocks core_mhz = {m.core_mhz}, l2_mhz = {m.l2_mhz}, noc_mhz = {m.noc_mhz}, dram_mhz = "
            f"{m.dram_mhz} have the common multiple {lcm} MHz (allowed: up to {LARGEST_CLOCK_LCM_HZ // 10**6})"
        )


MACHINE_FIELDS.update(Machine.model_fields)


@public
def machine(name: str | Machine | Path = "fermi") -> Machine:
    """Find a machine by its preset's id, or read it from a TOML file if the name ends in ``.toml``.

    Raises
    ------
    ConfigError
        If the machine is unknown.
    """
    if isinstance(name, Machine):
        return name
    if not isinstance(name, str | Path):
        raise ConfigError(f"machine {quoted(name)} is not a name, a TOML file or a Machine")
    if isinstance(name, Path) or name.endswith(".toml"):
        return Machine.from_toml(name)
    if name not in PRESETS:
        raise ConfigError(unknown("machine", name, PRESETS))
    return _preset(name)


@functools.cache
def _preset(name: str) -> Machine:
    """A preset, validated once: every run of a study asks for its machine."""
    return Machine(name=name, **{field: value for field, (value, _) in PRESETS[name].items()})


def machines() -> dict[str, Machine]:
    """Every preset: id -> :class:`Machine`."""
    return {name: machine(name) for name in PRESETS}


def description(name: str) -> str:
    """One line that describes a preset."""
    return DESCRIPTIONS.get(name, "")
