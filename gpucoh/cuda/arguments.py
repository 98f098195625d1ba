"""Arguments of a CUDA kernel as the bytes of its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.device.arrays import Array
from gpucoh.ptx.module import Variable


def bytes_of(gpu: object, kernel: str, number: int, parameter: Variable, value: Any) -> bytes:
    """The bytes of an argument.

    Parameters
    ----------
    parameter : Variable
        Its type is that of PTX: ``u32``, ``f64``, or ``b8`` of a structure.
    value
        An array of the GPU (its address), a number, None (a null pointer), or bytes, a NumPy scalar or a NumPy record
        of the parameter's size.

    Raises
    ------
    ConfigError
        If the value does not fit the parameter.
    """
    where = f"argument {number} of kernel '{kernel}' ({described(parameter)})"
    if isinstance(value, Array):
        return _address(gpu, where, parameter, value)
    if value is None and parameter.size == 8:
        return bytes(8)
    if isinstance(value, np.ndarray) and value.shape != ():
        raise ConfigError(
            f"{where} is a NumPy array: copy it to the GPU with gpu.array(...)"
            + ("" if value.dtype.kind != "V" else ", or pass one record")
        )
    if isinstance(value, np.generic | np.ndarray | bytes):
        data = value if isinstance(value, bytes) else value.tobytes()
        if len(data) != parameter.size:
            what = "bytes" if isinstance(value, bytes) else str(value.dtype)
            raise ConfigError(f"{where} has {parameter.size} bytes, got {len(data)} ({what})")
        if not isinstance(value, bytes):
            _check_kind(where, parameter, value)
        return data
    if isinstance(value, bool | int):
        return _integer(where, parameter, int(value))
    if isinstance(value, float):
        return _float(where, parameter, value)
    raise ConfigError(
        f"{where}: {quoted(value)} is neither a number, an array of the GPU, nor a NumPy scalar"
    )


def expanded(args: Sequence[Any], parameters: int) -> Sequence[Any]:
    """The arguments, each array in the parts that numba passes it in, if the kernel has as many parameters.

    The parts are two pointers that kernels do not read, the number of elements, their size, the address, the shape and
    the strides in bytes.
    """
    if len(args) == parameters:
        return args
    parts: list[Any] = []
    for value in args:
        if not isinstance(value, Array):
            parts.append(value)
            continue
        size = value.dtype.itemsize
        strides = [size * math.prod(value.shape[k + 1 :]) for k in range(len(value.shape))]
        parts += [None, None, value.size, size, value, *value.shape, *strides]
    return parts if len(parts) == parameters else args


def described(parameter: Variable) -> str:
    """The parameter's type as PTX names it."""
    many = parameter.size > 8 or (parameter.type == "b8" and parameter.size > 1)
    return f"{parameter.size} bytes" if many else parameter.type


def _address(gpu: object, where: str, parameter: Variable, array: Array) -> bytes:
    if array.gpu is not gpu:
        raise ConfigError(f"{where} is an array of another GPU")
    array.check()
    if parameter.size != 8:
        raise ConfigError(f"{where} is no pointer, got an array of {array.dtype}")
    return array.address.to_bytes(8, "little")


def _check_kind(where: str, parameter: Variable, value: Any) -> None:
    """Refuse bits of another kind of number; ``b32`` and ``b64`` are of any kind."""
    kind = value.dtype.kind
    if parameter.type[0] == "f" and kind not in "fV":
        raise ConfigError(
            f"{where}: {quoted(value)} is {value.dtype}: give numpy.float{8 * parameter.size}(..)"
        )
    if parameter.type[0] in "us" and kind not in "iubV":
        raise ConfigError(f"{where}: {quoted(value)} is {value.dtype}: give an integer")


def _integer(where: str, parameter: Variable, value: int) -> bytes:
    if parameter.type in ("f32", "f64"):
        return _float(where, parameter, float(value))
    if parameter.size > 8:
        raise ConfigError(f"{where} is a structure, got {value}: give its bytes or a NumPy record")
    bits = 8 * parameter.size
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise ConfigError(f"{where}: {value} does not fit {bits} bits")
    return (value & ((1 << bits) - 1)).to_bytes(parameter.size, "little")


def _float(where: str, parameter: Variable, value: float) -> bytes:
    if parameter.type == "f32":
        with np.errstate(over="ignore"):
            return np.float32(value).tobytes()
    if parameter.type == "f64":
        return np.float64(value).tobytes()
    raise ConfigError(
        f"{where}: {value} is a floating-point number: give numpy.float32({value}), numpy.float64({value}) or an "
        "integer"
    )
