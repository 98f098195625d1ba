/* together.c: see together.h. */
#include "core/memory/together.h"

#include "cache/rmw.h"
#include "core/memory/load_store.h"
#include "core/waking.h"

static uint32_t
lock_of(const gpc_cores_t *self, gpc_address_t line)
{
    uint64_t hash = line / self->machine->line_bytes * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t) (hash >> 32) % GPC_TOGETHER_LOCKS;
}

static gpc_lane_list_t *
list_of(const gpc_cores_t *self, const gpc_core_request_t *request)
{
    return gpc_lane_list_at(self->lane_lists, request->held);
}

/* The list's link has the words that are missing. An atomic's list has its lanes, another one's has none. */
int
gpc_together_begin(const gpc_issue_t *x, gpc_core_request_t *request, gpc_msg_t *msg)
{
    gpc_cores_t *self = x->base->cores;
    request->held = msg->lanes;
    if (msg->lanes != GPC_NONE) {
        msg->lanes = GPC_NONE;
        msg->type = GPC_MSG_LOAD;
        msg->order = msg->order == GPC_ORDER_WEAK ? (uint8_t) GPC_ORDER_RELAXED : msg->order;
    } else {
        request->held = gpc_pool_take(self->lane_lists);
        if (request->held == GPC_NONE) {
            return gpc_fail(self->failure, GPC_ERROR_CAPACITY, "core %u: the pool of lane lists is empty",
                            x->base->index);
        }
        list_of(self, request)->count = 0;
    }
    list_of(self, request)->next = request->missing;
    request->missing = GPC_NO_WORDS;
    return GPC_OK;
}

/* ---- one at a time ----------------------------------------------------------------------------------------------- */

/* Of an atomic: the store of the new words. */
static bool
is_second_part(const gpc_cores_t *self, const gpc_core_request_t *request, const gpc_msg_t *msg)
{
    return msg->type == GPC_MSG_STORE && list_of(self, request)->count != 0;
}

bool
gpc_together_may_offer(gpc_cores_t *self, uint32_t core, const gpc_core_request_t *request, const gpc_msg_t *msg)
{
    gpc_together_t *all = &self->parts->together;
    uint32_t number = lock_of(self, msg->line);
    gpc_together_lock_t *lock = &all->locks[number];
    if (is_second_part(self, request, msg)) {
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
    if (!is_second_part(self, request, msg)) {
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
    if (next == GPC_NONE || !self->parts->cores[next].held) {
        return GPC_OK;
    }
    self->parts->cores[next].held = false;
    return gpc_core_schedule(self, next, self->hooks.now(self->hooks.world));
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
    list_of(self, request)->next = written;
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

/* Words of a load or store, which are not its last ones. */
static void
deliver_part(gpc_cores_t *self, uint32_t core, const gpc_msg_t *msg, const uint32_t *words, gpc_cycle_t at)
{
    const gpc_core_request_t *request = gpc_request_at(self->parts, core, msg->access);
    gpc_core_access_t *access = gpc_access_at(self->parts, core, request->access);
    if (access->access.kind == GPC_ACCESS_LOAD) {
        gpc_core_deliver_words(self, core, access, request->lanes, msg->mask, words);
    }
    access->done_at = access->done_at < at ? at : access->done_at;
}

/* What the words of an atomic leave to do: the words that it writes. */
static gpc_mask_t
perform(gpc_lane_list_t *list, uint32_t *line)
{
    for (uint32_t n = 0; n < list->count; n++) {
        line[list->word[n]] = list->old[n];
    }
    return gpc_rmw_perform(list, line);
}

int
gpc_together_answered(gpc_cores_t *self, uint32_t core, gpc_index_t message, const uint32_t *words, gpc_cycle_t at,
                      bool *completes)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_core_request_t *request = gpc_request_at(self->parts, core, msg->access);
    gpc_lane_list_t *list = list_of(self, request);
    bool atomic = list->count != 0, loads = msg->type == GPC_MSG_LOAD;
    if (atomic && loads) {
        note_old(list, msg->mask, words);
    }
    list->next &= ~msg->mask;
    if (list->next != GPC_NO_WORDS) {
        if (!atomic) {
            deliver_part(self, core, msg, words, at);
        }
        drop_part(self, request, message);
        return GPC_OK;
    }
    uint32_t line[GPC_MAX_LINE_WORDS] = {0};
    gpc_mask_t written = atomic && loads ? perform(list, line) : GPC_NO_WORDS;
    if (written != GPC_NO_WORDS) {
        return store_words(self, core, message, written, line);
    }
    if (atomic) {
        msg->lanes = request->held;
    } else {
        gpc_pool_give(self->lane_lists, request->held);
    }
    request->held = GPC_NONE;
    request->missing = msg->mask;
    *completes = true;
    return end(self, msg->line);
}
