"""Is energy the sum of what was counted times coefficients that all have a unit and a source?"""

from dataclasses import replace
from pathlib import Path

import pytest

import gpucoh
from gpucoh.results.energy import (
    COEFFICIENTS,
    COEFFICIENTS_2024,
    LINK_MM,
    MODELS,
    PARTS,
    estimate,
    terms,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "energy.md"
FERMI = gpucoh.machine("fermi").numbers() | {"dram_model": "fixed"}
CACHE = dict.fromkeys(
    (
        "loads",
        "load_hits",
        "load_misses",
        "stores",
        "atomics",
        "writebacks",
        "fetches",
        "invalidations",
    ),
    0,
)
CORE = {"shared_accesses": 0, "active_cycles": 0, "issue_cycles": 0}
ZERO = {
    "cycles": 0,
    "instructions": 0,
    "thread_instructions": 0,
    "l1": CACHE,
    "l2": CACHE,
    "core": CORE,
    "dram": dict.fromkeys(("reads", "writes", "row_misses", "row_conflicts"), 0),
    "traffic": {},
}
MILLISECOND = 1_400_000  # core cycles of fermi
LINE = 128 * 8


def of(machine=FERMI, networks=2, has_l1=True, **changes):
    return estimate(ZERO | changes, machine, networks=networks, has_l1=has_l1)


def only(parts, name):
    """The energy of a part that is all there is."""
    assert parts["total"] == pytest.approx(parts[name])
    return parts[name]


def sent(messages, flits, hops=1):
    return {"GETS": {"messages": messages, "flits": flits, "flit_hops": flits * hops}}


def test_every_coefficient_has_a_value_a_unit_a_text_and_a_source():
    for item in (*COEFFICIENTS.values(), *COEFFICIENTS_2024.values()):
        assert item.value > 0
        assert item.unit
        assert item.scale > 0
        assert item.text
        assert item.source.startswith("inferred: ") or "[" in item.source


def test_every_coefficient_is_used():
    used = {term.coefficient for term in terms(ZERO, FERMI, networks=2, has_l1=True)}
    assert used == set(COEFFICIENTS)


def test_the_page_tells_every_coefficient_as_it_is():
    page = DOCUMENT.read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| `")]
    table = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows]
    assert table == [
        *(
            (f"`{name}`", f"{item.value:g}", item.unit, item.text, item.source)
            for name, item in COEFFICIENTS.items()
        ),
        *(
            (f"`{name}`", f"{item.value:g}", item.unit, item.source)
            for name, item in COEFFICIENTS_2024.items()
        ),
    ]


def test_both_decades_have_the_same_coefficients_in_the_same_units():
    assert list(MODELS) == ["2013", "2024"]
    assert COEFFICIENTS_2024.keys() == COEFFICIENTS.keys()
    for name, item in COEFFICIENTS_2024.items():
        assert (item.unit, item.text) == (COEFFICIENTS[name].unit, COEFFICIENTS[name].text)
        if name == "die_link":
            assert item.value == COEFFICIENTS[name].value  # both decades have one source
        else:
            assert 0 < item.value < COEFFICIENTS[name].value


def test_a_bit_of_hbm_costs_what_its_source_has_in_total():
    # O'Connor et al.: 3.92 pJ/bit with a row's energy spread over the 256 bytes read of it.
    row = COEFFICIENTS_2024["dram_row"].value / (256 * 8)
    assert COEFFICIENTS_2024["dram_data"].value + row == pytest.approx(3.92, rel=0.01)


def test_nothing_counted_in_no_time_is_no_energy():
    assert set(of()) == {*PARTS, "total"}
    assert of()["total"] == 0


def test_no_traffic_is_no_dynamic_network_energy_but_the_buffers_leak():
    idle = of(cycles=MILLISECOND)
    assert idle["noc_dynamic"] == 0
    assert idle["noc_static"] > 0


def test_a_bit_over_a_link_costs_what_its_source_has_and_between_gpus_nothing():
    links = {"0-1": {"bytes": 1000}, "1-0": {"bytes": 500}, "gpu0-gpu1": {"bytes": 9000}}
    assert only(of(links=links), "noc_dynamic") == pytest.approx(1500 * 8 * 0.54e-12)


def test_a_flit_and_hop_is_buffer_crossbar_arbiters_and_link():
    a_flit = 256 * (0.06 + 0.05 + 0.005 * 24 + 0.12 * 10) + 0.5
    assert only(of(traffic=sent(200, 1000)), "noc_dynamic") == pytest.approx(
        (1000 * a_flit + 200 * 1.0) * 1e-12
    )


def test_dynamic_network_energy_is_proportional_to_messages_of_a_size_and_to_hops():
    base = of(traffic=sent(200, 1000))["noc_dynamic"]
    assert of(traffic=sent(600, 3000))["noc_dynamic"] == pytest.approx(3 * base)
    assert of(traffic=sent(200, 1000, hops=2))["noc_dynamic"] == pytest.approx(2 * base)
    assert of(traffic=sent(200, 900))["noc_dynamic"] < base
    assert of(traffic=sent(100, 1000))["noc_dynamic"] < base


def test_a_hop_of_a_mesh_has_its_own_wires_and_router():
    mesh = FERMI | {"topology": "mesh"}
    a_flit = 256 * (0.06 + 0.05 + 0.005 * 10 + 0.12 * LINK_MM["mesh"]) + 0.5
    assert of(mesh, traffic=sent(0, 1000))["noc_dynamic"] == pytest.approx(1000 * a_flit * 1e-12)


def test_static_network_energy_is_proportional_to_ports_networks_depth_and_time():
    base = of(cycles=MILLISECOND)["noc_static"]
    assert base == pytest.approx(24 * 2 * 8 * 256 * 2e-6 * 1e-3)
    assert of(cycles=2 * MILLISECOND)["noc_static"] == pytest.approx(2 * base)
    assert of(cycles=MILLISECOND, networks=5)["noc_static"] == pytest.approx(2.5 * base)
    assert of(FERMI | {"vc_flits": 16}, cycles=MILLISECOND)["noc_static"] == pytest.approx(2 * base)
    assert of(FERMI | {"cores": 40}, cycles=MILLISECOND)["noc_static"] == pytest.approx(2 * base)
    assert of(FERMI | {"l2_ports": 4}, cycles=MILLISECOND)["noc_static"] == pytest.approx(2 * base)


def test_time_is_of_the_core_clock():
    slow = FERMI | {"core_mhz": 700}
    assert of(slow, cycles=MILLISECOND)["core"] == pytest.approx(2 * of(cycles=MILLISECOND)["core"])


def test_a_protocol_without_an_l1_pays_none():
    l1 = CACHE | {"loads": 50}
    assert of(cycles=1000, l1=l1, has_l1=False)["l1"] == 0
    assert of(cycles=1000, l1=l1)["l1"] > 0


def test_a_hit_costs_tags_and_a_line_and_a_miss_tags_and_the_fill():
    hit = of(l1=CACHE | {"loads": 1, "load_hits": 1})
    miss = of(l1=CACHE | {"loads": 1, "load_misses": 1})
    assert only(hit, "l1") == pytest.approx((5 + LINE * 0.2) * 1e-12)
    assert only(miss, "l1") == pytest.approx(only(hit, "l1"))
    assert only(of(l1=CACHE | {"loads": 1}), "l1") == pytest.approx(5e-12)  # joined another's miss


def test_an_atomic_reads_and_writes_its_line():
    l2 = CACHE | {"atomics": 1}
    assert only(of(l2=l2), "l2") == pytest.approx((5 + 2 * LINE * 0.4) * 1e-12)


def test_an_access_of_a_cache_four_times_as_large_costs_twice_the_data():
    hits = CACHE | {"load_hits": 10}
    assert only(of(l2=hits), "l2") == pytest.approx(2 * only(of(l1=hits), "l1"))


def test_dram_pays_bits_and_rows():
    dram = ZERO["dram"] | {"reads": 4, "row_misses": 1}
    bits = 4 * LINE * 8e-12
    fixed = of(dram=dram)  # no rows are modelled: each access opens one
    assert only(fixed, "dram") == pytest.approx(bits + 4 * 6e-9)
    assert of(FERMI | {"dram_model": "fr_fcfs"}, dram=dram)["dram"] == pytest.approx(bits + 6e-9)
    assert of(FERMI | {"dram_model": "closed"}, dram=dram)["dram"] == pytest.approx(bits + 6e-9)


def test_row_and_standby_of_dram_follow_from_the_currents_of_a_device():
    # DRAMsim3's GDDR5_1Gb_x32.ini: amperes, volts, cycles of 0.667 ns, rows of 2 KiB; a fermi channel has two devices
    one_bank, precharged, active, volts = 0.490, 0.250, 0.450, 1.5
    row_open, row_closed = 42 * 0.667e-9, 18 * 0.667e-9
    row = (one_bank - active) * row_open + (one_bank - precharged) * row_closed
    item = COEFFICIENTS["dram_row"]
    assert item.value * item.scale == pytest.approx(volts * row, rel=0.01)
    assert of(cycles=MILLISECOND)["dram"] == pytest.approx(8 * 2 * volts * active * 1e-3)


def test_the_scratchpad_pays_a_word_a_lane():
    used = of(core=CORE | {"shared_accesses": 3})
    assert only(used, "scratchpad") == pytest.approx(3 * 32 * 32 * 0.1e-12)
    wide = of(FERMI | {"lanes_per_warp": 64}, core=CORE | {"shared_accesses": 3})
    assert wide["scratchpad"] == pytest.approx(2 * used["scratchpad"])


def test_a_core_pays_instructions_lanes_issue_cycles_and_time():
    base = of(instructions=10, thread_instructions=320)
    assert only(base, "core") == pytest.approx((10 * 400 + 320 * 40) * 1e-12)
    assert of(cycles=MILLISECOND)["core"] == pytest.approx(16 * 1.0 * 1e-3)
    assert only(of(core=CORE | {"issue_cycles": 5}), "core") == pytest.approx(5 * 700e-12)


def test_the_clock_of_a_core_that_does_not_issue_is_gated():
    assert of(core=CORE | {"active_cycles": 5})["total"] == 0


def test_the_power_of_a_core_that_does_nothing_is_within_gpuwattchs():
    # GPUWattch's gtx480: 11 W of constant power for 16 active cores, 1.59 W for an idle core
    assert 11 / 16 < COEFFICIENTS["core_power"].value < 1.59


def test_coefficients_can_be_replaced():
    others = COEFFICIENTS | {"core_power": replace(COEFFICIENTS["core_power"], value=2.0)}
    counted = ZERO | {"cycles": MILLISECOND}
    doubled = estimate(counted, FERMI, networks=2, has_l1=True, coefficients=others)
    assert doubled["core"] == pytest.approx(2 * of(cycles=MILLISECOND)["core"])


def test_a_busy_fermi_draws_about_what_the_sources_say():
    second = 1_400_000_000
    flits = 2 * 8 * 700_000_000  # each direction and partition, every network cycle
    busy = of(
        cycles=second,
        instructions=16 * second,
        thread_instructions=16 * 32 * second,
        traffic=sent(flits // 3, flits),
        dram=ZERO["dram"] | {"reads": round(179.2e9 / 128)},
        core=CORE | {"issue_cycles": 16 * second},
    )
    assert 80 < busy["total"] < 150
    # GPUWattch: about 30% memory, 10% network of a modern GPU
    assert 0.2 < busy["dram"] / busy["total"] < 0.4
    assert 0.03 < (busy["noc_dynamic"] + busy["noc_static"]) / busy["total"] < 0.15
    assert busy["noc_dynamic"] / busy["noc_static"] == pytest.approx(20, rel=0.2)


def test_a_run_carries_energy_whose_total_is_the_sum_of_its_parts():
    energy = gpucoh.run("hsp", protocol="ideal", scale="tiny").to_dict()["energy"]
    assert set(energy) == {*PARTS, "total"}
    assert all(value > 0 for value in energy.values())
    assert energy["total"] == pytest.approx(sum(energy[part] for part in PARTS), rel=1e-12)


def test_a_directory_is_charged_for_its_look_ups_and_its_size():
    piece = {"accesses": 1000, "entries": 8192, "bits": 32, "units": 8}  # 32 KiB each
    energy = of(storage={"L1": {}, "L2": {"directory": piece}})
    tags, data, power = (COEFFICIENTS[f"cache_{name}"] for name in ("tags", "data", "power"))
    dynamic = 1000 * (tags.value * tags.scale + 32 * data.value * data.scale)
    assert only(energy, "l2_directory") == pytest.approx(dynamic)
    asleep = of(cycles=MILLISECOND, storage={"L2": {"directory": piece | {"accesses": 0}}})
    assert asleep["l2_directory"] == pytest.approx(32 * 8 * 1e-3 * power.value * power.scale)


def test_a_protocol_with_a_directory_of_its_own_has_a_part_for_it():
    run = gpucoh.run("hsp", protocol="gpu-vini", scale="tiny").to_dict()
    assert set(run["energy"]) == {*PARTS, "l2_directory", "total"}
    parts = [joules for name, joules in run["energy"].items() if name != "total"]
    assert run["energy"]["total"] == pytest.approx(sum(parts), rel=1e-12)
    assert run["storage"]["L2"]["directory"]["accesses"] > 0


def test_a_run_is_charged_for_the_virtual_networks_that_its_protocol_declares():
    result = gpucoh.run("vec-cpy", protocol="ideal", scale="tiny")
    networks = len(gpucoh.protocols()["ideal"].json["networks"])
    numbers = gpucoh.machine("fermi").numbers()
    assert result.stats.energy.noc_static == pytest.approx(
        of(numbers, networks, cycles=result.cycles)["noc_static"]
    )


def test_fewer_flits_are_less_dynamic_network_energy():
    less, more = (
        gpucoh.run("bfs", protocol=name, scale="tiny").stats for name in ("ideal", "no-l1")
    )
    assert less.flits() < more.flits()
    assert less.energy.noc_dynamic < more.energy.noc_dynamic


def heights(axes):
    """The heights of all stacked bars but the means, from left to right."""
    tops = {}
    for bar in axes.patches:
        x = round(bar.get_x(), 6)
        tops[x] = max(tops.get(x, 0), bar.get_y() + bar.get_height())
    return [height for _, height in sorted(tops.items())][:-2]


@pytest.fixture(scope="module")
def matrix():
    return gpucoh.compare(["vec-cpy", "hsp"], ["no-l1", "gpu-vini"], scale="tiny")


def test_the_energy_figure_stacks_parts_to_the_ratio(matrix):
    total = matrix.plot_energy().axes[0]
    assert total.get_ylabel() == "energy relative to NO-L1"
    assert heights(total) == pytest.approx([row["energy"] for row in matrix.summary])
    assert {bar.get_label() for bar in total.patches} == {"on_chip", "dram", "core"}


def test_network_and_caches_have_an_axis_of_their_own(matrix):
    memory = matrix.plot_energy().axes[1]
    assert memory.get_title(loc="left") == "Network and caches alone"

    def joules(run):
        energy = run.stats.energy.to_dict()
        return energy["total"] - energy["core"] - energy["scratchpad"] - energy["dram"]

    ratios = [
        joules(matrix.run(name, protocol)) / joules(matrix.run(name, "no-l1"))
        for name in matrix.workloads
        for protocol in matrix.protocols
    ]
    assert heights(memory) == pytest.approx(ratios)
    drawn = {bar.get_label() for bar in memory.patches}
    assert drawn == {"noc_dynamic", "noc_static", "l1", "l2", "arrays"}
