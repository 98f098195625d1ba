/* load_store.c: issues a warp's load, store or atomic as an access with line requests (coalescer.c) in the queue. */
#include "core/memory/load_store.h"

#include "core/memory/order.h"
#include "core/registers.h"

static void
count_access(gpc_core_statistics_t *statistics, const gpc_decoded_t *d, uint32_t lines)
{
    statistics->memory_instructions++;
    switch (d->access.kind) {
        case GPC_ACCESS_LOAD:
            statistics->loads += lines;
            statistics->load_instructions++;
            break;
        case GPC_ACCESS_STORE:
            statistics->stores += lines;
            statistics->store_instructions++;
            break;
        default:
            statistics->atomics += lines;
            statistics->atomic_instructions++;
            break;
    }
}

/* Queries order.c for the words of every lane, those of consecutive lanes of a line together, before any request is made. Out of
 * line: rare. */
__attribute__((noinline)) static int
query_lines(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes)
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
gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t lanes = d->destination.kind == GPC_UNIFORM ? 1 : x->warp->top.lanes;
    bool minds_lines = gpc_order_minds_lines(x->base->cores->order, x->base->index, x->warp_index);
    int status = minds_lines ? GPC_ISSUED : gpc_core_query_order(x, d);
    if (status != GPC_ISSUED) {
        return status;
    }
    uint32_t room[GPC_MAX_LANES];
    gpc_one_line_t at;
    bool one_line = gpc_core_find_line(x, d, lanes, room, &at);
    if (minds_lines) {
        status = one_line ? gpc_order_may_touch(x->base->cores->order, x->base->index, x->warp_index, &d->access,
                                                at.line, at.words)
                          : query_lines(x, d, lanes);
        if (status > 0) {
            return gpc_core_block_for_order(x, d, status, GPC_NEVER);
        }
        status = status == GPC_ORDER_VERDICT_GO ? gpc_core_query_order(x, d) : status;
        if (status != GPC_ISSUED) {
            return status;
        }
    }
    gpc_index_t i = gpc_pool_take(&x->base->parts->accesses[x->base->index]);
    gpc_core_access_t *access = gpc_access_at(x->base->parts, x->base->index, i);
    access->next = GPC_NONE;
    access->issued = access->done_at = x->now;
    access->pc = x->warp->top.pc;
    access->destination = d->destination;
    access->access = d->access;
    access->width = d->width;
    access->narrow = d->narrow;
    access->warp = (uint8_t) x->warp_index;
    access->live = true;
    bool observed = gpc_is_observed(&x->base->cores->tap, GPC_ON_ACCESSED); /* with the lanes' addresses */
    if (one_line && !observed) {
        status = gpc_core_coalesce_line(x, d, lanes, i, &at);
    } else {
        gpc_address_t addresses[GPC_MAX_LANES];
        status = gpc_core_find_addresses(x, d, lanes, addresses);
        status = status != GPC_OK ? status : gpc_core_coalesce(x, d, lanes, addresses, i);
        if (status == GPC_OK) {
            status = gpc_core_publish(x, d, lanes, i, addresses, NULL);
        }
    }
    GPC_TRY(status);
    x->core->queued++;
    x->warp->outstanding++;
    count_access(x->base->statistics, d, access->remaining);
    gpc_core_set_destination(x, &d->destination, d->width, GPC_NEVER);
    gpc_order_issued(x->base->cores->order, x->base->index, x->warp_index, &d->access);
    return GPC_ISSUED;
}
