/* fifo.c: replacement of the line that was placed first: the order is a clock of placements. */
#include "cache/tags.h"

static void
placed(gpc_tags_t *tags, gpc_index_t way)
{
    tags->tags[way].order = ++tags->state->clock;
}

static void
ignored(gpc_tags_t *tags, gpc_index_t way)
{
    (void) tags, (void) way;
}

const gpc_replacement_t gpc_replacement_fifo = {.placed = placed, .touched = ignored, .evicted = ignored};
