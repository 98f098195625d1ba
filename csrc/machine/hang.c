/* hang.c: ends a launch in which nothing changes.
 *
 * A launch hangs when for `deadlock_after` core cycles no word of memory has changed, no warp has ended, and
 * each that arrives at barriers goes round: it arrives with the registers of earlier arrivals. run.c calls
 * gpc_gpu_checkpoint at a time limit that it compares with every event anyway. Ends of warps are counted already; words
 * and arrivals are observed only in a launch whose counts have not moved for a quarter of the time: then this file
 * subscribes to the requests that cores offer and L1s complete, and to arrivals. Loads that complete meanwhile are the
 * polls of the report.
 *
 * An atomic's answer shows whether it has changed its word. A store changes its word unless the last store to the word
 * that was observed in this launch had the same value; the first one observed decides nothing. Of the registers only
 * those count that decide what the warp does next: a poll loop may count its polls. */
#include <inttypes.h>
#include <string.h>

#include "base/blocks.h"
#include "machine/parts.h"

enum { STEPS = 16 }; /* checkpoints in the time without progress */

/* ---- observing --------------------------------------------------------------------------------------------------- */

static bool
is_observing(const gpc_gpu_t *gpu)
{
    return gpu->hang.words.stream != NULL;
}

static void
note_change(gpc_gpu_t *gpu)
{
    gpu->hang.changed = true;
    gpc_unsubscribe(&gpu->hang.words);
}

/* A store of a value to a word. */
static void
note_store(gpc_gpu_t *gpu, gpc_address_t word, uint32_t value)
{
    gpc_stored_t *entry =
        &gpu->hang.stored[(uint32_t) (word / 4 * UINT64_C(0x9E3779B97F4A7C15) >> 40) % GPC_HANG_STORED];
    if (entry->launch != gpu->state->launches) {
        *entry = (gpc_stored_t){word, gpu->state->launches, value};
        gpu->hang.unknown = true;
    } else if (entry->word != word || entry->value != value) {
        *entry = (gpc_stored_t){word, gpu->state->launches, value};
        note_change(gpu);
    }
}

static void
note_offered(gpc_gpu_t *gpu, const gpc_msg_t *msg)
{
    for (gpc_mask_t left = msg->type == GPC_MSG_STORE ? msg->mask : 0; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t) __builtin_ctz(left);
        note_store(gpu, msg->line + 4 * i, msg->data[i]);
    }
}

static void
note_completed(gpc_gpu_t *gpu, uint32_t core, const gpc_msg_t *msg, const uint32_t *words)
{
    const gpc_lane_list_t *list = msg->lanes == GPC_NONE ? NULL : gpc_lane_list_at(&gpu->lane_lists, msg->lanes);
    bool changed = false;
    gpc_cores_note_poll(&gpu->cores, gpu->hang.polls, core, msg, words);
    for (uint32_t n = 0; list != NULL && n < list->count && !changed; n++) {
        changed = gpc_atomic_changes(list, n);
    }
    if (changed) {
        note_change(gpu);
    }
}

/* A warp has arrived at a barrier, and is found to go round if a state repeats at a distance of at most GPC_HANG_PERIOD
 * arrivals (Brent's algorithm: the state that is kept is replaced at powers of two). Until then its arrival decides
 * nothing; a warp whose states do not repeat makes progress. */
static void
note_arrived(gpc_gpu_t *gpu, uint32_t core, uint32_t warp)
{
    gpc_arrivals_t *its = gpu->hang.arrivals + (size_t) core * gpu->machine.warps_per_core + warp;
    uint32_t pc;
    uint64_t sum = gpc_cores_register_sum(&gpu->cores, core, warp, gpu->hang.deciding, &pc);
    uint64_t state = (sum ^ pc) * UINT64_C(0x9E3779B97F4A7C15);

    its->count++;
    if (its->power != 0 && state == its->kept) {
        its->period = its->count;
        its->count = 0;
    } else if (its->period != 0 && its->count > its->period) {
        *its = (gpc_arrivals_t){state, 0, 1, 0};
    } else if (its->period == 0 && its->count >= its->power) {
        *its = (gpc_arrivals_t){state, 0, its->power == 0 ? 1 : 2 * its->power, 0};
    }
    gpu->hang.unknown |= its->period == 0;
    if (its->power > GPC_HANG_PERIOD) {
        note_change(gpu);
    }
}

static int
on_event(void *machine, const gpc_observation_t *event)
{
    if (event->kind == GPC_ON_OFFERED) {
        note_offered(machine, event->offered.msg);
    } else if (event->kind == GPC_ON_ARRIVED) {
        note_arrived(machine, event->arrived.core, event->arrived.warp);
    } else {
        note_completed(machine, event->completed.unit->index, event->completed.msg, event->completed.words);
    }
    return GPC_OK;
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

static size_t
polls_bytes(const gpc_gpu_t *gpu)
{
    return (size_t) gpu->machine.cores * gpu->machine.warps_per_core * GPC_POLLS * sizeof(gpc_poll_t);
}

static size_t
arrivals_bytes(const gpc_gpu_t *gpu)
{
    return (size_t) gpu->machine.cores * gpu->machine.warps_per_core * sizeof(gpc_arrivals_t);
}

/* Allocates what observing needs, once. */
static int
start_observing(gpc_gpu_t *gpu)
{
    gpc_hang_t *hang = &gpu->hang;
    hang->polls = hang->polls ? hang->polls : gpc_block_take(polls_bytes(gpu));
    hang->stored = hang->stored ? hang->stored : gpc_block_take(GPC_HANG_STORED * sizeof(*hang->stored));
    hang->arrivals = hang->arrivals ? hang->arrivals : gpc_block_take(arrivals_bytes(gpu));
    hang->deciding_bytes = gpc_cores_registers(&gpu->cores) + 1;
    hang->deciding = hang->deciding ? hang->deciding : gpc_block_take(hang->deciding_bytes);
    if (!hang->polls || !hang->stored || !hang->arrivals || !hang->deciding) {
        return gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "out of memory to observe a launch without progress");
    }
    memset(hang->polls, 0, polls_bytes(gpu));
    memset(hang->arrivals, 0, arrivals_bytes(gpu));
    gpc_cores_mark_deciding(&gpu->cores, hang->deciding);
    hang->scratchpads = gpc_cores_scratchpad_sum(&gpu->cores);
    hang->quiet = 0;
    hang->unknown = false;
    hang->words = (gpc_subscriber_t){.observe = on_event, .self = gpu};
    gpc_subscribe(&gpu->stream, &hang->words, GPC_KIND(OFFERED) | GPC_KIND(COMPLETED) | GPC_KIND(ARRIVED));
    return GPC_OK;
}

static void
set_limit(gpc_gpu_t *gpu, gpc_tick_t from, gpc_cycle_t cycles)
{
    gpc_tick_t period = gpu->core_clock.period, budget_ends = gpu->state->budget_ends;
    bool far = from >= budget_ends || cycles > (budget_ends - from) / period;
    gpc_gpu_set_checkpoint(gpu, far ? budget_ends : from + cycles * period);
}

static gpc_cycle_t
step_of(const gpc_gpu_t *gpu)
{
    return (gpu->hang.after + STEPS - 1) / STEPS;
}

/* A quarter of the time to the verdict, or of the budget, so that its report has polls too. */
static gpc_cycle_t
unobserved_time(const gpc_gpu_t *gpu)
{
    gpc_cycle_t least = gpu->hang.after < gpu->budget ? gpu->hang.after : gpu->budget;
    return (least + 3) / 4;
}

void
gpc_gpu_hang_begin(gpc_gpu_t *gpu)
{
    gpc_unsubscribe(&gpu->hang.words);
    gpu->hang.changed = false;
    gpu->hang.mark = gpc_cores_progress_mark(&gpu->cores);
    set_limit(gpu, gpu->state->launched, gpu->machine.launch_latency + unobserved_time(gpu));
}

/* True if no observed word or count has changed since the last checkpoint. */
static bool
is_quiet(gpc_gpu_t *gpu)
{
    gpc_hang_t *hang = &gpu->hang;
    uint64_t mark = gpc_cores_progress_mark(&gpu->cores);
    uint64_t scratchpads = is_observing(gpu) ? gpc_cores_scratchpad_sum(&gpu->cores) : hang->scratchpads;
    bool quiet = mark == hang->mark && scratchpads == hang->scratchpads && !hang->changed;
    hang->mark = mark;
    hang->scratchpads = scratchpads;
    hang->changed = false;
    return quiet;
}

int
gpc_gpu_checkpoint(gpc_gpu_t *gpu, gpc_tick_t tick)
{
    gpc_hang_t *hang = &gpu->hang;
    gpc_cycle_t step = step_of(gpu), now = tick / gpu->core_clock.period;
    if (tick > gpu->state->budget_ends) {
        return GPC_ERROR_BUDGET;
    }
    if (!is_quiet(gpu)) {
        gpc_unsubscribe(&gpu->hang.words);
        set_limit(gpu, tick, unobserved_time(gpu));
        return GPC_OK;
    }
    if (!is_observing(gpu)) {
        set_limit(gpu, tick, step);
        return start_observing(gpu);
    }
    if (hang->unknown || gpc_cores_sleep_until(&gpu->cores, now + step)) {
        hang->unknown = false;
        hang->quiet = 0;
    } else {
        hang->quiet += step;
    }
    set_limit(gpu, tick, step);
    return hang->quiet < hang->after ? GPC_OK : GPC_ERROR_DEADLOCK;
}

void
gpc_gpu_hang_end(gpc_gpu_t *gpu)
{
    if (gpu->hang.words.stream) { /* the launch has been observed */
        gpc_unsubscribe(&gpu->hang.words);
    }
    if (gpu->hang.deciding) {
        gpc_block_give(gpu->hang.deciding, gpu->hang.deciding_bytes);
        gpu->hang.deciding = NULL;
    }
}

void
gpc_gpu_hang_free(gpc_gpu_t *gpu)
{
    gpc_block_give(gpu->hang.polls, polls_bytes(gpu));
    gpc_block_give(gpu->hang.arrivals, arrivals_bytes(gpu));
    gpc_block_give(gpu->hang.deciding, gpu->hang.deciding_bytes);
    gpc_block_give(gpu->hang.stored, GPC_HANG_STORED * sizeof(*gpu->hang.stored));
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

/* The word as the host would read it. */
static uint32_t
coherent_word(void *world, gpc_address_t address)
{
    gpc_gpu_t *gpu = world;
    gpc_address_t line = address / gpu->machine.line_bytes * gpu->machine.line_bytes;
    uint32_t data[GPC_MAX_LINE_WORDS], i = (uint32_t) (address - line) / 4;
    gpc_memory_read(gpu->memory, line, gpu->machine.line_bytes / 4, data);
    gpc_units_t units = gpc_gpu_units(gpu, line);
    int status = gpu->protocol->host_read(&units, line, UINT32_C(1) << i, data);
    (void) status; /* the launch has failed already */
    return data[i];
}

/* What the warps do: in groups if they have been observed, else one after another up to `most`; blocks not started. */
static void
explain_hang(gpc_gpu_t *gpu, uint32_t most, gpc_text_t *out)
{
    gpc_stuck_t stuck = {gpu->hang.polls, coherent_word, gpu};
    if (is_observing(gpu)) {
        gpc_cores_explain_stuck(&gpu->cores, &stuck, out);
    } else {
        (void) gpc_cores_explain_wait(&gpu->cores, out, most);
    }
    gpc_cores_explain_blocks(&gpu->cores, out);
}

/* Lists the controllers that hold the end of the launch. */
static void
explain_ends(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        const gpc_controller_t *unit = &gpu->controllers[node];
        if (*unit->launch_pending) {
            gpc_text_add(out, "%s %u holds the end of the launch; ", unit->type->name, unit->index);
        }
    }
}

int
gpc_gpu_fail_deadlock(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    gpc_failure_clear(&gpu->failure);
    int code = gpc_cores_explain_wait(&gpu->cores, &text, 6);
    gpc_cores_explain_blocks(&gpu->cores, &text);
    explain_ends(gpu, &text);
    (void) gpc_fail(&gpu->failure, code, "%s at core cycle %llu: %s", gpc_error_message(code),
                    (unsigned long long) (gpc_wheel_now(&gpu->wheel) / gpu->core_clock.period),
                    text.bytes ? text.bytes : "");
    gpc_text_free(&text);
    return code;
}

int
gpc_gpu_fail_over_budget(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    explain_hang(gpu, 3, &text);
    (void) gpc_fail(&gpu->failure, GPC_ERROR_BUDGET, "the launch exceeds its budget of %llu core cycles: %s",
                    (unsigned long long) gpu->budget, text.bytes ? text.bytes : "");
    gpc_text_free(&text);
    return GPC_ERROR_BUDGET;
}

int
gpc_gpu_fail_hanging(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    explain_hang(gpu, 6, &text);
    explain_ends(gpu, &text);
    (void) gpc_fail(&gpu->failure, GPC_ERROR_DEADLOCK,
                    "deadlock at core cycle %llu: for %llu core cycles no word of memory has changed, no warp has "
                    "ended, and none has "
                    "arrived at a barrier with new values in its registers: %s",
                    (unsigned long long) (gpc_wheel_now(&gpu->wheel) / gpu->core_clock.period),
                    (unsigned long long) gpu->hang.quiet, text.bytes ? text.bytes : "");
    gpc_text_free(&text);
    return GPC_ERROR_DEADLOCK;
}
