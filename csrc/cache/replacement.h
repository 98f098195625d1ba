/* replacement.h: the hooks of a replacement policy. A policy is a file of cache/replacement/ and a row of
 * gpucoh/machines/replacement.def.
 *
 * A policy keeps the order of its set's ways: gpc_tag_t.order, at least 1 and different for all present ways of a set.
 * The controller takes the way with the least one as the victim, among those without a transaction whose eviction the
 * protocol permits (controller/ways.c); a free way comes before all. So no policy can choose a busy line. */
#ifndef GPC_CACHE_REPLACEMENT_H
#define GPC_CACHE_REPLACEMENT_H

#include "base/types.h"

typedef struct gpc_tags gpc_tags_t;

typedef struct {
    void (*placed)(gpc_tags_t *tags, gpc_index_t way);  /* a line has been given the way; its order is 0 */
    void (*touched)(gpc_tags_t *tags, gpc_index_t way); /* a request has found the way's line */
    void (*evicted)(gpc_tags_t *tags, gpc_index_t way); /* the way's line leaves for another one */
} gpc_replacement_t;

extern const gpc_replacement_t *const gpc_replacements[]; /* by the value of a machine's field */
extern const gpc_replacement_t gpc_replacement_lru;

#endif
