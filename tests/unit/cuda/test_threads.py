"""CUDA programs of several host threads, whose calls wait for each other."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from products import share
from registered import COHERENT
from unit.cuda.compiled import cuda, needs_nvcc
from unit.cuda.oracles import FOLDER

PROGRAM = FOLDER / "threads.cu"


@needs_nvcc
@pytest.mark.parametrize(
    ("what", "protocol"), share(["threads", "openmp", "shared"], COHERENT, one_in=20)
)
@pytest.mark.long
def test_threads_of_the_host_have_right_results(what: str, protocol: str, tmp_path: Path) -> None:
    done = cuda(PROGRAM, "--nvcc=-Xcompiler=-fopenmp", "-p", protocol, "--", what, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 wrong\n")


@needs_nvcc
@pytest.mark.long
def test_a_program_may_end_while_another_thread_launches(tmp_path: Path) -> None:
    words = ["--nvcc=-Xcompiler", "--nvcc=-fopenmp", "-p", "mesi", "--json"]
    done = cuda(PROGRAM, *words, "--", "exit", folder=tmp_path)
    found = json.loads(done.stdout)
    assert found["exit_status"] == done.returncode == 3, done.stderr
    assert found["failure"] == ""
    assert len(found["series"]["launches"]) >= 2


# The compiler's own function that launches a kernel writes a static pointer, the same in every thread.
RACES = """
import os, subprocess, sys
from dataclasses import replace
from pathlib import Path
import gpucoh
from gpucoh.cuda import building, compiler
from gpucoh.cuda.programs import run_program

source, folder, library = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
built = building.build([source], ["-Xcompiler=-fsanitize=thread", "--default-stream=per-thread"])
runtime = folder / "runtime.so"
flags = ["-x", "c", "-g", "-w", "-shared", "-cudart", "none", "-Xcompiler", "-fsanitize=thread,-fPIC"]
code = Path(building.__file__).with_name("runtime.c")
nvcc, host = str(compiler.toolkit().nvcc), compiler.for_host(compiler.host_compiler())
subprocess.run([nvcc, *host, *flags, str(code), "-o", str(runtime)], check=True)
with gpucoh.GPU(machine="fermi") as gpu:
    machine = gpu.machine
(folder / "known").write_text("race:__device_stub__")
os.environ["LD_PRELOAD"], os.environ["TSAN_OPTIONS"] = library, f"exitcode=66 suppressions={folder}/known"
done = run_program(
    replace(built, runtime=runtime), "threads", ["threads"], capture="all", machine=machine, protocol="mesi",
    consistency=None, seed=0, check=False, budget=10**9, deadlock_after=10**6,
)
print(done.output.decode(), done.messages.decode())
sys.exit(done.status)
"""


@needs_nvcc
@pytest.mark.long
def test_the_runtime_has_no_data_races(tmp_path: Path) -> None:
    found = subprocess.run(
        ["g++", "-print-file-name=libtsan.so"], capture_output=True, text=True, check=False
    )
    library = found.stdout.strip()
    if not os.path.isabs(library) or shutil.which("setarch") is None:
        pytest.skip("g++'s ThreadSanitizer or setarch is not installed")
    # Addresses that differ from run to run may be where ThreadSanitizer has its own memory.
    fixed = ["setarch", "-R", sys.executable, "-c"]
    tried = subprocess.run(
        [*fixed, "print('runs')"],
        env={**os.environ, "LD_PRELOAD": library}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tried.stdout != "runs\n":
        pytest.skip(f"ThreadSanitizer does not run here: {tried.stderr.strip()[:200]}")
    done = subprocess.run(
        [*fixed, RACES, str(PROGRAM), str(tmp_path), library],
        env={**os.environ, "CXX": "g++"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout
