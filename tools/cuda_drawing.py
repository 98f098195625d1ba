"""What tools/cuda_tester.py draws: a CUDA kernel of a seed, as text.

Statements are independent of each other: every variable is declared by the first one, so that any of the others may be
left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i128", "u128")
FLOATS = ("f32", "f64")
TYPES = INTEGERS + FLOATS
VARIABLES = 14
#: Of 16 bytes: variables, two fields of the structure, the number of the return.
RESULTS = VARIABLES + 3
SHARED = 256
#: Operations on words that all threads share, each on a word of its own, so that the order of threads does not matter.
COMMON = [
    *((op, type) for type in ("u32", "u64") for op in ("Add", "Min", "Max", "And", "Or", "Xor")),
    ("Min", "i32"),
    ("Max", "i32"),
]


@dataclass(frozen=True)
class Kernel:
    """A kernel: declarations and functions before it, its statements, and its launch."""

    name: str
    before: str
    statements: tuple[str, ...]
    grid: int
    block: tuple[int, int]

    @property
    def threads(self) -> int:
        """Of the grid."""
        return self.grid * self.block[0] * self.block[1]

    def text(self) -> str:
        """The source."""
        put = [f"put(out, {k}, v{k});" for k in range(VARIABLES)]
        put += [f"put(out, {VARIABLES}, s0.a);", f"put(out, {VARIABLES + 1}, s0.c[1]);"]
        put.append(f"put(out, {VARIABLES + 2}, returned);")
        lines = "\n    ".join([*self.statements, "end:", *put])
        return f"""{self.before}
KERNEL({self.name}, const u8 *in, const f64 *real, u8 *all, u8 *common, {self.name}_s given)
{{
    {lines}
}}
"""

    def reference(self) -> str:
        """The function that runs it on the host."""
        return f"""
static const u8 *{self.name}_in;
static const f64 *{self.name}_real;
static u8 *{self.name}_out, *{self.name}_common;
static {self.name}_s {self.name}_given;
static void {self.name}_body()
{{
    {self.name}({self.name}_in, {self.name}_real, {self.name}_out, {self.name}_common, {self.name}_given);
}}
extern "C" void run_{self.name}(const u8 *in, const f64 *real, u8 *out, u8 *common, const u8 *given)
{{
    {self.name}_in = in, {self.name}_real = real, {self.name}_out = out, {self.name}_common = common;
    memcpy(&{self.name}_given, given, sizeof {self.name}_given);
    run_grid({self.grid}, {self.block[0]}, {self.block[1]}, {self.name}_body);
}}
extern "C" int size_{self.name}() {{ return sizeof({self.name}_s); }}
"""


class Drawing:
    """Draws one kernel."""

    def __init__(self, name: str, seed: str) -> None:
        self.name = name
        self.random = random.Random(seed)
        self.kinds = [*self.random.sample(INTEGERS, 2), *self.random.sample(TYPES, 2), "u32", "i32"]
        before, after = (self.random.choices(self.kinds[:4], k=k) for k in (6, VARIABLES - 8))
        self.types = [*before, "u32", "i32", *after]
        integers = [type for type in self.kinds if type in INTEGERS]
        self.struct = {
            "a": self.pick(integers),
            "b": self.pick(TYPES),
            "c": self.pick(integers),
            "d": self.pick(FLOATS),
        }
        self.local, self.shared, self.table = (self.pick(integers) for _ in range(3))
        self.functions: list[tuple[str, str, tuple[str, ...]]] = []  # name, result, parameters
        self.loops = 0
        self.names = {f"v{k}": type for k, type in enumerate(self.types)}
        self.arrays = True

    def pick(self, values: Sequence[str]) -> str:
        """One of the values."""
        return self.random.choice(values)

    def below(self, number: int) -> int:
        """A number from 0."""
        return self.random.randrange(number)

    # ---- expressions

    def constant(self, type: str) -> str:
        """A constant of a type."""
        if type in FLOATS:
            numbers = [0.0, 1.0, -1.5, 0.1, 3e10, -7e-9, self.random.uniform(-100, 100)]
            value = self.random.choice(numbers)
            return f"({type}) {value!r}"
        bits = int(type[1:])
        known = [0, 1, 2, 7, 255, (1 << bits) - 1, 1 << bits - 1, self.random.getrandbits(bits)]
        value = self.random.choice(known) & (1 << bits) - 1
        if bits == 128:
            return f"({type}) ((u128) {value >> 64}ull << 64 | {value & (1 << 64) - 1}ull)"
        return f"({type}) {value}ull"

    def leaf(self, type: str) -> str:
        """A variable, constant, element, field or input of a type."""
        names = [name for name, of in self.names.items() if of == type]
        if self.arrays:
            fields = [field for field, of in self.struct.items() if of == type and field != "c"]
            names += [f"s0.{field}" for field in fields]
            if type == self.local:
                names += [f"l0[{self.index(8)}]"] * 2
            if type == self.table:
                names += [f"{self.name}_t[{self.index(16)}]"]
            if type == self.struct["c"]:
                names += [f"s0.c[{self.index(3)}]", f"given.c[{self.index(3)}]"]
            if type in INTEGERS:
                names.append(f"get<{type}>(in, {self.simple('u32')})")
            else:
                names.append(f"({type}) real[{self.index(64)}]")
        if self.below(7) == 0:
            return self.constant(type)
        return self.pick(names) if names else self.any(type)

    def index(self, size: int) -> str:
        """An index below a size."""
        return f"(u32) {self.simple('u32')} % {size}" if self.below(3) else str(self.below(size))

    def simple(self, type: str) -> str:
        """A variable of a type, or a cast one."""
        names = [name for name, of in self.names.items() if of == type]
        return self.pick(names) if names else self.any(type)

    def any(self, type: str) -> str:
        """A variable of any type, converted."""
        return self.cast(type, *self.random.choice(list(self.names.items())))

    def target(self, types: Sequence[str] = TYPES) -> str:
        """A variable of one of the types to assign to."""
        return self.pick(
            [name for name, of in self.names.items() if of in types and name[0] == "v"]
        )

    def cast(self, type: str, inner: str, of: str) -> str:
        """A value of another type, converted."""
        if type in INTEGERS and of in FLOATS:
            is_bits = type == "u32" and of == "f32"
            return f"bits_of({inner})" if is_bits else f"as_integer<{type}>({inner})"
        return f"(({type}) {inner})"

    def value(self, type: str, depth: int = 2) -> str:
        """An expression of a type."""
        if depth == 0 or self.below(6) == 0:
            return self.leaf(type)
        deeper = depth - 1
        choice = self.below(12)
        if choice == 0:
            return f"({self.condition(deeper)} ? {self.value(type, deeper)} : {self.value(type, deeper)})"
        if choice == 1 and (known := [one for one in self.functions if one[1] == type]):
            name, _, parameters = self.random.choice(known)
            return f"{name}({', '.join(self.value(one, deeper) for one in parameters)})"
        if choice < 4:
            return self.converted(type, deeper)
        a, b = self.value(type, deeper), self.value(type, deeper)
        if type in FLOATS:
            suffix = "f" if type == "f32" else ""
            return self.random.choice([
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"least({a}, {b})", f"most({a}, {b})",
                f"sqrt{suffix}({a})", f"fma{suffix}({a}, {b}, {self.value(type, deeper)})", f"fabs{suffix}({a})",
                f"floor{suffix}({a})", f"trunc{suffix}({a})", f"rint{suffix}({a})", f"signed_as({a}, {b})", f"-({a})",
            ])  # fmt: skip
        return self.integer(type, a, b, deeper)

    def integer(self, type: str, a: str, b: str, depth: int) -> str:
        """An operation on integers of a type."""
        unsigned = type[0] == "u"
        if type in ("i32", "u32", "i64", "u64") and self.below(4) == 0:
            c, n = self.value("u32", depth), "ll" if type[1:] == "64" else ""
            operations = [f"__popc{n}({a})", f"__clz{n}({a})", f"__ffs{n}({a})", f"__brev{n}({a})"]
            high = "64" if n else ""
            operations.append(f"__{'u' if unsigned else ''}mul{high}hi({a}, {b})")
            if type == "u32":
                names = (f"__funnelshift_{'lr'[self.below(2)]}", "__byte_perm", "__usad")
                operations += [f"{name}({a}, {b}, {c})" for name in names]
            if type == "i32":
                operations += [f"__mul24({a}, {b})", f"__sad({a}, {b}, {c})"]
            return f"({type}) {self.pick(operations)}"
        names = ["add", "sub", "mul", "both", "either", "differ", "least", "most"]
        names += ["quotient", "rest"] * 2
        shift = f"{self.value('u32', 0)}" if self.below(2) else f"{self.below(128)}u"
        operations = [f"{self.pick(names)}<{type}>({a}, {b})"] * 4
        operations += [f"{name}<{type}>({a})" for name in ("neg", "inv")]
        operations += [f"{name}<{type}>({a}, {shift})" for name in ("shl", "shr")]
        operations += [f"rotated<{type}>({a}, {shift})"] * unsigned
        return self.pick(operations)

    def converted(self, type: str, depth: int) -> str:
        """A conversion from another type."""
        other = self.pick(TYPES if self.below(4) == 0 else self.kinds)
        return self.cast(type, self.value(other, depth), other)

    def condition(self, depth: int = 1) -> str:
        """A truth value, which differs from thread to thread."""
        type = self.pick(self.kinds)
        text = f"{self.value(type, depth)} {self.pick(['<', '<=', '==', '!=', '>', '>='])} {self.value(type, depth)}"
        if depth > 0 and self.below(4) == 0:
            text = f"({text}) {self.pick(['&&', '||'])} ({self.condition(depth - 1)})"
        if self.below(3) == 0:
            return f"(({self.simple('u32')} >> {self.below(8)}) & 1)"
        return f"({text})"

    # ---- statements

    def assignment(self) -> str:
        """A new value of a variable, element or field."""
        choice = self.below(8)
        if choice == 0 and self.arrays:
            return f"l0[{self.index(8)}] = {self.value(self.local)};"
        if choice == 1 and self.arrays:
            field = self.pick(list(self.struct))
            place = f"c[{self.index(3)}]" if field == "c" else field
            return f"s0.{place} = {self.value(self.struct[field])};"
        if choice == 2 and self.arrays:
            pointer = f"{self.condition(1)} ? l0 + {self.index(8)} : &l1"
            return self.pick([
                f"s0 = {self.name}_mix(s0, {self.value('u32')});", f"{self.name}_change(&s0, {self.value('i64')});",
                f"{{ {self.name}_s s1 = s0; s0 = given; s0.a = s1.a; }}",
                f"{{ {self.local} *p = {pointer}; *p = {self.value(self.local, 2)}; }}",
            ])  # fmt: skip
        name = self.target()
        return f"{name} = {self.value(self.names[name])};"

    def simple_block(self, depth: int) -> str:
        """Statements that a part of the threads runs."""
        return " ".join(
            self.divergent(depth) if self.below(3) == 0 else self.assignment()
            for _ in range(1 + self.below(2))
        )

    def divergent(self, depth: int = 2) -> str:
        """A branch or loop, without operations of several threads inside."""
        if depth == 0:
            return self.assignment()
        choice = self.below(5)
        if choice < 2:
            other = f" else {{ {self.simple_block(depth - 1)} }}" if self.below(2) else ""
            return f"if ({self.condition()}) {{ {self.simple_block(depth - 1)} }}{other}"
        if choice == 2:
            cases = "".join(
                f" case {k}: {self.simple_block(depth - 1)}{' break;' * self.below(2)}"
                for k in range(3)
            )
            return (
                f"switch ({self.value('u32', 2)} % 5) {{{cases} default: {self.simple_block(0)} }}"
            )
        self.loops += 1
        name = f"n{self.loops}"
        self.names[name] = "i32"
        inside = self.simple_block(depth - 1)
        if self.below(2):
            leave = self.pick(["break", "continue"])
            inside += f" if ({self.condition(1)}) {leave}; {self.assignment()}"
        del self.names[name]
        bound = f"(i32) ({self.value('u32', 1)} % {2 + self.below(5)})"
        if choice == 3:
            return f"for (i32 {name} = 0; {name} < {bound}; {name}++) {{ {inside} }}"
        return f"{{ i32 {name} = {bound}; do {{ {inside} }} while ({name}-- > 0); }}"

    def of_warp(self, mask: str) -> str:
        """An operation of the lanes of a mask."""
        name = self.target()
        type = self.names[name]
        moved = type if type in ("i32", "u32", "i64", "u64", "f32", "f64") else "u64"
        value = self.value(moved, 2)
        width = f"{2 << self.below(5)}"
        into = f"{name} = ({type})"
        shuffles = [
            f"from_lane<{moved}>({mask}, {value}, {self.value('u32', 1)})",
            f"from_up<{moved}>({mask}, {value}, {1 + self.below(16)}, {width})",
            f"from_down<{moved}>({mask}, {value}, {1 + self.below(16)}, {width})",
            f"from_xor<{moved}>({mask}, {value}, {1 + self.below(31)}, {width})",
        ]  # fmt: skip
        if self.below(2):
            return f"{into} {self.pick(shuffles)};"
        votes = [
            f"__ballot_sync({mask}, {self.condition(1)})", f"(u32) __any_sync({mask}, {self.condition(1)})",
            f"(u32) __all_sync({mask}, {self.condition(1)})", f"sum_of({mask}, {self.value('u32', 2)})",
            f"differing({mask}, {self.value('u32', 2)})", f"(u32) least_of({mask}, {self.value('i32', 2)})",
            f"__match_any_sync({mask}, {self.value(self.pick(['u32', 'u64']), 2)} % 3)", f"(u32) __popc({mask})",
        ]  # fmt: skip
        return f"{self.pick(['v6', 'v6', 'v7'])} = {self.pick(votes)};"

    def of_block(self) -> str:
        """An operation of the threads of a block that have not returned."""
        value, by = self.value(self.shared, 2), 1 + self.below(SHARED - 1)
        choice = self.below(4)
        if choice == 0:
            kind = self.pick(["count", "and", "or"])
            return f"v7 = (i32) differ<u32>((u32) v7, (u32) __syncthreads_{kind}({self.condition(1)}));"
        if choice == 1:
            return (
                f"barrier(); if (tid < 8) hist[tid] = {self.below(9)}; barrier(); "
                f"atomic{self.pick(['Add', 'Xor', 'Max', 'Or'])}(&hist[{self.index(8)}], {self.value('u32', 2)}); "
                "barrier(); "
                f"v6 = differ<u32>(v6, hist[{self.index(8)}]); barrier();"
            )
        name = self.target(INTEGERS)
        return (
            f"barrier(); own[tid] = {value}; barrier(); "
            f"{name} = ({self.names[name]}) own[(tid + {by} + (v6 & 3)) % {SHARED}]; barrier();"
        )

    def atomic(self) -> str:
        """An operation on memory that all threads share, or on a thread's own with its result."""
        slot = self.below(len(COMMON))
        op, type = COMMON[slot]
        if self.below(2):
            return f"atomic{op}(({type} *) (common + {8 * slot}), {self.value(type, 2)});"
        type = self.pick(["u32", "u64", "i32"])
        ops = ["Exch", "And", "Or", "Xor", "Min", "Max", "CAS", "Add", "Add"] + ["Inc", "Dec"] * (
            type == "u32"
        )
        op = self.pick(ops)
        value = self.value(type, 2)
        given = f"{self.value(type, 0)} & 3, {value} & 3" if op == "CAS" else value
        name = self.target(INTEGERS)
        place = f"({type} *) (mine + {8 * (type == 'u64')})"
        return f"{name} = ({self.names[name]}) atomic{op}({place}, {given});"

    def cooperating(self) -> Iterator[str]:
        """The statements of a kernel."""
        for _ in range(5 + self.below(8)):
            choice = self.below(12)
            if choice < 3:
                yield self.assignment()
            elif choice < 5:
                yield self.divergent()
            elif choice < 7:
                yield self.of_warp("mask")
            elif choice == 7:
                yield self.partly()
            elif choice == 8:
                yield self.of_block()
            elif choice == 9:
                yield self.atomic()
            elif choice == 10:
                other = self.pick([self.of_block(), self.atomic(), self.divergent(1)])
                yield f"for (int k = 0; k < {2 + self.below(3)}; k++) {{ {self.of_warp('mask')} {other} }}"
            elif self.below(2):
                yield (
                    f"{{ bool ends = {self.condition()} && {self.condition(1)}; mask = __ballot_sync(mask, !ends); "
                    f"if (ends) {{ returned = {1 + self.below(99)}; goto end; }} }}"
                )
            else:
                yield f"if (blockIdx.x % 2 == {self.below(2)}) {{ {self.of_warp('mask')} {self.of_block()} }}"

    def partly(self) -> str:
        """Operations of the lanes of a warp that take a branch, and of those that do not."""
        inside = " ".join(self.pick([self.of_warp("part"), self.assignment()]) for _ in range(2))
        other = f" else {{ part = mask & ~part; {self.of_warp('part')} }}" if self.below(2) else ""
        return (
            f"{{ bool taken = {self.condition()}; u32 part = __ballot_sync(mask, taken); "
            f"if (taken) {{ {inside} }}{other} __syncwarp(mask); }}"
        )

    def function(self, number: int) -> str:
        """A function of the device, which may be called from expressions."""
        name, result = f"{self.name}_f{number}", self.pick(self.kinds)
        parameters = tuple(self.random.choices(self.kinds, k=1 + self.below(3)))
        names, arrays = self.names, self.arrays
        self.names = {f"p{k}": type for k, type in enumerate(parameters)} | {"v0": result}
        self.arrays = False
        head = ", ".join(f"{type} p{k}" for k, type in enumerate(parameters))
        lines = [
            f"{self.pick(['OWN', 'OWN', 'FN'])} {result} {name}({head})\n{{",
            f"{result} v0 = {self.constant(result)};",
            self.simple_block(2),
            f"if ({self.condition()}) return {self.value(result)};",
            self.simple_block(1),
            "return v0;",
        ]
        self.names, self.arrays = names, arrays
        self.functions.append((name, result, parameters))
        return "\n    ".join(lines) + "\n}\n"

    def kernel(self) -> Kernel:
        """The kernel."""
        s, of = f"{self.name}_s", self.struct
        before = [
            f"struct {s} {{ {of['a']} a; {of['b']} b; {of['c']} c[3]; {of['d']} d; }};",
            f"TABLE {self.table} {self.name}_t[16] = {{{', '.join(self.constant(self.table) for _ in range(16))}}};",
            f"OWN {s} {self.name}_mix({s} s, u32 n)\n{{\n    s.a = add<{of['a']}>(s.a, ({of['a']}) n);",
            "    s.c[n % 3] = s.c[2 - n % 3];\n    s.d = s.d * 2 + 1;\n    return s;\n}",
            f"OWN void {self.name}_change({s} *s, i64 n)\n{{\n    s->c[(u32) n % 3] = ({of['c']}) n;",
            f"    if (n & 1)\n        s->a = inv<{of['a']}>(s->a);\n}}",
            *(self.function(k) for k in range(self.below(4))),
        ]  # fmt: skip
        start = [
            "const u32 threads_of_block = blockDim.x * blockDim.y, tid = threadIdx.x + threadIdx.y * blockDim.x;",
            "const u32 at = blockIdx.x * threads_of_block + tid;",
            f"u8 *out = all + at * {16 * RESULTS}, *mine = common + {8 * len(COMMON)} + 16 * at;",
            f"__shared__ {self.shared} own[{SHARED}]; __shared__ u32 hist[8];",
            "u32 mask = __activemask(), returned = 0;",
            f"{self.local} l0[8], l1 = {self.constant(self.local)};",
            f"for (int k = 0; k < 8; k++) l0[k] = ({self.local}) (k * {1 + self.below(1000)});",
            f"{s} s0 = given; s0.b = ({of['b']}) (int) tid;",
        ]
        for k, type in enumerate(self.types):
            number = f"get<{type}>(in, at * 7 + {k})"
            real = f"({type}) real[(at * 5 + {k}) % 64]"
            start.append(f"{type} v{k} = {number if type in INTEGERS else real};")
        start.append(f"for (u32 k = tid; k < {SHARED}; k += threads_of_block)")
        start.append(f"own[k] = ({self.shared}) k, hist[k % 8] = k % 8;")
        start.append("v6 = at; (void) mine; (void) l1; barrier();")
        statements = (" ".join(start), *self.cooperating())
        block = self.random.choice([(64, 1), (32, 1), (48, 1), (16, 4), (7, 9), (96, 1)])
        return Kernel(self.name, "\n".join(before), statements, 1 + self.below(3), block)
