/* machine.h: the numbers of a machine and the values of protocol options. Python resolves names and units; the sources of the
 * numbers are in gpucoh/machines. */
#ifndef GPC_BASE_MACHINE_H
#define GPC_BASE_MACHINE_H

#include "base/failure.h"
#include "base/types.h"

/* X(name, smallest, largest, text). All integers. Python resolves units and names; the core gets numbers only. */
#define GPC_MACHINE_FIELDS(X)                                                                                     \
    X(cores, 1, 256, "GPU cores (SMs, CUs)")                                                                      \
    X(core_mhz, 1, 100000, "core clock")                                                                          \
    X(warps_per_core, 1, 64, "resident warps a core")                                                             \
    X(lanes_per_warp, 32, 64, "32 or 64")                                                                         \
    X(blocks_per_core, 1, 64, "resident blocks a core")                                                           \
    X(registers_per_core, 64, 1048576, "32-bit registers a core")                                                 \
    X(scratchpad_bytes, 0, 1048576, "scratchpad a core")                                                          \
    X(scratchpad_latency, 1, 10000, "core cycles, without bank conflicts")                                        \
    X(scratchpad_banks, 0, 64, "a power of two; 0: no conflicts are modelled")                                    \
    X(scheduler, 0, 1, "0 loose round robin, 1 greedy then oldest")                                               \
    X(issue_width, 1, 4, "warp instructions a core cycle")                                                        \
    X(issue_cycles, 1, 64, "cycles one warp instruction holds its issue port (lanes / SIMD width)")               \
    X(alu_latency, 1, 10000, "core cycles from issue to a dependent issue")                                       \
    X(sfu_latency, 1, 10000, "exp log sin cos sqrt")                                                              \
    X(sfu_cycles, 1, 64, "cycles one special-function instruction holds its unit")                                \
    X(division_latency, 1, 10000, "integer and f32 division, modulo")                                             \
    X(division_cycles, 1, 256, "cycles one division holds its unit")                                              \
    X(launch_latency, 0, 100000000, "core cycles from launch to the first block")                                 \
    X(load_store_queue, 1, 1024, "memory instructions a core that wait for the L1 port")                          \
    X(requests_per_core, 64, 65536, "line requests in flight a core")                                             \
    X(l1_bytes, 0, 16777216, "first-level data cache a core")                                                     \
    X(l1_ways, 1, 1024, "")                                                                                       \
    X(l1_mshrs, 1, 65535, "transaction entries a core; without an L1: requests in flight")                        \
    X(l1_latency, 1, 10000, "core cycles, hit, load to use")                                                      \
    X(line_bytes, 32, 128, "cache line, a power of two")                                                          \
    X(partitions, 1, 64, "L2 banks, each with its memory channel")                                                \
    X(interleave_bytes, 32, 1048576, "consecutive bytes of one partition, a power of two, at least a line")       \
    X(l2_bytes, 64, 268435456, "second-level cache a partition")                                                  \
    X(l2_ways, 1, 1024, "")                                                                                       \
    X(l2_mshrs, 1, 65535, "transaction entries a partition")                                                      \
    X(l2_mhz, 1, 100000, "L2 clock")                                                                              \
    X(l2_round_trip, 1, 1000000, "core cycles, unloaded, load to use, L2 hit, nearest partition")                 \
    X(topology, 0, 2, "0 crossbar pair, 1 mesh, 2 star")                                                          \
    X(mesh_width, 1, 64, "columns of the mesh")                                                                   \
    X(noc_mhz, 1, 100000, "network clock")                                                                        \
    X(noc_latency, 1, 1000, "network cycles a hop beside serialisation")                                          \
    X(flit_bytes, 1, 256, "")                                                                                     \
    X(vc_flits, 1, 1024, "flits a virtual-channel buffer")                                                        \
    X(dram_model, 0, 1, "0 fixed latency, 1 banks, rows and FR-FCFS")                                             \
    X(dram_mhz, 1, 100000, "DRAM command clock")                                                                  \
    X(dram_round_trip, 1, 1000000, "core cycles, unloaded, load to use, L2 miss, row closed")                     \
    X(dram_queue, 1, 4096, "requests a channel")                                                                  \
    X(dram_bytes_per_cycle, 1, 1024, "bytes a command clock and channel, both edges counted")                     \
    X(dram_banks, 1, 64, "banks a channel")                                                                       \
    X(dram_row_bytes, 64, 65536, "row (page) a bank")                                                             \
    X(dram_burst_bytes, 4, 256, "bytes a column access")                                                          \
    X(dram_t_cl, 0, 1000, "DRAM cycles; names as JEDEC's")                                                        \
    X(dram_t_rp, 0, 1000, "")                                                                                     \
    X(dram_t_rc, 0, 1000, "")                                                                                     \
    X(dram_t_ras, 0, 1000, "")                                                                                    \
    X(dram_t_ccd, 0, 1000, "")                                                                                    \
    X(dram_t_wl, 0, 1000, "")                                                                                     \
    X(dram_t_rcd, 0, 1000, "")                                                                                    \
    X(dram_t_rrd, 0, 1000, "")                                                                                    \
    X(dram_t_cdlr, 0, 1000, "")                                                                                   \
    X(dram_t_wr, 0, 1000, "")                                                                                     \
    X(dram_t_ccdl, 0, 1000, "")                                                                                   \
    X(dram_t_rtpl, 0, 1000, "")                                                                                   \
    X(timestamp_bits, 4, 48, "width of a protocol's timestamps")

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

/* One value in the brackets of tc-weak[lifetime=800]. */
typedef struct {
    const char *name;
    int64_t value;
} gpc_option_value_t;

#endif
