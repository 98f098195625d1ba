"""Modules and kernels of CUDA, with the names of CuPy's ``RawModule`` and ``RawKernel``."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError, KernelError
from gpucoh.base.quoting import quoted
from gpucoh.cuda import compiler, translations
from gpucoh.cuda.arguments import bytes_of, expanded
from gpucoh.device.arrays import Array
from gpucoh.lang.assemble import disassemble
from gpucoh.lang.launchable import Launchable
from gpucoh.lang.program import Program
from gpucoh.machines import machines
from gpucoh.ptx import heap
from gpucoh.ptx.constants import WARP_SZ
from gpucoh.ptx.module import Variable
from gpucoh.ptx.parse import parse
from gpucoh.ptx.translate import Translation, translate

__all__ = ["Module", "RawKernel", "RawModule"]

_DTYPES = {
    "u8": "uint8", "s8": "int8", "b8": "uint8", "u16": "uint16", "s16": "int16", "b16": "uint16",
    "u32": "uint32", "s32": "int32", "b32": "uint32", "u64": "uint64", "s64": "int64", "b64": "uint64",
    "f32": "float32", "f64": "float64",
}  # fmt: skip
#: Pointers to scratch memory behind the parameters of a kernel of Triton: of the kernel and of the profiler.
_TRITON_APPENDS = 2
_MAX_SHARED = 1 << 20


class Module:
    """A module: kernels, and variables in global and constant memory.

    Parameters
    ----------
    source : str, Path or object
        CUDA C++ or PTX, as text or as the path of a ``.cu`` or ``.ptx`` file; a compiled kernel of Triton, or what
        ``numba.cuda.compile_ptx`` returns.
    options : sequence of str
        Options of the CUDA compiler, as ``-DN=4`` and ``-Iinclude``.

    Raises
    ------
    ConfigError
        If the CUDA compiler is needed and missing, or refuses the source.
    KernelError
        If the PTX cannot be parsed.
    """

    @public
    def __init__(self, source: Any, options: Sequence[str] = ()) -> None:
        self.ptx, self.name = compiler.ptx_of(source, options)
        #: Of Triton: the dynamic shared memory of a launch that names none, and pointers that it appends.
        self.shared_bytes = int(getattr(getattr(source, "metadata", None), "shared", 0) or 0)
        self.appended = _TRITON_APPENDS if compiler.is_of_triton(source) else 0
        self._parsed = parse(self.ptx, self.name)
        self._translations: dict[str, Translation] = {}
        self._translating = threading.RLock()

    def __repr__(self) -> str:
        return f"<gpucoh.cuda.Module {self.name}: {', '.join(self.kernels) or 'no kernels'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.ptx, self.name, self.shared_bytes, self.appended)

    @property
    def variables(self) -> list[str]:
        """Names of the variables in global and constant memory."""
        return [
            name for name, one in self._parsed.variables.items() if one.space in ("global", "const")
        ]

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels, as C++ mangles them."""
        return self._parsed.kernels

    @public
    def get_function(self, name: str) -> RawKernel:
        """A kernel by its name; C++ mangling may be left out where it is the only one of that name."""
        return RawKernel(self, name)

    __getitem__ = get_function

    @public
    def get_global(
        self, gpu: Any, name: str, dtype: Any = None, *, device: int | None = None
    ) -> Array:
        """The array of a ``__device__`` or ``__constant__`` variable on a GPU; made at the first use of the variable.

        Parameters
        ----------
        gpu : gpucoh.GPU
        name : str
        dtype : optional
            Its elements. Default: the type of a scalar; bytes of an array, whose type PTX does not keep.
        device : int, optional
            The GPU of a machine of several, each of which has its own; by default 0.

        Raises
        ------
        ConfigError
            If the module has no such variable.
        """
        variable = self._variable(name)
        arrays = self._arrays(gpu, device)
        array = arrays.get(variable.name)
        if array is None or not array.is_allocated:
            array = self._initialised(gpu, arrays, variable, device)
        return array if dtype is None else array.view(dtype)

    def _arrays(self, gpu: Any, device: int | None) -> dict[str, Array]:
        found: dict[str, Array] = gpu.variables.setdefault(self, {}).setdefault(device or 0, {})
        return found

    def share_global(self, gpu: Any, name: str, devices: int) -> Array:
        """The array of a variable that several devices have in common."""
        array = self.get_global(gpu, name)
        for device in range(devices):
            self._arrays(gpu, device)[self._variable(name).name] = array
        return array

    def resize_heap(self, gpu: Any, size: int) -> bool:
        """Give the heap of the kernels' ``malloc`` another size in bytes; returns whether no launch has used it."""
        variables = self._parsed.variables
        if heap.AREA not in variables:
            return True
        if any(heap.AREA in arrays for arrays in gpu.variables.get(self, {}).values()):
            return False
        variables[heap.AREA].size = size
        variables[heap.SIZE].initial = size.to_bytes(8, "little")
        return True

    def _variable(self, name: str) -> Variable:
        variables = {
            key: one
            for key, one in self._parsed.variables.items()
            if one.space in ("global", "const")
        }
        found = matching(name, variables)
        if len(found) != 1:
            shown = ", ".join(variables) or "none"
            raise ConfigError(
                f"variable {quoted(name)} is not in module {self.name} (variables: {shown})"
            )
        return variables[found[0]]

    def _initialised(
        self, gpu: Any, arrays: dict[str, Array], variable: Variable, device: int | None
    ) -> Array:
        dtype = np.dtype(_DTYPES.get(variable.type, "uint8"))
        size = max(1, -(-variable.size // dtype.itemsize))
        array: Array = gpu.zeros(size, dtype, name=variable.name, device=device)
        arrays[variable.name] = array  # before those of its addresses, which may be in a circle
        if not variable.initial:
            return array
        data = bytearray(variable.initial.ljust(size * dtype.itemsize, b"\0"))
        for at, other in variable.addresses.items():
            offset = int.from_bytes(data[at : at + 8], "little")
            functions = self._parsed.addresses
            address = functions.get(other) or self.get_global(gpu, other, device=device).address
            address += offset
            data[at : at + 8] = address.to_bytes(8, "little")
        array[:] = np.frombuffer(bytes(data), dtype)
        return array

    def shown(self, kernel: str) -> str:
        """A kernel's name in messages and results: without C++ mangling where it is the only one of that name."""
        plain = _plain_name(kernel)
        return plain if len(matching(plain, self.kernels)) == 1 else kernel

    def translation(self, name: str) -> Translation:
        """The program of a kernel; translated once."""
        with self._translating:
            if name not in self._translations:
                self._translations[name] = translations.kept(
                    (self.name, name, self.ptx),
                    self._parsed.variables,
                    lambda: translate(self._parsed, name, self.shown(name)),
                )
            return self._translations[name]

    def parameters(self, name: str) -> list[Variable]:
        """The parameters of a kernel."""
        return self._parsed.functions[name].parameters


def _rebuilt(ptx: str, name: str, shared_bytes: int, appended: int) -> Module:
    module = Module((ptx, name))
    module.shared_bytes, module.appended = shared_bytes, appended
    return module


#: CuPy's name.
RawModule = Module


class RawKernel(Launchable):
    """A CUDA kernel: ``kernel(grid, block, args)``, ``kernel[grid, block](*args)``, or by :meth:`gpucoh.GPU.launch`.

    Parameters
    ----------
    code : str, Path, Module or object
        The source, as :class:`Module` takes it.
    name : str
        The kernel's name; C++ mangling may be left out where it is the only one of that name.
    options : sequence of str
        Options of the CUDA compiler.

    Attributes
    ----------
    name : str
        As messages show it.
    symbol : str
        As the module has it.

    Raises
    ------
    ConfigError
        If the compiler refuses the source.
    KernelError
        If the module has no such kernel.
    """

    @public
    def __init__(self, code: Any, name: str, options: Sequence[str] = ()) -> None:
        self.module = code if isinstance(code, Module) else Module(code, options)
        found = matching(name, self.module.kernels)
        if len(found) != 1:
            shown = ", ".join(found or self.module.kernels) or "none"
            what = "is ambiguous" if found else "is not a kernel"
            raise KernelError(
                f"{quoted(name)} {what} of module {self.module.name} (kernels: {shown})"
            )
        self.symbol = found[0]
        self.name = self.module.shown(self.symbol)

    def __repr__(self) -> str:
        return f"<gpucoh.cuda.RawKernel {self.name} of {self.module.name}>"

    @public
    def __call__(
        self, grid: Any, block: Any, args: Sequence[Any], *, shared_mem: int = 0, **keywords: Any
    ) -> None:
        """Launch, as CuPy does; ``shared_mem`` is dynamic shared memory in bytes."""
        gpu = self._gpu_of(args, grid, block)
        gpu.launch(self, grid=grid, block=block, args=args, shared=shared_mem or None, **keywords)

    @property
    def translation(self) -> Translation:
        """The kernel's program, and where its parameters are."""
        return self.module.translation(self.symbol)

    def program(self, lanes: int, shared: int | None) -> Program:
        """Machine code, with ``shared`` bytes of dynamic shared memory."""
        check_warps(f"kernel '{self.name}'", lanes)
        program = self.translation.program
        shared = self.module.shared_bytes if shared is None else shared
        if not shared:
            return program
        if (
            isinstance(shared, bool)
            or not isinstance(shared, int | np.integer)
            or not 0 <= shared <= _MAX_SHARED
        ):
            raise ConfigError(
                f"shared = {quoted(shared)} is not a number of bytes (allowed: 0 to {_MAX_SHARED})"
            )
        words = program.shared_words + -(-int(shared) // 4)
        return replace(program, shared_words=words, dynamic_shared=int(shared))

    @property
    def local_bytes(self) -> int:
        """Local memory of a thread, in whole words."""
        return -(-self.translation.layout.local_bytes // 4) * 4

    def arguments(
        self,
        gpu: Any,
        program: Program,
        grid: tuple[int, int, int],
        args: Sequence[Any],
        device: int | None = None,
    ) -> Sequence[Any]:
        """The words of the program's constants: parameters, and addresses of variables."""
        parameters = self.module.parameters(self.symbol)
        args = expanded(args, len(parameters))
        if len(args) == len(parameters) - self.module.appended:
            args = [*args, *[None] * self.module.appended]
        if len(args) != len(parameters):
            raise ConfigError(
                f"kernel '{self.name}' takes {len(parameters)} arguments, got {len(args)}"
            )
        layout = self.translation.layout
        data = bytearray(-(-layout.parameter_bytes // 4) * 4)
        for number, (parameter, value) in enumerate(zip(parameters, args, strict=True), 1):
            at = layout.parameter_at[parameter.name]
            given = bytes_of(gpu, self.name, number, parameter, value)
            data[at : at + len(given)] = given
        addresses = [
            self.module.get_global(gpu, name, device=device).address for name in layout.symbols
        ]
        words = np.frombuffer(bytes(data), np.uint32).tolist()
        values = Words(words)
        if layout.needs_parameters_in_memory:
            values.kept = gpu.array(np.array(words, np.uint32), name=f"parameters of {self.name}")
            addresses.append(values.kept.address)
        for address in addresses:
            values += [address & 0xFFFFFFFF, address >> 32]
        return values

    @public
    def disassemble(self) -> str:
        """The machine code as text."""
        return disassemble(self.translation.program)


def check_warps(what: str, lanes: int) -> None:
    """Check that a machine's warps have the lanes of CUDA's.

    Raises
    ------
    ConfigError
        If they have not; it says which machines have.
    """
    if lanes != WARP_SZ:
        names = (name for name, built in machines().items() if built.lanes_per_warp == WARP_SZ)
        raise ConfigError(
            f"{what} has warps of {WARP_SZ} lanes, as all CUDA and HIP here, and the machine's have {lanes}: set "
            f"lanes_per_warp = {WARP_SZ}, with which a warp issues as half a wavefront does, or take another machine "
            f"({', '.join(names)})"
        )


class Words(list[int]):
    """Words of a launch's constants, and the array that some of them are the address of."""

    kept: Array | None = None


def matching(name: str, among: Sequence[str] | dict[str, Any]) -> list[str]:
    """The names that are this one, or whose C++ mangling names it."""
    if name in among:
        return [name]
    return [one for one in among if _plain_name(one) == name]


@functools.cache
def _plain_name(mangled: str) -> str:
    """The name of a function or variable without namespaces and parameters."""
    text = mangled.removeprefix("_Z")
    if text == mangled:
        return mangled
    nested, text = text.startswith("N"), re.sub(r"^[NL]*", "", text)
    found = ""
    while part := re.match(r"L?(\d+)", text):
        end = part.end() + int(part[1])
        found, text = text[part.end() : end], text[end:]
        if not nested:  # what follows are parameters
            break
    return found
