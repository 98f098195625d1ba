/* together.c: see together.h. */
#include "core/memory/together.h"

#include "cache/rmw.h"
#include "core/waking.h"

static uint32_t
lock_of(const gpc_cores_t *self, gpc_address_t line)
{
    uint64_t hash = line / self->machine->line_bytes * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t) (hash >> 32) % GPC_TOGETHER_LOCKS;
}

void
gpc_together_begin(gpc_core_request_t *request, gpc_msg_t *msg)
{
    request->held = msg->lanes == GPC_NONE ? GPC_TOGETHER : msg->lanes;
    if (msg->lanes != GPC_NONE) {
        msg->lanes = GPC_NONE;
        msg->type = GPC_MSG_LOAD;
        msg->order = msg->order == GPC_ORDER_WEAK ? (uint8_t) GPC_ORDER_RELAXED : msg->order;
    }
}

/* ---- one at a time ----------------------------------------------------------------------------------------------- */

bool
gpc_together_may_offer(gpc_cores_t *self, uint32_t core, const gpc_core_request_t *request, const gpc_msg_t *msg)
{
    gpc_together_t *all = &self->parts->together;
    uint32_t number = lock_of(self, msg->line);
    gpc_together_lock_t *lock = &all->locks[number];
    if (request->held != GPC_TOGETHER && msg->type == GPC_MSG_STORE) {
        return true; /* has begun */
    }
    if (lock->taken || (lock->kept && lock->core != core)) {
        if (all->waits_for[core] != number + 1) {
            all->waits_for[core] = (uint16_t) (number + 1);
            all->waits_since[core] = ++all->waits;
        }
        return false;
    }
    *lock = (gpc_together_lock_t){.taken = true, .core = (uint16_t) core};
    all->waits_for[core] = 0;
    return true;
}

void
gpc_together_not_taken(gpc_cores_t *self, uint32_t core, const gpc_core_request_t *request, const gpc_msg_t *msg)
{
    gpc_together_lock_t *lock = &self->parts->together.locks[lock_of(self, msg->line)];
    if (request->held == GPC_TOGETHER || msg->type != GPC_MSG_STORE) {
        *lock = (gpc_together_lock_t){.kept = true, .core = (uint16_t) core};
    }
}

/* A request of the line is complete: the core that has waited longest may offer the next one. */
static int
end(gpc_cores_t *self, gpc_address_t line)
{
    gpc_together_t *all = &self->parts->together;
    uint32_t number = lock_of(self, line), next = GPC_NONE;
    for (uint32_t i = 0; i < self->machine->cores; i++) {
        if (all->waits_for[i] == number + 1 && (next == GPC_NONE || all->waits_since[i] < all->waits_since[next])) {
            next = i;
        }
    }
    all->locks[number] = (gpc_together_lock_t){.kept = next != GPC_NONE, .core = (uint16_t) next};
    return next == GPC_NONE ? GPC_OK : gpc_cores_retry(self, next, false);
}

/* ---- the parts of an atomic -------------------------------------------------------------------------------------- */

/* The line's words that the list's entries name, as they have arrived, by their first entries. */
static void
note_old(gpc_lane_list_t *list, gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t n = 0; n < list->count; n++) {
        if ((mask >> list->word[n] & 1) != 0) {
            list->old[n] = words[list->word[n]];
        }
    }
}

/* The new words, as a request like the one that the message has answered, go before the queue, which may wait for this
 * line. */
static int
store_words(gpc_cores_t *self, uint32_t index, gpc_index_t message, gpc_mask_t written, const uint32_t *words)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_core_t *core = &self->parts->cores[index];
    gpc_core_request_t *request = gpc_request_at(self->parts, index, msg->access);
    gpc_core_access_t *access = gpc_access_at(self->parts, index, request->access);
    gpc_cycle_t now = self->hooks.now(self->hooks.world);
    gpc_msg_t store = {.type = GPC_MSG_STORE,
                       .order = msg->order,
                       .scope = msg->scope,
                       .source = (gpc_node_t) index,
                       .destination = (gpc_node_t) index,
                       .requester = (gpc_node_t) index,
                       .warp = msg->warp,
                       .request = message,
                       .lanes = GPC_NONE,
                       .access = msg->access,
                       .mask = written,
                       .network = GPC_MAX_NETWORKS,
                       .line = msg->line,
                       .issued = now};
    memcpy(store.data, words, sizeof store.data);
    *msg = store;
    if (request->parked != GPC_NONE) {
        gpc_pool_give(self->messages, request->parked);
        request->parked = GPC_NONE;
    }
    request->name = message;
    request->missing = written;
    gpc_list_push_front(&core->queue, self->messages, message);
    core->queued += access->to_offer++ == 0;
    if (self->parts->together.waits_for[index] != 0) {
        /* so does what the core has not been allowed to offer */
        self->parts->together.waits_for[index] = 0;
        core->held = false;
    }
    return gpc_core_schedule(self, index, now);
}

/* Frees the message, which has answered some of the words; the one that names the request stays until it is
 * complete. */
static void
drop_part(const gpc_cores_t *self, gpc_core_request_t *request, gpc_index_t message)
{
    if (request->name == message) {
        request->parked = message;
    } else {
        gpc_pool_give(self->messages, message);
    }
}

__attribute__((noinline)) int /* rare */
gpc_together_answered(gpc_cores_t *self, uint32_t core, gpc_index_t message, const uint32_t *words, bool *completes)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_core_request_t *request = gpc_request_at(self->parts, core, msg->access);
    if (request->held == GPC_TOGETHER) {
        return (request->missing & ~msg->mask) == 0 ? end(self, msg->line) : GPC_OK;
    }
    gpc_lane_list_t *list = gpc_lane_list_at(self->lane_lists, request->held);
    bool loads = msg->type == GPC_MSG_LOAD;
    if (loads) {
        note_old(list, msg->mask, words);
    }
    request->missing &= ~msg->mask;
    *completes = false;
    if (request->missing != 0) {
        drop_part(self, request, message);
        return GPC_OK;
    }
    if (loads) {
        uint32_t line[GPC_MAX_LINE_WORDS] = {0};
        for (uint32_t n = 0; n < list->count; n++) {
            line[list->word[n]] = list->old[n];
        }
        gpc_mask_t written = gpc_rmw_perform(list, line);
        if (written != 0) {
            return store_words(self, core, message, written, line);
        }
    }
    msg->lanes = request->held;
    request->missing = msg->mask;
    *completes = true;
    return end(self, msg->line);
}
