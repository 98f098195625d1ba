/* plru.c: a binary tree over a set's ways, each of whose nodes points to the half that has not been used last. The
 * victim is the way to which all nodes on its path point.
 *
 * A way's order holds a bit for each node on its path, the root's the highest: 1, the node points to the other half. So
 * the least order is the victim's, and the next ones those of the ways at which a victim's path, followed to the other
 * half as low in the tree as possible, ends. Missing ways of a number that is no power of two are skipped alike. */
#include "cache/tags.h"

/* Every node on the way's path points away from it. */
static void
used(gpc_tags_t *tags, gpc_index_t way)
{
    uint32_t number = way % tags->ways, all = 0;
    gpc_tag_t *set = &tags->tags[way - number];

    while (all < tags->ways - 1) {
        all = 2 * all + 1;
    }
    for (uint32_t other = 0; other < tags->ways; other++) {
        if (other == number) {
            continue;
        }
        uint32_t fork = UINT32_C(1) << (31 - __builtin_clz(other ^ number)); /* the last node that both paths have */
        uint32_t before = set[other].order ? (uint32_t) set[other].order - 1 : 0;
        set[other].order = ((all & ~(2 * fork - 1)) | (before & (fork - 1))) + 1;
    }
    set[number].order = (uint64_t) all + 1;
}

static void
evicted(gpc_tags_t *tags, gpc_index_t way)
{
    (void) tags, (void) way;
}

const gpc_replacement_t gpc_replacement_plru = {.placed = used, .touched = used, .evicted = evicted};
