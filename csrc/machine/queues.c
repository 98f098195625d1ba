/* queues.c: the queues of a controller: outboxes to the network, input registers from it, and inboxes for fills and
 * timers. gpc_service_t describes what differs between node kinds.
 *
 * A controller takes as many inputs per cycle of its clock as it has ports: fills and timers first, then answers,
 * replayed requests and requests, each from the highest network down, so that an answer never waits behind a request.
 * An L1 takes network inputs when they arrive and one request of its core per core cycle. In addition, ready entries of
 * a controller's parts take as many steps per cycle as the parts declare. A message leaves after the controller's
 * pipeline, requests and prompt messages at once; a prompt message passes those in the pipeline, and waits behind those
 * that wait for room in its lane of the network. A message between the two halves of a machine (crossing.c) leaves for
 * the pipeline that much later. Back-pressure: a controller takes no request while its outboxes or the
 * memory queue lack room. */
#include "machine/parts.h"

static gpc_tick_t
tick_now(const gpc_gpu_t *gpu)
{
    return gpc_wheel_now(&gpu->wheel);
}

/* ---- scheduling -------------------------------------------------------------------------------------------------- */

int
gpc_gpu_schedule_controller(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t from)
{
    gpc_node_queues_t *queues = &gpu->queues[node];
    const gpc_service_t *service = gpc_gpu_service(gpu, node);
    gpc_tick_t tick = gpc_clock_edge(service->clock, from);

    if (tick < queues->taken + 1 && service->inputs) { /* GPC_NEVER + 1 is 0 */
        tick = queues->taken + service->clock.period;
    }
    if (queues->wake <= tick) {
        return GPC_OK;
    }
    queues->wake = tick;
    return gpc_wheel_schedule(&gpu->wheel, tick, GPC_EVENT_CONTROLLER, GPC_PRIORITY_CONTROLLER, node, 0);
}

static int
schedule_outbox(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t tick)
{
    gpc_node_queues_t *queues = &gpu->queues[node];
    if (queues->outbox_wake <= tick) {
        return GPC_OK;
    }
    queues->outbox_wake = tick;
    return gpc_wheel_schedule(&gpu->wheel, tick, GPC_EVENT_OUTBOX, GPC_PRIORITY_OUTBOX, node, 0);
}

int
gpc_gpu_schedule_core(void *world, uint32_t core, gpc_cycle_t at, gpc_cycle_t *scheduled)
{
    gpc_gpu_t *gpu = world;
    if (at * gpu->core_clock.period < tick_now(gpu)) { /* between two edges, for the cycle whose edge has passed */
        at = gpc_clock_cycles(gpu->core_clock, gpc_clock_edge(gpu->core_clock, tick_now(gpu)));
    }
    if (*scheduled <= at) {
        return GPC_OK;
    }
    *scheduled = at;
    return gpc_gpu_schedule_cycle(gpu, core, at);
}

/* ---- outboxes ---------------------------------------------------------------------------------------------------- */

/* A controller with what belongs to it: looked up once, not at every use. */
typedef struct {
    gpc_gpu_t *gpu;
    gpc_controller_t *unit;
    gpc_node_queues_t *queues;
    const gpc_service_t *service;
    gpc_node_t node;
} place_t;

static inline place_t
place_of(gpc_gpu_t *gpu, gpc_node_t node)
{
    return (place_t){gpu, &gpu->controllers[node], &gpu->queues[node], gpc_gpu_service(gpu, node), node};
}

/* Whether an outbox that a request may add to is full. */
static inline bool
outbox_full(const place_t *at)
{
    return (at->queues->full & at->service->needs_room) != 0;
}

bool
gpc_gpu_has_room(const void *world, const gpc_controller_t *unit, uint8_t network)
{
    const gpc_gpu_t *gpu = world;
    return !(gpu->queues[unit->node].full >> network & 1);
}

static inline gpc_list_t *
waiting_at(const gpc_gpu_t *gpu, gpc_node_t node, uint32_t network, uint32_t lane)
{
    return &gpu->waiting[((size_t) node * gpu->num_networks + network) * gpu->lanes + lane];
}

/* The first copy of a multicast takes the place of all. */
static inline uint32_t
places_of(const gpc_msg_t *msg)
{
    return msg->flags & GPC_MSG_FLAG_COPY ? 0 : 1;
}

static inline __attribute__((always_inline)) int /* of every message */
enter_network(gpc_gpu_t *gpu, gpc_node_t node, const gpc_network_route_t *route, gpc_index_t message)
{
    gpc_node_queues_t *queues = &gpu->queues[node];
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    uint8_t network = msg->network;

    queues->queued[network] -= places_of(msg);
    if (queues->queued[network] < queues->places) {
        queues->full &= (uint8_t) ~(1u << network);
    }
    gpu->state->sent++;
    return gpc_network_send_by(gpu->carriers[network], route, message);
}

/* Out of line: an error. */
__attribute__((noinline)) static int
refuse_route(gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    const gpc_controller_t *from = &gpu->controllers[msg->source], *to = &gpu->controllers[msg->destination];
    return gpc_fail(&gpu->failure, GPC_ERROR_PROTOCOL,
                    "%s %u sends %s to %s %u on network '%s': no link joins them (a network with .star joins all)",
                    from->type->name, from->index, gpu->protocol->messages[msg->type - GPC_MSG_OWN].name,
                    to->type->name, to->index, gpu->protocol->networks[msg->network].name);
}

/* A message leaves the controller's pipeline: it enters the network, or waits behind earlier messages of its lane. */
static int
offer_to_network(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    const gpc_network_t *links = gpu->carriers[msg->network];
    gpc_network_route_t route = gpc_network_route_of(links, msg);
    if (route.output == GPC_NONE) {
        return refuse_route(gpu, msg);
    }
    gpc_list_t *waiting = waiting_at(gpu, node, msg->network, route.lane);

    if (waiting->count == 0 && !msg->late && gpc_network_route_has_room(links, &route, msg)) {
        return enter_network(gpu, node, &route, message);
    }
    gpc_list_push(waiting, &gpu->messages, message); /* gpc_gpu_room sends it */
    return GPC_OK;
}

/* Sends the messages that have left the controller's pipeline and schedules the next one. */
static int
drain_outbox(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpc_node_queues_t *queues = &gpu->queues[node];
    gpc_tick_t now = tick_now(gpu);

    for (uint32_t network = 0; network < gpu->num_networks; network++) {
        gpc_list_t *outbox = &queues->outbox[network];
        while (outbox->count) {
            gpc_tick_t ready = gpc_msg_at(&gpu->messages, outbox->head)->ready;
            GPC_TRY(ready > now ? schedule_outbox(gpu, node, ready)
                                : offer_to_network(gpu, node, gpc_list_pop(outbox, &gpu->messages)));
            if (ready > now) {
                break;
            }
        }
    }
    return GPC_OK;
}

/* Whether each memory channel that the controller reaches has room. */
static inline bool
memory_has_room(const place_t *at)
{
    const gpc_gpu_t *gpu = at->gpu;
    if (at->service->own_channel) {
        return gpc_dram_room(&gpu->dram, at->unit->index) > 0;
    }
    for (uint32_t channel = 0; channel < gpc_gpu_channels(gpu); channel++) {
        if (gpc_gpu_reaches(gpu, at->node, channel) && gpc_dram_room(&gpu->dram, channel) == 0) {
            return false;
        }
    }
    return true;
}

/* Whether there is room for a request, whose step may add to any outbox and to the memory queue. */
static inline bool
may_take_request(const place_t *at)
{
    return !outbox_full(at) && (!at->service->fetches || memory_has_room(at));
}

bool
gpc_gpu_may_take_request(gpc_gpu_t *gpu, gpc_node_t node)
{
    const place_t at = place_of(gpu, node);
    return may_take_request(&at);
}

/* The same for a request of the network. At an L1 it is a forward, whose step adds to later networks only: it must not
 * wait for room for the core's requests, which the bank may take only after what it has forwarded. */
static inline bool
may_take_from(const place_t *at, uint32_t network)
{
    return may_take_request(at) ||
           (at->service->has_core && !(at->queues->full & at->service->needs_room & ~((2u << network) - 1)));
}

bool
gpc_gpu_may_take_from(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network)
{
    const place_t at = place_of(gpu, node);
    return may_take_from(&at, network);
}

/* Whether an L1 could take a forward, to replay or from these networks. Out of line: most protocols have none that may
 * be held; and a place whose address a call has is no longer in registers. */
__attribute__((noinline)) static bool
can_take_forward(gpc_gpu_t *gpu, gpc_node_t node, uint32_t networks)
{
    const place_t at = place_of(gpu, node);
    gpc_index_t forward = gpc_controller_forward_to_replay(at.unit);
    bool can = forward != GPC_NONE && may_take_from(&at, gpc_msg_at(&gpu->messages, forward)->network);
    for (; networks && !can; networks &= networks - 1) {
        can = may_take_from(&at, (uint32_t) __builtin_ctz(networks));
    }
    return can;
}

/* Whether an input can be taken now. An input that waits for room is retried when room becomes available. */
static inline bool
can_take(const place_t *at)
{
    uint32_t requests = at->unit->request_networks;
    if (at->queues->inbox.count || at->queues->inputs & ~requests) {
        return true;
    }
    if (!(at->queues->inputs & requests || at->unit->replay->count)) {
        return false;
    }
    return may_take_request(at) ||
           (at->service->has_core && can_take_forward(at->gpu, at->node, at->queues->inputs & requests));
}

/* Lets the core offer a held request again. */
static int
retry_offer(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpu->queues[node].offer_held = false;
    return gpc_cores_retry(&gpu->cores, node, gpc_clock_past(gpu->core_clock, tick_now(gpu)) == 0);
}

/* The outbox has room: retries entries, held offers and inputs that waited for it. */
static int
after_drain(gpc_gpu_t *gpu, gpc_node_t node)
{
    const place_t at = place_of(gpu, node);
    GPC_TRY(*at.unit->ready ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK);
    if (at.service->has_core && at.unit->replay->count == 0) {
        GPC_TRY(at.queues->offer_held && !outbox_full(&at) ? retry_offer(gpu, node) : GPC_OK);
        if (!(at.queues->inputs & at.unit->request_networks)) {
            return GPC_OK;
        }
    }
    return can_take(&at) ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK;
}

int
gpc_gpu_outbox_event(gpc_gpu_t *gpu, gpc_node_t node)
{
    if (gpu->queues[node].outbox_wake != tick_now(gpu)) {
        return GPC_OK; /* an earlier event took its place */
    }
    gpu->queues[node].outbox_wake = GPC_NEVER;
    GPC_TRY(drain_outbox(gpu, node));
    return after_drain(gpu, node);
}

/* Messages that waited for the network enter it. Out of line: mostly none wait. */
__attribute__((noinline)) static int
send_waiting(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network, gpc_list_t *waiting)
{
    do {
        const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, waiting->head);
        gpc_network_route_t route = gpc_network_route_of(gpu->carriers[network], msg);
        if (msg->late || !gpc_network_route_has_room(gpu->carriers[network], &route, msg)) {
            break;
        }
        GPC_TRY(enter_network(gpu, node, &route, gpc_list_pop(waiting, &gpu->messages)));
    } while (waiting->count);
    return after_drain(gpu, node);
}

int
gpc_gpu_room(void *world, gpc_node_t node, uint32_t network, uint32_t lane)
{
    gpc_gpu_t *gpu = world;
    gpc_list_t *waiting = waiting_at(gpu, node, network, lane);
    return waiting->count ? send_waiting(gpu, node, network, waiting) : GPC_OK;
}

/* The message enters its controller's pipeline. */
static inline __attribute__((always_inline)) int /* of every message */
enter_pipeline(gpc_gpu_t *gpu, const gpc_controller_t *from, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_list_t *outbox = &gpu->queues[from->node].outbox[msg->network];
    uint32_t number = (uint32_t) msg->type - GPC_MSG_OWN; /* of the protocol's messages; else large */
    bool prompt = number < 32 && (gpu->protocol->prompt.messages >> number & 1);
    gpc_tick_t waits = msg->ready ? msg->ready * gpc_gpu_service(gpu, from->node)->clock.period : 0;
    msg->ready = tick_now(gpu) + waits +
                 (prompt || from->request_networks >> msg->network & 1
                      ? 0 /* a miss passes on its request before the data could be read */
                      : gpc_gpu_service(gpu, from->node)->pipeline_ticks);
    if (msg->ready == tick_now(gpu) && (prompt || outbox->count == 0)) {
        return offer_to_network(gpu, from->node, message);
    }
    gpc_list_push(outbox, &gpu->messages, message);
    return outbox->count > 1 ? GPC_OK /* an event for the first message is scheduled */
                             : schedule_outbox(gpu, from->node, msg->ready);
}

__attribute__((noinline)) int /* the loop of events stays short */
gpc_gpu_crossed(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    uint8_t full = gpu->queues[node].full;
    GPC_TRY(enter_pipeline(gpu, &gpu->controllers[node], message));
    return gpu->queues[node].full != full ? after_drain(gpu, node) : GPC_OK; /* it has left its place already */
}

/* A message that waits for words, or for its way to the other half or die, before the pipeline. Out of line: few
 * machines have such. */
__attribute__((noinline)) static int
send_late(gpc_gpu_t *gpu, const gpc_controller_t *from, gpc_index_t message)
{
    if (gpu->words.banks && from->node >= gpu->machine.cores) {
        GPC_TRY(gpc_gpu_words_before_send(gpu, from, message));
    }
    gpc_tick_t crossing = gpu->crosses ? gpc_gpu_crossing_ticks(gpu, gpc_msg_at(&gpu->messages, message)) : 0;
    /* the messages between two controllers stay in order: all cross */
    return crossing ? gpc_wheel_schedule(&gpu->wheel, tick_now(gpu) + crossing, GPC_EVENT_CROSSED, GPC_PRIORITY_OUTBOX,
                                         from->node, message)
                    : enter_pipeline(gpu, from, message);
}

int
gpc_gpu_send(void *world, gpc_controller_t *from, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_node_queues_t *queues = &gpu->queues[from->node];

    queues->queued[msg->network] += places_of(msg);
    if (queues->queued[msg->network] >= queues->places) {
        queues->full |= (uint8_t) (1u << msg->network);
    }
    return gpu->sends_late ? send_late(gpu, from, message) : enter_pipeline(gpu, from, message);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Moves a message from its buffer to the input register, because a step may free it; a held message stays in the
 * register. */
static inline int
fill_register(const place_t *at, uint32_t network)
{
    gpc_network_t *links = at->gpu->carriers[network];
    if (at->queues->input[network] != GPC_NONE) {
        return GPC_OK;
    }
    if (gpc_network_peek(links, at->node, network) == GPC_NONE) {
        at->queues->inputs &= (uint8_t) ~(1u << network);
        return GPC_OK;
    }
    at->gpu->state->received++;
    return gpc_network_take(links, at->node, network, &at->queues->input[network]);
}

static inline int
take(gpc_gpu_t *gpu, gpc_controller_t *unit, gpc_index_t message)
{
    return gpu->words.on ? gpc_gpu_take_words(gpu, unit, message) : gpc_controller_take(unit, message);
}

/* The operations of an atomic request: of atomic_lanes lanes each. */
static uint32_t
atomic_operations(const place_t *at, uint32_t network, const gpc_msg_t *msg)
{
    if (!at->service->counts_atomics || msg->lanes == GPC_NONE || !(at->unit->request_networks >> network & 1)) {
        return 0;
    }
    const gpc_lane_list_t *list = gpc_lane_list_at(&at->gpu->lane_lists, msg->lanes);
    uint32_t lanes = list->count / (list->width == 2 ? 2u : 1u), merged = at->gpu->machine.atomic_lanes;
    return list->operation == GPC_ATOMIC_MERGE ? 0 : merged ? (lanes + merged - 1) / merged : 1;
}

/* Takes an input on a machine with trips, operations or masks. Out of line: most have none. */
__attribute__((noinline)) static int
look_and_take(const place_t *at, uint32_t network, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&at->gpu->messages, message);
    if (msg->type == GPC_MSG_TRIP) {
        return gpc_gpu_trip_arrived(at->gpu, at->node, message);
    }
    if (msg->type == GPC_MSG_WORDS) {
        return gpc_gpu_words_arrived(at->gpu, at->node, message);
    }
    uint32_t cycles = at->gpu->machine.atomic_cycles, operations = atomic_operations(at, network, msg);
    int status = take(at->gpu, at->unit, message);
    if (status == GPC_OK) {
        at->queues->atomics += operations;
        at->queues->slots += operations && cycles ? operations * cycles - 1 : 0;
    }
    return status;
}

/* The atomics of this tick occupy the bank as long as the inputs do that they are worth. */
__attribute__((noinline)) static void
occupy(const place_t *at, uint32_t inputs)
{
    uint32_t ports = at->service->inputs;
    at->queues->taken += ((inputs + at->queues->slots + ports - 1) / ports - 1) * at->service->clock.period;
    at->queues->used += at->queues->slots;
    at->queues->slots = 0;
}

static inline int
serve_network(const place_t *at, uint32_t network, bool *served)
{
    gpc_index_t *input = &at->queues->input[network];
    int status = fill_register(at, network);

    GPC_TRY(status);
    if (*input == GPC_NONE || ((at->unit->request_networks >> network & 1) && !may_take_from(at, network))) {
        return GPC_OK;
    }
    status = at->service->looks_at_inputs ? look_and_take(at, network, *input) : gpc_controller_take(at->unit, *input);
    if (status == GPC_OK) {
        *input = GPC_NONE;
        *served = true;
        return fill_register(at, network); /* frees its place in the buffer */
    }
    return status == GPC_HELD_QUEUE ? GPC_OK : status;
}

static int
serve_inbox(const place_t *at, bool *served)
{
    gpc_index_t message = gpc_list_pop(&at->queues->inbox, &at->gpu->messages);
    *served = true;
    int status = take(at->gpu, at->unit, message);
    if (status == GPC_HELD_QUEUE) {
        return gpc_fail(&at->gpu->failure, GPC_ERROR_PROTOCOL, "%s %u holds a fill or a timer: they must be accepted",
                        at->unit->type->name, at->unit->index);
    }
    return status;
}

static inline int
serve_replay(const place_t *at, bool *served)
{
    if (at->unit->replay->count == 0) {
        return GPC_OK;
    }
    bool any = may_take_request(at);
    if (!any && !(at->service->has_core && can_take_forward(at->gpu, at->node, 0))) {
        return GPC_OK;
    }
    int status = !any                ? gpc_controller_replay_forward(at->unit)
                 : at->gpu->words.on ? gpc_gpu_replay_words(at->gpu, at->unit)
                                     : gpc_controller_replay(at->unit);
    *served = status == GPC_OK;
    return status == GPC_HELD_QUEUE ? GPC_OK : status;
}

/* Takes one input of these networks, from the highest down. */
static inline __attribute__((always_inline)) int /* of every message */
serve_networks(const place_t *at, uint32_t networks, bool *served)
{
    int status = GPC_OK;
    while (networks && status == GPC_OK && !*served) {
        uint32_t network = 31u - (uint32_t) __builtin_clz(networks);
        networks &= ~(1u << network);
        status = serve_network(at, network, served);
    }
    return status;
}

/* Takes one input, the first that can be taken in order of priority. */
static inline int
serve_one(const place_t *at, bool *served)
{
    uint32_t inputs = at->queues->inputs, requests = at->unit->request_networks;
    *served = false;
    if (at->queues->inbox.count) {
        return serve_inbox(at, served);
    }
    int status = inputs & ~requests ? serve_networks(at, inputs & ~requests, served) : GPC_OK;
    if (status == GPC_OK && !*served) {
        status = serve_replay(at, served);
    }
    if (status == GPC_OK && !*served && at->queues->inputs & requests) {
        status = serve_networks(at, at->queues->inputs & requests, served);
    }
    return status;
}

static inline int
retry_held_offer(const place_t *at)
{
    if (!at->queues->offer_held || at->unit->replay->count || outbox_full(at)) {
        return GPC_OK;
    }
    return retry_offer(at->gpu, at->node);
}

/* Ready entries act once per cycle; one that is refused retries at the next event, whatever schedules it. */
static int
serve_entries(const place_t *at, bool *served)
{
    gpc_tick_t now = tick_now(at->gpu);

    if (at->queues->acted != now) {
        int status = gpc_controller_serve_ready(at->unit);
        if (status != GPC_OK) {
            return status == GPC_HELD_QUEUE ? GPC_OK : status;
        }
        at->queues->acted = now;
        *served = true;
    }
    return *at->unit->ready ? gpc_gpu_schedule_controller(at->gpu, at->node, now + 1) : GPC_OK;
}

static int
serve(gpc_gpu_t *gpu, gpc_node_t node)
{
    const place_t at = place_of(gpu, node);
    bool served = false, more;
    uint32_t inputs = 0;
    int status;
    do { /* one at least */
        status = serve_one(&at, &more);
        served |= more;
    } while (++inputs < at.service->inputs && more && status == GPC_OK);
    if (status == GPC_OK && *at.unit->launch_pending) {
        status = gpc_controller_launch(at.unit, GPC_MSG_KERNEL_END);
        status = status == GPC_HELD_QUEUE ? GPC_OK : status;
    }
    GPC_TRY(status);
    at.queues->taken = served ? tick_now(gpu) : at.queues->taken;
    at.queues->used += inputs - !more;
    if (at.service->looks_at_inputs && at.queues->slots) {
        occupy(&at, inputs - !more);
    }
    if (*at.unit->ready) {
        status = serve_entries(&at, &served);
        GPC_TRY(status);
    }
    if (at.service->has_core) {
        status = retry_held_offer(&at);
    }
    /* inputs not served wait for room in the network or the memory queue, or for a step, which schedule an event */
    if (status == GPC_OK && served && can_take(&at)) {
        status = gpc_gpu_schedule_controller(gpu, node, tick_now(gpu) + 1);
    }
    return status;
}

/* Whether the controller may act without an event: now is an edge of its clock, and no event is scheduled at this tick
 * or was taken at it. */
static bool
may_serve_at_once(const gpc_gpu_t *gpu, gpc_node_t node)
{
    const gpc_node_queues_t *queues = &gpu->queues[node];
    gpc_tick_t now = tick_now(gpu);
    const gpc_service_t *service = gpc_gpu_service(gpu, node);
    return queues->wake > now && (!service->inputs || now >= queues->taken + 1) &&
           gpc_clock_past(service->clock, now) == 0;
}

/* An L1 takes an arriving message immediately; others act after all arrivals of this tick, because fills go first. */
int
gpc_gpu_arrived(void *world, gpc_node_t node, uint32_t network)
{
    gpc_gpu_t *gpu = world;
    gpu->queues[node].inputs |= (uint8_t) (1u << network);
    if (!gpc_gpu_service(gpu, node)->inputs && may_serve_at_once(gpu, node)) {
        return serve(gpu, node);
    }
    return gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
}

int
gpc_gpu_controller_event(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpc_node_queues_t *queues = &gpu->queues[node];

    if (queues->wake != tick_now(gpu)) {
        return GPC_OK; /* an earlier event took its place */
    }
    queues->wake = GPC_NEVER;
    return serve(gpu, node);
}

/* Whether a core's request must wait: an L1's step may send on any network but those of answers. Mostly no outbox is
 * full. */
static inline bool
must_wait(gpc_gpu_t *gpu, gpc_node_t core)
{
    if (!gpu->queues[core].full) {
        return false;
    }
    const place_t at = place_of(gpu, core);
    return outbox_full(&at);
}

int
gpc_gpu_offer(void *world, uint32_t core, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    gpc_node_queues_t *queues = &gpu->queues[core];

    if (must_wait(gpu, (gpc_node_t) core)) {
        queues->offer_held = true;
        return GPC_OFFER_HELD;
    }
    GPC_TRY(gpu->looks_at_pages ? gpc_gpu_access_page(gpu, core, message) : GPC_OK);
    int status = take(gpu, &gpu->controllers[core], message);
    if (status == GPC_HELD_QUEUE) {
        queues->offer_held = true;
        return GPC_OFFER_HELD;
    }
    const gpc_controller_t *l1 = &gpu->controllers[core];
    if (status == GPC_OK && (*l1->ready || queues->inputs & l1->request_networks)) { /* refused ones may retry */
        status = gpc_gpu_schedule_controller(gpu, (gpc_node_t) core, tick_now(gpu));
    }
    if (status == GPC_OK && must_wait(gpu, (gpc_node_t) core)) {
        queues->offer_held = true;
        return GPC_OFFER_LAST;
    }
    return status;
}

int
gpc_gpu_dram_answer(void *world, uint32_t channel, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_node_t node = msg->destination;
    (void) channel;
    if (msg->type == GPC_MSG_WORDS) { /* what waits for it has been through the pipeline */
        gpc_tick_t at = tick_now(gpu) + msg->ready + gpc_gpu_service(gpu, node)->pipeline_ticks;
        return gpc_wheel_schedule(&gpu->wheel, at, GPC_EVENT_TIMER, GPC_PRIORITY_ARRIVE, node, message);
    }
    if (msg->ready) { /* ticks between the bank and the channel, and to the CPU's cache */
        gpc_tick_t at = tick_now(gpu) + msg->ready;
        msg->ready = 0;
        return gpc_wheel_schedule(&gpu->wheel, at, GPC_EVENT_TIMER, GPC_PRIORITY_ARRIVE, node, message);
    }
    gpc_list_push(&gpu->queues[node].inbox, &gpu->messages, message);
    return may_serve_at_once(gpu, node) ? serve(gpu, node) : gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
}

int
gpc_gpu_dram_room(void *world, uint32_t channel)
{
    gpc_gpu_t *gpu = world;
    const gpc_service_t *service = gpu->services;
    const gpc_node_kind_t *kind = gpu->nodes.kinds;
    while (!service->fetches) {
        service++, kind++;
    }
    GPC_TRY(gpu->words.on ? gpc_gpu_words_room(gpu, channel) : GPC_OK);
    uint32_t first = kind->first + (service->own_channel ? channel : 0);
    uint32_t end = service->own_channel ? first + 1 : kind->first + kind->count;
    int status = GPC_OK;

    for (uint32_t node = first; node < end && status == GPC_OK; node++) {
        const place_t at = place_of(gpu, (gpc_node_t) node);
        if (gpc_gpu_reaches(gpu, at.node, channel) && (*at.unit->ready || can_take(&at))) { /* an entry may wait */
            status = gpc_gpu_schedule_controller(gpu, (gpc_node_t) node, tick_now(gpu));
        }
    }
    return status;
}
