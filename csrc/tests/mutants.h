/* mutants.h: planted bugs. A mutant is a protocol with one deliberate error: in a cell, an action, a classifier, an order trait or
 * the declared order of a network. It exists in the test library only, under an id of its own ("tc-weak!h1"), and runs, is
 * explored and is fuzzed like any protocol: every checker that claims to find bugs must find these.
 *
 * When the library is loaded, mutants.c copies the base protocol's structs, and `plant` changes the copy and patches its tables. The package's
 * extension never links these files: mutants.c replaces protocols/registry.c.
 *
 * With GPUCOH_ADDED=BASE in the environment the library has, instead of planted bugs, one protocol more than the package: "added",
 * which differs from BASE in its id, and which only the registry names.
 */
#ifndef GPC_TESTS_MUTANTS_H
#define GPC_TESTS_MUTANTS_H

#include "controller/toolkit.h"

typedef struct mutant mutant_t;

typedef struct {
    const char *id;      /* base protocol's id, '!', a name */
    const char *what;    /* the planted bug, in one line */
    const char *reading; /* the paper's literal reading that the bug represents; NULL: an ordinary mistake */
    void (*plant)(mutant_t *self);
} mutant_info_t;

/* MUTANTS(tc) {{id, what, reading, plant}, ..., {0}}; defines a file's list, which mutants.c then knows. */
typedef struct mutant_list {
    const mutant_info_t *first;
    struct mutant_list *next;
} mutant_list_t;
void mutants_register(mutant_list_t *list);
#define MUTANTS(family)                                                                            \
    extern const mutant_info_t mutants_of_##family[];                                              \
    __attribute__((constructor(101))) static void register_##family(void)                          \
    {                                                                                              \
        static mutant_list_t list = {mutants_of_##family, NULL};                                   \
        mutants_register(&list);                                                                   \
    }                                                                                              \
    const mutant_info_t mutants_of_##family[] =

/* The example of docs/how-to/add-a-protocol.md: a protocol of the test library. */
extern const gpc_protocol_t gpc_protocol_self_inval;
/* tardis.c: a paper's protocol whose L1s own lines (controller/owners.h) and have logical clocks (controller/clock.h). */
extern const gpc_protocol_t gpc_protocol_tardis;

/* ---- functions for `plant`. Tables, states and events by name, without the prefix: "L1", "V", "STORE". -------------------- */

gpc_protocol_t *mutant_protocol(mutant_t *self); /* order traits, networks: to be changed */
/* Makes the value the option's default, and its variant tables, or the protocol that it chooses instead, those that the functions below change. */
void mutant_choose(mutant_t *self, const char *option, int64_t value);
gpc_cell_t *mutant_cell(mutant_t *self, const char *table, const char *state, const char *event);
void mutant_next(mutant_t *self, const char *table, const char *state, const char *event, const char *next);
/* Without the action of that number; with another one in its place; with one more at the end; two actions in each other's place. */
void mutant_drop(mutant_t *self, const char *table, const char *state, const char *event, unsigned action);
void mutant_replace(mutant_t *self, const char *table, const char *state, const char *event, unsigned action,
                    const gpc_action_t *by);
void mutant_add(mutant_t *self, const char *table, const char *state, const char *event, const gpc_action_t *action);
void mutant_swap(mutant_t *self, const char *table, const char *state, const char *event, unsigned first,
                 unsigned second);
/* Copies another cell of the table into the cell. */
void mutant_copy(mutant_t *self, const char *table, const char *state, const char *event, const char *from_state,
                 const char *from_event);
void mutant_classify(mutant_t *self, const char *table, gpc_event_id_t (*classify)(const gpc_step_t *x));

/* ---- queries for a mutant's classifiers and actions ------------------------------------------------------------------------ */

gpc_event_id_t mutant_base_event(const gpc_step_t *x); /* the base protocol's event */
bool mutant_event_is(const gpc_step_t *x, gpc_event_id_t event, const char *name);
gpc_event_id_t mutant_event(const gpc_step_t *x, const char *name);
bool mutant_state_is(const gpc_step_t *x, const char *name);
/* An action of the base protocol that no header declares: that index of a cell. */
const gpc_action_t *mutant_base_action(const gpc_step_t *x, const char *state, const char *event, unsigned action);
/* Message types and described fields by name. A field is of x's line, x's transaction, or a message. */
uint8_t mutant_type(const gpc_step_t *x, const char *message);
bool mutant_cause_is(const gpc_step_t *x, const char *message);
uint64_t mutant_line_field(const gpc_step_t *x, const char *field);
uint64_t mutant_mshr_field(const gpc_step_t *x, const char *field);
uint64_t mutant_message_field(const gpc_step_t *x, const gpc_msg_t *msg, const char *field);
void mutant_set_message_field(const gpc_step_t *x, gpc_msg_t *msg, const char *field, uint64_t value);

#endif
