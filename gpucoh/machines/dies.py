"""Machines of several dies and GPUs: each number with its source.

LRM-GPU is the HPCA 2026 paper of that name, HMG is Ren et al., "HMG: Extending Cache Coherence Protocols Across Modern
Hierarchical Multi-GPU Systems", HPCA 2020, by a public note on it, and CPElide is Dalmia et al., MICRO 2024, by the
scripts of its artifact (hal-uw/cpelide-micro24-artifact). What they do not say is inferred, by default as the machine
on which a preset is built. All of them have one L2, of which each die has a part: no field has the caches of remote
lines that these papers add. Names end in what is left of a paper's machine.
"""

from __future__ import annotations

from gpucoh.machines.clocks import Preset, kept

DIE_DESCRIPTIONS = {
    "mcm4": "4 dies of 64 SMs, the package of LRM-GPU without its L1.5s",
    "mcm4-quarter": "4 dies of 16 SMs, a quarter of mcm4",
    "hmg4x4-eighth": "4 GPUs of 4 dies of 4 SMs, an eighth of HMG's system",
    "cpelide4": "4 dies of 16 CUs, a quarter of CPElide's package",
    "mi300x-small": "8 dies of 4 CUs, about a tenth of an AMD MI300X",
    "two-gpus": "2 GPUs of a die like fermi, with a link of NVLink's class",
    "four-gpus": "4 GPUs of a die like fermi, with a link of NVLink's class between each two",
}

_LRM = "LRM-GPU table III"
_HMG = "HMG table II, by a note on the paper"
_SCRIPTS = "scripts of CPElide's artifact"
_TOUCH = ("first_touch", "inferred: as LRM-GPU and HMG, which place pages by the first touch")
_SMS: Preset = {
    "warps_per_core": (64, f"{_LRM}; {_HMG}"),
    "blocks_per_core": (32, "inferred: half of the warps"),
    "registers_per_core": (65536, "inferred: 64 warps of 32 registers"),
    "l1_kib": (128, f"{_LRM}; {_HMG}"),
    "l1_ways": (4, _LRM),
    "l1_mshrs": (512, "inferred: large enough that warps limit first"),
    "l2_ways": (16, f"{_LRM}; {_HMG}"),
    "line_bytes": (128, f"{_LRM}; {_HMG}"),
}


def _mcm4(fermi: Preset) -> Preset:
    return kept(fermi, "fermi", {"dram_mhz": 1500}) | {
        **_SMS,
        "cores": (256, f"{_LRM}: 4 chiplets of 64"),
        "dies": (4, _LRM),
        "partitions": (64, f"{_LRM}: 64 channels of memory"),
        "l2_kib": (128, f"{_LRM}: 8 MiB in all"),
        "page_kib": (4, _LRM),
        "placement_of_pages": ("first_touch", _LRM),
        "die_latency": (32, f"{_LRM}: 32 cycles a hop"),
        "die_bytes": (46, f"inferred: a twelfth of 768 GB/s in all ({_LRM}), for each of 12 links"),
        "dram_mhz": (1500, f"inferred: 32 bytes a channel at this clock, 3 TB/s in all ({_LRM})"),
        "dram_bytes_per_cycle": (32, f"inferred: 3 TB/s in all at dram_mhz ({_LRM})"),
        "dram_burst_bytes": (64, "inferred: tCCD = 2 cycles of 32 bytes"),
        "dram_t_ccd": (2, "inferred: as fermi, in cycles at any clock"),
    }


def _mcm4_quarter(fermi: Preset) -> Preset:
    quarter = "inferred: a quarter of mcm4's"
    return _mcm4(fermi) | {
        "cores": (64, quarter),
        "partitions": (16, quarter),
        "die_bytes": (12, quarter + ", rounded up"),
    }


def _hmg4x4(fermi: Preset) -> Preset:
    return kept(fermi, "fermi", {"core_mhz": 1300, "noc_mhz": 650, "dram_mhz": 1000}) | {
        **_SMS,
        "l1_ways": (4, "inferred: as mcm4"),
        "cores": (64, f"inferred: an eighth of 4 GPUs of 4 modules of 32 ({_HMG})"),
        "core_mhz": (1300, _HMG),
        "noc_mhz": (650, "inferred: half of the cores' clock, as fermi"),
        "l2_mhz": (650, "inferred: half of the cores' clock, as fermi"),
        "dies": (16, _HMG),
        "gpus": (4, _HMG),
        "partitions": (32, "inferred: two a die"),
        "l2_kib": (192, f"inferred: half of an eighth of 3 MiB a module ({_HMG})"),
        "page_kib": (4, f"inferred: not the 2 MiB of {_HMG}: inputs are smaller here"),
        "placement_of_pages": _TOUCH,
        "die_latency": (32, f"inferred: {_LRM}'s 32 cycles a hop"),
        "die_bytes": (16, f"inferred: for each of 12 links, an eighth of 2 TB/s a GPU ({_HMG})"),
        "gpu_latency": (455, "inferred: 350 ns, of NVLink's class"),
        "gpu_bytes": (10, f"inferred: an eighth of 100 GB/s each way ({_HMG}: 200 both ways), rounded up"),
        "dram_mhz": (1000, f"inferred: 16 bytes a channel at this clock, an eighth of 1 TB/s a GPU ({_HMG})"),
        "dram_bytes_per_cycle": (16, f"inferred: an eighth of 1 TB/s a GPU at dram_mhz ({_HMG})"),
    }  # fmt: skip


def _cpelide4(gcn3: Preset) -> Preset:
    return kept(gcn3, "gcn3", {"core_mhz": 1800}) | {
        "cores": (64, f"inferred: {_SCRIPTS}: 4 chiplets of 60, of which 16 are kept"),
        "core_mhz": (1800, f"inferred: {_SCRIPTS}: 1801 MHz, with a common multiple of the clocks"),
        "placement": ("round_robin", _SCRIPTS + ": contiguous shares a chiplet"),
        "launch_latency": (3780, f"inferred: {_SCRIPTS}: 2.1 us for a decision and its message"),
        "l1_kib": (16, _SCRIPTS),
        "l1_ways": (16, _SCRIPTS),
        "l1_latency": (154, f"inferred: {_SCRIPTS}: 16 cycles, 69 to the L1 and 69 back"),
        "dies": (4, _SCRIPTS),
        "partitions": (16, "inferred: four a die, of the artifact's eight"),
        "l2_kib": (256, f"inferred: {_SCRIPTS}: 8 MiB a chiplet, of which 1 MiB is kept"),
        "l2_ways": (32, _SCRIPTS),
        "l2_round_trip": (
            372,
            f"inferred: {_SCRIPTS}: 121 cycles of Ruby's clock of 1 GHz beyond the L1",
        ),
        "page_kib": (4, _SCRIPTS + ": global_scheduler.cc"),
        "placement_of_pages": ("first_touch", _SCRIPTS + ": global_scheduler.cc"),
        "die_latency": (216, f"inferred: {_SCRIPTS}: 120 cycles of Ruby's clock"),
        "die_bytes": (64, "inferred: a line a cycle"),
        "memory_units": (4, "inferred: one a die; the artifact's L3 is one for all"),
        "l3_kib": (1024, f"inferred: {_SCRIPTS}: 16 MiB, of which 4 MiB are kept"),
        "l3_ways": (16, "inferred: as gcn3's L2"),
        "l3_mshrs": (512, "inferred: as gcn3's L2 in all"),
        "l3_latency": (63, f"inferred: {_SCRIPTS}: 15 and 20 cycles of Ruby's clock"),
        "star_latency": (120, _SCRIPTS + ": 120 cycles of Ruby's clock from the L2 to memory"),
        "vc_flits": (128, "inferred: covers the latency of the star"),
        "dram_round_trip": (
            1000,
            "inferred: the way to the L3 and back, and 100 cycles of HBM beyond it",
        ),
    }


def _mi300x_small(mi300x: Preset) -> Preset:
    small = "; inferred: a few of them"
    return mi300x | {
        "cores": (32, "white paper of CDNA 3: 8 XCDs of 38" + small),
        "dies": (8, "white paper of CDNA 3: 8 XCDs"),
        "partitions": (16, "white paper of CDNA 3: 16 channels an XCD" + small),
        "page_kib": (4, "inferred: as the others"),
        "placement_of_pages": ("interleave", "inferred: all memory is equally near"),
        "die_latency": (122, "inferred: half of the way from the L2 to the memory side and back"),
        "die_bytes": (8, "inferred: 64 bytes a clock, a tenth as the CUs"),
        "memory_units": (8, "inferred: one a die"),
    }


def _gpus(fermi: Preset, number: int) -> Preset:
    each = f"inferred: fermi's, {number} times"
    return kept(fermi, "fermi", {}) | {
        "cores": (16 * number, each),
        "partitions": (8 * number, each),
        "dies": (number, "inferred: a die a GPU"),
        "gpus": (number, "inferred: the name says it"),
        "page_kib": (4, "inferred: inputs are small"),
        "placement_of_pages": _TOUCH,
        "gpu_latency": (490, "inferred: 350 ns, of NVLink's class"),
        "gpu_bytes": (71, f"inferred: 100 GB/s each way ({_HMG}: 200 both ways)"),
    }


def dies(fermi: Preset, gcn3: Preset, mi300x: Preset) -> dict[str, Preset]:
    """The presets, over machines of one die for all that they do not name."""
    return {
        "mcm4": _mcm4(fermi),
        "mcm4-quarter": _mcm4_quarter(fermi),
        "hmg4x4-eighth": _hmg4x4(fermi),
        "cpelide4": _cpelide4(gcn3),
        "mi300x-small": _mi300x_small(mi300x),
        "two-gpus": _gpus(fermi, 2),
        "four-gpus": _gpus(fermi, 4),
    }
