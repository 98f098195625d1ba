"""One run: a workload on a machine under a protocol, with its verdict and every counter."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gpucoh.base.doors import door
from gpucoh.base.errors import (
    ConfigError,
    KernelError,
    SimulationError,
    WorkloadError,
)
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.processes import NO_LIMITS, Limits, limit_of, limits_of
from gpucoh.base.quoting import quoted
from gpucoh.base.units import parse_whole
from gpucoh.base.wording import named_values, natural, unknown
from gpucoh.device import outside, unread
from gpucoh.device.choices import changed
from gpucoh.device.gpu import (
    DEFAULT_BUDGET,
    DEFAULT_DEADLOCK_AFTER,
    GPU,
    LARGEST_SEED,
    VERSION,
    resolve,
)
from gpucoh.device.outside import Outside
from gpucoh.machines import Machine, machine
from gpucoh.results.columns import Setup
from gpucoh.results.runs import RunResult
from gpucoh.runs.inputs import INPUTS
from gpucoh.runs.interrupts import interruptible
from gpucoh.suite import Given, Workload, find
from gpucoh.suite.base import REGISTRY
from gpucoh.suite.references import files_of, is_of_a_file, place_of
from gpucoh.terminal.bars import blocks_bar

if TYPE_CHECKING:
    from gpucoh.results.trace.trace import Trace

Result = TypeVar("Result")

# Limits of a launch, in core cycles, that `set` may contain beside machine fields, with their defaults.
_LIMITS = {"budget": DEFAULT_BUDGET, "deadlock_after": DEFAULT_DEADLOCK_AFTER}

# Exceptions in a user's workload that say nothing about the run, but about where it runs.
_ENVIRONMENT = (OSError, MemoryError, ImportError)


def machine_and_limits(
    given: str | Path | Machine, changes: Mapping[str, object]
) -> tuple[Machine, int, int]:
    """A machine with its changes, and the budget and ``deadlock_after``, which the changes may contain.

    Raises
    ------
    ConfigError
        For an unknown machine or field, or a bad value.
    """
    fields = {name: value for name, value in changes.items() if name not in _LIMITS}
    return (
        changed(machine(given), fields),
        _limit("budget", changes),
        _limit("deadlock_after", changes),
    )


def _limit(name: str, changes: Mapping[str, object]) -> int:
    """A limit of a launch in core cycles."""
    value = changes.get(name, _LIMITS[name])
    try:
        return parse_whole(value)
    except ValueError:
        raise ConfigError(
            f"{name} = {quoted(value)} is not a whole number of core cycles"
        ) from None


@dataclass(frozen=True, kw_only=True)
class Run:
    """The description of a run: the arguments of :func:`run`, checked on construction.

    ``limit_s`` and ``limit_gib`` end a run of users' code that :meth:`carry_out_apart` carries out: seconds by the
    clock, and GiB of memory. None: :data:`gpucoh.base.processes.DEFAULT_LIMIT_S` and ``DEFAULT_LIMIT_GIB``.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value.
    """

    workload: Given
    protocol: str = "no-l1"
    machine: str | Path | Machine = "fermi"
    consistency: str | None = None
    scale: str = "small"
    seed: int = 0
    params: Mapping[str, object] | None = None
    check: bool | str = False
    set: Mapping[str, object] | None = None
    limit_s: float | None = None
    limit_gib: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.workload, str) or ":" in self.workload:
            # Once, so that all uses of the run are of one object.
            object.__setattr__(self, "workload", find(self.workload))
        with contextlib.suppress(ConfigError):  # which validate raises
            object.__setattr__(self, "seed", natural("seed", self.seed))
        for what in ("params", "set"):
            if (given := getattr(self, what)) is not None:
                named_values(what, given)
        for what in ("limit_s", "limit_gib"):
            object.__setattr__(self, what, limit_of(what, getattr(self, what)))
        check: object = self.check
        if isinstance(check, np.bool_):
            object.__setattr__(self, "check", bool(check))
        if not isinstance(self.check, bool | str):
            raise ConfigError(f"check = {quoted(self.check)} is not true, false or a name")

    @property
    def found(self) -> Workload:
        """The workload."""
        return find(self.workload)

    def validate(self) -> None:
        """Validate everything except the contents of input files, without running.

        Raises
        ------
        ConfigError
            For an unknown name or a bad value.
        """
        self.found.setting(self.scale, self.seed, self.params)
        resolve(self.protocol).rule(self.consistency)
        built, budget = self.machine_and_budget()
        natural("seed", self.seed, LARGEST_SEED)
        given = built, self.protocol, self.consistency, self.check, budget, self.deadlock_after
        loaded = _loaded(self.protocol)
        if loaded is None:
            _fits(*given)
            return
        with LATE_IMPORT:
            from gpucoh.runs.isolation import Ended
        with contextlib.suppress(Ended):  # each of its runs is then a row that says so
            _fits_apart(loaded, self.limits, *given)

    def machine_and_budget(self) -> tuple[Machine, int]:
        """The machine with the changes of ``set``, and the cycle budget, which ``set`` may contain."""
        return machine_and_limits(self.machine, self.set or {})[:2]

    @property
    def deadlock_after(self) -> int:
        """Core cycles without progress that end a launch; ``set`` may contain them."""
        return _limit("deadlock_after", self.set or {})

    def setup(self) -> Setup:
        """What the run is made of, for the columns of a study."""
        built, budget = self.machine_and_budget()
        limits = {"budget": budget, "deadlock_after": self.deadlock_after}
        own = built.changes.keys() == built.numbers().keys()
        return Setup(
            protocol=self.protocol,
            options=resolve(self.protocol).values(),
            fields=built.numbers() | limits,
            changed=dict.fromkeys([*(self.set or {}), *(() if own else built.changes)]),
            own=own,
            params=self.found.setting(self.scale, self.seed, self.params).params,
        )

    @property
    def limits(self) -> Limits:
        """The limits of a run of users' code."""
        return limits_of(self.limit_s, self.limit_gib)

    def _foreign(self) -> tuple[list[Path], str]:
        """The users' files whose code the run executes, and a hash of that code.

        No files: it executes none, or a function that another process cannot import, of a notebook or a running script.
        """
        loaded = _loaded(self.protocol)
        files, code = ([loaded.path], loaded.code) if loaded else ([], "")
        function = self.found.function
        if function is None or self.found.built_in:
            return files, code
        if is_of_a_file(function):
            digest = hashlib.sha256(f"{code}{self.found.code}".encode())
            for path in files_of(function):
                digest.update(path.read_bytes())
            return [*files, Path(place_of(function)[0])], digest.hexdigest()
        movable = function.__module__ != "__main__" and _is_portable(self.found)
        return (files, code) if movable else ([], "")

    @property
    def _named(self) -> Given:
        """The workload, one of the suite by its id."""
        return self.found.id if self.found in REGISTRY else self.found

    def carry_out_apart(
        self,
        *,
        stop: threading.Event | None = None,
        always: bool = False,
        **given: Any,
    ) -> RunResult:
        """:meth:`carry_out` with ``capture``, in a process of its own if the run executes code of a user's file.

        Parameters
        ----------
        stop : threading.Event, optional
            As for :meth:`carry_out`.
        always : bool, default False
            In a process of its own in any case.
        given
            ``every``, ``profile`` and ``trace``, as for :meth:`carry_out`.

        Returns
        -------
        RunResult
            That of :meth:`carry_out`. If the process crashes, is ended by a signal or exceeds a limit: one without
            statistics, whose error begins with ``crashed``, ``signal`` or ``limit``.
        """
        files, code = self._foreign()
        if not files and not always:
            return self.carry_out(capture=True, stop=stop, **given)
        with LATE_IMPORT:
            from gpucoh.runs import isolation
        begin = time.perf_counter()
        try:
            result: RunResult = isolation.call(
                code,
                _of_protocol,
                _loaded(self.protocol),
                Run.carry_out,
                replace(self, workload=self._named),  # inputs of the suite's own are kept by object
                capture=True,
                limits=self.limits if files else NO_LIMITS,
                stop=stop,
                again=lambda result: result.error is None and result.correct is not False,
                **given,
            )
            return result
        except isolation.Ended as ended:
            return self.ended(ended.kind, str(ended), time.perf_counter() - begin)

    def ended(self, error: str, text: str, wall_s: float = 0.0) -> RunResult:
        """The result of a run whose process has ended: its text names the run and the users' files, its statistics are
        zeros.
        """
        files = ", ".join(map(str, self._foreign()[0]))
        where = f"{self.found.id} under {self.protocol}, seed {self.seed}: {text}"
        where += f" ({files})" if files else ""
        with GPU() as gpu:  # no code of the run's protocol
            nothing = gpu.stats().of_a_run()
        return RunResult(
            **self.described(),
            correct=False,
            mismatches=0,
            where=where,
            error=error,
            wall_s=wall_s,
            stats=nothing,
        )

    def described(self, gpu: GPU | None = None) -> dict[str, Any]:
        """What a result says of its run beside what it found; of the run's GPU, if it has one."""
        choice = gpu.choice if gpu else resolve(self.protocol)
        built = gpu.machine if gpu else self.machine_and_budget()[0]
        rule = gpu.consistency if gpu else choice.rule(self.consistency)
        return {
            "workload": self.found.id,
            "protocol": choice.text,
            "machine": built.name,
            "consistency": rule,
            "model": choice.model(rule),
            "scale": self.scale,
            "seed": self.seed,
            "params": dict(self.found.setting(self.scale, self.seed, self.params).params),
            "configuration": built.numbers(),
            "changes": built.changes,
            "options": choice.values(),
            "protocol_sha256": choice.outside.sha256 if choice.outside else None,
            "version": VERSION,
        }

    def build(self) -> tuple[GPU, Workload]:
        """A new GPU for the run, and the workload."""
        built, budget = self.machine_and_budget()
        gpu = GPU(
            built,
            self.protocol,
            self.consistency,
            self.seed,
            self.check,
            budget=budget,
            deadlock_after=self.deadlock_after,
        )
        gpu.gpus_are_one = built.gpus > 1  # workloads are written for one
        return gpu, self.found

    def carry_out(
        self,
        *,
        capture: bool = False,
        stop: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
        every: int | None = None,
        profile: bool = False,
        trace: bool | Mapping[str, Any] = False,
    ) -> RunResult:
        """Make the input, run the workload, check the result.

        Parameters
        ----------
        capture : bool, default False
            Return a run that ends in an error (deadlock, budget, protocol error, bad access) as a result that is
            not correct, instead of raising. A missing file or a lack of memory is no result, and is raised.
        stop : threading.Event, optional
            Setting it ends the run from another thread.
        progress : callable, optional
            Called with (finished blocks, blocks of the launch).
        every : int, optional
            Core cycles of an interval, as in :func:`run`.
        profile : bool, default False
            Profile the run, as in :func:`run`.
        trace : bool or dict, default False
            Trace the run, as in :func:`run`.
        """
        gpu, found = self.build()
        gpu.stop, gpu.progress = stop, progress
        with gpu, contextlib.ExitStack() as observers:
            recorder = observers.enter_context(gpu.record(every)) if every is not None else None
            profiled = observers.enter_context(gpu.profile()) if profile else None
            traced: Trace | None = None
            if trace is not False:
                given = {} if trace is True else _trace_arguments(trace)
                traced = observers.enter_context(gpu.trace(**given))
            result = self._carry_out_on(gpu, found, capture)
            observers.close()
            if recorder is None and profiled is None and traced is None:
                return result
            if traced is not None:
                traced.title = f"{result.workload} under {traced.title}"
            return replace(
                result,
                series=recorder.series if recorder else None,
                profiled=profiled() if profiled else None,
                traced=traced,
            )

    def _carry_out_on(self, gpu: GPU, found: Workload, capture: bool) -> RunResult:
        with gpu.clock.phase("input"):
            setting = found.setting(self.scale, self.seed, self.params)
            instance = INPUTS.get(found, setting)
        described = self.described(gpu)
        start, used = time.perf_counter(), time.thread_time()
        correct: bool | None = False
        mismatches, where, error, details = 0, "", None, {}
        notes = unread.notes(self.set or (), gpu.machine, gpu.choice, gpu.consistency)
        try:
            with gpu.clock.phase("check"):
                outcome = instance.run(gpu)
            correct, mismatches, where = outcome.correct, outcome.mismatches, outcome.where
            details, notes = dict(outcome.details), notes + outcome.notes
        except (SimulationError, KernelError, WorkloadError) as failure:
            stopped = gpu.stop is not None and gpu.stop.is_set()
            if not capture or stopped or isinstance(failure.__cause__, _ENVIRONMENT):
                raise
            error, where = type(failure).__name__, str(failure)
        return RunResult(
            **described,
            correct=correct,
            mismatches=mismatches,
            where=where,
            error=error,
            wall_s=time.perf_counter() - start,
            cpu_s=time.thread_time() - used,
            seconds=dict(gpu.clock.seconds),
            stats=gpu.stats().of_a_run(),
            details=details,
            occupancy=gpu.occupancy,
            notes=notes,
        )


def _trace_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    known = list(inspect.signature(GPU.trace).parameters)[1:]
    for name in given:
        if name not in known:
            raise ConfigError(f"trace: {unknown('argument', name, known)}")
    return dict(given)


def kind_of(run: Run) -> tuple[str, str]:
    """What the time of a run depends on most, for :mod:`gpucoh.runs.schedule`: its workload and scale."""
    return run.found.id, run.scale


@functools.lru_cache(1024)
def _fits(
    built: Machine,
    protocol: str,
    consistency: str | None,
    check: bool | str,
    budget: int,
    deadlock_after: int,
) -> None:
    """Construct a GPU to validate the configuration; cached, since the runs of a sweep share few of them."""
    GPU(built, protocol, consistency, check=check, budget=budget, deadlock_after=deadlock_after)


@functools.lru_cache(1024)
def _fits_apart(loaded: Outside, limits: Limits, *given: Any) -> None:
    """:func:`_fits` in a process of its own: building a GPU executes code of its protocol."""
    with LATE_IMPORT:
        from gpucoh.runs import isolation
    isolation.call(loaded.code, _of_protocol, loaded, _fits, *given, limits=limits)


def _loaded(protocol: str) -> Outside | None:
    """The C file of a protocol, which may be given by the id that it has since it was loaded."""
    choice = resolve(protocol)
    return choice.outside or outside.loaded(choice.protocol.id)


def _of_protocol(
    loaded: Outside | None, function: Callable[..., Result], *arguments: Any, **named: Any
) -> Result:
    """Load the file of a protocol, and call a function.

    Raises
    ------
    ConfigError
        If the file has changed: a row would say that the former code has run it.
    """
    if loaded is not None and outside.load(loaded.path).code != loaded.code:
        raise ConfigError(f"protocol file {loaded.path} has changed since the runs were described")
    return function(*arguments, **named)


def _is_portable(workload: Workload) -> bool:
    """Whether another process can have a workload."""
    try:
        pickle.dumps(workload)
    except ConfigError:
        return False
    return True


@door
def run(
    workload: Given,
    protocol: str | Path = "no-l1",
    machine: str | Path | Machine = "fermi",
    consistency: str | None = None,
    scale: str = "small",
    seed: int = 0,
    params: Mapping[str, object] | None = None,
    check: bool | str = False,
    set: Mapping[str, object] | None = None,
    progress: bool = False,
    deadlock_after: int | None = None,
    budget: int | None = None,
    every: int | None = None,
    profile: bool = False,
    trace: bool | Mapping[str, Any] = False,
) -> RunResult:
    """Run one workload and check its result.

    Parameters
    ----------
    workload : str, Workload or callable
        Workload id or alias, which :func:`gpucoh.workloads` lists; ``"my_file.py:name"``; or a function as
        :func:`gpucoh.workload` describes it.
    protocol : str or Path
        Protocol id, or the C file of one (:func:`gpucoh.load_protocol`), with options in brackets.
    machine : str, Path or Machine
        A preset, a TOML file or a description.
    consistency : str, optional
        Consistency rule; by default the paper's for the protocol.
    scale : {"tiny", "small", "paper"}
        Input size.
    seed : int
        Random seed of input and machine. Equal seeds give equal results except for ``wall_s`` and ``cpu_s``.
    params : dict, optional
        The workload's parameters.
    check : bool or {"protocol", "races", "kernel"}
        Check invariants, data races and the kernels' operations, or one of them, as in :class:`gpucoh.GPU`.
    set : dict, optional
        Machine fields to change, ``budget`` and ``deadlock_after``.
    deadlock_after : int, optional
        Core cycles without progress that end a launch, as in :class:`gpucoh.GPU`.
    budget : int, optional
        Largest number of core cycles of a launch, as in :class:`gpucoh.GPU`.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    every : int, optional
        Record the statistics in intervals of this number of core cycles, by launch and by core: ``intervals``,
        ``launches`` and ``cores`` of the result.
    profile : bool, default False
        Also record where cycles, hits, misses and flits go: ``profile`` of the result. Statistics stay the same.
    trace : bool or dict
        Trace the run: ``trace`` of the result. The arguments of :meth:`gpucoh.GPU.trace`, an array by the name of a
        kernel's parameter: ``trace={"array": "lock", "index": 0, "cycles": (0, 5000)}``; True traces everything.

    Returns
    -------
    RunResult

    Raises
    ------
    ConfigError
        For an unknown name or a bad value.
    KernelError, SimulationError
        If the run ends in an error.
    WorkloadError
        If the function of a user's workload raises an exception.
    KeyboardInterrupt
        On Ctrl-C, at once; the run itself ends shortly after.

    Examples
    --------
    >>> import gpucoh
    >>> gpucoh.run("vec-cpy", protocol="ideal", scale="tiny").correct
    True
    """
    limits = {"budget": budget, "deadlock_after": deadlock_after}
    given = {name: value for name, value in limits.items() if value is not None}
    set = {**(set or {}), **given} if given else set
    wanted = Run(
        workload=workload,
        protocol=str(protocol) if isinstance(protocol, Path) else protocol,
        machine=machine,
        consistency=consistency,
        scale=scale,
        seed=seed,
        params=params,
        check=check,
        set=set,
    )
    with blocks_bar(f"{wanted.found.id} {protocol}", enabled=progress) as report:
        return interruptible(
            lambda stop: wanted.carry_out(
                stop=stop, progress=report, every=every, profile=profile, trace=trace
            )
        )
