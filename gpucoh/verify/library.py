"""Litmus tests as programs of the explorer: the shapes that every verification runs, built-in tests and files."""

from __future__ import annotations

import functools
import importlib.resources
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpucoh import litmus
from gpucoh.litmus.syntax import Instruction, State, Test, UnsupportedError, Value, signed
from gpucoh.litmus.syntax import Thread as LitmusThread
from gpucoh.verify.programs import DEFAULT_SCOPE, VARIABLES, Operation, Program, Thread, parse

MOST_CORES, MOST_THREADS, MOST_OPERATIONS = 4, 4, 12
_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Exploration:
    """A litmus test and its program.

    Attributes
    ----------
    test : Test
    program : Program
    registers : dict
        Register of the test -> index of its last value in an outcome, or the value itself if no access gives it.
    """

    test: Test
    program: Program
    registers: Mapping[str, tuple[int | None, int]]

    def final(self, outcome: Sequence[int]) -> State:
        """The final state of the test that corresponds to an outcome of the program."""
        state = {
            name: value if place is None else signed(outcome[place])
            for name, (place, value) in self.registers.items()
        }
        last = outcome[len(outcome) - self.program.variables :]
        return state | dict(zip(_locations(self.test), map(signed, last), strict=True))


def _locations(test: Test) -> tuple[str, ...]:
    """The test's locations in the order of the program's variables: by name, if they have the same names."""
    names = test.locations
    return tuple(sorted(names, key=VARIABLES.index)) if set(names) <= set(VARIABLES) else names


def _cores(test: Test) -> list[int]:
    """The core of each thread: one core per block."""
    blocks = list(test.blocks)
    shared = [(thread.gpu, thread.cu) for thread in test.threads if thread.cu is not None]
    if len(set(shared)) < len({thread.block for thread in test.threads if thread.cu is not None}):
        raise UnsupportedError("the explorer places one block on a core, not several of one cu")
    return [blocks.index(thread.block) for thread in test.threads]


def _check_size(test: Test) -> None:
    for what, number, most in (
        ("threads", len(test.threads), MOST_THREADS),
        ("blocks", len(test.blocks), MOST_CORES),
        ("locations", len(test.locations), len(VARIABLES)),
    ):
        if number > most:
            raise UnsupportedError(f"{number} {what}: the explorer supports up to {most}")
    for name, value in test.initial.items():
        if value:
            raise UnsupportedError(f"{name} = {value}: in the explorer, locations start at 0")


class _Translator:
    """Translates one thread.

    Parameters
    ----------
    thread : LitmusThread
    locations : sequence of str
        The locations, in the order of the program's variables.
    places : iterator of int
        Indices in an outcome, for the values read.
    members : int
        Number of threads of its block.
    """

    def __init__(
        self,
        thread: LitmusThread,
        locations: Sequence[str],
        places: Iterator[int],
        members: int,
    ) -> None:
        self.thread, self.locations, self.places = thread, locations, places
        self.members = members
        self.barriers: list[int] = []
        self.registers: dict[str, tuple[int | None, int]] = {
            name: (None, thread.initial.get(name, 0)) for name in thread.registers
        }

    def operations(self) -> tuple[Operation, ...]:
        """The thread's operations; ``registers`` then says where its last values are."""
        found = [item for item in map(self._operation, self.thread.code) if item is not None]
        if len(found) > MOST_OPERATIONS:
            raise UnsupportedError(
                f"{len(found)} operations in a thread; the explorer has at most {MOST_OPERATIONS}"
            )
        return tuple(found)

    def _operation(self, item: Instruction) -> Operation | None:
        if item.op == "fence":
            return Operation("F", order=item.order, scope=item.scope)
        if item.op == "move":
            assert item.dest is not None
            self.registers[item.dest] = (None, self._constant(item.values[0], item))
            return None
        if item.op == "bar":
            return self._barrier(item)
        if item.op not in ("ld", "st", "atom"):
            name = "arithmetic" if item.op == "alu" else "branches"
            raise UnsupportedError(f"the explorer has no {name}", item.line)
        assert item.location is not None
        variable = self.locations.index(item.location)
        kind, value = item.op, 0
        if item.op == "atom":
            if item.function not in ("ADD", "SUB"):
                name = item.function.lower()
                raise UnsupportedError(f"the explorer has no atomic {name}, only add", item.line)
            kind = "add"
        if item.values:
            value = self._constant(item.values[0], item)
        if item.function == "SUB":
            value = -value
        if kind != "st":
            place = next(self.places)
            if item.dest is not None:
                self.registers[item.dest] = (place, 0)
        scope = DEFAULT_SCOPE if item.order == "WEAK" else item.scope  # a weak access has none
        return Operation(kind, variable, value & _WORD, item.order, scope)

    def _barrier(self, item: Instruction) -> Operation:
        """A barrier that all threads of the block wait for."""
        name, *count = item.values
        if item.function != "sync":
            raise UnsupportedError("the explorer has no barriers without waiting", item.line)
        if not isinstance(name, int) or count not in ([], [self.members]):
            raise UnsupportedError(
                "in the explorer, all threads of a block wait at a barrier of a fixed number",
                item.line,
            )
        self.barriers.append(name)
        return Operation("bar")

    def _constant(self, value: Value, item: Instruction) -> int:
        if isinstance(value, int):
            return value
        place, known = self.registers[value]
        if place is not None:
            raise UnsupportedError(
                f"{value} is read from memory; the explorer writes constants only", item.line
            )
        return known


def translate(test: Test) -> Exploration:
    """Translate a litmus test to a program.

    Raises
    ------
    UnsupportedError
        If the explorer does not support the test; the text names the part and its line.
    """
    _check_size(test)
    locations, places = _locations(test), itertools.count()
    threads, registers = [], {}
    barriers: dict[int, list[int]] = {}
    for core, thread in zip(_cores(test), test.threads, strict=True):
        members = len(test.blocks[thread.block])
        translator = _Translator(thread, locations, places, members)
        threads.append(Thread(core, translator.operations()))
        for name, value in translator.registers.items():
            registers[f"P{thread.id}:{name}"] = value
        if barriers.setdefault(core, translator.barriers) != translator.barriers:
            raise UnsupportedError("in the explorer, all threads of a block have the same barriers")
    return Exploration(test, Program(test.name, tuple(threads), len(locations)), registers)


@functools.cache
def shape_tests() -> Mapping[str, Test]:
    """The shapes as litmus tests, by name: some distinguish memory models, some break a misreading of a paper."""
    folder = importlib.resources.files("gpucoh.verify") / "shapes"
    names = sorted(
        (item.name.removesuffix(".litmus") for item in folder.iterdir()
         if item.name.endswith(".litmus")),
        key=lambda name: (name.casefold(), name),
    )  # fmt: skip
    return {
        name: litmus.parse((folder / f"{name}.litmus").read_text(encoding="utf-8"), name)
        for name in names
    }


def shapes() -> list[Program]:
    """The shapes as programs."""
    return [translate(test).program for test in shape_tests().values()]


#: Programs without races, for models that promise only these something: an await orders data, which a load of a flag
#: does not. HRF: synchronise with local scope first (HRF-indirect is transitive through scopes). RO: load an array that
#: the launch declares read-only.
RACE_FREE_PROGRAMS = {
    "MP+await": "0: st x 1; st.release y 1 | 1: await y 1; ld x",
    "MP+await+neighbour": "0: st x 1; st.release z 1 | 1: await z 1; ld x | 1: ld y",
    "MP+await+owner": "0: await y 1; st x 1; st.release z 1 | 1: st x 5; st.release y 1; await z 1; ld x",
    "own+await": "0: await z 1; st x 1; st.release w 1; ld x | 0: ld y; ld y | 1: st.release z 1",
    "own+add": "0: add x 10; ld x | 1: ld y",
    "MP+await+words": "0: st x 1; st.release z 1; st x 3 | 1: st y 2; await z 1; ld y",
    "WRC+await": "0: st x 1; st.release y 1 | 1: await y 1; st.release z 1 | 2: await z 1; ld x",
    "MP+await+extra": "0: st x 1; st.release z 1 | 1: st y 2; st.release w 1 | 2: await z 1; await w 1; ld y; ld x",
    "kernels": "0: st x 1; kernel; ld y; kernel; st x 3; kernel | 1: st y 2; kernel; ld x; kernel; ld y; kernel; ld x",
    "RO+kernels": "0: ld.ro x; kernel; kernel; ld x | 1: kernel; st x 1; kernel",
    "RO+await+line": "0: st.release w 1; st y 1; st.release z 1 | 1: await w 1; ld.ro x; await z 1; ld y",
    "RO+await+neighbour": "0: st x 1; st.release z 1 | 1: await z 1; ld x | 1: ld.ro y",
    "HRF+await": "0: st x 1; st.release.cu y 1 | 0: await.cu y 1; st.release z 1 | 1: await z 1; ld x",
    "HRF+add": "0: add.cu x 1; st.release.cu y 1 | 0: await.cu y 1; add.cu x 10; st.release z 1 | 1: await z 1; ld x",
}


def race_free() -> list[Program]:
    """The programs without races."""
    return [parse(text, name) for name, text in RACE_FREE_PROGRAMS.items()]


def find(name: str | Path) -> Test:
    """Find a litmus test by name: a shape, else a built-in litmus test, else a file.

    Raises
    ------
    UnsupportedError
        If the name is unknown, or the file cannot be read.
    """
    known = shape_tests().get(str(name))
    return litmus.find(name) if known is None else known


def find_all(names: Sequence[str | Path]) -> list[Test]:
    """Find litmus tests by name; ``all`` is every shape and every built-in test of another name.

    Raises
    ------
    UnsupportedError
        As :func:`find` does.
    """
    every = dict.fromkeys((*shape_tests(), *litmus.builtins()))
    expanded = [every if str(name) == "all" else [name] for name in names]
    return [find(name) for name in itertools.chain.from_iterable(expanded)]
