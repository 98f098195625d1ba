"""The last inputs that runs have made, so that runs under other protocols and on other machines use them again.

These are inputs of the suite: they depend on setting and files alone, and do not change when they run. A user's
workload may depend on whatever its code names, and makes its input in each run.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from gpucoh.suite import Instance, Workload
from gpucoh.suite.base import REGISTRY, Setting

# Of a matrix, one run of each workload begins first, and seeds alternate. An input has up to 4 MB at scale small, up to
# 100 MB at scale paper.
_KEPT = 8


class Inputs:
    """Inputs by what determines them; threads that need the same one make it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[object, ...], _Input] = OrderedDict()

    def get(self, found: Workload, setting: Setting) -> Instance:
        """The workload's input, as :meth:`gpucoh.suite.Workload.prepare` makes it."""
        if found not in REGISTRY:
            return found.make(setting)
        values = tuple((name, _content(value)) for name, value in setting.params.items())
        # Some workloads share the function that makes their input: the workload's name belongs to the key.
        key = (found.id, found.make, setting.scale, setting.seed, values, setting.given)
        with self._lock:
            made = self._made.setdefault(key, _Input())
            self._made.move_to_end(key)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        with made.lock:
            if made.instance is None:
                made.instance = found.make(setting)
            return made.instance


class _Input:
    """An input, or the place of one that a thread is making."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.instance: Instance | None = None


def _content(value: Any) -> tuple[object, ...]:
    """A parameter's value and type, with the state of the file that it names, if any."""
    known: tuple[object, ...] = (type(value), value)
    if isinstance(value, str) and Path(value).is_file():
        state = Path(value).stat()
        known += (Path(value).absolute(), state.st_ino, state.st_mtime_ns, state.st_size)
    return known


INPUTS = Inputs()
