/* queues.c: what stands around a controller: what it sends goes through outboxes into the network, what arrives is taken in
 * turns, what memory answers and timers say waits in inboxes.
 *
 * A bank takes one input an L2 cycle: fills first, then replayed requests, then networks from the highest down (an answer must
 * never wait behind a request). An L1 takes network inputs as they arrive and one request of its core a core cycle. Beside
 * these, ready entries of a controller's parts take as many steps a cycle as the parts declare. A
 * request is not taken while too much waits in the outboxes or no place in the memory queue is free: that is how finite
 * resources push back. */
#include <string.h>

#include "check/trace.h"
#include "machine/parts.h"

static gpc_tick_t
tick_now(const gpc_gpu_t *gpu)
{
    return gpc_wheel_now(&gpu->wheel);
}

/* ---- scheduling turns ------------------------------------------------------------------------------------------------------------- */

int
gpc_gpu_schedule_controller(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t from)
{
    gpc_station_t *station = &gpu->stations[node];
    gpc_clock_t clock = gpc_gpu_is_core(gpu, node) ? gpu->core_clock : gpu->l2_clock;
    gpc_tick_t tick = gpc_clock_edge(clock, from);

    if (tick == station->taken && !gpc_gpu_is_core(gpu, node)) {
        tick += clock.period;
    }
    if (station->turn <= tick) {
        return GPC_OK;
    }
    station->turn = tick;
    return gpc_wheel_schedule(&gpu->wheel, tick, GPC_EVENT_CONTROLLER, GPC_PRIORITY_CONTROLLER, node, 0);
}

static int
schedule_outbox(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t tick)
{
    gpc_station_t *station = &gpu->stations[node];
    if (station->outbox_turn <= tick) {
        return GPC_OK;
    }
    station->outbox_turn = tick;
    return gpc_wheel_schedule(&gpu->wheel, tick, GPC_EVENT_OUTBOX, GPC_PRIORITY_OUTBOX, node, 0);
}

int
gpc_gpu_schedule_core(void *world, uint32_t core, gpc_cycle_t at)
{
    gpc_gpu_t *gpu = world;
    gpc_tick_t tick = at * gpu->core_clock.period;

    if (tick < tick_now(gpu)) { /* asked for between two edges, for the cycle whose edge is over */
        tick = gpc_clock_edge(gpu->core_clock, tick_now(gpu));
    }
    if (gpu->core_turns[core] <= tick) {
        return GPC_OK;
    }
    gpu->core_turns[core] = tick;
    return gpc_wheel_schedule(&gpu->wheel, tick, GPC_EVENT_CORE, GPC_PRIORITY_CORE, core, 0);
}

/* ---- outboxes ------------------------------------------------------------------------------------------------------------------------ */

static inline bool
outbox_full(const gpc_gpu_t *gpu, gpc_node_t node)
{
    return gpu->stations[node].full != 0;
}

/* Bit n: what comes on network n is a request. */
static inline uint32_t
requests_at(const gpc_gpu_t *gpu, gpc_node_t node)
{
    return gpu->controllers[node].request_networks;
}

bool
gpc_gpu_has_room(const void *world, const gpc_controller_t *unit, uint8_t network)
{
    const gpc_gpu_t *gpu = world;
    return !(gpu->stations[unit->node].full >> network & 1);
}

static inline gpc_list_t *
waiting_at(const gpc_gpu_t *gpu, gpc_node_t node, uint32_t network, uint32_t lane)
{
    return &gpu->waiting[((size_t) node * gpu->num_networks + network) * gpu->lanes + lane];
}

static int
enter_network(gpc_gpu_t *gpu, gpc_node_t node, const gpc_network_way_t *way, gpc_index_t message)
{
    gpc_station_t *station = &gpu->stations[node];
    uint8_t network = gpc_msg_at(&gpu->messages, message)->network;

    if (--station->queued[network] < station->places) {
        station->full &= (uint8_t) ~(1u << network);
    }
    gpu->state->sent++;
    return gpc_network_send_by(&gpu->network, way, message);
}

/* The message's time has come: it enters the network or waits behind those before it on its lane. */
static int
offer_to_network(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_network_way_t way = gpc_network_way(&gpu->network, msg);
    gpc_list_t *waiting = waiting_at(gpu, node, msg->network, way.lane);

    if (waiting->count == 0 && gpc_network_way_has_room(&gpu->network, &way, msg)) {
        return enter_network(gpu, node, &way, message);
    }
    gpc_list_push(waiting, &gpu->messages, message); /* gpc_gpu_room takes it from there */
    return GPC_OK;
}

/* What has left the controller's pipeline goes on; the next one's time is kept. */
static int
drain_outbox(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpc_station_t *station = &gpu->stations[node];
    gpc_tick_t now = tick_now(gpu);

    for (uint32_t network = 0; network < gpu->num_networks; network++) {
        gpc_list_t *outbox = &station->outbox[network];
        while (outbox->count) {
            gpc_tick_t ready = gpc_msg_at(&gpu->messages, outbox->head)->ready;
            int status = ready > now ? schedule_outbox(gpu, node, ready)
                                     : offer_to_network(gpu, node, gpc_list_pop(outbox, &gpu->messages));
            if (status) {
                return status;
            }
            if (ready > now) {
                break;
            }
        }
    }
    return GPC_OK;
}

/* A request may add to any outbox and to the memory queue. */
static bool
may_take_request(const gpc_gpu_t *gpu, gpc_node_t node)
{
    if (gpc_gpu_is_core(gpu, node)) {
        return !outbox_full(gpu, node);
    }
    return !(gpu->stations[node].full & ~requests_at(gpu, node)) &&
           gpc_dram_room(&gpu->dram, node - gpu->machine.cores) > 0;
}

/* Something can be taken; what waits for room in the network or in the memory queue is told when that comes. */
static bool
can_take(const gpc_gpu_t *gpu, gpc_node_t node)
{
    const gpc_station_t *station = &gpu->stations[node];
    if (station->inbox.count || station->inputs & ~requests_at(gpu, node)) {
        return true;
    }
    return (station->inputs & requests_at(gpu, node) || gpu->controllers[node].replay->count) &&
           may_take_request(gpu, node);
}

/* The core may offer again what the L1 did not take. */
static int
kick(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpu->stations[node].offer_held = false;
    return gpc_cores_retry(&gpu->cores, node, gpc_clock_past(gpu->core_clock, tick_now(gpu)) == 0);
}

/* Who could not go on because the outbox was full may now. */
static int
after_drain(gpc_gpu_t *gpu, gpc_node_t node)
{
    int status = *gpu->controllers[node].ready ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK;
    if (status) {
        return status;
    }
    if (gpc_gpu_is_core(gpu, node)) {
        if (!gpu->stations[node].offer_held || outbox_full(gpu, node)) {
            return GPC_OK;
        }
        return kick(gpu, node);
    }
    return can_take(gpu, node) ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK;
}

int
gpc_gpu_outbox_turn(gpc_gpu_t *gpu, gpc_node_t node)
{
    if (gpu->stations[node].outbox_turn != tick_now(gpu)) {
        return GPC_OK; /* an earlier turn took its place */
    }
    gpu->stations[node].outbox_turn = GPC_NEVER;
    int status = drain_outbox(gpu, node);
    return status ? status : after_drain(gpu, node);
}

int
gpc_gpu_room(void *world, gpc_node_t node, uint32_t network, uint32_t lane)
{
    gpc_gpu_t *gpu = world;
    gpc_list_t *waiting = waiting_at(gpu, node, network, lane);

    if (waiting->count == 0) {
        return GPC_OK;
    }
    do {
        const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, waiting->head);
        gpc_network_way_t way = gpc_network_way(&gpu->network, msg);
        if (!gpc_network_way_has_room(&gpu->network, &way, msg)) {
            break;
        }
        int status = enter_network(gpu, node, &way, gpc_list_pop(waiting, &gpu->messages));
        if (status) {
            return status;
        }
    } while (waiting->count);
    return after_drain(gpu, node);
}

int
gpc_gpu_send(void *world, gpc_controller_t *from, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_station_t *station = &gpu->stations[from->node];
    gpc_list_t *outbox = &station->outbox[msg->network];

    if (gpu->trace) {
        gpc_trace_send(gpu->trace, from, msg);
    }
    if (++station->queued[msg->network] >= station->places) {
        station->full |= (uint8_t) (1u << msg->network);
    }
    msg->ready = tick_now(gpu) + (gpc_gpu_is_core(gpu, from->node) ? 0 : gpu->bank_ticks);
    if (msg->ready == tick_now(gpu) && outbox->count == 0) {
        return offer_to_network(gpu, from->node, message);
    }
    gpc_list_push(outbox, &gpu->messages, message);
    return outbox->count > 1 ? GPC_OK /* those before it have asked for their turn */
                             : schedule_outbox(gpu, from->node, msg->ready);
}

/* ---- inputs ---------------------------------------------------------------------------------------------------------------------------- */

/* A message leaves its buffer for the input register, since a step may free it; when the step holds it, it stays there. */
static int
fill_register(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network)
{
    gpc_station_t *station = &gpu->stations[node];
    if (station->input[network] != GPC_NONE) {
        return GPC_OK;
    }
    if (gpc_network_peek(&gpu->network, node, network) == GPC_NONE) {
        station->inputs &= (uint8_t) ~(1u << network);
        return GPC_OK;
    }
    gpu->state->received++;
    return gpc_network_take(&gpu->network, node, network, &station->input[network]);
}

static int
serve_network(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network, bool *served)
{
    gpc_index_t *input = &gpu->stations[node].input[network];
    int status = fill_register(gpu, node, network);

    if (status || *input == GPC_NONE || ((requests_at(gpu, node) >> network & 1) && !may_take_request(gpu, node))) {
        return status;
    }
    status = gpc_controller_take(&gpu->controllers[node], *input);
    if (status == GPC_OK) {
        *input = GPC_NONE;
        *served = true;
        return fill_register(gpu, node, network); /* its place in the buffer is free from now on */
    }
    return status == GPC_HELD_QUEUE ? GPC_OK : status;
}

static int
serve_inbox(gpc_gpu_t *gpu, gpc_node_t node, bool *served)
{
    gpc_index_t message = gpc_list_pop(&gpu->stations[node].inbox, &gpu->messages);
    *served = true;
    int status = gpc_controller_take(&gpu->controllers[node], message);
    if (status == GPC_HELD_QUEUE) {
        return gpc_fail(&gpu->failure, GPC_ERROR_PROTOCOL, "%s %u holds an answer of memory or a timer",
                        gpu->controllers[node].type->name, gpu->controllers[node].index);
    }
    return status;
}

static int
serve_replay(gpc_gpu_t *gpu, gpc_node_t node, bool *served)
{
    gpc_controller_t *unit = &gpu->controllers[node];
    if (unit->replay->count == 0 || !may_take_request(gpu, node)) {
        return GPC_OK;
    }
    int status = gpc_controller_replay(unit);
    *served = status == GPC_OK;
    return status == GPC_HELD_QUEUE ? GPC_OK : status;
}

/* One input of these networks, from the highest down. */
static int
serve_networks(gpc_gpu_t *gpu, gpc_node_t node, uint32_t networks, bool *served)
{
    int status = GPC_OK;
    while (networks && status == GPC_OK && !*served) {
        uint32_t network = 31u - (uint32_t) __builtin_clz(networks);
        networks &= ~(1u << network);
        status = serve_network(gpu, node, network, served);
    }
    return status;
}

/* One input, the most urgent that can be taken. */
static int
serve_one(gpc_gpu_t *gpu, gpc_node_t node, bool *served)
{
    const gpc_station_t *station = &gpu->stations[node];
    uint32_t requests = requests_at(gpu, node);
    *served = false;
    if (station->inbox.count) {
        return serve_inbox(gpu, node, served);
    }
    int status = serve_networks(gpu, node, station->inputs & ~requests, served);
    if (status == GPC_OK && !*served) {
        status = serve_replay(gpu, node, served);
    }
    if (status == GPC_OK && !*served) {
        status = serve_networks(gpu, node, station->inputs & requests, served);
    }
    return status;
}

static int
kick_core(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpc_station_t *station = &gpu->stations[node];
    if (!station->offer_held || gpu->controllers[node].replay->count || outbox_full(gpu, node)) {
        return GPC_OK;
    }
    return kick(gpu, node);
}

/* Ready entries act once a cycle; one that is refused is retried at the next turn, whatever brings that. */
static int
serve_entries(gpc_gpu_t *gpu, gpc_node_t node, bool *served)
{
    gpc_station_t *station = &gpu->stations[node];
    gpc_controller_t *unit = &gpu->controllers[node];

    if (station->acted != tick_now(gpu)) {
        int status = gpc_controller_turn(unit);
        if (status != GPC_OK) {
            return status == GPC_HELD_QUEUE ? GPC_OK : status;
        }
        station->acted = tick_now(gpu);
        *served = true;
    }
    return *unit->ready ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu) + 1) : GPC_OK;
}

static int
take_turn(gpc_gpu_t *gpu, gpc_node_t node)
{
    bool served = false;
    int status = serve_one(gpu, node, &served);
    if (status == GPC_OK && *gpu->controllers[node].untold) {
        status = gpc_controller_launch(&gpu->controllers[node], GPC_MSG_KERNEL_END);
        status = status == GPC_HELD_QUEUE ? GPC_OK : status;
    }
    if (status) {
        return status;
    }
    gpu->stations[node].taken = served ? tick_now(gpu) : gpu->stations[node].taken;
    if (*gpu->controllers[node].ready) {
        status = serve_entries(gpu, node, &served);
        if (status) {
            return status;
        }
    }
    if (gpc_gpu_is_core(gpu, node)) {
        status = kick_core(gpu, node);
    }
    /* what was not served waits for room in the network or in the memory queue, or for a step: those bring it a turn */
    if (status == GPC_OK && served && can_take(gpu, node)) {
        status = gpc_gpu_schedule_controller(gpu, node, tick_now(gpu) + 1);
    }
    return status;
}

/* Whether a turn now, without an event of its own, is as good: it is an edge of the controller's clock, and no turn stands
 * at this tick or was taken at it. */
static bool
may_turn_at_once(const gpc_gpu_t *gpu, gpc_node_t node)
{
    const gpc_station_t *station = &gpu->stations[node];
    gpc_tick_t now = tick_now(gpu);
    bool is_core = gpc_gpu_is_core(gpu, node);
    gpc_clock_t clock = is_core ? gpu->core_clock : gpu->l2_clock;
    return station->turn > now && (is_core || station->taken != now) && gpc_clock_past(clock, now) == 0;
}

/* An L1 takes at once what arrives; a bank's turn comes when all is there that arrives at this tick: fills go first. */
int
gpc_gpu_arrived(void *world, gpc_node_t node, uint32_t network)
{
    gpc_gpu_t *gpu = world;
    gpu->stations[node].inputs |= (uint8_t) (1u << network);
    if (gpc_gpu_is_core(gpu, node) && may_turn_at_once(gpu, node)) {
        return take_turn(gpu, node);
    }
    return gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
}

int
gpc_gpu_controller_turn(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpc_station_t *station = &gpu->stations[node];

    if (station->turn != tick_now(gpu)) {
        return GPC_OK; /* an earlier turn took its place */
    }
    station->turn = GPC_NEVER;
    return take_turn(gpu, node);
}

int
gpc_gpu_offer(void *world, uint32_t core, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    gpc_station_t *station = &gpu->stations[core];

    if (outbox_full(gpu, (gpc_node_t) core)) {
        station->offer_held = true;
        return GPC_OFFER_HELD;
    }
    int status = gpc_controller_take(&gpu->controllers[core], message);
    if (status == GPC_HELD_QUEUE) {
        station->offer_held = true;
        return GPC_OFFER_HELD;
    }
    if (status == GPC_OK && *gpu->controllers[core].ready) { /* what was refused before may go on */
        status = gpc_gpu_schedule_controller(gpu, (gpc_node_t) core, tick_now(gpu));
    }
    if (status == GPC_OK && outbox_full(gpu, (gpc_node_t) core)) {
        station->offer_held = true;
        return GPC_OFFER_LAST;
    }
    return status;
}

int
gpc_gpu_dram_answer(void *world, uint32_t channel, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    gpc_node_t node = (gpc_node_t) (gpu->machine.cores + channel);
    gpc_list_push(&gpu->stations[node].inbox, &gpu->messages, message);
    return may_turn_at_once(gpu, node) ? take_turn(gpu, node) : gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
}

int
gpc_gpu_dram_room(void *world, uint32_t channel)
{
    gpc_gpu_t *gpu = world;
    gpc_node_t node = (gpc_node_t) (gpu->machine.cores + channel);
    return can_take(gpu, node) ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK;
}

static void
forget_background_timer(gpc_gpu_t *gpu, gpc_index_t message)
{
    gpc_index_t previous = GPC_NONE, i = gpu->state->background.head;
    for (; i != message; i = gpc_msg_at(&gpu->messages, i)->next) {
        previous = i;
    }
    gpc_list_remove_after(&gpu->state->background, &gpu->messages, previous, i);
}

void
gpc_gpu_drop_background_timers(gpc_gpu_t *gpu)
{
    gpc_index_t message;

    if (gpu->state->background.count) {
        gpc_wheel_clear(&gpu->wheel);
    }
    while ((message = gpc_list_pop(&gpu->state->background, &gpu->messages)) != GPC_NONE) {
        gpc_pool_give(&gpu->messages, message);
    }
}

int
gpc_gpu_timer(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    if (gpc_msg_at(&gpu->messages, message)->flags & GPC_MSG_FLAG_BACKGROUND) {
        forget_background_timer(gpu, message);
    }
    gpc_list_push(&gpu->stations[node].inbox, &gpu->messages, message);
    return gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
}

/* A bank's outbox is its pipeline too: one message a stage, and some more in front of the network. */
static uint32_t
outbox_places(const gpc_gpu_t *gpu, gpc_node_t node)
{
    uint32_t declared = gpu->controllers[node].type->outbox;
    return (declared ? declared : GPC_OUTBOX_LIMIT) + (gpc_gpu_is_core(gpu, node) ? 0 : gpu->bank_stages);
}

void
gpc_gpu_clear_stations(gpc_gpu_t *gpu)
{
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_station_t *station = &gpu->stations[node];
        for (uint32_t network = 0; network < GPC_MAX_NETWORKS; network++) {
            gpc_list_clear(&station->outbox[network]);
            station->queued[network] = 0;
            station->input[network] = GPC_NONE;
        }
        gpc_list_clear(&station->inbox);
        station->places = outbox_places(gpu, (gpc_node_t) node);
        station->inputs = station->full = 0;
        station->turn = station->outbox_turn = station->taken = station->acted = GPC_NEVER;
        station->offer_held = false;
    }
    for (size_t i = 0; i < (size_t) gpc_gpu_nodes(gpu) * gpu->num_networks * gpu->lanes; i++) {
        gpc_list_clear(&gpu->waiting[i]);
    }
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        gpu->core_turns[core] = GPC_NEVER;
    }
}
