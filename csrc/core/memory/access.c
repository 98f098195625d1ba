/* access.c: functions for loads, stores, atomics and synchronisation: queries of order.c, and reports to the
 * monitor. */
#include "core/memory/load_store.h"
#include "core/memory/order.h"
#include "core/waking.h"

static gpc_stall_t
stall_of(const gpc_decoded_t *d, int verdict)
{
    static const gpc_stall_t memory_order[GPC_NUM_ORDER_VERDICTS] = {
        [GPC_ORDER_VERDICT_OLDER_LOAD] = GPC_STALL_memory_order_load,
        [GPC_ORDER_VERDICT_OLDER_STORE] = GPC_STALL_memory_order_store,
        [GPC_ORDER_VERDICT_OLDER_ATOMIC] = GPC_STALL_memory_order_atomic,
        [GPC_ORDER_VERDICT_RELEASE] = GPC_STALL_fence_release,
        [GPC_ORDER_VERDICT_TIME] = GPC_STALL_time,
        [GPC_ORDER_VERDICT_SAME_LINE] = GPC_STALL_memory_order_same_line};
    static const gpc_stall_t fence[GPC_NUM_ORDER_VERDICTS] = {[GPC_ORDER_VERDICT_OLDER_LOAD] = GPC_STALL_fence_load,
                                                              [GPC_ORDER_VERDICT_OLDER_STORE] = GPC_STALL_fence_store,
                                                              [GPC_ORDER_VERDICT_OLDER_ATOMIC] = GPC_STALL_fence_atomic,
                                                              [GPC_ORDER_VERDICT_RELEASE] = GPC_STALL_fence_release,
                                                              [GPC_ORDER_VERDICT_TIME] = GPC_STALL_time,
                                                              [GPC_ORDER_VERDICT_SAME_LINE] =
                                                                  GPC_STALL_memory_order_same_line};
    bool fences = d->access.kind == GPC_ACCESS_FENCE ||
                  (d->access.kind != GPC_ACCESS_BARRIER && d->access.order >= GPC_ORDER_RELEASE);

    return d->access.kind == GPC_ACCESS_EXIT ? GPC_STALL_drain : (fences ? fence : memory_order)[verdict];
}

/* ---- order stalls ------------------------------------------------------------------------------------------------ */

static bool
is_order_stall(const gpc_decoded_t *d, int verdict)
{
    bool older = verdict == GPC_ORDER_VERDICT_OLDER_LOAD || verdict == GPC_ORDER_VERDICT_OLDER_STORE ||
                 verdict == GPC_ORDER_VERDICT_OLDER_ATOMIC;
    return older && d->access.kind <= GPC_ACCESS_FENCE;
}

static bool
has_order_stall(const gpc_issue_t *x)
{
    return (x->core->order_stalls >> x->warp_index & 1) != 0;
}

static void
begin_order_stall(const gpc_issue_t *x)
{
    x->core->order_stalls |= UINT64_C(1) << x->warp_index;
    x->base->parts->order_stalled[x->base->index * x->base->cores->machine->warps_per_core + x->warp_index] = x->now;
}

/* The stall counts under the kind of access that the warp has waited for last. */
static void
end_order_stall(const gpc_issue_t *x)
{
    gpc_core_statistics_t *statistics = x->base->statistics;
    uint64_t cycles =
        x->now -
        x->base->parts->order_stalled[x->base->index * x->base->cores->machine->warps_per_core + x->warp_index];
    x->core->order_stalls &= ~(UINT64_C(1) << x->warp_index);
    gpc_histogram_add(&statistics->order_stall, cycles);
    switch (x->warp->verdict) {
        case GPC_ORDER_VERDICT_OLDER_LOAD:
            statistics->order_stalls_load++;
            statistics->order_stall_load_cycles += cycles;
            break;
        case GPC_ORDER_VERDICT_OLDER_STORE:
            statistics->order_stalls_store++;
            statistics->order_stall_store_cycles += cycles;
            break;
        default:
            statistics->order_stalls_atomic++;
            statistics->order_stall_atomic_cycles += cycles;
            break;
    }
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

int
gpc_core_block_for_order(gpc_issue_t *x, const gpc_decoded_t *d, int verdict, gpc_cycle_t until)
{
    bool stalls = is_order_stall(d, verdict), stalled = has_order_stall(x);
    if (stalls && !stalled) {
        begin_order_stall(x);
    } else if (stalled && !stalls) {
        end_order_stall(x);
    }
    x->warp->verdict = (uint8_t) verdict;
    if (until != GPC_NEVER && until <= x->now) {
        until = x->now + 1;
    }
    return gpc_core_block_warp(x, GPC_WARP_WAITS_ORDER, stall_of(d, verdict), until);
}

int
gpc_core_query_order(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_cycle_t until = GPC_NEVER;
    bool stalled = has_order_stall(x), observed = gpc_is_observed(&x->base->cores->tap, GPC_ON_ORDERED);
    int verdict = gpc_order_may_issue(x->base->cores->order, x->base->index, x->warp_index, &d->access, &until);
    if (verdict == GPC_ORDER_VERDICT_GO && stalled) {
        end_order_stall(x);
    }
    if (verdict == GPC_ORDER_VERDICT_GO) {
        return observed ? GPC_OBSERVE(&x->base->cores->tap, ORDERED, ordered, x->base->index, x->warp_index, &d->access)
                        : GPC_OK;
    }
    if (verdict < 0) {
        return verdict;
    }
    return gpc_core_block_for_order(x, d, verdict, until);
}

/* Queries order.c for the words of every lane, those of consecutive lanes of a line together, before any request is
 * made. Out of line: rare. */
__attribute__((noinline)) int
gpc_core_query_lines(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes)
{
    gpc_address_t addresses[GPC_MAX_LANES], line_mask = x->base->cores->machine->line_bytes - 1u;
    int status = gpc_core_find_addresses(x, d, lanes, addresses);
    while (lanes != 0 && status == GPC_ORDER_VERDICT_GO) {
        gpc_address_t address = addresses[gpc_lowest_bit(lanes)], line = address & ~line_mask;
        gpc_mask_t words = GPC_NO_WORDS;
        do {
            words |= ((UINT32_C(1) << d->width) - 1) << (address & line_mask) / 4;
            lanes &= lanes - 1;
            address = lanes != 0 ? addresses[gpc_lowest_bit(lanes)] : GPC_NEVER;
        } while ((address & ~line_mask) == line);
        status = gpc_order_may_touch(x->base->cores->order, x->base->index, x->warp_index, &d->access, line, words);
    }
    return status;
}

int
gpc_core_query_scratchpad_order(gpc_issue_t *x, const gpc_decoded_t *d)
{
    const gpc_order_t *order = x->base->cores->order;
    int verdict =
        order->rule == GPC_RULE_SC ? gpc_order_older(order, x->base->index, x->warp_index) : GPC_ORDER_VERDICT_GO;
    if (verdict != GPC_ORDER_VERDICT_GO) {
        return gpc_core_block_for_order(x, d, verdict, GPC_NEVER);
    }
    if (has_order_stall(x)) {
        end_order_stall(x);
    }
    return GPC_ISSUED;
}

_Static_assert(GPC_ORDER_VERDICT_GO == 0, "a verdict of zero is GO");

int
gpc_core_publish(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t name,
                 const gpc_address_t *addresses, const uint32_t *words)
{
    return GPC_OBSERVE(&x->base->cores->tap, ACCESSED, accessed, x->base->index, x->warp_index,
                       x->launch->first_pc + x->warp->top.pc, d->access, d->width, d->narrow.bytes, lanes, name,
                       addresses, words);
}
