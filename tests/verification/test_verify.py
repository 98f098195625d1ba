"""`gpucoh verify`: does the oracle know its models, is what is right passed, is what is wrong found and drawn?"""

import importlib
import itertools
import json
import re
from dataclasses import replace

import pytest

import gpucoh
from gpucoh.base.errors import ConfigError, KernelError
from gpucoh.verify.explorer import explore, small_choice, verify
from gpucoh.verify.library import shapes
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import every_program, fenced, parse, without_fences
from products import share
from registered import ALL, BUFFERED, COHERENT, SEQUENTIAL
from verification.explorations import passes


def interleavings(program):
    """Outcomes under sequential consistency by running every interleaving: another way than the oracle's."""
    bodies = [[op for op in thread.operations if op.kind != "F"] for thread in program.threads]
    turns = [number for number, body in enumerate(bodies) for _ in body]
    found = set()
    for order in set(itertools.permutations(turns)):
        at, memory = [0] * len(bodies), [0] * program.variables
        reads = [[] for _ in bodies]
        for thread in order:
            op = bodies[thread][at[thread]]
            at[thread] += 1
            if op.reads:
                reads[thread].append(memory[op.variable])
            if op.kind == "st":
                memory[op.variable] = op.value
            elif op.kind == "add":
                memory[op.variable] += op.value
        found.add((*itertools.chain(*reads), *memory))
    return found


@pytest.mark.parametrize("program", share(shapes(), one_in=4), ids=lambda program: program.name)
def test_the_oracle_of_sc_is_what_interleavings_give(program):
    program = without_fences(program)
    if sum(len(thread.operations) for thread in program.threads) > 7:
        pytest.skip("too many interleavings")
    assert set(allowed_outcomes(program, "SC")) == interleavings(program)


def test_fences_everywhere_make_programs_sequentially_consistent():
    for program in every_program(2, 2, 2):
        sc = set(allowed_outcomes(program, "SC"))
        for model in ("RC-MCA", "RCc", "RCpc"):
            assert set(allowed_outcomes(fenced(program), model)) == sc


@pytest.mark.parametrize(
    ("name", "outcome", "models"),
    [
        ("MP", (1, 0, 1, 1), {"RC-MCA", "RCc", "RCpc"}),
        ("MP+F", (1, 0, 1, 1), set()),
        ("SB", (0, 0, 1, 1), {"RC-MCA", "RCc", "RCpc"}),
        ("WRC+F", (1, 1, 0, 1, 1), {"RCpc"}),
        ("IRIW+F", (1, 0, 1, 0, 1, 1), {"RCpc"}),
        (
            "st x 1 | ld.acquire x; ld.acquire y | st y 1 | ld.acquire y; ld.acquire x",
            (1, 0, 1, 0, 1, 1),
            {"RCc", "RCpc"},
        ),
        ("st x 1 | ld x; F; ld y | st y 1; F; ld x", (1, 0, 0, 1, 1), {"RCpc"}),
        ("CoRR", (1, 0, 1), set()),
    ],
)
def test_models_are_distinguished(name, outcome, models):
    """By the name of a shape, or as a program."""
    named = (shape for shape in shapes() if shape.name == name)
    program = next(named, None) or parse(name)
    allowing = {
        m for m in ("SC", "RC-MCA", "RCc", "RCpc") if outcome in allowed_outcomes(program, m)
    }
    assert allowing == models


# `make proof` explores all of them on more lines; the rest of these is long.
@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(name, marks=pytest.mark.long) if place % 3 else name
        for place, name in enumerate(COHERENT)
    ],
)
def test_a_protocol_passes_on_one_line(protocol):
    # On one line: an epoch of its band, and another one. Blocks that leave at any time multiply the states, as do
    # evictions from read and write caches at three levels (test_quickrelease.py has them).
    fewer = {"epochs": "[epochs=2]", "clean": "[clean=off]"}
    options = gpucoh.protocols()[protocol].options
    few = [text for option, text in fewer.items() if option in options]
    evictions = 0 if "clean" in options else 1
    found = verify(protocol + "".join(few), cores=2, lines=1, operations=1, evictions=evictions)
    assert found.complete
    assert found.ok, found
    assert found.states > 1000


# ---- the end of the last launch


@pytest.mark.parametrize("protocol", BUFFERED)
def test_the_end_of_a_program_drains_lazy_store_buffers(protocol):
    """A store of a thread that releases nothing reaches the others' copies at the kernel's end."""
    program = parse("0: ld x; st x 1; st y 1 | 1: st.release z 1; ld x")
    passes(f"{protocol}[sb_drain=lazy,sb_entries=2]", program, max_states=400_000)


# ---- loads of read-only arrays


def test_a_load_of_a_read_only_array_prints_as_it_is_written():
    text = "0: ld.ro x; kernel; ld x | 1: kernel; st x 1"
    assert str(parse(text)) == text


def test_a_word_that_the_launch_writes_is_not_read_only():
    assert explore("denovo-ro", parse("0: ld.ro x; kernel | 1: kernel; st x 1"))["complete"]
    for other in ("st x 1; kernel", "add x 1; kernel"):
        with pytest.raises(KernelError, match="thread 1 writes the read-only variable 0"):
            explore("denovo-ro", parse(f"0: ld.ro x; kernel | 1: {other}"))
    with pytest.raises(ConfigError, match="only a weak load"):
        explore("denovo-ro", parse("0: ld.ro.acquire x"))


# ---- tc-weak: a lease may end with the number that a late UPGR carries, after more UPGRs than it has cycles


@pytest.mark.parametrize(
    "lifetime", share([0, 1, pytest.param(2, marks=pytest.mark.long)], one_in=4)
)
def test_upgrades_that_outlive_their_lease_pass(lifetime):
    stores = "st x 1; " * (lifetime + 1) + "st x 2"
    program = parse(f"{stores}; F; st y 1 | ld x; ld y; F; ld x")
    program = replace(program, warm=True, evictions=lifetime == 0)  # the L2 may forget a timestamp
    choice = small_choice(f"tc-weak[lifetime={lifetime}]")
    passes(choice, program, "RCpc", max_states=2_000_000)


@pytest.mark.parametrize("protocol", share(SEQUENTIAL, one_in=4))
def test_a_protocol_is_sequentially_consistent_on_a_tight_machine(protocol):
    for shape in shapes():
        if shape.variables == 2 and shape.cores == 2 and shape.size < 7:
            program = replace(without_fences(shape), tight=True, evictions=False)
            passes(small_choice(protocol), program, "SC", consistency="sc")


def test_options_have_the_values_that_the_protocol_declares_for_a_small_machine():
    for name, known in ((name, gpucoh.protocols()[name]) for name in ALL):
        small = {o.name: o.small for o in known.options.values() if o.small is not None}
        assert small_choice(name).options == small
        for option, value in small.items():
            other = value + 1 if value < known.options[option].largest else value - 1
            words = {number: word for word, number in known.options[option].words.items()}
            given = small_choice(f"{name}[{option}={words.get(other, other)}]")
            assert given.options == {**small, option: other}


def test_what_is_allowed_is_seen():
    program = parse("st x 1 | ld x; ld x")
    outcomes = {tuple(row) for row in explore("gpu-vi", program)["outcomes"]}
    assert outcomes == set(allowed_outcomes(program, "RC-MCA"))


def test_equal_cores_may_change_places():
    alike = explore("gpu-vi", parse("add x 1; ld x | add x 1; ld x"))
    distinct = explore("gpu-vi", parse("add x 1; ld x | add x 2; ld x"))
    assert alike["states"] < 0.6 * distinct["states"]
    rows = {tuple(row) for row in alike["outcomes"]}
    assert rows == {(c, d, a, b, x) for a, b, c, d, x in rows}
    assert rows == set(allowed_outcomes(parse("add x 1; ld x | add x 1; ld x"), "RC-MCA"))


def test_an_exploration_that_runs_out_of_states_is_bounded():
    assert not explore("gpu-vi", parse("st x 1 | ld x; ld x"), max_states=50)["complete"]
    found = verify("gpu-vi", max_states=1000)
    assert not found.complete
    assert 0 < found.completed < found.explored < found.programs
    long = verify("tc-weak[lifetime=65535]", max_states=1000)  # one program alone has more
    assert not long.complete
    assert long.states <= 1001


@pytest.fixture
def cli(mutant_gpucoh, capsys):
    """Carry out ``gpucoh verify``, with planted bugs: (status, standard output, standard error)."""
    call = importlib.import_module(f"{mutant_gpucoh.__name__}.cli").call

    def carry_out(*arguments):
        status = call(["verify", *arguments])
        out = capsys.readouterr()
        return status, out.out, out.err

    return carry_out


def test_a_bounded_result_says_how_many_programs_are_complete(cli):
    _, out, _ = cli("-p", "no-l1", "--states", "20000")
    completed, programs, share = re.search(
        r": bounded: ([\d,]+) of ([\d,]+) programs \((\d+)%\), \d+ of 21 cells entered;", out
    ).groups()
    completed, programs = (int(number.replace(",", "")) for number in (completed, programs))
    assert int(share) == 100 * completed // programs > 0


@pytest.mark.parametrize("bound", [{"cores": 5}, {"lines": 0}, {"operations": 9}])
def test_a_bound_that_is_none_is_refused(bound):
    with pytest.raises(ConfigError, match="must be from"):
        verify("no-l1", **bound)


def test_a_violation_is_drawn_and_ends_with_1(cli):
    status, out, _ = cli("-p", "no-l1!writeback-lost", "--lines", "1")
    assert status == 1
    assert "outcome: the memory model does not allow these values" in out
    assert "core 0" in out
    assert "memory" in out
    assert "GETX x" in out


def test_a_verification_says_whether_it_is_ok_and_draws_what_is_not(mutant_gpucoh):
    explorer = importlib.import_module(f"{mutant_gpucoh.__name__}.verify.explorer")
    found = explorer.verify("no-l1!ack-dropped", lines=1)
    assert not found.ok
    assert repr(found).startswith("no-l1!ack-dropped  rc, ")
    assert repr(found).endswith(found.violations[0].diagram)
    assert explorer.verify("no-l1", cores=2, lines=1, operations=1).ok


def test_json_tells_states_and_the_violation(cli):
    status, out, _ = cli("-p", "no-l1!ack-dropped", "--lines", "1", "--json")
    report = json.loads(out)
    assert status == 1
    assert {"protocol", "states", "transitions", "depth", "complete", "violations"} <= set(report)
    assert report["violations"][0]["kind"] == "deadlock"


def test_bad_input_is_one_line_and_2(refused):
    assert "cores = 9" in refused("-p", "no-l1", "--cores", "9")


@pytest.mark.parametrize("protocol", ["gpu-drf", "gpu-hrf"])
@pytest.mark.parametrize("sync", ["ld.acquire", "add.acquire"])
def test_an_acquire_bars_a_fill_in_flight_of_the_line_that_it_reads(protocol, sync):
    """The step that completes the acquire concerns the line that the acquire part visits."""
    program = replace(
        parse(f"0: {sync} x; ld y | 0: ld y | 1: st y 1; st.release x 1"), packed=True
    )
    passes(protocol, program, max_states=400_000)


# ---- values that depend on values; barriers


def test_a_value_that_depends_on_what_was_read_prints_as_it_is_written():
    text = "0: ld x; F; st y r0+1; add y r0; st.release y 0*r0+3 | 1: ld y; st x r0"
    program = parse(text)
    assert str(program) == text
    assert str(fenced(parse("ld x; st y r0"))) == "0: ld x; F; st y r0"
    assert str(without_fences(parse("F; ld x; F; st y r1+1"))) == "0: ld x; st y r0+1"


@pytest.mark.parametrize("value", share(["r0", "r0+5", "0*r0+5"], one_in=4))
@pytest.mark.parametrize(
    ("protocol", "model"), [("mesi", "RC-MCA"), ("rcc-wo", "WO"), ("tc-weak", "RCpc")]
)
def test_a_dependent_value_is_what_was_read(protocol, model, value):
    program = parse(f"0: ld x; st y {value} | 1: ld y; st x 7")
    allowed = allowed_outcomes(program, model)
    found = explore(small_choice(protocol), program, allowed=allowed)
    assert found["complete"]
    assert {tuple(row) for row in found["outcomes"]} == set(allowed)


@pytest.mark.parametrize(
    ("protocol", "was", "line", "row"),
    [
        # a store takes its version from the clock of writes, whatever its thread has read
        ("rcc-wo", "RC-MCA", "0: st x 1 | 1: ld x; st y r0 | 2: ld x; ld.acquire y; ld x", (1, 0, 1, 0, 1, 1)),
        # a second warp reads a store before the L2 has it, and its release does not wait for that store
        ("tc-weak", "RCc", "0: st x 2 | 0: ld x; st.release y 1 | 1: ld.acquire y; st x 1", (2, 1, 2, 1)),
        ("tc-weak", "RCsc", "0: st x 2; ld.acquire x; st y 1 | 1: ld.acquire y; st x 1", (2, 1, 2, 1)),
    ],
)  # fmt: skip
def test_a_weaker_model_is_promised_where_the_paper_says_so(protocol, was, line, row):
    choice = small_choice(protocol)
    promised = choice.protocol.model(choice.rule(None))
    program = replace(parse(line), warm=protocol == "tc-weak", evictions=protocol != "tc-weak")
    found = explore(choice, program, allowed=allowed_outcomes(program, promised))
    assert found["complete"]
    assert row in {tuple(outcome) for outcome in found["outcomes"]}
    assert row not in allowed_outcomes(program, was)


def test_default_programs_find_a_barrier_that_joins_nothing(mutant_gpucoh):
    from gpucoh.verify.explorer import verify

    for name in ("tc-weak!barrier-joins-nothing", "rcc-wo!barrier-joins-nothing"):
        found = verify(name, max_states=200_000).violations
        assert found
        assert "bar" in str(found[0].program)


# ---- stores to parts of words

#: A store to a part of a word is an atomic of weak order at its word: bytes 0 and 1 of x.
PARTS_OF_WORDS = [
    "add.weak x 1; add.weak x 2 | add.weak x 256; add.weak x 512",
    "0: add.weak x 1 | 1: add.weak x 256 | 1: add.weak x 65536",
    "st x 1; add.weak x 256; ld x; st x 3",
    "add.weak x 256; st x 3; ld x",
    "ld x; add.weak x 1; ld x",
]


@pytest.mark.parametrize(
    ("protocol", "text", "warm"), share(COHERENT, PARTS_OF_WORDS, [False, True], one_in=20)
)
def test_stores_to_parts_of_a_word_keep_the_others(protocol, text, warm):
    program = replace(parse(text), warm=warm)
    passes(small_choice(protocol), program, "SC")


@pytest.mark.parametrize("protocol", ["gpu-hrf", "denovo-hrf"])
@pytest.mark.parametrize("other", ["add x 1", "st x 2"])
def test_atomics_of_one_core_with_unequal_scopes_are_atomic(protocol, other):
    passes(small_choice(protocol), parse(f"0: add.cu x 1 | 0: {other}"), "HRF-indirect")


# ---- machine fields


def test_a_field_of_the_machine_is_set_and_timestamps_begin_again(cli):
    program, choice = parse("st x 1; st x 2 | ld x; ld x"), small_choice("tc-strong")
    plain = explore(choice, program)["states"]
    assert explore(choice, program, fields={"l1_latency": 7})["states"] == plain
    found = explore(choice, program, fields={"timestamp_bits": 4})
    assert found["complete"]
    assert found["states"] > 4 * plain
    fields = ("--set", "timestamp_bits=4")
    assert cli("-p", "tc-strong", "--lines", "1", *fields, "--states", "9")[0] == 0


@pytest.mark.parametrize("protocol", ["rcc-sc", "rcc-wo"])
def test_narrow_timestamps_roll_over_in_logical_time(protocol):
    program, choice = parse("st x 1; st x 2 | ld x; ld x"), small_choice(protocol)
    assert not explore(choice, program)["cells"]["L2.rollover"]
    found = passes(choice, program, fields={"timestamp_bits": 4})
    assert found["cells"]["L2.rollover"]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("cores=3", "cores: the explorer determines it"),
        ("l1_kib=1", "l1_bytes: the explorer determines it"),
        ("timestamp_bits=3", "timestamp_bits = 3 is out of range: 4 to 48 bits"),
        ("speed=3", "unknown field 'speed'"),
    ],
)
def test_a_field_that_cannot_be_set_is_one_line(refused, field, message):
    assert message in refused("-p", "tc-strong", "--set", field)


# ---- scopes gpu and sys between GPUs

BETWEEN = "0: st x 1; st.release.{0} y 1 | 1@1: ld.acquire.{0} y; ld x"


def test_scope_gpu_orders_nothing_between_gpus():
    narrow, wide = (parse(BETWEEN.format(scope)) for scope in ("gpu", "sys"))
    assert str(narrow) == "0: st x 1; st.release y 1 | 1@1: ld.acquire y; ld x"
    stale = (1, 0, 1, 1)
    assert stale in allowed_outcomes(narrow, "PTX")
    assert stale not in allowed_outcomes(wide, "PTX")
    assert stale not in allowed_outcomes(parse(str(narrow).replace("1@1", "1")), "PTX")
    waits = BETWEEN.replace("ld.acquire.{0} y", "await.{0} y 1")
    assert allowed_outcomes(parse(waits.format("gpu")), "HRF-indirect") is None
    assert allowed_outcomes(parse(waits.format("sys")), "HRF-indirect") == ((1, 1, 1, 1),)


@pytest.mark.parametrize("protocol", ["mesi", "gpu-hrf", "mcm"])
def test_scope_sys_is_explored_between_gpus(protocol):
    choice = small_choice(protocol)
    passes(choice, parse(BETWEEN.format("sys")), choice.model(choice.rule(None)))


def test_a_core_is_on_one_gpu_and_so_are_launches():
    with pytest.raises(ValueError, match="a core is on two GPUs"):
        parse("0: st x 1 | 0@1: ld x")
    with pytest.raises(ConfigError, match="launches of several GPUs"):
        allowed_outcomes(parse("0: st x 1; kernel | 1@1: ld x; kernel"), "PTX")
