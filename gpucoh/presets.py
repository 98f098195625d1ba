"""The machines of the papers: each number with where it comes from.

A source names the paper and table that gives the number, or says ``inferred`` and why. Papers: TC is Singh et al.,
"Cache Coherence for GPU Architectures", HPCA 2013; RCC is Ren and Lis, "Efficient Sequential Consistency in GPUs via
Relativistic Cache Coherence", HPCA 2017.
"""

from __future__ import annotations

from typing import TypeAlias

Preset: TypeAlias = dict[str, tuple[float | str, str]]

DESCRIPTIONS: dict[str, str] = {
    "fermi": "16 SMs like an NVIDIA GTX 480, 8 memory partitions behind two crossbars (TC, RCC)",
}

_TC = "TC table 4"
_RCC = "RCC table III"
_BOTH = "TC table 4, RCC table III"

FERMI: Preset = {
    "cores": (16, _BOTH),
    "core_mhz": (1400, _RCC + " (same configuration as TC)"),
    "warps_per_core": (48, _RCC + "; TC 6.3: one GWCT entry a warp, 48"),
    "lanes_per_warp": (32, _RCC + "; TC 3.1"),
    "blocks_per_core": (
        8,
        "inferred: the limit of NVIDIA's compute capability 2.0; the papers are silent",
    ),
    "registers_per_core": (32768, _RCC),
    "scratchpad_kib": (48, _RCC),
    "scratchpad_latency": (24, "inferred: order of a Fermi SM's; the papers are silent"),
    "scratchpad_banks": (0, "inferred: flat latency, no bank conflicts"),
    "scheduler": ("loose_round_robin", _RCC),
    "issue_width": (1, "inferred: one warp instruction a cycle, as GPGPU-Sim 3 with 32 SIMD lanes"),
    "issue_cycles": (1, "32 lanes over 32 SIMD lanes, " + _RCC),
    "alu_latency": (18, "inferred: order of a Fermi SM's dependent-issue latency"),
    "sfu_latency": (22, "inferred: the ALU's latency and a few cycles more"),
    "sfu_cycles": (8, "inferred: 4 special-function units for 32 lanes, as Fermi"),
    "division_latency": (40, "inferred: division is a sequence of about ten instructions on Fermi"),
    "division_cycles": (8, "inferred: as the special-function unit that gives the reciprocal"),
    "launch_latency": (
        0,
        "inferred: the papers measure kernels, not launches; kernel times start at the first block",
    ),
    "load_store_queue": (
        8,
        "inferred: as GPGPU-Sim 3's memory-pipeline input; the papers are silent",
    ),
    "requests_per_core": (
        1024,
        "inferred: never the limit before the MSHRs (128 entries) and warps (48)",
    ),
    "l1_kib": (32, _BOTH),
    "l1_ways": (4, _BOTH),
    "l1_mshrs": (128, _BOTH),
    "l1_latency": (
        30,
        "inferred: hit, load to use, order of a Fermi SM's; the papers give round trips beyond it only",
    ),
    "line_bytes": (128, _BOTH),
    "partitions": (8, _BOTH),
    "interleave_bytes": (
        256,
        "inferred: GPGPU-Sim's choice for this machine; the papers are silent",
    ),
    "l2_kib": (128, _BOTH + " (a partition; 1 MiB in all)"),
    "l2_ways": (8, _BOTH),
    "l2_mshrs": (128, _BOTH),
    "l2_mhz": (700, _TC),
    "l2_round_trip": (340, "TC section 7; " + _BOTH),
    "topology": ("crossbar", "TC section 7: two one-way crossbars, cores to partitions only"),
    "mesh_width": (1, "not used by a crossbar"),
    "noc_mhz": (700, _BOTH),
    "noc_latency": (
        4,
        "inferred: cycles through one crossbar beside serialisation; part of the 340 either way",
    ),
    "flit_bytes": (
        32,
        "TC section 7, table 4 (RCC prints 32-bit, which does not give its 175 GB/s)",
    ),
    "vc_flits": (8, _BOTH),
    "dram_model": (
        "fixed",
        "inferred: fixed latency and a finite queue; banks and rows are described below",
    ),
    "dram_mhz": (1400, _BOTH),
    "dram_round_trip": (460, "TC section 7; " + _BOTH),
    "dram_queue": (32, _TC),
    "dram_bytes_per_cycle": (
        16,
        _TC + ": 8 bytes on both edges; 8 channels give 179 GB/s, printed 175",
    ),
    "dram_banks": (16, "inferred: GDDR5 has 16 banks a device"),
    "dram_row_bytes": (2048, "inferred: GDDR5's page of one channel"),
    "dram_burst_bytes": (32, "inferred: tCCD = 2 cycles of 16 bytes"),
    "dram_t_cl": (12, _BOTH),
    "dram_t_rp": (12, _BOTH),
    "dram_t_rc": (40, _BOTH),
    "dram_t_ras": (28, _BOTH),
    "dram_t_ccd": (2, _BOTH),
    "dram_t_wl": (4, _BOTH),
    "dram_t_rcd": (12, _BOTH),
    "dram_t_rrd": (6, _BOTH),
    "dram_t_cdlr": (5, _BOTH),
    "dram_t_wr": (12, _BOTH),
    "dram_t_ccdl": (3, _BOTH),
    "dram_t_rtpl": (2, _TC + " (RCC prints it as a second tWR)"),
    "timestamp_bits": (32, _BOTH),
}

PRESETS: dict[str, Preset] = {"fermi": FERMI}
