/* extended.c: an extended instruction over a warp's lanes: once if all operands are even, else for every lane. Rows of
 * single words without flags are the ALU's (arithmetic.c). */
#include "core/execute/extended.h"

#include "core/execute/execute.h"
#include "core/registers.h"

/* Words of the row's operands. */
typedef struct {
    const gpc_operand_t *operand[3];
    uint8_t words[3];
} sources_t;

static bool
is_even(const gpc_issue_t *x, const gpc_operand_t *operand, uint32_t words)
{
    if (words == 0 || operand->kind != GPC_VECTOR) {
        return true;
    }
    return gpc_is_even(x, operand->number) && (words == 1 || gpc_is_even(x, operand->number + 1));
}

/* Of even operands. */
static uint64_t
value_of(const gpc_issue_t *x, const gpc_operand_t *operand, uint32_t words)
{
    if (words == 0) {
        return 0;
    }
    uint64_t value = gpc_operand_word(x, operand);
    if (words == 2) {
        gpc_operand_t upper = gpc_operand_next(x, *operand, 1);
        value |= (uint64_t) gpc_operand_word(x, &upper) << 32;
    }
    return value;
}

static uint64_t
compute_once(const gpc_issue_t *x, const gpc_extended_t *row, const sources_t *from, uint32_t flags)
{
    return row->one(value_of(x, from->operand[0], from->words[0]), value_of(x, from->operand[1], from->words[1]),
                    value_of(x, from->operand[2], from->words[2]), flags);
}

static void
compute_lanes(const gpc_issue_t *x, const gpc_decoded_t *d, const sources_t *from, uint32_t (*result)[GPC_MAX_LANES])
{
    uint32_t room[3][2][GPC_MAX_LANES];
    gpc_extended_lanes_t lanes = {{NULL}, {NULL}};
    for (uint32_t k = 0; k < 3; k++) {
        if (from->words[k] != 0) {
            lanes.low[k] = gpc_operand_lanes(x, from->operand[k], room[k][0]);
        }
        if (from->words[k] == 2) {
            gpc_operand_t upper = gpc_operand_next(x, *from->operand[k], 1);
            lanes.high[k] = gpc_operand_lanes(x, &upper, room[k][1]);
        }
    }
    for (uint32_t half = 0; half < x->launch->lanes; half += GPC_ALU_LANES) {
        d->extended(result[0] + half, result[1] + half, &lanes, d->flags);
        for (uint32_t k = 0; k < 3; k++) {
            lanes.low[k] = lanes.low[k] != NULL ? lanes.low[k] + GPC_ALU_LANES : NULL;
            lanes.high[k] = lanes.high[k] != NULL ? lanes.high[k] + GPC_ALU_LANES : NULL;
        }
    }
}

void
gpc_core_issue_extended(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    const gpc_extended_t *row = &gpc_extended[d->immediate];
    const sources_t from = {{&d->a, &d->b, &d->c}, {row->a, row->b, row->c}};
    gpc_lanes_t active = x->warp->top.lanes;
    bool all = active == gpc_all_lanes(x), uniform = d->destination.kind == GPC_UNIFORM;
    if (uniform || (all && is_even(x, &d->a, row->a) && is_even(x, &d->b, row->b) && is_even(x, &d->c, row->c))) {
        uint64_t value = compute_once(x, row, &from, d->flags);
        for (uint32_t k = 0; k < row->d; k++, value >>= 32) {
            gpc_operand_t to = gpc_operand_next(x, d->destination, k);
            if (uniform) {
                gpc_uniforms(x)[to.number] = (uint32_t) value;
            } else {
                gpc_write_word(x, &to, active, (uint32_t) value);
            }
        }
    } else {
        uint32_t result[2][GPC_MAX_LANES];
        compute_lanes(x, d, &from, result);
        for (uint32_t k = 0; k < row->d; k++) {
            gpc_operand_t to = gpc_operand_next(x, d->destination, k);
            if (all && gpc_lanes_even(result[k], x->launch->lanes)) { /* e.g. the upper words of addresses */
                gpc_write_word(x, &to, active, result[k][0]);
            } else {
                gpc_write_lanes(x, &to, active, result[k]);
            }
        }
    }
    gpc_core_set_destination(x, &d->destination, row->d, x->now + d->latency);
}
