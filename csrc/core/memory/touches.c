/* touches.c: outstanding accesses by line and word, for order.c. */
#include "core/memory/order.h"

static gpc_order_touch_t *
touch_at(const gpc_order_t *self, gpc_index_t i)
{
    return (gpc_order_touch_t *) gpc_pool_at(&self->touches, i);
}

/* Whether the access waits for an older one to its line. Under word_order, two loads of which one is weak do not: what
 * a weak load reads orders nothing. */
static bool
is_in_order(const gpc_order_t *self, const gpc_order_touch_t *older, uint32_t warp, const gpc_access_t *access,
            bool overlaps)
{
    if (older->warp == warp && (self->traits->same_line || (self->traits->same_word && overlaps))) {
        return true;
    }
    bool strong = older->strong && access->order != GPC_ORDER_WEAK;
    return self->options.word_order && overlaps && (strong || !older->loads || access->kind != GPC_ACCESS_LOAD);
}

int
gpc_order_may_touch(const gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access,
                    gpc_address_t line, gpc_mask_t mask)
{
    if (!self->touched) {
        return GPC_ORDER_VERDICT_GO;
    }
    gpc_index_t i = *gpc_order_newest(self, core, warp);
    for (; i != GPC_NONE; i = touch_at(self, i)->next) {
        const gpc_order_touch_t *older = touch_at(self, i);
        if (older->line == line && is_in_order(self, older, warp, access, (older->mask & mask) != 0)) {
            return GPC_ORDER_VERDICT_SAME_LINE;
        }
    }
    return GPC_ORDER_VERDICT_GO;
}

void
gpc_order_touch(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access, gpc_address_t line,
                gpc_mask_t mask)
{
    if (self->touched) {
        gpc_index_t *newest = gpc_order_newest(self, core, warp);
        gpc_index_t i = gpc_pool_take(&self->touches); /* one per request, never exhausted */
        *touch_at(self, i) = (gpc_order_touch_t){.next = *newest,
                                                 .mask = mask,
                                                 .line = line,
                                                 .warp = (uint16_t) warp,
                                                 .loads = access->kind == GPC_ACCESS_LOAD,
                                                 .strong = access->order != GPC_ORDER_WEAK};
        *newest = i;
    }
}

void
gpc_order_let_go(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_address_t line, gpc_mask_t mask)
{
    gpc_index_t *link = self->touched ? gpc_order_newest(self, core, warp) : NULL;
    for (; link && *link != GPC_NONE; link = &touch_at(self, *link)->next) {
        const gpc_order_touch_t *touch = touch_at(self, *link);
        if (touch->warp == warp && touch->line == line && touch->mask == mask) { /* others may overlap: weak loads */
            gpc_index_t i = *link;
            *link = touch->next;
            gpc_pool_give(&self->touches, i);
            return;
        }
    }
}
