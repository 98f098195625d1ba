/* sketch_tc_weak.h: what both levels of the TC-Weak sketch share: messages and their fields. */
#ifndef GPC_TESTS_SKETCH_TC_WEAK_H
#define GPC_TESTS_SKETCH_TC_WEAK_H

#include "tests/sketches.h"

/* clang-format off */
/*    name    class network bytes word line   */
#define TCW_MESSAGES(X, prefix)                                                                       \
    X(prefix, GETS,    REQ, 0,  8, 0, false, "read; flagged when the miss was on an expired copy")    \
    X(prefix, GETX,    ST,  0, 12, 4, false, "write-through of words")                                \
    X(prefix, UPGRADE, ST,  0, 16, 4, false, "write-through by an L1 that keeps its copy, with its timestamp") \
    X(prefix, ATOMIC,  ATO, 0, 16, 0, false, "operands, performed at the L2")                         \
    X(prefix, DATA,    LD,  1, 12, 0, true,  "answer to GETS, with the global timestamp")             \
    X(prefix, ACK,     ST,  1,  8, 0, false, "write performed, visible everywhere")                   \
    X(prefix, ACK_G,   ST,  1, 12, 0, false, "write performed, visible everywhere after the GWCT")    \
    X(prefix, LINE_G,  ST,  1, 12, 0, true,  "answer to a mismatched UPGRADE: line and GWCT")         \
    X(prefix, OLD_G,   ATO, 1, 16, 0, false, "old values of an atomic, and GWCT")
/* clang-format on */
GPC_MESSAGES(TCW, TCW_MESSAGES)

#define TCW_MESSAGE(FIELD)                                                                                             \
    FIELD(TIME, uint64_t, timestamp) /* DATA: lease end; UPGRADE: of the L1's copy; LINE_G: new lease */               \
    FIELD(TIME, uint64_t, gwct)
GPC_DESCRIBE(tcw, message, TCW_MESSAGE)

static inline tcw_message_t *
tcw_fields(gpc_msg_t *msg)
{
    return (tcw_message_t *) (void *) msg->fields;
}

/* Both sides use the same test, and a fence likewise: a lease that ends now is still alive. */
static inline bool
tcw_expired(const gpc_step_t *x, gpc_cycle_t timestamp)
{
    return timestamp < gpc_now(x);
}

extern const gpc_controller_type_t sketch_tcw_l1, sketch_tcw_l2;

#endif
