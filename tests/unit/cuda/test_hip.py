"""HIP programs: the same results and cycles as their CUDA twins, HIP's names, and what is refused."""

import json
from pathlib import Path

import pytest

from gpucoh.cuda import compiler, hip
from products import drawn
from unit.cuda.compiled import cuda, needs_nvcc

pytestmark = needs_nvcc

PROGRAMS = Path(__file__).parent / "hip"


def test_a_program_is_as_its_cuda_twin() -> None:
    runs = []
    for words in (("--hip",), ()):
        run = cuda(*words, PROGRAMS / "twins.cu", "-p", "gpu-hrf", "--check", "--json")
        assert run.returncode == 0, run.stderr
        runs.append(json.loads(run.stdout))
    of_hip, twin = runs
    assert of_hip["output"] == twin["output"] == "sum 374250, wrong 0, first 100\n"
    for key in ("cycles", "instructions", "counters", "traffic"):
        assert of_hip[key] == twin[key]


def test_names_and_functions_are_hip_s() -> None:
    source = PROGRAMS / "names.cpp"
    run = cuda("--hip", source, "-p", "tc-weak", "-m", "mi210", "--set", "lanes_per_warp=32")
    assert run.stdout.splitlines()[:3] == [
        "1 32 32 gpucoh",
        "0 1 6 42 9 13 99 0 50 10000000005 1.5 9.5 -5 wrong 0",
        "hipErrorInvalidValue hipErrorOutOfMemory",
    ], run.stderr
    assert run.returncode == 0, run.stderr
    missing = cuda("--hip", source, "--", "more")
    assert missing.returncode == 2
    assert missing.stderr == (
        "gpucoh: the program calls hipMemcpy3DAsync, which gpucoh's CUDA runtime does not have\n"
    )


CUB = """
#include <hipcub/hipcub.hpp>
#include <cstdio>
__global__ void most(const int *x, int *y) {
    typedef hipcub::BlockReduce<int, 64> Reduce;
    __shared__ Reduce::TempStorage room;
    int found = Reduce(room).Reduce(x[threadIdx.x], hipcub::Max());
    if (threadIdx.x == 0) *y = found;
}
int main() {
    int *x;
    hipMallocManaged(&x, 65 * sizeof *x);
    for (int k = 0; k < 64; k++) x[k] = 37 * k % 64;
    most<<<1, 64>>>(x, x + 64);
    hipDeviceSynchronize();
    printf("%d\\n", x[64]);
}
"""


@drawn(one_in=3)
def test_hipcub_is_cub(tmp_path: Path) -> None:
    (tmp_path / "cub.hip").write_text(CUB)
    run = cuda(tmp_path / "cub.hip")
    assert run.stdout.startswith("63\n"), run.stderr


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("int main() { hipFoo(); }", (), 'bad.hip(2): error: identifier "hipFoo" is undefined'),
        ("#include <hipblas/hipblas.h>", (), "hipblas/hipblas.h: No such file"),
        (
            "int main() { }",
            ("-m", "mi210"),
            "bad.hip has warps of 32 lanes, as all CUDA and HIP here, and the machine's have 64",
        ),
    ],
)
def test_what_is_refused_is_named(tmp_path: Path, text: str, words, message: str) -> None:
    (tmp_path / "bad.hip").write_text(f"#include <hip/hip_runtime.h>\n{text}\n")
    run = cuda(tmp_path / "bad.hip", *words)
    assert run.returncode == 2
    assert message in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_the_headers_of_a_compiler_that_is_a_script_are_found(tmp_path: Path) -> None:
    kit = compiler.toolkit()
    script = tmp_path / "bin" / "nvcc"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {kit.nvcc} "$@"\n')
    script.chmod(0o755)
    assert hip.options(compiler.Toolkit(script)) == hip.options(kit)
