"""CUDA's runtime for whole programs: what the functions of runtime.def request of the simulator."""

from __future__ import annotations

import ctypes
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from gpucoh.base.errors import ConfigError, Error, Note
from gpucoh.cuda.cut import Cut
from gpucoh.cuda.devices import Devices
from gpucoh.cuda.memory import Allocation, Memory, OutOfBounds
from gpucoh.cuda.module import Module, RawKernel
from gpucoh.device.kernels import Extents
from gpucoh.device.launches import check_resident, occupancy
from gpucoh.ptx.heap import HEAP_BYTES

__all__ = ["Runtime"]

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONFIGURATION = 0, 1, 2, 9
INVALID_FUNCTION, ALREADY_REGISTERED, NOT_REGISTERED, TOO_LARGE = 98, 712, 713, 720
_MAX_BLOCK_Z, _MAX_GRID_X, _MAX_GRID_Y = 64, 2**31 - 1, 65535

_V, _U64, _I, _S = None, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p
_WORDS = ctypes.POINTER(ctypes.c_uint)
_POINTERS = ctypes.POINTER(ctypes.c_void_p)
#: Result and parameters of each member of host_t in runtime.c, in order.
_HOST: dict[str, tuple[Any, ...]] = {
    "function": (_V, _U64, _U64, _S),
    "variable": (_V, _U64, _U64, _S, _U64),
    "managed": (_U64, _U64, _S, _U64),
    "symbol": (_U64, _U64, _I),
    "symbol_bytes": (_U64, _U64),
    "allocate": (_U64, _U64, _I, _I),
    "release": (_I, _U64),
    "is_shared": (_I, _U64),
    "device_of": (_I, _U64),
    "allocated": (_U64, _I),
    "copy": (_I, _U64, _U64, _U64, _I),
    "fill": (_I, _U64, _I, _U64, _I),
    "launch": (_I, _U64, _WORDS, _WORDS, _POINTERS, _U64, _I, _I, _U64),
    "occupancy": (_I, _U64, _I, _U64),
    "settle": (_V, _I),
    "record": (_U64, _I, _U64),
    "after": (_V, _U64, _U64),
    "settle_recorded": (_V, _U64),
    "milliseconds": (ctypes.c_double, _U64),
    "property": (ctypes.c_int64, _S),
    "missing": (_V, _S),
    "unknown_attribute": (_V, _I),
    "end": (_V, _I),
    "enlist": (_I, _U64, _U64),
    "delist": (_I, _U64),
    "device_address": (_U64, _U64),
    "heap": (_U64,),
    "resize_heap": (_I, _U64),
}


class Runtime:
    """The device of one program.

    Parameters
    ----------
    gpu : gpucoh.GPU
    modules : list of Module
        Of the program's files with code for the device, in the order in which they were linked.
    library : ctypes.CDLL
        The compiled runtime.c.
    launched : callable
        Called after each launch with the kernel's name, grid and block, and its number.
    fail : callable
        Called with an error that ends the program, and its kind; it does not return.
    end : callable
        Called with the exit status of a program that ends at once; it does not return.
    cut : Cut
        Which launches are simulated with time.

    Attributes
    ----------
    lock : threading.RLock
        Of the calls: those of the program's threads wait for each other.
    """

    def __init__(
        self,
        gpu: Any,
        modules: list[Module],
        library: ctypes.CDLL,
        launched: Callable[[str, Extents, Extents, int], None],
        fail: Callable[[str, str], NoReturn],
        end: Callable[[int], NoReturn],
        cut: Cut,
    ) -> None:
        self.gpu = gpu
        self.lock = threading.RLock()
        self.memory = Memory(gpu)
        self.devices = Devices(gpu, self.memory, launched, self.lock, cut)
        self._modules = modules
        self._fail, self.end = fail, end
        self.settle, self.record, self.after = (
            self.devices.settle,
            self.devices.record,
            self.devices.after,
        )
        self.settle_recorded, self.milliseconds = (
            self.devices.settle_recorded,
            self.devices.milliseconds,
        )
        self._kernels: dict[int, RawKernel] = {}
        self._variables: dict[int, tuple[int, str, int]] = {}  # file, name, bytes
        self._symbols: dict[tuple[int, str, int | None], Allocation] = {}
        self._allocated = 0
        self._heap_bytes = HEAP_BYTES
        self._callbacks = [
            ctypes.CFUNCTYPE(*types)(self._ending(getattr(self, name)))
            for name, types in _HOST.items()
        ]
        table = (ctypes.c_void_p * len(self._callbacks))(
            *(ctypes.cast(callback, ctypes.c_void_p) for callback in self._callbacks)
        )
        library.gpucoh_runtime(table)

    def _ending(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method; an exception ends the program, where ctypes would print it and go on."""

        def call(*arguments: Any) -> Any:
            with self.lock:
                self.devices.note_thread()
                try:
                    return method(*arguments)
                except Error as error:
                    self._fail(str(error), type(error).__name__)
                except Exception as error:
                    at = traceback.extract_tb(error.__traceback__)[-1]
                    where = f"{Path(at.filename).name}:{at.lineno}"
                    kind = type(error).__name__
                    self._fail(f"a fault of gpucoh at {where}: {kind}: {error}", "SimulationError")

        return call

    def wait_for_all(self) -> None:
        """Run the kernels that wait at the program's end."""
        self._ending(self.settle)(None)

    # ---- what the compiler registers

    def function(self, file: int, function: int, name: bytes) -> None:
        """A kernel of a file, and its function of the host."""
        self._kernels[function] = RawKernel(self._modules[file - 1], name.decode())

    def variable(self, file: int, variable: int, name: bytes, size: int) -> None:
        """A variable of the device and its variable of the host."""
        self._variables[variable] = file, name.decode(), size

    def managed(self, file: int, name: bytes, size: int) -> int:
        """The address of a ``__managed__`` variable, for host and device."""
        address = self._symbol(file, name.decode(), None, size).address
        self.variable(file, address, name, size)  # the host names it by its content's address
        return address

    def symbol(self, variable: int, device: int) -> int:
        """The address of a variable on a device."""
        if variable not in self._variables:
            return 0
        file, name, _ = self._variables[variable]
        if (file, name, None) in self._symbols:  # of all devices
            return self._symbol(file, name, None).address
        return self._symbol(file, name, self.devices.number(device)).address

    def _symbol(
        self, file: int, name: str, device: int | None, shared_bytes: int = 0
    ) -> Allocation:
        """A module's variable; with ``shared_bytes`` one of that size that the host sees at the same address."""
        if (file, name, device) not in self._symbols:
            module = self._modules[file - 1]
            array = (
                module.share_global(self.gpu, name, self.devices.count)
                if shared_bytes
                else module.get_global(self.gpu, name, device=device)
            )
            one = Allocation(array, shared_bytes or array.nbytes, device=device)
            self.memory.add(one, is_shared=shared_bytes > 0)
            self._symbols[file, name, device] = one
        return self._symbols[file, name, device]

    def symbol_bytes(self, variable: int) -> int:
        """The size of a variable; 0: there is none."""
        return self._variables.get(variable, (0, "", 0))[2]

    def heap(self) -> int:
        """Bytes of the heap from which kernels allocate."""
        return self._heap_bytes

    def resize_heap(self, size: int) -> int:
        """Give the heap another size, before the first launch of a kernel that allocates."""
        self.settle(None)
        if not all(module.resize_heap(self.gpu, size) for module in self._modules):
            return INVALID_VALUE
        self._heap_bytes = size
        return SUCCESS

    # ---- memory

    def allocate(self, size: int, kind: int, device: int) -> int:
        """New memory of the device, or shared with the host; 0: there is none left."""
        self._allocated += 1
        name, shared = f"allocation {self._allocated}", kind == 1
        place = None if shared else self.devices.number(device)
        try:
            return self.memory.allocate(size, shared, name, place).address
        except (ConfigError, MemoryError):
            return 0

    def release(self, address: int) -> int:
        """Free an allocation."""
        self.settle(None)
        return SUCCESS if self.memory.release(address) else INVALID_VALUE

    def is_shared(self, address: int) -> int:
        """1: memory that host and device share; 0: of the device; -1: of the host."""
        one = self.memory.find(address)
        return -1 if one is None else int(one.shadow is not None)

    def enlist(self, address: int, size: int) -> int:
        """Register memory of the host."""
        try:
            return SUCCESS if self.memory.enlist(address, size) else ALREADY_REGISTERED
        except ConfigError:
            return OUT_OF_MEMORY

    def delist(self, address: int) -> int:
        """Register memory of the host no longer."""
        self.settle(None)
        return SUCCESS if self.memory.delist(address) else NOT_REGISTERED

    def device_address(self, address: int) -> int:
        """The address for kernels of memory of the host; 0: there is none."""
        return self.memory.device_address(address)

    def device_of(self, address: int) -> int:
        """The device of an allocation; -1: it is of none."""
        one = self.memory.find(address)
        return -1 if one is None or one.shadow is not None else one.device or 0

    def allocated(self, device: int) -> int:
        """Bytes of the device in use."""
        return self.memory.in_use(self.devices.number(device))

    def _settle_for(self, device: int, *addresses: int) -> None:
        """Run the kernels that wait, if a copy of the device at these addresses may touch what they do."""
        self.settle(device)
        for one in map(self.memory.find, addresses):
            if one is not None:
                self.settle(one.device)

    def copy(self, to: int, source: int, size: int, device: int) -> int:
        """Copy between any two addresses."""
        self._settle_for(device, to, source)
        return self._in_bounds("cudaMemcpy", lambda: self.memory.copy(to, source, size))

    def fill(self, address: int, value: int, size: int, device: int) -> int:
        """Set bytes."""
        self._settle_for(device, address)
        return self._in_bounds("cudaMemset", lambda: self.memory.fill(address, value, size))

    def _in_bounds(self, what: str, act: Callable[[], None]) -> int:
        try:
            act()
        except OutOfBounds as error:
            self._fail(f"{what}: {error}", "ProgramError")
        return SUCCESS

    # ---- launches

    def launch(
        self,
        function: int,
        grid: Any,
        block: Any,
        arguments: Any,
        shared: int,
        cooperative: int,
        device: int,
        stream: int,
    ) -> int:
        """Launch a kernel on a device."""
        kernel = self._kernels.get(function)
        if kernel is None:
            return INVALID_FUNCTION
        extents = tuple(grid[:3]), tuple(block[:3])
        if refusal := self._refusal(kernel, *extents, shared):
            warnings.warn(f"{kernel.name}: not launched, {refusal}", Note, stacklevel=2)
            return INVALID_CONFIGURATION
        parameters = kernel.module.parameters(kernel.symbol)
        values = [ctypes.string_at(arguments[k], one.size) for k, one in enumerate(parameters)]
        if cooperative and not self._fits(kernel, *extents, shared):
            return TOO_LARGE
        self.devices.launch(kernel, device, stream, *extents, args=values, shared=shared or None)
        return SUCCESS

    def _refusal(self, kernel: RawKernel, grid: Any, block: Any, shared: int) -> str:
        """Why a GPU would not launch these extents, and give the program an error; empty: it would."""
        most = self.property(b"maxThreadsPerBlock")
        threads = block[0] * block[1] * block[2]
        if 0 in grid or 0 in block:
            return f"grid {grid} or block {block} has an extent of 0"
        if block[2] > _MAX_BLOCK_Z or max(grid[1:]) > _MAX_GRID_Y or grid[0] > _MAX_GRID_X:
            return (
                f"grid {grid} or block {block} (allowed: up to {_MAX_GRID_X} blocks in x, {_MAX_GRID_Y} in y and z, "
                f"{_MAX_BLOCK_Z} threads in z)"
            )
        if threads > most:
            return f"block {block} has {threads} threads (allowed: up to {most})"
        program = kernel.program(self.gpu.machine.lanes_per_warp, shared)
        words = program.shared_words - program.barrier_words
        room = self.property(b"sharedMemPerBlock")
        return (
            f"{4 * words} bytes of shared memory (allowed: up to {room})"
            if 4 * words > room
            else ""
        )

    def _fits(self, kernel: RawKernel, grid: Any, block: Any, shared: int) -> bool:
        program = kernel.program(self.gpu.machine.lanes_per_warp, shared)
        threads = block[0] * block[1] * block[2]
        try:
            fit = occupancy(self.gpu.machine, program, threads)
            check_resident(self.gpu.machine, program, grid, fit, self.devices.count)
        except ConfigError:
            return False
        return True

    def occupancy(self, function: int, threads: int, shared: int) -> int:
        """Blocks of a kernel that fit on a core."""
        program = self._kernels[function].program(self.gpu.machine.lanes_per_warp, shared)
        return int(occupancy(self.gpu.machine, program, threads)["blocks"])

    def property(self, name: bytes) -> int:
        """A property of the device, by its name in cudaDeviceProp."""
        machine = self.gpu.machine
        threads = machine.warps_per_core * machine.lanes_per_warp
        known = {
            "gpus": machine.gpus,
            "multiProcessorCount": machine.cores // machine.gpus,
            "warpSize": machine.lanes_per_warp,
            "maxThreadsPerBlock": min(1024, threads),
            "maxThreadsPerMultiProcessor": threads,
            "maxBlocksPerMultiProcessor": machine.blocks_per_core,
            "sharedMemPerBlock": int(machine.scratchpad_kib * 1024),
            "regsPerBlock": machine.registers_per_core,
            "l2CacheSize": int(machine.l2_kib * 1024),
            "clockRate": int(machine.core_mhz * 1000),
            "major": 7,
            "minor": 5,
            "memoryClockRate": int(machine.dram_mhz * 1000),
            "maxBlockDimZ": _MAX_BLOCK_Z,
            "maxGridDimX": _MAX_GRID_X,
            "maxGridDimY": _MAX_GRID_Y,
            "totalConstMem": 65536,
            "maxPitch": 2**31 - 1,
            "one": 1,
            "zero": 0,
        }
        return int(known[name.decode()])

    def missing(self, name: bytes) -> None:
        """A call of a function that is not in runtime.def."""
        self._fail(
            f"the program calls {name.decode()}, which gpucoh's CUDA runtime does not have",
            "ProgramError",
        )

    def unknown_attribute(self, number: int) -> None:
        """A query of an attribute that the machine does not have."""
        text = f"cudaDeviceGetAttribute: attribute {number} is not known, cudaErrorInvalidValue"
        warnings.warn(text, Note, stacklevel=2)
