"""Which forms of an instruction are translated: its modifiers, and how many types and operands it has.

A handler reads the modifiers that it knows. What this table lacks is refused before, so that a modifier of a newer
version of PTX, or one more operand, never changes a meaning in silence.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpucoh.ptx.types import SIZES


@dataclass(frozen=True)
class Form:
    """Modifiers other than types, and the least and the greatest number of operands and of types."""

    modifiers: frozenset[str]
    operands: tuple[int, int]
    types: tuple[int, int]


_ROUND = "rn rz rm rp"
_SCOPES = "cta cluster gpu gl sys"
_SPACES = "global shared shared::cta local const param param::entry param::func"
_CACHE = "ca cg cs lu cv wb wt nc L1 L2"
_VECTOR = "v2 v4 v8"
_RELATIONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"
_MATRICES = (
    "sync aligned row col satfinite tf32 m8n8k4 m8n8k16 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n16k8 m16n16k16 m32n8k16 "
    "m8n32k16"
)
_PHASES = "init inval arrive arrive_drop noComplete test_wait try_wait parity pending_count"
_ATOMICS = "add min max and or xor exch cas inc dec"

#: Operations: modifiers; operands; types. A range is ``least-most``.
_TABLE = f"""
add sub:            {_ROUND} ftz sat cc; 3; 1
mul:                lo hi wide {_ROUND} ftz sat; 3; 1
mul24:              lo hi; 3; 1
mad:                lo hi wide {_ROUND} ftz sat cc; 4; 1
mad24:              lo hi; 4; 1
fma:                {_ROUND} ftz sat; 4; 1
min max:            ftz; 3; 1
neg abs:            ftz; 2; 1
div:                {_ROUND} approx full ftz; 3; 1
rem copysign:       ; 3; 1
addc subc:          cc; 3; 1
madc:               lo hi cc; 4; 1
sad:                ; 4; 1
dp4a:               ; 4; 2
dp2a:               lo hi; 4; 2
bmsk szext:         clamp wrap; 3; 1
rcp sqrt:           approx {_ROUND} ftz; 2; 1
rsqrt sin cos lg2 ex2 tanh: approx ftz; 2; 1
testp:              finite infinite number notanumber normal subnormal; 2; 1
and or xor shl shr: ; 3; 1
not cnot popc clz brev: ; 2; 1
lop3:               ; 5; 1
shf:                l r clamp wrap; 4; 1
prmt:               f4e b4e rc8 ecl ecr rc16; 4; 1
bfind:              shiftamt; 2; 1
bfe:                ; 4; 1
bfi:                ; 5; 1
setp:               {_RELATIONS} and or xor ftz; 3-4; 1
set:                {_RELATIONS} and or xor ftz; 3-4; 2
selp:               ; 4; 1
slct:               ftz; 4; 2
mov:                ; 2; 1
cvt:                {_ROUND} rni rzi rmi rpi ftz sat; 2-3; 2
cvta:               to {_SPACES}; 2; 1
isspacep:           {_SPACES}; 2; 0
ld ldu:             weak volatile mmio relaxed acquire {_SCOPES} {_SPACES} {_CACHE} {_VECTOR}; 2-3; 1
st:                 weak volatile mmio relaxed release {_SCOPES} {_SPACES} {_CACHE} {_VECTOR}; 2-3; 1
atom:               relaxed acquire release acq_rel {_SCOPES} global shared shared::cta noftz {_ATOMICS}; 3-4; 1
red:                relaxed release {_SCOPES} global shared shared::cta noftz {_ATOMICS}; 2; 1
membar:             cta gl sys; 0; 0
fence:              sc acq_rel acquire release {_SCOPES} proxy; 0-1; 0
bar barrier:        sync arrive red warp cta cluster aligned popc and or; 0-4; 0-1
shfl:               sync up down bfly idx; 4-5; 1
vote:               sync any all uni ballot; 2-3; 1
match:              any all sync; 3; 1
redux:              sync add min max and or xor; 3; 1
activemask nanosleep: ; 1; 1
cp:  async shared shared::cta global ca cg commit_group wait_group wait_all mbarrier arrive noinc; 0-4; 0-1
mbarrier:           {_PHASES} release acquire relaxed cta cluster shared shared::cta; 1-4; 1
mma:                {_MATRICES} {_ROUND}; 4; 0-4
wmma:               {_MATRICES} {_ROUND} load mma store a b c d {_SPACES}; 2-4; 0-4
ldmatrix:           sync aligned m8n8 x1 x2 x4 trans shared shared::cta; 2; 1
"""


def _range(text: str) -> tuple[int, int]:
    least, _, most = text.strip().partition("-")
    return int(least), int(most or least)


def _forms() -> dict[str, Form]:
    forms = {}
    for line in _TABLE.strip().splitlines():
        operations, _, rest = line.partition(": ")
        modifiers, operands, types = rest.split(";")
        form = Form(frozenset(modifiers.split()), _range(operands), _range(types))
        forms.update(dict.fromkeys(operations.split(), form))
    return forms


#: Operation -> its form; operations without one have no modifiers that matter.
FORMS = _forms()


def refused_part(op: str, modifiers: tuple[str, ...], operands: int) -> str | None:
    """What of a statement the table lacks; None: nothing."""
    form = FORMS.get(op)
    if form is None:
        return None
    types = 0
    for modifier in modifiers:
        if modifier in SIZES:
            types += 1
        elif modifier not in form.modifiers and not modifier.startswith(("L1::", "L2::", "proxy")):
            return f"the modifier .{modifier}"
    if not form.types[0] <= types <= form.types[1]:
        return f"'{op}' of {types} types"
    if not form.operands[0] <= operands <= form.operands[1]:
        return f"'{op}' of {operands} operands"
    return None
