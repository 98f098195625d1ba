"""Does the explorer run litmus tests as they are written, and name what it cannot run?"""

import functools
import json

import pytest

from gpucoh.litmus import UnsupportedError, builtin, builtins, parse
from gpucoh.verify.explorer import explore, small_choice, verify
from gpucoh.verify.library import find, find_all, shape_tests, translate
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse as parse_line
from products import rows, share
from verification.explorations import passes

TEXT = """PTX text
{{ {init} }}
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 {left} | {right} ;
exists (x == 1)
"""


def litmus(left="st.weak x, 1", right="ld.weak r0, x", init="x=0;"):
    return parse(TEXT.format(left=left, right=right, init=init), "text")


@pytest.mark.parametrize(
    ("left", "operation"),
    rows(
        [
            ("ld.acquire.gpu r0, x", "ld.acquire x"),
            ("ld.weak r0, x", "ld x"),
            ("ld.sc.sys r0, x", "ld.sc.sys x"),
            ("st.release.cta x, 1", "st.release.cta x 1"),
            ("fence.acq_rel.cu", "F.acq_rel.cu"),
            ("fence.sc.gpu", "F"),
            ("bar.cta.sync 0", "bar"),
            ("bar.cta.sync 0, 3, 1", "bar"),
            ("atom.acq_rel.gpu.add r0, x, 2", "add.acq_rel x 2"),
            ("red.relaxed.gpu.sub x, 1", "add x 4294967295"),
            ("ld.weak r0, x ; st.weak x, r0", "ld x; st x r0"),
            ("ld.weak r0, x ; add r1, r0, 2 ; st.weak x, r1", "ld x; st x r0+2"),
            ("fence.sc.gpu ; ld.weak r0, x ; red.relaxed.gpu.add x, r0", "F; ld x; add x r1"),
            ("ld.weak r0, x ; xor r0, r0, r0 ; st.weak x[r0], 2", "ld x; st x 0*r0+2"),
            ("mov r0, 2 ; mul r0, r0, 3 ; st.weak x, r0", "st x 6"),
        ],
        one_in=4,
    ),
)
def test_orders_and_scopes_are_those_of_the_test(left, operation):
    assert str(translate(litmus(left)).program) == f"0: {operation} | 1: ld x"


def test_threads_of_one_block_are_on_one_core():
    cores = [thread.core for thread in translate(builtin("MP+merge")).program.threads]
    assert cores == [0, 1, 1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    rows(
        [
            ({"left": "LC00: beq r0, 0, LC00"}, "line 4: the explorer has no branches"),
            ({"left": "bar.cta.arrive 1, 1, 1"}, "line 4: the explorer has no barriers without"),
            (
                {"left": "bar.cta.sync 0, 0, 2"},
                "line 4: in the explorer, all threads of a block wait",
            ),
            (
                {"left": "bar.cta.sync r0, r0"},
                "line 4: in the explorer, all threads of a block wait",
            ),
            (
                {"left": "ld.weak r0, x ; mul r0, r0, 2"},
                "line 4: the explorer computes with a value",
            ),
            (
                {"left": "ld.weak r0, x ; red.relaxed.gpu.sub x, r0"},
                "line 4: the explorer subtracts no",
            ),
            (
                {"left": "ld.weak r0, x ; xor r0, r0, r0 ; ld.weak r1, x[r0]"},
                "line 4: .*no load depends",
            ),
            (
                {
                    "left": "ld.weak r0, x ; ld.weak r1, x ; xor r1, r1, r1 ; add r0, r0, r1 ; st.weak x, r0"
                },
                "line 4: .* depends on one value read",
            ),
            ({"init": "x=3;"}, "x = 3: in the explorer, locations start at 0"),
            ({"init": "a=0; b=0; c=0; d=0;"}, "5 locations: the explorer supports up to 4"),
            ({"left": ";".join(["st.weak x, 1"] * 13)}, "13 operations in a thread"),
        ],
        one_in=4,
    ),
)
def test_what_the_explorer_has_not_is_named(changes, reason):
    with pytest.raises(UnsupportedError, match=f"^{reason}") as caught:
        translate(litmus(**changes))
    assert "\n" not in str(caught.value)


def test_a_thread_with_fewer_barriers_ends_before_the_others_meet():
    program = translate(builtin("MP+bar-left")).program
    assert str(program) == "0: st x 1; bar | 0: bar; ld x | 0: st y 1; exit"


def block(left, right):
    return parse(
        f"PTX own\n{{ x=0; }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n {left} | {right} ;\n~exists (x == 1)",
        "own",
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("bar.cta.sync 0, 0", "bar.cta.sync 0, 1"),  # other barriers
        ("bar.cta.sync 0, 0, 2", "st.weak x, 1"),  # the count includes a thread that ends
    ],
)
def test_threads_of_a_block_with_different_barriers_are_named(left, right):
    with pytest.raises(UnsupportedError, match="have the same barriers"):
        translate(block(left, right))


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("0: st x 1; bar; ld y | 0: st y 1; bar; ld x", {(1, 1, 1, 1)}),
        ("0: st x 1; kernel | 1: ld x; kernel; ld x", {(0, 1, 1), (1, 1, 1)}),
        ("0: st x 1; exit | 1: ld x; exit", {(0, 1), (1, 1)}),
        ("0: st x 1; bar | 0: bar; ld x | 0: exit", {(1, 1)}),
        ("0: st x 1; bar; bar | 0: bar; exit | 0: bar; bar; ld x", {(1, 1)}),
    ],
)
@pytest.mark.parametrize("protocol", share(["no-l1", "mesi", "tc-weak[lifetime=2]"], one_in=4))
def test_barriers_and_the_ends_of_threads_and_kernels_are_explored(protocol, line, rows):
    program = parse_line(line)
    for model in ("SC", "RC-MCA", "RCc", "RCpc"):
        assert set(allowed_outcomes(program, model)) == rows
    found = explore(protocol, program, allowed=tuple(rows))
    assert found["complete"]
    assert {tuple(row) for row in found["outcomes"]} == rows


PUBLISH = "0: st x 1; {0} | 0: {0}; st.relaxed y 1 | 1: ld x; ld.acquire y; ld x"
RECEIVE = "0: ld.relaxed y; {0} | 0: ld x; {0}; ld x | 1: st x 1; F; st.relaxed y 1"


@pytest.mark.parametrize(
    ("line", "protocol"), share([PUBLISH, RECEIVE], ["tc-weak", "gpu-drf", "mesi"], one_in=4)
)
def test_a_barrier_beyond_the_block_releases_and_acquires_for_all_its_threads(protocol, line):
    program = parse_line(line.format("bar.acq_rel"))
    assert str(program) == line.format("bar.acq_rel")
    passes(small_choice(protocol), program, "RCpc", evictions=0)


@pytest.mark.parametrize(
    ("protocol", "line"), [("tc-weak", PUBLISH), ("gpu-drf", PUBLISH), ("gpu-drf", RECEIVE)]
)
def test_a_barrier_of_the_block_alone_does_neither(protocol, line):
    """So the test above can fail."""
    found = explore(small_choice(protocol), parse_line(line.format("bar")), evictions=0)
    allowed = allowed_outcomes(parse_line(line.format("bar.acq_rel")), "RCpc")
    assert not {tuple(row) for row in found["outcomes"]} <= set(allowed)


def test_every_shape_is_explored_and_most_built_in_tests_are():
    for test in shape_tests().values():
        translate(test)
    unsupported = 0
    for name in builtins():
        try:
            translate(builtin(name))
        except UnsupportedError:
            unsupported += 1
    assert unsupported < len(builtins()) / 2


def test_all_are_the_shapes_and_the_built_in_tests_once_each():
    names = [test.name for test in find_all(["all"])]
    assert set(names) == {*shape_tests(), *builtins()}
    assert len(names) == len(set(names))
    (test,) = find_all(["MP"])
    assert test is shape_tests()["MP"]


def test_an_outcome_is_a_final_state_of_the_test():
    test = parse(
        "PTX state\n{ b=0; a=0; P0:r9=7; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
        " ld.weak r0, b | st.weak b, 5 ;\n ld.weak r0, a | mov r1, -2 ;\n st.weak a, r9 | ;\n"
        "exists (a == 7)",
        "state",
    )
    # values read of b and a, then b and a in the end: the program's variables in the order of the test's locations
    assert translate(test).final((5, 0, 5, 7)) == {
        "P0:r9": 7, "P0:r0": 0, "P1:r1": -2, "b": 5, "a": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rule", "observed", "allowed"),
    [
        ("SB+rlx", "rc", True, True),
        ("SB+rlx", "sc", False, False),
        ("SB+rel+acq", "rc", True, True),
        ("SB+sc", "rc", False, False),
        ("MP", "rc", True, True),
        ("MP+rel+acq", "rc", False, False),
        ("MP+bar", "rc", False, False),
        ("SB+bar", "rc", False, False),
    ],
)
def test_the_explorer_says_what_can_be_observed(name, rule, observed, allowed):
    found = verify("gpu-vi", consistency=rule, tests=[find(name)])
    (test,) = found.tests
    assert (test.status, test.complete) == ("explored", True)
    assert (test.observed, test.allowed) == (observed, allowed)
    assert found.complete
    assert not found.limits


def test_a_test_given_twice_is_explored_once_and_reported_twice():
    once, twice = (verify("no-l1", tests=[find("MP")] * number) for number in (1, 2))
    assert once.states == twice.states
    assert [test.observed for test in twice.tests] == [True, True]


def test_limits_are_reported_and_a_test_with_settings_left_is_not_complete():
    found = verify("gpu-vi", tests=[find("MP"), find("SB")], max_states=3000)
    assert not found.complete
    assert [limit.what for limit in found.limits] == ["more than 3000 states in all programs"]
    assert not any(test.complete for test in found.tests)
    assert found.to_dict()["limits"] == [
        {"what": found.limits[0].what, "first": found.limits[0].first, "programs": 2}
    ]


def test_a_limit_of_one_program_is_reported():
    found = verify("gpu-vi", tests=[find("MP")], program_states=1000)
    assert not found.complete
    assert found.limits[0].what == "more than 1000 states"
    assert found.limits[0].programs > 1


@pytest.fixture
def cli(cli, tmp_path):
    (tmp_path / "mine.litmus").write_text(
        TEXT.format(left="st.weak x, 1", right="ld.weak r0, x", init="x=0;")
    )
    return functools.partial(cli, "verify", "-p", "gpu-vi")


def test_files_and_names_are_explored(cli):
    status, out, err = cli("mine.litmus", "SB", "lock", "--json")
    report = {item["test"]: item for item in json.loads(out)["tests"]}
    assert (status, err) == (0, "")
    assert [report[name]["status"] for name in ("mine", "SB", "lock")] == [
        "explored", "explored", "unsupported",
    ]  # fmt: skip
    assert report["SB"]["observed"]
    assert report["lock"]["reason"].startswith("line 7: the explorer has no branches")


def test_text_tells_tests_and_limits(cli):
    _, out, _ = cli("SB", "--states", "1000")
    assert "limit: more than 1000 states" in out
    assert "SB: exists (P0:r0 == 0 /\\ P1:r0 == 0): " in out
    assert "allowed (bounded)" in out


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("lock", "no test was explored: lock: line 7"),
        ("none.litmus", "No such file"),
        ("SBB", "SB"),
    ],
)
def test_nothing_to_explore_is_bad_input(cli, name, what):
    status, _, err = cli(name)
    assert status == 2
    assert what in err
    assert err.count("\n") == 1
