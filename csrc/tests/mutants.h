/* mutants.h: planted bugs. A mutant is a protocol with one deliberate error: in a cell, an action, a classifier, an
 * order trait or the declared order of a network. It exists in the test library only, under an id of its own
 * ("tc-weak!h1"), and runs, is explored and is fuzzed like any protocol: every checker that claims to find bugs must
 * find these.
 *
 * csrc/protocols/FAMILY/planted.c lists a family's planted bugs as rows of edits. When the library is loaded, mutants.c
 * copies the base protocol's structs and applies the edits to the copy. A row that names what the protocol does not
 * have ends the process with one line. The package's extension never links these files: they are a library of protocols
 * outside the tree (controller/outside.h), which tests load.
 *
 * With GPUCOH_ADDED=BASE in the environment the library has, instead of planted bugs, one protocol more than the
 * package: "added", which differs from BASE in its id, and which no list of the tree names.
 */
#ifndef GPC_TESTS_MUTANTS_H
#define GPC_TESTS_MUTANTS_H

#include <stddef.h>

#include "controller/toolkit.h"

typedef enum {
    MUTANT_END,
    MUTANT_DROP,
    MUTANT_REPLACE,
    MUTANT_ADD,
    MUTANT_SWAP,
    MUTANT_COPY,
    MUTANT_NEXT,
    MUTANT_STAY,
    MUTANT_HOLD,
    MUTANT_CLASSIFY, /* from here on not of cells */
    MUTANT_CHOOSE,
    MUTANT_SMALL,
    MUTANT_UNORDERED,
    MUTANT_WITH
} mutant_edit_kind_t;

/* What the macros below make. */
typedef struct {
    mutant_edit_kind_t kind;
    const char *table, *states, *events; /* every pair of these states and events, each separated by spaces */
    const char *name, *other; /* of an action, a state, an event, an option and its value, a network, a member */
    const gpc_action_t *action;
    gpc_event_id_t (*classify)(const gpc_step_t *x);
    int64_t value;
    const gpc_protocol_t *with; /* its `size` bytes at `offset` replace the mutant's */
    size_t offset, size;
} mutant_edit_t;

typedef struct {
    const char *id;      /* base protocol's id, '!', a name */
    const char *what;    /* the planted bug, in one line */
    const char *reading; /* the paper's literal reading that the bug represents; NULL: an ordinary mistake */
    const mutant_edit_t *edits;
} mutant_info_t;

/* PLANTED(temporal) = {BUG(id, what, reading, edits...), ..., {0}}; registry.def names the list. */
#define PLANTED(family)                                                                                                \
    extern const mutant_info_t planted_##family[];                                                                     \
    const mutant_info_t planted_##family[]
#define BUG(id, what, reading, ...) {id, what, reading, (const mutant_edit_t[]) {__VA_ARGS__, {0}}}

/* clang-format off */
/* ---- edits of cells: states and events without prefix ("V"), actions as `gpucoh protocols` prints them ("hit") --- */

#define MUTANT_CELLS_(edit, table_, states_, events_)                                                                  \
    .kind = MUTANT_##edit, .table = (table_), .states = (states_), .events = (events_)
/* Without an action; with another one in its place; with one more at the end; two actions in each other's place. */
#define DROP(table, states, events, name_) {MUTANT_CELLS_(DROP, table, states, events), .name = (name_)}
#define REPLACE(table, states, events, name_, by)                                                                      \
    {MUTANT_CELLS_(REPLACE, table, states, events), .name = (name_), .action = (by)}
#define ADD(table, states, events, action_) {MUTANT_CELLS_(ADD, table, states, events), .action = (action_)}
#define SWAP(table, states, events, one, two)                                                                          \
    {MUTANT_CELLS_(SWAP, table, states, events), .name = (one), .other = (two)}
/* Another cell of the table in place of the cells. */
#define COPY(table, states, events, state, event)                                                                      \
    {MUTANT_CELLS_(COPY, table, states, events), .name = (state), .other = (event)}
/* A transition to another state; a transition that keeps the state; no transition: the request waits for its line. */
#define NEXT(table, states, events, next) {MUTANT_CELLS_(NEXT, table, states, events), .name = (next)}
#define STAY(table, states, events) {MUTANT_CELLS_(STAY, table, states, events)}
#define HOLD(table, states, events) {MUTANT_CELLS_(HOLD, table, states, events)}

/* ---- edits of tables and protocols ------------------------------------------------------------------------------- */

/* The function names the event of every cause. */
#define CLASSIFY(table_, function) {.kind = MUTANT_CLASSIFY, .table = (table_), .classify = (function)}
/* The value ("on") becomes the option's default. Later edits change its variant tables, or the protocol that it chooses
 * instead. */
#define CHOOSE(option, choice) {.kind = MUTANT_CHOOSE, .name = (option), .other = (choice)}
/* The option's value on the explorer's small machine. */
#define SMALL(option, value_) {.kind = MUTANT_SMALL, .name = (option), .value = (value_)}
#define UNORDERED(network) {.kind = MUTANT_UNORDERED, .name = (network)}
/* A member of gpc_protocol_t with another value: WITH(order.release, NULL). */
#define WITH(member, value_)                                                                                           \
    {.kind = MUTANT_WITH, .name = #member, .with = &(const gpc_protocol_t) {.member = (value_)},                       \
     .offset = offsetof(gpc_protocol_t, member), .size = sizeof(((gpc_protocol_t *) NULL)->member)}
/* clang-format on */

/* ---- queries for a mutant's classifiers and actions -------------------------------------------------------------- */

gpc_event_id_t mutant_base_event(const gpc_step_t *x); /* the base protocol's event */
bool mutant_event_is(const gpc_step_t *x, gpc_event_id_t event, const char *name);
gpc_event_id_t mutant_event(const gpc_step_t *x, const char *name);
bool mutant_state_is(const gpc_step_t *x, const char *name);
/* Calls an action of the base protocol's table, which no header need declare. */
int mutant_base_act(gpc_step_t *x, const char *action);
/* Message types and described fields by name. A field is of x's line, x's transaction, or a message. */
uint8_t mutant_type(const gpc_step_t *x, const char *message);
bool mutant_cause_is(const gpc_step_t *x, const char *message);
uint64_t mutant_line_field(const gpc_step_t *x, const char *field);
uint64_t mutant_mshr_field(const gpc_step_t *x, const char *field);
uint64_t mutant_message_field(const gpc_step_t *x, const gpc_msg_t *msg, const char *field);
/* Where a described field is: mutant_field(x, x->unit->type->mshr, gpc_step_mshr_fields(x), "lastwr"). */
void *mutant_field(const gpc_step_t *x, gpc_describe_t describe, void *object, const char *field);
void mutant_set_message_field(const gpc_step_t *x, gpc_msg_t *msg, const char *field, uint64_t value);

/* ---- protocols of the test library ------------------------------------------------------------------------------- */

/* The example of docs/how-to/add-a-protocol.md. */
extern const gpc_protocol_t gpc_protocol_self_inval;
/* tardis.c: a paper's protocol whose L1s own lines (controller/owners.h) and have logical clocks (clock.h). */
extern const gpc_protocol_t gpc_protocol_tardis;

#endif
