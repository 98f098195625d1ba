"""The decorators ``@kernel`` and ``@device`` and the objects that they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gpucoh.errors import KernelError
from gpucoh.lang.program import Parameter, Program

__all__ = ["Device", "Kernel", "device", "kernel"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Kernel:
    """A kernel: a Python function that runs on the simulated GPU. Made by :func:`kernel`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name: str = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args: object, **kwargs: object) -> None:
        raise KernelError(f"kernel '{self.name}' cannot be called: launch it with gpu.launch({self.name}, ...)")

    @property
    def signature(self) -> tuple[Parameter, ...]:
        """The parameters, in order."""
        raise KernelError("the compiler is not there yet")

    @property
    def source_lines(self) -> tuple[str, ...]:
        """The kernel's source, line by line."""
        raise KernelError("the compiler is not there yet")

    def compile(self, lanes: int = 32) -> Program:
        """Machine code for warps of ``lanes`` (32 or 64); cached until a constant that it uses changes."""
        raise KernelError("the compiler is not there yet")

    def disassemble(self, lanes: int = 32) -> str:
        """The machine code as text, for people."""
        raise KernelError("the compiler is not there yet")


class Device:
    """A function that kernels can call; inlined where it is called. Made by :func:`device`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name: str = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise KernelError(f"device function '{self.name}' can be called only inside @gpucoh.kernel")


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a Python function whose parameters are annotated ``i32 u32 f32`` or ``Buffer[...]``."""
    return Kernel(function)


def device(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function that kernels can call. It is inlined; a type checker sees the plain function."""
    return Device(function)
