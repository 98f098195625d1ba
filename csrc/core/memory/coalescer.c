/* coalescer.c: checks the addresses of an instruction's lanes and makes one request per distinct line. */
#include <inttypes.h>
#include <string.h>

#include "core/memory/load_store.h"
#include "core/memory/narrow.h"
#include "core/memory/order.h"
#include "core/registers.h"
#include "core/where.h"

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

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static int
fail_access(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, uint32_t index)
{
    const gpc_buffer_t *buffer = &x->launch->launch.buffers[d->immediate];
    const char *kernel = gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc);
    char who[120];
    gpc_core_who(x, lane, who, sizeof who);
    if (buffer->read_only && d->access.kind != GPC_ACCESS_LOAD) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_READ_ONLY,
                        "kernel '%s': write to index %" PRId64 " of read-only buffer '%s': %s", kernel,
                        (int64_t) (int32_t) index, buffer->name, who);
    }
    if ((uint64_t) index + d->width <= buffer->elements) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                        "kernel '%s': index %" PRId64 " of buffer '%s' is not a multiple of the access's %u words: %s",
                        kernel, (int64_t) (int32_t) index, buffer->name, (unsigned) d->width, who);
    }
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': index %" PRId64 " is out of bounds of buffer '%s' of %" PRIu64 " %s: %s", kernel,
                    (int64_t) (int32_t) index, buffer->name, buffer->elements,
                    buffer->bytes != 0 ? "elements" : "words", who);
}

static int
find_flat_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_address_t *addresses)
{
    uint32_t room_low[GPC_MAX_LANES], room_high[GPC_MAX_LANES];
    gpc_operand_t second = gpc_operand_next(x, d->a, 1);
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    const uint32_t *low = gpc_operand_lanes(x, &d->a, room_low), *high = gpc_operand_lanes(x, &second, room_high);
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        addresses[l] = (gpc_address_t) high[l] << 32 | low[l];
        if (addresses[l] % size != 0) {
            char who[120];
            return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                            "kernel '%s': address 0x%" PRIx64 " is not aligned to %u bytes: %s",
                            gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc), addresses[l], size,
                            gpc_core_who(x, l, who, sizeof who));
        }
    }
    return GPC_OK;
}

int
gpc_core_find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_address_t *addresses)
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
    uint32_t bytes = gpc_element_bytes(d->narrow.bytes);
    if (lanes == gpc_all_lanes(x) && misaligned == 0 && gpc_lanes_below(index, x->launch->lanes, buffer->elements)) {
        for (uint32_t l = 0; l < x->launch->lanes; l++) {
            addresses[l] = buffer->address + bytes * (gpc_address_t) index[l];
        }
        return 0;
    }
    gpc_address_t first = buffer->address, elements = buffer->elements, width = d->width;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes), i = index[l];
        if (i + width > elements || (i & misaligned) != 0) {
            return fail_access(x, d, l, i);
        }
        addresses[l] = first + bytes * (gpc_address_t) i;
    }
    return 0;
}

/* ---- coalescing -------------------------------------------------------------------------------------------------- */

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
        list->count = 0;
    }
    msg->request = i; /* identifies it to controllers; a merged load takes over another request's index */
    msg->access = gpc_pool_take(&self->parts->requests[x->base->index]);
    gpc_core_request_t *request = gpc_request_at(self->parts, x->base->index, msg->access);
    request->access = access;
    request->lanes = 0;
    request->parked = GPC_NONE;
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

/* ---- the common case: all lanes in one line ---------------------------------------------------------------------- */

/* Pattern of the indices of an instruction's lanes. */
typedef struct {
    bool one_line; /* all active lanes access one line */
    bool straight; /* all lanes are active and access consecutive words */
    bool one_word; /* all lanes are active and access the same word */
} shape_t;

static shape_t
shape_of(const gpc_issue_t *x, const gpc_decoded_t *d, const uint32_t *index, gpc_lanes_t lanes, uint32_t word_mask)
{
    uint32_t differ = 0, first = index[gpc_lowest_bit(lanes)];
    if (gpc_operand_even(x, &d->a)) {
        return (shape_t){.one_line = true, .one_word = lanes == gpc_all_lanes(x)};
    }
    if (lanes == gpc_all_lanes(x) && gpc_lanes_straight(index, x->launch->lanes)) {
        return (shape_t){.one_line = (first & word_mask) + x->launch->lanes <= word_mask + 1, .straight = true};
    }
    if (lanes == gpc_all_lanes(x)) {
        for (const uint32_t *end = index + x->launch->lanes; index != end; index += 32) {
            for (uint32_t l = 0; l < 32; l++) {
                differ |= index[l] ^ first;
            }
        }
        lanes = 0;
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        differ |= index[gpc_lowest_bit(lanes)] ^ first;
    }
    return (shape_t){.one_line = (differ & ~word_mask) == 0};
}

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

/* The words of their line that the lanes access. */
static inline gpc_mask_t
words_of(const gpc_issue_t *x, const shape_t *shape, const uint32_t *index, gpc_lanes_t lanes, uint32_t word_mask)
{
    uint32_t first = index[gpc_lowest_bit(lanes)] & word_mask;
    gpc_mask_t words = UINT32_C(1) << first;
    if (shape->straight) {
        return (gpc_mask_t) (((UINT64_C(1) << x->launch->lanes) - 1) << first);
    }
    for (gpc_lanes_t left = shape->one_word ? 0 : lanes & (lanes - 1); left != 0; left &= left - 1) {
        words |= UINT32_C(1) << (index[gpc_lowest_bit(left)] & word_mask);
    }
    return words;
}

bool
gpc_core_find_line(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *room, gpc_one_line_t *out)
{
    const gpc_buffer_t *buffer = &x->launch->launch.buffers[d->immediate];
    uint32_t word_mask = x->base->cores->machine->line_bytes / 4u - 1u;
    if ((d->flags & GPC_FLAG_FLAT) != 0 || d->width != 1 || d->narrow.bytes != 0 ||
        (buffer->read_only && d->access.kind != GPC_ACCESS_LOAD)) {
        return false;
    }
    const uint32_t *index = gpc_operand_lanes(x, &d->a, room);
    shape_t shape = shape_of(x, d, index, lanes, word_mask);
    uint32_t first = index[gpc_lowest_bit(lanes)], start = first & ~word_mask;
    if (!shape.one_line || (uint64_t) start + word_mask >= buffer->elements) {
        return false;
    }
    out->line = buffer->address + 4u * (gpc_address_t) start;
    out->index = index;
    out->word_mask = word_mask;
    out->first = first & word_mask;
    out->words = words_of(x, &shape, index, lanes, word_mask);
    out->straight = shape.straight;
    out->one_word = shape.one_word;
    return true;
}

int
gpc_core_coalesce_line(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t access_index,
                       const gpc_one_line_t *at)
{
    int status = GPC_OK;
    gpc_core_request_t *request = new_request(x, d, access_index, at->line, &status);
    if (request == NULL) {
        return status;
    }
    gpc_core_access_t *access = gpc_access_at(x->base->parts, x->base->index, access_index);
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

/* ---- the general case -------------------------------------------------------------------------------------------- */

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

int
gpc_core_coalesce(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const gpc_address_t *addresses,
                  gpc_index_t access_index)
{
    gpc_core_access_t *access = gpc_access_at(x->base->parts, x->base->index, access_index);
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
    return 0;
}
