/* mutants_parts.h: what the files of the planted bugs share: mutants.c is the registry, mutants_make.c makes the
 * copies, mutants_edits.c applies edits, mutants_step.c answers the queries of classifiers and actions. */
#ifndef GPC_TESTS_MUTANTS_PARTS_H
#define GPC_TESTS_MUTANTS_PARTS_H

#include "tests/mutants.h"

enum { MOST_PATCHES = 32 };

typedef struct {
    gpc_protocol_t protocol;
    const gpc_protocol_t *base;
    const mutant_info_t *info; /* NULL: the protocol `added` */
    gpc_controller_type_t types[GPC_NUM_POSITIONS];
    gpc_table_t tables[GPC_NUM_POSITIONS][GPC_MAX_TABLES];
    gpc_patch_t patches[GPC_NUM_POSITIONS][GPC_MAX_TABLES][MOST_PATCHES];
} mutant_t;

/* ---- mutants.c --------------------------------------------------------------------------------------------------- */

/* The mutant of that id, which is the registered text itself. */
const mutant_t *mutant_of(const char *id);

/* ---- mutants_make.c ---------------------------------------------------------------------------------------------- */

/* The caller frees it. */
mutant_t *mutant_make(const mutant_info_t *info, const gpc_protocol_t *base);
/* The protocol `added`: the base under another id. */
mutant_t *mutant_make_added(const gpc_protocol_t *base);
/* The mutant's structs become copies of the base's, with tables that have no patches yet. */
void mutant_copy_base(mutant_t *self, const gpc_protocol_t *base);
void mutant_derive_table(mutant_t *self, uint32_t controller, uint32_t table, const gpc_table_t *base);
/* Zeroed memory. */
void *mutant_take(size_t count, size_t size);
/* Ends the process with one line: "mutants: SUBJECT: ...". */
_Noreturn void mutant_stop(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- mutants_edits.c --------------------------------------------------------------------------------------------- */

void mutant_edit(mutant_t *self);
/* "L1_V" is named "V", "tc_act_hit" is named "hit". */
bool mutant_is_named(const char *full, const char *name);
bool mutant_is_action(const gpc_action_t *action, const char *name);

#endif
