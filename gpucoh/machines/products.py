"""Machines of GPU products, from their published pointer chases: each number with its source.

Latencies are those of ``gpucoh/hardware/published.toml`` (file and commit there), which the presets are fitted on;
docs/hardware.md compares them with what microbenchmarks measure on the presets. Sizes, clocks and bandwidths of
memory are those of data sheets and white papers. What neither gives is inferred, and the same for all GPUs of a maker.
Pipelines have as many stages at any clock: their sources say so, since papers' machines convert such cycles.
"""

from __future__ import annotations

from typing import TypeAlias

Preset: TypeAlias = dict[str, tuple[float | str, str]]

_CHASE = "published.toml, chase"
_SHEET = "data sheet"
_HALF = "memory less half of l2_crossing, since half of its lines are in the other half"

_ANY = ", in cycles at any clock"
_GUIDE = "CUDA programming guide, compute capabilities"

_MEMORY_ORDER = "inferred: from what GPUs showed of scoped tests, docs/hardware.md"

_NVIDIA: Preset = {
    "warps_per_core": (64, "white paper of the A100"),
    "lanes_per_warp": (32, "white paper of the A100"),
    "blocks_per_core": (32, "white paper of the A100"),
    "registers_per_core": (65536, "white paper of the A100"),
    "scratchpad_kib": (164, "white paper of the A100"),
    "scratchpad_latency": (29, "inferred: 28.6 cycles measured on an H100" + _ANY),
    "issue_width": (4, "white paper of the A100: 4 schedulers an SM"),
    "issue_cycles": (1, "inferred: an instruction a cycle and scheduler"),
    "alu_latency": (4, "inferred: dependent issue since Volta" + _ANY),
    "sfu_latency": (18, "inferred: the ALU's latency plus a few cycles" + _ANY),
    "sfu_cycles": (2, "inferred: 16 special-function units an SM for 32 lanes" + _ANY),
    "line_bytes": (128, "white paper of the A100"),
    "f64_cycles": (1, _GUIDE + " 7.0, 8.0 and 9.0: at least 32 an SM and cycle"),
    "atomic_lanes": (16, "inferred: as a QV100, accel-sim/gpgpu-sim_distribution pull request 33"),
    "atomic_cycles": (1, "inferred: an operation a slice and cycle"),
    "sector_bytes": (32, "white paper of the A100: sectors of 32 bytes"),
    "l2_byte_masks": (1, "inferred: a store that misses fetches nothing"),
    "scheduler": ("loose_round_robin", "inferred: as fermi"),
    "block_start_cycles": (
        291,
        "inferred: published.toml, stream, mean of a40 and a100, docs/hardware.md" + _ANY,
    ),
}

_AMD: Preset = {
    "warps_per_core": (32, "inferred: 4 SIMDs of 8 wavefronts"),
    "lanes_per_warp": (64, "white paper of CDNA 2"),
    "blocks_per_core": (16, "inferred: as gcn3"),
    "registers_per_core": (
        65536,
        "inferred: as gcn3; a CU's 512 KiB without the half of the matrix units",
    ),
    "scratchpad_kib": (64, "white paper of CDNA 2"),
    "scratchpad_latency": (64, "inferred: about half of the L1's" + _ANY),
    "issue_width": (4, "white paper of CDNA 2: 4 SIMDs a CU"),
    "issue_cycles": (4, "white paper of CDNA 2: 64 lanes on 16" + _ANY),
    "alu_latency": (4, "inferred: as gcn3" + _ANY),
    "sfu_latency": (16, "inferred: as gcn3" + _ANY),
    "sfu_cycles": (16, "inferred: as gcn3" + _ANY),
    "line_bytes": (128, "white paper of CDNA 3; of CDNA 2 for the L2"),
    "f64_cycles": (1, "white paper of CDNA 2: 64 a CU and cycle"),
    "scheduler": ("greedy_then_oldest", "inferred: as gcn3"),
    "block_start_cycles": (0, "inferred: calibrated on GPUs of NVIDIA alone, docs/hardware.md"),
}
# SMs of the GPUs for graphics: fewer warps, less scratchpad, and slow doubles.
_GRAPHICS: Preset = {
    "warps_per_core": (48, _GUIDE + " 8.6 and 8.9"),
    "scratchpad_kib": (100, _GUIDE + " 8.6 and 8.9"),
    "f64_cycles": (16, _GUIDE + " 8.6 and 8.9: 2 an SM and cycle" + _ANY),
}
_SLICES = "; inferred: as many slices of 64 bytes a clock as published.toml, bandwidth, l2, is near"
_WIDE: Preset = {"l2_ports": (2, "white paper of CDNA 2: 128 bytes a clock and channel")}


def _clocks(core_mhz: int, where: str) -> Preset:
    return {
        "core_mhz": (core_mhz, where),
        "l2_mhz": (core_mhz, "inferred: the cores' clock, in whose cycles latencies are given"),
        "noc_mhz": (2 * core_mhz, "inferred: two flits of a sector in a cycle of the cores"),
    }


def _l1(kib: int, ways: int, latency: int, width: int, where: str) -> Preset:
    return {
        "l1_kib": (kib, where),
        "l1_bytes_per_cycle": (width, "published.toml, bandwidth, l1: 128 or 64 a cycle"),
        "l1_ways": (ways, "inferred: at most 256 sets"),
        "l1_latency": (latency, _CHASE + ", l1"),
        "l1_mshrs": (512, "inferred: large enough that warps limit first"),
    }


def _l2(
    partitions: int, kib: int, ways: int, latency: int, where: str, crossing: int = 0
) -> Preset:
    halves = f"{_CHASE}, l2_far less l2" if crossing else "not used: the chase shows one L2"
    return {
        "partitions": (partitions, where),
        "l2_kib": (kib, where),
        "l2_ways": (ways, "inferred"),
        "l2_round_trip": (latency, f"{_CHASE}, l2"),
        "l2_crossing": (crossing, halves),
        "l2_mshrs": (512, "inferred: large enough that warps limit first"),
        "l2_ports": (1, "inferred: a partition gives 64 bytes a clock, white paper of the A100"),
    }


def _memory(latency: int, mhz: int, width: int, where: str, how: str = "memory") -> Preset:
    return {
        "dram_model": ("fixed", "inferred: only latency and bandwidth are published"),
        "dram_round_trip": (latency, f"{_CHASE}, {how}"),
        "dram_mhz": (mhz, f"inferred: with dram_bytes_per_cycle, {where}"),
        "dram_bytes_per_cycle": (width, f"inferred: with dram_mhz, {where}"),
        "dram_queue": (128, "inferred: covers the latency at full bandwidth"),
    }


def _kept(name: str, source: str) -> str:
    """The source of a number that is fermi's."""
    if "not used" in source:
        return source
    if name.startswith("dram_t_"):
        return "not used: dram_model is fixed; fermi's number of cycles"
    return "inferred: as fermi" + (_ANY if name.startswith("division_") else "")


def products(fermi: Preset) -> dict[str, Preset]:
    """The presets, over the machine ``fermi`` for all that they do not name."""
    common: Preset = {name: (value, _kept(name, source)) for name, (value, source) in fermi.items()}
    common |= {
        "interleave_bytes": (256, "inferred: as fermi"),
        "noc_latency": (48, "inferred: 24 core cycles of the L2's latency, each way" + _ANY),
        "flit_bytes": (
            34,
            "inferred: a sector of 32 bytes and its part of the header, so that a line takes 4",
        ),
        "vc_flits": (64, "inferred: covers the latency at full bandwidth"),
        "load_store_queue": (16, "inferred"),
        **dict.fromkeys(
            ("relaxed_unordered", "block_fences_free", "word_order", "fence_drains"),
            (1, _MEMORY_ORDER),
        ),
        "fence_trip": (
            1,
            "inferred: from the barriers of A40, A100, H200 and MI210, docs/hardware.md",
        ),
    }
    nvidia, amd = common | _NVIDIA, common | _AMD
    h100 = (
        nvidia
        | {"cores": (132, _SHEET)}
        | _clocks(1980, _SHEET)
        | _l1(256, 8, 32, 128, "white paper of the H100: with the scratchpad")
        | _l2(96, 640, 20, 280, _SHEET + ": 60 MiB; inferred: 96 slices of 640 KiB", 230)
        | _memory(507, 2620, 16, _SHEET + ": 4.0 TB/s", _HALF)
        | {"scratchpad_kib": (228, "white paper of the H100")}
    )
    found = {
        "a40": nvidia
        | _GRAPHICS
        | {"cores": (84, _SHEET), "blocks_per_core": (16, _GUIDE + " 8.6")}
        | _clocks(1740, _CHASE + ": the clock in the file")
        | _l1(128, 4, 33, 64, "white paper of GA102: with the scratchpad")
        | _l2(24, 256, 16, 250, _SHEET + ": 6 MiB" + _SLICES)
        | _memory(547, 1810, 16, _SHEET + ": 696 GB/s"),
        "l40": nvidia
        | _GRAPHICS
        | {"cores": (142, _SHEET), "blocks_per_core": (24, _GUIDE + " 8.9")}
        | _clocks(2490, _CHASE + ": the clock in the file")
        | _l1(128, 4, 34, 64, "white paper of AD102: with the scratchpad")
        | _l2(36, 2720, 20, 274, _SHEET + ": 96 MiB" + _SLICES)
        | _memory(623, 1500, 16, _SHEET + ": 864 GB/s"),
        "a100": nvidia
        | {"cores": (108, _SHEET)}
        | _clocks(1410, _SHEET)
        | _l1(192, 6, 33, 128, "white paper of the A100: with the scratchpad")
        | _l2(80, 512, 16, 206, "white paper of the A100: 40 MiB in 80 slices", 207)
        | _memory(443, 1590, 16, _SHEET + ": 2039 GB/s", _HALF),
        "h100": h100,
        "h200": h100 | _memory(507, 3120, 16, _SHEET + ": 4.8 TB/s", _HALF),
        "mi210": amd
        | {"cores": (104, _SHEET)}
        | _clocks(1700, _SHEET)
        | _l1(16, 64, 128, 64, "white paper of CDNA 2")
        | _l2(32, 256, 16, 252, "white paper of CDNA 2: 8 MiB in 32 slices")
        | _WIDE
        | _memory(588, 1600, 32, _SHEET + ": 1638 GB/s"),
        "v100": nvidia
        | {"cores": (80, _SHEET), "scratchpad_kib": (96, _SHEET)}
        | _clocks(1380, _CHASE + ": the clock in the file")
        | _l1(128, 4, 28, 128, _SHEET + ": with the scratchpad")
        | _l2(32, 192, 12, 212, _SHEET + ": 6 MiB; inferred: 32 partitions")
        | _memory(426, 880, 32, _SHEET + ": 900 GB/s"),
        "mi300x": amd
        | {"cores": (38, "white paper of CDNA 3: one of 8 XCDs, each with an L2 of its own")}
        | _clocks(2092, _CHASE + ": the clock in the file")
        | _l1(32, 64, 120, 64, "white paper of CDNA 3")
        | _l2(16, 256, 16, 212, "white paper of CDNA 3: 4 MiB in 16 channels, of one XCD")
        | _WIDE
        | _memory(
            457, 1046, 40, _SHEET + ": an eighth of 5.3 TB/s", "memory_side: sets up to 256 MiB"
        ),
        "rx6900xt": amd
        | {
            "cores": (80, _SHEET),
            "lanes_per_warp": (32, "white paper of RDNA"),
            "issue_width": (2, "white paper of RDNA: 2 SIMDs a CU"),
            "issue_cycles": (1, "white paper of RDNA: 32 lanes on 32"),
            "f64_cycles": (8, "inferred: a sixteenth of the rate of f32, 4 a CU and cycle"),
        }
        | _clocks(2560, _CHASE + ": the clock in the file")
        | _l1(16, 4, 73, 64, "white paper of RDNA: the L0; no field has the L1 that CUs share")
        | _l2(16, 256, 16, 221, "white paper of RDNA 2: 4 MiB in 16 slices")
        | _memory(424, 1000, 32, _SHEET + ": 512 GB/s", "memory_side: sets up to 128 MiB"),
    }
    return {name: _named(name, preset) for name, preset in found.items()}


def _named(name: str, preset: Preset) -> Preset:
    """The same with the GPU whose chase a latency is from."""
    chase = f"published.toml, {name}.chase"
    return {field: (value, text.replace(_CHASE, chase)) for field, (value, text) in preset.items()}


PRODUCT_DESCRIPTIONS = {
    "a40": "84 SMs of an NVIDIA A40, latencies from its published pointer chase",
    "l40": "142 SMs of an NVIDIA L40, latencies from its published pointer chase",
    "a100": "108 SMs of an NVIDIA A100 80 GB, latencies from its published pointer chase",
    "h100": "132 SMs of an NVIDIA H100 in a GH200, latencies from its published pointer chase",
    "h200": "h100 with the memory of an H200",
    "mi210": "104 CUs of an AMD MI210, latencies from its published pointer chase",
    "v100": "80 SMs of an NVIDIA V100, latencies from its published pointer chase",
    "mi300x": "38 CUs, one XCD, of an AMD MI300X, latencies from its published pointer chase",
    "rx6900xt": "80 CUs of an AMD RX 6900 XT, latencies from its published pointer chase",
}
