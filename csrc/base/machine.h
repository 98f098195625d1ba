/* machine.h: the parameters of a machine and the values of protocol options. Python resolves names and units; the
 * sources of the presets' parameters are in gpucoh/machines. */
#ifndef GPC_BASE_MACHINE_H
#define GPC_BASE_MACHINE_H

#include "base/failure.h"
#include "base/types.h"

/* X(name, smallest, largest, text). All values are integers. */
#define GPC_MACHINE_FIELDS(X)                                                                                     \
    X(cores, 1, 256, "GPU cores (SMs, CUs)")                                                                      \
    X(core_mhz, 1, 100000, "core clock")                                                                          \
    X(warps_per_core, 1, 64, "resident warps per core")                                                           \
    X(lanes_per_warp, 32, 64, "lanes per warp, 32 or 64")                                                         \
    X(blocks_per_core, 1, 64, "resident blocks per core")                                                         \
    X(registers_per_core, 64, 1048576, "32-bit registers per core")                                               \
    X(scratchpad_bytes, 0, 1048576, "scratchpad per core")                                                        \
    X(scratchpad_latency, 1, 10000, "scratchpad latency without bank conflicts, core cycles")                     \
    X(scratchpad_banks, 0, 64, "scratchpad banks, a power of two; 0: no bank conflicts")                          \
    X(scratchpad_order, 0, 1, "under sc, scratchpad accesses: 0 never wait, 1 wait for the warp's older accesses") \
    X(scheduler, 0, 1, "warp scheduler: 0 loose round robin, 1 greedy then oldest")                               \
    X(issue_width, 1, 4, "warp instructions issued per core cycle")                                               \
    X(issue_cycles, 1, 64, "core cycles that a warp instruction occupies its issue port (lanes / SIMD width)")    \
    X(alu_latency, 1, 10000, "core cycles from issue to a dependent issue")                                       \
    X(sfu_latency, 1, 10000, "latency of exp, log, sin, cos and sqrt, core cycles")                               \
    X(sfu_cycles, 1, 64, "core cycles that a special-function instruction occupies its unit")                     \
    X(division_latency, 1, 10000, "latency of integer and f32 division and modulo, core cycles")                  \
    X(division_cycles, 1, 256, "core cycles that a division occupies its unit")                                   \
    X(launch_latency, 0, 100000000, "core cycles from launch to the first block")                                 \
    X(load_store_queue, 1, 1024, "memory instructions per core that can wait for the L1 port")                    \
    X(requests_per_core, 64, 65536, "line requests in flight per core")                                           \
    X(l1_bytes, 0, 16777216, "L1 data cache per core")                                                            \
    X(l1_ways, 1, 1024, "L1 associativity")                                                                       \
    X(l1_mshrs, 1, 65535, "L1 MSHR entries per core; without an L1: requests in flight")                          \
    X(l1_latency, 1, 10000, "L1 hit latency, load to use, core cycles")                                           \
    X(line_bytes, 32, 128, "cache line, a power of two")                                                          \
    X(partitions, 1, 64, "L2 banks, each with its memory channel")                                                \
    X(interleave_bytes, 32, 1048576, "consecutive bytes of one partition, a power of two, at least a line")       \
    X(l2_bytes, 64, 268435456, "L2 bank per partition")                                                           \
    X(l2_ways, 1, 1024, "L2 associativity")                                                                       \
    X(l2_mshrs, 1, 65535, "L2 MSHR entries per partition")                                                        \
    X(l2_ports, 1, 16, "network ports of a partition in each direction, and inputs that it takes per cycle")       \
    X(l2_mhz, 1, 100000, "L2 clock")                                                                              \
    X(l2_round_trip, 1, 1000000, "unloaded L2 hit in the nearest partition, load to use, core cycles")            \
    X(memory_units, 0, 1, "controllers at the memory side, between the L2 banks and memory")                      \
    X(memory_mhz, 0, 100000, "clock of the memory side; 0: the L2's")                                             \
    X(l3_bytes, 0, 1073741824, "cache at the memory side")                                                        \
    X(l3_ways, 0, 1024, "associativity of the cache at the memory side")                                          \
    X(l3_mshrs, 0, 65535, "MSHR entries at the memory side")                                                      \
    X(global_units, 0, 1, "controllers for the whole machine (an epoch unit)")                                    \
    X(global_mhz, 0, 100000, "clock of the controller for the whole machine; 0: the cores'")                      \
    X(host_units, 0, 1, "controllers of a host agent")                                                            \
    X(host_mhz, 0, 100000, "clock of the host agent; 0: the cores'")                                              \
    X(star_mhz, 0, 100000, "clock of the star beside the network; 0: the network's")                              \
    X(star_latency, 1, 1000, "cycles from a controller to another over the star, without serialisation")          \
    X(star_ports, 1, 16, "ports to the star, in each direction, of an L2 partition and of the memory side")       \
    X(topology, 0, 2, "network topology: 0 crossbar pair, 1 mesh, 2 star")                                        \
    X(mesh_width, 1, 64, "columns of the mesh")                                                                   \
    X(noc_mhz, 1, 100000, "network clock")                                                                        \
    X(noc_latency, 1, 1000, "network cycles per hop without serialisation")                                       \
    X(noc_flit_gap, 0, 64, "network cycles between two flits of a link")                                          \
    X(flit_bytes, 1, 256, "flit size in bytes")                                                                   \
    X(vc_flits, 1, 1024, "flits per virtual-channel buffer")                                                      \
    X(dram_model, 0, 1, "DRAM model: 0 fixed latency, 1 banks and rows with FR-FCFS")                             \
    X(dram_channels, 0, 4, "memory channels, at the corners of a mesh; 0: one per partition, at its bank")        \
    X(dram_mhz, 1, 100000, "DRAM command clock")                                                                  \
    X(dram_round_trip, 1, 1000000, "unloaded L2 miss to a closed row, load to use, core cycles")                  \
    X(dram_queue, 1, 4096, "queued requests per channel")                                                         \
    X(dram_bytes_per_cycle, 1, 1024, "bytes per command clock cycle and channel, both edges counted")             \
    X(dram_banks, 1, 64, "banks per channel")                                                                     \
    X(dram_row_bytes, 64, 65536, "row (page) size per bank")                                                      \
    X(dram_burst_bytes, 4, 256, "bytes per column access")                                                        \
    X(dram_t_cl, 0, 1000, "tCL, read column access to data, DRAM cycles")                                         \
    X(dram_t_rp, 0, 1000, "tRP, precharge to activate, DRAM cycles")                                              \
    X(dram_t_rc, 0, 1000, "tRC, activate to activate of one bank, DRAM cycles")                                   \
    X(dram_t_ras, 0, 1000, "tRAS, activate to precharge, DRAM cycles")                                            \
    X(dram_t_ccd, 0, 1000, "tCCD, column access to column access, DRAM cycles")                                   \
    X(dram_t_wl, 0, 1000, "tWL, write column access to data, DRAM cycles")                                        \
    X(dram_t_rcd, 0, 1000, "tRCD, activate to column access, DRAM cycles")                                        \
    X(dram_t_rrd, 0, 1000, "tRRD, activate to activate of another bank, DRAM cycles")                             \
    X(dram_t_cdlr, 0, 1000, "tCDLR, last written data to read, DRAM cycles")                                      \
    X(dram_t_wr, 0, 1000, "tWR, last written data to precharge, DRAM cycles")                                     \
    X(dram_t_ccdl, 0, 1000, "tCCDL, within a bank group; not used: no bank groups are modelled, DRAM cycles")     \
    X(dram_t_rtpl, 0, 1000, "tRTPL, last read column access to precharge, DRAM cycles")                           \
    X(timestamp_bits, 4, 48, "width of the protocol's timestamps")

typedef struct {
#define X(name, smallest, largest, text) uint32_t name;
    GPC_MACHINE_FIELDS(X)
#undef X
} gpc_machine_t;

typedef struct {
    const char *name;
    size_t offset;
    uint32_t smallest, largest;
    const char *text;
} gpc_machine_field_t;

extern const gpc_machine_field_t gpc_machine_fields[]; /* ends with a null name */

GPC_MUST_CHECK int gpc_machine_check(const gpc_machine_t *machine, gpc_failure_t *failure);

/* One option and its value, e.g. lifetime=800 in tc-weak[lifetime=800]. */
typedef struct {
    const char *name;
    int64_t value;
} gpc_option_value_t;

#endif
