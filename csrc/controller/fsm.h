/* fsm.h: protocols are tables. Named states, named events, cells [state][event]; the macros that make a file read like the
 * paper's table, and the one function that carries a cell out.
 *
 * A table is over lines, words, entries (of a store buffer or queue) or the unit itself. `classify` names the event of a cause
 * (a message, an eviction, a timer); every guard is resolved there. A cell is
 *
 *     GO(next, act_a, act_b)      a transition: the actions in order, then the next state
 *     GO_HARDENED(next, ...)      the same, where this project deviates from or adds to the paper
 *     REDO(next, ...)             the actions and the next state, then the same cause is classified again
 *     HOLD_LINE                   this request waits, and later ones of its source and network to the line behind it,
 *                                 until the line's state changes
 *     HOLD_QUEUE                  the whole queue that it heads waits
 *     NOT_A_VICTIM                the replacement has to choose another way (a line in a transaction is never asked)
 *
 * and every cell not named is impossible: entering it is a reported protocol error, never undefined behaviour.
 * The first action of a cell may refuse by returning GPC_HOLD before it had any effect on the line (no way, no room):
 * HOLD_QUEUE then. A later action that refuses is a protocol error.
 *
 * Over entries, HOLD_LINE of an entry's own turn (a REPLAY) lets the entry wait for the line's transaction in the controller's
 * first table that has one.
 */
#ifndef GPC_CONTROLLER_FSM_H
#define GPC_CONTROLLER_FSM_H

#include "base/describe.h"

typedef enum { GPC_STABLE, GPC_TRANSIENT_CACHE, GPC_TRANSIENT_COHERENCE } gpc_state_kind_t;
typedef enum { GPC_OVER_LINES, GPC_OVER_WORDS, GPC_OVER_ENTRIES, GPC_OVER_UNIT } gpc_table_object_t;

typedef enum {
    GPC_CELL_IMPOSSIBLE, /* must be 0: what is not named */
    GPC_CELL_GO,
    GPC_CELL_REDO,
    GPC_CELL_HOLD_LINE,
    GPC_CELL_HOLD_QUEUE,
    GPC_CELL_NOT_A_VICTIM
} gpc_cell_kind_t;

/* What a step, or an action, says. Negative: an error. */
enum { GPC_OK = 0, GPC_HOLD = 1, GPC_HELD_LINE = 2, GPC_HELD_QUEUE = 3, GPC_UNFIT_VICTIM = 4 };

typedef uint8_t gpc_event_id_t;
#define GPC_NO_EVENT ((gpc_event_id_t) 0x7F)
#define GPC_PRE_EVENT(event) ((gpc_event_id_t) ((event) | 0x80)) /* take this first, then classify again */

typedef struct gpc_step gpc_step_t;

/* One effect of a cell. Tables print what follows "act_" in its name. */
typedef struct {
    const char *name;
    const char *text;
    int (*run)(gpc_step_t *x);
} gpc_action_t;

/* GPC_ACTION(act_hit, "the load completes from the line") { body using x }: for the cells of this file. An array of one, so that
 * cells name it without an operator; one that no cell names is a compile error. */
#define GPC_ACTION(id, text)                                                                       \
    static int id##_run(gpc_step_t *x);                                                            \
    static const gpc_action_t id[1] = {{#id, text, id##_run}};                                     \
    static int id##_run(gpc_step_t *x)
/* The same for the cells of several files, which see it declared. */
#define GPC_SHARED_ACTION(id, text)                                                                \
    static int id##_run(gpc_step_t *x);                                                            \
    const gpc_action_t id[1] = {{#id, text, id##_run}};                                            \
    static int id##_run(gpc_step_t *x)
#define GPC_DECLARE_ACTION(id) extern const gpc_action_t id[1]

/* An action as a part of another one. */
static inline int
gpc_act(const gpc_action_t *action, gpc_step_t *x)
{
    return action->run(x);
}

#define GPC_MAX_ACTIONS 6

typedef struct {
    uint8_t kind; /* gpc_cell_kind_t */
    uint8_t next;
    bool hardened;
    const gpc_action_t *actions[GPC_MAX_ACTIONS + 1]; /* ends with NULL */
} gpc_cell_t;

typedef struct {
    const char *name;
    gpc_state_kind_t kind;
    const char *text;
} gpc_state_info_t;

typedef struct {
    const char *name;
    const char *text;
} gpc_event_info_t;

typedef struct {
    const char *name; /* "L1", "L1.store_buffer" */
    gpc_table_object_t object;
    uint8_t num_states, num_events, initial;
    bool keeps_initial; /* a line may stay in its way in the initial state (RCC's retained copies) */
    const gpc_state_info_t *states;
    const gpc_event_info_t *events;
    /* Bit a: the state of its lines is also beside the tags of array a (an L2 and its directory). It is looked up in order of
     * array, the first that has the line, and written to all that have it. 0: the table's own array only. */
    uint8_t arrays;
    const gpc_cell_t *cells; /* [num_states][num_events] */
    gpc_event_id_t (*classify)(const gpc_step_t *x);
} gpc_table_t;

/* ---- how a file declares its table ---------------------------------------------------------------------------------- */

#define GPC_FSM_STATE_ENUM_(name, kind, text) name,
#define GPC_FSM_EVENT_ENUM_(name, text) name,
#define GPC_FSM_STATE_INFO_(name, kind, text) {#name, GPC_##kind, text},
#define GPC_FSM_EVENT_INFO_(name, text) {#name, text},

/* GPC_FSM(L1, L1_STATES, L1_EVENTS): enumerators as the lists name them (L1_I, L1_LOAD: the prefix is left out in print),
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
#define NOT_A_VICTIM {.kind = GPC_CELL_NOT_A_VICTIM}

/* ---- one step -------------------------------------------------------------------------------------------------------- */

/* What classify and the actions see: the cause, the object, and where its state lives. Filled in by controller.c. */
struct gpc_step {
    struct gpc_controller *unit;
    const gpc_table_t *table;
    uint8_t table_number; /* of the controller's tables */
    uint8_t array;        /* which of the controller's tag arrays its lines are in */
    uint8_t cause;        /* the message's type, or GPC_MSG_EVICT and the like */
    uint8_t state;        /* of the object, before the cell */
    uint8_t word;         /* over words: a word of the mask, for classify */
    gpc_index_t message;  /* or GPC_NONE. In the step's hand: what no action keeps, controller.c frees */
    gpc_msg_t *msg;       /* that message, or NULL */
    gpc_address_t line;
    gpc_mask_t mask;   /* over words: those that this cell is about; else the message's */
    gpc_index_t way;   /* in the array, or GPC_NONE */
    gpc_index_t mshr;  /* transaction entry, or GPC_NONE */
    gpc_index_t entry; /* over entries: which */
    uint8_t *slot;     /* over entries and the unit: where the state is kept */
    uint16_t warp;     /* of gpc_controller_order: whose release or acquire it is */
    uint8_t scope;     /* and its scope, gpc_scope_t */
    bool kept;         /* an action has taken the message over (a list, a queue, a completion) */
    bool fresh;        /* the transaction's entry was taken for this cell, which has had no effect yet */
};

/* classify, cell, actions, next state; pre-events and REDO included (an EVICT is done as soon as the line has left its way).
 * Over words: one look-up for each distinct (state, event) among the masked words. A message that several cells are about is
 * split into one for each, with its lane list; what they send alike leaves as one message at the step's end. An EVICT asks all
 * words before it moves the first, and a line without words gives its way back. GPC_OK, GPC_HELD_LINE, GPC_HELD_QUEUE, GPC_UNFIT_VICTIM, or an
 * error, told on the controller's failure with both sides' state. */
GPC_MUST_CHECK int gpc_fsm_step(gpc_step_t *x);

static inline const gpc_cell_t *
gpc_fsm_cell(const gpc_table_t *table, uint8_t state, uint8_t event)
{
    return &table->cells[(size_t) state * table->num_events + event];
}

/* Cells that count as transitions as the papers count them; with hardened ones: those this project added. */
uint32_t gpc_fsm_transitions(const gpc_table_t *table, bool hardened);
/* "act_a, act_b": the cell's actions, for people; nothing for none. */
void gpc_fsm_print_actions(gpc_text_t *out, const gpc_cell_t *cell);
/* JSON object {name, object, states: [{name, kind, text}], stable, events, transitions, hardened, table: [[..]],
 * actions: [{name, text}]}. */
void gpc_fsm_print(gpc_text_t *out, const gpc_table_t *table);
/* Every cell's next state is a state, every state and event is named once, some cell leaves each transient state. 0 or a
 * text of what is wrong in `out`. */
GPC_MUST_CHECK int gpc_fsm_check(const gpc_table_t *table, gpc_text_t *out);

#endif
