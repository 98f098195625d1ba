"""Compilation of a litmus test to one program of the simulated machine.

One launch holds many instances of the test. A table of parameters gives each warp the thread and instance that it is
(its *role*), the places of its variables, those to read beforehand, and the first cycle; the program dispatches to the
roles' code. There are two more roles: *stress*, a warp that keeps lines and networks busy, and *watch*, a warp that
releases a block whose barriers can never be complete, so that a test that hangs does not hang the launch.

All values are in uniform registers: a litmus thread is a warp, and each access is executed once.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpucoh.lang import isa
from gpucoh.lang.program import Program
from gpucoh.litmus.code import MEMORY, MOST_REGISTERS, PARAMETERS, RESULTS, Code, uniform
from gpucoh.litmus.meetings import BARRIERS
from gpucoh.litmus.syntax import Instruction, Test, Thread, UnsupportedError, Value

#: Core cycles, from the start of the launch, after which a thread that has not ended counts as hung.
LIMIT = 1_000_000
#: The first result of a thread.
ENDED, HUNG = 1, 2

# Parameters of a warp. For a stress warp: role, begin, iterations, pause, -, addresses.
ROLE, BEGIN, WARM_AT, FLAGS, RESULT, ADDRESSES = range(6)
ITERATIONS, PAUSE = WARM_AT, FLAGS
STRESS_ADDRESSES = 4
MOST_WARMED = 30
WAIT_FOR_WARM = 31

# Scratchpad of a block with a watch warp.
EXITED, RELEASED, COUNT, ARRIVED, WAITING = 0, 1, 2, 18, 34
SCRATCHPAD_WORDS = 50

# Uniform registers of every role.
_START, _T0, _T1, _T2, _T3, _DUMMY, _PARAMETERS = 0, 1, 2, 3, 4, 5, 6

# Of 64 bits.
_WIDE_COMPARE = {
    "==": "EQ_B64", "!=": "NE_B64", "<": "LT_S64", "<=": "LE_S64", ">": "GT_S64", ">=": "GE_S64",
}  # fmt: skip
_WIDE_ARITHMETIC = {"MIN": "MIN_S64", "MAX": "MAX_S64"}

_COMPARE = {"==": "EQ", "!=": "NE", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}


@dataclass(frozen=True)
class Shape:
    """Sizes of a compiled test.

    Attributes
    ----------
    roles : int
        Number of litmus threads; the stress role has this number, the watch role the next.
    warps : int
        Warps per block: the largest block's threads, one for stress and, if needed, one that watches.
    parameters : int
        Words of the table per warp.
    results : int
        Words of results per thread: whether it ended, then its registers.
    watched : bool
        Whether blocks need a watch warp.
    """

    roles: int
    warps: int
    parameters: int
    results: int
    watched: bool


def watched(test: Test) -> bool:
    """Whether a barrier of the test might wait forever, or for threads that have left.

    It cannot if every thread of the block goes straight through the same barriers, and each waits for all threads.
    """
    for members in test.blocks.values():
        threads = [test.threads[index] for index in members]
        barriers = [[item for item in thread.code if item.op == "bar"] for thread in threads]
        if not any(barriers):
            continue
        if any(item.op in ("branch", "jump") for thread in threads for item in thread.code):
            return True
        rows = [
            [(item.function, item.values[0], *item.values[1:]) for item in row] for row in barriers
        ]
        everyone = {len(threads)}
        for row in rows:
            if row != rows[0] or any(
                kind != "sync" or isinstance(name, str) or not set(count) <= everyone
                for kind, name, *count in row
            ):
                return True
    return False


def places(thread: Thread) -> dict[str, int]:
    """The first word of each of a thread's registers, which are one after the other."""
    out: dict[str, int] = {}
    at = 0
    for name in thread.registers:
        out[name] = at
        at += 1 + (name in thread.wide)
    return out


def shape_of(test: Test) -> Shape:
    """Sizes of a test's program."""
    most = max((len(thread.registers) + len(thread.wide) for thread in test.threads), default=0)
    largest = max(len(members) for members in test.blocks.values())
    needs_watch = watched(test)
    words = ADDRESSES + max(len(test.locations), STRESS_ADDRESSES)
    return Shape(
        roles=len(test.threads),
        warps=largest + 1 + needs_watch,
        parameters=-(-words // 4) * 4,
        results=-(-(1 + most) // 4) * 4,
        watched=needs_watch,
    )


class Compiler:
    """Writes one test's program.

    Parameters
    ----------
    test : Test
    lanes : int
        Threads per warp of the machine.
    """

    def __init__(self, test: Test, lanes: int) -> None:
        self.test = test
        self.lanes = lanes
        self.shape = shape_of(test)
        self.code = Code()
        self.addresses = {
            name: uniform(_PARAMETERS + ADDRESSES + number)
            for number, name in enumerate(test.locations)
        }
        self.warmed = _PARAMETERS + self.shape.parameters
        self.first = self.warmed + min(len(test.locations), MOST_WARMED)
        if self.first + self.shape.results > MOST_REGISTERS:
            raise UnsupportedError(
                "more locations and registers than fit into a warp of the simulated machine"
            )
        self._check_barriers()

    def compile(self) -> Program:
        """The program."""
        code = self.code
        self._prologue()
        for index in range(len(self.test.threads)):
            self._thread(index)
        self._stress()
        if self.shape.watched:
            for number, members in enumerate(self.test.blocks.values()):
                self._watch(number, len(members))
        words = SCRATCHPAD_WORDS if self.shape.watched else 0
        return code.finish(self.test.name, self.test.name + ".litmus", self.lanes, words)

    # ---- prologue of every warp

    def _prologue(self) -> None:
        code, parameters = self.code, self.shape.parameters
        t0, t1 = uniform(_T0), uniform(_T1)
        code.emit("SPECIAL", uniform(_START), immediate=isa.SPECIALS["CLOCK"])
        code.emit("SPECIAL", t0, immediate=isa.SPECIALS["BLOCK_X"])
        code.emit("SPECIAL", t1, immediate=isa.SPECIALS["WARP"])
        code.emit("MUL", t0, t0, code.constant(self.shape.warps * parameters))
        code.emit("MUL", t1, t1, code.constant(parameters))
        code.emit("ADD", t0, t0, t1)
        for word in range(0, parameters, 4):
            if word:
                code.emit("ADD", t0, t0, code.constant(4))
            code.emit("LOAD", uniform(_PARAMETERS + word), t0, immediate=PARAMETERS, width=4)
        roles = self.shape.roles + 1 + len(self.test.blocks) * self.shape.watched
        for role in range(roles):
            code.emit("EQ", t0, uniform(_PARAMETERS + ROLE), code.constant(role))
            code.branch(t0, f"role{role}")
        code.emit("EXIT")

    def _elapsed(self, to: int) -> None:
        self.code.emit("SPECIAL", to, immediate=isa.SPECIALS["CLOCK"])
        self.code.emit("SUB", to, to, uniform(_START))

    def _sleep_until(self, parameter: int) -> None:
        code, t0 = self.code, uniform(_T0)
        self._elapsed(t0)
        code.emit("SUB", t0, uniform(_PARAMETERS + parameter), t0)
        code.emit("MAX", t0, t0, code.constant(0))
        code.emit("SLEEP", a=t0)

    def _longer_sleep(self, elapsed: int, to: int, least: int) -> None:
        """A pause that grows with the time waited, so that endless waits cost little to simulate."""
        code = self.code
        code.emit("SHR", to, elapsed, code.constant(12), type="U32")
        code.emit("SHL", to, to, code.constant(8))
        if least:
            code.emit("ADD", to, to, code.constant(least))
        code.emit("SLEEP", a=to)

    # ---- a litmus thread

    def _thread(self, index: int) -> None:
        code, thread = self.code, self.test.threads[index]
        self.index = index
        self.registers = {
            name: uniform(self.first + 1 + place) for name, place in places(thread).items()
        }
        self.hang = f"hang{index}"
        code.line = thread.code[0].line if thread.code else 0
        code.label(f"role{index}")
        for name, value in thread.initial.items():
            if value:
                wide = name in thread.wide
                operand = code.wide_constant(value) if wide else code.constant(value)
                self._move(self.registers[name], operand, wide)
        code.emit("MOVE", uniform(self.first), code.constant(ENDED))
        self._warm()
        self._sleep_until(BEGIN)
        loops: list[tuple[str, str]] = []
        for number, instruction in enumerate(thread.code):
            code.label(f"at{index}.{number}")
            code.line = instruction.line
            self._instruction(number, instruction, loops)
        code.label(f"at{index}.{len(thread.code)}")
        self._epilogue()
        for name, target in loops:
            self._loop(name, target)
        code.label(self.hang)
        code.emit("MOVE", uniform(self.first), code.constant(HUNG))
        code.jump(f"store{index}")

    def _warm(self) -> None:
        """Reads of variables before the test, so that copies are in caches or in flight."""
        code, t0 = self.code, uniform(_T0)
        flags = uniform(_PARAMETERS + FLAGS)
        self._sleep_until(WARM_AT)
        names = self.test.locations[:MOST_WARMED]
        for number, name in enumerate(names):
            past = code.fresh("cold")
            code.emit("AND", t0, flags, code.constant(1 << number))
            code.branch(t0, past, if_zero=True)
            code.emit("LOAD", uniform(self.warmed + number), self.addresses[name], immediate=MEMORY)
            code.label(past)
        past = code.fresh("unfinished")
        code.emit("AND", t0, flags, code.constant(1 << WAIT_FOR_WARM))
        code.branch(t0, past, if_zero=True)
        for number in range(len(names)):
            code.emit("MOVE", uniform(_T1), uniform(self.warmed + number))
        code.label(past)

    def _epilogue(self) -> None:
        code = self.code
        code.label(f"store{self.index}")
        for word in range(0, self.shape.results, 4):
            code.emit("ADD", uniform(_T0), uniform(_PARAMETERS + RESULT), code.constant(word))
            code.emit(
                "STORE", a=uniform(_T0), b=uniform(self.first + word), immediate=RESULTS, width=4
            )
        code.highest = max(code.highest, self.first + self.shape.results)
        if self.shape.watched:
            self._count(EXITED, "ADD")
        code.emit("EXIT")

    def _loop(self, name: str, target: str) -> None:
        """The backward branch of a loop: ends the thread at its time limit."""
        code, t0, t1 = self.code, uniform(_T0), uniform(_T1)
        code.label(name)
        self._elapsed(t0)
        code.emit("GT", t1, t0, code.constant(LIMIT), type="U32")
        code.branch(t1, self.hang)
        self._longer_sleep(t0, t1, 0)
        code.jump(target)

    # ---- instructions

    def _operand(self, value: Value, wide: bool = False) -> int:
        if isinstance(value, str):
            return self.registers[value]
        return self.code.wide_constant(value) if wide else self.code.constant(value)

    def _move(self, dest: int, source: int, wide: bool) -> None:
        for word in range(1 + wide):
            self.code.emit("MOVE", dest + word, source + word)

    def _address(self, item: Instruction) -> int:
        """The operand of an access's address."""
        code = self.code
        if item.location is None:
            return isa.OPERAND_NONE
        address = self.addresses[item.location]
        if item.index is not None:
            code.emit("ADD", uniform(_T0), address, self.registers[item.index])
            address = uniform(_T0)
        if item.word:
            code.emit("ADD", uniform(_T0), address, code.constant(item.word))
            address = uniform(_T0)
        return address

    def _instruction(self, number: int, item: Instruction, loops: list[tuple[str, str]]) -> None:
        code, wide = self.code, item.wide
        operands = [self._operand(value, wide) for value in item.values]
        dest = uniform(_T2 if wide else _DUMMY) if item.dest is None else self.registers[item.dest]
        if item.op in ("ld", "st", "atom"):
            self._access(item, dest, operands)
        elif item.op == "fence":
            code.emit("FENCE", order=item.order, scope=item.scope)
        elif item.op == "move":
            self._move(dest, operands[0], wide)
        elif item.op == "alu" and wide:
            self._extended(
                _WIDE_ARITHMETIC.get(item.function, f"{item.function}_B64"), dest, operands
            )
        elif item.op == "alu":
            code.emit(item.function, dest, *operands)
        elif item.op == "bar":
            self._barrier(item)
        else:
            target = f"at{self.index}.{item.target}"
            if item.target <= number:
                name = code.fresh("loop")
                loops.append((name, target))
                target = name
            if item.op == "jump":
                code.jump(target)
            else:
                if wide:
                    self._extended(_WIDE_COMPARE[item.function], uniform(_T0), operands)
                else:
                    code.emit(_COMPARE[item.function], uniform(_T0), *operands)
                code.branch(uniform(_T0), target)

    def _access(self, item: Instruction, dest: int, operands: list[int]) -> None:
        code, address, width = self.code, self._address(item), 1 + item.wide
        how = {"immediate": MEMORY, "order": item.order, "scope": item.scope, "width": width}
        if item.op == "ld":
            code.emit("LOAD", dest, address, **how)  # type: ignore[arg-type]
        elif item.op == "st":
            code.emit("STORE", a=address, b=operands[0], **how)  # type: ignore[arg-type]
        else:
            function, type = ("ADD", "F32") if item.function == "FADD" else (item.function, "I32")
            how |= {"flags": isa.ATOMICS[function] << isa.FLAG_ATOMIC_SHIFT, "type": type}
            code.emit("ATOMIC", dest, address, *operands, **how)  # type: ignore[arg-type]

    def _extended(self, name: str, dest: int, operands: list[int]) -> None:
        row = isa.EXTENDED[name]
        self.code.emit("EXTENDED", dest, *operands, immediate=row.number, width=row.d)

    # ---- barriers

    def _check_barriers(self) -> None:
        for members in self.test.blocks.values():
            counts: dict[Value, Value] = {}
            for index in members:
                for item in self.test.threads[index].code:
                    if item.op != "bar":
                        continue
                    name = item.values[0]
                    if isinstance(name, int) and not 0 <= name < BARRIERS:
                        raise UnsupportedError(
                            f"barrier {name}: out of range (allowed: 0 to {BARRIERS - 1})",
                            item.line,
                        )
                    count = item.values[1] if len(item.values) > 1 else len(members)
                    known = isinstance(count, int) and isinstance(name, int)
                    if known and counts.setdefault(name, count) != count:
                        raise UnsupportedError(
                            f"threads name different counts for barrier {name}", item.line
                        )

    def _count(self, base: int, function: str, index: int | None = None) -> None:
        code = self.code
        at = code.constant(0) if index is None else index
        flags = isa.ATOMICS[function] << isa.FLAG_ATOMIC_SHIFT
        code.emit("SHARED_ATOMIC", uniform(_T0), at, code.constant(1), immediate=base, flags=flags)

    def _barrier(self, item: Instruction) -> None:
        code = self.code
        op = "BARRIER" if item.function == "sync" else "BARRIER_ARRIVE"
        everyone = len(self.test.blocks[self.test.threads[self.index].block])
        name = self._operand(item.values[0])
        if not self.shape.watched:
            code.emit(op, a=name, b=code.constant(everyone * self.lanes))
            return
        t1, t2 = uniform(_T1), uniform(_T2)
        self._leave_if_released()
        if isinstance(item.values[0], str):
            code.emit("GE", t1, name, code.constant(BARRIERS), type="U32")
            code.branch(t1, self.hang)
        # A count that the block cannot reach is never complete.
        count = self._operand(item.values[1]) if len(item.values) > 1 else code.constant(everyone)
        code.emit("SUB", t1, count, code.constant(1))
        code.emit("GE", t1, t1, code.constant(everyone), type="U32")
        code.branch(t1, self.hang)
        code.emit("SHARED_STORE", a=name, b=count, immediate=COUNT)
        code.emit("MUL", t2, count, code.constant(self.lanes))
        live = len(item.values) == 1
        if live:
            self._count(ARRIVED, "ADD", name)
        if live and op == "BARRIER":
            self._count(WAITING, "ADD", name)
        code.emit(op, a=name, b=t2)
        if live and op == "BARRIER":
            self._count(WAITING, "SUB", name)
        self._leave_if_released()

    def _leave_if_released(self) -> None:
        code, t1 = self.code, uniform(_T1)
        code.emit("SHARED_LOAD", t1, code.constant(0), immediate=RELEASED)
        code.branch(t1, self.hang)

    def _watch(self, number: int, threads: int) -> None:
        """The warp that arrives for threads that have left, and ends waits that can never complete."""
        code = self.code
        t0, t1, t2, exited = uniform(_T0), uniform(_T1), uniform(_T2), uniform(_T3)
        loop, release = f"watch{number}", f"release{number}"
        code.label(f"role{self.shape.roles + 1 + number}")
        code.label(loop)
        code.emit("SHARED_LOAD", exited, code.constant(0), immediate=EXITED)
        code.emit("GE", t0, exited, code.constant(threads))
        code.branch(t0, "end")
        self._elapsed(t0)
        code.emit("GT", t0, t0, code.constant(LIMIT), type="U32")
        code.branch(t0, release)
        for name in range(BARRIERS):
            self._arrive_for_those_gone(name, threads)
        self._elapsed(t0)
        self._longer_sleep(t0, t1, 64)
        code.jump(loop)
        code.label(release)
        code.emit("SHARED_STORE", a=code.constant(0), b=code.constant(1), immediate=RELEASED)
        for name in range(BARRIERS):
            past = code.fresh("unused")
            code.emit("SHARED_LOAD", t1, code.constant(name), immediate=COUNT)
            code.branch(t1, past, if_zero=True)
            code.emit("MUL", t2, t1, code.constant(self.lanes))
            code.emit("BARRIER_ARRIVE", a=code.constant(name), b=t2)
            code.label(past)
        code.emit("SLEEP", a=code.constant(256))
        code.jump(loop)

    def _arrive_for_those_gone(self, name: int, threads: int) -> None:
        """Without a count a barrier waits for the live threads: the watch warp arrives for the others."""
        code = self.code
        t0, t1, t2, exited = uniform(_T0), uniform(_T1), uniform(_T2), uniform(_T3)
        past, again = code.fresh("past"), code.fresh("again")
        code.emit("SHARED_LOAD", t0, code.constant(name), immediate=WAITING)
        code.branch(t0, past, if_zero=True)
        code.emit("SUB", t1, code.constant(threads), exited)
        code.emit("EQ", t0, t0, t1)
        code.branch(t0, past, if_zero=True)
        code.emit("SHARED_LOAD", t2, code.constant(name), immediate=ARRIVED)
        code.emit("MOD", t2, t2, code.constant(threads))
        code.emit("GE", t0, t2, t1)
        code.branch(t0, past, if_zero=True)
        code.label(again)
        code.branch(t2, past, if_zero=True)
        self._count(ARRIVED, "ADD", code.constant(name))
        code.emit("BARRIER_ARRIVE", a=code.constant(name), b=code.constant(threads * self.lanes))
        code.emit("ADD", t2, t2, code.constant(1))
        code.emit("MOD", t2, t2, code.constant(threads))
        code.jump(again)
        code.label(past)

    # ---- stress

    def _stress(self) -> None:
        code = self.code
        code.label(f"role{self.shape.roles}")
        self._sleep_until(BEGIN)
        left, pause = uniform(_PARAMETERS + ITERATIONS), uniform(_PARAMETERS + PAUSE)
        at = [uniform(_PARAMETERS + ADDRESSES + number) for number in range(STRESS_ADDRESSES)]
        code.label("stress")
        code.branch(left, "end", if_zero=True)
        code.emit("LOAD", uniform(_T1), at[0], immediate=MEMORY)
        code.emit("STORE", a=at[1], b=left, immediate=MEMORY)
        code.emit("LOAD", uniform(_T2), at[2], immediate=MEMORY)
        code.emit(
            "ATOMIC", uniform(_T3), at[3], code.constant(1), immediate=MEMORY, order="RELAXED"
        )
        code.emit("SUB", left, left, code.constant(1))
        code.emit("SLEEP", a=pause)
        code.jump("stress")
