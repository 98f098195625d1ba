/* addresses.c: the addresses of an instruction's lanes, checked against the buffer, and whether all are in one line. */
#include <inttypes.h>

#include "core/memory/flat.h"
#include "core/memory/load_store.h"
#include "core/registers.h"
#include "core/where.h"

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

int
gpc_core_find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_address_t *addresses)
{
    if ((d->flags & GPC_FLAG_FLAT) != 0) {
        return gpc_flat_addresses(x, d, lanes, addresses);
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
        return GPC_OK;
    }
    gpc_address_t first = buffer->address, elements = buffer->elements, width = d->width;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes), i = index[l];
        if (i + width > elements || (i & misaligned) != 0) {
            return fail_access(x, d, l, i);
        }
        addresses[l] = first + bytes * (gpc_address_t) i;
    }
    return GPC_OK;
}

/* ---- the common case: all lanes in one line ---------------------------------------------------------------------- */

/* Pattern of the indices of an instruction's lanes. */
typedef struct {
    bool one_line; /* all active lanes access one line */
    bool straight; /* all lanes are active and access consecutive words */
    bool one_word; /* all lanes are active and access the same word */
} shape_t;

static shape_t
shape_of(const gpc_issue_t *x, bool even, const uint32_t *index, gpc_lanes_t lanes, uint32_t word_mask)
{
    uint32_t differ = 0, first = index[gpc_lowest_bit(lanes)];
    if (even) {
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

static inline __attribute__((always_inline)) void
fill_line(const gpc_issue_t *x, const shape_t *shape, const uint32_t *index, gpc_lanes_t lanes, uint32_t word_mask,
          gpc_one_line_t *out)
{
    out->index = index;
    out->word_mask = word_mask;
    out->first = index[gpc_lowest_bit(lanes)] & word_mask;
    out->words = words_of(x, shape, index, lanes, word_mask);
    out->straight = shape->straight;
    out->one_word = shape->one_word;
}

/* Of an access by address: its words in 4 GiB are the indices. */
__attribute__((noinline)) static bool
find_flat_line(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *room, gpc_one_line_t *out)
{
    uint32_t line_bytes = x->base->cores->machine->line_bytes, word_mask = line_bytes / 4u - 1u;
    gpc_address_t base;
    bool even;
    if (!gpc_flat_words(x, d, room, &base, &even)) {
        return false;
    }
    shape_t shape = shape_of(x, even, room, lanes, word_mask);
    out->line = base + 4u * (gpc_address_t) (room[gpc_lowest_bit(lanes)] & ~word_mask);
    if (!shape.one_line || !gpc_flat_inside(x, out->line, out->line + line_bytes)) {
        return false;
    }
    fill_line(x, &shape, room, lanes, word_mask, out);
    return true;
}

bool
gpc_core_find_line(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *room, gpc_one_line_t *out)
{
    if (d->width != 1 || d->narrow.bytes != 0) {
        return false;
    }
    if ((d->flags & GPC_FLAG_FLAT) != 0) {
        return find_flat_line(x, d, lanes, room, out);
    }
    const gpc_buffer_t *buffer = &x->launch->launch.buffers[d->immediate];
    uint32_t word_mask = x->base->cores->machine->line_bytes / 4u - 1u;
    if (buffer->read_only && d->access.kind != GPC_ACCESS_LOAD) {
        return false;
    }
    const uint32_t *index = gpc_operand_lanes(x, &d->a, room);
    shape_t shape = shape_of(x, gpc_operand_even(x, &d->a), index, lanes, word_mask);
    uint32_t start = index[gpc_lowest_bit(lanes)] & ~word_mask;
    if (!shape.one_line || (uint64_t) start + word_mask >= buffer->elements) {
        return false;
    }
    out->line = buffer->address + 4u * (gpc_address_t) start;
    fill_line(x, &shape, index, lanes, word_mask, out);
    return true;
}
