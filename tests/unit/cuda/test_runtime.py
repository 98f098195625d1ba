"""CUDA's runtime in whole programs: errors that it returns, how programs end, and memory that they register."""

import ctypes
import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpucoh
from gpucoh.cli.cuda import _judged
from gpucoh.cuda import programs
from gpucoh.cuda.memory import Memory
from gpucoh.cuda.programs import Failure, Launch, Outcome, Started
from products import drawn, rows
from unit.cuda.compiled import cuda, needs_nvcc

PROGRAM = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <cuda_runtime.h>
__device__ int four[4];
__global__ void speak(int n) { printf("kernel %d\n", n); }
__global__ void add(int *p, int n) { for (int i = 0; i < n; i++) p[i] += 1; }
static void say(const char *what, cudaError_t e) { printf("%s: %s\n", what, cudaGetErrorName(e)); }
static void errors()
{
    printf("%s, %s\n", cudaGetErrorName(cudaErrorNotReady), cudaGetErrorString(cudaErrorNotReady));
    int value = -1, host[9];
    cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlockDimZ, 0);
    printf("z: %d\n", value);
    say("texture", cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture1DWidth, 0));
    cudaEvent_t a, b;
    float ms;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventRecord(a);
    say("not recorded", cudaEventElapsedTime(&ms, a, b));
    say("no event", cudaEventRecord(0));
    say("symbol", cudaMemcpyFromSymbol(host, four, sizeof host));
    say("behind symbol", cudaMemcpyToSymbol(four, host, 4, 16));
    int *d;
    cudaMalloc(&d, 64);
    say("direction", cudaMemcpy(host, d, 4, cudaMemcpyHostToDevice));
    say("pitch", cudaMemcpy2D(host, 8, d, 4, 8, 2, cudaMemcpyDeviceToHost));
    cudaPitchedPtr cube;
    size_t heap;
    cudaMalloc3D(&cube, make_cudaExtent(8, 3, 2));
    cudaMemset(cube.ptr, 1, cube.pitch * 6);
    cudaMemcpy2DAsync(host, 8, (char *) cube.ptr + 5 * cube.pitch, cube.pitch, 8, 1, cudaMemcpyDeviceToHost, 0);
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    printf("cube: %zu %zu %x %zu\n", cube.pitch, cube.ysize, host[1], heap);
    add<<<dim3(1, 65536), 1>>>(d, 1);
    say("grid", cudaGetLastError());
    add<<<1, dim3(1, 1, 65)>>>(d, 1);
    say("block", cudaGetLastError());
}
static void registers()
{
    int *r = (int *) malloc(4000), *d, back[3];
    for (int i = 0; i < 1000; i++) r[i] = i;
    say("register", cudaHostRegister(r + 1, 3000, cudaHostRegisterMapped));
    say("again", cudaHostRegister(r + 5, 30, cudaHostRegisterMapped));
    cudaHostGetDevicePointer(&d, r + 1, 0);
    add<<<1, 1>>>(d + 2, 3);
    cudaDeviceSynchronize();
    r[4] = 100;
    add<<<1, 1>>>(d + 2, 3);
    cudaMemcpy(back, d + 2, sizeof back, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d, %d\n", r[2], r[3], r[4], r[5], r[6], r[751], back[1]);
    say("unregister", cudaHostUnregister(r + 1));
    say("unregister", cudaHostUnregister(r + 1));
}
int main(int argc, char **argv)
{
    const char *what = argv[1];
    int *p;
    cudaMalloc(&p, 64);
    if (strcmp(what, "fork") == 0 && fork() == 0) { add<<<1, 1>>>(p, 4); exit(5); }
    add<<<1, 1>>>(p, 4);
    cudaDeviceSynchronize();
    if (strcmp(what, "errors") == 0) errors();
    if (strcmp(what, "register") == 0) registers();
    if (strcmp(what, "SIGABRT") == 0) abort();
    if (strcmp(what, "SIGINT") == 0) raise(SIGINT);
    if (strcmp(what, "SIGSEGV") == 0) memset(&what, 'x', 1 << 17);
    if (strcmp(what, "_Exit") == 0) _Exit(3);
    if (strcmp(what, "quick_exit") == 0) quick_exit(3);
    if (strcmp(what, "exec") == 0) execlp("true", "true", NULL);
    if (strcmp(what, "256") == 0) return 256;
    if (strcmp(what, "2") == 0) return 2;
    if (strcmp(what, "closes") == 0) {
        for (int file = 3; file < 256; file++) close(file);
        FILE *own = fopen("own", "w+");
        add<<<1, 1>>>(p, 4);
        close(2);
        add<<<0, 1>>>(p, 4);
        return cudaGetLastError() != cudaErrorInvalidConfiguration || fgetc(own) != EOF;
    }
    if (strcmp(what, "fault") == 0) add<<<1, 1>>>((int *) 8, 1);
    for (int n = 0; strcmp(what, "speak") == 0 && n < 2; n++) {
        printf("before %d\n", n);
        speak<<<1, 1>>>(n);
        cudaDeviceSynchronize();
    }
    if (strcmp(what, "speed") == 0) {
        cudaEvent_t a, b;
        float ms;
        cudaEventCreate(&a);
        cudaEventCreate(&b);
        cudaEventRecord(a);
        add<<<1, 1>>>(p, 4);
        cudaEventRecord(b);
        cudaEventElapsedTime(&ms, a, b);
        printf("%s ms\nnumber %s\n", "7.25", "1");
        printf("%.9f ms\n", ms);
        if (argc > 2) printf("number %.9f\n", ms);
        fprintf(stderr, "a message\n");
    }
    return what[strlen(what) - 1] == '\xff';
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runtime") / "program.cu"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@needs_nvcc
@drawn(one_in=6)
def test_errors_are_those_of_cuda(program: Path) -> None:
    done = cuda(program, "--", "errors", folder=program.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n\n")[0].splitlines() == [
        "cudaErrorNotReady, device not ready",
        "z: 64",
        "texture: cudaErrorInvalidValue",
        "not recorded: cudaErrorInvalidResourceHandle",
        "no event: cudaErrorInvalidResourceHandle",
        "symbol: cudaErrorInvalidValue",
        "behind symbol: cudaErrorInvalidValue",
        "direction: cudaErrorInvalidValue",
        "pitch: cudaErrorInvalidPitchValue",
        "cube: 512 3 1010101 8388608",
        "grid: cudaErrorInvalidConfiguration",
        "block: cudaErrorInvalidConfiguration",
    ]
    assert "cudaDeviceGetAttribute: attribute 21 is not known" in done.stderr


@needs_nvcc
@drawn(one_in=6)
def test_kernels_write_registered_memory(program: Path) -> None:
    done = cuda(program, "--", "register", folder=program.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n\n")[0].splitlines() == [
        "register: cudaSuccess",
        "again: cudaErrorHostMemoryAlreadyRegistered",
        "2 5 101 7 6 751, 101",
        "unregister: cudaSuccess",
        "unregister: cudaErrorHostMemoryNotRegistered",
    ]


@needs_nvcc
@pytest.mark.parametrize(
    ("what", "status", "own_status", "failure"),
    rows(
        [
            ("SIGABRT", 2, None, "the program was ended by SIGABRT"),
            ("SIGINT", 2, None, "the program was ended by SIGINT"),
            ("SIGSEGV", 2, None, "the program was ended by SIGSEGV"),
            ("exec", 2, None, "the process ended with status 0 without a call of exit"),
            ("fault", 2, None, "kernel 'add': load of 4 bytes at address 0x8"),
            ("_Exit", 3, 3, ""),
            ("quick_exit", 3, 3, ""),
            ("256", 0, 0, ""),
            ("2", 2, 2, ""),
            ("fork", 0, 0, ""),
            ("closes", 0, 0, ""),
            (b"caf\xe9\xff", 1, 1, ""),
        ],
        one_in=8,
    ),
)
def test_statistics_are_kept_however_a_program_ends(
    program, what, status, own_status, failure
) -> None:
    what = what if isinstance(what, str) else what.decode(errors="surrogateescape")
    done = cuda(program, "--json", "--", what, folder=program.parent)
    assert done.returncode == status, done.stderr
    found = json.loads(done.stdout)
    assert found["exit_status"] == own_status
    assert failure in found["failure"]
    assert [row["kernel"] for row in found["series"]["launches"]][:1] == ["add"]
    assert found["series"]["launches"][0]["cycles"] > 100
    assert found["correct"] is (status == 0)
    assert bool(done.stderr) == bool(failure)
    assert done.stderr.startswith("gpucoh: " if failure else "")


@needs_nvcc
@drawn(one_in=6)
def test_what_kernels_print_is_in_order_with_what_the_program_prints(program, monkeypatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    done = cuda(program, "--", "speak", folder=program.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:4] == ["before 0", "kernel 0", "before 1", "kernel 1"]


@needs_nvcc
@pytest.mark.long
def test_a_comparison_shows_failures_and_other_outputs_as_such(program: Path) -> None:
    def compared(*words: str) -> tuple[int, list[str], str]:
        done = cuda(program, "-p", "tc-weak,mesi", "--json", "--", *words, folder=program.parent)
        runs = json.loads(done.stdout)
        verdicts = [f"{run['correct']}: {run['where']}" for run in runs["runs"]]
        return done.returncode, verdicts, done.stderr

    assert compared("speed") == (
        0,
        ["True: ", "True: "],
        "tc-weak: a message\nmesi: a message\n",
    )
    status, verdicts, _ = compared("speed", "more")
    assert status == 0
    assert verdicts[0] == "True: "
    assert verdicts[1].startswith("None: the output differs from that under tc-weak: number 0.0")
    status, verdicts, _ = compared("SIGABRT")
    assert status == 1
    assert verdicts == ["False: the program was ended by SIGABRT"] * 2


@drawn(one_in=6)
def test_registered_memory_is_copied_where_kernels_see_it() -> None:
    with gpucoh.GPU(machine="fermi", protocol="tc-weak") as gpu:
        memory, host = Memory(gpu), (ctypes.c_uint * 8)(*range(8))
        address = ctypes.addressof(host)
        assert memory.enlist(address, 30)
        assert not memory.enlist(address + 8, 4)
        device = memory.device_address(address + 4)
        assert memory.device_address(address + 30) == 0
        memory.to_device()
        words = np.empty(2, np.uint32)
        gpu.core.host_read(device, words)
        assert words.tolist() == [1, 2]
        gpu.core.host_write(device, np.array([50, 60], np.uint32))
        memory.to_host()
        assert host[:4] == [0, 50, 60, 3]
        memory.copy(device, address, 4)
        assert host[1] == 0
        assert memory.delist(address)
        assert not memory.delist(address)


@drawn(one_in=6)
def test_a_crash_leaves_the_launches_before_it(tmp_path: Path) -> None:
    result = gpucoh.run("reduction", scale="tiny", protocol="mesi")
    with gpucoh.GPU(protocol="mesi") as gpu:
        first = gpu.stats().of_a_run()
    launch = Launch("add", (2, 1, 1), (32, 1, 1), result.stats, {"add": {}}, 1)
    records = [Started(replace(result, stats=first)), launch, launch]
    place = tmp_path / "results"
    place.write_bytes(b"".join(map(pickle.dumps, records)) + b"half a record")
    found = programs._outcome(-11, programs._records(place), 1.0)
    assert found.failure == "the program was ended by SIGSEGV"
    assert found.status is None
    assert found.result.cycles == result.cycles
    assert [row["cycles"] for row in found.result.series.launch_rows] == [result.cycles, 0]
    assert found.result.verdict == "failed"
    found = programs._outcome(2, [records[0], Failure("a fault", "DeadlockError")], 1.0)
    assert found.result.verdict == "deadlock"
    with pytest.raises(gpucoh.SimulationError, match="before its main"):
        programs._outcome(1, [], 1.0)


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("sum 3\n12.5 ms, 3 GB/s\n", "correct"),
        ("sum 4\n12.5 ms, 3 GB/s\n", "differs"),
        ("sum 3\n0.25 ms, 1e3 GB/s\n", "correct"),
        ("sum 3\n", "differs"),
    ],
)
def test_an_output_may_differ_in_times_alone(output: str, verdict: str) -> None:
    result = gpucoh.run("reduction", scale="tiny", protocol="mesi")
    first, own = (
        Outcome(0, "", (), result, text.encode()) for text in ("sum 3\n12.5 ms, 3 GB/s\n", output)
    )
    assert _judged(own, first).verdict == verdict


@drawn(one_in=6)
def test_options_are_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "a.cu").touch()
    for words, message in (
        (["--out", "x"], "--out is of a comparison"),
        (["--trace", "/nowhere/a.html"], "--trace /nowhere/a.html: the file cannot be written"),
        (["--trace", "a.txt"], "the suffix must be one of"),
        (["--set", "nope=1"], "nope"),
        (["-p", "mesi,tc-weak", "-j", "-1"], "jobs = -1"),
    ):
        done = cuda("a.cu", *words, folder=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


COPIES = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void scale(int *x, int by) { x[threadIdx.x] *= by; }
int main(int count, char **words)
{
    int host[64], *x, unwritten = 0;
    for (int size = 16; size < 400000; size *= 3) {
        char *block = (char *) malloc(size);
        for (int k = 0; k < size; k++) unwritten += block[k] != 0;
    }
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<1, 64>>>(x, atoi(words[1]));
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d bytes are not 0\n", unwritten);
    return 0;
}
"""


@needs_nvcc
@drawn(one_in=6)
def test_a_program_s_heap_is_zeros_and_what_it_copies_back_has_a_hash(tmp_path: Path) -> None:
    file = tmp_path / "copies.cu"
    file.write_text(COPIES)
    found = []
    for protocol, factor in (("no-l1", 3), ("tc-weak", 3), ("no-l1", 4)):
        run = cuda(file, "-p", protocol, "--json", "--", factor)
        assert "0 bytes are not 0" in run.stdout + run.stderr
        found.append(json.loads(run.stdout[run.stdout.index("{") :])["details"])
    assert found[0]["copied to host"] == 256
    assert found[0] == found[1] != found[2]
