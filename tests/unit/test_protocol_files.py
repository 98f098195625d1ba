"""Is the C file of a protocol outside the package taken where an id is, and what is wrong with one said in a line?"""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import gpucoh
from dask_cluster import dask_cluster
from gpucoh.cli.program import call
from gpucoh.device import outside
from gpucoh.device.gpu import resolve
from gpucoh.runs.keys import keys_of, parts_of
from gpucoh.runs.runner import Run

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def write(name, *changes, file=None, kind=""):
    """A new protocol's file, with changes of its text."""
    text = outside.skeleton(name, kind)
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = Path(file or f"{name}.c")
    path.write_text(text, encoding="utf-8")
    return path


def cached(pattern):
    return sorted(Path("cache").rglob(pattern))


# ---- the headers, as they are installed

CSRC = Path(outside.__file__).parents[2] / "csrc"
HEADERS = sorted(
    str(path.relative_to(CSRC))
    for part in ("base", "cache", "controller")
    for path in (CSRC / part).glob("*.h")
)


@pytest.fixture
def include(folder):
    """A folder as gpucoh/include of the installed package: nothing else is needed."""
    made = folder / "include"
    made.mkdir()
    for part in ("base", "cache", "controller"):
        (made / part).symlink_to(CSRC / part)
    (made / "machines").mkdir()
    shutil.copy(CSRC.parent / "gpucoh" / "machines" / "fields.def", made / "machines")
    return made


def check_syntax(compiler, include, files):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    flags = ["-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
    subprocess.run([compiler, *flags, *files], check=True)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_an_editor_needs_the_headers_alone(include, compiler):
    files = [write(f"edited-{kind}", kind=kind) for kind in ("leases", "owners", "acquires")]
    check_syntax(compiler, include, files)


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_each_header_compiles_alone(include, compiler):
    assert "controller/outside.h" in HEADERS
    files = [Path(header.replace("/", "_")).with_suffix(".c") for header in HEADERS]
    for file, header in zip(files, HEADERS, strict=True):
        file.write_text(f'#include "{header}"\n', encoding="utf-8")
    check_syntax(compiler, include, files)


# ---- what takes one


def test_a_file_is_a_protocol_in_python():
    path = write("py-one")
    assert gpucoh.load_protocol(path) == "py-one"
    assert "py-one" in gpucoh.protocols()
    for given in (path, "./py-one.c", "py-one"):
        assert gpucoh.GPU(protocol=given).choice.protocol.id == "py-one"
        assert gpucoh.run("vec-cpy", given, scale="tiny", check=True).correct


def test_an_l1_whose_lines_have_no_fields_is_an_l1():
    write("bare")
    gpucoh.load_protocol("bare.c")
    known = gpucoh.protocols()["bare"]
    assert "tags" not in known.json["controllers"][0]["metadata"]
    assert known.has_l1


def test_a_file_has_a_controller_at_every_position():
    beyond = "".join(
        f'static const gpc_controller_type_t at_{place.lower()} = {{.name = "{place}", .position = GPC_AT_{place}, '
        '.tables = {&l2}, .arrays = {{.name = "tags", .line = gpc_writer_line_described, .geometry = one_way}}};\n'
        for place in ("MEMORY", "GLOBAL", "HOST")
    )
    geometry = (
        "static void one_way(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)"
        "{ (void) machine, (void) options, *sets = *ways = 1; }\n"
    )
    write(
        "five",
        ("/* ---- the protocol */", geometry + beyond),
        ("{&my_l1, &my_l2}", "{&my_l1, &my_l2, &at_memory, &at_global, &at_host}"),
    )
    # In another process: "all" protocols of a later test run on machines without these units.
    units = ("memory_units=1", "global_units=1", "host_units=1")
    words = ["run", "vec-cpy", "-p", "./five.c", "--scale", "tiny", "--check", "--json"]
    words += [word for unit in units for word in ("--set", unit)]
    done = subprocess.run([sys.executable, "-m", "gpucoh", *words], capture_output=True, check=True)
    result = json.loads(done.stdout)
    assert result["correct"]
    assert sum(result["transitions"]["L2"]) > 0  # one table, at four positions


NINE = [
    "id",
    "paper",
    "family",
    "text",
    "model",
    "standard_rule",
    "controllers",
    "messages",
    "networks",
]


def test_nine_members_of_a_protocol_are_not_optional():
    declared = Path(outside.__file__).parents[2] / "csrc" / "controller" / "declare.h"
    part = (
        declared.read_text(encoding="utf-8")
        .partition("---- what every protocol has")[2]
        .partition("*/")[2]
    )
    part = re.sub(r"/\*.*?\*/", "", part.partition("---- optional")[0], flags=re.DOTALL)
    names = re.findall(r"(\w+)(?:\[[^]]*\])?[,;]", part)
    assert [name for name in names if name != "num_messages"] == NINE


def test_a_protocol_without_a_name_has_its_id():
    gpucoh.load_protocol(write("nameless"))
    assert gpucoh.protocols()["nameless"].name == "nameless"


def test_results_name_the_file_and_its_hash():
    path = write("named")
    result = gpucoh.run("vec-cpy", "./named.c", scale="tiny")
    digest = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
    assert result.protocol == "./named.c"
    assert result.protocol_sha256 == digest.stdout.split()[0]
    assert result.row()["protocol_sha256"] == result.to_dict()["protocol_sha256"]
    assert "protocol_sha256" not in gpucoh.run("vec-cpy", "no-l1", scale="tiny").row()


def test_the_new_file_is_short_and_explored(capsys):
    assert call(["new-protocol", "mine"]) == 0
    assert len(Path("mine.c").read_text().splitlines()) <= 120
    assert call(["new-protocol", "mine"]) == 2
    assert call(["new-protocol", "tc-weak"]) == 2
    assert call(["new-protocol", "Not_an_id"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert call(["verify", "-p", "./mine.c", "MP"]) == 0
    assert said == [
        "gpucoh: mine.c: File exists",
        "gpucoh: 'tc-weak' is a protocol of gpucoh: choose another id",
        "gpucoh: 'Not_an_id' is no protocol's id: give small letters, digits and hyphens, a letter first",
    ]


def test_a_changed_file_is_loaded_again_and_its_rows_run_again():
    wanted = [{"workload": "vec-cpy", "protocol": "./twice.c", "scale": "tiny"}]
    path = write("twice")
    table = gpucoh.sweep(wanted, out="r.parquet")
    assert gpucoh.sweep(wanted, out="r.parquet", resume=True).code.tolist() == table.code.tolist()
    old = gpucoh.GPU(protocol=path)
    write("twice", ("every access is performed at the L2", "another text"))
    assert gpucoh.protocols()["twice"].json["text"] != "another text"  # not looked at yet
    with pytest.warns(UserWarning, match="^1 row is of other code: run again$"):
        again = gpucoh.sweep(wanted, out="r.parquet", resume=True)
    assert again.cycles.tolist() == table.cycles.tolist()
    assert again.code.tolist() != table.code.tolist()
    assert gpucoh.protocols()["twice"].json["text"] == "another text"
    array = old.zeros(4)
    assert old.choice.protocol.json["text"] != "another text"
    assert array[:].tolist() == [0, 0, 0, 0]


def test_a_snapshot_of_an_older_file_is_refused():
    path = write("snap")
    snapshot = gpucoh.GPU(protocol=path).snapshot()
    write("snap", ("every access is performed at the L2", "another text"))
    with pytest.raises(gpucoh.ConfigError, match="snapshot"):
        gpucoh.GPU(protocol=path).restore(snapshot)


def test_the_key_of_a_run_has_neither_the_folder_nor_the_name_of_the_file():
    write("moved")
    (before,) = keys_of([Run(workload="vec-cpy", protocol="./moved.c", scale="tiny")])
    Path("moved.c").rename("elsewhere.c")
    (after,) = keys_of([Run(workload="vec-cpy", protocol="elsewhere.c", scale="tiny")])
    assert parts_of(before) == parts_of(after)


def test_processes_in_another_folder_take_it(folder):
    write("far")
    (folder / "other").mkdir()
    wanted = [
        {"workload": "vec-cpy", "protocol": "./far.c", "scale": "tiny", "seed": seed}
        for seed in (0, 1)
    ]
    with ProcessPoolExecutor(1, initializer=os.chdir, initargs=(folder / "other",)) as pool:
        table = gpucoh.sweep(wanted, executor=pool)
    assert table.correct.all()
    assert table.protocol.tolist() == ["./far.c", "./far.c"]


# ---- the cache


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_dask_workers_in_another_folder_take_it(folder, monkeypatch, capsys):
    write("dasked")
    Path("sweep.toml").write_text(
        'workload = "vec-cpy"\nprotocols = ["no-l1", "./dasked.c"]\nscale = "tiny"\n'
    )
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with dask_cluster() as (cluster, client):
        monkeypatch.chdir(folder)
        assert set(client.run(os.getcwd).values()) == {str(elsewhere)}
        scheduler = ["--scheduler", cluster.scheduler_address]
        assert call(["sweep", "sweep.toml", "--out", "rows.parquet", *scheduler]) == 0
    assert "2 runs, 0 wrong" in capsys.readouterr().out
    assert sorted(pd.read_parquet("rows.parquet").protocol) == ["./dasked.c", "no-l1"]


def test_it_is_compiled_once():
    write("once")
    gpucoh.load_protocol("once.c")
    (library,) = cached("*.so")
    made = library.stat().st_mtime_ns
    os.utime("once.c", (1, 1))
    gpucoh.load_protocol("once.c")
    assert cached("*.so") == [library]
    assert library.stat().st_mtime_ns == made


def test_a_damaged_entry_is_built_again():
    write("damaged")
    gpucoh.load_protocol("damaged.c")
    (library,) = cached("*.so")
    whole = library.read_bytes()
    for second, damage in enumerate((b"", b"no library")):
        library.unlink()
        library.write_bytes(damage)
        os.utime("damaged.c", (second, second))
        gpucoh.load_protocol("damaged.c")
        assert library.read_bytes() == whole


@pytest.mark.long
def test_two_processes_build_one(folder):
    write("both")
    script = "import gpucoh; print(gpucoh.load_protocol('both.c'))"
    started = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [one.communicate()[0] for one in started] == ["both\n", "both\n"]
    assert len(cached("*.so")) == 1


# ---- what is wrong with a file, in one line


def one_line(name, *changes):
    path = write(name, *changes)
    with pytest.raises(gpucoh.ConfigError) as caught:
        gpucoh.load_protocol(path)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_an_error_of_the_compiler_names_the_line_of_the_file():
    said = one_line("wrong", ("gpc_count(x, load_misses);", "gpc_count(x, load_misses)"))
    line = Path("wrong.c").read_text().splitlines().index("    gpc_count(x, load_misses)") + 2
    assert said.startswith(f"protocol file wrong.c does not compile: wrong.c:{line}:")
    said = one_line("cell", ("[L2_F] = {", "[L2_F] = {[L2_FILL] = GO(L2_I), "))
    assert "does not compile" in said  # a cell that is written twice


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("cells", ["WAITS, [L1_LOAD] = GO(L1_I)", "[L1_LOAD] = GO(L1_I), WAITS"])
def test_a_cell_that_a_macro_writes_twice_is_reported_where_it_is_written(
    monkeypatch, compiler, cells
):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("CC", compiler)
    begin = "static const gpc_cell_t l1_table"
    said = one_line(
        "again",
        (begin, f"#define WAITS [L1_LOAD] = HOLD_LINE, \\\n    [L1_WRITE] = HOLD_LINE\n{begin}"),
        ("        [L1_LOAD] = HOLD_LINE,\n        [L1_WRITE] = HOLD_LINE,\n", f"{cells},\n"),
    )
    lines = Path("again.c").read_text().splitlines()
    assert said.startswith(
        f"protocol file again.c does not compile: again.c:{lines.index(f'{cells},') + 1}:"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("GPC_EXPORT_PROTOCOLS(&protocol);", "")], "it exports no protocol: end the file with GPC_EXPORT"),
        ([('.id = "bad"', '.id = "mesi"')], "its id 'mesi' is that of a protocol of gpucoh: choose another"),
        ([('.id = "bad"', '.id = "No id"')], "the .id of a protocol is small letters, digits and hyphens"),
        ([('.paper = "none yet", ', "")], "protocol bad lacks .paper"),
        ([('.name = "L2"', '.name = "L1"')], "protocol bad: two controllers are called L1"),
        ([('GPC_TABLE("L2"', 'GPC_TABLE("L1"')], "bad: two tables are called L1"),
        (
            [("return x->cause", "return x->cause == GPC_MSG_KERNEL_BEGIN ? L2_CLEAN : x->cause")],
            "bad: table L2 has an event for GPC_MSG_KERNEL_BEGIN, which never comes: the type lacks its bit in .begins",
        ),
        ([("        [L1_ANSWER] = GO(L1_I, act_complete),\n", "")], "bad: L1: no transition leaves state L1_B"),
        (
            [('    .arrays = {{.name = "tags", .has_data = true}}, .mshr', "    .mshr")],
            "bad: L1 has no .arrays, and its table is over lines",
        ),
        ([("act_complete)", "act_unheard_of)")], "bad.c does not compile: bad.c:"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_whole_is_refused(changes, said):
    assert said in one_line("bad", *changes)
    assert "bad" not in gpucoh.protocols()


def test_two_files_with_one_id_are_refused():
    write("same")
    gpucoh.load_protocol("same.c")
    write("same", file="copy.c")
    with pytest.raises(
        gpucoh.ConfigError, match=r"its id 'same' is that of a protocol of .*same\.c"
    ):
        gpucoh.load_protocol("copy.c")


@pytest.mark.parametrize("name", ["./mine.c.txt", "mine.txt", "folder/mine"])
def test_a_file_whose_name_does_not_end_in_c_is_refused(name):
    write("mine", file="mine.txt")
    with pytest.raises(
        gpucoh.ConfigError, match=f"'{name}': the name of a protocol's file ends in .c$"
    ):
        resolve(name)


def test_two_beginnings_are_refused(refused):
    assert "--leases and --owners are 2 beginnings: give one" in refused(
        "new-protocol", "mine", "--leases", "--owners"
    )
    assert "--owners and --acquires" in refused("new-protocol", "mine", "--owners", "--acquires")


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(gpucoh.ConfigError, match=r"^protocol file 'gone\.c': No such file"):
        gpucoh.run("vec-cpy", "gone.c", scale="tiny")
    with pytest.raises(gpucoh.ConfigError, match=r"^protocol file 7 is not a path"):
        gpucoh.load_protocol(7)


def test_without_a_compiler_it_is_said(monkeypatch):
    write("alone")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(
        gpucoh.ConfigError, match=r"^there is no C compiler \(CC=no-such-compiler\)"
    ):
        gpucoh.load_protocol("alone.c")


def test_a_cache_that_cannot_be_written_is_said(folder, monkeypatch):
    write("full")
    (folder / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "file"))
    with pytest.raises(
        gpucoh.ConfigError, match=r"^protocol file full\.c: the cache .*: Not a directory"
    ):
        gpucoh.load_protocol("full.c")


def test_a_cache_that_others_may_write_is_refused(folder):
    (folder / "cache").mkdir(0o700)
    (folder / "cache" / "gpucoh").mkdir()
    (folder / "cache" / "gpucoh").chmod(0o775)
    with pytest.raises(gpucoh.ConfigError, match=r"^the cache folder .*/cache/gpucoh is writable"):
        gpucoh.load_protocol(write("safe"))


def test_its_options_are_checked():
    write("plain")
    with pytest.raises(gpucoh.ConfigError, match="unknown option 'lease'"):
        resolve("./plain.c[lease=3]")
    assert resolve("./plain.c[consistency=sc]").rule(None) == "sc"
