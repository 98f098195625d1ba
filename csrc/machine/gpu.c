/* gpu.c: construction of a GPU, and derivation of its clocks and latencies. */
#include "machine/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "check/profile/profile.h"
#include "check/trace/trace.h"
#include "controller/describe.h"
#include "controller/resolve.h"
#include "machine/parts.h"

static int
make_clocks(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t star_mhz = gpu->num_links > GPC_STAR && m->star_mhz ? m->star_mhz : m->noc_mhz;
    uint32_t mhz[3 + GPC_NUM_POSITIONS] = {m->noc_mhz, m->dram_mhz, star_mhz};
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        mhz[3 + i] = gpc_position_mhz(m, gpu->nodes.kinds[i].position);
    }
    uint64_t hz = gpc_clock_common_hz(mhz, 3 + gpu->nodes.num_kinds);
    if (hz == 0) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MACHINE,
                        "clocks of %u (cores), %u (L2), %u (network) and %u MHz (DRAM): the least common multiple of "
                        "all clocks must be at most 2^40 Hz",
                        m->core_mhz, m->l2_mhz, m->noc_mhz, m->dram_mhz);
    }
    gpu->core_clock.period = hz / (UINT64_C(1000000) * m->core_mhz);
    gpu->link_clocks[GPC_INTERCONNECT].period = hz / (UINT64_C(1000000) * m->noc_mhz);
    gpu->link_clocks[GPC_STAR].period = hz / (UINT64_C(1000000) * star_mhz);
    gpu->dram_clock.period = hz / (UINT64_C(1000000) * m->dram_mhz);
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        gpu->services[i].clock.period = hz / (UINT64_C(1000000) * mhz[3 + i]);
    }
    return GPC_OK;
}

/* The pipeline in whole cycles of the unit's clock. */
static void
set_pipeline(gpc_service_t *service, gpc_tick_t ticks)
{
    service->pipeline_ticks = gpc_clock_edge(service->clock, ticks);
    service->pipeline_stages = (uint32_t) (service->pipeline_ticks / service->clock.period);
}

/* Latency of a request from a bank to a controller at the memory side, through its pipeline, and of the line back,
 * unloaded and without the bank's pipeline; 0 without such a controller. */
static gpc_tick_t
memory_side_ticks(const gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    const gpc_node_kind_t *banks = gpc_nodes_at(&gpu->nodes, GPC_AT_BANK),
                          *memory = gpc_nodes_at(&gpu->nodes, GPC_AT_MEMORY);
    const gpc_network_t *star = &gpu->links[GPC_STAR];
    gpc_clock_t link = gpu->link_clocks[GPC_STAR];

    if (!memory || gpu->num_links <= GPC_STAR) {
        return 0;
    }
    uint32_t up = (8 + m->flit_bytes - 1) / m->flit_bytes,
             down = (8 + m->line_bytes + m->flit_bytes - 1) / m->flit_bytes;
    gpc_tick_t arrives = gpc_network_zero_load(star, banks->first, memory->first, up) * link.period;
    const gpc_service_t *service = &gpu->services[memory - gpu->nodes.kinds];
    gpc_tick_t sent = gpc_clock_edge(link, gpc_clock_edge(service->clock, arrives) + service->pipeline_ticks);
    gpc_tick_t back = sent + gpc_network_zero_load(star, memory->first, banks->first, down) * link.period;
    return gpc_clock_edge(gpu->services[banks - gpu->nodes.kinds].clock, back);
}

/* Memory latency beyond an L2 hit. With banks and rows it includes the timings of a closed row; the remainder is the
 * memory controller's. */
static int
derive_memory(gpc_gpu_t *gpu, gpc_dram_config_t *dram)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_tick_t core = gpu->core_clock.period, timings = gpc_dram_closed_row_ticks(dram);
    gpc_tick_t side = memory_side_ticks(gpu);
    gpc_tick_t least = m->l2_round_trip + ((timings ? timings : core) + side + core - 1) / core;

    if (m->dram_round_trip < least) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MACHINE,
                        "dram_round_trip = %u core cycles: must be at least %llu (l2_round_trip %u and %s%s)",
                        m->dram_round_trip, (unsigned long long) least, m->l2_round_trip,
                        timings ? "the DRAM timings of a closed row" : "one cycle",
                        side ? ", and the star to the memory side" : "");
    }
    dram->latency = (m->dram_round_trip - m->l2_round_trip) * core - timings - side;
    return GPC_OK;
}

/* The unloaded latency, load to use, of a load issued on a common clock edge consists of the request's network latency,
 * the bank's step at its next edge, the bank's pipeline, the answer's network latency, and the fill. The pipeline takes
 * the rest of the machine's round trip in whole L2 cycles; the fill takes the remaining core cycles. */
int
gpc_gpu_derive_latencies(gpc_gpu_t *gpu, gpc_dram_config_t *dram)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_node_t bank = gpc_nodes_at(&gpu->nodes, GPC_AT_BANK)->first;
    gpc_service_t *service = &gpu->services[GPC_AT_BANK];
    uint32_t up = (8 + m->flit_bytes - 1) / m->flit_bytes,
             down = (8 + m->line_bytes + m->flit_bytes - 1) / m->flit_bytes;
    gpc_tick_t noc = gpu->link_clocks[GPC_INTERCONNECT].period, core = gpu->core_clock.period;
    gpc_tick_t step =
        gpc_clock_edge(service->clock, gpc_network_zero_load(&gpu->links[GPC_INTERCONNECT], 0, bank, up) * noc);
    gpc_tick_t answer = gpc_network_zero_load(&gpu->links[GPC_INTERCONNECT], bank, 0, down) * noc;
    gpc_tick_t whole = m->l2_round_trip * core;

    if (gpc_clock_edge(gpu->link_clocks[GPC_INTERCONNECT], step) + answer > whole) {
        return gpc_fail(
            &gpu->failure, GPC_ERROR_MACHINE,
            "l2_round_trip = %u core cycles: must be at least %llu (network traversal)", m->l2_round_trip,
            (unsigned long long) ((gpc_clock_edge(gpu->link_clocks[GPC_INTERCONNECT], step) + answer + core - 1) /
                                  core));
    }
    service->pipeline_ticks = (whole - step - answer) / service->clock.period * service->clock.period;
    gpc_tick_t back = gpc_clock_edge(gpu->link_clocks[GPC_INTERCONNECT], step + service->pipeline_ticks) + answer;
    while (back > whole) { /* clocks without common edges: the network's next edge was too late */
        service->pipeline_ticks -= service->clock.period;
        back = gpc_clock_edge(gpu->link_clocks[GPC_INTERCONNECT], step + service->pipeline_ticks) + answer;
    }
    set_pipeline(service, service->pipeline_ticks);
    gpu->fill_cycles = (whole - (back + core - 1) / core * core) / core;
    const gpc_node_kind_t *memory = gpc_nodes_at(&gpu->nodes, GPC_AT_MEMORY);
    if (memory) {
        set_pipeline(&gpu->services[memory - gpu->nodes.kinds], m->l3_latency * core);
    }
    return derive_memory(gpu, dram);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static int
make_links(gpc_gpu_t *gpu, gpc_links_t which)
{
    const gpc_machine_t *m = &gpu->machine;
    bool star = which == GPC_STAR;
    gpc_network_hooks_t hooks = {gpc_gpu_arrived, gpc_gpu_room, gpu};
    uint8_t *ports = malloc(gpu->nodes.count);
    if (!ports) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        memset(&ports[gpu->nodes.kinds[i].first], gpu->services[i].ports[which], gpu->nodes.kinds[i].count);
    }
    gpc_network_config_t config = {.topology = star ? GPC_TOPOLOGY_STAR : (gpc_topology_t) m->topology,
                                   .cores = m->cores,
                                   .banks = m->partitions,
                                   .others = gpu->nodes.count - m->cores - m->partitions,
                                   .ports = ports,
                                   .number = which,
                                   .mesh_width = m->mesh_width,
                                   .networks = gpu->num_networks,
                                   .vc_flits = m->vc_flits,
                                   .latency = star ? m->star_latency : m->noc_latency,
                                   .jitter = star ? 0 : m->noc_jitter,
                                   .flit_gap = star ? 0 : m->noc_flit_gap,
                                   .clock = gpu->link_clocks[which],
                                   .homes = &gpu->homes};
    int status = gpc_network_init(&gpu->links[which], &config, &gpu->arena, &gpu->messages, &gpu->wheel, &hooks);
    free(ports);
    return status;
}

static int
make_fabric(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    int status = GPC_OK;
    gpu->homes = gpc_homes(m);
    GPC_TRY(gpc_gpu_make_pages(gpu));
    for (uint32_t which = 0; which < gpu->num_links && status == GPC_OK; which++) {
        status = make_links(gpu, (gpc_links_t) which);
    }
    uint32_t banks =
        m->dram_channels ? gpu->homes.banks.divisor : 1; /* of a channel; their lines are consecutive in it */
    gpc_dram_config_t dram = {.channels = gpc_gpu_channels(gpu),
                              .model = m->dram_model,
                              .queue = m->dram_queue,
                              /* Each outstanding recall has an MSHR entry; a read may write the CPU's line. */
                              .answers = m->l2_mshrs * banks + (m->cpu_bytes ? m->dram_queue + 1 : 0),
                              .line_bytes = m->line_bytes,
                              .bytes_per_cycle = m->dram_bytes_per_cycle,
                              .banks = m->dram_banks,
                              .row_bytes = m->dram_row_bytes,
                              .burst_bytes = m->dram_burst_bytes,
                              .interleave_bytes = m->interleave_bytes * banks,
                              .page_bytes = m->page_bytes,
                              .dies = gpc_interleaved_dies(m),
                              .bank_cycles = m->dram_bank_cycles,
                              .t_cl = m->dram_t_cl,
                              .t_rp = m->dram_t_rp,
                              .t_rc = m->dram_t_rc,
                              .t_ras = m->dram_t_ras,
                              .t_ccd = m->dram_t_ccd,
                              .t_wl = m->dram_t_wl,
                              .t_rcd = m->dram_t_rcd,
                              .t_rrd = m->dram_t_rrd,
                              .t_cdlr = m->dram_t_cdlr,
                              .t_wr = m->dram_t_wr,
                              .t_ccdl = m->dram_t_ccdl,
                              .t_rtpl = m->dram_t_rtpl,
                              .clock = gpu->dram_clock};

    if (status == GPC_OK) {
        status = gpc_gpu_derive_latencies(gpu, &dram);
    }
    GPC_TRY(status);
    status = gpc_dram_init(&gpu->dram, &dram, &gpu->arena, &gpu->messages, gpu->memory, &gpu->wheel,
                           gpc_gpu_dram_answer, gpu);
    gpu->dram.room = gpc_gpu_dram_room;
    gpc_stream_connect(&gpu->stream, &gpu->dram.tap);
    GPC_TRY(status);
    return gpc_cpu_cache_init(&gpu->cpu, m, gpu->core_clock, &gpu->arena);
}

/* What distinguishes the positions. A controller that sends requests to the next level takes none while any outbox is
 * full, and a home none while its answers have no room. */
static void
make_services(gpc_gpu_t *gpu)
{
    uint8_t requests = 0, answers = 0;

    for (uint32_t i = 0; i < gpu->num_networks; i++) {
        requests |= (uint8_t) (gpu->protocol->networks[i].requests << i);
        answers |= (uint8_t) (gpu->protocol->networks[i].answers << i);
    }
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        const gpc_node_kind_t *kind = &gpu->nodes.kinds[i];
        gpc_service_t *service = &gpu->services[i];
        service->has_core = kind->position == GPC_AT_CORE;
        service->ports[GPC_INTERCONNECT] = (uint8_t) (kind->position == GPC_AT_BANK ? gpu->machine.l2_ports : 1);
        service->ports[GPC_STAR] = (uint8_t) (kind->level > 1 ? gpu->machine.star_ports : 1);
        service->inputs = service->has_core               ? 0
                          : kind->position == GPC_AT_BANK ? service->ports[GPC_INTERCONNECT]
                                                          : service->ports[GPC_STAR];
        service->counts_atomics =
            kind->position == GPC_AT_BANK && (gpu->machine.atomic_lanes || gpu->machine.atomic_cycles);
        service->looks_at_inputs = service->counts_atomics || gpu->machine.fence_trip || gpu->machine.sector_bytes ||
                                   gpu->machine.l2_byte_masks;
        service->fetches = kind->level == gpu->nodes.top;
        service->own_channel = kind->position == GPC_AT_BANK && gpu->machine.dram_channels == 0;
        for (uint32_t network = 0; network < gpu->num_networks; network++) {
            service->rotates |= kind->position == GPC_AT_BANK && gpu->protocol->networks[network].rotates;
        }
        service->needs_room = service->fetches    ? (uint8_t) ~requests
                              : service->has_core ? (uint8_t) ~answers
                                                  : UINT8_MAX;
    }
}

/* An outbox includes the controller's pipeline and the way to the other half of the L2, die or GPU: a message per stage
 * and input of a cycle, and a few that wait for the network. */
static uint32_t
outbox_places(const gpc_gpu_t *gpu, gpc_node_t node)
{
    uint32_t declared = gpu->controllers[node].type->outbox;
    const gpc_service_t *service = gpc_gpu_service(gpu, node);
    gpc_tick_t crossing = gpc_gpu_longest_crossing(gpu) * gpu->core_clock.period;
    uint32_t stages = (uint32_t) ((crossing + service->clock.period - 1) / service->clock.period);
    return (declared ? declared : GPC_OUTBOX_LIMIT) + service->pipeline_stages * service->inputs +
           stages * (service->inputs ? service->inputs : 1);
}

void
gpc_gpu_clear_queues(gpc_gpu_t *gpu)
{
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_node_queues_t *queues = &gpu->queues[node];
        for (uint32_t network = 0; network < GPC_MAX_NETWORKS; network++) {
            gpc_list_clear(&queues->outbox[network]);
            queues->queued[network] = 0;
            queues->input[network] = GPC_NONE;
        }
        gpc_list_clear(&queues->inbox);
        queues->places = outbox_places(gpu, (gpc_node_t) node);
        queues->inputs = queues->full = 0;
        queues->wake = queues->outbox_wake = queues->taken = queues->acted = GPC_NEVER;
        queues->offer_held = false;
        queues->slots = 0;
    }
    for (size_t i = 0; i < (size_t) gpc_gpu_nodes(gpu) * gpu->num_networks * gpu->lanes; i++) {
        gpc_list_clear(&gpu->waiting[i]);
    }
    gpc_gpu_clear_words(gpu);
}

static int
make_kind(gpc_gpu_t *gpu, uint32_t number)
{
    const gpc_node_kind_t *kind = &gpu->nodes.kinds[number];

    for (uint32_t index = 0; index < kind->count; index++) {
        gpc_node_t node = (gpc_node_t) (kind->first + index);
        gpc_controller_t *unit = &gpu->controllers[node];
        *unit = (gpc_controller_t){.protocol = gpu->protocol,
                                   .options = gpu->options,
                                   .rule = gpu->rule,
                                   .machine = &gpu->machine,
                                   .ports = &gpc_gpu_ports,
                                   .world = gpu,
                                   .messages = &gpu->messages,
                                   .lane_lists = &gpu->lane_lists,
                                   .failure = &gpu->failure,
                                   .instant_filter = gpu->instant_filter,
                                   .nodes = &gpu->nodes,
                                   .node = node,
                                   .index = index};
        gpc_stream_connect(&gpu->stream, &unit->tap);
        GPC_TRY(gpc_controller_init(unit, kind->type, &gpu->arena));
        unit->homes = gpu->homes; /* with the pages that have been touched */
        gpu->queues[node].kind = (uint8_t) number;
        if (kind->position == GPC_AT_CORE) {
            gpu->l1s[index] = unit;
        }
    }
    return GPC_OK;
}

static int
make_controllers(gpc_gpu_t *gpu)
{
    uint32_t nodes = gpc_gpu_nodes(gpu);

    gpu->controllers = GPC_ARENA_TAKE(&gpu->constants, nodes, gpc_controller_t);
    gpu->l1s = calloc(gpu->machine.cores, sizeof(gpc_controller_t *));
    gpu->queues = GPC_ARENA_TAKE(&gpu->arena, nodes, gpc_node_queues_t);
    for (uint32_t i = 0; i < gpu->num_links; i++) {
        uint32_t lanes = gpc_network_lanes(&gpu->links[i]);
        gpu->lanes = lanes > gpu->lanes ? lanes : gpu->lanes;
    }
    gpu->waiting = GPC_ARENA_TAKE(&gpu->arena, (size_t) nodes * gpu->num_networks * gpu->lanes, gpc_list_t);
    if (!gpu->controllers || !gpu->l1s || !gpu->queues || !gpu->waiting) {
        return GPC_ERROR_MEMORY;
    }
    if (gpu->protocol->instant_filter) {
        gpu->instant_filter = gpc_arena_take(&gpu->arena, 1, gpu->protocol->instant_filter->bytes(gpu->machine.cores));
        if (!gpu->instant_filter) {
            return GPC_ERROR_MEMORY;
        }
    }
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        GPC_TRY(make_kind(gpu, i));
    }
    gpc_gpu_clear_queues(gpu);
    gpu->crosses = gpu->machine.l2_crossing || gpu->machine.dies > 1;
    GPC_TRY(gpc_gpu_make_die_links(gpu));
    return gpc_gpu_make_words(gpu);
}

/* Sizes the pools by every finite resource that can hold a message: back-pressure occurs before a pool is exhausted. */
static int
make_pools(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t requests = m->cores * m->requests_per_core * (gpc_protocol_splits_requests(gpu->protocol) ? 2 : 1);
    uint32_t messages = 2 * requests + m->partitions * (4 * m->l2_mshrs + 2 * m->dram_queue + 256) + 4096;
    messages += m->fence_trip ? m->cores * m->warps_per_core : 0;
    messages += (gpu->nodes.count - m->cores - m->partitions) * (4 * m->l3_mshrs + 4096);
    messages += m->sector_bytes || m->l2_byte_masks ? 2 * requests : 0;
    messages += (uint32_t) gpc_gpu_longest_crossing(gpu) * (m->cores + m->partitions * m->l2_ports);

    int status = gpc_pool_init(&gpu->messages, &gpu->arena, messages, sizeof(gpc_msg_t));
    if (status == GPC_OK) {
        status = gpc_pool_init(&gpu->lane_lists, &gpu->arena, requests + 64, sizeof(gpc_lane_list_t));
    }
    if (status == GPC_OK) {
        status = gpc_wheel_init(&gpu->wheel, &gpu->arena, 2 * messages + 64 * gpc_gpu_nodes(gpu) + 4096);
    }
    if (status == GPC_OK) {
        status = gpc_wheel_declare_edges(&gpu->wheel, &gpu->arena, GPC_EVENT_CORE, GPC_PRIORITY_CORE,
                                         gpu->core_clock.period, m->cores);
    }
    return status;
}

static int
make_cores(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_core_hooks_t hooks = {gpc_gpu_offer, gpc_gpu_schedule_core, gpc_gpu_hook_now, gpu};
    gpc_order_sizes_t sizes = {m->cores, m->warps_per_core, m->blocks_per_core, m->requests_per_core};

    int status = gpc_order_init(&gpu->order, gpu->rule, &gpu->protocol->order, gpu->l1s, &sizes, gpc_order_options(m),
                                &gpu->arena);
    GPC_TRY(status);
    status = gpc_cores_init(&gpu->cores, m, &gpu->order, &gpu->messages, &gpu->lane_lists, gpu->memory, &gpu->failure,
                            &hooks, &gpu->arena);
    gpu->cores.words_whole = gpc_protocol_keeps_whole(gpu->protocol);
    gpu->cores.words_apart = gpc_protocol_splits_pairs(gpu->protocol);
    gpc_stream_connect(&gpu->stream, &gpu->cores.tap);
    return status;
}

static void
count_networks(gpc_gpu_t *gpu)
{
    gpu->num_links = 1;
    while (gpu->num_networks < GPC_MAX_NETWORKS && gpu->protocol->networks[gpu->num_networks].name) {
        gpc_links_t links = gpu->protocol->networks[gpu->num_networks].star ? GPC_STAR : GPC_INTERCONNECT;
        gpu->carriers[gpu->num_networks++] = &gpu->links[links];
        gpu->num_links = links == GPC_STAR ? GPC_NUM_LINKS : gpu->num_links;
    }
}

static int
choose_protocol(gpc_gpu_t *gpu, const gpc_setup_t *setup)
{
    gpu->chosen = gpu->protocol = setup->protocol;
    gpu->rule = setup->rule == GPC_RULE_DEFAULT ? gpu->protocol->standard_rule : setup->rule;
    if ((unsigned) gpu->rule >= GPC_NUM_RULES || !gpu->protocol->model[gpu->rule]) {
        return gpc_fail(&gpu->failure, GPC_ERROR_RULE, "protocol %s does not support consistency %s", gpu->protocol->id,
                        gpc_rule_name(gpu->rule));
    }
    GPC_TRY(gpc_protocol_check_time(gpu->protocol, &gpu->failure));
    GPC_TRY(gpc_protocol_check_join(gpu->protocol, &gpu->failure));
    GPC_TRY(gpc_protocol_check_prompt(gpu->protocol, &gpu->failure));
    GPC_TRY(gpc_protocol_options(gpu->protocol, &gpu->machine, setup->options, setup->num_options, gpu->options,
                                 &gpu->failure));
    gpu->protocol = gpc_protocol_resolve(gpu->protocol, gpu->options, &gpu->constants);
    if (!gpu->protocol) {
        return GPC_ERROR_MEMORY;
    }
    count_networks(gpu);
    for (uint32_t i = 0; i < gpc_num_controllers(gpu->protocol); i++) {
        gpu->ends |= gpu->protocol->controllers[i]->ends != 0;
    }
    GPC_TRY(gpc_nodes_list(&gpu->nodes, gpu->protocol, &gpu->machine, &gpu->failure));
    make_services(gpu);
    return GPC_OK;
}

static int
build(gpc_gpu_t *gpu, const gpc_setup_t *setup)
{
    int (*const steps[])(gpc_gpu_t *) = {make_clocks,      make_pools, make_fabric,
                                         make_controllers, make_cores, gpc_gpu_make_checks};
    int status = gpc_machine_check(&gpu->machine, &gpu->failure);

    if (status == GPC_OK) {
        status = choose_protocol(gpu, setup);
    }
    if (status == GPC_OK) {
        status = gpc_memory_create(&gpu->memory, setup->stock);
    }
    for (uint32_t i = 0; i < GPC_COUNT_OF(steps) && status == GPC_OK; i++) {
        status = steps[i](gpu);
    }
    gpu->state = GPC_ARENA_TAKE(&gpu->arena, 1, gpc_gpu_state_t);
    if (status == GPC_OK && (gpu->arena.failed || !gpu->state)) {
        status = GPC_ERROR_MEMORY;
    }
    if (status == GPC_OK) {
        gpc_list_clear(&gpu->state->background);
    }
    return status;
}

int
gpc_gpu_create(const gpc_setup_t *setup, gpc_gpu_t **out)
{
    gpc_gpu_t *gpu = calloc(1, sizeof(*gpu));

    *out = gpu;
    if (!gpu) {
        return GPC_ERROR_MEMORY;
    }
    gpc_failure_clear(&gpu->failure);
    gpc_stream_init(&gpu->stream);
    gpc_arena_init(&gpu->arena, 1u << 20);
    gpc_arena_init(&gpu->constants, 64u << 10);
    gpu->arena.stock = gpu->constants.stock = setup->stock;
    gpu->machine = *setup->machine;
    gpu->budget = setup->budget;
    gpu->check = setup->check;
    gpu->hang.after = GPC_DEADLOCK_AFTER;
    int status = build(gpu, setup);
    gpu->cores.seed = setup->seed;
    for (uint32_t i = 0; status == GPC_OK && i < gpu->num_links; i++) {
        gpc_network_seed(&gpu->links[i], setup->seed);
    }
    return status ? gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status)) : GPC_OK;
}

void
gpc_gpu_free(gpc_gpu_t *gpu)
{
    if (!gpu) {
        return;
    }
    gpc_trace_free(gpu->trace);
    gpc_profile_free(gpu->profile);
    gpc_gpu_hang_free(gpu);
    free(gpu->functional.kept);
    gpc_gpu_free_checks(gpu);
    gpc_cores_free(&gpu->cores);
    for (uint32_t i = 0; i < GPC_NUM_LINKS; i++) {
        gpc_network_free(&gpu->links[i]);
    }
    gpc_memory_free(gpu->memory);
    gpc_arena_free(&gpu->arena);
    gpc_arena_free(&gpu->constants);
    free(gpu->l1s);
    free(gpu);
}

const gpc_failure_t *
gpc_gpu_failure(const gpc_gpu_t *gpu)
{
    return &gpu->failure;
}

const char *
gpc_gpu_error_text(const gpc_gpu_t *gpu)
{
    return gpu->failure.text;
}

void
gpc_gpu_set_deadlock_after(gpc_gpu_t *gpu, gpc_cycle_t cycles)
{
    gpu->hang.after = cycles;
}

gpc_rule_t
gpc_gpu_rule(const gpc_gpu_t *gpu)
{
    return gpu->rule;
}
