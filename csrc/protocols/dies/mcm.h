/* mcm.h: MCM, whose L2s keep lines of other dies until an acquire: messages, and what L1 and L2 share.
 *
 * A line's home is the L2 bank of its page's die, which orders what is done to it. For the cores of another die, the
 * bank of the same number there is near: it keeps lines that weak loads have read, and passes everything else on to the
 * home. */
#ifndef GPC_PROTOCOLS_DIES_MCM_H
#define GPC_PROTOCOLS_DIES_MCM_H

#include "controller/toolkit.h"
#include "protocols/baseline/baseline.h"

/* Sizes are inferred, as those of the baselines. What a near bank passes on is answered to the core by the home. */
/* clang-format off */
/*     name         class network bytes word line   */
#define MCM_MESSAGES(X, P)                                                                                              \
    BASELINE_MESSAGES(X, P)                                                                                             \
    X(P, GETS_HOME,     REQ, 0,  8, 0, false, "read request of order relaxed or stronger, read at the line's home")     \
    X(P, DROP,          INV, 2,  8, 0, false, "an acquire: drop the lines of other dies")                               \
    X(P, DROPPED,       INV, 1,  8, 0, false, "they are dropped")                                                       \
    X(P, NEAR_GETS,     REQ, 3,  8, 0, false, "a near L2 wants the line")                                               \
    X(P, PASSED_GETS,   REQ, 3,  8, 0, false, "a core's read request, passed on")                                       \
    X(P, PASSED_GETX,   ST,  3, 12, 4, false, "a core's store, passed on")                                              \
    X(P, PASSED_ATOMIC, ATO, 3, 12, 0, false, "a core's atomic, passed on")                                             \
    X(P, NEAR_DATA,     LD,  4,  8, 0, true,  "line for a near L2")
/* clang-format on */
GPC_MESSAGES(MCM, MCM_MESSAGES)
BASELINE_SAME_MESSAGES(MCM);

#define MCM_NETWORKS                                                                                                   \
    {                                                                                                                  \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                 \
            {.name = "drop"},                                                                                          \
            {.name = "between", .ordered = true, .requests = true, .star = true, .rotates = true},                    \
            {.name = "back", .star = true},                                                                            \
    }

enum { MCM_TABLE_LINES, MCM_TABLE_UNIT };

#define MCM_L1_STATES(X) BASELINE_L1_STATES(X)
#define MCM_L2_STATES(X)                                                                                               \
    BASELINE_L2_STATES(X)                                                                                              \
    X(L2_N, STABLE, "near line, readable")                                                                             \
    X(L2_NP, TRANSIENT_CACHE, "near line on its way; later loads merge")                                               \
    X(L2_NX, TRANSIENT_COHERENCE, "near line on its way, which will not be kept")
extern const gpc_controller_type_t mcm_l1, mcm_l2;

/* L1: the parts of an acquire, and what waits for it (mcm_l1.c). */
GPC_MUST_CHECK int mcm_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
GPC_MUST_CHECK int mcm_before(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
GPC_MUST_CHECK int mcm_barrier(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);

#endif
