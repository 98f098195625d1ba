/* lru.c: replacement of the least recently used line: the order is a clock of placements and hits. */
#include "cache/tags.h"

static void
used(gpc_tags_t *tags, gpc_index_t way)
{
    tags->tags[way].order = ++tags->state->clock;
}

static void
evicted(gpc_tags_t *tags, gpc_index_t way)
{
    (void) tags, (void) way;
}

const gpc_replacement_t gpc_replacement_lru = {.placed = used, .touched = used, .evicted = evicted};
