/* stc_cu.h: a CU of STC, shared by its lines (stc_l1.c), its blocked-store queue (stc_queue.c), its turns (stc_turns.c)
 * and the monitors (stc_checks.c).
 */
#ifndef GPC_PROTOCOLS_SPATIOTEMPORAL_STC_CU_H
#define GPC_PROTOCOLS_SPATIOTEMPORAL_STC_CU_H

#include "protocols/spatiotemporal/stc.h"

#define STC_BUFFER_STATES(X)                                                                                           \
    SRC_BUFFER_STATES(X)                                                                                               \
    X(BUFFER_BLOCKED, STABLE, "in the blocked-store queue")                                                            \
    X(BUFFER_READY, STABLE, "in the queue, its band's epoch has begun")
#define STC_CU_STATES(X)                                                                                               \
    X(CU_RUN, STABLE, "stores of the current bands are issued")                                                        \
    X(CU_DRAIN, TRANSIENT_COHERENCE, "PREPARE has come, stores are outstanding")                                       \
    X(CU_READY, TRANSIENT_COHERENCE, "READY sent")                                                                     \
    X(CU_SWEEP, TRANSIENT_COHERENCE, "CHANGE has come, untouched sets are being cleaned")                              \
    X(CU_WAIT, TRANSIENT_COHERENCE, "changed; skew=resume: others may not have")

#define STC_CU_COUNTERS(X, P)                                                                                          \
    X(P, uncached_loads, "loads of a band that may be written, at the L2")                                             \
    X(P, stores_blocked, "stores and atomics that waited in the blocked-store queue")                                  \
    X(P, bsq_cycles, "entries in the blocked-store queue, summed over core cycles")                                    \
    X(P, bsq_at_changes, "entries in the blocked-store queue when an epoch begins, summed")                            \
    X(P, bsq_most, "most entries in the blocked-store queue, summed over CUs")                                         \
    X(P, demands, "DEMAND messages")                                                                                   \
    X(P, conflicts, "CONFLICT messages")                                                                               \
    X(P, sets_swept, "untouched sets cleaned at the end of an epoch, one a cycle")
enum { STC_CU_COUNTERS(GPC_COUNT_ENUM_, STC_CU) };

typedef struct {
    uint64_t bits[STC_MOST_SETS / 64];
} stc_touched_t;
/* Not encoded by the explorer: what follows from the entries, and `touched`, which tells how long a sweep takes: a set
 * that has been touched holds no line of a current band (stc_monitor), so there is nothing in it to clean. */
#define STC_CU(FIELD)                                                                                                  \
    FIELD(PLAIN, uint32_t, current)    /* CER: bit e: epoch e; 0: before the first launch */                           \
    FIELD(PLAIN, uint32_t, next)       /* of PREPARE; 0: none */                                                       \
    FIELD(PLAIN, uint8_t, seb)                                                                                         \
    FIELD(PLAIN, uint8_t, next_seb)                                                                                    \
    FIELD(PLAIN, uint8_t, honours)     /* loads of the epochs to come read at the L2 too */                            \
    FIELD(PLAIN, uint8_t, sweeps)      /* untouched sets are being cleaned */                                          \
    FIELD(PLAIN, uint32_t, demanded)   /* bit e: a DEMAND for e has been sent since e's last turn */                   \
    FIELD(PLAIN, uint32_t, conflicts)  /* bit e: a CONFLICT has */                                                     \
    FIELD(PLAIN, uint32_t, writes)     /* PW: stores and atomics issued and not acknowledged */                        \
    FIELD(STATISTIC, uint8_t, drained) /* stores were outstanding when PREPARE came */                                 \
    FIELD(STATISTIC, uint32_t, blocked)           /* entries in the blocked-store queue */                             \
    FIELD(STATISTIC, stc_per_epoch_t, blocked_in) /* of them, those of each epoch */                                   \
    FIELD(STATISTIC, stc_touched_t, touched)      /* bit s: set s has been accessed in this epoch, and cleaned */      \
    FIELD(STATISTIC, gpc_cycle_t, counted)        /* until when bsq_cycles counts */
GPC_METADATA(stc_cu, unit, STC_CU)

/* Whether the CU may write the line in this epoch. */
static inline bool
stc_is_current(const gpc_controller_t *unit, gpc_address_t line)
{
    const stc_cu_unit_t *cu = stc_cu_unit(unit);
    return cu->current >> stc_band(unit, line, cu->seb) & 1;
}

/* Whether a load of the line must read at the L2: a CU may be writing it. */
static inline bool
stc_is_written(const gpc_controller_t *unit, gpc_address_t line)
{
    const stc_cu_unit_t *cu = stc_cu_unit(unit);
    return stc_is_current(unit, line) || (cu->honours && (cu->next >> stc_band(unit, line, cu->next_seb) & 1));
}

GPC_MUST_CHECK int stc_tell_emu(gpc_step_t *x, uint8_t type, uint64_t address);
/* The set's lines of current bands go, except that of an access (GPC_NEVER: none). */
GPC_MUST_CHECK int stc_clean_set(gpc_controller_t *unit, uint32_t set, gpc_address_t except);
/* Takes a step of every entry in the blocked-store queue. */
GPC_MUST_CHECK int stc_each_blocked(gpc_controller_t *unit, uint8_t cause);
/* Counts the entries of each band, under a new start epoch bit. */
void stc_count_bands(gpc_controller_t *unit);

extern const gpc_table_t stc_lines, stc_conflicting;  /* the lines of stc-nv and stc-es, and of the others */
extern const gpc_table_t stc_blocking, stc_demanding; /* the coalescing buffer of stc-nv, and of the others */
extern const gpc_table_t stc_turns, stc_turns_resuming;

#endif
