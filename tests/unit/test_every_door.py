"""Does every public function answer odd arguments with one short line of its own, and no exception of Python's?"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpucoh
from gpucoh import litmus
from gpucoh.base.quoting import LONGEST, one_line, quoted
from products import share

MOST = 500  # characters of a message


class Silent:
    """A value that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no representation")


LONG = "x" * 10_000
ODD: tuple[Any, ...] = (
    *(None, "", LONG, "a\nb\x1b", -1, 2**70, 10**5000, 1.5, float("nan"), float("inf"), 1j, True),
    *([1, 2], [LONG], {"a": LONG}, {1: 2}, (), {1}, b"\0" * 300, ..., Path("/none/" + LONG)),
    *(np.ones(3), np.array(["a" * 500]), np.float32("nan"), np.datetime64("2020")),
    *(object(), Silent(), [Silent()], {"a": Silent()}, lambda x: x, type),
)
TEXT = "PTX a\n{}\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (x == 1)\n"


@gpucoh.kernel
def touch(x: gpucoh.Buffer[gpucoh.i32]):
    x[0] = 1


@functools.cache
def things() -> dict[str, Any]:
    """One object of each public class."""
    gpu = gpucoh.GPU(protocol="ideal")
    array = gpu.zeros(4, np.int32)
    gpu.launch(touch, grid=1, block=32, args=(array,))
    run = functools.partial(gpucoh.run, "vec-cpy", scale="tiny", profile=True)
    result = run("ideal", every=1000, trace=True)
    test = litmus.builtin("SB")
    return {
        "gpu": gpu, "array": array, "kernel": touch, "result": result, "stats": result.stats,
        "l1": result.l1, "trace": result.trace, "profile": result.profile, "series": result.series,
        "comparison": gpucoh.compare(
            workloads=["vec-cpy"], protocols=["ideal", "no-l1"], scale="tiny"
        ),
        "machine": gpucoh.machine("fermi"), "workload": gpucoh.workload("vec-cpy"),
        "protocol": gpucoh.protocols()["mesi"], "snapshot": gpu.snapshot(), "test": test,
        "explanation": gpucoh.explain(result, run("no-l1")),
        "litmus result": litmus.run_test(test, "mesi", runs=3), "verdicts": litmus.Verdicts(test, "SC"),
    }  # fmt: skip


# Called with odd values beside these arguments. A run that succeeds is a small one.
QUICK = {"workload": "vec-cpy", "protocol": "ideal", "scale": "tiny"}
WITH: dict[str, Callable[[], dict[str, Any]]] = {
    "run": lambda: QUICK,
    "compare": lambda: {"workloads": ["vec-cpy"], "protocols": ["ideal"], "scale": "tiny"},
    "sweep": lambda: {"runs": [QUICK]},
    "grid": lambda: {"workload": ["vec-cpy"], "scale": "tiny"},
    "GPU": lambda: {"protocol": "ideal"},
    "Machine": lambda: vars(things()["machine"]),
    "litmus.parse": lambda: {"text": TEXT, "name": "a"},
    "litmus.allowed": lambda: {"test": "SB", "model": "SC"},
    "litmus.placed": lambda: {"test": things()["test"], "place": "core"},
    "litmus.run_test": lambda: {"test": "SB", "protocol": "mesi", "runs": 3},
    "litmus.Verdicts": lambda: {"test": things()["test"], "model": "SC"},
    "gpu.launch": lambda: {"kernel": touch, "grid": 1, "block": 32, "args": (things()["array"],)},
    "gpu.array": lambda: {"data": np.zeros(4, np.int32)},
    "gpu.zeros": lambda: {"shape": 4, "dtype": np.int32},
    "gpu.full": lambda: {"shape": 4, "value": 1, "dtype": np.int32},
    "comparison.right": lambda: {"workload": "vec-cpy"},
}
# Made by other functions, types of the language, a dictionary, and what has no arguments to check.
NOT_CALLED = {
    *("Array", "Buffer", "Comparison", "Explanation", "Kernel", "Profile", "Protocol", "RunResult"),
    *("Snapshot", "Stats", "Trace", "Workload", "cuda", "plot", "__version__"),
    *("f32", "i8", "i16", "i32", "u8", "u16", "u32"),
    *("litmus.Outcome", "litmus.PLACES", "litmus.Result", "litmus.Test"),
    *("trace.fill", "gpu.close"),  # the package fills a trace; a closed GPU answers nothing more
}


def doors() -> Iterator[str]:
    """The names of all public functions and methods."""
    for module, prefix in ((gpucoh, ""), (litmus, "litmus."), (gpucoh.plot, "plot.")):
        for name in module.__all__:
            thing = getattr(module, name)
            is_error = isinstance(thing, type) and issubclass(thing, Exception)
            if prefix + name not in NOT_CALLED and not is_error:
                yield prefix + name
    for name, thing in things().items():
        own = [cls for cls in type(thing).__mro__ if cls.__module__.startswith("gpucoh")]
        public = set(dir(thing))  # it leaves out what other parts of gpucoh use
        for method in dict.fromkeys(found for cls in own for found in vars(cls) if found in public):
            plain = inspect.getattr_static(type(thing), method)
            callable_ = callable(plain) or isinstance(plain, classmethod | staticmethod)
            if method[0] != "_" and callable_ and f"{name}.{method}" not in NOT_CALLED:
                yield f"{name}.{method}"


def found(name: str) -> Callable[..., Any]:
    owner, _, rest = name.rpartition(".")
    place = {"": gpucoh, "litmus": litmus, "plot": gpucoh.plot}.get(owner) or things()[owner]
    return getattr(place, rest)


def calls(name: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Arguments with one odd value each; required ones that are not known have it too."""
    parameters = inspect.signature(found(name)).parameters.values()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    known = WITH.get(name, dict)()
    for value in ODD:
        rest = {p.name: value for p in named if p.default is p.empty} | known
        for parameter in parameters:
            if parameter in named:
                yield [], rest | {parameter.name: value}
            elif parameter.kind is parameter.VAR_POSITIONAL:
                yield [*rest.values(), value], {}
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                yield [value], {}
            elif name != "run":
                yield [], rest | {"other": value}


def check(call: Callable[[], object]) -> str | None:
    """What is wrong with how a call fails."""
    try:
        call()
    except gpucoh.Error as error:
        text = str(error)
        short = len(text) <= MOST and text.isprintable()
        return None if short else f"{len(text)} characters: {text[:100]!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    return None


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some odd values are good names of files to write


@pytest.mark.parametrize("name", share(list(doors()), one_in=8))
def test_odd_arguments_get_one_short_line(name: str) -> None:
    function = found(name)
    problems = [
        (arguments, named, problem)
        for arguments, named in calls(name)
        if (problem := check(functools.partial(function, *arguments, **named)))
    ]
    shown = [(quoted(a), quoted(n), problem) for a, n, problem in problems]
    assert shown == []


def test_odd_subscripts_get_one_short_line() -> None:
    array, kernel = things()["array"], things()["kernel"]

    def subscripts(value: Any) -> Iterator[Callable[[], object]]:
        yield lambda: array[value]
        yield lambda: array.__setitem__(value, 1)
        yield lambda: array.__setitem__(0, value)
        yield lambda: kernel[value]
        yield lambda: kernel[1, value](array)
        yield lambda: gpucoh.Buffer[value]

    # None adds a dimension, True and ... select all, as in NumPy.
    problems = [quoted(v) for v in ODD for call in subscripts(v) if check(call)]
    assert problems == []


def test_iteration_over_an_array_ends() -> None:
    assert len(list(things()["array"])) == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb", r"'a\nb'"),
        (np.zeros((2, 2)), "array([[0., 0.], [0., 0.]])"),
        (Silent(), "<Silent>"),
        ([1, 2], "[1, 2]"),
    ],
    ids=["text", "array", "silent", "list"],
)
def test_a_value_is_quoted_on_one_line(value: object, text: str) -> None:
    assert quoted(value) == text


@pytest.mark.parametrize("value", [LONG, [LONG], {"a": LONG}, Path(LONG), np.arange(500)])
def test_a_long_value_is_quoted_without_its_middle(value: object) -> None:
    assert len(quoted(value)) == LONGEST
    assert ".." in quoted(value)


def test_a_message_is_one_line_whatever_it_holds() -> None:
    assert str(gpucoh.ConfigError("file a\nb\x1b: bad")) == r"file a\nb\x1b: bad"
    assert len(str(gpucoh.ConfigError(f"file {LONG}: bad"))) < 250
    assert one_line("file /a/b: bad") == "file /a/b: bad"


def test_an_argument_of_another_type_names_the_allowed_ones() -> None:
    with pytest.raises(gpucoh.ConfigError, match="trace = 5 is not true or false or a dictionary"):
        gpucoh.run("vec-cpy", "ideal", scale="tiny", trace=5)  # type: ignore[arg-type]
    with pytest.raises(gpucoh.ConfigError, match="unknown argument 'kind'; allowed: array, "):
        gpucoh.run("vec-cpy", "ideal", scale="tiny", trace={"kind": "steps"})


def test_a_cache_of_no_ways_is_refused() -> None:
    with pytest.raises(gpucoh.ConfigError, match="l3_ways = 0; l3_kib = 1 needs at least 1"):
        gpucoh.machine("fermi").replace(l3_kib=1, l3_ways=0)
