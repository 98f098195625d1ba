/* prototypes.h: prototype protocols (test-only) that check the interface (fsm.h, protocol.h, describe.h) against later papers. States,
 * events, cells, guards and metadata are complete; an action that would only move data is a stub that names its effect. */
#ifndef GPC_TESTS_PROTOTYPES_H
#define GPC_TESTS_PROTOTYPES_H

#include <string.h>

#include "controller/protocol.h"
#include "core/isa.h"

#define STUB_ACTION(name, effect)                                                                                    \
    GPC_ACTION(name, effect)                                                                                           \
    {                                                                                                                  \
        (void) x;                                                                                                      \
        return GPC_OK;                                                                                                 \
    }

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} prototype_words_t;

extern const gpc_protocol_t prototype_quickrelease, prototype_epochs;

#endif
