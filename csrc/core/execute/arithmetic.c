/* arithmetic.c: an arithmetic instruction over a warp's lanes: once if all operands are even, else for every lane. */
#include <inttypes.h>
#include <stdio.h>

#include "core/execute/execute.h"
#include "core/execute/extended.h"
#include "core/registers.h"
#include "core/where.h"

GPC_INLINED_BY_LINKER void
gpc_core_issue_alu(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t active = x->warp->top.lanes;
    bool uniform = d->destination.kind == GPC_UNIFORM, all = active == gpc_all_lanes(x);
    if ((uniform || all) && d->may_be_even && (x->warp->even & d->needs_even) == d->needs_even) {
        uint32_t c = d->c.kind == GPC_NO_OPERAND ? 0 : gpc_even_word(x, &d->c);
        uint32_t word = d->alu.one(gpc_even_word(x, &d->a), gpc_even_word(x, &d->b), c);
        if (d->even_result) {
            gpc_write_at_place(x, d->destination.place, d->makes_even, word);
        } else {
            gpc_write_word(x, &d->destination, active, word);
        }
        return;
    }
    if (uniform) {
        gpc_uniforms(x)[d->destination.number] =
            d->alu.one(gpc_operand_word(x, &d->a), gpc_operand_word(x, &d->b), gpc_operand_word(x, &d->c));
        return;
    }
    uint32_t room_a[GPC_MAX_LANES], room_b[GPC_MAX_LANES], room_c[GPC_MAX_LANES], room[GPC_MAX_LANES];
    uint32_t *result = all && d->in_place ? x->vectors + d->destination.offset : room;
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room_a);
    const uint32_t *b = d->b.kind == GPC_NO_OPERAND ? a : gpc_operand_lanes(x, &d->b, room_b);
    const uint32_t *c = d->c.kind == GPC_NO_OPERAND ? a : gpc_operand_lanes(x, &d->c, room_c);
    d->alu.all(result, a, b, c);
    if (x->launch->lanes > GPC_ALU_LANES) {
        d->alu.all(result + GPC_ALU_LANES, a + GPC_ALU_LANES, b + GPC_ALU_LANES, c + GPC_ALU_LANES);
    }
    if (all && gpc_lanes_even(result, x->launch->lanes)) { /* e.g. a warp index */
        gpc_write_word(x, &d->destination, active, result[0]);
    } else if (result != room) {
        (void) gpc_vector_for_write(x, &d->destination, active); /* its lanes are in place */
    } else {
        gpc_write_lanes(x, &d->destination, active, result);
    }
}

/* The operand's word in a lane. */
static uint32_t
word_of(const gpc_issue_t *x, const gpc_operand_t *operand, uint32_t lane)
{
    uint32_t room[GPC_MAX_LANES];
    return gpc_operand_lanes(x, operand, room)[lane];
}

static int
fail_division(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane)
{
    char where[GPC_WHERE_BYTES], who[120], dividend[24];
    bool extended = d->opcode == GPC_OP_EXTENDED, wide = d->group == GPC_GROUP_WIDE_DIVISION;
    bool is_signed = extended ? gpc_extended_type(&gpc_extended[d->immediate]) == 'S' : d->type == GPC_I32;
    uint64_t value = word_of(x, &d->a, lane);
    if (wide) {
        gpc_operand_t upper = gpc_operand_next(x, d->a, 1);
        value |= (uint64_t) word_of(x, &upper, lane) << 32;
    } else if (is_signed) {
        value = (uint64_t) (int64_t) (int32_t) value;
    }
    (void) snprintf(dividend, sizeof dividend, is_signed ? "%" PRId64 : "%" PRIu64, value);
    return gpc_fail(x->base->cores->failure, GPC_ERROR_DIVISION, "division by zero: %s: %s divides %s by 0",
                    gpc_core_where(x->launch, x->warp->top.pc, where, sizeof where),
                    gpc_core_who(x, lane, who, sizeof who), dividend);
}

int
gpc_core_check_division(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t not_zero = gpc_core_lanes_not_zero(x, &d->b);
    if (d->group == GPC_GROUP_WIDE_DIVISION) {
        gpc_operand_t upper = gpc_operand_next(x, d->b, 1);
        not_zero |= gpc_core_lanes_not_zero(x, &upper);
    }
    gpc_lanes_t zero = x->warp->top.lanes & ~not_zero;
    return zero == 0 ? GPC_ISSUED : fail_division(x, d, gpc_lowest_bit(zero));
}
