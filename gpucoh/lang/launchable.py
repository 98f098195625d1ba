"""What a GPU launches: kernels of the kernel language, and those of other front ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.lang.program import Program
from gpucoh.lang.records import values_of

__all__ = ["Launchable"]


class Launchable:
    """A kernel: a name, a program for a width of warps, and the arguments of a launch.

    Attributes
    ----------
    name : str
    """

    name: str

    def program(self, lanes: int, shared: int | None) -> Program:
        """Machine code for warps of ``lanes``, with the scratchpad that a launch gives in addition."""
        raise NotImplementedError

    def arguments(
        self,
        gpu: Any,
        program: Program,
        grid: tuple[int, int, int],
        args: Sequence[Any],
        device: int | None = None,
    ) -> Sequence[Any]:
        """The values of the program's parameters, of the arguments of a launch on a device."""
        return args

    @property
    def local_bytes(self) -> int:
        """Bytes of memory that each thread has for itself, in addition to its registers."""
        return 0

    @public
    def __getitem__(self, extents: Any) -> Callable[..., None]:
        """A launch, ``kernel[grid, block](*args)``, on the GPU of the arrays among the arguments.

        Keyword arguments are those of :meth:`gpucoh.GPU.launch`.
        """
        if not isinstance(extents, tuple) or len(extents) != 2:
            raise ConfigError(
                f"kernel '{self.name}': {quoted(extents)} in brackets is not a grid and a block: write "
                f"{self.name}[grid, block](...), and shared=, placement= behind the arguments"
            )
        grid, block = extents

        @public
        def launch(*args: Any, **keywords: Any) -> None:
            self._gpu_of(args, grid, block).launch(
                self, grid=grid, block=block, args=args, **keywords
            )

        return launch

    def _gpu_of(self, args: Sequence[Any], grid: Any, block: Any) -> Any:
        """The GPU that the arrays among the arguments belong to."""
        gpus = {
            id(gpu): gpu
            for gpu in (getattr(value, "gpu", None) for arg in args for value in values_of(arg))
            if gpu is not None
        }
        if len(gpus) != 1:
            found = (
                "none of the arguments is an array of a GPU"
                if not gpus
                else "the arrays belong to different GPUs"
            )
            raise ConfigError(
                f"kernel '{self.name}': {found}: pass arrays of one GPU, or use "
                f"gpu.launch({self.name}, grid={quoted(grid)}, block={quoted(block)}, args=(...))"
            )
        return next(iter(gpus.values()))
