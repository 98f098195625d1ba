"""Does every command print what it promises, and end with the documented status 0, 1 or 2?"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import matplotlib.image
import pytest
from rich.console import Console

import gpucoh
from gpucoh.cli import call
from gpucoh.terminal import tables
from host import HOST
from products import rows, share

TINY = ("--scale", "tiny")


# ---- bad input: one plain line, status 2

BAD = [
    ((), "Missing command"),
    (("rnu",), "No such command"),
    (("run",), "Missing argument"),
    (("run", "bfs", "-p", "ideal", "--sed", "1"), "No such option"),
    (("run", "bfs", "-p", "ideal", "--seed", "x"), "--seed"),
    (("run", "bfs", "-p", "ideal", "--seed", "-1"), "seed"),
    (("run", "bsf", "-p", "ideal"), "unknown workload 'bsf'"),
    (("run", "bfs", "-p", "idael"), "did you mean 'ideal'"),
    (("run", "bfs", "-p", "ideal[x=1]"), "unknown option 'x'"),
    (("run", "bfs", "-p", "no-l1[l2=sideways]"), "l2"),
    (("run", "bfs", "-p", "ideal[x"), "is not of the form id[name=value,name=value]"),
    (("run", "bfs", "-p", "ideal", "-m", "femi"), "unknown machine 'femi'"),
    (("run", "bfs", "-p", "ideal", "-m", "none.toml"), "No such file"),
    (("run", "bfs", "-p", "ideal", "-c", "tso"), "unknown consistency 'tso'"),
    (("run", "bfs", "-p", "ideal", "-c", "drf"), "does not support consistency 'drf'"),
    (("run", "bfs", "-p", "ideal", "--scale", "huge"), "tiny, small, paper"),
    (("run", "bfs", "-p", "ideal", "--set", "cores"), "--set 'cores' is not of the form key=value"),
    (
        ("run", "bfs", "-p", "ideal", "--set", "cores=3", "--set", "cores=4"),
        "--set cores is given twice: 3 and 4",
    ),
    (("run", "bfs", "-p", "ideal", "--set", "budget=x"), "budget"),
    (("run", "bfs", "-p", "ideal", "--param", "grpah=x"), "unknown parameter 'grpah'"),
    (("run", "bfs", "-p", "ideal", "--param", "graph=none.mtx"), "none.mtx"),
    (("run", "hsp", "-p", "ideal", "--param", "image=none.png"), "none.png"),
    (("compare", "-w", "bsf"), "unknown workload"),
    (("compare", "-p", "a,,"), "unknown protocol 'a'"),
    (("compare", "-p", ","), "names nothing"),
    (("compare", "-p", "ideal]"), "brackets do not match"),
    (("compare", "--jobs", "0"), "jobs = 0"),
    (("compare", "--baseline", "mesy"), "unknown protocol 'mesy'"),
    (("compare", "--out", "/dev/null"), "--out /dev/null: File exists"),
    (("protocols", "mesy"), "unknown protocol 'mesy'"),
    (("protocols", "--dot"), "takes one protocol"),
    (("protocols", "mesi", "--murphi", "mesi.m"), "--murphi was removed"),
    (("machines", "femi"), "unknown machine"),
    (("machines", "--toml"), "takes one machine"),
    (("workloads", "bsf"), "unknown workload"),
]


@pytest.mark.parametrize(("arguments", "message"), rows(BAD[1:], one_in=4))
def test_bad_input_is_one_plain_line_and_status_2(refused, arguments, message):
    assert message in refused(*arguments)


GRAPHS = {
    "truncated.mtx": "%%MatrixMarket matrix coordinate pattern general\n4 4 5\n1 2\n",
    "wide.mtx": "%%MatrixMarket matrix coordinate pattern general\n4 5 1\n1 2\n",
    "text.mtx": "this is no matrix\n",
    "text.el": "one two\nthree four\n",
    "empty.el": "",
}


@pytest.mark.parametrize("name", share(GRAPHS, one_in=4))
def test_a_bad_graph_file_is_reported_by_its_name(refused, tmp_path, name):
    (tmp_path / name).write_text(GRAPHS[name])
    assert name in refused("run", "bfs", "-p", "ideal", *TINY, "--param", f"graph={name}")


def test_an_image_that_is_none_is_reported_by_its_name(refused, tmp_path):
    (tmp_path / "text.png").write_text("no image")
    assert "text.png" in refused("run", "hsp", "-p", "ideal", *TINY, "--param", "image=text.png")


# ---- run


def test_run_says_correct_and_ends_with_0(cli):
    status, out, _ = cli("run", "vec-cpy", "-p", "ideal", *TINY)
    assert status == 0
    assert re.search(r"result +correct", out)
    assert "occupancy" in out


def test_run_counts_a_wrong_answer_and_says_where(cli):
    status, out, _ = cli("run", "fg-share", "-p", "no-coh", *TINY)
    assert status == 1
    assert re.search(r"WRONG \([\d,]+ words\)", out)
    assert ", expected " in out


def test_run_json_is_one_object_and_nothing_else(cli):
    status, out, err = cli("run", "fg-share", "-p", "no-coh", *TINY, "--seed", 2, "--json")
    plain = json.loads(out)
    assert (status, err) == (1, "")
    assert (plain["workload"], plain["protocol"], plain["seed"], plain["correct"]) == (
        "fg-share",
        "no-coh",
        2,
        False,
    )
    assert plain["l1"]["loads"] > 0


def test_run_reports_a_run_that_hangs_as_wrong(cli):
    status, out, _ = cli("run", "vec-cpy", "-p", "ideal", *TINY, "--set", "budget=100", "--json")
    plain = json.loads(out)
    assert (status, plain["correct"], plain["error"]) == (1, False, "BudgetError")


@pytest.mark.parametrize("change", ["registers_per_core=64", "scratchpad_kib=1"])
def test_a_kernel_that_no_core_of_the_machine_holds_is_refused(cli, change):
    status, out, err = cli("run", "lps", "-p", "ideal", *TINY, "--set", change)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"gpucoh: .*: a block needs \d+ .*; a core has \d+\n", err)


def test_a_run_without_a_cycle_can_be_shown(capsys):
    run = gpucoh.compare(["rg"], ["ideal"], scale="tiny", set={"registers_per_core": 64}).runs[0]
    tables.print_run(Console(width=200), run)
    assert re.search(r"result +FAILED(.*\n)*.*energy +0 mJ *\n", capsys.readouterr().out)


def test_set_and_param_reach_the_run(cli):
    status, out, _ = cli(
        "run",
        "vec-cpy",
        "-p",
        "ideal",
        *TINY,
        "--json",
        "--set",
        "cores=2",
        "--set",
        "l1_kib=16KiB",
    )
    plain = json.loads(out)
    assert (status, plain["set"]) == (0, {"cores": 2, "l1_kib": 16})


def test_explain_tells_what_follows_from_the_machine(cli):
    status, out, _ = cli("run", "vec-cpy", "-p", "no-l1", *TINY, "--explain", "--set", "cores=2")
    assert status == 0
    for part in ("changed field", "cores", "l2_sets", "consistency rc (the paper's)"):
        assert part in out


def test_explain_tells_every_rule_and_option(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    protocol = "gpu-vini[dir_ways=4]"
    _, out, _ = cli("run", "vec-cpy", "-p", protocol, *TINY, "-c", "rc", "--explain")
    for rule in (
        r"l1_sets +64 +l1_lines / l1_ways",
        r"beyond_l2_cycles +120 +core cycles +dram_round_trip - l2_round_trip",
        r"dir_ways +4 +given +a whole number from 1 to 64",
        r"dir_ratio +2 +default .* directory entries per L1 line of all cores",
        r"consistency rc \(given\)",
    ):
        assert re.search(rule, out), rule


def test_explain_and_json_give_both_in_one_object(cli):
    protocol = "gpu-vini[dir_ways=4]"
    arguments = ("run", "vec-cpy", "-p", protocol, *TINY, "--set", "cores=2", "--json")
    status, out, _ = cli(*arguments, "--explain")
    plain = json.loads(out)
    explanation = plain.pop("explanation")
    assert (status, explanation["machine"], explanation["protocol"]) == (0, "fermi", protocol)
    assert explanation["changes"] == {"cores": 2}
    assert explanation["sources"]["cores"] == "given"
    assert explanation["derived"]["l1_sets"] == {
        "value": 64,
        "unit": "",
        "rule": "l1_lines / l1_ways",
    }
    assert explanation["consistency"]["value"] == plain["consistency"]
    assert explanation["consistency"]["asked_for"] is False
    options = {
        name: (option["value"], option["asked_for"])
        for name, option in explanation["options"].items()
    }
    assert (options["dir_ways"], options["dir_ratio"]) == (("4", True), ("2", False))
    without = json.loads(cli(*arguments)[1])
    assert plain | dict.fromkeys(HOST) == without | dict.fromkeys(HOST)


def test_a_graph_from_a_file_is_used(cli, tmp_path):
    (tmp_path / "line.el").write_text("".join(f"{n} {n + 1}\n" for n in range(20)))
    status, out, _ = cli("run", "bfs", "-p", "ideal", *TINY, "--param", "graph=line.el", "--json")
    assert status == 0
    assert json.loads(out)["details"]["vertices"] == 21


# ---- compare


@pytest.mark.long
def test_compare_draws_figures_and_marks_what_is_wrong(cli, tmp_path):
    status, out, _ = cli(
        "compare", *TINY, "-w", "vec-cpy,fg-share", "-p", "no-l1", "-p", "no-coh,ideal", "--jobs", 2
    )
    assert status == 0
    assert "WRONG" in out
    assert "not a failure: no model is promised" in out
    for name in ("speedup", "traffic"):
        image = matplotlib.image.imread(tmp_path / "figures" / f"{name}.png")
        assert image[..., :3].std() > 0.05
    assert (tmp_path / "figures" / "runs.csv").read_text().count("\n") == 7
    phases = (
        r"start [\d.]+, input [\d.]+, compilation [\d.]+, core [\d.]+, check [\d.]+, figures [\d.]+"
    )
    assert re.search(rf"processor seconds: {phases}; [\d.]+ s by the clock", out)


def test_compare_json_is_runs_and_summary(cli, tmp_path):
    status, out, err = cli("compare", *TINY, "-w", "vec-cpy", "-p", "no-l1,ideal", "--json")
    plain = json.loads(out)
    assert (status, err) == (0, "")
    assert [run["protocol"] for run in plain["runs"]] == ["no-l1", "ideal"]
    assert set(plain["summary"][0]) == {
        "workload", "protocol", "model", "machine", "seed", "speedup", "traffic", "energy",
    }  # fmt: skip
    assert not (tmp_path / "figures").exists()


def test_compare_counts_a_failure_under_a_model_that_promises(cli):
    status, _, _ = cli(
        "compare", *TINY, "-w", "vec-cpy", "-p", "ideal", "--set", "budget=100", "--json"
    )
    assert status == 1


# ---- lists


def test_protocols_lists_all_and_one(cli):
    status, out, _ = cli("protocols")
    assert status == 0
    for name, known in gpucoh.protocols().items():
        assert name in out
        assert known.name in out
    status, out, _ = cli("protocols", "ideal")
    assert status == 0
    assert "LOAD" in out


def test_protocols_json_is_as_the_interface_says(cli):
    _, out, _ = cli("protocols", "--json")
    listed = json.loads(out)
    assert [item["id"] for item in listed] == list(gpucoh.protocols())
    for item in listed:
        assert set(item) >= {"id", "name", "paper", "family", "models", "controllers"}
        assert set(item) >= {"keeps_time", "declared", "watched"}
        assert set(item["declared"]) == {
            "weak_outcomes", "variations", "uncovered",
        }  # fmt: skip
        for table in item["controllers"].values():
            assert set(table) >= {"states", "stable", "transitions", "table", "hardened"}
            assert set(table) >= {"base", "patches"}
            assert bool(table["base"]) == bool(table["patches"])
            assert set(table["stable"]) <= set(table["states"])
            assert all(len(cell) == 4 for cell in table["table"])


def test_a_derived_table_is_printed_whole_and_marked(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    _, out, _ = cli("protocols", "tc-weak[private=literal]")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "* P GETX store_meets_lease, write, send_ack_g, increment P" in lines
    assert "P EXPIRE E" in lines
    assert "* differs from tc-weak's L2 in 8 cells:" in lines
    assert any(
        line.startswith("P at GETX, P at UPGR_OTHER, P at ATOMIC: table 2") for line in lines
    )


@pytest.mark.parametrize("name", share(gpucoh.protocols(), one_in=8))
def test_a_protocol_shows_what_it_declares_for_tests(cli, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "400")  # no cell of the table wraps
    known = gpucoh.protocols()[name]
    _, out, _ = cli("protocols", name)
    text = " ".join(out.split())
    for test in known.weak_outcomes:
        assert f" {test}" in text
    for option in known.options.values():
        assert option.small is None or f"({option.word(option.small)} in gpucoh verify)" in text
    for variation in known.with_variations()[1:]:
        assert variation in text
    for cells in known.uncovered:
        assert cells.reason in text


def test_dot_is_a_graph(cli):
    _, out, _ = cli("protocols", "ideal", "--dot")
    assert out.startswith('digraph "ideal" {')
    assert out.count("{") == out.count("}")


def test_machines_print_values_units_and_sources(cli):
    _, out, _ = cli("machines", "fermi")
    line = next(line for line in out.splitlines() if line.startswith("l2_round_trip"))
    assert re.search(r"340 +core cycles +TC section 7", line)


def test_the_help_of_machines_tells_what_no_field_changes(cli):
    _, out, _ = cli("machines", "--help")
    text = " ".join(out.split())
    assert "Fixed in every machine: an L1 has one port and no banks" in text


def test_a_machine_printed_as_toml_runs(cli, tmp_path):
    _, out, _ = cli("machines", "fermi", "--toml")
    (tmp_path / "mine.toml").write_text(out.replace("cores = 16", "cores = 2"))
    status, out, _ = cli("run", "vec-cpy", "-p", "ideal", *TINY, "-m", "mine.toml", "--json")
    assert (status, json.loads(out)["set"]) == (0, {"cores": 2})


def test_machines_and_workloads_have_json(cli):
    _, out, _ = cli("machines", "fermi", "--json")
    assert json.loads(out)["fields"]["cores"] == 16
    _, out, _ = cli("workloads", "--json")
    assert {item["id"] for item in json.loads(out)} >= {
        "bfs",
        "hsp",
        "vec-cpy",
        "reduction",
        "spm_g",
        "fg-share",
    }


def test_workloads_print_parameters(cli):
    _, out, _ = cli("workloads", "bfs")
    assert re.search(r"graph +file", out)


def test_help_teaches_with_examples(cli):
    for command in ("run", "compare", "protocols", "machines", "workloads"):
        status, out, _ = cli(command, "--help")
        assert status == 0
        assert f"gpucoh {command}" in out.split("Examples:")[1]


def test_the_version_is_printed(cli):
    import gpucoh

    assert cli("--version")[:2] == (0, f"gpucoh {gpucoh.__version__}\n")


def test_help_shows_an_option_in_brackets(cli):
    """Rich takes brackets for markup, unless they are escaped."""
    assert "tc-weak[lifetime=800]" in "".join(cli("run", "--help")[1].split())


# ---- as a process


@pytest.mark.long
def test_the_command_and_imports_are_those_of_this_tree(tmp_path):
    """`make develop` removes an installed copy, which would hide the tree."""
    root = Path(__file__).parents[2]
    program = "import gpucoh, gpucoh._core as core; print(gpucoh.__file__, core.__file__)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert {Path(name).parent for name in done.stdout.split()} == {root / "gpucoh"}
    program = Path(sys.executable).with_name("gpucoh")
    done = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.startswith(b"gpucoh ")


def test_python_m_gpucoh_is_the_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "gpucoh", "run", "nothing", "-p", "ideal"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gpucoh: unknown workload 'nothing'")


def test_a_closed_pipe_is_no_traceback(tmp_path):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "gpucoh", "protocols", "--json"],
        cwd=tmp_path,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert b"Traceback" not in done.stderr


# ---- sweep


def test_sweep_writes_parquet_and_resumes(cli, tmp_path):
    (tmp_path / "s.toml").write_text(
        'workloads = ["vec-cpy"]\nprotocols = ["no-l1", "ideal"]\nscale = "tiny"\n'
    )
    status, out, _ = cli("sweep", "s.toml", "--out", "r.parquet")
    assert (status, out) == (0, "2 runs, 0 wrong, in r.parquet\n")
    assert (tmp_path / "r.parquet").exists()
    assert cli("sweep", "s.toml", "--out", "r.parquet")[0] == 2
    assert cli("sweep", "s.toml", "--out", "r.parquet", "--resume")[0] == 0


def test_sweep_prints_its_rows_as_json(cli, tmp_path):
    (tmp_path / "s.toml").write_text(
        'workloads = ["vec-cpy"]\nprotocols = ["no-l1", "ideal"]\nscale = "tiny"\n'
        "seed = 18446744073709551615\nset = {l1_kib = [16, 32]}\n"
    )
    status, out, err = cli("sweep", "s.toml", "--out", "r.parquet", "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert [row["protocol"] for row in printed["runs"]] == ["no-l1", "no-l1", "ideal", "ideal"]
    for row in printed["runs"]:
        assert row["correct"] is True
        assert row["error"] is None
        assert row["seed"] == 2**64 - 1
    table = gpucoh.sweep(gpucoh.runs.grids.read_sweep("s.toml"), out="r.parquet", resume=True)
    assert printed["out"] == "r.parquet"
    assert list(printed["runs"][0]) == list(table.columns)
    assert [row["cycles"] for row in printed["runs"]] == table["cycles"].tolist()


def test_compare_takes_parameters(cli):
    small, large = (
        json.loads(
            cli("compare", "-w", "bfs", "-p", "ideal", *TINY, "--json", "--param", f"levels={n}")[1]
        )["runs"][0]
        for n in (5, 9)
    )
    assert (small["params"]["levels"], large["params"]["levels"]) == (5, 9)
    assert small["cycles"] < large["cycles"]
    status, _, err = cli("compare", "-w", "bfs,hsp", *TINY, "--param", "levels=5")
    assert status == 2
    assert "workload hsp: unknown parameter 'levels'" in err


def test_workloads_explain_their_groups_and_papers(cli):
    _, out, _ = cli("workloads")
    for meaning in (
        "I  inter-workgroup communication",
        "K  read reuse",
        "T  TC",
        "Q  QuickRelease",
    ):
        assert meaning in out
    _, out, _ = cli("workloads", "bfs")
    assert "no synchronisation inside a kernel" in out
    assert "papers Q (QuickRelease)" in out


def test_sweep_refuses_a_missing_file(cli):
    status, out, err = cli("sweep", "none.toml", "--out", "r.parquet")
    assert (status, out) == (2, "")
    assert "none.toml" in err


# ---- on a terminal


def on_a_terminal(folder, *arguments, columns=80):
    """What the program writes to a terminal, in lines, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [sys.executable, "-m", "gpucoh", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    written = b""
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder
    ):
        os.close(theirs)
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            written += piece
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", written.decode()).replace("\r", "\n").splitlines()


@pytest.mark.long
def test_a_comparison_on_a_terminal_has_a_bar_and_a_table_of_80_columns(tmp_path):
    arguments = ["compare", "-w", "reduction", "-p", "no-l1,no-coh", "--jobs", "1", *TINY]
    lines = on_a_terminal(tmp_path, *arguments)
    assert any("0/2" in line for line in lines)
    header = next(line for line in lines if line.startswith("workload"))
    assert header.split() == [
        "workload",
        "protocol",
        "model",
        "cycles",
        "speedup",
        "traffic",
        "answer",
    ]
    row = next(line for line in lines if line.startswith("reduction"))
    assert row.split()[:2] == ["reduction", "no-l1"]
    assert row.rstrip().endswith("correct")


def test_the_command_takes_seeds(cli):
    arguments = ("compare", "-w", "vec-cpy", "-p", "no-l1,ideal", "--scale", "tiny")
    status, out, _ = cli(*arguments, "--seeds", "2", "--json")
    data = json.loads(out)
    assert status == 0
    assert [run["seed"] for run in data["runs"]] == [0, 1, 0, 1]
    assert [row["seed"] for row in data["summary"]] == [0, 1, 0, 1]
    assert "speedup_spread" in data["means"][0]


def test_the_printed_table_shows_seeds_and_spread(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    arguments = ("compare", "-w", "bfs", "-p", "no-l1,ideal", "--scale", "tiny")
    _, out, _ = cli(*arguments, "--seeds", "0,3", "--out", str(tmp_path))
    lines = [line.rstrip() for line in out.splitlines()]
    assert "seed" in lines[0].split()
    mean = next(line for line in lines[lines.index("") :] if line.startswith("ideal"))
    assert re.search(r"\d\.\d\d \(\d\.\d\d-\d\.\d\d\)", mean)


# ---- the start


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    rows([("gpucoh", None, "1"), ("gpucoh", "3", "3"), ("study.py", None, "None")], one_in=4),
)
def test_the_program_makes_no_threads_for_products_of_matrices(tmp_path, name, given, expected):
    """They spin for a tenth of a second when NumPy is imported. A program that imports gpucoh decides itself."""
    (tmp_path / name).write_text(
        "import gpucoh, os; print(os.environ.get('OPENBLAS_NUM_THREADS'))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    if given:
        environment["OPENBLAS_NUM_THREADS"] = given
    found = subprocess.run(
        [sys.executable, tmp_path / name], env=environment, capture_output=True, text=True
    )
    assert (found.stdout.strip(), found.stderr) == (expected, "")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("gpucoh scor", {"scorecard"}),
        ("gpucoh run stn -p tc", {"tc-strong", "tc-weak"}),
        ("gpucoh compare -p mesi,tc-w", {"mesi,tc-weak"}),
        ("gpucoh run stn -m a10", {"a100"}),
        ("gpucoh run ves", set()),
    ],
)
def test_the_shell_completes_commands_and_ids(words, completed, monkeypatch, capsys):
    monkeypatch.setenv("_GPUCOH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert call([]) == 0
    assert set(capsys.readouterr().out.split()) == completed
