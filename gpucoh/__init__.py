"""gpucoh: a GPU simulator, programmed from Python, that shows what cache coherence protocols do.

>>> import gpucoh, numpy as np
>>> @gpucoh.kernel
... def saxpy(a: gpucoh.f32, x: gpucoh.Buffer[gpucoh.f32], y: gpucoh.Buffer[gpucoh.f32], n: gpucoh.i32):
...     i = gpucoh.global_id()
...     if i < n:
...         y[i] = a * x[i] + y[i]
>>> gpu = gpucoh.GPU(machine="fermi", protocol="ideal")
>>> x = gpu.array(np.arange(4096, dtype=np.float32))
>>> y = gpu.zeros(4096, np.float32)
>>> gpu.launch(saxpy, grid=32, block=128, args=(2.0, x, y, 4096))
>>> float(y[10])
20.0

This module defines all public names. ``gpucoh.machines()`` and ``@gpucoh.device`` are functions that hide the packages
of the same names; import from those with ``from gpucoh.machines import Machine``.
"""

import builtins as _builtins
from typing import TYPE_CHECKING as _TYPE_CHECKING

from gpucoh.base import starting as _starting  # noqa: F401 - first: Ctrl-C is seen to while the rest is imported

# isort: split
from gpucoh import plot
from gpucoh.base.errors import (
    BudgetError,
    ConfigError,
    DeadlockError,
    Error,
    KernelError,
    ProtocolError,
    SimulationError,
    WorkloadError,
)
from gpucoh.device.arrays import Array
from gpucoh.device.gpu import GPU, Snapshot, protocols
from gpucoh.device.gpu import VERSION as __version__
from gpucoh.device.protocols import Protocol
from gpucoh.experiments.comparison import Comparison, compare
from gpucoh.experiments.grids import grid
from gpucoh.experiments.runner import run
from gpucoh.experiments.sweeps import sweep
from gpucoh.lang import Buffer, Kernel, device, f32, i8, i16, i32, kernel, u8, u16, u32
from gpucoh.lang.intrinsics import *  # noqa: F403
from gpucoh.lang.intrinsics import __all__ as _intrinsics
from gpucoh.machines import Machine, machine, machines
from gpucoh.report.intervals import plot_intervals
from gpucoh.results.differences import Explanation, explain
from gpucoh.results.profile import Profile
from gpucoh.results.runs import RunResult
from gpucoh.results.stats import Stats
from gpucoh.results.trace.trace import Trace
from gpucoh.suite import Workload, workload, workloads

__all__ = [
    "GPU",
    "Array",
    "BudgetError",
    "Buffer",
    "Comparison",
    "ConfigError",
    "DeadlockError",
    "Error",
    "Explanation",
    "Kernel",
    "KernelError",
    "Machine",
    "Profile",
    "Protocol",
    "ProtocolError",
    "RunResult",
    "SimulationError",
    "Snapshot",
    "Stats",
    "Trace",
    "Workload",
    "WorkloadError",
    "__version__",
    "compare",
    "device",
    "explain",
    "f32",
    "grid",
    "i8",
    "i16",
    "i32",
    "kernel",
    "machine",
    "machines",
    "plot",
    "plot_intervals",
    "protocols",
    "run",
    "sweep",
    "u8",
    "u16",
    "u32",
    "workload",
    "workloads",
]
# Those that hide a function of Python (max, abs) are gpucoh.max, and max in kernels.
__all__ += [name for name in _intrinsics if not hasattr(_builtins, name)]

if not _TYPE_CHECKING:  # it would take every name for an attribute
    from gpucoh.lang.hints import missing as __getattr__  # noqa: F401
