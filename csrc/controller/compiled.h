/* compiled.h: one look-up in a table, written once, for tables that are compiled and for those that are interpreted.
 *
 * GPC_COMPILED before the definition of a table makes two functions of the table's declaration: a switch over its cells, with the
 * actions of each, and a look-up that has the classifier and this switch inline. The table names both:
 *
 *     GPC_COMPILED(static, l1, L1, l1_table, l1_classify)
 *     static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify), .compiled = &l1_compiled};
 *
 * GPC_COMPILED_PATCHES does so for a table whose base is compiled. A table with neither works as well: gpc_fsm_look_up interprets it, as it
 * interprets all tables in the explorer's world.
 */
#ifndef GPC_CONTROLLER_COMPILED_H
#define GPC_CONTROLLER_COMPILED_H

#include "controller/controller.h"

/* ---- what is rare or shared, in fsm.c -------------------------------------------------------------------------------------- */

/* Of a table with its state in several arrays: read beside the first tag that is present. */
uint8_t gpc_walk_state_in_arrays(const gpc_step_t *x);
GPC_MUST_CHECK int gpc_walk_impossible(gpc_step_t *x, uint8_t event);
GPC_MUST_CHECK int gpc_walk_lost(gpc_step_t *x, uint8_t next, const char *what);
/* The result of a cell without a transition. */
GPC_MUST_CHECK int gpc_walk_refuse(gpc_step_t *x, const gpc_plan_t *plan, uint8_t event);
/* The result of a cell one of whose actions returned `status`, which is not GPC_OK. */
GPC_MUST_CHECK int gpc_walk_stop(gpc_step_t *x, uint8_t next, bool first, int status);
GPC_MUST_CHECK int gpc_walk_check_outer_steps(gpc_step_t *x, const gpc_plan_t *plan);
GPC_MUST_CHECK int gpc_walk_take_then(gpc_step_t *x);
/* Takes an MSHR for a line or words that enter the transient state `next`. */
GPC_MUST_CHECK int gpc_walk_take_entry(gpc_step_t *x, uint8_t next);
GPC_MUST_CHECK int gpc_walk_set_line_state(gpc_step_t *x, const gpc_plan_t *plan);
GPC_MUST_CHECK int gpc_walk_set_word_states(gpc_step_t *x, const gpc_plan_t *plan);
GPC_MUST_CHECK int gpc_walk_set_entry_state(gpc_step_t *x, const gpc_plan_t *plan);

/* ---- the look-up ----------------------------------------------------------------------------------------------------------
 * `table`: of a compiled table its declaration, whose fields the compiler knows, else x->table. What a base may have declared for it is
 * read of x->table, which is whole. */

static inline __attribute__((always_inline)) uint8_t
gpc_walk_line_state(const gpc_step_t *x, const gpc_table_t *table)
{
    if (x->mshr != GPC_NONE) {
        return gpc_mshr_at(&x->unit->mshrs, x->mshr)->state;
    }
    if (table->arrays) {
        return gpc_walk_state_in_arrays(x);
    }
    return x->way != GPC_NONE ? x->unit->arrays[x->array].tags[x->way].state : table->initial;
}

static inline __attribute__((always_inline)) uint8_t
gpc_walk_word_state(const gpc_step_t *x, const gpc_table_t *table)
{
    if (x->mshr != GPC_NONE) {
        uint8_t held = gpc_mshr_word_states(&x->unit->mshrs, x->mshr)[x->word];
        if (held) {
            return (uint8_t) (held - 1); /* 0: this word is not part of the transaction */
        }
    }
    return x->way != GPC_NONE ? gpc_tags_word_states(&x->unit->arrays[x->array], x->way)[x->word] : table->initial;
}

static inline __attribute__((always_inline)) uint8_t
gpc_walk_state(const gpc_step_t *x, const gpc_table_t *table)
{
    switch (table->object) {
        case GPC_OVER_LINES:
            return gpc_walk_line_state(x, table);
        case GPC_OVER_WORDS:
            return gpc_walk_word_state(x, table);
        case GPC_OVER_ENTRIES:
        case GPC_OVER_UNIT:
            break;
    }
    return x->slot ? *x->slot : table->initial; /* no entry yet */
}

static inline __attribute__((always_inline)) int
gpc_walk_set_state(gpc_step_t *x, const gpc_table_t *table, const gpc_plan_t *plan)
{
    switch (table->object) {
        case GPC_OVER_LINES:
            return gpc_walk_set_line_state(x, plan);
        case GPC_OVER_WORDS:
            return gpc_walk_set_word_states(x, plan);
        case GPC_OVER_ENTRIES:
            return gpc_walk_set_entry_state(x, plan);
        case GPC_OVER_UNIT:
            break;
    }
    *x->slot = plan->next;
    return GPC_OK;
}

_Static_assert(GPC_MAX_ACTIONS == 6, "gpc_walk_actions takes six");
/* The actions of a cell, in order. Not a loop: GCC would not unroll it for a cell that it knows. */
#define GPC_WALK_ACTION_(i)                                                                                            \
    if (!cell->actions[i]) {                                                                                           \
        return GPC_OK;                                                                                                 \
    }                                                                                                                  \
    status = cell->actions[i]->run(x);                                                                                 \
    if (status != GPC_OK) {                                                                                            \
        return gpc_walk_stop(x, cell->next, i == 0, status);                                                           \
    }                                                                                                                  \
    x->fresh = false; /* it has had an effect */
static inline __attribute__((always_inline)) int
gpc_walk_actions(gpc_step_t *x, const gpc_cell_t *cell)
{
    int status;

    GPC_WALK_ACTION_(0)
    GPC_WALK_ACTION_(1)
    GPC_WALK_ACTION_(2)
    GPC_WALK_ACTION_(3)
    GPC_WALK_ACTION_(4)
    GPC_WALK_ACTION_(5)
    return GPC_OK;
}

static inline __attribute__((always_inline)) int
gpc_walk_carry_out(gpc_step_t *x, const gpc_table_t *table, const gpc_plan_t *plan,
                   int (*act)(gpc_step_t *x, uint32_t code))
{
    gpc_controller_t *unit = x->unit;
    int status = unit->step ? gpc_walk_check_outer_steps(x, plan) : GPC_OK;

    if (status == GPC_OK && plan->opens && x->mshr == GPC_NONE && table->object <= GPC_OVER_WORDS) {
        status = gpc_walk_take_entry(x, plan->next);
    }
    if (status != GPC_OK) {
        return status;
    }
    x->outer = unit->step;
    unit->step = x;
    status = act(x, plan->code);
    unit->step = x->outer;
    if (status == GPC_OK) {
        x->fresh = false;
        status = gpc_walk_set_state(x, table, plan);
    }
    return x->then && status == GPC_OK ? gpc_walk_take_then(x) : status;
}

static inline __attribute__((always_inline)) int
gpc_walk(gpc_step_t *x, const gpc_table_t *table, bool may_expire, gpc_event_id_t (*classify)(const gpc_step_t *x),
         int (*act)(gpc_step_t *x, uint32_t code))
{
    bool leaves = x->cause == GPC_MSG_EVICT && x->way != GPC_NONE;

    for (uint32_t turn = 0; turn < 16; turn++) {
        x->state = gpc_walk_state(x, table);
        gpc_event_id_t named = gpc_fsm_event_by(x, may_expire, classify);
        gpc_event_id_t event = named & 0x7F;
        if (event >= table->num_events) {
            return gpc_walk_impossible(x, event);
        }
        size_t cell = gpc_fsm_cell_number(table, x->state, event);
        const gpc_plan_t *plan = &x->table->plans[cell];
        int status = GPC_OBSERVE(&x->unit->tap, CELL, cell, x, &x->table->cells[cell], event);
        if (status) {
            return status;
        }
        if (plan->kind != GPC_CELL_GO && plan->kind != GPC_CELL_REDO) {
            return gpc_walk_refuse(x, plan, event);
        }
        status = gpc_walk_carry_out(x, table, plan, act);
        if (status != GPC_OK) {
            return status;
        }
        x->unit->counts[x->table_number][cell]++;
        if ((plan->kind == GPC_CELL_GO && !(named & 0x80)) || (leaves && x->way == GPC_NONE)) {
            return GPC_OK; /* a pre-event has already freed the way */
        }
    }
    return gpc_walk_lost(x, x->state, "the same cause is classified without end");
}

/* ---- compiling a table ------------------------------------------------------------------------------------------------------- */

/* linkage: static, or extern for a table that a header declares. prefix: of GPC_FSM. */
#define GPC_COMPILED(linkage, name, prefix, table_cells, table_classify)                                               \
    linkage const gpc_table_t name;                                                                                    \
    GPC_COMPILED_CODE(name, name, prefix, table_cells, table_classify)
#define GPC_COMPILED_PATCHES(linkage, name, base_table, table_patches, table_classify)                                 \
    linkage const gpc_table_t name;                                                                                    \
    static inline __attribute__((always_inline)) int name##_code(gpc_step_t *x, uint32_t code)                         \
    {                                                                                                                  \
        enum { num = GPC_COUNT_OF(table_patches) };                                                                    \
        _Static_assert(num <= 64, "more patches than GPC_COMPILED_PATCHES has cases for");                             \
        switch (code) { GPC_CODES_64_((table_patches), .cell, num, 0) }                                                \
        return (base_table).compiled->act(x, code - num);                                                              \
    }                                                                                                                  \
    GPC_COMPILED_LOOK_UP_(name, name, table_classify)
/* For a table that is declared already, as an element of an array. */
#define GPC_COMPILED_CODE(name, table, prefix, table_cells, table_classify)                                            \
    static inline __attribute__((always_inline)) int name##_code(gpc_step_t *x, uint32_t code)                         \
    {                                                                                                                  \
        enum { num = prefix##_NUM_STATES * prefix##_NUM_EVENTS };                                                      \
        _Static_assert(num <= 320, "more cells than GPC_COMPILED has cases for");                                      \
        switch (code) {                                                                                                \
            GPC_CODES_64_((&(table_cells)[0][0]), , num, 0)                                                            \
            GPC_CODES_64_((&(table_cells)[0][0]), , num, 64)                                                           \
            GPC_CODES_64_((&(table_cells)[0][0]), , num, 128)                                                          \
            GPC_CODES_64_((&(table_cells)[0][0]), , num, 192)                                                          \
            GPC_CODES_64_((&(table_cells)[0][0]), , num, 256)                                                          \
        }                                                                                                              \
        return GPC_OK;                                                                                                 \
    }                                                                                                                  \
    GPC_COMPILED_LOOK_UP_(name, table, table_classify)
#define GPC_COMPILED_LOOK_UP_(name, table, table_classify)                                                             \
    static int name##_look_up(gpc_step_t *x)                                                                           \
    {                                                                                                                  \
        return gpc_walk(x, &(table), (table).base || (table).expiry.states, table_classify, name##_code);              \
    }                                                                                                                  \
    static int name##_act(gpc_step_t *x, uint32_t code) /* for patches, which call it, and for tests */                \
    {                                                                                                                  \
        return name##_code(x, code);                                                                                   \
    }                                                                                                                  \
    static const gpc_compiled_t name##_compiled = {name##_look_up, name##_act, table_classify, &(table)};
/* The cases of codes `i` and following: the actions of of[i], or of its member; none from `num` on. */
#define GPC_CODE_(of, member, num, i)                                                                                  \
    case i:                                                                                                            \
        if ((i) < (num)) {                                                                                             \
            return gpc_walk_actions(x, &(of)[(i) < (num) ? (i) : 0] member);                                           \
        }                                                                                                              \
        break;
#define GPC_CODES_8_(of, member, num, i)                                                                               \
    GPC_CODE_(of, member, num, (i)) GPC_CODE_(of, member, num, (i) + 1) GPC_CODE_(of, member, num, (i) + 2)            \
    GPC_CODE_(of, member, num, (i) + 3) GPC_CODE_(of, member, num, (i) + 4) GPC_CODE_(of, member, num, (i) + 5)        \
    GPC_CODE_(of, member, num, (i) + 6) GPC_CODE_(of, member, num, (i) + 7)
#define GPC_CODES_64_(of, member, num, i)                                                                              \
    GPC_CODES_8_(of, member, num, (i)) GPC_CODES_8_(of, member, num, (i) + 8)                                          \
    GPC_CODES_8_(of, member, num, (i) + 16) GPC_CODES_8_(of, member, num, (i) + 24)                                    \
    GPC_CODES_8_(of, member, num, (i) + 32) GPC_CODES_8_(of, member, num, (i) + 40)                                    \
    GPC_CODES_8_(of, member, num, (i) + 48) GPC_CODES_8_(of, member, num, (i) + 56)

#endif
