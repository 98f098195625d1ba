/* sync.c: fences and barriers. */
#include "core/execute/execute.h"
#include "core/lanes.h"
#include "core/memory/load_store.h"
#include "core/memory/order.h"
#include "core/registers.h"
#include "core/where.h"

bool
gpc_core_block_stuck(const gpc_cores_t *self, uint32_t core, uint32_t slot)
{
    const gpc_block_t *block = gpc_core_block(self, core, slot);
    return block->warps != 0 && (block->warps & ~self->parts->cores[core].waits_barrier) == 0;
}

int
gpc_core_fail_barrier(const gpc_cores_t *self, uint32_t core, uint32_t slot)
{
    const gpc_block_t *block = gpc_core_block(self, core, slot);
    const gpc_warp_t *warp =
        gpc_core_warp(self, core, gpc_lowest_bit(block->warps & self->parts->cores[core].waits_barrier));
    const gpc_order_barrier_t *barrier =
        &self->order->barrier[(core * self->machine->blocks_per_core + slot) * GPC_NAMED_BARRIERS + warp->barrier];
    uint32_t live = 0;
    for (uint64_t left = block->warps; left != 0; left &= left - 1) {
        live += gpc_count_bits(gpc_core_warp(self, core, gpc_lowest_bit(left))->live);
    }
    return gpc_fail(
        self->failure, GPC_ERROR_BARRIER,
        "kernel '%s': barrier %u of block (%u,%u,%u) can never complete: %u of %u threads have arrived, warp %u "
        "waits, and every other warp of the block has ended or waits at a barrier%s",
        gpc_core_fails_at(self->failure, self->parts->bases[core].launch, warp->barrier_pc), (unsigned) warp->barrier,
        block->coordinates[0], block->coordinates[1], block->coordinates[2], barrier->arrived,
        barrier->counted ? barrier->expected : live, (unsigned) warp->index,
        barrier->counted ? " (a barrier with a count waits for threads that have ended, too)" : "");
}

static int
fail_at_barrier(const gpc_issue_t *x, const char *what, uint32_t value)
{
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BARRIER, "kernel '%s': %s (%u): warp %u of block (%u,%u,%u)",
                    gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc), what, value,
                    (unsigned) x->warp->index, block->coordinates[0], block->coordinates[1], block->coordinates[2]);
}

/* The word of a barrier's operand; independent lanes may hold it in a vector register. */
static int
word_of_lanes(const gpc_issue_t *x, const gpc_operand_t *operand, uint32_t *word)
{
    uint32_t room[GPC_MAX_LANES];
    if (gpc_operand_even(x, operand)) {
        *word = gpc_operand_word(x, operand);
        return GPC_OK;
    }
    const uint32_t *words = gpc_operand_lanes(x, operand, room);
    *word = words[gpc_lowest_bit(x->warp->top.lanes)];
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0; left &= left - 1) {
        if (words[gpc_lowest_bit(left)] != *word) {
            return fail_at_barrier(x, "lanes of one warp give different barrier numbers or thread counts; the first",
                                   *word);
        }
    }
    return GPC_OK;
}

/* The number of threads that this warp contributes, and what the barrier waits for. */
static int
barrier_counts(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_order_arrival_t *arrival)
{
    const gpc_warp_t *warp = x->warp;
    uint32_t expected = x->launch->threads_per_block;
    if (warp->top.lanes != warp->live && x->launch->splits == NULL) {
        return fail_at_barrier(x, "barrier in divergent code, not reached by all threads of the warp; active threads",
                               gpc_count_bits(warp->top.lanes));
    }
    if (d->b.kind == GPC_NO_OPERAND) {
        arrival->threads = gpc_count_bits(warp->live);
        arrival->expected = expected;
        arrival->awaited = gpc_core_block(x->base->cores, x->base->index, warp->block)->warps;
        return GPC_OK;
    }
    /* With a count, every warp counts as a full one; the last warp of a block may be partial. */
    GPC_TRY(word_of_lanes(x, &d->b, &expected));
    if (expected == 0 || expected % x->launch->lanes != 0 || expected > x->launch->warps_per_block * x->launch->lanes) {
        return fail_at_barrier(
            x, "barrier thread count must be a positive multiple of the warp size, within the block's warps; the count",
            expected);
    }
    arrival->threads = x->launch->lanes;
    arrival->expected = expected;
    return GPC_OK;
}

/* The released warps may issue in the next cycle. */
static void
release_warps(const gpc_issue_t *x, uint64_t released)
{
    x->core->waits_barrier &= ~released;
    for (; released != 0; released &= released - 1) {
        uint32_t w = gpc_lowest_bit(released);
        if (w == x->warp_index) {
            continue; /* the last warp to arrive did not wait */
        }
        gpc_issue_t other;
        gpc_issue_init(&other, x->base->cores, x->base->index, w, x->now);
        other.warp->not_before = x->now + 1;
        other.warp->state = GPC_WARP_FREE;
        gpc_core_settle(&other);
    }
}

/* The warp has arrived; what leaves a barrier beyond the block has passed a fence. */
static int
publish_arrival(const gpc_issue_t *x, const gpc_order_arrival_t *arrival, uint64_t released)
{
    const gpc_access_t fence = {GPC_ACCESS_FENCE, arrival->access.order, arrival->access.scope};
    int status = GPC_OBSERVE(&x->base->cores->tap, ARRIVED, arrived, x->base->index, arrival->block, arrival->id,
                             arrival->warp, arrival->threads, released);

    for (uint64_t left = fence.order == GPC_ORDER_WEAK ? 0 : released; left && status == GPC_OK; left &= left - 1) {
        status = GPC_OBSERVE(&x->base->cores->tap, ORDERED, ordered, x->base->index, gpc_lowest_bit(left), &fence);
    }
    return status;
}

int
gpc_core_issue_barrier(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_warp_t *warp = x->warp;
    uint32_t id = 0;
    bool waits = d->opcode == GPC_OP_BARRIER;
    bool split = x->launch->splits != NULL && !gpc_lanes_are_together(x);
    GPC_TRY(word_of_lanes(x, &d->a, &id));
    gpc_order_arrival_t arrival = {
        .block = warp->block, .id = id, .warp = x->warp_index, .access = d->access, .waits = waits};
    if (id >= GPC_NAMED_BARRIERS) {
        return fail_at_barrier(x, "barrier number must be 0 to 15; the number", id);
    }
    int status = barrier_counts(x, d, &arrival);
    if (status == GPC_OK && split) {
        status = gpc_lanes_arrive(x, d, id, d->b.kind == GPC_NO_OPERAND ? 0 : arrival.expected);
    }
    if (status == GPC_OK) {
        status = gpc_core_query_order(x, d);
    }
    GPC_TRY(status);
    uint64_t released = 0;
    gpc_cycle_t until;
    status = gpc_order_barrier(x->base->cores->order, x->base->index, &arrival, &released, &until);
    if (status > 0) {
        return gpc_core_block_for_order(x, d, status, until);
    }
    if (status == GPC_ERROR_BARRIER) {
        return fail_at_barrier(
            x, "warps give different thread counts for one barrier, or too many threads arrive; this warp's count",
            arrival.expected);
    }
    if (status == GPC_OK) {
        status = publish_arrival(x, &arrival, released);
    }
    GPC_TRY(status);
    x->base->statistics->barriers++;
    warp->barrier_pc = warp->top.pc;
    if (split) {
        gpc_lanes_arrived(x);
    }
    if (waits && (released >> x->warp_index & 1u) == 0) {
        warp->state = GPC_WARP_WAITS_BARRIER;
        x->core->reasons[x->warp_index] = GPC_STALL_barrier;
        x->core->waits_barrier |= UINT64_C(1) << x->warp_index;
        warp->barrier = (uint8_t) id;
        warp->wake_at = GPC_NEVER;
        if (released == 0 && gpc_core_block_stuck(x->base->cores, x->base->index, warp->block)) {
            return gpc_core_fail_barrier(x->base->cores, x->base->index, warp->block);
        }
    }
    release_warps(x, released);
    return GPC_ISSUED;
}

/* The warp's end completes this barrier. */
static int
complete_barrier(gpc_issue_t *x, const gpc_decoded_t *exit, const gpc_order_arrival_t *arrival)
{
    gpc_decoded_t d = *exit;
    uint64_t released = 0;
    gpc_cycle_t until;
    d.access = arrival->access;
    int status = gpc_core_query_order(x, &d);
    GPC_TRY(status);
    status = gpc_order_barrier(x->base->cores->order, x->base->index, arrival, &released, &until);
    if (status > 0) {
        return gpc_core_block_for_order(x, &d, status, until);
    }
    if (status == GPC_OK) {
        status = publish_arrival(x, arrival, released);
    }
    if (status == GPC_OK) {
        release_warps(x, released);
    }
    return status;
}

int
gpc_core_leave_barriers(gpc_issue_t *x, const gpc_decoded_t *d)
{
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    uint64_t others = block->warps & ~(UINT64_C(1) << x->warp_index);
    gpc_order_arrival_t arrival = {.block = x->warp->block, .warp = x->warp_index, .awaited = others};
    int status = GPC_ISSUED;
    if ((others & x->core->waits_barrier) == 0) {
        return GPC_ISSUED;
    }
    for (; arrival.id < GPC_NAMED_BARRIERS && status == GPC_ISSUED; arrival.id++) {
        if (gpc_order_barrier_is_complete_with(x->base->cores->order, x->base->index, arrival.block, arrival.id, others,
                                               &arrival.access)) {
            status = complete_barrier(x, d, &arrival);
        }
    }
    return status;
}

int
gpc_core_issue_fence(gpc_issue_t *x, const gpc_decoded_t *d)
{
    int status = gpc_core_query_order(x, d);
    if (status == GPC_ISSUED) {
        x->base->statistics->fences++;
    }
    return status;
}
