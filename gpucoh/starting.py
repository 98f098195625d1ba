"""Ctrl-C while the program is still importing what it needs: it ends, and says nothing.

The package imports this first. Where gpucoh is a library, nothing happens.
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


def _is_the_program() -> bool:
    name = sys.argv[0] if sys.argv else ""
    if name == "-m":  # of python -m gpucoh, while its package is being imported
        pairs = itertools.pairwise(sys.orig_argv)
        return any(re.fullmatch("-[A-Za-z]*m", a) and b == "gpucoh" for a, b in pairs)
    if "--multiprocessing-fork" in sys.orig_argv:  # a worker, which is told its parent's name
        return False
    return os.path.splitext(os.path.basename(name))[0] == "gpucoh"


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _guard() -> None:
    """Until :func:`ready`, Ctrl-C ends the process at once."""
    if (
        _is_the_program()
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _end)


def ready() -> None:
    """Everything is imported: Ctrl-C is an exception again, which the command line sees to."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_guard()
