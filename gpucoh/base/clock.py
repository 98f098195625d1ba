"""Processor time by phase."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator


class Clock:
    """Processor seconds of the calling thread by phase; what a phase contains of another counts for that one only.

    Attributes
    ----------
    seconds : dict
        Phase -> seconds so far.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the block for this phase."""
        start, others = time.thread_time(), sum(self.seconds.values())
        try:
            yield
        finally:
            inner = sum(self.seconds.values()) - others
            self.seconds[name] += time.thread_time() - start - inner
