/* work.c: whether a core that has work has an event; for the monitor of work without an event. */
#include "core/memory/load_store.h"
#include "core/stuck.h"
#include "core/waking.h"

gpc_cycle_t
gpc_cores_next_cycle(const gpc_cores_t *self, uint32_t core_index)
{
    return self->parts->cores[core_index].cycle_scheduled;
}

bool
gpc_cores_is_held(const gpc_cores_t *self, uint32_t core_index, gpc_index_t *message)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    *message = core->queue.head;
    return core->held && self->parts->together.waits_for[core_index] == 0;
}

/* What a warp waits for although nothing will end the wait, or NULL. */
static const char *
forgotten_wait(const gpc_core_t *core, const gpc_warp_t *warp, uint32_t w)
{
    bool ready = ((core->ready | core->waits_queue) >> w & 1u) != 0;
    bool timed = (core->calendar[warp->wake_at % GPC_CALENDAR_SLOTS] >> w & 1u) != 0 || (core->far >> w & 1u) != 0;
    switch ((gpc_warp_state_t) warp->state) {
        case GPC_WARP_READY:
            return ready ? NULL : "a warp that is ready and that the scheduler does not consider";
        case GPC_WARP_WAITS_TIME:
            return timed ? NULL : "a warp that waits for a cycle outside the calendar";
        case GPC_WARP_WAITS_REGISTER:
            return warp->outstanding != 0 ? NULL : "a warp that waits for a register without an outstanding access";
        case GPC_WARP_FREE:
        case GPC_WARP_WAITS_ORDER: /* perhaps for its L1 */
        case GPC_WARP_WAITS_BARRIER:
            break;
    }
    return NULL;
}

/* The cycle in which the core has something to do by itself, and what. */
static gpc_cycle_t
due_at(const gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now, const char **what)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    gpc_cycle_t at = gpc_core_next_in_calendar(core);

    *what = "warps that wait for a cycle";
    if (core->due_head != GPC_NONE) {
        const gpc_core_access_t *due = gpc_access_at(self->parts, core_index, core->due_head);
        *what = due->done_at < at ? "an access that is complete" : *what;
        at = due->done_at < at ? due->done_at : at;
    }
    gpc_cycle_t offers = core->port_next > now ? core->port_next : now;
    if (core->queue.count != 0 && !core->held && offers < at) {
        *what = "requests to offer to its L1";
        at = offers;
    }
    if (core->ready != 0 && at != now) {
        *what = "warps that are ready";
        at = core->ports_free_at > now ? core->ports_free_at : now;
    }
    return at;
}

const char *
gpc_cores_forgotten_work(const gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    const char *what;
    gpc_cycle_t due = due_at(self, core_index, now, &what),
                latest = due > core->cycle_allowed ? due : core->cycle_allowed;

    if (due != GPC_NEVER && core->cycle_scheduled > (latest > now ? latest : now)) {
        return what;
    }
    if (core->waits_queue != 0 && gpc_core_has_room(self, core_index)) {
        return "warps that wait for the load-store queue, which has room";
    }
    what = NULL;
    for (uint64_t left = core->resident; left != 0 && what == NULL; left &= left - 1) {
        uint32_t w = gpc_lowest_bit(left);
        what = forgotten_wait(core, gpc_core_warp(self, core_index, w), w);
    }
    return what;
}
