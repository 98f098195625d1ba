/* sketches.h: prototype protocols (test-only) that check the interface (fsm.h, protocol.h, describe.h) against later papers. States,
 * events, cells, guards and metadata are complete; an action that would only move data is a stub that names its effect. */
#ifndef GPC_TESTS_SKETCHES_H
#define GPC_TESTS_SKETCHES_H

#include <string.h>

#include "controller/protocol.h"
#include "core/isa.h"

#define SKETCH_ACTION(name, effect)                                                                                    \
    GPC_ACTION(name, effect)                                                                                           \
    {                                                                                                                  \
        (void) x;                                                                                                      \
        return GPC_OK;                                                                                                 \
    }

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} sketch_words_t;

typedef struct {
    gpc_node_t node[GPC_MAX_LINE_WORDS];
} sketch_word_nodes_t;

extern const gpc_protocol_t sketch_denovo, sketch_quickrelease, sketch_epochs;

#endif
