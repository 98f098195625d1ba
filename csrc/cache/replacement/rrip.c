/* rrip.c: static re-reference interval prediction with hit priority, Jaleel et al., ISCA 2010, section 4.2, 2 bits.
 *
 * A line is predicted to be used again in an interval from 0 (soon) to 3: 2 when it is placed, 0 at a hit. The victim
 * is the first way with 3; if none has it, all intervals grow until one does. A way's order is what its interval lacks
 * to 3, then its number. */
#include "cache/tags.h"

enum { LONGEST = 3 };

static void
predict(gpc_tags_t *tags, gpc_index_t way, uint32_t interval)
{
    tags->tags[way].order = (uint64_t) (LONGEST - interval) * tags->ways + way % tags->ways + 1;
}

static uint32_t
interval_of(const gpc_tags_t *tags, gpc_index_t way)
{
    return LONGEST - (uint32_t) ((tags->tags[way].order - 1) / tags->ways);
}

static void
placed(gpc_tags_t *tags, gpc_index_t way)
{
    predict(tags, way, LONGEST - 1);
}

static void
touched(gpc_tags_t *tags, gpc_index_t way)
{
    predict(tags, way, 0);
}

/* All intervals have grown by what the victim's lacked. */
static void
evicted(gpc_tags_t *tags, gpc_index_t way)
{
    uint32_t growth = LONGEST - interval_of(tags, way);
    gpc_index_t first = way - way % tags->ways;

    for (gpc_index_t other = first; other < first + tags->ways; other++) {
        if (gpc_tags_present(tags, other)) {
            uint32_t interval = interval_of(tags, other) + growth;
            predict(tags, other, interval < LONGEST ? interval : LONGEST);
        }
    }
}

const gpc_replacement_t gpc_replacement_rrip = {.placed = placed, .touched = touched, .evicted = evicted};
