"""Commands that execute a user's file: in a child process, so that a crash of its code is one line and status 2.

The child is a fork, made before the process has threads. ``study``, ``sweep``, ``compare`` and ``cuda`` have a process
for each run instead.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

from gpucoh.base.processes import Relay, end_with, leave_no_core, signal_name
from gpucoh.cli.options import BAD_INPUT

_OWN_PROCESSES = ("study", "sweep", "compare", "cuda")
# A protocol's C file, with options or without, and a workload of a Python file.
_FILE = re.compile(r"[^,=\[\]]+\.c(?=$|[,\[])|[^,=\[\]]+\.py:[^,=]+")
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Seconds in which the child ends by a signal that it got from the terminal too; else it gets the parent's.
_PATIENCE_S = 0.3


def in_a_child(arguments: Sequence[str]) -> int | None:
    """The exit status of a command that a child has carried out.

    None: this process carries it out. It is the child, or the command executes no file of the user.
    """
    files = [name for word in arguments for name in _FILE.findall(word)]
    if not files or arguments[0] in _OWN_PROCESSES or sys.stderr is None or sys.stdout is None:
        return None
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    lifeline, ours = os.pipe()
    messages, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        os.close(messages)
        end_with(lifeline)
        leave_no_core()
        _keep_messages(theirs)
        return None
    os.close(theirs)
    os.close(lifeline)
    relay = Relay(messages, lambda text: sys.stderr.write(text), keep_last=True)
    status = _status_of(child, relay)
    if status >= 0:
        relay.finish()
        return status
    last = relay.finish(write=False)
    more = f": {last}" if last else ""
    with contextlib.suppress(OSError):
        sys.stderr.write(
            f"gpucoh: {signal_name(-status)} ended the process that executed {', '.join(dict.fromkeys(files))}{more}\n"
        )
    return BAD_INPUT


def _keep_messages(pipe: int) -> None:
    """Let messages of Python go to standard error, and those of C code, such as the last one of malloc, to a pipe."""
    assert sys.stderr is not None
    before = sys.stderr
    with contextlib.suppress(OSError):  # it is no file
        number = before.fileno()
        sys.stderr = open(  # noqa: SIM115 - for the rest of the process
            os.dup(number), "w", buffering=1, encoding=before.encoding, errors=before.errors
        )
        os.dup2(pipe, number)
    os.close(pipe)


def _status_of(child: int, relay: Relay) -> int:
    """The exit status of a child, or minus the signal that ended it; signals are forwarded to it."""
    got: list[tuple[int, float]] = []

    def note(number: int, frame: FrameType | None) -> None:
        got.append((number, time.monotonic()))

    for number in _FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, note)
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if relay.open:
            select.select([relay], [], [], 0.1)
            relay.pass_on()
        else:
            time.sleep(0.01)
        while got and time.monotonic() > got[0][1] + _PATIENCE_S:
            os.kill(child, got.pop(0)[0])
    return os.waitstatus_to_exitcode(ended[1])
