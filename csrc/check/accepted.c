/* accepted.c: finds accepted stores by word, performs them, and checks that none is lost. */
#include "check/accepted.h"

#include <inttypes.h>

#include "controller/nodes.h"

gpc_node_t
gpc_accepted_place(const gpc_controller_t *unit, gpc_node_t core)
{
    const gpc_watched_t *watched = unit->protocol->watched;
    bool of_die = watched && watched->near_accepts;
    return of_die ? gpc_first_core_of(unit->nodes, gpc_die_of(unit->nodes, core)) : core;
}

const gpc_msg_t *
gpc_accepted_request(const gpc_controller_t *unit, const gpc_msg_t *store)
{
    return store->type < GPC_MSG_OWN ? store : gpc_msg_at(unit->messages, store->request);
}

static gpc_accepted_bucket_t *
bucket_of(const gpc_accepted_t *self, gpc_node_t place, gpc_address_t address)
{
    uint64_t key = (address / 4 + place * UINT64_C(0xC2B2AE3D27D4EB4F)) * UINT64_C(0x9E3779B97F4A7C15);
    return &self->bucket[key >> 32 & (self->buckets - 1)];
}

void
gpc_accepted_clear(gpc_accepted_t *self)
{
    *self->state = (gpc_accepted_state_t){.free = GPC_NONE};
    for (uint32_t i = 0; i < self->buckets; i++) {
        self->bucket[i] = (gpc_accepted_bucket_t){GPC_NONE, GPC_NONE};
    }
}

int
gpc_accepted_add(gpc_accepted_t *self, const gpc_accepted_store_t *store)
{
    gpc_accepted_state_t *state = self->state;
    gpc_accepted_bucket_t *bucket = bucket_of(self, store->place, store->address);
    gpc_index_t i = state->free;

    if (i != GPC_NONE) {
        state->free = self->stores[i].next;
    } else if (state->high < self->capacity) {
        i = state->high++;
    } else {
        return GPC_ERROR_CAPACITY;
    }
    self->stores[i] = *store;
    self->stores[i].next = GPC_NONE;
    *(bucket->tail == GPC_NONE ? &bucket->head : &self->stores[bucket->tail].next) = i;
    bucket->tail = i;
    state->count++;
    return GPC_OK;
}

/* The first store of the place to the word, from i on. */
static gpc_index_t
from(const gpc_accepted_t *self, gpc_index_t i, gpc_node_t place, gpc_address_t address)
{
    while (i != GPC_NONE && (self->stores[i].place != place || self->stores[i].address != address)) {
        i = self->stores[i].next;
    }
    return i;
}

gpc_index_t
gpc_accepted_first(const gpc_accepted_t *self, gpc_node_t place, gpc_address_t address)
{
    return from(self, bucket_of(self, place, address)->head, place, address);
}

gpc_index_t
gpc_accepted_next(const gpc_accepted_t *self, gpc_index_t i)
{
    const gpc_accepted_store_t *store = &self->stores[i];
    return from(self, store->next, store->place, store->address);
}

bool
gpc_accepted_waits(const gpc_accepted_t *self, uint64_t reader)
{
    for (uint32_t bucket = 0; bucket < self->buckets; bucket++) {
        for (gpc_index_t i = self->bucket[bucket].head; i != GPC_NONE; i = self->stores[i].next) {
            if (self->stores[i].reader == reader && !self->stores[i].perhaps) {
                return true;
            }
        }
    }
    return false;
}

gpc_index_t
gpc_accepted_with(const gpc_accepted_t *self, const gpc_controller_t *unit, const gpc_msg_t *write, uint32_t word)
{
    gpc_index_t i = gpc_accepted_first(self, gpc_accepted_place(unit, write->requester), write->line + 4 * word);
    while (i != GPC_NONE && self->stores[i].value != write->data[word]) {
        i = gpc_accepted_next(self, i);
    }
    return i;
}

int
gpc_accepted_find(const gpc_accepted_t *self, gpc_controller_t *unit, const gpc_msg_t *write, uint32_t word,
                  gpc_index_t *i)
{
    *i = gpc_accepted_with(self, unit, write, word);
    if (*i != GPC_NONE) {
        return GPC_OK;
    }
    return gpc_violated(unit, write->line, "only accepted stores are performed without a request",
                        "word %" PRIu32 " gets 0x%" PRIx32 ", which no accepted store of core %u has", word,
                        write->data[word], write->requester);
}

/* Removes the store from its bucket. */
static void
take_out(gpc_accepted_t *self, gpc_index_t i)
{
    gpc_accepted_state_t *state = self->state;
    gpc_accepted_bucket_t *bucket = bucket_of(self, self->stores[i].place, self->stores[i].address);
    gpc_index_t previous = GPC_NONE;

    for (gpc_index_t at = bucket->head; at != i; at = self->stores[at].next) {
        previous = at;
    }
    *(previous == GPC_NONE ? &bucket->head : &self->stores[previous].next) = self->stores[i].next;
    if (bucket->tail == i) {
        bucket->tail = previous;
    }
    self->stores[i].next = state->free;
    state->free = i;
    state->count--;
}

void
gpc_accepted_perform(gpc_accepted_t *self, gpc_index_t i)
{
    const gpc_accepted_store_t performed = self->stores[i];
    gpc_index_t youngest = GPC_NONE, at;

    do {
        at = gpc_accepted_first(self, performed.place, performed.address);
        take_out(self, at);
    } while (at != i);
    for (at = gpc_accepted_first(self, performed.place, performed.address); at != GPC_NONE;
         at = gpc_accepted_next(self, at)) {
        youngest = self->stores[at].value == performed.value ? at : youngest;
    }
    at = youngest == GPC_NONE ? GPC_NONE : gpc_accepted_first(self, performed.place, performed.address);
    while (at != GPC_NONE) {
        self->stores[at].perhaps = true;
        at = at == youngest ? GPC_NONE : gpc_accepted_next(self, at);
    }
}

static gpc_index_t
first_lost(const gpc_accepted_t *self)
{
    for (uint32_t bucket = 0; self->state->count && bucket < self->buckets; bucket++) {
        for (gpc_index_t i = self->bucket[bucket].head; i != GPC_NONE; i = self->stores[i].next) {
            if (!self->stores[i].perhaps) {
                return i;
            }
        }
    }
    return GPC_NONE;
}

int
gpc_accepted_check_end(const gpc_accepted_t *self, gpc_controller_t *const *l1s)
{
    gpc_index_t lost = first_lost(self);

    if (lost == GPC_NONE) {
        return GPC_OK;
    }
    const gpc_accepted_store_t *store = &self->stores[lost];
    gpc_controller_t *l1 = l1s[store->core];
    gpc_address_t line = store->address / l1->machine->line_bytes * l1->machine->line_bytes;
    return gpc_violated(l1, line, "an accepted store is performed before the end",
                        "core %u warp %u has stored 0x%" PRIx32 " in word %" PRIu32, store->core, store->warp,
                        store->value, (uint32_t) (store->address - line) / 4);
}

int
gpc_accepted_check_load(const gpc_accepted_t *self, gpc_controller_t *l1, const gpc_msg_t *load, uint64_t reader,
                        gpc_cycle_t issued, uint32_t word, uint32_t value)
{
    bool own = false, read = false;
    gpc_node_t place = gpc_accepted_place(l1, l1->node);
    gpc_index_t i = self->state->count ? gpc_accepted_first(self, place, load->line + 4 * word) : GPC_NONE;

    for (; i != GPC_NONE; i = gpc_accepted_next(self, i)) {
        const gpc_accepted_store_t *store = &self->stores[i];
        if (store->reader == reader && store->issued < issued && !store->perhaps) {
            own = true;
            read = false; /* this one or a younger one it must be */
        }
        read |= store->value == value;
    }
    if (read || !own) {
        return read ? GPC_ACCEPTED_READ : GPC_OK;
    }
    return gpc_violated(l1, load->line, "a warp reads its own accepted store",
                        "core %u warp %u loads 0x%" PRIx32 " from word %" PRIu32, load->source, load->warp, value,
                        word);
}
