"""On several dies, do profile, explanation and trace name the die, and do they show which array is on the wrong one?"""

from __future__ import annotations

import re

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32
from gpucoh.cli import call
from gpucoh.results.dies import Dies, link_name
from products import rows

PAGE = 1024  # words
TWO = {"dies": 2, "page_kib": 4, "die_latency": 50, "die_bytes": 8}


@gpucoh.kernel
def read(data: Buffer[i32], out: Buffer[i32]):
    """All blocks read one line, and each writes a line of its own."""
    word = gpucoh.load(data, gpucoh.thread_id())
    out[gpucoh.block_id() // 8 * 1024 + gpucoh.global_id()] = word


@gpucoh.workload(scales={"tiny": {"launches": 2}})
def reading(gpu, rng, launches):
    """A block a core, 8 cores a die. Pages are on die 0 and die 1 by turns: data on die 0, out's on die 1 and die 0."""
    data, out = gpu.array(np.arange(PAGE, dtype=np.int32)), gpu.zeros(2 * PAGE, np.int32)
    for _ in range(launches):
        gpu.launch(read, grid=16, block=32, args=(data, out))
    return {"data": (data, np.arange(PAGE))}


def profiled(protocol="src", **machine):
    return gpucoh.run(reading, protocol, scale="tiny", profile=True, set=TWO | machine)


@pytest.fixture(scope="module")
def runs():
    return profiled(), profiled("mcm")


@pytest.mark.parametrize(
    ("machine", "protocol"),
    rows(
        [
            ("mcm4-quarter", "mcm"),
            ("two-gpus", "mesi"),
            ("hmg4x4-eighth", "tc-weak"),
            ("cpelide4", "src"),
            ("mcm4-quarter", "qr"),
            ("four-gpus", "denovo-drf"),
        ],
        one_in=3,
    ),
)
def test_bytes_of_links_and_requests_add_up_in_every_view(machine, protocol):
    run = gpucoh.run("uts", protocol, machine=machine, scale="tiny", profile=True)
    lines, arrays, dies = (run.profile.by(view) for view in ("line", "buffer", "die"))
    total = sum(link.bytes for link in run.stats.links.values())
    assert lines["link_bytes"].sum() == arrays["link_bytes"].sum() == total > 0
    for name in ("requests", "remote_requests", "link_requests"):
        assert lines[name].sum() == arrays[name].sum() == dies[name].sum() > 0
    assert dies["instructions"].sum() == run.stats.instructions
    assert (arrays["requests"] >= arrays["remote_requests"]).all()


def test_a_table_shows_the_array_that_is_on_another_die_than_its_readers(runs):
    for run, over_link in zip(
        runs, (1, 1 / 8), strict=True
    ):  # one core a launch fetches the line that is kept near
        homes = run.profile.homes().set_index(["buffer", "die"])
        assert list(homes["requests"]) == [16] * 4
        assert list(homes.loc["data", "die 0"][["at_home", "near", "over_link"]]) == [1, 0, 0]
        shares = list(homes.loc["data", "die 1"][["at_home", "near", "over_link"]])
        assert shares == [0, 1 - over_link, over_link]
        assert (homes.loc["out", "over_link"] == 1).all()
        assert run.profile.by("buffer").set_index("buffer").loc["out", "remote_requests"] == 32


def test_warps_and_the_chain_of_waits_have_their_die(runs):
    warps, chain = runs[0].profile.by("warp"), runs[0].profile.critical()
    warps = warps[warps["core"] >= 0]  # beside cores without a block
    assert set(warps["die"]) == {"die 0", "die 1"}
    assert (warps["die"] == "die " + (warps["core"] // 8).astype(str)).all()
    assert set(chain["die"]) <= {"die 0", "die 1"}


def test_one_die_has_no_name():
    run = gpucoh.run(reading, "src", scale="tiny", profile=True)
    assert run.profile.views == ("line", "buffer", "warp")
    assert run.profile.homes().empty
    for view in run.profile.views:
        assert not {"die", "requests", "link_bytes"} & set(run.profile.by(view))
    with pytest.raises(gpucoh.ConfigError, match="unknown view 'die'"):
        run.profile.by("die")
    assert not re.search(r"\bdie|link", str(gpucoh.explain(run, run)))


def test_an_explanation_names_links_and_arrays_of_other_dies(runs):
    text = str(gpucoh.explain(*runs))
    assert "cycles that messages wait for the link die 1 -> die 0" in text
    assert "% of the requests for data" in text
    assert re.search(
        r"Core cycles of waits by die:\n.*\n.* cores of die 0\n.* cores of die 1\n", text
    )
    table = gpucoh.explain(*runs).table.query("measure == 'link_bytes'")
    assert table["value"].sum() == sum(
        link.bytes for run in runs for link in run.stats.links.values()
    )


def test_the_command_names_the_die_of_cores_banks_and_arrays(capsys):
    assert call(["run", "uts", "-p", "src", "-m", "two-gpus", "--scale", "tiny", "--profile"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"busiest part .*unit \d+ of \d+: GPU [01]\)", text)
    assert re.search(r"GPU 1 core \d+ warp", text)
    assert re.search(r"array +cores of +requests +at home +near +over link", text)
    assert re.search(r"stacks.heads +GPU 1 +[\d,]+ +0% +0% +100%", text)


# ---- names, and traces


@pytest.mark.parametrize(
    ("dies", "gpus", "names"),
    [
        (1, 1, [""]),
        (2, 1, ["die 0", "die 1"]),
        (2, 2, ["GPU 0", "GPU 1"]),
        (4, 2, ["GPU 0 die 0", "GPU 0 die 1", "GPU 1 die 2", "GPU 1 die 3"]),
    ],
)
def test_a_die_is_named_with_its_gpu(dies, gpus, names):
    named = Dies.of_machine({"dies": dies, "gpus": gpus})
    assert [named.name_of(die) for die in range(dies)] == names


def test_links_are_named_by_both_ends():
    assert link_name("0-12") == "die 0 -> die 12"
    assert link_name("gpu0-gpu3") == "GPU 0 -> GPU 3"


@pytest.fixture(scope="module")
def trace():
    return gpucoh.run(reading, "mcm", scale="tiny", trace=True, set=TWO | {"gpus": 2}).trace


def test_lanes_of_a_timeline_are_by_die(trace):
    lanes = trace.timeline.lanes
    dies = [name.split(" ", 2)[1] for name in lanes]
    assert all(name.startswith("GPU ") for name in lanes)
    assert dies == sorted(dies)
    assert set(dies) == {"0", "1"}
    assert {"GPU 0 core 0 warp 0", "GPU 1 L1 8", "GPU 1 L2 4"} <= set(lanes)


def test_each_die_of_a_perfetto_file_has_a_track_with_those_of_its_cores(trace, tmp_path):
    schema = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="package perfetto"
    )
    read = schema.Trace()
    read.ParseFromString(trace.save(tmp_path / "two.pftrace").read_bytes())
    tracks = [p.track_descriptor for p in read.packet if p.HasField("track_descriptor")]
    named = {track.uuid: track.name for track in tracks}
    below = {(named.get(track.parent_uuid), track.name) for track in tracks}
    assert {("GPU 0", "core 0 warp 0"), ("GPU 1", "L2 4"), (trace.title, "GPU 1")} <= below


def test_the_life_of_a_line_names_the_dies_of_both_ends_of_a_message(trace):
    head, *lines = trace.life(trace.lines()[0])
    assert all(re.match(r" *\d+ GPU [01] L[12]", line) for line in lines)
    assert any(re.search(r"GPU 1 L2 .*to GPU 0 L2 ", line) for line in lines)
    assert head.index("state") == re.search(r"L\d +\d+ +", lines[0]).end()
    table = trace.table()
    assert set(table["where"].str.slice(0, 5)) == {"GPU 0", "GPU 1"}
