/* profile_waits.c: who ended whose wait: barriers, and words that warps poll; the chain that ends a launch. */
#include "base/atomics.h"
#include "cache/rmw.h"
#include "check/profile/profile_parts.h"

gpc_moment_t
gpc_profile_moment(const gpc_profile_t *self, uint32_t core, uint32_t warp)
{
    const gpc_profiled_warp_t *of = gpc_profile_warp(self, core, warp);
    return (gpc_moment_t){core, warp, of->block, gpc_profile_now(self), of->longest};
}

static gpc_handover_t *
next_handover(gpc_profile_t *self)
{
    return &self->handovers[self->num_handovers++ % GPC_PROFILE_HANDOVERS];
}

static void
let_go(gpc_profiled_warp_t *warp, uint32_t none)
{
    warp->longest = (gpc_longest_t){.pc = none};
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

void
gpc_profile_arrived(gpc_profile_t *self, const gpc_observation_t *event)
{
    uint32_t core = event->arrived.core;
    gpc_cycle_t now = gpc_profile_now(self);
    uint64_t others = event->arrived.released & ~(UINT64_C(1) << event->arrived.warp);
    if (others == 0) {
        return;
    }
    *next_handover(self) = (gpc_handover_t){.cycle = now,
                                            .warps = others,
                                            .core = core,
                                            .pc = self->selected[core],
                                            .cause = GPC_STALL_barrier,
                                            .word = GPC_NEVER,
                                            .by = gpc_profile_moment(self, core, event->arrived.warp)};
    for (; others; others &= others - 1) {
        gpc_profiled_warp_t *warp = gpc_profile_warp(self, core, gpc_lowest_bit(others));
        if (warp->since <= now) {
            warp->waits[GPC_STALL_barrier] += now + 1 - warp->since;
            warp->since = now + 1;
        }
        let_go(warp, self->program->count);
    }
}

/* ---- polled words ------------------------------------------------------------------------------------------------ */

static gpc_changed_t *
changed_at(const gpc_profile_t *self, gpc_address_t word)
{
    return &self->changed[word / 4 % GPC_PROFILE_CHANGED];
}

static void
note_change(gpc_profile_t *self, gpc_address_t word, const gpc_moment_t *by)
{
    gpc_changed_t *changed = changed_at(self, word);
    if (changed->word != word) {
        *changed = (gpc_changed_t){.word = word, .now = *by, .before = {.core = GPC_NONE}};
        return;
    }
    if (changed->now.core != by->core || changed->now.warp != by->warp) {
        changed->before = changed->now;
    }
    changed->now = *by;
}

/* A failed attempt to take a lock changes nothing. */
static bool
changes(const gpc_lane_list_t *list, uint32_t n)
{
    switch (list->operation) {
        case GPC_ATOMIC_CAS:
        case GPC_ATOMIC_EXCH:
            return gpc_rmw_changes(list, n);
        default:
            return true;
    }
}

void
gpc_profile_performed(gpc_profile_t *self, const gpc_msg_t *msg)
{
    const gpc_machine_t *machine = self->about.cores->machine;
    if (!self->program || msg->requester >= machine->cores || msg->warp >= machine->warps_per_core) {
        return;
    }
    gpc_moment_t by = gpc_profile_moment(self, msg->requester, msg->warp);
    if (msg->lanes != GPC_NONE) {
        const gpc_lane_list_t *list = gpc_lane_list_at(self->about.cores->lane_lists, msg->lanes);
        for (uint32_t n = 0; n < list->count; n++) {
            if (changes(list, n)) {
                note_change(self, msg->line + 4u * list->word[n], &by);
            }
        }
        return;
    }
    for (gpc_mask_t left = msg->mask; left; left &= left - 1) {
        note_change(self, msg->line + 4 * gpc_lowest_bit(left), &by);
    }
}

/* The word that the instruction has accessed, if the warp has accessed few others since; else NULL. */
static const gpc_recent_t *
accessed_at(const gpc_profiled_warp_t *warp, uint32_t pc)
{
    for (uint32_t i = 0; i < GPC_PROFILE_RECENT; i++) {
        if (warp->recent[i].word != GPC_NEVER && warp->recent[i].pc == pc) {
            return &warp->recent[i];
        }
    }
    return NULL;
}

void
gpc_profile_polled(gpc_profile_t *self, uint32_t core, uint32_t warp, uint32_t pc, uint8_t cause)
{
    gpc_profiled_warp_t *waiter = gpc_profile_warp(self, core, warp);
    const gpc_recent_t *polled = accessed_at(waiter, pc);
    gpc_address_t word = polled ? polled->word : GPC_NEVER;
    const gpc_changed_t *changed = changed_at(self, word);
    if (!polled || changed->word != word) {
        return;
    }
    bool self_changed = changed->now.core == core && changed->now.warp == warp;
    const gpc_moment_t *by = self_changed ? &changed->before : &changed->now;
    if (by->core == GPC_NONE || by->cycle < polled->seen) {
        return;
    }
    *next_handover(self) = (gpc_handover_t){.cycle = gpc_profile_now(self),
                                            .warps = UINT64_C(1) << warp,
                                            .core = core,
                                            .pc = pc,
                                            .cause = cause,
                                            .word = word,
                                            .by = *by};
    let_go(waiter, self->program->count);
}

/* ---- the chain --------------------------------------------------------------------------------------------------- */

static void
name_word(const gpc_profile_t *self, gpc_address_t word, gpc_link_t *link)
{
    link->slot = self->program->num_buffers;
    for (uint32_t i = 0; word != GPC_NEVER && i < self->program->num_buffers; i++) {
        if (gpc_buffer_has(&self->program->ranges[i], word, &link->element)) {
            link->slot = i;
            return;
        }
    }
}

static bool
lets_go(const gpc_handover_t *handover, const gpc_moment_t *at)
{
    return handover->core == at->core && (handover->warps >> at->warp & 1) != 0 && handover->cycle <= at->cycle;
}

/* From the last issue back to what let its warp go on, and so on: a handover is of an earlier moment than the one
 * before. */
void
gpc_profile_follow_waits(gpc_profile_t *self)
{
    uint64_t kept = self->num_handovers < GPC_PROFILE_HANDOVERS ? self->num_handovers : GPC_PROFILE_HANDOVERS;
    if (!self->program || self->last_cycle - self->began <= self->longest) {
        return;
    }
    gpc_moment_t at = gpc_profile_moment(self, self->last_core, self->last_warp);
    at.cycle = self->last_cycle;
    self->longest = self->last_cycle - self->began;
    self->began_of_links = self->began;
    self->links_of = self->program;
    self->num_links = 0;
    self->links_cut = kept < self->num_handovers;
    for (uint64_t n = 1; n <= kept && self->num_links < GPC_PROFILE_LINKS - 1; n++) {
        const gpc_handover_t *handover = &self->handovers[(self->num_handovers - n) % GPC_PROFILE_HANDOVERS];
        if (!lets_go(handover, &at)) {
            continue;
        }
        gpc_link_t *link = &self->links[self->num_links++];
        *link = (gpc_link_t){.from = handover->by.cycle,
                             .to = at.cycle,
                             .core = at.core,
                             .warp = at.warp,
                             .block = at.block,
                             .longest = at.longest,
                             .cause = handover->cause,
                             .pc = handover->pc};
        name_word(self, handover->word, link);
        at = handover->by;
    }
    self->links[self->num_links++] = (gpc_link_t){.from = self->began,
                                                  .to = at.cycle,
                                                  .core = at.core,
                                                  .warp = at.warp,
                                                  .block = at.block,
                                                  .longest = at.longest,
                                                  .cause = GPC_NUM_STALLS,
                                                  .pc = self->program->count,
                                                  .slot = self->program->num_buffers};
}
