"""Does gpucoh hardware --timing measure, judge and name as its rule says?"""

import json
import math

import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.cli import call
from gpucoh.cuda import compiler
from gpucoh.hardware import measured as own
from gpucoh.hardware.calibration import calibration
from gpucoh.hardware.judgement import AGREES, CONTRADICTS, UNDECIDED, compare, distance, of_level
from gpucoh.hardware.published import GPUS
from gpucoh.hardware.recognition import hidden, nearest, recognise
from gpucoh.hardware.streams import block_rows, cycles_a_block, fitted
from gpucoh.hardware.timing import (
    BARRIER,
    BATTERY,
    BLOCKS,
    CHASE,
    LEVELS,
    Judged,
    Point,
    of_ids,
    over_gpus,
    run_points,
    timing,
)
from gpucoh.machines import machine
from gpucoh.runs.store import Store

SMALL = machine("a40").replace(cores=8)
HALF = machine("h100").replace(cores=66)


# ---- the rule


def test_a_curve_of_twice_the_gpus_has_its_shape_and_a_ratio_of_two():
    fit = compare([200, 400, 800], [100, 200, 400])
    assert (fit.error, fit.ratio, fit.shape, fit.worst) == pytest.approx((1, 2, 0, 2))
    assert fit.verdict == CONTRADICTS  # by its mean error


def test_the_shape_is_what_a_common_factor_leaves():
    fit = compare([110, 90], [100, 100])
    assert (fit.error, fit.ratio, fit.shape) == pytest.approx((0.1, 1.0, 0.1))
    assert fit.verdict == AGREES


@pytest.mark.parametrize(
    ("curve", "verdict"),
    [
        ([119, 119], AGREES),
        ([121, 121], UNDECIDED),
        ([151, 151], CONTRADICTS),
        ([116, 84], UNDECIDED),  # a shape of 16%
        ([131, 69], CONTRADICTS),  # a shape of 31%
        ([100, 49], CONTRADICTS),  # a point beyond a factor of 2
        ([100, math.inf], CONTRADICTS),
    ],
)
def test_the_verdict_on_a_barrier_follows_the_rule(curve, verdict):
    assert compare(curve, [100, 100]).verdict == verdict


@pytest.mark.parametrize(
    ("cycles", "verdict"), [(124, AGREES), (81, AGREES), (140, UNDECIDED), (151, CONTRADICTS)]
)
def test_the_verdict_on_a_level_follows_the_rule(cycles, verdict):
    assert of_level(cycles, 100) == verdict


def test_the_worst_curve_decides_on_a_gpu_and_the_worst_gpu_on_a_protocol():
    levels = {"l1": 33, "l2": 250, "memory": 547}
    good = Judged("p", "a40", levels, levels, (100.0,), compare([100], [100]))
    bad = Judged("p", "l40", {**levels, "l1": 250}, levels, (100.0,), compare([100], [100]))
    assert (good.verdict, bad.verdict) == (AGREES, CONTRADICTS)
    assert over_gpus([good, bad]) == {"p": CONTRADICTS}


def test_curves_count_alike_in_a_distance():
    assert distance([[2, 2], [1]], [[1, 1], [1]]) == pytest.approx(math.log(2) / 2)


# ---- published numbers


def test_published_barriers_are_cycles_of_a_pass_of_64_kib():
    assert [round(one) for one in GPUS["a40"].barrier.cycles] == [
        1606,
        1408,
        1408,
        1481,
        1728,
        2073,
    ]
    assert [round(one) for one in GPUS["h200"].barrier.cycles] == [
        2277,
        2093,
        2060,
        2060,
        2448,
        2595,
    ]
    assert all(gpu.barrier is None or gpu.barrier.blocks == BLOCKS for gpu in GPUS.values())


def test_every_published_number_has_its_repository_commit_and_file():
    for gpu in GPUS.values():
        assert {"chase", *gpu.bandwidth} <= set(gpu.sources)
        assert all(
            source.startswith("https://") and len(source.split()) >= 3
            for source in gpu.sources.values()
        )


# ---- runs


def test_two_protocols_on_one_gpu_are_told_apart():
    """With entries of a line, as GPUs combine stores: 256 words overflow in the chase's writes."""
    found = timing(["gpu-hrf[sb_entry=line]", "mesi"], of_ids(["a40"]), None, jobs=2)
    hrf, mesi = found
    assert hrf.verdict == AGREES
    assert hrf.fit.error < 0.2
    assert mesi.verdict == CONTRADICTS
    assert mesi.barrier[0] > 10 * hrf.barrier[0]


@pytest.mark.long
def test_a_run_beyond_the_cut_off_is_stopped_and_printed(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # of a narrow terminal, which folds cells
    assert call(["hardware", "--timing", "-p", "rfo", "-m", "l40"]) == 0
    assert "> 20x" in capsys.readouterr().out


def test_finished_runs_are_taken_from_the_store(tmp_path, capsys, monkeypatch):
    file = tmp_path / "timing.parquet"
    words = ["hardware", "--timing", "-p", "ideal", "-m", "a40", "--json", "--store", str(file)]
    assert call(words) == 0
    first = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(Point, "carry_out", None)
    assert call(words) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_the_figure_is_written(tmp_path):
    assert call(["hardware", "--timing", "-p", "ideal", "-m", "a40", "--out", str(tmp_path)]) == 0
    assert list(tmp_path.glob("timing.*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--timing", "-m", "a41"], "did you mean 'a40'"),
        (["--timing", "--family", "wrc"], "--family is not an option"),
        (["--cuda", "--timing"], "--timing is not an option of gpucoh hardware --cuda"),
        (["--self"], "--self is not an option of gpucoh hardware without --timing"),
        (["--timing", "--self", "--calibration"], "contradict each other"),
        (["--timing", "--self", "-p", "mesi"], "-p is not an option"),
        (["--timing", "--measured", "no-such-file"], "no-such-file: No such file"),
    ],
)
def test_bad_options_give_one_clear_line(words, message, refused):
    assert message in refused("hardware", *words)


def test_a_preset_gives_back_its_chase_and_its_table_says_where_it_does_not():
    rows = calibration([GPUS["v100"], GPUS["rx6900xt"]], None, bandwidths=False, jobs=2)
    near = {(row.gpu, row.quantity): row.is_near for row in rows}
    assert near == {
        **{("v100", f"latency, {level}"): True for level in ("l1", "l2", "memory")},
        **{("rx6900xt", f"latency, {level}"): True for level in ("l1", "l2", "memory_side")},
        ("rx6900xt", "latency, l1_shared"): False,
    }
    assert [row.quantity for row in rows if row.measured is None] == ["latency, l1_shared"]


def test_a_rate_of_all_cores_is_the_cycles_of_a_block():
    # A40: 84 SMs store 256 bytes a block at 104 GB/s, and load and store 512 at 78; 1740 MHz
    stream = GPUS["a40"].stream
    assert stream.cycles["init"] == pytest.approx(84 * 256 / 104 * 1.74)
    assert stream.cycles["scale"] == pytest.approx(84 * 512 / 78 * 1.74)
    assert {gpu.id: gpu.stream.use for gpu in GPUS.values() if gpu.stream and gpu.stream.use != "compare"} == {
        "a40": "fit", "a100": "fit", "l40": "judge", "h100": "judge", "v100": "judge",
    }  # fmt: skip


def test_a_block_of_one_warp_takes_the_start_of_a_block_more():
    bare, started = (SMALL.replace(block_start_cycles=cycles) for cycles in (0, 100))
    without, measured = (cycles_a_block("read", built, "gpu-hrf") for built in (bare, started))
    assert measured - without == pytest.approx(100, abs=5)


@pytest.mark.long
def test_the_start_of_a_block_is_the_one_fitted_on_two_gpus():
    rows = block_rows([GPUS["a40"], GPUS["a100"]], "gpu-hrf")
    for gpu in ("a40", "a100", "l40", "h100", "h200", "v100"):
        assert machine(gpu).block_start_cycles == round(fitted(rows))


# ---- recognition


def test_a_hidden_machine_is_within_a_fifth_of_its_preset():
    import numpy as np

    preset = machine("a40")
    for seed in range(20):
        drawn = hidden(preset, np.random.default_rng(seed))
        for name in ("cores", "core_mhz", "l1_latency", "l2_round_trip", "dram_round_trip"):
            assert 0.79 < getattr(drawn, name) / getattr(preset, name) < 1.21


@pytest.mark.long
def test_protocols_are_named_on_hidden_machines():
    chosen = ("gpu-hrf", "rcc-wo")
    found = recognise(SMALL, None, protocols=chosen, jobs=2)
    assert [item.named for item in found] == list(chosen)


# ---- own measurements


@pytest.fixture(scope="module")
def text():
    """What the program prints, with the cycles of gpu-hrf on a machine."""
    with Store(None, resume=False) as results:
        points = [Point("gpu-hrf", HALF, one, 0, 10**5) for one in BATTERY]
        found = run_points(points, results, jobs=2, progress=False)
    lines = ["gpucoh-timing 1", "card Invented 1", "driver 13000", "clock_mhz 1980", "cores 66"]
    lines += [f"{p.measure.curve} {p.measure.point} {found[p.key]:.1f}" for p in points]
    return "\n".join([*lines, "bandwidth l1 127.0", "", "more"])


@pytest.fixture
def output(tmp_path, text):
    file = tmp_path / "measured.txt"
    file.write_text(text)
    return file


@pytest.mark.long
def test_invented_numbers_of_a_protocol_are_judged_as_that_protocol(output, capsys):
    read = own.read(output)
    assert (read.gpu.name, read.machine.cores) == ("Invented 1", 66)
    assert read.gpu.bandwidth == pytest.approx({"l1": 127 * 66 * 1.98})
    assert next(iter(nearest(read, None, protocols=("src", "gpu-hrf"), jobs=2))) == "gpu-hrf"
    words = ["hardware", "--timing", "--measured", str(output), "-p", "gpu-hrf"]
    assert call(words) == 0
    printed = capsys.readouterr().out
    assert "measured: Invented 1" in printed
    assert "agrees" in printed


def test_a_measured_gpu_of_two_halves_has_its_own_chase_on_its_machine(output):
    text = output.read_text()
    near, memory = (own.read(output).values["chase", level] for level in ("l2", "memory"))
    output.write_text(text.replace("chase l2 ", f"chase l2_far {near + 150}\nchase l2 "))
    read = own.read(output)
    assert read.machine.l2_crossing == 150
    points = [Point("gpu-hrf", read.machine, one, 0, 10**5) for one in CHASE]
    with Store(None, resume=False) as results:
        found = run_points(points, results, jobs=2, progress=False)
    measured = dict(zip(LEVELS, (found[point.key] for point in points), strict=True))
    assert measured["l2"] == pytest.approx(near + 75, rel=0.03)
    assert measured["memory"] == pytest.approx(memory, rel=0.03)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gpucoh-timing 1", "gpucoh-timing 2", "the first line is not 'gpucoh-timing 1'"),
        ("clock_mhz 1980", "clock_mhz 0", "clock_mhz is '0' (allowed: 100 to 10000)"),
        ("cores 66", "cores many", "cores is 'many' (allowed: 1 to 256)"),
        ("card Invented 1\n", "", "the line 'card' is missing"),
        ("flag message", "flag massage", "the line 'flag message' is missing"),
        ("flag message", "flug message", "is not a curve, its point and a positive number"),
        ("barrier 32 ", "barrier 32 -", "is not a curve, its point and a positive number"),
        ("chase l1 ", "chase l1 9", "the chase's levels do not grow"),
    ],
)
def test_a_bad_file_gives_one_clear_line(old, new, message, output, refused):
    text = output.read_text()
    assert old in text
    output.write_text(text.replace(old, new, 1))
    assert message in refused("hardware", "--timing", "--measured", output)


def missing_compiler():
    """Why the CUDA program cannot be compiled; empty: it can."""
    try:
        compiler.toolkit()
        compiler.host_compiler()
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
@pytest.mark.long
def test_the_cuda_program_runs_on_the_simulated_gpu_and_its_output_is_read(tmp_path, capsys):
    assert call(["hardware", "--cuda"]) == 0
    program = tmp_path / "bench.cu"
    program.write_text(capsys.readouterr().out)
    assert call(["cuda", str(program), "-p", "gpu-hrf", "-m", "fermi", "--json"]) == 0
    printed = tmp_path / "measured.txt"
    printed.write_text(json.loads(capsys.readouterr().out)["output"])
    read = own.read(printed)
    assert (read.gpu.cores, read.gpu.core_mhz) == (16, 1400)
    with Store(None, resume=False) as results:
        points = [Point("gpu-hrf", machine("fermi"), one, 0, 10**5) for one in (*CHASE, *BARRIER)]
        found = run_points(points, results, jobs=2, progress=False)
    for point in points:  # the kernels are the same, the compilers are not
        value = read.values[point.measure.curve, point.measure.point]
        if point.measure.point != "l1":
            assert value == pytest.approx(found[point.key], rel=0.3), point.measure.point
