/* prototype_limits.h: the smallest tables for the tests of resource limits: a recall, pre-events, words, two tables, a
 * state in two arrays. Their actions are complete. */
#ifndef GPC_TESTS_PROTOTYPE_LIMITS_H
#define GPC_TESTS_PROTOTYPE_LIMITS_H

#include "controller/protocol.h"

/* clang-format off */
#define LIMITS_MESSAGES(X, prefix)                                              \
    X(prefix, GET,  REQ, 0, 8, 0, false, "words are wanted")                   \
    X(prefix, PUT,  ST,  0, 8, 4, false, "words are given")                    \
    X(prefix, BACK, WB,  0, 8, 4, false, "words of an evicted line")           \
    X(prefix, DATA, LD,  1, 8, 4, false, "words that were wanted")             \
    X(prefix, ACK,  ST,  1, 8, 0, false, "the recall is done")
/* clang-format on */
GPC_MESSAGES(LIMITS, LIMITS_MESSAGES)

/* Controllers of the protocol: lines, words, two tables, a directory with more lines than its data. */
enum { LIMITS_LINES, LIMITS_WORDS, LIMITS_TWO, LIMITS_DIRECTORY };
extern const gpc_protocol_t prototype_limits;

#endif
