"""CUDA programs on machines of several GPUs."""

from pathlib import Path

import numpy as np
import pytest

import gpucoh
from products import share
from registered import COHERENT
from unit.cuda.compiled import cuda, needs_nvcc
from unit.cuda.oracles import FOLDER
from unit.cuda.test_programs import EXAMPLES

EXAMPLE = EXAMPLES / "two-mailboxes.cu"
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


def run(what: str, machine: str, protocol: str, folder: Path, program: str = "gpus.cu") -> str:
    done = cuda(
        FOLDER / program, "-m", machine, "-p", protocol, "--check", "--", what, folder=folder
    )
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
@pytest.mark.parametrize(("machine", "protocol"), share([*MACHINES], COHERENT, one_in=25))
@pytest.mark.long
def test_a_kernel_waits_for_an_event_of_another_device(
    machine: str, protocol: str, tmp_path: Path
) -> None:
    said = run("chain", machine, protocol, tmp_path)
    assert said.startswith(f"0 wrong, {2 * MACHINES[machine]} kernels, in order\n")


@needs_nvcc
@pytest.mark.long
@pytest.mark.parametrize("protocol", share(COHERENT, one_in=12))
def test_kernels_with_different_grids_and_memory_run_together(
    protocol: str, tmp_path: Path
) -> None:
    said = run("mixed", "two-gpus", protocol, tmp_path, "gpus-mixed.cu").splitlines()
    assert sorted(said[:5]) == [
        "0 wrong",
        "0: 80 after 255",
        "1: 112 after 256",
        *["large: cudaErrorCooperativeLaunchTooLarge"] * 2,
    ]


@needs_nvcc
@pytest.mark.long
def test_a_host_thread_waits_until_the_others_have_launched(tmp_path: Path) -> None:
    for machine in MACHINES:
        assert run("threads", machine, "mcm", tmp_path, "gpus-mixed.cu").startswith("0 wrong\n")


@needs_nvcc
@pytest.mark.long
def test_the_page_s_two_mailboxes_need_fences_of_scope_sys(tmp_path: Path) -> None:
    def post(*words: object) -> str:
        done = cuda(EXAMPLE, "-m", "two-gpus", "-p", "mcm", *words, folder=tmp_path)
        return done.stdout + done.stderr

    assert "every letter arrived" in post("--check")
    narrow = post("--check", "-D", "SCOPE=gpu")
    assert "two-mailboxes.cu:28 GPU 1 block 0 warp 0 stores buffer allocation 1[0]" in narrow
    assert "two-mailboxes.cu:38 GPU 0 block 0 warp 0 loads it (weak)" in narrow
    assert "448 words are wrong" in post("-D", "SCOPE=none")


# A thread sends words of one access again and again; the other counts those that it finds torn.
FORMS = {
    "u64": ("st.relaxed.sys.global.u64 [%0], %1;", "ld.relaxed.sys.global.u64 %0, [%1];", 1),
    "v2": ("st.volatile.global.v2.u32 [%0], {%1, %1};", "ld.volatile.global.v2.u32 {%0, %1}, [%2];", 2),
    "v4": (
        "st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};",
        "ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];",
        4,
    ),
}  # fmt: skip


def low_latency(form: str) -> str:
    store, load, words = FORMS[form]
    kind, letter = ("unsigned long long", "l") if words == 1 else ("unsigned", "r")
    names = [f"v{k}" for k in range(words)]
    outputs = ", ".join(f'"={letter}"({name})' for name in names)
    whole = (
        " || ".join(f"{name} != v0" for name in names)
        if words > 1
        else "v0 >> 32 != (v0 & 0xFFFFFFFF)"
    )
    value = f"({kind}) i" if words > 1 else "((unsigned long long) i << 32) + i"
    return f"""
extern "C" __global__ void put(unsigned *p, int n) {{
    for (unsigned i = 1; i <= n; i++)
        asm volatile("{store}" :: "l"(p + 4 * threadIdx.x), "{letter}"({value}) : "memory");
}}
extern "C" __global__ void get(unsigned *p, unsigned *torn, int n) {{
    {kind} {", ".join(names)};
    unsigned count = 0;
    do {{
        asm volatile("{load}" : {outputs} : "l"(p + 4 * threadIdx.x) : "memory");
        count += {whole};
    }} while ((unsigned) v0 != n);
    torn[threadIdx.x] = count;
}}
"""


@needs_nvcc
@pytest.mark.parametrize(("form", "protocol"), share([*FORMS], COHERENT, one_in=12))
def test_an_access_of_8_or_16_bytes_is_not_torn(form: str, protocol: str) -> None:
    module = gpucoh.cuda.Module(low_latency(form))
    gpu = gpucoh.GPU("two-gpus", protocol, check=True, deadlock_after=300_000)
    x = gpu.zeros(4 * 64, np.uint32, name="x", device=1)
    torn = gpu.full(64, 9, np.uint32, name="torn", device=1)
    with gpu.concurrent():
        gpu.launch(module["put"], grid=1, block=64, args=(x, 40), device=0)
        gpu.launch(module["get"], grid=1, block=64, args=(x, torn, 40), device=1)
    assert (torn.numpy() == 0).all()


@needs_nvcc
@pytest.mark.long
def test_a_kernel_waits_for_a_later_one_of_another_device(tmp_path: Path) -> None:
    assert run("late", "two-gpus", "mcm", tmp_path).startswith("0 wrong\n")


@needs_nvcc
def test_errors_of_devices_are_those_of_cuda(tmp_path: Path) -> None:
    assert run("errors", "two-gpus", "mcm", tmp_path).startswith(ERRORS)


@needs_nvcc
def test_a_machine_of_one_gpu_has_one_device(tmp_path: Path) -> None:
    one = ERRORS.replace("of 2", "of 1").partition("other")[0]
    assert run("errors", "fermi", "mesi", tmp_path).startswith(one + "\n")
