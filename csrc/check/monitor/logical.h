/* logical.h: the monitor's own clocks for protocols of logical time (GPC_PROMISE_LOGICAL): of each core, from the
 * versions that it reads and writes, and of each line, from the versions of its writes and the leases that its bank has
 * given. */
#ifndef GPC_CHECK_LOGICAL_H
#define GPC_CHECK_LOGICAL_H

#include "check/pages.h"
#include "controller/protocol.h"

typedef struct {
    uint64_t version; /* of the last write performed */
    uint64_t lease;   /* the latest one given */
} gpc_logical_line_t;

typedef struct {
    uint64_t reads, writes; /* the versions read, or written; equal unless the protocol has two views */
} gpc_logical_clock_t;

typedef struct {
    uint64_t floor; /* no later access of the warp may be earlier */
    uint64_t seen;  /* the latest version that the warp has read or written */
    /* of the versions of writes that the warp has issued since `since`: what it had seen at its last release or
     * acquire */
    uint64_t least;
    gpc_cycle_t since;
    bool acquires; /* its last access was an acquire */
} gpc_logical_warp_t;

typedef struct {
    const gpc_watched_t *watched; /* borrowed */
    uint32_t num_cores, warps_per_core;
    gpc_pages_t lines;
    gpc_logical_clock_t *clocks; /* owned; by warp, if every warp has a clock; else a core's is its first warp's */
    uint64_t begin;              /* the latest time of all clocks when the launch began */
    gpc_logical_warp_t *warps;   /* owned */
    uint64_t *versions;          /* owned; by the core's request: of its write, until it is answered */
} gpc_logical_t;

GPC_MUST_CHECK int gpc_logical_init(gpc_logical_t *self, const gpc_watched_t *watched, const gpc_machine_t *machine,
                                    uint32_t messages);
void gpc_logical_free(gpc_logical_t *self); /* zeroed, or twice, too */
void gpc_logical_forget(gpc_logical_t *self);

/* A launch begins: it is ordered after everything before it. */
void gpc_logical_launched(gpc_logical_t *self);
/* order.c has permitted the warp's access, fence or exit. */
void gpc_logical_ordered(gpc_logical_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access,
                         gpc_cycle_t now);
/* A block begins on the warp: it has seen nothing of this launch. */
void gpc_logical_began(gpc_logical_t *self, uint32_t core, uint32_t warp);
/* The warps have met at a barrier: what one has seen, all have. */
void gpc_logical_met(gpc_logical_t *self, uint32_t core, uint64_t warps);
/* A step of the line's bank: it remembers every lease. */
GPC_MUST_CHECK int gpc_logical_bank(gpc_logical_t *self, gpc_controller_t *bank, gpc_address_t line);
/* A write of a request that issued in that cycle is performed at the version: later than every lease, no earlier than
 * the line's last one, nor than what its warp had seen before a release or acquire. */
GPC_MUST_CHECK int gpc_logical_performed(gpc_logical_t *self, gpc_controller_t *unit, const gpc_msg_t *write,
                                         gpc_cycle_t issued, uint64_t version);
/* The core's store or atomic completes: its clock has reached the version. */
GPC_MUST_CHECK int gpc_logical_answered(gpc_logical_t *self, gpc_controller_t *l1, const gpc_msg_t *request);
/* A load has read a value that was written at the version: its core's clock has reached it. */
GPC_MUST_CHECK int gpc_logical_loaded(gpc_logical_t *self, gpc_controller_t *l1, const gpc_msg_t *load,
                                      uint64_t version);
/* A value that was replaced at this version, or an earlier one, is too old for the load. */
uint64_t gpc_logical_time_of(const gpc_logical_t *self, const gpc_msg_t *load, bool hit);

#endif
