"""The tester of CUDA kernels: kernels that the commit draws, and whether it finds a fault."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpucoh.ptx import arithmetic
from unit.cuda.compiled import needs_nvcc

ROOT = Path(__file__).parents[3]


@needs_nvcc
@pytest.mark.long
def test_kernels_drawn_by_the_commit_compute_what_they_do_on_the_host() -> None:
    """``SEED=`` repeats a draw, as of ``make proof-products``; ``python tools/cuda_tester.py`` draws more."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    seed = os.environ.get("SEED") or commit.stdout.strip() or "1"
    done = subprocess.run(
        [sys.executable, "tools/cuda_tester.py", "--kernels", "40", "--seed", seed],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


@needs_nvcc
@pytest.mark.long
def test_a_fault_is_found_and_its_kernel_made_small(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import cuda_tester

    monkeypatch.setattr(cuda_tester, "FAILURES", tmp_path)
    monkeypatch.setitem(arithmetic._INTEGER, "rem", ("DIV", "DIV"))
    assert cuda_tester.main(["--kernels", "5", "--seed", "8", "--per-file", "5"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert int(first.partition("; ")[2].split()[0]) <= 4
    assert (tmp_path / f"{first.split()[0]}.cu").is_file()
