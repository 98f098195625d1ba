/* monitor_parts.h: internals of the monitors: monitor.c (copies in caches, fences) and monitor_values.c (writes and
 * loads). */
#ifndef GPC_CHECK_MONITOR_PARTS_H
#define GPC_CHECK_MONITOR_PARTS_H

#include "check/accepted.h"
#include "check/copies.h"
#include "check/monitor/logical.h"
#include "check/monitor/monitor.h"

/* The last version of a word that a warp has seen. A hash collision drops the older entry, which only loses checks. */
typedef struct {
    gpc_address_t address;
    gpc_cycle_t issued; /* of its access */
    uint64_t version;   /* version read or written, or a later one */
    uint64_t reader;    /* warp and block */
} gpc_seen_t;

enum { GPC_SEEN_PLACES = 1 << 16, GPC_ACQUIRES = 16 };

/* The last acquires of a core's L1, or acquires or order points of a warp: number n is at n % GPC_ACQUIRES. */
typedef struct {
    uint64_t count;
    gpc_cycle_t at[GPC_ACQUIRES];
    gpc_cycle_t from[GPC_ACQUIRES]; /* the earliest time of what may be read after it */
} gpc_acquires_t;

/* The last cell of a table that a controller has begun to execute for a line; unit NULL: none yet. */
typedef struct {
    const gpc_controller_t *unit;
    const gpc_table_t *table;
    gpc_cycle_t cycle;
    uint8_t state, event;
} gpc_last_cell_t;

/* What the monitors keep of a line. */
typedef struct {
    gpc_last_cell_t last;
    gpc_nodeset_t holders; /* cores whose L1s may have a copy: the others need no look */
    gpc_mask_t ahead;      /* words performed elsewhere, which the home lacks yet (gpc_watched_t.near_ahead) */
} gpc_monitored_line_t;

/* Of a protocol whose atomics are performed beyond the banks, which order stores (gpc_watched_t.atomics_apart): numbers
 * in the order of the banks. */
typedef struct {
    uint64_t count;
    uint64_t *passed;   /* owned; [messages]: by the core's request, of its atomic, since a bank has passed it on */
    gpc_pages_t stores; /* by word, of the last store performed */
} gpc_bank_order_t;

typedef struct {
    gpc_cycle_t visible; /* cycle after which its writes are globally visible */
    gpc_cycle_t met;     /* cycle in which it left a barrier last */
    gpc_cycle_t wrote;   /* cycle in which a write of its was performed last */
    uint32_t accepted;   /* words of its stores that are complete and not yet known to be performed */
    uint64_t life;       /* changes when a block begins on the warp */
} gpc_monitored_warp_t;

/* Of gpc_watched_t.by_variable. */
typedef struct {
    gpc_pages_t writers; /* by word: the last writes that are not weak */
    gpc_cycle_t *named; /* owned; [cores * warps_per_core]: the latest of other dies' that the warp's acquires follow */
    gpc_cycle_t *of_die; /* owned; [dies]: the latest of those of its warps that have released since */
} gpc_variables_t;

struct gpc_monitor {
    gpc_subscriber_t subscriber;
    gpc_monitored_t about;
    gpc_watched_t watched;
    gpc_monitor_counts_t counts;
    gpc_shadow_t shadow;
    gpc_seen_t *seen;             /* owned; [GPC_SEEN_PLACES] */
    gpc_monitored_warp_t *warps;  /* owned; [cores * warps_per_core] */
    gpc_acquires_t *acquires;     /* owned; [cores] */
    gpc_acquires_t *own_acquires; /* owned; [cores * warps_per_core]: of warps, under the promise ACQUIRED; else NULL */
    gpc_acquires_t *points;  /* owned; [cores * warps_per_core]: order points, of L1s whose loads join; else NULL */
    gpc_cycle_t launched;    /* begin of the launch */
    gpc_cycle_t released;    /* of gpc_watched_t.released: what was performed by then is in no older copy of an L2 */
    gpc_mask_t *performed;   /* owned; [messages]: by the core's request, words whose write waits for its answer */
    gpc_accepted_t accepted; /* owned */
    gpc_logical_t logical;   /* owned; of the promise LOGICAL */
    gpc_pages_t lines;       /* gpc_monitored_line_t by line */
    gpc_bank_order_t order;
    gpc_variables_t variables;
    uint64_t lives;
};

/* monitor_values.c: a store or atomic is performed; a store is accepted; a request is completed; at the end of a launch
 * every accepted store has been performed. */
GPC_MUST_CHECK int gpc_monitor_performed(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write,
                                         gpc_cycle_t until);
GPC_MUST_CHECK int gpc_monitor_accepted(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *store);
GPC_MUST_CHECK int gpc_monitor_completed(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *request,
                                         const uint32_t *words, bool hit);
GPC_MUST_CHECK int gpc_monitor_at_rest(gpc_monitor_t *self);
/* Whether a store of the warp is complete and certainly not performed. */
bool gpc_monitor_has_stores(const gpc_monitor_t *self, uint32_t core, uint32_t warp);

/* monitor_cells.c: a controller begins to execute a cell; its violation is completed by the line's last cell. An L1
 * that has executed none for a line since the launch began, or since it was found without a copy, has none. */
GPC_MUST_CHECK int gpc_monitor_init_cells(gpc_monitor_t *self);
void gpc_monitor_free_cells(gpc_monitor_t *self);
void gpc_monitor_forget_cells(gpc_monitor_t *self);
GPC_MUST_CHECK int gpc_monitor_cell(gpc_monitor_t *self, const gpc_step_t *x, const gpc_cell_t *cell, uint8_t event);
void gpc_monitor_name_cell(gpc_monitor_t *self);
gpc_monitored_line_t *gpc_monitor_line(gpc_monitor_t *self, gpc_address_t line); /* made if missing; NULL: no memory */
/* The next core from `core` on whose L1 may have a copy of the line; a number from GPC_MAX_CORES on: there is none. */
static inline uint32_t
gpc_monitor_next_holder(const gpc_monitored_line_t *line, uint32_t core)
{
    uint32_t word = core / 64;
    uint64_t left = word < GPC_NODESET_WORDS ? line->holders.bits[word] & UINT64_MAX << core % 64 : 0;
    while (!left && ++word < GPC_NODESET_WORDS) {
        left = line->holders.bits[word];
    }
    return left ? word * 64 + (uint32_t) __builtin_ctzll(left) : GPC_MAX_NODES;
}
/* The bank performs a store to the word; whether one was performed since the banks have passed the atomic on. */
GPC_MUST_CHECK int gpc_monitor_note_stored(gpc_monitor_t *self, gpc_address_t address);
bool gpc_monitor_is_overtaken(const gpc_monitor_t *self, const gpc_msg_t *atomic, gpc_address_t address);

/* monitor_variables.c: a write is performed; a request is completed; the warp's acquire is complete, after which it
 * sees what was performed by the returned cycle; an access of the warp that releases issues. */
GPC_MUST_CHECK int gpc_monitor_init_variables(gpc_monitor_t *self);
void gpc_monitor_free_variables(gpc_monitor_t *self);
GPC_MUST_CHECK int gpc_monitor_variable_written(gpc_monitor_t *self, const gpc_msg_t *write, gpc_cycle_t now);
void gpc_monitor_variable_acquired(gpc_monitor_t *self, const gpc_msg_t *request);
gpc_cycle_t gpc_monitor_acquired_from(const gpc_monitor_t *self, uint32_t core, uint32_t warp);
void gpc_monitor_variable_released(gpc_monitor_t *self, uint32_t core, uint32_t warp);

static inline gpc_monitored_warp_t *
gpc_monitor_warp(const gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    return &self->warps[(size_t) core * self->about.machine->warps_per_core + warp];
}

static inline gpc_cycle_t
gpc_monitor_now(const gpc_controller_t *unit)
{
    return unit->ports->now(unit->world);
}

static inline void
gpc_monitor_note_acquire(gpc_acquires_t *acquires, gpc_cycle_t at, gpc_cycle_t from)
{
    uint64_t n = acquires->count++ % GPC_ACQUIRES;
    acquires->at[n] = at;
    acquires->from[n] = from;
}

/* The warp has passed an order point at this cycle (gpc_order_traits_t.order_point), which the monitors recognise by
 * themselves. */
static inline void
gpc_monitor_note_point(gpc_monitor_t *self, uint32_t core, uint32_t warp, gpc_cycle_t at)
{
    if (self->points) {
        gpc_acquires_t *points = &self->points[(size_t) core * self->about.machine->warps_per_core + warp];
        gpc_monitor_note_acquire(points, at, at);
    }
}

static inline bool
gpc_monitor_is_logical(const gpc_monitor_t *self)
{
    return self->watched.promise == GPC_PROMISE_LOGICAL;
}

#endif
