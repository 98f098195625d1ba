/* race.h: the data-race detector (check=True): happens-before over a run's synchronisation, with scopes.
 *
 * Method   Vector clocks with epochs (Flanagan and Freund, FastTrack, PLDI 2009). Scopes as in HRF-indirect (Hower et
 *          al., Heterogeneous-race-free Memory Models, ASPLOS 2014): synchronisation orders threads if each is in the
 *          scope of the other's operation, and order is transitive.
 * Thread   A warp. Blocks are unordered, whatever their cores and times; launches are ordered.
 * Race     Two unordered accesses to one word by different warps, at least one of them a write, unless both are
 *          synchronising (relaxed or stronger, all atomics) with scopes that include each other's warp.
 * Edges    A release (or a release fence before a relaxed write) to an acquire (or a relaxed read before an acquire
 *          fence) that reads the word later; barriers; launches.
 * Differs  An acquire counts as reading everything released to the word before it completed, whatever its value: the
 *          clock of a word only grows. Where copies may be stale or early (leases, no coherence), a release counts from
 *          its issue. Both can hide races but never report false ones. */
#ifndef GPC_CHECK_RACE_H
#define GPC_CHECK_RACE_H

#include "core/core.h"

/* X(name, text): counts of checked accesses, which show a run that has checked nothing. */
#define GPC_RACE_COUNTS(X)                                                                                             \
    X(accesses, "words read and written by weak accesses of warps")                                                    \
    X(synchronising, "words read and written by relaxed and stronger accesses of warps")                               \
    X(fences, "fences of warps")                                                                                       \
    X(barriers, "arrivals of warps at barriers")                                                                       \
    X(acquires, "words read that acquired a release")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_RACE_COUNTS(X)
#undef X
} gpc_race_counts_t;

typedef struct gpc_race gpc_race_t;

/* at_perform: gpc_race_performed is called when writes are performed, and no read sees them earlier. scoped: not under
 * DRF, whose model has no scopes: all synchronisation then has that of the GPU. */
GPC_MUST_CHECK int gpc_race_create(const gpc_machine_t *machine, bool at_perform, bool scoped, gpc_failure_t *failure,
                                   gpc_race_t **out);
void gpc_race_free(gpc_race_t *self); /* NULL too */
const gpc_race_counts_t *gpc_race_counts(const gpc_race_t *self);
void gpc_race_set_counts(gpc_race_t *self, const gpc_race_counts_t *counts);

/* The functions of gpc_core_watch_t. A race is GPC_ERROR_RACE; the failure names both accesses with kernel, line,
 * block, warp and location. */
GPC_MUST_CHECK int gpc_race_launched(gpc_race_t *self, const gpc_launch_t *launch, uint32_t warps_per_block);
void gpc_race_block_began(gpc_race_t *self, uint32_t core, uint32_t number, uint32_t first_warp, uint32_t first_word);
GPC_MUST_CHECK int gpc_race_accessed(gpc_race_t *self, const gpc_core_event_t *event);
GPC_MUST_CHECK int gpc_race_ordered(gpc_race_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access);
GPC_MUST_CHECK int gpc_race_met(gpc_race_t *self, uint32_t core, uint32_t block, uint32_t id, uint32_t warp,
                                uint64_t released);
/* A store or atomic of the core, part of access `name`, is performed; gpc_race_completed: a request is completed. */
GPC_MUST_CHECK int gpc_race_performed(gpc_race_t *self, const gpc_msg_t *request, gpc_index_t name);
GPC_MUST_CHECK int gpc_race_completed(gpc_race_t *self, const gpc_msg_t *request);

#endif
