/* host.c: the host's operations between launches: coherent memory accesses in zero simulated time, and snapshots. */
#include <stdlib.h>
#include <string.h>

#include "controller/host.h"
#include "machine/parts.h"

/* ---- host accesses to memory ------------------------------------------------------------------------------------- */

int
gpc_gpu_refuse_while_running(gpc_gpu_t *gpu, const char *what)
{
    gpc_failure_clear(&gpu->failure);
    return gpu->state->running ? gpc_fail(&gpu->failure, GPC_ERROR_STATE, "%s while a launch is running", what)
                               : GPC_OK;
}

int
gpc_gpu_allocate(gpc_gpu_t *gpu, uint64_t words, gpc_address_t *address)
{
    gpc_failure_clear(&gpu->failure);
    int status = gpc_memory_allocate(gpu->memory, words, address);
    return status ? gpc_fail(&gpu->failure, status,
                             "cannot allocate %llu words: must be 1 to %llu in all allocations together",
                             (unsigned long long) words, (unsigned long long) GPC_MEMORY_MAX_WORDS)
                  : GPC_OK;
}

int
gpc_gpu_allocate_on(gpc_gpu_t *gpu, uint64_t words, uint32_t on_gpu, gpc_address_t *address)
{
    const gpc_homes_t *homes = &gpu->homes;
    uint32_t gpus = gpu->machine.gpus > 1 ? gpu->machine.gpus : 1, dies = homes->dies.divisor / gpus;

    gpc_failure_clear(&gpu->failure);
    if (on_gpu >= gpus) {
        return gpc_fail(&gpu->failure, GPC_ERROR_ARGUMENT, "on_gpu = %u: must be 0 to %u", on_gpu, gpus - 1);
    }
    if (!homes->touched.entries) {
        return gpc_gpu_allocate(gpu, words, address);
    }
    gpc_memory_align(gpu->memory, homes->page.divisor);
    GPC_TRY(gpc_gpu_allocate(gpu, words, address));
    uint64_t first = gpc_quotient(homes->page, *address), last = gpc_quotient(homes->page, *address + 4 * words - 1);
    for (uint64_t page = first; page <= last; page++) {
        if (!gpc_touched_add(&homes->touched, page, on_gpu * dies + (uint32_t) (page % dies))) {
            return gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "no memory: more than %u pages of page_bytes = %u",
                            GPC_TOUCHED_ENTRIES / 2, gpu->machine.page_bytes);
        }
    }
    gpc_memory_align(gpu->memory, homes->page.divisor);
    return GPC_OK;
}

int
gpc_gpu_allocate_from(gpc_gpu_t *gpu, gpc_address_t address)
{
    gpc_failure_clear(&gpu->failure);
    int status = gpc_memory_allocate_from(gpu->memory, address);
    return status
               ? gpc_fail(&gpu->failure, status,
                          "allocations cannot begin at 0x%llx: there are some beyond it, or the address is too large",
                          (unsigned long long) address)
               : GPC_OK;
}

/* The words of [address, address + 4 * words) that are in the line at `line`. */
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

int
gpc_gpu_release(gpc_gpu_t *gpu, gpc_address_t address)
{
    int status = gpc_gpu_refuse_while_running(gpu, "release of memory");
    GPC_TRY(status);
    status = gpc_memory_release(gpu->memory, address);
    return status ? gpc_fail(&gpu->failure, status, "address 0x%llx: not the start of an allocation",
                             (unsigned long long) address)
                  : GPC_OK;
}

static int
check_range(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const char *what)
{
    int status = gpc_gpu_refuse_while_running(gpu, what);
    if (status == GPC_OK && (address % 4 || !gpc_memory_covers(gpu->memory, address, words))) {
        status = gpc_fail(&gpu->failure, GPC_ERROR_ADDRESS, "%s of %llu words at 0x%llx: not inside one allocation",
                          what, (unsigned long long) words, (unsigned long long) address);
    }
    return status;
}

/* ---- cached lines of a range; for a range larger than the caches, the caches are searched instead of the range --- */

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
    return mask ? visit(access, line, mask) : GPC_OK;
}

static int
visit_controller(const host_access_t *access, const gpc_controller_t *unit, visit_t visit)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        const gpc_tags_t *tags = &unit->arrays[i];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            GPC_TRY(gpc_tags_present(tags, way) ? visit_line(access, gpc_tags_line(tags, way), visit) : GPC_OK);
        }
    }
    for (gpc_index_t i = 0; i < *unit->mshrs.high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, i);
        GPC_TRY(entry->live ? visit_line(access, entry->line, visit) : GPC_OK);
    }
    return GPC_OK;
}

/* Ways of all arrays. */
static uint64_t
cached_lines(const gpc_gpu_t *gpu)
{
    uint64_t lines = 0;
    for (uint32_t i = 0; i < gpu->nodes.num_kinds; i++) {
        const gpc_node_kind_t *kind = &gpu->nodes.kinds[i];
        const gpc_controller_t *unit = &gpu->controllers[kind->first];
        for (uint32_t array = 0; array < GPC_MAX_ARRAYS && unit->type->arrays[array].name; array++) {
            lines += (uint64_t) kind->count * unit->arrays[array].sets * unit->arrays[array].ways;
        }
    }
    return lines;
}

static int
visit_range(const host_access_t *access, visit_t visit)
{
    gpc_gpu_t *gpu = access->gpu;
    uint32_t line_bytes = gpu->machine.line_bytes;
    gpc_address_t end = access->address + 4 * access->words;
    int status = GPC_OK;

    if (access->words / (line_bytes / 4) > cached_lines(gpu) / 8) {
        for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && status == GPC_OK; node++) {
            status = visit_controller(access, &gpu->controllers[node], visit);
        }
        return status;
    }
    for (gpc_address_t line = access->address / line_bytes * line_bytes; line < end && status == GPC_OK;
         line += line_bytes) {
        status = visit_line(access, line, visit);
    }
    return status;
}

static int
read_line(const host_access_t *access, gpc_address_t line, gpc_mask_t mask)
{
    gpc_gpu_t *gpu = access->gpu;
    gpc_units_t units = gpc_gpu_units(gpu, line);
    uint32_t data[GPC_MAX_LINE_WORDS] = {0};

    gpc_memory_read(gpu->memory, line, gpu->machine.line_bytes / 4, data);
    if (gpu->checks.monitor) {
        GPC_TRY(gpc_host_check_memory(gpu->protocol, &units, line, mask, data));
    }
    GPC_TRY(gpu->protocol->host_read(&units, line, mask, data));
    for (; mask; mask &= mask - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(mask);
        access->out[(line + 4 * word - access->address) / 4] = data[word];
    }
    return GPC_OK;
}

static int
write_line(const host_access_t *access, gpc_address_t line, gpc_mask_t mask)
{
    gpc_gpu_t *gpu = access->gpu;
    gpc_units_t units = gpc_gpu_units(gpu, line);
    uint32_t data[GPC_MAX_LINE_WORDS] = {0};

    gpc_memory_read(gpu->memory, line, gpu->machine.line_bytes / 4, data); /* memory holds the written words already */
    if (gpu->protocol->host_takes_line) {
        gpc_mask_t others = ~mask & gpc_all_words(units.bank);
        GPC_TRY(gpu->protocol->host_read(&units, line, others, data));
        GPC_TRY(gpc_memory_write_masked(gpu->memory, line, others, data));
    }
    return gpu->protocol->host_write(&units, line, mask, data);
}

static void
leave_in_cpu_cache(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words)
{
    uint32_t line_bytes = gpu->machine.line_bytes;
    gpc_address_t end = address + 4 * words;

    for (gpc_address_t line = address / line_bytes * line_bytes; line < end && gpc_cpu_cache_exists(&gpu->cpu);
         line += line_bytes) {
        gpc_cpu_cache_host_wrote(&gpu->cpu, line);
    }
}

int
gpc_gpu_host_read(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, uint32_t *out)
{
    host_access_t access = {gpu, address, words, out};
    int status = check_range(gpu, address, words, "host read");

    if (status == GPC_OK) {
        gpc_memory_read(gpu->memory, address, words, out);
        status = visit_range(&access, read_line);
    }
    if (status == GPC_OK) {
        status = gpc_gpu_checks_host_read(gpu, address, words, out);
    }
    return status ? gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status)) : GPC_OK;
}

int
gpc_gpu_host_write(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in)
{
    host_access_t access = {gpu, address, words, NULL};
    int status = check_range(gpu, address, words, "host write");

    if (status == GPC_OK) {
        status = gpc_memory_write(gpu->memory, address, words, in);
    }
    if (status == GPC_OK) {
        status = visit_range(&access, write_line);
    }
    if (status == GPC_OK) {
        leave_in_cpu_cache(gpu, address, words);
        status = gpc_gpu_checks_host_wrote(gpu, address, words, in);
    }
    return status ? gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status)) : GPC_OK;
}

int
gpc_gpu_host_write_places(gpc_gpu_t *gpu, gpc_address_t address, uint64_t count, const uint32_t *places,
                          const uint32_t *in)
{
    int status =
        count == 0 ? GPC_OK : check_range(gpu, address, 1, "host write"); /* sums with places do not overflow */
    for (uint64_t first = 0, end; first < count && status == GPC_OK; first = end) {
        uint64_t place = places[first];
        end = first + 1;
        while (end < count && places[end] == place + (end - first)) {
            end++;
        }
        status = gpc_gpu_host_write(gpu, address + 4 * place, end - first, in + first);
    }
    return status;
}

/* Writes a cache's lines to memory as the host would read them, before the cache is cleared. An error of a line leaves
 * the others. */
static int
save_lines(gpc_gpu_t *gpu, const gpc_controller_t *unit)
{
    uint32_t data[GPC_MAX_LINE_WORDS];
    uint32_t words = gpu->machine.line_bytes / 4;
    int first = GPC_OK;

    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        const gpc_tags_t *tags = &unit->arrays[i];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            gpc_address_t line = gpc_tags_line(tags, way);
            if (!gpc_tags_present(tags, way) || tags->tags[way].mshr != GPC_NONE) {
                continue;
            }
            gpc_memory_read(gpu->memory, line, words, data);
            gpc_units_t units = gpc_gpu_units(gpu, line);
            int status = gpu->protocol->host_read(&units, line, gpc_all_words(unit), data);
            status = status ? status : gpc_memory_write(gpu->memory, line, words, data);
            first = first ? first : status;
        }
    }
    return first;
}

int
gpc_gpu_empty_caches(gpc_gpu_t *gpu)
{
    uint32_t nodes = gpc_gpu_nodes(gpu);
    int first = GPC_OK;

    for (uint32_t node = 0; node < nodes; node++) {
        int status = save_lines(gpu, &gpu->controllers[node]);
        first = first ? first : status;
    }
    for (uint32_t node = 0; node < nodes; node++) {
        gpc_controller_clear(&gpu->controllers[node]);
    }
    gpc_wheel_clear(&gpu->wheel);
    gpc_gpu_clear_queues(gpu);
    gpc_gpu_clear_die_links(gpu);
    gpc_list_clear(&gpu->state->background);
    gpu->state->serving = 0;
    gpc_order_clear(&gpu->order);
    gpc_cores_clear(&gpu->cores);
    gpc_pool_clear(&gpu->messages);
    gpc_pool_clear(&gpu->lane_lists);
    return first;
}

static int
learn_line(const host_access_t *access, gpc_address_t line, gpc_mask_t mask)
{
    gpc_gpu_t *gpu = access->gpu;
    uint32_t words = gpu->machine.line_bytes / 4, data[GPC_MAX_LINE_WORDS] = {0};
    const host_access_t one = {gpu, line, words, data};
    GPC_TRY(read_line(&one, line, mask));
    GPC_TRY(gpc_monitor_note_ahead(gpu->checks.monitor, line));
    return gpc_monitor_host_wrote(gpu->checks.monitor, line, words, data);
}

/* Gives the monitor the content of every allocation, and of cached lines of memory that has been released, as the host
 * reads it. */
static int
learn_memory(gpc_gpu_t *gpu)
{
    const host_access_t everywhere = {gpu, 0, UINT64_MAX / 4, NULL};
    enum { CHUNK = 4096 };
    gpc_address_t address;
    uint64_t words;
    uint32_t *chunk = malloc(CHUNK * sizeof(*chunk));
    int status = chunk ? GPC_OK : GPC_ERROR_MEMORY;

    gpc_monitor_forget_memory(gpu->checks.monitor);
    for (size_t i = 0; status == GPC_OK && gpc_memory_allocation(gpu->memory, i, &address, &words); i++) {
        for (uint64_t at = 0; at < words && status == GPC_OK; at += CHUNK) {
            uint64_t count = words - at < CHUNK ? words - at : CHUNK;
            status = gpc_gpu_host_read(gpu, address + 4 * at, count, chunk);
            if (status == GPC_OK) {
                status = gpc_monitor_host_wrote(gpu->checks.monitor, address + 4 * at, count, chunk);
            }
        }
    }
    free(chunk);
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && status == GPC_OK; node++) {
        status = visit_controller(&everywhere, &gpu->controllers[node], learn_line);
    }
    return status;
}

int
gpc_gpu_tell_monitors_memory(gpc_gpu_t *gpu)
{
    int status = gpu->checks.monitor && gpu->checks.memory_unknown ? learn_memory(gpu) : GPC_OK;
    if (status == GPC_OK) {
        gpu->checks.memory_unknown = false;
    }
    return status;
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

struct gpc_snapshot {
    gpc_machine_t machine;
    const gpc_protocol_t *protocol; /* as chosen */
    int64_t options[GPC_MAX_OPTIONS];
    gpc_rule_t rule;
    gpc_gpu_check_counts_t checks;
    gpc_arena_image_t *arena;   /* owned */
    gpc_memory_image_t *memory; /* owned */
};

int
gpc_gpu_snapshot(gpc_gpu_t *gpu, gpc_snapshot_t **out)
{
    int status = gpc_gpu_refuse_while_running(gpu, "a snapshot");
    *out = NULL;
    GPC_TRY(status);
    gpc_snapshot_t *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "out of memory for a snapshot");
    }
    snapshot->machine = gpu->machine;
    snapshot->protocol = gpu->chosen;
    snapshot->rule = gpu->rule;
    memcpy(snapshot->options, gpu->options, sizeof(gpu->options));
    snapshot->checks = gpc_gpu_check_counts(gpu);
    if (gpc_arena_image_save(&gpu->arena, &snapshot->arena) || gpc_memory_save(gpu->memory, &snapshot->memory)) {
        gpc_snapshot_free(snapshot);
        return gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "out of memory for a snapshot");
    }
    *out = snapshot;
    return GPC_OK;
}

int
gpc_gpu_restore(gpc_gpu_t *gpu, const gpc_snapshot_t *snapshot)
{
    int status = gpc_gpu_refuse_while_running(gpu, "a restore");
    GPC_TRY(status);
    if (memcmp(&snapshot->machine, &gpu->machine, sizeof(gpu->machine)) != 0 || snapshot->protocol != gpu->chosen ||
        snapshot->rule != gpu->rule || memcmp(snapshot->options, gpu->options, sizeof(gpu->options)) != 0 ||
        gpc_arena_image_bytes(snapshot->arena) != gpc_arena_bytes(&gpu->arena)) {
        return gpc_fail(&gpu->failure, GPC_ERROR_ARGUMENT,
                        "the snapshot is of another machine, protocol, consistency or options");
    }
    status = gpc_memory_load(gpu->memory, snapshot->memory);
    if (status) {
        return gpc_fail(&gpu->failure, status, "out of memory while restoring the snapshot");
    }
    gpc_arena_image_load(&gpu->arena, snapshot->arena);
    gpc_gpu_checks_lost_memory(gpu);
    gpc_gpu_set_check_counts(gpu, &snapshot->checks);
    return GPC_OK;
}

void
gpc_snapshot_free(gpc_snapshot_t *snapshot)
{
    if (snapshot) {
        gpc_memory_image_free(snapshot->memory);
        gpc_arena_image_free(snapshot->arena);
        free(snapshot);
    }
}
