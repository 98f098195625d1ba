"""What a GPU counted: :class:`Stats`, attributes and a plain dictionary."""

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
        """Plain dictionaries and numbers."""
        return {
            key: value.to_dict() if isinstance(value, Group) else value
            for key, value in self._values.items()
        }


class Stats(Group):
    """Every counter of a GPU since it was made, or since its statistics were reset.

    Attributes
    ----------
    cycles : int
        Core cycles, launches only.
    instructions, thread_instructions, memory_instructions : int
        Warp instructions; instructions times active lanes; warp instructions that access global memory.
    rollovers : int
        How often the protocol's timestamps have begun again during launches; 0 for a protocol without any.
    l1, l2, traffic, stalls, dram : Group
        Counters of each part; ``traffic`` has one group a message type: messages, flits, flit_hops, class.
        ``stalls.memory_order`` is the sum of ``memory_order_load``, ``_store``, ``_atomic`` (what
        the older access is) and ``_same_line``; ``stalls.fence`` is that of ``fence_load``,
        ``_store``, ``_atomic`` and ``_release``.
    histograms : Group
        Lists of counts: element 0 counts the value 0, element i the values from 2**(i-1) to
        2**i - 1. ``core.load_latency`` and ``core.store_latency`` are in core cycles, by
        instruction; what a protocol declares is told by controller.
    counters : Group
        What a protocol's controllers count beside ``l1`` and ``l2``, by controller.
    storage : Group
        Arrays and parts beside the caches, by controller: look-ups (``accesses``), ``entries``
        of each of the ``units``, ``bits`` of an entry.
    energy : Group
        Joules by part, and their ``total``.
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__("stats", values)

    def flits(self) -> int:
        """Flits sent in all."""
        return sum(int(group["flits"]) for group in self["traffic"].values())

    def flits_by_class(self) -> dict[str, int]:
        """Flits by message class: class -> flits, in the order of the classes' first messages."""
        out: dict[str, int] = {}
        for group in self["traffic"].values():
            out[group["class"]] = out.get(group["class"], 0) + int(group["flits"])
        return out
