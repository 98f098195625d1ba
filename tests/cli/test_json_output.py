"""Is the JSON on standard output alone there, whatever a user's workload prints?"""

import json
import subprocess
import sys

import pytest

from gpucoh.cli import call

STUDY = """
import gpucoh
print("module")
@gpucoh.kernel
def shout(n: gpucoh.i32):
    print("kernel", n)
@gpucoh.workload(scales={"tiny": {"n": 8}, "small": {"n": 8}, "paper": {"n": 8}})
def loud(gpu, rng, n):
    print("host")
    gpu.launch(shout, grid=1, block=1, args=(n,))
    return True
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.py"
    path.write_text(STUDY)
    return path


def arguments(command, study):
    if command == "run":
        return ["run", f"{study}:loud", "-p", "ideal", "--scale", "tiny"]
    if command == "compare":
        return ["compare", "-w", f"{study}:loud", "-p", "ideal,mesi", "--scale", "tiny"]
    if command == "workloads":
        return ["workloads", f"{study}:loud"]
    file = study.with_suffix(".toml")
    file.write_text(f'workload = "{study}:loud"\nprotocol = "ideal"\nscale = "tiny"\n')
    return ["sweep", str(file), "--out", str(study.with_suffix(".parquet"))]


@pytest.mark.parametrize("command", ["run", "compare", "sweep", "workloads"])
def test_what_a_workload_prints_goes_to_standard_error(study, capsys, command):
    assert call([*arguments(command, study), "--json"]) == 0
    out, error = capsys.readouterr()
    assert json.loads(out)
    assert error.startswith("module\n")
    if command != "workloads":
        assert "host\n" in error
        assert "kernel 8\n" in error


def test_without_json_it_goes_to_standard_output(study, capsys):
    assert call(arguments("run", study)) == 0
    assert "kernel 8\n" in capsys.readouterr().out


def test_closed_standard_error_loses_it_alone(study, tmp_path):
    command = [sys.executable, "-m", "gpucoh", *arguments("run", study), "--json"]
    shell = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *command], stdout=subprocess.PIPE, cwd=tmp_path
    )
    assert shell.returncode == 0
    assert json.loads(shell.stdout)["correct"]


def test_a_recorded_run_prints_its_intervals(study, capsys):
    assert call([*arguments("run", study), "--every", "100", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)
    assert sum(row["cycles"] for row in run["series"]["intervals"]) == run["cycles"]
    assert [row["kernel"] for row in run["series"]["launches"]] == ["shout"]
    assert call([*arguments("run", study), "--every", "100"]) == 0
    assert "largest stall" in capsys.readouterr().out
    assert call([*arguments("run", study), "--every", "0"]) == 2
    assert "every = 0" in capsys.readouterr().err
