"""The machines of the papers, and those of products: each number with its source.

A source names the paper and table that give the number, or says ``inferred`` and why. Papers: TC is Singh et al.,
"Cache Coherence for GPU Architectures", HPCA 2013; RCC is Ren and Lis, "Efficient Sequential Consistency in GPUs via
Relativistic Cache Coherence", HPCA 2017; DeNovo is Sinclair, Alsop and Adve, "Efficient GPU Synchronization without
Scopes", MICRO 2015; STC is Puthoor and Lipasti, "Turn-based Spatiotemporal Coherence for GPUs", TACO 20(3), 2023; QR
is Hechtman et al., "QuickRelease", HPCA 2014. These tables omit what only one paper's protocols need (write caches,
epoch units, a memory-side cache), and what the model does not represent: the banks of the L1s (DeNovo table 3: 8; QR
table 1: 16) and the 16 banks of QR's L2. docs/how-to/add-a-machine.md, "What no field changes", describes what the
model does instead.
"""

from __future__ import annotations

from gpucoh.machines.clocks import Preset, like
from gpucoh.machines.dies import DIE_DESCRIPTIONS, dies
from gpucoh.machines.products import PRODUCT_DESCRIPTIONS, products

DESCRIPTIONS: dict[str, str] = {
    "fermi": "16 SMs like an NVIDIA GTX 480, 8 memory partitions behind two crossbars (TC, RCC)",
    "mesh15": "15 CUs like a GTX 480's on a 4 x 4 mesh with 16 L2 banks (DeNovo)",
    "gcn3": "8 CUs of 64 lanes at 1 GHz, 64 KiB L1s, 4 L2 banks (STC)",
    "apu": "8 CUs of 64 lanes at 1 GHz, 16 KiB L1s, 4 channels of DDR3 (QuickRelease)",
    "h100-like": "fermi with a memory order that shows what GPUs showed; not the sizes of an H100",
    **PRODUCT_DESCRIPTIONS,
    **DIE_DESCRIPTIONS,
}

_TC = "TC table 4"
_RCC = "RCC table III"
_BOTH = "TC table 4, RCC table III"

_TOGETHER = "inferred: blocks start together; gpucoh reproduce and scorecard set it"

# What only protocols with a third level, an epoch unit or a host agent use.
_BEYOND_L2: Preset = {
    "memory_units": (1, "inferred: a place for a protocol's memory side"),
    "memory_mhz": (0, "inferred: the L2's clock"),
    "l3_kib": (0, "not used: no cache at the memory side"),
    "l3_ways": (0, "not used: no cache at the memory side"),
    "l3_mshrs": (0, "not used: no cache at the memory side"),
    "l3_latency": (0, "not used: no cache at the memory side"),
    "global_units": (1, "inferred: a place for a protocol's epoch unit"),
    "global_mhz": (0, "inferred: the cores' clock"),
    "host_units": (0, "inferred: no host agent"),
    "host_mhz": (0, "not used: no host agent"),
    "cpu_kib": (0, "inferred: no CPU cache; host writes leave nothing that a launch would pay for"),
    "cpu_ways": (16, "not used: no CPU cache"),
    "cpu_probe_cycles": (100, "not used: no CPU cache; inferred, for studies of one"),
    "cpu_transfer_cycles": (8, "not used: no CPU cache; inferred, for studies of one"),
    "l2_ports": (1, "inferred: a port per partition and direction"),
    "l2_crossing": (0, "inferred: in the papers all partitions of the L2 are equally far"),
    "dies": (1, "inferred: the papers have one die"),
    "gpus": (1, "inferred: the papers have one GPU"),
    "page_kib": (0, "not used: one die"),
    "placement_of_pages": ("interleave", "not used: one die"),
    "die_latency": (0, "not used: one die"),
    "die_bytes": (0, "not used: one die"),
    "gpu_latency": (0, "not used: one GPU"),
    "gpu_bytes": (0, "not used: one GPU"),
    "links": ("joined", "inferred: one order over a link"),
    "l2_near": (1, "inferred: an L2 keeps what its protocol says"),
    "sector_bytes": (0, "inferred: the papers have whole lines"),
    "l2_byte_masks": (0, "inferred: the papers' L2s fetch the line of a store that misses"),
    "tlb_reach_kib": (0, "inferred: no paper has translation"),
    "tlb_miss_cycles": (0, "not used: no translation"),
    "star_mhz": (0, "inferred: the network's clock"),
    "star_latency": (5, "inferred"),
    "star_ports": (1, "inferred: a port per controller and direction"),
}

_CLOSED = "not used: dram_model is not closed"
_RULE = "inferred: " + _BOTH + ", by docs/readings.md's rule for silence"

# Options of the memory order, from what GPUs show and not from papers: docs/hardware.md.
_ORDER: Preset = dict.fromkeys(
    ("relaxed_unordered", "block_fences_free", "word_order", "fence_drains"),
    (0, "inferred: the papers have the consistency rules and protocols alone"),
)

# What a calibrated machine has and no paper states: 0 leaves the model as the papers have it.
_CALIBRATED: Preset = {
    "fence_trip": (0, "inferred: in the papers a release ends with what it waits for"),
    "atomic_lanes": (0, "inferred: in the papers the L2 performs a request as a whole"),
    "atomic_cycles": (0, "inferred: TC section 3.1, one L2 cycle per read-modify-write"),
    "f64_cycles": (0, "inferred: no workload of the papers uses f64"),
    "block_start_cycles": (0, "inferred: in the papers a block takes a free place at once"),
    "l1_bytes_per_cycle": (0, "inferred: one request a cycle, as TC section 3.1"),
    "noc_jitter": (0, "inferred: in the papers' simulators a latency is the same each time"),
}

_REPLACEMENT: Preset = dict.fromkeys(
    ("l1_replacement", "l2_replacement"), ("lru", "inferred: the papers name no policy")
)

FERMI: Preset = {
    "cores": (16, _BOTH),
    "core_mhz": (1400, _RCC + " (same configuration as TC)"),
    "warps_per_core": (48, _RCC + "; TC 6.3: one GWCT entry per warp, 48"),
    "lanes_per_warp": (32, _RCC + "; TC 3.1"),
    "blocks_per_core": (
        8,
        "inferred: the limit of NVIDIA's compute capability 2.0; not in the papers",
    ),
    "registers_per_core": (32768, _RCC),
    "scratchpad_kib": (48, _RCC),
    "scratchpad_latency": (24, "inferred: about a Fermi SM's; not in the papers"),
    "scratchpad_banks": (
        32,
        "inferred: NVIDIA's compute capability 2.x, as GPGPU-Sim 3's GTX 480; not in the papers",
    ),
    "scratchpad_order": (
        0,
        "inferred: RCC section IV.A names global and local memory; 1: its public simulator",
    ),
    **_ORDER,
    **_CALIBRATED,
    **_REPLACEMENT,
    "scheduler": ("loose_round_robin", _RCC),
    "issue_width": (
        1,
        "inferred: one warp instruction per cycle, as GPGPU-Sim 3 with 32 SIMD lanes",
    ),
    "issue_cycles": (1, "32 lanes over 32 SIMD lanes, " + _RCC),
    "alu_latency": (18, "inferred: about a Fermi SM's dependent-issue latency"),
    "sfu_latency": (22, "inferred: the ALU's latency plus a few cycles"),
    "sfu_cycles": (8, "inferred: 4 special-function units for 32 lanes, as in Fermi"),
    "division_latency": (40, "inferred: division is a sequence of about ten instructions on Fermi"),
    "division_cycles": (8, "inferred: as the special-function unit, which computes the reciprocal"),
    "launch_latency": (
        0,
        "inferred: the papers measure kernels, not launches; kernel times start at the first block",
    ),
    "start_skew": (0, _TOGETHER),
    "placement": ("round_robin", "inferred: as GPGPU-Sim 3, the next block to a core with room"),
    "load_store_queue": (
        8,
        "inferred: as GPGPU-Sim 3's memory-pipeline input; not in the papers",
    ),
    "requests_per_core": (
        1024,
        "inferred: large enough that MSHRs (128 entries) and warps (48) limit first",
    ),
    "l1_kib": (32, _BOTH),
    "l1_ways": (4, _BOTH),
    "l1_mshrs": (128, _BOTH),
    "l1_latency": (
        30,
        "inferred: hit, load to use, about a Fermi SM's; the papers give only round trips beyond the L1",
    ),
    "line_bytes": (128, _BOTH),
    "partitions": (8, _BOTH),
    "interleave_bytes": (
        256,
        "inferred: GPGPU-Sim's choice for this machine; not in the papers",
    ),
    "l2_kib": (128, _BOTH + " (per partition; 1 MiB in total)"),
    "l2_ways": (8, _BOTH),
    "l2_mshrs": (128, _BOTH),
    "l2_mhz": (700, _TC),
    "l2_round_trip": (340, "TC section 7; " + _BOTH),
    **_BEYOND_L2,
    "topology": ("crossbar", "TC section 7: two one-way crossbars, cores to partitions only"),
    "mesh_width": (1, "not used by a crossbar"),
    "noc_mhz": (700, _BOTH),
    "noc_latency": (
        4,
        "inferred: cycles through one crossbar without serialisation; part of the 340 in each direction",
    ),
    "noc_flit_gap": (0, "inferred: a flit per network cycle and link"),
    "flit_bytes": (
        32,
        "TC section 7, table 4 (RCC prints 32-bit, which does not give its 175 GB/s)",
    ),
    "vc_flits": (8, _BOTH),
    "dram_model": (
        "fr_fcfs",
        _BOTH,
    ),
    "dram_channels": (0, "inferred: a channel per partition"),
    "dram_mhz": (1400, _BOTH),
    "dram_round_trip": (460, "TC section 7; " + _BOTH),
    "dram_queue": (32, _TC),
    "dram_bytes_per_cycle": (
        16,
        _TC + ": 8 bytes on both edges; 8 channels give 179 GB/s, printed 175",
    ),
    "dram_banks": (16, "inferred: GDDR5 has 16 banks per device"),
    "dram_row_bytes": (2048, "inferred: GDDR5's page of one channel"),
    "dram_burst_bytes": (32, "inferred: tCCD = 2 cycles of 16 bytes"),
    "dram_bank_cycles": (11, _CLOSED),
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

_DN = "DeNovo table 3"
_GTX480 = "inferred: as fermi; DeNovo section 5.2: resembles a GTX 480"


_CORE_TIMING = (
    "scratchpad_latency",
    "scratchpad_banks",
    "scratchpad_order",
    "scheduler",
    "issue_width",
    "alu_latency",
    "sfu_latency",
    "sfu_cycles",
    "division_latency",
    "division_cycles",
    "launch_latency",
    "start_skew",
    "load_store_queue",
    "requests_per_core",
)
_SAME_CORE = (
    "inferred: the paper's reuse across kernels needs a block on the same core in every launch"
)
_DRAM_TIMING = tuple(name for name in FERMI if name.startswith("dram_t_"))

MESH15: Preset = {
    "cores": (15, _DN + ", section 5.4; the 16th node is the CPU's"),
    "core_mhz": (700, _DN),
    "warps_per_core": (48, _GTX480),
    "lanes_per_warp": (32, _GTX480),
    "blocks_per_core": (8, _GTX480),
    "registers_per_core": (32768, _GTX480),
    "scratchpad_kib": (48, _GTX480),
    "issue_cycles": (1, _GTX480 + ", 32 lanes over 32 SIMD lanes"),
    **like(FERMI, _GTX480 + "; cycles at this machine's clock", _CORE_TIMING, 700),
    **_ORDER,
    **_CALIBRATED,
    **_REPLACEMENT,
    "placement": (
        "rotating",
        "inferred: as GPGPU-Sim 3, whose round robin goes on with the next launch; section 5.4.1",
    ),
    "l1_kib": (32, _DN),
    "l1_ways": (8, _DN),
    "l1_mshrs": (64, "inferred: not in the paper"),
    "l1_latency": (1, _DN),
    "line_bytes": (64, "inferred: the default of GEMS, which section 5.2 names"),
    "partitions": (16, _DN + ", section 5.1: 16 banks, one per node"),
    "interleave_bytes": (64, "inferred: consecutive lines in consecutive banks"),
    "l2_kib": (256, _DN + ": 4 MiB in 16 banks"),
    "l2_ways": (16, "inferred: not in the paper"),
    "l2_mshrs": (64, "inferred: not in the paper"),
    "l2_mhz": (700, "inferred: one clock for cores, network and L2; not in the paper"),
    "l2_round_trip": (29, _DN + ": 29 to 61 cycles; the nearest bank"),
    **_BEYOND_L2,
    "topology": ("mesh", "DeNovo section 5.2: 4 x 4"),
    "mesh_width": (4, "DeNovo section 5.2"),
    "noc_mhz": (2100, "inferred: three times the core clock, for hops of 8/3 core cycles"),
    "noc_latency": (
        8,
        "inferred: 8/3 core cycles a hop give the table's 29 to 61 cycles over 0 to 6 hops each way",
    ),
    "noc_flit_gap": (2, "inferred: a flit per core cycle and link"),
    "flit_bytes": (
        32,
        "inferred: TC table 4's width for these cores, which the rule for silence takes",
    ),
    "vc_flits": (8, "inferred: not in the paper; as fermi"),
    "dram_model": ("fr_fcfs", _RULE + "; the paper gives latencies only"),
    "dram_channels": (
        4,
        "inferred: memory controllers at the corners of the mesh, selected by the address bits above the bank's",
    ),
    "dram_mhz": (1400, _GTX480),
    "dram_round_trip": (
        197,
        _DN
        + ": 197 to 261 cycles over 0 to 12 hops each way, to the bank and on to the corner, row closed",
    ),
    "dram_queue": (32, _GTX480),
    "dram_bytes_per_cycle": (32, _GTX480 + "; its 179 GB/s over 4 channels"),
    "dram_banks": (16, _GTX480),
    "dram_row_bytes": (2048, _GTX480),
    "dram_burst_bytes": (64, "inferred: tCCD = 2 cycles of 32 bytes"),
    "dram_bank_cycles": (11, _CLOSED),
    **like(FERMI, _GTX480, _DRAM_TIMING, 1400),
    "timestamp_bits": (32, "inferred: for protocols of other papers; as fermi"),
}

_GCN = "inferred: AMD GCN3's architecture"
_GCN_LINK = "inferred: GCN's L1s have 64 bytes a clock from the L2 (behardware.com/articles/848-4)"
_STC = "STC table 3"
_NOT_IN_STC = "inferred: not in STC"

# Common to both machines with GCN-like CUs; STC section 6 and QR table 1 name the architecture.
_GCN_CORE: Preset = {
    "warps_per_core": (40, "QR table 1; for STC inferred: GCN3, 4 SIMDs of 10"),
    "lanes_per_warp": (64, "STC sections 6 and 7.2; QR table 1"),
    "blocks_per_core": (16, _GCN + ", workgroups of several wavefronts"),
    "registers_per_core": (65536, _GCN + ", 256 KiB of vector registers a CU"),
    "scratchpad_kib": (64, _GCN + ", local data share"),
    "scratchpad_latency": (32, "inferred: about GCN's local data share"),
    "scratchpad_banks": (32, _GCN + ", local data share: 32 banks of 4 bytes"),
    "scratchpad_order": (0, "inferred: as fermi"),
    **_ORDER,
    **_CALIBRATED,
    **_REPLACEMENT,
    "scheduler": (
        "greedy_then_oldest",
        "inferred: GCN issues the oldest ready wavefront of a SIMD",
    ),
    "issue_width": (4, "QR table 1: 4 SIMD units"),
    "issue_cycles": (4, "QR table 1: 64 work-items over 4 cycles on a 16-wide SIMD"),
    "alu_latency": (4, _GCN + ": results are forwarded to the next instruction, 4 cycles later"),
    "sfu_latency": (16, _GCN + ": quarter rate"),
    "sfu_cycles": (16, _GCN + ": quarter rate"),
    "division_latency": (40, "inferred: division is a sequence of about ten instructions"),
    "division_cycles": (40, "inferred: each instruction of the sequence occupies the SIMD"),
    "launch_latency": (0, "inferred: kernel times start at the first block"),
    "start_skew": (0, _TOGETHER),
    "placement": ("static", _SAME_CORE),
    "load_store_queue": (8, "inferred: not in the papers; as fermi"),
    "requests_per_core": (2048, "inferred: large enough that MSHRs and wavefronts limit first"),
}

GCN3: Preset = {
    "cores": (8, _STC),
    "core_mhz": (1000, _STC),
    **_GCN_CORE,
    "l1_kib": (64, _STC),
    "l1_ways": (64, _STC),
    "l1_mshrs": (64, _NOT_IN_STC),
    "l1_latency": (5, _NOT_IN_STC + "; 1 cycle of tag and 4 of data"),
    "line_bytes": (64, "STC section 7.5: 1,024 blocks in 64 KiB"),
    "partitions": (4, "STC section 7.5: 4 banks"),
    "interleave_bytes": (64, _NOT_IN_STC + "; consecutive lines in consecutive banks"),
    "l2_kib": (128, _STC + ": 512 KiB in 4 banks"),
    "l2_ways": (16, _STC),
    "l2_mshrs": (128, "STC section 7.5: 512 in total, for its TCS comparison"),
    "l2_mhz": (1000, _NOT_IN_STC + "; the cores' clock"),
    "l2_round_trip": (160, _STC),
    **_BEYOND_L2,
    "global_mhz": (2000, _STC + ": the epoch unit's clock"),
    "star_mhz": (
        1000,
        "inferred: a message per cycle of the cores' clock and direction; by the unit's clock an idle change takes 28",
    ),
    "star_latency": (5, "inferred: fits STC's 36 cycles of an idle change at 8 CUs; 79 at 32"),
    "topology": ("crossbar", _NOT_IN_STC),
    "mesh_width": (1, "not used by a crossbar"),
    "noc_mhz": (1000, _NOT_IN_STC + "; the cores' clock"),
    "noc_latency": (8, _NOT_IN_STC + "; part of the 160"),
    "noc_flit_gap": (0, "inferred: a flit per network cycle and link"),
    "flit_bytes": (
        64,
        _GCN_LINK + "; STC is silent",
    ),
    "vc_flits": (8, _NOT_IN_STC),
    "dram_model": ("fr_fcfs", _RULE + "; STC gives only a round trip"),
    "dram_channels": (0, "inferred: a channel per partition"),
    "dram_mhz": (1000, _NOT_IN_STC),
    "dram_round_trip": (260, _STC + ", read as the total latency of an L2 miss, row closed"),
    "dram_queue": (32, _NOT_IN_STC + "; as fermi"),
    "dram_bytes_per_cycle": (16, _NOT_IN_STC + "; 64 GB/s over 4 channels"),
    "dram_banks": (16, _NOT_IN_STC + "; as fermi"),
    "dram_row_bytes": (2048, _NOT_IN_STC + "; as fermi"),
    "dram_burst_bytes": (32, _NOT_IN_STC + "; as fermi"),
    "dram_bank_cycles": (11, _CLOSED),
    **like(FERMI, _NOT_IN_STC + "; as fermi", _DRAM_TIMING, 1000),
    "timestamp_bits": (32, "STC section 7.5: 32-bit leases, for its TCS comparison"),
}

_QR = "QR table 1"
_NOT_IN_QR = "inferred: not in QR"
_DDR3 = "inferred: JEDEC JESD79-3, DDR3-800E (6-6-6); QR table 1 names DDR3 at 400 MHz"

APU: Preset = {
    "cores": (8, _QR),
    "core_mhz": (1000, _QR),
    **_GCN_CORE,
    "l1_kib": (16, _QR),
    "l1_ways": (4, _NOT_IN_QR),
    "l1_mshrs": (128, _NOT_IN_QR),
    "l1_latency": (5, _QR + ": 1 cycle of tag and 4 of data"),
    "line_bytes": (64, "inferred: QR section 1 computes its overhead with 64 bytes"),
    "partitions": (1, "QR section 4.1: all CUs share an L2"),
    "interleave_bytes": (256, _NOT_IN_QR),
    "l2_kib": (256, _QR),
    "l2_ways": (16, _NOT_IN_QR),
    "l2_mshrs": (512, _NOT_IN_QR),
    "l2_mhz": (1000, _NOT_IN_QR + "; the cores' clock"),
    "l2_round_trip": (
        60,
        "inferred: " + _QR + "'s 4 cycles of tag and 16 of data, links of 10 cycles and the L1",
    ),
    **_BEYOND_L2,
    "l2_ports": (
        2,
        "inferred: two answers of two flits are a line a cycle, as "
        + _QR
        + "'s 16 banks of 16 cycles give",
    ),
    "l3_kib": (4096, "QR section 4.1: a memory-side L3"),
    "l3_ways": (16, _NOT_IN_QR),
    "l3_mshrs": (512, _NOT_IN_QR),
    "l3_latency": (20, "inferred: as the wL3, which has 4 cycles of tag and 16 of data in " + _QR),
    "cpu_kib": (1024, "inferred: the CPU's L2; QR names write-back caches without a size"),
    "cpu_ways": (16, _NOT_IN_QR),
    "cpu_probe_cycles": (100, "inferred: not in QR; to be swept"),
    "cpu_transfer_cycles": (8, "inferred: not in QR; to be swept"),
    "star_mhz": (
        2000,
        "inferred: L2 to L3 over two ports of a flit a core cycle, which keep their order as one of twice the clock",
    ),
    "star_latency": (40, _NOT_IN_QR + "; 20 core cycles"),
    "star_ports": (2, "inferred: the memory side takes two requests a cycle"),
    "topology": ("crossbar", _NOT_IN_QR),
    "mesh_width": (1, "not used by a crossbar"),
    "noc_mhz": (1000, _NOT_IN_QR + "; the cores' clock"),
    "noc_latency": (10, _NOT_IN_QR),
    "noc_flit_gap": (0, "inferred: a flit per network cycle and link"),
    "flit_bytes": (64, _GCN_LINK + "; QR is silent"),
    "vc_flits": (
        64,
        "inferred: covers the 40 cycles of the link to the L3, so that links run at full bandwidth",
    ),
    "dram_model": (
        "fr_fcfs",
        _RULE + "; closed with dram_banks=32, dram_bytes_per_cycle=32 is gem5's RubyMemoryControl",
    ),
    "dram_channels": (4, _QR),
    "dram_mhz": (400, _QR),
    "dram_round_trip": (
        200,
        _NOT_IN_QR + "; the L2's path, links of 20 cycles, 100 cycles of DRAM, row closed",
    ),
    "dram_queue": (32, _NOT_IN_QR + "; as fermi"),
    "dram_bytes_per_cycle": (16, _DDR3 + "; 8 bytes on both edges"),
    "dram_banks": (8, _DDR3),
    "dram_row_bytes": (8192, _DDR3 + "; eight devices of 1 KiB pages"),
    "dram_burst_bytes": (64, _DDR3 + "; burst of 8"),
    "dram_bank_cycles": (11, _CLOSED + "; RubyMemoryControl's bank_busy_time"),
    "dram_t_cl": (6, _DDR3),
    "dram_t_rp": (6, _DDR3),
    "dram_t_rc": (21, _DDR3),
    "dram_t_ras": (15, _DDR3),
    "dram_t_ccd": (4, _DDR3),
    "dram_t_wl": (5, _DDR3),
    "dram_t_rcd": (6, _DDR3),
    "dram_t_rrd": (4, _DDR3),
    "dram_t_cdlr": (4, _DDR3),
    "dram_t_wr": (6, _DDR3),
    "dram_t_ccdl": (4, _DDR3),
    "dram_t_rtpl": (4, _DDR3),
    "timestamp_bits": (32, "inferred: for protocols of other papers; as fermi"),
}

# With gpu-hrf it shows what GPUs showed: docs/hardware.md. It is no description of the product.
H100_LIKE: Preset = FERMI | dict.fromkeys(
    _ORDER, (1, "inferred: from what GPUs showed of scoped tests, docs/hardware.md")
)

_PRODUCTS = products(FERMI)
PRESETS: dict[str, Preset] = {
    "fermi": FERMI,
    "mesh15": MESH15,
    "gcn3": GCN3,
    "apu": APU,
    "h100-like": H100_LIKE,
    **_PRODUCTS,
    **dies(FERMI, GCN3, _PRODUCTS["mi300x"]),
}
