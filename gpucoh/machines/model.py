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
from typing import Any, Never, Self

from gpucoh.base import markup
from gpucoh.base.doors import door, public
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of, read_toml, whole_file
from gpucoh.base.quoting import quoted
from gpucoh.base.units import format_kib
from gpucoh.base.wording import MACHINE_FIELDS, nearest, unknown
from gpucoh.machines.fields import WORDS, core_name, field
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


class Machine:
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

    name: str = "custom"
    cores: int
    core_mhz: int
    warps_per_core: int
    lanes_per_warp: int
    blocks_per_core: int
    registers_per_core: int
    scratchpad_kib: float
    scratchpad_latency: int
    scratchpad_banks: int
    scratchpad_order: int = 0
    relaxed_unordered: int = 0
    block_fences_free: int = 0
    word_order: int = 0
    fence_drains: int = 0
    fence_trip: int = 0
    scheduler: str
    issue_width: int
    issue_cycles: int
    alu_latency: int
    sfu_latency: int
    sfu_cycles: int
    division_latency: int
    division_cycles: int
    f64_cycles: int = 0
    launch_latency: int
    start_skew: int = 0
    block_start_cycles: int = 0
    placement: str = "round_robin"
    load_store_queue: int
    requests_per_core: int
    l1_kib: float
    l1_ways: int
    l1_replacement: str = "lru"
    l1_mshrs: int
    l1_latency: int
    l1_bytes_per_cycle: int = 0
    tlb_reach_kib: float = 0.0
    tlb_miss_cycles: int = 0
    line_bytes: int
    sector_bytes: int = 0
    partitions: int
    interleave_bytes: int
    l2_kib: float
    l2_ways: int
    l2_replacement: str = "lru"
    l2_byte_masks: int = 0
    l2_mshrs: int
    l2_crossing: int = 0
    dies: int = 1
    gpus: int = 1
    page_kib: float = 0.0
    placement_of_pages: str = "interleave"
    die_latency: int = 0
    die_bytes: int = 0
    gpu_latency: int = 0
    gpu_bytes: int = 0
    links: str = "joined"
    l2_near: int = 1
    l2_ports: int = 1
    l2_mhz: int
    l2_round_trip: int
    atomic_lanes: int = 0
    atomic_cycles: int = 0
    memory_units: int = 1
    memory_mhz: int = 0
    l3_kib: float = 0.0
    l3_ways: int = 0
    l3_mshrs: int = 0
    l3_latency: int = 0
    global_units: int = 1
    global_mhz: int = 0
    host_units: int = 0
    host_mhz: int = 0
    cpu_kib: float = 0.0
    cpu_ways: int = 16
    cpu_probe_cycles: int = 100
    cpu_transfer_cycles: int = 8
    star_mhz: int = 0
    star_latency: int = 5
    star_ports: int = 1
    topology: str
    mesh_width: int
    noc_mhz: int
    noc_latency: int
    noc_jitter: int = 0
    noc_flit_gap: int = 0
    flit_bytes: int
    vc_flits: int
    dram_model: str
    dram_channels: int = 0
    dram_mhz: int
    dram_round_trip: int
    dram_queue: int
    dram_bytes_per_cycle: int
    dram_banks: int
    dram_row_bytes: int
    dram_burst_bytes: int
    dram_bank_cycles: int = 11
    dram_t_cl: int
    dram_t_rp: int
    dram_t_rc: int
    dram_t_ras: int
    dram_t_ccd: int
    dram_t_wl: int
    dram_t_rcd: int
    dram_t_rrd: int
    dram_t_cdlr: int
    dram_t_wr: int
    dram_t_ccdl: int
    dram_t_rtpl: int
    timestamp_bits: int

    @public
    def __init__(self, **values: Any) -> None:
        self._fill(values, DEFAULTS)

    def _fill(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> None:
        """Set every field to what a user gives, or else to one of ``others``, which is checked already."""
        label = f"machine {quoted(values.get('name', others['name']))}"
        _refuse_unknown(label, values, FIELDS)
        for name, known in FIELDS.items():
            if name in values:
                try:
                    self.__dict__[name] = known.value(name, values[name])
                except ConfigError as error:
                    raise ConfigError(f"{label}: {error}") from None
            elif name in others:
                self.__dict__[name] = others[name]
            else:
                raise ConfigError(f"{label}: field {quoted(name)} is missing ({known.text})")
        _check_fit(label, self)

    def __setattr__(self, name: str, value: object) -> Never:
        raise ConfigError(f"a machine is frozen: replace({name}=...) makes a changed one")

    def __delattr__(self, name: str) -> Never:
        raise ConfigError("a machine is frozen")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __dir__(self) -> list[str]:
        """Fields and methods."""
        names = {name for name in super().__dir__() if not name.startswith("__")}
        return sorted(names - {"_fill", "to_core"})

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
        made = object.__new__(Machine)
        made._fill(changes, self.__dict__)
        return made

    def to_core(self) -> dict[str, int]:
        """The plain numbers that the C core takes: exactly its machine fields."""
        return dict(_to_core(self))

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
        return dict(_changes(self))

    @door
    def source(self, field: str) -> str:
        """The source of a field's number: paper and table, ``inferred`` with the reason, or ``given``.

        Raises
        ------
        ConfigError
            If the field is unknown.
        """
        _refuse_unknown(f"machine {quoted(self.name)}", [field], FIELDS)
        preset = PRESETS.get(self.name)
        if preset is None or field not in preset or field in self.changes:
            return "given"
        return preset[field][1]

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """For display: (field, value, unit, description, source) of every field."""
        out = []
        for name, value in self.numbers().items():
            known = FIELDS[name]
            shown = format_kib(float(value)) if name.endswith("_kib") else str(value)
            out.append(
                (
                    name,
                    shown,
                    "" if name.endswith("_kib") else known.unit,
                    known.text,
                    self.source(name),
                )
            )
        return out

    def toml(self) -> str:
        """The machine as TOML text; a comment on each line gives unit and source."""
        lines = [f"name = {json.dumps(self.name, ensure_ascii=False)}"]
        for name, value in self.numbers().items():
            unit = FIELDS[name].unit
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
            values = vars(machine(base)) | values
        return vars(Machine(**values))
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


def _check_dies(label: str, m: Machine) -> None:
    """Check that dies and GPUs have equal shares, and what several dies need."""
    for name in ("cores", "partitions", "dram_channels"):
        if getattr(m, name) % m.dies:
            raise ConfigError(
                f"{label}: dies = {m.dies} does not divide {name} = {getattr(m, name)}"
            )
    if m.dies % m.gpus:
        raise ConfigError(f"{label}: gpus = {m.gpus} does not divide dies = {m.dies}")
    if m.memory_units > 1 and m.memory_units != m.dies:
        raise ConfigError(
            f"{label}: memory_units = {m.memory_units} with dies = {m.dies}; allowed: 0, 1 or one a die"
        )
    if m.dies == 1:
        return
    page = round(m.page_kib * 1024)
    if not _power_of_two(page) or page < m.interleave_bytes:
        raise ConfigError(
            f"{label}: page_kib = {m.page_kib:g} is not a power of two of at least interleave_bytes = "
            f"{m.interleave_bytes} (dies = {m.dies})"
        )
    if m.topology == "mesh" or m.l2_crossing:
        other = "topology = mesh" if m.topology == "mesh" else f"l2_crossing = {m.l2_crossing}"
        raise ConfigError(f"{label}: dies = {m.dies} with {other}; allowed: one of the two")


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
    _check_dies(label, m)
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


#: Field -> what it is; field -> the value without which a file may describe a machine.
FIELDS = {name: field(name) for name in Machine.__annotations__}
DEFAULTS = {name: getattr(Machine, name) for name in FIELDS if hasattr(Machine, name)}
MACHINE_FIELDS.update(FIELDS)


@functools.lru_cache(256)
def _to_core(machine: Machine) -> dict[str, int]:
    """:meth:`Machine.to_core`, once for the runs of a study."""
    out: dict[str, int] = {}
    for name, value in machine.numbers().items():
        if name == "placement":
            continue  # an argument of each launch
        if name in WORDS:
            out[name] = WORDS[name].index(str(value))
        else:
            scale = 1024 if name.endswith("_kib") else 1
            out[core_name(name)] = round(float(value) * scale)
    return out


@functools.lru_cache(256)
def _changes(one: Machine) -> dict[str, int | float | str]:
    """:attr:`Machine.changes`, once for the runs of a study."""
    if one.name not in PRESETS:
        return one.numbers()
    preset = machine(one.name).__dict__
    return {name: value for name, value in one.numbers().items() if preset[name] != value}


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
