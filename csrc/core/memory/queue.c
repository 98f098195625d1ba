/* queue.c: room in a core's load-store queue. */
#include "core/memory/load_store.h"
#include "core/waking.h"

bool
gpc_core_has_room(const gpc_cores_t *self, uint32_t core_index)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_pool_t *accesses = &self->parts->accesses[core_index];
    return core->queued < self->machine->load_store_queue &&
           core->in_flight + self->machine->lanes_per_warp <= self->machine->requests_per_core &&
           accesses->state->in_use < accesses->capacity;
}

int
gpc_core_wake_queue_waiters(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (core->waits_queue == 0 || !gpc_core_has_room(self, core_index)) {
        return GPC_OK;
    }
    core->ready |= core->waits_queue;
    core->waits_queue = 0;
    return gpc_core_schedule(self, core_index, self->hooks.now(self->hooks.world));
}
