"""The simulated GPU: arrays, launches, statistics."""

from __future__ import annotations

import functools
import inspect
import json
import math
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Never, Self

import numpy as np
from numpy.typing import ArrayLike

from gpucoh.base import markup
from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import name_of, named_values, natural, unknown, unknown_argument
from gpucoh.device import binding, outside
from gpucoh.device.arrays import (
    Array,
    converted,
    dtype_meant,
    dtype_of,
    shape_of,
    values_of,
    words_of,
)
from gpucoh.device.choices import Choice, changed, choose, split_options
from gpucoh.device.kernels import device_of
from gpucoh.device.launches import Extent, check_resident, extent, how_to_launch, occupancy
from gpucoh.device.launching import Launching, cycles_of
from gpucoh.device.protocols import Protocol
from gpucoh.lang.launchable import Launchable
from gpucoh.lang.program import Program
from gpucoh.machines import PLACEMENTS, Machine
from gpucoh.machines import machine as find_machine

DEFAULT_BUDGET = 10**9
DEFAULT_DEADLOCK_AFTER = 10**7
LARGEST_SEED = 2**64 - 1
# Values of check besides True and False -> the bit in the core.
CHECKS = {"protocol": 1, "races": 2, "kernel": 4}

VERSION: str = binding.VERSION


def protocols() -> dict[str, Protocol]:
    """Every protocol: id -> :class:`gpucoh.Protocol`. Those of files that this process has loaded come last."""
    return _protocols(tuple(outside.codes().items()))


@functools.lru_cache(1)
def _protocols(codes: tuple[tuple[str, str], ...]) -> dict[str, Protocol]:
    """Those of the binding, while the loaded ones have these codes."""
    known = dict(codes)
    return {name: _described(name, known.get(name, "")) for name in binding.protocol_ids()}


@functools.cache
def _described(name: str, code: str) -> Protocol:
    """A protocol; ``code`` is that of its file, which can change."""
    return Protocol.from_json(json.loads(binding.describe_protocol(name)))


def load_protocol(path: str | Path) -> str:
    """Compile and load the protocol of a C file, which then is a protocol like the others of this process.

    Everything that takes a protocol's id takes the path as well, if it ends in ``.c``: ``"./mine.c[lease=20]"``. The
    compiled file is kept in the user's cache folder. A file that has changed is loaded again; GPUs that exist keep
    theirs. Such a file is a program that runs with the user's rights.

    Parameters
    ----------
    path : str or Path
        The file; docs/how-to/add-a-protocol.md says what it declares.

    Returns
    -------
    str
        The protocol's id.

    Raises
    ------
    ConfigError
        If there is no such file or no C compiler, it does not compile, it exports no protocol, the protocol is not
        whole or has the id of another one, or the cache folder cannot be written.
    """
    return outside.load(path_of("protocol file", path)).id


def resolve(protocol: str | Path) -> Choice:
    """Find a protocol by its id or its C file, with options in brackets.

    Raises
    ------
    ConfigError
        For an unknown protocol or option (the message suggests the nearest), a bad value, or a file that cannot be
        loaded.
    """
    text = name_of("protocol", str(protocol) if isinstance(protocol, Path) else protocol)
    name = split_options(text)[0]
    if not outside.is_file(name):
        codes = tuple(outside.codes().items())
        if name not in _protocols(codes):
            outside.refuse_other_files(name)
        return _chosen(text, codes)
    loaded = outside.load(Path(name))
    return replace(choose(text, {name: protocols()[loaded.id]}), outside=loaded)


def absolute(protocol: str) -> str:
    """A protocol as a process in another folder finds it: with its file's absolute path, where it has one."""
    name = split_options(protocol)[0]
    return str(Path(name).absolute()) + protocol[len(name) :] if outside.is_file(name) else protocol


@functools.lru_cache(256)
def _chosen(text: str, codes: tuple[tuple[str, str], ...]) -> Choice:
    """A protocol of the binding with its options, once for the runs of a study."""
    return choose(text, _protocols(codes))


class Snapshot:
    """The whole state of a GPU between two launches, made by :meth:`GPU.snapshot`.

    It keeps neither the GPU nor its arrays alive.
    """

    def __init__(self, core: binding.Snapshot, arrays: frozenset[int]) -> None:
        self._core = core
        self._arrays = arrays  # the serial numbers of the arrays that are not freed


class GPU(Launching):
    """One simulated GPU.

    Its memory is free when the last reference to the GPU and its arrays goes, or at once with :meth:`close`, which
    ``with gpucoh.GPU(...) as gpu:`` calls at the end of the block. The process keeps up to 16 MiB for its next GPUs,
    and gives the rest back to the system.

    Parameters
    ----------
    machine : str, Path or Machine, default "fermi"
        A preset, a TOML file or a description.
    protocol : str or Path, default "no-l1"
        Protocol id, with options in brackets: ``"tc-weak[lifetime=3200]"``; or the C file of a protocol
        (:func:`gpucoh.load_protocol`).
    consistency : str, optional
        Consistency rule: sc, rc (alias wo), drf or hrf; by default the paper's for the protocol.
    seed : int, default 0
        Random seed of the machine's arbitrary choices. Equal seeds give equal runs.
    check : bool or {"protocol", "races", "kernel"}, default False
        True checks the protocol's invariants (``"protocol"``; a violation is a ProtocolError), looks for data races
        (``"races"``), and for integer divisions by zero and reads of uninitialised shared memory (``"kernel"``); what
        it finds in a kernel is a SimulationError. Under a protocol that promises no model, True checks only the
        invariants, since stale values can induce the others. A name selects one of the three.
        Checking is slower and does not change the run. ``stats().check`` counts what was checked.
    budget : int, default 10**9
        Largest number of core cycles of a launch.
    set : dict, optional
        Machine fields to change, ``budget`` and ``deadlock_after``, as in :func:`gpucoh.run`.
    deadlock_after : int, default 10**7
        A launch ends with DeadlockError after this number of core cycles, and at most twice as many, in which no word
        of memory has changed, no warp has ended, none has arrived at a barrier with new values in its registers, and
        none is in a ``sleep`` of more than a sixteenth of that time.

    Raises
    ------
    ConfigError
        If machine, protocol and consistency contradict each other.

    Examples
    --------
    >>> import gpucoh, numpy as np
    >>> gpu = gpucoh.GPU(machine="fermi", protocol="ideal")
    >>> x = gpu.array(np.arange(8, dtype=np.int32))
    >>> x[2:4]
    array([2, 3], dtype=int32)
    """

    @public
    def __init__(
        self,
        machine: str | Path | Machine = "fermi",
        protocol: str | Path = "no-l1",
        consistency: str | None = None,
        seed: int = 0,
        check: bool | str = False,
        *,
        budget: int = DEFAULT_BUDGET,
        deadlock_after: int = DEFAULT_DEADLOCK_AFTER,
        set: Mapping[str, object] | None = None,
        **others: Never,
    ) -> None:
        super().__init__()
        for name in others:
            known = [*inspect.signature(GPU).parameters][:-1]
            raise ConfigError(unknown_argument(name, others[name], known))
        changes = {} if set is None else named_values("set", set)
        budget = changes.pop("budget", budget)
        deadlock_after = changes.pop("deadlock_after", deadlock_after)
        if isinstance(machine, str) and machine.partition("[")[0] in protocols():
            raise ConfigError(
                f"{quoted(machine)} is a protocol, and the first argument of a GPU is the machine: write "
                f'GPU(machine="fermi", protocol="{machine}")'
            )
        self.machine = changed(find_machine(machine), changes)
        self.choice = resolve(protocol)
        self.consistency = self.choice.rule(consistency)
        self.protocol = self.choice.text
        self.seed = natural("seed", seed, LARGEST_SEED)
        self.budget = cycles_of("budget", budget)
        self.deadlock_after = cycles_of("deadlock_after", deadlock_after)
        self._core: binding.GPU | None = binding.GPU(
            self.machine.to_core(),
            self.choice.protocol.id,
            self.consistency,
            dict(self.choice.options),
            self.seed,
            self.budget,
            _checks(check, self.protocol, self.model),
        )
        self.occupancy: dict[str, dict[str, Any]] = {}
        # An array refers to its GPU, so the GPU must not refer to the array: a cycle would wait for the collector.
        self._arrays: weakref.WeakSet[Array] = weakref.WeakSet()
        #: Of CUDA modules: module -> device -> name -> array.
        self.variables: weakref.WeakKeyDictionary[Any, dict[int, dict[str, Array]]] = (
            weakref.WeakKeyDictionary()
        )
        self._dropped: deque[int] = deque()  # addresses of arrays that no longer exist

    def close(self) -> None:
        """Free everything that the GPU holds; later use of it and its arrays is an error. Closing twice is allowed."""
        self._core = None
        self._dropped.clear()

    @public
    def __enter__(self) -> Self:
        _ = self.core  # a closed GPU is refused
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def model(self) -> str:
        """The memory model that the protocol promises under this GPU's consistency rule."""
        return self.choice.model(self.consistency)

    def __dir__(self) -> list[str]:
        """Without what other parts of gpucoh use."""
        return sorted(
            {*super().__dir__()}
            - {
                "choice",
                "collected",
                "core",
                "drop",
                "kernels_may_follow",
                "launch_kernels",
                "launch_program",
            }
        )

    def __repr__(self) -> str:
        closed = " closed" if self._core is None else ""
        return f"<gpucoh.GPU {self.machine.name} {self.protocol} {self.consistency}{closed}>"

    def _repr_html_(self) -> str:
        promised = "no memory model" if self.model == "none" else self.model
        rows = [("machine", str(self.machine).strip("<>")), ("protocol", self.choice.text)]
        rows += [("consistency rule", self.consistency), ("promised", promised)]
        arrays = sorted(
            (item for item in self._arrays if not item._freed), key=lambda item: item.address
        )
        columns = ("array", "type", "shape", "bytes", "address")
        listed = [(a.name or "", a.dtype, a.shape, a.nbytes, f"{a.address:#x}") for a in arrays]
        return markup.table(("", ""), rows, repr(self).strip("<>")) + markup.table(columns, listed)

    # ---- memory

    @public
    def array(
        self,
        data: ArrayLike | Array,
        dtype: Any = None,
        *,
        name: str | None = None,
        device: int | None = None,
    ) -> Array:
        """Copy data into newly allocated simulated memory.

        Parameters
        ----------
        data : array_like
            Any shape with at least one element. The array has the type of the data: int8, uint8, int16, uint16, int32,
            uint32, int64, uint64, float32 or float64. bool becomes int32; lists of Python numbers become int32 or, with
            a fraction, float32, rounded to nearest.
        dtype : optional
            Convert to this type first; conversion to integers truncates.
        name : str, optional
            What messages and profiles call the array; by default as the kernel's parameter.
        device : int, optional
            The GPU of a machine of several in whose memory the array is; by default, and where ``placement_of_pages``
            is ``interleave``, as the machine places pages.

        Raises
        ------
        ConfigError
            If dtype, shape or name is not allowed, or a value is out of the dtype's range.
        """
        given = values_of(data)
        given = converted(given, dtype_meant(data, given) if dtype is None else dtype_of(dtype))
        out = self._allocate(shape_of(given.shape or (1,)), given.dtype, name, device)
        out[:] = given
        return out

    @public
    def zeros(
        self,
        shape: int | tuple[int, ...],
        dtype: Any = np.float32,
        *,
        name: str | None = None,
        device: int | None = None,
    ) -> Array:
        """Allocate simulated memory filled with 0; ``name`` and ``device`` as in :meth:`array`.

        Raises
        ------
        ConfigError
            If dtype or shape is not allowed.
        """
        return self._allocate(shape_of(shape), dtype_of(dtype), name, device)

    @public
    def full(
        self,
        shape: int | tuple[int, ...],
        value: float,
        dtype: Any = np.float32,
        *,
        name: str | None = None,
        device: int | None = None,
    ) -> Array:
        """Allocate simulated memory filled with ``value``; ``name`` and ``device`` as in :meth:`array`.

        Raises
        ------
        ConfigError
            If dtype, shape or value is not allowed.
        """
        out = self.zeros(shape, dtype, name=name, device=device)
        out[:] = value
        return out

    def _allocate(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        name: str | None,
        device: int | None,
    ) -> Array:
        if name is not None and (not isinstance(name, str) or not name):
            raise ConfigError(f"name = {quoted(name)} is not the name of an array: give a text")
        words = words_of(math.prod(shape) * dtype.itemsize)
        gpu = device_of(self.machine, device)
        self._release_dropped()
        try:
            address = self.core.allocate(words, 0 if gpu is None else gpu + 1)
        except MemoryError:
            raise ConfigError(f"no memory is left for an array of {words} words") from None
        array = Array(self, address, shape, dtype, name)
        self._arrays.add(array)
        return array

    def drop(self, address: int) -> None:
        """Free the allocation of an array that no longer exists, before the next allocation, launch or snapshot.

        An array can go at any time, in any thread, and also during a launch, which forbids the release.
        """
        self._dropped.append(address)

    def _release_dropped(self) -> None:
        core = self.core
        while self._dropped and not self.is_running:
            core.release(self._dropped[0])
            self._dropped.popleft()

    # ---- launches

    @public
    def launch(
        self,
        kernel: Launchable,
        *others: Never,
        grid: Extent | None = None,
        block: Extent | None = None,
        args: Sequence[Any] = (),
        placement: str | None = None,
        deadlock_after: int | None = None,
        shared: int | None = None,
        device: int | None = None,
        functional: bool = False,
    ) -> None:
        """Run a kernel to completion; ``kernel[grid, block](*args)`` is the same on the GPU of the arguments.

        Parameters
        ----------
        kernel : Kernel
            A function decorated with ``@gpucoh.kernel``.
        grid, block : int or up to three int
            Number of blocks in the grid; number of threads in a block. Required, and given by name.
        args : sequence
            One argument per parameter: numbers, and arrays of this GPU.
        placement : {"round_robin", "first_free", "static", "rotating"}, optional
            How blocks are assigned to cores; by default the machine's field of that name. ``"round_robin"``: the
            first blocks go to the cores in turn, each later one to the next core with free resources.
            ``"first_free"``: the first blocks fill one core after another. ``"static"``: block b runs on core b mod
            cores in every launch, and waits for free resources there. ``"rotating"``: as ``"round_robin"``, but the
            first block goes to the core after the one that took the last block of the launch before.
        deadlock_after : int, optional
            Core cycles without progress that end the launch; by default the GPU's.
        shared : int, optional
            Number of elements of the kernel's ``gpucoh.shared(dtype)``, which has no size of its own.
        device : int, optional
            The GPU of a machine of several (``gpus``), on whose cores the blocks run; by default the blocks run on all
            GPUs. Launches on several GPUs run at the same time in a block of :meth:`concurrent`.
        functional : bool, optional
            Compute the values alone: accesses are performed in memory at once, and take no time. Nothing of the launch
            is counted, observed or checked, and the next launch begins with empty caches.

        Raises
        ------
        ConfigError
            If the arguments do not match the kernel or the machine.
        KernelError
            If the kernel cannot be compiled or performs an illegal operation; with file and line.
        DeadlockError
            If the launch makes no progress; the message names the blocks that have not started and their limit, the
            warps that wait at barriers, and the words that warps poll with their last writers.
        SimulationError
            If the run cannot continue (deadlock, budget, protocol error).
        KeyboardInterrupt, or what ``progress`` or a handler of a signal raises
            The launch ends; some of its stores may be lost, and the GPU stays usable.
        """
        if not isinstance(kernel, Launchable):
            raise ConfigError(
                f"{quoted(kernel)} is not a kernel: decorate the function with @gpucoh.kernel"
            )
        if others or grid is None or block is None:
            raise ConfigError(how_to_launch(kernel, others, grid, block))
        grid3, block3 = extent("grid", grid), extent("block", block)
        threads, most = (
            block3[0] * block3[1] * block3[2],
            self.machine.warps_per_core * self.machine.lanes_per_warp,
        )
        if threads > most:
            raise ConfigError(
                f"block {quoted(block)} has {threads} threads (allowed: up to {most}, a core's resident threads)"
            )
        if not isinstance(args, Sequence) or isinstance(args, str):
            raise ConfigError(
                f"args = {quoted(args)} is not a sequence: give a tuple with one element per parameter"
            )
        if placement is not None and not (isinstance(placement, str) and placement in PLACEMENTS):
            raise ConfigError(unknown("placement", placement, PLACEMENTS))
        with self.clock.phase("compilation"):
            program = kernel.program(self.machine.lanes_per_warp, shared)
        self._note_occupancy(program, threads)
        if program.needs_all_blocks:
            check_resident(
                self.machine,
                program,
                grid3,
                self.occupancy[program.name],
                1 if device is None else self.machine.gpus,
            )
        given = kernel.arguments(self, program, grid3, args, device)
        own, local = kernel.local_bytes, None
        if own:
            words = math.prod(grid3) * threads * own // 4
            local = self.zeros(words, np.uint32, name=f"local memory of {kernel.name}")
        self.launch_program(
            program,
            grid3,
            block3,
            given,
            placement,
            deadlock_after,
            (0, 0) if local is None else (local.address, own),
            device,
            frees=local,
            functional=functional,
        )

    def _note_occupancy(self, program: Program, threads: int) -> None:
        self.occupancy[program.name] = occupancy(self.machine, program, threads)

    # ---- checks and snapshots

    @public
    def verify(self) -> None:
        """Check the state of every component; between launches also that no message or request is left over.

        Raises
        ------
        SimulationError
            If a check fails.
        """
        self.core.verify()

    @public
    def snapshot(self) -> Snapshot:
        """A copy of the whole state, between launches."""
        self._release_dropped()
        valid = frozenset(array.serial for array in self._arrays if not array._freed)
        return Snapshot(self.core.snapshot(), valid)

    @public
    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot; later arrays become invalid, arrays freed since then become valid.

        Raises
        ------
        ConfigError
            If the argument is not a snapshot, or is one of another machine, protocol or options, or the GPU records.
        """
        if not isinstance(snapshot, Snapshot):
            raise ConfigError(f"{quoted(snapshot)} is not a snapshot: take one with gpu.snapshot()")
        if self._recorder or self._profiles:
            doing = "records its statistics" if self._recorder else "is profiled"
            raise ConfigError(f"a GPU cannot be restored while it {doing}")
        self._release_dropped()  # their addresses may belong to other arrays afterwards
        self.core.restore(snapshot._core)
        for array in self._arrays:
            array._freed = array.serial not in snapshot._arrays


def _checks(check: Any, protocol: str, model: str) -> int:
    """The bits of the checks. Without a promised model stale values can induce races and divisions by zero."""
    if isinstance(check, bool):
        wanted = CHECKS if model != "none" else ("protocol",)
        return sum(CHECKS[name] for name in wanted) if check else 0
    if not isinstance(check, str) or check not in CHECKS:
        raise ConfigError(
            f"check = {quoted(check)} is not True, False, {', '.join(map(repr, CHECKS))}"
        )
    if check == "races" and model == "none":
        raise ConfigError(
            f"check = 'races' under {protocol}: it promises no memory model, and stale values can induce false races; "
            "choose a protocol that promises one"
        )
    return CHECKS[check]
