/* cpelide.h: CPElide's table of arrays, from which the command processor decides before a launch which dies write their
 * near lines back, and which drop them.
 *
 * A row is an array. Each L1 notes in rows of its own, as lines from and to, what it asks for; before a launch those of
 * a die are joined at its first core. The row there is the die's. One more row is for memory that no row has. */
#ifndef GPC_PROTOCOLS_DIES_CPELIDE_H
#define GPC_PROTOCOLS_DIES_CPELIDE_H

#include "protocols/dies/mcm.h"

enum { CPELIDE_RULES, CPELIDE_ARRAYS };    /* options */
enum { CPELIDE_RANGES, CPELIDE_ARTIFACT }; /* values of `rules` */
enum { CPELIDE_MOST_ARRAYS = GPC_BOUNDARY_ARRAYS };
enum { CPELIDE_ROWS }; /* part */

/* A range is the number of its first line in the lower half, and of the one behind its last in the upper; 0: empty. */
#define CPELIDE_ENTRY(FIELD)                                                                                           \
    FIELD(PLAIN, gpc_address_t, end)                                                                                   \
    FIELD(PLAIN, uint64_t, kept)  /* near lines that the die may have: read or written since it last dropped them */   \
    FIELD(PLAIN, uint64_t, dirty) /* of them, those written since it last wrote them back */                           \
    FIELD(PLAIN, uint64_t, wrote) /* lines written in the last launch */                                               \
    FIELD(PLAIN, uint8_t, stale)  /* another die has written lines of `kept` */                                        \
    FIELD(PLAIN, uint8_t, state)  /* rules = artifact: CPELIDE_I to _S */
GPC_METADATA(cpelide, entry, CPELIDE_ENTRY)
enum { CPELIDE_I, CPELIDE_V, CPELIDE_D, CPELIDE_S }; /* not present, valid, dirty, stale */

#define CPELIDE_COUNTERS(X, P)                                                                                         \
    X(P, launch_drops, "launches before which the die's L2s drop near lines, at its first core")                       \
    X(P, launch_flushes, "launches before which the die's L2s write near lines back, at its first core")
enum { CPELIDE_COUNTERS(GPC_COUNT_ENUM_, CPELIDE_COUNT) };

/* Members of the L1's type. */
#define CPELIDE_TABLE                                                                                                  \
    .parts = {{.name = "arrays", .entry = cpelide_entry_described, .capacity = cpelide_rows, .may_rest = true}},       \
    .counters = cpelide_counters, .role = cpelide_role
extern const gpc_count_info_t cpelide_counters[];
uint32_t cpelide_rows(const gpc_machine_t *machine, const int64_t *options);
uint32_t cpelide_role(const gpc_controller_t *unit); /* the die, and whether it is the die's first core */

/* Of an L1's request of the type, about x's line. */
void cpelide_note(const gpc_step_t *x, uint8_t type);
uint32_t cpelide_dies(
    const gpc_boundary_t *boundary); /* that have cores: the explorer may have none on the last ones */
/* Before a launch: bit d of *drops and *flushes: die d drops near lines, and writes them back. */
void cpelide_decide(const gpc_boundary_t *boundary, uint32_t *drops, uint32_t *flushes);

#endif
