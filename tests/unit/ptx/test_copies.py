"""Asynchronous copies to shared memory, barriers in memory, and texts that ``%s`` prints."""

import numpy as np
import pytest

import gpucoh
from products import share
from registered import COHERENT

HEAD = """
.version 8.5
.target sm_90
.address_size 64
.global .align 1 .b8 word[6] = {119, 111, 114, 100, 50, 0};
.global .align 1 .b8 format[13] = {91, 37, 115, 124, 37, 53, 115, 124, 37, 100, 93, 10, 0};
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.visible .entry k(.param .u64 o, .param .u64 i) {
.shared .align 16 .b8 s[8192]; .shared .align 8 .b64 bar;
.reg .b64 %rd<20>; .reg .b32 %r<30>; .reg .pred %p<9>;
mov.u32 %r0, %tid.x; mov.u32 %r20, s; mov.u32 %r21, bar; ld.param.u64 %rd0, [o]; ld.param.u64 %rd1, [i];
"""


def run(text: str, words: int, given: np.ndarray, protocol: str = "no-l1", threads: int = 32):
    """What a kernel leaves in its first array."""
    with gpucoh.GPU(machine="fermi", protocol=protocol, check=True) as gpu:
        out, values = gpu.zeros(words, np.uint32), gpu.array(given.astype(np.uint32))
        gpucoh.cuda.RawKernel(f"{HEAD}{text}\nret; }}", "k")[1, threads](out, values)
        return np.asarray(out.numpy()), gpu.stats().cycles


GIVEN = np.random.default_rng(5).integers(0, 2**32, 512, dtype=np.uint32)
#: 16 bytes a thread from %rd2 to %r1, as often as the text has copies.
PLACES = """
mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd1, %rd2; mul.lo.u32 %r1, %r0, 16; add.u32 %r1, %r20, %r1;
"""
BACK = """
cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
xor.b32 %r2, %r0, 31; mul.lo.u32 %r2, %r2, 16; add.u32 %r2, %r20, %r2;
ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];
mul.wide.u32 %rd3, %r0, 16; add.u64 %rd3, %rd0, %rd3; st.global.v4.u32 [%rd3], {%r3, %r4, %r5, %r6};
"""


@pytest.mark.parametrize(
    ("copy", "kept"),
    [
        ("cp.async.cg.shared.global.L2::128B [%r1], [%rd2], 16;", 16),
        ("cp.async.ca.shared.global [%r1], [%rd2], 8; cp.async.ca.shared.global [%r1+8], [%rd2+8], 8;", 16),
        (" ".join(f"cp.async.ca.shared.global [%r1+{at}], [%rd2+{at}], 4;" for at in (0, 4, 8, 12)), 16),
        ("cp.async.ca.shared.global [%r1], [%rd2], 16, 6;", 6),
        ("mov.u32 %r9, 0; cp.async.cg.shared.global [%r1], [%rd2], 16, %r9;", 0),
        ("setp.lt.u32 %p1, %r0, 99; @%p1 cp.async.cg.shared.global [%r1], [%rd2], 16;", 16),
    ],
)  # fmt: skip
def test_a_copy_has_its_bytes_and_zeros_behind_them(copy: str, kept: int) -> None:
    found, _ = run(PLACES + copy + BACK, 128, GIVEN)
    expected = GIVEN[:128].reshape(32, 4)[::-1].copy().view(np.uint8)
    expected[:, kept:] = 0
    np.testing.assert_array_equal(found.reshape(32, 4), expected.view(np.uint32))


def test_copies_that_follow_each_other_overlap() -> None:
    one = "cp.async.cg.shared.global [%r1], [%rd2], 16;"
    next = "add.u64 %rd2, %rd2, 512; add.u32 %r1, %r1, 512;"
    cycles = [
        run(PLACES + text + BACK, 128, GIVEN)[1] for text in (one, *(one + (next + one) * 3,))
    ]
    assert cycles[1] < 1.5 * cycles[0]
    apart = next + "ld.shared.u32 %r9, [%r20];"
    assert run(PLACES + one + (apart + one) * 3 + BACK, 128, GIVEN)[1] > 2 * cycles[0]


def test_a_copy_comes_before_what_follows_a_label() -> None:
    text = """
    mov.u32 %r7, 0;
    again: cp.async.cg.shared.global [%r1], [%rd2], 16;
    next: add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 3; add.u64 %rd2, %rd2, 512; @%p1 bra again;
    """
    found, _ = run(PLACES + text + BACK, 128, GIVEN)
    np.testing.assert_array_equal(found.reshape(32, 4), GIVEN[256:384].reshape(32, 4)[::-1])


WAIT = "w{0}: mbarrier.{1}.shared.b64 %p1, [%r21], {2}; @!%p1 bra w{0};"


@pytest.mark.parametrize(
    ("protocol", "waits", "drops"),
    share(COHERENT, ("state", "parity", "async"), (False, True), one_in=8),
)
def test_phases_of_a_barrier_in_memory_order_the_threads_of_a_block(
    protocol: str, waits: str, drops: bool
) -> None:
    """Each of 64 threads writes a word, and reads the one that its neighbour wrote in the phase before."""
    begin = "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r21], 64; bar.sync 0;"
    head = "mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; add.u32 %r2, %r0, 1; and.b32 %r2, %r2, 63;"
    head += "mul.wide.u32 %rd4, %r2, 4; add.u64 %rd4, %rd0, %rd4; mov.u32 %r7, 0;"
    arrive = {
        "state": "mbarrier.arrive.shared.b64 %rd5, [%r21];",
        "parity": "mbarrier.arrive.release.cta.shared.b64 _, [%r21];",
        "async": "cp.async.mbarrier.arrive.noinc.shared.b64 [%r21];",
    }[waits]
    how = ("test_wait", "%rd5") if waits == "state" else ("try_wait.parity.acquire.cta", "%r7")
    phases = ""
    for phase in range(3):
        store = f"add.u32 %r5, %r0, {100 * phase}; st.global.u32 [%rd3], %r5;"
        load = "ld.global.u32 %r6, [%rd4];"
        for number, access in enumerate((store, load)):
            wait = WAIT.format(2 * phase + number, *how)
            phases += f"{access} {arrive} {wait} xor.b32 %r7, %r7, 1;"
    tail = "bar.sync 0; st.global.u32 [%rd3], %r6;"
    if drops:  # the last thread leaves: a phase then has 63
        tail = "setp.eq.u32 %p2, %r0, 63; @%p2 mbarrier.arrive_drop.shared.b64 %rd5, [%r21]; @%p2 bra end;"
        tail += "mbarrier.arrive.shared.b64 %rd5, [%r21];" + WAIT.format(8, "test_wait", "%rd5")
        tail += "mbarrier.arrive.shared.b64 %rd5, [%r21];" + WAIT.format(9, "test_wait", "%rd5")
        tail += "end: bar.sync 0; st.global.u32 [%rd3], %r6;"
    found, _ = run(begin + head + phases + tail, 64, GIVEN, protocol, threads=64)
    np.testing.assert_array_equal(found, (np.arange(64) + 1) % 64 + 200)


def test_the_count_of_a_state_is_what_its_phase_lacked() -> None:
    text = """
    mbarrier.init.shared.b64 [%r21], 3; mbarrier.arrive.shared.b64 %rd2, [%r21], 2;
    mbarrier.pending_count.b64 %r1, %rd2; mbarrier.arrive.shared.b64 %rd3, [%r21];
    mbarrier.pending_count.b64 %r2, %rd3; mbarrier.inval.shared.b64 [%r21];
    st.global.v2.u32 [%rd0], {%r1, %r2};
    """
    found, _ = run(text, 2, GIVEN, threads=1)
    assert found.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cp.async.bulk.shared.global [%r1], [%rd2], 16;", ".bulk"),
        ("cp.async.cg.shared.global [%r1], [%rd2], 8;", "a copy of 8 bytes"),
        ("cp.async.ca.shared.global [%r1], [%rd2], 16, %p1;", "a copy that a predicate turns off"),
        ("mbarrier.expect_tx.shared.b64 [%r21], 16;", ".expect_tx"),
    ],
)
def test_other_copies_are_refused(text: str, why: str) -> None:
    with pytest.raises(gpucoh.KernelError, match=why):
        run(text, 1, GIVEN)


def test_texts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = """
    .local .align 8 .b8 given[24]; mov.u64 %rd2, given; cvta.local.u64 %rd3, %rd2;
    mov.u64 %rd4, word; cvta.global.u64 %rd4, %rd4; setp.eq.u32 %p1, %r0, 0; add.u64 %rd5, %rd4, 3;
    @%p1 mov.u64 %rd5, 0;
    st.local.u64 [%rd2], %rd4; st.local.u64 [%rd2+8], %rd5; st.local.u32 [%rd2+16], %r0;
    mov.u64 %rd7, format; cvta.global.u64 %rd6, %rd7;
    { .param .b64 p0; st.param.b64 [p0], %rd6; .param .b64 p1; st.param.b64 [p1], %rd3; .param .b32 q;
      call.uni (q), vprintf, (p0, p1); }
    """
    run(text, 1, GIVEN, threads=2)
    assert capsys.readouterr().out == "[word2|(null)|0]\n[word2|   d2|1]\n"
