"""Hand-written programs and machines for the tests of ``gpucoh._core``, independent of the kernel language."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from gpucoh import _core

ISA = _core.isa()
NONE = ISA["operand_kinds"]["NONE"]
UNIFORM = ISA["operand_kinds"]["UNIFORM"]
CONSTANT = ISA["operand_kinds"]["CONSTANT"]

#: A small machine: two cores, two partitions, one clock. Fields not named here take the smallest value allowed.
SMALL = {
    "cores": 2, "core_mhz": 1000, "l2_mhz": 1000, "noc_mhz": 1000, "dram_mhz": 1000, "warps_per_core": 8,
    "lanes_per_warp": 32, "blocks_per_core": 4, "registers_per_core": 32768, "scratchpad_bytes": 16384,
    "scratchpad_latency": 20, "issue_cycles": 1, "alu_latency": 4, "sfu_latency": 10, "division_latency": 20,
    "load_store_queue": 8, "requests_per_core": 128, "l1_bytes": 4096, "l1_ways": 4, "l1_mshrs": 16, "l1_latency": 2,
    "line_bytes": 128, "partitions": 2, "interleave_bytes": 256, "l2_bytes": 16384, "l2_ways": 8, "l2_mshrs": 16,
    "l2_round_trip": 100, "noc_latency": 2, "flit_bytes": 32, "vc_flits": 8, "dram_round_trip": 200, "dram_queue": 16,
    "dram_bytes_per_cycle": 16, "dram_banks": 4, "dram_row_bytes": 2048, "dram_burst_bytes": 64, "timestamp_bits": 32,
    "launch_latency": 100, "global_units": 1, "memory_units": 1,
}  # fmt: skip


def small_machine(**changes: int) -> dict[str, int]:
    numbers = {name: low for name, (low, _, _) in _core.machine_fields().items()}
    return {**numbers, **SMALL, **changes}


def make_gpu(**changes: Any) -> _core.GPU:
    given = {
        "machine": small_machine(), "protocol": "no-l1", "rule": None, "options": {}, "seed": 0, "budget": 10**7,
        "check": True,
    }  # fmt: skip
    return _core.GPU(**{**given, **changes})


class Assembler:
    """Collects instructions and constants; ``launch`` begins them as a launch of one buffer."""

    def __init__(self) -> None:
        self.code: list[bytes] = []
        self.constants: list[int] = []

    def constant(self, value: int) -> int:
        self.constants.append(value & 0xFFFFFFFF)
        return CONSTANT | (len(self.constants) - 1)

    def add(
        self,
        opcode: str,
        destination: int = NONE,
        a: int = NONE,
        b: int = NONE,
        c: int = NONE,
        **rest: int,
    ) -> int:
        """Adds an instruction and returns its number. Rest: type order width flags immediate target reconverge."""
        code = struct.pack(
            ISA["format"],
            ISA["opcodes"][opcode],
            rest.get("type", ISA["types"]["U32"]),
            rest.get("order", ISA["orders"]["WEAK"]),
            rest.get("scope", ISA["scopes"]["GPU"]),
            rest.get("width", 1),
            0,
            rest.get("flags", 0),
            destination,
            a,
            b,
            c,
            rest.get("immediate", 0),
            rest.get("target", 0),
            rest.get("reconverge", 0),
            len(self.code) + 1,
            0,
        )
        self.code.append(code)
        return len(self.code) - 1

    def global_id(self, register: int = 0) -> None:
        """Register = block_x * block_dim_x + thread_x; uses the next one as well."""
        specials = ISA["specials"]
        self.add("SPECIAL", register, immediate=specials["BLOCK_X"])
        self.add("SPECIAL", register + 1, immediate=specials["BLOCK_DIM_X"])
        self.add("MUL", register, register, register + 1)
        self.add("SPECIAL", register + 1, immediate=specials["THREAD_X"])
        self.add("ADD", register, register, register + 1)

    def launch(
        self,
        gpu: _core.GPU,
        address: int,
        words: int,
        *,
        blocks: int = 4,
        threads: int = 32,
        **changes: Any,
    ) -> None:
        given = {
            "kernel": "by_hand", "program": b"".join(self.code), "vector_registers": 8, "uniform_registers": 4,
            "shared_words": 0, "constants": np.array(self.constants, np.uint32),
            "buffers": [(address, words, False, "x")], "grid": (blocks, 1, 1), "block": (threads, 1, 1), "placement": 0,
        }  # fmt: skip
        gpu.launch(**{**given, **changes})


def finish(gpu: _core.GPU, events: int = 10**6) -> None:
    while not gpu.run(events):
        pass


def increment() -> Assembler:
    """x[32 + i] += 1 by thread i, and x[0] += 1 atomically by every thread: no two threads race."""
    asm = Assembler()
    asm.global_id()
    one, zero = asm.constant(1), asm.constant(0)
    asm.add("ADD", 0, 0, asm.constant(32))
    asm.add("LOAD", 2, 0)
    asm.add("ADD", 2, 2, one)
    asm.add("STORE", NONE, 0, 2)
    asm.add("FENCE", order=ISA["orders"]["SC"])
    asm.add("BARRIER", NONE, zero)
    asm.add("MOVE", 3, zero)
    asm.add(
        "ATOMIC",
        4,
        3,
        one,
        immediate=0,
        order=ISA["orders"]["RELAXED"],
        flags=ISA["atomics"]["ADD"] << ISA["flags"]["ATOMIC_SHIFT"],
    )
    asm.add("EXIT")
    return asm


def endless() -> Assembler:
    asm = Assembler()
    asm.add("NOP")
    asm.add("JUMP", target=0)
    asm.add("EXIT")
    return asm
