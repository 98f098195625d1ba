/* order_traits.h: what a protocol adds to the ordering rules of core/memory/order.h. */
#ifndef GPC_CONTROLLER_ORDER_TRAITS_H
#define GPC_CONTROLLER_ORDER_TRAITS_H

#include "base/access.h"
#include "base/types.h"

typedef struct gpc_controller gpc_controller_t;

/* A protocol's additions to the ordering rules of order.c. NULL members add nothing. `before`, `release` and `exit`
 * alone may return GPC_HOLD. */
typedef struct {
    /* Whether a load, store or atomic of the warp may issue, once consistency and older accesses permit it. GPC_OK;
     * GPC_HOLD: retry when the warp is woken, or at *until (preset: GPC_NEVER). It may be called again after GPC_OK, so
     * it must not count or send. */
    int (*before)(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
    /* The release part, once all older accesses of the warp are complete. GPC_OK: done; GPC_HOLD: not yet, retry when
     * woken, or at *until. It sends messages with gpc_controller_order, and the answer wakes the warp with
     * wake_warp. */
    int (*release)(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
    /* The release part of a warp's end; NULL: `release`. */
    int (*exit)(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);
    /* The acquire part, once the access has its value. */
    int (*acquire)(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
    /* The release part of those barriers that `barrier_releases` gives one; NULL: `release`. */
    int (*barrier)(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);
    /* A fence's addition to both parts (rcc-wo joins its views). */
    int (*fence)(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
    /* The warp passes an order point, in this core cycle: an acquire or, under drf and hrf, another synchronisation
     * access is complete; a fence ends; it leaves a barrier; under sc, an access is complete. Its later loads may not
     * return what was requested before, for whichever warp: gpc_note_order_point, by which loads join outstanding reads
     * (requests.h). */
    void (*order_point)(gpc_controller_t *l1, uint16_t warp);
    /* At a barrier: joins the warp fields `from` into `into`; called for each warp that arrives, with the join of those
     * before it, or with its own fields: a barrier of one warp joins too; and for the last one's fields before a
     * release part. NULL: every TIME and LOGICAL field becomes the largest of all warps', and there are no others
     * (gpc_protocol_check_join), or they are kept. */
    void (*join)(gpc_controller_t *l1, void *into, const void *from);
    bool keeps_own;       /* warp fields of other kinds are the warp's own, which no barrier joins */
    bool stores_block;    /* a warp issues nothing while a store of its is outstanding */
    uint8_t store_option; /* GPC_OPTION of one that is not 0 where that is so */
    bool same_line;       /* a warp may not issue to a line it has an access outstanding to */
    bool same_word;       /* a warp may not issue to a word it has an access outstanding to */
    /* A barrier with a scope beyond the block: the last warp to arrive performs the release part for all, before any
     * warp leaves, and each warp that leaves performs the acquire part. */
    bool barrier_releases;     /* every other barrier has that release part too, at scope cta */
    uint8_t barrier_option;    /* GPC_OPTION of one that is not 0 where they have not */
    bool barrier_keeps_copies; /* no barrier has an acquire part */
    bool local_scopes;         /* cta and cu need neither release nor acquire part (hrf) */
    /* Only fences, sc accesses (which imply one), barriers and exits have these parts: what the release or acquire of
     * another access must order, its steps at the caches do. */
    bool fences_only;
    /* What a release awaits goes beyond the L2 by itself (a marker, writes to memory): fence_trip adds no trip. */
    bool release_travels;
    bool reads_scopes; /* a part distinguishes scopes */
} gpc_order_traits_t;

#endif
