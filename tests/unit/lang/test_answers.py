"""Does the compiler answer the first mistakes of users of NumPy and CUDA?"""

import math

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, f32


@gpucoh.kernel
def width(x: Buffer[f32]):
    x[0] = gpucoh.shuffle_down(x[0], 1, 16)


@gpucoh.kernel
def text(x: Buffer[f32]):
    assert x[0] > 0, f"wrong {x[0]}"


@gpucoh.kernel
def maximum(x: Buffer[f32]):
    x[0] = np.maximum(x[0], 1.0)


@gpucoh.kernel
def fabs(x: Buffer[f32]):
    x[0] = math.fabs(x[0])


@gpucoh.kernel
def misspelt(x: Buffer[f32]):
    x[0] = gpucoh.sqr(x[0])


@gpucoh.kernel
def bare(x: Buffer[f32]):
    x[0] = shufle(x[0], 0)  # noqa: F821


@gpucoh.kernel
def own_round(x: Buffer[f32]):
    x[0] = round(x[0])


@pytest.mark.parametrize(
    ("kernel", "answer"),
    [
        (width, "has neither mask nor width: for segments"),
        (text, "must be a constant string, not an f-string"),
        (maximum, "use gpucoh.max"),
        (fabs, "use gpucoh.abs"),
        (misspelt, "did you mean gpucoh.sqrt?"),
        (bare, "did you mean gpucoh.shuffle?"),
        (own_round, "use gpucoh.round(x)"),
    ],
)
def test_what_a_kernel_cannot_call_is_answered(kernel, answer):
    gpu = gpucoh.GPU()
    with pytest.raises(gpucoh.KernelError) as caught:
        gpu.launch(kernel, grid=1, block=32, args=(gpu.zeros(32),))
    assert answer in str(caught.value)
