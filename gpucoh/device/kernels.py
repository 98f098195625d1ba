"""The kernels of a launch: several run at the same time, each on a GPU of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.device.arrays import Array
from gpucoh.device.launches import arrays_behind
from gpucoh.lang.program import Program
from gpucoh.machines import Machine

Extents = tuple[int, int, int]
#: Kernels that one launch of the core takes (GPC_MOST_KERNELS).
MOST = 64
#: The race detector notes places below it.
MOST_INSTRUCTIONS = 2**16 - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernel:
    """A kernel and its arguments as the core takes them.

    Attributes
    ----------
    device : int or None
        The GPU; None: all GPUs, as one.
    after : tuple of Kernel
        Kernels that end before it begins, beside those before it on its GPU.
    local : tuple of int
        The address of the threads' local memory, and its bytes for each thread.
    frees : Array or None
        What is freed when the kernel has ended.
    arguments : object
        What owns the memory of the constants' addresses.
    functional : bool
        Whether it computes values alone, without time or caches; those of one launch agree.
    """

    program: Program
    grid: Extents
    block: Extents
    constants: NDArray[np.uint32]
    slots: Sequence[Any]
    placement: int
    deadlock_after: int
    device: int | None = None
    after: tuple[Kernel, ...] = ()
    local: tuple[int, int] = (0, 0)
    frees: Array | None = None
    arguments: object = None
    functional: bool = False

    def follows(self, other: Kernel) -> bool:
        """Whether it begins after the end of a kernel that was launched before it."""
        return (
            other in self.after
            or None in (self.device, other.device)
            or self.device == other.device
        )


def device_of(machine: Machine, device: Any) -> int | None:
    """Check the number of a GPU; None stays None.

    Raises
    ------
    ConfigError
        If the machine has no such GPU.
    """
    if device is None:
        return None
    if not isinstance(device, int | np.integer) or not 0 <= device < machine.gpus or device is True:
        allowed = "0" if machine.gpus == 1 else f"0 to {machine.gpus - 1}"
        raise ConfigError(
            f"device = {quoted(device)} is no GPU of {quoted(machine.name)} (allowed: {allowed})"
        )
    return int(device)


def joined(kernels: Sequence[Kernel]) -> Program:
    """The program whose instructions, sources and reports are those of the kernels, as the core counts them."""
    first = kernels[0].program
    if len(kernels) == 1:
        return first
    codes, files = [], 0
    programs = [kernel.program for kernel in kernels]
    for program in programs:
        code = np.frombuffer(program.code, "<u2").reshape(-1, 16).copy()
        code[:, 15] += files  # the field `file`
        files += len(program.files)
        codes.append(code.tobytes())
    return replace(
        first,
        name=" + ".join(dict.fromkeys(program.name for program in programs)),
        code=b"".join(codes),
        buffers=tuple(name for program in programs for name in program.buffers),
        files=tuple(file for program in programs for file in program.files),
        reports=tuple(report for program in programs for report in program.reports),
    )


def joined_slots(kernels: Sequence[Kernel]) -> list[Any]:
    """The slots of the joined program's buffers, and those behind."""
    split = [(kernel.slots, len(kernel.program.buffers)) for kernel in kernels]
    return [slot for slots, own in split for slot in slots[:own]] + [
        slot for slots, own in split for slot in slots[own:]
    ]


def rounds(kernels: Sequence[Kernel], may_follow: bool) -> list[list[Kernel]]:
    """The launches of the core for kernels in their order.

    Without ``may_follow`` a kernel that follows others is in a launch behind theirs; so is one with read-only arrays,
    of which a cache may keep copies for as long as a launch lasts. A kernel is in the first launch that it may be in,
    since kernels of other GPUs there may wait for it.
    """
    found: list[list[Kernel]] = []
    for kernel in kernels:
        behind = not may_follow or any(readonly for _, _, readonly, *_ in kernel.slots)
        least = 0
        for number, others in enumerate(found):
            if any(kernel.follows(other) for other in others):
                least = number + behind
        place = next((others for others in found[least:] if _has_room(others, kernel)), None)
        if place is None:
            found.append(place := [])
        place.append(kernel)
    return found


def _has_room(others: Sequence[Kernel], kernel: Kernel) -> bool:
    instructions = sum(one.program.instructions for one in (*others, kernel))
    alike = all(kernel.functional == other.functional for other in others)
    return alike and len(others) < MOST and instructions < MOST_INSTRUCTIONS


def whole(kernels: Sequence[Kernel], arrays: Iterable[Array]) -> list[Kernel]:
    """The kernels of a launch, with the arrays that accesses by address may reach behind their own.

    Those that follow others begin with a fence, an acquire as the begin of a launch is.
    """
    found: list[Kernel] = []
    for number, kernel in enumerate(kernels):
        program, slots = kernel.program, list(kernel.slots)
        if any(kernel.follows(other) for other in kernels[:number]):
            program = program.fenced
        if program.takes_addresses:
            slots += arrays_behind(arrays, slots)
        found.append(replace(kernel, program=program, slots=slots))
    return found
