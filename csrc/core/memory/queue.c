/* queue.c: the load-store queue of a core, a FIFO that offers one request per cycle to the L1 port.
 *
 * It cannot deadlock: a warp waits for places that only older accesses occupy, and these need no further place. */
#include "core/memory/load_store.h"
#include "core/memory/together.h"
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

/* The queue as it was before the message was taken from it, until gpc_cores_retry. */
__attribute__((noinline)) static int
put_back(const gpc_cores_t *self, gpc_core_t *core, const gpc_list_t *before, gpc_index_t next, gpc_index_t message)
{
    core->queue = *before;
    gpc_msg_at(self->messages, message)->next = next;
    core->held = true;
    return GPC_OK;
}

int
gpc_core_offer(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (core->queue.count == 0 || core->held || core->port_used == now) {
        return GPC_OK;
    }
    gpc_list_t before = core->queue;
    gpc_index_t next = gpc_msg_at(self->messages, before.head)->next;
    gpc_index_t i = gpc_list_pop(&core->queue, self->messages);
    const gpc_core_request_t *request = gpc_request_at(self->parts, core_index, gpc_msg_at(self->messages, i)->access);
    gpc_core_access_t *access = gpc_access_at(self->parts, core_index, request->access);
    if (request->held != GPC_NONE &&
        !gpc_together_may_offer(self, core_index, request, gpc_msg_at(self->messages, i))) {
        return put_back(self, core, &before, next, i);
    }
    /* The L1 may complete the request immediately, which frees message and access. */
    bool last = --access->to_offer == 0;
    gpc_msg_at(self->messages, i)->received = now;
    int status = GPC_OBSERVE(&self->tap, OFFERED, offered, core_index, gpc_msg_at(self->messages, i));
    if (status == GPC_OK) {
        status = self->hooks.offer(self->hooks.world, core_index, i);
    }
    if (status < 0) {
        return status;
    }
    if (status == GPC_OFFER_HELD) {
        access->to_offer++;
        if (request->held != GPC_NONE) {
            gpc_together_not_taken(self, core_index, request, gpc_msg_at(self->messages, i));
        }
        return put_back(self, core, &before, next, i);
    }
    core->port_used = now;
    core->held = status == GPC_OFFER_LAST;
    if (last) {
        core->queued--;
        return gpc_core_wake_queue_waiters(self, core_index);
    }
    return GPC_OK;
}

int
gpc_cores_retry(gpc_cores_t *self, uint32_t core_index, bool at_edge)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    gpc_cycle_t now = self->hooks.now(self->hooks.world);
    if (!core->held) {
        return GPC_OK;
    }
    core->held = false;
    if (core->in_cycle || !at_edge || core->port_used == now) {
        return gpc_core_schedule(self, core_index, now);
    }
    int status = gpc_core_offer(self, core_index, now); /* as the core in this cycle would */
    if (status == GPC_OK && core->queue.count != 0 && !core->held) {
        status = gpc_core_schedule(self, core_index, now + 1);
    }
    return status;
}
