"""Random kernels on the C core, against the same source as plain Python."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from products import share
from registered import ALL
from unit.lang import machine
from unit.lang.plain import kernel_from_source, run_plain

EDGES = (0, 1, 2, 3, 5, 7, 31, 32, 100, -1, -2, -7, 2**31 - 1, -(2**31), 65537)
FLOATS = (0.0, 0.5, 1.0, -1.5, 3.25, 1e-3, 1e20, -1e30, 7.0)
HELPERS = """
@device
def clip(v: i32, low, high: i32):
    if v < low:
        return low
    elif v > high:
        return high
    w = v
    for k in range(3):
        w += k
        if w > 50:
            return w - 1
    return w


@device
def mean(a: f32, b: f32):
    return (a + b) * 0.5


@device
def both(a: i32, b: i32):
    return a // b, a % b
"""


class Generator:
    """Writes one kernel. Every choice comes from ``r``, so that Hypothesis can shrink it."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.loop_names: list[str] = []
        self.loops = 0
        self.in_loop = 0
        self.whiles = 0

    def pick(self, options):
        return options[self.r.randrange(len(options))]

    # ---- expressions

    def integer(self, depth: int) -> str:
        leaf = ["a", "b", "c", "u", "tid", "n", "len(x)", "m.shape[1]", *self.loop_names]
        if depth <= 0 or self.r.randrange(5) == 0:
            return f"i32({self.pick(EDGES)})" if self.r.randrange(3) == 0 else self.pick(leaf)
        e, d = self.integer, depth - 1
        kind = self.r.randrange(17)
        if kind < 5:
            return f"({e(d)} {self.pick(['+', '-', '*', '//', '%', '&', '|', '^'])} {e(d)})"
        if kind == 5:
            return f"({e(d)} {self.pick(['+', '-', '*', '//', '%', '&', '^'])} {self.pick(EDGES[:-2])})"
        if kind == 6:
            return f"({e(d)} {self.pick(['<<', '>>'])} {e(d)})"
        if kind == 7:
            return f"({self.pick(['-', '~'])}{e(d)})"
        if kind == 8:
            return f"{self.pick(['min', 'max'])}({e(d)}, {e(d)})"
        if kind == 9:
            return f"abs({e(d)})"
        if kind == 10:
            return f"({e(d)} if {self.boolean(d)} else {e(d)})"
        if kind == 11:
            return f"i32({self.floating(d)})" if self.r.randrange(2) else f"i32({self.unsigned(d)})"
        if kind == 12:
            arrays = ["x[({0} & 3)]", "t[4 + ({0} & 3)]", "small[({0} & 3)]", "m[{0} & 3, {1} & 7]",
                      "i32(v[1, {0} & 1, {1} & 3])", "e[i * 4 + ({0} & 3)]", "h[i * 2 + ({0} & 1)]"]  # fmt: skip
            return self.pick(arrays).format(e(d), e(d))
        if kind == 13:
            return f"clip({e(d)}, i32({self.pick([-5, 0, 3])}), {e(d)})"
        if kind == 14:
            exponent = self.pick(
                [0, 1, 2, 3, 5, 17, 31, f"({e(d)} & 7)", f"{self.pick(['a', 'b', 'u'])}"]
            )
            return f"(({e(d)}) ** {exponent})"
        if kind == 15:
            return f"{self.pick(['popcount', 'clz', 'ffs'])}({e(d) if self.r.randrange(2) else self.unsigned(d)})"
        return f"i32({self.boolean(d)})"

    def unsigned(self, depth: int) -> str:
        if depth <= 0 or self.r.randrange(4) == 0:
            return self.pick(["p", f"u32({abs(self.pick(EDGES))})", "u32(tid)"])
        e, d = self.unsigned, depth - 1
        kind = self.r.randrange(5)
        if kind < 3:
            return f"({e(d)} {self.pick(['+', '-', '*', '//', '%', '&', '|', '^', '<<', '>>'])} {e(d)})"
        if kind == 3:
            return f"u32({self.integer(d)})"
        return f"min({e(d)}, {e(d)})"

    def floating(self, depth: int) -> str:
        if depth <= 0 or self.r.randrange(4) == 0:
            return self.pick(["f", "g", f"f32({self.pick(FLOATS)})", "w", "y[tid & 15]"])
        e, d = self.floating, depth - 1
        kind = self.r.randrange(9)
        if kind < 3:
            return f"({e(d)} {self.pick(['+', '-', '*', '/', '//', '%'])} {e(d)})"
        if kind == 3:
            return f"({e(d)} * {self.integer(d)})"
        if kind == 4:
            return f"{self.pick(['sqrt', 'floor', 'abs'])}({e(d)})"
        if kind == 5:
            return f"f32({self.integer(d)})"
        if kind == 6:
            return f"mean({e(d)}, {self.integer(d)})"
        if kind == 7:
            return f"({self.integer(d)} / {self.integer(d)})"
        return f"{self.pick(['min', 'max'])}({e(d)}, {e(d)})"

    def boolean(self, depth: int) -> str:
        compare = self.pick(["<", "<=", ">", ">=", "==", "!="])
        kind = self.r.randrange(7) if depth > 0 else 0
        d = max(depth - 1, 0)
        if kind < 2:
            return f"({self.integer(d)} {compare} {self.integer(d)})"
        if kind == 2:
            return f"({self.floating(d)} {compare} {self.floating(d)})"
        if kind == 3:
            return f"({self.integer(d)} {compare} {self.integer(d)} {self.pick(['<', '!='])} {self.integer(d)})"
        if kind == 4:
            return f"(not {self.boolean(d)})"
        return f"({self.boolean(d)} {self.pick(['and', 'or'])} {self.boolean(d)})"

    # ---- statements

    def block(self, depth: int, indent: str) -> list[str]:
        lines: list[str] = []
        for _ in range(1 + self.r.randrange(3)):
            lines += self.statement(depth, indent)
        return lines

    def statement(self, depth: int, indent: str) -> list[str]:
        kind = self.r.randrange(12 if depth > 0 else 7)
        inner = indent + "    "
        if kind < 2:
            return [f"{indent}{self.pick(['a', 'b', 'c', 'u'])} = {self.integer(2)}",
                    *([f"{indent}u = u * 3 + n"] if self.r.randrange(2) else [])]  # fmt: skip
        if kind == 2:
            target = self.pick(["a", "b", "small[tid & 3]", f"small[{self.integer(1)} & 3]"])
            return [
                f"{indent}{target} {self.pick(['+=', '-=', '*=', '//=', '^='])} {self.integer(1)}"
            ]
        if kind == 3:
            return [f"{indent}{self.pick(['f', 'g'])} = {self.floating(2)}"]
        if kind == 4:
            pair = f"a, b = both(a, {self.integer(1)})"
            return [indent + self.pick([f"p = {self.unsigned(2)}", pair, "a, b = b, a"])]
        if kind == 5:
            if self.in_loop and self.r.randrange(2):
                return [
                    f"{indent}if {self.boolean(1)}:",
                    f"{inner}{self.pick(['break', 'continue'])}",
                ]
            return [f"{indent}atomic_add(z, {self.integer(1)} & 3, {self.integer(1)})"]
        if kind == 6:
            value = self.pick([self.integer, self.unsigned])(1)
            words = [self.integer(1) for _ in range(4)]
            return [indent + self.pick([
                f"e[i * 4 + ({self.integer(1)} & 3)] = {value}",
                f"h[i * 2 + ({self.integer(1)} & 1)] = {value}",
                f"store4(q, i * 4, {', '.join(words)})",
                f"store2(q, i * 4 + ({words[0]} & 2), {words[1]}, {words[2]})",
                f"a, b = load2(q, i * 4 + ({words[0]} & 2))",
            ])]  # fmt: skip
        if kind in (7, 8):
            lines = [f"{indent}if {self.boolean(2)}:", *self.block(depth - 1, inner)]
            if self.r.randrange(3) == 0:
                lines += [f"{indent}elif {self.boolean(1)}:", *self.block(depth - 1, inner)]
            if self.r.randrange(2):
                lines += [f"{indent}else:", *self.block(depth - 1, inner)]
            return lines
        if kind in (9, 10):
            loop = self.counted_loops if self.r.randrange(3) == 0 else self.for_loop
            return loop(depth, indent, inner)
        return self.while_loop(depth, indent, inner)

    def for_loop(self, depth: int, indent: str, inner: str) -> list[str]:
        self.loops += 1
        name = f"k{self.loops}"
        bounds = self.pick(
            [f"{self.integer(1)} & 3", "n", f"{self.integer(1)} & 3, 4", "5, 0, -2",
             f"0, {self.integer(1)} & 7, 2", "6", "1, 8, 3", f"{self.pick(self.loop_names or ['4'])} & 3",
             f"3, {self.integer(1)} & 7, (tid & 1) + 1", f"3, {self.integer(1)} & 7, (tid & 1) * 2 - 1"]
        )  # fmt: skip
        iterable = f"range({bounds})" if self.r.randrange(6) else "(i32(1), i32(-3), i32(7))"
        self.loop_names.append(name)
        self.in_loop += 1
        body = self.block(depth - 1, inner)
        if self.r.randrange(5) == 0:
            body.append(f"{inner}{name} = {name} + 1")
        self.in_loop -= 1
        self.loop_names.remove(name)
        return [f"{indent}for {name} in {iterable}:", *body]

    def counted_loops(self, depth: int, indent: str, inner: str) -> list[str]:
        """Loops that the compiler may unroll, whose indices have constants; the counter is read behind them."""
        self.loops += 1
        name, own = f"k{self.loops}", f"j{self.loops}"
        start = self.r.randrange(-2, 3)
        counts = f"{start}, {start + self.r.randrange(7)}, {self.pick([1, 2, 3])}"
        self.loop_names.append(name)
        self.in_loop += 1
        body = self.block(depth - 1, inner)
        self.in_loop -= 1
        self.loop_names.remove(name)
        leave = self.pick(["break", "continue", "u += 1"])
        return [f"{indent}{name} = i32(7)", f"{indent}for {name} in range({counts}):", *body,
                f"{inner}for {own} in range({self.pick(['2', f'({name} & 3)', '1, 4'])}):",
                f"{inner}    a = a * 3 + t[(tid & 31) + {own} + 4] + {own} * {name}",
                f"{inner}    small[({own} + {name}) & 3] += a",
                f"{inner}    if a & 1 == {own} & 1:", f"{inner}        {leave}",
                f"{indent}b += {name}"]  # fmt: skip

    def while_loop(self, depth: int, indent: str, inner: str) -> list[str]:
        self.whiles += 1
        name = f"m{self.whiles}"
        self.in_loop += 1
        body = self.block(depth - 1, inner)
        self.in_loop -= 1
        test = self.pick([f"{name} < (tid & 3)", f"{name} < 3 and {self.boolean(1)}", "True"])
        head = [f"{indent}{name} = i32(0)", f"{indent}while {test}:", f"{inner}{name} += 1"]
        if test == "True":
            head += [f"{inner}if {name} > n:", f"{inner}    break"]
        return head + body

    def kernel(self) -> str:
        lines = [
            "@kernel",
            "def k(x: Buffer[i32], y: Buffer[f32], z: Buffer[i32], out: Buffer[i32], fout: Buffer[f32],",
            "      m: Buffer[i32, 2], v: Buffer[f32, 3], e: Buffer[u8], h: Buffer[i16], q: Buffer[i32],",
            "      n: i32, w: f32):",
            "    i = global_id()",
            "    tid = thread_id()",
            "    a = x[i & 31]",
            "    b = i * 3 - 20",
            "    c = i32(4)",
            "    u = block_id() * 2 + n",  # the same in all lanes until a branch parts them
            "    p = u32(i) * u32(2654435761)",
            "    f = y[i & 15]",
            "    g = f32(0.0)",
            "    small = local(i32, 4)",
            "    t = shared(i32, 128)",
            "    t[tid] = a ^ tid",
            "    barrier()",
        ]
        lines += self.block(3, "    ")
        for _ in range(self.r.randrange(3)):
            lines += [
                "    barrier()",
                "    t[tid] = " + self.integer(2).replace("t[", "x["),
                "    barrier()",
            ]
            lines += self.block(2, "    ")
        if self.r.randrange(3) == 0:
            lines += [f"    if {self.boolean(1)}:", "        out[i * 4] = 77", "        return"]
        lines += ["    out[i * 4] = a + small[0]", "    out[i * 4 + 1] = b ^ small[1]",
                  "    out[i * 4 + 2] = c - small[(a & 3)] ^ u", "    out[i * 4 + 3] = i32(p)", "    fout[i * 2] = f",
                  "    fout[i * 2 + 1] = g"]  # fmt: skip
        return HELPERS + "\n\n" + "\n".join(lines) + "\n"


ARRAYS = 10  # among the arguments, the first ones


def arguments(seed: int, threads: int) -> list:
    r = np.random.default_rng(seed)
    return [
        r.integers(-(2**31), 2**31, 32, dtype=np.int64).astype(np.int32) >> r.integers(0, 31, 32).astype(np.int32),
        (r.standard_normal(16) * 10).astype(np.float32),
        np.zeros(4, np.int32), np.zeros(threads * 4, np.int32), np.zeros(threads * 2, np.float32),
        r.integers(-9, 9, (4, 9), dtype=np.int32), (r.standard_normal((2, 2, 5)) * 10).astype(np.float32),
        r.integers(0, 256, threads * 4, np.uint8), r.integers(-(2**15), 2**15, threads * 2, np.int16),
        r.integers(-9, 9, threads * 4, np.int32), 3, 2.5,
    ]  # fmt: skip


def compare(source: str, seed: int, lanes: int = 32, protocol: str = "no-l1") -> None:
    block = 48
    mine, plain = arguments(seed, 2 * block), arguments(seed, 2 * block)
    machine.run(kernel_from_source(source, "k"), 2, block, mine, lanes, protocol)
    run_plain(source, "k", (2,), (block,), plain)
    for number, (got, wanted) in enumerate(zip(mine[:ARRAYS], plain[:ARRAYS], strict=True)):
        same = np.array_equal(got, wanted, equal_nan=got.dtype == np.float32)
        assert same, f"argument {number}: {got.tolist()} is not {wanted.tolist()}"


@given(st.randoms(use_true_random=False), st.integers(0, 2**16), st.sampled_from([32, 64]))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_kernels_do_what_their_source_says(r, seed, lanes):
    compare(Generator(r).kernel(), seed, lanes)


@pytest.mark.parametrize("seed", share(range(60), one_in=12))
def test_kernels_of_fixed_seeds_do_what_their_source_says(seed):
    compare(Generator(random.Random(seed)).kernel(), seed)


@pytest.mark.parametrize(("seed", "protocol"), share(range(6), ALL, one_in=25))
def test_the_core_does_what_the_source_says_under_each_protocol(seed, protocol):
    compare(Generator(random.Random(seed)).kernel(), seed, protocol=protocol)
