/* gpu.c: the whole machine: building it, launching on it, running it, its memory as the host sees it. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

#include "gpu_parts.h"
#include "protocol/describe.h"

#define X(name, smallest, largest, text) {#name, offsetof(gpc_machine_t, name), smallest, largest, text},
const gpc_machine_field_t gpc_machine_fields[] = {GPC_MACHINE_FIELDS(X){NULL, 0, 0, 0, NULL}};
#undef X

/* ---- the machine's numbers ------------------------------------------------------------------------------------------------------------ */

static bool
power_of_two(uint32_t n)
{
    return n && (n & (n - 1)) == 0;
}

int
gpc_machine_check(const gpc_machine_t *m, gpc_failure_t *failure)
{
    for (const gpc_machine_field_t *field = gpc_machine_fields; field->name; field++) {
        uint32_t value;
        memcpy(&value, (const uint8_t *) m + field->offset, sizeof(value));
        if (value < field->smallest || value > field->largest) {
            return gpc_fail(failure, GPC_ERROR_MACHINE, "%s is %u: allowed are %u to %u", field->name, value,
                            field->smallest, field->largest);
        }
    }
    if (m->lanes_per_warp != 32 && m->lanes_per_warp != 64) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "lanes_per_warp is %u: allowed are 32 and 64", m->lanes_per_warp);
    }
    if (!power_of_two(m->line_bytes) || !power_of_two(m->interleave_bytes) || m->interleave_bytes < m->line_bytes) {
        return gpc_fail(failure, GPC_ERROR_MACHINE,
                        "line_bytes %u and interleave_bytes %u: both powers of two, the second at least the first",
                        m->line_bytes, m->interleave_bytes);
    }
    if (m->l2_bytes % (m->line_bytes * m->l2_ways) || m->l2_bytes == 0 || m->l1_bytes % (m->line_bytes * m->l1_ways)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE,
                        "l1_bytes %u and l2_bytes %u: whole sets of %u and %u ways of %u-byte lines are needed",
                        m->l1_bytes, m->l2_bytes, m->l1_ways, m->l2_ways, m->line_bytes);
    }
    if (m->dram_model == 1 && (m->dram_burst_bytes == 0 || m->line_bytes % m->dram_burst_bytes)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "dram_burst_bytes %u does not divide a line of %u bytes",
                        m->dram_burst_bytes, m->line_bytes);
    }
    return 0;
}

static int
make_clocks(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t mhz[] = {m->core_mhz, m->l2_mhz, m->noc_mhz, m->dram_mhz};
    uint64_t hz = gpc_clock_common_hz(mhz, GPC_COUNT_OF(mhz));

    if (hz == 0) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MACHINE,
                        "clocks of %u, %u, %u and %u MHz have no common multiple up to 2^40 Hz", mhz[0], mhz[1], mhz[2],
                        mhz[3]);
    }
    gpu->core_clock.period = hz / (UINT64_C(1000000) * m->core_mhz);
    gpu->l2_clock.period = hz / (UINT64_C(1000000) * m->l2_mhz);
    gpu->noc_clock.period = hz / (UINT64_C(1000000) * m->noc_mhz);
    gpu->dram_clock.period = hz / (UINT64_C(1000000) * m->dram_mhz);
    return 0;
}

/* What memory takes beyond an L2 hit. With banks and rows the timings of a closed row are in it, the rest is the controller's
 * and the way's. */
static int
derive_memory(gpc_gpu_t *gpu, gpc_dram_config_t *dram)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_tick_t core = gpu->core_clock.period, timings = gpc_dram_closed_row_ticks(dram);
    gpc_tick_t least = m->l2_round_trip + (timings ? (timings + core - 1) / core : 1);

    if (m->dram_round_trip < least) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MACHINE,
                        "dram_round_trip is %u core cycles: allowed are %llu and more (l2_round_trip's %u and %s)",
                        m->dram_round_trip, (unsigned long long) least, m->l2_round_trip,
                        timings ? "the DRAM timings of a closed row" : "one");
    }
    dram->latency = (m->dram_round_trip - m->l2_round_trip) * core - timings;
    return 0;
}

/* Load to use, unloaded, of a load issued on a common edge: request over the network, the bank's step at its next edge, its
 * pipeline, the answer over the network, the fill. The pipeline takes what the machine's round trip leaves, in whole L2
 * cycles; what then is left in core cycles is the fill's. */
int
gpc_gpu_derive_latencies(gpc_gpu_t *gpu, gpc_dram_config_t *dram)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_node_t bank = (gpc_node_t) m->cores;
    uint32_t up = (8 + m->flit_bytes - 1) / m->flit_bytes,
             down = (8 + m->line_bytes + m->flit_bytes - 1) / m->flit_bytes;
    gpc_tick_t noc = gpu->noc_clock.period, core = gpu->core_clock.period;
    gpc_tick_t step = gpc_clock_edge(gpu->l2_clock, gpc_network_zero_load(&gpu->network, 0, bank, up) * noc);
    gpc_tick_t answer = gpc_network_zero_load(&gpu->network, bank, 0, down) * noc;
    gpc_tick_t whole = m->l2_round_trip * core;

    if (gpc_clock_edge(gpu->noc_clock, step) + answer > whole) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MACHINE,
                        "l2_round_trip is %u core cycles: the network alone needs %llu, so allowed are these and more",
                        m->l2_round_trip,
                        (unsigned long long) ((gpc_clock_edge(gpu->noc_clock, step) + answer + core - 1) / core));
    }
    gpu->bank_ticks = (whole - step - answer) / gpu->l2_clock.period * gpu->l2_clock.period;
    gpc_tick_t back = gpc_clock_edge(gpu->noc_clock, step + gpu->bank_ticks) + answer;
    while (back > whole) { /* clocks without common edges: the network's next one was too late */
        gpu->bank_ticks -= gpu->l2_clock.period;
        back = gpc_clock_edge(gpu->noc_clock, step + gpu->bank_ticks) + answer;
    }
    gpu->fill_cycles = (whole - (back + core - 1) / core * core) / core;
    return derive_memory(gpu, dram);
}

/* ---- building ---------------------------------------------------------------------------------------------------------------------------- */

static int
make_fabric(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_network_config_t network = {.topology = (gpc_topology_t) m->topology,
                                    .cores = m->cores,
                                    .banks = m->partitions,
                                    .mesh_width = m->mesh_width,
                                    .networks = gpu->num_networks,
                                    .vc_flits = m->vc_flits,
                                    .latency = m->noc_latency,
                                    .clock = gpu->noc_clock,
                                    .interleave_bytes = m->interleave_bytes};
    gpc_network_hooks_t hooks = {gpc_gpu_arrived, gpc_gpu_room, gpu};
    gpc_dram_config_t dram = {.channels = m->partitions,
                              .model = m->dram_model,
                              .queue = m->dram_queue,
                              .line_bytes = m->line_bytes,
                              .bytes_per_cycle = m->dram_bytes_per_cycle,
                              .banks = m->dram_banks,
                              .row_bytes = m->dram_row_bytes,
                              .burst_bytes = m->dram_burst_bytes,
                              .interleave_bytes = m->interleave_bytes,
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

    int status = gpc_network_init(&gpu->network, &network, &gpu->arena, &gpu->messages, &gpu->wheel, &hooks);
    if (status == 0) {
        status = gpc_gpu_derive_latencies(gpu, &dram);
    }
    if (status) {
        return status;
    }
    status = gpc_dram_init(&gpu->dram, &dram, &gpu->arena, &gpu->messages, gpu->memory, &gpu->wheel,
                           gpc_gpu_dram_answer, gpu);
    gpu->dram.room = gpc_gpu_dram_room;
    return status;
}

static const gpc_controller_type_t *
type_at(const gpc_protocol_t *protocol, gpc_position_t position)
{
    for (uint32_t i = 0; protocol->controllers[i]; i++) {
        if (protocol->controllers[i]->position == position) {
            return protocol->controllers[i];
        }
    }
    return NULL;
}

static int
make_controllers(gpc_gpu_t *gpu)
{
    uint32_t nodes = gpc_gpu_nodes(gpu);

    gpu->controllers = calloc(nodes, sizeof(*gpu->controllers));
    gpu->l1s = calloc(gpu->machine.cores, sizeof(gpc_controller_t *));
    gpu->stations = GPC_ARENA_TAKE(&gpu->arena, nodes, gpc_station_t);
    gpu->core_turns = GPC_ARENA_TAKE(&gpu->arena, gpu->machine.cores, gpc_tick_t);
    gpu->lanes = gpc_network_lanes(&gpu->network);
    gpu->waiting = GPC_ARENA_TAKE(&gpu->arena, (size_t) nodes * gpu->num_networks * gpu->lanes, gpc_list_t);
    if (!gpu->controllers || !gpu->l1s || !gpu->stations || !gpu->core_turns || !gpu->waiting) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t node = 0; node < nodes; node++) {
        bool is_core = gpc_gpu_is_core(gpu, (gpc_node_t) node);
        gpc_controller_t *unit = &gpu->controllers[node];
        *unit = (gpc_controller_t){.protocol = gpu->protocol,
                                   .options = gpu->options,
                                   .machine = &gpu->machine,
                                   .ports = &gpc_gpu_ports,
                                   .world = gpu,
                                   .messages = &gpu->messages,
                                   .lane_lists = &gpu->lane_lists,
                                   .failure = &gpu->failure,
                                   .node = (gpc_node_t) node,
                                   .index = is_core ? node : node - gpu->machine.cores};
        int status =
            gpc_controller_init(unit, type_at(gpu->protocol, is_core ? GPC_AT_CORE : GPC_AT_BANK), &gpu->arena);
        if (status) {
            return status;
        }
        if (is_core) {
            gpu->l1s[node] = unit;
        }
    }
    gpc_gpu_clear_stations(gpu);
    return 0;
}

/* Over words a request may be in several parts at once; two at a time is what tables do. */
static bool
splits_requests(const gpc_protocol_t *protocol)
{
    for (uint32_t i = 0; protocol->controllers[i]; i++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[i]->tables[t]; t++) {
            if (protocol->controllers[i]->tables[t]->object == GPC_OVER_WORDS) {
                return true;
            }
        }
    }
    return false;
}

/* Every finite resource that can hold a message, so that the pools cannot run out before those push back. */
static int
make_pools(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    uint32_t requests = m->cores * m->requests_per_core * (splits_requests(gpu->protocol) ? 2 : 1);
    uint32_t messages = 2 * requests + m->partitions * (4 * m->l2_mshrs + 2 * m->dram_queue + 256) + 4096;

    int status = gpc_pool_init(&gpu->messages, &gpu->arena, messages, sizeof(gpc_msg_t));
    if (status == 0) {
        status = gpc_pool_init(&gpu->lane_lists, &gpu->arena, requests + 64, sizeof(gpc_lane_list_t));
    }
    if (status == 0) {
        status = gpc_wheel_init(&gpu->wheel, &gpu->arena, 2 * messages + 64 * gpc_gpu_nodes(gpu) + 4096);
    }
    return status;
}

static int
make_cores(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_core_hooks_t hooks = {gpc_gpu_offer, gpc_gpu_schedule_core, gpc_gpu_hook_now, gpu};

    int status = gpc_order_init(&gpu->order, gpu->rule, &gpu->protocol->order, gpu->l1s, m->cores, m->warps_per_core,
                                m->blocks_per_core, &gpu->arena);
    if (status) {
        return status;
    }
    return gpc_cores_init(&gpu->cores, m, &gpu->order, &gpu->messages, &gpu->lane_lists, gpu->memory, &gpu->failure,
                          &hooks, &gpu->arena);
}

static int
choose_protocol(gpc_gpu_t *gpu, const gpc_setup_t *setup)
{
    gpu->protocol = gpc_protocol_find(setup->protocol);
    if (!gpu->protocol) {
        return gpc_fail(&gpu->failure, GPC_ERROR_PROTOCOL_ID, "unknown protocol %s", setup->protocol);
    }
    gpu->rule = setup->rule == GPC_RULE_DEFAULT ? gpu->protocol->standard_rule : setup->rule;
    if ((unsigned) gpu->rule >= GPC_NUM_RULES || !gpu->protocol->model[gpu->rule]) {
        return gpc_fail(&gpu->failure, GPC_ERROR_RULE, "protocol %s cannot keep consistency %s", gpu->protocol->id,
                        gpc_rule_name(gpu->rule));
    }
    while (gpu->num_networks < GPC_MAX_NETWORKS && gpu->protocol->networks[gpu->num_networks].name) {
        gpu->num_networks++;
    }
    return gpc_protocol_options(gpu->protocol, &gpu->machine, setup->options, setup->num_options, gpu->options,
                                &gpu->failure);
}

static int
build(gpc_gpu_t *gpu, const gpc_setup_t *setup)
{
    int (*const steps[])(gpc_gpu_t *) = {make_clocks, make_pools, make_fabric, make_controllers, make_cores};
    int status = gpc_machine_check(&gpu->machine, &gpu->failure);

    if (status == 0) {
        status = choose_protocol(gpu, setup);
    }
    if (status == 0) {
        status = gpc_memory_create(&gpu->memory);
    }
    for (uint32_t i = 0; i < GPC_COUNT_OF(steps) && status == 0; i++) {
        status = steps[i](gpu);
    }
    gpu->state = GPC_ARENA_TAKE(&gpu->arena, 1, gpc_gpu_state_t);
    if (status == 0 && (gpu->arena.failed || !gpu->state)) {
        status = GPC_ERROR_MEMORY;
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
    gpc_arena_init(&gpu->arena, 1u << 20);
    gpu->machine = *setup->machine;
    gpu->seed = setup->seed;
    gpu->budget = setup->budget;
    gpu->check = setup->check;
    int status = build(gpu, setup);
    return status ? gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status)) : 0;
}

void
gpc_gpu_free(gpc_gpu_t *gpu)
{
    if (!gpu) {
        return;
    }
    gpc_cores_free(&gpu->cores);
    gpc_network_free(&gpu->network);
    gpc_memory_free(gpu->memory);
    gpc_arena_free(&gpu->arena);
    free(gpu->controllers);
    free(gpu->l1s);
    free(gpu);
}

const char *
gpc_gpu_error_text(const gpc_gpu_t *gpu)
{
    return gpu->failure.text;
}

gpc_rule_t
gpc_gpu_rule(const gpc_gpu_t *gpu)
{
    return gpu->rule;
}

/* ---- memory as the host sees it ----------------------------------------------------------------------------------------------------------- */

static int
refuse_while_running(gpc_gpu_t *gpu, const char *what)
{
    gpc_failure_clear(&gpu->failure);
    return gpu->state->running ? gpc_fail(&gpu->failure, GPC_ERROR_STATE, "%s while a launch is running", what) : 0;
}

int
gpc_gpu_allocate(gpc_gpu_t *gpu, uint64_t words, gpc_address_t *address)
{
    gpc_failure_clear(&gpu->failure);
    int status = gpc_memory_allocate(gpu->memory, words, address);
    return status ? gpc_fail(&gpu->failure, status, "cannot allocate %llu words: allowed are 1 to %llu in all",
                             (unsigned long long) words, (unsigned long long) GPC_MEMORY_MAX_WORDS)
                  : 0;
}

/* The words of [address, address + 4 * words) that lie in the line at `line`. */
static gpc_mask_t
mask_of(const gpc_gpu_t *gpu, gpc_address_t line, gpc_address_t address, uint64_t words)
{
    gpc_mask_t mask = 0;
    if (line + gpu->machine.line_bytes <= address || line >= address + 4 * words) {
        return 0;
    }
    for (uint32_t word = 0; word < gpu->machine.line_bytes / 4; word++) {
        gpc_address_t at = line + 4 * word;
        if (at >= address && at < address + 4 * words) {
            mask |= UINT32_C(1) << word;
        }
    }
    return mask;
}

static gpc_controller_t *
home_of(gpc_gpu_t *gpu, gpc_address_t line)
{
    return &gpu->controllers[gpu->machine.cores + line / gpu->machine.interleave_bytes % gpu->machine.partitions];
}

int
gpc_gpu_release(gpc_gpu_t *gpu, gpc_address_t address)
{
    int status = refuse_while_running(gpu, "release of memory");
    if (status) {
        return status;
    }
    status = gpc_memory_release(gpu->memory, address);
    return status ? gpc_fail(&gpu->failure, status, "address 0x%llx is no allocation", (unsigned long long) address)
                  : 0;
}

static int
check_range(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const char *what)
{
    int status = refuse_while_running(gpu, what);
    if (status == 0 && (address % 4 || !gpc_memory_covers(gpu->memory, address, words))) {
        status = gpc_fail(&gpu->failure, GPC_ERROR_ADDRESS, "%s of %llu words at 0x%llx: not inside one allocation",
                          what, (unsigned long long) words, (unsigned long long) address);
    }
    return status;
}

/* ---- the lines of a range that any cache may hold: few ranges are as small as the caches, so the caches are walked then ---- */

typedef struct {
    gpc_gpu_t *gpu;
    gpc_address_t address;
    uint64_t words;
    uint32_t *out; /* of a read */
} host_access_t;

typedef int (*visit_t)(const host_access_t *access, gpc_address_t line, gpc_mask_t mask);

static int
visit_line(const host_access_t *access, gpc_address_t line, visit_t visit)
{
    gpc_mask_t mask = mask_of(access->gpu, line, access->address, access->words);
    return mask ? visit(access, line, mask) : 0;
}

static int
visit_controller(const host_access_t *access, const gpc_controller_t *unit, visit_t visit)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        const gpc_tags_t *tags = &unit->arrays[i];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            int status = gpc_tags_present(tags, way) ? visit_line(access, tags->tags[way].line, visit) : 0;
            if (status) {
                return status;
            }
        }
    }
    for (gpc_index_t i = 0; i < unit->mshrs.entries.state->high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, i);
        int status = entry->live ? visit_line(access, entry->line, visit) : 0;
        if (status) {
            return status;
        }
    }
    return 0;
}

static uint64_t
cached_lines(const gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    return ((uint64_t) m->cores * m->l1_bytes + (uint64_t) m->partitions * m->l2_bytes) / m->line_bytes;
}

static int
visit_range(const host_access_t *access, visit_t visit)
{
    gpc_gpu_t *gpu = access->gpu;
    uint32_t line_bytes = gpu->machine.line_bytes;
    gpc_address_t end = access->address + 4 * access->words;
    int status = 0;

    if (access->words / (line_bytes / 4) > cached_lines(gpu) / 8) {
        for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && status == 0; node++) {
            status = visit_controller(access, &gpu->controllers[node], visit);
        }
        return status;
    }
    for (gpc_address_t line = access->address / line_bytes * line_bytes; line < end && status == 0;
         line += line_bytes) {
        status = visit_line(access, line, visit);
    }
    return status;
}

static int
read_line(const host_access_t *access, gpc_address_t line, gpc_mask_t mask)
{
    gpc_gpu_t *gpu = access->gpu;
    uint32_t data[GPC_MAX_LINE_WORDS] = {0};

    gpc_memory_read(gpu->memory, line, gpu->machine.line_bytes / 4, data);
    int status = gpu->protocol->host_read(gpu->l1s, gpu->machine.cores, home_of(gpu, line), line, mask, data);
    for (; mask; mask &= mask - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(mask);
        access->out[(line + 4 * word - access->address) / 4] = data[word];
    }
    return status;
}

static int
write_line(const host_access_t *access, gpc_address_t line, gpc_mask_t mask)
{
    gpc_gpu_t *gpu = access->gpu;
    uint32_t data[GPC_MAX_LINE_WORDS] = {0};

    gpc_memory_read(gpu->memory, line, gpu->machine.line_bytes / 4, data); /* the write has reached memory */
    return gpu->protocol->host_write(gpu->l1s, gpu->machine.cores, home_of(gpu, line), line, mask, data);
}

int
gpc_gpu_host_read(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, uint32_t *out)
{
    host_access_t access = {gpu, address, words, out};
    int status = check_range(gpu, address, words, "host read");

    if (status == 0) {
        gpc_memory_read(gpu->memory, address, words, out);
        status = visit_range(&access, read_line);
    }
    return status ? gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status)) : 0;
}

int
gpc_gpu_host_write(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in)
{
    host_access_t access = {gpu, address, words, NULL};
    int status = check_range(gpu, address, words, "host write");

    if (status == 0) {
        status = gpc_memory_write(gpu->memory, address, words, in);
    }
    if (status == 0) {
        status = visit_range(&access, write_line);
    }
    return status ? gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status)) : 0;
}

/* ---- launching and running ------------------------------------------------------------------------------------------------------------------ */

static gpc_tick_t
common_edge(const gpc_gpu_t *gpu)
{
    gpc_tick_t tick = gpc_wheel_now(&gpu->wheel);
    for (uint32_t i = 0; i < 1024; i++) { /* a launch begins where the clocks' edges meet, when that is near */
        gpc_tick_t edge = gpc_clock_edge(gpu->core_clock, tick);
        gpc_tick_t other = gpc_clock_edge(gpu->noc_clock, gpc_clock_edge(gpu->l2_clock, edge));
        if (edge == other && gpc_clock_edge(gpu->l2_clock, edge) == edge) {
            return edge;
        }
        tick = other > edge ? other : edge + 1;
    }
    return gpc_clock_edge(gpu->core_clock, gpc_wheel_now(&gpu->wheel));
}

static int
kernel_begin(gpc_gpu_t *gpu)
{
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        if (gpu->l1s[core]->type->walks_at_kernel_begin) {
            int status = gpc_controller_walk(gpu->l1s[core], 0, GPC_MSG_KERNEL_BEGIN);
            if (status) {
                return status;
            }
        }
    }
    return 0;
}

int
gpc_gpu_launch(gpc_gpu_t *gpu, const gpc_launch_t *launch)
{
    int status = refuse_while_running(gpu, "a launch");
    if (status) {
        return status;
    }
    gpc_tick_t start = common_edge(gpu);
    gpc_cycle_t cycle = start / gpu->core_clock.period;

    status = kernel_begin(gpu);
    if (status == 0) {
        status = gpc_cores_launch(&gpu->cores, launch, cycle + gpu->machine.launch_latency);
    }
    if (status) {
        gpc_cores_clear(&gpu->cores);
        return gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status));
    }
    gpu->state->running = true;
    gpu->state->finished = false;
    gpu->state->launched = start;
    gpu->state->limit = gpu->budget > (GPC_NEVER - start) / gpu->core_clock.period
                            ? GPC_NEVER
                            : start + gpu->budget * gpu->core_clock.period;
    gpu->state->launches++;
    return 0;
}

static int
handle(gpc_gpu_t *gpu, const gpc_event_t *event)
{
    switch ((gpc_event_kind_t) event->kind) {
        case GPC_EVENT_CORE:
            if (gpu->core_turns[event->target] != event->tick) {
                return 0; /* an earlier turn took its place */
            }
            gpu->core_turns[event->target] = GPC_NEVER;
            return gpc_cores_turn(&gpu->cores, event->target);
        case GPC_EVENT_CONTROLLER:
            return gpc_gpu_controller_turn(gpu, (gpc_node_t) event->target);
        case GPC_EVENT_OUTBOX:
            return gpc_gpu_outbox_turn(gpu, (gpc_node_t) event->target);
        case GPC_EVENT_NETWORK_ARRIVE:
        case GPC_EVENT_NETWORK_GRANT:
            return gpc_network_event(&gpu->network, event);
        case GPC_EVENT_DRAM:
            return gpc_dram_event(&gpu->dram, event);
        case GPC_EVENT_TIMER:
            return gpc_gpu_timer(gpu, (gpc_node_t) event->target, event->argument);
        case GPC_EVENT_LAUNCH:
        case GPC_NUM_EVENT_KINDS:
            break;
    }
    return gpc_fail(&gpu->failure, GPC_ERROR_STATE, "unknown event %u", event->kind);
}

static int
deadlock(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    int code = gpc_cores_explain_wait(&gpu->cores, &text, 6);
    gpc_failure_clear(&gpu->failure);
    (void) gpc_fail(&gpu->failure, code, "%s at core cycle %llu: %s", gpc_error_message(code),
                    (unsigned long long) (gpc_wheel_now(&gpu->wheel) / gpu->core_clock.period),
                    text.bytes ? text.bytes : "");
    gpc_text_free(&text);
    return code;
}

static int
over_budget(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    (void) gpc_cores_explain_wait(&gpu->cores, &text, 3);
    (void) gpc_fail(&gpu->failure, GPC_ERROR_BUDGET, "the launch has used its budget of %llu core cycles: %s",
                    (unsigned long long) gpu->budget, text.bytes ? text.bytes : "");
    gpc_text_free(&text);
    return GPC_ERROR_BUDGET;
}

/* The blocks have ended: the launch's time is over, what is left (write-backs, spent events) is drained. */
static void
note_finish(gpc_gpu_t *gpu)
{
    gpc_gpu_state_t *state = gpu->state;
    if (!state->finished && gpc_cores_finished(&gpu->cores)) {
        state->finished = true;
        state->cycles += (gpc_wheel_now(&gpu->wheel) - state->launched) / gpu->core_clock.period;
    }
}

static int
run_events(gpc_gpu_t *gpu, uint64_t events)
{
    gpc_event_t event;

    while (events--) {
        if (!gpc_wheel_next(&gpu->wheel, &event)) {
            note_finish(gpu);
            if (!gpu->state->finished) {
                return deadlock(gpu);
            }
            gpu->state->running = false;
            int status = gpc_gpu_check_conservation(gpu);
            return status ? status : GPC_RUN_DONE;
        }
        gpu->state->events++;
        int status = handle(gpu, &event);
        if (status) {
            return status < 0 ? status : gpc_fail(&gpu->failure, GPC_ERROR_STATE, "an event was held");
        }
        if (event.kind == GPC_EVENT_CORE || event.kind == GPC_EVENT_CONTROLLER) {
            note_finish(gpu);
        }
        if (event.tick > gpu->state->limit && !gpu->state->finished) {
            return over_budget(gpu);
        }
    }
    return GPC_RUN_MORE;
}

int
gpc_gpu_run(gpc_gpu_t *gpu, uint64_t events)
{
    if (!gpu->state->running) {
        gpc_failure_clear(&gpu->failure);
        return gpc_fail(&gpu->failure, GPC_ERROR_STATE, "no launch to run");
    }
    int status = run_events(gpu, events);
    if (status < 0) {
        (void) gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status));
        if (gpu->failure.line != GPC_NEVER) {
            gpc_gpu_add_line_state(gpu);
        }
        gpc_gpu_abort(gpu);
    }
    return status;
}

/* ---- ending early ----------------------------------------------------------------------------------------------------------------------------- */

/* What caches hold goes to memory as the host would read it, before they are emptied. */
static void
save_lines(gpc_gpu_t *gpu, const gpc_controller_t *unit)
{
    uint32_t data[GPC_MAX_LINE_WORDS];
    uint32_t words = gpu->machine.line_bytes / 4;

    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        const gpc_tags_t *tags = &unit->arrays[i];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            gpc_address_t line = tags->tags[way].line;
            if (!gpc_tags_present(tags, way) || tags->tags[way].mshr != GPC_NONE) {
                continue;
            }
            gpc_memory_read(gpu->memory, line, words, data);
            int status = gpu->protocol->host_read(gpu->l1s, gpu->machine.cores, home_of(gpu, line), line,
                                                  gpc_all_words(unit), data);
            if (status == 0) {
                status = gpc_memory_write(gpu->memory, line, words, data);
            }
            (void) status; /* the launch has failed already; memory after it is as far as could be saved */
        }
    }
}

void
gpc_gpu_abort(gpc_gpu_t *gpu)
{
    uint32_t nodes = gpc_gpu_nodes(gpu);

    for (uint32_t node = 0; node < nodes; node++) {
        save_lines(gpu, &gpu->controllers[node]);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        gpc_controller_clear(&gpu->controllers[node]);
    }
    gpc_wheel_clear(&gpu->wheel);
    gpc_network_clear(&gpu->network);
    gpc_dram_clear(&gpu->dram);
    gpc_gpu_clear_stations(gpu);
    gpc_order_clear(&gpu->order);
    gpc_cores_clear(&gpu->cores);
    *gpu->messages.state = (gpc_pool_state_t){.free = GPC_NONE, .most = gpu->messages.state->most};
    *gpu->lane_lists.state = (gpc_pool_state_t){.free = GPC_NONE, .most = gpu->lane_lists.state->most};
    if (gpu->state->running && !gpu->state->finished) {
        gpu->state->cycles += (gpc_wheel_now(&gpu->wheel) - gpu->state->launched) / gpu->core_clock.period;
    }
    gpu->state->sent = gpu->state->received = 0;
    gpu->state->running = false;
}

/* ---- snapshots ----------------------------------------------------------------------------------------------------------------------------------- */

struct gpc_snapshot {
    gpc_machine_t machine;
    const gpc_protocol_t *protocol;
    int64_t options[GPC_MAX_OPTIONS];
    gpc_rule_t rule;
    size_t bytes;
    uint8_t *arena;             /* owned */
    gpc_memory_image_t *memory; /* owned */
};

int
gpc_gpu_snapshot(gpc_gpu_t *gpu, gpc_snapshot_t **out)
{
    int status = refuse_while_running(gpu, "a snapshot");
    *out = NULL;
    if (status) {
        return status;
    }
    gpc_snapshot_t *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "no memory for a snapshot");
    }
    snapshot->machine = gpu->machine;
    snapshot->protocol = gpu->protocol;
    snapshot->rule = gpu->rule;
    memcpy(snapshot->options, gpu->options, sizeof(gpu->options));
    snapshot->bytes = gpc_arena_bytes(&gpu->arena);
    snapshot->arena = malloc(snapshot->bytes);
    if (!snapshot->arena || gpc_memory_save(gpu->memory, &snapshot->memory)) {
        status = gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "no memory for a snapshot of %zu bytes", snapshot->bytes);
        gpc_snapshot_free(snapshot);
        return status;
    }
    gpc_arena_save(&gpu->arena, snapshot->arena);
    *out = snapshot;
    return 0;
}

int
gpc_gpu_restore(gpc_gpu_t *gpu, const gpc_snapshot_t *snapshot)
{
    int status = refuse_while_running(gpu, "a restore");
    if (status) {
        return status;
    }
    if (memcmp(&snapshot->machine, &gpu->machine, sizeof(gpu->machine)) != 0 || snapshot->protocol != gpu->protocol ||
        snapshot->rule != gpu->rule || memcmp(snapshot->options, gpu->options, sizeof(gpu->options)) != 0 ||
        snapshot->bytes != gpc_arena_bytes(&gpu->arena)) {
        return gpc_fail(&gpu->failure, GPC_ERROR_STATE,
                        "the snapshot is of another machine, protocol, consistency or other options");
    }
    status = gpc_memory_load(gpu->memory, snapshot->memory);
    if (status) {
        return gpc_fail(&gpu->failure, status, "no memory to restore the snapshot");
    }
    gpc_arena_load(&gpu->arena, snapshot->arena);
    return 0;
}

void
gpc_snapshot_free(gpc_snapshot_t *snapshot)
{
    if (snapshot) {
        gpc_memory_image_free(snapshot->memory);
        free(snapshot->arena);
        free(snapshot);
    }
}
