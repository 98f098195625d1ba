"""Run litmus tests and judge them: the public functions."""

from __future__ import annotations

import functools
import importlib.resources
import os
import threading
from collections.abc import Callable
from pathlib import Path

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, nearest
from gpucoh.device.gpu import protocols, resolve
from gpucoh.device.protocols import rule_name
from gpucoh.litmus.harness import Key, Observations, names, observe
from gpucoh.litmus.models import model_name
from gpucoh.litmus.parser import load, parse
from gpucoh.litmus.results import HANG, Outcome, Result
from gpucoh.litmus.syntax import Test, UnsupportedError
from gpucoh.litmus.verdict import Verdicts
from gpucoh.machines import Machine, machine

RUNS = 1000
MOST_RUNS = 10**9


def _folder() -> importlib.resources.abc.Traversable:
    return importlib.resources.files("gpucoh.litmus") / "tests"


@functools.cache
def builtins() -> tuple[str, ...]:
    """Ids of the built-in tests."""
    return tuple(
        sorted(
            item.name.removesuffix(".litmus")
            for item in _folder().iterdir()
            if item.name.endswith(".litmus")
        )
    )


@door
@functools.cache
def builtin(name: str) -> Test:
    """A built-in test.

    Raises
    ------
    ConfigError
        If the id is unknown.
    """
    if name not in builtins():
        hint = nearest(name, builtins()) or "; gpucoh litmus --list lists the built-in ones"
        raise UnsupportedError(f"{quoted(name)} is neither a built-in litmus test nor a file{hint}")
    return parse((_folder() / f"{name}.litmus").read_text(encoding="utf-8"), name)


@functools.lru_cache(maxsize=512)
def _verdicts(key: Key, model: str) -> Verdicts:
    return Verdicts(key.test, model)


def verdicts(test: Test, model: str) -> Verdicts:
    """What a model allows a test; cached, since several protocols share it."""
    return _verdicts(Key(test), model_name(model))


@door
def allowed(test: Test | str | Path, model: str) -> bool:
    """Whether a memory model allows the states that a test's condition describes.

    Parameters
    ----------
    test : Test, str or Path
        A test, a built-in id, or a file.
    model : str
        SC, RC-MCA, WO, RCsc, RCc, RCpc, DRF-SC, HRF-indirect, none, PTX or PTX-strong, in any case.

    Examples
    --------
    >>> from gpucoh.litmus import allowed
    >>> allowed("IRIW+fences", "RC-MCA"), allowed("IRIW+fences", "RCpc")
    (False, True)
    """
    return verdicts(find(test), model).allowed()


@door
def find(test: Test | str | Path) -> Test:
    """Find a test by a built-in id or a file.

    Raises
    ------
    ConfigError
        If it is neither, or the file cannot be read or is not supported.
    """
    if isinstance(test, Test):
        return test
    text = str(test)
    if isinstance(test, str) and text in builtins():
        return builtin(text)
    if not isinstance(test, Path) and not text.endswith(".litmus") and not os.path.exists(text):
        return builtin(text)
    return load(test)


@door
def run_test(
    test: Test | str | Path,
    protocol: str = "tc-weak",
    consistency: str | None = None,
    *,
    model: str | None = None,
    machine: str | Path | Machine = "fermi",
    runs: int = RUNS,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    stop: threading.Event | None = None,
) -> Result:
    """Run one litmus test under one protocol and judge the outcomes.

    Parameters
    ----------
    test : Test, str or Path
        A test, a built-in id (:func:`builtins`), or a file.
    protocol : str
        Protocol id, with options in brackets.
    consistency : str, optional
        Consistency rule; by default the paper's for the protocol.
    model : str, optional
        Memory model to judge by; by default the one that the protocol promises under the rule, between GPUs if
        the test's threads are on several of the machine's.
    machine : str, Path or Machine
        Preset, TOML file or description; runs use its variants with few cores, small caches, narrow buffers.
    runs, seed : int
        Number of runs; random seed. Equal seeds give equal runs.
    progress : callable, optional
        Called with the number of finished runs.
    stop : threading.Event, optional
        Setting it ends the runs early.

    Returns
    -------
    Result
        A test that cannot be read or is not supported gives ``status`` ``unsupported`` and the reason.

    Raises
    ------
    ConfigError
        If protocol, consistency, machine or a number is not valid.

    Examples
    --------
    >>> import gpucoh.litmus
    >>> result = gpucoh.litmus.run_test("MP+rel+acq", "mesi", runs=100)
    >>> result.status, result.observed, result.allowed, result.ok
    ('ran', False, False, True)
    """
    runs = natural("runs", runs, MOST_RUNS, smallest=1)
    seed = natural("seed", seed, 2**63 - 1)
    if stop is not None and not hasattr(stop, "is_set"):
        raise ConfigError(f"stop = {quoted(stop)} is not a threading.Event")
    choice = resolve(protocol)
    rule = choice.rule(consistency)
    by = choice.model(rule) if model is None else model_name(model)
    built = _machine(machine)
    try:
        found = find(test)
        if model is None and built.gpus > 1 and len({thread.gpu for thread in found.threads}) > 1:
            by = choice.model(rule, between_gpus=True)
        seen = observe(found, protocol, rule, built, runs, seed, progress, stop)
    except UnsupportedError as error:
        return unsupported(test, protocol, rule, by, str(error))
    return _judge(found, protocol, rule, by, seen)


def _machine(given: str | Path | Machine) -> Machine:
    return given if isinstance(given, Machine) else machine(given)


def unsupported(
    test: Test | str | Path, protocol: str, rule: str, model: str, reason: str
) -> Result:
    """The result of a test that is not run."""
    if isinstance(test, Test):
        name, file = test.name, test.file
    else:
        name, file = Path(test).name.removesuffix(".litmus"), str(test)
    return Result(
        test=name,
        file=file,
        protocol=protocol,
        consistency=rule,
        model=model,
        status="unsupported",
        reason=reason,
    )


def _judge(test: Test, protocol: str, rule: str, model: str, seen: Observations) -> Result:
    answers = verdicts(test, model)
    listed = names(test)
    counts: dict[str, list[int]] = {}
    flags: dict[str, list[bool]] = {}
    forbidden = []
    observed = False
    for final, count in seen.states.items():
        state = dict(zip(listed, final, strict=True))
        fine = answers.allows(final)
        matches = test.condition.matches(state)
        observed |= matches
        if not fine:
            forbidden.append("; ".join(f"{name}={value}" for name, value in state.items()))
        text = test.describe(state)
        counts.setdefault(text, []).append(count)
        flags.setdefault(text, []).append(fine)
        flags.setdefault(text + "\n", []).append(matches)
    outcomes = [
        Outcome(
            state=text, count=sum(row), allowed=all(flags[text]), matches=any(flags[text + "\n"])
        )
        for text, row in counts.items()
    ]
    outcomes.sort(key=lambda item: (-item.count, item.state))
    if seen.hung:
        may_hang = answers.may_hang()
        outcomes.append(Outcome(state=HANG, count=seen.hung, allowed=may_hang))
        forbidden += [] if may_hang else [HANG]
    return Result(
        test=test.name,
        file=test.file,
        protocol=protocol,
        consistency=rule,
        model=model,
        status="hang" if seen.runs and seen.hung == seen.runs else "ran",
        reason=seen.error,
        runs=seen.runs,
        outcomes=tuple(outcomes),
        condition=str(test.condition),
        observed=observed,
        allowed=answers.allowed(),
        ok=not forbidden and not seen.error,
        forbidden=tuple(sorted(forbidden)),
        about=test,
    )


def keeping(rule: str | None) -> list[str]:
    """Ids of the protocols that support a consistency rule; all of them for None."""
    known = protocols()
    if rule is None:
        return list(known)
    return [name for name, item in known.items() if rule_name(rule) in item.models]
