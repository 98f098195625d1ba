"""Is a finished row on disk at once, at a cost that does not grow with the rows, and safe from a kill?"""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pyarrow.parquet as pq
import pytest

import gpucoh
from gpucoh.runs import store
from gpucoh.runs.store import Journal, Store

RUNS = [
    {"workload": "vec-cpy", "protocol": "ideal", "scale": "tiny", "seed": seed} for seed in range(4)
]


def row(number, **more):
    """A row of a sweep without its statistics."""
    texts = ("workload", "protocol", "machine", "consistency", "model", "scale", "verdict", "where")
    made = dict.fromkeys(texts, "x") | {"key": f"k{number}-c", "seed": number, "mismatches": 0}
    return made | {"correct": True, "error": None, "version": "1", "code": "c", "cycles": 7} | more


def kept(out):
    with Store(out, resume=True) as found:
        return dict(found.rows)


def test_what_is_read_is_what_was_written(tmp_path):
    odd = row(
        1, seed=2**64 - 1, where="ü\n\x00", energy_j=0.1 + 0.2, set_cores=None, histogram=[1, 2]
    )
    written = Journal(tmp_path / "r.parquet")
    written.append(odd, ["k0-old"])
    written.append(row(2))
    assert list(Journal(tmp_path / "r.parquet").read()) == [(odd, ["k0-old"]), (row(2), [])]


def test_a_journal_of_version_0_3_0_is_read(tmp_path):
    line = '8176754b [{"key": "k1-c", "seed": 1, "correct": true}, ["k0-c"]]\n'
    (tmp_path / "r.parquet.journal").write_text(line)
    (read,) = Journal(tmp_path / "r.parquet").read()
    assert read == ({"key": "k1-c", "seed": 1, "correct": True}, ["k0-c"])


SLOW = """
import sys
import gpucoh
from gpucoh.runs import store

store.FLUSH_SECONDS = 1e9
add = store.Store.add

def report(self, row, replaced):
    add(self, row, replaced)
    sys.stderr.write("row\\n")

store.Store.add = report
runs = [*RUNS, {"workload": "spm_g", "scale": "paper", "params": {"iterations": 100000}}]
gpucoh.sweep(runs, out="r.parquet", jobs=1)
"""


@pytest.mark.long
def test_a_kill_loses_no_finished_row(tmp_path, counted):
    """The first is in the file, which can be read at any time, the others are in the journal."""
    program = SLOW.replace("RUNS", repr(RUNS))
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in RUNS:
            assert process.stderr.readline() == "row\n"
        process.send_signal(signal.SIGKILL)
    out = tmp_path / "r.parquet"
    assert len(pq.read_table(out)) == 1
    with pytest.raises(gpucoh.ConfigError, match="exists: remove it, or continue it with resume"):
        gpucoh.sweep(RUNS, out=out)
    table = gpucoh.sweep(RUNS, out=out, resume=True)
    assert counted == []
    assert table.equals(pd.read_parquet(out)[table.columns])
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == ["r.parquet"]


def test_a_line_that_a_kill_has_cut_off_is_ignored(tmp_path):
    out = tmp_path / "r.parquet"
    found = Journal(out)
    for number in range(3):
        found.append(row(number))
    os.truncate(found.path, found.path.stat().st_size - 9)
    assert list(kept(out)) == ["k0-c", "k1-c"]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("place", [3, 40, 400, -20])
def test_a_damaged_line_is_refused_and_nothing_is_removed(tmp_path, place):
    out = tmp_path / "r.parquet"
    found = Journal(out)
    for number in range(3):
        found.append(row(number))
    data = bytearray(found.path.read_bytes())
    data[place] ^= 1
    found.path.write_bytes(data)
    with pytest.raises(gpucoh.ConfigError, match=r"r\.parquet\.journal is damaged in line [123]: "):
        Store(out, resume=True)
    assert found.path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [found.path]


def test_a_journal_without_its_file_is_not_overwritten(tmp_path):
    Journal(tmp_path / "r.parquet").append(row(1))
    with pytest.raises(gpucoh.ConfigError, match=r"r\.parquet\.journal exists: remove it, or"):
        Store(tmp_path / "r.parquet", resume=False)
    assert list(kept(tmp_path / "r.parquet")) == ["k1-c"]


def test_a_replaced_row_does_not_come_back(tmp_path, monkeypatch):
    out = tmp_path / "r.parquet"
    with Store(out, resume=False) as found:
        found.add(row(1))
    monkeypatch.setattr(store, "FLUSH_SECONDS", 1e9)
    found = Store(out, resume=True)
    found.add(row(2))
    found.add(row(3), ["k1-c"])
    found._unlock()  # as a kill does
    assert list(kept(out)) == ["k2-c", "k3-c"]


def test_the_cost_of_a_row_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """The clock goes on by 0.1 s a row and by 2 ms a stored row in a save: the file is written ever less often."""
    now, written, saved = [0.0], [0], []

    def append(file, line, at):
        written[0] += len(line)
        return len(line)

    monkeypatch.setattr(store.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(store.os, "pwrite", append)

    def write(table, part, **how):
        now[0] += 0.002 * len(table)
        saved.append(len(table))
        part.write_bytes(b"")

    monkeypatch.setattr(store.pq, "write_table", write)
    costs = {}
    with Store(tmp_path / "r.parquet", resume=False) as found:
        for number in range(1, 4001):
            now[0] += 0.1
            found.add(row(number))
            costs[number] = 0.002 * sum(saved) / now[0], written[0]
    assert saved[0] == 1
    assert len(saved) > 5
    assert all(share < 0.05 for number, (share, _) in costs.items() if number > 100)
    assert costs[4000][1] < 2.05 * costs[2000][1]


def test_rows_reach_the_disk_by_the_clock(tmp_path, monkeypatch):
    now, synced = [100.0], []
    monkeypatch.setattr(store.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(store.os, "fsync", synced.append)
    found = Journal(tmp_path / "r.parquet")
    found.append(row(1))
    assert len(synced) == 1
    now[0] += 1.0
    found.append(row(2))
    found.sync()
    assert len(synced) == 1
    now[0] += 4.0
    found.sync()
    found.sync()
    assert len(synced) == 2


def test_a_running_sweep_looks_at_the_clock(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(store.Store, "sync", lambda self: looked.append(time.monotonic()))
    gpucoh.sweep(RUNS, out=tmp_path / "r.parquet", jobs=1)
    assert looked


def test_a_disk_that_is_full_leaves_the_rows_before(tmp_path, monkeypatch):
    out = tmp_path / "r.parquet"
    found = Store(out, resume=False)
    found.add(row(1))
    found.add(row(2))
    original = os.pwrite

    def full(file, line, at):
        if len(line) < 50:
            raise OSError(28, "No space left on device")
        return original(file, line[:-40], at)

    with monkeypatch.context() as patch:
        patch.setattr(store.os, "pwrite", full)
        with pytest.raises(gpucoh.ConfigError, match=r"journal cannot be written: No space left"):
            found.add(row(3))
    found._unlock()
    assert list(kept(out)) == ["k1-c", "k2-c"]
