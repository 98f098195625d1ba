"""Parts of a program's launches: which have time, where it ends, and what a launch is expected to take."""

import json
from pathlib import Path

import pytest

import gpucoh
from gpucoh.cuda import cut
from gpucoh.cuda.cut import Cut, Estimate, launches
from unit.cuda.compiled import cuda, needs_nvcc

STEPS = """
#include <cstdio>
__global__ void step(const int *in, int *out) { out[threadIdx.x] = 2 * in[(threadIdx.x + 1) % 32] + 1; }
int main() {
    int *a[2], sum = 0, words[32];
    for (int k = 0; k < 2; k++) cudaMalloc(&a[k], 128);
    cudaMemset(a[0], 0, 128);
    for (int s = 0; s < 6; s++) step<<<1, 32>>>(a[s % 2], a[1 - s % 2]);
    cudaMemcpy(words, a[0], 128, cudaMemcpyDeviceToHost);
    for (int word : words) sum += word;
    printf("%d\\n", sum);
}
"""
SUM = 32 * 63


@pytest.mark.parametrize(
    ("text", "timed"), [("3", [3]), ("0, 2-4", [0, 2, 3, 4]), ("5-5,1", [1, 5]), (None, range(9))]
)
def test_launches_are_named_by_numbers_and_ranges(text: str | None, timed: list[int]) -> None:
    assert [k for k in range(9) if Cut(launches(text)).times(k)] == list(timed)


@pytest.mark.parametrize("text", ["", "x", "3-", "-3", "4-2", "1,,2", "1.5", "\u0663"])
def test_what_is_no_launch_is_refused(text: str) -> None:
    with pytest.raises(gpucoh.ConfigError, match=r"--launches .* is no launch \(allowed: numbers"):
        launches(text)


def said(progress: list[tuple[float, int]], blocks: int, resident: int) -> list[str]:
    """What is said as processor time passes and blocks end: (seconds, blocks done)."""
    lines: list[str] = []
    now = [0.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut.time, "process_time", lambda: now[0])
        estimate = Estimate(lines.append, lambda: resident)
        for launch in range(2):
            for seconds, done in progress:
                now[0] = 1000 * launch + seconds
                estimate.progress(done, blocks)
            estimate.launched(launch)
    return lines


def test_a_long_launch_is_announced_once_its_first_per_cent_is_done() -> None:
    lines = said([(0, 0), (2, 9), (4, 10), (6, 20)], blocks=1000, resident=20)
    assert lines == [
        f"launch {k}: 10 of 1,000 blocks took 4 s of the processor; all of them may take "
        "3 minutes. --launches and --until leave launches out"
        for k in (0, 1)
    ]


def test_a_launch_whose_first_per_cent_takes_long_is_announced() -> None:
    (line, _) = said([(0, 0), (29, 0), (31, 0), (60, 0)], blocks=100_000, resident=10)
    assert line.startswith("launch 0: 0 of 100,000 blocks took 31 s")
    assert "172.2 hours" in line


def test_a_short_launch_is_not_announced() -> None:
    assert not said([(0, 0), (1, 50), (2, 100)], blocks=100, resident=10)


@needs_nvcc
def test_a_part_of_a_program_is_simulated(tmp_path: Path) -> None:
    source = tmp_path / "steps.cu"
    source.write_text(STEPS, encoding="utf-8")
    found = {}
    for options in ("", "--launches 1,3-4", "--launches 1 --until 2"):
        done = cuda(source, *options.split(), "-p", "mesi", "--check", "--json")
        assert done.returncode == 0, done.stderr
        found[options] = json.loads(done.stdout)
        ended = "gpucoh: --until 2: the program was ended after this launch\n"
        assert done.stderr == (ended if "until" in options else "")
        assert found[options]["output"] == ("" if "until" in options else f"{SUM}\n")
    rows = {key: one["series"]["launches"] for key, one in found.items()}
    assert [[row["launch"] for row in one] for one in rows.values()] == [
        list(range(6)),
        [1, 3, 4],
        [1],
    ]
    assert all(row["cycles"] > 0 for one in rows.values() for row in one)


@needs_nvcc
@pytest.mark.parametrize("options", [("--launches", "2-1"), ("--until", "-1")])
def test_a_wrong_part_is_one_line(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = cuda(tmp_path / "none.cu", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("gpucoh: --")
    assert done.stderr.count("\n") == 1
