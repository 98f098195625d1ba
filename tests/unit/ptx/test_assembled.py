"""What CUDA's assembler makes without an instruction a statement: addresses, flags of bytes, inverted predicates."""

import numpy as np

import gpucoh

THREADS = 64
SOURCE = """
.version 8.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 flags)
{
    .reg .pred %p<3>; .reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %d<8>;
    ld.param.u64 %d0, [out];
    ld.param.u64 %d1, [flags];
    mov.u32 %r0, %tid.x;
    cvt.u64.u32 %d2, %r0;
    add.s64 %d3, %d1, %d2;
    ld.global.u8 %h0, [%d3];
    mul.wide.s32 %d4, %r0, 4;
    add.s64 %d5, %d0, %d4;
    mov.u32 %r1, 7;
    setp.ne.s16 %p0, %h0, 0;
    not.pred %p1, %p0;
    @%p1 bra SKIP;
    mov.u32 %r1, 9;
SKIP:
    st.global.u32 [%d5], %r1;
    ret;
}
"""


def test_addresses_flags_and_inversions_take_no_instruction_of_their_own():
    kernel = gpucoh.cuda.RawKernel(SOURCE, "k")
    flags = (np.arange(THREADS) % 5 * 64).astype(np.uint8)
    with gpucoh.GPU(machine="fermi", protocol="ideal") as gpu:
        out = gpu.zeros(THREADS, np.int32)
        kernel[1, THREADS](out, gpu.array(flags, dtype=np.uint8))
        assert out.numpy().tolist() == [9 if flag else 7 for flag in flags]
    names = [line.split()[1] for line in kernel.disassemble().splitlines()[1:]]
    assert names.count("MADWIDE_S32") == 1
    assert not {"MULWIDE_S32", "AND", "SHL", "SHR", "XOR", "NE"} & set(names)
