/* fsm.h: protocols as tables: named states, named events, cells [state][event]; the macros that make a file read like
 * the paper's table, and the function that executes a cell.
 *
 * A table is over lines, words, entries (of a store buffer or queue) or the unit itself. `.causes` names the event of
 * each cause (a message, an eviction, a timer) that has one; `classify` names that of any other, and evaluates every
 * guard. A cell is
 *
 *     GO(next, act_a, act_b)      a transition: the actions in order, then the next state
 *     GO_HARDENED(next, ...)      the same, where this project deviates from or adds to the paper
 *     REDO(next, ...)             the actions and the next state; then the same cause is classified again
 *     HOLD_LINE                   this request, and later ones of its source and network to the line, wait until the
 *                                 line's state changes
 *     HOLD_QUEUE                  the queue that it heads waits
 *     HOLD_QUEUE_AFTER(act_a)     the same, after the action, which begins what it waits for
 *     NOT_A_VICTIM                the replacement must choose another way (lines in a transaction never get an EVICT)
 *
 * and every other cell is impossible: entering it is a reported protocol error, never undefined behaviour.
 * The first action of a cell may refuse by returning GPC_HOLD before any effect on the line (no way, no room); the cell
 * then acts as HOLD_QUEUE. A later action that refuses is a protocol error.
 *
 * A table that differs from another one in some cells names it as its base and lists them, each with its reason:
 *
 *     static const gpc_patch_t literal_patches[] = {
 *         {L2_P, L2_GETX, GO(L2_P, act_write), "table 2 prints no other next state"},
 *     };
 *
 * Over entries, HOLD_LINE of an entry's REPLAY makes the entry wait for the line's transaction in the controller's
 * first table that has one.
 */
#ifndef GPC_CONTROLLER_FSM_H
#define GPC_CONTROLLER_FSM_H

#include "base/describe.h"

typedef enum { GPC_STABLE, GPC_TRANSIENT_CACHE, GPC_TRANSIENT_COHERENCE } gpc_state_kind_t;
typedef enum { GPC_OVER_LINES, GPC_OVER_WORDS, GPC_OVER_ENTRIES, GPC_OVER_UNIT } gpc_table_object_t;

typedef enum {
    GPC_CELL_IMPOSSIBLE, /* must be 0: cells not named */
    GPC_CELL_GO,
    GPC_CELL_REDO,
    GPC_CELL_HOLD_LINE,
    GPC_CELL_HOLD_QUEUE,
    GPC_CELL_NOT_A_VICTIM
} gpc_cell_kind_t;

/* Result of a step or an action that is not GPC_OK. Negative: an error. */
enum { GPC_HOLD = 1, GPC_HELD_LINE = 2, GPC_HELD_QUEUE = 3, GPC_UNFIT_VICTIM = 4 };

typedef uint8_t gpc_event_id_t;
#define GPC_NO_EVENT ((gpc_event_id_t) 0x7F)
/* Execute the event's cell first, then classify again. */
#define GPC_PRE_EVENT(event) ((gpc_event_id_t) ((event) | 0x80))
static inline bool
gpc_is_pre_event(gpc_event_id_t named)
{
    return named & 0x80;
}
/* The event itself. */
static inline gpc_event_id_t
gpc_event_of(gpc_event_id_t named)
{
    return named & 0x7F;
}

typedef struct gpc_step gpc_step_t;

/* One effect of a cell. Tables print the part of its name after "act_". */
typedef struct {
    const char *name;
    const char *text;
    int (*run)(gpc_step_t *x);
} gpc_action_t;

/* GPC_ACTION(act_hit, "complete the load from the line") { body using x }: for the cells of this file. An array of one,
 * so that cells name it without an operator; an unused one is a compile error. */
#define GPC_ACTION(id, text)                                                                       \
    static int id##_run(gpc_step_t *x);                                                            \
    static const gpc_action_t id[1] = {{#id, text, id##_run}};                                     \
    static int id##_run(gpc_step_t *x)
/* The same for the cells of several files; a header declares it. */
#define GPC_SHARED_ACTION(id, text)                                                                \
    static int id##_run(gpc_step_t *x);                                                            \
    const gpc_action_t id[1] = {{#id, text, id##_run}};                                            \
    static int id##_run(gpc_step_t *x)
#define GPC_DECLARE_ACTION(id) extern const gpc_action_t id[1]
#define GPC_API_ACTION(id) GPC_API GPC_DECLARE_ACTION(id) /* for protocols outside the tree as well */

/* Calls an action from another one. */
static inline int
gpc_act(const gpc_action_t *action, gpc_step_t *x)
{
    return action->run(x);
}

#define GPC_MAX_ACTIONS 6

typedef struct gpc_cell {
    uint8_t kind; /* gpc_cell_kind_t */
    uint8_t next;
    bool hardened;
    const gpc_action_t *actions[GPC_MAX_ACTIONS + 1]; /* ends with NULL */
} gpc_cell_t;

/* What a step reads of a cell. gpc_protocol_resolve derives it. */
typedef struct {
    uint8_t kind, next;
    bool opens; /* the next state is transient: lines and words need an MSHR */
    int (*run[GPC_MAX_ACTIONS + 1])(gpc_step_t *x);
} gpc_plan_t;

typedef struct {
    const char *name;
    gpc_state_kind_t kind;
    const char *text;
} gpc_state_info_t;

typedef struct {
    const char *name;
    const char *text;
} gpc_event_info_t;

enum { GPC_MAX_CAUSES = 64 };
/* Of a patched table's `causes` and `expiry.states`: none, whatever its base declares. */
enum { GPC_NO_CAUSE = 0xFF };
#define GPC_NO_STATES (UINT32_C(1) << 31)
#define ON(cause, event) [cause] = (event) + 1
/* Up to six messages and events that have the same names: ON_SAME(SI, L1, DATA, RENEWED) is ON(SI_DATA, L1_DATA),
 * ON(SI_RENEWED, L1_RENEWED). */
#define ON_1_(m, e, a) ON(m##_##a, e##_##a)
#define ON_2_(m, e, a, ...) ON(m##_##a, e##_##a), ON_1_(m, e, __VA_ARGS__)
#define ON_3_(m, e, a, ...) ON(m##_##a, e##_##a), ON_2_(m, e, __VA_ARGS__)
#define ON_4_(m, e, a, ...) ON(m##_##a, e##_##a), ON_3_(m, e, __VA_ARGS__)
#define ON_5_(m, e, a, ...) ON(m##_##a, e##_##a), ON_4_(m, e, __VA_ARGS__)
#define ON_6_(m, e, a, ...) ON(m##_##a, e##_##a), ON_5_(m, e, __VA_ARGS__)
#define ON_CHOSEN_(a, b, c, d, e, f, chosen, ...) chosen
#define ON_SAME(messages, events, ...)                                                                                 \
    ON_CHOSEN_(__VA_ARGS__, ON_6_, ON_5_, ON_4_, ON_3_, ON_2_, ON_1_, )(messages, events, __VA_ARGS__)

/* A cell in which a table differs from its base, and why. */
typedef struct {
    uint8_t state, event;
    gpc_cell_t cell;
    const char *reason; /* NULL: that of the patch before it */
} gpc_patch_t;

typedef struct gpc_table {
    const char *name; /* "L1", "L1.store_buffer" */
    gpc_table_object_t object;
    uint8_t num_states, num_events, initial;
    bool keeps_initial; /* a line in the initial state may keep its way (RCC's retained copies) */
    const gpc_state_info_t *states;
    const gpc_event_info_t *events;
    /* Bit a: array a also stores the state of the table's lines (an L2 and its directory). It is read in order of
     * array from the first that has the line, and written to all that have it. 0: the table's own array only. */
    uint8_t arrays;
    /* Over words, bit s: a word in state s has its data in the line. The explorer overwrites the data of other words:
     * unused words do not multiply states, and a cell that reads one is caught. 0: all states. */
    uint32_t data_states;
    const gpc_cell_t *cells;      /* [num_states][num_events]; NULL: those of `base`, but for the patches */
    const gpc_plan_t *plans;      /* [num_states][num_events], of a whole table */
    const struct gpc_table *base; /* its states and events are the first ones of this table */
    const char *base_protocol;    /* the id of a protocol that has the base */
    const gpc_patch_t *patches;
    uint16_t num_patches;
    /* The event of a cause that always has the same one, plus 1: .causes = {ON(GPC_MSG_EVICT, L1_EVICT), ..}. 0:
     * classify names it, and has no case for the others; NULL: no event. */
    uint8_t causes[GPC_MAX_CAUSES];
    /* May read the step, the line, the transaction, fields, time and options; may be called again for the same cause,
     * so it must not write, count or send. A line that is not present has no fields: look at x->state first. */
    gpc_event_id_t (*classify)(const gpc_step_t *x);
    /* Over words: x->word and others that classify gives the same event if they have its state; it is then not called
     * for each. NULL: it is. */
    gpc_mask_t (*alike)(const gpc_step_t *x);
    /* Over words: whether the message is not split, since its words are accessed or named at once: if the cell of one
     * of its words holds, it waits as a whole; else the actions of its cells have one message. NULL: no message is. */
    bool (*whole)(const gpc_step_t *x);
    /* Over words, before the step of a message: may keep it (x->kept, no x->mask), or add to it what was kept. NULL:
     * nothing does. */
    int (*gather)(gpc_step_t *x);
    /* Bit s of `states`: a line in state s whose lease has ended takes this event before any other (lease.h); not
     * before those of the causes `except`, bit c: cause c, a common one. With `instead`, the event is that of these
     * causes, and classify gives the others'. */
    struct {
        uint32_t states;
        gpc_event_id_t event;
        uint32_t except, instead;
    } expiry;
} gpc_table_t;

/* ---- declaring a table ------------------------------------------------------------------------------------------- */

#define GPC_FSM_STATE_ENUM_(name, kind, text) name,
#define GPC_FSM_EVENT_ENUM_(name, text) name,
#define GPC_FSM_STATE_INFO_(name, kind, text) {#name, GPC_##kind, text},
#define GPC_FSM_EVENT_INFO_(name, text) {#name, text},

/* GPC_FSM(L1, L1_STATES, L1_EVENTS): enumerators as the lists name them (L1_I, L1_LOAD; printed without the prefix),
 * L1_NUM_STATES, L1_NUM_EVENTS and the descriptions. */
#define GPC_FSM(prefix, STATES, EVENTS)                                                            \
    enum { STATES(GPC_FSM_STATE_ENUM_) prefix##_NUM_STATES };                                      \
    enum { EVENTS(GPC_FSM_EVENT_ENUM_) prefix##_NUM_EVENTS };                                      \
    static const gpc_state_info_t prefix##_state_info[] = {STATES(GPC_FSM_STATE_INFO_)};           \
    static const gpc_event_info_t prefix##_event_info[] = {EVENTS(GPC_FSM_EVENT_INFO_)};

/* .initial is the first state of the list. */
#define GPC_TABLE(table_name, over, prefix, table_cells, table_classify)                           \
    .name = (table_name), .object = GPC_##over, .num_states = prefix##_NUM_STATES,                 \
    .num_events = prefix##_NUM_EVENTS, .states = prefix##_state_info, .events = prefix##_event_info, \
    .cells = &(table_cells)[0][0], .classify = (table_classify)

/* The cells are those of `base_table`, a table of the protocol `protocol_id`, but for the patches; so are causes and
 * expiry where this table declares none. */
#define GPC_PATCHED_TABLE(table_name, over, prefix, protocol_id, base_table, table_patches, table_classify) \
    .name = (table_name), .object = GPC_##over, .num_states = prefix##_NUM_STATES,                 \
    .num_events = prefix##_NUM_EVENTS, .states = prefix##_state_info, .events = prefix##_event_info, \
    .base = &(base_table), .base_protocol = (protocol_id), .patches = (table_patches),             \
    .num_patches = GPC_COUNT_OF(table_patches), .classify = (table_classify)

#define GPC_FSM_FIRST_(first, ...) first
#define GPC_FSM_REST_(first, ...) __VA_ARGS__
#define GPC_FSM_CELL_(cell_kind, is_hardened, ...)                                                 \
    {                                                                                              \
        .kind = (cell_kind), .next = GPC_FSM_FIRST_(__VA_ARGS__, 0), .hardened = (is_hardened),    \
        .actions = {GPC_FSM_REST_(__VA_ARGS__, NULL)}                                              \
    }
#define GO(...) GPC_FSM_CELL_(GPC_CELL_GO, false, __VA_ARGS__)
#define GO_HARDENED(...) GPC_FSM_CELL_(GPC_CELL_GO, true, __VA_ARGS__)
#define REDO(...) GPC_FSM_CELL_(GPC_CELL_REDO, false, __VA_ARGS__)
#define HOLD_LINE {.kind = GPC_CELL_HOLD_LINE}
#define HOLD_QUEUE {.kind = GPC_CELL_HOLD_QUEUE}
#define HOLD_QUEUE_AFTER(action) {.kind = GPC_CELL_HOLD_QUEUE, .actions = {action, NULL}}
#define NOT_A_VICTIM {.kind = GPC_CELL_NOT_A_VICTIM}
#define IMPOSSIBLE {.kind = GPC_CELL_IMPOSSIBLE} /* for a patch; a cell that is not named is impossible too */

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* The argument of classify and actions: the cause, the object, and the location of its state. Filled in by
 * controller.c. */
struct gpc_step {
    struct gpc_controller *unit;
    const gpc_table_t *table;
    uint8_t table_number; /* index among the controller's tables */
    uint8_t array;        /* index of the tag array of its lines */
    uint8_t cause;        /* the message's type, or GPC_MSG_EVICT and the like */
    uint8_t state;        /* of the object, before the cell */
    uint8_t word;         /* over words: a word of the mask, for classify */
    gpc_index_t message;  /* or GPC_NONE. controller.c frees it unless an action keeps it */
    gpc_msg_t *msg;       /* that message, or a blank one (gpc_has_message) */
    gpc_address_t line;
    gpc_mask_t mask;   /* over words: the words of this cell; else the message's */
    gpc_index_t way;   /* in the array, or GPC_NONE */
    gpc_index_t mshr;  /* MSHR, or GPC_NONE */
    gpc_index_t entry; /* over entries: the entry */
    uint8_t *slot;     /* over entries and the unit: location of the state */
    uint16_t warp;     /* of gpc_controller_order: the warp that releases or acquires */
    uint8_t scope;     /* and its scope, gpc_scope_t */
    bool kept;         /* an action has taken ownership of the message (a list, a queue, a completion) */
    bool fresh;        /* the MSHR was allocated for this cell, which has had no effect yet */
    gpc_step_t *outer; /* the step whose action takes this one, or NULL */
    uint8_t then; /* over lines: the cause of a walk that met this line, taken once the cell has its state; 0: none */
};

/* One cell, of x's state and, over words, for x->mask: classify, then the cell; repeated after a pre-event or REDO. */
GPC_MUST_CHECK int gpc_fsm_step_one(gpc_step_t *x);
GPC_MUST_CHECK int gpc_fsm_step_over_words(gpc_step_t *x);

/* classify, cell, actions, next state; pre-events and REDO included (an EVICT is complete once the line has left its
 * way). Over words: one cell per distinct (state, event) among the masked words. A message that concerns several cells
 * is split into one for each, with its lane list; equal messages that they send are combined at the end of the step. An
 * EVICT checks all words before it moves the first, and a line without words frees its way. A step that an action of
 * another takes for the same object (line, words, entry or unit) may not act or change the state, which the outer cell
 * would overwrite: an error. GPC_OK, GPC_HELD_LINE, GPC_HELD_QUEUE, GPC_UNFIT_VICTIM, or an error, reported in the
 * controller's failure with the state of both controllers. */
static inline int
gpc_fsm_step(gpc_step_t *x)
{
    return x->table->object == GPC_OVER_WORDS ? gpc_fsm_step_over_words(x) : gpc_fsm_step_one(x);
}

/* The number of a cell in its table. */
static inline size_t
gpc_fsm_cell_number(const gpc_table_t *table, uint8_t state, uint8_t event)
{
    return (size_t) state * table->num_events + event;
}

/* A cell of a table that is whole, as those of a built controller are. */
static inline const gpc_cell_t *
gpc_fsm_cell(const gpc_table_t *table, uint8_t state, uint8_t event)
{
    return &table->cells[gpc_fsm_cell_number(table, state, event)];
}

static inline const gpc_plan_t *
gpc_fsm_plan(const gpc_table_t *table, uint8_t state, uint8_t event)
{
    return &table->plans[gpc_fsm_cell_number(table, state, event)];
}

/* ---- tables as they are declared: with or without a base --------------------------------------------------------- */

/* A cell of any table: that of the last patch for it, else the base's. */
GPC_API const gpc_cell_t *gpc_fsm_declared_cell(const gpc_table_t *table, uint8_t state, uint8_t event);
/* Whether some state has a cell for the event. */
bool gpc_fsm_takes(const gpc_table_t *table, gpc_event_id_t event);
/* The event of a declared cause, plus 1, or 0: the table's own, else the base's. */
uint8_t gpc_fsm_declared_cause(const gpc_table_t *table, uint32_t cause);
/* The reason of a patch, its own or that of an earlier one. */
const char *gpc_fsm_reason(const gpc_table_t *table, uint16_t patch);
/* Number of transitions as the papers count them; `hardened`: those that this project added. */
uint32_t gpc_fsm_transitions(const gpc_table_t *table, bool hardened);
/* "act_a, act_b": the cell's actions, as text; empty for none. */
void gpc_fsm_print_actions(gpc_text_t *out, const gpc_cell_t *cell);
/* JSON object {name, object, states: [{name, kind, text}], stable, events, transitions, hardened, table: [[..]],
 * hardened_cells, base: the base's protocol or "", patches: [[state, event, reason]], actions: [{name, text}]}. */
void gpc_fsm_print(gpc_text_t *out, const gpc_table_t *table);
/* Checks that every cell's next state exists, names are unique, some cell leaves each transient state that one enters,
 * and each patch changes a cell, no two the same one. 0, or a description of the errors in `out`. */
GPC_MUST_CHECK int gpc_fsm_check(const gpc_table_t *table, gpc_text_t *out);

#endif
