"""What is compiled again, and what is said where a compiler or a linker refuses."""

import os
import subprocess
from pathlib import Path

import pytest

import gpucoh
from gpucoh.cuda import building, compiler
from products import drawn
from unit.cuda.compiled import cuda, needs_nvcc

KERNEL = 'extern "C" __global__ void f(int *x) { *x = FACTOR; }\n'


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_names_of_headers_may_have_spaces_and_dollars(tmp_path: Path) -> None:
    for name in ("a b.h", "c$d.h", "e#f.h"):
        (tmp_path / name).touch()
    rule = tmp_path / "rule.d"
    rule.write_text(
        f"out.o: {tmp_path}/a\\ b.h \\\n    {tmp_path}/c$$d.h {tmp_path}/e\\#f.h gone.h\n"
    )
    assert [file.name for file in compiler.dependencies(rule)] == ["a b.h", "c$d.h", "e#f.h"]


def test_a_library_that_appears_in_an_earlier_folder_changes_what_is_linked(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    options = [f"-L{first}", f"-L{second}", "-lhelp", str(tmp_path / "own.o")]
    (second / "libhelp.a").write_bytes(b"1")
    (tmp_path / "own.o").write_bytes(b"1")
    found = [building._libraries(options)]
    (first / "libhelp.so").write_bytes(b"1")
    found.append(building._libraries(options))
    (tmp_path / "own.o").write_bytes(b"2")
    found.append(building._libraries(options))
    assert len({tuple(one) for one in found}) == 3


@pytest.mark.parametrize(
    ("given", "options"),
    [(" ", []), ("ccache cc -O1", ["-O1"]), ("cc -m64 '-D x'", ["-m64", "-D x"])],
)
def test_cxx_may_have_options_and_a_launcher(monkeypatch, tmp_path, given, options) -> None:
    for name in ("cc", "g++", "ccache"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", given)
    found = compiler.host_compiler()
    assert Path(found[0]).name == ("cc" if options else "g++")
    assert found[1:] == options


@pytest.mark.parametrize(("mode", "reason"), [(0o755, "Exec format error"), (0o644, "Permission")])
def test_an_nvcc_that_is_no_program_is_named(monkeypatch, tmp_path, mode, reason) -> None:
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("garbage")
    nvcc.chmod(mode)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(gpucoh.ConfigError, match=rf"bin/nvcc cannot be executed: {reason}"):
        assert compiler.toolkit().version


def test_a_program_is_refused_before_a_compiler_runs(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.touch()
    with pytest.raises(gpucoh.ConfigError, match=r"a\.cu is given twice: multiple definition"):
        building.build([source, tmp_path / "." / "a.cu"])


SHARING_DEVICE = """
#include "shared.h"
__device__ int offset = 40;
static __device__ int own() { return offset; }
__device__ int shifted(int x) { return x + own(); }
"""
SHARING_KERNEL = """
#include <cstdio>
#include "shared.h"
extern __device__ int offset;
__global__ void shift(int *x) { *x = shifted(*x) + offset; }
int main() {
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    *x = 2;
    shift<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    printf("%d\\n", *x);
}
"""


@needs_nvcc
@pytest.mark.long
@pytest.mark.parametrize("option", ["-rdc=true", "--relocatable-device-code=true", "-dc"])
def test_files_may_share_device_functions_and_variables(tmp_path: Path, option: str) -> None:
    for name, text in (("a.cu", SHARING_DEVICE), ("b.cu", SHARING_KERNEL)):
        (tmp_path / name).write_text(text)
    (tmp_path / "shared.h").write_text("__device__ int shifted(int x);\n")
    run = cuda("a.cu", "b.cu", f"--nvcc={option}", "-p", "mesi", folder=tmp_path)
    assert run.stdout.startswith("82\n"), run.stderr
    if option == "-dc":
        (tmp_path / "b.cu").write_text("static __device__ int own() { return 1; }\n")
        run = cuda("a.cu", "b.cu", "--nvcc=-dc", "-p", "mesi", folder=tmp_path)
        assert (run.returncode, "own" in run.stderr, len(run.stderr.splitlines())) == (2, True, 1)


def test_the_first_error_of_a_compiler_is_told_from_its_last_line() -> None:
    for lines, reason in (
        (["/usr/bin/ld: multiple definition of `main'", "collect2: error: ld returned 1"], "main"),
        (["a.cu(1): warning: x", "nvcc fatal   : Unknown option '--foo'"], "--foo"),
        (["a.cu(3): error: y", "1 error detected"], "error: y"),
    ):
        with pytest.raises(gpucoh.ConfigError, match=reason):
            compiler.refused("a.cu", lines)
    with pytest.raises(gpucoh.ConfigError, match="the program cannot be linked: multiple"):
        compiler.refused("", ["multiple definition of `main'"])


@pytest.mark.parametrize(
    ("name", "is_of_cuda"),
    [
        ("cudaMallocArray", True), ("__cudaRegisterTexture", True), ("cuInit", True), ("cublasCreate_v2", True),
        ("curandCreateGenerator", True), ("customRun", False), ("cut", False), ("cudaRun(int)", False),
    ],
)  # fmt: skip
def test_only_names_of_cuda_s_libraries_may_be_missing_until_they_are_called(
    name, is_of_cuda
) -> None:
    assert bool(building._CUDA_NAME.fullmatch(name)) is is_of_cuda


@needs_nvcc
@drawn(one_in=6)
def test_a_header_that_precedes_another_one_is_seen(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    (tmp_path / "second" / "the factor.h").write_text("#define FACTOR 2\n")
    source = tmp_path / "scale.cu"
    source.write_text(f'#include "the factor.h"\n{KERNEL}')
    options = ["-Ifirst", "-Isecond"]
    found = [gpucoh.cuda.Module(source, options).ptx]
    (tmp_path / "second" / "the factor.h").write_text("#define FACTOR 3\n")
    found.append(gpucoh.cuda.Module(source, options).ptx)
    (tmp_path / "first" / "the factor.h").write_text("#define FACTOR 4\n")
    found.append(gpucoh.cuda.Module(source, options).ptx)
    assert len(set(found)) == 3
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DFACTOR=5")
    source.write_text(KERNEL)
    fifth = gpucoh.cuda.Module(source).ptx
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DFACTOR=6")
    assert gpucoh.cuda.Module(source).ptx != fifth


@needs_nvcc
@drawn(one_in=6)
def test_the_name_of_a_text_is_no_path() -> None:
    assert '"<cuda>"' in gpucoh.cuda.Module(KERNEL, ["-DFACTOR=1"]).ptx


@needs_nvcc
@pytest.mark.long
def test_damaged_programs_and_runtimes_are_built_again(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text("""
__global__ void f(int *x) { *x = 5; }
int main()
{
    int *x, y;
    cudaMalloc(&x, 4);
    f<<<1, 1>>>(x);
    cudaMemcpy(&y, x, 4, cudaMemcpyDefault);
    return y;
}
""")
    assert cuda("main.cu", folder=tmp_path).returncode == 5
    folder = tmp_path / "cache" / "gpucoh" / "cuda"
    (program,), (runtime,) = folder.glob("*/program.so"), folder.glob("runtime-*.so")
    whole = [file.read_bytes() for file in (program, runtime)]
    program.write_bytes(whole[0][:5000] + bytes([whole[0][5000] ^ 1]) + whole[0][5001:])
    runtime.write_bytes(whole[1][:-100])
    program.with_name("0.ptx").unlink()
    done = cuda("main.cu", folder=tmp_path)
    assert done.returncode == 5, done.stderr
    assert [len(file.read_bytes()) for file in (program, runtime)] == [len(one) for one in whole]
    folder.chmod(0o777)
    done = cuda("main.cu", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"gpucoh: the cache folder {folder} is writable by others")
    with pytest.raises(gpucoh.ConfigError, match="is writable by others"):
        gpucoh.cuda.Module(KERNEL, ["-DFACTOR=9"])


@needs_nvcc
@drawn(one_in=6)
def test_undefined_functions_and_changed_libraries_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text("int help(int); int main() { return help(2); }\n")
    done = cuda("main.cu", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "gpucoh: undefined: help(int), which no file of the program defines\n"
    for status in (3, 4):
        (tmp_path / "help.cpp").write_text(f"int help(int n) {{ return {status}; }}\n")
        host = compiler.host_compiler()
        subprocess.run([*host, "-fPIC", "-c", "help.cpp"], cwd=tmp_path, check=True)
        assert cuda("main.cu", "help.o", folder=tmp_path).returncode == status
        os.replace(
            tmp_path / "help.o", tmp_path / "libhelp.a"
        )  # a linker takes an object by this name
        words = ["--nvcc=-L.", "--nvcc=-lhelp", "--nvcc=-lcudart"]
        assert cuda("main.cu", *words, folder=tmp_path).returncode == status
    subprocess.run(
        [*host, "-shared", "-fPIC", "help.cpp", "-o", "libgone.so"], cwd=tmp_path, check=True
    )
    done = cuda("main.cu", "--nvcc=-L.", "--nvcc=-lgone", folder=tmp_path)
    assert done.returncode == 2
    assert "the program cannot be loaded: libgone.so" in done.stderr.splitlines()[-1]
    for words in (
        [f"--nvcc=-Xlinker=-rpath,{tmp_path}"],
        ["--nvcc=-Xlinker", f"--nvcc=-rpath={tmp_path}"],
    ):
        done = cuda("main.cu", "--nvcc=-L.", "--nvcc=-lgone", *words, folder=tmp_path)
        assert done.returncode == status, done.stderr
