"""Checks and optimisations on the intermediate form."""

from __future__ import annotations

from collections.abc import Iterator

from gpucoh.lang import flow
from gpucoh.lang.bits import Definitions, possible_bits
from gpucoh.lang.folding import fold
from gpucoh.lang.ir import (
    COMMUTATIVE,
    PURE,
    REMOVABLE,
    Block,
    Branch,
    Constant,
    Function,
    Groups,
    Instruction,
    Jump,
    LocalArray,
    Operand,
    Place,
    Register,
)
from gpucoh.lang.offsets import split_offsets
from gpucoh.lang.products import fuse_products
from gpucoh.lang.types import F32, I32, U32
from gpucoh.lang.unroll import unroll

#: Rounds of the passes; each one enables the next, and few are needed.
MAX_ROUNDS = 6


def optimise(function: Function, unrolled: bool = True) -> None:
    """Optimise a checked function; its memory accesses stay the same, one for one.

    With ``unrolled``, loops of few iterations are unrolled, outer ones after inner ones.
    """
    flow.simplify(function)
    replace_local_arrays(function)
    improve(function)
    for _ in range(MAX_ROUNDS if unrolled else 0):
        if not unroll(function):
            break
        replace_local_arrays(function)
        improve(function)
    split_offsets(function)
    fuse_products(function)
    improve(function)


def improve(function: Function) -> None:
    """Propagate copies, remove common subexpressions and what is unread, fold constants and branches."""
    for _ in range(MAX_ROUNDS):
        changed = propagate(function)
        changed |= number_values(function)
        changed |= fold_branches(function)
        changed |= remove_dead(function)
        flow.simplify(function)
        if not changed:
            break


def find_unassigned(function: Function) -> Iterator[tuple[Register, Place]]:
    """The variables that may be read before they are assigned, and the location of each such read."""
    flow.remove_unreachable(function)
    before = flow.predecessors(function)
    everything = (1 << function.registers) - 1
    assigned_out = dict.fromkeys(function.blocks, everything)

    def at_start(block: Block) -> int:
        if block is function.blocks[0]:
            return 0
        known = everything
        for p in before[block]:
            known &= assigned_out[p]
        return known

    changed = True
    while changed:
        changed = False
        for block in function.blocks:
            known = at_start(block)
            for instruction in block.instructions:
                for register in instruction.defined:
                    known |= 1 << register.number
            if known != assigned_out[block]:
                assigned_out[block] = known
                changed = True
    for block in function.blocks:
        known = at_start(block)
        for instruction in block.instructions:
            for register in instruction.used():
                if not known >> register.number & 1:
                    yield register, instruction.place
            for register in instruction.defined:
                known |= 1 << register.number
        condition = block.condition()
        if condition is not None and not known >> condition.number & 1:
            assert block.terminator is not None
            yield condition, block.terminator.place


def replace_local_arrays(function: Function) -> None:
    """Turn local arrays whose every index is a constant into plain registers."""
    accesses: dict[LocalArray, list[Instruction]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.array is not None:
                accesses.setdefault(instruction.array, []).append(instruction)
    for array, instructions in accesses.items():
        if not all(_is_element(array, instruction.sources[0]) for instruction in instructions):
            continue
        elements = [function.new_register(f"{array.name}[{k}]") for k in range(array.words)]
        for instruction in instructions:
            index = instruction.sources[0]
            assert isinstance(index, Constant)
            if instruction.op == "LOCAL_LOAD":
                instruction.sources = [elements[index.bits]]
            else:
                instruction.dest = elements[index.bits]
                instruction.sources = [instruction.sources[1]]
            instruction.op, instruction.array = "MOVE", None


def _is_element(array: LocalArray, index: Operand | None) -> bool:
    """Whether an index is a constant within the array; of another one the machine reports the error."""
    return isinstance(index, Constant) and index.bits < array.words


def propagate(function: Function) -> bool:
    """Replace single-definition registers that are copies of constants, arguments or other such registers."""
    definitions = function.definitions()
    copies: dict[Register, Operand] = {}
    for register, places in definitions.items():
        instruction = places[0][1]
        if len(places) != 1 or instruction.op != "MOVE":
            continue
        source = instruction.sources[0]
        assert source is not None
        if not isinstance(source, Register) or len(definitions.get(source, ())) == 1:
            copies[register] = source

    def final(operand: Operand | None) -> Operand | None:
        while isinstance(operand, Register) and operand in copies:
            operand = copies[operand]
        return operand

    changed = False
    groups = Groups(function)
    for block in function.blocks:
        for instruction in block.instructions:
            changed |= groups.replace(instruction, final)
        if isinstance(block.terminator, Branch):
            condition = final(block.terminator.condition)
            assert condition is not None
            changed |= condition is not block.terminator.condition
            block.terminator.condition = condition
    return changed


class _Numbering:
    """Common subexpressions and copies: block-wide for variables, tree-wide for single-definition registers."""

    def __init__(self, function: Function) -> None:
        self.definitions = function.definitions()
        self.single = {r for r, places in self.definitions.items() if len(places) == 1}
        self.children = flow.dominator_children(function)
        self.groups = Groups(function)
        self.changed = False

    def walk(self, entry: Block) -> None:
        """Number the dominator tree from ``entry``, without recursion."""
        pending: list[tuple[Block, dict[object, Register]]] = [(entry, {})]
        while pending:
            block, known = pending.pop()
            known = dict(known)
            self._block(block, known)
            pending.extend((child, known) for child in self.children[block])

    def _stable(self, operand: Operand | None) -> bool:
        return not isinstance(operand, Register) or operand in self.single

    def _block(self, block: Block, known: dict[object, Register]) -> None:
        local: dict[object, Register] = {}
        copies: dict[Register, Operand] = {}

        def copied(source: Operand | None) -> Operand | None:
            return copies.get(source, source) if isinstance(source, Register) else source

        for instruction in block.instructions:
            self.changed |= self.groups.replace(instruction, copied)
            self._simplify(instruction)
            dest = instruction.dest
            if dest is None:
                continue
            key = self._key(instruction)
            previous = None
            if key is not None:
                previous = known.get(key) or local.get(key)
                if previous is not None and previous is not dest:
                    instruction.op, instruction.sources = "MOVE", [previous]
                    instruction.immediate = instruction.flags = 0
                    self.changed = True
                    key = None
            for register in instruction.defined:
                self._forget(register, local, copies)
            if instruction.op == "MOVE":
                source = instruction.sources[0]
                if source is not dest and source is not None:
                    copies[dest] = source
            elif key is not None and dest not in instruction.sources:
                stable = dest in self.single and all(self._stable(s) for s in instruction.sources)
                (known if stable else local)[key] = dest
        condition = block.condition()
        if condition is not None and condition in copies:
            assert isinstance(block.terminator, Branch)
            block.terminator.condition = copies[condition]
            self.changed = True

    def _forget(
        self, dest: Register, local: dict[object, Register], copies: dict[Register, Operand]
    ) -> None:
        if dest in self.single:
            return  # a new iteration of a loop starts a new block, with empty tables
        copies.pop(dest, None)
        for target in [t for t, source in copies.items() if source is dest]:
            del copies[target]
        for key in [k for k, value in local.items() if value is dest or dest in k[3]]:  # type: ignore[index]
            del local[key]

    def _key(self, instruction: Instruction) -> object:
        if instruction.op == "SPECIAL" and instruction.type is not U32:  # u32: the clock
            return ("SPECIAL", instruction.type, instruction.immediate, ())
        if instruction.op not in PURE or instruction.op == "MOVE" or instruction.more:
            return None
        sources = tuple(instruction.sources)
        if instruction.op in COMMUTATIVE and instruction.type is not F32:
            sources = tuple(sorted(sources, key=repr))
        return (
            instruction.op,
            instruction.type,
            (instruction.flags, instruction.immediate),
            sources,
        )

    def _simplify(self, instruction: Instruction) -> None:
        """Fold constants and identities in place."""
        if instruction.op not in PURE or instruction.op in ("MOVE", "EXTENDED"):
            return
        words = [source.bits for source in instruction.sources if isinstance(source, Constant)]
        result: Operand | None = None
        if len(words) == len(instruction.sources):
            to = (I32, U32, F32)[instruction.flags & 3] if instruction.op == "CONVERT" else None
            bits = fold(instruction.op, instruction.type.loaded, words, to)
            result = None if bits is None else Constant(bits)
        else:
            result = identity(instruction) or self._masked(instruction)
        if result is not None:
            instruction.op, instruction.sources, instruction.flags = "MOVE", [result], 0
            self.changed = True

    def _masked(self, instruction: Instruction) -> Operand | None:
        """The operand of ``x & mask``, if every definition of x gives bits of the mask alone."""
        word, mask = (*instruction.sources, None)[:2]
        if (
            instruction.op != "AND"
            or not isinstance(mask, Constant)
            or not isinstance(word, Register)
        ):
            return None
        return word if possible_bits(word, self.definitions) & ~mask.bits == 0 else None


def identity(instruction: Instruction) -> Operand | None:
    """The operand that an integer operation leaves unchanged, or zero; None if there is none."""
    op, sources = instruction.op, instruction.sources
    if op == "SELECT" and isinstance(sources[0], Constant):
        return sources[1] if sources[0].bits else sources[2]
    if instruction.type is F32 or len(sources) != 2:
        return None
    a, b = sources
    if op in COMMUTATIVE and isinstance(a, Constant):
        a, b = b, a
    if not isinstance(b, Constant):
        return None
    if b.bits == 0 and op in ("ADD", "SUB", "OR", "XOR", "SHL", "SHR"):
        return a
    if b.bits == 0 and op in ("MUL", "AND"):
        return Constant(0)
    if b.bits == 1 and op in ("MUL", "DIV"):
        return a
    return None


def number_values(function: Function) -> bool:
    """Remove common subexpressions, propagate copies, fold constants."""
    numbering = _Numbering(function)
    numbering.walk(function.blocks[0])
    return numbering.changed


def fold_branches(function: Function) -> bool:
    """Turn branches on constants into jumps; a branch on ``x == 0`` or ``x != 0`` of an integer tests x itself."""
    changed = False
    definitions = function.definitions()
    for block in function.blocks:
        terminator = block.terminator
        if not isinstance(terminator, Branch):
            continue
        if isinstance(terminator.condition, Constant):
            target = terminator.if_true if terminator.condition.bits else terminator.if_false
            block.terminator = Jump(target, terminator.place)
            changed = True
            continue
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.dest is terminator.condition and _inverts(last, definitions):
            assert last.sources[0] is not None
            terminator.condition = last.sources[0]
            terminator.if_true, terminator.if_false = terminator.if_false, terminator.if_true
            changed = True
        elif (
            last is not None
            and last.dest is terminator.condition
            and last.op in ("EQ", "NE")
            and last.type is not F32
            and last.sources[1] == Constant(0)
            and isinstance(last.sources[0], Register)
            and len(definitions[last.dest]) == 1
        ):
            terminator.condition = last.sources[0]
            if last.op == "EQ":
                terminator.if_true, terminator.if_false = terminator.if_false, terminator.if_true
            changed = True
    return changed


def _inverts(instruction: Instruction, definitions: Definitions) -> bool:
    """Whether the result is 0 for 1, and 1 for 0, of a word that is one of them."""
    word = instruction.sources[0] if instruction.sources else None
    return (
        instruction.op == "XOR"
        and instruction.sources[1] == Constant(1)
        and instruction.dest is not word
        and possible_bits(word, definitions) | 1 == 1
    )


def remove_dead(function: Function) -> bool:
    """Drop instructions without side effects whose result is unused; atomics lose an unused destination."""
    live = flow.Liveness(function)
    changed = False
    for block in function.blocks:
        alive = live.live_out[block] | live.condition(block)
        kept: list[Instruction] = []
        for instruction in reversed(block.instructions):
            dest = instruction.dest
            unread = dest is not None and not alive & live.defines(instruction)
            copy_of_itself = instruction.op == "MOVE" and instruction.sources[0] is dest
            if copy_of_itself or (unread and instruction.op in REMOVABLE):
                changed = True
                continue
            if unread and instruction.op == "ATOMIC":
                instruction.dest, instruction.more = None, ()
            alive = (alive & ~live.defines(instruction)) | live.uses(instruction)
            kept.append(instruction)
        block.instructions = kept[::-1]
    return changed
