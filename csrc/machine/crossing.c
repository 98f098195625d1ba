/* crossing.c: the two halves of an L2 (l2_crossing). The first half of the cores and the first half of the partitions
 * belong together, and the second halves. A message between them takes half of l2_crossing more, in core cycles, before
 * it enters its controller's pipeline; the way from a core takes the odd cycle. Every message between two controllers
 * is as late as the one before it, so that they stay in order. The link is as wide as the ports of its ends.
 *
 * A message from core to core that a line's home relays crosses once for each of its ways that leads to the other half.
 * Other controllers (a memory side, an epoch unit, a host) belong to no half: gpc_die_of. */
#include "machine/parts.h"

enum { FROM_CORE = 1, FROM_BANK = 2 }; /* bits of a kind: the ways that cross */

static bool
crosses(uint32_t from, uint32_t to)
{
    return from != to && from != GPC_NO_DIE && to != GPC_NO_DIE;
}

uint32_t
gpc_gpu_crossing_kind(const gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t from = gpc_die_of(&gpu->nodes, msg->source), to = gpc_die_of(&gpu->nodes, msg->destination);
    bool cores = msg->source < m->cores && msg->destination < m->cores;

    if (cores && gpc_network_route_of(gpu->carriers[msg->network], msg).relayed) {
        uint32_t home = gpc_die_of(&gpu->nodes, gpc_home(&gpu->homes, msg->line, msg->source));
        return (crosses(from, home) ? FROM_CORE : 0) | (crosses(home, to) ? FROM_BANK : 0);
    }
    return !crosses(from, to) ? 0 : msg->source < m->cores ? FROM_CORE : FROM_BANK;
}

gpc_tick_t
gpc_gpu_crossing_ticks(const gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    uint32_t kind = gpc_gpu_crossing_kind(gpu, msg), crossing = gpu->machine.l2_crossing;
    uint32_t cycles = (kind & FROM_CORE ? crossing - crossing / 2 : 0) + (kind & FROM_BANK ? crossing / 2 : 0);
    return cycles * gpu->core_clock.period;
}
