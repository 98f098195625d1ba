/* topology.c: builds a network: ports of its routers, their wiring, routes, and the initial state. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "fabric/network_parts.h"

static uint32_t
nodes_of(const gpc_network_config_t *config)
{
    return config->cores + config->banks + config->others;
}

/* Takes over the numbers of ports. */
static int
take_ports(gpc_network_parts_t *parts, const gpc_network_config_t *config, uint32_t *sum)
{
    parts->num_nodes = nodes_of(config);
    parts->ports = malloc(parts->num_nodes);
    if (!parts->ports) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t node = 0; node < parts->num_nodes; node++) {
        parts->ports[node] = config->ports ? config->ports[node] : 1;
        if (parts->ports[node] == 0 || parts->ports[node] > GPC_NETWORK_MAX_PORTS) {
            return GPC_ERROR_MACHINE;
        }
        parts->several |= parts->ports[node] > 1;
        *sum += parts->ports[node];
    }
    return GPC_OK;
}

/* Allocates the wiring arrays: `links` inputs and outputs besides the nodes' ports. */
static int
reserve(gpc_network_parts_t *parts, const gpc_network_config_t *config, uint32_t routers, uint32_t links)
{
    uint32_t nodes = nodes_of(config), ports = links;
    GPC_TRY(take_ports(parts, config, &ports));
    parts->num_routers = routers;
    parts->inputs = calloc(ports, sizeof(*parts->inputs));
    parts->outputs = calloc(ports, sizeof(*parts->outputs));
    parts->injection = malloc(nodes * sizeof(*parts->injection));
    parts->ejection = malloc(nodes * sizeof(*parts->ejection));
    parts->routes = malloc((size_t) routers * nodes * sizeof(*parts->routes));
    if (!parts->inputs || !parts->outputs || !parts->injection || !parts->ejection || !parts->routes) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < routers * nodes; i++) {
        parts->routes[i] = GPC_NONE;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        parts->injection[i] = parts->ejection[i] = GPC_NONE;
    }
    return GPC_OK;
}

/* A node's input ports. */
static void
add_injection(gpc_network_parts_t *parts, uint32_t router, gpc_node_t node)
{
    parts->injection[node] = parts->num_inputs;
    for (uint32_t port = 0; port < parts->ports[node]; port++) {
        parts->inputs[parts->num_inputs++] = (gpc_input_wiring_t){.upstream = GPC_NONE, .router = router, .node = node};
    }
}

/* A node's output ports, with the route to the first. */
static void
add_ejection(gpc_network_parts_t *parts, uint32_t networks, uint32_t router, gpc_node_t node, bool counted)
{
    parts->routes[router * parts->num_nodes + node] = parts->ejection[node] = parts->num_outputs;
    for (uint32_t port = 0; port < parts->ports[node]; port++) {
        parts->outputs[parts->num_outputs++] = (gpc_output_wiring_t){.downstream = GPC_NONE,
                                                                     .node = node,
                                                                     .arrival = parts->first_target + node * networks,
                                                                     .router = router,
                                                                     .counted = counted};
    }
}

/* Numbers the outputs of each router, which are consecutive, like the inputs. */
static uint32_t
number_outputs(gpc_network_parts_t *parts)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < parts->num_inputs; i++) {
        gpc_input_wiring_t *input = &parts->inputs[i];
        input->first_output = GPC_NONE;
        for (uint32_t o = 0; o < parts->num_outputs; o++) {
            if (parts->outputs[o].router == input->router) {
                input->first_output = input->first_output == GPC_NONE ? o : input->first_output;
                parts->outputs[o].bit = input->num_outputs++;
                assert(o == input->first_output + parts->outputs[o].bit);
            }
        }
        most = input->num_outputs > most ? input->num_outputs : most;
    }
    return most;
}

/* After all ports are added: numbers the inputs of each router, which are consecutive, router 0 first. */
static void
number_ports(gpc_network_parts_t *parts)
{
    uint32_t most = number_outputs(parts);

    for (uint32_t o = 0; o < parts->num_outputs; o++) {
        gpc_output_wiring_t *output = &parts->outputs[o];
        uint32_t first = 0;
        while (first < parts->num_inputs && parts->inputs[first].router < output->router) {
            first++;
        }
        output->first_input = first;
        while (first + output->num_inputs < parts->num_inputs &&
               parts->inputs[first + output->num_inputs].router == output->router) {
            parts->inputs[first + output->num_inputs].bit = output->num_inputs;
            output->num_inputs++;
        }
        output->num_outputs = gpc_divider(parts->inputs[output->first_input].num_outputs);
        output->first_place = parts->first_target + parts->inputs[output->first_input].first_output;
        most = output->num_inputs > most ? output->num_inputs : most;
    }
    parts->request_words = gpc_network_words(most);
}

/* An input of a crossbar or star has one queue per output and virtual network, an input of a mesh one per virtual
 * network. */
static void
number_queues(gpc_network_parts_t *parts, const gpc_network_config_t *config)
{
    for (uint32_t i = 0; i < parts->num_inputs; i++) {
        gpc_input_wiring_t *input = &parts->inputs[i];
        input->by_output = config->topology != GPC_TOPOLOGY_MESH;
        input->network_queues = input->by_output ? (uint16_t) input->num_outputs : 1;
        input->first_queue = parts->num_queues;
        parts->num_queues += config->networks * input->network_queues;
    }
}

/* Router 0 leads from cores to banks and others, router 1 back. Messages from core to core are routed by line, to the
 * home bank. */
static int
build_crossbars(gpc_network_parts_t *parts, const gpc_network_config_t *config)
{
    uint32_t nodes = nodes_of(config);
    GPC_TRY(reserve(parts, config, 2, 0));
    for (uint32_t node = 0; node < nodes; node++) {
        add_injection(parts, node < config->cores ? 0 : 1, (gpc_node_t) node);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        add_ejection(parts, config->networks, node < config->cores ? 1 : 0, (gpc_node_t) node, true);
    }
    return GPC_OK;
}

/* One hub; crossing it counts as one hop, as a crossbar does. */
static int
build_star(gpc_network_parts_t *parts, const gpc_network_config_t *config)
{
    GPC_TRY(reserve(parts, config, 1, 0));
    for (uint32_t node = 0; node < parts->num_nodes; node++) {
        add_injection(parts, 0, (gpc_node_t) node);
        add_ejection(parts, config->networks, 0, (gpc_node_t) node, true);
    }
    return GPC_OK;
}

/* ---- mesh -------------------------------------------------------------------------------------------------------- */

enum { EAST, WEST, SOUTH, NORTH, NUM_DIRECTIONS };

/* The adjacent router in a direction, or GPC_NONE at the edge of the mesh. */
static uint32_t
neighbour(uint32_t width, uint32_t height, uint32_t router, uint32_t direction)
{
    uint32_t x = router % width, y = router / width;
    switch (direction) {
        case EAST:
            return x + 1 < width ? router + 1 : GPC_NONE;
        case WEST:
            return x > 0 ? router - 1 : GPC_NONE;
        case SOUTH:
            return y + 1 < height ? router + width : GPC_NONE;
        default:
            return y > 0 ? router - width : GPC_NONE;
    }
}

/* Dimension-order routing, x first: free of cyclic buffer dependencies. */
static uint32_t
direction_to(uint32_t width, uint32_t router, uint32_t target)
{
    if (router % width != target % width) {
        return router % width < target % width ? EAST : WEST;
    }
    return router / width < target / width ? SOUTH : NORTH;
}

/* The router of a node: nodes of one kind are next to each other. */
static uint32_t
router_of(const gpc_network_config_t *config, uint32_t routers, uint32_t node)
{
    if (node < config->cores) {
        return node % routers;
    }
    node -= config->cores;
    return (node < config->banks ? node : node - config->banks) % routers;
}

/* Adds the ports of every router and connects each output to the opposite input. */
static void
add_mesh_ports(gpc_network_parts_t *parts, const gpc_network_config_t *config, uint32_t height, uint32_t *input_at,
               uint32_t *output_at)
{
    uint32_t width = config->mesh_width, routers = parts->num_routers;

    for (uint32_t router = 0; router < routers; router++) {
        for (uint32_t node = 0; node < parts->num_nodes; node++) {
            if (router_of(config, routers, node) == router) {
                add_injection(parts, router, (gpc_node_t) node);
                add_ejection(parts, config->networks, router, (gpc_node_t) node, false);
            }
        }
        for (uint32_t direction = 0; direction < NUM_DIRECTIONS; direction++) {
            if (neighbour(width, height, router, direction) != GPC_NONE) {
                input_at[router * NUM_DIRECTIONS + direction] = parts->num_inputs;
                parts->inputs[parts->num_inputs++] = (gpc_input_wiring_t){.router = router, .node = GPC_NO_NODE};
                output_at[router * NUM_DIRECTIONS + direction] = parts->num_outputs;
                parts->outputs[parts->num_outputs++] =
                    (gpc_output_wiring_t){.node = GPC_NO_NODE, .router = router, .counted = true};
            }
        }
    }
    for (uint32_t router = 0; router < routers; router++) {
        for (uint32_t direction = 0; direction < NUM_DIRECTIONS; direction++) {
            uint32_t other = neighbour(width, height, router, direction);
            if (other != GPC_NONE) {
                uint32_t output = output_at[router * NUM_DIRECTIONS + direction];
                uint32_t input = input_at[other * NUM_DIRECTIONS + (direction ^ 1u)]; /* in the opposite direction */
                parts->outputs[output].downstream = input;
                parts->inputs[input].upstream = output;
            }
        }
    }
}

static int
build_mesh(gpc_network_parts_t *parts, const gpc_network_config_t *config)
{
    uint32_t nodes = nodes_of(config), width = config->mesh_width;
    uint32_t most = config->cores > config->banks ? config->cores : config->banks;
    uint32_t height = (most + width - 1) / width, routers = width * height;
    GPC_TRY(reserve(parts, config, routers, routers * NUM_DIRECTIONS));
    uint32_t *input_at = calloc((size_t) routers * NUM_DIRECTIONS * 2, sizeof(*input_at));
    if (!input_at) {
        return GPC_ERROR_MEMORY;
    }
    uint32_t *output_at = input_at + routers * NUM_DIRECTIONS;
    add_mesh_ports(parts, config, height, input_at, output_at);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t target = parts->inputs[parts->injection[node]].router;
        for (uint32_t router = 0; router < routers; router++) {
            if (router != target) {
                parts->routes[router * nodes + node] =
                    output_at[router * NUM_DIRECTIONS + direction_to(width, router, target)];
            }
        }
    }
    free(input_at);
    return GPC_OK;
}

static int
build(gpc_network_parts_t *parts, const gpc_network_config_t *config)
{
    int status = GPC_ERROR_MACHINE;

    switch (config->topology) {
        case GPC_TOPOLOGY_CROSSBAR:
            status = build_crossbars(parts, config);
            break;
        case GPC_TOPOLOGY_MESH:
            status = config->mesh_width ? build_mesh(parts, config) : GPC_ERROR_MACHINE;
            break;
        case GPC_TOPOLOGY_STAR:
            status = build_star(parts, config);
            break;
    }
    if (status == GPC_OK) {
        number_ports(parts);
        number_queues(parts, config);
    }
    return status;
}

/* ---- creation and state ------------------------------------------------------------------------------------------ */

static int
take_state(gpc_network_parts_t *parts, const gpc_network_config_t *config, gpc_arena_t *arena)
{
    parts->input_states = GPC_ARENA_TAKE(arena, parts->num_inputs, gpc_input_state_t);
    parts->output_states = GPC_ARENA_TAKE(arena, parts->num_outputs, gpc_output_state_t);
    parts->node_states = GPC_ARENA_TAKE(arena, parts->num_nodes, gpc_node_state_t);
    parts->queues = GPC_ARENA_TAKE(arena, parts->num_queues, gpc_queue_t);
    size_t words = (size_t) config->networks * parts->request_words;
    parts->requests = GPC_ARENA_TAKE(arena, parts->num_outputs * words, uint64_t);
    parts->wants = GPC_ARENA_TAKE(arena, parts->num_inputs * words, uint64_t);
    parts->state = GPC_ARENA_TAKE(arena, 1, gpc_network_state_t);
    bool complete = parts->input_states && parts->output_states && parts->node_states && parts->queues &&
                    parts->requests && parts->wants && parts->state;
    for (uint32_t i = 0; complete && i < parts->num_outputs; i++) {
        parts->outputs[i].requests = parts->requests + i * words;
    }
    for (uint32_t i = 0; complete && i < parts->num_inputs; i++) {
        parts->inputs[i].wants = parts->wants + i * words;
    }
    return complete ? GPC_OK : GPC_ERROR_MEMORY;
}

int
gpc_network_init(gpc_network_t *self, const gpc_network_config_t *config, gpc_arena_t *arena, gpc_pool_t *messages,
                 gpc_wheel_t *wheel, const gpc_network_hooks_t *hooks)
{
    *self = (gpc_network_t){.config = *config, .messages = messages, .wheel = wheel, .hooks = *hooks};
    if (config->cores == 0 || config->cores > GPC_MAX_CORES || config->banks == 0 || config->banks > GPC_MAX_BANKS ||
        config->networks == 0 || config->networks > GPC_MAX_NETWORKS || config->vc_flits == 0 || config->latency == 0 ||
        config->clock.period == 0 || !config->homes) {
        return GPC_ERROR_MACHINE;
    }
    self->parts = calloc(1, sizeof(*self->parts));
    if (self->parts) {
        self->parts->first_target = config->number << GPC_NETWORK_TARGET_BITS;
        self->parts->arrive_kind = config->number ? GPC_EVENT_OTHER_ARRIVE : GPC_EVENT_NETWORK_ARRIVE;
        self->parts->grant_kind = config->number ? GPC_EVENT_OTHER_GRANT : GPC_EVENT_NETWORK_GRANT;
    }
    self->traffic = GPC_ARENA_TAKE(arena, 256, gpc_traffic_t);
    if (!self->parts || !self->traffic) {
        return GPC_ERROR_MEMORY;
    }
    int status = build(self->parts, config);
    if (status == GPC_OK) {
        status = take_state(self->parts, config, arena);
    }
    if (status == GPC_OK) {
        gpc_network_clear(self);
    }
    return status;
}

void
gpc_network_free(gpc_network_t *self)
{
    if (self->parts) {
        free(self->parts->inputs);
        free(self->parts->outputs);
        free(self->parts->ports);
        free(self->parts->injection);
        free(self->parts->ejection);
        free(self->parts->routes);
        free(self->parts);
        self->parts = NULL;
    }
}

void
gpc_network_clear(gpc_network_t *self)
{
    gpc_network_parts_t *parts = self->parts;
    uint32_t networks = self->config.networks;

    for (uint32_t i = 0; i < parts->num_inputs; i++) {
        parts->input_states[i] = (gpc_input_state_t){.claimed_by = GPC_NONE, .streams_to = GPC_NONE};
    }
    for (uint32_t i = 0; i < parts->num_queues; i++) {
        parts->queues[i].room = self->config.vc_flits;
        gpc_list_clear(&parts->queues[i].list);
    }
    for (uint32_t o = 0; o < parts->num_outputs; o++) {
        gpc_output_state_t *state = &parts->output_states[o];
        *state =
            (gpc_output_state_t){.busy = state->busy, .wake = GPC_NEVER, .streams_from = GPC_NONE, .ended = GPC_NONE};
        for (uint32_t network = 0; network < networks; network++) {
            state->credits[network] = self->config.vc_flits;
            state->passed[network] = GPC_NONE;
        }
    }
    size_t words = (size_t) networks * parts->request_words;
    memset(parts->requests, 0, parts->num_outputs * words * sizeof(*parts->requests));
    memset(parts->wants, 0, parts->num_inputs * words * sizeof(*parts->wants));
    for (uint32_t node = 0; node < parts->num_nodes; node++) {
        parts->node_states[node] = (gpc_node_state_t){{{0, 0, 0}}, {false}};
        for (uint32_t network = 0; network < networks; network++) {
            gpc_list_clear(&parts->node_states[node].ejected[network]);
        }
    }
    parts->state->in_flight = 0;
}

uint32_t
gpc_network_hops_to_corner(const gpc_network_t *self, gpc_node_t from, uint32_t corner)
{
    const gpc_network_parts_t *parts = self->parts;
    uint32_t width = self->config.mesh_width, router = parts->inputs[parts->injection[from]].router;

    if (self->config.topology != GPC_TOPOLOGY_MESH) {
        return 0;
    }
    uint32_t east = width - 1, south = parts->num_routers / width - 1, x = router % width, y = router / width;
    return (corner & 1 ? east - x : x) + (corner & 2 ? south - y : y);
}

uint32_t
gpc_network_zero_load(const gpc_network_t *self, gpc_node_t from, gpc_node_t to, uint32_t flits)
{
    const gpc_network_parts_t *parts = self->parts;
    const gpc_network_config_t *config = &self->config;
    uint32_t router = parts->inputs[parts->injection[from]].router, grants = 1;

    if (config->topology == GPC_TOPOLOGY_CROSSBAR && gpc_network_is_core(config, from) &&
        gpc_network_is_core(config, to)) {
        return 2 * (config->latency + gpc_network_tail(config, flits));
    }
    for (;;) {
        uint32_t output = parts->routes[router * parts->num_nodes + to];
        assert(output != GPC_NONE);
        if (parts->outputs[output].downstream == GPC_NONE) {
            return grants * config->latency + gpc_network_tail(config, flits);
        }
        router = parts->inputs[parts->outputs[output].downstream].router;
        grants++;
    }
}
