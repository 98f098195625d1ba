"""Does a result name the changed machine fields that nothing reads, and only those?"""

from __future__ import annotations

import json

import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.device.gpu import resolve
from gpucoh.device.unread import READERS, unread
from gpucoh.machines import Machine
from gpucoh.machines.fields import WORDS
from host import HOST
from products import rows

FIELDS = [field for reader in READERS for field in reader.fields]


def other(machine: Machine, field: str) -> Machine:
    """The machine with another value of a field."""
    value = getattr(machine, field)
    numbers = (
        () if field in WORDS else (value * 2 or 1, value // 2 or 1, value + 1, max(value - 1, 0))
    )
    for new in WORDS.get(field, numbers):
        if new != value:
            try:
                return machine.replace(**{field: new})
            except gpucoh.ConfigError:
                continue
    raise AssertionError(f"{field} = {value}: no other value is valid")


def statistics(result: gpucoh.RunResult) -> dict[str, object]:
    """All that a run found."""
    found = result.to_dict()
    return {name: found[name] for name in found if name not in (*HOST, "set", "configuration")}


def test_every_field_is_one_of_the_machine_and_has_one_reader() -> None:
    assert len(set(FIELDS)) == len(FIELDS)
    assert set(FIELDS) <= gpucoh.machine("fermi").numbers().keys()


@pytest.mark.parametrize(
    ("workload", "protocol", "rule", "machine"),
    rows(
        [
            ("bfs", "mesi", "rc", "fermi"),
            ("bfs", "no-l1", "sc", "fermi"),
            ("mis", "tc-weak", "rc", "h100-like"),
            ("fg-share", "gpu-drf", "drf", "mesh15"),
            ("rg", "denovo-hrf", "hrf", "mesh15"),
            ("bfs", "stc-nv", "sc", "gcn3"),
            ("bfs", "wt", "rc", "apu"),
            ("vec-cpy", "gpu-vini", "rc", "apu"),
            ("bfs", "rcc-sc", "sc", "fermi"),
            ("bfs", "ideal", "rc", "gcn3"),
        ],
        one_in=4,
    ),
)
def test_fields_that_nothing_reads_change_no_statistic(
    workload: str, protocol: str, rule: str, machine: str
) -> None:
    first = gpucoh.machine(machine)
    found = unread(first, resolve(protocol), rule)
    changed = first
    for field in sorted(found, reverse=True):  # ways before the size that they divide
        changed = other(changed, field)
    assert set(changed.changes) == set(found)
    one, two = (
        gpucoh.run(workload, protocol, given, consistency=rule, scale="tiny")
        for given in (first, changed)
    )
    assert one.correct is not False or one.model == "none"
    assert statistics(one) == statistics(two)


@pytest.mark.parametrize(
    ("protocol", "machine", "change"),
    rows(
        [
            ("mesi", "fermi", {"l1_kib": 1}),
            ("mesi", "fermi", {"dram_t_rcd": 40}),
            ("qr", "apu", {"dram_t_ccd": 40}),
            ("qr", "apu", {"memory_mhz": 350}),
            ("qr", "apu", {"star_latency": 10}),
            ("qr", "apu", {"l3_latency": 5}),
            ("stc-nv", "gcn3", {"global_mhz": 100}),
            ("mesi", "mesh15", {"mesh_width": 2}),
            ("gpu-drf", "mesh15", {"relaxed_unordered": 1}),
            ("mesi", "fermi", {"dies": 2, "page_kib": 1, "die_bytes": 4}),
            ("mesi", "fermi", {"dies": 2, "page_kib": 4, "placement_of_pages": "first_touch"}),
            ("mesi", "fermi", {"dies": 2, "gpus": 2, "page_kib": 4, "gpu_latency": 9}),
        ],
        one_in=4,
    ),
)
def test_a_field_with_a_reader_changes_the_run_and_is_not_noted(
    protocol: str, machine: str, change: dict[str, int | str]
) -> None:
    given = gpucoh.machine(machine)
    result = gpucoh.run("bfs", protocol, given, scale="tiny", set=change)
    assert result.notes == ()
    assert statistics(result) != statistics(gpucoh.run("bfs", protocol, given, scale="tiny"))


@pytest.mark.parametrize(
    ("protocol", "field", "reason"),
    rows(
        [
            ("mesi", "memory_mhz", "no controller at the memory side"),
            ("no-l1", "l1_kib", "no L1"),
            ("mesi", "dram_t_ccdl", "no DRAM model has bank groups"),
            ("mesi", "dram_bank_cycles", "the machine's DRAM is not closed"),
            ("mesi", "timestamp_bits", "no timestamps"),
            ("mesi", "cpu_ways", "no CPU cache (cpu_kib = 0)"),
            ("mesi", "page_kib", "one die"),
            ("mesi", "die_latency", "no two dies are on a GPU (dies = gpus)"),
            ("mesi", "gpu_bytes", "one GPU"),
        ],
        one_in=4,
    ),
)
def test_a_field_without_a_reader_is_noted(protocol: str, field: str, reason: str) -> None:
    result = gpucoh.run("vec-cpy", protocol, scale="tiny", set={field: 4, "cores": 2})
    (note,) = result.notes
    assert note.startswith(f"{field} = 4 has no effect: ")
    assert reason in note


def test_the_terminal_and_json_have_the_notes(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "vec-cpy", "-p", "mesi", "--scale", "tiny", "--set", "memory_mhz=1"]
    assert call(command) == 0
    assert "memory_mhz = 1 has no effect" in capsys.readouterr().out
    assert call([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"][0].startswith("memory_mhz = 1 has")


def test_a_sweep_over_protocols_may_set_a_field_of_one() -> None:
    runs = gpucoh.grid(
        workload="vec-cpy", protocol=["no-l1", "mesi"], scale="tiny", set={"l1_kib": 1}
    )
    assert len(gpucoh.sweep(runs, jobs=1)) == 2
