"""The statistics of a GPU: :class:`Stats`, as attributes and as a plain dictionary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, ClassVar, Generic, TypeVar

from gpucoh.base import markup
from gpucoh.base.errors import ConfigError

Value = TypeVar("Value", covariant=True)
# What a group has, or a function that makes it.
Given = Mapping[str, Any] | Callable[[], Mapping[str, Any]]

# Types of counters that are not groups. Tested first: a test for Mapping takes longer than the rest of a counter.
_PLAIN = frozenset({int, float, list, str, type(None)})
# Causes of stalls that are the sums of others, whose names begin with theirs.
STALL_SUMS = ("memory_order", "fence")
# Keys of storage that describe a table instead of counting.
_CONSTANT = frozenset({"entries", "bits", "units", "class"})


class Group(Mapping[str, Value], Generic[Value]):
    """One group of counters: ``stats.l1.loads`` or ``stats.l1["loads"]``.

    ``a - b`` is the group of the differences; a counter that one of them lacks counts as 0 there.
    """

    __slots__ = ("_given", "_made", "_name")

    # The class of the groups by key, and of those of any other key.
    _parts: ClassVar[Mapping[str, Callable[[str, Mapping[str, Any]], Group[Any]]]] = {}
    _part: ClassVar[type[Group[Any]] | None] = None

    def __init__(self, name: str, values: Given) -> None:
        self._name, self._given = name, values
        self._made: dict[str, Any] | None = None

    @property
    def _values(self) -> dict[str, Any]:
        """The counters and groups, which most runs of a study are not asked for."""
        if self._made is None:
            given = self._given() if callable(self._given) else self._given
            self._made = {
                key: value
                if type(value) in _PLAIN or not (isinstance(value, Mapping) or callable(value))
                else self._typed(key)(f"{self._name}.{key}", value)
                for key, value in given.items()
            }
        return self._made

    def _typed(self, key: str) -> Callable[[str, Mapping[str, Any]], Group[Any]]:
        return self._parts.get(key) or type(self)._part or Group

    def __getitem__(self, key: str) -> Value:
        if not isinstance(key, str):
            raise KeyError(key)
        found: Value = self._values[key]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Value:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            found: Value = self._values[key]
        except KeyError:
            raise AttributeError(
                f"no counter {self._name}.{key}; there are {', '.join(self._values)}"
            ) from None
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self._name, self.to_dict())

    def __sub__(self, earlier: Any) -> Group[Value]:
        if type(earlier) is not type(self):
            return NotImplemented
        found: Group[Value] = _made(
            type(self), self._name, difference(self.to_dict(), earlier.to_dict())
        )
        return found

    def __repr__(self) -> str:
        shown = [f"{key}={value!r}" for key, value in self._values.items() if not _is_zero(value)]
        while len(text := f"{self._name}({', '.join(shown)})") >= 180:
            shown.pop()
        left_out = len(self._values) - len(shown)
        return text if not left_out else f"{text[:-1]}{', ' if shown else ''}{left_out} more)"

    def _repr_html_(self) -> str:
        return markup.table(("", ""), _rows(self._values), self._name)

    def to_dict(self) -> dict[str, Any]:
        """The counters as plain dictionaries and numbers."""
        return {
            key: value.to_dict() if isinstance(value, Group) else value
            for key, value in self._values.items()
        }


def _made(kind: type[Group[Any]], name: str, values: Mapping[str, Any]) -> Any:
    return Stats(values) if kind is Stats else kind(name, values)


def _is_zero(value: object) -> bool:
    return isinstance(value, int | float) and not value


def _rows(values: Mapping[str, Any]) -> list[tuple[str, object]]:
    return [
        (key, markup.Html(value._repr_html_()) if isinstance(value, Group) else value)
        for key, value in values.items()
    ]


def difference(later: Any, earlier: Any, key: str = "") -> Any:
    """Differences of numbers, element by element in lists; ``None`` counts as 0."""
    if key in _CONSTANT:
        return earlier if later is None else later
    if isinstance(later, Mapping) or isinstance(earlier, Mapping):
        after, before = later or {}, earlier or {}
        names = dict.fromkeys((*after, *before))
        return {name: difference(after.get(name), before.get(name), name) for name in names}
    if isinstance(later, list) or isinstance(earlier, list):
        pairs = zip_longest(later or (), earlier or (), fillvalue=0)
        return [after - before for after, before in pairs]
    return (later or 0) - (earlier or 0)


def _rate(part: int, whole: int) -> float:
    """A share; NaN of nothing."""
    return part / whole if whole else math.nan


class Cache(Group[int]):
    """Counters of all L1s, or of all banks of the L2.

    Attributes
    ----------
    loads, stores, atomics : int
        Line requests that the controllers accepted.
    load_hits, load_merges, load_misses : int
        Loads that the cache served, that joined an outstanding miss, that sent a request.
    expired : int
        Misses that found an expired copy.
    evictions, writebacks, fetches, invalidations, self_invalidations : int
        Lines.
    leases, lease_cycles, leases_cut : int
        Leases given, their cycles, those shortened by a wrap-around of timestamps.
    held_line, held_queue : int
        Requests that waited for a line; cycles in which the head of a queue was held.
    """

    __slots__ = ()

    loads: int
    load_hits: int
    load_misses: int
    load_merges: int
    expired: int
    stores: int
    atomics: int
    evictions: int
    writebacks: int
    fetches: int
    invalidations: int
    self_invalidations: int
    leases: int
    lease_cycles: int
    leases_cut: int
    held_line: int
    held_queue: int

    @property
    def hit_rate(self) -> float:
        """Load hits per load; NaN without loads."""
        return _rate(self["load_hits"], self["loads"])

    @property
    def miss_rate(self) -> float:
        """Loads that sent a request per load; NaN without loads. Merged loads are neither hits nor misses."""
        return _rate(self["load_misses"], self["loads"])

    @property
    def expired_rate(self) -> float:
        """Loads that found an expired copy per load; NaN without loads."""
        return _rate(self["expired"], self["loads"])


class Dram(Group[int]):
    """Counters of all memory channels; the cycles are DRAM cycles."""

    __slots__ = ()

    reads: int
    writes: int
    row_hits: int
    row_misses: int
    row_conflicts: int
    busy_cycles: int
    queue_cycles: int

    @property
    def row_hit_rate(self) -> float:
        """Accesses to an open row per access; NaN without accesses, and for the model ``fixed``."""
        return _rate(
            self["row_hits"], self["row_hits"] + self["row_misses"] + self["row_conflicts"]
        )


class Busy(Group[list[int]]):
    """Core cycles in which each unit of a part of the machine was busy; :attr:`Stats.busiest` is the most of them."""

    __slots__ = ()

    issue: list[int]
    l1: list[int]
    l2: list[int]
    memory: list[int]
    network: list[int]
    dram: list[int]
    links: list[int]


class Cpu(Group[int]):
    """Counters of the CPU cache that the machine's ``cpu_kib`` gives it."""

    __slots__ = ()

    probes: int
    transfers: int


class Link(Group[int]):
    """Counters of the link from one die to another; ``waiting_cycles``: of messages for those before them."""

    __slots__ = ()

    messages: int
    bytes: int
    waiting_cycles: int


class Links(Group[Link]):
    """Pair of dies, ``"0-1"``: from die 0 to die 1 -> counters."""

    __slots__ = ()
    _part: ClassVar[type[Group[Any]] | None] = Link


class Message(Group[Any]):
    """Counters of one message type; ``message["class"]`` is its traffic class."""

    __slots__ = ()

    messages: int
    bytes: int
    flits: int
    flit_hops: int


class Traffic(Group[Message]):
    """Message type -> counters."""

    __slots__ = ()
    _part: ClassVar[type[Group[Any]] | None] = Message


class Core(Group[int]):
    """Counters of all cores."""

    __slots__ = ()

    instructions: int
    thread_instructions: int
    memory_instructions: int
    active_cycles: int
    issue_cycles: int
    loads: int
    stores: int
    atomics: int
    load_instructions: int
    store_instructions: int
    load_latency_cycles: int
    store_latency_cycles: int
    atomic_instructions: int
    atomic_latency_cycles: int
    served_loads: int
    served_load_cycles: int
    served_stores: int
    served_store_cycles: int
    served_atomics: int
    served_atomic_cycles: int
    order_blocked_cycles: int
    barrier_blocked_cycles: int
    order_stalls_load: int
    order_stalls_store: int
    order_stalls_atomic: int
    order_stall_load_cycles: int
    order_stall_store_cycles: int
    order_stall_atomic_cycles: int
    shared_accesses: int
    shared_conflict_cycles: int
    fences: int
    barriers: int
    divergent_branches: int

    @property
    def load_latency(self) -> float:
        """Mean core cycles from issue to the last word of a load instruction; NaN without loads."""
        return _rate(self["load_latency_cycles"], self["load_instructions"])

    @property
    def store_latency(self) -> float:
        """Mean core cycles from issue to the last word of a store instruction; NaN without stores."""
        return _rate(self["store_latency_cycles"], self["store_instructions"])

    @property
    def atomic_latency(self) -> float:
        """Mean core cycles from issue to the last old value of an atomic instruction; NaN without atomics."""
        return _rate(self["atomic_latency_cycles"], self["atomic_instructions"])

    @property
    def order_stalls(self) -> int:
        """Loads, stores, atomics and fences that waited for an older access of their warp."""
        return sum(self[f"order_stalls_{kind}"] for kind in ("load", "store", "atomic"))

    @property
    def order_stall_share(self) -> float:
        """Order stalls per memory instruction; NaN without memory instructions."""
        return _rate(self.order_stalls, self["memory_instructions"])

    @property
    def order_stall_latency(self) -> float:
        """Mean core cycles from the first refused issue to the issue; NaN without order stalls."""
        cycles = sum(self[f"order_stall_{kind}_cycles"] for kind in ("load", "store", "atomic"))
        return _rate(cycles, self.order_stalls)


class Stalls(Group[int]):
    """Core cycles without an issued instruction, by cause; ``memory_order`` and ``fence`` are sums of causes.

    Attributes
    ----------
    total : int
        The sum of the causes, each counted once.
    """

    __slots__ = ()

    scoreboard: int
    poll: int
    lock: int
    memory_order: int
    memory_order_load: int
    memory_order_store: int
    memory_order_atomic: int
    memory_order_same_line: int
    fence: int
    fence_load: int
    fence_store: int
    fence_atomic: int
    fence_release: int
    time: int
    load_store_queue: int
    barrier: int
    sleep: int
    unit: int
    drain: int
    launch: int

    @property
    def total(self) -> int:
        """Core cycles without an issued instruction."""
        return sum(cycles for cause, cycles in self.items() if cause not in STALL_SUMS)


class Energy(Group[float]):
    """Joules by part; further parts are arrays of the protocol's controllers."""

    __slots__ = ()

    noc_dynamic: float
    noc_static: float
    l1: float
    l2: float
    dram: float
    scratchpad: float
    core: float
    total: float


class Histograms(Group[Group[list[int]]]):
    """Core's latencies, and histograms that the protocol declares, by controller."""

    __slots__ = ()


class Counters(Group[Group[int]]):
    """Counters that the protocol declares besides those of :class:`Cache`, by controller."""

    __slots__ = ()


class Storage(Group[Group[Group[int]]]):
    """Tables besides the caches, by controller."""

    __slots__ = ()


class Transitions(Group[list[int]]):
    """Table of the protocol -> entries of each cell."""

    __slots__ = ()


class Check(Group[int]):
    """What ``check=True`` checked."""

    __slots__ = ()


class Stats(Group[Any]):
    """Every counter of a GPU since its construction or the last reset of statistics.

    ``later - earlier`` are the statistics of what ran in between.

    Attributes
    ----------
    cycles : int
        Core cycles of all launches.
    launches : int
        Kernels launched.
    instructions, thread_instructions, memory_instructions : int
        Warp instructions; instructions times active lanes; warp instructions that access global memory.
    rollovers : int
        Number of timestamp rollovers during launches; 0 for a protocol without timestamps.
    events : int
        Events that the simulator processed.
    l1, l2 : Cache
        Counters, and ``hit_rate``. A protocol with further controllers has groups ``l3`` (memory side), ``global`` (one
        for the whole machine) and ``host`` beside them.
    traffic : Traffic
        One group per message type: messages, bytes (headers and payloads), flits, flit_hops, class.
    core, dram : Core, Dram
    cpu : Cpu
        Only of a machine with a CPU cache: ``probes``, ``transfers``.
    links : Links
        Only of a machine with several ``dies``: one group per ordered pair, messages, bytes, waiting_cycles.
    stalls : Stalls
        ``stalls.memory_order`` is the sum of ``memory_order_load``, ``_store``, ``_atomic`` (the kind of the older
        access) and ``_same_line``; ``stalls.fence`` is the sum of ``fence_load``, ``_store``, ``_atomic`` and
        ``_release``.
    histograms : Histograms
        Lists of counts: element 0 counts the value 0, element i the values from 2**(i-1) to 2**i - 1.
        ``core.load_latency`` and ``core.store_latency`` are in core cycles, per instruction; histograms that a
        protocol declares are listed by controller.
    counters : Counters
        Counters that a protocol declares besides ``l1`` and ``l2``, by controller.
    storage : Storage
        Arrays and parts besides the caches, by controller: look-ups (``accesses``), ``entries`` of each of the
        ``units``, ``bits`` of an entry.
    energy : Energy
        Joules by part, and ``total``.
    transitions : Transitions
        How often each cell of a table was entered, by table: one list, states by events.
    check : Check
        Only of a GPU that checks.
    """

    __slots__ = ("_gpu",)

    cycles: int
    launches: int
    instructions: int
    thread_instructions: int
    memory_instructions: int
    rollovers: int
    events: int
    l1: Cache
    l2: Cache
    traffic: Traffic
    core: Core
    stalls: Stalls
    dram: Dram
    busy: Busy
    cpu: Cpu
    links: Links
    energy: Energy
    histograms: Histograms
    counters: Counters
    storage: Storage
    transitions: Transitions
    check: Check

    def __init__(self, values: Given, gpu: int | None = None) -> None:
        super().__init__("stats", values)
        self._gpu = gpu  # a number for each GPU of the process; None: of no GPU that exists

    def __reduce__(self) -> tuple[Any, ...]:
        # Counters that were not read stay text: a program of thousands of launches writes as many.
        return (Stats, (self._given,)) if self._made is None else super().__reduce__()

    def of_a_run(self) -> Stats:
        """The same counters as those of a whole run: they may be subtracted from those of another run."""
        found = Stats.__new__(Stats)
        found._name, found._given, found._made, found._gpu = (
            self._name,
            self._given,
            self._made,
            None,
        )
        return found

    def __sub__(self, earlier: Any) -> Stats:
        if not isinstance(earlier, Stats):
            return NotImplemented
        if None not in (self._gpu, earlier._gpu) and self._gpu != earlier._gpu:
            raise ConfigError(
                "statistics of two GPUs have no difference: subtract an earlier gpu.stats() of the same GPU; "
                "compare two runs with gpucoh.compare or by their counters"
            )
        return Stats(difference(self.to_dict(), earlier.to_dict()))

    def __repr__(self) -> str:
        rates = ", ".join(
            f"{name.upper()} hits {self[name].hit_rate:.1%}"
            for name in ("l1", "l2")
            if name in self and self[name]["loads"]
        )
        return (
            f"<gpucoh.Stats {self.get('cycles', 0):,} core cycles, {self.get('instructions', 0):,} warp instructions, "
            f"{self.flits():,} flits{', ' if rates else ''}{rates}>"
        )

    def _repr_html_(self) -> str:
        numbers = {key: value for key, value in self.items() if not isinstance(value, Group)}
        rates = [
            (f"{name}.hit_rate", f"{self[name].hit_rate:.1%}")
            for name in ("l1", "l2")
            if name in self and self[name]["loads"]
        ]
        rows = [*_rows(numbers), ("flits", self.flits()), *rates]
        groups = (
            markup.section(key, value._repr_html_())
            for key, value in self.items()
            if isinstance(value, Group)
        )
        return markup.table(("", ""), rows) + "".join(groups)

    @property
    def busiest(self) -> dict[str, Any] | None:
        """The part of the machine that limits the run first: ``part``, the ``share`` of the run's core cycles in which
        the busiest ``unit`` of that part was busy, and that unit's number. None without cycles or these counters.

        Parts: ``issue`` (issue slots of cores), ``l1``, ``network`` (its ports), ``l2`` (banks), ``memory`` (units at
        the memory side), ``dram`` (channels: the data bus, or the banks), ``links`` (from one die or GPU to another, in
        the order of ``stats.links``). A share near 1 says that more of the other parts makes no difference; a small
        one, that the run waits for latencies.
        """
        busy: Mapping[str, list[int]] = self.get("busy") or {}
        most = [(max(units), part, units) for part, units in busy.items() if units]
        if not most or not self.get("cycles"):
            return None
        cycles, part, units = max(most, key=lambda one: one[0])
        return {"part": part, "share": cycles / self.cycles, "unit": units.index(cycles)}

    def flits(self) -> int:
        """The number of flits sent."""
        traffic: Mapping[str, Message] = self.get("traffic") or {}
        return sum(message.flits for message in traffic.values())

    def flit_hops_by_class(self) -> dict[str, int]:
        """Flits times hops by message class, in the order of the classes' first messages."""
        out: dict[str, int] = {}
        for message in self.traffic.values():
            out[message["class"]] = out.get(message["class"], 0) + message.flit_hops
        return out

    def flits_by_class(self) -> dict[str, int]:
        """Flits by message class, in the order of the classes' first messages."""
        out: dict[str, int] = {}
        for message in self.traffic.values():
            out[message["class"]] = out.get(message["class"], 0) + message.flits
        return out


# A group has the class that it is declared with; those of further controllers count as caches.
Stats._parts = {
    name: globals()[kind] for name, kind in Stats.__annotations__.items() if kind in globals()
} | dict.fromkeys(("l3", "global", "host"), Cache)
