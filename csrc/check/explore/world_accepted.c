/* world_accepted.c: accepted stores in the explorer's world. They are part of a state, because a state in which a store
 * is lost equals one in which it has been performed otherwise. */
#include "check/explore/world.h"

static int
on_accepted(gpc_world_t *self, const gpc_controller_t *unit, const gpc_msg_t *store)
{
    const gpc_msg_t *request = gpc_accepted_request(unit, store);
    gpc_accepted_store_t one = {.reader = request->access / GPC_WORLD_MAX_OPS,
                                .issued = request->access % GPC_WORLD_MAX_OPS,
                                .core = request->source,
                                .place = gpc_accepted_place(unit, request->source),
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
on_performed(gpc_world_t *self, gpc_controller_t *unit, const gpc_msg_t *write)
{
    int status = GPC_OK;
    for (gpc_mask_t left = write->request == GPC_NONE ? write->mask : 0; left && status == GPC_OK; left &= left - 1) {
        gpc_index_t i;
        uint32_t word = (uint32_t) __builtin_ctz(left);
        if (self->watched.near_ahead && gpc_accepted_with(&self->accepted, unit, write, word) == GPC_NONE) {
            continue; /* an earlier launch's */
        }
        status = gpc_accepted_find(&self->accepted, unit, write, word, &i);
        if (status == GPC_OK) {
            gpc_accepted_perform(&self->accepted, i);
        }
    }
    return status;
}

static int
on_completed(const gpc_world_t *self, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words)
{
    bool is_load = request->type == GPC_MSG_LOAD && request->access != GPC_WORLD_NO_THREAD;
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

static int
on_event(void *world, const gpc_observation_t *event)
{
    gpc_world_t *self = world;
    if (event->kind == GPC_ON_ACCEPTED) {
        return on_accepted(self, event->accepted.unit, event->accepted.msg);
    }
    if (event->kind == GPC_ON_PERFORMED) {
        return on_performed(self, event->performed.unit, event->performed.msg);
    }
    return on_completed(self, event->completed.unit, event->completed.msg, event->completed.words);
}

int
gpc_world_watch_stores(gpc_world_t *self)
{
    uint32_t stores = 1;

    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        stores += self->what->threads[t].num_ops * (self->what->wide ? 2 : 1);
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
    self->stores = (gpc_subscriber_t){.observe = on_event, .self = self};
    if (!self->what->unwatched) {
        gpc_subscribe(&self->stream, &self->stores, GPC_KIND(ACCEPTED) | GPC_KIND(PERFORMED) | GPC_KIND(COMPLETED));
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
