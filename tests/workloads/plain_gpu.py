"""A replacement of gpucoh.GPU that runs the Python source of kernels thread by thread, with no
compiler and no core.

An oracle for the kernels themselves: each thread is a generator that gives way at barriers and in
every round of a ``while`` loop. With ``coherent=False`` each core keeps copies of the lines that
its plain loads read, for as long as the launch lasts, and only its own stores and atomics drop
them; with ``updates=True`` these change the word in the copy and keep the others: the worst that an
incoherent cache can do.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.lang import Device, Kernel
from gpucoh.lang.records import fields_of

LINE_BYTES = 128
WRAPPED = {np.dtype(np.int32), np.dtype(np.uint32)}


class PlainArray:
    """An array in plain memory, with the coherence switch."""

    def __init__(self, gpu: PlainGPU, data: NDArray[Any]) -> None:
        self.gpu = gpu
        self.data = np.array(data).ravel()
        assert self.data.dtype in (np.int32, np.uint32, np.float32, np.float64, np.uint8)
        self.line = LINE_BYTES // self.data.itemsize  # elements

    def numpy(self) -> NDArray[Any]:
        return self.data.copy()

    def __len__(self) -> int:
        return int(self.data.size)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[key] = value

    def word(self, index: int) -> int:
        number = int(index)
        if not 0 <= number < self.data.size:
            raise IndexError(f"index {number} of an array of {self.data.size}")
        return number

    def read(self, index: int, fresh: bool = False) -> Any:
        number = self.word(index)
        if fresh or self.gpu.coherent:
            value = self.data[number]
        else:
            copies = self.gpu.copies[self.gpu.block.core]
            key = (id(self), number // self.line)
            if key not in copies:
                start = key[1] * self.line
                copies[key] = self.data[start : start + self.line].copy()
            value = copies[key][number % self.line]
        return value if self.data.dtype.kind == "f" else int(value)

    def write(self, index: int, value: Any) -> None:
        number = self.word(index)
        word = narrow(value, self.data.dtype)
        if not self.gpu.coherent:
            copies, key = self.gpu.copies[self.gpu.block.core], (id(self), number // self.line)
            if self.gpu.updates and key in copies:
                copies[key][number % self.line] = word
            else:
                copies.pop(key, None)
        self.data[number] = word


def narrow(value: Any, dtype: np.dtype[Any]) -> Any:
    """The value as a word of ``dtype``; integers wrap."""
    if dtype.kind == "f":
        return dtype.type(value)
    return (
        np.array([int(value) & 0xFFFFFFFF], np.uint32).astype(f"u{dtype.itemsize}").view(dtype)[0]
    )


class View:
    """A buffer as a kernel sees it: indexing is a plain access."""

    def __init__(self, array: PlainArray) -> None:
        self.array = array

    def __getitem__(self, index: int) -> Any:
        return self.array.read(index)

    def __setitem__(self, index: int, value: Any) -> None:
        self.array.write(index, value)


def seen(argument: Any) -> Any:
    """An argument as a kernel sees it."""
    if isinstance(argument, PlainArray):
        return View(argument)
    fields = fields_of(type(argument))
    if fields is not None:
        return SimpleNamespace(**{name: seen(getattr(argument, name)) for name in fields})
    return argument.item() if isinstance(argument, np.integer) else argument


def store_wide(buffer: View, index: int, *values: Any) -> None:
    """A store of neighbouring words."""
    for k, value in enumerate(values):
        buffer[index + k] = value


class Scratch:
    """A scratchpad or local array."""

    def __init__(self, dtype: np.dtype[Any], shape: Any) -> None:
        self.data = np.zeros(shape, dtype)

    def __getitem__(self, index: Any) -> Any:
        self._check(index)
        value = self.data[index]
        return value if self.data.dtype.kind == "f" else int(value)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check(index)
        self.data[index] = narrow(value, self.data.dtype)

    def _check(self, index: Any) -> None:
        parts = index if isinstance(index, tuple) else (index,)
        inside = all(0 <= part < size for part, size in zip(parts, self.data.shape, strict=True))
        assert inside, f"index {index} of a scratch array of shape {self.data.shape}"


class Spread(ast.NodeTransformer):
    """Makes a generator of a kernel: barriers and rounds of ``while`` loops yield."""

    def __init__(self, devices: set[str]) -> None:
        self.devices = devices

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.parse("yield 'spin'").body[0])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("barrier", "sleep"):
            wait = "barrier" if node.func.attr == "barrier" else "spin"
            return ast.Yield(ast.Constant(wait))
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("any", "shuffle"):
            return ast.Yield(ast.Tuple([ast.Constant(node.func.attr), *node.args], ast.Load()))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "syncwarp":
            vote = [ast.Constant("any"), ast.Constant(True)]
            return ast.Yield(ast.Tuple(vote, ast.Load()))
        if isinstance(node.func, ast.Name) and node.func.id in self.devices:
            return ast.YieldFrom(node)
        return node


def spread(function: Any, fake: Any) -> Any:
    """The kernel's function as a generator function over the fake intrinsics."""
    outside = inspect.getclosurevars(function)
    names = {**outside.globals, **outside.nonlocals}
    devices = {name for name, value in names.items() if isinstance(value, Device)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    for argument in definition.args.args:
        argument.annotation = None
    definition.returns = None
    Spread(devices).visit(definition)
    definition.body.append(ast.parse("if False:\n    yield").body[0])
    ast.fix_missing_locations(tree)
    space = {
        name: spread(value.function, fake) if name in devices else value
        for name, value in names.items()
    }
    space["lang"] = fake
    exec(compile(tree, inspect.getfile(function), "exec"), space)
    return space[function.__name__]


class PlainGPU:
    """The replacement: ``array``, ``zeros``, ``launch`` and ``machine.cores``."""

    def __init__(self, cores: int = 4, coherent: bool = True, updates: bool = False) -> None:
        self.machine = SimpleNamespace(cores=cores, lanes_per_warp=32, line_bytes=128)
        self.coherent = coherent
        self.updates = updates
        self.copies: list[dict[Any, NDArray[Any]]] = [{} for _ in range(cores)]
        self.block: Any = None
        self.thread: Any = None
        self.launches = 0
        self.turns = 0

    def array(self, data: Any) -> PlainArray:
        return PlainArray(self, np.asarray(data))

    def zeros(self, shape: Any, dtype: Any) -> PlainArray:
        return PlainArray(self, np.zeros(shape, dtype))

    def launch(
        self, kernel: Kernel, *, grid: Any, block: Any, args: Any, placement: str | None = None
    ) -> None:
        self.launches += 1
        self.copies = [
            {} for _ in self.copies
        ]  # an incoherent cache is emptied at kernel boundaries
        body = spread(kernel.function, self.intrinsics())
        values = [seen(argument) for argument in args]
        grid3, block3 = as_three(grid), as_three(block)
        waiting: list[Any] = []
        for number in range(math.prod(grid3)):
            state = SimpleNamespace(
                core=self.core_of(number, math.prod(grid3)),
                index=unravel(number, grid3),
                shared=[],
                threads=[],
            )
            state.grid, state.dim = grid3, block3
            for t in range(math.prod(block3)):
                thread = SimpleNamespace(
                    index=unravel(t, block3), number=t, calls=0, at="run", reply=None
                )
                thread.steps = body(*values)
                state.threads.append(thread)
            waiting.append(state)
        while waiting:
            self.turns += 1
            assert self.turns < 2_000_000, "a kernel does not end"
            waiting = [state for state in waiting if self.advance(state)]

    def core_of(self, block: int, blocks: int) -> int:
        """The core of a block of a grid."""
        return block % self.machine.cores

    def advance(self, state: Any) -> bool:
        """Run every thread of a block to its next pause; False when all have ended."""
        self.block = state
        for thread in state.threads:
            if thread.at in ("run", "spin"):
                self.thread = thread
                steps: Generator[Any, Any, None] = thread.steps
                try:
                    thread.at = steps.send(thread.reply)
                except StopIteration:
                    thread.at = "end"
                thread.reply = None
        self.exchange(state)
        state.threads = [thread for thread in state.threads if thread.at != "end"]
        if all(thread.at == "barrier" for thread in state.threads):
            for thread in state.threads:
                thread.at = "run"
        return bool(state.threads)

    def exchange(self, state: Any) -> None:
        """Votes and shuffles of each warp whose threads all wait for one, or at a barrier."""
        warps: dict[int, dict[int, Any]] = {}
        for thread in state.threads:
            if thread.at not in ("barrier", "end"):
                warps.setdefault(thread.number // 32, {})[thread.number % 32] = thread
        for warp in warps.values():
            if not all(isinstance(thread.at, tuple) for thread in warp.values()):
                continue
            values = {lane: thread.at[1] for lane, thread in warp.items()}
            for thread in warp.values():
                if thread.at[0] == "any":
                    thread.reply = any(values.values())
                else:
                    thread.reply = values[thread.at[2] % 32]
                thread.at = "run"

    def shared(self, dtype: Any, shape: Any) -> Scratch:
        """The block's array for this call: the n-th call of every thread means the same array."""
        thread, block = self.thread, self.block
        thread.calls += 1
        if len(block.shared) < thread.calls:
            block.shared.append(Scratch(dtype, shape))
        return block.shared[thread.calls - 1]

    def atomic(self, operation: Any) -> Any:
        def run(
            buffer: Any, index: int, *values: Any, order: str = "relaxed", scope: str = "gpu"
        ) -> Any:
            if isinstance(buffer, Scratch):
                old = buffer[index]
                buffer[index] = operation(old, *values)
                return old
            old = buffer.array.read(index, fresh=True)
            buffer.array.write(index, operation(old, *values))
            return old

        return run

    def intrinsics(self) -> Any:
        def dtype_of(name: str) -> Any:
            names = {
                "i32": "int32",
                "u32": "uint32",
                "f32": "float32",
                "f64": "float64",
                "i64": "int64",
                "u8": "uint8",
            }
            kind = np.dtype(names[name])

            class Conversion:
                def __new__(cls, value: Any) -> Any:
                    if kind.kind == "f":
                        return kind.type(value)
                    return int(narrow(int(value), kind))

            return Conversion, kind

        conversions = {name: dtype_of(name) for name in ("i32", "u32", "f32", "f64", "i64", "u8")}
        kinds = dict(conversions.values())
        return SimpleNamespace(
            **{name: conversion for name, (conversion, _) in conversions.items()},
            thread_id=lambda axis=0: self.thread.index[axis],
            block_id=lambda axis=0: self.block.index[axis],
            block_dim=lambda axis=0: self.block.dim[axis],
            grid_dim=lambda axis=0: self.block.grid[axis],
            global_id=lambda axis=0: (
                self.block.index[axis] * self.block.dim[axis] + self.thread.index[axis]
            ),
            lane_id=lambda: self.thread.number % 32,
            warp_id=lambda: self.thread.number // 32,
            core_id=lambda: self.block.core,
            clock=lambda: 0,
            shared=lambda dtype, n: self.shared(kinds[dtype], n),
            local=lambda dtype, n: Scratch(kinds[dtype], n),
            load=lambda buffer, index, order="weak", scope="gpu": buffer[index],
            store=lambda buffer, index, value, order="weak", scope="gpu": buffer.__setitem__(
                index, value
            ),
            load2=lambda buffer, index: tuple(buffer[index + k] for k in range(2)),
            load4=lambda buffer, index: tuple(buffer[index + k] for k in range(4)),
            **dict.fromkeys(("store2", "store4"), store_wide),
            fence=lambda order="sc", scope="gpu": None,
            atomic_add=self.atomic(lambda old, value: old + value),
            atomic_sub=self.atomic(lambda old, value: old - value),
            atomic_min=self.atomic(min),
            atomic_max=self.atomic(max),
            atomic_and=self.atomic(lambda old, value: old & value),
            atomic_or=self.atomic(lambda old, value: old | value),
            atomic_xor=self.atomic(lambda old, value: old ^ value),
            atomic_exch=self.atomic(lambda old, value: value),
            atomic_cas=self.atomic(lambda old, expected, value: value if old == expected else old),
            min=min,
            max=max,
            abs=abs,
            sqrt=np.sqrt,
            exp=np.exp,
            log=np.log,
            floor=np.floor,
            sin=np.sin,
            cos=np.cos,
            tan=np.tan,
            tanh=np.tanh,
            rsqrt=lambda x: np.float32(1 / np.sqrt(np.float64(x))),
            pow=lambda x, y: np.float32(np.power(np.float64(x), np.float64(y))),
            fma=fused,
            bitcast=lambda x, dtype: np.asarray(x).view(kinds[dtype])[()],
            ceil=np.ceil,
            round=np.rint,
            trunc=np.trunc,
        )


def fused(x: Any, y: Any, z: Any) -> Any:
    """``x * y + z``; of f64 rounded twice."""
    kind = np.float64 if any(isinstance(word, np.float64) for word in (x, y, z)) else np.float32
    return kind(np.float64(x) * np.float64(y) + np.float64(z))


def as_three(size: Any) -> tuple[int, int, int]:
    """A grid or block size with all three axes."""
    sizes = tuple(size) if isinstance(size, tuple | list) else (size,)
    return (*sizes, 1, 1)[:3]  # type: ignore[return-value]


def unravel(number: int, size: tuple[int, int, int]) -> tuple[int, int, int]:
    """The index of item ``number``, x running fastest."""
    return number % size[0], number // size[0] % size[1], number // (size[0] * size[1])
