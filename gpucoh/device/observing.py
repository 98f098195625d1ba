"""What a GPU counts and reports: statistics, profiles, records and traces."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import natural
from gpucoh.device import binding
from gpucoh.device.arrays import Array
from gpucoh.device.choices import Choice
from gpucoh.device.recording import LARGEST_INTERVAL, Recorder
from gpucoh.machines import Machine
from gpucoh.results.profile import Profile, collected
from gpucoh.results.stats import Stats

if TYPE_CHECKING:
    from gpucoh.device.tracing import Index, Tracer
    from gpucoh.results.trace.trace import Trace

RECORDS = 100_000  # of a trace
_SERIALS = itertools.count()


@dataclass(frozen=True)
class _Counted:
    """The counters of the core's text, and the energy that they take."""

    text: str
    machine: Machine
    networks: int
    has_l1: bool

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found | {"energy": lambda: self._joules(found)}

    def _joules(self, found: dict[str, Any]) -> dict[str, float]:
        with LATE_IMPORT:
            from gpucoh.results import energy
        return energy.estimate(
            found, self.machine.numbers(), networks=self.networks, has_l1=self.has_l1
        )


class Observing:
    """The part of :class:`gpucoh.GPU` that tells what its launches did."""

    machine: Machine
    choice: Choice
    protocol: str
    _core: binding.GPU | None

    def __init__(self) -> None:
        self._serial = next(_SERIALS)
        self._recorder: Recorder | None = None
        self._profiles = False
        self._tracer: Tracer | None = None

    @property
    def core(self) -> binding.GPU:
        """The simulated machine.

        Raises
        ------
        ConfigError
            If the GPU is closed.
        """
        if self._core is None:
            raise ConfigError(
                f"this GPU ({self.machine.name} {self.protocol}) is closed: make a new one, or use it before close() "
                "and inside its with block"
            )
        return self._core

    @contextlib.contextmanager
    def profile(self) -> Iterator[Callable[[], Profile]]:
        """Profile the launches of a ``with`` block; ``profile()`` of what it gives is the :class:`gpucoh.Profile`.

        Statistics and cycles stay the same; the simulation is slower. :meth:`reset_stats` restarts the profile.

        Raises
        ------
        ConfigError
            If the GPU profiles already.

        Examples
        --------
        >>> import gpucoh, numpy as np
        >>> gpu = gpucoh.GPU()
        >>> with gpu.profile() as profile:
        ...     x = gpu.zeros(64, np.int32, name="histogram")
        >>> profile().by("line").empty
        True
        """
        core = self.core
        if self._profiles:
            raise ConfigError("this GPU profiles already: end that with block first")
        found: list[Profile] = []
        try:
            self._profiles = True
            core.profile(True)
            yield lambda: found[0] if found else collected(json.loads(core.print_profile()))
        finally:
            self._profiles = False
            found.append(collected(json.loads(core.print_profile())))
            core.profile(False)

    @public
    def stats(self) -> Stats:
        """Every counter since construction or the last :meth:`reset_stats`."""
        protocol = self.choice.selected
        has_l1 = protocol.has_l1 and self.machine.l1_kib > 0
        counted = _Counted(self.core.statistics(), self.machine, protocol.virtual_networks, has_l1)
        return Stats(counted, self._serial)

    @public
    def reset_stats(self) -> None:
        """Set all counters to zero."""
        self.core.reset_statistics()
        if self._profiles:
            self.core.profile(True)
        if self._recorder:
            self._recorder.restart()

    @contextlib.contextmanager
    def record(self, every: int) -> Iterator[Recorder]:
        """Record the statistics of the launches in a with block: by interval, by launch and by core.

        Parameters
        ----------
        every : int
            Core cycles of an interval.

        Yields
        ------
        Recorder
            After the block it has ``intervals``, ``launches`` and ``cores``, as :class:`gpucoh.RunResult` has them.

        Raises
        ------
        ConfigError
            For a bad number, or if the GPU records already.
        """
        every = natural("every", every, LARGEST_INTERVAL, smallest=1)
        if self._recorder:
            raise ConfigError("this GPU records already: end that with block first")
        recorder = Recorder(every, self.stats, lambda: json.loads(self.core.core_statistics()))
        try:
            self._recorder = recorder
            yield recorder
        finally:
            self._recorder = None
            if self._core is not None:
                recorder.finish()

    @contextlib.contextmanager
    def trace(
        self,
        array: Array | str | int | None = None,
        index: Index | None = None,
        cycles: tuple[int, int] | None = None,
        kinds: Iterable[str] | None = None,
        records: int = RECORDS,
    ) -> Iterator[Trace]:
        """Trace what the launches in a with block do to some lines, without a change to cycles or statistics.

        Parameters
        ----------
        array : Array, str or int, optional
            Trace the lines of this array, of the first one that has this name or is a parameter of this name, or of the
            word at this byte address; by default all lines.
        index : int, slice, range or (int, int), optional
            The elements of the array, counted as in a flat one; a pair is the first and the last.
        cycles : (int, int), optional
            The first core cycle and the end of the window; the clock begins at 0 with the first launch and also counts
            between launches.
        kinds : iterable of str, optional
            The kinds of record, of ``warps``, ``fences``, ``misses``, ``messages``, ``steps``, ``leases``,
            ``evictions``, ``epochs`` and ``memory``; by default all. ``misses``: an L1 completes a request;
            ``leases``: a lease expires; ``fences``: fences, and L1s that drop stale copies.
        records : int, default 100,000
            Largest number of records; of more, the last ones are kept, and the trace says how many are missing.

        Yields
        ------
        Trace
            Complete after the block: ``table()``, ``requests()``, ``spans()``, ``life()``, ``draw()``, ``save(path)``.

        Raises
        ------
        ConfigError
            For a bad argument, an array that no launch had, or if the GPU traces already.
        """
        if self._tracer:
            raise ConfigError("this GPU traces already: end that with block first")
        with LATE_IMPORT:
            from gpucoh.device.tracing import Tracer
        title = f"{self.protocol} on {self.machine.name}"
        line_bytes = self.machine.line_bytes
        tracer = Tracer(self.core, line_bytes, title, array, index, cycles, kinds, records)
        try:
            self._tracer = tracer
            yield tracer.trace
            tracer.check_found()
        finally:
            self._tracer = None
            if self._core is not None:
                tracer.finish()
