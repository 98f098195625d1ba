/* monitor.h: run-time monitors (check=True): they check the promises of a protocol during a run, independently of its tables.
 *
 * They observe controllers after every step, writes when performed, requests when completed (gpc_watch_t), fences and barriers
 * (core/core.h). A protocol declares the invariants: gpc_watched_t and its own `monitor`. Monitors do not change the run: it takes
 * the same steps with and without them. */
#ifndef GPC_CHECK_MONITOR_H
#define GPC_CHECK_MONITOR_H

#include "base/text.h"
#include "check/shadow.h"
#include "controller/protocol.h"
#include "core/memory/order.h"

/* X(name, text): numbers of checks, so that a run without checks is evident. */
#define GPC_MONITOR_COUNTS(X)                                                                 \
    X(steps, "controller steps after which the states of the line were checked")              \
    X(writes, "performed stores and atomics checked against other L1s' copies and leases")    \
    X(loads, "words of loads compared with what they may return")                             \
    X(atomics, "old values of atomics compared with what the word held")                      \
    X(accepted, "words of stores accepted before they were performed")                        \
    X(copies, "lines in L1s compared, word by word, with the last performed writes")          \
    X(banks, "lines in banks compared in the same way")                                       \
    X(leases, "unexpired copies compared with the bank's lease")                              \
    X(lease_hits, "hits on copies that may expire")                                           \
    X(order, "loads of a word that the warp has accessed before: the value may not be older") \
    X(fences, "releases checked for the global visibility of their warp's writes")            \
    X(undecided, "words of loads not decided: too many writes in the meantime")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_MONITOR_COUNTS(X)
#undef X
} gpc_monitor_counts_t;

typedef struct gpc_monitor gpc_monitor_t;

/* The controllers that a monitor observes; all borrowed. */
typedef struct {
    const gpc_protocol_t *protocol;
    const gpc_machine_t *machine;
    gpc_controller_t *const *l1s;      /* [cores] */
    gpc_controller_t *banks;           /* [partitions] */
    gpc_controller_t *global, *memory; /* NULL: the machine has none */
    const gpc_pool_t *messages, *lane_lists;
} gpc_monitored_t;

GPC_MUST_CHECK int gpc_monitor_create(const gpc_monitored_t *about, gpc_monitor_t **out);
void gpc_monitor_free(gpc_monitor_t *self); /* NULL too */
const gpc_monitor_counts_t *gpc_monitor_counts(const gpc_monitor_t *self);
void gpc_monitor_set_counts(gpc_monitor_t *self, const gpc_monitor_counts_t *counts);

/* Host writes to memory: all contents are forgotten; a range has these contents. */
void gpc_monitor_forget_memory(gpc_monitor_t *self);
GPC_MUST_CHECK int gpc_monitor_host_wrote(gpc_monitor_t *self, gpc_address_t address, uint64_t words,
                                          const uint32_t *in);

/* The callbacks of gpc_watch_t. */
GPC_MUST_CHECK int gpc_monitor_stepped(gpc_monitor_t *self, gpc_controller_t *unit, gpc_address_t line);
GPC_MUST_CHECK int gpc_monitor_performed(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write,
                                         gpc_cycle_t until);
GPC_MUST_CHECK int gpc_monitor_accepted(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *store);
GPC_MUST_CHECK int gpc_monitor_completed(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *request,
                                         const uint32_t *words, bool hit);

/* A block begins on these warps of the core; their history is cleared. */
void gpc_monitor_block_began(gpc_monitor_t *self, uint32_t core, uint32_t first_warp, uint32_t warps);
/* order.c has admitted the warp's access, fence or exit. */
GPC_MUST_CHECK int gpc_monitor_ordered(gpc_monitor_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access);
/* The launch ends: every accepted store must be performed. */
GPC_MUST_CHECK int gpc_monitor_at_rest(gpc_monitor_t *self);
/* The warps have met at a barrier: each inherits the writes of all of them. */
void gpc_monitor_met(gpc_monitor_t *self, uint32_t core, uint64_t warps);

#endif
