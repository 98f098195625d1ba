/* mshr.c: finds, takes and frees MSHR entries by line. */
#include "cache/mshr.h"

#include <string.h>

#include "base/errors.h"

static uint32_t
bucket_of(const gpc_mshr_table_t *self, gpc_address_t line)
{
    /* Fibonacci hashing: line addresses differ in few, adjacent bits */
    return (uint32_t) ((line * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (self->buckets - 1);
}

int
gpc_mshr_init(gpc_mshr_table_t *self, gpc_arena_t *arena, uint32_t capacity, uint32_t fields_size, uint32_t line_words,
              uint32_t line_bytes, bool has_words)
{
    uint32_t buckets = 16;
    (void) line_bytes;
    while (buckets < 2 * capacity) {
        buckets *= 2;
    }
    *self =
        (gpc_mshr_table_t){.buckets = buckets, .fields_size = (fields_size + 7u) / 8u * 8u, .line_words = line_words};
    int status = gpc_pool_init(&self->entries, arena, capacity, sizeof(gpc_mshr_t));
    self->high = GPC_ARENA_TAKE(arena, 1, uint32_t);
    self->bucket = GPC_ARENA_TAKE(arena, buckets, gpc_index_t);
    self->fields = gpc_arena_take(arena, capacity, self->fields_size);
    self->word_states = has_words ? gpc_arena_take(arena, capacity, line_words) : NULL;
    if (status || !self->high || !self->bucket || !self->fields || (has_words && !self->word_states)) {
        return GPC_ERROR_MEMORY;
    }
    gpc_mshr_clear(self);
    return GPC_OK;
}

void
gpc_mshr_clear(gpc_mshr_table_t *self)
{
    for (uint32_t i = 0; i < self->buckets; i++) {
        self->bucket[i] = GPC_NONE;
    }
    for (uint32_t i = 0; i < self->entries.capacity; i++) {
        gpc_mshr_at(self, i)->live = false;
    }
    gpc_pool_clear(&self->entries);
    *self->high = 0;
}

gpc_index_t
gpc_mshr_find_for(const gpc_mshr_table_t *self, gpc_address_t line, uint8_t table)
{
    gpc_index_t i = self->bucket[bucket_of(self, line)];
    while (i != GPC_NONE && (gpc_mshr_at(self, i)->line != line || gpc_mshr_at(self, i)->table != table)) {
        i = gpc_mshr_at(self, i)->next;
    }
    return i;
}

gpc_index_t
gpc_mshr_find(const gpc_mshr_table_t *self, gpc_address_t line)
{
    return gpc_mshr_find_for(self, line, 0);
}

gpc_index_t
gpc_mshr_take(gpc_mshr_table_t *self, gpc_address_t line, uint8_t state)
{
    return gpc_mshr_take_for(self, line, 0, state);
}

gpc_index_t
gpc_mshr_take_for(gpc_mshr_table_t *self, gpc_address_t line, uint8_t table, uint8_t state)
{
    gpc_index_t i = gpc_pool_take(&self->entries);
    if (i == GPC_NONE) {
        return GPC_NONE;
    }
    gpc_mshr_t *entry = gpc_mshr_at(self, i);
    gpc_index_t *bucket = &self->bucket[bucket_of(self, line)];

    *self->high = i < *self->high ? *self->high : i + 1;
    *entry = (gpc_mshr_t){.next = *bucket,
                          .way = GPC_NONE,
                          .line = line,
                          .state = state,
                          .table = table,
                          .live = true,
                          .last_entry = GPC_NONE};
    gpc_list_clear(&entry->pending);
    gpc_list_clear(&entry->waiters);
    *bucket = i;
    gpc_zero(gpc_mshr_fields(self, i), self->fields_size);
    if (self->word_states) {
        memset(gpc_mshr_word_states(self, i), 0, self->line_words);
    }
    return i;
}

void
gpc_mshr_give(gpc_mshr_table_t *self, gpc_index_t i)
{
    gpc_mshr_t *entry = gpc_mshr_at(self, i);
    gpc_index_t *link = &self->bucket[bucket_of(self, entry->line)];

    while (*link != i) {
        link = &gpc_mshr_at(self, *link)->next;
    }
    *link = entry->next;
    entry->live = false;
    gpc_pool_give(&self->entries, i);
}
