"""The GPUs of the machine as the devices of a CUDA program: which kernels run when, and what events have recorded.

On a machine of one GPU a kernel runs when it is launched. On one of several it waits until the program waits for its
device, or touches its memory; then all that wait run: those of one device in order, those of several at the same time.

A thread of the host that waits lets the others launch first: until each of them waits, too, or sleeps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpucoh.cuda.cut import Cut
from gpucoh.cuda.memory import Memory
from gpucoh.device.kernels import Extents, Kernel, joined, rounds

NOT_YET = -1.0
# A look at the threads, looks in a row at which all wait or sleep, and the time for which one that computes is awaited.
_LOOK_S, _LOOKS, _LONGEST_S = 0.003, 10, 5.0


@dataclass(eq=False)
class Recorded:
    """A time that an event has recorded: that of the end of kernels, or, when there are none, known."""

    kernels: tuple[Kernel, ...]
    cycles: int


class Devices:
    """The devices of one program.

    Parameters
    ----------
    gpu : gpucoh.GPU
    memory : Memory
        Its shared memory is copied when kernels begin and end.
    launched : callable
        Called after kernels have run with their names, grid and block, and the number of the last one.
    lock : threading.RLock
        Of the calls; a thread that awaits others gives it up.
    cut : Cut
        Which kernels are simulated with time.
    """

    def __init__(
        self,
        gpu: Any,
        memory: Memory,
        launched: Callable[[str, Extents, Extents, int], None],
        lock: threading.RLock,
        cut: Cut,
    ) -> None:
        self.gpu, self._memory, self._launched, self._cut = gpu, memory, launched, cut
        self._numbers: dict[Kernel, int] = {}  # of kernels that wait
        self._count = 0
        self.count = int(gpu.machine.gpus)
        self._waiting: list[Kernel] = []
        self._awaited: dict[int, tuple[Kernel, ...]] = {}  # stream -> what its next kernel follows
        self._recorded: list[Recorded] = []
        self._open: list[Recorded] = []  # those whose kernels have not all run
        self._ran = threading.Condition(lock)
        self._threads: set[int] = set()  # that call
        self._settling: set[int] = set()  # those that wait for the next run
        self._runs = 0

    def number(self, device: int) -> int | None:
        """The device for the simulator: a machine of one GPU needs none."""
        return device if self.count > 1 else None

    def launch(
        self, kernel: Any, device: int, stream: int, grid: Extents, block: Extents, **more: Any
    ) -> None:
        """Launch a kernel; its arguments are ``more``."""
        functional = not self._cut.times(self._count)
        with self.gpu.collected() as found:
            self.gpu.launch(
                kernel,
                grid=grid,
                block=block,
                device=self.number(device),
                functional=functional,
                **more,
            )
        self._waiting.append(replace(found[0], after=self._awaited.pop(stream, ())))
        self._numbers[self._waiting[-1]] = self._count
        self._count += 1
        if self.count == 1:
            self.run()

    def is_waiting(self, device: int | None) -> bool:
        """Whether a kernel of the device has not run; None: of any."""
        return any(device in (None, one.device) for one in self._waiting)

    def settle(self, device: int | None) -> None:
        """Run the kernels that wait, if there are any of the device."""
        if self.is_waiting(device):
            self.run()

    def note_thread(self) -> None:
        """Note that a thread of the host calls."""
        self._threads.add(threading.get_native_id())

    def _await_threads(self) -> bool:
        """Let the other threads launch, until all wait or sleep. Returns False if one of them has run the kernels."""
        me, end, quiet = threading.get_native_id(), time.monotonic() + _LONGEST_S, 0
        run = self._runs
        self._settling.add(me)
        while run == self._runs and quiet < _LOOKS and time.monotonic() < end:
            others = self._threads - self._settling
            if not others:
                break
            states = {thread: _state(thread) for thread in others}
            self._threads -= {thread for thread, state in states.items() if not state}
            quiet = 0 if "R" in states.values() else quiet + 1
            self._ran.wait(_LOOK_S)
        return run == self._runs

    def run(self) -> None:
        """Run all kernels that wait."""
        if self.count > 1 and not self._await_threads():
            return
        kernels, self._waiting = self._waiting, []
        self._runs += 1
        self._settling.clear()
        self._awaited.clear()
        self._memory.to_device()
        for together in rounds(kernels, self.gpu.kernels_may_follow):
            self._run(together)
        self._memory.to_host()
        self._ran.notify_all()

    def _run(self, together: Sequence[Kernel]) -> None:
        before = self.gpu.core.cycles()
        self.gpu.launch_kernels(together)
        last = self.gpu.core.cycles()
        several = len(together) > 1
        ends = {
            kernel: before + self.gpu.core.kernel_end(number) if several else last
            for number, kernel in enumerate(together)
        }
        for one in self._open:
            one.cycles = max([one.cycles, *(ends[k] for k in one.kernels if k in ends)])
            one.kernels = tuple(k for k in one.kernels if k not in ends)
        self._open = [one for one in self._open if one.kernels]
        last = max(self._numbers.pop(kernel) for kernel in together)
        self._launched(joined(together).name, together[0].grid, together[0].block, last)

    # ---- events

    def record(self, device: int, stream: int) -> int:
        """Record the time when the kernels of a device that wait will have ended. Returns its number, from 1."""
        mine = [one for one in self._waiting if one.device == self.number(device)]
        kernels = (*mine[-1:], *self._awaited.get(stream, ()))
        self._recorded.append(Recorded(kernels, self.gpu.core.cycles()))
        if kernels:
            self._open.append(self._recorded[-1])
        return len(self._recorded)

    def after(self, stream: int, recorded: int) -> None:
        """The stream's next kernel begins after a recorded time."""
        kernels = self._recorded[recorded - 1].kernels if recorded else ()
        if kernels:
            self._awaited[stream] = (*self._awaited.get(stream, ()), *kernels)

    def settle_recorded(self, recorded: int) -> None:
        """Wait for a recorded time."""
        if recorded and self._recorded[recorded - 1].kernels:
            self.run()

    def milliseconds(self, recorded: int) -> float:
        """A recorded time; negative: not known yet."""
        one = self._recorded[recorded - 1]
        return NOT_YET if one.kernels else one.cycles / (1000 * self.gpu.machine.core_mhz)


def _state(thread: int) -> str:
    """``R`` of a thread that runs, ``S`` of one that sleeps; empty: it has ended."""
    try:
        text = Path(f"/proc/self/task/{thread}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    return text.rpartition(") ")[2][:1]
