/* mutants.h: planted bugs. A mutant is a product protocol with one thing made wrong: a cell, an action, a classifier, an order
 * trait or the declared order of a network. It exists in the test library only, under an id of its own ("tc-weak!h1"), and is
 * run, explored and fuzzed like any protocol: whatever claims to find bugs is asked to find these.
 *
 * mutants.c copies the base protocol's structs and tables when the library is loaded and lets `plant` change the copy. The
 * product's extension never links these files: mutants.c stands in the place of protocol/registry.c.
 */
#ifndef GPC_TESTS_MUTANTS_H
#define GPC_TESTS_MUTANTS_H

#include "controller/protocol.h"

typedef struct mutant mutant_t;

typedef struct {
    const char *id;      /* base protocol's id, '!', a name */
    const char *what;    /* what is planted, in one line */
    const char *reading; /* the paper's or spec's literal reading that this is; NULL: an ordinary mistake */
    void (*plant)(mutant_t *self);
} mutant_info_t;

/* One list a family; each ends with a null id. */
extern const mutant_info_t mutants_of_baselines[], mutants_of_invalidation[], mutants_of_mesi[], mutants_of_tc[];

/* ---- what a `plant` is made of. Tables, states and events by name, without the prefix: "L1", "V", "STORE". ---------------- */

gpc_protocol_t *mutant_protocol(mutant_t *self); /* order traits, networks: to be changed */
gpc_cell_t *mutant_cell(mutant_t *self, const char *table, const char *state, const char *event);
void mutant_next(mutant_t *self, const char *table, const char *state, const char *event, const char *next);
/* Without the action of that number; with another one in its place; with one more at the end; two actions in each other's place. */
void mutant_drop(mutant_t *self, const char *table, const char *state, const char *event, unsigned action);
void mutant_replace(mutant_t *self, const char *table, const char *state, const char *event, unsigned action,
                    const gpc_action_t *by);
void mutant_add(mutant_t *self, const char *table, const char *state, const char *event, const gpc_action_t *action);
void mutant_swap(mutant_t *self, const char *table, const char *state, const char *event, unsigned first,
                 unsigned second);
/* The cell becomes what another cell of the table is. */
void mutant_copy(mutant_t *self, const char *table, const char *state, const char *event, const char *from_state,
                 const char *from_event);
void mutant_classify(mutant_t *self, const char *table, gpc_event_id_t (*classify)(const gpc_step_t *x));

/* ---- what its classifiers and actions may ask ------------------------------------------------------------------------------ */

gpc_event_id_t mutant_base_event(const gpc_step_t *x); /* what the product's classifier says */
bool mutant_event_is(const gpc_step_t *x, gpc_event_id_t event, const char *name);
gpc_event_id_t mutant_event(const gpc_step_t *x, const char *name);
bool mutant_state_is(const gpc_step_t *x, const char *name);
/* An action of the product's that no header declares: that number of a cell of the base protocol. */
const gpc_action_t *mutant_base_action(const gpc_step_t *x, const char *state, const char *event, unsigned action);

#endif
