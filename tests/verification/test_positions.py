"""Nodes beyond cores and banks in traces and statistics; and `tardis`, the test library's own, everywhere."""

import pytest

from products import share


@pytest.mark.parametrize("workload", share(["stn", "bfs", "dlb"], one_in=3))
def test_workloads_are_right_under_monitors(mutant_gpucoh, workload):
    assert mutant_gpucoh.run(workload, protocol="tardis", scale="tiny", check=True).correct


@pytest.mark.parametrize("machine", share(["mesh15", "gcn3", "apu"], one_in=3))
def test_it_runs_on_every_machine(mutant_gpucoh, machine):
    assert mutant_gpucoh.run(
        "stn", protocol="tardis", machine=machine, scale="tiny", check=True
    ).correct


def test_the_random_tester_takes_it(mutant_gpucoh):
    from gpucoh.fuzz import fuzz

    assert fuzz("tardis", ops=4000, seed=3).failures == []


@pytest.mark.long
def test_the_explorer_takes_it(mutant_gpucoh):
    from gpucoh.verify.explorer import verify

    assert not verify("tardis", cores=2, lines=1, operations=1, max_states=200_000).violations


def test_a_trace_names_every_node(mutant_gpucoh):
    from gpucoh.verify.explorer import verify
    from gpucoh.verify.library import find

    result = verify("stc-nv!every-second-epoch", tests=[find("MP+fences")])
    assert result.violations
    assert "EMU" in result.violations[0].diagram


def test_statistics_have_a_group_for_each_node_kind(mutant_gpucoh):
    result = mutant_gpucoh.run("stn", protocol="wt", scale="tiny").to_dict()
    assert result["l3"]["fetches"] > 0
    assert result["l2"]["fetches"] == 0


@pytest.mark.parametrize("protocol", ["mesi", "tardis"])
def test_the_host_takes_back_what_an_l1_owns(mutant_gpucoh, protocol):
    @mutant_gpucoh.kernel
    def add(a: mutant_gpucoh.Buffer[mutant_gpucoh.i32]):
        a[mutant_gpucoh.global_id()] += 1

    gpu = mutant_gpucoh.GPU(protocol=protocol, check=True)
    a = gpu.zeros(64, dtype="int32")
    for k in range(3):
        gpu.launch(add, grid=2, block=32, args=(a,))
        assert a.numpy().tolist()[:2] == [k + 1 + 10 * k, k + 1]
        a[0] += 10  # the block of thread 0 owns the line
