"""Does every error of a command line or of a named file give one plain line and status 2?"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh.cli import call
from gpucoh.runs.grids import read_sweep
from products import rows, share

COPY = ("run", "vec-cpy", "-p", "ideal", "--scale", "tiny")


@pytest.mark.parametrize(
    ("change", "message"),
    rows(
        [
            ("cores=1.5", "'1.5' is not a whole number"),
            ("cores=nan", "'nan' is not a whole number"),
            ("cores=1e400", "'1e400' is not a whole number"),
            ("cores=99999999999999999999", "is out of range"),
            ("core_mhz=1e400", "is not a clock such as"),
            ("core_mhz=0.7MHz", "not a whole number of MHz"),
            ("core_mhz=7furlongs", "the unit is not one of"),
            ("l1_kib=inf", "is not a size such as"),
            ("l1_kib=1e400", "not a whole number of bytes"),
            ("l2_kib=1e-9", "'1e-9' is not a whole number of bytes"),
            ("l2_ways=0", "l2_ways = 0 is out of range"),
            ("scratchpad_banks=3", "is not 0 or a power of two"),
            ("topology=Torus", "'Torus' is not one of crossbar, mesh or star"),
            ("scheduler=fifo", "not one of loose_round_robin or greedy_then_oldest"),
            ("dram_model=1.4GHz", "'1.4GHz' is not one of fixed, fr_fcfs or closed"),
            ("l2_round_trip=10", "(network traversal)"),
            ("name=mine", "set cannot change a machine's name"),
            ("budget=inf", "budget = 'inf' is not a whole number of core cycles"),
            ("budget=1.5", "budget = '1.5' is not a whole number"),
            ("budget=0", "budget = 0 is out of range"),
            ("foo=1", "unknown field 'foo'; gpucoh machines fermi lists the fields"),
            ("l1-kib=16", "did you mean 'l1_kib'?"),
            ("l1_kb=16", "did you mean 'l1_kib'?"),
            ("=16", "not of the form key=value"),
            ("cores=", "not of the form key=value"),
        ],
        one_in=4,
    ),
)
def test_a_change_that_makes_no_machine_is_refused(refused, change, message):
    assert message in refused(*COPY, "--set", change)


MACHINES = {
    'base = "femi"': "did you mean 'fermi'",
    "base = 3": "base = 3 is not the name of a machine",
    'base = "mine.toml"': "is circular: it leads back to this file",
    'base = "none.toml"': "none.toml: No such file",
    "": "field 'cores' is missing",
    'base = "fermi"\ncors = 3': "did you mean 'cores'",
    'base = "fermi"\ncores = [1]': "[1] is not a whole number",
    'base = "fermi"\ncores = true': "True is not a whole number",
    'base = "fermi"\ncores = 2020-01-01': "is not a whole number",
    'base = "fermi"\n[cores]\na = 1': "is not a whole number",
    'base = "fermi"\ncores = 1' + "0" * 400: "is out of range",
    'base = "fermi"\ncore_mhz = inf': "is not a clock",
    'base = "fermi"\nl1_kib = nan': "not a whole number of bytes",
    'base = "fermi"\nname = 3': "name",
    'base = "fermi"\ntopology = ["mesh"]': "is not one of",
    'base = "fermi"\nname = "a\\nb"': "is not a name of printable characters",
    'base = "fermi"\nname = "a\\u0000b"': "is not a name of printable characters",
    'base = "fermi"\nname = " "': "is not a name of printable characters",
    'base = "fermi"\nname = "' + "x" * 5000 + '"': "5000 characters (allowed: up to 64)",
    'base = "a\\u0000.toml"': "is not the name of a machine",
    "cores = 1\ncores = 2": "not TOML",
    "cores =": "not TOML",
    "\0": "not TOML",
    "x = " + "[" * 3000: "not TOML",
}


@pytest.mark.parametrize("text", share(MACHINES, one_in=4))
def test_a_file_that_is_no_machine_is_refused_with_its_name(refused, tmp_path, text):
    (tmp_path / "mine.toml").write_text(text)
    report = refused(*COPY, "-m", "mine.toml")
    assert report.startswith("gpucoh: machine file mine.toml: ")
    assert MACHINES[text] in report


def test_a_machine_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "mine.toml").write_text('base = "fermi"\ncores = 3\n', encoding="utf-8-sig")
    assert gpucoh.machine(tmp_path / "mine.toml").cores == 3


@pytest.mark.parametrize("path", [None, 3, "a\0.toml"])
def test_what_is_no_path_is_refused(path):
    fermi = gpucoh.machine("fermi")
    for use in (gpucoh.Machine.from_toml, fermi.to_toml, read_sweep):
        with pytest.raises(gpucoh.ConfigError, match=r"is not a path|embedded null byte"):
            use(path)


def test_a_folder_and_bytes_are_no_machine(refused, tmp_path):
    (tmp_path / "folder.toml").mkdir()
    assert "Is a directory" in refused(*COPY, "-m", "folder.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    assert "not text in UTF-8" in refused(*COPY, "-m", "bytes.toml")


def test_a_machine_may_stand_on_another_file_beside_it(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "below.toml").write_text('base = "fermi"\ncores = 3\nl1_kib = 64\n')
    (tmp_path / "there" / "mine.toml").write_text('base = "below.toml"\ncores = 5\n')
    monkeypatch.chdir(tmp_path)
    mine = gpucoh.machine("there/mine.toml")
    assert (mine.cores, mine.l1_kib, mine.l2_kib) == (5, 64, 128)


SWEEPS = {
    "workloads = 3": "workload 3 is not a name",
    'workloads = ["bfs"]\nprotocols = [1]': "protocol 1 is not a name",
    'workloads = ["bfs"]\nconsistencies = [true]': "consistency True is not a name",
    'workloads = ["bfs"]\nscale = 1': "scale 1 is not a name",
    'workloads = ["bfs"]\nmachines = [true]': "machine True is not a name",
    'workloads = ["bfs"]\nseeds = [1' + "0" * 30 + "]": "seed = 1000",
    'workloads = ["bfs"]\nset = {name = "x"}': "set cannot change a machine's name",
    'workloads = ["bfs"]\nset = {cores = [1, 0]}': "cores = 0 is out of range",
    'workloads = ["bfs"]\nparams = {levels = 1.5}': "levels is 1.5",
    'workloads = ["bfs"]\njobs = 3': "unknown entry 'jobs'",
    'workloads = ["bfs"]\nset = {budget = [1000, -5]}': "budget = -5 is out of range: 1 to",
    'workloads = ["bfs"]\nset = {budget = 0}': "budget = 0 is out of range",
    'workloads = ["bfs"]\nset = {timestamp_bits = [32, 4]}\nprotocol = "tc-weak[lifetime=3200]"': "lifetime",
    "x = " + "[" * 3000: "nested too deep",
}


@pytest.mark.parametrize("text", share(SWEEPS, one_in=4))
def test_a_file_that_is_no_sweep_is_refused_with_its_name(refused, tmp_path, text):
    (tmp_path / "s.toml").write_text(text)
    report = refused("sweep", "s.toml", "--out", "r.parquet")
    assert report.startswith("gpucoh: sweep file s.toml: ")
    assert SWEEPS[text] in report


@pytest.mark.parametrize(
    ("arguments", "message"),
    rows(
        [
            (("run", "bfs", "-p", "ideal", "-c", "dfr"), "did you mean 'drf'?"),
            (("run", "bfs", "-p", "tc-weak[lifetme=3]"), "did you mean 'lifetime'?"),
            (("run", "bfs", "-p", "tc-weak[lifetime=-1]"), "a whole number from 0 to 65535"),
            (("verify", "-p", ","), "names no protocol"),
            (("verify", "-p", "mesi", "--states", "0"), "states = 0: must be from 1"),
            (
                ("verify", "-p", "mesi", "--program-states", "0"),
                "program-states = 0: must be from 1",
            ),
            (("verify", "-p", "mesi", "--states", "9" * 20), "must be from 1 to 1,000,000,000"),
            (
                ("verify", "-p", "mesi", "--evictions", "-1"),
                "evictions = -1: must be from 0 to 100",
            ),
            (("run", "bfs", "-p", "ideal[consistency=sc]", "-c", "rc"), "in the brackets"),
            (("run", "bfs", "-p", "ideal,no-l1"), "unknown protocol"),
            (("run", "bfs", "-p", "ideal", "--param", "source=1" + "0" * 30), "the vertices of"),
            (("run", "synthetic", "-p", "ideal", "--param", "zipf=1e400"), "a number from 0 to 4"),
            (("run", "reduction", "-p", "ideal", "--param", "words=0"), "from 1 to 268435456"),
            (("run", "bfs", "-p", "ideal", "--seed", str(2**64)), "seed"),
            (("runs", "bfs"), "Did you mean 'run'?"),
            (("run", "bfs", "--protocl", "ideal"), "--protocol"),
            (("sweep", "none.toml", "--out", "r.parquet"), "none.toml: No such file"),
            (("compare", "-w", ""), "names nothing"),
            (("compare", "--out", "/dev/null/figures"), "Not a directory"),
            (("protocols", ""), "unknown protocol ''"),
            (("machines", "fermi", "mesh15"), "unexpected extra argument"),
            (("machines", "fermi", "--toml", "--json"), "--json and --toml contradict each other"),
            (("protocols", "mesi", "--json", "--dot"), "--json and --dot contradict each other"),
        ],
        one_in=4,
    ),
)
def test_the_nearest_or_what_is_allowed_is_reported(refused, arguments, message):
    assert message in refused(*arguments)


TWICE = [
    ("run", "bfs", "-p", "mesi", "--protocol=tc-weak"),
    ("run", "bfs", "-p", "mesi", "-m", "fermi", "--machine", "gcn3"),
    ("run", "bfs", "-p", "mesi", "-c", "sc", "-c", "rc"),
    ("run", "bfs", "-p", "mesi", "--scale", "tiny", "--scale", "small"),
    ("compare", "--seed", "1", "--seed", "1"),
    ("compare", "--baseline", "mesi", "--baseline", "ideal"),
    ("sweep", "s.toml", "--out", "a", "--out", "b"),
    ("reproduce", "tc", "-j1", "--jobs", "2"),
    ("scorecard", "--scale", "tiny", "--scale", "tiny"),
    ("litmus", "MP", "--runs", "3", "--runs", "4"),
    ("fuzz", "-p", "mesi", "--no-shrink", "--shrink"),
    ("verify", "-p", "mesi", "--protocol", "all"),
]


@pytest.mark.parametrize("arguments", share(TWICE, one_in=4), ids=lambda arguments: arguments[0])
def test_a_second_value_of_an_option_is_refused(refused, arguments):
    assert "is given twice; it takes one value" in refused(*arguments)


def test_lists_and_flags_may_be_given_again(capsys):
    assert (
        call(["litmus", "MP", "-p", "mesi", "-p", "ideal", "--runs", "2", "--json", "--json"]) == 0
    )
    assert len(json.loads(capsys.readouterr().out)) == 2


@pytest.mark.parametrize(
    "arguments",
    share(
        [
            ("compare", "--baseline", ""),
            ("compare", "--out="),
            ("sweep", "s.toml", "--out", ""),
            ("reproduce", "tc", "--out", ""),
            ("fuzz", "-p", "mesi", "--save", ""),
            ("run", "bfs", "-p", "ideal", "-c", ""),
        ],
        one_in=4,
    ),
)
def test_an_empty_value_is_not_taken_for_none(refused, arguments):
    assert "is empty; it takes a value" in refused(*arguments)


def test_an_empty_baseline_is_unknown_in_python_too():
    with pytest.raises(gpucoh.ConfigError, match="unknown protocol ''"):
        gpucoh.compare(["bfs"], ["ideal"], baseline="")


# ---- whatever is typed

TYPED = """vec-cpy bfs ideal no-l1 tc-weak[lifetime=3] tc-weak[ fermi gcn3 tiny all , = cores=2 cores=x
budget=2000 words=9 words=-1 image=. rc drf 0 -1 1e9 nan /dev/null \N{SNOWMAN} -- -x"""
WORDS = st.sampled_from([*TYPED.split(), "", "a\nb"])
OPTIONS = st.sampled_from(
    ["-p", "-m", "-c", "--scale", "--seed", "--set", "--param", "--check", "--explain", "--json"]
)
LINES = st.lists(st.one_of(WORDS, OPTIONS), max_size=6)


@given(tail=LINES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words_after_run_end_with_a_status_and_at_most_one_line(capsys, tail):
    once = [] if "--scale" in tail else ["--scale", "tiny"]
    status = call(["run", "vec-cpy", *tail, *once, "--set", "budget=20000"])
    message = capsys.readouterr().err
    assert status in (0, 1, 2)
    note = message.startswith("gpucoh: no -p is given: no-l1, the default")
    assert message.count("\n") == (1 if status == 2 else int(note))
    assert "Traceback" not in message
