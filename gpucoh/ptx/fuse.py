"""Instructions that PTX has apart and CUDA's assembler issues as one, or folds into an access.

The rule: a pattern that ptxas 13.5 issues as one instruction on every architecture from sm_75 to sm_120 is one here,
if the instruction set has it. The second column is what ``nvdisasm`` prints of a kernel that has the pattern alone; the
names are explained in NVIDIA's "CUDA Binary Utilities".

=========================================  =====================================  =======================
PTX                                        ptxas                                  here
=========================================  =====================================  =======================
``mul.wide``, ``add.s64``                  IMAD.WIDE                              MADWIDE
``shl.b32`` or ``mul.lo``, ``add`` ..      LEA or IMAD                            MAD_B32
``neg.s32``, ``add`` or ``sub``            IADD3 with a negative operand          SUB or ADD
``and``, ``or`` .., ``setp`` 0, ``bra``    LOP3 with a predicate, BRA             no comparison
``add`` of a constant, an access           the access, with an offset of 24 bits  the access's immediate
=========================================  =====================================  =======================

Products and negations are fused if only sums read them, however many, since ptxas computes them once otherwise.
Constants of addresses move to every access. What ptxas issues as two stays two: ``shl.b64`` and ``add.s64`` (LEA and
LEA.HI.X), ``cvt.s64.s32`` and ``add.s64`` (IADD3 and LEA.HI.X.SX32). Values are equal bit by bit: ``mul.f32`` and
``add.f32``, which ptxas contracts to FFMA, stay two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from gpucoh.lang import isa
from gpucoh.lang.ir import Block, Branch, Constant, Function, Instruction, Operand, Register
from gpucoh.lang.offsets import Forms
from gpucoh.lang.types import F32, U32

#: Offsets of accesses to memory have 24 bits with a sign.
_FARTHEST = 1 << 23
_ACCESSES = ("LOAD", "STORE", "ATOMIC")
_SHARED = ("SHARED_LOAD", "SHARED_STORE", "SHARED_ATOMIC")
_ZERO = Constant(0)
#: What a sum for an address of shared memory is made of, and its greatest number of terms.
_PARTS, _TERMS = ("ADD", "SUB", "MUL", "SHL"), 8
_SUMS = ("ADD", "SUB", "ADD_B64")
_Sources = list[Operand | None]


def fuse(function: Function) -> bool:
    """Fuse what CUDA's assembler fuses; results that are no longer read stay. Whether anything was fused."""
    offsets = _share_offsets(function)
    return _Fusion(function).run() or offsets


class _Fusion:
    """Definitions and uses of a function's registers."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.definitions = function.definitions()
        self.uses: Counter[Operand | None] = Counter()
        self.uses_of_sums: Counter[Operand | None] = Counter()
        for block in function.blocks:
            for instruction in block.instructions:
                self.uses.update(instruction.used())
                if _name(instruction) in _SUMS:
                    self.uses_of_sums.update(instruction.used())
            if isinstance(block.terminator, Branch):
                self.uses[block.terminator.condition] += 1

    def run(self) -> bool:
        """Go through the function once."""
        changed = False
        for block in self.function.blocks:
            for instruction in block.instructions:
                fused = _RULES.get(_name(instruction))
                if fused is not None:
                    changed |= fused(self, instruction)
            changed |= _branch(self, block)
        return changed

    def made(self, words: _Sources, name: str) -> Instruction | None:
        """The instruction of this name that alone defines the words, if its operands last."""
        places = self.definitions.get(words[0], ()) if isinstance(words[0], Register) else ()
        if len(places) != 1:
            return None
        found = places[0][1]
        if _name(found) != name or list(found.defined) != words:
            return None
        return found if all(map(self._lasts, (*words, *found.sources))) else None

    def made_once(self, words: _Sources, name: str) -> Instruction | None:
        """The same, if one instruction reads the words."""
        found = self.made(words, name)
        return found if all(self.uses[word] == 1 for word in words) else None

    def made_for_sums(self, words: _Sources, name: str) -> Instruction | None:
        """The same, if only additions and subtractions read the words."""
        found = self.made(words, name)
        return found if all(self.uses[word] == self.uses_of_sums[word] for word in words) else None

    def _lasts(self, operand: Operand | None) -> bool:
        """Whether the operand has one value wherever it is defined: definitions dominate uses."""
        return not isinstance(operand, Register) or len(self.definitions.get(operand, ())) == 1


def _name(instruction: Instruction) -> str:
    """An operation of integers, or the row's name."""
    if instruction.op == "EXTENDED":
        return isa.EXTENDED_NAMES[instruction.immediate]
    return instruction.op if instruction.type.loaded is not F32 else ""


def _becomes(instruction: Instruction, row: str, sources: _Sources) -> bool:
    instruction.op, instruction.type, instruction.flags = "EXTENDED", U32, 0
    instruction.immediate, instruction.sources = isa.EXTENDED[row].number, sources
    return True


def _product(x: _Fusion, word: Operand | None, sign: int) -> _Sources | None:
    """The factors of a product, or of a shifted word, the second one with the sign."""
    if (found := x.made_for_sums([word], "SHL")) and isinstance(found.sources[1], Constant):
        bits = found.sources[1].bits
        return [found.sources[0], Constant(sign * (1 << bits if bits < 32 else 0) & 0xFFFFFFFF)]
    if found := x.made_for_sums([word], "MUL"):
        for one, other in (found.sources, found.sources[::-1]):
            if isinstance(other, Constant):
                return [one, Constant(sign * other.bits & 0xFFFFFFFF)]
        return list(found.sources) if sign == 1 else None
    return None


def _sum(x: _Fusion, instruction: Instruction) -> bool:
    """``ADD`` and ``SUB``: of a product, of a negated word."""
    sign = 1 if instruction.op == "ADD" else -1
    a, b = instruction.sources
    for part, rest in ((b, a), (a, b))[: 2 if sign == 1 else 1]:
        if factors := _product(x, part, sign):
            return _becomes(instruction, "MAD_B32", [*factors, rest])
        if found := x.made_for_sums([part], "NEG"):
            instruction.op = "SUB" if sign == 1 else "ADD"
            instruction.sources = [rest, found.sources[0]]
            return True
    return False


def _wide_sum(x: _Fusion, instruction: Instruction) -> bool:
    """``ADD_B64``: of a product."""
    words = instruction.sources
    for part, rest in ((words[:2], words[2:]), (words[2:], words[:2])):
        for sign in "SU":
            if found := x.made_for_sums(part, f"MULWIDE_{sign}32"):
                return _becomes(instruction, f"MADWIDE_{sign}32", [*found.sources, *rest])
    return False


def _access(x: _Fusion, instruction: Instruction) -> bool:
    """An access to memory whose address is a sum with a constant."""
    if not instruction.flags & isa.FLAG_FLAT:
        return False
    found = x.made(instruction.sources[:2], "ADD_B64")
    if found is None:
        return False
    words = found.sources
    for part, rest in ((words[:2], words[2:]), (words[2:], words[:2])):
        low, high = part
        if isinstance(low, Constant) and isinstance(high, Constant):
            offset = _signed(instruction.immediate) + _signed(high.bits << 32 | low.bits, 64)
            if -_FARTHEST <= offset < _FARTHEST:
                instruction.sources[:2] = rest
                instruction.immediate = offset & 0xFFFFFFFF
                return True
    return False


def _branch(x: _Fusion, block: Block) -> bool:
    """A branch on whether the result of a logical operation of the same block is 0."""
    branch = block.terminator
    if not isinstance(branch, Branch):
        return False
    for name in ("EQ", "NE"):
        found = x.made_once([branch.condition], name)
        if found is None or found.sources[1] != _ZERO:
            continue
        word = found.sources[0]
        makers = [x.made([word], logic) for logic in ("AND", "OR", "XOR", "NOT")]
        if isinstance(word, Register) and any(one in block.instructions for one in makers):
            branch.condition = word
            if name == "EQ":
                branch.if_true, branch.if_false = branch.if_false, branch.if_true
            return True
    return False


def _signed(number: int, bits: int = 32) -> int:
    return number - (number >> bits - 1 << bits)


_RULES: dict[str, Callable[[_Fusion, Instruction], bool]] = {
    "ADD": _sum,
    "SUB": _sum,
    "ADD_B64": _wide_sum,
    **dict.fromkeys(_ACCESSES, _access),
}


def _share_offsets(function: Function) -> bool:
    """Accesses to shared memory whose addresses differ by a constant take the first one, and an offset each."""
    forms = Forms(function, _TERMS)
    places: dict[Register, tuple[Block, int]] = {}
    candidates: dict[object, list[Register]] = {}
    for block in function.blocks:
        for k, instruction in enumerate(block.instructions):
            register = instruction.dest
            if instruction.op in _PARTS and register and len(forms.definitions[register]) == 1:
                places[register] = block, k
                candidates.setdefault(forms.of(register)[0], []).append(register)
    changed = False
    for block in function.blocks:
        for k, instruction in enumerate(block.instructions):
            index = instruction.sources[0] if instruction.op in _SHARED else None
            if not instruction.flags & isa.FLAG_BYTES or not isinstance(index, Register):
                continue
            terms, constant = forms.of(index)
            for base in candidates.get(terms, ()):
                where, at = places[base]
                offset = _signed(constant - forms.of(base)[1] + instruction.immediate & 0xFFFFFFFF)
                before = at < k if where is block else forms.dominates(where, block)
                if before and -_FARTHEST <= offset < _FARTHEST:
                    changed |= base is not index
                    instruction.sources[0], instruction.immediate = base, offset & 0xFFFFFFFF
                    break
    return changed
