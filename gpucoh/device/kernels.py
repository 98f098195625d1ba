"""The kernels of a launch: several run at the same time, each on a GPU of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.device.arrays import Array
from gpucoh.lang.program import Program
from gpucoh.machines import Machine

Extents = tuple[int, int, int]
#: Kernels that one launch of the core takes (GPC_MOST_KERNELS).
MOST = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernel:
    """A kernel and its arguments as the core takes them.

    Attributes
    ----------
    device : int or None
        The GPU; None: all GPUs, as one.
    after : tuple of Kernel
        Kernels that end before it begins, beside those before it on its GPU.
    local : tuple of Array and int, or None
        The threads' local memory, and its bytes for each thread.
    arguments : object
        What owns the memory of the constants' addresses.
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
    local: tuple[Array, int] | None = None
    arguments: object = None

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
    for kernel in kernels:
        code = np.frombuffer(kernel.program.code, "<u2").reshape(-1, 16).copy()
        code[:, 15] += files  # the field `file`
        files += len(kernel.program.files)
        codes.append(code.tobytes())
    programs = [kernel.program for kernel in kernels]
    return replace(
        first,
        name=" + ".join(dict.fromkeys(program.name for program in programs)),
        code=b"".join(codes),
        files=tuple(file for program in programs for file in program.files),
        reports=tuple(report for program in programs for report in program.reports),
    )


def rounds(kernels: Sequence[Kernel], may_follow: bool) -> list[list[Kernel]]:
    """The launches of the core for kernels in their order.

    Without ``may_follow`` a kernel that follows others begins a launch of its own, behind theirs, with all that come
    later.
    """
    found: list[list[Kernel]] = [[]]
    for kernel in kernels:
        follows = any(kernel.follows(other) for other in found[-1])
        if len(found[-1]) == MOST or (follows and not may_follow):
            found.append([])
        found[-1].append(kernel)
    return found
