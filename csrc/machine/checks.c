/* checks.c: check=True: the monitors and the race detector of a GPU, and their counts. */
#include <string.h>

#include "controller/lease.h"
#include "machine/parts.h"

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* A protocol whose copies self-invalidate sends no invalidations, and recalls nothing but what an L1 owns. */
static int
check_calls(void *machine, const gpc_observation_t *ended)
{
    gpc_gpu_t *gpu = machine;
    bool owned = false;
    (void) ended;
    if (!gpc_watched_of(gpu->protocol).lease) {
        return GPC_OK;
    }
    for (uint32_t i = 0; i < gpc_num_controllers(gpu->protocol); i++) {
        owned |= gpu->protocol->controllers[i]->owned != 0;
    }
    for (uint32_t i = 0; i < gpu->protocol->num_messages; i++) {
        const gpc_message_info_t *info = &gpu->protocol->messages[i];
        bool calls = info->traffic_class == GPC_CLASS_INV || (info->traffic_class == GPC_CLASS_RCL && !owned);
        uint64_t sent = gpc_gpu_traffic(gpu, i)->messages;
        if (calls && sent) {
            return gpc_fail(&gpu->failure, GPC_ERROR_INVARIANT,
                            "an invariant does not hold, leases need no invalidations: %llu %s messages were sent",
                            (unsigned long long) sent, info->name);
        }
    }
    return GPC_OK;
}

static int
make_monitor(gpc_gpu_t *gpu)
{
    gpc_monitored_t about = {.stream = &gpu->stream,
                             .protocol = gpu->protocol,
                             .rule = gpu->rule,
                             .machine = &gpu->machine,
                             .nodes = &gpu->nodes,
                             .controllers = gpu->controllers,
                             .l1s = gpu->l1s,
                             .messages = &gpu->messages,
                             .lane_lists = &gpu->lane_lists};
    int status = gpc_monitor_create(&about, &gpu->checks.monitor);
    gpu->checks.calls = (gpc_subscriber_t){.observe = check_calls, .self = gpu};
    gpc_subscribe(&gpu->stream, &gpu->checks.calls, GPC_KIND(ENDED));
    GPC_TRY(status);
    GPC_TRY(gpc_gpu_make_law(gpu));
    return gpc_gpu_make_work_monitor(gpu);
}

int
gpc_gpu_make_checks(gpc_gpu_t *gpu)
{
    const gpc_watched_t *watched = gpu->protocol->watched;
    bool at_perform = watched && watched->promise == GPC_PROMISE_FRESH;
    int status = GPC_OK;

    if (gpu->check & GPC_CHECK_KERNEL) {
        status = gpc_cores_check_kernels(&gpu->cores, &gpu->stream);
    }
    if (status == GPC_OK && (gpu->check & GPC_CHECK_PROTOCOL)) {
        status = make_monitor(gpu);
    }
    if (status == GPC_OK && (gpu->check & GPC_CHECK_RACES)) {
        status = gpc_race_create(&gpu->cores, &gpu->stream, at_perform, gpu->rule != GPC_RULE_DRF, &gpu->checks.race);
    }
    return status;
}

void
gpc_gpu_free_checks(gpc_gpu_t *gpu)
{
    gpc_monitor_free(gpu->checks.monitor);
    gpc_race_free(gpu->checks.race);
    gpc_gpu_free_work_monitor(gpu);
    gpc_gpu_free_law(gpu);
}

/* ---- launches and the host --------------------------------------------------------------------------------------- */

void
gpc_gpu_checks_lost_memory(gpc_gpu_t *gpu)
{
    gpu->checks.memory_unknown = true;
}

int
gpc_gpu_checks_host_wrote(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in)
{
    bool known = gpu->checks.monitor && !gpu->checks.memory_unknown;
    return known ? gpc_monitor_host_wrote(gpu->checks.monitor, address, words, in) : GPC_OK;
}

int
gpc_gpu_checks_host_read(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *out)
{
    bool known = gpu->checks.monitor && !gpu->checks.memory_unknown;
    return known ? gpc_monitor_host_read(gpu->checks.monitor, address, words, out) : GPC_OK;
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

gpc_gpu_check_counts_t
gpc_gpu_check_counts(const gpc_gpu_t *gpu)
{
    gpc_gpu_check_counts_t counts = {.looks = gpu->checks.looks};
    if (gpu->checks.monitor) {
        counts.monitor = *gpc_monitor_counts(gpu->checks.monitor);
    }
    if (gpu->checks.race) {
        counts.race = *gpc_race_counts(gpu->checks.race);
    }
    return counts;
}

void
gpc_gpu_add_checks(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_gpu_check_counts_t counts = gpc_gpu_check_counts(gpu);

    gpc_text_open(out, "check", "{");
#define X(name, text) gpc_text_add_count(out, #name, counts.monitor.name);
    GPC_MONITOR_COUNTS(X)
#undef X
    gpc_text_add_count(out, "looks", counts.looks);
#define X(name, text) gpc_text_add_count(out, "race_" #name, counts.race.name);
    GPC_RACE_COUNTS(X)
#undef X
    gpc_text_add(out, "}");
}

void
gpc_gpu_set_check_counts(gpc_gpu_t *gpu, const gpc_gpu_check_counts_t *counts)
{
    gpu->checks.looks = counts->looks;
    if (gpu->checks.monitor) {
        gpc_monitor_set_counts(gpu->checks.monitor, &counts->monitor);
    }
    if (gpu->checks.race) {
        gpc_race_set_counts(gpu->checks.race, &counts->race);
    }
}
