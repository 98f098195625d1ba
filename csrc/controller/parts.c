/* parts.c: entries of parts (store buffers, FIFOs): taken in order, found by line, given back from anywhere, all in constant time. */
#include <string.h>

#include "controller/controller.h"

typedef struct {
    gpc_index_t pool; /* link while free */
    gpc_index_t next, previous;
    gpc_index_t chain; /* the next older entry in the bucket */
    gpc_address_t line;
} link_t;

static link_t *
link_at(const gpc_part_t *part, gpc_index_t entry)
{
    return (link_t *) gpc_pool_at(&part->pool, entry);
}

static gpc_index_t *
bucket_of(const gpc_part_t *part, gpc_address_t line)
{
    return &part->bucket[(uint32_t) ((line * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (part->buckets - 1)];
}

int
gpc_parts_init(gpc_controller_t *self, gpc_arena_t *arena)
{
    for (uint32_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name; i++) {
        const gpc_part_info_t *info = &self->type->parts[i];
        gpc_part_t *part = &self->parts[i];
        uint32_t capacity = info->capacity(self->machine, self->options);
        part->fields_size = (info->entry ? info->entry()->size + 7u : 8u) / 8u * 8u;
        part->buckets = 8;
        while (part->buckets < capacity) {
            part->buckets *= 2;
        }
        int status = gpc_pool_init(&part->pool, arena, capacity, sizeof(link_t));
        part->fields = gpc_arena_take(arena, capacity, part->fields_size);
        part->states = gpc_arena_take(arena, capacity, 1);
        part->order = GPC_ARENA_TAKE(arena, 1, gpc_list_t);
        part->bucket = GPC_ARENA_TAKE(arena, part->buckets, gpc_index_t);
        if (status || !part->fields || !part->states || !part->order || !part->bucket) {
            return GPC_ERROR_MEMORY;
        }
        gpc_part_clear(part);
    }
    return 0;
}

void
gpc_part_clear(gpc_part_t *part)
{
    *part->pool.state = (gpc_pool_state_t){.free = GPC_NONE};
    gpc_list_clear(part->order);
    for (uint32_t i = 0; i < part->buckets; i++) {
        part->bucket[i] = GPC_NONE;
    }
}

gpc_index_t
gpc_part_take(gpc_part_t *part, gpc_address_t line)
{
    gpc_list_t *order = part->order;
    gpc_index_t entry = gpc_pool_take(&part->pool), *bucket = bucket_of(part, line);

    if (entry == GPC_NONE) {
        return GPC_NONE;
    }
    *link_at(part, entry) = (link_t){.next = GPC_NONE, .previous = order->tail, .chain = *bucket, .line = line};
    *bucket = entry;
    if (order->count++ == 0) {
        order->head = entry;
    } else {
        link_at(part, order->tail)->next = entry;
    }
    order->tail = entry;
    memset(gpc_part_fields(part, entry), 0, part->fields_size);
    part->states[entry] = 0;
    return entry;
}

void
gpc_part_give(gpc_part_t *part, gpc_index_t entry)
{
    const link_t *link = link_at(part, entry);
    gpc_index_t *chain = bucket_of(part, link->line);

    while (*chain != entry) {
        chain = &link_at(part, *chain)->chain;
    }
    *chain = link->chain;
    *(link->previous == GPC_NONE ? &part->order->head : &link_at(part, link->previous)->next) = link->next;
    *(link->next == GPC_NONE ? &part->order->tail : &link_at(part, link->next)->previous) = link->previous;
    part->order->count--;
    gpc_pool_give(&part->pool, entry);
}

int
gpc_take_entry(gpc_step_t *x)
{
    gpc_part_t *part = &x->unit->parts[x->unit->type->object_of[x->table_number]];
    gpc_index_t entry = gpc_part_take(part, x->line);

    if (entry == GPC_NONE) {
        return GPC_HOLD;
    }
    x->entry = entry;
    x->slot = &part->states[entry];
    return GPC_OK;
}

gpc_index_t
gpc_part_find(const gpc_part_t *part, gpc_address_t line)
{
    gpc_index_t entry = *bucket_of(part, line);
    while (entry != GPC_NONE && link_at(part, entry)->line != line) {
        entry = link_at(part, entry)->chain;
    }
    return entry;
}

gpc_index_t
gpc_part_first(const gpc_part_t *part)
{
    return part->order->head;
}

gpc_index_t
gpc_part_next(const gpc_part_t *part, gpc_index_t entry)
{
    return link_at(part, entry)->next;
}

gpc_address_t
gpc_part_line(const gpc_part_t *part, gpc_index_t entry)
{
    return link_at(part, entry)->line;
}
