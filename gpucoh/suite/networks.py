"""``bp``: back-propagation, the layer from many input nodes to 16 hidden ones.

Original: backprop of Rodinia (CUDA). As there: a block of 16 x 16 threads has 16 input nodes and all hidden
ones; weights have rows of 17 words, the first of a threshold, and blocks begin 18 words in, so that
neighbouring blocks share lines. The forward launch multiplies weights by inputs, which 16 threads load,
stores the products, added up over the block in the scratchpad, back over the weights, and a partial sum per
hidden node; the host adds these, computes the output layer and writes the weights again; the second launch
adjusts weights and old weights in place, and one block those of the threshold. DeNovo gives the size "32 KB":
32,768 input nodes, the original's usual size (inferred; as words it would be 8,192: ``inputs=8192``).

Both launches get the number of hidden nodes as an argument; powers of two are computed in the loop, changes of weights
in double precision, without fused operations.

Differences: the host's exponentials are of 64 bits. The output layer's own weights are not adjusted.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, combine, compare, whole
from gpucoh.suite.buffers import ReadOnlyF32
from gpucoh.suite.declaration import workload

HIDDEN = 16  # hidden nodes, and input nodes of a block
PITCH = HIDDEN + 1
STEPS = 4  # of the sums in the scratchpad, over distances 1, 2, 4, 8
RATE, MOMENTUM = 0.3, 0.3
TARGET = 0.1


@lang.kernel
def layer_forward(
    inputs: ReadOnlyF32,
    weights: lang.Buffer[lang.f32],
    partial: lang.Buffer[lang.f32],
    hidden: lang.i32,
) -> None:
    """Products of 16 inputs with their weights, and their sums."""
    nodes = lang.shared(lang.f32, HIDDEN)
    products = lang.shared(lang.f32, (HIDDEN, HIDDEN))
    tx = lang.thread_id(0)
    ty = lang.thread_id(1)
    block = lang.block_id(0)
    pitch = hidden + 1
    at = pitch * HIDDEN * block + pitch * ty + tx + 1 + pitch
    if tx == 0:
        nodes[ty] = inputs[HIDDEN * block + ty + 1]
    lang.barrier()
    products[ty, tx] = weights[at]
    lang.barrier()
    products[ty, tx] = products[ty, tx] * nodes[ty]
    lang.barrier()
    for step in range(1, STEPS + 1):
        power = lang.i32(lang.pow(2.0, lang.f32(step)))
        if ty % power == 0:
            products[ty, tx] = products[ty, tx] + products[ty + power // 2, tx]
        lang.barrier()
    weights[at] = products[ty, tx]
    lang.barrier()
    if tx == 0:
        partial[block * hidden + ty] = products[0, ty]


@lang.kernel
def adjust_weights(
    delta: ReadOnlyF32,
    inputs: ReadOnlyF32,
    weights: lang.Buffer[lang.f32],
    old: lang.Buffer[lang.f32],
    hidden: lang.i32,
) -> None:
    """Change each weight by the error and its last change, in double precision."""
    tx = lang.thread_id(0) + 1
    ty = lang.thread_id(1)
    pitch = hidden + 1
    row = lang.block_id(0) * HIDDEN + ty + 1
    at = pitch * HIDDEN * lang.block_id(0) + pitch * ty + tx + pitch
    rate = lang.f64(RATE)
    momentum = lang.f64(MOMENTUM)
    change = rate * delta[tx] * inputs[row] + momentum * old[at]
    weights[at] = lang.f32(change + weights[at])
    old[at] = lang.f32(rate * delta[tx] * inputs[row] + momentum * old[at])
    lang.barrier()
    if ty == 0 and lang.block_id(0) == 0:
        change = rate * delta[tx] + momentum * old[tx]
        weights[tx] = lang.f32(change + weights[tx])
        old[tx] = lang.f32(rate * delta[tx] + momentum * old[tx])


def reference_forward(
    inputs: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The partial sums, shape ``(blocks, HIDDEN)``, in f32 in the kernel's order."""
    sums = (inputs[1:, None] * weights[1:, 1:]).reshape(-1, HIDDEN, HIDDEN)
    for _ in range(STEPS):
        sums = sums[:, 0::2] + sums[:, 1::2]
    return np.asarray(sums[:, 0])


def reference_adjusted(
    delta: NDArray[np.float32],
    inputs: NDArray[np.float32],
    weights: NDArray[np.float32],
    old: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and old weights after the second launch, computed in f64 in the kernel's order."""
    errors = (RATE * delta.astype(np.float64))[None, :] * inputs[:, None]  # inputs[0] is 1
    changes = errors + MOMENTUM * old.astype(np.float64)
    changes[:, 0] = 0
    adjusted = (changes + weights).astype(np.float32)
    changes[:, 0] = old[:, 0]
    return adjusted, changes.astype(np.float32)


def hidden_errors(
    partial: NDArray[np.float32], threshold: NDArray[np.float32], output: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The host's part: output layer, and the errors of the hidden nodes, shape ``(PITCH,)``; the first is 0."""
    sums = partial.sum(axis=0, dtype=np.float64) + threshold[1:]
    hidden = 1 / (1 + np.exp(-sums))
    result = 1 / (1 + np.exp(-(output[0] + hidden @ output[1:])))
    error = result * (1 - result) * (TARGET - result)
    return np.concatenate(([0], hidden * (1 - hidden) * output[1:] * error)).astype(np.float32)


@workload(id="bp", group="N", papers="DQ", check="bitwise equal to NumPy's numbers, sum by sum")
def network(
    gpu: GpuLike,
    rng: Generator,
    inputs: int = whole(f"input nodes, a multiple of {HIDDEN}", HIDDEN, 1 << 22, 256, 8192, 32768),
) -> Outcome:
    """back-propagation: forward pass and weight update of a layer, rows of 17 words

    Random inputs and weights; the original's old weights are 0, here random so that they count. Forward, the
    host's part, adjustment.
    """
    if inputs % HIDDEN:
        raise Refused(f"parameter inputs is {inputs}; allowed: a multiple of {HIDDEN}")
    values = rng.random(inputs + 1, np.float32)
    values[0] = 1
    scale = np.float32(1 / inputs)
    weights, old = (rng.uniform(-1, 1, (2, inputs + 1, PITCH)) * scale).astype(np.float32)
    output = rng.uniform(-1, 1, PITCH).astype(np.float32)
    blocks = inputs // HIDDEN
    tile = HIDDEN, HIDDEN
    nodes, links = gpu.array(values), gpu.array(weights.ravel())
    sums = gpu.zeros(blocks * HIDDEN, np.float32)
    gpu.launch(layer_forward, grid=blocks, block=tile, args=(nodes, links, sums, HIDDEN))
    partial = sums.numpy().reshape(blocks, HIDDEN)
    delta = hidden_errors(partial, weights[0], output)
    links[:] = weights.ravel()
    errors, old_links = gpu.array(delta), gpu.array(old.ravel())
    args = errors, nodes, links, old_links, HIDDEN
    gpu.launch(adjust_weights, grid=blocks, block=tile, args=args)
    expected = reference_adjusted(delta, values, weights, old)
    return combine(
        compare("partial sum", partial, reference_forward(values, weights)),
        compare(
            "weight",
            links.numpy().reshape(expected[0].shape),
            expected[0],
            details={"inputs": blocks * HIDDEN},
        ),
        compare("old weight", old_links.numpy().reshape(expected[1].shape), expected[1]),
    )
