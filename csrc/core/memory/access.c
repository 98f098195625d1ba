/* access.c: what loads, stores, atomics and synchronisation share: the question to order.c, and who watches is told. */
#include "core/memory/load_store.h"
#include "core/memory/order.h"
#include "core/waking.h"

static gpc_stall_t
stall_of(const gpc_decoded_t *d, int verdict)
{
    if (d->access.kind == GPC_ACCESS_EXIT) {
        return GPC_STALL_drain;
    }
    if (verdict == GPC_ORDER_VERDICT_TIME) {
        return GPC_STALL_time;
    }
    if (verdict == GPC_ORDER_VERDICT_RELEASE || d->access.kind == GPC_ACCESS_FENCE ||
        (d->access.kind != GPC_ACCESS_BARRIER && d->access.order >= GPC_ORDER_RELEASE)) {
        return GPC_STALL_fence;
    }
    return GPC_STALL_memory_order;
}

int
gpc_core_block_for_order(gpc_issue_t *x, const gpc_decoded_t *d, int verdict, gpc_cycle_t until)
{
    x->warp->verdict = (uint8_t) verdict;
    if (until != GPC_NEVER && until <= x->now) {
        until = x->now + 1;
    }
    return gpc_core_block_warp(x, GPC_WARP_WAITS_ORDER, stall_of(d, verdict), until);
}

int
gpc_core_ask_order(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_cycle_t until = GPC_NEVER;
    int verdict = gpc_order_may_issue(x->cores->order, x->core_index, x->warp_index, &d->access, &until);
    if (verdict == GPC_ORDER_VERDICT_GO && x->cores->watch != NULL) {
        return x->cores->watch->ordered(x->cores->watch->watcher, x->core_index, x->warp_index, &d->access);
    }
    if (verdict <= 0) {
        return verdict; /* GO is 0 */
    }
    return gpc_core_block_for_order(x, d, verdict, until);
}

_Static_assert(GPC_ORDER_VERDICT_GO == 0, "a verdict of zero is GO");

int
gpc_core_tell(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t name,
              const gpc_address_t *addresses, const uint32_t *words)
{
    const gpc_core_watch_t *watch = x->cores->watch;
    const gpc_core_event_t event = {.core = x->core_index,
                                    .warp = x->warp_index,
                                    .pc = x->warp->top.pc,
                                    .access = d->access,
                                    .width = d->width,
                                    .lanes = lanes,
                                    .name = name,
                                    .addresses = addresses,
                                    .words = words};
    return watch->accessed(watch->watcher, &event);
}
