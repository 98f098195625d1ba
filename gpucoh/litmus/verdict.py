"""The final states of a litmus test that a memory model allows."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import TypeAlias

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.litmus import ptx
from gpucoh.litmus.meetings import meetings
from gpucoh.litmus.models import (
    KEEPS_WEAK_COPIES,
    PTX,
    RACE_FREE,
    Candidate,
    Name,
    allows,
    model_name,
)
from gpucoh.litmus.paths import Event, Path, Paths, follow
from gpucoh.litmus.races import has_race
from gpucoh.litmus.syntax import Condition, State, Test

#: A consistent way for one location: sources of its reads, order of its writes.
_Part: TypeAlias = tuple[dict[Name, Name | None], list[Name]]
#: Largest number of candidates examined for one question; beyond it the question is undecided.
MOST_CANDIDATES = 300_000


class UndecidedError(Exception):
    """The question has more candidates than the limit."""


class Verdicts:
    """Answers about one test under one model.

    Parameters
    ----------
    test : Test
    model : str
        One of :data:`gpucoh.litmus.models.MODELS` or :data:`gpucoh.litmus.models.PTX`, in any case.
    cores : sequence of int, optional
        The core of each thread; by default, threads of one ``gpu`` may share a core.

    Examples
    --------
    >>> from gpucoh.litmus import builtin
    >>> Verdicts(builtin("SB"), "SC").allowed()
    False
    """

    @door
    def __init__(self, test: Test, model: str, cores: Sequence[int] | None = None) -> None:
        self.test, self.model = test, model_name(model)
        order = list(test.blocks)
        self.blocks = [order.index(thread.block) for thread in test.threads]
        self.cores = [thread.gpu for thread in test.threads] if cores is None else list(cores)
        self.ways: list[Paths] = []
        self.classes: list[dict[tuple[int, ...], list[Path]]] = []
        self.known: dict[object, bool] = {}
        self.parts: dict[object, list[_Part]] = {}
        self.promises = self.model != "none"
        self.looked = 0
        # One question at a time: threads that run a test under several protocols share its answers.
        self.lock = threading.Lock()
        if self.promises:
            self._follow()
        if self.model in PTX and test.split:
            self.promises = False  # its axioms do not apply to races of accesses of different sizes
        if self.model in RACE_FREE:
            self.promises = not self._racy()

    def _follow(self) -> None:
        self.ways = follow(self.test)
        for paths in self.ways:
            grouped: dict[tuple[int, ...], list[Path]] = {}
            for path in paths.paths:
                grouped.setdefault(path.registers, []).append(path)
            self.classes.append(grouped)

    @property
    def cut(self) -> bool:
        """Whether a loop that writes continues beyond the bound."""
        return any(paths.cut for paths in self.ways)

    # ---- questions

    @door
    def allowed(self, condition: Condition | None = None) -> bool:
        """Whether a final state that the condition describes is allowed (``forall``: one that violates it)."""
        if not self.promises:
            return True
        condition = condition or self.test.condition
        key = ("condition", str(condition))
        with self.lock:
            if key not in self.known:
                self.looked = 0
                try:
                    self.known[key] = any(True for _ in self._finals(condition.matches, condition))
                except UndecidedError:
                    self.known[key] = True
            return self.known[key]

    def states(self) -> set[tuple[int, ...]]:
        """Every allowed final state: registers thread by thread, then locations.

        Raises
        ------
        UndecidedError
            If there are too many candidates.
        """
        with self.lock:
            self.looked = 0
            return set(self._finals(lambda state: True))

    @door
    def allows(self, final: tuple[int, ...]) -> bool:
        """Whether one final state is allowed; if a bound was reached, it counts as allowed.

        Raises
        ------
        ConfigError
            If it is not a number for each register, thread by thread, and each location.
        """
        registers = sum(len(thread.registers) for thread in self.test.threads)
        values = registers + len(self.test.locations)
        final = tuple(final)
        if len(final) != values or not all(isinstance(value, Integral) for value in final):
            raise ConfigError(f"final = {quoted(final)} is not {values} whole numbers")
        if not self.promises:
            return True
        with self.lock:
            if final not in self.known:
                self.known[final] = self._search(final)
            return self.known[final]

    def may_hang(self) -> bool:
        """Whether an execution that does not end is allowed; if a bound was reached, it counts as allowed."""
        if not self.promises or self.cut:
            return True
        with self.lock:
            if "hang" not in self.known:
                self.looked = 0
                try:
                    self.known["hang"] = self._hangs()
                except UndecidedError:
                    self.known["hang"] = True
            return self.known["hang"]

    def _hangs(self) -> bool:
        endless = [[*paths.spins, *paths.waits()] for paths in self.ways]
        if not any(endless):
            return False
        ending = [[Path(events) for events in {path.events for path in way.paths}]
                  for way in self.ways]  # fmt: skip
        choices = [ends + more for ends, more in zip(ending, endless, strict=True)]
        for paths in itertools.product(*choices):
            if not any(path.ending for path in paths):
                continue
            if any(self._accepts(candidate) for candidate in self._candidates(paths, None)):
                return True
        return False

    def _search(self, final: tuple[int, ...]) -> bool:
        registers, at = [], 0
        for thread in self.test.threads:
            registers.append(final[at : at + len(thread.registers)])
            at += len(thread.registers)
        memory = self.test.in_cells(dict(zip(self.test.locations, final[at:], strict=True)))
        choices = [
            grouped.get(values, []) for grouped, values in zip(self.classes, registers, strict=True)
        ]
        self.looked = 0
        try:
            for paths in itertools.product(*choices):
                for candidate in self._candidates(paths, memory):
                    if self._accepts(candidate):
                        return True
        except UndecidedError:
            return True
        return self.cut

    # ---- candidates

    def _accepts(self, candidate: Candidate) -> bool:
        if self.model in PTX:
            return ptx.allows(candidate, self.test.threads, strengthened=self.model == "PTX-strong")
        return allows(candidate, self.model)

    def _finals(
        self, wanted: Callable[[State], bool], condition: Condition | None = None
    ) -> Iterator[tuple[int, ...]]:
        """The allowed final states among the wanted ones, each once."""
        early = condition is not None and not set(condition.proposition.names()) & set(
            self.test.locations
        )
        given: set[tuple[int, ...]] = set()
        names = [
            [f"P{thread.id}:{register}" for register in thread.registers]
            for thread in self.test.threads
        ]
        for values in itertools.product(*self.classes):
            state = {
                name: value
                for listed, row in zip(names, values, strict=True)
                for name, value in zip(listed, row, strict=True)
            }
            if early and not wanted(state):
                continue
            choices = [self.classes[index][row] for index, row in enumerate(values)]
            for paths in itertools.product(*choices):
                for candidate in self._candidates(paths, None):
                    memory = self._memory(candidate)
                    final = (*itertools.chain(*values), *memory.values())
                    if final in given or not wanted(state | memory):
                        continue
                    if self._accepts(candidate):
                        given.add(final)
                        yield final

    def _memory(self, candidate: Candidate) -> dict[str, int]:
        return self.test.of_cells({
            name: candidate.event(candidate.orders[name][-1]).written
            if candidate.orders.get(name)
            else value
            for name, value in self.test.cells.items()
        })  # fmt: skip

    def _candidates(
        self, paths: tuple[Path, ...], memory: dict[str, int] | None
    ) -> Iterator[Candidate]:
        """Every candidate of these ways, coherent unless the model judges that; with the given final memory, if any."""
        threads = [path.events for path in paths]
        parts: list[list[_Part]] = []
        for name, value in self.test.cells.items():
            last = None if memory is None else memory[name]
            found = self._parts_of(threads, name, value)
            if last is not None:
                found = [part for part in found if self._last(threads, part, value) == last]
            if not found:
                return
            parts.append(found)
        has_barriers = any(event.kind == "B" for events in threads for event in events)
        ways = meetings(paths, self.blocks) if has_barriers else [[]]
        for choice in itertools.product(*parts):
            sources = {read: source for part in choice for read, source in part[0].items()}
            orders = {name: part[1] for name, part in zip(self.test.cells, choice, strict=True)}
            if not _is_settled(paths, sources, orders, self.model in KEEPS_WEAK_COPIES):
                continue
            for way in ways:
                self.looked += 1
                if self.looked > MOST_CANDIDATES:
                    raise UndecidedError
                yield Candidate(threads, self.blocks, self.cores, sources, orders, way)

    @staticmethod
    def _last(threads: list[tuple[Event, ...]], part: _Part, first: int) -> int:
        if not part[1]:
            return first
        thread, place = part[1][-1]
        return threads[thread][place].written

    def _parts_of(self, threads: list[tuple[Event, ...]], location: str, first: int) -> list[_Part]:
        """Every way for one location; equal accesses are examined once."""
        mine: list[list[tuple[Name, Event]]] = [
            [
                ((thread, place), event)
                for place, event in enumerate(events)
                if event.kind in "RWU" and event.location == location
            ]
            for thread, events in enumerate(threads)
        ]
        coherent = self.model not in PTX or self._all_strong(mine)
        key = (location, coherent, *(
            tuple((name[1], event.kind, event.read, event.written) for name, event in row)
            for row in mine
        ))  # fmt: skip
        if key not in self.parts:
            self.parts[key] = list(self._parts(threads, mine, first, coherent))
        return self.parts[key]

    def _all_strong(self, mine: list[list[tuple[Name, Event]]]) -> bool:
        """Whether all accesses to a location are morally strong: PTX is coherent there, and in part elsewhere."""
        threads = self.test.threads
        return all(
            ptx.strong(event, threads[name[0]], other, threads[place[0]])
            for row, column in itertools.combinations(mine, 2)
            for name, event in row
            for place, other in column
        )

    @staticmethod
    def _parts(
        threads: list[tuple[Event, ...]],
        mine: list[list[tuple[Name, Event]]],
        first: int,
        coherent: bool,
    ) -> Iterator[_Part]:
        made = {first} | {event.written for row in mine for _, event in row if event.writes}
        if any(event.reads and event.read not in made for row in mine for _, event in row):
            return
        rows = [[name for name, event in row if event.writes] for row in mine]
        for order in _interleavings([row for row in rows if row]):
            values = [first, *(threads[name[0]][name[1]].written for name in order)]
            place = {name: number + 1 for number, name in enumerate(order)}
            for sources in _sources(mine, place, values, coherent):
                yield (
                    {name: order[at - 1] if at else None for name, at in sources.items()},
                    order,
                )

    # ---- races

    def _racy(self) -> bool:
        """Whether a sequentially consistent execution has a race; the model promises nothing then."""
        scoped = self.model == "HRF-indirect"
        self.looked = 0
        try:
            for values in itertools.product(*(way.paths for way in self.ways)):
                for candidate in self._candidates(values, None):
                    if self._accepts(candidate) and has_race(self.test, candidate, scoped):
                        return True
        except UndecidedError:
            return True
        return False


def _is_settled(
    paths: tuple[Path, ...],
    sources: dict[Name, Name | None],
    orders: dict[str, list[Name]],
    keeps_weak_copies: bool,
) -> bool:
    """Whether threads that spin read the last writes: every write eventually becomes visible.

    Where weak copies stay, weak loads may read an older one for ever.
    """
    for thread, path in enumerate(paths):
        if path.ending != "spins":
            continue
        for place in range(path.tail, len(path.events)):
            event = path.events[place]
            if event.reads and not (keeps_weak_copies and event.order == "WEAK"):
                order = orders[event.location]
                if sources[(thread, place)] != (order[-1] if order else None):
                    return False
    return True


def _interleavings(rows: list[list[Name]]) -> Iterator[list[Name]]:
    """Every interleaving that keeps each row's order."""
    if not rows:
        yield []
        return
    for number, row in enumerate(rows):
        rest = [*rows[:number], *([row[1:]] if len(row) > 1 else []), *rows[number + 1 :]]
        for more in _interleavings(rest):
            yield [row[0], *more]


def _sources(
    rows: list[list[tuple[Name, Event]]], place: dict[Name, int], values: list[int], coherent: bool
) -> Iterator[dict[Name, int]]:
    """Every choice of a write (by its position) for each read that keeps the location coherent.

    Without ``coherent``, a read only follows its own thread's older writes, and an atomic may read any write.
    """
    options: list[list[dict[Name, int]]] = []
    for row in rows:
        found: list[tuple[int, dict[Name, int]]] = [(0, {})]
        for name, event in row:
            new = []
            for least, chosen in found:
                if event.writes and place[name] <= least:
                    continue
                if event.kind == "W":
                    new.append((place[name], chosen))
                elif event.kind == "U" and coherent:
                    at = place[name]
                    if values[at - 1] == event.read:
                        new.append((at, chosen | {name: at - 1}))
                else:
                    follows = place[name] if event.kind == "U" else None
                    new += [
                        (follows or (at if coherent else least), chosen | {name: at})
                        for at in range(least, len(values))
                        if values[at] == event.read and at != follows
                    ]
            found = new
        if not found:
            return
        options.append([chosen for _, chosen in found])
    for choice in itertools.product(*options):
        yield {name: at for chosen in choice for name, at in chosen.items()}
