/* sync.c: fences, barriers and the end of lanes, and the question to order.c that these and memory accesses ask. */
#include "core/execute/registers.h"

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

/* Asks again when something of the warp has completed, or at `until`. */
static int
block_for_order(gpc_issue_t *x, const gpc_decoded_t *d, int verdict, gpc_cycle_t until)
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
    return block_for_order(x, d, verdict, until);
}

_Static_assert(GPC_ORDER_VERDICT_GO == 0, "a verdict of zero is GO");

static int
issue_exit(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_warp_t *warp = x->warp;
    if (warp->top.lanes == warp->live) {
        int status = gpc_core_ask_order(x, d);
        if (status != GPC_ISSUED) {
            return status;
        }
    }
    gpc_warp_end_lanes(x);
    if (warp->live != 0) {
        return GPC_ISSUED;
    }
    uint32_t slot = warp->block;
    gpc_core_warp_ended(x);
    if (gpc_core_block(x->cores, x->core_index, slot)->resident &&
        gpc_core_block_stuck(x->cores, x->core_index, slot)) {
        return gpc_core_fail_barrier(x->cores, x->core_index, slot);
    }
    return GPC_ISSUED;
}

static int
fail_at_barrier(const gpc_issue_t *x, const char *what, uint32_t value)
{
    const gpc_block_t *block = gpc_core_block(x->cores, x->core_index, x->warp->block);
    char where[160];
    return gpc_fail(x->cores->failure, GPC_ERROR_BARRIER, "%s: %s (%u): warp %u of block (%u,%u,%u)",
                    gpc_core_where(x->launch, x->warp->top.pc, where, sizeof where), what, value,
                    (unsigned) x->warp->index, block->coordinates[0], block->coordinates[1], block->coordinates[2]);
}

/* The threads this warp counts for and those that must arrive. */
static int
barrier_counts(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *threads, uint32_t *expected)
{
    const gpc_warp_t *warp = x->warp;
    if (warp->top.lanes != warp->live) {
        return fail_at_barrier(x, "a barrier in divergent code, not reached by all threads of the warp; active threads",
                               gpc_count_bits(warp->top.lanes));
    }
    if (d->b.kind == GPC_NO_OPERAND) {
        *threads = gpc_count_bits(warp->live);
        *expected = x->launch->threads_per_block;
        return 0;
    }
    /* With a count, warps count as whole ones, as a block's last warp may be part of one only. */
    *threads = x->lanes;
    *expected = gpc_operand_word(x, &d->b);
    if (*expected == 0 || *expected % x->lanes != 0 || *expected > x->launch->warps_per_block * x->lanes) {
        return fail_at_barrier(
            x, "a barrier's count must be a multiple of the warp's size that the block's warps can reach; the count",
            *expected);
    }
    return 0;
}

/* The warps released may issue again in the next cycle. */
static void
release_warps(const gpc_issue_t *x, uint64_t released)
{
    x->core->waits_barrier &= ~released;
    for (; released != 0; released &= released - 1) {
        uint32_t w = gpc_lowest_bit(released);
        if (w == x->warp_index) {
            continue; /* it never waited */
        }
        gpc_issue_t other;
        gpc_issue_init(&other, x->cores, x->core_index, w, x->now);
        other.warp->not_before = x->now + 1;
        other.warp->state = GPC_WARP_FREE;
        gpc_core_settle(&other);
    }
}

static int
issue_barrier(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_warp_t *warp = x->warp;
    uint32_t threads = 0, expected = 0, id = gpc_operand_word(x, &d->a);
    bool waits = d->opcode == GPC_OP_BARRIER;
    if (id >= GPC_NAMED_BARRIERS) {
        return fail_at_barrier(x, "a barrier's number must be 0 to 15", id);
    }
    int status = barrier_counts(x, d, &threads, &expected);
    if (status == 0) {
        status = gpc_core_ask_order(x, d);
    }
    if (status != GPC_ISSUED) {
        return status;
    }
    uint64_t released = 0;
    gpc_cycle_t until;
    status = gpc_order_barrier(x->cores->order, x->core_index, warp->block, id, x->warp_index, threads, expected, waits,
                               &released, &until);
    if (status > 0) {
        return block_for_order(x, d, status, until);
    }
    if (status < 0) {
        return fail_at_barrier(
            x, "warps name different counts for one barrier, or too many threads arrive; this one's count", expected);
    }
    if (x->cores->watch != NULL) {
        status =
            x->cores->watch->met(x->cores->watch->watcher, x->core_index, warp->block, id, x->warp_index, released);
        if (status != 0) {
            return status;
        }
    }
    x->statistics->barriers++;
    warp->barrier_pc = warp->top.pc;
    gpc_warp_go_to(x, warp->top.pc + 1);
    if (waits && (released >> x->warp_index & 1u) == 0) {
        warp->state = GPC_WARP_WAITS_BARRIER;
        warp->reason = GPC_STALL_barrier;
        x->core->waits_barrier |= UINT64_C(1) << x->warp_index;
        warp->barrier = (uint8_t) id;
        warp->wake_at = GPC_NEVER;
        if (released == 0 && gpc_core_block_stuck(x->cores, x->core_index, warp->block)) {
            return gpc_core_fail_barrier(x->cores, x->core_index, warp->block);
        }
    }
    release_warps(x, released);
    return GPC_ISSUED;
}

int
gpc_core_issue_sync(gpc_issue_t *x, const gpc_decoded_t *d)
{
    if (d->group == GPC_GROUP_EXIT) {
        return issue_exit(x, d);
    }
    if (d->group == GPC_GROUP_BARRIER) {
        return issue_barrier(x, d);
    }
    int status = gpc_core_ask_order(x, d);
    if (status == GPC_ISSUED) {
        x->statistics->fences++;
        gpc_warp_go_to(x, x->warp->top.pc + 1);
    }
    return status;
}
