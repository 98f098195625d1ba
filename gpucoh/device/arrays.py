"""Arrays in simulated memory."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpucoh.base import markup
from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted, shortened
from gpucoh.lang.types import Buffer2, Buffer3, ReadOnly2, ReadOnly3

DTYPES = tuple(map(np.dtype, ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]))
ALLOWED = ", ".join(dtype.name for dtype in DTYPES)
LARGEST_ELEMENTS = 2**32
_SERIALS = itertools.count()
_SHOWN = 8  # rows and columns of an array that a notebook shows


class HostMemory(Protocol):
    """The part of the core's interface that an array uses."""

    def host_read(self, address: int, out: NDArray[np.uint32]) -> None:
        """Fill ``out`` with the words at an address."""
        ...

    def host_write(self, address: int, data: NDArray[np.uint32]) -> None:
        """Write words at an address."""
        ...

    def host_write_places(
        self, address: int, places: NDArray[np.uint32], data: NDArray[np.uint32]
    ) -> None:
        """Write each word to its place, counted in words from an address."""
        ...

    def release(self, address: int) -> None:
        """Free an allocation."""
        ...


class Owner(Protocol):
    """The part of :class:`gpucoh.GPU` that an array uses."""

    @property
    def core(self) -> HostMemory:
        """The simulated machine."""
        ...

    def drop(self, address: int) -> None:
        """Free the allocation of an array that no longer exists, at the next opportunity."""
        ...


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of a dtype or of a type of the kernel language.

    Raises
    ------
    ConfigError
        If it is none of :data:`DTYPES`.
    """
    meant = getattr(dtype, "numpy", dtype)
    try:
        out: np.dtype[Any] = np.dtype(meant)
    except Exception:  # NumPy also asks the value, which may raise anything
        raise ConfigError(f"dtype {quoted(dtype)} is not one of {ALLOWED}") from None
    if out not in DTYPES:
        raise ConfigError(
            f"dtype {out} is not one of {ALLOWED}; convert with .astype(np.{_near(out)})"
        )
    return out


def _near(dtype: np.dtype[Any]) -> str:
    return {"f": "float32", "u": "uint32"}.get(dtype.kind, "int32")


def converted(given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert NumPy values to another dtype.

    Raises
    ------
    ConfigError
        If the values are not numbers, or one is out of the dtype's range.
    """
    if given.dtype.kind not in "iufb":
        raise ConfigError(f"a value of dtype {given.dtype} does not fit an array of {dtype}")
    if given.dtype == dtype or given.size == 0 or given.dtype.kind == "b":
        return given.astype(dtype)
    if dtype.kind != "f":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        whole = np.trunc(given.astype(np.float64)) if given.dtype.kind == "f" else given
        fits = (whole >= low) & (whole <= high)  # false for NaN
    else:
        with np.errstate(over="ignore"):
            fits = np.isfinite(given.astype(dtype)) | ~np.isfinite(given)
    if not fits.all():
        raise ConfigError(_misfit(given, fits, dtype))
    return given.astype(dtype)


def _misfit(given: NDArray[Any], fits: NDArray[np.bool_], dtype: np.dtype[Any]) -> str:
    """The message for the first value that does not fit."""
    place = np.unravel_index(int(np.argmin(fits)), given.shape)
    index = ", ".join(map(str, place))
    where = f" at index {index}" if place else ""
    return f"the value {given[place]}{where} does not fit an array of {dtype}"


def dtype_meant(data: Any, given: NDArray[Any]) -> np.dtype[Any]:
    """The dtype of an array that is made of data without naming one: their own, if they have one.

    Lists of Python numbers have none: NumPy makes them as wide as it can, the simulated GPU's unit is 32 bits wide. Nor
    has bool, which NumPy gives to conditions.
    """
    own = hasattr(data, "dtype")
    wide = {"bool": "int32"} if own else {"int64": "int32", "bool": "int32", "float64": "float32"}
    return dtype_of(wide.get(given.dtype.name, given.dtype))


def values_of(data: Any) -> NDArray[Any]:
    """The values as a NumPy array.

    Raises
    ------
    ConfigError
        If it is a masked array, which simulated memory cannot represent, or a list of rows of different lengths.
    """
    if isinstance(data, np.ma.MaskedArray):
        raise ConfigError(
            "a masked array has elements without a value: give data.filled(value) or data.compressed()"
        )
    try:
        return np.asarray(data)
    except ValueError:
        raise ConfigError("the rows of the list have different lengths: give equal ones") from None


def shape_of(shape: Any) -> tuple[int, ...]:
    """Check a shape.

    Raises
    ------
    ConfigError
        If the value is not a shape, is empty, or has more elements than an array can have.
    """
    items = shape if isinstance(shape, tuple | list) else (shape,)
    if (
        not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in items)
        or not items
    ):
        raise ConfigError(f"shape {quoted(shape)} is not a whole number or a tuple of them")
    out = tuple(int(n) for n in items)
    words = 1
    for extent in out:
        words *= extent
    if min(out) < 1:
        raise ConfigError(f"shape {quoted(shape)}: every extent must be at least 1")
    if words > LARGEST_ELEMENTS:
        raise ConfigError(
            f"shape {quoted(shape)} has {quoted(words)} elements (allowed: up to {LARGEST_ELEMENTS})"
        )
    return out


def words_of(size: int) -> int:
    """Words that `size` bytes occupy; the word is the unit of coherence."""
    return -(-size // 4)


if TYPE_CHECKING:  # a kernel's parameter, and a field of a record, take an array of any type

    class _Argument(Buffer2[Any], Buffer3[Any], ReadOnly2[Any], ReadOnly3[Any]): ...

else:
    _Argument = object


class Array(_Argument):
    """An array in a GPU's global memory, made by :meth:`gpucoh.GPU.array`, ``zeros`` or ``full``.

    Reading it (:meth:`numpy`, ``a[1:5]``) and writing it (``a[:] = 0``) are host accesses: coherent, without time and
    without counts. ``a[1:5]`` is a read-only copy, so that ``a[1][0] = 99`` raises ValueError; write ``a[1, 0] = 99``.

    An array keeps its GPU alive; a GPU does not keep its arrays. When the last reference to an array goes, the GPU
    frees its simulated memory, as :meth:`free` does at once.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        int32, uint32, float32, int8, uint8, int16, uint16, int64, uint64 or float64.
    size, nbytes : int
        Number of elements; number of bytes.
    address : int
        Byte address of the first element in simulated memory.
    serial : int
        Number of the array, unique in the process.
    name : str or None
        What messages and profiles call it; None: as the kernel's parameter.
    """

    _freed = True  # until it is made: an error before leaves nothing to free

    def __dir__(self) -> list[str]:
        """Without the check that other parts of gpucoh call."""
        return sorted({*super().__dir__()} - {"check"})

    def __init__(
        self,
        gpu: Owner,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        name: str | None = None,
    ) -> None:
        self._gpu = gpu
        self._freed = False
        self._base: Array | None = None  # the array whose memory a view shows
        self.serial = next(_SERIALS)
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.name = name

    @property
    def gpu(self) -> Any:
        """The GPU that owns the memory."""
        return self._gpu

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.dtype.itemsize * self.size

    def __len__(self) -> int:
        return self.shape[0]

    __hash__ = object.__hash__  # by identity, for sets and keys

    def __eq__(self, other: object) -> NoReturn:
        raise ConfigError(
            "arrays of a GPU have no ==: compare a.numpy() == b.numpy(), or a is b for the same array"
        )

    def __bool__(self) -> NoReturn:
        raise ConfigError(
            "an array of a GPU has no truth value: use a.numpy().any(), a.numpy().all() or a is not None"
        )

    def __repr__(self) -> str:
        freed = ", freed" if self._freed else ""
        return f"<gpucoh.Array {self.dtype} {self.shape} at {self.address:#x}{freed}>"

    def _repr_html_(self) -> str:
        """The first rows and columns, of an array of more dimensions those of its first plane."""
        place = (*(0,) * (len(self.shape) - 2), *(slice(_SHOWN),) * min(2, len(self.shape)))
        try:
            shown = np.atleast_2d(self[place])
        except ConfigError:  # freed, or of a closed GPU
            shown = np.empty((0, 0), self.dtype)
        dots = ("..",) if self.shape[-1] > _SHOWN else ()
        rows = [(*line, *dots) for line in shown.tolist()]
        if self.size > shown.shape[0] * self.shape[-1]:
            rows.append(("..",))
        return markup.table((), rows, repr(self).strip("<>"))

    @property
    def is_allocated(self) -> bool:
        """Whether it has memory: it has not been freed, nor was it made after a snapshot that was restored."""
        return not self._freed if self._base is None else self._base.is_allocated

    @public
    def view(self, dtype: Any) -> Array:
        """The same memory as an array of one dimension of another dtype; it keeps this array alive.

        Raises
        ------
        ConfigError
            If the array's bytes are no whole number of elements, or it has been freed.
        """
        self.check()
        wanted = dtype_of(dtype)
        if self.nbytes % wanted.itemsize:
            raise ConfigError(
                f"{self.nbytes} bytes are no whole number of elements of {wanted}, of {wanted.itemsize} bytes"
            )
        shown = Array(self._gpu, self.address, (self.nbytes // wanted.itemsize,), wanted, self.name)
        shown._base = self if self._base is None else self._base
        return shown

    def check(self) -> None:
        """Check that the array has not been freed.

        Raises
        ------
        ConfigError
            If it has been freed.
        """
        if not self.is_allocated:
            raise ConfigError(f"the {self.dtype} array of shape {self.shape} has been freed")

    @public
    def numpy(self) -> NDArray[Any]:
        """Copy the content to the host.

        Returns
        -------
        numpy.ndarray
            With this array's shape and dtype.

        Raises
        ------
        ConfigError
            If the array has been freed.
        """
        self.check()
        if self.dtype.itemsize == 4:
            out = np.empty(self.shape, dtype=np.uint32)
            self._gpu.core.host_read(self.address, out)
            return out.view(self.dtype)
        words = np.empty(words_of(self.nbytes), dtype=np.uint32)
        self._gpu.core.host_read(self.address, words)
        return words.view(self.dtype)[: self.size].reshape(self.shape)

    @public
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in simulated memory cannot be converted without a copy")
        out = self.numpy()
        return out if dtype is None else out.astype(dtype)

    @public
    def __getitem__(self, key: Any) -> Any:
        part = _selected(self.numpy(), key)
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
        return part

    @public
    def __setitem__(self, key: Any, value: Any) -> None:
        self.check()
        if isinstance(value, Array):
            value = value.numpy()
        new = self._fitting(value)
        if isinstance(key, slice) and key == slice(None):
            self._write(0, np.ascontiguousarray(_broadcast(new, self.shape)))
            return
        # Write only the selected words: cached copies of other words must stay.
        places = _selected(np.arange(self.size, dtype=np.uint32).reshape(self.shape), key)
        values = np.ascontiguousarray(_broadcast(new, np.shape(places))).reshape(-1)
        flat = np.ascontiguousarray(places).reshape(-1)
        if self.dtype.itemsize == 4:
            self._gpu.core.host_write_places(self.address, flat, values.view(np.uint32))
        elif flat.size > 0:
            breaks = np.flatnonzero(np.diff(flat) != 1) + 1
            for first, last in itertools.pairwise([0, *breaks.tolist(), flat.size]):
                self._write(int(flat[first]), values[first:last])

    def _write(self, first: int, values: NDArray[Any]) -> None:
        begin = self.dtype.itemsize * first
        end = begin + values.nbytes
        address = self.address + begin // 4 * 4
        if begin % 4 == end % 4 == 0:
            self._gpu.core.host_write(address, values.reshape(-1).view(np.uint32))
            return
        words = np.empty(words_of(end) - begin // 4, dtype=np.uint32)
        self._gpu.core.host_read(
            address, words
        )  # the first and the last word keep their other bytes
        words.view(np.uint8)[begin % 4 :][: values.nbytes] = values.reshape(-1).view(np.uint8)
        self._gpu.core.host_write(address, words)

    def _fitting(self, value: Any) -> NDArray[Any]:
        """The value as this array's dtype; rejects a value that would change."""
        given = values_of(value)
        if given.dtype == self.dtype:
            return given
        if given.dtype.kind == "f" and self.dtype.kind != "f":
            raise ConfigError(
                f"a value of dtype {given.dtype} does not fit an array of {self.dtype}"
            )
        return converted(given, self.dtype)

    @public
    def free(self) -> None:
        """Free the memory; later use of the array, or of its views, is an error."""
        if self._base is not None:
            self._base.free()
        elif not self._freed:
            self._gpu.core.release(self.address)
            self._freed = True

    def __del__(self) -> None:
        if not self._freed and self._base is None:
            self._gpu.drop(self.address)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse ``copy``, ``deepcopy`` and ``pickle``: two objects would free one allocation."""
        raise ConfigError(
            "an array of a GPU cannot be copied or pickled: a.numpy() is a copy on the host, and gpu.array(a) one in "
            "simulated memory"
        )


class ElementError(ConfigError, IndexError):
    """An index without an element; an ``IndexError`` too, since it ends Python's iteration."""


def _selected(values: NDArray[Any], key: Any) -> Any:
    """The selected elements.

    Raises
    ------
    ElementError
        If NumPy does not take the index.
    """
    try:
        return values[key]
    except Exception as error:  # of NumPy's, or of the index's own class
        raise ElementError(
            f"index {quoted(key)} of an array of shape {values.shape}: {shortened(str(error))}"
        ) from None


def _broadcast(value: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise ConfigError(
            f"a value of shape {value.shape} cannot be broadcast to shape {shape}"
        ) from None
