/* crossing.c: messages between the two halves of an L2 (l2_crossing), or between dies. A message crosses before it
 * enters its controller's pipeline. Controllers beside the cores and banks (a memory side, an epoch unit, a host)
 * belong to no half and no die: gpc_die_of.
 *
 * Halves: a message between them takes half of l2_crossing more, in core cycles; the way from a core takes the odd
 * cycle. Every message between two controllers is as late as the one before it, so that they stay in order. The link is
 * as wide as the ports of its ends. A message from core to core that a line's home relays crosses once for each of its
 * ways that leads to the other half.
 *
 * Dies: a link leads from each die to each other one. Messages of all virtual networks take it in the order in which
 * they are sent, die_bytes in a core cycle, and arrive die_latency core cycles later. A message from core to core takes
 * the link between their dies, also if a third die has the home that relays it. A multicast takes a link once. */
#include <stdio.h>

#include "machine/parts.h"

enum { FROM_CORE = 1, FROM_BANK = 2 }; /* bits of a kind: the ways that cross */

static bool
crosses(uint32_t from, uint32_t to)
{
    return from != to && from != GPC_NO_DIE && to != GPC_NO_DIE;
}

/* ---- dies -------------------------------------------------------------------------------------------------------- */

int
gpc_gpu_make_die_links(gpc_gpu_t *gpu)
{
    uint32_t dies = gpu->machine.dies;
    gpu->die_links = dies > 1 ? GPC_ARENA_TAKE(&gpu->arena, (size_t) dies * dies, gpc_link_t) : NULL;
    return dies > 1 && !gpu->die_links ? GPC_ERROR_MEMORY : GPC_OK;
}

/* A tick has as many parts as bytes pass in a core cycle: a message that takes no whole number of ticks leaves the rest
 * of its last one to the next message. */
static uint64_t
parts_of_tick(const gpc_machine_t *m)
{
    return m->die_bytes ? m->die_bytes : 1;
}

static gpc_tick_t
link_ticks(gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t from = gpc_die_of(&gpu->nodes, msg->source), to = gpc_die_of(&gpu->nodes, msg->destination);
    if (!crosses(from, to)) {
        return 0;
    }
    gpc_link_t *link = &gpu->die_links[from * m->dies + to];
    uint64_t parts = parts_of_tick(m), now = gpc_wheel_now(&gpu->wheel), core = gpu->core_clock.period;
    if (!(msg->flags & GPC_MSG_FLAG_COPY)) { /* else with the first of its multicast, which has just been sent */
        uint64_t starts = link->busy_until > now * parts ? link->busy_until : now * parts;
        link->messages++;
        link->bytes += msg->bytes;
        link->waited += starts - now * parts;
        link->busy_until = starts + (m->die_bytes ? msg->bytes * core : 0);
    }
    return (link->busy_until + parts - 1) / parts - now + m->die_latency * core;
}

void
gpc_gpu_add_die_links(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    uint32_t dies = gpu->machine.dies;
    if (!gpu->die_links) {
        return;
    }
    gpc_text_add_key(out, "links");
    gpc_text_add(out, "{");
    for (uint32_t i = 0; i < dies * dies; i++) {
        const gpc_link_t *link = &gpu->die_links[i];
        char name[24];
        if (i / dies != i % dies) {
            (void) snprintf(name, sizeof(name), "%u-%u", i / dies, i % dies);
            gpc_text_add_key(out, name);
            gpc_text_add(out, "{");
            gpc_text_add_count(out, "messages", link->messages);
            gpc_text_add_count(out, "bytes", link->bytes);
            gpc_text_add_count(out, "waiting_cycles",
                               link->waited / (parts_of_tick(&gpu->machine) * gpu->core_clock.period));
            gpc_text_add(out, "}");
        }
    }
    gpc_text_add(out, "}");
}

void
gpc_gpu_reset_die_links(gpc_gpu_t *gpu)
{
    for (uint32_t i = 0; gpu->die_links && i < gpu->machine.dies * gpu->machine.dies; i++) {
        gpu->die_links[i] = (gpc_link_t){.busy_until = gpu->die_links[i].busy_until};
    }
}

/* ---- halves ------------------------------------------------------------------------------------------------------ */

uint32_t
gpc_gpu_crossing_kind(const gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t from = gpc_die_of(&gpu->nodes, msg->source), to = gpc_die_of(&gpu->nodes, msg->destination);
    if (gpu->die_links) {
        return crosses(from, to) ? to : from == GPC_NO_DIE ? 0 : from;
    }
    bool cores = msg->source < m->cores && msg->destination < m->cores;

    if (cores && gpc_network_route_of(gpu->carriers[msg->network], msg).relayed) {
        uint32_t home = gpc_die_of(&gpu->nodes, gpc_home(&gpu->homes, msg->line, msg->source));
        return (crosses(from, home) ? FROM_CORE : 0) | (crosses(home, to) ? FROM_BANK : 0);
    }
    return !crosses(from, to) ? 0 : msg->source < m->cores ? FROM_CORE : FROM_BANK;
}

gpc_tick_t
gpc_gpu_crossing_ticks(gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    if (gpu->die_links) {
        return link_ticks(gpu, msg);
    }
    uint32_t kind = gpc_gpu_crossing_kind(gpu, msg), crossing = gpu->machine.l2_crossing;
    uint32_t cycles = (kind & FROM_CORE ? crossing - crossing / 2 : 0) + (kind & FROM_BANK ? crossing / 2 : 0);
    return cycles * gpu->core_clock.period;
}
