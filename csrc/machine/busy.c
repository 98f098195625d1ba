/* busy.c: how long each unit of the machine was busy, in core cycles: the group "busy" of the statistics.
 *
 * A unit that is busy for the whole run is a limit of it: an issue port per instruction and issue_cycles; an L1 or a
 * bank per input that it takes, of as many a cycle as it has ports, an L1 also per request of its core; a port of a
 * network per flit; a link between dies per die_bytes, or gpu_bytes; a memory channel by its data bus, or by its banks,
 * each of which opens a row every dram_t_rc cycles (closed: serves a request every dram_bank_cycles), whichever is
 * longer. */
#include "machine/parts.h"

static void
begin(gpc_text_t *out, const char *part)
{
    gpc_text_open(out, part, "[");
}

static void
add(gpc_text_t *out, uint64_t cycles)
{
    gpc_text_add_comma(out);
    gpc_text_add_number(out, cycles);
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void
add_issue(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    begin(out, "issue");
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        uint64_t instructions = gpu->cores.statistics[core].instructions;
        add(out, instructions * gpu->machine.issue_cycles / gpu->machine.issue_width);
    }
    gpc_text_add(out, "]");
}

/* Core cycles of the inputs that a controller has taken. */
static uint64_t
controller_busy(const gpc_gpu_t *gpu, gpc_node_t node)
{
    const gpc_service_t *service = gpc_gpu_service(gpu, node);
    return service->inputs ? gpu->queues[node].used * service->clock.period / service->inputs / gpu->core_clock.period
                           : 0;
}

static uint64_t
l1_busy(const gpc_gpu_t *gpu, uint32_t core)
{
    const gpc_core_statistics_t *counts = &gpu->cores.statistics[core];
    uint32_t width = gpu->machine.l1_bytes_per_cycle;
    uint64_t requests = counts->loads + counts->stores + counts->atomics;
    uint64_t offered = width ? gpc_core_passed_bytes(&gpu->cores, core) / width : requests;
    return larger(offered, controller_busy(gpu, (gpc_node_t) core));
}

static void
add_controllers(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    static const char *const parts[GPC_NUM_POSITIONS] = {
        [GPC_AT_CORE] = "l1", [GPC_AT_BANK] = "l2", [GPC_AT_MEMORY] = "memory"};
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        const gpc_node_kind_t *kind = &gpu->nodes.kinds[i];
        if (!parts[kind->position]) {
            continue;
        }
        begin(out, parts[kind->position]);
        for (uint32_t node = kind->first; node < kind->first + kind->count; node++) {
            add(out, kind->position == GPC_AT_CORE ? l1_busy(gpu, node - kind->first)
                                                   : controller_busy(gpu, (gpc_node_t) node));
        }
        gpc_text_add(out, "]");
    }
}

static void
add_networks(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    begin(out, "network");
    for (uint32_t i = 0; i < gpu->num_links; i++) {
        for (uint32_t output = 0; output < gpc_network_num_outputs(&gpu->links[i]); output++) {
            add(out, gpc_network_busy(&gpu->links[i], output) / gpu->core_clock.period);
        }
    }
    gpc_text_add(out, "]");
}

static void
add_channels(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    const gpc_dram_config_t *config = &gpu->dram.config;
    bool closed = config->model == GPC_DRAM_CLOSED;
    begin(out, "dram");
    for (uint32_t channel = 0; channel < gpc_gpu_channels(gpu); channel++) {
        const gpc_dram_statistics_t *counts = &gpu->dram.statistics[channel];
        uint64_t opened = (counts->row_misses + counts->row_conflicts) * (closed ? config->bank_cycles : config->t_rc);
        uint64_t banks = config->banks ? opened / config->banks : 0;
        add(out, larger(counts->busy_cycles, banks) * config->clock.period / gpu->core_clock.period);
    }
    gpc_text_add(out, "]");
}

void
gpc_gpu_add_busy(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_open(out, "busy", "{");
    add_issue(gpu, out);
    add_controllers(gpu, out);
    add_networks(gpu, out);
    add_channels(gpu, out);
    gpc_gpu_add_busy_links(gpu, out);
    gpc_text_add(out, "}");
}

void
gpc_gpu_reset_busy(gpc_gpu_t *gpu)
{
    for (uint32_t i = 0; i < gpu->num_links; i++) {
        gpc_network_reset_busy(&gpu->links[i]);
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpu->queues[node].used = 0;
    }
    for (uint32_t core = 0; core < gpu->machine.cores; core++) {
        gpc_core_reset_passed_bytes(&gpu->cores, core);
    }
}
