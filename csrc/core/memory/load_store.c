/* load_store.c: the load-store unit of a core. A warp's load, store or atomic becomes an access; the coalescer makes
 * one request per distinct line; the requests wait in the load-store queue, a FIFO that offers one per cycle to the L1
 * port, or as many as l1_bytes_per_cycle permits.
 *
 * The queue cannot deadlock: a warp waits for places that only older accesses occupy, and these need no further
 * place. */
#include "core/memory/load_store.h"

#include <string.h>

#include "core/memory/narrow.h"
#include "core/memory/order.h"
#include "core/memory/pairs.h"
#include "core/memory/together.h"
#include "core/registers.h"
#include "core/waking.h"

#define HASH_SLOTS 128u

/* The lines that an instruction has accessed so far. */
typedef struct {
    gpc_index_t access;
    uint32_t count;
    gpc_address_t lines[GPC_MAX_LANES];
    gpc_msg_t *messages[GPC_MAX_LANES];
    gpc_core_request_t *requests[GPC_MAX_LANES];
    uint8_t slots[HASH_SLOTS]; /* 1 + number of a line; 0: free */
} coalescer_t;

/* ---- coalescing: requests ---------------------------------------------------------------------------------------- */

/* An access by pointer has no buffer. */
static inline bool
is_read_only(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    return (d->flags & GPC_FLAG_FLAT) == 0 && x->launch->launch.buffers[d->immediate].read_only;
}

static inline bool
is_merge(const gpc_decoded_t *d)
{
    return d->narrow.bytes != 0 && d->access.kind == GPC_ACCESS_STORE;
}

static void
fill_message(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_msg_t *msg, gpc_address_t line)
{
    static const uint8_t types[] = {GPC_MSG_LOAD, GPC_MSG_STORE, GPC_MSG_ATOMIC};
    msg->next = GPC_NONE;
    msg->type = is_merge(d) ? GPC_MSG_ATOMIC : types[d->access.kind];
    msg->flags = is_read_only(x, d) ? GPC_MSG_FLAG_READ_ONLY : 0;
    msg->order = d->access.order;
    msg->scope = d->access.scope;
    msg->source = msg->requester = (gpc_node_t) x->base->index;
    msg->destination = (gpc_node_t) x->base->index;
    msg->warp = (uint16_t) x->warp_index;
    msg->lanes = GPC_NONE;
    msg->mask = 0;
    msg->flits = 0;
    msg->network = GPC_MAX_NETWORKS; /* on no network: to the core's own L1 */
    msg->traffic_class = 0;
    msg->epoch = 0;
    msg->line = line;
    msg->ready = 0;
    msg->issued = x->now;
    memset(msg->fields, 0, sizeof msg->fields);
    msg->late = 0;
}

static int
fail_capacity(const gpc_issue_t *x, const char *what)
{
    return gpc_fail(x->base->cores->failure, GPC_ERROR_CAPACITY,
                    "core %u: the pool of %s is empty with %u requests in flight", x->base->index, what,
                    x->core->in_flight);
}

/* Appends a request for the line to the core's queue; NULL: *status is the error. */
static gpc_core_request_t *
new_request(gpc_issue_t *x, const gpc_decoded_t *d, gpc_index_t access, gpc_address_t line, int *status)
{
    gpc_cores_t *self = x->base->cores;
    gpc_index_t i = gpc_pool_take(self->messages);
    if (i == GPC_NONE) {
        *status = fail_capacity(x, "messages");
        return NULL;
    }
    gpc_msg_t *msg = gpc_msg_at(self->messages, i);
    fill_message(x, d, msg, line);
    if (msg->type == GPC_MSG_ATOMIC) {
        msg->lanes = gpc_pool_take(self->lane_lists);
        if (msg->lanes == GPC_NONE) {
            gpc_pool_give(self->messages, i);
            *status = fail_capacity(x, "lane lists");
            return NULL;
        }
        gpc_lane_list_t *list = gpc_lane_list_at(self->lane_lists, msg->lanes);
        list->next = GPC_NONE;
        list->operation = d->atomic;
        list->type = d->type;
        list->width = 1;
        list->count = 0;
    }
    msg->request = i; /* identifies it to controllers; a merged load takes over another request's index */
    msg->access = gpc_pool_take(&self->parts->requests[x->base->index]);
    gpc_core_request_t *request = gpc_request_at(self->parts, x->base->index, msg->access);
    request->access = access;
    request->lanes = 0;
    request->parked = request->held = GPC_NONE;
    request->name = i;
    gpc_list_push(&x->core->queue, self->messages, i);
    x->core->in_flight++;
    return request;
}

static int
new_line(gpc_issue_t *x, const gpc_decoded_t *d, coalescer_t *lines, gpc_address_t line)
{
    int status = GPC_OK;
    gpc_core_request_t *request = new_request(x, d, lines->access, line, &status);
    if (request == NULL) {
        return status;
    }
    lines->lines[lines->count] = line;
    lines->messages[lines->count] = gpc_msg_at(x->base->cores->messages, request->name);
    lines->requests[lines->count++] = request;
    return GPC_OK;
}

/* The index of the line among the instruction's lines, added if new; negative: an error. */
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
    GPC_TRY(new_line(x, d, lines, line));
    lines->slots[slot] = (uint8_t) lines->count;
    return (int) lines->count - 1;
}

/* Called when the request has all of its lanes. */
static void
note_words(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_core_request_t *request, const gpc_msg_t *msg)
{
    request->words = request->missing = msg->mask;
    if (x->base->cores->order->touched) {
        gpc_order_touch(x->base->cores->order, x->base->index, x->warp_index, &d->access, msg->line, msg->mask);
    }
}

/* The lanes' values: words of a store, operands of an atomic. */
typedef struct {
    const uint32_t *values[4], *replacement;
} hand_over_t;

/* A lane's value; nothing of a load. */
static inline __attribute__((always_inline)) void
add_lane(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_msg_t *msg, uint32_t lane, uint32_t word,
         const hand_over_t *from)
{
    if (d->access.kind == GPC_ACCESS_STORE) {
        for (uint32_t k = 0; k < d->width; k++) {
            msg->data[word + k] = from->values[k][lane]; /* lanes come in order: the highest wins */
        }
    } else if (d->access.kind == GPC_ACCESS_ATOMIC) {
        gpc_lane_list_t *list = gpc_lane_list_at(x->base->cores->lane_lists, msg->lanes);
        uint32_t n = list->count++;
        list->lane[n] = (uint8_t) lane;
        list->word[n] = (uint8_t) word;
        list->operand[n] = from->values[0][lane];
        list->replacement[n] = from->replacement[lane];
        list->old[n] = 0;
    }
}

/* A load hands nothing over. */
static void
hand_over(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t (*room)[GPC_MAX_LANES], hand_over_t *from)
{
    from->replacement = NULL;
    if (d->access.kind != GPC_ACCESS_LOAD) {
        for (uint32_t k = 0; k < d->width; k++) {
            gpc_operand_t value = gpc_operand_next(x, d->b, k);
            from->values[k] = gpc_operand_lanes(x, &value, room[k]);
        }
        if (d->access.kind == GPC_ACCESS_ATOMIC) {
            from->replacement = gpc_operand_lanes(x, &d->c, room[4]);
        }
    }
}

/* ---- coalescing: all lanes in one line --------------------------------------------------------------------------- */

/* Stores the word of each lane in its line. */
static void
fill_words(gpc_core_access_t *access, const uint32_t *index, uint32_t count, uint32_t word_mask)
{
    uint8_t *word = access->word;
    for (const uint32_t *end = index + count; index != end; index += 32, word += 32) {
        for (uint32_t l = 0; l < 32; l++) {
            word[l] = (uint8_t) (index[l] & word_mask);
        }
    }
}

static int
coalesce_line(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t access_index,
              const gpc_one_line_t *at)
{
    int status = GPC_OK;
    gpc_core_request_t *request = new_request(x, d, access_index, at->line, &status);
    if (request == NULL) {
        return status;
    }
    gpc_core_access_t *access = gpc_access_at(x->base->cores->parts, x->base->index, access_index);
    gpc_msg_t *msg = gpc_msg_at(x->base->cores->messages, request->name);
    uint32_t room[5][GPC_MAX_LANES];
    hand_over_t from;
    hand_over(x, d, room, &from);
    access->one_word = at->one_word;
    access->straight = at->straight && d->access.kind != GPC_ACCESS_ATOMIC;
    msg->mask = at->words;
    if (access->straight) {
        access->word[0] = (uint8_t) at->first;
        if (d->access.kind == GPC_ACCESS_STORE) {
            memcpy(msg->data + at->first, from.values[0], x->launch->lanes * sizeof *msg->data);
        }
    } else {
        fill_words(access, at->index, x->launch->lanes, at->word_mask);
        for (gpc_lanes_t left = d->access.kind != GPC_ACCESS_LOAD ? lanes : 0; left != 0; left &= left - 1) {
            uint32_t l = gpc_lowest_bit(left);
            add_lane(x, d, msg, l, access->word[l], &from);
        }
    }
    request->lanes = lanes;
    note_words(x, d, request, msg);
    access->remaining = access->to_offer = 1;
    access->line = at->line;
    return GPC_OK;
}

/* ---- coalescing: the general case -------------------------------------------------------------------------------- */

/* Lanes in order as long as they access this line: stores the place of each (its first word; of a narrow access its
 * first byte) and adds their words. Returns the other lanes. */
static inline gpc_lanes_t
take_run(const gpc_decoded_t *d, gpc_lanes_t lanes, const gpc_address_t *addresses, gpc_address_t line,
         gpc_address_t line_mask, uint8_t *place, gpc_mask_t *words)
{
    uint32_t shift = d->narrow.bytes != 0 ? 0 : 2;
    gpc_mask_t mask = GPC_NO_WORDS, of_lane = (UINT32_C(1) << d->width) - 1;
    do {
        uint32_t l = gpc_lowest_bit(lanes);
        gpc_address_t offset = addresses[l] - line;
        if (offset > line_mask) {
            break;
        }
        place[l] = (uint8_t) (offset >> shift);
        mask |= of_lane << offset / 4;
        lanes &= lanes - 1;
    } while (lanes != 0);
    *words |= mask;
    return lanes;
}

/* Values of lanes whose places are known. */
static void
add_values(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_msg_t *msg, gpc_lanes_t lanes, const uint8_t *place,
           const hand_over_t *from)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        if (d->narrow.bytes == 0) {
            add_lane(x, d, msg, l, place[l], from);
        } else if (is_merge(d)) {
            gpc_narrow_add(gpc_lane_list_at(x->base->cores->lane_lists, msg->lanes), l, place[l], &d->narrow,
                           from->values[0][l]);
        }
    }
}

/* Appends one request per distinct line to the core's queue; sets the access's number of requests and first line. */
static int
coalesce(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const gpc_address_t *addresses,
         gpc_index_t access_index)
{
    gpc_core_access_t *access = gpc_access_at(x->base->cores->parts, x->base->index, access_index);
    coalescer_t lines;
    lines.count = 0;
    lines.access = access_index;
    uint32_t room[5][GPC_MAX_LANES];
    gpc_address_t line_mask = x->base->cores->machine->line_bytes - 1u;
    hand_over_t from;
    hand_over(x, d, room, &from);
    memset(lines.slots, 0, sizeof lines.slots / 2); /* in two pieces, as gpc_msg_clear */
    memset(lines.slots + HASH_SLOTS / 2, 0, sizeof lines.slots / 2);
    while (lanes != 0) {
        gpc_address_t line = addresses[gpc_lowest_bit(lanes)] & ~line_mask;
        int number = find_line(x, d, &lines, line);
        if (number < 0) {
            return number;
        }
        gpc_msg_t *msg = lines.messages[number];
        gpc_lanes_t left = take_run(d, lanes, addresses, line, line_mask, access->word, &msg->mask),
                    run = lanes & ~left;
        lines.requests[number]->lanes |= run;
        if (d->access.kind != GPC_ACCESS_LOAD) {
            add_values(x, d, msg, run, access->word, &from);
        }
        lanes = left;
    }
    for (uint32_t n = 0; n < lines.count; n++) {
        if (is_merge(d)) {
            gpc_narrow_finish_store(x->base->cores, lines.messages[n]);
        }
        note_words(x, d, lines.requests[n], lines.messages[n]);
    }
    access->straight = access->one_word = false;
    access->remaining = access->to_offer = lines.count;
    access->line = lines.lines[0];
    return GPC_OK;
}

/* ---- issue ------------------------------------------------------------------------------------------------------- */

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
            statistics->atomic_instructions++;
            break;
    }
}

int
gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t lanes = d->destination.kind == GPC_UNIFORM ? 1 : x->warp->top.lanes;
    bool minds_lines = gpc_order_minds_lines(x->base->cores->order, x->base->index, x->warp_index);
    int status = minds_lines ? GPC_ISSUED : gpc_core_query_order(x, d);
    GPC_TRY(status);
    uint32_t room[GPC_MAX_LANES];
    gpc_one_line_t at;
    bool one_line = gpc_core_find_line(x, d, lanes, room, &at);
    if (minds_lines) {
        status = one_line ? gpc_order_may_touch(x->base->cores->order, x->base->index, x->warp_index, &d->access,
                                                at.line, at.words)
                          : gpc_core_query_lines(x, d, lanes);
        if (status > 0) {
            return gpc_core_block_for_order(x, d, status, GPC_NEVER);
        }
        GPC_TRY(status);
        GPC_TRY(gpc_core_query_order(x, d));
    }
    gpc_index_t i = gpc_pool_take(&x->base->cores->parts->accesses[x->base->index]);
    gpc_core_access_t *access = gpc_access_at(x->base->cores->parts, x->base->index, i);
    access->next = GPC_NONE;
    access->issued = access->done_at = x->now;
    access->pc = x->warp->top.pc;
    access->destination = d->destination;
    access->access = d->access;
    access->width = d->width;
    access->narrow = d->narrow;
    access->warp = (uint8_t) x->warp_index;
    access->live = true;
    bool observed = gpc_is_observed(&x->base->cores->tap, GPC_ON_ACCESSED); /* with the lanes' addresses */
    if (one_line && !observed) {
        GPC_TRY(coalesce_line(x, d, lanes, i, &at));
    } else {
        gpc_address_t addresses[GPC_MAX_LANES];
        GPC_TRY(gpc_core_find_addresses(x, d, lanes, addresses));
        GPC_TRY(coalesce(x, d, lanes, addresses, i));
        if (d->width > 1) {
            GPC_TRY(gpc_pairs_finish(x, d, access->remaining));
        }
        GPC_TRY(gpc_core_publish(x, d, lanes, i, addresses, NULL));
    }
    x->core->queued++;
    x->warp->outstanding++;
    count_access(x->base->statistics, d, access->remaining);
    gpc_core_set_destination(x, &d->destination, d->width, GPC_NEVER);
    gpc_order_issued(x->base->cores->order, x->base->index, x->warp_index, &d->access);
    return GPC_ISSUED;
}

/* ---- the load-store queue: see also queue.c ---------------------------------------------------------------------- */

/* The queue as it was before the message was taken from it, until gpc_cores_retry. */
__attribute__((noinline)) static int
put_back(const gpc_cores_t *self, gpc_core_t *core, const gpc_list_t *before, gpc_index_t next, gpc_index_t message)
{
    core->queue = *before;
    gpc_msg_at(self->messages, message)->next = next;
    core->held = true;
    return GPC_OK;
}

/* The port passes the words of one request after another, with l1_bytes_per_cycle; of a request of few words it passes
 * as many bytes as in a cycle, or a line's: one with few words in each of many lines is not faster. */
__attribute__((noinline)) static void
pass_bytes(const gpc_cores_t *self, gpc_core_t *core, gpc_mask_t mask, gpc_cycle_t now)
{
    uint32_t width = self->machine->l1_bytes_per_cycle, line = self->machine->line_bytes;
    uint32_t least = width < line ? width : line, words = gpc_count_bits(mask);
    uint32_t bytes = 4 * words > least ? 4 * words : least;
    uint64_t begin = now * width;
    core->passed_bytes += bytes;
    core->port_bytes = (core->port_bytes > begin ? core->port_bytes : begin) + bytes;
    core->port_next = core->port_bytes / width;
}

static inline bool
may_offer(const gpc_core_t *core, gpc_cycle_t now)
{
    return core->queue.count != 0 && !core->held && core->port_next <= now;
}

/* Offers the oldest request. */
static inline __attribute__((always_inline)) int
offer_one(gpc_cores_t *self, gpc_core_t *core, uint32_t core_index, gpc_cycle_t now)
{
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
    gpc_mask_t mask = gpc_msg_at(self->messages, i)->mask;
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
    core->port_next = now + 1;
    if (self->machine->l1_bytes_per_cycle != 0) {
        pass_bytes(self, core, mask, now);
    }
    core->held = status == GPC_OFFER_LAST;
    if (last) {
        core->queued--;
        return gpc_core_wake_queue_waiters(self, core_index);
    }
    return GPC_OK;
}

int
gpc_core_offer(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    int status = GPC_OK;
    while (may_offer(core, now) && status == GPC_OK) {
        status = offer_one(self, core, core_index, now);
    }
    return status;
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
    if (core->in_cycle || !at_edge || core->port_next > now) {
        return gpc_core_schedule(self, core_index, now);
    }
    int status = gpc_core_offer(self, core_index, now); /* as the core in this cycle would */
    if (status == GPC_OK && core->queue.count != 0 && !core->held) {
        status = gpc_core_schedule(self, core_index, core->port_next);
    }
    return status;
}

uint64_t
gpc_core_passed_bytes(const gpc_cores_t *self, uint32_t core)
{
    return self->parts->cores[core].passed_bytes;
}

void
gpc_core_reset_passed_bytes(gpc_cores_t *self, uint32_t core)
{
    self->parts->cores[core].passed_bytes = 0;
}
