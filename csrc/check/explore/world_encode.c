/* world_encode.c: encodes a state, and overwrites what distinguishes no states. Two encodings are equal exactly when
 * the states are, up to a time shift and a renaming. */
#include <string.h>

#include "check/explore/world.h"

/* Thread and operation of an access, renamed. */
static uint64_t
encode_access(const gpc_symmetry_t *symmetry, gpc_index_t access)
{
    if (access == GPC_NONE || access == GPC_WORLD_NO_THREAD) {
        return (uint64_t) access + 1;
    }
    uint32_t thread = access / GPC_WORLD_MAX_OPS, op = access % GPC_WORLD_MAX_OPS;
    return symmetry->thread[thread] * (uint64_t) GPC_WORLD_MAX_OPS + op + 1;
}

/* Which of the answers in flight to its core serve the load, in place of the time of its issue. */
static void
encode_served(const gpc_world_t *self, const gpc_symmetry_t *symmetry, const gpc_msg_t *load, gpc_encoder_t *out)
{
    for (uint32_t source = 0; source < self->nodes.count; source++) {
        const gpc_list_t *channel = gpc_world_channel(self, symmetry->node_at[source], load->source, 0);
        for (uint32_t network = 0; network < self->num_networks; network++) {
            gpc_index_t i = channel[network].head;
            for (uint32_t n = channel[network].count; n; n--) {
                const gpc_msg_t *answer = gpc_msg_at(&self->messages, i);
                if (answer->line == load->line) {
                    gpc_encode_u64(out, self->protocol->explored.serves(answer, load));
                }
                i = answer->next;
            }
        }
    }
}

typedef struct {
    const gpc_world_t *world;
    const gpc_symmetry_t *symmetry;
} context_t;

static void
encode_message(void *context, void *encoder, gpc_index_t i)
{
    const context_t *from = context;
    const gpc_world_t *self = from->world;
    gpc_encoder_t *out = encoder;
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
    const gpc_message_info_t *info =
        msg->type >= GPC_MSG_OWN ? &self->protocol->messages[msg->type - GPC_MSG_OWN] : NULL;
    /* indices are not comparable between states: encode the access of the request instead */
    gpc_index_t about = msg->request == GPC_NONE ? GPC_NONE : gpc_msg_at(&self->messages, msg->request)->access;

    gpc_encode_u64(out, msg->type);
    gpc_encode_u64(out, msg->flags & ~(uint32_t) GPC_MSG_FLAG_MISSED); /* a statistic */
    gpc_encode_u64(out, (uint64_t) msg->order * 8 + msg->scope);
    gpc_encode_node(out, msg->source);
    gpc_encode_node(out, msg->requester);
    gpc_encode_u64(out, msg->warp);
    gpc_encode_u64(out, encode_access(from->symmetry, about));
    gpc_encode_u64(out, encode_access(from->symmetry, msg->access));
    gpc_encode_u64(out, msg->line);
    gpc_encode_u64(out, msg->mask);
    if (self->protocol->message) {
        gpc_encode_described(out, self->protocol->message(), msg->fields);
    }
    bool all = (info && info->whole_line) || msg->type == GPC_MSG_FILL;
    gpc_mask_t every = (UINT32_C(1) << GPC_WORLD_LINE_WORDS) - 1;
    gpc_mask_t words = all ? every : msg->type == GPC_MSG_STORE || (info && info->bytes_per_word) ? msg->mask : 0;
    for (; words; words &= words - 1) {
        gpc_encode_u64(out, msg->data[__builtin_ctz(words)]);
    }
    if (msg->lanes != GPC_NONE) {
        const gpc_lane_list_t *lanes = gpc_lane_list_at(&self->lane_lists, msg->lanes);
        for (uint32_t n = 0; n < lanes->count; n++) {
            gpc_encode_u64(out, lanes->operand[n]);
            gpc_encode_u64(out, lanes->old[n]);
        }
    }
    if (msg->type == GPC_MSG_LOAD && self->protocol->explored.serves) {
        encode_served(self, from->symmetry, msg, out);
    }
}

static void
encode_timers(const gpc_world_t *self, gpc_encoder_t *out)
{
    gpc_index_t i = self->state->timers.head;

    gpc_encode_u64(out, self->state->timers.count);
    for (uint32_t n = self->state->timers.count; n; n--) {
        const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
        gpc_encode_node(out, msg->destination);
        gpc_encode_u64(out, msg->line);
        gpc_encode_u64(out, msg->fields[0]);
        gpc_encode_u64(out, msg->ready > self->state->now ? msg->ready - self->state->now : 0);
        i = msg->next;
    }
}

/* Background timers may expire at any time: their order and cycles are not encoded. */
static void
encode_background_timers(const gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out)
{
    gpc_encode_u64(out, self->state->background.count);
    for (uint32_t name = 0; self->state->background.count && name < self->nodes.count; name++) {
        gpc_index_t i = self->state->background.head;
        for (uint32_t n = self->state->background.count; n; n--) {
            const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
            if (msg->destination == symmetry->node_at[name]) {
                gpc_encode_u64(out, name);
                gpc_encode_u64(out, msg->line);
                gpc_encode_u64(out, msg->fields[0]);
                gpc_encode_u64(out, msg->fields[1]);
            }
            i = msg->next;
        }
    }
}

/* The lines and words of the warp's outstanding accesses, newest first. */
static void
encode_touches(const gpc_world_t *self, uint32_t core, uint32_t warp, gpc_encoder_t *out)
{
    gpc_index_t i = self->order.touched ? *gpc_order_newest(&self->order, core, warp) : GPC_NONE;
    while (i != GPC_NONE) {
        const gpc_order_touch_t *touch = gpc_pool_at(&self->order.touches, i);
        if (touch->warp == warp) {
            gpc_encode_u64(out, touch->mask * 4u + touch->loads * 2u + touch->strong);
            gpc_encode_u64(out, touch->line);
        }
        i = touch->next;
    }
    if (self->order.touched) {
        gpc_encode_u64(out, 0); /* no mask is empty */
    }
}

/* The threads whose stores the thread's fence waits for. */
static void
encode_drain(const gpc_world_t *self, const gpc_symmetry_t *symmetry, uint32_t t, gpc_encoder_t *out)
{
    uint32_t core = self->what->threads[t].core, found = 0;
    uint64_t left = self->order.drains[core * GPC_WORLD_MAX_THREADS + self->warp_of[t]];
    for (uint32_t n = 0; n < self->what->num_threads; n++) {
        uint32_t other = symmetry->thread_at[n];
        bool drains = self->what->threads[other].core == core && (left >> self->warp_of[other] & 1u) != 0;
        found |= drains ? 1u << n : 0;
    }
    gpc_encode_u64(out, found);
}

static void
encode_thread(const gpc_world_t *self, const gpc_symmetry_t *symmetry, uint32_t t, gpc_encoder_t *out)
{
    const gpc_world_thread_t *thread = &self->state->threads[t];

    gpc_encode_u64(out, thread->next_op * 64 + thread->waits * 16 + thread->outstanding);
    gpc_encode_u64(out, thread->complete);
    if (self->what->wide) {
        gpc_encode_u64(out, thread->begun);
    }
    for (uint32_t op = 0; op < thread->next_op; op++) {
        gpc_encode_u64(out, thread->read[op]);
    }
    uint32_t warp = self->what->threads[t].core * GPC_WORLD_MAX_THREADS + self->warp_of[t];
    gpc_encode_bytes(out, &self->order.warp[warp], sizeof(gpc_order_warp_t));
    encode_touches(self, self->what->threads[t].core, self->warp_of[t], out);
    if (self->order.drains) {
        encode_drain(self, symmetry, t, out);
    }
}

/* Beside the threads that wait at the core's barrier: its parts, and their metadata. */
static void
encode_barrier(const gpc_world_t *self, uint32_t core, gpc_encoder_t *out)
{
    const gpc_order_t *order = &self->order;
    size_t barrier = (size_t) core * GPC_NAMED_BARRIERS;

    gpc_encode_u64(out, order->barrier[barrier].parts);
    if (order->joined && order->barrier[barrier].arrived) {
        gpc_encode_described(out, self->l1s[core]->type->warp(), order->joined + barrier * order->joined_size);
    }
}

static void
encode_launch(const gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out)
{
    uint32_t ended = 0;
    for (uint32_t node = 0; self->state->ended && node < self->nodes.count; node++) {
        ended |= (self->state->ended >> symmetry->node_at[node] & 1u) << node;
    }
    gpc_encode_u64(out, ended);
    if (self->protocol->boundary) {
        gpc_encode_u64(out, self->state->crosses);
    }
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        encode_barrier(self, symmetry->node_at[core], out);
    }
}

enum { MOST_SORTED = 8 };

/* Sorts the newest of count + 1 encodings among the others, which begin at starts[0] .. starts[count - 1] and are
 * sorted. */
static void
sort_newest(gpc_encoder_t *out, size_t *starts, uint32_t count, size_t newest)
{
    uint8_t spare[256];
    size_t length = out->length - newest;
    uint32_t at = 0;

    starts[count] = newest;
    for (; at < count; at++) {
        size_t its = starts[at + 1] - starts[at];
        int order = memcmp(&out->bytes[starts[at]], &out->bytes[newest], its < length ? its : length);
        if (order > 0 || (order == 0 && its > length)) {
            break;
        }
    }
    if (at == count || length > sizeof(spare)) {
        return;
    }
    memcpy(spare, &out->bytes[newest], length);
    memmove(&out->bytes[starts[at] + length], &out->bytes[starts[at]], newest - starts[at]);
    memcpy(&out->bytes[starts[at]], spare, length);
    for (uint32_t i = count; i > at; i--) {
        starts[i] = starts[i - 1] + length;
    }
}

/* Messages that may be delivered in any order: sorted, so that their order distinguishes no states. */
static void
encode_unordered(const gpc_world_t *self, const gpc_list_t *list, gpc_encoder_t *out)
{
    size_t starts[MOST_SORTED];
    gpc_index_t i = list->head;

    gpc_encode_u64(out, list->count);
    for (uint32_t n = 0; n < list->count; n++) {
        size_t newest = out->length;
        encode_message(out->context, out, i);
        if (n < MOST_SORTED && !out->overflow) {
            sort_newest(out, starts, n, newest);
        }
        i = gpc_msg_at(&self->messages, i)->next;
    }
}

/* With `serves`, the position of an answer in its channel matters: encode_served. */
static void
encode_channel(const gpc_world_t *self, uint32_t network, const gpc_list_t *list, gpc_encoder_t *out)
{
    if (list->count < 2 || self->protocol->networks[network].ordered || self->protocol->explored.serves) {
        gpc_encode_list(out, list);
    } else {
        encode_unordered(self, list, out);
    }
}

/* The channels that are not empty, each with its renamed nodes. */
static void
encode_channels(const gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out)
{
    uint32_t name = 1;
    for (uint32_t source = 0; source < self->nodes.count; source++) {
        for (uint32_t destination = 0; destination < self->nodes.count; destination++) {
            const gpc_list_t *channel =
                gpc_world_channel(self, symmetry->node_at[source], symmetry->node_at[destination], 0);
            for (uint32_t network = 0; network < self->num_networks; network++, name++) {
                if (channel[network].count) {
                    gpc_encode_u64(out, name);
                    encode_channel(self, network, &channel[network], out);
                }
            }
        }
    }
    gpc_encode_u64(out, 0);
}

static void
encode(gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out)
{
    context_t context = {self, symmetry};

    out->message = encode_message;
    out->context = &context;
    out->messages = &self->messages;
    out->now = self->state->now;
    out->rename = symmetry == self->symmetries ? NULL : symmetry->node;
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        encode_thread(self, symmetry, symmetry->thread_at[t], out);
    }
    encode_launch(self, symmetry, out);
    for (uint32_t line = 0; line < self->lines; line++) {
        for (uint32_t word = 0; word < GPC_WORLD_LINE_WORDS; word++) {
            gpc_encode_u64(out, self->state->memory[line][word]);
        }
    }
    gpc_encode_u64(out, self->state->evictions);
    if (self->timestamp_bits) { /* the distance to the next rollover */
        gpc_encode_u64(out, self->state->now & ((UINT64_C(1) << self->timestamp_bits) - 1));
    }
    encode_channels(self, symmetry, out);
    encode_unordered(self, &self->state->answers, out);
    encode_timers(self, out);
    encode_background_timers(self, symmetry, out);
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        gpc_controller_encode(&self->controllers[symmetry->node_at[node]], out);
    }
    gpc_world_encode_accepted(self, symmetry, out);
    out->context = NULL;
}

/* Only differences of logical times matter: a first encoding, which is discarded, finds the smallest one. */
void
gpc_world_encode(gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out)
{
    if (self->has_logical_times) {
        gpc_encoder_t first = {.capacity = 0};
        encode(self, symmetry, &first);
        out->least_logical = first.found_logical;
    }
    encode(self, symmetry, out);
}

/* ---- data that no cell reads ------------------------------------------------------------------------------------- */

/* The state of a word is in the transaction, if that has one. Data that the table declares unread are overwritten, with
 * a value that no program writes: a table that reads them is wrong. */
static void
scrub_line(const gpc_controller_t *unit, const gpc_tags_t *tags, gpc_index_t way)
{
    const gpc_table_t *table = unit->type->tables[0];
    gpc_index_t mshr = tags->tags[way].mshr;
    const uint8_t *moving = mshr == GPC_NONE ? NULL : gpc_mshr_word_states(&unit->mshrs, mshr);

    for (uint32_t word = 0; word < tags->line_words; word++) {
        bool moves = moving && moving[word];
        uint8_t *state = &gpc_tags_word_states(tags, way)[word];
        if (moves) {
            *state = table->initial;
        }
        if (!(table->data_states >> (moves ? moving[word] - 1u : *state) & 1)) {
            gpc_tags_words(tags, way)[word] = GPC_UNFILLED_WORD;
        }
    }
}

void
gpc_world_scrub(const gpc_world_t *self)
{
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        const gpc_controller_t *unit = &self->controllers[node];
        const gpc_tags_t *tags = &unit->arrays[0];
        bool scrubs = unit->type->tables[0]->object == GPC_OVER_WORDS && unit->type->tables[0]->data_states;
        for (gpc_index_t way = 0; scrubs && way < tags->sets * tags->ways; way++) {
            if (gpc_tags_present(tags, way)) {
                scrub_line(unit, tags, way);
            }
        }
    }
}
