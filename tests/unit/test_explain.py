"""Does an explanation of runs say what distinguishes them, compare like with like, and name what serialises them?"""

import json

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32
from gpucoh.results.labels import labels_of


@gpucoh.kernel
def count(own: Buffer[i32], hot: Buffer[i32], n: i32):
    at = 32 * gpucoh.block_id()
    for _i in range(n):
        if gpucoh.thread_id() == 0:
            own[at] = own[at] + 1
            gpucoh.atomic_add(hot, 0, 1)


@gpucoh.workload(scales={"tiny": {"n": 4, "blocks": 4}})
def tally(gpu, rng, n, blocks):
    """Each block counts in a line of its own, and all in one word."""
    own, hot = gpu.zeros(32 * blocks, np.int32), gpu.zeros(1, np.int32)
    gpu.launch(count, grid=blocks, block=32, args=(own, hot, n))
    return {"hot": (hot, np.array([n * blocks]))}


def profiled(protocol="mesi", **given):
    return gpucoh.run(tally, protocol, scale="tiny", profile=True, **given)


@pytest.fixture(scope="module")
def scaled():
    """As many blocks as cores."""
    return [profiled(set={"cores": n}, params={"blocks": n}) for n in (4, 16, 64)]


@pytest.fixture(scope="module")
def scaling(scaled):
    return gpucoh.explain(*scaled)


# ---- names


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([{}, {"protocol": "rcc-sc"}], ["mesi", "rcc-sc"]),
        ([{}, {"set": {"cores": 4}}], ["cores=16", "cores=4"]),
        ([{}, {"machine": "gcn3"}], ["fermi", "gcn3"]),
        ([{}, {"params": {"n": 2}}, {"seed": 5}], ["n=4, seed=0", "n=2, seed=0", "n=4, seed=5"]),
        (
            [{}, {"protocol": "tc-weak[lifetime=400]", "seed": 1}],
            ["mesi, seed=0", "tc-weak[lifetime=400], seed=1"],
        ),
        ([{"consistency": "sc"}, {"consistency": "rc"}], ["sc", "rc"]),
        ([{}, {}, {"seed": 1}], ["run 1 (seed=0)", "run 2 (seed=0)", "run 3 (seed=1)"]),
        ([{}, {}], ["run 1", "run 2"]),
    ],
)
def test_runs_are_called_by_what_distinguishes_them(given, names):
    assert labels_of([profiled(**one) for one in given]) == names


# ---- numbers per core


def test_numbers_are_per_core_where_the_numbers_of_cores_differ(scaling, scaled):
    text = str(scaling)
    assert "Core cycles of waits, per core:" in text
    rows = scaling.table.query("measure == 'wait_cycles'").groupby("cores")["value"].sum()
    shares = [
        f"{round(rows[run.configuration['cores']] / run.configuration['cores']):,}"
        for run in scaled
    ]
    assert next(line for line in scaling.lines if "all waits" in line).split()[:3] == shares
    assert any("no block to run" in line for line in scaling.lines)
    two = gpucoh.explain(*scaled[:2]).lines
    assert ", per core, blocks" not in two[1]
    assert ", per core, cores=4, blocks=4 against cores=16, blocks=16" in two[1]


def test_numbers_are_sums_over_equal_numbers_of_cores():
    runs = [profiled(), profiled("gpu-vi"), profiled("tc-weak")]
    for found in (gpucoh.explain(*runs), gpucoh.explain(*runs[:2])):
        assert "summed over cores" in str(found)
        assert "per core" not in str(found)
        assert "no block to run" not in str(found)


def test_each_run_has_a_column_and_its_time(scaling, scaled):
    assert scaling.lines[0] == "tally:"
    assert scaling.lines[1].split("  ")[1:] == [f"cores={n}, blocks={n}" for n in (4, 16, 64)]
    assert scaling.lines[2].split()[:3] == [f"{run.cycles:,}" for run in scaled]


# ---- what serialises


def test_the_contended_array_is_named(scaling):
    rows = scaling.lines[scaling.lines.index("The most contended arrays, per core:") :]
    assert [row.split("  ")[-1] for row in rows[2:5]] == [
        "owner changes: hot",
        "requests held: hot",
        "cycles at the bank: hot",
    ]
    first, _, last = (float(word.replace(",", "")) for word in rows[4].split()[:3])
    assert last > 10 * first
    two = gpucoh.explain(profiled("mesi"), profiled("no-l1"))
    assert any(line.startswith("The most contended array: hot: ") for line in two.lines)


def test_a_poll_has_the_loads_line_in_both_parts_of_the_text():
    runs = [gpucoh.run("tb_lg", p, scale="tiny", profile=True) for p in ("no-l1", "mesi")]
    found = gpucoh.explain(*runs)
    ranked = next(line for line in found.lines if "attempts to take locks in" in line)
    where = ranked.split(" at ")[1].split(" ")[0]
    chains = [line for line in found.lines if line.startswith("The longest launch")]
    assert len(chains) == 2
    assert all(f"at {where}" in line for line in chains)


# ---- the table


def test_the_table_is_tidy_and_its_waits_are_the_cycles_without_an_issue(scaling, scaled):
    table = scaling.table
    assert set(table["measure"]) == {"wait_cycles", "owner_changes", "requests_held", "bank_cycles"}
    keys = ["run", "measure", "cause", "array", "file", "line"]
    assert not table.duplicated(keys).any()
    assert (table["per_core"] == table["value"] / table["cores"]).all()
    assert {"set_cores", "param_blocks", "protocol", "seed", "source"} <= set(table)
    waits = table[table["measure"] == "wait_cycles"].groupby("cores")["value"].sum()
    for run in scaled:
        assert waits[run.configuration["cores"]] == run.stalls.total
        assert run.stalls.total == (
            run.core.active_cycles - run.core.issue_cycles + run.stalls.launch
        )


def test_a_run_that_fails_is_told():
    wrong = gpucoh.run("fg-share", "no-coh", scale="tiny", profile=True)
    right = gpucoh.run("fg-share", "ideal", scale="tiny", profile=True)
    assert not any("wrong" in line for line in gpucoh.explain(right, right).lines)
    assert any(line.startswith("no-coh: wrong: ") for line in gpucoh.explain(wrong, right).lines)


# ---- the command line


def test_the_command_runs_a_workload_with_lists_of_values(cli):
    status, out, _ = cli(
        *("explain", "vec-cpy", "-p", "mesi,tc-weak", "--scale", "tiny", "--set", "cores=2,4"),
        *("--jobs", "2"),
    )
    assert status == 0
    assert out.splitlines()[1].split("  ")[1:] == [
        *("mesi, cores=2", "mesi, cores=4", "tc-weak, cores=2", "tc-weak, cores=4"),
    ]


def test_the_command_reads_several_files_and_prints_json(cli, tmp_path):
    files = [tmp_path / f"{n}.json" for n in range(3)]
    for seed, file in enumerate(files):
        file.write_text(json.dumps(profiled(seed=seed).to_dict()))
    status, out, _ = cli("explain", *map(str, files), "--json")
    found = json.loads(out)
    assert status == 0
    assert "seed=2" in found["lines"][1]
    assert {row["run"] for row in found["rows"]} == {"seed=0", "seed=1", "seed=2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vec-cpy"], "the files of two runs or more, a workload with --protocol ID"),
        (["a.json", "b.json", "--set", "cores=2"], "--set goes with a workload and --protocol"),
        (["vec-cpy", "-p", "mesi"], "give several protocols"),
        (["vec-cpy", "-p", "mesi", "--set", "cores=0,2"], "cores = 0 is out of range"),
        (["vec-cpy", "-p", "mesi", "--line", "0x80"], "the files of two runs or more"),
        (["a.json", "b.json"], "a.json: No such file"),
    ],
)
def test_the_command_refuses_what_it_cannot_compare(cli, arguments, message):
    status, out, err = cli("explain", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
