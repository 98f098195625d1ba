"""What the command line needs before its imports: Ctrl-C ends the process silently, and NumPy has one thread.

The package imports this module first. It does nothing if gpucoh is used as a library.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import threading
from types import FrameType

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


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


def _guard() -> None:
    """Until :func:`ready`, let Ctrl-C end the process at once."""
    if (
        _is_the_program()
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _end)


def ready() -> None:
    """All modules are imported: let Ctrl-C raise KeyboardInterrupt again, which the command line handles."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _one_thread() -> None:
    """No threads for products of matrices, in this process and its workers.

    OpenBLAS makes one for each processor when NumPy is imported, and they spin for a tenth of a second before they
    sleep. Runs occupy the processors already.
    """
    if _is_the_program():
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


_one_thread()
_guard()
