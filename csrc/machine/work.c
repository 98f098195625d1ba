/* work.c: with check=True, the monitor "whoever has work has an event": no channel, queue, port, controller or core
 * holds something while nothing is scheduled for it and nothing that will happen wakes it.
 *
 * It looks every LOOK_CYCLES core cycles, at a time limit that run.c compares with every event anyway, and when no
 * event is left. A unit's tick of its next event must have that event in the wheel. A unit without one must have no
 * work, or work that waits: a message for credits, for a port or for room; an input, a ready entry or a core's offer
 * for a change at its controller, which has refused it since the last input that it took. Controllers report what they
 * try by CELL. */
#include "base/blocks.h"
#include "core/stuck.h"
#include "machine/parts.h"

enum { LOOK_CYCLES = 256, TRIES = 64 };

/* A message that a controller has tried to take. The pool may have given its index to another one since. */
typedef struct {
    gpc_index_t message;
    gpc_address_t line;
    gpc_node_t source;
    uint8_t type;
    gpc_tick_t at;
} try_t;

/* The last messages that a controller has tried to take: number n is at n % TRIES. A request over words is tried in
 * parts. */
struct gpc_tries {
    uint64_t count;
    try_t tries[TRIES];
    gpc_tick_t entry; /* tick of the last try of a ready entry; GPC_NEVER: none */
};

/* ---- what controllers try ---------------------------------------------------------------------------------------- */

static try_t
try_of(const gpc_gpu_t *gpu, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    return (try_t){message, msg->line, msg->source, msg->type, gpc_wheel_now(&gpu->wheel)};
}

static int
on_cell(void *machine, const gpc_observation_t *event)
{
    gpc_gpu_t *gpu = machine;
    const gpc_step_t *step = event->cell.step;
    gpc_tries_t *tries = &gpu->checks.tries[step->unit->node];

    if (step->message != GPC_NONE) {
        tries->tries[tries->count++ % TRIES] = try_of(gpu, step->message);
    } else if (step->entry != GPC_NONE) {
        tries->entry = gpc_wheel_now(&gpu->wheel);
    }
    return GPC_OK;
}

static size_t
tries_bytes(const gpc_gpu_t *gpu)
{
    return gpc_gpu_nodes(gpu) * sizeof(*gpu->checks.tries);
}

int
gpc_gpu_make_work_monitor(gpc_gpu_t *gpu)
{
    gpu->checks.tries = gpc_block_take(tries_bytes(gpu));
    if (!gpu->checks.tries) {
        return GPC_ERROR_MEMORY;
    }
    gpu->checks.tried = (gpc_subscriber_t){.observe = on_cell, .self = gpu};
    gpc_subscribe(&gpu->stream, &gpu->checks.tried, GPC_KIND(CELL));
    return GPC_OK;
}

void
gpc_gpu_free_work_monitor(gpc_gpu_t *gpu)
{
    gpc_block_give(gpu->checks.tries, tries_bytes(gpu));
}

void
gpc_gpu_begin_work_monitor(gpc_gpu_t *gpu)
{
    gpu->state->looks_at = GPC_NEVER;
    if (gpu->checks.tries) {
        for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
            gpu->checks.tries[node].count = 0;
            gpu->checks.tries[node].entry = GPC_NEVER;
        }
        gpu->state->looks_at = gpu->state->launched;
    }
}

/* ---- controllers ------------------------------------------------------------------------------------------------- */

/* Whether the controller has tried at `tick` and has taken no input and moved no entry since. */
static bool
is_refused(const gpc_node_queues_t *queues, gpc_tick_t tick)
{
    return (queues->taken == GPC_NEVER || queues->taken <= tick) &&
           (queues->acted == GPC_NEVER || queues->acted <= tick);
}

static bool
has_refused(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    const gpc_tries_t *tries = &gpu->checks.tries[node];
    const try_t its = try_of(gpu, message);
    for (uint64_t back = 1; back <= TRIES && back <= tries->count; back++) {
        const try_t *one = &tries->tries[(tries->count - back) % TRIES];
        if (one->message == message && one->line == its.line && one->source == its.source && one->type == its.type) {
            return is_refused(&gpu->queues[node], one->at);
        }
    }
    return false;
}

/* A step of an L1 that its core takes, outside the L1's events, may end the wait of requests whose line has a
 * transaction: they are replayed when its answer comes. */
static bool
has_transaction(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    gpc_address_t line = gpc_msg_at(&gpu->messages, message)->line;
    return gpc_gpu_service(gpu, node)->has_core && gpc_mshr_find(&gpu->controllers[node].mshrs, line) != GPC_NONE;
}

/* What a controller without an event could take and has not tried, or NULL. */
static const char *
forgotten_input(gpc_gpu_t *gpu, gpc_node_t node)
{
    const gpc_controller_t *unit = &gpu->controllers[node];
    const gpc_node_queues_t *queues = &gpu->queues[node];
    bool takes_requests = gpc_gpu_may_take_request(gpu, node);
    uint32_t replays = unit->replay->count;

    if (queues->inbox.count) {
        return "a fill or a timer";
    }
    if (replays && takes_requests && !has_refused(gpu, node, unit->replay->head) &&
        !has_transaction(gpu, node, unit->replay->head)) {
        return "a request to replay";
    }
    for (uint32_t network = 0; network < gpu->num_networks; network++) {
        bool waits = unit->request_networks >> network & 1u && (replays || !gpc_gpu_may_take_from(gpu, node, network));
        gpc_index_t next = gpc_network_peek(gpu->carriers[network], node, network);
        gpc_index_t first = queues->input[network] != GPC_NONE ? queues->input[network] : next;
        if (first != GPC_NONE && !waits && !has_refused(gpu, node, first)) {
            return "an input";
        }
        if (next != GPC_NONE && !(queues->inputs >> network & 1u)) {
            return "an input that it does not know";
        }
    }
    gpc_tick_t tried = gpu->checks.tries[node].entry;
    bool refused = tried != GPC_NEVER && is_refused(queues, tried);
    return *unit->ready && !refused ? "an entry that is ready" : NULL;
}

/* An offer that the L1 has not taken is made again when its outbox has room, or after an event of the L1. */
static const char *
forgotten_offer(gpc_gpu_t *gpu, gpc_node_t node)
{
    const gpc_node_queues_t *queues = &gpu->queues[node];
    gpc_index_t message;
    bool held = gpc_cores_is_held(&gpu->cores, node, &message);

    if (held != queues->offer_held) {
        return "an offer of its core, which only one of them regards as held";
    }
    bool may_offer = held && gpc_gpu_may_take_request(gpu, node) && gpu->controllers[node].replay->count == 0;
    return may_offer && (message == GPC_NONE || !has_refused(gpu, node, message)) ? "an offer of its core" : NULL;
}

static bool
is_outbox_forgotten(gpc_gpu_t *gpu, const gpc_schedule_t *schedule, gpc_node_t node)
{
    const gpc_node_queues_t *queues = &gpu->queues[node];
    uint32_t held = 0;
    for (uint32_t network = 0; network < gpu->num_networks; network++) {
        held += queues->outbox[network].count;
    }
    return held && !gpc_schedule_has(schedule, queues->outbox_wake, GPC_EVENT_OUTBOX, GPC_PRIORITY_OUTBOX, node);
}

/* Whether a message that waits for room in the network could enter it. */
static bool
is_room_forgotten(gpc_gpu_t *gpu, gpc_node_t node)
{
    for (uint32_t i = 0; i < gpu->num_networks * gpu->lanes; i++) {
        const gpc_list_t *waiting = &gpu->waiting[(size_t) node * gpu->num_networks * gpu->lanes + i];
        const gpc_msg_t *msg = waiting->count ? gpc_msg_at(&gpu->messages, waiting->head) : NULL;
        if (msg && !msg->late && gpc_network_has_room(gpu->carriers[msg->network], msg)) {
            return true;
        }
    }
    return false;
}

static const char *
forgotten_at(gpc_gpu_t *gpu, const gpc_schedule_t *schedule, gpc_node_t node)
{
    const gpc_node_queues_t *queues = &gpu->queues[node];

    if (is_outbox_forgotten(gpu, schedule, node)) {
        return "messages in its pipeline";
    }
    if (is_room_forgotten(gpu, node)) {
        return "a message for the network, which has room";
    }
    if (queues->wake != GPC_NEVER) {
        bool scheduled = gpc_schedule_has(schedule, queues->wake, GPC_EVENT_CONTROLLER, GPC_PRIORITY_CONTROLLER, node);
        return scheduled ? NULL : "work for a cycle that has no event";
    }
    const char *what = forgotten_input(gpu, node);
    return what || !gpc_gpu_service(gpu, node)->has_core ? what : forgotten_offer(gpu, node);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static bool
is_core_forgotten(gpc_gpu_t *gpu, const gpc_schedule_t *schedule, uint32_t core, gpc_text_t *out)
{
    gpc_tick_t period = gpu->core_clock.period;
    gpc_cycle_t next = gpc_cores_next_cycle(&gpu->cores, core);
    gpc_cycle_t now = gpc_clock_edge(gpu->core_clock, gpc_wheel_now(&gpu->wheel)) / period;
    bool lost =
        next != GPC_NEVER && !gpc_schedule_has(schedule, next * period, GPC_EVENT_CORE, GPC_PRIORITY_CORE, core);
    const char *what = lost ? "work for a cycle that has no event" : gpc_cores_forgotten_work(&gpu->cores, core, now);
    if (what) {
        gpc_text_add(out, "core %u holds %s", core, what);
    }
    return what != NULL;
}

static bool
is_controller_forgotten(gpc_gpu_t *gpu, const gpc_schedule_t *schedule, gpc_node_t node, gpc_text_t *out)
{
    const gpc_controller_t *unit = &gpu->controllers[node];
    const char *what = forgotten_at(gpu, schedule, node);
    if (what) {
        gpc_text_add(out, "%s %u holds %s", unit->type->name, unit->index, what);
    }
    return what != NULL;
}

static bool
is_forgotten(gpc_gpu_t *gpu, const gpc_schedule_t *schedule, gpc_text_t *out)
{
    bool forgotten =
        gpc_dram_sleeps_on_work(&gpu->dram, schedule, out) || gpc_gpu_links_sleep_on_work(gpu, schedule, out);

    for (uint32_t i = 0; i < gpu->num_links && !forgotten; i++) {
        forgotten = gpc_network_sleeps_on_work(&gpu->links[i], schedule, out);
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && !forgotten; node++) {
        forgotten = is_controller_forgotten(gpu, schedule, (gpc_node_t) node, out);
    }
    for (uint32_t core = 0; core < gpu->machine.cores && !forgotten; core++) {
        forgotten = is_core_forgotten(gpu, schedule, core, out);
    }
    return forgotten;
}

int
gpc_gpu_look_for_work(gpc_gpu_t *gpu, const gpc_event_t *taken)
{
    const gpc_schedule_t schedule = {&gpu->wheel, taken};
    gpc_tick_t now = gpc_wheel_now(&gpu->wheel);
    gpc_text_t text;

    gpu->checks.looks++;
    gpu->state->looks_at = now + LOOK_CYCLES * gpu->core_clock.period;
    gpc_text_init(&text);
    bool forgotten = is_forgotten(gpu, &schedule, &text);
    if (forgotten) {
        (void) gpc_fail(&gpu->failure, GPC_ERROR_INVARIANT,
                        "an invariant does not hold, whoever has work has an event: at core cycle %llu %s, and nothing "
                        "is scheduled for it",
                        (unsigned long long) (now / gpu->core_clock.period), text.bytes ? text.bytes : "");
    }
    gpc_text_free(&text);
    return forgotten ? GPC_ERROR_INVARIANT : GPC_OK;
}
