"""Recalls by an L2 that is too small cost traffic, but neither bank cycles nor queue entries."""

from __future__ import annotations

import pytest

import gpucoh

SMALL = {"l2_kib": 2}


@pytest.mark.parametrize("protocol", ["mesi", "gpu-vi"])
def test_a_recall_does_not_hold_up_its_bank(protocol: str) -> None:
    free = gpucoh.run("hsp", protocol="ideal", scale="tiny", set=SMALL)
    run = gpucoh.run("hsp", protocol=protocol, scale="tiny", set=SMALL)
    assert run.correct
    assert run.stats.flits_by_class()["RCL"] > 500
    assert run.cycles < 1.5 * free.cycles


@pytest.mark.parametrize("protocol", ["mesi", "gpu-vi", "gpu-vini"])
def test_recalled_lines_find_a_place_where_memory_takes_one_request(protocol: str) -> None:
    run = gpucoh.run("sr", protocol=protocol, scale="tiny", set=SMALL | {"dram_queue": 1})
    assert run.correct, run.where


@pytest.mark.parametrize(("protocol", "networks"), [("mesi", 5), ("gpu-vi", 4), ("gpu-vini", 4)])
def test_static_network_energy_follows_the_number_of_virtual_networks(
    protocol: str, networks: int
) -> None:
    two, more = (gpucoh.run("hsp", protocol=name, scale="tiny") for name in ("tc-weak", protocol))
    power = [run.stats.energy["noc_static"] / run.cycles for run in (two, more)]
    assert power[1] / power[0] == pytest.approx(networks / 2)


def test_dynamic_network_energy_falls_with_the_flits() -> None:
    few, many = (gpucoh.run("sr", protocol=name, scale="tiny") for name in ("tc-weak", "mesi"))
    assert few.stats.flits() < many.stats.flits()
    assert few.stats.energy["noc_dynamic"] < many.stats.energy["noc_dynamic"]
