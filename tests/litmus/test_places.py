"""Are litmus tests that run on one core, one die, two dies and two GPUs where they should be, and right?"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

import gpucoh
from gpucoh.litmus import PLACES, allowed, builtins, find, parse, placed, run_test
from gpucoh.litmus.variation import Planner, machines
from products import share
from registered import ALL

SCOPED = (
    *("MP+rel+acq", "MP+sys", "MP+cu", "MP+fences", "SB+fences", "IRIW+fences", "WRC+rel+acq"),
    *("ISA2+rel+acq+acq", "CoRR", "2+2W+rels", "ADD+scopes", "lock", "MP+bar+rel+acq"),
)


@functools.cache
def machine_of(gpus: int, links: str = "joined") -> gpucoh.Machine:
    link = {"die_latency": 40, "die_bytes": 32, "gpu_latency": 300, "gpu_bytes": 16}
    if links == "split":  # narrow, so that messages wait
        link |= {"die_bytes": 2, "gpu_bytes": 2, "links": links}
    return gpucoh.machine("fermi").replace(dies=2 * gpus, gpus=gpus, page_kib=4, **link)


def cores_of(test: gpucoh.litmus.Test, machine: gpucoh.Machine, number: int) -> np.ndarray:
    """Core of each thread of each instance of a launch."""
    planner = Planner(test, machines(machine)[0][1], 0)
    places = planner._places(np.random.default_rng(number), "anywhere", 40)
    cores = planner.machine.cores
    blocks = {index: place for place, block in enumerate(test.blocks.values()) for index in block}
    order = [blocks[index] for index in range(len(test.threads))]
    return np.array([[place[block] % cores for block in order] for place in places])


@pytest.mark.parametrize("name", ["MP+rel+acq", "IRIW+fences", "MP+bar+rel+acq"])
def test_blocks_are_on_the_cores_of_their_place(name: str) -> None:
    for number in range(5):
        for place in PLACES:
            test = placed(find(name), place)
            cores = cores_of(test, machine_of(2), number)
            dies = cores // (machines(machine_of(2))[0][1].cores // 4)
            gpus = dies // 2
            per_instance = [len(set(row)) for row in {"core": cores, "die": dies}.get(place, gpus)]
            assert set(per_instance) == {2 if place == "gpus" else 1}
            if place == "dies":
                assert {len(set(row)) for row in dies} == {2}


def test_scope_sys_promises_between_gpus_what_scope_gpu_does_on_one() -> None:
    for name in ("MP+rel+acq", "SB+fences", "IRIW+fences", "WRC+rel+acq"):
        test = find(name)
        for model in ("PTX", "HRF-indirect", "RC-MCA"):
            assert allowed(placed(test, "gpus"), model) == allowed(placed(test, "dies"), model)
    narrow = find("MP+rel+acq")
    apart = [replace(thread, gpu=number) for number, thread in enumerate(narrow.threads)]
    assert allowed(replace(narrow, threads=tuple(apart)), "PTX")
    assert not allowed(narrow, "PTX")


@pytest.mark.parametrize("protocol", ["sw-hier", "hmg"])
def test_protocols_with_scopes_promise_the_model_of_ptx_between_gpus(protocol: str) -> None:
    machine = gpucoh.machine("hmg4x4-eighth")
    for name in ("MP+cta-apart", "SB+cta-fences"):
        between, within = (
            run_test(placed(find(name), place), protocol, machine=machine, runs=500)
            for place in ("gpus", "dies")
        )
        assert (between.model, within.model) == ("PTX", "RCc")
        assert between.ok, (name, between.forbidden)
        assert within.ok, (name, within.forbidden)
        assert allowed(find(name), "PTX")
        assert not allowed(find(name), "RCc")
        assert (
            run_test(placed(find(name), "gpus"), protocol, machine="fermi", runs=20).model == "RCc"
        )


def test_a_test_may_name_dies() -> None:
    text = """PTX dies
    { x=0; P1:r0=0; }
     P0@cta 0,die 0,gpu 0 | P1@cta 1,cu 1,die 1,gpu 0 ;
     st.weak x, 1         | ld.weak r0, x             ;
    exists (P1:r0 == 1)"""
    assert [(thread.die, thread.cu) for thread in parse(text, "dies").threads] == [
        (0, None),
        (1, 1),
    ]
    with pytest.raises(gpucoh.ConfigError, match=r"threads on 2 dies of GPU 0; a GPU .* has 1"):
        run_test(parse(text, "dies"), "mesi", runs=10)


def test_a_core_is_on_one_die() -> None:
    text = """PTX core
    { x=0; }
     P0@cta 0,cu 0,die 0,gpu 0 | P1@cta 1,cu 0,die 1,gpu 0 ;
     st.weak x, 1              | st.weak x, 2              ;
    exists (x == 1)"""
    with pytest.raises(gpucoh.ConfigError, match="one core is on two dies"):
        run_test(parse(text, "core"), "mesi", machine=machine_of(1), runs=10)


def test_more_gpus_than_the_machine_has_are_refused_where_it_has_several() -> None:
    test = find("IRIW+fences")
    three = parse(
        """PTX three
    { x=0; }
     P0@cta 0,gpu 0 | P1@cta 1,gpu 1 | P2@cta 2,gpu 2 ;
     st.weak x, 1   | st.weak x, 2   | st.weak x, 3   ;
    exists (x == 1)""",
        "three",
    )
    assert run_test(test, "mesi", machine=machine_of(2), runs=20).ok
    with pytest.raises(gpucoh.ConfigError, match="threads on 3 GPUs; machine 'fermi' has 2 GPUs"):
        run_test(three, "mesi", machine=machine_of(2), runs=10)
    assert run_test(three, "mesi", runs=20).ok


@pytest.mark.parametrize(
    ("protocol", "place", "links"), share(ALL, PLACES, ("joined", "split"), one_in=16)
)
def test_no_outcome_is_forbidden_on_dies_and_gpus(protocol: str, place: str, links: str) -> None:
    machine = machine_of(2 if place == "gpus" else 1, links)
    for name in SCOPED:
        result = run_test(placed(find(name), place), protocol, machine=machine, runs=60)
        assert result.ok, (name, result.forbidden, result.reason)


def test_every_built_in_test_has_its_places() -> None:
    for name in builtins():
        test = find(name)
        for place in PLACES:
            there = placed(test, place)
            assert len(there.blocks) == len(test.blocks)
            assert [len(members) for members in there.blocks.values()] == [
                len(members) for members in test.blocks.values()
            ]
    with pytest.raises(gpucoh.ConfigError, match="unknown place 'moon'"):
        placed(find("MP"), "moon")
