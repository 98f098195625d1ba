"""Child processes: the end with their parent, signals by name, memory in use, and what they write."""

from __future__ import annotations

import codecs
import fcntl
import math
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted

#: Limits of the runs of users' code, unless a run says otherwise.
DEFAULT_LIMIT_S, DEFAULT_LIMIT_GIB = 3600.0, 4.0

# Signals that a process gets from the system for what its code has done; others come from outside.
_OWN = {
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP),
    *(signal.SIGSYS, signal.SIGPIPE, signal.SIGXCPU, signal.SIGXFSZ),
}
_MOST_AT_ONCE = 1 << 16


def signal_name(number: int) -> str:
    """``SIGSEGV``; of a signal without a name its number."""
    try:
        return signal.Signals(number).name
    except ValueError:  # of real time
        return f"signal {number}"


def kind_of_end(number: int) -> str:
    """The kind of the error of a run whose process a signal has ended: ``crashed: SIGSEGV``, ``signal: SIGKILL``."""
    return f"{'crashed' if number in _OWN else 'signal'}: {signal_name(number)}"


@dataclass(frozen=True)
class Limits:
    """Of a process: seconds by the clock, and GiB of memory; ``inf``: none."""

    limit_s: float = DEFAULT_LIMIT_S
    limit_gib: float = DEFAULT_LIMIT_GIB

    def exceeded(self, process: int, seconds: float) -> tuple[str, str] | None:
        """The kind of the error of a process that exceeds a limit after these seconds, and a text."""
        if seconds > self.limit_s:
            return "limit: limit_s", f"the run took longer than limit_s = {self.limit_s:g}"
        if self.limit_gib < math.inf and memory_of(process) > self.limit_gib * (1 << 30):
            text = f"the run took more memory than limit_gib = {self.limit_gib:g}"
            return "limit: limit_gib", text
        return None


NO_LIMITS = Limits(math.inf, math.inf)


def limits_of(limit_s: object, limit_gib: object, default: Limits = Limits()) -> Limits:
    """The limits that a user gives; None: the default.

    Raises
    ------
    ConfigError
        If one is not a positive number.
    """
    seconds, gib = limit_of("limit_s", limit_s), limit_of("limit_gib", limit_gib)
    return Limits(
        default.limit_s if seconds is None else seconds, default.limit_gib if gib is None else gib
    )


def limit_of(name: str, given: object) -> float | None:
    """A limit as a user gives it.

    Raises
    ------
    ConfigError
        If it is not a positive number.
    """
    if given is None:
        return None
    try:
        value = math.nan if isinstance(given, bool | str) else float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not value > 0:
        unit = "seconds" if name == "limit_s" else "GiB"
        raise ConfigError(
            f"{name} = {quoted(given)} is not a positive number of {unit} (inf: no limit)"
        )
    return value


def end_with(descriptor: int) -> None:
    """End this process when the other end of a pipe is closed, as it is when the other process ends.

    The kernel does it, by SIGIO, so that foreign code that loops, or holds Python's global lock, ends too.
    """
    if sys.platform == "darwin":  # there SIGIO is ignored by default
        signal.signal(signal.SIGIO, lambda *_: os._exit(1))
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([descriptor], [], [], 0)[0]:  # it was closed before
        os._exit(1)


def leave_no_core() -> None:
    """Write no core file when this process crashes: the message that names the signal is enough."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def memory_of(process: int) -> int:
    """Bytes of memory that a process has, in memory and swapped out; 0 where the system does not say it."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux, or the process has ended
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith(("VmRSS:", "VmSwap:")))
    return sum(1024 * int(words[1]) for words in lines)


class Relay:
    """Passes on what a process writes to a pipe.

    Parameters
    ----------
    descriptor : int
        The end to read, which this class makes non-blocking.
    write : callable
        Takes the text.
    keep_last : bool
        Keep the last line back until :meth:`finish`: of a process that dies, it may be the reason.
    """

    def __init__(
        self, descriptor: int, write: Callable[[str], object], *, keep_last: bool = False
    ) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.open = True
        self._write, self._keep = write, keep_last
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._last = ""

    def fileno(self) -> int:
        """The descriptor, to wait for."""
        return self.descriptor

    def pass_on(self) -> None:
        """Pass on what has arrived."""
        while self.open:
            try:
                data = os.read(self.descriptor, _MOST_AT_ONCE)
            except BlockingIOError:
                return
            self.open = bool(data)
            text = self._last + self._decoder.decode(data)
            cut = text.rstrip("\n").rfind("\n") + 1 if self._keep else len(text)
            self._last = text[cut:][-_MOST_AT_ONCE:]
            if text[:cut]:
                self._write(text[:cut])

    def finish(self, *, write: bool = True) -> str:
        """Pass on the rest, the last line too unless ``write`` is false, and return that line."""
        self.pass_on()
        last, self._last = self._last, ""
        if write and last:
            self._write(last)
        return " ".join(last.split())
