"""Names of dies and GPUs in texts, tables and timelines: empty on a machine of one die."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NO_DIE = 255  # GPC_NO_DIE of csrc/controller/nodes.h
_GROUP = re.compile(r"((?:GPU \d+ |die \d+ )*)(.*)")


@dataclass(frozen=True)
class Dies:
    """The dies of a machine's nodes; cores come first.

    Attributes
    ----------
    gpus : int
        GPUs, each with an equal, consecutive share of the dies.
    of : sequence of int
        The die of each node; empty on a machine of one die.
    """

    gpus: int = 1
    of: Sequence[int] = ()

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Dies:
        """The ``dies`` of what the core prints; none on one die."""
        return cls(**data["dies"]) if "dies" in data else cls()

    @classmethod
    def of_machine(cls, numbers: Mapping[str, Any]) -> Dies:
        """A node a die, by the machine's numbers."""
        dies = numbers.get("dies", 1)
        return cls(numbers["gpus"], range(dies)) if dies > 1 else cls()

    @property
    def count(self) -> int:
        """Dies of the machine."""
        return 1 + max((die for die in self.of if die != _NO_DIE), default=0)

    def name(self, die: int) -> str:
        """``die 1``; ``GPU 0 die 1`` on several GPUs, ``GPU 1`` of those of one die."""
        if self.gpus == 1:
            return f"die {die}"
        gpu = die * self.gpus // self.count
        return f"GPU {gpu}" if self.count == self.gpus else f"GPU {gpu} die {die}"

    def name_of(self, node: int) -> str:
        """The name of a node's die; empty without one."""
        return self.name(self.of[node]) if self.several and self.of[node] != _NO_DIE else ""

    def prefix(self, node: int) -> str:
        """What precedes a node's own name: its die's, and a space."""
        name = self.name_of(node)
        return name and name + " "

    @property
    def several(self) -> bool:
        """Whether the machine has several dies."""
        return bool(self.of)


def group_of(name: str) -> tuple[str, str]:
    """The die in a name that begins with :meth:`Dies.prefix`, and the rest of the name."""
    group, rest = _GROUP.fullmatch(name).groups()  # type: ignore[union-attr]
    return group.rstrip(), rest


def number_of(name: str) -> int:
    """The die, or its GPU of one die, that a name ends in: the order of dies."""
    return int(name.rpartition(" ")[2])


def link_name(pair: str) -> str:
    """``die 0 -> die 1`` of the counters' ``0-1``, ``GPU 0 -> GPU 1`` of ``gpu0-gpu1``."""
    ends = [
        ("GPU " + end[3:] if end.startswith("gpu") else "die " + end) for end in pair.split("-")
    ]
    return " -> ".join(ends)
