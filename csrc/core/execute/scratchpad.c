/* scratchpad.c: loads, stores and atomics of a block's scratchpad, performed in program order at issue; latency and
 * bank conflicts determine the time. */
#include "cache/rmw.h"
#include "core/execute/banks.h"
#include "core/execute/execute.h"
#include "core/memory/load_store.h"
#include "core/memory/narrow.h"
#include "core/registers.h"
#include "core/where.h"

static int
fail_index(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, uint32_t index, uint32_t elements)
{
    char who[120];
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': index %d is out of bounds of a shared array of %u %s: %s",
                    gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc), (int) index, elements,
                    d->narrow.bytes != 0 ? "elements" : "words", gpc_core_who(x, lane, who, sizeof who));
}

/* Elements of the array from the instruction's immediate on: its declared length, limited to the block's scratchpad. */
static uint32_t
array_elements(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t block_words = x->launch->launch.program.shared_words;
    uint32_t words = d->immediate < block_words ? block_words - d->immediate : 0;
    uint32_t most = words * (4u / gpc_element_bytes(d->narrow.bytes)), said = most;

    if (d->opcode == GPC_OP_SHARED_ATOMIC) {
        said = d->target != 0 ? d->target : most;
    } else {
        const gpc_operand_t *length = d->opcode == GPC_OP_SHARED_LOAD ? &d->b : &d->c;
        said = length->kind == GPC_CONSTANT ? gpc_operand_word(x, length) : most;
    }
    return said < most ? said : most;
}

/* The first word of the array; of an access by byte offset that of the block. */
static uint32_t
array_base(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t block_words = x->launch->launch.program.shared_words;
    uint32_t first = (d->flags & (GPC_FLAG_BYTES | GPC_FLAG_FLAT)) != 0 ? 0 : d->immediate;
    return x->base->index * x->base->cores->parts->scratchpad_words + x->warp->block * block_words + first;
}

/* The index of each lane in the array. */
static const uint32_t *
array_indices(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *room)
{
    const uint32_t *index = gpc_operand_lanes(x, &d->a, room);
    uint32_t offset = d->opcode == GPC_OP_SHARED_ATOMIC ? 0 : d->target;
    if (offset == 0) {
        return index;
    }
    for (uint32_t l = 0; l < x->launch->lanes; l++) {
        room[l] = index[l] + offset;
    }
    return room;
}

/* The words of the scratchpads that the lanes access; of narrow elements the bytes. */
static int
find_places(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *places)
{
    uint32_t room[GPC_MAX_LANES];
    const uint32_t *index = array_indices(x, d, room);
    uint32_t limit = array_elements(x, d), bytes = d->narrow.bytes;
    uint32_t base = array_base(x, d) * (bytes != 0 ? 4u : 1u), step = bytes != 0 ? bytes : 1u;
    if (bytes == 0 && lanes == gpc_all_lanes(x) && gpc_lanes_below(index, x->launch->lanes, limit)) {
        for (const uint32_t *end = index + x->launch->lanes; index != end; index += 32, places += 32) {
            for (uint32_t l = 0; l < 32; l++) {
                places[l] = base + index[l];
            }
        }
        return GPC_OK;
    }
    for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        if (index[l] >= limit) {
            return fail_index(x, d, l, index[l], limit);
        }
        places[l] = base + step * index[l];
    }
    return GPC_OK;
}

/* Whether the instruction depends on the words that it accesses. An exchange counts as a write, because its old value
 * may be unused. */
static bool
reads(const gpc_decoded_t *d)
{
    return d->access.kind != GPC_ACCESS_STORE && !(d->access.kind == GPC_ACCESS_ATOMIC && d->atomic == GPC_ATOMIC_EXCH);
}

/* The bytes of a word that an access at this place concerns. */
static uint8_t
written_mask(uint32_t place, uint32_t bytes)
{
    return (uint8_t) (bytes ? ((1u << bytes) - 1u) << place % 4 : 0xFu);
}

/* Of the words behind the first. */
static bool
is_written(const uint8_t *written, uint32_t width)
{
    for (uint32_t k = 1; k < width; k++) {
        if (written[k] != 0xF) {
            return false;
        }
    }
    return true;
}

int
gpc_core_check_written(void *cores, const gpc_observation_t *event)
{
    gpc_cores_t *self = cores;
    gpc_lanes_t lanes = event->accessed.lanes;
    const uint32_t *places = event->accessed.words;
    uint8_t *written = self->parts->written;
    uint32_t bytes = event->accessed.bytes, per_word = bytes ? 4 : 1, width = event->accessed.width;
    char where[GPC_WHERE_BYTES], who[120];
    gpc_issue_t issue, *x = &issue;
    if (places == NULL) {
        return GPC_OK; /* of global memory */
    }
    gpc_issue_init(x, self, event->accessed.core, event->accessed.warp, 0);
    const gpc_decoded_t *d = &x->launch->code[x->warp->top.pc];
    for (gpc_lanes_t left = reads(d) ? lanes : 0; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left), word = places[l] / per_word;
        uint8_t mask = written_mask(places[l], bytes);
        if ((written[word] & mask) != mask || !is_written(written + word, width)) {
            return gpc_fail(self->failure, GPC_ERROR_UNINITIALISED,
                            "uninitialised shared memory: %s: %s reads element %u of an array, which no thread of the "
                            "block has written",
                            gpc_core_where(x->launch, x->warp->top.pc, where, sizeof where),
                            gpc_core_who(x, l, who, sizeof who),
                            (places[l] - per_word * array_base(x, d)) / (bytes ? bytes : 1));
        }
    }
    for (gpc_lanes_t left = d->access.kind != GPC_ACCESS_LOAD ? lanes : 0; left != 0; left &= left - 1) {
        uint32_t place = places[gpc_lowest_bit(left)];
        for (uint32_t k = 0; k < width; k++) {
            written[place / per_word + k] |= written_mask(place, bytes);
        }
    }
    return GPC_OK;
}

/* All lanes load or store consecutive words. */
static void
perform_straight(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *from)
{
    uint32_t room[GPC_MAX_LANES];
    if (d->opcode == GPC_OP_SHARED_LOAD) {
        gpc_write_lanes(x, &d->destination, gpc_all_lanes(x), from);
    } else {
        memcpy(from, gpc_operand_lanes(x, &d->b, room), x->launch->lanes * sizeof *from);
    }
}

static void
perform(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const uint32_t *words)
{
    static const gpc_operand_t none = {GPC_NO_OPERAND, 0, 0, 0};
    uint32_t room_b[GPC_MAX_LANES], room_c[GPC_MAX_LANES];
    bool stores = d->opcode != GPC_OP_SHARED_LOAD, loads = d->opcode != GPC_OP_SHARED_STORE;
    bool atomic = stores && loads;
    const uint32_t *b = gpc_operand_lanes(x, stores ? &d->b : &none, room_b);
    const uint32_t *c = gpc_operand_lanes(x, atomic ? &d->c : &none, room_c);
    uint32_t *memory = x->base->cores->parts->scratchpad;
    uint32_t *to = loads && d->destination.kind == GPC_VECTOR ? gpc_vector_for_write(x, &d->destination, lanes) : NULL;
    if (to != NULL && !stores) {
        if (lanes == gpc_all_lanes(x)) {
            for (uint32_t l = 0; l < x->launch->lanes; l++) {
                to[l] = memory[words[l]];
            }
            return;
        }
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t l = gpc_lowest_bit(lanes);
            to[l] = memory[words[l]];
        }
        return;
    }
    for (; !loads && lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        memory[words[l]] = b[l];
    }
    for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        uint32_t old = memory[words[l]];
        if (stores) {
            memory[words[l]] = gpc_rmw_apply(d->atomic, d->type, old, b[l], c[l]);
        }
        if (d->destination.kind == GPC_NO_OPERAND) {
            continue;
        }
        if (d->destination.kind == GPC_UNIFORM) {
            gpc_uniforms(x)[d->destination.number] = old;
        } else {
            to[l] = old;
        }
    }
}

/* A load or store of elements of 1 or 2 bytes; replaces the bytes by their words. */
static void
perform_narrow(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *places)
{
    static const gpc_operand_t none = {GPC_NO_OPERAND, 0, 0, 0};
    uint32_t room[GPC_MAX_LANES];
    bool stores = d->opcode == GPC_OP_SHARED_STORE;
    const uint32_t *b = gpc_operand_lanes(x, stores ? &d->b : &none, room);
    uint32_t *to = d->destination.kind == GPC_VECTOR ? gpc_vector_for_write(x, &d->destination, lanes)
                                                     : gpc_uniforms(x) + d->destination.number;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes), offset = places[l] % 4;
        uint32_t *word = &x->base->cores->parts->scratchpad[places[l] /= 4];
        if (stores) {
            uint32_t mask = gpc_narrow_mask(offset, &d->narrow);
            *word = (*word & ~mask) | (b[l] << 8u * offset & mask);
        } else {
            to[d->destination.kind == GPC_VECTOR ? l : 0] = gpc_narrow_element(*word, offset, &d->narrow);
        }
    }
}

static int
issue_bytes(gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t cycles = 0;
    GPC_TRY(gpc_core_access_scratchpad(x, d, x->warp->top.lanes, &cycles));
    gpc_core_set_destination(x, &d->destination, d->width, x->now + d->latency + cycles);
    return GPC_ISSUED;
}

int
gpc_core_issue_shared(gpc_issue_t *x, const gpc_decoded_t *d)
{
    if ((d->flags & GPC_FLAG_FLAT) != 0) {
        return gpc_core_issue_generic(x, d);
    }
    uint32_t words[GPC_MAX_LANES]; /* of narrow elements bytes, until they are performed */
    gpc_lanes_t lanes = d->destination.kind == GPC_UNIFORM ? 1 : x->warp->top.lanes;
    bool atomic = d->opcode == GPC_OP_SHARED_ATOMIC;
    bool one_word = !atomic && gpc_operand_even(x, &d->a);
    bool to_all =
        one_word && d->narrow.bytes == 0 && d->opcode == GPC_OP_SHARED_LOAD && d->destination.kind == GPC_VECTOR;
    gpc_lanes_t named = to_all && !gpc_is_observed(&x->base->cores->tap, GPC_ON_ACCESSED)
                            ? lanes & -lanes
                            : lanes; /* all lanes access one word */
    int status = x->base->cores->machine->scratchpad_order ? gpc_core_query_scratchpad_order(x, d) : GPC_ISSUED;
    GPC_TRY(status);
    if ((d->flags & GPC_FLAG_BYTES) != 0) {
        return issue_bytes(x, d);
    }
    status = find_places(x, d, named, words);
    if (status == GPC_OK) {
        status = gpc_core_publish(x, d, lanes, GPC_NONE, NULL, words);
    }
    GPC_TRY(status);
    bool straight = !atomic && !one_word && lanes == gpc_all_lanes(x) && d->narrow.bytes == 0 &&
                    gpc_lanes_straight(words, x->launch->lanes);
    if (to_all) {
        gpc_write_word(x, &d->destination, lanes, x->base->cores->parts->scratchpad[words[gpc_lowest_bit(lanes)]]);
    } else if (d->narrow.bytes != 0) {
        perform_narrow(x, d, lanes, words);
    } else if (straight) {
        perform_straight(x, d, x->base->cores->parts->scratchpad + words[0]);
    } else {
        perform(x, d, lanes, words);
    }
    uint32_t extra = one_word ? 0 : gpc_conflict_cycles(x, lanes, words, atomic, straight);
    x->core->unit_free[GPC_UNIT_SCRATCHPAD] = x->now + 1 + extra;
    x->base->statistics->shared_accesses++;
    x->base->statistics->shared_conflict_cycles += extra;
    gpc_set_ready_at(x, &d->destination, x->now + d->latency + extra);
    return GPC_ISSUED;
}
