"""Skeletons of the test library: do kernels, monitors, tester and explorer take node kinds beyond cores and banks?"""

import pytest

from products import share

SKELETONS = ("skel-src", "skel-epochs", "skel-three-levels", "tardis")


@pytest.mark.parametrize(
    ("workload", "protocol"), share(["stn", "bfs", "dlb"], SKELETONS, one_in=4)
)
def test_workloads_are_right_under_monitors(mutant_gpucoh, protocol, workload):
    result = mutant_gpucoh.run(workload, protocol=protocol, scale="tiny", check=True)
    assert result.correct


@pytest.mark.parametrize("machine", share(["mesh15", "gcn3", "apu"], one_in=4))
def test_they_run_on_every_machine(mutant_gpucoh, machine):
    for protocol in SKELETONS:
        assert mutant_gpucoh.run(
            "stn", protocol=protocol, machine=machine, scale="tiny", check=True
        ).correct


@pytest.mark.parametrize("protocol", SKELETONS)
def test_the_random_tester_takes_them(mutant_gpucoh, protocol):
    from gpucoh.fuzz import fuzz

    assert fuzz(protocol, ops=4000, seed=3).failures == []


@pytest.mark.long
def test_the_explorer_takes_them(mutant_gpucoh):
    from gpucoh.verify.explorer import verify

    for protocol in SKELETONS:
        result = verify(protocol, cores=2, lines=1, operations=1, max_states=200_000)
        assert not result.violations, protocol


def test_a_trace_names_every_node(mutant_gpucoh):
    from gpucoh.verify.explorer import verify
    from gpucoh.verify.library import find

    result = verify("skel-epochs[timer=background]", tests=[find("MP+fences")])
    assert result.violations
    assert "EMU" in result.violations[0].diagram


def test_statistics_have_a_group_for_each_node_kind(mutant_gpucoh):
    result = mutant_gpucoh.run("stn", protocol="skel-three-levels", scale="tiny").to_dict()
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
