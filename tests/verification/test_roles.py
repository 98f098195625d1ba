"""Are L1s that depend on the number of their core found out, and explored in every role if their type declares it?

The prototype is the protocol of ``gpucoh new-protocol --acquires``. The L1 of core `core` is another one: it keeps its
copies at acquires, a fault; or, with `fetches`, it has no copies, which is right.
"""

import pytest

import gpucoh
from gpucoh.device import outside
from gpucoh.verify.explorer import verify
from gpucoh.verify.programs import parse
from gpucoh.verify.roles import assignments, turned

OTHER = """static bool
is_other(const gpc_controller_t *unit)
{
    return unit->index == (uint32_t) unit->options[0];
}
"""
ROLE = """static uint32_t
role(const gpc_controller_t *unit)
{
    return is_other(unit);
}
"""
OPTIONS = """
    .options = {GPC_NUMBER("core", 0, 0, 3, "the other L1", 0, 0, 3),
                GPC_CHOICE("fetches", 0, 1, "off on", "it has no copies")},
"""
CLASSIFY = "static gpc_event_id_t\nl1_classify"
WEAK = "x->msg->order == GPC_ORDER_WEAK"
UNUSED = "(void) warp, (void) scope;"
MSHR = ".mshr = gpc_requests_mshr_described"


def written(folder, name, *, declares):
    text = outside.skeleton(name, "acquires")
    changes = [
        (CLASSIFY, f"{OTHER}{ROLE if declares else ''}{CLASSIFY}"),
        (WEAK, f"{WEAK} && !(x->unit->options[1] && is_other(x->unit))"),
        (UNUSED, f"{UNUSED} if (!l1_unit->options[1] && is_other(l1_unit)) {{ return GPC_OK; }}"),
        (MSHR, f"{MSHR}, .role = role" if declares else MSHR),
        ("    .networks", f"{OPTIONS}    .networks"),
    ]
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path = folder / f"{name}.c"
    path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder))
        return gpucoh.load_protocol(path)


@pytest.fixture(scope="module")
def undeclared(tmp_path_factory):
    return written(tmp_path_factory.mktemp("roles"), "undeclared", declares=False)


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    return written(tmp_path_factory.mktemp("roles"), "declared", declares=True)


@pytest.mark.parametrize("options", ["core=0", "core=1", "core=0,fetches=on", "core=1,fetches=on"])
def test_a_look_at_the_number_of_a_core_is_refused(undeclared, options):
    with pytest.raises(
        gpucoh.ConfigError, match=r"takes all L1s for alike, .* declare `\.role`"
    ) as caught:
        verify(f"{undeclared}[{options}]", cores=2, lines=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("core", [0, 1])
def test_a_fault_of_one_role_is_found_whichever_core_has_it(declared, core):
    assert verify(f"{declared}[core={core}]", cores=2, lines=1).violations


@pytest.mark.parametrize("core", [0, 1])
def test_a_right_protocol_of_two_roles_is_explored_in_every_assignment(declared, core):
    found = verify(
        f"{declared}[core={core},fetches=on]", cores=2, lines=2, operations=1, max_states=6_000
    )
    alike = verify(f"{declared}[core=3]", cores=2, lines=2, operations=1, max_states=6_000)
    assert not found.violations
    assert found.explored < alike.explored  # the same number of states is that of fewer programs


def test_every_assignment_of_roles_is_one():
    program = parse("0: st x 1 | 1: ld x")
    assert assignments(program, (0, 0)) == [program]
    placed = [str(one) for one in assignments(program, (0, 1))]
    assert placed == ["0: st x 1 | 1: ld x", "1: st x 1 | 0: ld x"]
    assert len(assignments(program, (0, 1, 1))) == 3
    assert len(assignments(parse("0: st x 1 | 1: st x 1"), (0, 1))) == 1
    assert {one.cores for one in assignments(program, (0, 1, 1))} == {3}


def test_threads_move_to_the_next_core_of_their_role():
    assert str(turned(parse("0: st x 1 | 1: ld x"), (0, 0))) == "1: st x 1 | 0: ld x"
    assert turned(parse("0: st x 1 | 1: ld x"), (0, 1)) is None
    assert str(turned(parse("0: st x 1 | 1: ld x"), (0, 1, 1))) == "0: st x 1 | 2: ld x"
