"""Does a trace show what happened, tile every request's life, and change nothing?"""

import json
import re

import numpy as np
import pytest

import gpucoh
from gpucoh.base.errors import ConfigError
from gpucoh.cli import call
from products import share
from unit import browser

PROTOCOLS = ["mesi", "gpu-vi", "tc-weak", "rcc-sc", "gpu-drf", "denovo-drf", "stc-mb", "qr"]
MACHINES = {"qr": "apu", "stc-mb": "gcn3", "denovo-drf": "mesh15"}


@gpucoh.kernel
def handover(lock: gpucoh.Buffer[gpucoh.i32], count: gpucoh.Buffer[gpucoh.i32]):
    if gpucoh.thread_id() == 0:
        while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:
            gpucoh.sleep(20)
        count[0] = count[0] + 1
        gpucoh.atomic_exch(lock, 0, 0, order="release")


def handed_over(protocol="mesi", **window):
    gpu = gpucoh.GPU(machine=MACHINES.get(protocol, "fermi"), protocol=protocol)
    lock, count = gpu.zeros(32, np.int32), gpu.zeros(32, np.int32)
    window = {name: lock if value == "the lock" else value for name, value in window.items()}
    with gpu.trace(**window) as trace:
        gpu.launch(handover, grid=2, block=32, args=(lock, count))
    assert count[0] == 2
    return gpu, trace


@pytest.mark.parametrize("protocol", share(PROTOCOLS, one_in=4))
def test_the_spans_of_a_request_tile_its_life_and_the_statistics_are_those_of_a_bare_run(protocol):
    gpu, trace = handed_over(protocol)
    requests, spans, core = trace.requests(), trace.spans(), gpu.stats().core
    assert spans.groupby("request")["cycles"].sum().tolist() == requests["latency"].tolist()
    for kind in ("load", "store", "atomic"):
        chosen = requests[requests["kind"] == kind]
        assert len(chosen) == core[f"{kind}_instructions"]
        assert chosen["latency"].sum() == core[f"{kind}_latency_cycles"]
    assert requests["source"].str.match(r".*test_traces.py:\d+$").all()

    bare = gpucoh.GPU(machine=MACHINES.get(protocol, "fermi"), protocol=protocol)
    arrays = bare.zeros(32, np.int32), bare.zeros(32, np.int32)
    bare.launch(handover, grid=2, block=32, args=arrays)
    assert bare.stats().to_dict() == gpu.stats().to_dict()


def test_a_window_selects_lines_cycles_and_kinds():
    gpu, whole = handed_over()
    _, lock = handed_over(array="lock", index=0)
    table = whole.table()
    assert set(table["kind"]) >= {"warps", "misses", "messages", "steps", "memory"}
    assert set(lock.table()["array"]) == {"", "lock[0:32]"}
    same = handed_over(array="the lock", index=slice(0, 1))[1]
    assert same.table().equals(lock.table())
    _, part = handed_over(cycles=(300, 600), kinds=["messages"])
    messages = table[(table["kind"] == "messages") & table["cycle"].between(300, 599)]
    assert part.table().equals(messages.reset_index(drop=True))
    sent = sum(item.messages for item in gpu.stats().traffic.values())
    assert len(table[table["kind"] == "messages"]) == sent


def test_a_trace_is_bounded_and_says_what_it_lacks():
    _, whole = handed_over()
    _, cut = handed_over(records=20)
    assert (len(cut), cut.lost) == (20, len(whole) - 20)
    assert "found no room" in cut.note
    assert cut.note in cut.life()
    assert whole.note == ""


def test_what_a_trace_refuses():
    gpu = gpucoh.GPU(protocol="mesi")
    x = gpu.zeros(64, np.int32)
    for given, message in [
        ({"kinds": ["steps", "flash"]}, "flash"),
        ({"cycles": (5, 5)}, "after the first"),
        ({"cycles": 5}, "first, end"),
        ({"index": 3}, "needs array"),
        ({"array": x, "index": 64}, "0 to 63"),
        ({"array": 1.5}, "1.5"),
        ({"records": 0}, "records"),
    ]:
        with pytest.raises(ConfigError, match=message), gpu.trace(**given):
            pass
    with pytest.raises(ConfigError, match="lcok"):
        handed_over(array="lcok")
    with gpu.trace() as trace:
        with pytest.raises(ConfigError, match="traces already"), gpu.trace():
            pass
        with pytest.raises(ConfigError, match="has not ended"):
            trace.table()
        with pytest.raises(ConfigError, match="suffix"):
            trace.save("trace.txt")


def test_the_sequence_chart_names_the_messages_of_a_line():
    _, trace = handed_over()
    line = trace.lines()[0]
    figure = trace.draw(line, most=5)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"L1 0", "GETX"} <= texts
    assert "the first 5 of" in figure.get_suptitle()


def test_the_perfetto_file_decodes_by_its_published_schema(tmp_path):
    schema = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="package perfetto"
    )
    _, trace = handed_over()
    read = schema.Trace()
    read.ParseFromString(trace.save(tmp_path / "lock.pftrace").read_bytes())
    events = [packet for packet in read.packet if packet.HasField("track_event")]
    lanes = {p.track_descriptor.uuid: p.track_descriptor.name for p in read.packet}
    kinds = schema.TrackEvent
    count = dict.fromkeys((kinds.TYPE_SLICE_BEGIN, kinds.TYPE_SLICE_END, kinds.TYPE_INSTANT), 0)
    for packet in events:
        count[packet.track_event.type] += 1
        assert lanes[packet.track_event.track_uuid] in trace.timeline.lanes
    assert count[kinds.TYPE_SLICE_BEGIN] == count[kinds.TYPE_SLICE_END] > 0
    assert count[kinds.TYPE_INSTANT] > 0
    names = {packet.track_event.name for packet in events}
    assert {"atomic lock[0:32]", "memory"} <= names


@pytest.mark.skipif(browser.FOUND is None, reason="no Chromium on this machine")
def test_the_page_zooms_searches_and_cuts_no_text(tmp_path):
    _, trace = handed_over()
    file = trace.save(tmp_path / "lock.html")
    assert not re.search(r"(src|href)\s*=", file.read_text())
    with browser.Browser(file, tmp_path / "profile") as page:
        assert page.js("document.title") == trace.title
        names = page.js("[...document.querySelectorAll('#names div')].map(e => e.textContent)")
        assert names == list(trace.timeline.lanes)
        cut = "[...document.querySelectorAll('h1, #names div, button, #range, #details')]"
        assert page.js(f"{cut}.filter(e => e.scrollWidth > e.clientWidth + 1).length") == 0

        whole = page.js("until - from")
        page.js("document.getElementById('in').click()")
        assert page.js("until - from") == pytest.approx(whole / 2)
        page.js("document.getElementById('fit').click()")
        assert page.js("until - from") == pytest.approx(whole)

        search = "const s = document.getElementById('search'); s.value = '{}'; s.dispatchEvent(new Event('input'))"
        page.js("{" + search.format("GETX") + "}")
        found = sum(
            "getx" in " ".join([i.name, i.lane, i.kind, *i.details.values()]).lower()
            for i in trace.timeline.items
        )
        assert page.js("document.getElementById('found').textContent") == f"{found} found"
        page.js("document.getElementById('next').click()")
        assert "GETX" in page.js("document.getElementById('details').textContent")
        page.js("{" + search.format("no such thing") + "}")
        assert page.js("document.getElementById('found').textContent") == "0 found"
        page.screenshot(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 10_000


def test_the_command_line_writes_timelines_and_explains_a_line(
    tmp_path, monkeypatch, capsys, refused
):
    monkeypatch.chdir(tmp_path)
    run = ["run", "bfs", "-p", "tc-weak", "--scale", "tiny"]
    assert (
        call([*run, "--timeline", "bfs.html", "--array", "distance[0]", "--cycles", "0:9000"]) == 0
    )
    assert "wrote bfs.html" in capsys.readouterr().out
    assert (tmp_path / "bfs.html").read_text().startswith("<!DOCTYPE html>")
    for wrong, message in [
        (["--array", "distance"], "--timeline"),
        (["--timeline", "x.txt"], "suffix"),
        (["--timeline", "x.html", "--cycles", "7"], "FIRST:END"),
        (["--timeline", "x.html", "--array", "distanc"], "distanc"),
    ]:
        assert message in refused(*run, *wrong)
    assert call([*run, "--json"]) == 0
    (tmp_path / "run.json").write_text(capsys.readouterr().out)
    assert call(["explain", "run.json", "--line", "distance[0]"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["cycle", "where", "state"]
    assert any(re.search(r"L1 +\d+ +I +LOAD", line) for line in lines)
    changed = json.loads((tmp_path / "run.json").read_text()) | {"cycles": 7}
    (tmp_path / "run.json").write_text(json.dumps(changed))
    assert "core cycles" in refused("explain", "run.json", "--line", "0x100")


OWN = """
import gpucoh, numpy as np

@gpucoh.kernel
def raise_flag(ready: gpucoh.Buffer[gpucoh.i32]):
    ready[gpucoh.thread_id()] = 1

@gpucoh.workload(scales={"tiny": {}, "small": {}, "paper": {}})
def flags(gpu, rng):
    flags = gpu.zeros(32, np.int32, name="ready flags")
    gpu.launch(raise_flag, grid=1, block=32, args=(flags,))
    return {"flags": (flags, np.ones(32, np.int32))}
"""


@pytest.mark.parametrize("array", ["ready flags[3]", "ready[3]"])
def test_an_own_workloads_array_is_chosen_by_either_name(
    array, tmp_path, monkeypatch, capsys, refused
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    arguments = ["run", "own.py:flags", "-p", "gpu-vi", "--scale", "tiny"]
    assert call([*arguments, "--timeline", "flags.html", "--array", array]) == 0
    capsys.readouterr()
    assert call([*arguments, "--json"]) == 0
    (tmp_path / "run.json").write_text(capsys.readouterr().out)
    assert "-w FILE.py:flags" in refused("explain", "run.json", "--line", array)
    assert call(["explain", "run.json", "--line", array, "-w", "own.py:flags"]) == 0
    assert "STORE" in capsys.readouterr().out
