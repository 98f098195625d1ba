/* lrm.h: LRM, whose homes know which die has acquired a synchronisation variable last: messages, and the L2.
 *
 * L2s keep the lines of other dies as those of MCM (mcm.h). A directory beside the home's bank has an owner, a die, for
 * each of some synchronisation variables. An acquire of another die makes that die the owner and has it drop its near
 * lines, as under MCM; one of the owner drops the L1 alone. */
#ifndef GPC_PROTOCOLS_DIES_LRM_H
#define GPC_PROTOCOLS_DIES_LRM_H

#include "protocols/dies/merge.h"

#define LRM_MESSAGE(FIELD) FIELD(PLAIN, uint8_t, drops) /* DATA, ATOMIC_DATA: of an acquire that drops near lines */
GPC_METADATA(lrm, message, LRM_MESSAGE)

enum { LRM_SYNC_ENTRIES = MERGE_NUM_OPTIONS };
#define LRM_OPTIONS                                                                                                    \
    {                                                                                                                  \
        MERGE_OPTIONS,                                                                                                 \
        GPC_NUMBER("sync_entries", 0, 0, 1 << 20,                                                                      \
                   "Synchronisation variables that the directory of each L2 bank lists; 0: 16 a die, at least one a "  \
                   "bank",                                                                                             \
                   0, 1, 4),                                                                                           \
    }

#define LRM_L2_UNIT(FIELD)                                                                                             \
    FIELD(PLAIN, gpc_index_t, access) /* message that a step of the directory concerns; else 0 */                      \
    FIELD(PLAIN, uint8_t, drops)      /* and the outcome: its die must drop near lines */
GPC_METADATA(lrm_l2, unit, LRM_L2_UNIT)

#define LRM_COUNTERS(X, P)                                                                                             \
    X(P, sync_local, "acquires of variables that their die owns, which drop no near line")                             \
    X(P, sync_unsure, "acquires that drop because the owner, their die, may not have dropped yet")                     \
    X(P, sync_moved, "acquires that drop because no die or another one is the owner")                                  \
    X(P, sync_replaced, "variables that lost their owner to another variable")                                         \
    X(P, sync_disowned, "variables that lost their owner to a store or atomic of another die")
enum { LRM_COUNTERS(GPC_COUNT_ENUM_, LRM_COUNT) LRM_COUNT_END };

extern const gpc_table_t lrm_l2_lines;
extern const gpc_controller_type_t lrm_l2, merge_lrm_l2;

/* What both have. */
uint32_t lrm_entries(const gpc_machine_t *machine, const int64_t *options);
#define LRM_L2                                                                                                         \
    .name = "L2", .position = GPC_AT_BANK,                                                                             \
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},                                 \
    .unit = lrm_l2_unit_described, .begins = 1u << MCM_TABLE_LINES
#define LRM_DIRECTORY                                                                                                  \
    {                                                                                                                  \
        .name = "directory", .entry = lrm_directory_entry_described, .capacity = lrm_entries, .may_rest = true             \
    }

/* ---- the directory of synchronisation variables (lrm_directory.c) ------------------------------------------------ */

#define LRM_ENTRY(FIELD)                                                                                               \
    FIELD(PLAIN, uint8_t, owner)   /* die */                                                                           \
    FIELD(NODE, gpc_node_t, taker) /* the core by whose acquire it became the owner */                                 \
    FIELD(PLAIN, uint16_t, warp)   /* and its warp */
GPC_METADATA(lrm_directory, entry, LRM_ENTRY)

extern const gpc_table_t lrm_directory;
/* The access is performed at the home. *drops: it acquires, and its die must drop near lines. */
GPC_MUST_CHECK int lrm_note(gpc_step_t *x, const gpc_msg_t *access, bool *drops);

#endif
