/* sketch_walls.h: the smallest tables for the tests of resource limits: a recall, pre-events, words, two tables, a state in two
 * arrays. Their actions are complete. */
#ifndef GPC_TESTS_SKETCH_WALLS_H
#define GPC_TESTS_SKETCH_WALLS_H

#include "controller/protocol.h"

/* clang-format off */
#define WALLS_MESSAGES(X, prefix)                                              \
    X(prefix, GET,  REQ, 0, 8, 0, false, "words are wanted")                   \
    X(prefix, PUT,  ST,  0, 8, 4, false, "words are given")                    \
    X(prefix, BACK, WB,  0, 8, 4, false, "words of an evicted line")           \
    X(prefix, DATA, LD,  1, 8, 4, false, "words that were wanted")             \
    X(prefix, ACK,  ST,  1, 8, 0, false, "the recall is done")
/* clang-format on */
GPC_MESSAGES(WALLS, WALLS_MESSAGES)

/* What the tests' world has; the classifiers look at it. */
typedef struct {
    gpc_cycle_t now, woken_at;
    uint32_t wakes, sends, completions;
    uint8_t sent_type;
    gpc_mask_t sent_mask, completed_mask;
    uint32_t sent_word[2], lanes_completed;
    bool expired; /* every copy's lease is over */
} walls_world_t;

/* Controllers of the protocol: lines, words, two tables, a directory, lines whose recall may expire. */
enum { WALLS_LINES, WALLS_WORDS, WALLS_TWO, WALLS_DIRECTORY };
extern const gpc_protocol_t sketch_walls;

#endif
