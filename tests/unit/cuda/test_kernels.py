"""CUDA kernels, from the PTX beside them, against NumPy under the protocols."""

import numpy as np
import pytest

import gpucoh
from products import share
from registered import COHERENT
from unit.cuda.oracles import NEEDS_COHERENCE, ORACLES, array, module


@pytest.mark.parametrize(("kernel", "protocol"), share(list(ORACLES), COHERENT, one_in=18))
def test_a_kernel_is_right_under_every_protocol_with_a_model(kernel: str, protocol: str) -> None:
    with gpucoh.GPU(machine="fermi", protocol=protocol, check=True) as gpu:
        ORACLES[kernel](gpu)


@pytest.mark.parametrize("kernel", NEEDS_COHERENCE)
def test_without_coherence_communication_within_a_launch_is_wrong(kernel: str) -> None:
    with gpucoh.GPU(machine="fermi", protocol="no-coh") as gpu, pytest.raises(AssertionError):
        ORACLES[kernel](gpu)


def test_without_coherence_a_polled_flag_never_changes() -> None:
    gpu = gpucoh.GPU(machine="fermi", protocol="no-coh", deadlock_after=20_000)
    with pytest.raises(gpucoh.DeadlockError, match=r"sharing\.cu:1\d\d"):
        ORACLES["volatile_flags"](gpu)


def test_a_race_is_found_and_its_line_named() -> None:
    gpu = gpucoh.GPU(machine="fermi", protocol="tc-weak", check=True)
    with pytest.raises(
        gpucoh.SimulationError, match=r"data race: .*'racy_count' at sharing\.cu:181"
    ):
        module("sharing")["racy_count"][2, 32](gpu.zeros(1, np.int32))


def test_printf_prints_in_the_form_of_c(capsys: pytest.CaptureFixture[str]) -> None:
    with gpucoh.GPU(machine="fermi", protocol="no-l1") as gpu:
        module("sharing")["speak"][1, 32](array(gpu, np.array([3, -10], np.int32)), 2)
    assert capsys.readouterr().out == (
        "thread 0 of 32:  0.75 30000000000\nthread 1 of 32: -2.50 -100000000000\n"
    )


def test_a_failed_assertion_names_its_line() -> None:
    values = np.zeros(32, np.int32)
    values[5] = 100
    gpu = gpucoh.GPU(machine="fermi", protocol="no-l1")
    wanted = r"sharing\.cu:193: .*in\[threadIdx\.x\] < 100.*\(5,0,0\)"
    with pytest.raises(gpucoh.KernelError, match=wanted):
        module("sharing")["insist"][1, 32](array(gpu, values))


@pytest.mark.parametrize("pointer", [1, 1 << 32 | 16])  # 16 is a function's address
def test_a_call_by_a_pointer_to_no_function_names_its_line(pointer: int) -> None:
    gpu = gpucoh.GPU(machine="fermi", protocol="no-l1")
    with pytest.raises(
        gpucoh.KernelError, match=r"pointers\.cu:6\d: .*the address of no such function"
    ):
        module("pointers")["by_nothing"][1, 32](
            array(gpu, np.array([pointer])), gpu.zeros(32, np.int32)
        )


def test_a_profile_charges_waits_to_the_arrays_of_addresses() -> None:
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu, gpu.profile() as profile:
        values = [gpu.full(1000, 1.0, name=name) for name in ("left", "right", "sum")]
        module("arithmetic")["vector_add"][4, 256](*values, 1000)
    table = profile().by("buffer").set_index("buffer")
    assert (table.loc[["left", "right"], "cycles"] > 0).any()
    assert table.loc["(none)", "stalls_scoreboard"] < table["stalls_scoreboard"].sum()
