/* report.c: what a GPU tells of itself: statistics, checks, prints. */
#include <string.h>

#include "check/trace.h"
#include "controller/describe.h"
#include "machine/parts.h"

/* ---- conservation ------------------------------------------------------------------------------------------------------------------------- */

static int
lost(gpc_gpu_t *gpu, const char *what, uint64_t count)
{
    return gpc_fail(&gpu->failure, GPC_ERROR_CONSERVATION, "%s: %llu after the launch", what,
                    (unsigned long long) count);
}

int
gpc_gpu_check_conservation(gpc_gpu_t *gpu)
{
    bool may_idle = false;
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        int status = gpc_controller_verify(&gpu->controllers[node], true);
        if (status) {
            return status;
        }
        may_idle |= gpu->controllers[node].type->may_idle_in_transaction;
    }
    if (gpu->messages.state->in_use && !may_idle) {
        return lost(gpu, "messages in use", gpu->messages.state->in_use);
    }
    if (gpu->lane_lists.state->in_use) {
        return lost(gpu, "lane lists in use", gpu->lane_lists.state->in_use);
    }
    if (gpu->state->sent != gpu->state->received) {
        return lost(gpu, "messages in the network", gpu->state->sent - gpu->state->received);
    }
    if (!gpc_network_idle(&gpu->network) || !gpc_dram_idle(&gpu->dram)) {
        return lost(gpu, "network or memory not idle", 1);
    }
    return 0;
}

int
gpc_gpu_verify(gpc_gpu_t *gpu)
{
    gpc_failure_clear(&gpu->failure);
    if (!gpu->state->running) {
        return gpc_gpu_check_conservation(gpu);
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        int status = gpc_controller_verify(&gpu->controllers[node], false);
        if (status) {
            return status;
        }
    }
    return 0;
}

/* ---- statistics ------------------------------------------------------------------------------------------------------------------------------- */

static void
add_count(gpc_text_t *out, const char *key, uint64_t value)
{
    gpc_text_add_key(out, key);
    gpc_text_add(out, "%llu", (unsigned long long) value);
}

static gpc_core_statistics_t
sum_cores(const gpc_gpu_t *gpu)
{
    gpc_core_statistics_t sum = {0};
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        const gpc_core_statistics_t *one = &gpu->cores.statistics[core];
#define X(name, text) sum.name += one->name;
        GPC_CORE_STATISTICS(X)
#undef X
#define X(name, text) sum.stall_##name += one->stall_##name;
        GPC_STALLS(X)
#undef X
    }
    return sum;
}

static gpc_controller_statistics_t
sum_controllers(const gpc_gpu_t *gpu, uint32_t first, uint32_t end)
{
    gpc_controller_statistics_t sum = {0};
    for (uint32_t node = first; node < end; node++) {
        const gpc_controller_statistics_t *one = gpu->controllers[node].statistics;
#define X(name, text) sum.name += one->name;
        GPC_CONTROLLER_STATISTICS(X)
#undef X
    }
    return sum;
}

static void
add_controllers(gpc_text_t *out, const char *key, const gpc_controller_statistics_t *sum)
{
    gpc_text_add_key(out, key);
    gpc_text_add(out, "{");
#define X(name, text) add_count(out, #name, sum->name);
    GPC_CONTROLLER_STATISTICS(X)
#undef X
    gpc_text_add(out, "}");
}

static void
add_cores(gpc_text_t *out, const gpc_core_statistics_t *sum)
{
    gpc_text_add_key(out, "core");
    gpc_text_add(out, "{");
#define X(name, text) add_count(out, #name, sum->name);
    GPC_CORE_STATISTICS(X)
#undef X
    gpc_text_add(out, "}");
    gpc_text_add_key(out, "stalls");
    gpc_text_add(out, "{");
#define X(name, text) add_count(out, #name, sum->stall_##name);
    GPC_STALLS(X)
#undef X
    gpc_text_add(out, "}");
}

static void
add_traffic(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    static const char *const classes[] = {
#define X(name, text) #name,
        GPC_TRAFFIC_CLASSES(X)
#undef X
    };
    gpc_text_add_key(out, "traffic");
    gpc_text_add(out, "{");
    for (uint32_t i = 0; i < gpu->protocol->num_messages; i++) {
        const gpc_traffic_t *traffic = &gpu->network.traffic[GPC_MSG_OWN + i];
        gpc_text_add_key(out, gpu->protocol->messages[i].name);
        gpc_text_add(out, "{");
        add_count(out, "messages", traffic->messages);
        add_count(out, "flits", traffic->flits);
        add_count(out, "flit_hops", traffic->flit_hops);
        gpc_text_add_key(out, "class");
        gpc_text_add_string(out, classes[gpu->protocol->messages[i].traffic_class]);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "}");
}

static void
add_dram(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_dram_statistics_t sum = {0};
    for (uint32_t channel = 0; channel < gpu->machine.partitions; channel++) {
        const gpc_dram_statistics_t *one = &gpu->dram.statistics[channel];
#define X(name) sum.name += one->name;
        GPC_DRAM_STATISTICS(X)
#undef X
    }
    gpc_text_add_key(out, "dram");
    gpc_text_add(out, "{");
#define X(name) add_count(out, #name, sum.name);
    GPC_DRAM_STATISTICS(X)
#undef X
    gpc_text_add(out, "}");
}

/* The cells that were entered, by controller type and table: coverage. */
static void
add_transitions(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_add_key(out, "transitions");
    gpc_text_add(out, "{");
    for (uint32_t i = 0; gpu->protocol->controllers[i]; i++) {
        const gpc_controller_type_t *type = gpu->protocol->controllers[i];
        for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
            const gpc_table_t *table = type->tables[t];
            gpc_text_add_key(out, table->name);
            gpc_text_add(out, "[");
            for (uint32_t cell = 0; cell < (uint32_t) table->num_states * table->num_events; cell++) {
                uint64_t entered = 0;
                for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
                    if (gpu->controllers[node].type->position == type->position) {
                        entered += gpu->controllers[node].counts[t][cell];
                    }
                }
                gpc_text_add(out, cell ? ", %llu" : "%llu", (unsigned long long) entered);
            }
            gpc_text_add(out, "]");
        }
    }
    gpc_text_add(out, "}");
}

int
gpc_gpu_statistics(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_core_statistics_t cores = sum_cores(gpu);
    gpc_controller_statistics_t l1 = sum_controllers(gpu, 0, gpu->machine.cores);
    gpc_controller_statistics_t l2 = sum_controllers(gpu, gpu->machine.cores, gpc_gpu_nodes(gpu));

    gpc_text_add(out, "{");
    add_count(out, "cycles", gpc_gpu_cycles(gpu));
    add_count(out, "launches", gpu->state->launches);
    add_count(out, "rollovers", gpu->state->rollovers);
    add_count(out, "instructions", cores.instructions);
    add_count(out, "thread_instructions", cores.thread_instructions);
    add_count(out, "memory_instructions", cores.memory_instructions);
    add_count(out, "events", gpu->state->events);
    add_controllers(out, "l1", &l1);
    add_controllers(out, "l2", &l2);
    add_traffic(gpu, out);
    add_cores(out, &cores);
    add_dram(gpu, out);
    add_transitions(gpu, out);
    gpc_gpu_add_checks(gpu, out);
    gpc_text_add(out, "}");
    return gpc_text_status(out);
}

void
gpc_gpu_reset_statistics(gpc_gpu_t *gpu)
{
    memset(gpu->cores.statistics, 0, gpu->machine.cores * sizeof(*gpu->cores.statistics));
    memset(gpu->dram.statistics, 0, gpu->machine.partitions * sizeof(*gpu->dram.statistics));
    memset(gpu->network.traffic, 0, 256 * sizeof(*gpu->network.traffic));
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_controller_t *unit = &gpu->controllers[node];
        *unit->statistics = (gpc_controller_statistics_t){0};
        for (uint32_t t = 0; t < GPC_MAX_TABLES && unit->type->tables[t]; t++) {
            const gpc_table_t *table = unit->type->tables[t];
            memset(unit->counts[t], 0, (size_t) table->num_states * table->num_events * sizeof(uint64_t));
        }
    }
    gpc_gpu_set_check_counts(gpu, &(gpc_gpu_check_counts_t){0});
    gpu->state->cycles = gpu->state->launches = gpu->state->events = gpu->state->rollovers = 0;
}

uint64_t
gpc_gpu_rollovers(const gpc_gpu_t *gpu)
{
    gpc_tick_t period = gpu->core_clock.period, now = gpc_wheel_now(&gpu->wheel);
    uint32_t bits = gpu->machine.timestamp_bits;
    return gpu->protocol->keeps_time ? (now / period >> bits) - (gpu->state->launched / period >> bits) : 0;
}

gpc_cycle_t
gpc_gpu_cycles(const gpc_gpu_t *gpu)
{
    const gpc_gpu_state_t *state = gpu->state;
    bool counting = state->running && !state->finished;
    gpc_tick_t now = gpc_wheel_now(&gpu->wheel);
    return state->cycles + (counting && now > state->launched ? (now - state->launched) / gpu->core_clock.period : 0);
}

uint64_t
gpc_gpu_instructions(const gpc_gpu_t *gpu)
{
    uint64_t instructions = 0;
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        instructions += gpu->cores.statistics[core].instructions;
    }
    return instructions;
}

void
gpc_gpu_occupancy(const gpc_gpu_t *gpu, uint32_t *blocks_done, uint32_t *blocks)
{
    gpc_cores_progress(&gpu->cores, blocks_done, blocks);
}

/* ---- prints --------------------------------------------------------------------------------------------------------------------------------------- */

int
gpc_gpu_print_state(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_add(out, "%s, %s, core cycle %llu, %u messages, %u events\n", gpu->protocol->id, gpc_rule_name(gpu->rule),
                 (unsigned long long) (gpc_wheel_now(&gpu->wheel) / gpu->core_clock.period),
                 gpu->messages.state->in_use, gpc_wheel_count(&gpu->wheel));
    gpc_text_add(out, "bank pipeline %llu ticks, fill %llu cycles\n", (unsigned long long) gpu->bank_ticks,
                 (unsigned long long) gpu->fill_cycles);
    (void) gpc_cores_explain_wait(&gpu->cores, out, 64);
    gpc_text_add(out, "\n");
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_controller_print(&gpu->controllers[node], out);
    }
    return gpc_text_status(out);
}

static void
watch(void *world, const gpc_step_t *x, uint8_t event, const gpc_cell_t *cell)
{
    gpc_trace_step(((gpc_gpu_t *) world)->trace, x, event, cell);
}

int
gpc_gpu_trace(gpc_gpu_t *gpu, gpc_address_t address, uint32_t records)
{
    int status = gpc_gpu_refuse_while_running(gpu, "a trace begun");
    if (status) {
        return status;
    }
    gpc_trace_free(gpu->trace);
    gpu->trace = NULL;
    if (records) {
        gpc_address_t line = address / gpu->machine.line_bytes * gpu->machine.line_bytes;
        gpu->trace = gpc_trace_new(line, (uint32_t) (address - line) / 4, records);
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpu->controllers[node].watch = gpu->trace ? watch : NULL;
    }
    return gpu->trace || !records ? 0 : gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "no memory for %u records", records);
}

int
gpc_gpu_print_trace(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    if (gpu->trace) {
        gpc_trace_print(gpu->trace, out);
    }
    return gpc_text_status(out);
}

static void
add_line_at(const gpc_gpu_t *gpu, gpc_node_t node, gpc_address_t line, gpc_text_t *out)
{
    const gpc_controller_t *unit = &gpu->controllers[node];
    gpc_index_t way = unit->arrays[0].sets ? gpc_tags_find(&unit->arrays[0], line) : GPC_NONE;
    gpc_index_t mshr = gpc_mshr_find(&unit->mshrs, line);

    if (way != GPC_NONE || mshr != GPC_NONE) {
        uint8_t state = mshr != GPC_NONE ? gpc_mshr_at(&unit->mshrs, mshr)->state : unit->arrays[0].tags[way].state;
        gpc_text_add(out, "; %s %u: %s", unit->type->name, unit->index, unit->type->tables[0]->states[state].name);
    }
}

void
gpc_gpu_add_line_state(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        add_line_at(gpu, (gpc_node_t) node, gpu->failure.line, &text);
    }
    size_t length = strlen(gpu->failure.text), room = sizeof(gpu->failure.text) - length - 1;
    if (text.bytes) {
        memcpy(gpu->failure.text + length, text.bytes, text.length < room ? text.length : room);
        gpu->failure.text[length + (text.length < room ? text.length : room)] = 0;
    }
    gpc_text_free(&text);
}
