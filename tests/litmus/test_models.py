"""Do the memory models allow what is known of them, and forbid what is known to be forbidden?"""

import itertools

import pytest

import gpucoh
from gpucoh.litmus import UnsupportedError, Verdicts, allowed, builtin, builtins, parse
from gpucoh.litmus.models import KEEPS_WEAK_COPIES
from products import rows, share
from registered import ALL

MODELS = ("SC", "RC-MCA", "RCsc", "RCc", "RCpc")
NO, YES = False, True
# Test -> whether SC, RC-MCA, RCsc, RCc and RCpc allow the state that its condition speaks of.
KNOWN = {
    "SB": (NO, YES, YES, YES, YES),
    "SB+rlx": (NO, YES, YES, YES, YES),
    "SB+fences": (NO, NO, NO, NO, NO),
    "SB+acq_rel-fences": (NO, NO, NO, NO, NO),
    "SB+fence+weak": (NO, YES, YES, YES, YES),
    "SB+rel+acq": (NO, YES, NO, YES, YES),
    "SB+sc": (NO, NO, NO, NO, NO),
    "SB+rfis": (NO, NO, NO, YES, YES),
    "SB+atoms": (NO, NO, NO, NO, NO),
    "SB+bar": (NO, NO, NO, NO, NO),
    "SB+bars-apart": (NO, NO, NO, YES, YES),
    "MP": (NO, YES, YES, YES, YES),
    "MP+fences": (NO, NO, NO, NO, NO),
    "MP+fence+weak": (NO, YES, YES, YES, YES),
    "MP+weak+fence": (NO, YES, YES, YES, YES),
    "MP+rel+acq": (NO, NO, NO, NO, NO),
    "MP+rel+rlx": (NO, YES, YES, YES, YES),
    "MP+rlx+acq": (NO, YES, YES, YES, YES),
    "MP+bar": (NO, NO, NO, NO, NO),
    "MP+bar-arrive": (NO, NO, NO, NO, NO),
    "MP+bar-left": (NO, NO, NO, NO, NO),
    "MP+bar+rel+acq": (NO, NO, NO, NO, NO),
    "MP+atoms": (NO, NO, NO, NO, NO),
    "LB": (NO, YES, YES, YES, YES),
    "LB+acqs": (NO, NO, NO, NO, NO),
    "LB+rels": (NO, NO, NO, NO, NO),
    "LB+datas": (NO, NO, NO, NO, NO),
    "LB+ctrls": (NO, NO, NO, NO, NO),
    "S": (NO, YES, YES, YES, YES),
    "S+rel+acq": (NO, NO, NO, NO, NO),
    "S+rel+data": (NO, NO, NO, NO, NO),
    "R": (NO, YES, YES, YES, YES),
    "R+fences": (NO, NO, NO, NO, NO),
    "R+rel+acq": (NO, YES, NO, YES, YES),
    "R+sc": (NO, NO, NO, NO, NO),
    "2+2W": (NO, YES, YES, YES, YES),
    "2+2W+fences": (NO, NO, NO, NO, NO),
    "2+2W+rels": (NO, NO, NO, NO, NO),
    "WRC": (NO, YES, YES, YES, YES),
    "WRC+fences": (NO, NO, NO, NO, YES),
    "WRC+rel+acqs": (NO, NO, NO, NO, NO),
    "WRC+atoms": (NO, NO, NO, NO, NO),
    "WRC+data": (NO, NO, NO, YES, YES),
    "WRC+addr": (NO, NO, NO, YES, YES),
    "WRC+ctrl": (NO, NO, NO, YES, YES),
    "WRC+acqs": (NO, NO, NO, YES, YES),
    "WWC": (NO, NO, NO, NO, YES),
    "WWC+acq": (NO, NO, NO, NO, YES),
    "WWC+data": (NO, NO, NO, YES, YES),
    "WWC+own": (NO, NO, NO, YES, YES),
    "ISA2": (NO, YES, YES, YES, YES),
    "ISA2+fences": (NO, NO, NO, NO, NO),
    "ISA2+rel+acq": (NO, NO, NO, NO, NO),
    "ISA2+rel+acq+acq": (NO, NO, NO, NO, NO),
    "ISA2+rel+rel+acq": (NO, NO, NO, NO, NO),
    "ISA2+rel+fence+acq": (NO, NO, NO, NO, NO),
    "ISA2+rel+addr+acq": (NO, NO, NO, NO, NO),
    "ISA2+fence+data+fence": (NO, NO, NO, NO, NO),
    "ISA2+fence+acq+fence": (NO, NO, NO, NO, NO),
    "ISA2+fence+rel+fence": (NO, NO, NO, NO, NO),
    "RWC+fences": (NO, NO, NO, NO, YES),
    "RWC+acq+rel": (NO, YES, NO, YES, YES),
    "IRIW": (NO, YES, YES, YES, YES),
    "IRIW+fences": (NO, NO, NO, NO, YES),
    "IRIW+acqs": (NO, NO, NO, YES, YES),
    "IRIW+rlx": (NO, YES, YES, YES, YES),
    "IRIW+sc": (NO, NO, NO, NO, YES),
    "IRIW+atoms": (NO, NO, NO, NO, NO),
    "CoRR": (NO, NO, NO, NO, NO),
    "CoWW": (NO, NO, NO, NO, NO),
    "CoRW1": (NO, NO, NO, NO, NO),
    "CoRW2": (NO, NO, NO, NO, NO),
    "CoWR": (NO, NO, NO, NO, NO),
    "RMW": (NO, NO, NO, NO, NO),
    "RMW+st": (NO, NO, NO, NO, NO),
    "lock": (NO, NO, NO, NO, NO),
    "lock+rlx": (NO, YES, YES, YES, YES),
    "ticket-lock": (NO, NO, NO, NO, NO),
    "seqlock": (NO, NO, NO, NO, NO),
    "seqlock+rlx": (NO, YES, YES, YES, YES),
    "deque": (NO, NO, NO, NO, NO),
    "dekker": (NO, NO, NO, NO, NO),
    "xf-barrier": (NO, NO, NO, NO, NO),
}


@pytest.mark.parametrize("name", share(KNOWN, one_in=8))
def test_known_verdicts(name):
    assert tuple(allowed(name, model) for model in MODELS) == KNOWN[name]


ORDERS = [("SC", "RCsc", "RC-MCA", "RCc", "RCpc"), ("RC-MCA", "WO")]


@pytest.mark.parametrize(("name", "order"), share(list(builtins()), ORDERS, one_in=15))
def test_nothing_is_allowed_by_sc_alone(name, order):
    """Each model allows what a stronger one allows."""
    test = builtin(name)
    stronger = [Verdicts(test, model).allowed() for model in order]
    assert stronger == sorted(stronger)


def test_weak_ordering_forgets_dependencies_between_processors_and_nothing_else():
    more = {name for name in builtins() if allowed(name, "WO") != allowed(name, "RC-MCA")}
    middle = ("WRC+data", "WRC+data+early", "WRC+data+plus", "WRC+addr", "WRC+ctrl")
    last = (
        "ISA2+data",
        "ISA2+rel+addr+acq",
        "ISA2+rel+data+acq",
        "ISA2+fence+data+fence",
        "ISA2+fence+addr+fence",
    )
    assert more == {*middle, *last}


def test_threads_of_different_cores_read_no_store_early():
    test = builtin("WWC")
    assert [Verdicts(test, "RCpc", cores).allowed() for cores in ([0, 0, 1], [0, 1, 2])] == [
        YES,
        NO,
    ]


def test_the_states_of_sc_are_those_of_interleavings():
    """SB under SC has three last states; a model that forgot the others would pass the tests above."""
    states = Verdicts(builtin("SB"), "SC").states()
    assert {state[:2] for state in states} == {(0, 1), (1, 0), (1, 1)}
    assert len(Verdicts(builtin("SB"), "RC-MCA").states()) == 4


def test_none_allows_everything():
    assert allowed("CoRR", "none")
    assert allowed("LB+datas", "none")


def test_unknown_model_is_refused():
    with pytest.raises(UnsupportedError, match="allowed: SC"):
        Verdicts(builtin("SB"), "TSO")


@pytest.mark.parametrize(
    ("name", "drf", "hrf"),
    rows(
        [
            ("MP+spin", NO, NO),
            ("MP+ctrl", NO, NO),
            ("MP+rel+acq", YES, YES),  # races when the flag is not set: no promise
            ("MP+bar", NO, NO),
            ("WRC+spin", NO, NO),
            ("lock", NO, NO),
            ("lock+block", NO, NO),
            ("ticket-lock", NO, NO),
            ("SB", YES, YES),
            ("SB+sc", NO, NO),
            ("SB+rel+acq", NO, NO),
            ("SB+rlx", NO, NO),  # relaxed accesses synchronise
            ("R+rel+acq", YES, YES),  # races: the first store is weak
            ("R+sc", NO, NO),
            ("IRIW+rlx", NO, NO),
            ("SB+cta", YES, YES),  # weak: races
            ("RMW", NO, NO),
        ],
        one_in=4,
    ),
)
def test_race_free_programs_are_promised_sequential_consistency(name, drf, hrf):
    assert (allowed(name, "DRF-SC"), allowed(name, "HRF-indirect")) == (drf, hrf)


SCOPED = """PTX scoped
{{ x=0; y=0; }}
 P0@cta 0,gpu 0     | P1@cta {cta},gpu 0       ;
 st.weak x, 1       | LC00:                ;
 st.release.cta y, 1 | ld.acquire.cta r0, y ;
                    | bne r0, 1, LC00      ;
                    | ld.weak r1, x        ;
~exists (P1:r1 == 0)
"""


def test_scopes_that_leave_a_thread_out_race_under_hrf_only():
    within, apart = (parse(SCOPED.format(cta=cta), "scoped") for cta in (0, 1))
    assert not allowed(within, "HRF-indirect")
    assert allowed(apart, "HRF-indirect")
    assert not allowed(apart, "DRF-SC")


HANDED = """PTX handed
{ x=0; y=0; z=0; }
 P0@cta 0,gpu 0      | P1@cta 0,gpu 0       | P2@cta 1,gpu 0       ;
 st.weak x, 1        | LC00:                | LC00:                ;
 st.release.cta z, 1 | ld.acquire.cta r0, z | ld.acquire.gpu r0, y ;
                     | bne r0, 1, LC00      | bne r0, 1, LC00      ;
                     | st.release.gpu y, 1  | ld.weak r1, x        ;
~exists (P2:r1 == 0)
"""


def test_hrf_chains_over_several_scopes_count():
    assert not allowed(parse(HANDED, "handed"), "HRF-indirect")


def test_barriers_that_cannot_be_complete_end_in_no_state():
    assert not allowed("bar+never", "RC-MCA")
    assert Verdicts(builtin("bar+never"), "RC-MCA").states() == set()


QUORUM = """PTX quorum
{ x=0; y=0; }
 P0@cta 0,gpu 0       | P1@cta 0,gpu 0       | P2@cta 0,gpu 0 ;
 st.weak x, 1         | bar.cta.sync 1, 1, 2 | st.weak y, 1   ;
 bar.cta.sync 1, 1, 2 | ld.weak r0, x        | bar.cta.arrive 1, 1, 2 ;
                      | ld.weak r1, y        | bar.cta.sync 1, 1, 2 ;
exists (P1:r0 == 0 /\\ P1:r1 == 1)
"""


def test_a_barrier_with_a_count_meets_whoever_comes_first():
    assert allowed(parse(QUORUM, "quorum"), "RC-MCA")


SPIN = "LC00: ; {} ; bne r0, 1, LC00"


def column(text):
    return [item.strip() for item in text.split(";") if item.strip()]


def loop(first, second, cta=1):
    """A test of two threads, each a list of instructions."""
    rows = itertools.zip_longest(column(first), column(second), fillvalue="")
    text = "\n".join(f" {left} | {right} ;" for left, right in rows)
    return parse(
        f"PTX loop\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta {cta},gpu 0 ;\n{text}\nexists (x == 1)",
        "loop",
    )


ACQUIRE = SPIN.format("ld.acquire.gpu r0, x")
EXCHANGE = "LC00: ; atom.relaxed.gpu.exch r0, x, 1 ; bne r0, 0, LC00"
STORE = "st.release.gpu x, 1"


@pytest.mark.parametrize(
    ("first", "second", "cta", "hangs"),
    rows(
        [
            (ACQUIRE, STORE, 1, NO),
            (SPIN.format("ld.weak r0, x"), "st.weak x, 1", 1, NO),
            (ACQUIRE, "st.weak y, 1", 1, YES),  # the value never comes
            (ACQUIRE, STORE + "; st.weak x, 2", 1, YES),  # or does not stay
            (ACQUIRE, STORE + "; " + SPIN.format("ld.acquire.gpu r0, y"), 1, YES),
            (ACQUIRE, "bar.cta.sync 0; " + STORE, 0, YES),  # P0 does not come to the barrier
            ("bar.cta.sync 0; " + ACQUIRE, "bar.cta.sync 0; " + STORE, 0, NO),
            ("bar.cta.sync 0", "bar.cta.sync 0", 0, NO),
            ("bar.cta.sync 0", "bar.cta.sync 1", 0, YES),
            ("bar.cta.sync 0, 0, 2", "bar.cta.sync 0, 0, 2", 0, NO),
            ("bar.cta.sync 0, 0, 2", "st.weak x, 1", 0, YES),
            ("bar.cta.sync 0", "st.weak x, 1", 0, NO),  # a thread that has left is not waited for
            (EXCHANGE, "st.weak x, 1", 1, YES),  # a lock that is never released
            (EXCHANGE, "st.weak x, 1; st.weak x, 0", 1, NO),
        ],
        one_in=4,
    ),
)
def test_an_execution_without_end_needs_last_values_that_keep_a_thread_waiting(
    first, second, cta, hangs
):
    for model in MODELS:
        stays = "ld.weak" in first and model in KEEPS_WEAK_COPIES
        assert Verdicts(loop(first, second, cta), model).may_hang() == (hangs or stays), model


@pytest.mark.parametrize("name", share(list(builtins()), one_in=12))
def test_no_built_in_test_hangs_but_the_one_that_is_meant_to(name):
    for model in MODELS:
        stays = name == "MP+spin+weak" and model in KEEPS_WEAK_COPIES
        assert Verdicts(builtin(name), model).may_hang() == (name == "bar+never" or stays)


def test_where_nothing_is_promised_a_run_may_hang():
    spin = loop(SPIN.format("ld.weak r0, x"), "st.weak x, 1")
    assert Verdicts(spin, "none").may_hang()
    assert Verdicts(spin, "DRF-SC").may_hang()  # a race
    assert not Verdicts(loop(ACQUIRE, STORE), "DRF-SC").may_hang()


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_declared_weak_outcomes_are_built_in_and_allowed(protocol):
    known = gpucoh.protocols()[protocol]
    for name in known.weak_outcomes:
        assert Verdicts(builtin(name), known.model(known.default_rule)).allowed(), name
