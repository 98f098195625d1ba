"""Every kernel of the suite compiles for both warp sizes, in few registers."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import gpucoh.suite
from gpucoh.lang import Kernel
from products import share

FOUND = {
    f"{module.name}.{name}": value
    for module in pkgutil.iter_modules(gpucoh.suite.__path__)
    for name, value in vars(importlib.import_module(f"gpucoh.suite.{module.name}")).items()
    if isinstance(value, Kernel | dict)
}
KERNELS = {
    f"{name}{key}": kernel
    for name, value in FOUND.items()
    for key, kernel in (value.items() if isinstance(value, dict) else [("", value)])
    if isinstance(kernel, Kernel)
}
MANY = {
    "lagrange.resist_hourglass": 72,  # four modes of eight corners
    "images.filter_columns": 28,  # two inputs and two outputs of four channels
    "matrices.multiply_pieces": 44,  # 4 x 4 sums and words
    "particles.KERNELSregisters": 40,  # four sums of two words, and unrolled loops
    "particles.KERNELSmemory": 30,  # sums of two words
    "alignment.align_diagonal": 38,  # unrolled loops
    "transforms.transform": 44,  # eight complex numbers
    "transport.sweep_plane": 32,  # four fluxes in and out
}


@pytest.mark.parametrize(("name", "lanes"), share(KERNELS, [32, 64], one_in=16))
def test_the_kernel_compiles_in_few_registers(name: str, lanes: int) -> None:
    program = KERNELS[name].compile(lanes)
    assert program.code
    assert program.vector_registers <= MANY.get(name, 24)
