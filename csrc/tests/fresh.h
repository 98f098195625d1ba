/* fresh.h: a text and an arena for the running test. Each call ends those of the one before. */
#ifndef GPC_TESTS_FRESH_H
#define GPC_TESTS_FRESH_H

#include "base/arena.h"
#include "base/text.h"

static inline gpc_text_t *
fresh_text(void)
{
    static gpc_text_t last;
    gpc_text_free(&last);
    gpc_text_init(&last);
    return &last;
}

static inline gpc_arena_t *
fresh_arena(void)
{
    static gpc_arena_t last;
    gpc_arena_free(&last);
    gpc_arena_init(&last, 1u << 16);
    return &last;
}

#endif
