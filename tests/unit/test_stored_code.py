"""Are rows of other code run again, wherever rows are stored, and never kept silently?"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import gpucoh
from gpucoh.base.errors import Note
from gpucoh.runs import keys
from gpucoh.runs.keys import digest_of, keys_of, parts_of
from gpucoh.runs.runner import Run
from gpucoh.runs.store import Store
from gpucoh.suite.references import files_of
from products import rows

RUN = {"workload": "vec-cpy", "protocol": "ideal", "scale": "tiny"}
AGAIN = "^1 row is of other code: run again$"


@pytest.fixture
def other_code(monkeypatch):
    """Makes the code of this process another one."""
    return lambda name="other": monkeypatch.setattr(keys, "code_digest", lambda: name)


def continue_in(folder, out):
    """``gpucoh sweep s.toml --resume`` in a process that imports from a folder: its error output."""
    done = subprocess.run(
        [sys.executable, "-m", "gpucoh", "sweep", "s.toml", "--out", str(out), "--resume"],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


# ---- what other code is


def test_another_core_is_other_code(tmp_path, monkeypatch):
    """One byte more: it runs the row again, with the same result."""
    out, core = tmp_path / "r.parquet", tmp_path / "_core.so"
    (before,) = keys_of([Run(**RUN)])
    table = gpucoh.sweep([RUN], out=out)
    core.write_bytes(Path(keys._CORE.origin).read_bytes() + b"0")
    monkeypatch.setattr(keys._CORE, "origin", str(core))
    keys.code_digest.cache_clear()
    with pytest.warns(UserWarning, match=AGAIN):
        again = gpucoh.sweep([RUN], out=out, resume=True)
    keys.code_digest.cache_clear()
    assert again.cycles.tolist() == table.cycles.tolist()
    assert parts_of(again.key[0])[0] == parts_of(before)[0] == parts_of(table.key[0])[0]
    assert again.code[0] != table.code[0]
    assert pd.read_parquet(out).code.tolist() == again.code.tolist()


@pytest.mark.long
def test_a_changed_kernel_of_the_suite_is_other_code(tmp_path):
    out = tmp_path / "r.parquet"
    before = gpucoh.sweep([RUN], out=out)
    shutil.copytree(Path(gpucoh.__file__).parent, tmp_path / "gpucoh")
    (tmp_path / "s.toml").write_text('workload = "vec-cpy"\nprotocol = "ideal"\nscale = "tiny"\n')
    assert continue_in(tmp_path, out) == ""  # a copy in another place is the same code
    copies = tmp_path / "gpucoh" / "suite" / "copies.py"
    twice = re.sub(r"( *)target\[i\] = source\[i\]\n", r"\g<0>\g<0>", copies.read_text())
    copies.write_text(twice)
    assert continue_in(tmp_path, out) == "gpucoh: 1 row is of other code: run again\n"
    assert pd.read_parquet(out).cycles[0] > before.cycles[0]


STUDY = """
import gpucoh
import numpy as np

@gpucoh.workload
def counts(gpu, rng):
    import steps
    return {"n": (gpu.zeros(steps.number(), np.int32), 0)}
"""


@pytest.mark.long
def test_a_changed_helper_of_a_users_workload_is_other_code(tmp_path):
    (tmp_path / "study.py").write_text(STUDY)
    (tmp_path / "steps.py").write_text("from parts import deep\nnumber = deep.number\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    deep, other = tmp_path / "parts" / "deep.py", tmp_path / "other.py"
    out, runs = (
        tmp_path / "r.parquet",
        [{"workload": f"{tmp_path}/study.py:counts", "scale": "tiny"}],
    )
    codes = []
    for file, text in (
        (deep, "def number():\n    return 1\n"),
        (deep, "def number():\n    return 2\n"),
        (other, "not = imported\n"),
    ):
        file.write_text(text)
        codes.append(parts_of(keys_of([Run(**run) for run in runs])[0]))
    assert codes[0][0] == codes[1][0] == codes[2][0]
    assert codes[0][1] != codes[1][1] == codes[2][1]
    gpucoh.sweep(runs, out=out)
    deep.write_text("def number():\n    return 3\n")
    (tmp_path / "s.toml").write_text('workload = "study.py:counts"\nscale = "tiny"\n')
    assert continue_in(tmp_path, out) == "gpucoh: 1 row is of other code: run again\n"


@pytest.mark.parametrize(
    ("file", "is_other"),
    rows(
        [
            ("suite/copies.py", True),
            ("machines/fermi.toml", True),
            ("runs/runner.py", True),
            ("device/gpu.py", True),
            ("cli/sweeps.py", False),
            ("papers/claims.toml", False),
            ("runs/store.py", False),
            ("suite/notes.txt", False),
        ],
        one_in=4,
    ),
)
def test_code_is_what_a_run_uses(tmp_path, file, is_other):
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text("1")
    before = digest_of(tmp_path, b"core")
    (tmp_path / file).write_text("2")
    assert (digest_of(tmp_path, b"core") != before) == is_other
    assert digest_of(tmp_path, b"another core") != before


# ---- what becomes of rows of other code


def test_rows_of_other_code_are_kept_if_that_is_wanted(tmp_path, counted, other_code):
    out = tmp_path / "r.parquet"
    before = gpucoh.sweep([RUN], out=out)
    other_code()
    both = [RUN, RUN | {"seed": 1}]
    with pytest.warns(Note, match="^1 row is of other code: kept$"):
        table = gpucoh.sweep(both, out=out, keep_old=True)
    assert len(counted) == 2
    assert table.code.tolist() == [before.code[0], "other"]
    with pytest.warns(Note, match=AGAIN):
        assert gpucoh.sweep(both, out=out, resume=True).code.tolist() == ["other"] * 2
    assert len(counted) == len(pd.read_parquet(out)) + 1 == 3


def test_the_command_keeps_rows_of_other_code(tmp_path, monkeypatch, other_code, capsys):
    from gpucoh.cli import call

    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text('workload = "vec-cpy"\nscale = "tiny"\nseeds = [0, 1]\n')
    command = ["sweep", "s.toml", "--out", "r.parquet"]
    assert call(command) == 0
    other_code()
    assert call([*command, "--keep-old", "--json"]) == 0
    assert capsys.readouterr().err == "gpucoh: 2 rows are of other code: kept\n"


def test_a_row_of_other_code_stays_until_its_run_has_ended(tmp_path, monkeypatch, other_code):
    from gpucoh.runs import sweeps

    out = tmp_path / "r.parquet"
    before = gpucoh.sweep([RUN], out=out)
    other_code()

    def interrupted(run, key, stop=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "carry_out", interrupted)
    with pytest.warns(Note, match=AGAIN), pytest.raises(KeyboardInterrupt):
        gpucoh.sweep([RUN], out=out, resume=True)
    assert pd.read_parquet(out).key.tolist() == before.key.tolist()


def workload_of(number):
    @gpucoh.workload
    def made(gpu, rng):
        return {"n": (gpu.zeros(number, np.int32), 0)}

    return made


def test_of_workloads_of_one_name_only_the_changed_one_runs_again(tmp_path, other_code):
    """The key does not tell them apart; their code does."""
    out = tmp_path / "r.parquet"
    runs = [{"workload": workload_of(number), "scale": "tiny"} for number in (1, 2, 3)]
    first = gpucoh.sweep(runs[:2], out=out)
    assert len(set(first.key)) == 2
    with pytest.warns(Note, match=AGAIN):
        second = gpucoh.sweep([runs[0], runs[2]], out=out, resume=True)
    assert second.key[0] == first.key[0]
    other_code()
    gpucoh.sweep([runs[0]], out=tmp_path / "x.parquet")
    with pytest.warns(Note, match="^2 rows are of other code: run again$"):
        gpucoh.sweep([runs[0], runs[2]], out=out, keep_old=True)  # it is unknown which row is whose


def test_comparisons_and_sweeps_have_one_key(tmp_path, other_code):
    out = tmp_path / "r.parquet"
    for code in ("one", "two"):
        other_code(code)
        with contextlib.nullcontext() if code == "one" else pytest.warns(Note, match=AGAIN):
            found = gpucoh.compare("vec-cpy", "ideal", scale="tiny", store=out)
        assert found.runs[0].cycles == gpucoh.sweep([RUN], out=out, resume=True).cycles[0]
        assert pq.read_table(out)["code"].to_pylist() == [code]


def test_a_file_without_the_code_of_its_rows_is_refused_by_its_version(tmp_path):
    out = tmp_path / "r.parquet"
    gpucoh.sweep([RUN], out=out)
    pd.read_parquet(out).drop(columns="code").assign(version="0.2.0").to_parquet(out, index=False)
    for options in ({"resume": True}, {"keep_old": True}, {"retry": "failed"}):
        with pytest.raises(
            gpucoh.ConfigError, match=r"r\.parquet was written by gpucoh 0\.2\.0, which"
        ):
            gpucoh.sweep([RUN], out=out, **options)
    with pytest.raises(
        gpucoh.ConfigError, match=r"r\.parquet was written by gpucoh 0\.2\.0, which"
    ):
        Store(out, resume=True)


# ---- what the key leaves out


def test_a_field_or_parameter_that_has_its_default_is_not_in_the_key():
    """One that a later version adds does not make all rows those of other runs."""
    base = Run(workload="hsp", protocol="ideal")
    same = [
        Run(workload="hsp", protocol="ideal", set={"cores": 16, "budget": 10**9}),
        Run(workload="hsp", protocol="ideal", machine=gpucoh.machine("fermi")),
        Run(workload="hsp", protocol="ideal", params={"image": None}),
        Run(workload="hs", protocol="ideal", consistency="rc"),
    ]
    assert len(set(keys_of([base, *same]))) == 1
    assert len(set(keys_of([Run(workload="bfs"), Run(workload="bfs", params={"source": -1})]))) == 1


def test_the_folder_of_an_input_file_is_not_in_the_key(tmp_path):
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "g.mtx"
        path.write_text("0 1\n")
        found.append(Run(workload="bfs", params={"graph": str(path)}))
    renamed = tmp_path / "h.mtx"
    renamed.write_text("0 1\n")  # the name says the format
    first, second, third = keys_of([*found, Run(workload="bfs", params={"graph": str(renamed)})])
    assert first == second != third


# ---- the files of a user's workload


def files(path):
    """The names of the files whose content is part of the code of a workload in this file, which is not executed."""
    names = {}
    exec(compile("def own(gpu, rng):\n    pass\n", str(path), "exec"), names)
    return {file.relative_to(path.parent).as_posix() for file in files_of(names["own"])}


def write(folder, **texts):
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_modules_that_any_form_of_import_names_are_part_of_the_code(tmp_path):
    write(
        tmp_path,
        w="import a as x, b.c\nfrom d import e\nfrom f import *\nif 0:\n    from g.h import i",
        a="import w, json, numpy\n", b__c="", d="", f="", g__h__i="from . import j\n", g__h__j="", unused="",
    )  # fmt: skip
    assert files(tmp_path / "w.py") == {
        "w.py",
        "a.py",
        "b/c.py",
        "d.py",
        "f.py",
        "g/h/i.py",
        "g/h/j.py",
    }


def test_a_module_that_cannot_be_parsed_is_part_of_the_code(tmp_path):
    write(tmp_path, w="try:\n    import a\nexcept SyntaxError:\n    pass", a="not = python\n")
    assert files(tmp_path / "w.py") == {"w.py", "a.py"}


def test_other_installed_packages_are_not_part_of_the_code(tmp_path):
    folder = tmp_path / "site-packages"
    write(folder, mine__w="import other, mine.x", mine__x="", other="", alone="import other")
    (folder / "mine" / "__init__.py").write_text("")
    assert files(folder / "mine" / "w.py") == {"w.py", "x.py", "__init__.py"}
    assert files(folder / "alone.py") == {"alone.py"}
