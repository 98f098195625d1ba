"""A barrier of PTX is the kernel language's: it orders the accesses of the block for the block."""

import numpy as np
import pytest

import gpucoh
from gpucoh import lang
from products import share
from registered import COHERENT

TWICE = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 y) {
  .reg .u64 %rd<4>; .reg .u32 %r<4>;
  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
  mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r1, [%rd0]; st.global.u32 [%rd1], %r1;
  bar.sync 0;
  ld.global.u32 %r2, [%rd0]; add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1;
  ret;
}
"""
# The second warp of block 0 writes, its first one publishes behind a barrier; block 1 reads by its second warp.
MESSAGE = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry message(.param .u64 data, .param .u64 flag, .param .u64 found) {
  .reg .u64 %rd<5>; .reg .u32 %r<4>; .reg .pred %p<4>;
  ld.param.u64 %rd0, [data]; ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [found];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd3, %r0, 4;
  setp.ge.u32 %p0, %r0, 32; setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r1, 0;
  add.u64 %rd0, %rd0, %rd3; add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd0];
  @%p2 bra WRITE;
  @!%p1 bra READ;
POLL:
  atom.relaxed.gpu.global.or.b32 %r3, [%rd1], 0;
  setp.eq.u32 %p3, %r3, 0;
  @%p3 bra POLL;
  fence.acq_rel.gpu;
READ:
  bar.sync 0;
  @!%p0 bra DONE;
  ld.global.u32 %r2, [%rd0]; st.global.u32 [%rd2], %r2;
  bra DONE;
WRITE:
  @!%p0 bra PUBLISH;
  mov.u32 %r3, 7; st.global.u32 [%rd0], %r3;
PUBLISH:
  bar.sync 0;
  @!%p1 bra DONE;
  fence.acq_rel.gpu;
  atom.relaxed.gpu.global.exch.b32 %r3, [%rd1], 1;
DONE:
  ret;
}
"""


@lang.kernel
def twice(x: lang.Buffer[lang.u32], y: lang.Buffer[lang.u32]) -> None:
    """As :data:`TWICE`."""
    t = lang.thread_id()
    first = x[t]
    y[t] = first
    lang.barrier()
    y[t] = first + x[t]


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=4))
def test_a_barrier_costs_what_the_language_says(protocol):
    counts = []
    for kernel in (twice, gpucoh.cuda.Module(TWICE)["twice"]):
        with gpucoh.GPU("fermi", protocol) as gpu:
            x, y = gpu.array(np.arange(64, dtype=np.uint32)), gpu.zeros(64, np.uint32)
            kernel[1, 64](x, y)
            assert (y.numpy() == 2 * np.arange(64)).all()
            stats = gpu.stats()
            counts.append((stats.l1.load_hits, stats.l1.self_invalidations))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=4))
def test_a_fence_behind_a_barrier_publishes_what_other_warps_wrote(protocol):
    kernel = gpucoh.cuda.Module(MESSAGE)["message"]
    with gpucoh.GPU("fermi", protocol) as gpu:
        data, flag = gpu.zeros(64, np.uint32), gpu.zeros(1, np.uint32)
        found = gpu.zeros(64, np.uint32)
        kernel[2, 64](data, flag, found)
        assert (found.numpy()[32:] == 7).all()
