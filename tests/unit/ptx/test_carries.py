"""Every pair of a statement that writes the carry and one that reads it, against exact integers."""

import itertools

import numpy as np
import pytest

import gpucoh
from unit.ptx.statements import THREADS, operands

TYPES = ("u32", "s32", "u64", "s64")
WRITERS = [f"{op}.cc" for op in ("add", "addc", "sub", "subc", "mad.lo", "mad.hi", "madc.lo", "madc.hi")]  # fmt: skip
READERS = [op + cc for op in ("addc", "subc", "madc.lo", "madc.hi") for cc in ("", ".cc")]


def computed(op, type, a, b, c, carry):
    """The result and the carry of a statement on arrays of integers; a difference is a + ~b + 1 (or + carry)."""
    size = 1 << int(type[1:])
    reads = op.split(".")[0].endswith("c")
    if op.startswith("mad"):
        signed = [(v + size // 2) % size - size // 2 if type[0] == "s" else v for v in (a, b)]
        product = signed[0] * signed[1]
        total = (product // size if ".hi" in op else product) % size + c
    elif op.startswith("sub"):
        total = a + (size - 1 - b) + (0 if reads else 1)
    else:
        total = a + b
    total = total + carry if reads else total
    return total % size, total // size if op.endswith(".cc") else carry


def statement(op, type, to, a, b, c):
    """The statement as PTX; only a product has a third operand."""
    operands = ", ".join([to, a, b, c] if op.startswith("mad") else [to, a, b])
    return f"{op}.{type} {operands};"


def kernel(name, writer, of, pairs):
    """A kernel that stores, of each pair, the writer's result, the reader's, and the carry after both."""
    lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out) {{",
             ".reg .b64 %a, %w, %d<5>, %D<5>; .reg .b32 %t, %f, %e<5>, %E<5>; .reg .pred %p;",
             "mov.u32 %t, %tid.x; ld.param.u64 %a, [in]; mad.wide.u32 %a, %t, 24, %a;"]  # fmt: skip
    lines += [f"ld.global.u64 %d{k}, [%a + {8 * k}]; cvt.u32.u64 %e{k}, %d{k};" for k in range(3)]
    lines += ["ld.param.u64 %a, [out]; mad.wide.u32 %a, %t, 24, %a;"]
    for reader, at in pairs:
        first, second = ("%d" if "64" in one else "%e" for one in (of, at))
        lines += [
            "add.cc.u32 %f, %e0, %e1;",
            statement(writer, of, f"{first}3", *(f"{first}{k}" for k in (0, 1, 2))),
            statement(reader, at, f"{second}4", *(f"{second}{k}" for k in (1, 2, 0))),
            "addc.u32 %f, 0, 0;",
            *(f"cvt.u64.u32 %d{k}, {r}{k};" for k, r in ((3, first), (4, second)) if r == "%e"),
            "st.global.u64 [%a], %d3; st.global.u64 [%a + 8], %d4; st.global.u32 [%a + 16], %f;",
            f"add.u64 %a, %a, {24 * THREADS};",
        ]
    return "\n".join([*lines, "ret; }"])


@pytest.mark.parametrize("of", TYPES)
def test_each_pair_of_a_writer_and_a_reader_of_the_carry_is_exact(of: str) -> None:
    pairs = list(itertools.product(READERS, TYPES))
    texts = [kernel(f"k{n}", writer, of, pairs) for n, writer in enumerate(WRITERS)]
    module = gpucoh.cuda.Module(
        ".version 8.5\n.target sm_75\n.address_size 64\n" + "\n".join(texts)
    )
    given = np.stack([operands("u64", np.random.default_rng(k)) for k in range(3)], 1)
    given[6:9] = 1 << 32, 5 << 40, (1 << 63) + 1  # equal in all three: differences of 0
    given[9:24:2] = given[9:24:2, :1]
    wide = [given[:, k].astype(object) for k in range(3)]
    narrow = [value % (1 << 32) for value in wide]
    wrong = []
    for n, writer in enumerate(WRITERS):
        with gpucoh.GPU(machine="fermi", protocol="ideal") as gpu:
            out = gpu.zeros(3 * THREADS * len(pairs), np.uint64)
            module[f"k{n}"][1, THREADS](gpu.array(given.ravel(), dtype=np.uint64), out)
            found = out.numpy().reshape(len(pairs), THREADS, 3)
        before = (narrow[0] + narrow[1]) // (1 << 32)
        a, b, c = wide if "64" in of else narrow
        first, carry = computed(writer, of, a, b, c, before)
        for (reader, at), rows in zip(pairs, found, strict=True):
            a, b, c = wide if "64" in at else narrow
            second, after = computed(reader, at, b, c, a, carry)
            wanted = np.stack([first, second, after], 1).astype(np.uint64)
            if (rows != wanted).any():
                k = int(np.argmax((rows != wanted).any(1)))
                wrong.append(f"{writer}.{of}; {reader}.{at} of {given[k]}: {rows[k]}, not {wanted[k]}")  # fmt: skip
    assert not wrong, "\n".join([*wrong[:9], f"{len(wrong)} pairs"])
