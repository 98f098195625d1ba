/* memory_unit.c: the coalescer, the load-store queue and the way back: from a warp's load, store or atomic to line requests, to
 * the L1 port one a cycle, and from its answers to registers.
 *
 * Nothing here can wait for ever on itself: a warp waits for places that only older accesses hold, and they need none. */
#include <inttypes.h>
#include <string.h>

#include "core/parts.h"

#define HASH_SLOTS 128u

/* The lines that one instruction has come to so far. */
typedef struct {
    gpc_index_t access;
    uint32_t count;
    gpc_address_t lines[GPC_MAX_LANES];
    gpc_msg_t *messages[GPC_MAX_LANES];
    gpc_core_request_t *requests[GPC_MAX_LANES];
    uint8_t slots[HASH_SLOTS]; /* 1 + number of a line; 0: free */
} coalescer_t;

static bool
has_room(const gpc_cores_t *self, uint32_t core_index)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_pool_t *accesses = &self->parts->accesses[core_index];
    return core->queued < self->machine->load_store_queue &&
           core->in_flight + self->machine->lanes_per_warp <= self->machine->requests_per_core &&
           accesses->state->in_use < accesses->capacity;
}

/* Those that waited for room try again. */
static void
wake_queue_waiters(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (core->waits_queue == 0 || !has_room(self, core_index)) {
        return;
    }
    uint64_t waiters = core->waits_queue;
    core->waits_queue = 0;
    gpc_cycle_t now = self->hooks.now(self->hooks.world);
    for (; waiters != 0; waiters &= waiters - 1) {
        gpc_core_wake(self, core_index, gpc_lowest_bit(waiters), now, now);
    }
}

/* ---- addresses ---------------------------------------------------------------------------------------------------------- */

static int
fail_access(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, uint32_t index)
{
    const gpc_buffer_t *buffer = &x->launch->launch.buffers[d->immediate];
    char where[160], who[120];
    gpc_core_where(x->launch, x->warp->top.pc, where, sizeof where);
    gpc_core_who(x, lane, who, sizeof who);
    if (buffer->read_only && d->access.kind != GPC_ACCESS_LOAD) {
        return gpc_fail(x->cores->failure, GPC_ERROR_READ_ONLY,
                        "%s: write to index %" PRId64 " of read-only buffer '%s': %s", where, (int64_t) (int32_t) index,
                        buffer->name, who);
    }
    if ((uint64_t) index + d->width <= buffer->words) {
        return gpc_fail(x->cores->failure, GPC_ERROR_ADDRESS,
                        "%s: index %" PRId64 " of buffer '%s' is no multiple of the access's %u words: %s", where,
                        (int64_t) (int32_t) index, buffer->name, (unsigned) d->width, who);
    }
    return gpc_fail(x->cores->failure, GPC_ERROR_BOUNDS,
                    "%s: index %" PRId64 " is out of bounds of buffer '%s' of %" PRIu64 " words: %s", where,
                    (int64_t) (int32_t) index, buffer->name, buffer->words, who);
}

static int
find_flat_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_address_t *addresses)
{
    uint32_t room_low[GPC_MAX_LANES], room_high[GPC_MAX_LANES];
    gpc_operand_t second = gpc_operand_next(x, d->a, 1);
    const uint32_t *low = gpc_operand_lanes(x, &d->a, room_low), *high = gpc_operand_lanes(x, &second, room_high);
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        addresses[l] = (gpc_address_t) high[l] << 32 | low[l];
        if (addresses[l] % (4u * d->width) != 0) {
            char where[160], who[120];
            return gpc_fail(x->cores->failure, GPC_ERROR_ADDRESS,
                            "%s: address 0x%" PRIx64 " is not aligned to %u bytes: %s",
                            gpc_core_where(x->launch, x->warp->top.pc, where, sizeof where), addresses[l],
                            4u * d->width, gpc_core_who(x, l, who, sizeof who));
        }
    }
    return 0;
}

static int
find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_address_t *addresses)
{
    if ((d->flags & GPC_FLAG_FLAT) != 0) {
        return find_flat_addresses(x, d, lanes, addresses);
    }
    const gpc_buffer_t *buffer = &x->launch->launch.buffers[d->immediate];
    uint32_t room[GPC_MAX_LANES];
    const uint32_t *index = gpc_operand_lanes(x, &d->a, room);
    if (buffer->read_only && d->access.kind != GPC_ACCESS_LOAD) {
        uint32_t l = gpc_lowest_bit(lanes);
        return fail_access(x, d, l, index[l]);
    }
    uint32_t misaligned = d->width - 1u; /* buffers are aligned to whole lines */
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        if ((uint64_t) index[l] + d->width > buffer->words || (index[l] & misaligned) != 0) {
            return fail_access(x, d, l, index[l]);
        }
        addresses[l] = buffer->address + 4u * (gpc_address_t) index[l];
    }
    return 0;
}

/* ---- coalescing ---------------------------------------------------------------------------------------------------------- */

static void
fill_message(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_msg_t *msg, gpc_address_t line)
{
    static const uint8_t types[] = {GPC_MSG_LOAD, GPC_MSG_STORE, GPC_MSG_ATOMIC};
    msg->next = GPC_NONE;
    msg->type = types[d->access.kind];
    msg->flags = 0;
    msg->order = d->access.order;
    msg->scope = d->access.scope;
    msg->source = msg->requester = (gpc_node_t) x->core_index;
    msg->destination = (gpc_node_t) x->core_index;
    msg->warp = (uint16_t) x->warp_index;
    msg->lanes = GPC_NONE;
    msg->mask = 0;
    msg->flits = 0;
    msg->network = GPC_MAX_NETWORKS; /* it does not travel on any */
    msg->traffic_class = 0;
    msg->epoch = 0;
    msg->line = line;
    msg->ready = 0;
    msg->issued = x->now;
    memset(msg->fields, 0, sizeof msg->fields);
}

static int
fail_capacity(const gpc_issue_t *x, const char *what)
{
    return gpc_fail(x->cores->failure, GPC_ERROR_CAPACITY,
                    "core %u has %u requests in flight and the pool of %s is empty", x->core_index, x->core->in_flight,
                    what);
}

static int
new_line(gpc_issue_t *x, const gpc_decoded_t *d, coalescer_t *lines, gpc_address_t line)
{
    gpc_cores_t *self = x->cores;
    gpc_index_t i = gpc_pool_take(self->messages);
    if (i == GPC_NONE) {
        return fail_capacity(x, "messages");
    }
    gpc_msg_t *msg = gpc_msg_at(self->messages, i);
    fill_message(x, d, msg, line);
    if (d->access.kind == GPC_ACCESS_ATOMIC) {
        msg->lanes = gpc_pool_take(self->lane_lists);
        if (msg->lanes == GPC_NONE) {
            gpc_pool_give(self->messages, i);
            return fail_capacity(x, "lane lists");
        }
        gpc_lane_list_t *list = gpc_lane_list_at(self->lane_lists, msg->lanes);
        list->next = GPC_NONE;
        list->operation = d->atomic;
        list->type = d->type;
        list->count = 0;
    }
    msg->request = i; /* how controllers name it; a load that merges takes over another's name */
    msg->access = gpc_pool_take(&self->parts->requests[x->core_index]);
    gpc_core_request_t *request = gpc_pool_at(&self->parts->requests[x->core_index], msg->access);
    request->access = lines->access;
    request->lanes = 0;
    lines->lines[lines->count] = line;
    lines->messages[lines->count] = msg;
    lines->requests[lines->count++] = request;
    gpc_list_push(&x->core->queue, self->messages, i);
    x->core->in_flight++;
    return 0;
}

/* The number of the line among the instruction's, found or new; negative: an error. */
static int
find_line(gpc_issue_t *x, const gpc_decoded_t *d, coalescer_t *lines, gpc_address_t line)
{
    uint32_t slot = (uint32_t) ((line * UINT64_C(0x9E3779B97F4A7C15)) >> 57);
    while (lines->slots[slot] != 0) {
        uint32_t number = lines->slots[slot] - 1u;
        if (lines->lines[number] == line) {
            return (int) number;
        }
        slot = (slot + 1) % HASH_SLOTS;
    }
    int status = new_line(x, d, lines, line);
    if (status != 0) {
        return status;
    }
    lines->slots[slot] = (uint8_t) lines->count;
    return (int) lines->count - 1;
}

/* What lanes hand over: words of a store, operands of an atomic. */
typedef struct {
    const uint32_t *values[4], *replacement;
} hand_over_t;

static void
add_lane(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_msg_t *msg, uint32_t lane, uint32_t word,
         const hand_over_t *from)
{
    msg->mask |= ((UINT32_C(1) << d->width) - 1) << word;
    if (d->access.kind == GPC_ACCESS_STORE) {
        for (uint32_t i = 0; i < d->width; i++) {
            msg->data[word + i] = from->values[i][lane]; /* lanes come in order: the highest wins */
        }
    } else if (d->access.kind == GPC_ACCESS_ATOMIC) {
        gpc_lane_list_t *list = gpc_lane_list_at(x->cores->lane_lists, msg->lanes);
        uint32_t n = list->count++;
        list->lane[n] = (uint8_t) lane;
        list->word[n] = (uint8_t) word;
        list->operand[n] = from->values[0][lane];
        list->replacement[n] = from->replacement[lane];
        list->old[n] = 0;
    }
}

static int
coalesce(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const gpc_address_t *addresses, coalescer_t *lines,
         gpc_core_access_t *access)
{
    uint32_t room[4][GPC_MAX_LANES], room_c[GPC_MAX_LANES];
    gpc_address_t line_mask = x->cores->machine->line_bytes - 1u;
    hand_over_t from = {{NULL, NULL, NULL, NULL}, NULL};
    if (d->access.kind != GPC_ACCESS_LOAD) {
        for (uint32_t i = 0; i < d->width; i++) {
            gpc_operand_t value = gpc_operand_next(x, d->b, i);
            from.values[i] = gpc_operand_lanes(x, &value, room[i]);
        }
        from.replacement = gpc_operand_lanes(x, &d->c, room_c);
    }
    memset(lines->slots, 0, sizeof lines->slots);
    gpc_address_t last_line = GPC_NEVER;
    int number = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        gpc_address_t line = addresses[l] & ~line_mask;
        uint32_t word = (uint32_t) (addresses[l] & line_mask) / 4;
        if (line != last_line) {
            number = find_line(x, d, lines, line);
            if (number < 0) {
                return number;
            }
            last_line = line;
        }
        lines->requests[number]->lanes |= UINT64_C(1) << l;
        access->word[l] = (uint8_t) word;
        add_lane(x, d, lines->messages[number], l, word, &from);
    }
    return 0;
}

static void
count_access(gpc_core_statistics_t *statistics, const gpc_decoded_t *d, uint32_t lines)
{
    statistics->memory_instructions++;
    switch (d->access.kind) {
        case GPC_ACCESS_LOAD:
            statistics->loads += lines;
            statistics->load_instructions++;
            break;
        case GPC_ACCESS_STORE:
            statistics->stores += lines;
            statistics->store_instructions++;
            break;
        default:
            statistics->atomics += lines;
            break;
    }
}

static void
set_destination(const gpc_issue_t *x, const gpc_operand_t *destination, uint32_t width, gpc_cycle_t at)
{
    for (uint32_t i = 0; i < width; i++) {
        gpc_operand_t part = gpc_operand_next(x, *destination, i);
        gpc_set_ready_at(x, &part, at);
    }
}

int
gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d)
{
    if (!has_room(x->cores, x->core_index)) {
        return gpc_core_block_warp(x, GPC_WARP_WAITS_QUEUE, GPC_STALL_load_store_queue, GPC_NEVER);
    }
    int status = gpc_core_ask_order(x, d);
    if (status != GPC_ISSUED) {
        return status;
    }
    gpc_address_t addresses[GPC_MAX_LANES];
    gpc_lanes_t lanes = d->destination.kind == GPC_UNIFORM ? 1 : x->warp->top.lanes;
    status = find_addresses(x, d, lanes, addresses);
    if (status != 0) {
        return status;
    }
    coalescer_t lines;
    lines.count = 0;
    lines.access = gpc_pool_take(&x->parts->accesses[x->core_index]);
    gpc_core_access_t *access = gpc_pool_at(&x->parts->accesses[x->core_index], lines.access);
    access->next = GPC_NONE;
    access->issued = access->done_at = x->now;
    access->destination = d->destination;
    access->access = d->access;
    access->width = d->width;
    access->warp = (uint8_t) x->warp_index;
    access->live = true;
    status = coalesce(x, d, lanes, addresses, &lines, access);
    if (status != 0) {
        return status;
    }
    access->remaining = access->to_offer = lines.count;
    access->line = lines.lines[0];
    x->core->queued++;
    x->warp->outstanding++;
    count_access(x->statistics, d, lines.count);
    set_destination(x, &d->destination, d->width, GPC_NEVER);
    gpc_order_issued(x->cores->order, x->core_index, x->warp_index, &d->access);
    return GPC_ISSUED;
}

/* ---- the L1 port ---------------------------------------------------------------------------------------------------------- */

int
gpc_core_offer(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (core->queue.count == 0 || core->held) {
        return 0;
    }
    gpc_list_t before = core->queue;
    gpc_index_t next = gpc_msg_at(self->messages, before.head)->next;
    gpc_index_t i = gpc_list_pop(&core->queue, self->messages);
    const gpc_core_request_t *request =
        gpc_pool_at(&self->parts->requests[core_index], gpc_msg_at(self->messages, i)->access);
    gpc_core_access_t *access = gpc_pool_at(&self->parts->accesses[core_index], request->access);
    /* The L1 may complete it at once, and message and access are gone then. */
    bool last = --access->to_offer == 0;
    int status = self->hooks.offer(self->hooks.world, core_index, i);
    if (status < 0) {
        return status;
    }
    if (status != 0) {
        access->to_offer++;
        core->queue = before;
        gpc_msg_at(self->messages, i)->next = next;
        core->held = true;
        return 0;
    }
    if (last) {
        core->queued--;
        wake_queue_waiters(self, core_index);
    }
    return 0;
}

int
gpc_cores_kick(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (!core->held) {
        return 0;
    }
    core->held = false;
    return gpc_core_ask_turn(self, core_index, self->hooks.now(self->hooks.world));
}

/* ---- the way back --------------------------------------------------------------------------------------------------------- */

static void
deliver_load(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_lanes_t lanes, const uint32_t *words)
{
    const gpc_operand_t *to = &access->destination;
    for (uint32_t i = 0; i < access->width; i++) {
        if (to->kind == GPC_UNIFORM) {
            x->uniforms[to->number + i] = words[access->word[0] + i];
            continue;
        }
        uint32_t *registers = x->vectors + to->offset + (size_t) i * x->lanes;
        for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
            uint32_t l = gpc_lowest_bit(left);
            registers[l] = words[access->word[l] + i];
        }
    }
}

static void
deliver_atomic(const gpc_issue_t *x, const gpc_core_access_t *access, const gpc_lane_list_t *list)
{
    const gpc_operand_t *to = &access->destination;
    for (uint32_t n = 0; n < list->count; n++) {
        if (to->kind == GPC_UNIFORM) {
            x->uniforms[to->number] = list->old[n];
        } else if (to->kind == GPC_VECTOR) {
            x->vectors[to->offset + list->lane[n]] = list->old[n];
        }
    }
}

/* The access is complete, now. */
static int
retire(gpc_cores_t *self, uint32_t core_index, gpc_index_t i, gpc_cycle_t now)
{
    gpc_core_access_t *access = gpc_pool_at(&self->parts->accesses[core_index], i);
    gpc_core_statistics_t *statistics = &self->statistics[core_index];
    uint32_t w = access->warp;
    gpc_warp_t *warp = gpc_core_warp(self, core_index, w);
    gpc_access_t completed = access->access;
    uint64_t latency = access->done_at - access->issued;
    if (completed.kind == GPC_ACCESS_LOAD) {
        statistics->load_latency_cycles += latency;
    } else if (completed.kind == GPC_ACCESS_STORE) {
        statistics->store_latency_cycles += latency;
    }
    warp->outstanding--;
    access->live = false;
    gpc_pool_give(&self->parts->accesses[core_index], i);
    int status = gpc_order_completed(self->order, core_index, w, &completed);
    if (warp->state == GPC_WARP_WAITS_ORDER) {
        gpc_core_wake(self, core_index, w, now, now);
    }
    wake_queue_waiters(self, core_index);
    return status;
}

/* Into the list of those due, which is in order of time; latencies differ little, so that the end is nearly always right. */
static void
add_due(gpc_cores_t *self, uint32_t core_index, gpc_index_t i)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_pool_t *pool = &self->parts->accesses[core_index];
    gpc_core_access_t *access = gpc_pool_at(pool, i);
    access->next = GPC_NONE;
    if (core->due_head == GPC_NONE) {
        core->due_head = core->due_tail = i;
        return;
    }
    gpc_core_access_t *tail = gpc_pool_at(pool, core->due_tail);
    if (tail->done_at <= access->done_at) {
        tail->next = i;
        core->due_tail = i;
        return;
    }
    gpc_index_t *link = &core->due_head;
    gpc_core_access_t *at = gpc_pool_at(pool, *link);
    while (at->done_at <= access->done_at) {
        link = &at->next;
        at = gpc_pool_at(pool, *link);
    }
    access->next = *link;
    *link = i;
}

int
gpc_core_retire_due(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_pool_t *pool = &self->parts->accesses[core_index];
    while (core->due_head != GPC_NONE) {
        gpc_index_t i = core->due_head;
        const gpc_core_access_t *access = gpc_pool_at(pool, i);
        if (access->done_at > now) {
            return 0;
        }
        core->due_head = access->next;
        int status = retire(self, core_index, i, now);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* All words of the access are here: its registers may be used from done_at on. */
static int
finish_access(gpc_issue_t *x, gpc_index_t i)
{
    gpc_core_access_t *access = gpc_pool_at(&x->parts->accesses[x->core_index], i);
    if (access->destination.kind != GPC_NO_OPERAND) {
        set_destination(x, &access->destination, access->width, access->done_at);
        if (x->warp->state == GPC_WARP_WAITS_REGISTER) {
            gpc_core_settle(x);
        }
    }
    if (access->done_at <= x->now) {
        return retire(x->cores, x->core_index, i, x->now);
    }
    add_due(x->cores, x->core_index, i);
    return gpc_core_ask_turn(x->cores, x->core_index, access->done_at);
}

int
gpc_cores_complete(gpc_cores_t *self, uint32_t core_index, gpc_index_t message, const uint32_t *words,
                   gpc_cycle_t delay)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    const gpc_pool_t *requests = &self->parts->requests[core_index];
    const gpc_core_request_t *request = gpc_pool_at(requests, msg->access);
    gpc_index_t access_index = request->access;
    gpc_core_access_t *access = gpc_pool_at(&self->parts->accesses[core_index], access_index);
    gpc_issue_t x;
    gpc_issue_init(&x, self, core_index, access->warp, self->hooks.now(self->hooks.world));
    if (!access->live || access->remaining == 0) {
        return gpc_fail(self->failure, GPC_ERROR_CONSERVATION,
                        "core %u: a request for line 0x%" PRIx64 " was completed twice", core_index, msg->line);
    }
    if (access->access.kind == GPC_ACCESS_LOAD) {
        deliver_load(&x, access, request->lanes, words);
    } else if (access->access.kind == GPC_ACCESS_ATOMIC) {
        deliver_atomic(&x, access, gpc_lane_list_at(self->lane_lists, msg->lanes));
    }
    if (msg->lanes != GPC_NONE) {
        gpc_pool_give(self->lane_lists, msg->lanes);
    }
    gpc_pool_give(requests, msg->access);
    gpc_pool_give(self->messages, message);
    x.core->in_flight--;
    if (access->done_at < x.now + delay) {
        access->done_at = x.now + delay;
    }
    int status = --access->remaining == 0 ? finish_access(&x, access_index) : 0;
    wake_queue_waiters(self, core_index);
    return status;
}
