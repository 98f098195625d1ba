"""Litmus tests as programs of the explorer: the shapes that every verification runs, built-in tests and files."""

from __future__ import annotations

import functools
import importlib.resources
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpucoh import litmus
from gpucoh.litmus.paths import ARITHMETIC
from gpucoh.litmus.syntax import Instruction, State, Test, UnsupportedError, Value, signed
from gpucoh.litmus.syntax import Thread as LitmusThread
from gpucoh.verify.programs import DEFAULT_SCOPE, VARIABLES, Operation, Program, Thread, parse

MOST_CORES, MOST_THREADS, MOST_OPERATIONS = 4, 4, 12


@dataclass(frozen=True)
class Exploration:
    """A litmus test and its program.

    Attributes
    ----------
    test : Test
    program : Program
    registers : dict
        Register of the test -> its last value: a number, and the index in an outcome of what is added to it, if any.
    """

    test: Test
    program: Program
    registers: Mapping[str, tuple[int | None, int]]

    def final(self, outcome: Sequence[int]) -> State:
        """The final state of the test that corresponds to an outcome of the program."""
        wide = {f"P{thread.id}:{name}" for thread in self.test.threads for name in thread.wide}

        def read(place: int, is_wide: bool) -> int:
            return outcome[place] + (outcome[place + 1] << 32 if is_wide else 0)

        state = {
            name: signed(
                value + (0 if place is None else read(place, name in wide)),
                64 if name in wide else 32,
            )
            for name, (place, value) in self.registers.items()
        }
        at = len(outcome) - self.program.variables - len(self.program.wide)
        for variable, name in enumerate(_locations(self.test)):
            is_wide = variable in self.program.wide
            state[name] = signed(read(at, is_wide), 64 if is_wide else 32)
            at += 1 + is_wide
        return state


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
        self.barriers: list[tuple[int, bool]] = []  # with whether the count is given
        # Registers as in Exploration; what those that are numbers were computed from; the operations of values read.
        self.registers: dict[str, tuple[int | None, int]] = {
            name: (None, thread.initial.get(name, 0)) for name in thread.registers
        }
        self.origins: dict[str, int] = {}
        self.reads: dict[int, int] = {}
        self.made: list[Operation] = []

    def translate(self) -> None:
        """Translate the code; ``registers`` then says where the thread's last values are."""
        for item in self.thread.code:
            operation = self._operation(item)
            if operation is not None:
                self.made.append(operation)

    def operations(self) -> tuple[Operation, ...]:
        """The thread's operations."""
        if len(self.made) > MOST_OPERATIONS:
            raise UnsupportedError(
                f"{len(self.made)} operations in a thread; the explorer has at most {MOST_OPERATIONS}"
            )
        return tuple(self.made)

    def _operation(self, item: Instruction) -> Operation | None:
        if item.op == "fence":
            return Operation("F", order=item.order, scope=item.scope)
        if item.op in ("move", "alu"):
            self._compute(item)
            return None
        if item.op == "bar":
            return self._barrier(item)
        if item.op not in ("ld", "st", "atom"):
            raise UnsupportedError("the explorer has no branches", item.line)
        assert item.location is not None
        variable = self.locations.index(item.location)
        kind, value, place = item.op, 0, None
        if item.op == "atom":
            kind = "add" if item.function == "SUB" else item.function.lower()
        if item.values:
            place, value = self._value(item.values[0])
        replacement = self._replacement(item)
        adds, source = place is not None, self._origin(item.sources)
        if place is not None and source != self.reads[place]:
            raise UnsupportedError("in the explorer, a value depends on one value read", item.line)
        if kind == "ld" and source is not None:
            raise UnsupportedError("in the explorer, no load depends on a value read", item.line)
        if item.function == "SUB":
            if place is not None:
                raise UnsupportedError("the explorer subtracts no value that was read", item.line)
            value = -value
        if kind != "st":
            self._note_read(item)
        scope = DEFAULT_SCOPE if item.order == "WEAK" else item.scope  # a weak access has none
        mask = (1 << item.bits) - 1
        return Operation(
            kind, variable, value & mask, item.order, scope, False, source, adds, replacement & mask, item.bits,
            item.word,
        )  # fmt: skip

    def _replacement(self, item: Instruction) -> int:
        """The new value of a compare-and-swap."""
        if item.function != "CAS":
            return 0
        values = [self._value(value) for value in item.values]
        if any(place is not None for place, _ in values):
            raise UnsupportedError(
                "in the explorer, a compare-and-swap has numbers, not values read", item.line
            )
        return values[1][1]

    def _note_read(self, item: Instruction) -> None:
        """The next operation reads a value into a register."""
        place = next(self.places)
        if item.bits == 64:
            next(self.places)
        self.reads[place] = len(self.made)
        if item.dest is not None:
            self.registers[item.dest] = (place, 0)
            self.origins[item.dest] = len(self.made)

    def _value(self, value: Value) -> tuple[int | None, int]:
        return (None, value) if isinstance(value, int) else self.registers[value]

    def _origin(self, values: Sequence[Value]) -> int | None:
        """The last operation whose value the values depend on."""
        found = [self.origins[value] for value in values if value in self.origins]
        return max(found, default=None)

    def _compute(self, item: Instruction) -> None:
        """A move, arithmetic of numbers, or the addition of a number to a value that was read."""
        assert item.dest is not None
        origin = self._origin(item.values)
        read = [place for place, _ in map(self._value, item.values) if place is not None]
        numbers = [number for _, number in map(self._value, item.values)]
        place = read[0] if read else None
        if item.op == "move":
            result = numbers[0]
        elif item.function == "XOR" and item.values[0] == item.values[1]:
            place, result = None, 0
        elif read and (len(read) > 1 or item.function != "ADD"):
            raise UnsupportedError(
                "the explorer computes with a value that was read by adding a number to it only",
                item.line,
            )
        else:
            result = ARITHMETIC[item.function](*numbers)
        self.registers[item.dest] = (place, signed(result, item.bits))
        self.origins.pop(item.dest, None)
        if origin is not None:
            self.origins[item.dest] = origin

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
        self.barriers.append((name, bool(count)))
        return Operation("bar")

    def end_before(self, barriers: Sequence[tuple[int, bool]]) -> None:
        """End the thread, if a thread of its block has these barriers, more than it has itself.

        Raises
        ------
        UnsupportedError
            If the threads meet at other barriers, or one waits for this thread by its count.
        """
        rest = barriers[len(self.barriers) :]
        if self.barriers != barriers[: len(self.barriers)] or any(counted for _, counted in rest):
            raise UnsupportedError(
                "in the explorer, the threads of a block have the same barriers, until one ends"
            )
        if rest:
            self.made.append(Operation("exit"))


def translate(test: Test) -> Exploration:
    """Translate a litmus test to a program.

    Raises
    ------
    UnsupportedError
        If the explorer does not support the test; the text names the part and its line.
    """
    _check_size(test)
    locations, places, cores = _locations(test), itertools.count(), _cores(test)
    threads, registers, translators = [], {}, []
    barriers: dict[int, list[tuple[int, bool]]] = {}
    for core, thread in zip(cores, test.threads, strict=True):
        members = len(test.blocks[thread.block])
        translator = _Translator(thread, locations, places, members)
        translator.translate()
        translators.append(translator)
        barriers[core] = max(barriers.get(core, []), translator.barriers, key=len)
        for name, value in translator.registers.items():
            registers[f"P{thread.id}:{name}"] = value
    for core, thread, translator in zip(cores, test.threads, translators, strict=True):
        translator.end_before(barriers[core])
        threads.append(Thread(core, translator.operations(), thread.gpu))
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


#: Built-in tests that every verification runs: barriers; values that depend on values; early reads.
BARRIERS = ("MP+bar", "MP+bar+early", "SB+bars-apart")
DEPENDENT = ("WRC+data+early", "WRC+data+plus", "WRC+addr", "WRC+acqs+early", "WWC", "WWC+own")
#: Accesses of 64 bits, and of one word of these.
WIDE = ("ADD+b64", "FADD+b64", "CAS+b64+b32", "MP+b64+b32", "CoRR+b64", "CoRR+b64+rlx")
#: Threads that end before others, which no litmus test says.
ENDING = {
    "MP+exit": "0: st x 1; st.release y 1; exit | 1: ld.acquire y; ld x; exit",
    "MP+bar+exit": "0: st x 1; bar; exit | 0: bar; ld x; exit | 1: st x 2; exit",
    "MP+bar+left": "0: st x 1; bar; ld y; exit | 0: bar; ld x; exit | 0: st y 1; exit",
    "MP+bar.acq_rel+left": "0: st x 1; bar.acq_rel; st.relaxed y 1 | 0: exit | 1: ld.acquire y; ld x",
}


def shapes() -> list[Program]:
    """The shapes as programs."""
    return [translate(test).program for test in shape_tests().values()]


def built_in(names: Sequence[str]) -> list[Program]:
    """Built-in litmus tests as programs."""
    return [translate(litmus.builtin(name)).program for name in names]


#: Between launches the host stores to lines that caches have, and loads what a launch has stored.
HOST = {
    "host+store": "0: ld x; host_st x 1; ld x",
    "host+store+others": "0: ld x; host_st x 2; ld x | 1: ld x; kernel; ld x",
    "host+load": "0: st x 1; host_ld x; ld x | 1: kernel; ld x",
}


def meeting() -> list[Program]:
    """Programs whose threads meet at barriers, or end early, or between whose launches the host accesses memory."""
    return built_in(BARRIERS) + [parse(text, name) for name, text in (ENDING | HOST).items()]


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
    "own+neighbour": "0: F; ld x; st.relaxed y 1; ld y",
    "kernels": "0: st x 1; kernel; ld y; kernel; st x 3; kernel | 1: st y 2; kernel; ld x; kernel; ld y; kernel; ld x",
    "RO+kernels": "0: ld.ro x; kernel; kernel; ld x | 1: kernel; st x 1; kernel",
    "RO+await+line": "0: st.release w 1; st y 1; st.release z 1 | 1: await w 1; ld.ro x; await z 1; ld y",
    "RO+await+neighbour": "0: st x 1; st.release z 1 | 1: await z 1; ld x | 1: ld.ro y",
    "HRF+await": "0: st x 1; st.release.cu y 1 | 0: await.cu y 1; st.release z 1 | 1: await z 1; ld x",
    "HRF+add": "0: add.cu x 1; st.release.cu y 1 | 0: await.cu y 1; add.cu x 10; st.release z 1 | 1: await z 1; ld x",
    "HRF+scopes": "0: add.cu x 1 | 0: add x 1",
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
