/* homes.h: the bank and the memory channel of a line. Controllers, networks, memory, the host and monitors read this
 * map and do no arithmetic of their own: no two of them take different nodes for a line's home. */
#ifndef GPC_BASE_HOMES_H
#define GPC_BASE_HOMES_H

#include "base/divide.h"
#include "base/machine.h"

/* Pieces of consecutive bytes are interleaved over the banks. */
typedef struct {
    gpc_divider_t piece, banks, channels;
    bool apart; /* memory channels are apart from the banks, else each bank has one */
    gpc_node_t first_bank;
} gpc_homes_t;

static inline gpc_homes_t
gpc_homes(const gpc_machine_t *m)
{
    return (gpc_homes_t) {.piece = gpc_divider(m->interleave_bytes),
                          .banks = gpc_divider(m->partitions),
                          .channels = gpc_divider(m->dram_channels ? m->dram_channels : m->partitions),
                          .apart = m->dram_channels != 0,
                          .first_bank = (gpc_node_t) m->cores};
}

/* The number of the line's bank. */
static inline uint32_t
gpc_home_bank(const gpc_homes_t *self, gpc_address_t line)
{
    return (uint32_t) gpc_remainder(self->banks, gpc_quotient(self->piece, line));
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
    return self->apart
               ? (uint32_t) gpc_remainder(self->channels, gpc_quotient(self->banks, gpc_quotient(self->piece, line)))
               : gpc_home_bank(self, line);
}

#endif
