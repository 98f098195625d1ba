/* mshr.h: a finite table of MSHR entries (transactions), indexed by line. An entry holds the transient state of a line,
 * the requests that wait for it, and the protocol's metadata of the transaction. It may own a way of an array. */
#ifndef GPC_CACHE_MSHR_H
#define GPC_CACHE_MSHR_H

#include "base/bytes.h"
#include "base/message.h"

typedef struct {
    gpc_index_t next; /* in its bucket */
    gpc_index_t way;  /* in the array of its table, or GPC_NONE */
    gpc_address_t line;
    gpc_list_t pending; /* requests that this transaction serves: merged loads, own stores and atomics */
    gpc_list_t waiters; /* requests held until the line's state changes (HOLD_LINE) */
    uint8_t state;
    uint8_t table;   /* table of the controller; a line may have one entry per table */
    uint8_t leaving; /* bit a: the transaction evicts the line from its way in array a */
    bool live;
    gpc_index_t last_entry; /* last of a ring of part entries that wait for a state change (parts.c), or GPC_NONE */
} gpc_mshr_t;

typedef struct {
    gpc_pool_t entries;
    uint32_t buckets, fields_size, line_words;
    uint32_t *high; /* entries from this one on have never been in use since the table was cleared */
    gpc_index_t *bucket;
    uint8_t *fields;      /* [capacity * fields_size] */
    uint8_t *word_states; /* [capacity * line_words], over words only */
} gpc_mshr_table_t;

GPC_MUST_CHECK int gpc_mshr_init(gpc_mshr_table_t *self, gpc_arena_t *arena, uint32_t capacity, uint32_t fields_size,
                                 uint32_t line_words, uint32_t line_bytes, bool has_words);
void gpc_mshr_clear(gpc_mshr_table_t *self);

static inline gpc_mshr_t *
gpc_mshr_at(const gpc_mshr_table_t *self, gpc_index_t i)
{
    return (gpc_mshr_t *) (void *) self->entries.items + i; /* as gpc_pool_at, with a size that the compiler knows */
}
static inline void *
gpc_mshr_fields(const gpc_mshr_table_t *self, gpc_index_t i)
{
    return self->fields + (size_t) i * self->fields_size;
}
static inline uint8_t *
gpc_mshr_word_states(const gpc_mshr_table_t *self, gpc_index_t i)
{
    return self->word_states + (size_t) i * self->line_words;
}
/* Words of the entry with this byte: 0: not part of the transaction, else their state + 1. */
static inline gpc_mask_t
gpc_mshr_words_in(const gpc_mshr_table_t *self, gpc_index_t i, uint8_t held)
{
    return gpc_equal_bytes(gpc_mshr_word_states(self, i), self->line_words, held);
}
static inline uint32_t
gpc_mshr_room(const gpc_mshr_table_t *self)
{
    return self->entries.capacity - self->entries.state->in_use;
}

/* The line's entry of a table (without _for: of table 0), or GPC_NONE. */
GPC_API gpc_index_t gpc_mshr_find_for(const gpc_mshr_table_t *self, gpc_address_t line, uint8_t table);
GPC_API gpc_index_t gpc_mshr_find(const gpc_mshr_table_t *self, gpc_address_t line);
/* A new entry with zeroed fields; GPC_NONE when all are in use. */
gpc_index_t gpc_mshr_take_for(gpc_mshr_table_t *self, gpc_address_t line, uint8_t table, uint8_t state);
gpc_index_t gpc_mshr_take(gpc_mshr_table_t *self, gpc_address_t line, uint8_t state);
void gpc_mshr_give(gpc_mshr_table_t *self, gpc_index_t i); /* its lists must be empty */

#endif
