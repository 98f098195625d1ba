"""What the command line needs before its imports: Ctrl-C ends the process silently, a failed import with status 2,
NumPy has one thread, and the collector of cycles runs rarely.

The package imports this module first. It does nothing if gpucoh is used as a library.
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import sys
import threading
from types import FrameType, TracebackType

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
HUNG_UP = 128 + signal.SIGHUP
BAD_START = 2  # not 1, which means a wrong result


def _is_the_program() -> bool:
    name = sys.argv[0] if sys.argv else ""
    if name == "-m":  # python -m gpucoh, while the package is being imported
        pairs = itertools.pairwise(sys.orig_argv)
        return any(re.fullmatch("-[A-Za-z]*m", a) and b == "gpucoh" for a, b in pairs)
    if "--multiprocessing-fork" in sys.orig_argv:  # a worker process, which has its parent's name
        return False
    return os.path.splitext(os.path.basename(name))[0] == "gpucoh"


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def not_loaded(error: BaseException) -> str:
    """One line on a module that cannot be imported; of a package that explains the error at length, its first cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, MemoryError):
        return "out of memory"
    name = getattr(error, "name", None) or "the program"
    if isinstance(error, ModuleNotFoundError):
        package = name.partition(".")[0]
        return f"{package} is not installed: pip install {package}"
    return f"{name} cannot be loaded: {' '.join(str(error).split())}"


def _refuse(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """End the process: a module cannot be imported, most often for want of memory."""
    if os.environ.get("GPUCOH_FULL_TRACEBACK"):
        sys.__excepthook__(kind, error, trace)
    else:
        sys.stderr.write(f"gpucoh: {not_loaded(error)}\n")
    sys.stderr.flush()
    os._exit(BAD_START)


def _guard() -> None:
    """Until :func:`ready`, let Ctrl-C end the process at once, and an exception with status 2."""
    if not (_is_the_program() and threading.current_thread() is threading.main_thread()):
        return
    sys.excepthook = _refuse
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def ready() -> None:
    """All modules are imported: let the command line handle Ctrl-C and exceptions."""
    if sys.excepthook is _refuse:
        sys.excepthook = sys.__excepthook__
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _one_thread() -> None:
    """No threads for products of matrices, in this process and its workers.

    OpenBLAS makes one for each processor when NumPy is imported, and they spin for a tenth of a second before they
    sleep. Runs occupy the processors already.
    """
    if _is_the_program():
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _few_collections() -> None:
    """Look for cycles every 50,000 new objects, not every 700: what imports and compilers make stays."""
    if _is_the_program():
        gc.set_threshold(50_000, 10, 10)


_one_thread()
_few_collections()
_guard()
