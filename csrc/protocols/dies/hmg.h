/* hmg.h: NHCC and HMG, whose homes know which dies have their lines, and invalidate them: messages, and the L2.
 *
 * L2s keep the lines of other dies as those of MCM (mcm.h). A directory beside the home's bank lists the dies that have
 * read; a store or atomic sends them INV, which nothing acknowledges. A release follows the INVs, and is over when it
 * has reached every copy that one was sent to. Under HMG, on several GPUs, a line has a GPU home in every GPU but that
 * of its home, which does for the dies of its GPU what the home does for its own dies and for the GPU homes. */
#ifndef GPC_PROTOCOLS_DIES_HMG_H
#define GPC_PROTOCOLS_DIES_HMG_H

#include "protocols/dies/mcm.h"

/* Sizes are inferred, as those of the baselines. */
/* clang-format off */
/*     name         class network bytes word line   */
#define HMG_MESSAGES(X, P)                                                                                              \
    MCM_FIRST_MESSAGES(X, P)                                                                                            \
    X(P, REL,           INV, 2,  8, 0, false, "a release: answer when no copy is left that was invalidated before")     \
    X(P, RELEASED,      INV, 1,  8, 0, false, "none is left")                                                           \
    MCM_NEAR_MESSAGES(X, P)                                                                                             \
    X(P, PASSED_NEAR,   REQ, 3,  8, 0, false, "a near L2 wants the line, passed on by the GPU home")                    \
    X(P, INV,           INV, 5,  8, 0, false, "invalidate the lines of a region")                                       \
    X(P, FOLLOW,        INV, 5,  8, 0, false, "a release, behind INVs")                                                 \
    X(P, FOLLOWED,      INV, 4,  8, 0, false, "the INVs before it have been taken")
/* clang-format on */
GPC_MESSAGES(HMG, HMG_MESSAGES)
BASELINE_SAME_MESSAGES(HMG);
GPC_SAME_NUMBER(HMG_RELEASED, MCM_DROPPED);
GPC_SAME_NUMBER(HMG_NEAR_DATA, MCM_NEAR_DATA);
GPC_SAME_NUMBER(HMG_PASSED_NEAR, MCM_PASSED_NEAR);

#define HMG_NETWORKS                                                                                                   \
    {                                                                                                                  \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                 \
            {.name = "release"},                                                                                       \
            {.name = "between", .ordered = true, .requests = true, .star = true, .rotates = true},                    \
            {.name = "back", .star = true}, {.name = "invalidate", .ordered = true, .star = true},                     \
    }

enum { HMG_REGION_LINES, HMG_DIRECTORY_ENTRIES };
#define HMG_OPTIONS                                                                                                    \
    {                                                                                                                  \
        GPC_NUMBER("region_lines", 4, 1, 8, "Lines of an entry of the directory: a power of two", 1, 1, 2),            \
            GPC_NUMBER("directory_entries", 0, 0, 1 << 20,                                                             \
                       "Entries of the directory of each L2 bank; 0: as many as cover twice the lines of the bank", 1, \
                       0, 64),                                                                                         \
    }

#define HMG_L2_STATES(X) MCM_L2_STATES(X)
#define HMG_L2_EVENTS(X)                                                                                               \
    MCM_NEAR_EVENTS(X)                                                                                                 \
    X(L2_DROP, "INV for the line's region")                                                                            \
    X(L2_NEAR_FULL, "load of another die's line, for which neither an MSHR nor a way may wait")

extern const gpc_controller_type_t hmg_l2;

#define HMG_L2_UNIT(FIELD)                                                                                             \
    FIELD(PLAIN, uint16_t, exposed)     /* bit d: die d was sent INV since the last FOLLOW */                          \
    FIELD(PLAIN, uint16_t, awaited)     /* by the round of releases within the GPU: dies that have yet to answer */    \
    FIELD(PLAIN, uint16_t, awaited_sys) /* by that of other GPUs */                                                    \
    FIELD(PLAIN, uint32_t, served)      /* releases that the round serves, the first ones */                           \
    FIELD(PLAIN, uint32_t, served_sys)                                                                                 \
    FIELD(REQUEST, gpc_list_t, releases)                                                                               \
    FIELD(REQUEST, gpc_list_t, releases_sys)
GPC_METADATA(hmg_l2, unit, HMG_L2_UNIT)

#define HMG_COUNTERS(X, P)                                                                                             \
    X(P, inv_by_store, "INVs sent for stores and atomics")                                                             \
    X(P, inv_by_load, "INVs sent by GPU homes for loads that pass them")                                               \
    X(P, inv_by_eviction, "INVs sent for replaced entries of the directory")                                           \
    X(P, inv_forwarded, "INVs of a home that GPU homes have sent on")                                                  \
    X(P, invalidating_stores, "stores and atomics for which a directory has sent INV")                                 \
    X(P, invalidating_evictions, "replaced entries for which a directory has sent INV")

enum { HMG_COUNTERS(GPC_COUNT_ENUM_, HMG_COUNT) };

/* ---- the directory (hmg_directory.c) ----------------------------------------------------------------------------- */

#define HMG_ENTRY(FIELD) FIELD(PLAIN, uint16_t, dies) /* bit d: die d is listed */
GPC_METADATA(hmg_directory, entry, HMG_ENTRY)

extern const gpc_table_t hmg_directory;
/* Lists the die of x's message (LOAD), or sends INV to dies that are listed: for a write (STORE), of an INV (INV). */
GPC_MUST_CHECK int hmg_note(gpc_step_t *x, uint8_t cause);
/* The dies that the directory lists for the line's region. */
uint32_t hmg_listed(const gpc_controller_t *unit, gpc_address_t line);

/* ---- members of gpc_protocol_t (hmg_checks.c) -------------------------------------------------------------------- */

int hmg_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);
int hmg_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);
int hmg_monitor(const gpc_units_t *units, gpc_address_t line);

#endif
