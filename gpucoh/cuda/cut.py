"""Which launches of a CUDA program are simulated with time, after which one it ends, and what a launch may take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted

#: A launch of which more is expected is announced, in seconds of the processor.
ANNOUNCED_S = 60.0
#: How long the first per cent of the blocks is awaited.
_AWAITED_S = 30.0


@dataclass(frozen=True)
class Cut:
    """A part of a program's launches, which are counted from 0 in the order in which the program makes them.

    Attributes
    ----------
    timed : tuple of (int, int) or None
        The first and last of launches in a row that are simulated with time; the others compute values alone
        (``functional`` of :meth:`gpucoh.GPU.launch`). None: all are.
    until : int or None
        The program ends after this one; None: by itself.
    """

    timed: tuple[tuple[int, int], ...] | None = None
    until: int | None = None

    def times(self, number: int) -> bool:
        """Whether the launch is simulated with time."""
        return self.timed is None or any(first <= number <= last for first, last in self.timed)


#: All launches, with time.
WHOLE = Cut()


def launches(text: str | None) -> tuple[tuple[int, int], ...] | None:
    """The launches that ``3,7-9`` names.

    Raises
    ------
    ConfigError
        If it names none.
    """
    if text is None:
        return None
    found = []
    for part in text.split(","):
        numbers = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part, re.ASCII)
        first, last = (
            (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers is not None else (1, 0)
        )
        if last < first:
            raise ConfigError(
                f"--launches {quoted(text)}: {quoted(part)} is no launch "
                "(allowed: numbers from 0 and ranges of them, as 3,7-9)"
            )
        found.append((first, last))
    return tuple(found)


class Estimate:
    """What a launch may take, said once its first per cent is done, or has taken long.

    Blocks that are resident count as half done.

    Parameters
    ----------
    say : callable
        Called with a line for the user.
    resident : callable
        Returns how many blocks are resident at most.
    """

    def __init__(self, say: Callable[[str], None], resident: Callable[[], int]) -> None:
        self._say, self._resident = say, resident
        self._number = 0
        self._since: float | None = None
        self._said = False

    def launched(self, number: int) -> None:
        """The launch with this number has ended."""
        self._number, self._since, self._said = number + 1, None, False

    def progress(self, done: int, blocks: int) -> None:
        """Of the running launch ``done`` blocks have ended."""
        now = time.process_time()
        if self._since is None:
            self._since = now
        used = now - self._since
        if self._said or (100 * done < blocks and used < _AWAITED_S):
            return
        self._said = True
        begun = done + min(self._resident(), blocks - done) / 2
        expected = used * blocks / begun
        if expected >= ANNOUNCED_S:
            self._say(
                f"launch {self._number}: {done:,} of {blocks:,} blocks took {used:.0f} s of the processor; "
                f"all of them may take {_duration(expected)}. --launches and --until leave launches out"
            )


def _duration(seconds: float) -> str:
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
