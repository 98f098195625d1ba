/* report.c: the reason why each resident warp waits, for deadlock and budget errors. */
#include <inttypes.h>

#include "core/execute/execute.h"
#include "core/memory/order.h"
#include "core/where.h"

/* The oldest outstanding access of a warp. */
static const gpc_core_access_t *
oldest_access(const gpc_cores_t *self, uint32_t core, uint32_t w)
{
    const gpc_core_access_t *oldest = NULL;
    for (uint32_t i = 0; i < self->parts->accesses[core].capacity; i++) {
        const gpc_core_access_t *access = gpc_access_at(self->parts, core, i);
        if (access->live && access->warp == w && (oldest == NULL || access->issued < oldest->issued)) {
            oldest = access;
        }
    }
    return oldest;
}

static void
explain_access(const gpc_cores_t *self, uint32_t core, uint32_t w, gpc_text_t *out)
{
    static const char *const kinds[] = {"a load", "a store", "an atomic"};
    const gpc_core_access_t *access = oldest_access(self, core, w);
    if (access == NULL) {
        return;
    }
    gpc_text_add(out, " (oldest outstanding access: %s of line 0x%" PRIx64 ", issued at cycle %" PRIu64 ")",
                 access->access.kind < 3 ? kinds[access->access.kind] : "?", access->line, access->issued);
}

static void
explain_warp(const gpc_cores_t *self, uint32_t core, uint32_t w, gpc_text_t *out)
{
    static const char *const stalls[GPC_NUM_STALLS] = {
#define X(name, text) [GPC_STALL_##name] = text,
        GPC_STALLS(X)
#undef X
    };
    const gpc_warp_t *warp = gpc_core_warp(self, core, w);
    const gpc_block_t *block = gpc_core_block(self, core, warp->block);
    char where[GPC_WHERE_BYTES];
    uint32_t pc = warp->state == GPC_WARP_WAITS_BARRIER ? warp->barrier_pc : warp->top.pc;
    gpc_text_add(out, "core %u warp %u (block %u,%u,%u) in %s ", core, w, block->coordinates[0], block->coordinates[1],
                 block->coordinates[2], gpc_core_where(self->parts->bases[core].launch, pc, where, sizeof where));
    switch (warp->state) {
        case GPC_WARP_READY:
            gpc_text_add(
                out, "%s%s", (self->parts->cores[core].waits_queue >> w & 1u) != 0 ? "waits for " : "is ready to issue",
                (self->parts->cores[core].waits_queue >> w & 1u) != 0 ? stalls[GPC_STALL_load_store_queue] : "");
            break;
        case GPC_WARP_WAITS_ORDER:
            gpc_text_add(out, "%s", gpc_order_verdict_text((gpc_order_verdict_t) warp->verdict));
            break;
        case GPC_WARP_WAITS_BARRIER:
            gpc_text_add(out, "waits at barrier %u for other warps of the block", (unsigned) warp->barrier);
            break;
        default:
            gpc_text_add(out, "waits for %s", stalls[self->parts->cores[core].reasons[w]]);
            if (warp->wake_at != GPC_NEVER) {
                gpc_text_add(out, " until cycle %" PRIu64, warp->wake_at);
            }
            break;
    }
    explain_access(self, core, w, out);
}

int
gpc_cores_explain_wait(const gpc_cores_t *self, gpc_text_t *out, uint32_t most)
{
    if (self->parts == NULL || self->parts->launch == NULL) {
        return GPC_ERROR_DEADLOCK;
    }
    uint32_t listed = 0, more = 0;
    int code = GPC_ERROR_DEADLOCK;
    for (uint32_t core = 0; core < self->machine->cores; core++) {
        for (uint64_t left = self->parts->cores[core].resident; left != 0; left &= left - 1) {
            if (listed < most) {
                gpc_text_add(out, "%s", listed == 0 ? "" : "; ");
                explain_warp(self, core, gpc_lowest_bit(left), out);
                listed++;
            } else {
                more++;
            }
        }
        for (uint32_t b = 0; b < self->machine->blocks_per_core; b++) {
            const gpc_block_t *block = gpc_core_block(self, core, b);
            if (block->resident && gpc_core_block_stuck(self, core, b)) {
                uint32_t warp = gpc_lowest_bit(block->warps & self->parts->cores[core].waits_barrier);
                code = GPC_ERROR_BARRIER;
                (void) gpc_core_fails_at(self->failure, self->parts->bases[core].launch,
                                         gpc_core_warp(self, core, warp)->barrier_pc);
            }
        }
    }
    if (more != 0) {
        gpc_text_add(out, "; and %u more warps", more);
    }
    return code;
}
