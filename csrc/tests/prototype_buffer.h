/* prototype_buffer.h: the smallest protocol whose store buffer drains by itself: no L1 lines, three entries, an outbox
 * of one message, a background timer; and variants of it with planted bugs. */
#ifndef GPC_TESTS_PROTOTYPE_BUFFER_H
#define GPC_TESTS_PROTOTYPE_BUFFER_H

#include "controller/protocol.h"

enum { BUFFER_LINES, BUFFER_ENTRIES, BUFFER_UNIT }; /* tables of the L1 */

#define BUFFER_L1_UNIT(FIELD) FIELD(PLAIN, uint8_t, ticking) FIELD(STATISTIC, uint64_t, ticks)
GPC_DESCRIBE(buffer_l1, unit, BUFFER_L1_UNIT)

/* "buffer"             without ticks
 * "buffer+launched"    the unit ticks from a kernel's begin on
 * "buffer+wide"        the outbox has the usual room
 * "buffer+burst"       entries drain when the buffer is full; with "+wide" too
 * "buffer+pairs"       an entry drains when it has two stores
 * "buffer+ticks"       the unit ticks from the first store on
 * and with planted bugs:
 * "buffer!lost"        a store's entry is never ready; the unit ticks from a kernel's begin on
 * "buffer!forgotten"   an entry whose step comes during a load of its line is no longer ready
 * "buffer!early"       stores complete and are never sent
 * "buffer!foreground"  the unit's timer keeps launches running
 * "buffer!waiting"     entries wait for the next tick
 * "buffer!untimely"    the unit has no cell for a tick */
const gpc_protocol_t *prototype_buffer_find(const char *id); /* NULL: unknown */

#endif
