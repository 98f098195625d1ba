"""Records: named groups of buffers and scalars, each one parameter of a kernel."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from gpucoh.base.errors import KernelError, short_traceback
from gpucoh.base.quoting import quoted
from gpucoh.lang.types import BufferType, Scalar, Wide, located, refusal

__all__ = ["record"]

_T = TypeVar("_T")
_FIELDS = "_gpucoh_fields"

FieldType = Scalar | Wide | BufferType


@dataclass_transform(frozen_default=True)
def record(cls: type[_T]) -> type[_T]:
    """Make a class of annotated fields a record: a kernel takes one as a parameter, and reads its fields by name.

    The fields are of the types of parameters. A launch takes an object of the class, made of arrays and numbers by
    position or by name; ``dataclasses.replace`` makes one with other values. A kernel does not assign to a field.

    Raises
    ------
    KernelError
        For a field without a type of kernels.

    Examples
    --------
    >>> import numpy as np
    >>> import gpucoh
    >>> @gpucoh.record
    ... class Vectors:
    ...     x: gpucoh.ReadOnly[gpucoh.i32]
    ...     y: gpucoh.Buffer[gpucoh.i32]
    ...     n: gpucoh.i32
    >>> @gpucoh.kernel
    ... def add(v: Vectors, by: gpucoh.i32):
    ...     i = gpucoh.global_id()
    ...     if i < v.n:
    ...         v.y[i] = v.x[i] + by
    >>> gpu = gpucoh.GPU(protocol="ideal")
    >>> v = Vectors(gpu.array(np.arange(4, dtype=np.int32)), gpu.zeros(4, np.int32), n=4)
    >>> gpu.launch(add, grid=1, block=32, args=(v, 10))
    >>> v.y.numpy()
    array([10, 11, 12, 13], dtype=int32)
    """
    if not inspect.isclass(cls):
        raise KernelError(f"@gpucoh.record takes a class, not {quoted(cls)}")
    frame = sys._getframe(2)  # beyond short_traceback
    names = {**frame.f_globals, **frame.f_locals}
    fields = dict(fields_of(cls) or {})
    for name, annotation in inspect.get_annotations(cls).items():
        what = f"field '{name}' of record '{cls.__name__}'"
        fields[name] = _type_of(annotation, names, what)
    if not fields:
        raise located(KernelError, f"record '{cls.__name__}' has no fields: write name: type", 1)
    setattr(cls, _FIELDS, fields)
    return dataclasses.dataclass(frozen=True, eq=False)(cls)


if not TYPE_CHECKING:  # pyright does not see a transform through another decorator
    record = short_traceback(record)


def _type_of(annotation: Any, names: dict[str, Any], what: str) -> FieldType:
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, names)
        except Exception as error:
            text = f"the type of {what}, {quoted(annotation)}, cannot be evaluated: {error}"
            raise located(KernelError, text, 2) from None
    if isinstance(annotation, Scalar | Wide | BufferType):
        return annotation
    otherwise = (
        f"{what} has no kernel type: use gpucoh.i32, u32, f32, i64, u64, f64 or gpucoh.Buffer[...]"
    )
    raise located(KernelError, refusal(what, annotation, otherwise), 2)


def fields_of(type: Any) -> Mapping[str, FieldType] | None:
    """Name and type of the fields of a record; None of any other object."""
    found: Mapping[str, FieldType] | None = getattr(type, _FIELDS, None)
    return found if inspect.isclass(type) else None


def values_of(argument: Any) -> tuple[Any, ...]:
    """An argument's values: those of a record's fields, else itself."""
    fields = fields_of(type(argument))
    return (argument,) if fields is None else tuple(getattr(argument, name) for name in fields)
