"""Registers and shared memory of PTX that do not count against a core's, since a GPU has them elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

import gpucoh
from gpucoh.device.launches import occupancy

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"


def source(words: int = 60, directives: str = "") -> str:
    """A kernel that has many values at once: each thread adds up the elements from its own on, from the last."""
    loads = "".join(f"  ld.global.u32 %r{k}, [%rd0+{4 * k}];\n" for k in range(words))
    sums = "".join(f"  mad.lo.u32 %s0, %s0, 3, %r{k};\n" for k in reversed(range(words)))
    return f"""{HEAD}
.visible .entry fold(.param .u64 x, .param .u64 y) {directives} {{
  .reg .u64 %rd<4>; .reg .u32 %r<{words}>; .reg .u32 %s<2>;
  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
  mov.u32 %s1, %tid.x; mad.lo.u32 %s1, %ctaid.x, %ntid.x, %s1; mul.wide.u32 %rd2, %s1, 4;
  add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;
{loads}  bar.sync 0;
  mov.u32 %s0, 0;
{sums}  st.global.u32 [%rd1], %s0;
  ret;
}}
"""


def folded(x: np.ndarray, words: int) -> np.ndarray:
    """What the kernel computes."""
    threads = len(x) - words
    found = np.zeros(threads, np.uint32)
    for k in reversed(range(words)):
        found = found * np.uint32(3) + x[k : k + threads]
    return found


def elements(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2**32, count, np.uint32)


@pytest.mark.parametrize(("words", "threads", "kept"), [(60, 1024, 32), (300, 64, 255)])
def test_a_block_of_more_registers_than_a_core_has_runs(words, threads, kept):
    kernel = gpucoh.cuda.Module(source(words))["fold"]
    x = elements(4 * threads + words)
    with gpucoh.GPU("fermi", "tc-weak") as gpu:
        given, out = gpu.array(x), gpu.zeros(4 * threads, np.uint32)
        kernel[4, threads](given, out)
        np.testing.assert_array_equal(out.numpy(), folded(x, words))
        assert gpu.occupancy["fold"]["registers"] == kept
        again = gpu.zeros(4 * threads, np.uint32)
        gpu.launch(kernel, grid=4, block=threads, args=(given, again), functional=True)
        np.testing.assert_array_equal(again.numpy(), folded(x, words))


@pytest.mark.parametrize(
    ("directives", "threads", "blocks", "registers"),
    [
        ("", 128, 4, 63),  # all fit
        (".minnctapersm 8", 128, 8, 32),
        (".maxntid 512\n.minnctapersm 3", 512, 3, 21),
        (".minnctapersm 9", 512, 3, 21),  # a core has 48 warps
    ],
)
def test_registers_count_that_let_the_declared_blocks_fit(directives, threads, blocks, registers):
    program = gpucoh.cuda.Module(source(directives=directives))["fold"].program(32, None)
    fit = occupancy(gpucoh.machine("fermi"), program, threads)
    assert (fit["blocks"], fit["registers"]) == (blocks, registers)


def test_kernels_of_two_gpus_have_registers_of_their_own():
    kernel, words = gpucoh.cuda.Module(source())["fold"], 60
    values = [elements(8192 + words), elements(8192 + words)[::-1]]
    with gpucoh.GPU("two-gpus", "mcm") as gpu:
        given = [gpu.array(x, device=k) for k, x in enumerate(values)]
        out = [gpu.zeros(8192, np.uint32) for _ in values]
        with gpu.concurrent():
            for k in range(2):
                gpu.launch(kernel, grid=64, block=128, args=(given[k], out[k]), device=k)
        for x, found in zip(values, out, strict=True):
            np.testing.assert_array_equal(found.numpy(), folded(x, words))


WHOLE = f"""{HEAD}
.visible .entry whole(.param .u64 y) {{
  .shared .align 4 .b32 room[12288];
  .reg .u64 %rd<3>; .reg .u32 %r<4>; .reg .pred %p<3>;
  ld.param.u64 %rd0, [y];
  mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;
  setp.eq.u32 %p0, %r0, 40;
  @%p0 st.shared.u32 [room+49148], %r0;
  bar.red.or.pred %p1, 0, %p0;
  selp.u32 %r1, 7, 8, %p1;
  st.global.u32 [%rd0], %r1;
  ret;
}}
"""


@pytest.mark.parametrize("check", [False, True])
def test_a_reduction_at_a_barrier_takes_no_shared_memory(check):
    kernel = gpucoh.cuda.Module(WHOLE)["whole"]
    with gpucoh.GPU("fermi", "mesi", check=check) as gpu:
        out = gpu.zeros(64, np.uint32)
        kernel[1, 64](out)
        assert set(out.numpy()) == {7}
        assert gpu.occupancy["whole"]["scratchpad_bytes"] == 48 * 1024


def test_the_core_checks_what_does_not_count():
    program = replace(gpucoh.cuda.Module(WHOLE)["whole"].program(32, None), barrier_words=5)
    with (
        gpucoh.GPU("fermi", "mesi") as gpu,
        pytest.raises(gpucoh.Error, match="at most 4 of 12292"),
    ):
        gpu.launch_program(program, (1, 1, 1), (32, 1, 1), (1, 2))
