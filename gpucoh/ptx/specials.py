"""Special registers of PTX (PTX ISA, section 10): a thread's place, lane masks, clocks."""

from __future__ import annotations

from gpucoh.lang.ir import Argument, Constant
from gpucoh.lang.program import SHARED_LENGTH
from gpucoh.lang.types import U32
from gpucoh.ptx.emission import Emission, Words
from gpucoh.ptx.module import Variable

# A launch without clusters has one around each block.
_VECTORS = (
    ("tid", "THREAD"), ("ctaid", "BLOCK"), ("ntid", "BLOCK_DIM"), ("nctaid", "GRID_DIM"),
    ("clusterid", "BLOCK"), ("nclusterid", "GRID_DIM"),
)  # fmt: skip
_SPECIALS = {f"%{name}.{axis}": f"{ours}_{axis.upper()}" for name, ours in _VECTORS for axis in "xyz"} | {
    "%laneid": "LANE", "%warpid": "WARP", "%smid": "CORE",
    "%clock": "CLOCK", "%clock64": "CLOCK", "%globaltimer": "CLOCK", "%globaltimer_lo": "CLOCK",
}  # fmt: skip
_CONSTANTS = {
    **{f"%{name}.w": 0 for name, _ in _VECTORS},
    **{f"%cluster_ctaid.{axis}": 0 for axis in "xyzw"},
    **{f"%cluster_nctaid.{axis}": int(axis != "w") for axis in "xyzw"},
    "%cluster_ctarank": 0, "%cluster_nctarank": 1, "%is_explicit_cluster": 0,
    "%clock_hi": 0, "%globaltimer_hi": 0, "%current_graph_exec": 0,
}  # fmt: skip


def special_register(x: Emission, name: str) -> Words:
    """The words of a special register, read here."""
    if name in _SPECIALS:
        return (x.special(_SPECIALS[name]),)
    if name in _CONSTANTS:
        return (Constant(_CONSTANTS[name]),)
    if name == "%dynamic_smem_size":
        return (Argument(SHARED_LENGTH),)
    if name.startswith("%lanemask_"):
        return _lane_mask(x, name.removeprefix("%lanemask_"))
    if name == "%nwarpid":
        return (Constant(x.layout.most_warps),)
    if name in ("%envreg1", "%envreg2"):
        return (_workspace(x)[name == "%envreg1"],)
    raise x.unsupported(f"special register {name}")


def _workspace(x: Emission) -> Words:
    """The address of two words in which the blocks of a cooperative launch count arrivals (CUDA's driver_abi.h)."""
    x.function.needs_all_blocks = True
    made = Variable("global", "grid workspace", "b64", 8, 8, (8).to_bytes(8, "little"))
    return x.global_address(x.module.variables.setdefault(made.name, made))


def _lane_mask(x: Emission, kind: str) -> Words:
    equal = x.core("SHL", U32, (Constant(1),), (x.special("LANE"),))
    below = x.core("SUB", U32, equal, (Constant(1),))
    if kind == "eq":
        return equal
    if kind == "lt":
        return below
    until = x.core("OR", U32, below, equal)
    if kind == "le":
        return until
    if kind in ("gt", "ge"):
        return x.core("NOT", U32, until if kind == "gt" else below)
    raise x.unsupported(f"special register %lanemask_{kind}")
