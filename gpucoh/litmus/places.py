"""Litmus tests with their blocks on one core, one die, two dies or two GPUs."""

from __future__ import annotations

from dataclasses import replace

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.wording import unknown
from gpucoh.litmus.syntax import Test, Thread

#: Place -> where the blocks of a test are.
PLACES = {
    "core": "on one core",
    "die": "on one die",
    "dies": "alternately on two dies of a GPU",
    "gpus": "alternately on two GPUs, with scope sys in place of gpu",
}


@door
def placed(test: Test, place: str) -> Test:
    """A test whose blocks are in other places; blocks that must share a core still do.

    Parameters
    ----------
    test : Test
    place : str
        ``core``: all blocks on one core. ``die``: on one die. ``dies``: alternately on two dies of a GPU. ``gpus``:
        alternately on two GPUs; accesses and fences of scope gpu then have scope sys, which orders as much there as
        scope gpu did on one.

    Returns
    -------
    Test
        Its name is ``NAME@PLACE``.

    Raises
    ------
    ConfigError
        If the place is unknown.

    Examples
    --------
    >>> from gpucoh.litmus import find, placed
    >>> test = placed(find("MP+rel+acq"), "gpus")
    >>> [(thread.gpu, thread.code[-1].scope) for thread in test.threads]
    [(0, 'SYS'), (1, 'SYS')]
    """
    if place not in PLACES:
        raise ConfigError(unknown("place", place, PLACES))
    blocks = {block: number for number, block in enumerate(test.blocks)}
    units = list(dict.fromkeys(_unit(thread) for thread in test.threads))
    threads = []
    for thread in test.threads:
        half = units.index(_unit(thread)) % 2
        gpu = half if place == "gpus" else 0
        die = {"die": 0, "dies": half}.get(place)
        core = units.index(_unit(thread)) if thread.cu is not None else None
        there = replace(
            thread,
            cta=blocks[thread.block],
            gpu=gpu,
            die=die,
            cu=0 if place == "core" else core,
        )
        threads.append(_widened(there) if place == "gpus" else there)
    return replace(test, name=f"{test.name}@{place}", threads=tuple(threads))


def _unit(thread: Thread) -> tuple[object, ...]:
    """What must be on one core: a block, or the blocks of a cu."""
    return ("cu", thread.gpu, thread.cu) if thread.cu is not None else ("block", *thread.block)


def _widened(thread: Thread) -> Thread:
    code = (
        replace(item, scope="SYS") if item.scope == "GPU" and item.order != "WEAK" else item
        for item in thread.code
    )
    return replace(thread, code=tuple(code))
