/* translation.c: the pages whose translations a core holds, the least recently used one replaced. */
#include "machine/translation.h"

#include "base/errors.h"

int
gpc_translation_init(gpc_translation_t *self, const gpc_machine_t *machine, gpc_arena_t *arena)
{
    *self = (gpc_translation_t){.miss_cycles = machine->tlb_miss_cycles};
    if (machine->tlb_reach_bytes == 0 || machine->tlb_miss_cycles == 0) {
        return GPC_OK;
    }
    self->entries = (machine->tlb_reach_bytes + GPC_PAGE_BYTES - 1) / GPC_PAGE_BYTES;
    self->held = GPC_ARENA_TAKE(arena, (size_t) machine->cores * self->entries, gpc_translation_entry_t);
    self->clocks = GPC_ARENA_TAKE(arena, machine->cores, uint64_t);
    self->misses = GPC_ARENA_TAKE(arena, machine->cores, uint64_t);
    return self->held && self->clocks && self->misses ? GPC_OK : GPC_ERROR_MEMORY;
}

/* The page's place, or the one that it takes. */
static gpc_translation_entry_t *
place_of(gpc_translation_entry_t *held, uint32_t entries, uint64_t page)
{
    gpc_translation_entry_t *oldest = held;
    for (uint32_t i = 0; i < entries; i++) {
        if (held[i].page == page) {
            return &held[i];
        }
        oldest = held[i].used < oldest->used ? &held[i] : oldest;
    }
    return oldest;
}

uint32_t
gpc_translation_late(gpc_translation_t *self, uint32_t core, gpc_address_t address, gpc_cycle_t now)
{
    uint64_t page = address / GPC_PAGE_BYTES + 1;
    gpc_translation_entry_t *entry = place_of(&self->held[(size_t) core * self->entries], self->entries, page);

    if (entry->page != page) {
        *entry = (gpc_translation_entry_t){.page = page, .ready = now + self->miss_cycles};
        self->misses[core]++;
    }
    entry->used = ++self->clocks[core];
    return entry->ready > now ? (uint32_t) (entry->ready - now) : 0;
}
