/* observed.c: what the scheduler reports to subscribers, and computes for them only. */
#include "core/frontend/frontend.h"
#include "core/registers.h"

/* The scoreboard entry of the instruction's registers that is ready last, and when; GPC_NONE: `ready` is later. */
static uint32_t
awaited_of(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_cycle_t *ready)
{
    uint32_t awaited = GPC_NONE;
    for (uint32_t i = 0; i < d->num_waits; i++) {
        gpc_cycle_t at = gpc_ready_at(x, d->waits[i]);
        if (at > *ready) {
            *ready = at;
            awaited = d->waits[i];
        }
    }
    return awaited;
}

int
gpc_core_observe_selected(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_cycle_t ready = x->warp->not_before;
    uint32_t awaited = awaited_of(x, d, &ready);
    return GPC_OBSERVE(&x->base->cores->tap, SELECTED, selected, x->base->index, x->warp_index,
                       x->launch->first_pc + x->warp->top.pc, awaited, x->core->reasons[x->warp_index], ready);
}

int
gpc_core_observe_counted(gpc_cores_t *self, uint32_t core, uint32_t warp, uint8_t cause, gpc_cycle_t cycles)
{
    uint32_t pc = 0, awaited = GPC_NONE;
    if (warp != GPC_NONE && gpc_core_warp(self, core, warp)->state != GPC_WARP_FREE) {
        gpc_issue_t x;
        gpc_cycle_t ready = 0;
        gpc_issue_init(&x, self, core, warp, self->hooks.now(self->hooks.world));
        pc = x.warp->top.pc;
        awaited = awaited_of(&x, &x.launch->code[pc], &ready);
    }
    pc += self->parts->bases[core].launch ? self->parts->bases[core].launch->first_pc : 0;
    return GPC_OBSERVE(&self->tap, COUNTED, counted, core, warp, pc, awaited, cause, cycles);
}
