/* tc_weak.h: TC-Weak's messages and options, for its two levels. */
#ifndef GPC_PROTOCOLS_TEMPORAL_TC_WEAK_H
#define GPC_PROTOCOLS_TEMPORAL_TC_WEAK_H

#include "protocols/temporal/tc.h"

/* clang-format off */
/*     name         class network bytes word line   */
#define TCW_MESSAGES(X, P)                                                                                             \
    X(P, GETS,        REQ, 0,  8, 0, false, "a load wants the line; flagged when the miss was on an expired copy")     \
    X(P, GETX,        ST,  0, 12, 4, false, "a store: word mask and words")                                            \
    X(P, ATOMIC,      ATO, 0, 12, 0, false, "read-modify-writes with their operands, performed at the L2")             \
    X(P, DATA,        LD,  1, 12, 0, true,  "the line and its timestamp")                                              \
    X(P, ACK,         ST,  1,  8, 0, false, "the store is visible everywhere")                                         \
    X(P, ATOMIC_DATA, ATO, 1, 16, 0, false, "DATA-G: the old values, and when the atomic is visible everywhere")       \
    X(P, UPGR,        ST,  0, 16, 4, false, "a store by an L1 that keeps its copy, with its timestamp")                \
    X(P, ACK_G,       ST,  1, 12, 0, false, "the store is performed, and when it is visible everywhere")               \
    X(P, DATA_G,      ST,  1, 12, 0, true,  "the same for a UPGR whose copy is not the only one: with the line")
/* clang-format on */
GPC_MESSAGES(TCW, TCW_MESSAGES)
BASELINE_SAME_MESSAGES(TCW);

enum { TCW_OPTION_LIFETIME, TCW_OPTION_PRIVATE };
enum { TCW_LIFETIME_PREDICTED = -1 };
enum { TCW_PRIVATE_LITERAL, TCW_PRIVATE_BUMP };

static inline bool
tcw_predicts(const gpc_controller_t *unit)
{
    return unit->options[TCW_OPTION_LIFETIME] == TCW_LIFETIME_PREDICTED;
}
static inline bool
tcw_bumps(const gpc_controller_t *unit)
{
    return unit->options[TCW_OPTION_PRIVATE] == TCW_PRIVATE_BUMP;
}

extern const gpc_controller_type_t tcw_l1, tcw_l2;
GPC_MUST_CHECK int tcw_monitor(const gpc_units_t *units, gpc_address_t line);

#endif
