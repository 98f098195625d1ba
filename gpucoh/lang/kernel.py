"""The decorators ``@kernel`` and ``@device`` and their objects."""

from __future__ import annotations

import html
import importlib
import inspect
import pickle
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, ParamSpec, Self, TypeVar, cast

from gpucoh.base.doors import door, public
from gpucoh.base.errors import ConfigError, KernelError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.lang import optimise, schedule
from gpucoh.lang.assemble import Assembler, disassemble
from gpucoh.lang.launchable import Launchable
from gpucoh.lang.lowering import Lowering
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.records import fields_of
from gpucoh.lang.source import SourceUnit, file_of
from gpucoh.lang.statements import lower
from gpucoh.lang.types import BufferType, Scalar, Wide, refusal

__all__ = ["Device", "Kernel", "device", "kernel"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: Cached programs per kernel: one per warp width and set of constants.
MAX_CACHED = 16

_Dependency = tuple[Callable[[], Any], Any]


class Definition:
    """A function of the kernel language, with the file that defined it."""

    def __init__(self, function: Callable[..., Any], decorator: str) -> None:
        if not inspect.isfunction(function):
            raise KernelError(
                f"@gpucoh.{decorator} takes a function that is defined with def, not {quoted(function)}"
            )
        self.function = function
        self.name: str = function.__name__
        self.__doc__ = function.__doc__
        self._file = file_of(function)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """By its name in its module; where other processes cannot import that, by value (cloudpickle)."""
        module, name = self.function.__module__, self.function.__qualname__
        if module != "__main__" and _named(module, name) is self:
            return _named, (module, name)
        try:
            with LATE_IMPORT:
                import cloudpickle  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise pickle.PicklingError(
                f"{quoted(name)} is defined in a script, a notebook or another function, where other processes cannot "
                "import it: move it to a module, or install cloudpickle"
            ) from None
        return _restored, (type(self), cloudpickle.dumps(self.function), self._file)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # it does not change


class Kernel(Definition, Launchable):
    """A kernel: a Python function that runs on the simulated GPU. Made by :func:`kernel`.

    Attributes
    ----------
    name : str
    function : callable
        The Python function.
    """

    is_gpucoh_kernel = True

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, "kernel")
        self._programs: list[tuple[int, list[_Dependency], Program]] = []
        self._compiling = threading.RLock()

    def __repr__(self) -> str:
        try:
            arguments = dict.fromkeys(
                f"{one.argument}: {one.record.__name__}" if one.record else str(one)
                for one in self.signature
            )
            parameters = ", ".join(arguments)
        except KernelError:  # the launch reports it
            parameters = "..."
        return f"<gpucoh.kernel {self.name}({parameters[:100]})>"

    def _repr_html_(self) -> str:
        try:
            text = "\n".join(self.source_lines)
        except KernelError:
            text = repr(self)
        return f"<pre>{html.escape(text)}</pre>"

    def __call__(self, *args: object, **kwargs: object) -> None:
        """Raise: kernels are launched, not called."""
        raise KernelError(
            f"kernel '{self.name}' cannot be called: launch it with "
            f"gpu.launch({self.name}, grid=..., block=..., args=(...)) or {self.name}[grid, block](...)"
        )

    @cached_property
    def _unit(self) -> SourceUnit:
        return SourceUnit(self.function, "kernel", self._file)

    @property
    def source_lines(self) -> tuple[str, ...]:
        """The kernel's source, line by line."""
        return self._unit.lines

    @cached_property
    @public
    def signature(self) -> tuple[Parameter, ...]:
        """The parameters, in order.

        Raises
        ------
        KernelError
            For a parameter without a type, or of a kind that kernels do not support.
        """
        unit = self._unit
        arguments = unit.tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            raise unit.error(
                unit.tree, "a kernel's arguments are plain: use names without *, ** and defaults"
            )
        parameters = []
        for argument in arguments.posonlyargs + arguments.args:
            type = unit.annotation(argument)
            fields = fields_of(type)
            if isinstance(type, Scalar | Wide | BufferType):
                parameters.append(Parameter.of(argument.arg, type))
            elif fields is not None:
                parameters += [
                    Parameter.of(f"{argument.arg}.{name}", field, type)
                    for name, field in fields.items()
                ]
            else:
                what = f"argument '{argument.arg}'"
                otherwise = (
                    f"{what} has no kernel type: use gpucoh.i32, u32, f32, i64, u64, f64, gpucoh.Buffer[...] "
                    "or a @gpucoh.record"
                )
                raise unit.error(argument, refusal(what, type, otherwise))
        return tuple(parameters)

    @door
    def compile(self, lanes: int = 32) -> Program:
        """Machine code for warps of ``lanes`` (32 or 64); cached until a constant that it uses changes.

        Raises
        ------
        KernelError
            For Python that the kernel language does not support; with file, line and a replacement.
        """
        if lanes not in (32, 64):
            raise ConfigError(f"lanes = {quoted(lanes)} is not 32 or 64")
        with self._compiling:  # threads of a sweep that need the same program compile it once
            for known, dependencies, program in self._programs:
                if known == lanes and all(_same(now(), value) for now, value in dependencies):
                    return program
            return self._compiled(lanes)

    def program(self, lanes: int, shared: int | None) -> Program:
        """Machine code, with ``shared`` elements in the scratchpad array without a size."""
        return self.compile(lanes).with_shared(shared)

    def _compiled(self, lanes: int) -> Program:
        """Compile, and keep the program with the constants that it uses.

        If unrolled loops need more registers or constants than there are, no loop is unrolled.
        """
        for unrolled in (True, False):
            lowered = self._lowered(lanes)
            function = lowered.function
            optimise.optimise(function, unrolled)
            schedule.schedule(function)
            try:
                program = Assembler(function, lowered.units, self.signature, lanes).assemble()
                break
            except KernelError:
                if not unrolled:
                    raise
        self._programs.append((lanes, lowered.dependencies, program))
        del self._programs[:-MAX_CACHED]
        return program

    def _lowered(self, lanes: int) -> Lowering:
        """The intermediate form, checked."""
        try:
            lowered = lower(self._unit, lanes, self.signature)
        except RecursionError:
            raise self._unit.error(
                self._unit.tree,
                "an expression or a chain of elif is nested too deeply: split it",
            ) from None
        unassigned = next(optimise.find_unassigned(lowered.function), None)
        if unassigned is not None:
            register, (file, line) = unassigned
            unit = lowered.units[file]
            raise KernelError(
                f"{unit.filename}:{unit.first_line + line}: {unit.what} '{unit.name}': '{register.name}' may be read "
                "before it is assigned: assign it on every path, as before the if or the loop",
                unit.filename,
                unit.first_line + line,
            )
        return lowered

    @door
    def disassemble(self, lanes: int = 32) -> str:
        """The machine code as text."""
        return disassemble(self.compile(lanes))


class Device(Definition):
    """A function that kernels can call; it is inlined. Made by :func:`device`."""

    is_gpucoh_device = True
    needs_all_blocks = False  # of the grid, resident together

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, "device")
        self.__name__ = self.name

    def __repr__(self) -> str:
        return f"<gpucoh.device {self.name}>"

    @public
    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Raise: only kernels call device functions."""
        raise KernelError(f"device function '{self.name}' can be called only inside @gpucoh.kernel")

    @cached_property
    def unit(self) -> SourceUnit:
        """The function's source."""
        return SourceUnit(self.function, "device function", self._file)


@public
def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a Python function with parameters annotated ``i32 u32 f32`` or ``Buffer[...]``."""
    return Kernel(function)


@public
def device(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function that kernels can call. It is inlined; a type checker sees the plain function."""
    return cast(Callable[_P, _R], Device(function))


def _named(module: str, name: str) -> Any:
    """What a module calls by that name; None if nothing."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _restored(type: type[Kernel | Device], function: bytes, file: list[str]) -> Kernel | Device:
    """From :meth:`Definition.__reduce__`: the file may not exist in this process."""
    made = type(pickle.loads(function))
    made._file = file
    return made


def _same(now: Any, then: Any) -> bool:
    """Whether an outside constant still has the value that the program was compiled with."""
    if now is then:
        return True
    if type(now) is not type(then):
        return False
    if isinstance(now, tuple):
        return len(now) == len(then) and all(_same(a, b) for a, b in zip(now, then, strict=True))
    if isinstance(now, float):  # bits: a NaN equals itself, and -0.0 differs from 0.0
        return now.hex() == float(then).hex()
    return isinstance(now, (bool, int, str)) and bool(now == then)
