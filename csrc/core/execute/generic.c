/* generic.c: accesses by address (GPC_FLAG_FLAT), of which each lane's may be in global memory, in its thread's local
 * memory (core/memory/flat.c) or, by GPC_SHARED_WINDOW, in the block's scratchpad. Lanes of both kinds are two
 * accesses. */
#include "core/execute/execute.h"
#include "core/memory/load_store.h"
#include "core/memory/order.h"
#include "core/registers.h"

/* The active lanes whose address is in the window of the scratchpad. */
static gpc_lanes_t
lanes_in_window(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes)
{
    uint32_t room[GPC_MAX_LANES];
    gpc_operand_t upper = gpc_operand_next(x, d->a, 1);
    gpc_lanes_t inside = 0;
    if (gpc_operand_even(x, &upper)) {
        return gpc_operand_word(x, &upper) == GPC_SHARED_WINDOW ? lanes : 0;
    }
    const uint32_t *high = gpc_operand_lanes(x, &upper, room);
    for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        inside |= (gpc_lanes_t) (high[l] == GPC_SHARED_WINDOW) << l;
    }
    return inside;
}

/* All lanes access the scratchpad. An order with an acquire or release part is that of a fence before the access. */
static int
issue_shared(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes)
{
    const gpc_machine_t *machine = x->base->cores->machine;
    uint32_t cycles = 0;
    int status = GPC_ISSUED;
    if (d->access.order >= GPC_ORDER_ACQUIRE) {
        gpc_decoded_t fence = *d;
        fence.access.kind = GPC_ACCESS_FENCE;
        status = gpc_core_query_order(x, &fence);
    } else if (machine->scratchpad_order) {
        status = gpc_core_query_scratchpad_order(x, d);
    }
    GPC_TRY(status);
    GPC_TRY(gpc_core_access_scratchpad(x, d, lanes, &cycles));
    gpc_core_set_destination(x, &d->destination, d->width, x->now + machine->scratchpad_latency + cycles);
    return GPC_ISSUED;
}

/* As the scheduler does with warps whose next instruction is an access by index. */
static int
wait_for_queue(const gpc_issue_t *x)
{
    x->core->waits_queue |= UINT64_C(1) << x->warp_index;
    int status = GPC_OBSERVE(&x->base->cores->tap, WAITS, waits, x->base->index, x->warp_index,
                             (uint8_t) GPC_STALL_load_store_queue);
    return status == GPC_OK ? GPC_BLOCKED : status;
}

int
gpc_core_issue_generic(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t lanes = x->warp->top.lanes, shared = lanes_in_window(x, d, lanes);
    uint32_t cycles;
    if (shared != lanes && !gpc_core_has_room(x->base->cores, x->base->index)) {
        return wait_for_queue(x);
    }
    if (shared == 0) {
        return gpc_core_issue_memory(x, d);
    }
    if (x->core->unit_free[GPC_UNIT_SCRATCHPAD] > x->now) {
        return gpc_core_block_warp(x, GPC_WARP_WAITS_TIME, GPC_STALL_unit, x->core->unit_free[GPC_UNIT_SCRATCHPAD]);
    }
    if (shared == lanes) {
        return issue_shared(x, d, lanes);
    }
    x->warp->top.lanes = lanes & ~shared; /* for this instruction */
    int status = gpc_core_issue_memory(x, d);
    x->warp->top.lanes = lanes;
    GPC_TRY(status);
    return gpc_core_access_scratchpad(x, d, shared, &cycles);
}
