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

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from gpucoh.base import starting as _starting  # noqa: F401 - first: Ctrl-C is seen to while the rest is imported

# isort: split
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
from gpucoh.base.late import LATE_IMPORT as _LATE_IMPORT
from gpucoh.device.arrays import Array
from gpucoh.device.gpu import GPU, Snapshot, load_protocol, protocols
from gpucoh.device.gpu import VERSION as __version__
from gpucoh.device.protocols import Protocol
from gpucoh.lang import (
    Buffer,
    Buffer2,
    Buffer3,
    Kernel,
    ReadOnly,
    ReadOnly2,
    ReadOnly3,
    device,
    f32,
    f64,
    grid_barrier,
    i8,
    i16,
    i32,
    i64,
    kernel,
    record,
    u8,
    u16,
    u32,
    u64,
)
from gpucoh.lang import intrinsics as _intrinsics
from gpucoh.lang import operations as _operations
from gpucoh.lang.hints import missing as _missing
from gpucoh.lang.intrinsics import *  # noqa: F403
from gpucoh.lang.operations import *  # noqa: F403
from gpucoh.machines import Machine, machine, machines
from gpucoh.results.profile import Profile
from gpucoh.results.stats import Stats

if _TYPE_CHECKING:
    from gpucoh import cuda, plot
    from gpucoh.figures.intervals import plot_intervals
    from gpucoh.results.differences import Explanation, explain
    from gpucoh.results.runs import RunResult
    from gpucoh.results.trace.trace import Trace
    from gpucoh.runs.comparison import Comparison, compare
    from gpucoh.runs.grids import grid
    from gpucoh.runs.runner import run
    from gpucoh.runs.sweeps import sweep
    from gpucoh.studies.study import study
    from gpucoh.suite import Workload, workload, workloads

#: Module -> the names that it defines; it is imported when one of them is first used.
_LATE = {
    "gpucoh.cuda": ("cuda",),
    "gpucoh.plot": ("plot",),
    "gpucoh.runs.comparison": ("Comparison", "compare"),
    "gpucoh.runs.grids": ("grid",),
    "gpucoh.runs.runner": ("run",),
    "gpucoh.studies.study": ("study",),
    "gpucoh.runs.sweeps": ("sweep",),
    "gpucoh.figures.intervals": ("plot_intervals",),
    "gpucoh.results.differences": ("Explanation", "explain"),
    "gpucoh.results.runs": ("RunResult",),
    "gpucoh.results.trace.trace": ("Trace",),
    "gpucoh.suite": ("Workload", "workload", "workloads"),
}

# These hide functions of Python: a star import leaves them out.
abs, max, min = _operations.abs, _operations.max, _operations.min
pow, round = _operations.pow, _operations.round
all, any = _intrinsics.all, _intrinsics.any

__all__ = [
    "GPU",
    "Array",
    "BudgetError",
    "Buffer",
    "Buffer2",
    "Buffer3",
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
    "ReadOnly",
    "ReadOnly2",
    "ReadOnly3",
    "RunResult",
    "SimulationError",
    "Snapshot",
    "Stats",
    "Trace",
    "Workload",
    "WorkloadError",
    "__version__",
    "compare",
    "cuda",
    "device",
    "explain",
    "f32",
    "f64",
    "grid",
    "grid_barrier",
    "i8",
    "i16",
    "i32",
    "i64",
    "kernel",
    "load_protocol",
    "machine",
    "machines",
    "plot",
    "plot_intervals",
    "protocols",
    "record",
    "run",
    "study",
    "sweep",
    "u8",
    "u16",
    "u32",
    "u64",
    "workload",
    "workloads",
]
__all__ += _intrinsics.__all__ + _operations.__all__


def __dir__() -> list[str]:
    return sorted([*__all__, *_intrinsics.HIDING])


if not _TYPE_CHECKING:  # it would take every name for an attribute

    def __getattr__(name: str) -> object:
        for path, names in _LATE.items():
            if name in names:
                with _LATE_IMPORT:
                    module = _importlib.import_module(path)
                return globals().setdefault(name, getattr(module, name, module))
        return _missing(name)
