"""Are files of results written and read as they should be, and bad ones refused?"""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpucoh
from gpucoh.runs import store
from host import HOST
from products import rows

RUNS = [
    {"workload": "vec-cpy", "protocol": protocol, "scale": "tiny", "seed": seed}
    for protocol in ("no-l1", "ideal")
    for seed in (0, 1)
]


def test_results_are_not_overwritten_unless_resumed(tmp_path):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:1], out=out)
    with pytest.raises(gpucoh.ConfigError, match="exists"):
        gpucoh.sweep(RUNS[:1], out=out)


def test_results_behind_a_link_are_written_there_and_the_link_stays(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "results.parquet"
    link.symlink_to("there/kept.parquet")
    for number in (1, 2):
        gpucoh.sweep(RUNS[:number], out=link, resume=True)
        assert link.is_symlink()
        assert len(pd.read_parquet(tmp_path / "there" / "kept.parquet")) == number


@pytest.mark.parametrize("resume", [False, True])
def test_a_pipe_keeps_no_results(tmp_path, resume):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(gpucoh.ConfigError, match="not a regular file"):
        gpucoh.sweep(RUNS[:1], out=tmp_path / "pipe", resume=resume)
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


def test_a_file_that_holds_no_results_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_text("no parquet")
    with pytest.raises(gpucoh.ConfigError, match="is not a result file"):
        gpucoh.sweep(RUNS, out=tmp_path / "x.parquet", resume=True)


@pytest.mark.parametrize(
    ("change", "message"),
    rows([
        (lambda rows: rows.drop(columns="key"), "no column 'key'"),
        (lambda rows: rows.drop(columns="correct"), "no column 'correct'"),
        (lambda rows: rows[["key"]], "no column 'workload'"),
        (lambda rows: rows.assign(key=[1, 2]), "column 'key' holds int64, not text"),
        (lambda rows: rows.assign(key=["a", None]), "column 'key' has rows without a value"),
        (lambda rows: rows.assign(key=None), "column 'key' holds null, not text"),
        (lambda rows: rows.assign(key="a"), "column 'key' has duplicates"),
        (lambda rows: rows.assign(seed=["zero", "1"]), "'seed' holds (large_)?string, not whole numbers"),
        (lambda rows: rows.assign(seed=[0, None]), "column 'seed' holds double"),
        (lambda rows: rows.assign(cycles="x"), "'cycles' holds (large_)?string, not whole numbers"),
        (lambda rows: rows.assign(flits="x"), "'flits' holds (large_)?string, not numbers"),
        (lambda rows: rows.assign(correct=1), "'correct' holds int64, not true and false"),
        (lambda rows: rows.assign(param_words=[[5], [6]]), "'param_words' holds list<.*>, not values"),
    ], one_in=4),
)  # fmt: skip
def test_a_file_that_no_sweep_wrote_is_refused_and_left_alone(tmp_path, counted, change, message):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:2], out=out)
    change(pd.read_parquet(out)).to_parquet(out, index=False)
    before = out.read_bytes()
    with pytest.raises(gpucoh.ConfigError, match=f"is not a result file: .*{message}"):
        gpucoh.sweep(RUNS, out=out, resume=True)
    assert out.read_bytes() == before
    assert len(counted) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["results.parquet"]


def test_no_single_bit_flip_gives_other_numbers(tmp_path):
    out = tmp_path / "results.parquet"
    right = gpucoh.sweep(RUNS[:2], out=out)
    written, changed = out.read_bytes(), []
    for place in np.random.default_rng(0).choice(8 * len(written), 150, replace=False):
        damaged = bytearray(written)
        damaged[place // 8] ^= 1 << place % 8
        out.write_bytes(damaged)
        try:
            found = gpucoh.sweep(RUNS[:2], out=out, resume=True)
        except gpucoh.ConfigError:
            continue
        if not found.drop(columns=HOST).equals(right.drop(columns=HOST)):
            changed.append(int(place))
    assert not changed


def test_a_column_that_was_removed_or_retyped_is_refused(tmp_path):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:2], out=out)
    table = pq.read_table(out)
    place = table.column_names.index("l1_loads")
    for changed in (
        table.drop_columns(["l1_loads"]),
        table.set_column(place, "l1_loads", table["l1_loads"].cast(pa.float64())),
        table.slice(1),
    ):
        pq.write_table(changed, out)
        with pytest.raises(gpucoh.ConfigError, match="was written"):
            gpucoh.sweep(RUNS[:2], out=out, resume=True)


def test_seeds_that_were_kept_as_text_are_gone_on_from(tmp_path):
    """Version 0.1.0 kept those from 2**63 on so."""
    out = tmp_path / "results.parquet"
    runs = [{**RUNS[0], "seed": seed} for seed in (1, 2**64 - 1)]
    before = gpucoh.sweep(runs, out=out)
    rows = pd.read_parquet(out)  # in the order in which they ended
    rows.assign(seed=rows.seed.astype(str)).to_parquet(out, index=False)
    pd.testing.assert_frame_equal(gpucoh.sweep(runs, out=out, resume=True), before)


def test_a_folder_that_is_gone_is_reported(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for out in ("results.parquet", "a" * 300):
        with pytest.raises(gpucoh.ConfigError, match="cannot be written"):
            gpucoh.sweep(RUNS[:1], out=out)


def test_results_with_other_statistics_are_gone_on_from(tmp_path):
    """As an older gpucoh may have written them."""
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:2], out=out)
    older = pd.read_parquet(out).drop(columns=["rollovers", *HOST]).assign(l3_hits=7)
    older.to_parquet(out, index=False)
    table = gpucoh.sweep(RUNS, out=out, resume=True)
    assert len(table) == len(pd.read_parquet(out)) == 4
    assert table.l3_hits.isna().tolist() == [False, False, True, True]


def test_what_is_only_read_is_the_table_that_was_written(tmp_path):
    out = tmp_path / "results.parquet"
    runs = [RUNS[0], RUNS[0] | {"seed": 2**64 - 1}]
    table = gpucoh.sweep(runs, out=out)
    assert table.seed.tolist() == [0, 2**64 - 1]
    pd.testing.assert_frame_equal(gpucoh.sweep(runs, out=out, resume=True), table)


def test_results_that_cannot_be_written_leave_those_that_are_there(tmp_path, monkeypatch, counted):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:1], out=out)
    before = out.read_bytes()

    def fail(table, part, **how):
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store.pq, "write_table", fail)
        with pytest.raises(gpucoh.ConfigError, match="cannot be written: No space left"):
            gpucoh.sweep(RUNS[:2], out=out, resume=True)
    assert out.read_bytes() == before
    journal = tmp_path / "results.parquet.journal"
    assert sorted(tmp_path.iterdir()) == [out, journal]
    assert len(gpucoh.sweep(RUNS[:2], out=out, resume=True)) == len(counted) == 2
    assert list(tmp_path.iterdir()) == [out]
