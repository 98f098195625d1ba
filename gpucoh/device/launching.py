"""How a GPU runs launches: in chunks, with callbacks in between, and usable afterwards whatever a callback raises."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from gpucoh.base.clock import Clock
from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError, KernelError, SimulationError
from gpucoh.base.wording import natural
from gpucoh.device.arrays import Array
from gpucoh.device.kernels import Kernel, device_of, joined, joined_slots, rounds, whole
from gpucoh.device.launches import check_lanes, located, slots_of, spilled_registers
from gpucoh.device.observing import Observing
from gpucoh.lang.program import Program
from gpucoh.machines import PLACEMENTS

CHUNK_SECONDS = 0.05
_FIRST_EVENTS = 20_000
_LARGEST_CYCLES = 2**62

# Called about 20 times per second with (finished blocks, blocks of the launch).
Progress: TypeAlias = Callable[[int, int], None]


def cycles_of(name: str, value: Any) -> int:
    """Check a number of core cycles.

    Raises
    ------
    ConfigError
        If it is not a whole number, or out of range.
    """
    return natural(name, value, _LARGEST_CYCLES, smallest=1)


class Launching(Observing):
    """The part of :class:`gpucoh.GPU` that runs launches."""

    deadlock_after: int
    _arrays: weakref.WeakSet[Array]

    def __init__(self) -> None:
        super().__init__()
        # Setting this event from another thread ends a launch, which raises SimulationError.
        self.stop: threading.Event | None = None
        self.progress: Progress | None = None
        # Whether scope gpu of every kernel is scope sys: each of its launches has several GPUs, which it takes for one.
        self.gpus_are_one = False
        self.clock = Clock()
        self._events = _FIRST_EVENTS
        self._launch: object | None = None  # identifies the running launch
        self._collected: list[Kernel] | None = None  # of concurrent()

    @property
    def is_running(self) -> bool:
        """Whether a launch is running: in another thread, or when a callback calls."""
        return self._launch is not None

    def _release_dropped(self) -> None:
        raise NotImplementedError

    @door
    def launch_program(
        self,
        program: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: Sequence[Any],
        placement: str | None = None,
        deadlock_after: int | None = None,
        local: tuple[int, int] = (0, 0),
        device: int | None = None,
        frees: Array | None = None,
        functional: bool = False,
    ) -> None:
        """Run machine code to completion, as :meth:`gpucoh.GPU.launch` does after compiling the kernel.

        ``local`` is the address of the threads' local memory, and its bytes for each thread; ``frees`` is freed at the
        end.

        Raises
        ------
        ConfigError, KernelError, SimulationError
            As :meth:`gpucoh.GPU.launch`.
        """
        check_lanes(self.machine, program)
        constants, buffers = program.bind(args)
        slots = slots_of(self, program, buffers)
        kernel = Kernel(
            program=program,
            grid=grid,
            block=block,
            constants=np.ascontiguousarray(constants, dtype=np.uint32),
            slots=slots,
            placement=PLACEMENTS.index(placement or self.machine.placement),
            deadlock_after=self.deadlock_after
            if deadlock_after is None
            else cycles_of("deadlock_after", deadlock_after),
            device=device_of(self.machine, device),
            local=local,
            frees=frees,
            arguments=args,
            functional=bool(functional),
        )
        if self._collected is None:
            self.launch_kernels([kernel])
        else:
            self._collected.append(kernel)

    @contextlib.contextmanager
    def concurrent(self) -> Iterator[None]:
        """Run the launches of a ``with`` block at its end, those on different GPUs (``device``) at the same time.

        Those on one GPU run in order. The block may read and write arrays; it does so before all of its launches.

        Raises
        ------
        ConfigError
            In such a block.
        KernelError, SimulationError
            At the end of the block, as :meth:`gpucoh.GPU.launch`.
        """
        with self.collected() as kernels:
            yield
        for together in rounds(kernels, self.kernels_may_follow):
            if together:
                self.launch_kernels(together)

    @contextlib.contextmanager
    def collected(self) -> Iterator[list[Kernel]]:
        """Collect the launches of a ``with`` block, which do not run."""
        if self._collected is not None:
            raise ConfigError("concurrent() within concurrent()")
        kernels: list[Kernel] = []
        self._collected = kernels
        try:
            yield kernels
        finally:
            self._collected = None

    @property
    def kernels_may_follow(self) -> bool:
        """Whether a kernel may begin on a GPU while others run: a fence, its first instruction, orders it behind those
        that have ended. A fence does not tell a core the logical time of others.
        """
        watched = self.choice.protocol.watched
        return watched is not None and watched.promise not in ("NOTHING", "LOGICAL")

    def launch_kernels(self, kernels: Sequence[Kernel]) -> None:
        """Run kernels, those on different GPUs at the same time."""
        complete = whole(kernels, self._arrays)
        program = joined(complete)
        self._release_dropped()
        core, mine, begun = self.core, object(), False
        # A handler of a signal can raise between any two calls. The launch is aborted all the same: the owner is
        # noted before the core begins, and neither comparing it nor entering a handler lets a signal in.
        try:
            if self._launch is not None:
                raise SimulationError("a launch while a launch is running")
            self._launch = mine
            timed = not kernels[0].functional
            if self._tracer and timed:
                self._tracer.begin_launch(program, joined_slots(complete))
            core.deadlock_after(min(kernel.deadlock_after for kernel in kernels))
            for number in range(len(kernels)):
                after = sum(1 << k for k in range(number) if kernels[k] in kernels[number].after)
                self._give(core, complete[number], after, number + 1 < len(kernels))
            begun = True
            if self._recorder and not timed:
                self._recorder.leave_out_launch()
            elif self._recorder:
                self._recorder.begin_launch(program.name, kernels[0].grid, kernels[0].block)
                core.pause_at(self._recorder.pause)
            with self.clock.phase("core"):
                self._run()
        except BaseException as error:
            if self._launch is mine:
                core.abort()
            if isinstance(error, KernelError | SimulationError):
                raise located(error, program) from None
            raise
        finally:
            if self._launch is mine:
                self._launch = None
            if begun:
                self._end_launch(program, timed)
        for kernel in kernels:
            if kernel.frees is not None:
                kernel.frees.free()

    def _give(self, core: Any, kernel: Kernel, after: int, more: bool) -> None:
        """Give the core a kernel; all begin with the one that has no ``more``."""
        program = kernel.program
        core.launch(
            program.name,
            program.widened if self.gpus_are_one else program.code,
            program.vector_registers,
            program.uniform_registers,
            program.shared_words,
            kernel.constants,
            kernel.slots,
            kernel.grid,
            kernel.block,
            kernel.placement,
            program.sources,
            program.texts,
            *kernel.local,
            independent_lanes=program.independent_lanes,
            on_gpu=0 if kernel.device is None else kernel.device + 1,
            after=after,
            more=more,
            functional=kernel.functional,
            spilled_registers=spilled_registers(self.machine, program, math.prod(kernel.block)),
            barrier_words=program.barrier_words,
        )

    def _end_launch(self, program: Program, timed: bool) -> None:
        if self._recorder and timed:
            self._recorder.end_launch()
        self._print(program)

    def _print(self, program: Program) -> None:
        """Write what the launch printed to standard output, and how much found no room."""
        if not program.reports:
            return
        records, lost = self.core.printed()
        text = program.printed(np.frombuffer(records, np.uint32).reshape(-1, 4), self._text_at)
        if lost:
            allowed = len(records) // 16
            text += f"kernel '{program.name}': {lost} more values are not printed (allowed: {allowed} a launch)\n"
        sys.stdout.write(text)

    def _text_at(self, address: int) -> str:
        """The characters from an address of memory on, up to a 0: what ``%s`` prints."""
        found, word = bytearray(), np.empty(1, np.uint32)
        at = address & ~3
        try:
            while b"\0" not in found[address & 3 :]:
                self.core.host_read(at, word)
                found += word.tobytes()
                at += 4
        except KernelError:
            return f"(no text at 0x{address:x})" if address else "(null)"
        return found[address & 3 :].split(b"\0")[0].decode(errors="replace")

    def _run(self) -> None:
        """Run the launch in chunks of about 50 ms, to handle Ctrl-C, stop and progress in between."""
        called = time.perf_counter()
        while True:
            start = time.perf_counter()
            if self.core.run(self._events):
                break
            now = time.perf_counter()
            if self._recorder and self.core.paused():
                self._recorder.end_interval()
                self.core.pause_at(self._recorder.pause)
                if now - called < CHUNK_SECONDS:
                    continue
            else:
                scale = CHUNK_SECONDS / max(now - start, CHUNK_SECONDS / 4)
                self._events = max(1000, min(int(self._events * scale), 50_000_000))
            called = now
            if self.stop is not None and self.stop.is_set():
                raise SimulationError("stopped")
            if self.progress is not None:
                self.progress(*self.core.progress())
