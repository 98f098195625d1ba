"""Progress bars on standard error: only on a terminal or in a notebook, and removed at the end."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpucoh.base.late import LATE_IMPORT


def _visible() -> bool:
    """Whether standard error is a terminal or the output of a notebook's cell."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


def _bar(**settings: Any) -> Any:
    """A bar of tqdm: a widget in a notebook that has ipywidgets, else text."""
    with LATE_IMPORT, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the advice to install ipywidgets
        from tqdm.auto import tqdm
    return tqdm(leave=False, file=sys.stderr, **settings)


@contextmanager
def blocks_bar(text: str, *, enabled: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar over the blocks of each launch; yields the progress callback for a GPU, or None."""
    if not (enabled and _visible()):
        yield None
        return
    with _bar(desc=text, unit="block") as bar:

        def report(done: int, blocks: int) -> None:
            if bar.total != blocks or done < bar.n:
                bar.reset(total=blocks)
            bar.update(done - bar.n)

        yield report


@contextmanager
def runs_bar(total: int, *, enabled: bool) -> Iterator[Callable[[str], None]]:
    """A bar over runs; yields a callback that takes the name of each finished run."""
    if not (enabled and _visible()):
        yield lambda name: None
        return
    with _bar(total=total, unit="run") as bar:

        def report(name: str) -> None:
            bar.set_postfix_str(name)
            bar.update(1)

        yield report
