"""Progress bars on standard error: only on a terminal, and removed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def blocks_bar(text: str, *, enabled: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar over the blocks of each launch; yields the progress callback for a GPU, or None."""
    if not (enabled and sys.stderr.isatty()):
        yield None
        return
    with tqdm(desc=text, unit="block", leave=False, file=sys.stderr) as bar:

        def report(done: int, blocks: int) -> None:
            if bar.total != blocks or done < bar.n:
                bar.reset(total=blocks)
            bar.update(done - bar.n)

        yield report


@contextmanager
def runs_bar(total: int, *, enabled: bool) -> Iterator[Callable[[str], None]]:
    """A bar over runs; yields a callback that takes the name of each finished run."""
    if not (enabled and sys.stderr.isatty()):
        yield lambda name: None
        return
    with tqdm(total=total, unit="run", leave=False, file=sys.stderr) as bar:

        def report(name: str) -> None:
            bar.set_postfix_str(name)
            bar.update(1)

        yield report
