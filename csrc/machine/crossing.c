/* crossing.c: messages between the two halves of an L2 (l2_crossing), or between dies. A message crosses before it
 * enters its controller's pipeline. Controllers beside the cores and banks (the one at the memory side, an epoch unit,
 * a host) belong to no half and no die: gpc_die_of.
 *
 * Halves: a message between them takes half of l2_crossing more, in core cycles; the way from a core takes the odd
 * cycle. Every message between two controllers is as late as the one before it, so that they stay in order. The link is
 * as wide as the ports of its ends. A message from core to core that a line's home relays crosses once for each of its
 * ways that leads to the other half.
 *
 * Dies: a link leads from each die to each other one of its GPU, and from each GPU to each other one. Messages take it
 * one after another, die_bytes in a core cycle, and arrive die_latency core cycles later; gpu_bytes and gpu_latency
 * between GPUs. A message from core to core takes the link between their dies, also if a third die has the home that
 * relays it. A multicast takes a link once, to all dies of another GPU.
 *
 * With links = joined, messages of all virtual networks take a link in the order in which they are sent. With
 * links = split a link has a queue for each virtual network and serves them round robin, a message each: of one
 * network messages stay in order, and the bytes of all share the link. No paper of the presets says which; virtual
 * channels of on-chip networks share their wires like this. The link begins the next message where the last one ends,
 * so that the time in which it sends nothing is the same for both. */
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
    uint32_t count = num_links(&gpu->machine), queues = gpu->machine.links == GPC_LINKS_SPLIT ? count : 0;
    gpu->die_links = count ? GPC_ARENA_TAKE(&gpu->arena, count, gpc_link_t) : NULL;
    gpu->link_queues = queues ? GPC_ARENA_TAKE(&gpu->arena, queues, gpc_link_queues_t) : NULL;
    if ((count && !gpu->die_links) || (queues && !gpu->link_queues)) {
        return GPC_ERROR_MEMORY;
    }
    gpc_gpu_clear_die_links(gpu);
    return GPC_OK;
}

void
gpc_gpu_clear_die_links(gpc_gpu_t *gpu)
{
    for (uint32_t i = 0; gpu->link_queues && i < num_links(&gpu->machine); i++) {
        gpu->link_queues[i] = (gpc_link_queues_t){.last = gpu->link_queues[i].last};
        for (uint32_t network = 0; network < GPC_MAX_NETWORKS; network++) {
            gpc_list_clear(&gpu->link_queues[i].waiting[network]);
        }
    }
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

/* The tick at which the last message has left the link's begin. */
static gpc_tick_t
free_at(const gpc_gpu_t *gpu, uint32_t number)
{
    uint64_t parts = parts_of_tick(&gpu->machine, number);
    return (gpu->die_links[number].busy_until + parts - 1) / parts;
}

/* The tick at which it arrives. */
static gpc_tick_t
arrives_at(const gpc_gpu_t *gpu, uint32_t number)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t latency = number < m->dies * m->dies ? m->die_latency : m->gpu_latency;
    return free_at(gpu, number) + latency * gpu->core_clock.period;
}

static void
take_link(gpc_gpu_t *gpu, uint32_t number, const gpc_msg_t *msg, uint64_t starts)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_link_t *link = &gpu->die_links[number];
    uint64_t core = gpu->core_clock.period;
    link->messages++;
    link->bytes += msg->bytes;
    link->busy_until = starts + (bytes_of_link(m, number) ? msg->bytes * core : 0);
    if (gpu->link_queues) {
        gpu->link_queues[number].last = msg->network;
    }
}

static uint32_t
link_of(const gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    return link_between(&gpu->machine, gpc_die_of(&gpu->nodes, msg->source), gpc_die_of(&gpu->nodes, msg->destination));
}

static gpc_tick_t
link_ticks(gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    if (!crosses(gpc_die_of(&gpu->nodes, msg->source), gpc_die_of(&gpu->nodes, msg->destination))) {
        return 0;
    }
    uint32_t number = link_of(gpu, msg);
    gpc_link_t *link = &gpu->die_links[number];
    uint64_t parts = parts_of_tick(&gpu->machine, number), now = gpc_wheel_now(&gpu->wheel);
    if (gpc_gpu_takes_link(gpu, msg)) { /* else the first of its multicast has just taken it */
        uint64_t starts = link->busy_until > now * parts ? link->busy_until : now * parts;
        link->waited += starts - now * parts;
        take_link(gpu, number, msg, starts);
    }
    return arrives_at(gpu, number) - now;
}

/* ---- links = split ----------------------------------------------------------------------------------------------- */

bool
gpc_gpu_waits_for_link(const gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    if (!crosses(gpc_die_of(&gpu->nodes, msg->source), gpc_die_of(&gpu->nodes, msg->destination))) {
        return false;
    }
    uint32_t number = link_of(gpu, msg);
    const gpc_link_queues_t *queues = &gpu->link_queues[number];
    bool busy = queues->messages ||
                gpu->die_links[number].busy_until > gpc_wheel_now(&gpu->wheel) * parts_of_tick(&gpu->machine, number);
    return gpc_gpu_takes_link(gpu, msg) ? busy : queues->waiting[msg->network].count != 0 /* with its first one */;
}

static int
schedule_link(gpc_gpu_t *gpu, uint32_t number)
{
    return gpc_wheel_schedule(&gpu->wheel, free_at(gpu, number), GPC_EVENT_LINK, GPC_PRIORITY_ARRIVE, number, 0);
}

int
gpc_gpu_wait_for_link(gpc_gpu_t *gpu, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    uint32_t number = link_of(gpu, msg);
    gpc_link_queues_t *queues = &gpu->link_queues[number];
    gpc_link_t *link = &gpu->die_links[number];
    uint64_t now = gpc_wheel_now(&gpu->wheel) * parts_of_tick(&gpu->machine, number);

    gpc_list_push(&queues->waiting[msg->network], &gpu->messages, message);
    if (!gpc_gpu_takes_link(gpu, msg)) {
        return GPC_OK;
    }
    link->waited += link->busy_until > now ? link->busy_until - now : 0;
    return queues->messages++ ? GPC_OK : schedule_link(gpu, number);
}

/* Of the next network, round robin, with a message. */
static gpc_list_t *
next_of_waiting(gpc_link_queues_t *queues)
{
    uint32_t network = queues->last;
    do {
        network = (network + 1) % GPC_MAX_NETWORKS;
    } while (!queues->waiting[network].count);
    return &queues->waiting[network];
}

int
gpc_gpu_link_event(gpc_gpu_t *gpu, uint32_t number)
{
    gpc_link_queues_t *queues = &gpu->link_queues[number];
    gpc_link_t *link = &gpu->die_links[number];
    gpc_list_t *waiting = next_of_waiting(queues);
    uint64_t starts = link->busy_until;

    take_link(gpu, number, gpc_msg_at(&gpu->messages, waiting->head), starts);
    link->waited += --queues->messages * (link->busy_until - starts);
    do { /* a multicast is one message for all its copies */
        gpc_index_t message = gpc_list_pop(waiting, &gpu->messages);
        GPC_TRY(gpc_wheel_schedule(&gpu->wheel, arrives_at(gpu, number), GPC_EVENT_CROSSED, GPC_PRIORITY_OUTBOX,
                                   gpc_msg_at(&gpu->messages, message)->source, message));
    } while (waiting->count && gpc_msg_at(&gpu->messages, waiting->head)->flags & GPC_MSG_FLAG_COPY);
    return queues->messages ? schedule_link(gpu, number) : GPC_OK;
}

bool
gpc_gpu_links_sleep_on_work(const gpc_gpu_t *gpu, const gpc_schedule_t *schedule, gpc_text_t *out)
{
    for (uint32_t i = 0; gpu->link_queues && i < num_links(&gpu->machine); i++) {
        uint32_t messages = gpu->link_queues[i].messages;
        if (messages && !gpc_schedule_has(schedule, free_at(gpu, i), GPC_EVENT_LINK, GPC_PRIORITY_ARRIVE, i)) {
            gpc_text_add(out, "link %u between dies holds %u messages", i, messages);
            return true;
        }
    }
    return false;
}

/* ---- statistics of links ----------------------------------------------------------------------------------------- */

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
