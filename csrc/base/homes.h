/* homes.h: the die, the bank and the memory channel of a line. Controllers, networks, memory, the host and monitors
 * read this map and do no arithmetic of their own: no two of them take different nodes for a line's home. */
#ifndef GPC_BASE_HOMES_H
#define GPC_BASE_HOMES_H

#include "base/divide.h"
#include "base/machine.h"
#include "base/touched.h"

/* Pieces of consecutive bytes are interleaved over the banks; on several dies, pages are over the dies, and the pieces
 * of a die over its banks. */
typedef struct {
    gpc_divider_t piece, banks, channels; /* of a die */
    bool apart;                           /* memory channels are apart from the banks, else each bank has one */
    bool paged;                           /* there are several dies */
    gpc_node_t first_bank;
    gpc_divider_t page, dies;
    gpc_pages_over_dies_t pages; /* those of a die are pages of an address space of its own */
    gpc_touched_t touched;       /* the dies of pages, in the arena; without entries: pages are interleaved */
} gpc_homes_t;

/* Dies that an address names: the pages of a first touch are anywhere. */
static inline uint32_t
gpc_interleaved_dies(const gpc_machine_t *m)
{
    return m->dies > 1 && m->placement_of_pages == GPC_PAGES_INTERLEAVED ? m->dies : 1;
}

static inline gpc_homes_t
gpc_homes(const gpc_machine_t *m)
{
    uint32_t dies = m->dies > 1 ? m->dies : 1;
    return (gpc_homes_t) {.piece = gpc_divider(m->interleave_bytes),
                          .banks = gpc_divider(m->partitions / dies),
                          .channels = gpc_divider((m->dram_channels ? m->dram_channels : m->partitions) / dies),
                          .apart = m->dram_channels != 0,
                          .paged = dies > 1,
                          .first_bank = (gpc_node_t) m->cores,
                          .page = gpc_divider(dies > 1 ? m->page_bytes : 1),
                          .dies = gpc_divider(dies),
                          .pages = gpc_pages_over_dies(dies > 1 ? m->page_bytes : 1, gpc_interleaved_dies(m))};
}

/* The number of the line's piece among those of its die. */
static inline uint64_t
gpc_home_piece(const gpc_homes_t *self, gpc_address_t line)
{
    return gpc_quotient(self->piece, self->paged ? gpc_within_die(&self->pages, line) : line);
}

/* The die of the line's page. Before the first touch, when no cache has any of it, that of interleaved pages. */
static inline uint32_t
gpc_home_die(const gpc_homes_t *self, gpc_address_t line)
{
    uint64_t page = gpc_quotient(self->page, line);
    uint32_t touched = self->touched.entries ? gpc_touched_die(&self->touched, page) : GPC_NONE;
    return touched != GPC_NONE ? touched : (uint32_t) gpc_remainder(self->dies, page);
}

/* A number within the line's die, among those of all dies. */
static inline uint32_t
gpc_home_number(const gpc_homes_t *self, gpc_divider_t of_die, uint64_t number, gpc_address_t line)
{
    uint32_t within = (uint32_t) gpc_remainder(of_die, number);
    return self->paged ? gpc_home_die(self, line) * of_die.divisor + within : within;
}

/* The number of the line's bank. */
static inline uint32_t
gpc_home_bank(const gpc_homes_t *self, gpc_address_t line)
{
    return gpc_home_number(self, self->banks, gpc_home_piece(self, line), line);
}

/* The node to which `asker` sends what it wants of the line: all nodes share one L2. */
static inline gpc_node_t
gpc_home(const gpc_homes_t *self, gpc_address_t line, gpc_node_t asker)
{
    (void) asker;
    return (gpc_node_t) (self->first_bank + gpc_home_bank(self, line));
}

/* The memory channel of the line: its bank's own, or selected by the address bits above the bank's. */
static inline uint32_t
gpc_home_channel(const gpc_homes_t *self, gpc_address_t line)
{
    uint64_t piece = gpc_home_piece(self, line);
    return self->apart ? gpc_home_number(self, self->channels, gpc_quotient(self->banks, piece), line)
                       : gpc_home_number(self, self->banks, piece, line);
}

#endif
