"""Does a machine agree with its papers, and does an invalid one give one clear error line?"""

import pytest

import gpucoh
from gpucoh import _core
from gpucoh.hardware.published import GPUS
from gpucoh.machines import LARGEST_CLOCK_LCM_HZ, Machine
from gpucoh.machines.fields import WORDS, core_name
from gpucoh.machines.model import FIELDS
from gpucoh.machines.presets import PRESETS
from products import rows, share

FERMI = gpucoh.machine("fermi")


def test_the_core_gets_exactly_its_fields_as_whole_numbers():
    numbers = FERMI.to_core()
    assert set(numbers) == set(_core.machine_fields())
    assert all(type(value) is int for value in numbers.values())


def test_every_field_has_the_range_and_the_text_of_the_core():
    for name, (low, high, text) in _core.machine_fields().items():
        field = next(one for one in FIELDS if core_name(one) == name)
        known = FIELDS[field]
        assert known.text == text
        if field in WORDS:
            assert (low, high) == (0, len(WORDS[field]) - 1)
            continue
        scale = 1024 if field.endswith("_kib") else 1
        assert (known.smallest * scale, known.largest * scale) == (low, high), name


def test_fermi_has_the_papers_numbers():
    assert (FERMI.cores, FERMI.core_mhz, FERMI.l1_kib, FERMI.l2_kib) == (16, 1400, 32, 128)
    assert (FERMI.l2_round_trip, FERMI.dram_round_trip, FERMI.partitions) == (340, 460, 8)


def test_what_follows_from_fermi():
    derived = FERMI.derived
    assert (derived["l1_sets"], derived["l1_lines"], derived["l2_sets"]) == (64, 256, 128)
    assert derived["noc_gb_per_s"] == pytest.approx(179.2)
    assert derived["dram_gb_per_s"] == pytest.approx(179.2)
    assert derived["clock_lcm_mhz"] == 1400


@pytest.mark.parametrize("name", PRESETS)
def test_every_number_of_a_preset_has_its_source(name):
    machine = gpucoh.machine(name)
    for field in machine.numbers():
        source = machine.source(field)
        kinds = (
            "inferred",
            "table",
            "section",
            "not used",
            "published.toml",
            "sheet",
            "white paper",
            "programming guide",
            "scripts of",
        )
        assert any(kind in source for kind in kinds), field


@pytest.mark.parametrize("name", GPUS)
def test_a_product_has_the_latencies_and_the_clock_of_its_published_chase(name):
    gpu, machine = GPUS[name], gpucoh.machine(name)
    levels = gpu.levels
    assert machine.core_mhz == gpu.core_mhz
    assert machine.cores == (38 if name == "mi300x" else gpu.cores)
    assert machine.l1_latency == round(levels["l1"])
    assert machine.l2_round_trip == round(levels["l2"])
    assert machine.l2_crossing == round(levels.get("l2_far", levels["l2"]) - levels["l2"])
    memory = levels.get("memory_side") or levels["memory"]
    assert machine.dram_round_trip == round(memory - machine.l2_crossing / 2)


def test_a_changed_number_loses_the_papers_name():
    changed = FERMI.replace(cores=32)
    assert changed.source("cores") == "given"
    assert changed.source("core_mhz") == FERMI.source("core_mhz")
    assert changed.changes == {"cores": 32}


def test_units_are_read():
    changed = FERMI.replace(l1_kib="16KiB", core_mhz="1.05GHz", line_bytes="64B", l2_kib="0.25 MiB")
    assert (changed.l1_kib, changed.core_mhz, changed.line_bytes, changed.l2_kib) == (
        16,
        1050,
        64,
        256,
    )
    assert changed.to_core()["l1_bytes"] == 16384


def test_words_are_read_in_their_usual_spellings():
    changed = FERMI.replace(
        scheduler="gto", dram_model="FR-FCFS", topology="Mesh", l1_replacement="Tree-PLRU"
    )
    assert (changed.scheduler, changed.dram_model, changed.topology) == (
        "greedy_then_oldest",
        "fr_fcfs",
        "mesh",
    )
    assert changed.l1_replacement == "plru"
    core = changed.to_core()
    assert (core["scheduler"], core["topology"], core["l1_replacement"]) == (1, 1, 2)


def test_a_machine_is_frozen():
    with pytest.raises(Exception, match="frozen"):
        FERMI.cores = 3


def test_toml_and_back_gives_the_same_machine(tmp_path):
    machine = FERMI.replace(cores=4, l1_kib=0.5, l1_ways=2)
    machine.to_toml(tmp_path / "m.toml")
    assert Machine.from_toml(tmp_path / "m.toml") == machine
    assert gpucoh.machine(str(tmp_path / "m.toml")) == machine
    assert "TC table 4" in (tmp_path / "m.toml").read_text()


def test_toml_may_name_a_base(tmp_path):
    (tmp_path / "m.toml").write_text('base = "fermi"\ncores = 2\n')
    assert Machine.from_toml(tmp_path / "m.toml") == FERMI.replace(cores=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    rows(
        [
            ({"core": 3}, "unknown field 'core'; did you mean 'cores'?"),
            ({"l1_bytes": 3}, "did you mean 'l1_kib'?"),
            ({"cores": 0}, "cores = 0 is out of range: 1 to 256"),
            ({"cores": -1}, "cores = -1 is out of range: 1 to 256"),
            ({"l2_ports": 17}, "l2_ports = 17 is out of range: 1 to 16"),
            ({"star_latency": 0}, "star_latency = 0 is out of range: 1 to 1000 star cycles"),
            ({"cpu_kib": 25}, "12.5 sets; they must be whole"),
            ({"cpu_kib": 1}, "cpu_kib = 1.0 is smaller than its 16 ways of 128-byte lines"),
            ({"cpu_transfer_cycles": 0}, "cpu_transfer_cycles = 0 is out of range: 1 to"),
            ({"star_ports": 0}, "star_ports = 0 is out of range: 1 to 16"),
            ({"cores": 2.5}, "2.5 is not a whole number"),
            ({"cores": "many"}, "'many' is not a whole number"),
            ({"core_mhz": 0}, "core_mhz = 0 is out of range: 1 to 100000 MHz"),
            ({"l1_ways": 5}, "51.2 sets; they must be whole"),
            ({"l1_kib": 0.25}, "smaller than its 4 ways of 128-byte lines"),
            ({"l2_ways": 3}, "sets; they must be whole"),
            ({"line_bytes": 96}, "line_bytes = 96 is not a power of two"),
            ({"interleave_bytes": 64}, "interleave_bytes = 64 is less than line_bytes = 128"),
            ({"lanes_per_warp": 48}, "lanes_per_warp = 48 is not 32 or 64"),
            ({"dram_round_trip": 340}, "340 is not greater than l2_round_trip = 340"),
            ({"dram_banks": 3}, "dram_banks = 3 is not a power of two"),
            ({"dram_t_ras": 41}, "is less than dram_t_ras"),
            (
                {"scheduler": "random"},
                "scheduler = 'random' is not one of loose_round_robin or greedy_then_oldest",
            ),
            (
                {"l2_replacement": "random"},
                "l2_replacement = 'random' is not one of lru, fifo, plru or rrip",
            ),
            ({"topology": "mesh", "mesh_width": 17}, "mesh_width = 17"),
            ({"core_mhz": 1399, "l2_mhz": 1301}, "have the common multiple"),
            ({"dies": 3, "page_kib": 4}, "dies = 3 does not divide cores = 16"),
            ({"dies": 2, "page_kib": 4, "partitions": 5}, "does not divide partitions = 5"),
            ({"dies": 2, "page_kib": 4, "dram_channels": 3}, "does not divide dram_channels = 3"),
            ({"dies": 2}, "page_kib = 0 is not a power of two of at least interleave_bytes = 256"),
            ({"dies": 2, "page_kib": 3}, "page_kib = 3 is not a power of two"),
            ({"dies": 2, "page_kib": 4, "topology": "mesh"}, "dies = 2 with topology = mesh"),
            ({"dies": 2, "page_kib": 4, "l2_crossing": 9}, "dies = 2 with l2_crossing = 9"),
            ({"dies": 4, "page_kib": 4, "gpus": 3}, "gpus = 3 does not divide dies = 4"),
            (
                {"dies": 4, "page_kib": 4, "memory_units": 2},
                "memory_units = 2 with dies = 4; allowed: 0, 1 or one a die",
            ),
            ({"placement_of_pages": "last_touch"}, "is not one of interleave or first_touch"),
            ({"links": "both"}, "is not one of joined or split"),
            ({"l1_kib": "32 parsecs"}, "the unit is not one of B, KiB"),
        ],
        one_in=4,
    ),
)
def test_what_does_not_fit_is_refused_in_one_line(changes, message):
    with pytest.raises(gpucoh.ConfigError) as caught:
        FERMI.replace(**changes)
    text = str(caught.value)
    assert message in text
    assert text.startswith("machine 'fermi': ")
    assert "\n" not in text


def test_the_largest_clock_multiple_is_allowed_and_one_more_is_not():
    # 1_099_511 MHz is 2**40 Hz; 1_099_510 = 10 * 109951 and 2_199_020 is beyond.
    assert LARGEST_CLOCK_LCM_HZ // 10**6 == 1_099_511
    clocks = {"core_mhz": 10, "l2_mhz": 10, "noc_mhz": 10, "dram_mhz": 99_951}
    assert FERMI.replace(**clocks).derived["clock_lcm_mhz"] == 999_510
    with pytest.raises(gpucoh.ConfigError, match="common multiple 1999020 MHz"):
        FERMI.replace(**(clocks | {"l2_mhz": 4}))


def test_an_unknown_machine_is_named_with_its_nearest():
    with pytest.raises(gpucoh.ConfigError, match=r"unknown machine 'femi'.*did you mean 'fermi'"):
        gpucoh.machine("femi")


def test_the_functions_stay_functions_after_their_modules_are_imported():
    import gpucoh.device.protocols
    import gpucoh.machines

    assert "fermi" in gpucoh.machines()
    assert callable(gpucoh.protocols)


def test_the_other_papers_machines_have_their_numbers():
    mesh, gcn3, apu = (gpucoh.machine(name) for name in ("mesh15", "gcn3", "apu"))
    assert (mesh.cores, mesh.partitions, mesh.topology, mesh.mesh_width) == (15, 16, "mesh", 4)
    assert (mesh.l2_round_trip, mesh.dram_round_trip, mesh.derived["l2_total_kib"]) == (
        29,
        197,
        4096,
    )
    assert (gcn3.cores, gcn3.lanes_per_warp, gcn3.derived["l1_sets"]) == (8, 64, 16)
    assert (gcn3.l2_round_trip, gcn3.dram_round_trip, gcn3.derived["l2_total_kib"]) == (
        160,
        260,
        512,
    )
    assert (apu.l1_kib, apu.derived["l2_total_kib"]) == (16, 256)
    assert apu.derived["dram_gb_per_s"] == pytest.approx(25.6)


@pytest.mark.parametrize(
    ("workload", "name"), share(["vec-cpy", "hsp", "fg-share"], PRESETS, one_in=4)
)
def test_every_machine_runs_workloads_right(name, workload):
    assert gpucoh.run(workload, protocol="ideal", machine=name, scale="tiny").correct


def test_a_cache_at_the_memory_side_has_the_l2s_ways_and_mshrs_unless_they_are_given():
    fermi = gpucoh.machine("fermi")
    changed = fermi.replace(l3_kib="64KiB")
    assert (changed.l3_ways, changed.l3_mshrs) == (fermi.l2_ways, fermi.l2_mshrs)
    assert fermi.replace(l3_kib=64, l3_ways=4).l3_ways == 4
    assert fermi.replace(l3_kib=0) == fermi
    assert gpucoh.machine("apu").replace(l3_kib=1024).l3_ways == gpucoh.machine("apu").l3_ways
