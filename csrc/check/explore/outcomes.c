/* outcomes.c: the outcomes of an exploration, a growing list of rows. */
#include <stdlib.h>
#include <string.h>

#include "check/explore/outcomes.h"

void
gpc_outcomes_free(gpc_outcomes_t *self)
{
    free(self->rows);
    *self = (gpc_outcomes_t){0};
}

static void
add_value(uint32_t *row, uint32_t *width, uint64_t value, bool wide)
{
    row[(*width)++] = (uint32_t) value;
    if (wide) {
        row[(*width)++] = (uint32_t) (value >> 32);
    }
}

int
gpc_outcome_read(gpc_world_t *world, const gpc_symmetry_t *symmetry, uint32_t *row, uint32_t *width)
{
    const gpc_explore_t *what = world->what;

    *width = 0;
    for (uint32_t t = 0; t < what->num_threads; t++) {
        const gpc_world_thread_t *thread = &world->state->threads[symmetry->thread_at[t]];
        for (uint32_t op = 0; op < what->threads[t].num_ops; op++) {
            uint8_t kind = what->threads[t].ops[op].kind;
            if (kind == GPC_EXPLORE_LOAD || kind == GPC_EXPLORE_ADD || kind == GPC_EXPLORE_HOST_LOAD) {
                add_value(row, width, thread->read[op], gpc_world_has_two(world, &what->threads[t].ops[op]));
            }
        }
    }
    for (uint32_t v = 0; v < what->variables; v++) {
        uint64_t value = 0;
        GPC_TRY(gpc_world_final(world, v, &value));
        add_value(row, width, value, gpc_world_is_wide(world, v));
    }
    return GPC_OK;
}

bool
gpc_outcome_is_among(const uint32_t *rows, uint32_t count, const uint32_t *row, uint32_t width)
{
    for (uint32_t i = 0; i < count; i++) {
        if (memcmp(&rows[(size_t) i * width], row, width * sizeof(*row)) == 0) {
            return true;
        }
    }
    return false;
}

int
gpc_outcomes_note(gpc_outcomes_t *self, const uint32_t *row, uint32_t width, bool *is_new)
{
    self->width = width;
    *is_new = !gpc_outcome_is_among(self->rows, self->count, row, width);
    if (!*is_new) {
        return GPC_OK;
    }
    if (self->count == self->capacity) {
        uint32_t capacity = self->capacity ? 2 * self->capacity : 64;
        uint32_t *rows = realloc(self->rows, (size_t) capacity * width * sizeof(*rows));
        if (!rows) {
            return GPC_ERROR_MEMORY;
        }
        self->rows = rows;
        self->capacity = capacity;
    }
    memcpy(&self->rows[(size_t) self->count++ * width], row, width * sizeof(*row));
    return GPC_OK;
}

void
gpc_outcomes_print(const gpc_outcomes_t *self, gpc_text_t *out)
{
    gpc_text_add(out, "[");
    for (uint32_t i = 0; i < self->count; i++) {
        gpc_text_add(out, i ? ", [" : "[");
        for (uint32_t v = 0; v < self->width; v++) {
            gpc_text_add(out, v ? ", %u" : "%u", self->rows[i * self->width + v]);
        }
        gpc_text_add(out, "]");
    }
    gpc_text_add(out, "]");
}
