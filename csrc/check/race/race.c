/* race.c: threads, their vector clocks, and the effects of synchronisation on them. */
#include "check/race/race.h"

#include <stdlib.h>
#include <string.h>

#include "check/race/race_parts.h"
#include "core/where.h"

/* ---- forgetting -------------------------------------------------------------------------------------------------- */

static void
drop(gpc_view_t **view)
{
    gpc_view_drop(*view);
    *view = NULL;
}

static void
drop_all(gpc_view_t **views, size_t count)
{
    for (size_t i = 0; views && i < count; i++) {
        drop(&views[i]);
    }
}

static void
forget_thread(gpc_race_thread_t *thread)
{
    drop(&thread->knows);
    drop_all(thread->fenced, NUM_LEVELS);
    drop_all(thread->seen, NUM_LEVELS);
    *thread = (gpc_race_thread_t){.time = 1};
}

static void
forget_launch(gpc_race_t *self)
{
    const gpc_machine_t *m = self->machine;
    for (size_t i = 0; self->threads && i < (size_t) m->cores * m->warps_per_core; i++) {
        forget_thread(&self->threads[i]);
    }
    for (size_t i = 0; self->flights && i < (size_t) m->cores * m->requests_per_core; i++) {
        drop_all(self->flights[i].views, NUM_LEVELS);
    }
    drop_all(self->joined, (size_t) m->cores * m->blocks_per_core * GPC_NAMED_BARRIERS);
    drop_all(self->fences, 2 * (size_t) m->gpus);
    drop_all(self->ended, GPC_MOST_KERNELS);
    gpc_race_forget_all(self);
}

/* ---- launches and blocks ----------------------------------------------------------------------------------------- */

/* On one GPU, scope gpu is the widest. */
static uint8_t
level_of(const gpc_race_t *self, uint8_t scope)
{
    return self->scoped && (scope < LEVEL_GPU || self->machine->gpus > 1) ? scope : LEVEL_SYS;
}

static bool
synchronises_narrowly(const gpc_race_t *self, const gpc_program_t *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const gpc_instruction_t *in = &program->instructions[i];
        bool memory = in->opcode == GPC_OP_LOAD || in->opcode == GPC_OP_STORE || in->opcode == GPC_OP_ATOMIC;
        if (level_of(self, in->scope) < LEVEL_SYS &&
            (in->opcode == GPC_OP_FENCE || (memory && in->order != GPC_ORDER_WEAK))) {
            return true;
        }
    }
    return false;
}

static int
launched(gpc_race_t *self, const gpc_launch_t *launch, uint32_t warps_per_block)
{
    size_t blocks = (size_t) launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint16_t *core_of = realloc(self->core_of, blocks * sizeof(*core_of));

    if (!core_of) {
        return GPC_ERROR_MEMORY;
    }
    forget_launch(self);
    self->core_of = core_of;
    self->launch = launch;
    self->launches++;
    self->warps_per_block = warps_per_block;
    self->narrow = self->scoped && synchronises_narrowly(self, &launch->program);
    return GPC_OK;
}

static gpc_race_thread_t *
thread_at(const gpc_race_t *self, uint32_t core, uint32_t warp)
{
    return &self->threads[(size_t) core * self->machine->warps_per_core + warp];
}

/* ---- releases and acquires --------------------------------------------------------------------------------------- */

static gpc_moment_t
moment_of(const gpc_race_thread_t *thread)
{
    return (gpc_moment_t){thread->thread, thread->time};
}

/* The view that the thread releases: its own past and its knowledge; *out is a share of the caller. Advances its
 * time. */
static int
take_release(gpc_race_thread_t *thread, gpc_view_t **out)
{
    *out = gpc_view_share(thread->knows);
    int status = gpc_view_add(out, moment_of(thread));
    thread->time++;
    return status;
}

/* What a warp has done that ends is ordered before kernels that follow its own. */
static int
ended(gpc_race_t *self, gpc_race_thread_t *thread)
{
    const gpc_core_launch_t *kernel = gpc_launch_kernel_of(self->launch, thread->block);
    gpc_view_t *release = NULL;
    int status = kernel ? take_release(thread, &release) : GPC_OK;
    if (release && status == GPC_OK) {
        status = gpc_view_join(&self->ended[kernel->number], release);
    }
    gpc_view_drop(release);
    return status;
}

/* The view of the threads of a kernel when they begin. */
static int
know_ended(const gpc_race_t *self, const gpc_core_launch_t *kernel, gpc_view_t **knows)
{
    const gpc_core_launch_t *other = kernel ? self->launch->joined : NULL;
    int status = GPC_OK;
    for (; other != kernel && status == GPC_OK; other = other->next) {
        status = gpc_kernel_follows(kernel, other) ? gpc_view_join(knows, self->ended[other->number]) : GPC_OK;
    }
    return status;
}

static int
block_began(gpc_race_t *self, uint32_t core, uint32_t number, uint32_t first_warp, uint32_t warps, uint32_t first_word)
{
    const gpc_core_launch_t *kernel = gpc_launch_kernel_of(self->launch, number);
    int status = GPC_OK;
    self->core_of[number] = (uint16_t) core;
    for (uint32_t i = 0; i < warps && status == GPC_OK; i++) {
        gpc_race_thread_t *thread = thread_at(self, core, first_warp + i);
        forget_thread(thread);
        thread->thread = number * self->warps_per_block + i;
        thread->block = number;
        status = know_ended(self, kernel, &thread->knows);
    }
    gpc_race_forget_words(self, gpc_race_scratchpad_at(core * self->scratchpad_words + first_word),
                          (kernel ? &kernel->launch : self->launch)->program.shared_words);
    return status;
}

static int
publish_one(const gpc_race_t *self, gpc_race_sync_t *sync, const gpc_race_thread_t *thread, uint8_t level,
            gpc_view_t *view)
{
    uint32_t block = self->narrow ? thread->block : 0; /* without narrow scopes every thread is in scope */
    for (uint32_t i = 0; i < sync->count; i++) {
        if (sync->releases[i].level == level && sync->releases[i].block == block) {
            return gpc_view_join(&sync->releases[i].view, view);
        }
    }
    if (sync->count == sync->capacity) {
        uint32_t capacity = sync->capacity ? 2 * sync->capacity : 1;
        gpc_race_release_t *grown = realloc(sync->releases, capacity * sizeof(*grown));
        if (!grown) {
            return GPC_ERROR_MEMORY;
        }
        sync->releases = grown;
        sync->capacity = capacity;
    }
    sync->releases[sync->count++] =
        (gpc_race_release_t){block, self->core_of[thread->block], level, gpc_view_share(view)};
    return GPC_OK;
}

/* Publishes views at a word, by level. */
static int
publish(gpc_race_t *self, gpc_address_t address, const gpc_race_thread_t *thread, gpc_view_t *const *views)
{
    int status = GPC_OK;
    for (uint8_t level = 0; level < NUM_LEVELS && status == GPC_OK; level++) {
        if (views[level]) {
            gpc_race_word_t *word = gpc_race_word_at(self, address);
            gpc_race_sync_t *sync = word ? gpc_race_sync_of(self, word) : NULL;
            status = sync ? publish_one(self, sync, thread, level, views[level]) : GPC_ERROR_MEMORY;
        }
    }
    return status;
}

/* Whether the thread, acquiring at that level, and the releasing thread are in each other's scope. */
static bool
meets(const gpc_race_t *self, const gpc_race_thread_t *thread, uint8_t level, const gpc_race_release_t *release)
{
    uint8_t least = level < release->level ? level : release->level;
    return !self->narrow || release->block == thread->block ||
           gpc_race_reaches(self, release->core, least, self->core_of[thread->block]);
}

static int
join_releases(gpc_race_t *self, const gpc_race_sync_t *sync, const gpc_race_thread_t *thread, uint8_t level,
              gpc_view_t **into)
{
    for (uint32_t i = 0; i < sync->count; i++) {
        GPC_TRY(meets(self, thread, level, &sync->releases[i]) ? gpc_view_join(into, sync->releases[i].view) : GPC_OK);
    }
    return GPC_OK;
}

/* The thread has read the word by a synchronising access. */
static int
observe(gpc_race_t *self, gpc_address_t address, gpc_race_thread_t *thread, uint8_t order, uint8_t level)
{
    const gpc_race_word_t *word = gpc_race_word_at(self, address);
    if (!word) {
        return GPC_ERROR_MEMORY;
    }
    const gpc_race_sync_t *sync = word->sync ? &self->syncs[word->sync - 1] : NULL;
    if (!sync || sync->count == 0) {
        return GPC_OK;
    }
    self->counts.acquires++;
    if (order == GPC_ORDER_ACQUIRE || order == GPC_ORDER_ACQ_REL || order == GPC_ORDER_SC) {
        return join_releases(self, sync, thread, level, &thread->knows);
    }
    int status = GPC_OK;
    for (uint8_t at = self->narrow ? 0 : LEVEL_SYS; at <= level && status == GPC_OK; at++) {
        status = join_releases(self, sync, thread, at, &thread->seen[at]);
    }
    return status;
}

static int
fence(gpc_race_thread_t *thread, uint8_t order, uint8_t level)
{
    int status = GPC_OK;
    for (uint8_t at = 0; at <= level && order != GPC_ORDER_RELEASE && status == GPC_OK; at++) {
        status = gpc_view_join(&thread->knows, thread->seen[at]);
        drop(&thread->seen[at]);
    }
    GPC_TRY(status);
    if (order == GPC_ORDER_ACQUIRE) {
        return GPC_OK;
    }
    gpc_view_t *release = NULL;
    status = take_release(thread, &release);
    for (uint8_t at = 0; at <= level && status == GPC_OK; at++) {
        drop(&thread->fenced[at]);
        thread->fenced[at] = gpc_view_share(release);
    }
    gpc_view_drop(release);
    return status;
}

/* PTX orders fences of order sc whose scopes include each other's warp: an earlier one synchronises with a later one
 * (PTX ISA, Fence-SC). So every thread of a block may fence its own writes before the barrier that one thread's flag
 * follows. */
static int
fence_of_ptx(gpc_race_t *self, gpc_race_thread_t *thread, uint8_t level)
{
    uint32_t mine = gpc_gpu_of_core(self->machine, self->core_of[thread->block]);
    for (uint32_t i = 0; i < 2 * self->machine->gpus; i++) {
        bool of_sys = i % 2;
        if (i / 2 == mine || (of_sys && level == LEVEL_SYS)) {
            GPC_TRY(gpc_view_join(&thread->knows, self->fences[i]));
        }
    }
    GPC_TRY(fence(thread, GPC_ORDER_SC, level));
    return gpc_view_join(&self->fences[2 * mine + (level == LEVEL_SYS)], thread->fenced[level]);
}

static int
ordered(gpc_race_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    if (access->kind == GPC_ACCESS_EXIT) {
        return ended(self, thread_at(self, core, warp));
    }
    bool arrives = access->kind == GPC_ACCESS_BARRIER && access->order != GPC_ORDER_WEAK; /* again where it is held */
    bool fences =
        access->kind == GPC_ACCESS_FENCE || (access->kind <= GPC_ACCESS_ATOMIC && access->order == GPC_ORDER_SC);
    if (!fences && !arrives) {
        return GPC_OK;
    }
    self->counts.fences += fences;
    if (self->launch->program.independent_lanes && access->kind == GPC_ACCESS_FENCE && access->order == GPC_ORDER_SC &&
        level_of(self, access->scope) >= LEVEL_GPU) {
        return fence_of_ptx(self, thread_at(self, core, warp), level_of(self, access->scope));
    }
    return fence(thread_at(self, core, warp), access->order, level_of(self, access->scope));
}

/* What a warp has done that ends is not ordered before the barrier that its end completes. */
static int
met(gpc_race_t *self, uint32_t core, uint32_t block, uint32_t id, uint32_t warp, bool arrives, uint64_t released)
{
    gpc_view_t **joined =
        &self->joined[((size_t) core * self->machine->blocks_per_core + block) * GPC_NAMED_BARRIERS + id];
    gpc_view_t *release = NULL;
    int status = arrives ? take_release(thread_at(self, core, warp), &release) : GPC_OK;

    self->counts.barriers += arrives;
    if (arrives && status == GPC_OK) {
        status = gpc_view_join(joined, release);
    }
    gpc_view_drop(release);
    for (uint64_t left = released; left && status == GPC_OK; left &= left - 1) {
        status = gpc_view_join(&thread_at(self, core, (uint32_t) __builtin_ctzll(left))->knows, *joined);
    }
    if (released) {
        drop(joined);
    }
    return status;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* The views that a synchronising write publishes: a release publishes the thread's whole view, a relaxed write the view
 * at the last fence. The views are shares of the caller. */
static int
take_views(gpc_race_thread_t *thread, const gpc_access_t *access, uint8_t level, gpc_view_t **views)
{
    if (access->order >= GPC_ORDER_RELEASE) {
        return take_release(thread, &views[level]);
    }
    for (uint8_t at = 0; at <= level; at++) {
        if (at == level || thread->fenced[at] != thread->fenced[at + 1]) {
            views[at] = gpc_view_share(thread->fenced[at]);
        }
    }
    return GPC_OK;
}

static gpc_address_t
address_of(const gpc_accessed_t *event, uint32_t lane)
{
    if (event->addresses) {
        return event->addresses[lane];
    }
    return event->bytes ? gpc_race_scratchpad_at(0) + event->words[lane] : gpc_race_scratchpad_at(event->words[lane]);
}

/* Checks every word of every lane against the word's earlier accesses. */
static int
meet_words(gpc_race_t *self, const gpc_accessed_t *event, const gpc_race_thread_t *thread,
           const gpc_race_access_t *access)
{
    for (gpc_lanes_t left = event->lanes; left; left &= left - 1) {
        gpc_address_t first = address_of(event, (uint32_t) __builtin_ctzll(left));
        for (uint32_t i = 0; i < event->width; i++) {
            gpc_race_access_t other;
            int status = gpc_race_meet(self, first + 4 * i, event->bytes, thread, access, &other);
            if (status) {
                return status < 0 ? status : gpc_race_report(self, first + 4 * i, &other, access);
            }
        }
    }
    return GPC_OK;
}

/* For the scratchpad, and where writes count from their issue on; otherwise `performed` follows. */
static int
synchronise_at_once(gpc_race_t *self, const gpc_accessed_t *event, gpc_race_thread_t *thread, gpc_view_t *const *views,
                    uint8_t level)
{
    int status = GPC_OK;
    for (gpc_lanes_t left = event->lanes; left && status == GPC_OK; left &= left - 1) {
        gpc_address_t address = address_of(event, (uint32_t) __builtin_ctzll(left));
        if (event->words && event->access.kind != GPC_ACCESS_STORE) {
            status = observe(self, address, thread, event->access.order, level);
        }
        for (uint32_t i = 0; i < event->width && status == GPC_OK && event->access.kind != GPC_ACCESS_LOAD; i++) {
            status = publish(self, address + 4 * i, thread, views);
        }
    }
    return status;
}

static int
synchronise(gpc_race_t *self, const gpc_accessed_t *event, gpc_race_thread_t *thread, uint8_t level)
{
    gpc_view_t *views[NUM_LEVELS] = {NULL};
    int status = event->access.kind == GPC_ACCESS_LOAD ? GPC_OK : take_views(thread, &event->access, level, views);

    if (status == GPC_OK && self->at_perform && !event->words) {
        gpc_race_flight_t *flight =
            &self->flights[(size_t) event->core * self->machine->requests_per_core + event->name];
        drop_all(flight->views, NUM_LEVELS);
        memcpy(flight->views, views, sizeof(views));
        return GPC_OK;
    }
    if (status == GPC_OK) {
        status = synchronise_at_once(self, event, thread, views, level);
    }
    drop_all(views, NUM_LEVELS);
    return status;
}

static int
accessed(gpc_race_t *self, const gpc_accessed_t *event)
{
    gpc_race_thread_t *thread = thread_at(self, event->core, event->warp);
    bool atomic = event->access.kind == GPC_ACCESS_ATOMIC;
    gpc_race_access_t access = {.moment = moment_of(thread),
                                .pc = event->pc < UINT16_MAX ? (uint16_t) event->pc : UINT16_MAX,
                                .level = event->words ? LEVEL_SYS : level_of(self, event->access.scope),
                                .synchronising = atomic || event->access.order != GPC_ORDER_WEAK,
                                .writes = event->access.kind != GPC_ACCESS_LOAD};
    uint64_t words = (uint64_t) __builtin_popcountll(event->lanes) * event->width;

    *(access.synchronising ? &self->counts.synchronising : &self->counts.accesses) += words;
    int status = meet_words(self, event, thread, &access);
    if (status == GPC_OK && access.synchronising) {
        status = synchronise(self, event, thread, access.level);
    }
    return status;
}

/* Whether the core's request reads what it replaces. */
static bool
is_atomic(const gpc_race_t *self, const gpc_msg_t *request)
{
    return request->type == GPC_MSG_ATOMIC &&
           gpc_cores_kind_of(self->cores, request->source, request) == GPC_ACCESS_ATOMIC;
}

static int
performed(gpc_race_t *self, const gpc_msg_t *request)
{
    bool atomic = is_atomic(self, request);
    if (!self->at_perform || (!atomic && request->order == GPC_ORDER_WEAK)) {
        return GPC_OK;
    }
    gpc_race_thread_t *thread = thread_at(self, request->source, request->warp);
    gpc_index_t name = gpc_cores_access_of(self->cores, request->source, request);
    const gpc_race_flight_t *flight =
        &self->flights[(size_t) request->source * self->machine->requests_per_core + name];
    int status = GPC_OK;
    for (gpc_mask_t left = request->mask; left && status == GPC_OK; left &= left - 1) {
        gpc_address_t address = request->line + 4 * (uint32_t) __builtin_ctz(left);
        if (atomic) {
            status = observe(self, address, thread, request->order, level_of(self, request->scope));
        }
        if (status == GPC_OK) {
            status = publish(self, address, thread, flight->views);
        }
    }
    return status;
}

static int
completed(gpc_race_t *self, const gpc_msg_t *request)
{
    bool reads = request->type == GPC_MSG_LOAD ? request->order != GPC_ORDER_WEAK
                                               : is_atomic(self, request) && !self->at_perform;
    int status = GPC_OK;
    for (gpc_mask_t left = reads ? request->mask : 0; left && status == GPC_OK; left &= left - 1) {
        status =
            observe(self, request->line + 4 * (uint32_t) __builtin_ctz(left),
                    thread_at(self, request->source, request->warp), request->order, level_of(self, request->scope));
    }
    return status;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

/* An accepted store has no request any more. It has counted as performed when it was accepted, while its access was
 * known: a read before the store is performed then counts as ordered after it, which misses races and reports no false
 * ones. */
static int
write_performed(gpc_race_t *self, const gpc_msg_t *write)
{
    if (write->request == GPC_NONE) {
        return GPC_OK;
    }
    /* the core's own request, which waits for its answer, has the access and its order */
    return performed(self, write->type < GPC_MSG_OWN ? write : gpc_msg_at(self->cores->messages, write->request));
}

static int
on_event(void *detector, const gpc_observation_t *event)
{
    gpc_race_t *self = detector;
    switch (event->kind) {
        case GPC_ON_LAUNCHED:
            return launched(self, event->launched.launch, event->launched.warps_per_block);
        case GPC_ON_BLOCK:
            return block_began(self, event->block.core, event->block.number, event->block.first_warp,
                               event->block.warps, event->block.first_word);
        case GPC_ON_ACCESSED:
            return accessed(self, &event->accessed);
        case GPC_ON_ORDERED:
            return ordered(self, event->ordered.core, event->ordered.warp, event->ordered.access);
        case GPC_ON_ARRIVED:
            return met(self, event->arrived.core, event->arrived.block, event->arrived.id, event->arrived.warp,
                       event->arrived.threads != 0, event->arrived.released);
        case GPC_ON_ACCEPTED:
            return performed(self, event->accepted.msg);
        case GPC_ON_PERFORMED:
            return write_performed(self, event->performed.msg);
        case GPC_ON_COMPLETED:
            return completed(self, event->completed.msg);
        default:
            return GPC_OK;
    }
}

static const uint32_t observed = GPC_KIND(LAUNCHED) | GPC_KIND(BLOCK) | GPC_KIND(ACCESSED) | GPC_KIND(ORDERED) |
                                 GPC_KIND(ARRIVED) | GPC_KIND(ACCEPTED) | GPC_KIND(PERFORMED) | GPC_KIND(COMPLETED);

/* ---- construction ------------------------------------------------------------------------------------------------ */

int
gpc_race_create(const gpc_cores_t *cores, gpc_stream_t *stream, bool at_perform, bool scoped, gpc_race_t **out)
{
    gpc_race_t *self = calloc(1, sizeof(*self));
    const gpc_machine_t *machine = cores->machine;
    *out = self;
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    size_t num = machine->cores;
    self->subscriber = (gpc_subscriber_t){.observe = on_event, .self = self};
    self->cores = cores;
    self->machine = machine;
    self->failure = cores->failure;
    self->at_perform = at_perform;
    self->scoped = scoped;
    self->scratchpad_words = gpc_scratchpad_words(machine);
    self->warps_per_block = 1;
    self->threads = calloc(num * machine->warps_per_core, sizeof(*self->threads));
    self->flights = calloc(num * machine->requests_per_core, sizeof(*self->flights));
    self->joined = calloc(num * machine->blocks_per_core * GPC_NAMED_BARRIERS, sizeof(*self->joined));
    self->fences = calloc(2 * (size_t) machine->gpus, sizeof(*self->fences));
    gpc_pages_init(&self->pages, sizeof(gpc_race_page_t));
    gpc_subscribe(stream, &self->subscriber, observed);
    return self->threads && self->flights && self->joined && self->fences ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_race_free(gpc_race_t *self)
{
    if (!self) {
        return;
    }
    gpc_unsubscribe(&self->subscriber);
    forget_launch(self);
    gpc_pages_free(&self->pages);
    free(self->threads);
    free(self->flights);
    free(self->joined);
    free(self->fences);
    free(self->core_of);
    free(self->sets);
    free(self->syncs);
    free(self);
}

const gpc_race_counts_t *
gpc_race_counts(const gpc_race_t *self)
{
    return &self->counts;
}

void
gpc_race_set_counts(gpc_race_t *self, const gpc_race_counts_t *counts)
{
    self->counts = *counts;
}
