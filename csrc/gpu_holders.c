#include "gpu_holders.h"

#include <stdlib.h>
#include <string.h>

void
gpc_holders_free(gpc_holders_t *self)
{
    free(self->sets);
    self->sets = NULL;
}

void
gpc_holders_forget(gpc_holders_t *self)
{
    gpc_holders_free(self);
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

/* When what has left since may be as much as what is there: some hundred lines an L1. */
static bool
is_stale(const gpc_holders_t *self, uint32_t count)
{
    return self->noted > UINT64_C(256) * count;
}

int
gpc_holders_of(gpc_holders_t *self, gpc_controller_t *const *l1s, uint32_t count, gpc_address_t line,
               gpc_nodeset_t *out)
{
    if (!self->sets) {
        self->sets = calloc(GPC_HOLDER_SETS, sizeof *self->sets);
        if (!self->sets) {
            return GPC_ERROR_MEMORY;
        }
        self->noted = UINT64_MAX;
    }
    if (is_stale(self, count)) {
        memset(self->sets, 0, GPC_HOLDER_SETS * sizeof *self->sets);
        for (uint32_t i = 0; i < count; i++) {
            note_all(self, l1s[i]);
        }
        self->noted = 0;
    }
    memcpy(out->bits, self->sets[gpc_holders_set_of(line)], sizeof out->bits);
    return GPC_OK;
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
