"""Do the monitors pass what is right, and does each of them catch a planted bug?

A selection; ``make monitors`` runs every workload under every protocol, and ``synthetic`` for ten minutes.
"""

import re

import numpy as np
import pytest

import gpucoh
from gpucoh.runs.runner import Run
from products import share
from registered import ALL, COHERENT, INCOHERENT, TIMED, VARIATIONS

SMALL_L2 = {"l2_kib": 4, "l2_ways": 2, "l1_kib": 4}
SCARCE = SMALL_L2 | {"l1_mshrs": 4, "l2_mshrs": 4}


def counted(protocol):
    """What every run under the protocol counts, by what it declares to the monitors."""
    watched = gpucoh.protocols()[protocol].watched
    names = {"steps", "writes", "loads", "atomics", "looks"}
    names |= {"banks"} if watched.banks else set()
    names |= {"copies"} if watched.copies else set()
    names |= {"leases", "lease_hits"} if watched.leases else set()
    return names | ({"fences"} if watched.promise == "LEASED" else set())


def test_the_monitors_look_at_every_protocol():
    assert counted("mesi") == {"steps", "writes", "loads", "atomics", "looks", "copies"}
    assert {"leases", "fences", "banks"} <= counted("tc-weak")
    for name, known in ((name, gpucoh.protocols()[name]) for name in ALL):
        assert known.watched, name
        assert (known.watched.promise != "NOTHING") == (name in COHERENT), name


@pytest.mark.parametrize(
    ("workload", "protocol"), share(["stn", "bh", "synthetic"], COHERENT, one_in=4)
)
def test_a_protocol_passes_its_monitors(protocol, workload):
    result = gpucoh.run(workload, protocol=protocol, scale="tiny", check=True)
    counts = result.stats.check.to_dict()
    assert result.correct
    missing = {name for name in counted(protocol) if not counts[name]}
    assert not missing - {"stn": {"atomics"}, "synthetic": {"atomics", "lease_hits"}}.get(
        workload, set()
    )
    assert counts["undecided"] == 0


@pytest.mark.parametrize(("workload", "protocol"), share(["sr", "stn"], COHERENT, one_in=8))
def test_a_protocol_passes_its_monitors_where_everything_is_scarce(protocol, workload):
    result = gpucoh.run(workload, protocol=protocol, scale="tiny", check=True, set=SCARCE)
    assert result.correct


@pytest.mark.parametrize("protocol", share(VARIATIONS, one_in=8))
def test_options_pass_their_monitors(protocol):
    assert gpucoh.run("stn", protocol=protocol, scale="tiny", check=True).correct


@pytest.mark.parametrize("protocol", TIMED)
def test_timestamps_that_begin_again_pass_the_monitors(protocol):
    result = gpucoh.run(
        "stn", protocol=protocol, scale="tiny", check=True, set={"timestamp_bits": 12}
    )
    assert result.correct
    assert result.stats["rollovers"] > 0


@pytest.mark.parametrize("protocol", ["denovo-drf", "stc-mb", "rfo"])
def test_requests_that_waited_for_room_in_the_outbox_of_an_l1_are_replayed(protocol):
    assert gpucoh.run("stn", protocol=protocol, machine="mesh15", scale="tiny", check=True).correct


@pytest.mark.parametrize("protocol", INCOHERENT)
def test_no_coherence_is_checked_at_its_banks_only(protocol):
    counts = gpucoh.run("vec-cpy", protocol=protocol, scale="tiny", check=True).stats.check
    assert counts.banks
    assert counts.writes
    assert not counts.loads
    assert not counts.copies


# ---- planted bugs: each monitor catches one

PLANTED = [
    ("single writer or many readers", "gpu-vi!store-without-invalidations", "bh", {}),
    ("single writer or many readers", "mesi!owner-keeps-line", "bh", {}),
    ("single writer or many readers", "tc-strong!store-waits-for-no-lease", "bh", {}),
    ("a copy that outlives a launch is current", "tc-weak!copies-outlive-launch", "cc", {}),
    ("a readable copy is current", "ideal!fill-survives", "bh", {}),
    ("a readable copy is current", "mesi!writeback-lost", "sr", {}),
    ("the bank has every write", "no-l1!fill-over-store", "bh", {}),
    ("an atomic reads the last write", "no-l1!fill-forgotten", "bh", {}),
    ("a write is performed once, before its answer", "no-l1!atomic-not-performed", "bh", {}),
    ("a load returns a value it may", "tc-weak!w3[lifetime=0]", "bh", {}),
    ("a load returns a value it may", "gpu-drf!acquire-keeps-copies", "spm_g", {}),
    ("a load returns a value it may", "gpu-hrf!acquire-keeps-copies", "cl", {}),
    ("a load returns a value it may", "denovo-drf!acquire-keeps-copies", "cl", {}),
    ("a load returns a value it may", "wt!acquire-keeps-copies", "vpr", {}),
    ("no older value after a newer one", "tc-strong!own-read-passes-store", "cc", {}),
    ("every copy is listed", "gpu-vi!readers-of-fill-forgotten", "bh", {}),
    ("the listed owner owns the line", "mesi!silent-exclusive-eviction", "stn", {}),
    ("a private line has one unexpired copy", "tc-strong!private-without-comparison", "bh", {}),
    ("no lease outlives the bank's", "tc-weak!evicted-lease-forgotten", "synthetic", SMALL_L2),
    ("no hit on an expired copy", "tc-weak!expired-copy-read", "stn", {}),
    ("no hit on an expired copy", "tc-strong!expired-copy-read", "stn", {}),
    (
        "a write is globally visible when its writer is notified",
        "tc-weak!gwct-off-by-one",
        "bh",
        {},
    ),
    ("a fence waits for its warp's writes", "tc-weak!fence-ignores-gwct", "bh", {}),
    ("a fence waits for its warp's writes", "tc-weak!barrier-joins-nothing", "cl", {}),
    ("a release waits for its warp's stores", "denovo-hrf!release-waits-for-nothing", "cl", {}),
]


@pytest.mark.parametrize(
    ("invariant", "protocol", "workload", "changes"), PLANTED, ids=[row[1] for row in PLANTED]
)
def test_a_monitor_catches_a_planted_bug(mutant_gpucoh, invariant, protocol, workload, changes):
    with pytest.raises(mutant_gpucoh.ProtocolError) as caught:
        mutant_gpucoh.run(
            workload,
            protocol=protocol,
            scale="tiny",
            check="protocol",
            set={"budget": 3_000_000, **changes},
        )
    text = str(caught.value)
    assert text.startswith(f"an invariant does not hold, {invariant}: ")
    assert "core cycle" in text
    # the last cell and both sides' states; a fence is about no line
    parts = r"line 0x\w+\); last cell of the line: L\d \d+, table L\S+, state \w+, event \w+, core cycle \d+; L"
    assert "waits for its warp's" in invariant or re.search(parts, text)


@pytest.mark.parametrize(
    ("invariant", "bug", "workload"),
    [
        (
            "a marker leaves a level behind all older words: L2 [1-9]",
            "marker-passes-older-entries",
            "kmn",
        ),
        (
            "a core's markers keep their order, and each is answered once",
            "silent-marker-answered",
            "cl",
        ),
    ],
)
def test_markers_are_monitored_at_every_bank(mutant_gpucoh, invariant, bug, workload):
    """The first looked at the bank of line 0 alone, the second at no bank of several: both runs ended without it."""
    with pytest.raises(mutant_gpucoh.ProtocolError, match=invariant):
        mutant_gpucoh.run(
            workload,
            protocol=f"qr!{bug}",
            scale="tiny",
            check="protocol",
            set={"memory_units": 1, "budget": 3_000_000},
        )


def test_a_violation_names_the_dies_of_its_line_and_controllers(mutant_gpucoh):
    text = r"line 0x\w+, home on die [01]\).*; die 0 L1 0: L1_IM.*; die 1 L1 8: L1_IM.*; die [01] L2 \d: "
    with pytest.raises(mutant_gpucoh.ProtocolError, match=text):
        mutant_gpucoh.run(
            "bh",
            protocol="mesi!owner-keeps-line",
            scale="tiny",
            check="protocol",
            set={"dies": 2, "page_kib": 4},
        )


def test_a_violated_invariant_makes_gpucoh_run_exit_with_1(mutant_gpucoh, capsys):
    from gpucoh.cli import call  # the planted package's while the fixture lasts

    arguments = ["run", "bh", "-p", "mesi!owner-keeps-line", "--scale", "tiny", "--check"]
    assert call(arguments) == 1
    assert "single writer or many readers" in capsys.readouterr().out


# ---- what watching leaves alone


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_checking_changes_nothing(protocol):
    plain, checked = (
        gpucoh.run("bfs-mask", protocol=protocol, scale="tiny", check=check).stats.to_dict()
        for check in (False, True)
    )
    assert not any(plain.pop("check").values())
    assert checked.pop("check")["steps"] > 0
    assert plain == checked


@gpucoh.kernel
def add_one(x: gpucoh.Buffer[gpucoh.i32]):
    x[gpucoh.global_id()] = x[gpucoh.global_id()] + 1


@gpucoh.kernel
def out_of_bounds(x: gpucoh.Buffer[gpucoh.i32]):
    x[gpucoh.global_id()] = 7
    gpucoh.fence()
    x[gpucoh.global_id() + 1000] = 1


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_memory_is_known_after_host_writes_snapshots_and_aborts(protocol):
    gpu = gpucoh.GPU(protocol=protocol, check=True)
    x = gpu.array(np.arange(128, dtype=np.int32))
    gpu.launch(add_one, grid=2, block=64, args=(x,))
    x[3:7] = 100
    snapshot = gpu.snapshot()
    gpu.launch(add_one, grid=2, block=64, args=(x,))
    gpu.restore(snapshot)
    gpu.launch(add_one, grid=2, block=64, args=(x,))
    with pytest.raises(gpucoh.KernelError):
        gpu.launch(out_of_bounds, grid=2, block=64, args=(x,))
    before = x.numpy().copy()
    gpu.launch(add_one, grid=2, block=64, args=(x,))
    assert (x.numpy() == before + 1).all()
    assert gpu.stats().check.loads == 3 * 128  # the restored GPU counts on from the snapshot


def test_a_snapshot_of_an_unchecked_gpu_is_taken_over():
    plain, checked = (gpucoh.GPU(protocol="mesi", check=check) for check in (False, True))
    arrays = [gpu.array(np.arange(64, dtype=np.int32)) for gpu in (plain, checked)]
    plain.launch(add_one, grid=1, block=64, args=(arrays[0],))
    checked.core.restore(plain.core.snapshot())
    checked.launch(add_one, grid=1, block=64, args=(arrays[1],))
    assert (arrays[1].numpy() == np.arange(64) + 2).all()


def test_check_may_name_what_is_checked():
    one = Run(workload="bfs", protocol="ideal", scale="tiny", check="races").carry_out().stats.check
    other = Run(workload="bfs", protocol="ideal", scale="tiny", check="protocol").carry_out()
    assert one.race_accesses
    assert not one.loads
    assert other.stats.check.loads
    assert not other.stats.check.race_accesses


@pytest.mark.parametrize("protocol", INCOHERENT)
def test_races_are_not_looked_for_without_a_model(protocol):
    with pytest.raises(gpucoh.ConfigError, match=f"'races' under {protocol}"):
        gpucoh.GPU(protocol=protocol, check="races")
    assert not gpucoh.run(
        "vec-cpy", protocol=protocol, scale="tiny", check=True
    ).stats.check.race_accesses


@pytest.mark.parametrize("check", ["all", 2, None, "True"])
def test_check_must_be_known(check):
    with pytest.raises(gpucoh.ConfigError, match=r"check = .* is not True, False"):
        gpucoh.GPU(check=check)


# ---- a write behind a release or an acquire


def chain(mutant, read, write):
    """A block writes over a line with a lease; another one reads the word, and writes a line without."""
    gpucoh = mutant

    @gpucoh.kernel
    def hand_on(data: gpucoh.Buffer[gpucoh.i32], flag: gpucoh.Buffer[gpucoh.i32]):
        if gpucoh.thread_id() == 0:
            if gpucoh.block_id() == 0:
                gpucoh.store(data, 0, 1 + gpucoh.load(data, 0, order="relaxed"), order="relaxed")
            else:
                while gpucoh.load(data, 0, order=read) == 0:
                    pass
                gpucoh.store(flag, 0, 1, order=write)

    return hand_on


@pytest.mark.parametrize(
    ("bug", "read", "write"),
    [
        ("acquire-forgets-reads", "acquire", "relaxed"),
        ("release-forgets-reads", "relaxed", "release"),
        ("", "acquire", "relaxed"),
        ("", "relaxed", "release"),
    ],
)
def test_a_write_behind_a_release_or_acquire_is_no_older_than_what_its_warp_has_seen(
    mutant_gpucoh, bug, read, write
):
    gpu = mutant_gpucoh.GPU(protocol=f"rcc-wo!{bug}".rstrip("!"), check="protocol")
    arrays = [gpu.zeros(32, np.int32) for _ in range(2)]
    kernel = chain(mutant_gpucoh, read, write)
    if not bug:
        gpu.launch(kernel, grid=2, block=32, args=arrays)
        assert gpu.stats().check.writes == 2
        return
    with pytest.raises(
        mutant_gpucoh.ProtocolError, match="a write behind a release follows what its warp has seen"
    ):
        gpu.launch(kernel, grid=2, block=32, args=arrays)


def test_a_fence_of_the_block_that_is_free_waits_for_no_lease():
    machine = gpucoh.machine("fermi").replace(block_fences_free=1)
    assert gpucoh.run("ss_l", "tc-weak", machine=machine, scale="tiny", check="protocol").correct
