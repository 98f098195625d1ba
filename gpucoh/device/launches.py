"""Launches: their extents and buffers, their occupancy, and the places of their errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gpucoh.base.errors import ConfigError, Error, KernelError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural
from gpucoh.device.arrays import Array
from gpucoh.lang.launchable import Launchable
from gpucoh.lang.program import Program
from gpucoh.machines import Machine

_LARGEST_EXTENT = 2**31 - 1

#: Of a thread on a GPU, at most.
MOST_REGISTERS = 255

Extent: TypeAlias = int | Sequence[int]


def how_to_launch(
    kernel: Launchable, others: Sequence[Any], grid: Extent | None, block: Extent | None
) -> str:
    """The message for a launch without grid and block by name; it quotes those that are given."""
    given = iter(others)
    grid = next(given, 32) if grid is None else grid
    block = next(given, 128) if block is None else block
    return (
        "grid, block and args of a launch are given by name: "
        f"gpu.launch({kernel.name}, grid={quoted(grid)}, block={quoted(block)}, args=(...))"
    )


def slots_of(
    gpu: object, program: Program, given: Sequence[Any]
) -> list[tuple[int, int, bool, str, int]]:
    """The buffers in the form that the core takes, checked against the kernel's signature."""
    wanted = {parameter.name: parameter for parameter in program.parameters}
    slots = []
    for name, array in zip(program.buffers, given, strict=True):
        parameter = wanted[name]
        try:
            _check_array(gpu, array, parameter.type.numpy)
        except ConfigError as error:
            where = f"argument {quoted(name)} of kernel {quoted(program.name)}"
            raise ConfigError(f"{where}{error}") from None
        called = array.name or name
        slots.append(_slot(array, parameter.readonly, called))
    if any(parameter.readonly for parameter in program.parameters):
        _check_aliases(program.name, slots)
    return slots


def _check_array(gpu: object, array: Any, meant: np.dtype[Any]) -> None:
    """Check an argument; the message continues its name."""
    if not isinstance(array, Array):
        raise ConfigError(
            f" must be an array of this GPU, got {type(array).__name__}; make one with gpu.array(...)"
        )
    if array.gpu is not gpu:
        raise ConfigError(" is an array of another GPU")
    try:
        array.check()
    except ConfigError as error:
        raise ConfigError(f": {error}") from None
    if array.dtype != meant:
        raise ConfigError(
            f" must be an array of {meant.name}, got one of {array.dtype.name}: "
            f"gpu.array(data, dtype=np.{meant.name}) converts"
        )


def _slot(array: Array, readonly: bool, name: str) -> tuple[int, int, bool, str, int]:
    """A buffer of the core; one of elements of 64 bits has twice as many words."""
    bytes = min(array.dtype.itemsize, 4)
    return array.address, array.nbytes // bytes, readonly, name, bytes


def arrays_behind(
    arrays: Iterable[Array], slots: Sequence[tuple[int, int, bool, str, int]]
) -> list[tuple[int, int, bool, str, int]]:
    """The other arrays, which accesses by address may reach, as further buffers; messages name them."""
    given = {address for address, *_ in slots}
    others = {array.address: array for array in list(arrays) if not array._freed}
    return [
        _slot(array, False, array.name or f"array at {address:#x}")
        for address, array in sorted(others.items())
        if address not in given
    ]


def _check_aliases(kernel: str, slots: Sequence[tuple[int, int, bool, str, int]]) -> None:
    """Check that no array is both a read-only and a writable argument: a protocol may keep stale read-only copies."""
    readonly = {address: name for address, _, is_readonly, name, _ in slots if is_readonly}
    for address, _, is_readonly, name, _ in slots:
        if not is_readonly and address in readonly:
            raise ConfigError(
                f"arguments {quoted(readonly[address])} and {quoted(name)} of kernel {quoted(kernel)} are one array, "
                f"but {quoted(readonly[address])} is declared readonly and {quoted(name)} is not"
            )


def spilled_registers(machine: Machine, program: Program, threads: int) -> int:
    """Registers of a thread that CUDA's assembler would keep in memory, for blocks of this many threads."""
    if not program.spilled_for or not machine.warps_per_core:
        return 0
    warps = -(-threads // machine.lanes_per_warp)
    together = min(program.spilled_for * warps, machine.warps_per_core)
    room = machine.registers_per_core // (together * machine.lanes_per_warp)
    return max(program.vector_registers - min(max(room, 1), MOST_REGISTERS), 0)


def occupancy(machine: Machine, program: Program, threads: int) -> dict[str, Any]:
    """The number of blocks of a kernel that fit on a core, and the limiting resource.

    Parameters
    ----------
    machine : Machine
    program : Program
        The compiled kernel.
    threads : int
        Threads per block.

    Returns
    -------
    dict
        ``blocks``, ``warps`` (resident per core), ``limit`` (the limiting resource), ``registers`` (per thread, those
        that are not spilled),
        ``scratchpad_bytes`` (per block), ``instructions`` (of the program).
    """
    warps = -(-threads // machine.lanes_per_warp)
    limits = {
        "blocks_per_core": machine.blocks_per_core,
        "warps_per_core": machine.warps_per_core // warps,
    }
    registers = program.vector_registers - spilled_registers(machine, program, threads)
    a_warp = registers * machine.lanes_per_warp + program.uniform_registers
    if a_warp:
        limits["registers_per_core"] = machine.registers_per_core // (warps * a_warp)
    scratchpad = 4 * (program.shared_words - program.barrier_words)
    if scratchpad:
        limits["scratchpad_kib"] = int(machine.scratchpad_kib * 1024) // scratchpad
    limit = min(limits, key=lambda name: limits[name])
    return {
        "blocks": limits[limit],
        "warps": limits[limit] * warps,
        "limit": limit,
        "registers": registers,
        "scratchpad_bytes": scratchpad,
        "instructions": program.instructions,
    }


def check_resident(
    machine: Machine,
    program: Program,
    grid: tuple[int, int, int],
    fit: Mapping[str, Any],
    shares: int = 1,
) -> None:
    """Check that all blocks of the grid are resident together, which a barrier of the grid needs, on one of ``shares``
    equal parts of the machine.

    Raises
    ------
    ConfigError
        If they are not.
    """
    cores = machine.cores // shares
    blocks, most = math.prod(grid), fit["blocks"] * cores
    if blocks > most:
        raise ConfigError(
            f"grid has {blocks} blocks, and kernel {quoted(program.name)} has a barrier of the grid, for which all "
            f"must be resident together (allowed: up to {most}: {fit['blocks']} on each of {cores} cores, "
            f"limited by {fit['limit']})"
        )


def check_lanes(machine: Machine, program: Program) -> None:
    """Check that warps have the lanes that the program assumes.

    Raises
    ------
    ConfigError
        If they have not.
    """
    if program.lanes_needed not in (0, machine.lanes_per_warp):
        raise ConfigError(
            f"kernel {quoted(program.name)} needs warps of {program.lanes_needed} lanes, and machine "
            f"{quoted(machine.name)} has {machine.lanes_per_warp}"
        )


def extent(name: str, value: Any) -> tuple[int, int, int]:
    """The grid or block of a launch in three dimensions."""
    items = value if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(items) <= 3:
        raise ConfigError(
            f"{name} {quoted(value)} is not a number or a sequence of one to three numbers"
        )
    out = [natural(name, item, _LARGEST_EXTENT, smallest=1) for item in items]
    out += [1] * (3 - len(out))
    return out[0], out[1], out[2]


def located(error: Error, program: Program) -> Error:
    """A kernel's error with its file and line in front; other errors as they are."""
    if not isinstance(error, KernelError):
        return error
    filename, line = program.locate(*(error.place or (0, 1)))
    return KernelError(f"{filename}:{line}: {error}", filename, line)
