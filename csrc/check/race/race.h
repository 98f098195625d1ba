/* race.h: the data-race detector (check=True): happens-before over a run's synchronisation, with scopes.
 *
 * Method   Vector clocks with epochs (Flanagan and Freund, FastTrack, PLDI 2009). Scopes as in HRF-indirect (Hower et
 *          al., Heterogeneous-race-free Memory Models, ASPLOS 2014): synchronisation orders threads if each is in the
 *          scope of the other's operation, and order is transitive.
 * Thread   A warp. Blocks are unordered, whatever their cores and times; launches are ordered, and in one the
 *          kernels that follow others.
 * Race     Two unordered accesses to one word by different warps, at least one of them a write, unless both are
 *          synchronising (relaxed or stronger, all atomics) with scopes that include each other's warp.
 * Edges    A release (or a release fence before a relaxed write) to an acquire (or a relaxed read before an acquire
 *          fence) that reads the word later; barriers; the end of a kernel to the begin of those that follow it.
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

/* Subscribes to the cores' stream. at_perform: no read sees a write before it is performed. scoped: not under DRF,
 * whose model has no scopes: all synchronisation then has that of the system. A race is GPC_ERROR_RACE; the cores'
 * failure names both accesses with kernel, line, block, warp and location. */
GPC_MUST_CHECK int gpc_race_create(const gpc_cores_t *cores, gpc_stream_t *stream, bool at_perform, bool scoped,
                                   gpc_race_t **out);
void gpc_race_free(gpc_race_t *self); /* NULL too */
const gpc_race_counts_t *gpc_race_counts(const gpc_race_t *self);
void gpc_race_set_counts(gpc_race_t *self, const gpc_race_counts_t *counts);

#endif
