"""The PTX model, the programs that GPUs have run, and the order of the models."""

import pytest

from gpucoh.litmus import UnsupportedError, Verdicts, allowed, builtin, parse
from gpucoh.litmus.hardware import facts, programs, text
from gpucoh.litmus.strength import compare


def test_both_readings_agree_with_every_row_of_the_table():
    assert len(facts()) == 726
    wrong = [
        name
        for name, fact in facts().items()
        if (allowed(programs()[name], "PTX"), allowed(programs()[name], "PTX-strong"))
        != (fact.base, fact.strengthened)
    ]
    assert wrong == []


def test_the_table_holds_nothing_seen_that_ptx_forbids():
    assert not [name for name, fact in facts().items() if fact.seen and not fact.strengthened]
    assert sum("H100" in fact.seen for fact in facts().values()) == 304
    assert {name[:12] for name, fact in facts().items() if not fact.ran} == {"iriw.02_1_3."}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "rwc.01_2.gpu.F1+scld.cta",
            [
                "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;",
                "st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x | st.relaxed.gpu y, 1 ;",
                " | fence.acq_rel.cta | fence.sc.gpu ;",
                " | ld.relaxed.gpu r1, y | ld.acquire.gpu r0, x ;",
            ],
        ),
        (
            "iriw.0_1_2_3.cta.F3.gpu",
            [
                "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;",
                "st.relaxed.cta x, 1 | ld.acquire.cta r0, x | st.relaxed.cta y, 1 | ld.relaxed.cta r0, y ;",
                " | ld.relaxed.cta r1, y |  | fence.acq_rel.gpu ;",
                " |  |  | ld.relaxed.cta r1, x ;",
            ],
        ),
        (
            "paper2.0_1_2_3.gpu.sc",
            [
                "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;",
                "fence.sc.sys | ld.acquire.gpu r0, y | fence.sc.sys | ld.acquire.gpu r0, w ;",
                "st.release.gpu x, 1 | fence.sc.sys | st.release.gpu z, 1 | ld.acquire.gpu r1, x ;",
                "st.release.gpu y, 1 | ld.acquire.gpu r1, z | st.release.gpu w, 1 |  ;",
            ],
        ),
    ],
)
def test_the_id_gives_the_program(name, lines):
    assert text(name).splitlines()[3:-1] == lines


def test_programs_differ():
    assert len({text(name).split("\n", 2)[2] for name in facts()}) == len(facts())


def ptx(*threads, condition, blocks="012"):
    columns = [thread.split("; ") for thread in threads]
    head = " | ".join(f"P{at}@cta {blocks[at]},gpu 0" for at in range(len(threads)))
    height = max(map(len, columns))
    rows = [" | ".join(c[at] if at < len(c) else "" for c in columns) for at in range(height)]
    lines = "".join(f"{row} ;\n" for row in (head, *rows))
    return parse(f"PTX t\n{{ x=0; y=0; z=0; }}\n{lines}exists ({condition})", "t")


READ_TWICE = "P1:r0 == 1 /\\ P1:r1 == 0"


@pytest.mark.parametrize(
    ("store", "load", "blocks", "base"),
    [
        ("st.weak", "ld.weak", "01", True),  # a race: coherence is promised to morally strong accesses
        ("st.relaxed.gpu", "ld.relaxed.gpu", "01", False),
        ("st.relaxed.cta", "ld.relaxed.cta", "01", True),
        ("st.relaxed.cta", "ld.relaxed.cta", "00", False),
    ],
)  # fmt: skip
def test_reads_of_a_location_are_ordered_where_they_are_morally_strong(store, load, blocks, base):
    test = ptx(f"{store} x, 1", f"{load} r0, x; {load} r1, x", condition=READ_TWICE, blocks=blocks)
    assert allowed(test, "PTX") == base


def test_racing_stores_have_no_order_to_see():
    """Both stores precede both loads in causality; neither precedes the other in coherence order."""
    loads = "ld.acquire.gpu r0, y; ld.acquire.gpu r1, z; ld.weak r2, x; ld.weak r3, x"
    stores = ("st.{} x, 1; st.release.gpu y, 1", "st.{} x, 2; st.release.gpu z, 1")
    seen = "P2:r0 == 1 /\\ P2:r1 == 1 /\\ P2:r2 == 1 /\\ P2:r3 == 2"
    weak, strong = (
        ptx(*(store.format(order) for store in stores), loads, condition=f"{seen} /\\ x == 1")
        for order in ("weak", "relaxed.gpu")
    )
    assert allowed(weak, "PTX")
    assert not allowed(strong, "PTX")


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("MP", True),
        ("MP+fences", False),
        ("MP+bar", False),
        ("SB+rel+acq", True),
        ("SB+sc", False),
        ("LB+datas", False),  # out of thin air
        ("IRIW+fences", True),
        ("IRIW+sc", False),
        ("RMW", False),
        ("lock", False),
    ],
)
def test_verdicts_of_ptx(name, base):
    assert allowed(name, "ptx") == base


def test_fences_of_a_scope_that_leaves_the_other_out_order_nothing():
    thread = "st.relaxed.gpu {0}, 1; fence.sc.{2}; ld.relaxed.gpu r0, {1}"
    for scope, weak in (("gpu", False), ("cta", True)):
        test = ptx(
            thread.format("x", "y", scope),
            thread.format("y", "x", scope),
            condition="P0:r0 == 0 /\\ P1:r0 == 0",
        )
        assert allowed(test, "PTX") == weak


TWICE_RELEASED = "st.weak x, 7; st.release.gpu y, 1; {}"
TWICE_ACQUIRED = "{}; ld.acquire.gpu r2, y; ld.weak r3, x"


@pytest.mark.parametrize(
    ("last", "weak"),
    [
        ("st.relaxed.gpu y, 2", False),
        ("atom.relaxed.gpu.exch r0, y, 2", False),
        ("st.weak y, 2", True),
        ("st.relaxed.cta y, 2", True),
    ],
)
def test_a_release_and_a_strong_write_after_it_are_one_release_pattern(last, weak):
    reader = "ld.acquire.gpu r1, y; ld.weak r3, x"
    test = ptx(TWICE_RELEASED.format(last), reader, condition="P1:r1 == 2 /\\ P1:r3 == 0")
    assert allowed(test, "PTX") == weak


@pytest.mark.parametrize(
    ("first", "weak"),
    [
        ("ld.relaxed.gpu r1, y", False),
        ("atom.relaxed.gpu.add r1, y, 0", False),
        ("ld.weak r1, y", True),
        ("ld.relaxed.cta r1, y", True),
    ],
)
def test_a_strong_read_and_an_acquire_after_it_are_one_acquire_pattern(first, weak):
    """The acquire reads a later store than the read before it, a weak one: it observes nothing by itself."""
    writers = ("st.weak x, 7; st.release.gpu y, 1", TWICE_ACQUIRED.format(first), "st.weak y, 2")
    test = ptx(*writers, condition="P1:r1 == 1 /\\ P1:r2 == 2 /\\ P1:r3 == 0")
    assert allowed(test, "PTX") == weak


def test_a_pattern_is_of_one_location():
    writer = "st.weak x, 7; st.release.gpu y, 1; st.relaxed.gpu z, 1"
    reader = "ld.acquire.gpu r0, z; ld.weak r1, x"
    assert allowed(ptx(writer, reader, condition="P1:r0 == 1 /\\ P1:r1 == 0"), "PTX")


@pytest.mark.parametrize(("store", "weak"), [("st.weak", True), ("st.relaxed.gpu", False)])
def test_causality_begins_at_the_write_of_an_atomic_not_at_its_read(store, weak):
    test = ptx(
        f"ld.acquire.gpu r0, y; {store} x, 1",
        "atom.relaxed.gpu.add r0, x, 1",
        "ld.relaxed.gpu r0, x; st.release.gpu y, 1",
        condition="P0:r0 == 1 /\\ P1:r0 == 1 /\\ P2:r0 == 2",
        blocks="000",
    )
    assert allowed(test, "PTX") == weak


@pytest.mark.parametrize(("function", "weak"), [("exch", True), ("or", False)])
def test_only_an_exchange_writes_what_does_not_depend_on_its_read(function, weak):
    test = ptx(
        f"atom.relaxed.gpu.{function} r0, x, 1",
        "ld.weak r1, x; st.weak x, r1",
        condition="P0:r0 == 1 /\\ P1:r1 == 1",
    )
    assert allowed(test, "PTX") == weak


def test_all_final_states_of_the_strengthened_reading_are_in_the_base_one():
    for name in ("2+2W+rels", "IRIW+rlx", "MP+rel+acq", "S", "R"):
        states = [Verdicts(builtin(name), model).states() for model in ("PTX-strong", "PTX")]
        assert states[0] <= states[1]


def test_models_are_ordered_by_what_they_forbid():
    names = ("SB", "SB+rel+acq", "IRIW+fences", "IRIW+sc", "MP+fences", "CoRR")
    found = compare(map(builtin, names))
    assert found.tests == len(names)
    assert found.stronger("SC", "RC-MCA")
    assert not found.stronger("RC-MCA", "SC")
    assert ("SC", "none") not in found.steps()
    assert ("RCpc", "PTX") in found.apart()
    assert found.only("PTX", "RCpc") == ("IRIW+sc",)


def test_a_model_without_a_name_is_refused():
    with pytest.raises(UnsupportedError, match="PTX-strong"):
        allowed("SB", "PTX9")
