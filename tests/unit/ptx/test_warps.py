"""Operations of a warp count the lanes of their masks, and only at one place."""

from functools import reduce

import numpy as np
import pytest

import gpucoh
from products import share
from registered import COHERENT

HEAD = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o, .param .u64 i) {
.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<9>; .reg .b16 %h<4>; .reg .f32 %f<4>;
mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [o]; ld.param.u64 %rd1, [i];
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; add.u64 %rd4, %rd1, %rd2; ld.global.u32 %r1, [%rd4];
"""
#: Which lanes are in whose mask, and the statements that put a lane's mask into %r5.
MASKS = {
    "halves": (lambda lane: lane // 16, "setp.lt.u32 %p2, %r0, 16; selp.b32 %r5, 0xFFFF, 0xFFFF0000, %p2;"),
    "odd": (lambda lane: lane % 2,
            "and.b32 %r6, %r0, 1; setp.eq.u32 %p2, %r6, 0; selp.b32 %r5, 0x55555555, 0xAAAAAAAA, %p2;"),
    "all": (lambda lane: 0, "mov.u32 %r5, -1;"),
}  # fmt: skip
GIVEN = np.random.default_rng(53).integers(0, 2**32, 32, dtype=np.uint32)


def run(text: str, given=GIVEN, protocol: str = "no-l1", threads: int = 32, **options) -> list[int]:
    """What each thread of a kernel leaves in ``%r10``."""
    source = f"{HEAD}{text}\nst.global.u32 [%rd3], %r10;\nret; }}"
    with gpucoh.GPU(machine="fermi", protocol=protocol, **options) as gpu:
        out, values = gpu.zeros(threads, np.uint32), gpu.array(np.asarray(given, np.uint32))
        gpucoh.cuda.RawKernel(source, "k")[1, threads](out, values)
        return [int(word) for word in out.numpy()]


def signed(word: int) -> int:
    return word - (1 << 32) * (word >> 31)


def bits(lanes) -> int:
    return sum(1 << lane for lane in lanes)


REDUCTIONS = {
    "add.u32": sum,
    "min.s32": lambda words: min(map(signed, words)),
    "max.u32": max,
    "and.b32": lambda words: reduce(int.__and__, words),
    "xor.b32": lambda words: reduce(int.__xor__, words),
}
VOTES = {
    "ballot.b32 %r10": lambda lanes, yes: bits(lane for lane in lanes if yes(lane)),
    "any.pred %p3": lambda lanes, yes: any(map(yes, lanes)),
    "all.pred %p3": lambda lanes, yes: all(map(yes, lanes)),
    "uni.pred %p3": lambda lanes, yes: len(set(map(yes, lanes))) == 1,
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("operation", REDUCTIONS)
def test_a_reduction_is_of_the_lanes_of_its_mask(operation, mask):
    group, text = MASKS[mask]
    wanted = [
        REDUCTIONS[operation]([int(GIVEN[k]) for k in range(32) if group(k) == group(lane)])
        for lane in range(32)
    ]
    found = run(f"{text} redux.sync.{operation} %r10, %r1, %r5;")
    assert found == [word & 0xFFFFFFFF for word in wanted]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("yes", [lambda k: k < 16, lambda k: k % 2 == 0, lambda k: k != 5])
def test_a_vote_is_of_the_lanes_of_its_mask(vote, mask, yes):
    group, text = MASKS[mask]
    after = "" if vote.startswith("ballot") else "selp.u32 %r10, 1, 0, %p3;"
    found = run(
        f"setp.ne.u32 %p1, %r1, 0; {text} vote.sync.{vote}, %p1, %r5; {after}",
        [yes(lane) for lane in range(32)],
    )
    lanes = [[k for k in range(32) if group(k) == group(lane)] for lane in range(32)]
    assert found == [int(VOTES[vote](those, yes)) for those in lanes]


@pytest.mark.parametrize("mask", MASKS)
def test_a_match_is_of_the_lanes_of_its_mask(mask):
    group, text = MASKS[mask]
    given = GIVEN % 3
    same = [
        bits(k for k in range(32) if group(k) == group(lane) and given[k] == given[lane])
        for lane in range(32)
    ]
    assert run(f"{text} match.any.sync.b32 %r10, %r1, %r5;", given) == same
    one = [group(lane) for lane in range(32)]
    whole = [bits(k for k in range(32) if one[k] == one[lane]) for lane in range(32)]
    assert run(f"{text} match.all.sync.b32 %r10, %r1, %r5;", one) == whole


@pytest.mark.parametrize(
    "operation",
    [
        "vote.sync.ballot.b32 %r10, %p1, -1;",
        "redux.sync.add.u32 %r10, %r1, -1;",
        "shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;",
        "match.any.sync.b32 %r10, %r1, -1;",
    ],
)
def test_an_operation_of_one_mask_at_two_places_is_an_error(operation):
    text = (
        "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\n" + operation + "\nbra B;\nA:\n" + operation + "\nB:\n"
    )  # fmt: skip
    where = r"lanes 0 to 15 in kernel 'k' at <ptx>:14 and lanes 16 to 31 .* at <ptx>:11 .* must meet at one place"
    with pytest.raises(gpucoh.KernelError, match=where):
        run(text)


def test_lanes_may_meet_at_two_barriers_of_a_warp():
    text = "setp.lt.u32 %p1, %r0, 16; mov.u32 %r10, 3; @%p1 bra A; bar.warp.sync -1; bra B; A: bar.warp.sync -1; B:"
    assert run(text) == [3] * 32


# Warp 0 writes a word of global memory that warp 1 has read, and sets a flag in shared memory.
MESSAGE = """
.shared .align 4 .u32 flag;
mov.u32 %r10, 0; setp.lt.u32 %p1, %r0, 32; and.b32 %r3, %r0, 31; setp.eq.u32 %p2, %r3, 0;
mul.wide.u32 %rd5, %r3, 4; add.u64 %rd5, %rd1, %rd5; ld.global.u32 %r10, [%rd5];
setp.eq.u32 %p3, %r0, 0; @%p3 st.shared.u32 [flag], 0; bar.sync 0;
@%p1 bra WRITE;
@!%p2 bra READ;
POLL: {acquire} setp.ne.u32 %p4, %r4, 1; @%p4 bra POLL;
READ: bar.warp.sync -1; ld.global.u32 %r10, [%rd5]; bra END;
WRITE: st.global.u32 [%rd5], 7; bar.warp.sync -1; @!%p2 bra END;
{release}
END:
"""
ORDERED = {
    "release, acquire": ("st.release.cta.shared.u32 [flag], 1;", "ld.acquire.cta.shared.u32 %r4, [flag];"),
    "atomics": ("atom.release.cta.shared.exch.b32 %r4, [flag], 1;", "atom.acquire.cta.shared.or.b32 %r4, [flag], 0;"),
    "fences": ("membar.cta; st.volatile.shared.u32 [flag], 1;", "ld.volatile.shared.u32 %r4, [flag]; membar.cta;"),
}  # fmt: skip


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=4))
@pytest.mark.parametrize("how", ORDERED)
def test_ordered_accesses_to_shared_memory_order_those_to_global_memory(how, protocol):
    release, acquire = ORDERED[how]
    text = MESSAGE.format(release=release, acquire=acquire)
    found = run(text, np.ones(64), protocol, 64, check=True)
    assert found[32:] == [7] * 32


# Each thread adds 1 to a half and to both halves of a word, and claims a place by a compare-and-swap of 16 bits.
NARROW = """
.shared .align 8 .b32 box[4];
mov.u32 %r2, box; mul.lo.u32 %r3, %r0, 4; add.u32 %r2, %r2, %r3; setp.gt.u32 %p1, %r0, 3; mov.u32 %r10, 0;
@!%p1 st.shared.u32 [%r2], 0;
bar.sync 0;
mov.b16 %h0, 0x3C00; mov.b32 %r4, {%h0, %h0}; mov.b16 %h2, 0; cvt.u16.u32 %h3, %r0; add.u16 %h3, %h3, 1;
atom.SPACE.add.noftz.f16 %h1, [AT+2], %h0;
red.SPACE.add.noftz.f16x2 [AT+4], %r4;
atom.SPACE.cas.b16 %h1, [AT+10], %h2, %h3;
bar.sync 0;
@!%p1 ld.SPACE.u32 %r10, [OWN];
@%p1 exit;
"""


@pytest.mark.parametrize(
    ("space", "at", "own"), [("global", "%rd0", "%rd3"), ("shared", "box", "%r2")]
)
def test_atomics_of_halves_and_of_16_bits(space, at, own):
    text = NARROW.replace("SPACE", space).replace("AT", at).replace("OWN", own)
    found = run(text, np.zeros(64), "tc-weak", 64)
    half = int(np.float16(64).view(np.uint16))
    assert found[:2] == [half << 16, half << 16 | half]
    assert found[2] & 0xFFFF == 0
    assert 1 <= found[2] >> 16 <= 64
