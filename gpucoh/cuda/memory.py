"""The memory of a whole CUDA program: one address space of the host's process and the simulated GPU.

Simulated memory begins at :data:`BASE`, where the process has nothing mapped, so that an address says whose it is.
Memory that host and device share (managed, pinned, mapped) is mapped in the process at its simulated address, and
copied at launches, so that pointers within it hold for both. Memory of the host that a program registers is copied the
same way, but stays where it is: kernels see it at a simulated address of its own.
"""

from __future__ import annotations

import bisect
import ctypes
import hashlib
import mmap
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The first address of simulated memory: 16 TiB, far from where processes map anything.
BASE = 1 << 44
_PROTECTION = mmap.PROT_READ | mmap.PROT_WRITE
_FIXED_NOREPLACE = 0x100000  # MAP_FIXED_NOREPLACE of Linux
_FAILED = ctypes.c_void_p(-1).value


class OutOfBounds(Exception):
    """A copy beyond an allocation."""


@dataclass(eq=False)
class Allocation:
    """A range of simulated memory: the array that owns it, and its content as of the last copy if it is shared.

    ``registered`` is the address of the host's memory, if that is not the simulated one; ``device`` is the GPU, of
    several, in whose memory it is.
    """

    array: Any
    size: int
    shadow: NDArray[np.uint32] | None = None
    registered: int = 0
    device: int | None = None

    @property
    def address(self) -> int:
        """Its first byte."""
        return int(self.array.address)

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.address + self.size

    @property
    def host(self) -> int:
        """The first byte of the host's view, if it is shared."""
        return self.registered or self.address


class Memory:
    """The allocations of a program on a GPU."""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self.gpu.core.allocate_from(BASE)
        #: How many bytes the program has copied from the device to the host.
        self.copied_bytes = 0
        self._copied, self._copied_sum, self._copiers = hashlib.sha256(), 0, set[int]()
        self._starts: list[int] = []
        self._allocations: list[Allocation] = []
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            *[ctypes.c_int] * 3,
            ctypes.c_long,
        ]
        self._libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def in_use(self, device: int | None) -> int:
        """Bytes that are allocated on a device; None: that are on none."""
        return sum(one.size for one in self._allocations if one.device == device)

    def allocate(self, size: int, is_shared: bool, name: str, device: int | None) -> Allocation:
        """New memory, filled with 0; of a device, if the machine has several.

        Raises
        ------
        ConfigError
            If simulated memory is exhausted.
        MemoryError
            If the process cannot map shared memory at its address.
        """
        array = self.gpu.zeros(-(-size // 4), np.uint32, name=name, device=device)
        one = Allocation(array, size, device=device)
        self.add(one, is_shared)
        return one

    def add(self, one: Allocation, is_shared: bool = False) -> None:
        """Note an allocation: of this memory, or of a module's variable."""
        if is_shared:
            self._map(one)
        at = bisect.bisect_left(self._starts, one.address)
        self._starts.insert(at, one.address)
        self._allocations.insert(at, one)

    def _map(self, one: Allocation) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED_NOREPLACE
        found = self._libc.mmap(one.address, one.size, _PROTECTION, flags, -1, 0)
        if found in (None, _FAILED) or found != one.address:
            raise MemoryError(f"shared memory cannot be mapped at {one.address:#x}")
        one.shadow = np.zeros(-(-one.size // 4), np.uint32)
        self._show(one)

    def release(self, address: int) -> bool:
        """Free an allocation. Returns whether there is one at the address."""
        one = self.find(address)
        if one is None or one.address != address:
            return False
        at = bisect.bisect_left(self._starts, address)
        del self._starts[at], self._allocations[at]
        if one.shadow is not None and not one.registered:
            self._libc.munmap(one.address, one.size)
        one.array.free()
        return True

    def enlist(self, address: int, size: int) -> bool:
        """Share memory of the host. Returns False if a part of it is shared already.

        Raises
        ------
        ConfigError
            If simulated memory is exhausted.
        """
        if any(
            one.shadow is not None and one.host < address + size and address < one.host + one.size
            for one in self._allocations
        ):
            return False
        array = self.gpu.zeros(-(-size // 4), np.uint32, name=f"registered memory {address:#x}")
        shadow = np.zeros(-(-size // 4), np.uint32)
        self.add(Allocation(array, size, shadow, registered=address))
        return True

    def delist(self, address: int) -> bool:
        """Share registered memory no longer. Returns whether it was registered."""
        found = [one for one in self._allocations if one.registered == address]
        return bool(found and address) and self.release(found[0].address)

    def device_address(self, address: int) -> int:
        """Where kernels see memory that the host names; 0: nowhere."""
        for one in self._allocations:
            if one.registered and one.registered <= address < one.registered + one.size:
                return one.address + address - one.registered
        return address if self.find(address) else 0

    def find(self, address: int) -> Allocation | None:
        """The allocation with the byte at an address."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0 or address >= self._allocations[at].end:
            return None
        return self._allocations[at]

    def _range(self, address: int, size: int) -> Allocation | None:
        """The allocation with these bytes; None: memory of the host's process alone."""
        one = self.find(address)
        if one is None:
            if address >= BASE and address < BASE << 1:
                raise OutOfBounds(f"{size} bytes at {address:#x}, which is no memory of the device")
            return None
        if address + size > one.end:
            raise OutOfBounds(
                f"{size} bytes at {address:#x}: the allocation {one.array.name} of {one.size} bytes ends before"
            )
        return one

    # ---- copies

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy bytes between any two addresses.

        Raises
        ------
        OutOfBounds
            If a range of device memory is not within one allocation.
        """
        begin, end = self._range(source, size), self._range(to, size)
        data = self._read(begin, source, size)
        if begin is not None and begin.shadow is None and (end is None or end.shadow is not None):
            self._note_copied(data)
        self._write(end, to, data)

    def _note_copied(self, data: bytes) -> None:
        digest = hashlib.sha256(data).digest()
        self.copied_bytes += len(data)
        self._copied.update(digest)
        self._copied_sum = (self._copied_sum + int.from_bytes(digest)) % (1 << 256)
        self._copiers.add(threading.get_ident())

    @property
    def copied_hash(self) -> str:
        """The hash of what was copied; if several threads did, in any order."""
        return self._copied.hexdigest() if len(self._copiers) < 2 else f"{self._copied_sum:064x}"

    def fill(self, address: int, value: int, size: int) -> None:
        """Set bytes."""
        self._write(self._range(address, size), address, bytes([value & 0xFF]) * size)

    def _read(self, one: Allocation | None, address: int, size: int) -> bytes:
        if one is None or one.shadow is not None:
            return ctypes.string_at(_host_address(one, address), size)
        first, words = _words(address, size)
        out = np.empty(words, np.uint32)
        self.gpu.core.host_read(first, out)
        return out.tobytes()[address - first :][:size]

    def _write(self, one: Allocation | None, address: int, data: bytes) -> None:
        if one is None or one.shadow is not None:
            ctypes.memmove(_host_address(one, address), data, len(data))
            return
        first, words = _words(address, len(data))
        new = np.empty(words, np.uint32)
        if address % 4 or len(data) % 4:
            self.gpu.core.host_read(first, new)
        new.view(np.uint8)[address - first :][: len(data)] = np.frombuffer(data, np.uint8)
        self.gpu.core.host_write(first, new)

    # ---- shared memory

    def to_device(self) -> None:
        """Copy what the host has changed in shared memory."""
        for one in self._allocations:
            if one.shadow is not None:
                now = self._host_words(one)
                places = np.flatnonzero(now != one.shadow).astype(np.uint32)
                if places.size:
                    self.gpu.core.host_write_places(one.address, places, now[places])
                    one.shadow[:] = now

    def to_host(self) -> None:
        """Copy shared memory back after a launch."""
        for one in self._allocations:
            if one.shadow is not None:
                self._show(one)

    def _show(self, one: Allocation) -> None:
        """Copy what the device has changed to the host's view: threads of the host may be writing other bytes."""
        assert one.shadow is not None
        now = np.empty_like(one.shadow)
        self.gpu.core.host_read(one.address, now)
        found, before = (words.view(np.uint8)[: one.size] for words in (now, one.shadow))
        places = np.flatnonzero(found != before)
        view = np.ctypeslib.as_array((ctypes.c_uint8 * one.size).from_address(one.host))
        view[places] = found[places]
        one.shadow[:] = now

    def _host_words(self, one: Allocation) -> NDArray[np.uint32]:
        data = ctypes.string_at(one.host, one.size)
        return np.frombuffer(data + bytes(-len(data) % 4), np.uint32)


def _host_address(one: Allocation | None, address: int) -> int:
    """The host's view of an address, of its own memory or of what it shares."""
    return address if one is None else one.host + address - one.address


def _words(address: int, size: int) -> tuple[int, int]:
    """The first word of a range of bytes, and how many words it touches."""
    first = address // 4 * 4
    return first, -(-(address + size - first) // 4)
