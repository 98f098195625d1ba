"""CUDA programs on machines of several GPUs."""

from pathlib import Path

import pytest

from products import share
from registered import COHERENT
from unit.cuda.compiled import cuda, needs_nvcc
from unit.cuda.oracles import FOLDER

PROGRAM = FOLDER / "gpus.cu"
MACHINES = {"two-gpus": 2, "four-gpus": 4}

ERRORS = """device 0 of 2
set: cudaErrorInvalidDevice
properties: cudaErrorInvalidDevice
can: cudaErrorInvalidDevice
itself: 0
itself: cudaErrorInvalidDevice
other: 1
disable: cudaErrorPeerAccessNotEnabled
flags: cudaErrorInvalidValue
enable: cudaSuccess
again: cudaErrorPeerAccessAlreadyEnabled
disable: cudaSuccess
stream of another device: cudaErrorInvalidResourceHandle
event of another device: cudaErrorInvalidResourceHandle
events of two devices: cudaErrorInvalidResourceHandle
peer: cudaErrorInvalidDevice
on device 1
opened: 1
handle of the host's: cudaErrorInvalidValue
"""


def run(what: str, machine: str, protocol: str, folder: Path) -> str:
    done = cuda(PROGRAM, "-m", machine, "-p", protocol, "--check", "--", what, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_nvcc
@pytest.mark.parametrize(("machine", "protocol"), share([*MACHINES], COHERENT, one_in=25))
def test_kernels_of_several_gpus_run_together_and_pass_messages(
    machine: str, protocol: str, tmp_path: Path
) -> None:
    said = run("ring", machine, protocol, tmp_path)
    assert said.startswith(f"{MACHINES[machine]} devices passed 3 messages\n")


@needs_nvcc
@pytest.mark.parametrize(("machine", "protocol"), share([*MACHINES], COHERENT, one_in=50))
def test_a_kernel_waits_for_an_event_of_another_device(
    machine: str, protocol: str, tmp_path: Path
) -> None:
    said = run("chain", machine, protocol, tmp_path)
    assert said.startswith(f"0 wrong, {2 * MACHINES[machine]} kernels, in order\n")


@needs_nvcc
def test_errors_of_devices_are_those_of_cuda(tmp_path: Path) -> None:
    assert run("errors", "two-gpus", "mcm", tmp_path).startswith(ERRORS)


@needs_nvcc
def test_a_machine_of_one_gpu_has_one_device(tmp_path: Path) -> None:
    one = ERRORS.replace("of 2", "of 1").partition("other")[0]
    assert run("errors", "fermi", "mesi", tmp_path).startswith(one + "\n")
