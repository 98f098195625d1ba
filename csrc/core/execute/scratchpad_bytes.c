/* scratchpad_bytes.c: accesses to a block's scratchpad by byte offset: SHARED_* with GPC_FLAG_BYTES, and accesses by
 * address in the window of the scratchpad (GPC_SHARED_WINDOW). Elements of 1 and 2 bytes, and 1, 2 or 4 words a
 * lane. */
#include "cache/rmw.h"
#include "core/execute/banks.h"
#include "core/execute/execute.h"
#include "core/memory/load_store.h"
#include "core/memory/narrow.h"
#include "core/registers.h"
#include "core/where.h"

static int
fail_offset(const gpc_issue_t *x, uint32_t lane, uint32_t offset, uint32_t size, uint32_t limit)
{
    char who[120];
    const char *kernel = gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc);
    gpc_core_who(x, lane, who, sizeof who);
    if (offset % size != 0) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                        "kernel '%s': byte %u of shared memory is not aligned to %u bytes: %s", kernel, offset, size,
                        who);
    }
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': %u bytes at byte %d of shared memory, of which the block has %u: %s", kernel, size,
                    (int) offset, limit, who);
}

/* The places of all lanes' words, if all are aligned and within the block's part. Vectorised. */
static bool
find_words(const uint32_t *offsets, uint32_t immediate, uint32_t limit, uint32_t base, uint32_t lanes, uint32_t *places)
{
    uint32_t bad = limit < 4, last = limit - 4;
    for (const uint32_t *end = offsets + lanes; offsets != end; offsets += 32, places += 32) {
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t offset = offsets[l] + immediate;
            bad |= (offset & 3u) | (uint32_t) (offset > last);
            places[l] = base + (offset >> 2);
        }
    }
    return bad == 0;
}

/* As find_places of scratchpad.c: words of the scratchpads; of narrow elements bytes. */
static int
find_places(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *places)
{
    uint32_t room[GPC_MAX_LANES], block_words = x->launch->launch.program.shared_words, limit = 4 * block_words;
    const uint32_t *offsets = gpc_operand_lanes(x, &d->a, room);
    uint32_t base = x->base->index * x->base->cores->parts->scratchpad_words + x->warp->block * block_words;
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    if (size == 4 && lanes == gpc_all_lanes(x) &&
        find_words(offsets, d->immediate, limit, base, x->launch->lanes, places)) {
        return GPC_OK;
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes), offset = offsets[l] + d->immediate;
        if (offset % size != 0 || (uint64_t) offset + size > limit) {
            return fail_offset(x, l, offset, size, limit);
        }
        places[l] = d->narrow.bytes != 0 ? 4 * base + offset : base + offset / 4;
    }
    return GPC_OK;
}

static void
load(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const uint32_t *places)
{
    const uint32_t *memory = x->base->cores->parts->scratchpad;
    for (uint32_t k = 0; k < d->width; k++) {
        gpc_operand_t part = gpc_operand_next(x, d->destination, k);
        uint32_t *to = gpc_vector_for_write(x, &part, lanes);
        for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
            uint32_t l = gpc_lowest_bit(left);
            to[l] = d->narrow.bytes != 0 ? gpc_narrow_element(memory[places[l] / 4], places[l], &d->narrow)
                                         : memory[places[l] + k];
        }
    }
}

static void
store(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const uint32_t *places)
{
    uint32_t room[4][GPC_MAX_LANES], *memory = x->base->cores->parts->scratchpad;
    const uint32_t *values[4];
    for (uint32_t k = 0; k < d->width; k++) {
        gpc_operand_t part = gpc_operand_next(x, d->b, k);
        values[k] = gpc_operand_lanes(x, &part, room[k]);
    }
    for (; lanes != 0; lanes &= lanes - 1) { /* in order: the highest wins */
        uint32_t l = gpc_lowest_bit(lanes);
        if (d->narrow.bytes != 0) {
            uint32_t mask = gpc_narrow_mask(places[l], &d->narrow), *word = &memory[places[l] / 4];
            *word = (*word & ~mask) | (values[0][l] << 8u * (places[l] % 4) & mask);
            continue;
        }
        for (uint32_t k = 0; k < d->width; k++) {
            memory[places[l] + k] = values[k][l];
        }
    }
}

/* Of one or two words a lane, in lane order. */
static void
update(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const uint32_t *places)
{
    static const gpc_operand_t none = {GPC_NO_OPERAND, 0, 0, 0};
    uint32_t rooms[2][2][GPC_MAX_LANES], *to[2] = {NULL, NULL};
    const uint32_t *operand[2], *replacement[2];
    for (uint32_t k = 0; k < d->width; k++) {
        gpc_operand_t b = gpc_operand_next(x, d->b, k), c = gpc_operand_next(x, d->c, k),
                      part = gpc_operand_next(x, d->destination, k);
        operand[k] = gpc_operand_lanes(x, &b, rooms[k][0]);
        replacement[k] = gpc_operand_lanes(x, d->c.kind == GPC_NO_OPERAND ? &none : &c, rooms[k][1]);
        if (d->destination.kind != GPC_NO_OPERAND) {
            to[k] = gpc_vector_for_write(x, &part, lanes);
        }
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes), *words = x->base->cores->parts->scratchpad + places[l], old[2] = {0, 0};
        uint32_t operands[2] = {0, 0}, replacements[2] = {0, 0};
        for (uint32_t k = 0; k < d->width; k++) {
            old[k] = words[k];
            operands[k] = operand[k][l];
            replacements[k] = replacement[k][l];
        }
        gpc_rmw_apply_words(d->atomic, d->type, d->width, words, operands, replacements);
        for (uint32_t k = 0; k < d->width && to[k] != NULL; k++) {
            to[k][l] = old[k];
        }
    }
}

/* One word of each lane. */
static void
load_words(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const uint32_t *places, bool straight)
{
    const uint32_t *memory = x->base->cores->parts->scratchpad;
    uint32_t words[GPC_MAX_LANES];
    if (straight) {
        gpc_write_lanes(x, &d->destination, lanes, memory + places[0]);
        return;
    }
    for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        words[l] = memory[places[l]];
    }
    gpc_write_lanes(x, &d->destination, lanes, words);
}

/* Cycles beyond the first. The lanes of an access of several words take as many rounds, each of a part of the warp, in
 * which the words of a bank are serialised. */
static uint32_t
conflict_cycles(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, const uint32_t *places)
{
    uint32_t per_round = x->launch->lanes / d->width, cycles = 0;
    bool atomic = d->access.kind == GPC_ACCESS_ATOMIC;
    for (uint32_t first = 0; first < x->launch->lanes; first += per_round) {
        uint32_t words[GPC_MAX_LANES], count = 0;
        for (uint32_t l = first; l < first + per_round; l++) {
            for (uint32_t k = 0; (lanes >> l & 1) != 0 && k < d->width; k++) {
                words[count++] = d->narrow.bytes != 0 ? places[l] / 4 : places[l] + k;
            }
        }
        if (count != 0) {
            gpc_lanes_t taken = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
            cycles += 1 + gpc_conflict_cycles(x, taken, words, atomic, false);
        }
    }
    return cycles - 1;
}

int
gpc_core_access_scratchpad(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *cycles)
{
    uint32_t places[GPC_MAX_LANES];
    int status = find_places(x, d, lanes, places);
    if (status == GPC_OK) {
        status = gpc_core_publish(x, d, lanes, GPC_NONE, NULL, places);
    }
    GPC_TRY(status);
    bool all = lanes == gpc_all_lanes(x), load_access = d->access.kind == GPC_ACCESS_LOAD;
    bool to_all = load_access && all && gpc_operand_even(x, &d->a), one_word = d->width == 1 && d->narrow.bytes == 0;
    bool straight = one_word && !to_all && all && d->access.kind != GPC_ACCESS_ATOMIC &&
                    gpc_lanes_straight(places, x->launch->lanes);
    if (one_word && load_access && !to_all) {
        load_words(x, d, lanes, places, straight);
    } else if (to_all && d->narrow.bytes == 0) {
        for (uint32_t k = 0; k < d->width; k++) {
            gpc_operand_t part = gpc_operand_next(x, d->destination, k);
            gpc_write_word(x, &part, lanes, x->base->cores->parts->scratchpad[places[0] + k]);
        }
    } else if (load_access) {
        load(x, d, lanes, places);
    } else if (d->access.kind == GPC_ACCESS_STORE) {
        store(x, d, lanes, places);
    } else {
        update(x, d, lanes, places);
    }
    *cycles = to_all     ? 0
              : one_word ? gpc_conflict_cycles(x, lanes, places, d->access.kind == GPC_ACCESS_ATOMIC, straight)
                         : conflict_cycles(x, d, lanes, places);
    x->core->unit_free[GPC_UNIT_SCRATCHPAD] = x->now + 1 + *cycles;
    x->base->statistics->shared_accesses++;
    x->base->statistics->shared_conflict_cycles += *cycles;
    return GPC_OK;
}
