"""CUDA kernels on the simulated GPU: from CUDA C++ or PTX, with their values, under every protocol.

>>> import gpucoh, numpy as np
>>> axpy = gpucoh.cuda.RawKernel('''
... extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
...     int i = blockIdx.x * blockDim.x + threadIdx.x;
...     if (i < n) y[i] += a * x[i];
... }''', "axpy")                                                   # doctest: +SKIP
>>> gpu = gpucoh.GPU(machine="fermi", protocol="tc-weak")
>>> x, y = gpu.array(np.ones(1000, np.float32)), gpu.zeros(1000)
>>> axpy[8, 128](np.float32(2), x, y, 1000)                          # doctest: +SKIP
"""

from gpucoh.cuda.module import Module, RawKernel, RawModule

__all__ = ["Module", "RawKernel", "RawModule"]
