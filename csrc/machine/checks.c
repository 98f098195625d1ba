/* checks.c: check=True: connects the monitors and the race detector to controllers, cores and the host. */
#include <string.h>

#include "machine/parts.h"

/* ---- reports of controllers -------------------------------------------------------------------------------------- */

static int
on_stepped(void *watcher, gpc_controller_t *unit, gpc_address_t line)
{
    gpc_gpu_t *gpu = watcher;
    return gpu->checks.monitor ? gpc_monitor_stepped(gpu->checks.monitor, unit, line) : 0;
}

static int
on_performed(void *watcher, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until)
{
    gpc_gpu_t *gpu = watcher;
    int status = gpu->checks.monitor ? gpc_monitor_performed(gpu->checks.monitor, unit, write, until) : 0;

    if (status || !gpu->checks.race || write->request == GPC_NONE) {
        return status; /* on_accepted has reported an accepted store */
    }
    /* the core's own request, which waits for its answer, has the access and its order */
    const gpc_msg_t *request = write->type < GPC_MSG_OWN ? write : gpc_msg_at(&gpu->messages, write->request);
    return gpc_race_performed(gpu->checks.race, request, gpc_cores_access_of(&gpu->cores, write->source, request));
}

/* The race detector treats the store as performed now, while its access is known. A read before the store is performed
 * then counts as ordered after it, which misses races and reports no false ones. */
static int
on_accepted(void *watcher, gpc_controller_t *l1, const gpc_msg_t *store)
{
    gpc_gpu_t *gpu = watcher;
    int status = gpu->checks.monitor ? gpc_monitor_accepted(gpu->checks.monitor, l1, store) : 0;

    if (status || !gpu->checks.race) {
        return status;
    }
    return gpc_race_performed(gpu->checks.race, store, gpc_cores_access_of(&gpu->cores, store->source, store));
}

static void
on_acquired(void *watcher, const gpc_controller_t *l1)
{
    const gpc_gpu_t *gpu = watcher;
    if (gpu->checks.monitor) {
        gpc_monitor_acquired(gpu->checks.monitor, l1);
    }
}

static int
on_completed(void *watcher, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words, bool hit)
{
    gpc_gpu_t *gpu = watcher;
    int status = gpu->checks.monitor ? gpc_monitor_completed(gpu->checks.monitor, l1, request, words, hit) : 0;
    return status || !gpu->checks.race ? status : gpc_race_completed(gpu->checks.race, request);
}

/* ---- reports of cores -------------------------------------------------------------------------------------------- */

static int
on_launched(void *watcher, const gpc_launch_t *launch, uint32_t warps_per_block)
{
    gpc_gpu_t *gpu = watcher;
    return gpu->checks.race ? gpc_race_launched(gpu->checks.race, launch, warps_per_block) : 0;
}

static void
on_block_began(void *watcher, uint32_t core, uint32_t number, uint32_t first_warp, uint32_t warps, uint32_t first_word)
{
    gpc_gpu_t *gpu = watcher;
    if (gpu->checks.monitor) {
        gpc_monitor_block_began(gpu->checks.monitor, core, first_warp, warps);
    }
    if (gpu->checks.race) {
        gpc_race_block_began(gpu->checks.race, core, number, first_warp, first_word);
    }
}

static int
on_accessed(void *watcher, const gpc_core_event_t *event)
{
    gpc_gpu_t *gpu = watcher;
    return gpu->checks.race ? gpc_race_accessed(gpu->checks.race, event) : 0;
}

static int
on_ordered(void *watcher, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    gpc_gpu_t *gpu = watcher;
    int status = gpu->checks.monitor ? gpc_monitor_ordered(gpu->checks.monitor, core, warp, access) : 0;
    return status || !gpu->checks.race ? status : gpc_race_ordered(gpu->checks.race, core, warp, access);
}

static int
on_met(void *watcher, uint32_t core, uint32_t block, uint32_t id, uint32_t warp, uint64_t released)
{
    gpc_gpu_t *gpu = watcher;
    if (gpu->checks.monitor) {
        gpc_monitor_met(gpu->checks.monitor, core, released);
    }
    return gpu->checks.race ? gpc_race_met(gpu->checks.race, core, block, id, warp, released) : 0;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static int
make_monitor(gpc_gpu_t *gpu)
{
    gpc_monitored_t about = {.protocol = gpu->protocol,
                             .machine = &gpu->machine,
                             .l1s = gpu->l1s,
                             .banks = gpu->controllers + gpu->machine.cores,
                             .messages = &gpu->messages,
                             .lane_lists = &gpu->lane_lists};
    return gpc_monitor_create(&about, &gpu->checks.monitor);
}

int
gpc_gpu_make_checks(gpc_gpu_t *gpu)
{
    const gpc_watched_t *watched = gpu->protocol->watched;
    bool at_perform = watched && watched->promise == GPC_PROMISE_FRESH;
    int status = 0;

    if (gpu->check & GPC_CHECK_PROTOCOL) {
        status = make_monitor(gpu);
    }
    if (status == 0 && (gpu->check & GPC_CHECK_RACES)) {
        status =
            gpc_race_create(&gpu->machine, at_perform, gpu->rule != GPC_RULE_DRF, &gpu->failure, &gpu->checks.race);
    }
    if (status == 0 && (gpu->check & GPC_CHECK_KERNEL)) {
        status = gpc_cores_check_kernels(&gpu->cores);
    }
    if (status || !gpu->check) {
        return status;
    }
    gpu->checks.controllers = (gpc_watch_t){gpu, on_stepped, on_performed, on_accepted, on_completed, on_acquired};
    gpu->checks.cores = (gpc_core_watch_t){gpu, on_launched, on_block_began, on_accessed, on_ordered, on_met};
    gpu->cores.watch = &gpu->checks.cores;
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpu->controllers[node].monitors = &gpu->checks.controllers;
    }
    return 0;
}

void
gpc_gpu_free_checks(gpc_gpu_t *gpu)
{
    gpc_monitor_free(gpu->checks.monitor);
    gpc_race_free(gpu->checks.race);
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
    return known ? gpc_monitor_host_wrote(gpu->checks.monitor, address, words, in) : 0;
}

/* A protocol whose copies self-invalidate sends no invalidations or recalls. */
static int
check_calls(gpc_gpu_t *gpu)
{
    if (!gpu->protocol->watched || !gpu->protocol->watched->lease) {
        return 0;
    }
    for (uint32_t i = 0; i < gpu->protocol->num_messages; i++) {
        const gpc_message_info_t *info = &gpu->protocol->messages[i];
        bool calls = info->traffic_class == GPC_CLASS_INV || info->traffic_class == GPC_CLASS_RCL;
        if (calls && gpu->network.traffic[GPC_MSG_OWN + i].messages) {
            return gpc_fail(&gpu->failure, GPC_ERROR_INVARIANT,
                            "an invariant does not hold, leases need no invalidations: %llu %s messages were sent",
                            (unsigned long long) gpu->network.traffic[GPC_MSG_OWN + i].messages, info->name);
        }
    }
    return 0;
}

int
gpc_gpu_checks_after_launch(gpc_gpu_t *gpu)
{
    int status = gpu->checks.monitor ? gpc_monitor_at_rest(gpu->checks.monitor) : 0;
    return status || !gpu->checks.monitor ? status : check_calls(gpu);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static void
add_count(gpc_text_t *out, const char *key, uint64_t value)
{
    gpc_text_add_key(out, key);
    gpc_text_add(out, "%llu", (unsigned long long) value);
}

gpc_gpu_check_counts_t
gpc_gpu_check_counts(const gpc_gpu_t *gpu)
{
    gpc_gpu_check_counts_t counts = {0};
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

    gpc_text_add_key(out, "check");
    gpc_text_add(out, "{");
#define X(name, text) add_count(out, #name, counts.monitor.name);
    GPC_MONITOR_COUNTS(X)
#undef X
#define X(name, text) add_count(out, "race_" #name, counts.race.name);
    GPC_RACE_COUNTS(X)
#undef X
    gpc_text_add(out, "}");
}

void
gpc_gpu_set_check_counts(gpc_gpu_t *gpu, const gpc_gpu_check_counts_t *counts)
{
    if (gpu->checks.monitor) {
        gpc_monitor_set_counts(gpu->checks.monitor, &counts->monitor);
    }
    if (gpu->checks.race) {
        gpc_race_set_counts(gpu->checks.race, &counts->race);
    }
}
