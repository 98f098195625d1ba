/* tc_weak.h: messages and options of TC-Weak, for its L1 and its L2. */
#ifndef GPC_PROTOCOLS_TEMPORAL_TC_WEAK_H
#define GPC_PROTOCOLS_TEMPORAL_TC_WEAK_H

#include "protocols/temporal/tc.h"

/* clang-format off */
/*     name         class network bytes word line   */
#define TCW_MESSAGES(X, P)                                                                                   \
    X(P, GETS,        REQ, 0,  8, 0, false, "read request for a line, flagged if the copy had expired")      \
    X(P, GETX,        ST,  0, 12, 4, false, "write-through store: word mask and words")                      \
    X(P, ATOMIC,      ATO, 0, 12, 0, false, "atomic read-modify-writes with operands, performed at the L2")  \
    X(P, DATA,        LD,  1, 12, 0, true,  "line to read, with its timestamp")                              \
    X(P, ACK,         ST,  1,  8, 0, false, "store globally visible")                                        \
    X(P, ATOMIC_DATA, ATO, 1, 16, 0, false, "DATA-G: old values of atomics, with the GWCT")                  \
    X(P, UPGR,        ST,  0, 16, 4, false, "store by an L1 that keeps its copy, with the copy's timestamp") \
    X(P, ACK_G,       ST,  1, 12, 0, false, "store performed, with the GWCT")                                \
    X(P, DATA_G,      ST,  1, 12, 0, true,  "store performed, with the GWCT and the line: the copy of the UPGR is stale")
/* clang-format on */
GPC_MESSAGES(TCW, TCW_MESSAGES)
BASELINE_SAME_MESSAGES(TCW);

enum {
    TCW_OPTION_LIFETIME,
    TCW_OPTION_PRIVATE,
    TCW_OPTION_PREDICTOR,
    TCW_OPTION_PREDICTOR_BOUNDS,
    TCW_OPTION_PREDICT_DOWN,
    TCW_OPTION_SIMULATOR,
    TCW_OPTION_LAUNCH,
    TCW_OPTION_BYTES
};
enum { TCW_LIFETIME_PREDICTED = -1 };
enum { TCW_PRIVATE_LITERAL, TCW_PRIVATE_BUMP };
enum { TCW_PREDICTOR_PAPER, TCW_PREDICTOR_REFERENCE };
enum { TCW_BOUNDS_REFERENCE, TCW_BOUNDS_WIDTH };
enum { TCW_PREDICT_DOWN_STORE, TCW_PREDICT_DOWN_WRITE };
enum { TCW_SIMULATOR_OFF, TCW_SIMULATOR_AUTHORS };
enum { TCW_LAUNCH_DROP, TCW_LAUNCH_WAIT };

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
