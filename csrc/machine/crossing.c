/* crossing.c: messages between the two halves of an L2 (l2_crossing), or between dies. A message crosses before it
 * enters its controller's pipeline. Controllers beside the cores and banks (the one at the memory side, an epoch unit,
 * a host) belong to no half and no die: gpc_die_of.
 *
 * Halves: a message between them takes half of l2_crossing more, in core cycles; the way from a core takes the odd
 * cycle. Every message between two controllers is as late as the one before it, so that they stay in order. The link is
 * as wide as the ports of its ends. A message from core to core that a line's home relays crosses once for each of its
 * ways that leads to the other half.
 *
 * Dies: a link leads from each die to each other one of its GPU, and from each GPU to each other one. Messages of all
 * virtual networks take it in the order in which they are sent, die_bytes in a core cycle, and arrive die_latency core
 * cycles later; gpu_bytes and gpu_latency between GPUs. A message from core to core takes the link between their dies,
 * also if a third die has the home that relays it. A multicast takes a link once, to all dies of another GPU. */
#include <stdio.h>

#include "machine/parts.h"

enum { FROM_CORE = 1, FROM_BANK = 2 }; /* bits of a kind: the ways that cross */

static bool
crosses(uint32_t from, uint32_t to)
{
    return from != to && from != GPC_NO_DIE && to != GPC_NO_DIE;
}

/* ---- dies and GPUs ----------------------------------------------------------------------------------------------- */

static uint32_t
num_links(const gpc_machine_t *m)
{
    return m->dies > 1 ? m->dies * m->dies + m->gpus * m->gpus : 0;
}

int
gpc_gpu_make_die_links(gpc_gpu_t *gpu)
{
    uint32_t count = num_links(&gpu->machine);
    gpu->die_links = count ? GPC_ARENA_TAKE(&gpu->arena, count, gpc_link_t) : NULL;
    return count && !gpu->die_links ? GPC_ERROR_MEMORY : GPC_OK;
}

gpc_cycle_t
gpc_gpu_longest_crossing(const gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t link = m->die_latency > m->gpu_latency ? m->die_latency : m->gpu_latency;
    return m->l2_crossing /* of a relayed message, both ways */ + (m->dies > 1 ? link : 0);
}

static uint32_t
gpu_of(const gpc_machine_t *m, uint32_t die)
{
    return die / (m->dies / m->gpus);
}

/* The number of the link from one die to another: of the dies, or of their GPUs. */
static uint32_t
link_between(const gpc_machine_t *m, uint32_t from, uint32_t to)
{
    uint32_t here = gpu_of(m, from), there = gpu_of(m, to);
    return here == there ? from * m->dies + to : m->dies * m->dies + here * m->gpus + there;
}

static uint32_t
bytes_of_link(const gpc_machine_t *m, uint32_t link)
{
    return link < m->dies * m->dies ? m->die_bytes : m->gpu_bytes;
}

/* A tick has as many parts as bytes pass in a core cycle: a message that takes no whole number of ticks leaves the rest
 * of its last one to the next message. */
static uint64_t
parts_of_tick(const gpc_machine_t *m, uint32_t link)
{
    uint32_t bytes = bytes_of_link(m, link);
    return bytes ? bytes : 1;
}

bool
gpc_gpu_takes_link(const gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    return gpu->die_links && !(msg->flags & GPC_MSG_FLAG_COPY) /* it takes it with the first of its multicast */ &&
           crosses(gpc_die_of(&gpu->nodes, msg->source), gpc_die_of(&gpu->nodes, msg->destination));
}

static gpc_tick_t
link_ticks(gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t from = gpc_die_of(&gpu->nodes, msg->source), to = gpc_die_of(&gpu->nodes, msg->destination);
    if (!crosses(from, to)) {
        return 0;
    }
    uint32_t number = link_between(m, from, to);
    gpc_link_t *link = &gpu->die_links[number];
    uint64_t parts = parts_of_tick(m, number), now = gpc_wheel_now(&gpu->wheel), core = gpu->core_clock.period;
    if (gpc_gpu_takes_link(gpu, msg)) { /* else the first of its multicast has just taken it */
        uint64_t starts = link->busy_until > now * parts ? link->busy_until : now * parts;
        link->messages++;
        link->bytes += msg->bytes;
        link->waited += starts - now * parts;
        link->busy_until = starts + (bytes_of_link(m, number) ? msg->bytes * core : 0);
    }
    uint32_t latency = number < m->dies * m->dies ? m->die_latency : m->gpu_latency;
    return (link->busy_until + parts - 1) / parts - now + latency * core;
}

/* Whether there is such a link: writes its name, of the dies of a GPU or of the GPUs. */
static bool
name_link(const gpc_machine_t *m, uint32_t number, char name[32])
{
    bool of_dies = number < m->dies * m->dies;
    uint32_t pair = of_dies ? number : number - m->dies * m->dies, ends = of_dies ? m->dies : m->gpus;
    uint32_t from = pair / ends, to = pair % ends;
    (void) snprintf(name, 32, of_dies ? "%u-%u" : "gpu%u-gpu%u", from, to);
    return from != to && (!of_dies || link_between(m, from, to) == number);
}

void
gpc_gpu_add_die_links(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    char name[32];
    if (!gpu->die_links) {
        return;
    }
    gpc_text_add_key(out, "links");
    gpc_text_add(out, "{");
    for (uint32_t i = 0; i < num_links(&gpu->machine); i++) {
        const gpc_link_t *link = &gpu->die_links[i];
        if (name_link(&gpu->machine, i, name)) {
            gpc_text_add_key(out, name);
            gpc_text_add(out, "{");
            gpc_text_add_count(out, "messages", link->messages);
            gpc_text_add_count(out, "bytes", link->bytes);
            gpc_text_add_count(out, "waiting_cycles",
                               link->waited / (parts_of_tick(&gpu->machine, i) * gpu->core_clock.period));
            gpc_text_add(out, "}");
        }
    }
    gpc_text_add(out, "}");
}

/* Bytes take a core cycle for each bytes_of_link. */
void
gpc_gpu_add_busy_links(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    char name[32];
    if (!gpu->die_links) {
        return;
    }
    gpc_text_add_key(out, "links");
    gpc_text_add(out, "[");
    for (uint32_t i = 0; i < num_links(&gpu->machine); i++) {
        if (name_link(&gpu->machine, i, name)) {
            uint32_t width = bytes_of_link(&gpu->machine, i);
            gpc_text_add_comma(out);
            gpc_text_add_number(out, width ? gpu->die_links[i].bytes / width : 0);
        }
    }
    gpc_text_add(out, "]");
}

void
gpc_gpu_reset_die_links(gpc_gpu_t *gpu)
{
    for (uint32_t i = 0; i < num_links(&gpu->machine); i++) {
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
        bool other = crosses(from, to) && gpu_of(m, from) != gpu_of(m, to);
        return other ? gpu_of(m, to) * (m->dies / m->gpus) : crosses(from, to) ? to : from == GPC_NO_DIE ? 0 : from;
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
