"""Are the combinations of lists made as they should be, from arguments and from a file, and bad ones refused?"""

import tracemalloc

import numpy as np
import pytest

import gpucoh
from gpucoh.runs.grids import read_sweep
from products import rows


def test_a_grid_is_the_product_of_its_lists():
    runs = gpucoh.grid(
        workloads=["bfs"],
        protocol="tc-strong[bytes=paper]",
        seeds=np.arange(2),
        options={"lifetime": [200, 800], "stall": "line"},
        set={"cores": [8, 16]},
        check=True,
    )
    assert len(runs) == 8
    assert runs[1] == {
        "workload": "bfs",
        "protocol": "tc-strong[bytes=paper,lifetime=200,stall=line]",
        "seed": 0,
        "set": {"cores": 16},
        "check": True,
    }
    assert [run["workload"] for run in gpucoh.grid(workload=len)] == [len]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"protocol": "mesi"}, "the entry workloads is missing"),
        ({"workload": "bfs", "wrkloads": "x"}, "unknown entry 'wrkloads'"),
        ({"workload": "bfs", "seeds": []}, "seeds is an empty list"),
        ({"workload": "bfs", "options": 3}, "options = 3 is not a table"),
        (
            {"workload": "bfs", "seeds": range(10**4), "set": {"cores": list(range(2, 200))}},
            r"1,980,000 combinations \(10000 seeds x 198 set.cores\); at most 1,000,000 are allowed",
        ),
        ({"workload": "bfs", "seeds": range(10**12)}, "seeds has 1,000,000,000,000 values"),
        ({"workload": "bfs", "protocol": "mesi[a=1]", "options": {"a": 2}}, "'a' is given twice"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(entries, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.grid(**entries)


def test_combinations_are_counted_before_they_are_made(tmp_path):
    """Making 10**8 of them took all memory."""
    fields = ("cores", "l1_mshrs", "l2_mshrs", "l1_latency", "alu_latency", "sfu_latency")
    lists = "".join(f"{name} = {list(range(1, 11))}\n" for name in fields)
    path = tmp_path / "huge.toml"
    path.write_text(f'workload = "bfs"\nseeds = {list(range(100))}\n[set]\n{lists}')
    tracemalloc.start()
    with pytest.raises(gpucoh.ConfigError, match=r"huge\.toml: 100,000,000 combinations"):
        read_sweep(path)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_parameter_may_have_the_name_of_an_entry():
    (run,) = gpucoh.grid(workload="bfs", params={"seed": 3})
    assert run["params"] == {"seed": 3}


def test_a_file_is_the_product_of_its_lists(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'workloads = ["vec-cpy"]\nprotocols = ["no-l1", "ideal"]\nscale = "tiny"\nseeds = [0, 1, 2]\n'
        "[set]\nl1_kib = [16, 32]\n"
    )
    runs = read_sweep(path)
    assert len(runs) == 12
    assert {run.scale for run in runs} == {"tiny"}
    assert runs[1].set == {"l1_kib": 32}


@pytest.mark.parametrize(
    ("text", "message"),
    rows(
        [
            ("workloads = [", "not TOML"),
            ('protocols = ["ideal"]', "the entry workloads is missing"),
            ('worklods = ["bfs"]', "unknown entry 'worklods'.*did you mean 'workloads'"),
            ('workloads = ["bsf"]', "unknown workload"),
            ("workloads = [3]", "workload 3 is not a name"),
            ('workloads = [["bfs"]]', "is not a number, text or boolean"),
            ('workload = "bfs"\nworkloads = ["hsp"]', "given twice"),
            ('workload = "bfs"\nseeds = []', "seeds is an empty list"),
            ('workload = "bfs"\nseeds = [-1]', "seed = -1"),
            ('workload = "bfs"\nprotocols = ["idael"]', "unknown protocol.*'ideal'"),
            ('workload = "bfs"\nmachines = [1]', "machine 1 is not a name"),
            ('workload = "bfs"\nconsistency = "sq"', "unknown consistency"),
            ('workload = "bfs"\nset = 3', "set = 3 is not a table"),
            (
                '[set]\ncores = 2\nworkload = "bfs"',
                r"entry workload is in the table \[set\]: write it above",
            ),
            (
                'workload = "bfs"\n[set]\nseeds = [1]',
                r"the entry seeds is in the table \[set\]: write it",
            ),
            ('[params]\nworkloads = ["bfs"]', r"the entry workloads is in the table \[params\]"),
            ('workload = "bfs"\nset = {cores = ["x"]}', "'x' is not a whole number"),
            ('workload = "bfs"\nparams = {grap = 1}', "unknown parameter 'grap'"),
            ('workload = "bfs"\ncheck = "yes"', "is not true or false"),
        ],
        one_in=4,
    ),
)
def test_a_bad_file_is_reported_by_its_name(tmp_path, text, message):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(gpucoh.ConfigError, match=rf"s\.toml: .*{message}"):
        read_sweep(path)
