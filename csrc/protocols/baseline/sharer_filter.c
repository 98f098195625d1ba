#include "protocols/baseline/sharer_filter.h"

#include <string.h>

#include "base/errors.h"

int
gpc_holders_init(gpc_holders_t *self, gpc_arena_t *arena, uint32_t l1s)
{
    *self = (gpc_holders_t){.words = (l1s + 63) / 64, .l1s = l1s};
    self->state = GPC_ARENA_TAKE(arena, 1, gpc_holders_state_t);
    self->sets = GPC_ARENA_TAKE(arena, (size_t) GPC_HOLDER_SETS * self->words, uint64_t);
    return self->state && self->sets ? 0 : GPC_ERROR_MEMORY;
}

/* What the L1 has: lines in any of its arrays, and transactions. */
static void
note_all(gpc_holders_t *self, const gpc_controller_t *l1)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && l1->type->arrays[i].name; i++) {
        const gpc_tags_t *tags = &l1->arrays[i];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            if (gpc_tags_present(tags, way)) {
                gpc_holders_note(self, l1->node, gpc_tags_line(tags, way));
            }
        }
    }
    for (gpc_index_t i = 0; i < l1->mshrs.entries.state->high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&l1->mshrs, i);
        if (entry->live) {
            gpc_holders_note(self, l1->node, entry->line);
        }
    }
}

static void
make_anew(gpc_holders_t *self, gpc_controller_t *const *l1s)
{
    memset(self->sets, 0, (size_t) GPC_HOLDER_SETS * self->words * sizeof *self->sets);
    self->state->asked = true;
    for (uint32_t i = 0; i < self->l1s; i++) {
        note_all(self, l1s[i]);
    }
    self->state->noted = 0;
}

void
gpc_holders_of(gpc_holders_t *self, gpc_controller_t *const *l1s, gpc_address_t line, gpc_nodeset_t *out)
{
    /* Stale when what has left since may be as much as what is there: some hundred lines an L1. */
    if (!self->state->asked || self->state->noted > UINT64_C(256) * self->l1s) {
        make_anew(self, l1s);
    }
    *out = (gpc_nodeset_t){{0}};
    memcpy(out->bits, gpc_holders_set_of(self, line), self->words * sizeof *self->sets);
}

bool
gpc_holders_is_one(const gpc_controller_t *l1, gpc_address_t line)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && l1->type->arrays[i].name; i++) {
        if (gpc_tags_find(&l1->arrays[i], line) != GPC_NONE) {
            return true;
        }
    }
    for (uint8_t i = 0; i < GPC_MAX_TABLES && l1->type->tables[i]; i++) {
        if (gpc_mshr_find_for(&l1->mshrs, line, i) != GPC_NONE) {
            return true;
        }
    }
    return false;
}
