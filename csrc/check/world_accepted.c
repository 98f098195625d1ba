/* world_accepted.c: accepted stores in the explorer's world. They are part of a state, because a state in which a store
 * is lost equals one in which it has been performed otherwise. */
#include "check/world.h"

static int
on_stepped(void *watcher, gpc_controller_t *unit, gpc_address_t line)
{
    (void) watcher, (void) unit, (void) line;
    return GPC_OK; /* gpc_world_monitor checks after every move */
}

static int
on_accepted(void *watcher, gpc_controller_t *l1, const gpc_msg_t *store)
{
    gpc_world_t *self = watcher;
    gpc_accepted_store_t one = {.reader = store->access / GPC_WORLD_MAX_OPS,
                                .issued = store->access % GPC_WORLD_MAX_OPS,
                                .core = l1->node,
                                .warp = store->warp};
    for (gpc_mask_t left = store->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        one.address = store->line + 4 * word;
        one.value = store->data[word];
        if (gpc_accepted_add(&self->accepted, &one)) {
            return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "explorer: no room for an accepted store");
        }
    }
    return GPC_OK;
}

static int
on_performed(void *watcher, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until)
{
    gpc_world_t *self = watcher;
    int status = GPC_OK;
    (void) until;
    for (gpc_mask_t left = write->request == GPC_NONE ? write->mask : 0; left && status == GPC_OK; left &= left - 1) {
        gpc_index_t i;
        status = gpc_accepted_find(&self->accepted, unit, write, (uint32_t) __builtin_ctz(left), &i);
        if (status == GPC_OK) {
            gpc_accepted_perform(&self->accepted, i);
        }
    }
    return status;
}

static int
on_completed(void *watcher, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words, bool hit)
{
    const gpc_world_t *self = watcher;
    bool is_load = request->type == GPC_MSG_LOAD && request->access != GPC_WORLD_NO_THREAD;
    (void) hit;
    for (gpc_mask_t left = is_load ? request->mask : 0; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        int status = gpc_accepted_check_load(&self->accepted, l1, request, request->access / GPC_WORLD_MAX_OPS,
                                             request->access % GPC_WORLD_MAX_OPS, word, words[word]);
        if (status < 0) {
            return status;
        }
    }
    return GPC_OK;
}

int
gpc_world_watch_stores(gpc_world_t *self)
{
    uint32_t stores = 1;

    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        stores += self->what->threads[t].num_ops;
    }
    self->accepted.capacity = stores;
    self->accepted.buckets = 4;
    self->accepted.bucket = GPC_ARENA_TAKE(&self->arena, self->accepted.buckets, gpc_accepted_bucket_t);
    self->accepted.stores = GPC_ARENA_TAKE(&self->arena, stores, gpc_accepted_store_t);
    self->accepted.state = GPC_ARENA_TAKE(&self->arena, 1, gpc_accepted_state_t);
    if (self->arena.failed) {
        return GPC_ERROR_MEMORY;
    }
    gpc_accepted_clear(&self->accepted);
    self->watch = (gpc_watch_t){self, on_stepped, on_performed, on_accepted, on_completed, NULL};
    for (uint32_t node = 0; node < self->nodes && !self->what->unwatched; node++) {
        self->controllers[node].monitors = &self->watch;
    }
    return GPC_OK;
}

int
gpc_world_check_accepted(gpc_world_t *self)
{
    return gpc_accepted_check_end(&self->accepted, self->l1s);
}

static void
encode_word(const gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_node_t core, gpc_address_t address,
            gpc_encoder_t *out)
{
    gpc_index_t i = gpc_accepted_first(&self->accepted, core, address);
    for (; i != GPC_NONE; i = gpc_accepted_next(&self->accepted, i)) {
        const gpc_accepted_store_t *store = &self->accepted.stores[i];
        gpc_encode_u64(out, 1 + symmetry->thread[store->reader]);
        gpc_encode_u64(out, store->issued * 2 + store->perhaps);
        gpc_encode_u64(out, store->value);
    }
    gpc_encode_u64(out, 0);
}

void
gpc_world_encode_accepted(const gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out)
{
    gpc_encode_u64(out, self->accepted.state->count);
    if (self->accepted.state->count == 0) {
        return;
    }
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        for (uint32_t line = 0; line < self->lines; line++) {
            for (uint32_t word = 0; word < GPC_WORLD_LINE_WORDS; word++) {
                encode_word(self, symmetry, symmetry->node_at[core], gpc_world_address(line) + 4 * word, out);
            }
        }
    }
}
