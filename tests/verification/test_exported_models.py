"""A checker of another project: does it count the states that the explorer counts, and find the same planted bugs?

The models are checked by rumur (a Murphi checker, in Debian's packages). Without it these tests are skipped.
"""

import re
import shutil
import subprocess

import pytest

from gpucoh.export.bounded import exportable

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not (shutil.which("rumur") and shutil.which("gcc")), reason="rumur or gcc is not installed"
    ),
]

#: A planted bug of each protocol, and a program that shows it.
PLANTED = [
    ("gpu-vi!w2", "ld x; st x 1; ld x | st x 2", 0),
    ("gpu-vi!inv-ack-dropped", "ld x | st x 1", 1),
    ("gpu-vi!load-before-fill", "ld x; ld x | st x 1", 0),
    ("mesi!reader-leaves-memory-behind", "st x 1 | ld x", 0),
    ("tc-strong!w2", "ld x; st x 1; ld x | st x 2", 0),
    ("denovo-drf!owner-keeps-word", "add x 1 | add x 2", 0),
    ("gpu-drf!copy-survives-synchronisation", "ld x; add x 1; ld x | ld.relaxed x", 0),
    ("rcc-sc!h3", "ld x; ld x | st x 1", 0),
    ("src!fill-over-stores", "ld x; ld x | st x 1", 0),
]

#: Programs of protocols with a store buffer: data accesses, and accesses with release and acquire parts.
ORDERED = (
    "st x 1; ld x | add x 2; ld x",
    "add x 1; ld.acquire x | st.release x 2; add.acq_rel x 4",
    "st x 1; st.release x 2 | ld x; add.acquire x 4",
)
#: A read that misses at the L2 twice.
TWICE = "ld x | add x 4; ld x; st x 3"
#: Stores to a word whose write-through is outstanding.
AGAIN = "st x 1; st x 2; st.release x 3 | add x 4; ld x; ld.acquire x"
#: Evictions and programs of a protocol; 1 and the default programs of others.
BOUNDS = {
    "denovo-drf": {"evictions": 2, "programs": (*ORDERED, TWICE)},
    "gpu-drf": {"evictions": 1, "programs": (*ORDERED, AGAIN)},
}


def checked(text, folder):
    """What rumur's verifier prints for a model."""
    model, source, program = (folder / name for name in ("model.m", "model.c", "model"))
    model.write_text(text)
    subprocess.run(
        [
            "rumur",
            "--deadlock-detection",
            "off",
            "--counterexample-trace",
            "off",
            model,
            "--output",
            source,
        ],
        check=True,
    )
    subprocess.run(
        ["gcc", "-O1", "-std=c11", "-w", "-mcx16", source, "-o", program, "-lpthread", "-latomic"],
        check=True,
    )
    return subprocess.run([program], capture_output=True, text=True, check=False).stdout


def states(printed):
    return int(re.search(r"([\d,]+) states, ", printed)[1].replace(",", ""))


# the states without evictions are among those with one: one protocol shows that the number counts
@pytest.mark.parametrize(
    ("protocol", "bounds"),
    [
        ("gpu-vi", {"evictions": 0}),
        *((protocol, BOUNDS.get(protocol, {"evictions": 1})) for protocol in exportable()),
    ],
)
def test_another_checker_counts_the_same_states(protocol, bounds, tmp_path):
    from gpucoh.export.exporting import export

    found = export(protocol, **bounds)
    printed = checked(found.text, tmp_path)
    assert "No error found" in printed
    assert states(printed) == sum(item.states for item in found.counted)
    assert not any(item.violation for item in found.counted)


@pytest.mark.parametrize(("protocol", "program", "evictions"), PLANTED)
def test_another_checker_finds_the_same_planted_bug(
    protocol, program, evictions, tmp_path, mutant_gpucoh
):
    from gpucoh.export.exporting import export

    assert mutant_gpucoh.protocols()[protocol]
    found = export(protocol, programs=[program], evictions=evictions)
    assert found.counted[0].violation
    assert "1 error(s) found" in checked(found.text, tmp_path)
