"""CUDA sources and whole programs, with the CUDA compiler that is at hand; without one these tests are left out."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import gpucoh
from gpucoh.cuda import compiler
from products import drawn, rows
from unit.cuda.compiled import cuda, needs_nvcc
from unit.cuda.oracles import FOLDER, ORACLES, module

#: The version that the extra `cuda` pins, which made kernels/*.ptx.
PINNED = "13.5.37"
EXAMPLES = Path(__file__).parents[3] / "examples" / "cuda"


@pytest.fixture
def source(tmp_path: Path):
    """Write a program of the text, and return its file."""

    def write(text: str) -> Path:
        path = tmp_path / "program.cu"
        path.write_text(text, encoding="utf-8")
        return path

    return write


# ---- sources


@needs_nvcc
@pytest.mark.parametrize("file", ["arithmetic", "pointers", "sharing"])
def test_kernels_compiled_here_are_right_and_as_fast_as_those_of_the_tree(file: str) -> None:
    fresh, version = gpucoh.cuda.Module(FOLDER / f"{file}.cu"), compiler.toolkit().version
    print(f"nvcc {version}")
    for name, check in ORACLES.items():
        if name not in module(file).kernels:
            continue
        cycles = []
        for of in (module(file), fresh):
            with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
                check.on(gpu, of[name])
                cycles.append(gpu.stats().cycles)
        assert cycles[0] == cycles[1] or version != PINNED, name


UNWRITTEN = """
#include <cstdio>
#include <cstdlib>
__global__ void write(int *p) { p[threadIdx.x] = 1; }
static __attribute__((noinline)) int used(volatile long *words) {
    int n = 0;
    for (int k = 0; k < 2048; k++)
        n += words[k] != 0;
    return n;
}
static __attribute__((noinline)) int used_of_stack() { volatile long words[2048]; return used(words); }
int main() {
    int *p, stack[3];
    cudaMalloc(&p, 128);
    stack[0] = used_of_stack();
    write<<<1, 32>>>(p);
    stack[1] = used_of_stack();
    cudaMemset(p, 0, 128);
    stack[2] = used_of_stack();
    int heap = used((long *) malloc(2048 * sizeof(long)));
    printf("%d %d %d %d\\n", heap, stack[0], stack[1], stack[2]);
}
"""


@needs_nvcc
@pytest.mark.long
def test_memory_that_a_program_reads_before_it_writes_has_nothing_of_the_simulator(source) -> None:
    done = cuda(source(UNWRITTEN), "-p", "mesi")
    heap, *stack = map(int, done.stdout.splitlines()[0].split())
    assert heap == 0
    assert max(stack) < 100, stack  # what the loader and returned calls leave; else 500 to 1,200


@needs_nvcc
@pytest.mark.parametrize("type", ["unsigned __int128", "__int128"])
def test_divisions_of_128_bits_are_exact(type: str) -> None:
    divide = gpucoh.cuda.RawKernel(
        f"""typedef {type} wide;
extern "C" __global__ void divide(const wide *a, const wide *b, wide *q, wide *r)
{{
    q[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x];
    r[threadIdx.x] = a[threadIdx.x] % b[threadIdx.x];
}}""",
        "divide",
    )
    draw = np.random.default_rng(22)
    shifts = draw.integers(1, 128, (2, 64)).tolist()
    a, b = ([int.from_bytes(draw.bytes(16)) >> n for n in row] for row in shifts)
    a[0], b = 10, [3, *(one or 7 for one in b[1:])]
    if type == "__int128":
        a, b = ([-one if draw.integers(2) else one for one in values] for values in (a, b))
    words = [b"".join((one % 2**128).to_bytes(16, "little") for one in values) for values in (a, b)]
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
        given = [gpu.array(np.frombuffer(one, np.uint64), dtype=np.uint64) for one in words]
        quotients, rests = gpu.zeros(128, np.uint64), gpu.zeros(128, np.uint64)
        divide[1, 64](*given, quotients, rests)
        found = [quotients.numpy().tolist(), rests.numpy().tolist()]
    for k, (over, under) in enumerate(zip(a, b, strict=True)):
        quotient = abs(over) // abs(under) * (1 if (over < 0) == (under < 0) else -1)
        wanted = [one % 2**128 for one in (quotient, over - quotient * under)]
        assert [one[2 * k] | one[2 * k + 1] << 64 for one in found] == wanted, (over, under)


@needs_nvcc
@drawn(one_in=6)
def test_an_error_of_the_compiler_is_one_line_at_the_user_s_line(source) -> None:
    wrong = "__global__ void f(int *x)\n{\n    *x = y;\n}\n"
    with pytest.raises(
        gpucoh.ConfigError, match=r'<cuda>\(3\): error: identifier "y" is undefined'
    ):
        gpucoh.cuda.Module(wrong)
    with pytest.raises(gpucoh.ConfigError, match=r"program\.cu\(3\): error"):
        gpucoh.cuda.Module(source(wrong))


@needs_nvcc
@drawn(one_in=6)
def test_a_source_is_compiled_again_only_if_it_or_a_header_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    header, source = tmp_path / "factor.h", tmp_path / "scale.cu"
    header.write_text("#define FACTOR 2\n")
    source.write_text(
        '#include "factor.h"\nextern "C" __global__ void f(int *x) { *x = FACTOR; }\n'
    )
    calls = []
    compiled = compiler._compiled
    monkeypatch.setattr(
        compiler, "_compiled", lambda *given: (calls.append(1), compiled(*given))[1]
    )
    found = [gpucoh.cuda.Module(source).ptx for _ in range(2)]
    assert found[0] == found[1]
    assert len(calls) == 1
    header.write_text("#define FACTOR 3\n")
    assert gpucoh.cuda.Module(source).ptx != found[0]
    for entry in (tmp_path / "cache" / "gpucoh" / "cuda").glob("*.ptx"):
        entry.write_text("damaged")
    assert gpucoh.cuda.Module(source).kernels == ["f"]
    assert len(calls) == 3


@drawn(one_in=6)
def test_without_a_compiler_a_line_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_homes", lambda: iter(()))
    with pytest.raises(
        gpucoh.ConfigError, match=r"no CUDA compiler \(nvcc\): pip install 'gpucoh\[cuda\]'"
    ):
        gpucoh.cuda.Module("__global__ void f() {}")
    monkeypatch.undo()
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    with pytest.raises(gpucoh.ConfigError, match="CUDA_HOME = /nowhere has no bin/nvcc"):
        gpucoh.cuda.Module("__global__ void f() {}")


# ---- programs


@needs_nvcc
@drawn(one_in=6)
def test_the_example_runs_unchanged_and_is_compared(tmp_path: Path) -> None:
    done = cuda(EXAMPLES / "kmeans.cu", "-p", "tc-weak", "--json", "--", 500, 3, 2, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "as on the host" in found["output"]
    assert found["exit_status"] == 0
    kernels = [row["kernel"] for row in found["series"]["launches"]]
    assert kernels == ["scatter", "assign", "assign"]
    assert found["cycles"] > 1000
    done = cuda(EXAMPLES / "kmeans.cu", "-p", "no-l1,mesi", "--", 500, 3, 2, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "as on the host" in done.stdout
    assert (tmp_path / "figures" / "speedup.png").is_file()


@needs_nvcc
@drawn(one_in=6)
def test_the_page_s_bug_shows_under_one_protocol_and_is_found_under_another(tmp_path: Path) -> None:
    mailbox = EXAMPLES / "mailbox.cu"
    assert "every letter arrived" in cuda(mailbox, "-p", "tc-weak", folder=tmp_path).stdout
    wrong = cuda(mailbox, "-p", "gpu-hrf", folder=tmp_path)
    assert "256 words are wrong" in wrong.stdout
    assert wrong.returncode == 1
    found = cuda(mailbox, "-p", "tc-weak", "--check", folder=tmp_path)
    assert found.returncode == 2
    assert "data race: kernel 'post' at " in found.stderr
    assert "mailbox.cu:21 " in found.stderr
    assert "mailbox.cu:38 " in found.stderr
    for protocol in ("tc-weak", "gpu-hrf"):
        mended = cuda(mailbox, "-D", "FENCE", "-p", protocol, "--check", folder=tmp_path)
        assert "every letter arrived" in mended.stdout, mended.stderr


PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
struct node { node *next; int value; };
__global__ void add(node *list, int by) { for (; list; list = list->next) list->value += by; }
__global__ void wild(int *p) { *p = 1; }
int main(int argc, char **argv)
{
    int what = atoi(argv[1]);
    node *list;
    cudaMallocManaged(&list, 3 * sizeof *list);
    for (int k = 0; k < 3; k++) list[k] = node{k < 2 ? &list[k + 1] : nullptr, k};
    add<<<1, 1>>>(list, 10);
    cudaDeviceSynchronize();
    printf("%d %d %d\\n", list[0].value, list[1].value, list[2].value);
    if (what == 1) exit(7);
    if (what == 2) *(volatile int *) nullptr = 1;
    if (what == 3) { int own; wild<<<1, 1>>>(&own); }
    if (what == 4) { cudaGraph_t graph; cudaGraphCreate(&graph, 0); }
    if (what == 5) { add<<<0, 1>>>(list, 1); printf("%s\\n", cudaGetErrorString(cudaGetLastError())); }
    if (what == 6) { add<<<1, 4096>>>(list, 1); printf("%s\\n", cudaGetErrorString(cudaGetLastError())); }
    if (what == 7) { char host[8]; cudaMemcpy(host, list + 2, 64, cudaMemcpyDeviceToHost); }
    if (what == 8) { cudaFree(list); list = nullptr; add<<<1, 1>>>((node *) 0x10, 1); }
    return 0;
}
"""


@needs_nvcc
@pytest.mark.parametrize(
    ("what", "status", "message"),
    rows(
        [
            (0, 0, ""),
            (1, 7, ""),
            (2, 2, "the program was ended by SIGSEGV"),
            (3, 2, r"program.cu:7: kernel 'wild': store of 4 bytes at address 0x"),
            (4, 2, "the program calls cudaGraphCreate, which gpucoh's CUDA runtime does not have"),
            (5, 0, "add: not launched, grid (0, 1, 1) or block (1, 1, 1) has an extent of 0"),
            (6, 0, "add: not launched, block (4096, 1, 1) has 4096 threads (allowed: up to 1024)"),
            (7, 2, "cudaMemcpy: 64 bytes at 0x"),
            (8, 2, "program.cu:6: kernel 'add': "),
        ],
        one_in=8,
    ),
)
def test_what_a_program_does_wrong_is_said_in_one_line(source, what, status, message) -> None:
    path = source(PROGRAM)
    done = cuda(path, "-p", "tc-weak", "--", what, folder=path.parent)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith("10 11 12\n")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == (1 if message else 0)
    if what in (5, 6):
        assert "invalid configuration argument" in done.stdout


FRAGMENTS = """
#include <cstdio>
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void product(const half *a, const half *b, float *c) {
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, col_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(left, a, 16);
    load_matrix_sync(right, b, 16);
    fill_fragment(sum, 1.0f);
    mma_sync(sum, left, right, sum);
    for (int k = 0; k < sum.num_elements; k++)
        sum.x[k] *= 2;
    store_matrix_sync(c, sum, 16, mem_row_major);
    if (threadIdx.x == 0)
        printf("a %s of %d\\n", c[0] < 1e9f ? "fragment" : "piece", sum.num_elements);
}
int main() {
    half *a, *b;
    float *c;
    cudaMallocManaged(&a, 512), cudaMallocManaged(&b, 512), cudaMallocManaged(&c, 1024);
    for (int k = 0; k < 256; k++)
        a[k] = k % 7 - 3, b[k] = k % 5 - 2;
    product<<<1, 32>>>(a, b, c);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 1;
            for (int k = 0; k < 16; k++)
                sum += (float) a[16 * i + k] * (float) b[16 * j + k];
            wrong += c[16 * i + j] != 2 * sum;
        }
    printf("%d wrong\\n", wrong);
}
"""


@needs_nvcc
def test_fragments_of_cuda_s_header_are_multiplied(source) -> None:
    done = cuda(source(FRAGMENTS), "-p", "tc-weak")
    assert "a fragment of 8\n0 wrong\n" in done.stdout, done


@needs_nvcc
@drawn(one_in=6)
def test_managed_variables_have_one_address_for_host_and_device(source) -> None:
    path = source("""
#include <cstdio>
__managed__ int total = 5, many[64];
__global__ void add(int by) { atomicAdd(&total, by); many[threadIdx.x] += threadIdx.x; }
int main()
{
    printf("%d ", total);
    total += 10;
    many[5] = 100;
    add<<<2, 32>>>(2);
    cudaDeviceSynchronize();
    printf("%d %d %d\\n", total, many[5] > 100, many[40]);
}
""")
    done = cuda(path, "-p", "tc-weak", folder=path.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("5 143 1 0\n")


@needs_nvcc
@drawn(one_in=6)
def test_a_kernel_that_is_refused_ends_its_program(source) -> None:
    path = source("""
__device__ int down(int n) { return n < 2 ? 1 : n * down(n - 1) + down(n - 2); }
__global__ void recursive(int *p) { *p = down(*p); }
int main() { int *p; cudaMalloc(&p, 4); recursive<<<1, 1>>>(p); cudaDeviceSynchronize(); return 0; }
""")
    done = cuda(path, "-p", "tc-weak", folder=path.parent)
    assert done.returncode == 2
    assert "program.cu:2: kernel 'recursive': " in done.stderr
    assert "recursive, which is not supported" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_nvcc
@pytest.mark.long
def test_several_files_make_a_program_and_a_profile_names_its_lines(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(
        '#include "kernel.h"\n#include <cstdio>\nint main() { printf("%d\\n", run(5)); return 0; }\n'
    )
    (tmp_path / "kernel.h").write_text("int run(int);\n")
    (tmp_path / "kernel.cu").write_text(
        '#include "kernel.h"\n__device__ int total;\n'
        "__global__ void sum(int n)\n{\n    atomicAdd(&total, n);\n}\n"
        "int run(int n)\n{\n    int found;\n    sum<<<2, 32>>>(n);\n"
        "    cudaMemcpyFromSymbol(&found, total, sizeof found);\n    return found;\n}\n"
    )
    # A file without kernels, and one with a kernel and a variable of the same names.
    (tmp_path / "plain.cu").write_text("int none(int n) { return n; }\n")
    (tmp_path / "other.cu").write_text(
        "static __device__ int total = 9;\n__global__ void sum(int n) { total -= n; }\n"
        "void other() { sum<<<1, 1>>>(0); }\n".replace("__global__", "static __global__")
    )
    done = cuda(
        "main.cu", "plain.cu", "other.cu", "kernel.cu", "-p", "no-l1", "--profile", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("320\n")
    assert "kernel.cu:5" in done.stdout
    assert "total" in done.stdout


@needs_nvcc
@drawn(one_in=6)
def test_a_timeline_is_written(tmp_path: Path) -> None:
    done = cuda(EXAMPLES / "mailbox.cu", "-p", "mesi", "--trace", "post.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "post.html").read_text(encoding="utf-8").lower()


@pytest.mark.skipif(shutil.which("nm") is None, reason="binutils are not installed")
@drawn(one_in=6)
def test_bad_options_end_with_status_2(tmp_path: Path) -> None:
    for words, message in (
        (["none.cu"], "none.cu"),
        (["none.cu", "-p", "mesi,tc-weak", "--profile"], "--profile and --trace are of a run"),
        (["none.cu", "-m", "nope"], "nope"),
    ):
        done = cuda(*words, folder=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1
