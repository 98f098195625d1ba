/* lrm.h: LRM, whose homes know which die has synchronised on a variable last: messages, and the L2.
 *
 * L2s keep the lines of other dies as those of MCM (mcm.h). A directory beside the home's bank has an owner, a die, for
 * each of some synchronisation variables. An acquire or release of its owner's die drops no near line; any other one
 * makes its die the owner, whose near L2s drop their near lines before one of them passes the answer on. */
#ifndef GPC_PROTOCOLS_DIES_LRM_H
#define GPC_PROTOCOLS_DIES_LRM_H

#include "protocols/dies/mcm.h"

/* Sizes are inferred, as those of the baselines. */
/* clang-format off */
/*     name          class network bytes word line   */
#define LRM_MESSAGES(X, P)                                                                                              \
    MCM_MESSAGES(X, P)                                                                                                  \
    X(P, BACK_DATA,     LD,  4,  8, 0, true,  "DATA for a load that acquires, by the near L2 of its die")               \
    X(P, BACK_ACK,      ST,  4,  8, 0, false, "ACK of a store that releases, by the near L2 of its die")                \
    X(P, BACK_ATOMIC,   ATO, 4, 12, 0, false, "ATOMIC_DATA of an atomic that synchronises, by the near L2 of its die")  \
    X(P, DROP_DIE,      INV, 5,  8, 0, false, "another L2 bank of the die: drop the lines of other dies")               \
    X(P, DIE_DROPPED,   INV, 5,  8, 0, false, "they are dropped")
/* clang-format on */
GPC_MESSAGES(LRM, LRM_MESSAGES)
BASELINE_SAME_MESSAGES(LRM);
GPC_SAME_NUMBER(LRM_NEAR_DATA, MCM_NEAR_DATA);

#define LRM_MESSAGE(FIELD) FIELD(PLAIN, uint8_t, drops) /* BACK_*: the die drops its near lines first */
GPC_METADATA(lrm, message, LRM_MESSAGE)

/* "back" is ordered: an answer that drops comes to its die before a later one for which the die is the owner. */
#define LRM_NETWORKS                                                                                                   \
    {                                                                                                                  \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                 \
            {.name = "drop"},                                                                                          \
            {.name = "between", .ordered = true, .requests = true, .star = true, .rotates = true},                    \
            {.name = "back", .ordered = true, .star = true}, {.name = "within", .star = true},                        \
    }

enum { LRM_SYNC_ENTRIES };
#define LRM_OPTIONS                                                                                                    \
    {                                                                                                                  \
        GPC_NUMBER("sync_entries", 0, 0, 1 << 20,                                                                      \
                   "Synchronisation variables that the directory of each L2 bank lists; 0: 16 a die, at least one a "  \
                   "bank",                                                                                             \
                   0, 1, 4),                                                                                           \
    }

#define LRM_L2_STATES(X) MCM_L2_STATES(X)

#define LRM_L2_UNIT(FIELD)                                                                                             \
    FIELD(PLAIN, uint8_t, asking)       /* during a step of the directory: the die whose access it is */               \
    FIELD(PLAIN, uint8_t, drops)        /* and the outcome: that die's near lines must be dropped */                   \
    FIELD(PLAIN, uint32_t, awaited)     /* banks of the die that have yet to drop */                                   \
    FIELD(PLAIN, uint32_t, served)      /* answers that wait for them, the first ones */                               \
    FIELD(REQUEST, gpc_list_t, answers) /* to pass on, in order */
GPC_METADATA(lrm_l2, unit, LRM_L2_UNIT)

#define LRM_COUNTERS(X, P)                                                                                             \
    X(P, sync_local, "acquires and releases of variables that their die owns")                                         \
    X(P, sync_moved, "acquires and releases of variables that no die or another one owns")                             \
    X(P, sync_replaced, "variables that lost their owner to another variable")                                         \
    X(P, sync_disowned, "variables that lost their owner to another store or atomic of another die")                   \
    X(P, die_drops, "drops of the die's near lines for acquires and releases")
enum { LRM_COUNTERS(GPC_COUNT_ENUM_, LRM_COUNT) };

extern const gpc_controller_type_t lrm_l2;

/* ---- the directory of synchronisation variables (lrm_directory.c) ------------------------------------------------ */

#define LRM_ENTRY(FIELD) FIELD(PLAIN, uint8_t, owner)
GPC_METADATA(lrm_directory, entry, LRM_ENTRY)

extern const gpc_table_t lrm_directory;
/* Whether the access acquires or releases a variable, of which several dies may have synchronised. */
static inline bool
lrm_synchronises(const gpc_controller_t *unit, const gpc_msg_t *access)
{
    return access->order > GPC_ORDER_RELAXED && unit->machine->dies > 1;
}
/* The access is performed at the home. *drops: its die must drop its near lines before it has the answer. */
GPC_MUST_CHECK int lrm_note(gpc_step_t *x, const gpc_msg_t *access, bool *drops);

#endif
