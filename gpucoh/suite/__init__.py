"""The workloads: those of the suite, each imported when it is first looked for, and users' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, overload

from gpucoh.base.doors import public
from gpucoh.suite.base import (
    GROUPS,
    PAPERS,
    SCALES,
    Instance,
    Outcome,
    Parameter,
    Workload,
    choice,
    file,
    real,
    switch,
    whole,
)
from gpucoh.suite.declaration import Scales, described
from gpucoh.suite.references import in_file
from gpucoh.suite.registered import registry

# What is accepted where a workload's id is: an id, my_file.py:name, a workload, a callable.
Given: TypeAlias = str | Workload | Callable[..., Any]


def workloads() -> dict[str, Workload]:
    """Every workload by id."""
    return registry().all()


@overload
def workload(name: str) -> Workload: ...
@overload
def workload(
    name: Callable[..., Any], *, scales: Scales | None = None, group: str | None = None
) -> Workload: ...
@overload
def workload(
    *, scales: Scales | None = None, group: str | None = None
) -> Callable[[Callable[..., Any]], Workload]: ...


@public
def workload(
    name: str | Callable[..., Any] | None = None,
    *,
    scales: Scales | None = None,
    group: str | None = None,
) -> Workload | Callable[[Callable[..., Any]], Workload]:
    """Make a workload of a function, as a decorator; or find a workload by its id.

    The function takes a GPU, a NumPy random generator seeded by the run, and its parameters. It returns
    ``{"name": (result, expected)}`` or, with a relative tolerance, ``{"name": (result, expected, rtol)}``: an array of
    the GPU or of NumPy, and what it must be. An AssertionError counts as a wrong result, too. ``return True`` states
    that assertions have checked the result; a function that returns None leaves it unchecked.

    Parameters
    ----------
    name : str
        ``gpucoh.workload("bfs")``: the workload with this id or alias, or ``"my_file.py:name"``.
    scales : dict
        Parameters by scale: ``{"tiny": {"n": 256}, "small": {"n": 4096}}``. Without it the function's defaults hold at
        every scale. A default may be a parameter with a text, a range and a value for each scale, as
        ``whole("number of words", 1, 1 << 20, 256, 4096, 65536)`` of :mod:`gpucoh.suite`.
    group : str, optional
        Letters of the workload groups that ``gpucoh workloads`` lists.

    Returns
    -------
    Workload or decorator
        ``gpucoh.run``, ``compare`` and ``sweep`` take the decorated function in place of an id.

    Raises
    ------
    ConfigError
        For an unknown name (the message suggests the nearest one), or a function that cannot be a workload.

    Examples
    --------
    >>> import numpy as np
    >>> import gpucoh
    >>> @gpucoh.workload(scales={"tiny": {"n": 8}, "small": {"n": 4096}})
    ... def zeros(gpu, rng, n):
    ...     return {"x": (gpu.zeros(n, np.int32), np.zeros(n))}
    >>> gpucoh.run(zeros, protocol="tc-weak", scale="tiny").correct
    True
    """
    if isinstance(name, str):
        return find(name)
    if name is None:
        return lambda function: described(function, scales=scales, group=group)
    return described(name, scales=scales, group=group)


def find(given: Given) -> Workload:
    """The workload that a user means by an id, ``my_file.py:name``, a workload or a callable.

    Raises
    ------
    ConfigError
        If it means none.
    """
    if isinstance(given, str) and (":" in given or given.endswith(".py")):
        given = in_file(given, lambda item: isinstance(item, Workload))
    if isinstance(given, Workload):
        return given
    if not isinstance(given, str) and callable(given):
        return described(given)
    return registry(given).get(given)


__all__ = [
    "GROUPS",
    "PAPERS",
    "SCALES",
    "Given",
    "Instance",
    "Outcome",
    "Parameter",
    "Workload",
    "choice",
    "file",
    "find",
    "real",
    "switch",
    "whole",
    "workload",
    "workloads",
]
