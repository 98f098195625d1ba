/* movement.c: data movement between lanes, special registers and arrays of registers. */
#include <string.h>

#include "core/execute/alu.h"
#include "core/execute/execute.h"
#include "core/registers.h"
#include "core/where.h"

/* Bit l: lane l of 32 is not zero. A table instead of a shift by l, which the compiler does not vectorise
 * everywhere. */
static uint32_t
not_zero(const uint32_t *lanes)
{
#define FOUR(l) UINT32_C(1) << (l), UINT32_C(1) << ((l) + 1), UINT32_C(1) << ((l) + 2), UINT32_C(1) << ((l) + 3)
    static const uint32_t bit[32] = {FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)};
#undef FOUR
    uint32_t bits = 0;
    for (uint32_t l = 0; l < 32; l++) {
        bits |= lanes[l] != 0 ? bit[l] : 0;
    }
    return bits;
}

gpc_lanes_t
gpc_core_lanes_not_zero(const gpc_issue_t *x, const gpc_operand_t *operand)
{
    gpc_lanes_t bits = 0;
    if (gpc_operand_even(x, operand)) {
        return gpc_operand_word(x, operand) != 0 ? x->warp->top.lanes : 0;
    }
    const uint32_t *a = x->vectors + operand->offset;
    for (uint32_t half = 0; half < x->launch->lanes; half += 32) {
        bits |= (gpc_lanes_t) not_zero(a + half) << half;
    }
    return bits & x->warp->top.lanes;
}

static uint32_t
even_special(const gpc_issue_t *x, uint32_t which)
{
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    const gpc_launch_t *launch = &x->launch->launch;
    switch (which) {
        case GPC_SPECIAL_BLOCK_X:
        case GPC_SPECIAL_BLOCK_Y:
        case GPC_SPECIAL_BLOCK_Z:
            return block->coordinates[which - GPC_SPECIAL_BLOCK_X];
        case GPC_SPECIAL_BLOCK_DIM_X:
        case GPC_SPECIAL_BLOCK_DIM_Y:
        case GPC_SPECIAL_BLOCK_DIM_Z:
            return launch->block[which - GPC_SPECIAL_BLOCK_DIM_X];
        case GPC_SPECIAL_GRID_DIM_X:
        case GPC_SPECIAL_GRID_DIM_Y:
        case GPC_SPECIAL_GRID_DIM_Z:
            return launch->grid[which - GPC_SPECIAL_GRID_DIM_X];
        case GPC_SPECIAL_WARP:
            return x->warp->index;
        case GPC_SPECIAL_CORE:
            return x->base->index;
        default:
            return (uint32_t) x->now; /* CLOCK */
    }
}

/* Whether the special register is the same in all lanes of a warp. */
static bool
is_even_special(uint32_t which)
{
    return which > GPC_SPECIAL_THREAD_Z && which != GPC_SPECIAL_LANE;
}

static void
special_lanes(const gpc_issue_t *x, uint32_t which, uint32_t *result)
{
    if (which <= GPC_SPECIAL_THREAD_Z) {
        memcpy(result, x->launch->thread_axis[which] + x->warp->index * x->launch->lanes,
               x->launch->lanes * sizeof *result);
        return;
    }
    for (uint32_t l = 0; l < x->launch->lanes; l++) {
        result[l] = l;
    }
}

static uint32_t
vote(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t yes = gpc_core_lanes_not_zero(x, &d->a);
    switch (d->opcode) {
        case GPC_OP_ANY:
            return yes != 0;
        case GPC_OP_ALL:
            return yes == x->warp->top.lanes;
        default:
            return (uint32_t) ((d->flags & GPC_FLAG_HIGH) != 0 ? yes >> 32 : yes);
    }
}

/* The active lanes' words in lane order, joined; the ALU's operations have the names of those of atomics. */
static uint32_t
reduce(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    static const uint8_t opcodes[GPC_NUM_ATOMICS] = {[GPC_ATOMIC_ADD] = GPC_OP_ADD, [GPC_ATOMIC_MIN] = GPC_OP_MIN,
                                                     [GPC_ATOMIC_MAX] = GPC_OP_MAX, [GPC_ATOMIC_AND] = GPC_OP_AND,
                                                     [GPC_ATOMIC_OR] = GPC_OP_OR,   [GPC_ATOMIC_XOR] = GPC_OP_XOR};
    uint32_t room[GPC_MAX_LANES];
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room);
    gpc_alu_one_t join = gpc_alu_find(opcodes[d->atomic], d->type, 0, false).one;
    gpc_lanes_t left = x->warp->top.lanes;
    uint32_t result = a[gpc_lowest_bit(left)];
    for (left &= left - 1; left != 0; left &= left - 1) {
        result = join(result, a[gpc_lowest_bit(left)], 0);
    }
    return result;
}

/* For each active lane the active lanes with the same word. */
static void
match_lanes(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *result)
{
    uint32_t room[GPC_MAX_LANES];
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room);
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0;) {
        uint32_t word = a[gpc_lowest_bit(left)];
        gpc_lanes_t same = 0;
        for (gpc_lanes_t others = left; others != 0; others &= others - 1) {
            same |= a[gpc_lowest_bit(others)] == word ? others & (~others + 1) : 0;
        }
        left &= ~same;
        for (gpc_lanes_t lanes = same; lanes != 0; lanes &= lanes - 1) {
            result[gpc_lowest_bit(lanes)] = (uint32_t) ((d->flags & GPC_FLAG_HIGH) != 0 ? same >> 32 : same);
        }
    }
}

/* The lane whose word PTX's shfl gives a lane; *inside: its predicate. c: clamp in bits 0..4, mask of the segments in
 * bits 8..12. */
static uint32_t
shuffled_lane(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c, bool *inside)
{
    uint32_t clamp = c & 31, mask = c >> 8 & 31, most = (lane & mask) | (clamp & ~mask), from = b & 31;
    switch (mode) {
        case GPC_SHUFFLE_UP:
            from = lane - from;
            *inside = (int32_t) from >= (int32_t) most;
            break;
        case GPC_SHUFFLE_DOWN:
            from = lane + from;
            *inside = from <= most;
            break;
        case GPC_SHUFFLE_BFLY:
            from = lane ^ from;
            *inside = from <= most;
            break;
        default:
            from = (lane & mask) | (from & ~mask);
            *inside = from <= most;
            break;
    }
    return *inside ? from : lane;
}

/* A shuffle of PTX, with its predicate if there is a register for it. */
static void
shuffle(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *result)
{
    uint32_t room[3][GPC_MAX_LANES], predicate[GPC_MAX_LANES];
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room[0]), *b = gpc_operand_lanes(x, &d->b, room[1]),
                   *c = gpc_operand_lanes(x, &d->c, room[2]);
    uint32_t mode = (d->flags & GPC_FLAG_SHUFFLE_MODE) >> GPC_FLAG_SHUFFLE_SHIFT;
    for (uint32_t l = 0; l < x->launch->lanes; l++) {
        bool inside;
        result[l] = a[shuffled_lane(mode, l, b[l], c[l], &inside)];
        predicate[l] = inside;
    }
    if (d->width == 2) {
        gpc_operand_t second = gpc_operand_next(x, d->destination, 1);
        gpc_write_lanes(x, &second, x->warp->top.lanes, predicate);
        gpc_set_ready_at(x, &second, x->now + d->latency);
    }
}

/* Writes a result that is the same for all lanes. */
static void
move_word(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t word)
{
    if (d->destination.kind == GPC_UNIFORM) {
        gpc_uniforms(x)[d->destination.number] = word;
    } else {
        gpc_write_word(x, &d->destination, x->warp->top.lanes, word);
    }
}

void
gpc_core_issue_movement(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t result[GPC_MAX_LANES], room_a[GPC_MAX_LANES], room_b[GPC_MAX_LANES];
    switch (d->opcode) {
        case GPC_OP_LANES:
            memcpy(result, x->launch->launch.constants + d->immediate, x->launch->lanes * sizeof *result);
            break;
        case GPC_OP_EXTENDED:
            gpc_core_issue_extended(x, d);
            return;
        case GPC_OP_SPECIAL:
            if (is_even_special(d->immediate)) {
                move_word(x, d, even_special(x, d->immediate));
                return;
            }
            special_lanes(x, d->immediate, result);
            break;
        case GPC_OP_SHUFFLE: {
            if ((d->flags & GPC_FLAG_SHUFFLE_MODE) != 0) {
                shuffle(x, d, result);
                break;
            }
            const uint32_t *a = gpc_operand_lanes(x, &d->a, room_a);
            const uint32_t *b = gpc_operand_lanes(x, &d->b, room_b);
            for (uint32_t l = 0; l < x->launch->lanes; l++) {
                result[l] = a[b[l] & (x->launch->lanes - 1)];
            }
            break;
        }
        case GPC_OP_MATCH:
            match_lanes(x, d, result);
            break;
        case GPC_OP_REDUCE:
            move_word(x, d, reduce(x, d));
            return;
        default: /* ANY ALL BALLOT */
            move_word(x, d, vote(x, d));
            return;
    }
    gpc_write_lanes(x, &d->destination, x->warp->top.lanes, result);
}

static int
fail_local(const gpc_issue_t *x, uint32_t lane, uint32_t index, uint32_t words)
{
    char who[120];
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': index %d is out of bounds of a local array of %u words: %s",
                    gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc), (int) index, words,
                    gpc_core_who(x, lane, who, sizeof who));
}

/* Indexed registers: the instruction waits until all registers of the array are ready. */
int
gpc_core_issue_local(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_cycle_t ready = 0;
    for (uint32_t i = 0; i < d->local_words; i++) {
        gpc_cycle_t at = gpc_ready_at(x, d->immediate + i);
        ready = at > ready ? at : ready;
    }
    if (ready > x->now) {
        return gpc_core_block_warp(x, ready == GPC_NEVER ? GPC_WARP_WAITS_REGISTER : GPC_WARP_WAITS_TIME,
                                   GPC_STALL_scoreboard, ready);
    }
    uint32_t room_a[GPC_MAX_LANES], room_b[GPC_MAX_LANES];
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room_a);
    const uint32_t *b = gpc_operand_lanes(x, &d->b, room_b);
    uint32_t *array = x->vectors + (size_t) d->immediate * x->launch->lanes;
    uint32_t *to = d->opcode == GPC_OP_LOCAL_LOAD ? gpc_vector_for_write(x, &d->destination, x->warp->top.lanes) : NULL;
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        if (a[l] >= d->local_words) {
            return fail_local(x, l, a[l], d->local_words);
        }
        if (to != NULL) {
            to[l] = array[(size_t) a[l] * x->launch->lanes + l];
        } else {
            array[(size_t) a[l] * x->launch->lanes + l] = b[l];
        }
    }
    if (d->opcode == GPC_OP_LOCAL_STORE) {
        for (uint32_t i = 0; i < d->local_words; i++) {
            gpc_set_entry_ready_at(x, d->immediate + i, x->now + d->latency);
        }
    }
    return GPC_ISSUED;
}
