/* parts.c: entries of parts (store buffers, FIFOs): appended, found by line and removed in any order, all in constant
 * time; queues of ready entries; entries that wait for transactions. */
#include <string.h>

#include "controller/controller.h"

typedef struct {
    gpc_index_t next, previous;
    gpc_index_t chain; /* the next older entry in the bucket */
    gpc_index_t after; /* the next ready entry; of entries that wait for a transaction, the id of the next one */
    gpc_index_t mshr;  /* the MSHR that it waits for, or GPC_NONE */
    bool ready;
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

static uint8_t
table_over_entries(const gpc_controller_type_t *type, uint8_t part)
{
    uint8_t i = 0;
    while (i < GPC_MAX_TABLES &&
           !(type->tables[i] && type->tables[i]->object == GPC_OVER_ENTRIES && type->object_of[i] == part)) {
        i++;
    }
    return i;
}

static int
init_part(gpc_controller_t *self, uint8_t number, gpc_arena_t *arena)
{
    const gpc_part_info_t *info = &self->type->parts[number];
    gpc_part_t *part = &self->parts[number];
    uint32_t capacity = info->capacity(self->machine, self->options);

    part->unit = self;
    part->number = number;
    part->table = table_over_entries(self->type, number);
    part->fields_size = (info->entry ? info->entry()->size + 7u : 8u) / 8u * 8u;
    part->buckets = 8;
    while (part->buckets < capacity) {
        part->buckets *= 2;
    }
    int status = gpc_pool_init(&part->pool, arena, capacity, sizeof(link_t));
    part->fields = gpc_arena_take(arena, capacity, part->fields_size);
    part->states = gpc_arena_take(arena, capacity, 1);
    part->order = GPC_ARENA_TAKE(arena, 1, gpc_list_t);
    part->ready = GPC_ARENA_TAKE(arena, 1, gpc_list_t);
    part->bucket = GPC_ARENA_TAKE(arena, part->buckets, gpc_index_t);
    if (status || !part->fields || !part->states || !part->order || !part->ready || !part->bucket) {
        return GPC_ERROR_MEMORY;
    }
    gpc_part_clear(part);
    return GPC_OK;
}

int
gpc_parts_init(gpc_controller_t *self, gpc_arena_t *arena)
{
    int status = GPC_OK;
    for (uint8_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name && status == GPC_OK; i++) {
        status = init_part(self, i, arena);
    }
    return status;
}

void
gpc_part_clear(gpc_part_t *part)
{
    gpc_pool_clear(&part->pool);
    gpc_list_clear(part->order);
    gpc_list_clear(part->ready);
    for (uint32_t i = 0; i < part->buckets; i++) {
        part->bucket[i] = GPC_NONE;
    }
}

/* ---- ready entries ----------------------------------------------------------------------------------------------- */

static void
push_ready(gpc_part_t *part, gpc_index_t entry)
{
    gpc_list_t *ready = part->ready;

    link_at(part, entry)->after = GPC_NONE;
    link_at(part, entry)->ready = true;
    if (ready->count++ == 0) {
        ready->head = entry;
    } else {
        link_at(part, ready->tail)->after = entry;
    }
    ready->tail = entry;
    ++*part->unit->ready;
}

void
gpc_part_push_first(gpc_part_t *part, gpc_index_t entry)
{
    gpc_list_t *ready = part->ready;

    link_at(part, entry)->after = ready->head;
    link_at(part, entry)->ready = true;
    if (ready->count++ == 0) {
        ready->tail = entry;
    }
    ready->head = entry;
    ++*part->unit->ready;
}

void
gpc_part_take_ready(gpc_part_t *part, gpc_index_t entry)
{
    gpc_list_t *ready = part->ready;
    gpc_index_t previous = GPC_NONE;

    for (gpc_index_t i = ready->head; i != entry; i = link_at(part, i)->after) {
        previous = i;
    }
    *(previous == GPC_NONE ? &ready->head : &link_at(part, previous)->after) = link_at(part, entry)->after;
    if (ready->tail == entry) {
        ready->tail = previous;
    }
    link_at(part, entry)->ready = false;
    ready->count--;
    --*part->unit->ready;
}

void
gpc_part_rotate_ready(gpc_part_t *part)
{
    gpc_index_t entry = part->ready->head;
    gpc_part_take_ready(part, entry);
    push_ready(part, entry);
}

int
gpc_part_ready(gpc_part_t *part, gpc_index_t entry)
{
    gpc_controller_t *unit = part->unit;
    const link_t *link = link_at(part, entry);

    if (part->table == GPC_MAX_TABLES) {
        return gpc_fail(unit->failure, GPC_ERROR_PROTOCOL,
                        "%s %u: an entry of %s is ready, but no table is over these entries", unit->type->name,
                        unit->index, unit->type->parts[part->number].name);
    }
    if (link->ready || link->mshr != GPC_NONE) {
        return GPC_OK;
    }
    push_ready(part, entry);
    return unit->ports->schedule(unit->world, unit);
}

bool
gpc_part_is_ready(const gpc_part_t *part, gpc_index_t entry)
{
    return link_at(part, entry)->ready;
}

/* ---- entries that wait for a transaction: a ring; the transaction points to the last one ------------------------- */

/* The id of an entry among all parts. */
static gpc_index_t
name_of(const gpc_part_t *part, gpc_index_t entry)
{
    return entry * GPC_MAX_PARTS + part->number;
}

static gpc_part_t *
part_named(const gpc_controller_t *self, gpc_index_t name)
{
    return (gpc_part_t *) &self->parts[name % GPC_MAX_PARTS];
}

static link_t *
link_named(const gpc_controller_t *self, gpc_index_t name)
{
    return link_at(part_named(self, name), name / GPC_MAX_PARTS);
}

bool
gpc_entry_waits(const gpc_step_t *x, gpc_index_t mshr)
{
    gpc_controller_t *unit = x->unit;
    gpc_part_t *part = &unit->parts[unit->type->object_of[x->table_number]];

    if (x->table->object != GPC_OVER_ENTRIES || x->entry == GPC_NONE) {
        return false;
    }
    link_t *link = link_at(part, x->entry);
    if (link->mshr != GPC_NONE || mshr == GPC_NONE) {
        return link->mshr != GPC_NONE;
    }
    gpc_mshr_t *transaction = gpc_mshr_at(&unit->mshrs, mshr);
    gpc_index_t name = name_of(part, x->entry), last = transaction->last_entry;
    if (link->ready) {
        gpc_part_take_ready(part, x->entry);
    }
    link->mshr = mshr;
    link->after = last == GPC_NONE ? name : link_named(unit, last)->after;
    if (last != GPC_NONE) {
        link_named(unit, last)->after = name;
    }
    transaction->last_entry = name;
    unit->statistics->held_line++;
    return true;
}

int
gpc_entries_ready(gpc_controller_t *self, gpc_mshr_t *mshr)
{
    gpc_index_t last = mshr->last_entry, name = link_named(self, last)->after;
    int status = GPC_OK;

    mshr->last_entry = GPC_NONE;
    for (bool more = true; more && status == GPC_OK;) {
        link_t *link = link_named(self, name);
        gpc_index_t next = link->after;
        more = name != last;
        link->mshr = GPC_NONE;
        status = gpc_part_ready(part_named(self, name), name / GPC_MAX_PARTS);
        name = next;
    }
    return status;
}

static void
stop_waiting(gpc_part_t *part, gpc_index_t entry)
{
    gpc_mshr_t *mshr = gpc_mshr_at(&part->unit->mshrs, link_at(part, entry)->mshr);
    gpc_index_t name = name_of(part, entry), before = mshr->last_entry;

    while (link_named(part->unit, before)->after != name) {
        before = link_named(part->unit, before)->after;
    }
    link_named(part->unit, before)->after = link_at(part, entry)->after;
    if (mshr->last_entry == name) {
        mshr->last_entry = before == name ? GPC_NONE : before;
    }
    link_at(part, entry)->mshr = GPC_NONE;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

gpc_index_t
gpc_part_take(gpc_part_t *part, gpc_address_t line)
{
    gpc_list_t *order = part->order;
    gpc_index_t entry = gpc_pool_take(&part->pool), *bucket = bucket_of(part, line);

    if (entry == GPC_NONE) {
        return GPC_NONE;
    }
    *link_at(part, entry) =
        (link_t){.next = GPC_NONE, .previous = order->tail, .chain = *bucket, .mshr = GPC_NONE, .line = line};
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

    if (link->ready) {
        gpc_part_take_ready(part, entry);
    } else if (link->mshr != GPC_NONE) {
        stop_waiting(part, entry);
    }
    while (*chain != entry) {
        chain = &link_at(part, *chain)->chain;
    }
    *chain = link->chain;
    *(link->previous == GPC_NONE ? &part->order->head : &link_at(part, link->previous)->next) = link->next;
    *(link->next == GPC_NONE ? &part->order->tail : &link_at(part, link->next)->previous) = link->previous;
    part->order->count--;
    gpc_pool_give(&part->pool, entry);
}

void
gpc_part_renew(gpc_part_t *part, gpc_index_t entry)
{
    gpc_list_t *order = part->order;
    link_t *link = link_at(part, entry);

    if (entry == order->tail) {
        return;
    }
    *(link->previous == GPC_NONE ? &order->head : &link_at(part, link->previous)->next) = link->next;
    link_at(part, link->next)->previous = link->previous;
    link_at(part, order->tail)->next = entry;
    link->previous = order->tail;
    link->next = GPC_NONE;
    order->tail = entry;
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

/* ---- for the explorer, checks and prints ------------------------------------------------------------------------- */

/* The number of older entries of the part, since an entry's index is arbitrary. */
static uint32_t
place_of(const gpc_part_t *part, gpc_index_t entry)
{
    uint32_t place = 0;
    for (gpc_index_t i = gpc_part_first(part); i != entry; i = gpc_part_next(part, i)) {
        place++;
    }
    return place;
}

static void
encode_entries(const gpc_part_t *part, gpc_describe_t describe, gpc_encoder_t *out)
{
    gpc_encode_u64(out, part->order->count);
    for (gpc_index_t entry = gpc_part_first(part); entry != GPC_NONE; entry = gpc_part_next(part, entry)) {
        gpc_encode_u64(out, gpc_part_line(part, entry) + 1);
        gpc_encode_u64(out, part->states[entry]);
        if (describe) {
            gpc_encode_described(out, describe(), gpc_part_fields(part, entry));
        }
    }
    gpc_encode_u64(out, part->ready->count);
    gpc_index_t entry = part->ready->head;
    for (uint32_t n = part->ready->count; n; n--, entry = link_at(part, entry)->after) {
        gpc_encode_u64(out, place_of(part, entry));
    }
}

void
gpc_parts_encode(const gpc_controller_t *self, gpc_encoder_t *out)
{
    for (uint32_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name; i++) {
        encode_entries(&self->parts[i], self->type->parts[i].entry, out);
    }
}

void
gpc_encode_waiting_entries(const gpc_controller_t *self, const gpc_mshr_t *mshr, gpc_encoder_t *out)
{
    gpc_index_t name = mshr->last_entry;
    for (bool more = name != GPC_NONE; more; more = name != mshr->last_entry) {
        const gpc_part_t *part = part_named(self, name);
        gpc_encode_u64(out, 1 + place_of(part, name / GPC_MAX_PARTS) * GPC_MAX_PARTS + part->number);
        name = link_named(self, name)->after;
    }
    gpc_encode_u64(out, 0);
}

static int
verify_part(const gpc_part_t *part)
{
    const gpc_controller_t *self = part->unit;
    const gpc_part_info_t *info = &self->type->parts[part->number];

    for (gpc_index_t entry = gpc_part_first(part); entry != GPC_NONE; entry = gpc_part_next(part, entry)) {
        const link_t *link = link_at(part, entry);
        if (!info->may_rest || link->ready || link->mshr != GPC_NONE) {
            self->failure->line = link->line;
            return gpc_fail(self->failure, GPC_ERROR_CONSERVATION, "%s %u, line 0x%llx: an entry of %s is left%s",
                            self->type->name, self->index, (unsigned long long) link->line, info->name,
                            link->ready              ? ", ready to act"
                            : link->mshr != GPC_NONE ? ", waiting for a transaction"
                                                     : "");
        }
    }
    return GPC_OK;
}

int
gpc_parts_verify(const gpc_controller_t *self)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name && status == GPC_OK; i++) {
        status = verify_part(&self->parts[i]);
    }
    return status;
}

static void
print_part(const gpc_part_t *part, gpc_text_t *out)
{
    const gpc_controller_t *self = part->unit;
    const gpc_part_info_t *info = &self->type->parts[part->number];
    const gpc_table_t *table = part->table < GPC_MAX_TABLES ? self->type->tables[part->table] : NULL;

    for (gpc_index_t entry = gpc_part_first(part); entry != GPC_NONE; entry = gpc_part_next(part, entry)) {
        const link_t *link = link_at(part, entry);
        gpc_text_add(out, "%s %u %s line 0x%llx %s%s%s ", self->type->name, self->index, info->name,
                     (unsigned long long) link->line, table ? table->states[part->states[entry]].name : "",
                     link->ready ? ", ready" : "", link->mshr != GPC_NONE ? ", waiting for a transaction" : "");
        if (info->entry) {
            gpc_print_described(out, info->entry(), gpc_part_fields(part, entry));
        }
        gpc_text_add(out, "\n");
    }
}

void
gpc_parts_print(const gpc_controller_t *self, gpc_text_t *out)
{
    for (uint32_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name; i++) {
        print_part(&self->parts[i], out);
    }
}
