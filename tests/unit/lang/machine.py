"""A plain executor of the instruction set, as csrc/core/isa.h specifies it: no caches, no timing, NumPy words.

An oracle independent of the C core and of the compiler's own folding. All warps of all blocks are resident; each issues
one instruction in turn, so that spinning on what another warp writes ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from gpucoh.lang import isa
from gpucoh.lang.program import Program

U32, I32, F32 = np.uint32, np.int32, np.float32
VIEW = {0: I32, 1: U32, 2: F32}


class MachineError(Exception):
    """What the core would report."""


@dataclass
class Op:
    """One decoded instruction."""

    name: str
    type: int
    order: str
    scope: str
    flags: int
    d: int
    a: int
    b: int
    c: int
    immediate: int
    target: int
    join: int
    line: int
    file: int
    width: int
    bytes: int

    def elements(self, memory: np.ndarray) -> np.ndarray:
        """Memory as the operation's elements, if they are narrower than words."""
        signed = "i" if self.type == 0 else "u"
        return memory.view(f"{signed}{self.bytes}") if self.bytes else memory

    def extended(self, elements: np.ndarray) -> np.ndarray:
        """Elements as words."""
        return elements.astype(VIEW[self.type]).view(U32) if self.bytes else elements


def decode(program: Program) -> list[Op]:
    ops = []
    for f in isa.PACKING.iter_unpack(program.code):
        opcode, type_, order, scope, width, size, *rest = f
        name = isa.OPCODE_NAMES[opcode]
        assert width == 1 or (name in ("LOAD", "STORE") and size == 0)
        assert size == 0 or name in ("LOAD", "STORE", "SHARED_LOAD", "SHARED_STORE")
        order_name, scope_name = isa.ORDER_NAMES[order], isa.SCOPE_NAMES[scope]
        ops.append(Op(isa.OPCODE_NAMES[opcode], type_, order_name, scope_name, *rest, width, size))
    return ops


@dataclass
class Block:
    index: tuple[int, int, int]
    shared: np.ndarray
    threads: int
    arrived: dict[int, int] = field(default_factory=dict)
    generation: dict[int, int] = field(default_factory=dict)
    uncounted: set[int] = field(default_factory=set)  # barriers that wait for all that are alive
    alive: int = 0


class Warp:
    def __init__(self, machine: Machine, block: Block, number: int, lanes: int) -> None:
        program = machine.program
        self.block, self.number, self.lanes = block, number, lanes
        self.vector = np.full((max(program.vector_registers, 1), lanes), 0xDEADBEEF, U32)
        self.uniform = np.full(max(program.uniform_registers, 1), 0xBADC0DE5, U32)
        flat = np.arange(number * lanes, (number + 1) * lanes)
        alive = flat < block.threads
        x, y, _ = machine.block_dim
        self.thread = (flat % x, flat // x % y, flat // (x * y))
        self.stack: list[list] = [[0, None, alive]]  # pc, join, lanes
        self.waits: tuple[int, int] | None = None
        self.done = False


class Machine:
    """Runs one launch to its end."""

    def __init__(
        self,
        program: Program,
        grid=1,
        block=32,
        args=(),
        budget: int = 2_000_000,
        shared: int | None = None,
    ) -> None:
        program = program.with_shared(shared)
        self.program, self.ops = program, decode(program)
        self.grid = tuple(np.atleast_1d(grid).tolist()) + (1,) * (3 - np.size(grid))
        self.block_dim = tuple(np.atleast_1d(block).tolist()) + (1,) * (3 - np.size(block))
        constants, buffers = program.bind(args)
        self.constants = constants
        self.readonly = [p.readonly for p in program.parameters if p.kind == "buffer"]
        flat = [np.asarray(b).reshape(-1) for b in buffers]
        self.buffers = [b.view(U32) if b.itemsize == 4 else b for b in flat]
        for parameter, buffer in zip(
            [p for p in program.parameters if p.kind == "buffer"], buffers, strict=True
        ):
            assert buffer.dtype == parameter.type.numpy, parameter.name
        self.budget, self.issued = budget, 0
        self.trace: list[Op] = []
        self.prints: list[tuple[int, int, int, int]] = []

    def run(self) -> Machine:
        lanes = self.program.lanes
        threads = int(np.prod(self.block_dim))
        warps: list[Warp] = []
        for z in range(self.grid[2]):
            for y in range(self.grid[1]):
                for x in range(self.grid[0]):
                    block = Block(
                        (x, y, z), np.zeros(max(self.program.shared_words, 1), U32), threads
                    )
                    count = -(-threads // lanes)
                    block.alive = threads
                    warps += [Warp(self, block, k, lanes) for k in range(count)]
        while warps:
            progress = False
            for warp in warps:
                if warp.waits is None:
                    self.issue(warp)
                    progress = True
                elif warp.block.generation.get(warp.waits[0], 0) != warp.waits[1]:
                    warp.waits = None
                    progress = True
            warps = [warp for warp in warps if not warp.done]
            if not progress:
                raise MachineError("deadlock at a barrier")
        return self

    # ---- operands

    def read(self, warp: Warp, operand: int) -> np.ndarray:
        kind, number = operand & isa.OPERAND_KIND, operand & isa.OPERAND_NUMBER
        assert operand != isa.OPERAND_NONE
        if kind == isa.OPERAND_VECTOR:
            return warp.vector[number].copy()
        word = warp.uniform[number] if kind == isa.OPERAND_UNIFORM else self.constants[number]
        return np.full(warp.lanes, word, U32)

    def write(self, warp: Warp, operand: int, words: np.ndarray, mask: np.ndarray) -> None:
        kind, number = operand & isa.OPERAND_KIND, operand & isa.OPERAND_NUMBER
        words = (
            np.asarray(words).astype(U32)
            if words.dtype == bool
            else np.ascontiguousarray(words).view(U32)
        )
        if kind == isa.OPERAND_VECTOR:
            warp.vector[number][mask] = words[mask]
        else:
            assert kind == isa.OPERAND_UNIFORM
            values = set(words[mask].tolist())
            assert len(values) == 1, "a uniform destination got different words"
            warp.uniform[number] = values.pop()

    def check_uniform(self, op: Op) -> None:
        """As the core validates: a uniform destination has no vector sources, votes apart."""
        if op.d == isa.OPERAND_NONE or op.d & isa.OPERAND_KIND != isa.OPERAND_UNIFORM:
            return
        if op.name in ("ANY", "ALL", "BALLOT", "REDUCE"):
            return
        assert op.name not in (
            "SHUFFLE",
            "MATCH",
            "LOCAL_LOAD",
            "LANES",
            "ATOMIC",
            "LOAD",
            "SHARED_LOAD",
            "SHARED_ATOMIC",
        )
        for operand in (op.a, op.b, op.c):
            assert (
                operand == isa.OPERAND_NONE or operand & isa.OPERAND_KIND != isa.OPERAND_VECTOR
            ), op

    # ---- control

    def issue(self, warp: Warp) -> None:
        stack = warp.stack
        while stack and (stack[-1][0] == stack[-1][1] or not stack[-1][2].any()):
            stack.pop()
        if not stack:
            warp.done = True
            return
        pc, _, mask = stack[-1]
        assert pc < len(self.ops), "fell off the end of the program"
        op = self.ops[pc]
        self.issued += 1
        if self.issued > self.budget:
            raise MachineError("budget")
        self.check_uniform(op)
        stack[-1][0] = pc + 1
        if op.name == "JUMP":
            stack[-1][0] = op.target
        elif op.name == "BRANCH":
            self.branch(warp, op, mask, pc)
        elif op.name == "EXIT":
            for entry in stack:
                entry[2] = entry[2] & ~mask
            warp.block.alive -= int(mask.sum())
            for number in warp.block.uncounted:
                self.complete(warp.block, number, warp.block.alive)
        elif op.name in ("BARRIER", "BARRIER_ARRIVE"):
            self.barrier(warp, op)
        else:
            with np.errstate(all="ignore"):
                self.execute(warp, op, mask)

    def branch(self, warp: Warp, op: Op, mask: np.ndarray, pc: int) -> None:
        test = self.read(warp, op.a) != 0
        if op.flags & isa.FLAG_IF_ZERO:
            test = ~test
        taken, stay = mask & test, mask & ~test
        top = warp.stack[-1]
        assert op.join < len(self.ops)
        if not taken.any():
            return
        if not stay.any():
            top[0] = op.target
            return
        assert op.a & isa.OPERAND_KIND == isa.OPERAND_VECTOR
        top[0] = op.join
        warp.stack.append([pc + 1, op.join, stay])
        warp.stack.append([op.target, op.join, taken])

    def barrier(self, warp: Warp, op: Op) -> None:
        for operand in (op.a, op.b):
            assert operand == isa.OPERAND_NONE or operand & isa.OPERAND_KIND != isa.OPERAND_VECTOR
        block = warp.block
        number = int(self.read(warp, op.a)[0])
        if op.b == isa.OPERAND_NONE:
            count, arrived = block.alive, int(warp.stack[-1][2].sum())
            block.uncounted.add(number)
        else:
            count, arrived = int(self.read(warp, op.b)[0]), warp.lanes
            block.uncounted.discard(number)
        block.arrived[number] = block.arrived.get(number, 0) + arrived
        generation = block.generation.setdefault(number, 0)
        if op.name == "BARRIER":
            warp.waits = (number, generation)
        self.complete(block, number, count)

    def complete(self, block: Block, number: int, count: int) -> None:
        if 0 < block.arrived.get(number, 0) >= count:
            block.arrived[number] = 0
            block.generation[number] += 1

    # ---- the rest

    def execute(self, warp: Warp, op: Op, mask: np.ndarray) -> None:
        name = op.name
        if name == "ASSERT":
            if not (self.read(warp, op.a) != 0)[mask].all():
                raise MachineError(f"assertion {op.immediate}, line {op.line}")
        elif name == "PRINT":
            number = np.ravel_multi_index(warp.block.index[::-1], self.grid[::-1])
            for lane in np.flatnonzero(mask):
                thread = warp.number * warp.lanes + lane
                self.prints.append((op.immediate, number, thread, self.read(warp, op.a)[lane]))
        elif name in ("NOP", "FENCE", "SLEEP"):
            if name == "SLEEP":
                self.read(warp, op.a)
        elif name == "SPECIAL":
            self.write(warp, op.d, self.special(warp, op.immediate), mask)
        elif name in ("LOAD", "STORE", "ATOMIC"):
            self.memory(warp, op, mask)
        elif name.startswith("SHARED"):
            self.scratchpad(warp, op, mask)
        elif name.startswith("LOCAL"):
            self.local(warp, op, mask)
        elif name in ("ANY", "ALL", "BALLOT"):
            test = (self.read(warp, op.a) != 0) & mask
            if name == "BALLOT":
                low = 32 if op.flags & isa.FLAG_HIGH else 0
                word = sum(1 << k for k in range(32) if low + k < warp.lanes and test[low + k])
            else:
                word = int(test.any()) if name == "ANY" else int(test[mask].all())
            self.write(warp, op.d, np.full(warp.lanes, word, U32), mask)
        elif name == "MATCH":
            low, words = 32 if op.flags & isa.FLAG_HIGH else 0, self.read(warp, op.a)
            same = [(words == word) & mask for word in words]
            bits = [
                sum(1 << k for k in range(32) if low + k < warp.lanes and row[low + k])
                for row in same
            ]
            self.write(warp, op.d, np.array(bits, np.uint64).astype(U32), mask)
        elif name == "REDUCE":
            active = self.read(warp, op.a)[mask]
            joined = active[:1]
            atomic = isa.ATOMIC_NAMES[op.flags >> isa.FLAG_ATOMIC_SHIFT]
            for k in range(1, len(active)):
                joined = arithmetic(replace(op, name=atomic), [joined, active[k : k + 1]])
                joined = np.ascontiguousarray(joined).view(U32)
            self.write(warp, op.d, np.full(warp.lanes, joined[0], U32), mask)
        elif name == "SHUFFLE":
            lane = self.read(warp, op.b) % U32(warp.lanes)
            self.write(warp, op.d, self.read(warp, op.a)[lane], mask)
        else:
            sources = [self.read(warp, x) for x in (op.a, op.b, op.c) if x != isa.OPERAND_NONE]
            self.write(warp, op.d, arithmetic(op, sources), mask)

    def special(self, warp: Warp, number: int) -> np.ndarray:
        name = isa.SPECIAL_NAMES[number]
        axis = "XYZ".find(name[-1])
        if name.startswith("THREAD"):
            return warp.thread[axis].astype(U32)
        if name == "LANE":
            return np.arange(warp.lanes, dtype=U32)
        word = {
            "BLOCK_DIM": lambda: self.block_dim[axis], "GRID_DIM": lambda: self.grid[axis],
            "BLOCK": lambda: warp.block.index[axis], "WARP": lambda: warp.number, "CORE": lambda: 0,
            "CLOCK": lambda: self.issued,
        }[name[:-2] if axis >= 0 and name[-2] == "_" else name]()  # fmt: skip
        return np.full(warp.lanes, word, U32)

    def bounded(
        self, warp: Warp, op: Op, index: np.ndarray, mask: np.ndarray, length: int, what: str
    ) -> None:
        for lane in np.flatnonzero(mask):
            word = int(index[lane]) if op.type >= 0 else 0
            if not 0 <= word < length:
                raise MachineError(f"{what}: index {word} of {length}, line {op.line}")

    def memory(self, warp: Warp, op: Op, mask: np.ndarray) -> None:
        buffer = self.buffers[op.immediate]
        index = self.read(warp, op.a)
        assert buffer.itemsize == (op.bytes or 4)
        last = len(buffer) - op.width + 1
        self.bounded(warp, op, index, mask, last, self.program.buffers[op.immediate])
        if (index[mask] % op.width).any():
            raise MachineError(f"misaligned, line {op.line}")
        self.trace.append(op)
        if op.name == "LOAD":
            for k in range(op.width):
                words = np.zeros(warp.lanes, U32)
                words[mask] = op.extended(buffer[index[mask] + k])
                self.write(warp, op.d + k, words, mask)
            return
        assert not self.readonly[op.immediate]
        if op.name == "STORE":
            parts = [self.read(warp, op.b + k) for k in range(op.width)]
            for lane in np.flatnonzero(mask):
                for k, words in enumerate(parts):
                    buffer[index[lane] + k] = words[lane : lane + 1].astype(buffer.dtype)[0]
            return
        self.atomic(warp, op, mask, buffer, index)

    def atomic(
        self, warp: Warp, op: Op, mask: np.ndarray, memory: np.ndarray, index: np.ndarray
    ) -> None:
        kind = isa.ATOMIC_NAMES[op.flags >> isa.FLAG_ATOMIC_SHIFT]
        operand = self.read(warp, op.b)
        new = self.read(warp, op.c) if kind == "CAS" else operand
        old = np.zeros(warp.lanes, U32)
        view = VIEW[op.type]
        for lane in np.flatnonzero(mask):
            at = index[lane]
            old[lane] = memory[at]
            a, b = memory[at : at + 1].view(view)[0], operand[lane : lane + 1].view(view)[0]
            exchange = new[lane : lane + 1].view(view)[0]
            result = combine(kind, a, b, exchange)
            memory[at] = np.array([result], view).view(U32)[0]
        if op.d != isa.OPERAND_NONE:
            self.write(warp, op.d, old, mask)

    def scratchpad_index(self, warp: Warp, op: Op) -> np.ndarray:
        return self.read(warp, op.a) + U32(0 if op.name == "SHARED_ATOMIC" else op.target)

    def scratchpad(self, warp: Warp, op: Op, mask: np.ndarray) -> None:
        index = self.scratchpad_index(warp, op)
        memory = warp.block.shared
        bound = {"SHARED_LOAD": op.b, "SHARED_STORE": op.c}.get(op.name, isa.OPERAND_NONE)
        if op.bytes:
            self.narrow_scratchpad(warp, op, mask, op.elements(memory[op.immediate :]))
            return
        words = len(memory) - op.immediate
        if bound != isa.OPERAND_NONE:
            words = int(self.read(warp, bound)[0])
        elif op.name == "SHARED_ATOMIC" and op.target:
            words = op.target
        self.bounded(warp, op, index, mask, words, "scratchpad")
        at = np.where(mask, index, 0) + U32(op.immediate)
        if op.name == "SHARED_LOAD":
            self.write(warp, op.d, memory[np.minimum(at, len(memory) - 1)], mask)
        elif op.name == "SHARED_STORE":
            for lane in np.flatnonzero(mask):
                memory[at[lane]] = self.read(warp, op.b)[lane]
        else:
            self.atomic(warp, op, mask, memory, at)

    def narrow_scratchpad(self, warp: Warp, op: Op, mask: np.ndarray, elements: np.ndarray) -> None:
        index = self.scratchpad_index(warp, op)
        length = int(self.read(warp, op.b if op.name == "SHARED_LOAD" else op.c)[0])
        self.bounded(warp, op, index, mask, min(length, len(elements)), "scratchpad")
        if op.name == "SHARED_LOAD":
            words = np.zeros(warp.lanes, U32)
            words[mask] = op.extended(elements[index[mask]])
            self.write(warp, op.d, words, mask)
            return
        for lane, word in enumerate(self.read(warp, op.b)):
            if mask[lane]:
                elements[index[lane]] = np.array([word]).astype(elements.dtype)[0]

    def local(self, warp: Warp, op: Op, mask: np.ndarray) -> None:
        index = self.read(warp, op.a)
        words = int(self.read(warp, op.b if op.name == "LOCAL_LOAD" else op.c)[0])
        self.bounded(warp, op, index, mask, words, "local array")
        lanes = np.arange(warp.lanes)
        at = np.where(mask, index, 0) + U32(op.immediate)
        if op.name == "LOCAL_LOAD":
            self.write(warp, op.d, warp.vector[at, lanes], mask)
        else:
            warp.vector[at[mask], lanes[mask]] = self.read(warp, op.b)[mask]


def combine(kind: str, a, b, new):
    """What an atomic leaves in memory."""
    if kind == "CAS":
        return new if a == b else a
    if kind in ("MIN", "MAX") and isinstance(a, F32):
        numbers = [x for x in (a, b) if not np.isnan(x)] or [a]
        return (min if kind == "MIN" else max)(numbers, key=lambda x: (x, not np.signbit(x)))
    return {
        "ADD": lambda: a + b, "SUB": lambda: a - b, "MIN": lambda: min(a, b), "MAX": lambda: max(a, b),
        "AND": lambda: a & b, "OR": lambda: a | b, "XOR": lambda: a ^ b, "EXCH": lambda: b,
    }[kind]()  # fmt: skip


def arithmetic(op: Op, s: list[np.ndarray]) -> np.ndarray:
    """Lane by lane where it is subtle, by NumPy where it is not."""
    name = op.name
    if name == "MOVE":
        return s[0]
    if name == "SELECT":
        return np.where(s[0] != 0, s[1], s[2])
    if name == "EXTENDED":
        return np.array([COUNTS[op.immediate](int(word)) for word in s[0]], U32)
    v = [x.view(VIEW[op.type]) for x in s]
    if name == "CONVERT":
        return convert(v[0], op.type, op.flags & isa.FLAG_TO_MASK)
    compare = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
               "GE": np.greater_equal}  # fmt: skip
    if name in compare:
        return compare[name](v[0], v[1])
    simple = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "AND": np.bitwise_and, "OR": np.bitwise_or,
              "XOR": np.bitwise_xor, "NOT": np.invert, "NEG": np.negative, "ABS": np.abs, "SQRT": np.sqrt,
              "FLOOR": np.floor, "CEIL": np.ceil, "ROUND": np.rint, "TRUNC": np.trunc}  # fmt: skip
    if name in ("SHL", "SHR"):
        out = [shift(name, int(a), int(c), op.type) for a, c in zip(v[0], s[1], strict=True)]
        return np.array(out, np.int64).astype(U32)
    if name == "MULHI":
        pairs = zip(v[0].tolist(), v[1].tolist(), strict=True)
        return np.array([(a * b >> 32) & 0xFFFFFFFF for a, b in pairs], np.uint64).astype(U32)
    if name == "FMA":
        return np.array([fused(*row) for row in zip(*v, strict=True)], F32)
    if name in DOUBLE:
        return DOUBLE[name](*(x.astype(np.float64) for x in v)).astype(F32)
    if name in ("MIN", "MAX"):
        if op.type == 2:
            return (np.fmin if name == "MIN" else np.fmax)(v[0], v[1])
        return (np.minimum if name == "MIN" else np.maximum)(v[0], v[1])
    if op.type == 2 and name in ("DIV", "FLOORDIV", "MOD"):
        return {"DIV": np.divide, "FLOORDIV": np.floor_divide, "MOD": np.remainder}[name](
            v[0], v[1]
        )
    if name in ("DIV", "FLOORDIV", "MOD"):
        pairs = zip(v[0].tolist(), v[1].tolist(), strict=True)
        out = [0 if b == 0 else (a % b if name == "MOD" else a // b) & 0xFFFFFFFF for a, b in pairs]
        return np.array([word & 0xFFFFFFFF for word in out], np.int64).astype(U32)
    return simple[name](*v)


#: Rows of extended.def that kernels of words use.
COUNTS = {
    isa.EXTENDED["POPC_B32"].number: int.bit_count,
    isa.EXTENDED["CLZ_B32"].number: lambda word: 32 - word.bit_length(),
}
#: Functions that the machine computes in double precision.
DOUBLE = {
    "EXP": np.exp, "LOG": np.log, "SIN": np.sin, "COS": np.cos, "TAN": np.tan, "TANH": np.tanh,
    "POW": np.power, "RSQRT": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


def fused(a: F32, b: F32, c: F32) -> F32:
    """a * b + c rounded once: an exact sum, and the nearest of the f32 around the rounded one."""
    near = F32(np.float64(a) * np.float64(b) + np.float64(c))
    if not np.isfinite([a, b, c, near]).all():
        return near
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    around = [near, np.nextafter(near, F32(-np.inf)), np.nextafter(near, F32(np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(U32)) & 1))


def shift(name: str, a: int, count: int, type_: int) -> int:
    if name == "SHL":
        return (a << min(count, 40)) & 0xFFFFFFFF
    return (a >> min(count, 40)) & 0xFFFFFFFF


def convert(v: np.ndarray, source: int, to: int) -> np.ndarray:
    if source != 2:
        return v.astype(F32) if to == 2 else v
    if to == 2:
        return v
    low, high = (0, 2**32 - 1) if to == 1 else (-(2**31), 2**31 - 1)
    out = [0 if np.isnan(x) else int(max(low, min(high, float(x)))) & 0xFFFFFFFF for x in v]
    return np.array(out, np.int64).astype(U32)


def run(kernel, grid=1, block=32, args=(), lanes: int = 32, **options) -> Machine:
    """Compile and run; arrays among ``args`` are changed in place."""
    return Machine(kernel.compile(lanes), grid, block, args, **options).run()
