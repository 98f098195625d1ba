"""Is energy the sum of what was counted times coefficients that all have a source?"""

import pytest

import gpucoh
from gpucoh.energy import COEFFICIENTS, PARTS, estimate

FERMI = gpucoh.machine("fermi").numbers()
ZERO = {
    "cycles": 0,
    "instructions": 0,
    "thread_instructions": 0,
    "l1": dict.fromkeys(("loads", "stores", "atomics", "load_misses", "writebacks"), 0),
    "l2": dict.fromkeys(("loads", "stores", "atomics", "load_misses", "writebacks"), 0),
    "core": {"shared_accesses": 0},
    "dram": dict.fromkeys(("reads", "writes", "row_misses", "row_conflicts"), 0),
    "traffic": {},
}


def of(machine=FERMI, networks=2, has_l1=True, **changes):
    return estimate(ZERO | changes, machine, networks=networks, has_l1=has_l1)


def only(parts, name):
    assert parts["total"] == pytest.approx(parts[name])
    return parts[name]


def test_every_coefficient_has_a_unit_a_text_and_a_source():
    for item in COEFFICIENTS.values():
        assert item.value > 0
        assert item.unit
        assert item.text
        assert len(item.source) > 15


def test_nothing_counted_is_no_energy():
    assert set(of()) == {*PARTS, "total"}
    assert of()["total"] == 0


def test_a_flit_and_hop_is_buffer_crossbar_arbiter_and_link():
    traffic = {"GETS": {"flit_hops": 1000}}
    a_flit = 256 * (0.06 + 0.05 + 0.12 + 0.12 * 10) + 0.5
    assert only(of(traffic=traffic), "noc_dynamic") == pytest.approx(1000 * a_flit * 1e-12)


def test_static_network_energy_grows_with_ports_networks_depth_and_time():
    base = of(cycles=1_400_000)["noc_static"]
    assert base == pytest.approx(24 * 2 * 8 * 256 * 2e-6 * 1e-3)
    assert of(cycles=2_800_000)["noc_static"] == pytest.approx(2 * base)
    assert of(cycles=1_400_000, networks=5)["noc_static"] == pytest.approx(2.5 * base)
    assert of(FERMI | {"vc_flits": 16}, cycles=1_400_000)["noc_static"] == pytest.approx(2 * base)
    assert of(FERMI | {"cores": 40}, cycles=1_400_000)["noc_static"] == pytest.approx(2 * base)


def test_a_protocol_without_an_l1_pays_none():
    l1 = ZERO["l1"] | {"loads": 50}
    assert of(cycles=1000, l1=l1, has_l1=False)["l1"] == 0
    assert of(cycles=1000, l1=l1)["l1"] > 0


def test_a_larger_cache_costs_more_an_access():
    l2 = ZERO["l2"] | {"loads": 10}
    assert only(of(l2=l2), "l2") == pytest.approx(
        10 * 100e-12 * 2
    )  # 128 KiB: twice a 32 KiB access


def test_dram_pays_bits_and_rows():
    dram = ZERO["dram"] | {"reads": 4, "row_misses": 1}
    bits = 4 * 128 * 8 * 14e-12
    assert only(of(dram=dram), "dram") == pytest.approx(
        bits + 4 * 2.5e-9
    )  # fixed latency: each opens a row
    assert of(FERMI | {"dram_model": "fr_fcfs"}, dram=dram)["dram"] == pytest.approx(bits + 2.5e-9)


def test_a_run_carries_energy_whose_total_is_the_sum_of_its_parts():
    energy = gpucoh.run("hsp", protocol="ideal", scale="tiny").to_dict()["energy"]
    assert set(energy) == {*PARTS, "total"}
    assert all(value > 0 for value in energy.values())
    assert energy["total"] == pytest.approx(sum(energy[part] for part in PARTS))


def test_fewer_flits_are_less_network_energy():
    less, more = (
        gpucoh.run("bfs", protocol=name, scale="tiny").stats for name in ("ideal", "no-l1")
    )
    assert less.flits() < more.flits()
    assert less.energy.noc_dynamic < more.energy.noc_dynamic


def test_the_energy_figure_stacks_parts_to_the_ratio():
    matrix = gpucoh.compare(["vec-cpy", "hsp"], ["no-l1", "ideal"], scale="tiny")
    figure = matrix.plot_energy()
    assert "ratio of joules" in figure.axes[0].get_ylabel()
    tops = {}
    for bar in figure.axes[0].patches:
        x = round(bar.get_x(), 6)
        tops[x] = max(tops.get(x, 0), bar.get_y() + bar.get_height())
    assert sorted(tops.values()) == pytest.approx(sorted(row["energy"] for row in matrix.summary))
