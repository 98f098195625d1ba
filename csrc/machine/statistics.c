/* statistics.c: statistics of a GPU as JSON, and their reset. */
#include <string.h>

#include "controller/resolve.h"
#include "machine/windows.h"

static gpc_core_statistics_t
sum_cores(const gpc_gpu_t *gpu, uint32_t first, uint32_t count)
{
    gpc_core_statistics_t sum = {0};
    for (uint32_t core = first; core < first + count; core++) {
        const gpc_core_statistics_t *one = &gpu->cores.statistics[core];
#define X(name, text) sum.name += one->name;
        GPC_CORE_STATISTICS(X)
#undef X
#define X(name, text) sum.stall_##name += one->stall_##name;
        GPC_STALLS(X)
#undef X
#define X(name, text) gpc_histogram_join(&sum.name, &one->name);
        GPC_CORE_HISTOGRAMS(X)
#undef X
    }
    return sum;
}

/* The counters of consecutive controllers, as one group. */
static void
add_sum(const gpc_gpu_t *gpu, gpc_text_t *out, const char *group, uint32_t first, uint32_t count)
{
    gpc_controller_statistics_t sum = {0};
    for (uint32_t node = first; node < first + count; node++) {
        const gpc_controller_statistics_t *one = gpu->controllers[node].statistics;
#define X(name, text) sum.name += one->name;
        GPC_CONTROLLER_STATISTICS(X)
#undef X
    }
    gpc_text_open(out, group, "{");
#define X(name, text) gpc_text_add_count(out, #name, sum.name);
    GPC_CONTROLLER_STATISTICS(X)
#undef X
    if (gpc_gpu_service(gpu, (gpc_node_t) first)->counts_atomics) {
        uint64_t operations = 0;
        for (uint32_t node = first; node < first + count; node++) {
            operations += gpu->queues[node].atomics;
        }
        gpc_text_add_count(out, "atomic_operations", operations);
    }
    gpc_text_add(out, "}");
}

/* A group for each node kind, by its level ("l1", "l2") or position. */
static void
add_controllers(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    static const char *const groups[GPC_NUM_POSITIONS] = {[GPC_AT_CORE] = "l1",
                                                          [GPC_AT_BANK] = "l2",
                                                          [GPC_AT_MEMORY] = "l3",
                                                          [GPC_AT_GLOBAL] = "global",
                                                          [GPC_AT_HOST] = "host"};
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        const gpc_node_kind_t *kind = &gpu->nodes.kinds[i];
        add_sum(gpu, out, groups[kind->position], kind->first, kind->count);
    }
}

static void
add_cores(gpc_text_t *out, const gpc_core_statistics_t *sum)
{
    gpc_text_open(out, "core", "{");
#define X(name, text) gpc_text_add_count(out, #name, sum->name);
    GPC_CORE_STATISTICS(X)
#undef X
    gpc_text_add(out, "}");
}

/* `memory_order` and `fence` are sums of their parts, which follow with the other causes. */
static void
add_stalls(gpc_text_t *out, const gpc_core_statistics_t *sum)
{
    uint64_t memory_order = 0, fence = 0;
#define X(name, text) memory_order += sum->stall_##name;
    GPC_MEMORY_ORDER_STALLS(X)
#undef X
#define X(name, text) fence += sum->stall_##name;
    GPC_FENCE_STALLS(X)
#undef X
    gpc_text_open(out, "stalls", "{");
    gpc_text_add_count(out, "memory_order", memory_order);
    gpc_text_add_count(out, "fence", fence);
#define X(name, text) gpc_text_add_count(out, #name, sum->stall_##name);
    GPC_STALLS(X)
#undef X
    gpc_text_add(out, "}");
}

/* The buckets up to the last one that is not 0. */
static void
add_histogram(gpc_text_t *out, const char *key, const gpc_histogram_t *histogram)
{
    uint32_t count = GPC_HISTOGRAM_BUCKETS;
    while (count && histogram->buckets[count - 1] == 0) {
        count--;
    }
    gpc_text_open(out, key, "[");
    for (uint32_t i = 0; i < count; i++) {
        gpc_text_add_comma(out);
        gpc_text_add_number(out, histogram->buckets[i]);
    }
    gpc_text_add(out, "]");
}

/* A histogram that a controller type declares, summed over its controllers. */
static void
add_own_histogram(const gpc_gpu_t *gpu, gpc_text_t *out, const gpc_controller_type_t *type, uint32_t number)
{
    gpc_histogram_t sum = {0};
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        if (gpc_is_of_type(&gpu->controllers[node], type)) {
            gpc_histogram_join(&sum, &gpu->controllers[node].own_histograms[number]);
        }
    }
    add_histogram(out, type->histograms[number].name, &sum);
}

static void
add_histograms(const gpc_gpu_t *gpu, gpc_text_t *out, const gpc_core_statistics_t *cores)
{
    gpc_text_open(out, "histograms", "{");
    gpc_text_open(out, "core", "{");
#define X(name, text) add_histogram(out, #name, &cores->name);
    GPC_CORE_HISTOGRAMS(X)
#undef X
    gpc_text_add(out, "}");
    for (uint32_t i = 0; i < gpc_num_controllers(gpu->protocol); i++) {
        const gpc_controller_type_t *type = gpu->protocol->controllers[i];
        gpc_text_open(out, type->name, "{");
        for (uint32_t number = 0; number < gpc_num_counts(type->histograms); number++) {
            add_own_histogram(gpu, out, type, number);
        }
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "}");
}

/* The counters that each controller type declares besides GPC_CONTROLLER_STATISTICS, summed over its controllers. */
static void
add_own_counters(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_open(out, "counters", "{");
    for (uint32_t i = 0; i < gpc_num_controllers(gpu->protocol); i++) {
        const gpc_controller_type_t *type = gpu->protocol->controllers[i];
        gpc_text_open(out, type->name, "{");
        for (uint32_t number = 0; number < gpc_num_counts(type->counters); number++) {
            uint64_t sum = 0;
            for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
                const gpc_controller_t *unit = &gpu->controllers[node];
                sum += gpc_is_of_type(unit, type) ? unit->own_counters[number] : 0;
            }
            gpc_text_add_count(out, type->counters[number].name, sum);
        }
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "}");
}

/* Rollovers of logical timestamps, which the protocol counts. */
static uint64_t
counted_rollovers(const gpc_gpu_t *gpu)
{
    uint64_t sum = 0;
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        const gpc_controller_t *unit = &gpu->controllers[node];
        sum += unit->type->rollovers ? unit->own_counters[unit->type->rollovers - unit->type->counters] : 0;
    }
    return sum;
}

static void
add_type(gpc_text_t *out, const char *name, const gpc_traffic_t *traffic, const char *class_name)
{
    gpc_text_open(out, name, "{");
    gpc_text_add_count(out, "messages", traffic->messages);
    gpc_text_add_count(out, "bytes", traffic->bytes);
    gpc_text_add_count(out, "flits", traffic->flits);
    gpc_text_add_count(out, "flit_hops", traffic->flit_hops);
    gpc_text_add_text(out, "class", class_name);
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
    gpc_text_open(out, "traffic", "{");
    for (uint32_t i = 0; i < gpu->protocol->num_messages; i++) {
        const gpc_traffic_t *traffic = gpc_gpu_traffic(gpu, i);
        add_type(out, gpu->protocol->messages[i].name, traffic, classes[gpu->protocol->messages[i].traffic_class]);
    }
    if (gpu->order.trips) {
        gpc_traffic_t trips = gpc_gpu_trip_traffic(gpu);
        add_type(out, "FENCE_TRIP", &trips, classes[GPC_CLASS_REQ]);
    }
    if (gpu->words.sectors) {
        gpc_traffic_t words = gpc_gpu_words_traffic(gpu);
        add_type(out, "LATER_SECTORS", &words, classes[GPC_CLASS_LD]);
    }
    gpc_text_add(out, "}");
}

static void
add_dram(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_dram_statistics_t sum = {0};
    for (uint32_t channel = 0; channel < gpc_gpu_channels(gpu); channel++) {
        const gpc_dram_statistics_t *one = &gpu->dram.statistics[channel];
#define X(name) sum.name += one->name;
        GPC_DRAM_STATISTICS(X)
#undef X
    }
    gpc_text_open(out, "dram", "{");
#define X(name) gpc_text_add_count(out, #name, sum.name);
    GPC_DRAM_STATISTICS(X)
#undef X
    gpc_text_add(out, "}");
}

static void
add_cpu_cache(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    if (gpc_cpu_cache_exists(&gpu->cpu)) {
        gpc_text_open(out, "cpu", "{");
#define X(name) gpc_text_add_count(out, #name, gpu->cpu.state->name);
        GPC_CPU_CACHE_STATISTICS(X)
#undef X
        gpc_text_add(out, "}");
    }
}

/* How often controllers of all kinds that have the table have entered a cell of it. */
static uint64_t
entries(const gpc_gpu_t *gpu, const gpc_table_t *table, uint32_t cell)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        const gpc_node_kind_t *kind = &gpu->nodes.kinds[i];
        const gpc_controller_t *units = &gpu->controllers[kind->first];
        uint32_t number = gpc_type_table(units->type, table->name);
        for (uint32_t unit = 0; number != GPC_MAX_TABLES && unit < kind->count; unit++) {
            sum += units[unit].counts[number][cell];
        }
    }
    return sum;
}

/* Coverage: how often each cell was entered, by table. */
static void
add_transitions(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_open(out, "transitions", "{");
    const gpc_table_t *table;
    for (uint32_t n = 0; (table = gpc_protocol_table(gpu->protocol, n)) != NULL; n++) {
        gpc_text_open(out, table->name, "[");
        for (uint32_t cell = 0; cell < (uint32_t) table->num_states * table->num_events; cell++) {
            gpc_text_add_comma(out);
            gpc_text_add_number(out, entries(gpu, table, cell));
        }
        gpc_text_add(out, "]");
    }
    gpc_text_add(out, "}");
}

int
gpc_gpu_statistics(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_core_statistics_t cores = sum_cores(gpu, 0, gpu->machine.cores);

    gpc_text_add(out, "{");
    gpc_text_add_count(out, "cycles", gpc_gpu_cycles(gpu));
    gpc_text_add_count(out, "launches", gpu->state->launches);
    gpc_text_add_count(out, "rollovers", gpu->state->rollovers + counted_rollovers(gpu));
    gpc_text_add_count(out, "instructions", cores.instructions);
    gpc_text_add_count(out, "thread_instructions", cores.thread_instructions);
    gpc_text_add_count(out, "memory_instructions", cores.memory_instructions);
    gpc_text_add_count(out, "events", gpu->state->events);
    add_controllers(gpu, out);
    add_traffic(gpu, out);
    add_cores(out, &cores);
    add_stalls(out, &cores);
    add_histograms(gpu, out, &cores);
    add_own_counters(gpu, out);
    gpc_gpu_add_storage(gpu, out);
    add_dram(gpu, out);
    gpc_gpu_add_busy(gpu, out);
    gpc_gpu_add_windows(gpu, out);
    add_cpu_cache(gpu, out);
    gpc_gpu_add_die_links(gpu, out);
    add_transitions(gpu, out);
    gpc_gpu_add_checks(gpu, out);
    gpc_text_add(out, "}");
    return gpc_text_status(out);
}

int
gpc_gpu_core_statistics(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_add(out, "[");
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        gpc_core_statistics_t own = sum_cores(gpu, core, 1);
        gpc_text_add(out, core ? ", {" : "{");
        add_sum(gpu, out, "l1", core, 1);
        add_cores(out, &own);
        add_stalls(out, &own);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
    return gpc_text_status(out);
}

void
gpc_gpu_reset_statistics(gpc_gpu_t *gpu)
{
    memset(gpu->cores.statistics, 0, gpu->machine.cores * sizeof(*gpu->cores.statistics));
    memset(gpu->dram.statistics, 0, gpc_gpu_channels(gpu) * sizeof(*gpu->dram.statistics));
    gpc_cpu_cache_reset_statistics(&gpu->cpu);
    gpc_gpu_reset_busy(gpu);
    gpc_gpu_reset_windows(gpu);
    gpc_gpu_reset_die_links(gpu);
    gpc_gpu_forget_law(gpu);
    for (uint32_t i = 0; i < gpu->num_links; i++) {
        memset(gpu->links[i].traffic, 0, 256 * sizeof(*gpu->links[i].traffic));
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_controller_t *unit = &gpu->controllers[node];
        gpu->queues[node].atomics = 0;
        *unit->statistics = (gpc_controller_statistics_t){0};
        memset(unit->own_counters, 0, gpc_num_counts(unit->type->counters) * sizeof(*unit->own_counters));
        memset(unit->own_histograms, 0, gpc_num_counts(unit->type->histograms) * sizeof(*unit->own_histograms));
        for (uint32_t t = 0; t < GPC_MAX_TABLES && unit->type->tables[t]; t++) {
            const gpc_table_t *table = unit->type->tables[t];
            memset(unit->counts[t], 0, (size_t) table->num_states * table->num_events * sizeof(uint64_t));
        }
    }
    gpc_gpu_set_check_counts(gpu, &(gpc_gpu_check_counts_t){0});
    gpu->state->cycles = gpu->state->launches = gpu->state->events = gpu->state->rollovers = 0;
}

gpc_cycle_t
gpc_gpu_cycles(const gpc_gpu_t *gpu)
{
    const gpc_gpu_state_t *state = gpu->state;
    bool counting = state->running && !state->finished;
    gpc_tick_t now = state->paused_at ? state->paused_at : gpc_wheel_now(&gpu->wheel);
    return state->cycles + (counting && now > state->launched ? (now - state->launched) / gpu->core_clock.period : 0);
}

gpc_cycle_t
gpc_gpu_clock(const gpc_gpu_t *gpu)
{
    return gpc_wheel_now(&gpu->wheel) / gpu->core_clock.period;
}

uint64_t
gpc_gpu_printed(const gpc_gpu_t *gpu, const gpc_print_t **records, uint32_t *count)
{
    const gpc_prints_t *prints = gpc_cores_prints(&gpu->cores);
    *records = prints->records;
    *count = prints->count;
    return prints->lost;
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
