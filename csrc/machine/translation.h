/* translation.h: translation of addresses by a core (tlb_reach_bytes, tlb_miss_cycles).
 *
 * Each core holds the translations of the pages of 2 MiB that its requests used last, as many as the reach has. A
 * request to another page is translated first: it completes tlb_miss_cycles later, and what else needs the page
 * meanwhile completes no earlier than the translation. Time alone: the request's values are those of the access. */
#ifndef GPC_MACHINE_TRANSLATION_H
#define GPC_MACHINE_TRANSLATION_H

#include "base/arena.h"
#include "base/machine.h"

#define GPC_PAGE_BYTES (2u << 20)

typedef struct {
    uint64_t page; /* + 1; 0: none */
    uint64_t used; /* LRU stamp */
    gpc_cycle_t ready;
} gpc_translation_entry_t;

typedef struct {
    uint32_t entries; /* of a core; 0: no translation */
    uint32_t miss_cycles;
    gpc_translation_entry_t *held; /* [cores][entries]; in the arena */
    uint64_t *clocks;              /* [cores]: lookups */
    uint64_t *misses;              /* [cores] */
} gpc_translation_t;

GPC_MUST_CHECK int gpc_translation_init(gpc_translation_t *self, const gpc_machine_t *machine, gpc_arena_t *arena);
static inline bool
gpc_translation_exists(const gpc_translation_t *self)
{
    return self->entries != 0;
}
/* The core accesses the address now: core cycles until it has the translation. Needs one. */
uint32_t gpc_translation_late(gpc_translation_t *self, uint32_t core, gpc_address_t address, gpc_cycle_t now);

#endif
