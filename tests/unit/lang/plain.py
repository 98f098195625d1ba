"""Kernels run as the plain Python they look like, thread by thread, on typed scalars: the oracle of the language.

Threads of a block are generators that give way at barriers; nothing here knows of instructions, warps or masks.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np

import gpucoh.lang as lang
from gpucoh.lang import intrinsics

F32 = np.float32
KINDS = {"i32": "i", "u32": "u", "f32": "f"}
DTYPES = {"i": np.int32, "u": np.uint32, "f": np.float32}


class Num:
    """A scalar of kind i, u or f. Python numbers are literals and take the kind of what they meet."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any) -> None:
        self.kind = kind
        if kind == "f":
            self.value: Any = F32(value)
        else:
            self.value = int(value) & 0xFFFFFFFF
            if kind == "i" and self.value >= 2**31:
                self.value -= 2**32

    def __bool__(self) -> bool:
        return bool(self.value != 0)

    def __index__(self) -> int:
        assert self.kind != "f"
        return int(self.value)

    def __hash__(self) -> int:
        return hash(self.value)


def kind_of(*values: Any) -> str:
    kinds = {v.kind for v in values if isinstance(v, Num)}
    if "f" in kinds or any(isinstance(v, float) for v in values):
        return "f"
    assert not {"i", "u"} <= kinds, "i32 meets u32"
    return kinds.pop() if kinds else "i"


def to(kind: str, value: Any) -> Num:
    """An explicit conversion."""
    raw = value.value if isinstance(value, Num) else value
    if kind != "f" and isinstance(raw, (float, F32)):
        if np.isnan(raw):
            return Num(kind, 0)
        low, high = (0, 2**32 - 1) if kind == "u" else (-(2**31), 2**31 - 1)
        return Num(kind, int(max(low, min(high, float(raw)))))
    return Num(kind, raw)


def binary(function, float_function=None, kind=None):
    def forward(a: Any, b: Any) -> Num:
        common = kind or kind_of(a, b)
        x, y = to(common, a).value, to(common, b).value
        with np.errstate(all="ignore"):
            return Num(
                common, (float_function or function)(x, y) if common == "f" else function(x, y)
            )

    return forward, lambda b, a: forward(a, b)


def shift(left: bool):
    def forward(a: Any, b: Any) -> Num:
        kind = a.kind if isinstance(a, Num) else "i"
        count = min((b.value if isinstance(b, Num) else b) & 0xFFFFFFFF, 40)
        value = to(kind, a).value
        return Num(kind, value << count if left else value >> count)

    return forward, lambda b, a: forward(a, b)


def comparison(function):
    def compare(a: Any, b: Any) -> bool:
        kind = kind_of(a, b)
        return bool(function(to(kind, a).value, to(kind, b).value))

    return compare


def install(name: str, pair) -> None:
    setattr(Num, f"__{name}__", pair[0])
    setattr(Num, f"__r{name}__", pair[1])


install("add", binary(lambda a, b: a + b))
install("sub", binary(lambda a, b: a - b))
install("mul", binary(lambda a, b: a * b))
install("truediv", binary(None, lambda a, b: np.divide(a, b), kind="f"))
install("floordiv", binary(lambda a, b: a // b if b else 0, np.floor_divide))
install("mod", binary(lambda a, b: a % b if b else 0, np.remainder))
install("and", binary(lambda a, b: a & b))
install("or", binary(lambda a, b: a | b))
install("xor", binary(lambda a, b: a ^ b))
install("lshift", shift(True))
install("rshift", shift(False))


def power(base: Num, exponent: Any) -> Num:
    assert base.kind != "f"
    n = int(exponent)
    return Num(base.kind, 0 if n < 0 else pow(int(base.value), n, 2**32))


def bits(x: Any) -> str:
    return bin(to("u", x).value)[2:].lstrip("0")


Num.__pow__ = power
Num.__neg__ = lambda self: Num(self.kind, -self.value)
Num.__pos__ = lambda self: self
Num.__invert__ = lambda self: Num(self.kind, ~self.value)
Num.__abs__ = lambda self: Num(self.kind, abs(self.value))
for _name, _function in {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}.items():  # fmt: skip
    setattr(Num, f"__{_name}__", comparison(_function))


def extreme(smaller: bool):
    def choose(*values: Any) -> Num:
        kind = kind_of(*values)
        result = to(kind, values[0]).value
        for value in values[1:]:
            other = to(kind, value).value
            if kind == "f":
                result = (np.fmin if smaller else np.fmax)(result, other)
            else:
                result = min(result, other) if smaller else max(result, other)
        return Num(kind, result)

    return choose


class PlainArray:
    """A buffer, scratchpad or local array; 2-D where it has two extents."""

    def __init__(self, data: np.ndarray, shape: tuple[int, ...] | None = None) -> None:
        self.data, self.extents = data.reshape(-1), shape or data.shape
        self.shape = tuple(Num("i", extent) for extent in self.extents)
        self.narrow = data.itemsize < 4
        self.kind = "i" if self.narrow else {"i": "i", "u": "u", "f": "f"}[data.dtype.kind]

    def flat(self, index: Any) -> int:
        items = index if isinstance(index, tuple) else (index,)
        assert len(items) == len(self.extents)
        word = 0
        for item, extent in zip(items, self.extents, strict=True):
            assert 0 <= int(item) < extent
            word = word * extent + int(item)
        return word

    def __getitem__(self, index: Any) -> Num:
        return Num(self.kind, self.data[self.flat(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        raw = value.value if isinstance(value, Num) else to(self.kind, value).value
        if self.narrow:
            assert not isinstance(value, Num) or value.kind != "f"
            raw = np.array(raw & 0xFFFFFFFF, np.uint32).astype(self.data.dtype)
        elif isinstance(value, Num) and value.kind != self.kind:
            assert self.kind == "f"
            raw = F32(raw)
        self.data[self.flat(index)] = raw


class Thread:
    """What the intrinsics of the running thread see."""

    def __init__(self, block: Block, thread: tuple[int, int, int], dim, grid) -> None:
        self.block, self.thread, self.dim, self.grid = block, thread, dim, grid
        self.shared_calls = 0


class Block:
    def __init__(self, index: tuple[int, int, int]) -> None:
        self.index = index
        self.arrays: list[PlainArray] = []


def make_namespace(current: SimpleNamespace) -> dict[str, Any]:
    def size(n: Any) -> tuple[int, ...]:
        return tuple(int(x) for x in (n if isinstance(n, tuple) else (n,)))

    def shared(dtype: Any, n: Any) -> PlainArray:
        thread = current.thread
        thread.shared_calls += 1
        arrays = thread.block.arrays
        if len(arrays) < thread.shared_calls:
            shape = size(n)
            arrays.append(PlainArray(np.zeros(int(np.prod(shape)), dtype.numpy), shape))
        return arrays[thread.shared_calls - 1]

    def local(dtype: Any, n: Any) -> PlainArray:
        shape = size(n)
        return PlainArray(np.zeros(int(np.prod(shape)), dtype.numpy), shape)

    def atomic_add(
        buf: PlainArray, index: Any, value: Any, order: str = "", scope: str = ""
    ) -> Num:
        old = buf[index]
        buf[index] = old + value
        return old

    def global_id(axis: int = 0) -> Num:
        t = current.thread
        return Num("i", t.block.index[axis] * t.dim[axis] + t.thread[axis])

    def store_words(buf: PlainArray, index: Num, values: Any) -> None:
        for k, value in enumerate(values):
            buf[index + k] = value

    def unary(function):
        return lambda x: Num("f", function(to("f", x).value))

    return {
        "thread_id": lambda axis=0: Num("i", current.thread.thread[axis]),
        "block_id": lambda axis=0: Num("i", current.thread.block.index[axis]),
        "block_dim": lambda axis=0: Num("i", current.thread.dim[axis]),
        "grid_dim": lambda axis=0: Num("i", current.thread.grid[axis]),
        "global_id": global_id, "shared": shared, "local": local, "atomic_add": atomic_add,
        "load": lambda buf, index, order="", scope="": buf[index],
        "store": lambda buf, index, value, order="", scope="": buf.__setitem__(index, value),
        "load2": lambda buf, index: (buf[index], buf[index + 1]),
        "store2": lambda buf, index, *values: store_words(buf, index, values),
        "store4": lambda buf, index, *values: store_words(buf, index, values),
        "min": extreme(True), "max": extreme(False), "abs": abs, "sqrt": unary(np.sqrt), "floor": unary(np.floor),
        "ceil": unary(np.ceil), "round": unary(np.rint), "trunc": unary(np.trunc),
        "len": lambda array: array.shape[0],
        "popcount": lambda x: Num("i", bits(x).count("1")), "clz": lambda x: Num("i", 32 - len(bits(x))),
        "ffs": lambda x: Num("i", len(bits(x)) - bits(x).rfind("1") if bits(x) else 0),
        "range": lambda *a: (Num("i", k) for k in range(*(int(x) for x in a))),
    }  # fmt: skip


class Conversion:
    """``i32`` and its like: a conversion and a dtype at once."""

    def __init__(self, name: str) -> None:
        self.kind = KINDS[name]
        self.numpy = DTYPES[self.kind]

    def __call__(self, value: Any) -> Num:
        return to(self.kind, value)


class _BarrierToYield(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "barrier"
        ):
            return ast.copy_location(ast.Expr(ast.Yield(None)), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        is_kernel = any(isinstance(d, ast.Name) and d.id == "kernel" for d in node.decorator_list)
        node.decorator_list = []
        for argument in node.args.args:
            argument.annotation = None
        self.generic_visit(node)
        if is_kernel:  # a generator even without barriers
            node.body.append(ast.parse("if False:\n    yield").body[0])
        return node


def run_plain(
    source: str, name: str, grid, block, args, constants: dict[str, Any] | None = None
) -> None:
    """Run kernel ``name`` of ``source``; arrays among ``args`` are changed in place."""
    tree = ast.fix_missing_locations(_BarrierToYield().visit(ast.parse(textwrap.dedent(source))))
    current = SimpleNamespace(thread=None)
    space = make_namespace(current) | {n: Conversion(n) for n in KINDS} | (constants or {})
    exec(compile(tree, "<plain>", "exec"), space)
    dim = tuple(block) + (1,) * (3 - len(block))
    extent = tuple(grid) + (1,) * (3 - len(grid))
    values = [
        PlainArray(a) if isinstance(a, np.ndarray) else Num("f" if isinstance(a, float) else "i", a)
        for a in args
    ]
    for index in np.ndindex(*extent[::-1]):
        one = Block(tuple(index[::-1]))
        threads = [Thread(one, tuple(t[::-1]), dim, extent) for t in np.ndindex(*dim[::-1])]
        running = []
        for thread in threads:
            current.thread = thread
            running.append((thread, space[name](*values)))
        with np.errstate(all="ignore"):
            while running:
                still = []
                for thread, generator in running:
                    current.thread = thread
                    try:
                        next(generator)
                        still.append((thread, generator))
                    except StopIteration:
                        pass
                running = still


_count = 0


def kernel_from_source(
    source: str, name: str, constants: dict[str, Any] | None = None
) -> lang.Kernel:
    """The kernel of a text, as if it stood in a file."""
    global _count
    _count += 1
    filename = f"<kernel {_count}>"
    text = textwrap.dedent(source)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space: dict[str, Any] = {
        n: getattr(intrinsics, n) for n in intrinsics.NAMES if n not in ("any", "all")
    }
    types = ("i32", "u32", "f32", "u8", "i8", "u16", "i16", "i64", "u64", "f64")
    space |= {n: getattr(lang, n) for n in ("kernel", "device", "Buffer", *types)} | (
        constants or {}
    )
    exec(compile(text, filename, "exec"), space)
    return space[name]
