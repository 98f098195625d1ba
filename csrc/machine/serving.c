/* serving.c: serves a controller: takes its inputs (offers of its core, messages of the network, fills and timers) and
 * passes on what its steps send. gpc_service_t describes what differs between node kinds.
 *
 * A controller takes as many inputs per cycle of its clock as it has ports: fills and timers first, then answers,
 * replayed requests and requests, each from the highest network down, so that an answer never waits behind a request.
 * An L1 takes network inputs when they arrive and one request of its core per core cycle. In addition, ready entries of
 * a controller's parts take as many steps per cycle as the parts declare. A message leaves after the controller's
 * pipeline, requests and prompt messages at once; a prompt message passes those in the pipeline, and waits behind those
 * that wait for room in its lane of the network. A message between the two halves of a machine (crossing.c) leaves for
 * the pipeline that much later. Back-pressure: a controller takes no request while its outboxes or the
 * memory queue lack room. */
#include "machine/queues.h"

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

/* ---- messages that leave ----------------------------------------------------------------------------------------- */

bool
gpc_gpu_has_room(const void *world, const gpc_controller_t *unit, uint8_t network)
{
    const gpc_gpu_t *gpu = world;
    return !(gpu->queues[unit->node].full >> network & 1);
}

/* The first copy of a multicast takes the place of all. */
static inline uint32_t
places_of(const gpc_msg_t *msg)
{
    return msg->flags & GPC_MSG_FLAG_COPY ? 0 : 1;
}

GPC_INLINED_BY_LINKER int
gpc_gpu_enter_network(gpc_gpu_t *gpu, gpc_node_t node, const gpc_network_route_t *route, gpc_index_t message)
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
int
gpc_gpu_offer_to_network(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_network_route_t route = gpc_network_route_of(gpu->carriers[msg->network], msg);
    if (route.output == GPC_NONE) {
        return refuse_route(gpu, msg);
    }
    gpc_list_t *waiting = waiting_at(gpu, node, msg->network, route.lane);

    if (waiting->count == 0 && !msg->late && route.has_room) {
        return gpc_gpu_enter_network(gpu, node, &route, message);
    }
    gpc_list_push(waiting, &gpu->messages, message); /* gpc_gpu_room sends it */
    return GPC_OK;
}

/* The message enters its controller's pipeline. */
GPC_INLINED_BY_LINKER int
gpc_gpu_enter_pipeline(gpc_gpu_t *gpu, const gpc_controller_t *from, gpc_index_t message)
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
        return gpc_gpu_offer_to_network(gpu, from->node, message);
    }
    gpc_list_push(outbox, &gpu->messages, message);
    return outbox->count > 1 ? GPC_OK /* an event for the first message is scheduled */
                             : schedule_outbox(gpu, from->node, msg->ready);
}

/* A message that waits for words, or for its way to the other half or die, before the pipeline. Out of line: few
 * machines have such. */
__attribute__((noinline)) static int
send_late(gpc_gpu_t *gpu, const gpc_controller_t *from, gpc_index_t message)
{
    if (gpu->words.banks && from->node >= gpu->machine.cores) {
        GPC_TRY(gpc_gpu_words_before_send(gpu, from, message));
    }
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    if (gpc_gpu_takes_link(gpu, msg)) {
        GPC_TRY(GPC_OBSERVE(&gpu->stream.tap, CROSSED, crossed, msg));
    }
    if (gpu->link_queues && gpc_gpu_waits_for_link(gpu, msg)) {
        return gpc_gpu_wait_for_link(gpu, message);
    }
    gpc_tick_t crossing = gpu->crosses ? gpc_gpu_crossing_ticks(gpu, msg) : 0;
    /* the messages between two controllers stay in order: all cross */
    return crossing ? gpc_wheel_schedule(&gpu->wheel, tick_now(gpu) + crossing, GPC_EVENT_CROSSED, GPC_PRIORITY_OUTBOX,
                                         from->node, message)
                    : gpc_gpu_enter_pipeline(gpu, from, message);
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
    return gpu->sends_late ? send_late(gpu, from, message) : gpc_gpu_enter_pipeline(gpu, from, message);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

bool
gpc_gpu_may_take_request(gpc_gpu_t *gpu, gpc_node_t node)
{
    const place_t at = place_of(gpu, node);
    return may_take_request(&at);
}

bool
gpc_gpu_may_take_from(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network)
{
    const place_t at = place_of(gpu, node);
    return may_take_from(&at, network);
}

/* Out of line: most protocols have none that may
 * be held; and a place whose address a call has is no longer in registers. */
__attribute__((noinline)) bool
gpc_gpu_can_take_forward(gpc_gpu_t *gpu, gpc_node_t node, uint32_t networks)
{
    const place_t at = place_of(gpu, node);
    gpc_index_t forward = gpc_controller_forward_to_replay(at.unit);
    bool can = forward != GPC_NONE && may_take_from(&at, gpc_msg_at(&gpu->messages, forward)->network);
    for (; networks && !can; networks &= networks - 1) {
        can = may_take_from(&at, (uint32_t) __builtin_ctz(networks));
    }
    return can;
}

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
    if (!any && !(at->service->has_core && gpc_gpu_can_take_forward(at->gpu, at->node, 0))) {
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

/* The same, beginning below the network of the last one. */
__attribute__((noinline)) static int
serve_rotating(const place_t *at, uint32_t networks, bool *served)
{
    uint32_t below = networks & ((1u << at->queues->rotated) - 1);
    int status = GPC_OK;
    while (networks && status == GPC_OK && !*served) {
        uint32_t network = 31u - (uint32_t) __builtin_clz(below ? below : networks);
        below &= ~(1u << network);
        networks &= ~(1u << network);
        status = serve_network(at, network, served);
        at->queues->rotated = *served ? (uint8_t) network : at->queues->rotated;
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
        status = at->service->rotates ? serve_rotating(at, at->queues->inputs & requests, served)
                                      : serve_networks(at, at->queues->inputs & requests, served);
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
