/* gpu.h: the whole machine. The only header that the binding needs.
 *
 * A gpc_gpu_t owns everything that a simulated GPU is: no globals, no threads, no clocks, no I/O. Many run at once in
 * different threads; one is used by one thread at a time. Functions that can fail return 0 or a negative gpc_error_t;
 * gpc_gpu_error_text tells the facts of the last failure.
 */
#ifndef GPC_GPU_H
#define GPC_GPU_H

#include "base/errors.h"
#include "base/text.h"
#include "base/types.h"
#include "core/isa.h"

/* ---- the machine: plain numbers, every one checked; where they come from is told by machines.py ------------------- */

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

/* ---- protocols ---------------------------------------------------------------------------------------------------- */

#define GPC_RULES(X) X(SC, "sc") X(RC, "rc") X(DRF, "drf") X(HRF, "hrf")
typedef enum {
#define X(name, text) GPC_RULE_##name,
    GPC_RULES(X)
#undef X
        GPC_NUM_RULES,
    GPC_RULE_DEFAULT = GPC_NUM_RULES /* the paper's for that protocol */
} gpc_rule_t;

typedef struct {
    const char *name;
    int64_t value;
} gpc_option_value_t; /* what stands in the brackets of tc-weak[lifetime=800] */

uint32_t gpc_protocol_count(void);
const char *gpc_protocol_id(uint32_t i);
/* JSON: id, name, paper, family, models, default rule, options, messages, networks, and every controller with its tables
 * (states, events, cells, described structs), as `gpucoh protocols --json` prints it. */
GPC_MUST_CHECK int gpc_protocol_describe(const char *id, gpc_text_t *out);

/* ---- one GPU ------------------------------------------------------------------------------------------------------- */

typedef struct gpc_gpu gpc_gpu_t;
typedef struct gpc_snapshot gpc_snapshot_t;

typedef enum {
    GPC_CHECK_PROTOCOL = 1, /* monitors: a violated invariant is GPC_ERROR_INVARIANT */
    GPC_CHECK_RACES = 2     /* a data race is GPC_ERROR_RACE */
} gpc_check_t;

typedef struct {
    const gpc_machine_t *machine;
    const char *protocol;
    gpc_rule_t rule;
    const gpc_option_value_t *options;
    uint32_t num_options;
    uint64_t seed;
    uint64_t budget; /* core cycles a launch */
    uint32_t check;  /* gpc_check_t, together; 0: nothing is checked */
} gpc_setup_t;

/* On failure *out may still be a GPU that only tells its error; free it in any case. */
GPC_MUST_CHECK int gpc_gpu_create(const gpc_setup_t *setup, gpc_gpu_t **out);
void gpc_gpu_free(gpc_gpu_t *gpu);
const char *gpc_gpu_error_text(const gpc_gpu_t *gpu); /* one line: what, where, the values */
gpc_rule_t gpc_gpu_rule(const gpc_gpu_t *gpu);

/* Global memory. Addresses are bytes; sizes are words of 4 bytes. Fresh memory reads 0. */
GPC_MUST_CHECK int gpc_gpu_allocate(gpc_gpu_t *gpu, uint64_t words, gpc_address_t *address);
GPC_MUST_CHECK int gpc_gpu_release(gpc_gpu_t *gpu, gpc_address_t address);
GPC_MUST_CHECK int gpc_gpu_host_read(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, uint32_t *out);
GPC_MUST_CHECK int gpc_gpu_host_write(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in);

typedef enum { GPC_PLACE_ROUND_ROBIN, GPC_PLACE_FIRST_FREE } gpc_placement_t;

typedef struct {
    gpc_address_t address;
    uint64_t words;
    bool read_only;
    const char *name; /* for messages */
} gpc_buffer_t;

typedef struct {
    gpc_program_t program;
    const char *kernel; /* name, for messages */
    uint32_t grid[3], block[3];
    const uint32_t *constants;
    const gpc_buffer_t *buffers;
    uint32_t num_constants, num_buffers;
    gpc_placement_t placement;
} gpc_launch_t;

/* Why gpc_gpu_run came back. */
typedef enum { GPC_RUN_DONE = 0, GPC_RUN_MORE = 1 } gpc_run_t;

GPC_MUST_CHECK int gpc_gpu_launch(gpc_gpu_t *gpu, const gpc_launch_t *launch); /* copies all it needs */
/* Carries out at most `events` events. GPC_RUN_DONE when the launch has ended, GPC_RUN_MORE when there is more to do; after
 * a failure the launch is over, as after gpc_gpu_abort. */
GPC_MUST_CHECK int gpc_gpu_run(gpc_gpu_t *gpu, uint64_t events);
/* Ends a launch at once: what it had written may or may not be in memory, nothing is left in flight, the GPU is usable. */
void gpc_gpu_abort(gpc_gpu_t *gpu);

gpc_cycle_t gpc_gpu_cycles(const gpc_gpu_t *gpu);    /* since creation, launches only */
uint64_t gpc_gpu_instructions(const gpc_gpu_t *gpu); /* warp instructions, for progress */
void gpc_gpu_occupancy(const gpc_gpu_t *gpu, uint32_t *blocks_done, uint32_t *blocks);

/* All statistics as one JSON object; the groups and names are INTERFACE's. reset starts them at zero again. */
GPC_MUST_CHECK int gpc_gpu_statistics(const gpc_gpu_t *gpu, gpc_text_t *out);
void gpc_gpu_reset_statistics(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_verify(gpc_gpu_t *gpu); /* every part's own checks; between launches also conservation */
GPC_MUST_CHECK int gpc_gpu_print_state(const gpc_gpu_t *gpu, gpc_text_t *out); /* for people */

/* From now on what happens to the line of this address is written down, the last `records` steps and messages (0: no more), with
 * the values of the addressed word. Between launches only; no part of a snapshot. */
GPC_MUST_CHECK int gpc_gpu_trace(gpc_gpu_t *gpu, gpc_address_t address, uint32_t records);
GPC_MUST_CHECK int gpc_gpu_print_trace(const gpc_gpu_t *gpu, gpc_text_t *out);

/* Between launches only. A snapshot fits every GPU of the same machine, protocol and options. */
GPC_MUST_CHECK int gpc_gpu_snapshot(gpc_gpu_t *gpu, gpc_snapshot_t **out);
GPC_MUST_CHECK int gpc_gpu_restore(gpc_gpu_t *gpu, const gpc_snapshot_t *snapshot);
void gpc_snapshot_free(gpc_snapshot_t *snapshot);

/* ---- the explorer: the same tables and order.c on a small machine, every interleaving ----------------------------- */

typedef struct {
    uint8_t kind; /* 0 load, 1 store, 2 atomic add, 3 fence */
    uint8_t order, scope;
    uint8_t variable;
    uint32_t value; /* store, atomic: operand */
} gpc_explore_op_t;

typedef struct {
    uint32_t core;
    uint32_t num_ops;
    const gpc_explore_op_t *ops;
} gpc_explore_thread_t;

typedef struct {
    const char *protocol;
    gpc_rule_t rule;
    const gpc_option_value_t *options;
    uint32_t num_options;
    uint32_t cores, variables, num_threads;
    const gpc_explore_thread_t *threads;
    uint32_t warm;      /* bit (core * variables + variable): that core's L1 starts with a copy */
    uint32_t evictions; /* how many at most, by L1s and L2s at any time; UINT32_MAX: any number */
    bool packed;        /* variables lie two on a line; else each on a line of its own, and in a bank of its own */
    bool tight;         /* one bank; L1s and L2 with room for one line and one transaction */
    bool unwatched; /* the protocol's own invariants are not looked at: what comes of a wrong step is seen in the end */
    uint64_t max_states;
    uint32_t timestamp_bits; /* of the small machine; 0: more than any exploration needs */
    /* Outcomes that the memory model allows, rows as in `outcomes`; NULL: whatever comes. Another one is a violation. */
    const uint32_t *allowed;
    uint32_t num_allowed, allowed_width;
} gpc_explore_t;

/* JSON: {states, transitions, depth, complete, outcomes: [[value read by each load and atomic, in order of threads], ..]
 * with final values of the variables behind them, cells: {controller: [number of each cell of its first table that was entered]},
 * violations: [{kind, what, trace: [{kind, ..}, ..]}]}, at most one, by a shortest way. Violations: an outcome that is not allowed; a
 * protocol error; an invariant of the protocol's monitor; a state from which the programs can never be done and all be quiet
 * again (evictions do not count as help). Two states that differ by time's passing or a renaming of equal cores are one. */
GPC_MUST_CHECK int gpc_explore(const gpc_explore_t *what, gpc_text_t *out);

#endif
