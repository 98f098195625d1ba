"""The statistics of a GPU: :class:`Stats`, as attributes and as a plain dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Group(Mapping[str, Any]):
    """One group of counters: ``stats.l1.loads`` or ``stats.l1["loads"]``."""

    __slots__ = ("_name", "_values")

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self._name = name
        self._values = {
            key: Group(f"{name}.{key}", value) if isinstance(value, Mapping) else value
            for key, value in values.items()
        }

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError(
                f"no counter {self._name}.{key}; there are {', '.join(self._values)}"
            ) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return (
            f"{self._name}({', '.join(f'{key}={value!r}' for key, value in self._values.items())})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The counters as plain dictionaries and numbers."""
        return {
            key: value.to_dict() if isinstance(value, Group) else value
            for key, value in self._values.items()
        }


class Stats(Group):
    """Every counter of a GPU since its construction or the last reset of statistics.

    Attributes
    ----------
    cycles : int
        Core cycles of all launches.
    instructions, thread_instructions, memory_instructions : int
        Warp instructions; instructions times active lanes; warp instructions that access global memory.
    rollovers : int
        Number of timestamp rollovers during launches; 0 for a protocol without timestamps.
    l1, l2, traffic, stalls, dram : Group
        Counters of each part; ``traffic`` has one group per message type: messages, flits, flit_hops, class.
        ``stalls.memory_order`` is the sum of ``memory_order_load``, ``_store``, ``_atomic`` (the kind of the older
        access) and ``_same_line``; ``stalls.fence`` is the sum of ``fence_load``, ``_store``, ``_atomic`` and
        ``_release``.
    histograms : Group
        Lists of counts: element 0 counts the value 0, element i the values from 2**(i-1) to 2**i - 1.
        ``core.load_latency`` and ``core.store_latency`` are in core cycles, per instruction; histograms that a
        protocol declares are listed by controller.
    counters : Group
        Counters that a protocol declares besides ``l1`` and ``l2``, by controller.
    storage : Group
        Arrays and parts besides the caches, by controller: look-ups (``accesses``), ``entries`` of each of the
        ``units``, ``bits`` of an entry.
    energy : Group
        Joules by part, and ``total``.
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__("stats", values)

    def flits(self) -> int:
        """The number of flits sent."""
        return sum(int(group["flits"]) for group in self["traffic"].values())

    def flits_by_class(self) -> dict[str, int]:
        """Flits by message class, in the order of the classes' first messages."""
        out: dict[str, int] = {}
        for group in self["traffic"].values():
            out[group["class"]] = out.get(group["class"], 0) + int(group["flits"])
        return out
