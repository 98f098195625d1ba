"""Assembly of machine code from the intermediate form: block order, operands, constants, packing; and disassembly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpucoh.base.errors import KernelError
from gpucoh.lang import allocate, flow, isa, uniform
from gpucoh.lang.ir import (
    Argument,
    Block,
    Branch,
    Constant,
    Exit,
    Function,
    Groups,
    Instruction,
    Jump,
    LocalArray,
    Operand,
    Place,
    Register,
    operand_words,
)
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.types import I32

MAX_VECTOR_REGISTERS = 255
MAX_UNIFORM_REGISTERS = 255
MAX_LINE = 0xFFFF


@dataclass
class Encoded:
    """One machine instruction before packing; targets are blocks (None: the end of the program)."""

    op: str
    place: Place
    type: int = 0
    order: str = "WEAK"
    scope: str = "GPU"
    flags: int = 0
    destination: int = isa.OPERAND_NONE
    a: int = isa.OPERAND_NONE
    b: int = isa.OPERAND_NONE
    c: int = isa.OPERAND_NONE
    immediate: int = 0
    target: Block | None = None
    join: Block | None = None
    bound: int = 0  # or the offset of an index: encoded in the field of the target
    width: int = 1
    bytes: int = 0  # of elements below the word


class Assembler:
    """Turns one optimised function into a program."""

    def __init__(
        self,
        function: Function,
        units: Sequence[SourceUnit],
        parameters: Sequence[Parameter],
        lanes: int,
    ) -> None:
        self.function = function
        self.units = units
        self.parameters = tuple(parameters)
        self.lanes = lanes
        self.bank: list[int | str] = []
        self.constants: dict[int | str, int] = {}  # the first place of each in the bank
        self.output: list[Encoded] = []
        self.starts: dict[Block, int] = {}
        self.place: Place = (0, 0)  # of the instruction that is being encoded

    def assemble(self) -> Program:
        """The program."""
        gather_words(self.function)
        self.joins = flow.reconvergence(self.function)
        self.uniform = (
            set()  # lanes are in different places of the program, and a warp's register has one value
            if self.function.independent_lanes
            else uniform.analyse(self.function, self.joins)
        )
        self._check_barriers()
        vector_registers = self._allocate()
        self._emit_blocks()
        return Program(
            name=self.function.name,
            lanes=self.lanes,
            code=self._pack(),
            vector_registers=vector_registers,
            uniform_registers=self.uniform_registers,
            shared_words=self.function.shared_words,
            constants=tuple(self.bank),
            parameters=self.parameters,
            buffers=tuple(p.name for p in self.parameters if p.kind == "buffer"),
            reports=tuple(self.function.reports),
            needs_all_blocks=self.function.needs_all_blocks,
            lanes_needed=self.function.lanes_needed,
            independent_lanes=self.function.independent_lanes,
            dynamic_shared=0 if self.function.dynamic_shared else None,
            dynamic_type=self.function.dynamic_shared or I32,
            files=tuple((unit.filename, unit.first_line) for unit in self.units),
        )

    def _fail(self, place: Place, message: str) -> KernelError:
        unit = self.units[place[0]]
        line = unit.first_line + place[1]
        return KernelError(
            f"{unit.filename}:{line}: kernel '{self.function.name}': {message}", unit.filename, line
        )

    def _check_barriers(self) -> None:
        if self.function.independent_lanes:
            return  # the core compares the lanes' values
        for block in self.function.blocks:
            for instruction in block.instructions:
                if (
                    instruction.op in ("BARRIER", "BARRIER_ARRIVE")
                    and not set(instruction.used()) <= self.uniform
                ):
                    raise self._fail(
                        instruction.place,
                        "id and count of a barrier must be the same for all threads of a warp: use constants, "
                        "arguments, block_id() or warp_id(), computed outside of divergent branches",
                    )

    # ---- registers ------------------------------------------------------------------------------

    def _allocate(self) -> int:
        function = self.function
        definitions = set(function.definitions())
        arrays: dict[LocalArray, None] = {}
        for block in function.blocks:
            arrays.update({i.array: None for i in block.instructions if i.array is not None})
        first = 0
        for array in arrays:
            array.base = first
            first += array.words
        vectors = definitions - self.uniform
        live = flow.Liveness(function, vectors.__contains__)
        self.numbers, highest = allocate.colour(function, vectors, live, first)
        warp = allocate.warp_successors(function, self.joins)
        live = flow.Liveness(function, self.uniform.__contains__, warp)
        numbers, self.uniform_registers = allocate.colour(function, self.uniform, live, 0)
        self.numbers |= numbers
        most = isa.OPERAND_NUMBER if function.independent_lanes else MAX_VECTOR_REGISTERS
        if highest > most or self.uniform_registers > MAX_UNIFORM_REGISTERS:
            raise self._fail(
                (0, 0),
                f"needs {highest} registers per thread (allowed: up to {most}): "
                "use fewer variables at a time, smaller local arrays, or shared(...)",
            )
        return highest

    def _operand(self, operand: Operand | None) -> int:
        if operand is None:
            return isa.OPERAND_NONE
        if isinstance(operand, Register):
            kind = isa.OPERAND_UNIFORM if operand in self.uniform else isa.OPERAND_VECTOR
            return kind | self.numbers[operand]
        return isa.OPERAND_CONSTANT | self._constants((_key(operand),))

    def _constants(self, keys: tuple[int | str, ...]) -> int:
        """The place of constants that follow one another."""
        at = self.constants.get(keys[0], len(self.bank))
        if tuple(self.bank[at : at + len(keys)]) != keys:
            at = len(self.bank)
            if at + len(keys) > isa.OPERAND_NUMBER:
                raise self._fail(
                    self.place,
                    f"more than {isa.OPERAND_NUMBER} constants and words of parameters: put tables into a buffer, "
                    "or split the kernel",
                )
            for key in keys:
                self.constants.setdefault(key, len(self.bank))
                self.bank.append(key)
        return at

    def _field(self, words: list[Operand | None]) -> int:
        """An operand of one or several words, which :func:`gather_words` has made adjacent."""
        if len(words) < 2 or isinstance(words[0], Register):
            return self._operand(words[0])
        return isa.OPERAND_CONSTANT | self._constants(tuple(map(_key, words)))

    # ---- instructions ---------------------------------------------------------------------------

    def _emit_blocks(self) -> None:
        blocks = self.function.blocks
        for k, block in enumerate(blocks):
            self.starts[block] = len(self.output)
            for instruction in block.instructions:
                self._emit(instruction)
            self._emit_end(block, blocks[k + 1] if k + 1 < len(blocks) else None)
        # Branches without a reconvergence point join here; it also follows loops that never end.
        self.end = len(self.output)
        if self.output and self.output[-1].op == "EXIT":
            self.end -= 1
        else:
            self.output.append(Encoded("EXIT", (0, 0)))

    def _emit(self, instruction: Instruction) -> None:
        self.place = instruction.place
        array, index = instruction.array, instruction.sources[0] if instruction.sources else None
        if array is not None and isinstance(index, Constant) and index.bits < array.words:
            self._emit_fixed_local(instruction)
            return
        counts = operand_words(instruction)
        a, b, c = (*self._fields(instruction, counts), *[isa.OPERAND_NONE] * 3)[:3]
        width = 1 + len(instruction.more)
        if instruction.op in ("STORE", "ATOMIC", "SHARED_STORE", "SHARED_ATOMIC"):
            width = counts[1]
        destination = self._operand(instruction.dest)
        if instruction.op == "MOVE" and a == destination:
            return
        self.output.append(
            Encoded(
                instruction.op,
                instruction.place,
                instruction.type.code,
                instruction.order,
                instruction.scope,
                instruction.flags,
                destination,
                a,
                b,
                c,
                instruction.array.base if instruction.array else instruction.immediate,
                bound=instruction.bound or instruction.offset,
                width=width,
                bytes=instruction.type.bytes % 4,
            )
        )

    def _fields(self, instruction: Instruction, counts: list[int]) -> list[int]:
        found, first = [], 0
        for count in counts:
            found.append(self._field(instruction.sources[first : first + count]))
            first += count
        return found

    def _emit_fixed_local(self, instruction: Instruction) -> None:
        """An access to a local array at a constant index is a move."""
        index, array = instruction.sources[0], instruction.array
        assert isinstance(index, Constant)
        assert array is not None
        element = isa.OPERAND_VECTOR | (array.base + index.bits)
        if instruction.op == "LOCAL_LOAD":
            destination, source = self._operand(instruction.dest), element
        else:
            destination, source = element, self._operand(instruction.sources[1])
        self.output.append(
            Encoded(
                "MOVE", instruction.place, instruction.type.code, destination=destination, a=source
            )
        )

    def _emit_end(self, block: Block, following: Block | None) -> None:
        terminator = block.terminator
        if isinstance(terminator, Exit):
            self.output.append(Encoded("EXIT", terminator.place))
        elif isinstance(terminator, Jump):
            if terminator.target is not following:
                self.output.append(Encoded("JUMP", terminator.place, target=terminator.target))
        elif isinstance(terminator, Branch):
            to, other, flags = terminator.if_true, terminator.if_false, 0
            if to is following:
                to, other, flags = other, to, isa.FLAG_IF_ZERO
            condition = self._operand(terminator.condition)
            join = self.joins[block]
            self.output.append(
                Encoded("BRANCH", terminator.place, flags=flags, a=condition, target=to, join=join)
            )
            if other is not following:
                self.output.append(Encoded("JUMP", terminator.place, target=other))

    def _pack(self) -> bytes:
        packed = bytearray()
        for item in self.output:
            target = self.starts[item.target] if item.target is not None else item.bound
            join = (
                (self.starts[item.join] if item.join is not None else self.end)
                if item.op == "BRANCH"
                else 0
            )
            file, line = item.place
            packed += isa.PACKING.pack(
                isa.OPCODES[item.op], item.type, isa.ORDERS[item.order], isa.SCOPES[item.scope], item.width, item.bytes,
                item.flags, item.destination, item.a, item.b, item.c, item.immediate, target, join,
                min(line, MAX_LINE), file,
            )  # fmt: skip
        return bytes(packed)


def _key(operand: Operand | None) -> int | str:
    assert isinstance(operand, (Constant, Argument))
    return operand.name if isinstance(operand, Argument) else operand.bits


def gather_words(function: Function) -> None:
    """Make the words of every operand and result neighbours; the allocator makes most copies superfluous.

    A buffer's stored words are always copied, other words unless they are so already.
    """
    groups = Groups(function)
    for block in function.blocks:
        gathered: list[Instruction] = []
        for instruction in block.instructions:
            place, type, first = instruction.place, instruction.type.loaded, 0
            for count in operand_words(instruction):
                words = instruction.sources[first : first + count]
                copies = instruction.op == "STORE" and not instruction.flags & isa.FLAG_FLAT
                if count > 1 and (copies or not groups.adjacent(words)):
                    group = tuple(function.new_register() for _ in words)
                    gathered += [
                        Instruction("MOVE", type, register, [word], place)
                        for register, word in zip(group, words, strict=True)
                    ]
                    function.groups.append(group)
                    instruction.sources[first : first + count] = group
                first += count
            gathered.append(instruction)
            results = instruction.defined
            if len(results) > 1 and not groups.adjacent(results):
                group = tuple(function.new_register() for _ in results)
                function.groups.append(group)
                instruction.dest, instruction.more = group[0], group[1:]
                gathered += [
                    Instruction("MOVE", type, register, [word], place)
                    for register, word in zip(results, group, strict=True)
                ]
        block.instructions = gathered


def _rounding(flags: int) -> str:
    """The flags of an extended instruction as text: "rz.ftz"."""
    modes = {bits: mode.lower() for mode, bits in isa.ROUNDINGS.items()}
    parts = [modes[flags & isa.FLAG_ROUND_MASK]] if flags & isa.FLAG_ROUND_MASK else []
    parts += ["ftz"] * bool(flags & isa.FLAG_FTZ) + ["sat"] * bool(flags & isa.FLAG_SAT)
    return ".".join(parts)


def _operand(program: Program, bits: int, words: int) -> str:
    number = bits & isa.OPERAND_NUMBER
    if bits & isa.OPERAND_KIND == isa.OPERAND_VECTOR:
        return f"v{number}" if words == 1 else f"v{number}..v{number + words - 1}"
    if bits & isa.OPERAND_KIND == isa.OPERAND_UNIFORM:
        return f"u{number}"
    constants = program.constants[number : number + words]
    return ":".join(x if isinstance(x, str) else hex(x) for x in constants)


def _operation(program: Program, x: isa.Fields) -> tuple[str, list[str]]:
    """The name of an instruction with what modifies it, and its operands."""
    name, width, more = isa.OPCODE_NAMES[x.opcode], x.width, []
    words = width, 1, width, 1
    flat = x.flags & isa.FLAG_FLAT and name in ("LOAD", "STORE", "ATOMIC")
    if name == "EXTENDED":
        name, row = isa.EXTENDED_NAMES[x.immediate], isa.EXTENDED_ROWS[x.immediate]
        name += "." + _rounding(x.flags) if x.flags else ""
        words = row.d, row.a, row.b, row.c
    elif flat:
        words = width, 2, width, width
    elif name == "SHUFFLE":
        words = width, 1, 1, 1
    if name == "SPECIAL":
        more.append(isa.SPECIAL_NAMES[x.immediate])
    elif name in ("LOAD", "STORE", "ATOMIC", "FENCE"):
        name += f".{width}" if width > 1 else ""
        if flat:
            more.append(f"{x.immediate - (x.immediate >> 31 << 32):+}")
        elif name != "FENCE":
            more.append(program.buffers[x.immediate])
        more.append(f"{isa.ORDER_NAMES[x.order]}.{isa.SCOPE_NAMES[x.scope]}".lower())
    elif "SHARED" in name or "LOCAL" in name:
        more.append(f"+{x.immediate}")
        if x.target and name in ("SHARED_LOAD", "SHARED_STORE"):
            more.append(f"[{x.target - (x.target >> 31 << 32):+}]")
    if "ATOMIC" in name:
        name += "." + isa.ATOMIC_NAMES[x.flags >> isa.FLAG_ATOMIC_SHIFT]
    elif name == "CONVERT":
        more.append("to " + isa.TYPE_NAMES[x.flags & isa.FLAG_TO_MASK].lower())
    elif name == "BRANCH":
        condition = " if zero" if x.flags & isa.FLAG_IF_ZERO else ""
        more.append(f"-> {x.target} join {x.join}{condition}")
    elif name == "JUMP":
        more.append(f"-> {x.target}")
    operands = zip((x.destination, x.a, x.b, x.c), words, strict=True)
    given = [_operand(program, bits, n) for bits, n in operands if bits != isa.OPERAND_NONE]
    return name, given + more


def disassemble(program: Program) -> str:
    """Machine code as text: one instruction per line, with its number and source line."""
    title = (
        f"{program.name}: {program.instructions} instructions, {program.vector_registers} vector and "
        f"{program.uniform_registers} uniform registers, {program.shared_words} scratchpad words"
    )
    lines = [title]
    for k, x in enumerate(isa.unpacked(program.code)):
        name, parts = _operation(program, x)
        filename, number = program.locate(x.file, x.line)
        kind = isa.TYPE_NAMES[x.type].lower()
        kind = f"{kind[0]}{8 * x.bytes}" if x.bytes else kind
        lines.append(
            f"{k:4}  {name:14} {kind:3}  {', '.join(parts):48} ; {filename.rsplit('/', 1)[-1]}:{number}"
        )
    return "\n".join(lines)
