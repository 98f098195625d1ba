/* issue.c: carries out one instruction of one warp: arithmetic, data movement and control flow here, the rest by their units. */
#include <string.h>

#include "core/execute/registers.h"

static void
issue_alu(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t active = x->warp->top.lanes;
    bool uniform = d->destination.kind == GPC_UNIFORM;
    if (uniform || (active == gpc_all_lanes(x) && gpc_operand_even(x, &d->a) && gpc_operand_even(x, &d->b) &&
                    gpc_operand_even(x, &d->c))) {
        uint32_t word = d->alu.one(gpc_operand_word(x, &d->a), gpc_operand_word(x, &d->b), gpc_operand_word(x, &d->c));
        if (uniform) {
            x->uniforms[d->destination.number] = word;
        } else {
            gpc_write_word(x, &d->destination, active, word);
        }
        return;
    }
    uint32_t room_a[GPC_MAX_LANES], room_b[GPC_MAX_LANES], room_c[GPC_MAX_LANES], result[GPC_MAX_LANES];
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room_a);
    const uint32_t *b = d->b.kind == GPC_NO_OPERAND ? a : gpc_operand_lanes(x, &d->b, room_b);
    const uint32_t *c = d->c.kind == GPC_NO_OPERAND ? a : gpc_operand_lanes(x, &d->c, room_c);
    d->alu.all(result, a, b, c);
    if (x->lanes > GPC_ALU_LANES) {
        d->alu.all(result + GPC_ALU_LANES, a + GPC_ALU_LANES, b + GPC_ALU_LANES, c + GPC_ALU_LANES);
    }
    if (active == gpc_all_lanes(x) && gpc_lanes_even(result, x->lanes)) { /* a warp's number, of its threads' */
        gpc_write_word(x, &d->destination, active, result[0]);
    } else {
        gpc_write_lanes(x, &d->destination, active, result);
    }
}

/* Bit l: operand a is not zero in active lane l. */
static gpc_lanes_t
lanes_not_zero(const gpc_issue_t *x, const gpc_operand_t *operand)
{
    gpc_lanes_t bits = 0;
    if (gpc_operand_even(x, operand)) {
        return gpc_operand_word(x, operand) != 0 ? x->warp->top.lanes : 0;
    }
    const uint32_t *a = x->vectors + operand->offset;
    for (uint32_t half = 0; half < x->lanes; half += 32) {
        uint32_t part = 0;
        for (uint32_t l = 0; l < 32; l++) {
            part |= (uint32_t) (a[half + l] != 0) << l;
        }
        bits |= (gpc_lanes_t) part << half;
    }
    return bits & x->warp->top.lanes;
}

static uint32_t
even_special(const gpc_issue_t *x, uint32_t which)
{
    const gpc_block_t *block = gpc_core_block(x->cores, x->core_index, x->warp->block);
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
            return x->core_index;
        default:
            return (uint32_t) x->now; /* CLOCK */
    }
}

/* Whether the register is the same in all of a warp's lanes. */
static bool
is_even_special(uint32_t which)
{
    return which > GPC_SPECIAL_THREAD_Z && which != GPC_SPECIAL_LANE;
}

static void
special_lanes(const gpc_issue_t *x, uint32_t which, uint32_t *result)
{
    if (which <= GPC_SPECIAL_THREAD_Z) {
        memcpy(result, x->launch->thread_axis[which] + x->warp->index * x->lanes, x->lanes * sizeof *result);
        return;
    }
    for (uint32_t l = 0; l < x->lanes; l++) {
        result[l] = l;
    }
}

static uint32_t
vote(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t yes = lanes_not_zero(x, &d->a);
    switch (d->opcode) {
        case GPC_OP_ANY:
            return yes != 0;
        case GPC_OP_ALL:
            return yes == x->warp->top.lanes;
        default:
            return (uint32_t) ((d->flags & GPC_FLAG_HIGH) != 0 ? yes >> 32 : yes);
    }
}

/* What is one word for all lanes. */
static void
move_word(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t word)
{
    if (d->destination.kind == GPC_UNIFORM) {
        x->uniforms[d->destination.number] = word;
    } else {
        gpc_write_word(x, &d->destination, x->warp->top.lanes, word);
    }
}

static void
issue_movement(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t result[GPC_MAX_LANES], room_a[GPC_MAX_LANES], room_b[GPC_MAX_LANES];
    switch (d->opcode) {
        case GPC_OP_LANES:
            memcpy(result, x->launch->launch.constants + d->immediate, x->lanes * sizeof *result);
            break;
        case GPC_OP_SPECIAL:
            if (is_even_special(d->immediate)) {
                move_word(x, d, even_special(x, d->immediate));
                return;
            }
            special_lanes(x, d->immediate, result);
            break;
        case GPC_OP_SHUFFLE: {
            const uint32_t *a = gpc_operand_lanes(x, &d->a, room_a);
            const uint32_t *b = gpc_operand_lanes(x, &d->b, room_b);
            for (uint32_t l = 0; l < x->lanes; l++) {
                result[l] = a[b[l] & (x->lanes - 1)];
            }
            break;
        }
        default: /* ANY ALL BALLOT */
            move_word(x, d, vote(x, d));
            return;
    }
    gpc_write_lanes(x, &d->destination, x->warp->top.lanes, result);
}

static int
fail_local(const gpc_issue_t *x, uint32_t lane, uint32_t index, uint32_t words)
{
    char where[160], who[120];
    return gpc_fail(x->cores->failure, GPC_ERROR_BOUNDS,
                    "%s: index %d is out of bounds of a local array of %u words: %s",
                    gpc_core_where(x->launch, x->warp->top.pc, where, sizeof where), (int) index, words,
                    gpc_core_who(x, lane, who, sizeof who));
}

/* Indexed registers: any of the array may be meant, so that all of it must be ready. */
static int
issue_local(gpc_issue_t *x, const gpc_decoded_t *d)
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
    uint32_t *array = x->vectors + (size_t) d->immediate * x->lanes;
    uint32_t *to = d->opcode == GPC_OP_LOCAL_LOAD ? gpc_vector_for_write(x, &d->destination, x->warp->top.lanes) : NULL;
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        if (a[l] >= d->local_words) {
            return fail_local(x, l, a[l], d->local_words);
        }
        if (to != NULL) {
            to[l] = array[(size_t) a[l] * x->lanes + l];
        } else {
            array[(size_t) a[l] * x->lanes + l] = b[l];
        }
    }
    if (d->opcode == GPC_OP_LOCAL_STORE) {
        for (uint32_t i = 0; i < d->local_words; i++) {
            gpc_set_entry_ready_at(x, d->immediate + i, x->now + d->latency);
        }
    }
    return GPC_ISSUED;
}

static void
issue_sleep(gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t room[GPC_MAX_LANES], most = 0;
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room);
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0; left &= left - 1) {
        uint32_t cycles = a[gpc_lowest_bit(left)];
        if (d->type == GPC_I32 && cycles >> 31 != 0) {
            continue; /* negative: none */
        }
        most = cycles > most ? cycles : most;
    }
    x->warp->not_before = x->now + most;
}

static void
issue_branch(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t not_zero = lanes_not_zero(x, &d->a);
    gpc_warp_branch(x, d, (d->flags & GPC_FLAG_IF_ZERO) != 0 ? x->warp->top.lanes & ~not_zero : not_zero);
}

/* The groups that leave the program counter to the caller. */
static int
issue_straight(gpc_issue_t *x, const gpc_decoded_t *d)
{
    int status;
    switch (d->group) {
        case GPC_GROUP_NOP:
            return GPC_ISSUED;
        case GPC_GROUP_ALU:
            issue_alu(x, d);
            break;
        case GPC_GROUP_MOVEMENT:
            issue_movement(x, d);
            break;
        case GPC_GROUP_LOCAL:
            status = issue_local(x, d);
            if (status != GPC_ISSUED) {
                return status;
            }
            break;
        case GPC_GROUP_MEMORY:
            return gpc_core_issue_memory(x, d); /* sets its destination's readiness */
        case GPC_GROUP_SHARED:
            return gpc_core_issue_shared(x, d);
        default:
            issue_sleep(x, d);
            return GPC_ISSUED;
    }
    gpc_set_ready_at(x, &d->destination, x->now + d->latency);
    return GPC_ISSUED;
}

int
gpc_core_issue(gpc_issue_t *x)
{
    const gpc_decoded_t *d = &x->launch->code[x->warp->top.pc];
    if (d->unit != GPC_UNIT_NONE) {
        if (x->core->unit_free[d->unit] > x->now) {
            return gpc_core_block_warp(x, GPC_WARP_WAITS_TIME, GPC_STALL_unit, x->core->unit_free[d->unit]);
        }
    }
    uint32_t lanes = gpc_count_bits(x->warp->top.lanes);
    int status = GPC_ISSUED;
    switch (d->group) {
        case GPC_GROUP_BRANCH:
            issue_branch(x, d);
            break;
        case GPC_GROUP_JUMP:
            gpc_warp_go_to(x, d->target);
            break;
        case GPC_GROUP_EXIT:
        case GPC_GROUP_FENCE:
        case GPC_GROUP_BARRIER:
            status = gpc_core_issue_sync(x, d);
            break;
        default:
            status = issue_straight(x, d);
            if (status == GPC_ISSUED) {
                gpc_warp_go_to(x, x->warp->top.pc + 1);
            }
            break;
    }
    if (status != GPC_ISSUED) {
        return status;
    }
    if (d->unit != GPC_UNIT_NONE) {
        gpc_cycle_t free_at = x->now + d->unit_holds;
        if (free_at > x->core->unit_free[d->unit]) { /* the scratchpad may have set more */
            x->core->unit_free[d->unit] = free_at;
        }
    }
    x->statistics->instructions++;
    x->statistics->thread_instructions += lanes;
    return GPC_ISSUED;
}
