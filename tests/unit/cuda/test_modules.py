"""Modules and kernels of CUDA: arguments, variables, errors, and how they are launched."""

import pickle
import re
from types import SimpleNamespace

import numpy as np
import pytest

import gpucoh
from gpucoh.cli import call
from unit.cuda.oracles import FOLDER, module

HEAD = ".version 8.5\n.target sm_75\n.address_size 64\n"
SCALE = (
    HEAD
    + """
.global .align 8 .u64 there = generic(table)+8;
.global .align 4 .u32 table[4] = {5, 6, 7, 8};
.visible .entry _Z5scalePfif(.param .u64 x, .param .u32 n, .param .f32 by)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p;
    ld.param.u64 %rd0, [x];
    ld.param.u32 %r0, [n];
    ld.param.f32 %f0, [by];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, %r0;
    @%p ret;
    mad.wide.u32 %rd0, %r1, 4, %rd0;
    ld.global.f32 %f1, [%rd0];
    mul.f32 %f1, %f1, %f0;
    st.global.f32 [%rd0], %f1;
    ret;
}
.visible .entry look(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %rd<3>;
    ld.global.u64 %rd0, [there];
    ld.global.u32 %r, [%rd0];
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r;
    ret;
}
"""
)


@pytest.fixture
def gpu():
    with gpucoh.GPU(machine="fermi", protocol="tc-weak") as gpu:
        yield gpu


@pytest.fixture
def scale():
    return gpucoh.cuda.RawKernel(SCALE, "scale")


def test_a_kernel_is_launched_in_the_ways_of_cupy_numba_and_gpucoh(gpu, scale) -> None:
    x = gpu.array(np.ones(32, np.float32))
    scale(1, 32, (x, 32, np.float32(2)))
    scale[1, 32](x, 32, 3.0)
    gpu.launch(scale, grid=1, block=32, args=(x, np.int32(16), 0.5))
    assert x.numpy().tolist() == [3.0] * 16 + [6.0] * 16
    assert scale.name == "scale"
    assert scale.symbol == "_Z5scalePfif"
    of = gpucoh.cuda.RawModule(SCALE)
    assert of.get_function("scale").name == "scale"


def test_a_kernel_and_its_module_can_be_sent_to_another_process(gpu, scale) -> None:
    again = pickle.loads(pickle.dumps(scale.module))["scale"]
    x = gpu.array(np.ones(32, np.float32))
    again[1, 32](x, 32, 4.0)
    assert x.numpy()[0] == 4


def test_variables_have_initial_values_and_addresses_of_others(gpu, scale) -> None:
    out = gpu.zeros(1, np.uint32)
    scale.module["look"][1, 1](out)
    assert out.numpy()[0] == 7
    table = scale.module.get_global(gpu, "table")
    assert table.dtype == np.uint32
    table[2] = 9
    scale.module["look"][1, 1](out)
    assert out.numpy()[0] == 9


def test_each_gpu_has_variables_of_its_own(gpu, scale) -> None:
    scale.module.get_global(gpu, "table")[2] = 1
    with gpucoh.GPU(protocol="mesi") as other:
        out = other.zeros(1, np.uint32)
        scale.module["look"][1, 1](out)
        assert out.numpy()[0] == 7


def test_variables_made_after_a_snapshot_are_made_again(gpu, scale) -> None:
    before = gpu.snapshot()
    scale.module.get_global(gpu, "table")[2] = 1
    gpu.restore(before)
    assert scale.module.get_global(gpu, "table").numpy()[2] == 7


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((1,), "takes 3 arguments, got 2"),
        ((2.5, 1.0), r"argument 2 of kernel 'scale' \(u32\): 2.5 is a floating-point number"),
        ((2**40, 1.0), r"argument 2 .*1099511627776 does not fit 32 bits"),
        ((np.int64(3), 1.0), r"argument 2 .* has 4 bytes, got 8 \(int64\)"),
        ((np.float32(3), 1.0), r"argument 2 .*3.0.* is float32: give an integer"),
        ((3, np.int32(1)), r"argument 3 .*1.* is int32: give numpy.float32"),
        ((np.zeros(3), 1.0), r"argument 2 .* is a NumPy array: copy it to the GPU"),
        (("x", 1.0), r"argument 2 .*'x' is neither a number"),
        ((3, gpucoh), r"argument 3 .* is neither a number"),
    ],
)
def test_a_bad_argument_is_named(gpu, scale, args, message) -> None:
    with pytest.raises(gpucoh.ConfigError, match=message):
        scale[1, 32](gpu.zeros(32), *args)


def test_an_array_is_no_number_and_must_be_of_the_gpu(gpu, scale) -> None:
    x = gpu.zeros(32)
    with pytest.raises(gpucoh.ConfigError, match=r"argument 2 .* is no pointer, got an array"):
        scale[1, 32](x, x, 1.0)
    with gpucoh.GPU() as other, pytest.raises(gpucoh.ConfigError, match="belong to different GPUs"):
        scale[1, 32](other.zeros(32), gpu.zeros(3), 1.0)


def test_a_wild_address_names_the_nearest_array_thread_and_line(gpu, scale) -> None:
    x = gpu.zeros(32, name="points")
    wanted = r"<ptx>:17: kernel 'scale': load of 4 bytes at address 0x\w+, which is in no array; nearest: 'points'"
    with pytest.raises(gpucoh.KernelError, match=wanted):
        scale[1, 64](x, 64, 1.0)


def test_warps_of_64_lanes_are_refused(scale) -> None:
    gpu = gpucoh.GPU(machine="gcn3", protocol="no-l1")
    with pytest.raises(gpucoh.ConfigError, match="lanes_per_warp = 32"):
        scale[1, 32](gpu.zeros(32), 32, 1.0)


def test_a_program_on_warps_of_64_lanes_is_refused_with_a_line_that_names_the_way_out(
    tmp_path, capsys
) -> None:
    source = tmp_path / "program.cu"
    source.write_text("int main() { return 0; }\n")
    assert call(["cuda", str(source), "-m", "mi210"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "gpucoh: program.cu has warps of 32 lanes, as all CUDA and HIP here, and the machine's have 64: set "
    )
    assert "lanes_per_warp = 32" in line
    assert "fermi, mesh15, h100-like, a40" in line
    assert "mi210" not in line


def test_with_lanes_per_warp_of_32_a_kernel_runs_on_a_machine_of_wavefronts(scale) -> None:
    machine = gpucoh.machine("mi210").replace(lanes_per_warp=32, cores=2)
    gpu = gpucoh.GPU(machine=machine, protocol="gpu-hrf")
    x = gpu.array(np.arange(64, dtype=np.float32))
    scale[1, 64](x, 64, 2.0)
    assert np.array_equal(x.numpy(), 2 * np.arange(64))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (42, "42 is not a CUDA source"),
        ("nothing.ptx", r"CUDA file 'nothing.ptx': No such file"),
        (HEAD + "nonsense;", "a declaration is expected, found 'nonsense'"),
        (HEAD + ".visible .entry k()\n{ ret;", "function 'k' has no end"),
        (HEAD.replace("64", "32"), r"\.address_size 32 \(allowed: 64\)"),
        (HEAD + ".visible .entry k()\n{ 12; }", "'12' is not an instruction"),
    ],
)
def test_what_is_no_module_is_refused_in_one_line(source, message) -> None:
    with pytest.raises(gpucoh.Error, match=message) as caught:
        gpucoh.cuda.Module(source)
    assert "\n" not in str(caught.value)


def test_unknown_names_are_listed_with_the_known_ones(gpu) -> None:
    of = module("arithmetic")
    with pytest.raises(gpucoh.KernelError, match=r"'nope' is not a kernel of module .*vector_add"):
        of["nope"]
    with pytest.raises(gpucoh.ConfigError, match=r"variable 'nope' is not in module .*weights"):
        of.get_global(gpu, "nope")


def test_numba_s_and_triton_s_kernels_come_by_the_same_entry(gpu) -> None:
    """numba passes an array as two pointers, its size, the element's size, the address, the shape and the strides."""
    names = ["meminfo", "parent", "items", "itemsize", "data", "rows", "columns", "stride", "step"]
    parameters = ", ".join(f".param .u64 {name}" for name in names)
    loads = [f"ld.param.u64 %rd{k}, [{name}];" for k, name in enumerate(names)]
    stores = [f"st.u64 [%rd4+{8 * k}], %rd{k};" for k in range(len(names)) if k not in (0, 1, 4)]
    text = (
        f"{HEAD}.visible .entry _ZN8__main__5shapeB2v1Ev({parameters}, .param .f64 by)\n{{\n.reg .b64 %rd<9>;\n"
        + "\n".join([*loads, *stores])
        + "\nret;\n}\n"
    )
    out = gpu.zeros((4, 5), np.int64)
    gpucoh.cuda.RawKernel((text, None), "shape")[1, 1](out, 0.5)
    assert out.numpy().reshape(-1)[[2, 3, 5, 6, 7, 8]].tolist() == [20, 8, 4, 5, 40, 8]
    compiled = SimpleNamespace(asm={"ptx": SCALE}, name="scale_kernel")  # as triton.compile gives
    assert gpucoh.cuda.Module(compiled).kernels == ["_Z5scalePfif", "look"]


def test_a_kernel_of_triton_brings_its_shared_memory_and_scratch_pointers(gpu) -> None:
    text = (
        HEAD
        + """.extern .shared .align 16 .b8 global_smem[];
.visible .entry turn(.param .u64 out, .param .u64 scratch, .param .u64 profile)
{
.reg .b32 %r<5>; .reg .b64 %rd<3>;
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.b32 %r2, global_smem;
add.s32 %r2, %r2, %r1;
st.shared.u32 [%r2], %r0;
bar.sync 0;
xor.b32 %r1, %r1, 4;
mov.b32 %r2, global_smem;
add.s32 %r2, %r2, %r1;
ld.shared.u32 %r3, [%r2];
ld.param.u64 %rd0, [out];
mul.wide.u32 %rd1, %r0, 4;
add.s64 %rd0, %rd0, %rd1;
st.global.u32 [%rd0], %r3;
ret;
}
"""
    )
    compiled = SimpleNamespace(
        asm={"ptx": text}, name="turn", metadata=SimpleNamespace(shared=128, num_warps=1)
    )
    kernel = gpucoh.cuda.RawKernel(compiled, "turn")
    for one in (kernel, pickle.loads(pickle.dumps(kernel))):
        out = gpu.zeros(32, np.int32)
        one[1, 32](out)
        assert out.numpy().tolist() == [k ^ 1 for k in range(32)]


def test_views_share_memory_and_keep_it(gpu) -> None:
    words = gpu.array(np.arange(8, dtype=np.int32))
    halves = words.view(np.uint16)
    halves[1] = 1
    assert words.numpy()[0] == 65536
    words.free()
    with pytest.raises(gpucoh.ConfigError, match="has been freed"):
        halves.numpy()
    with pytest.raises(gpucoh.ConfigError, match="no whole number of elements of float64"):
        gpu.zeros(3).view(np.float64)


def test_the_ptx_of_tests_names_no_folder() -> None:
    for file in FOLDER.glob("*.ptx"):
        paths = re.findall(r'\.file\s+\d+\s+"([^"]*)"', file.read_text(encoding="utf-8"))
        assert paths
        assert not [path for path in paths if "/" in path]


def test_a_workload_may_launch_cuda_kernels() -> None:
    @gpucoh.workload
    def scaled(gpu, rng, n=100):
        x = gpu.array(np.arange(n, dtype=np.float32))
        gpucoh.cuda.RawKernel(SCALE, "scale")[1, 128](x, n, 2.0)
        return {"x": (x, 2 * np.arange(n, dtype=np.float32))}

    result = gpucoh.run(scaled, protocol="mesi", check=True)
    assert result.correct


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        ("_Z6forces7par_str7dim_strP7box_str", "forces"),
        ("_ZN4deep5inner6forcesE7par_str", "forces"),
        ("_ZN12_GLOBAL__N_16forcesEPf", "forces"),
        ("_ZL6forcesPf", "forces"),
        ("forces", "forces"),
    ],
)
def test_a_kernel_s_name_is_not_that_of_a_parameter_s_structure(mangled, plain):
    source = (
        f".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry {mangled}() {{ ret; }}\n"
    )
    assert gpucoh.cuda.Module(source)[plain].name == plain


def test_a_kernel_has_the_module_s_shared_variables_that_it_may_use() -> None:
    text = """.version 7.0
.target sm_75
.address_size 64
.shared .align 4 .b8 first[64];
.shared .align 4 .b8 second[128];
.shared .align 4 .b8 third[256];
.func device() { st.shared.u32 [first+4], 1; ret; }
.visible .entry store() { st.shared.u32 [second], 1; ret; }
.visible .entry call_only() { call device; ret; }
"""
    module = gpucoh.cuda.Module(text)
    words = {name: module[name].program(32, None).shared_words for name in module.kernels}
    assert words == {"store": (64 + 128) // 4, "call_only": 64 // 4}


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrices_of_shared_memory_are_loaded_as_fragments(gpu, trans) -> None:
    text = (
        HEAD
        + f"""
.visible .entry fragments(.param .u64 in, .param .u64 out)
{{
.reg .b32 %r<9>; .reg .b64 %rd<3>;
.shared .align 16 .b8 tile[512];
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [in];
mul.wide.u32 %rd1, %r0, 16;
add.s64 %rd0, %rd0, %rd1;
ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd0];
xor.b32 %r5, %r0, 3;
shl.b32 %r5, %r5, 4;
mov.b32 %r6, tile;
add.s32 %r5, %r5, %r6;
st.shared.v4.u32 [%r5], {{%r1, %r2, %r3, %r4}};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r5, %r6, %r7, %r8}}, [%r5];
ld.param.u64 %rd0, [out];
add.s64 %rd0, %rd0, %rd1;
st.global.v4.u32 [%rd0], {{%r5, %r6, %r7, %r8}};
ret;
}}
"""
    )
    tile = np.random.default_rng(7).integers(0, 1 << 16, (4, 8, 8), np.uint16)
    out = gpu.zeros(128, np.uint32)
    words = gpu.array(tile.reshape(-1).view(np.uint32), dtype=np.uint32)
    gpucoh.cuda.RawKernel(text, "fragments")[1, 32](words, out)
    found = out.numpy().view(np.uint16).reshape(8, 4, 4, 2)  # lane / 4, lane % 4, matrix, element
    wanted = tile.transpose(0, 2, 1) if trans else tile
    np.testing.assert_array_equal(found.transpose(2, 0, 1, 3).reshape(4, 8, 8), wanted)


def test_a_branch_beyond_its_table_is_an_error(gpu) -> None:
    text = (
        HEAD
        + """
.visible .entry far(.param .u32 number)
{
.reg .b32 %r<2>;
ld.param.u32 %r0, [number];
table: .branchtargets one, two;
brx.idx %r0, table;
one: two: ret;
}
"""
    )
    kernel = gpucoh.cuda.RawKernel(text, "far")
    gpu.launch(kernel, grid=1, block=32, args=(1,))
    with pytest.raises(gpucoh.KernelError, match=r"<ptx>.*a branch by a number beyond its table"):
        gpu.launch(kernel, grid=1, block=32, args=(2,))
