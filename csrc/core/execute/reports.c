/* reports.c: assertions and prints of kernels. */
#include "core/execute/execute.h"
#include "core/registers.h"
#include "core/where.h"

static int
issue_assert(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t failed = x->warp->top.lanes & ~gpc_core_lanes_not_zero(x, &d->a);
    if (failed == 0) {
        return GPC_ISSUED;
    }
    char who[120];
    return gpc_fail(x->base->cores->failure, GPC_ERROR_ASSERTION, "kernel '%s': assertion failed: %s: %s",
                    gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc),
                    d->immediate < x->launch->launch.num_reports ? x->launch->launch.reports[d->immediate] : "?",
                    gpc_core_who(x, gpc_lowest_bit(failed), who, sizeof who));
}

static void
issue_print(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_prints_t *prints = &x->base->parts->prints;
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    uint32_t room[GPC_MAX_LANES];
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room);
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        if (prints->count == GPC_PRINTS) {
            prints->lost += gpc_count_bits(left);
            return;
        }
        prints->records[prints->count++] =
            (gpc_print_t){x->launch->first_report + d->immediate, x->launch->first_block + block->number,
                          x->warp->index * x->launch->lanes + l, a[l]};
    }
}

int
gpc_core_issue_report(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    if (d->opcode == GPC_OP_ASSERT) {
        return issue_assert(x, d);
    }
    issue_print(x, d);
    return GPC_ISSUED;
}
