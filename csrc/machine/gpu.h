/* gpu.h: the simulated GPU, the only machine header that the binding includes.
 *
 * A gpc_gpu_t owns all state of a simulated GPU and uses no globals, threads, host clocks or I/O. Different threads may
 * simulate different GPUs; one thread at a time may use a GPU. Functions that can fail return 0 or a negative
 * gpc_error_t; gpc_gpu_error_text describes the last failure.
 */
#ifndef GPC_MACHINE_GPU_H
#define GPC_MACHINE_GPU_H

#include "base/failure.h"
#include "base/machine.h"
#include "base/rules.h"
#include "base/text.h"
#include "check/explore/explore.h"
#include "check/trace/trace.h"
#include "controller/declare.h"
#include "core/launch.h"

/* ---- one GPU ----------------------------------------------------------------------------------------------------- */

typedef struct gpc_gpu gpc_gpu_t;
typedef struct gpc_snapshot gpc_snapshot_t;

typedef enum {
    GPC_CHECK_PROTOCOL = 1, /* monitors: a violated invariant is GPC_ERROR_INVARIANT */
    GPC_CHECK_RACES = 2,    /* a data race is GPC_ERROR_RACE */
    GPC_CHECK_KERNEL = 4    /* gpc_cores_check_kernels */
} gpc_check_t;

typedef struct {
    const gpc_machine_t *machine;
    const gpc_protocol_t *protocol; /* outlives the GPU */
    gpc_rule_t rule;
    const gpc_option_value_t *options;
    uint32_t num_options;
    uint64_t seed;
    uint64_t budget;    /* core cycles per launch */
    uint32_t check;     /* gpc_check_t flags; 0: no checks */
    gpc_stock_t *stock; /* of large blocks; outlives the GPU and its snapshots; may be NULL */
} gpc_setup_t;

/* On failure *out may be a GPU that holds only the error; free it in any case. */
GPC_MUST_CHECK int gpc_gpu_create(const gpc_setup_t *setup, gpc_gpu_t **out);
void gpc_gpu_free(gpc_gpu_t *gpu);
const char *gpc_gpu_error_text(const gpc_gpu_t *gpu); /* one line */
const gpc_failure_t *gpc_gpu_failure(const gpc_gpu_t *gpu);
gpc_rule_t gpc_gpu_rule(const gpc_gpu_t *gpu);

/* Global memory. Addresses are in bytes; sizes are in words of 4 bytes. New memory reads 0. */
GPC_MUST_CHECK int gpc_gpu_allocate(gpc_gpu_t *gpu, uint64_t words, gpc_address_t *address);
/* In pages of its own, which are on the dies of a GPU; where pages are interleaved over all dies, as
 * gpc_gpu_allocate. */
GPC_MUST_CHECK int gpc_gpu_allocate_on(gpc_gpu_t *gpu, uint64_t words, uint32_t on_gpu, gpc_address_t *address);
/* Later allocations begin at this address or behind it. */
GPC_MUST_CHECK int gpc_gpu_allocate_from(gpc_gpu_t *gpu, gpc_address_t address);
GPC_MUST_CHECK int gpc_gpu_release(gpc_gpu_t *gpu, gpc_address_t address);
GPC_MUST_CHECK int gpc_gpu_host_read(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, uint32_t *out);
GPC_MUST_CHECK int gpc_gpu_host_write(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in);
/* Writes in[i] to the word places[i] from `address` on, which is in an allocation; consecutive places as one write.
 * Those before a wrong place have been written. */
GPC_MUST_CHECK int gpc_gpu_host_write_places(gpc_gpu_t *gpu, gpc_address_t address, uint64_t count,
                                             const uint32_t *places, const uint32_t *in);

/* Why gpc_gpu_run returned. */
typedef enum { GPC_RUN_DONE = 0, GPC_RUN_MORE = 1 } gpc_run_t;

GPC_MUST_CHECK int gpc_gpu_launch(gpc_gpu_t *gpu, const gpc_launch_t *launch); /* copies its argument */
/* Core cycles without progress (no word of memory changed, no warp ended, none arrived at a barrier with new values in
 * its registers) after which a launch fails with GPC_ERROR_DEADLOCK; at least 1. For the following launches. */
#define GPC_DEADLOCK_AFTER UINT64_C(10000000)
void gpc_gpu_set_deadlock_after(gpc_gpu_t *gpu, gpc_cycle_t cycles);
/* Simulates at most `events` events. GPC_RUN_DONE: the launch has ended; GPC_RUN_MORE: events are left. After a failure
 * the launch is over, as after gpc_gpu_abort. */
GPC_MUST_CHECK int gpc_gpu_run(gpc_gpu_t *gpu, uint64_t events);
/* Of the running launch: gpc_gpu_run returns GPC_RUN_MORE, paused, before the first event at or after this core cycle
 * (of all launches, as gpc_gpu_cycles counts), once; statistics are then those of the cycles before it. */
GPC_MUST_CHECK int gpc_gpu_pause_at(gpc_gpu_t *gpu, gpc_cycle_t cycle);
bool gpc_gpu_is_paused(const gpc_gpu_t *gpu);
bool gpc_gpu_is_running(const gpc_gpu_t *gpu); /* a launch has begun and not ended */
/* Ends a launch immediately: nothing is left in flight, some of its stores may be lost, the GPU remains usable. */
void gpc_gpu_abort(gpc_gpu_t *gpu);

gpc_cycle_t gpc_gpu_cycles(const gpc_gpu_t *gpu);    /* of all launches since creation */
gpc_cycle_t gpc_gpu_clock(const gpc_gpu_t *gpu);     /* core cycles since creation, also between launches */
uint64_t gpc_gpu_instructions(const gpc_gpu_t *gpu); /* warp instructions, for progress */
/* The words that the last launch has printed: `count` of them in order; returns the number that found no room. */
uint64_t gpc_gpu_printed(const gpc_gpu_t *gpu, const gpc_print_t **records, uint32_t *count);
/* Core cycles from the begin of the last launch to the end of one of its kernels, by number; 0: there is none, or it
 * has not ended. */
gpc_cycle_t gpc_gpu_kernel_end(const gpc_gpu_t *gpu, uint32_t number);
void gpc_gpu_occupancy(const gpc_gpu_t *gpu, uint32_t *blocks_done, uint32_t *blocks);

/* All statistics as one JSON object; gpc_gpu_reset_statistics sets them to zero. */
GPC_MUST_CHECK int gpc_gpu_statistics(const gpc_gpu_t *gpu, gpc_text_t *out);
/* A JSON list: the groups l1, core and stalls of each core and its L1. */
GPC_MUST_CHECK int gpc_gpu_core_statistics(const gpc_gpu_t *gpu, gpc_text_t *out);
void gpc_gpu_reset_statistics(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_verify(
    gpc_gpu_t *gpu); /* internal checks of every part; between launches also conservation */
GPC_MUST_CHECK int gpc_gpu_print_state(const gpc_gpu_t *gpu, gpc_text_t *out); /* readable text */

/* Begins a trace; filter->records = 0 ends it. Between launches only; not part of a snapshot. */
GPC_MUST_CHECK int gpc_gpu_trace(gpc_gpu_t *gpu, const gpc_trace_filter_t *filter);
const gpc_trace_t *gpc_gpu_traced(const gpc_gpu_t *gpu); /* NULL: no trace */
/* JSON: {nodes: [[controller, index]], messages: names, tables: {controller: [{states, events, actions}]}}; messages
 * are the protocol's own, by number from GPC_MSG_OWN on. */
GPC_MUST_CHECK int gpc_gpu_trace_names(const gpc_gpu_t *gpu, gpc_text_t *out);

/* Profiles the launches from now on, or not; a profile is dropped. Between launches only; not part of a snapshot. */
GPC_MUST_CHECK int gpc_gpu_profile(gpc_gpu_t *gpu, bool on);
/* The profile as one JSON object; null without one. */
GPC_MUST_CHECK int gpc_gpu_print_profile(const gpc_gpu_t *gpu, gpc_text_t *out);

/* Between launches only. A snapshot can be restored by every GPU of the same machine, protocol and options. */
GPC_MUST_CHECK int gpc_gpu_snapshot(gpc_gpu_t *gpu, gpc_snapshot_t **out);
GPC_MUST_CHECK int gpc_gpu_restore(gpc_gpu_t *gpu, const gpc_snapshot_t *snapshot);
void gpc_snapshot_free(gpc_snapshot_t *snapshot);

#endif
