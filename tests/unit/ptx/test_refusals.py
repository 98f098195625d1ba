"""What is not translated is refused by name and line: forms that a handler would read as another one, above all."""

import pytest

import gpucoh

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .f32 %f<3>; .reg .pred %p;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min.s32.relu %r0, %r0, %r1;", "the modifier .relu is not supported"),
        ("add.later.u32 %r0, %r0, %r1;", "the modifier .later is not supported"),
        ("ld.global.later.u32 %r0, [%rd0];", "the modifier .later is not supported"),
        ("min.f32 %f0, %f0, %f1, %f1;", "'min' of 4 operands is not supported"),
        ("add.f32.f16 %f0, %f0, %f1;", "'add' of 2 types is not supported"),
        ("cvt.rn.satfinite.f16.f32 %f0, %f0;", "the modifier .satfinite is not supported"),
        ("cvt.rs.f16x2.f32 %f0, %f0, %f1, %r0;", "the modifier .rs is not supported"),
        ("ld.shared::cluster.u32 %r0, [%r1];", "the modifier .shared::cluster is not supported"),
        ("st.async.u32 [%rd0], %r1, [%rd1];", "the modifier .async is not supported"),
        ("cvt.rn.bf16.s64 %f0, %rd0;", "the instruction is not supported"),
        ("atom.global.exch.b128 %rd0, [%rd1], %rd0;", "the instruction is not supported"),
        ("call (%r0), cudaLaunchDeviceV2, ();", "dynamic parallelism is not supported"),
        ("tex.2d.v4.f32.s32 {%f0, %f0, %f0, %f0}, [t, {%r0, %r0}];", "textures are not supported"),
        ("wgmma.fence.sync.aligned;", "tensor cores are not supported"),
        ("mapa.u64 %rd0, %rd0, %r0;", "clusters of blocks are not supported"),
        ("brx.idx %r0, list;", "'list' lists no targets"),
        ("call (%r0), %rd0, (), none;", "'none' lists no functions and is no prototype"),
        ("call again, ();", "function 'again' has no body in this module"),
        ("frobnicate.u32 %r0, %r0;", "the instruction is not supported"),
        ("mov.u32 %r0, %r9;", "special register %r9 is not supported"),
        ("bra nowhere;", "label 'nowhere' is not declared"),
        ("addc.u16 %r0, %r0, %r0;", "the instruction is not supported"),
        (
            "bar.red.popc.u32 %r0, 0, 64, %p;",
            "a reduction at a barrier of some warps is not supported",
        ),
    ],
)
def test_a_statement_is_refused_by_what_it_has(text, message):
    source = f"{HEAD}.visible .entry k(.param .u64 a)\n{{\n{REGISTERS}\n{text}\nret;\n}}\n"
    with pytest.raises(gpucoh.KernelError) as error:
        gpucoh.cuda.RawKernel(source, "k").disassemble()
    assert str(error.value).startswith(f"<ptx>:7: kernel 'k': PTX '{text[:-1]}': ")
    assert str(error.value).endswith(message)


@pytest.mark.parametrize(
    ("declared", "head", "message"),
    [
        ("", " .reqnctapercluster 2", "a cluster of blocks is not supported"),
        (".global .texref t;", "", "'t': textures are not supported"),
    ],
)
def test_what_stands_outside_of_a_body_is_refused_too(declared, head, message):
    source = f"{HEAD}{declared}\n.visible .entry k(.param .u64 a){head} {{ ret; }}\n"
    with pytest.raises(gpucoh.KernelError, match=message):
        gpucoh.cuda.RawKernel(source, "k").disassemble()


@pytest.mark.long
def test_a_kernel_of_too_many_constants_is_refused_with_its_line():
    body = "\n".join(f"mad.lo.u32 %r0, %r0, %r0, {100000 + 3 * k};" for k in range(16400))
    source = f"{HEAD}.visible .entry k(.param .u64 a)\n{{\n{REGISTERS}\n{body}\n"
    source += "ld.param.u64 %rd0, [a]; st.global.u32 [%rd0], %r0; ret;\n}\n"
    with pytest.raises(gpucoh.KernelError, match=r"<ptx>:16\d\d\d: .*more than 16383 constants"):
        gpucoh.cuda.RawKernel(source, "k").disassemble()
