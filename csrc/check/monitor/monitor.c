/* monitor.c: checks of cached copies after every step, of fences and of barriers; the events that monitors subscribe
 * to. */
#include "check/monitor/monitor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/monitor/monitor_parts.h"
#include "controller/lease.h"

/* ---- memory as the host sees it ---------------------------------------------------------------------------------- */

void
gpc_monitor_forget_memory(gpc_monitor_t *self)
{
    gpc_shadow_forget(&self->shadow);
    memset(self->seen, 0, GPC_SEEN_PLACES * sizeof(*self->seen));
    memset(self->performed, 0, self->about.messages->capacity * sizeof(*self->performed));
    gpc_accepted_clear(&self->accepted);
    gpc_monitor_forget_cells(self);
    if (gpc_monitor_is_logical(self)) {
        gpc_logical_forget(&self->logical);
    }
}

int
gpc_monitor_host_wrote(gpc_monitor_t *self, gpc_address_t address, uint64_t words, const uint32_t *in)
{
    for (uint64_t i = 0; i < words; i++) {
        GPC_TRY(gpc_shadow_write(&self->shadow, address + 4 * i, in[i], 0));
    }
    return GPC_OK;
}

int
gpc_monitor_note_ahead(gpc_monitor_t *self, gpc_address_t line)
{
    gpc_units_t units = gpc_nodes_units(self->about.nodes, self->about.controllers, self->about.l1s, line);
    gpc_monitored_line_t *monitored = self->watched.near_ahead ? gpc_monitor_line(self, line) : NULL;
    if (monitored) {
        monitored->ahead = self->watched.near_ahead(&units, line);
    }
    return monitored || !self->watched.near_ahead ? GPC_OK : GPC_ERROR_MEMORY;
}

int
gpc_monitor_host_read(gpc_monitor_t *self, gpc_address_t address, uint64_t words, const uint32_t *out)
{
    uint32_t line_bytes = self->about.machine->line_bytes;
    for (uint64_t i = 0; i < words; i++) {
        gpc_address_t at = address + 4 * i, line = at / line_bytes * line_bytes;
        uint32_t right = gpc_shadow_value(&self->shadow, at);
        if (out[i] != right) {
            gpc_units_t units = gpc_nodes_units(self->about.nodes, self->about.controllers, self->about.l1s, line);
            return gpc_violated(units.bank ? units.bank : self->about.l1s[0], line, "the host reads the last write",
                                "it gets 0x%" PRIx32 " from word %" PRIu64
                                ", the last write performed there left 0x%" PRIx32,
                                out[i], (at - line) / 4, right);
        }
    }
    return GPC_OK;
}

/* ---- copies: caches compared with the performed writes ----------------------------------------------------------- */

/* The first masked word in which two lines differ; UINT32_MAX: none. */
static uint32_t
first_difference(const uint32_t *one, const uint32_t *other, gpc_mask_t mask)
{
    for (; mask; mask &= mask - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(mask);
        if (one[word] != other[word]) {
            return word;
        }
    }
    return UINT32_MAX;
}

static int
check_words(gpc_monitor_t *self, gpc_controller_t *unit, gpc_address_t line, const uint32_t *words, gpc_mask_t mask,
            const char *invariant)
{
    static const uint32_t nothing[GPC_MAX_LINE_WORDS];
    const uint32_t *right = gpc_shadow_line(&self->shadow, line);

    right = right ? right : nothing;
    uint32_t word = first_difference(words, right, mask);
    if (word == UINT32_MAX) {
        return GPC_OK;
    }
    return gpc_violated(unit, line, invariant,
                        "%s %u has 0x%" PRIx32 " in word %" PRIu32 ", the last write performed there left 0x%" PRIx32,
                        unit->type->name, unit->index, words[word], word, right[word]);
}

static int
check_bank(gpc_monitor_t *self, gpc_controller_t *bank, gpc_address_t line)
{
    const gpc_tags_t *tags = &bank->arrays[0];
    bool looks = self->watched.bank_is_whole || self->watched.bank_words;
    gpc_index_t way = looks ? gpc_tags_find(tags, line) : GPC_NONE;

    if (way == GPC_NONE || tags->tags[way].mshr != GPC_NONE) {
        return GPC_OK; /* a reserved way whose transaction has ended */
    }
    uint8_t states[GPC_MAX_LINE_WORDS];
    gpc_mask_t words = gpc_all_words(bank);
    if (!self->watched.bank_is_whole && gpc_word_states_at(bank, line, states, &way)) {
        words = gpc_words_among(bank, states, self->watched.bank_words);
    }
    if (self->watched.near_ahead) {
        const gpc_monitored_line_t *monitored = gpc_monitor_line(self, line);
        words &= monitored ? ~monitored->ahead : GPC_NO_WORDS;
    }
    self->counts.banks += words != 0;
    return check_words(self, bank, line, gpc_tags_words(tags, way), words, "the bank has every write");
}

static int
check_lease(gpc_monitor_t *self, gpc_controller_t *l1, gpc_index_t way, gpc_address_t line)
{
    const gpc_controller_t *bank = &self->about.controllers[gpc_home_of(l1, line)];
    if (!gpc_bank_knows_lease(&self->watched, l1, bank, line)) {
        return GPC_OK;
    }
    self->counts.leases++;
    return gpc_check_lease(&self->watched, l1, bank, way, line);
}

/* Checks words and lease of an L1's copy. An owner's words are current under every promise. */
static int
check_copy(gpc_monitor_t *self, gpc_controller_t *l1, gpc_address_t line, const gpc_copy_t *copy)
{
    if (copy->way == GPC_NONE || !copy->copies || gpc_copy_expired(&self->watched, l1, copy->way)) {
        return GPC_OK;
    }
    int status = self->watched.lease ? check_lease(self, l1, copy->way, line) : GPC_OK;
    gpc_mask_t current = self->watched.promise == GPC_PROMISE_FRESH ? copy->readable : copy->owned;
    GPC_TRY(status);
    if (!current) {
        return GPC_OK;
    }
    self->counts.copies++;
    return check_words(self, l1, line, gpc_tags_words(&l1->arrays[0], copy->way), current,
                       "a readable copy is current");
}

/* Whether an access of the scope that orders does so for all cores. */
static bool
is_of_all(const gpc_monitor_t *self, uint8_t scope)
{
    return scope == GPC_SCOPE_SYS || self->about.machine->gpus <= 1 || !self->about.protocol->order.reads_scopes;
}

/* The core's L1 has dropped the copies that may be stale. */
static void
acquired(gpc_monitor_t *self, const gpc_controller_t *l1)
{
    gpc_acquires_t *acquires = &self->acquires[l1->index];
    gpc_cycle_t now = gpc_monitor_now(l1);
    gpc_monitor_note_acquire(acquires, now, self->watched.released ? self->released : now);
}

/* A launch is an acquire of every core; every copy that may still be read must be current. */
static int
launch_began(gpc_monitor_t *self)
{
    int status = GPC_OK;

    self->launched = self->released = gpc_monitor_now(self->about.l1s[0]);
    if (gpc_monitor_is_logical(self)) {
        gpc_logical_launched(&self->logical);
    }
    for (uint32_t core = 0; core < self->about.machine->cores; core++) {
        gpc_controller_t *l1 = self->about.l1s[core];
        const gpc_tags_t *tags = &l1->arrays[0];
        gpc_index_t ways = self->watched.copies ? tags->sets * tags->ways : 0;
        acquired(self, l1);
        if (self->watched.near_ahead) {
            /* what the last launch's end has performed, perhaps in this cycle, must be read */
            gpc_monitor_note_acquire(&self->acquires[core], self->launched, self->launched + 1);
        }
        for (gpc_index_t way = 0; way < ways && status == GPC_OK; way++) {
            gpc_address_t line = gpc_tags_present(tags, way) ? gpc_tags_line(tags, way) : GPC_NEVER;
            if (line == GPC_NEVER) {
                continue;
            }
            gpc_monitored_line_t *monitored = gpc_monitor_line(self, line);
            if (!monitored) {
                return GPC_ERROR_MEMORY;
            }
            gpc_nodeset_add(&monitored->holders, (gpc_node_t) core);
            if (gpc_copy_expired(&self->watched, l1, way)) {
                continue;
            }
            gpc_copy_t copy = gpc_copy_of(&self->watched, l1, line);
            status = check_words(self, l1, line, gpc_tags_words(tags, way), copy.readable,
                                 "a copy that outlives a launch is current");
        }
    }
    return status;
}

#ifdef GPC_COSTLY_ASSERTS
static bool
others_have_none(const gpc_monitor_t *self, const gpc_monitored_line_t *monitored, gpc_address_t line)
{
    for (uint32_t core = 0; core < self->about.machine->cores; core++) {
        if (!gpc_nodeset_has(&monitored->holders, (gpc_node_t) core) &&
            gpc_copy_of(&self->watched, self->about.l1s[core], line).copies) {
            return false;
        }
    }
    return true;
}
#endif

static int
check_copies(gpc_monitor_t *self, gpc_address_t line)
{
    gpc_copies_t all = {0};
    gpc_monitored_line_t *monitored = gpc_monitor_line(self, line);

    if (!monitored) {
        return GPC_ERROR_MEMORY;
    }
#ifdef GPC_COSTLY_ASSERTS
    assert(others_have_none(self, monitored, line));
#endif
    for (uint32_t core = gpc_monitor_next_holder(monitored, 0); core < self->about.machine->cores;
         core = gpc_monitor_next_holder(monitored, core + 1)) {
        gpc_controller_t *l1 = self->about.l1s[core];
        gpc_copy_t copy = gpc_copy_of(&self->watched, l1, line);
        GPC_TRY(check_copy(self, l1, line, &copy));
        gpc_add_copy(&self->watched, &all, &copy);
        if (copy.way == GPC_NONE && !copy.copies && !l1->step) { /* a step may be about to make one */
            monitored->holders = gpc_nodeset_without(&monitored->holders, (gpc_node_t) core);
        }
    }
    return all.owned & all.shared ? gpc_report_two_have_words(&self->watched, self->about.l1s,
                                                              self->about.machine->cores, line, all.owned & all.shared)
                                  : GPC_OK;
}

/* Of a line, the monitors and the host look at its home only: a copy in another bank would escape them, unless it is
 * near. */
static int
check_home(const gpc_monitor_t *self, gpc_controller_t *unit, const gpc_controller_t *home, gpc_address_t line)
{
    bool elsewhere = home && unit != home && unit->type->position == home->type->position;
    elsewhere = elsewhere && !gpc_is_among(self->watched.near, gpc_state_at(unit, line, 0, &(gpc_index_t){0}));
    for (uint32_t i = 0; elsewhere && i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        if (gpc_tags_find(&unit->arrays[i], line) != GPC_NONE) {
            return gpc_violated(unit, line, "a line is at its home", "%s %u has it, its home is %s %u",
                                unit->type->name, unit->index, home->type->name, home->index);
        }
    }
    return GPC_OK;
}

static int
stepped(gpc_monitor_t *self, gpc_controller_t *unit, gpc_address_t line)
{
    gpc_units_t units = gpc_nodes_units(self->about.nodes, self->about.controllers, self->about.l1s, line);
    gpc_controller_t *bank = units.bank;
    int status = check_home(self, unit, units.bank, line);

    self->counts.steps++;
    if (status == GPC_OK && unit == bank) {
        status = check_bank(self, bank, line);
        if (status == GPC_OK && gpc_monitor_is_logical(self)) {
            status = gpc_logical_bank(&self->logical, bank, line);
        }
    }
    if (status == GPC_OK && bank && self->watched.copies) {
        status = check_copies(self, line);
    }
    if (status == GPC_OK && self->about.protocol->monitor) {
        units.stepped = unit;
        status = self->about.protocol->monitor(&units, line);
    }
    return status;
}

/* ---- fences and barriers ----------------------------------------------------------------------------------------- */

/* Clears the history of the block's warps. */
static void
block_began(gpc_monitor_t *self, uint32_t core, uint32_t first_warp, uint32_t warps)
{
    for (uint32_t i = 0; i < warps; i++) {
        *gpc_monitor_warp(self, core, first_warp + i) = (gpc_monitored_warp_t){.life = ++self->lives};
        gpc_monitor_note_point(self, core, first_warp + i, self->launched); /* it may join the reads of older blocks */
        if (gpc_monitor_is_logical(self)) {
            gpc_logical_began(&self->logical, core, first_warp + i);
        }
    }
}

/* A warp's acquire, which the monitors recognise by themselves: a protocol that forgets it drops nothing, and tells
 * nothing. names: it is the access itself, and no fence. */
static void
note_acquire(gpc_monitor_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access, bool names)
{
    bool acquires = access->order == GPC_ORDER_ACQUIRE || access->order >= GPC_ORDER_ACQ_REL;
    bool local = self->about.protocol->order.local_scopes && access->scope <= GPC_SCOPE_CU;
    if (acquires && !local && self->own_acquires && is_of_all(self, access->scope)) {
        gpc_acquires_t *own = &self->own_acquires[(size_t) core * self->about.machine->warps_per_core + warp];
        gpc_cycle_t now = gpc_monitor_now(self->about.l1s[core]), from = self->watched.released ? self->released : now;
        if (self->watched.by_variable && names) {
            gpc_cycle_t before = own->count ? own->from[(own->count - 1) % GPC_ACQUIRES] : 0;
            from = gpc_monitor_acquired_from(self, core, warp);
            from = from > before ? from : before;
        }
        gpc_monitor_note_acquire(own, now, from);
    }
}

/* Whether the stores before the access are performed when it is permitted. */
static bool
must_have_performed(const gpc_monitor_t *self, const gpc_access_t *access)
{
    const gpc_order_traits_t *order = &self->about.protocol->order;
    bool local = order->local_scopes && access->scope <= GPC_SCOPE_CU;
    bool fence = access->kind == GPC_ACCESS_FENCE;
    return access->kind != GPC_ACCESS_EXIT && !local && (fence || !order->fences_only) &&
           (!fence || access->order != GPC_ORDER_ACQUIRE);
}

static int
ordered(gpc_monitor_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    gpc_controller_t *l1 = self->about.l1s[core];
    gpc_cycle_t visible = gpc_monitor_warp(self, core, warp)->visible;
    bool exits = access->kind == GPC_ACCESS_EXIT && !l1->protocol->order.exit; /* its own end may not wait */
    bool free = self->about.machine->block_fences_free && self->about.rule != GPC_RULE_SC &&
                access->kind <= GPC_ACCESS_FENCE && access->scope <= GPC_SCOPE_CU;
    bool releases = exits || (!free && (access->kind == GPC_ACCESS_FENCE ||
                                        (access->kind <= GPC_ACCESS_ATOMIC && access->order >= GPC_ORDER_RELEASE)));

    bool fences =
        access->kind == GPC_ACCESS_FENCE || (access->kind < GPC_ACCESS_FENCE && access->order == GPC_ORDER_SC);
    if (fences && !free) {
        gpc_monitor_note_point(self, core, warp, gpc_monitor_now(l1));
        bool leaves = gpc_monitor_warp(self, core, warp)->met == gpc_monitor_now(l1); /* the fence of a barrier */
        if (!leaves || !l1->protocol->order.barrier_keeps_copies) {
            note_acquire(self, core, warp, access, false);
        }
    }
    if (gpc_monitor_is_logical(self)) {
        gpc_logical_ordered(&self->logical, core, warp, access, gpc_monitor_now(l1));
    }
    if (releases && must_have_performed(self, access) && gpc_monitor_has_stores(self, core, warp)) {
        return gpc_violated(l1, GPC_NEVER, "a release waits for its warp's stores",
                            "core %" PRIu32 " warp %" PRIu32 " goes on before a word that it has stored is performed",
                            core, warp);
    }
    if (releases && must_have_performed(self, access) && is_of_all(self, access->scope)) {
        gpc_cycle_t wrote = gpc_monitor_warp(self, core, warp)->wrote;
        self->released = wrote > self->released ? wrote : self->released;
    }
    if (releases && access->kind < GPC_ACCESS_FENCE) {
        gpc_monitor_variable_released(self, core, warp);
    }
    if (!releases || self->watched.promise != GPC_PROMISE_LEASED) {
        return GPC_OK; /* elsewhere a write is visible when it is performed */
    }
    self->counts.fences++;
    if (visible == 0 || visible < gpc_monitor_now(l1)) {
        return GPC_OK;
    }
    return gpc_violated(l1, GPC_NEVER, "a fence waits for its warp's writes",
                        "core %" PRIu32 " warp %" PRIu32
                        " goes on, its writes are visible everywhere after cycle %" PRIu64,
                        core, warp, visible);
}

static void
finished(gpc_monitor_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    bool acquires =
        access->kind != GPC_ACCESS_STORE && (access->order == GPC_ORDER_ACQUIRE || access->order >= GPC_ORDER_ACQ_REL);
    if (acquires || self->about.rule == GPC_RULE_SC) {
        gpc_monitor_note_point(self, core, warp, gpc_monitor_now(self->about.l1s[core]));
    }
    if (acquires && !self->about.protocol->order.fences_only) {
        note_acquire(self, core, warp, access, true);
    }
}

/* The warps have met at a barrier: from now on, the writes of all count as writes of each. */
static void
met(gpc_monitor_t *self, uint32_t core, uint64_t warps)
{
    gpc_cycle_t visible = 0, now = gpc_monitor_now(self->about.l1s[core]);
    for (uint64_t left = warps; left; left &= left - 1) {
        gpc_cycle_t one = gpc_monitor_warp(self, core, (uint32_t) __builtin_ctzll(left))->visible;
        visible = one > visible ? one : visible;
    }
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t warp = (uint32_t) __builtin_ctzll(left);
        gpc_monitor_warp(self, core, warp)->visible = visible;
        gpc_monitor_warp(self, core, warp)->met = now;
        gpc_monitor_note_point(self, core, warp, now);
    }
    if (gpc_monitor_is_logical(self)) {
        gpc_logical_met(&self->logical, core, warps);
    }
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static int
check(gpc_monitor_t *self, const gpc_observation_t *event)
{
    switch (event->kind) {
        case GPC_ON_CELL:
            return gpc_monitor_cell(self, event->cell.step, event->cell.cell, event->cell.event);
        case GPC_ON_STEPPED:
            return stepped(self, event->stepped.unit, event->stepped.line);
        case GPC_ON_FLASHED:
            if (event->flashed.unit->type->position == GPC_AT_CORE && is_of_all(self, GPC_SCOPE_GPU) &&
                !self->watched.by_variable) {
                acquired(self, event->flashed.unit);
            }
            return GPC_OK;
        case GPC_ON_ACCEPTED:
            return gpc_monitor_accepted(self, event->accepted.unit, event->accepted.msg);
        case GPC_ON_PERFORMED:
            return gpc_monitor_performed(self, event->performed.unit, event->performed.msg, event->performed.until);
        case GPC_ON_COMPLETED:
            return gpc_monitor_completed(self, event->completed.unit, event->completed.msg, event->completed.words,
                                         event->completed.hit);
        case GPC_ON_BEGAN:
            return launch_began(self);
        case GPC_ON_ENDED:
            return gpc_monitor_at_rest(self);
        case GPC_ON_BLOCK:
            block_began(self, event->block.core, event->block.first_warp, event->block.warps);
            return GPC_OK;
        case GPC_ON_ORDERED:
            return ordered(self, event->ordered.core, event->ordered.warp, event->ordered.access);
        case GPC_ON_FINISHED:
            finished(self, event->finished.core, event->finished.warp, event->finished.access);
            return GPC_OK;
        case GPC_ON_ARRIVED:
            met(self, event->arrived.core, event->arrived.released);
            return GPC_OK;
        default:
            return GPC_OK;
    }
}

static int
on_event(void *monitor, const gpc_observation_t *event)
{
    int status = check(monitor, event);
    if (status == GPC_ERROR_INVARIANT) {
        gpc_monitor_name_cell(monitor);
    }
    return status;
}

static const uint32_t observed = GPC_KIND(CELL) | GPC_KIND(STEPPED) | GPC_KIND(FLASHED) | GPC_KIND(ACCEPTED) |
                                 GPC_KIND(PERFORMED) | GPC_KIND(COMPLETED) | GPC_KIND(BEGAN) | GPC_KIND(ENDED) |
                                 GPC_KIND(BLOCK) | GPC_KIND(ORDERED) | GPC_KIND(FINISHED) | GPC_KIND(ARRIVED);

/* ---- construction ------------------------------------------------------------------------------------------------ */

int
gpc_monitor_create(const gpc_monitored_t *about, gpc_monitor_t **out)
{
    gpc_monitor_t *self = calloc(1, sizeof(*self));
    *out = self;
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    self->about = *about;
    self->subscriber = (gpc_subscriber_t){.observe = on_event, .self = self};
    if (about->protocol->watched) {
        self->watched = gpc_watched_of(about->protocol);
        self->watched.two_views &= about->rule != GPC_RULE_SC; /* under sc a store is complete before the next access */
    }
    self->seen = calloc(GPC_SEEN_PLACES, sizeof(*self->seen));
    self->warps = calloc((size_t) about->machine->cores * about->machine->warps_per_core, sizeof(*self->warps));
    self->acquires = calloc(about->machine->cores, sizeof(*self->acquires));
    self->points = self->watched.joins
                       ? calloc((size_t) about->machine->cores * about->machine->warps_per_core, sizeof(*self->points))
                       : NULL;
    bool acquires = self->watched.promise == GPC_PROMISE_ACQUIRED;
    self->own_acquires =
        acquires ? calloc((size_t) about->machine->cores * about->machine->warps_per_core, sizeof(*self->own_acquires))
                 : NULL;
    self->performed = calloc(about->messages->capacity, sizeof(*self->performed));
    self->accepted.buckets = 1u << 14;
    self->accepted.bucket = malloc(self->accepted.buckets * sizeof(*self->accepted.bucket));
    self->accepted.state = malloc(sizeof(*self->accepted.state));
    int status = gpc_shadow_init(&self->shadow);
    if (status == GPC_OK) {
        status = gpc_monitor_init_cells(self);
    }
    if (status == GPC_OK) {
        status = gpc_monitor_init_variables(self);
    }
    if (status == GPC_OK && gpc_monitor_is_logical(self)) {
        status = gpc_logical_init(&self->logical, &self->watched, about->machine, about->messages->capacity);
    }
    if (status || (self->watched.joins && !self->points) || (acquires && !self->own_acquires) || !self->seen ||
        !self->warps || !self->acquires || !self->performed || !self->accepted.bucket || !self->accepted.state) {
        return GPC_ERROR_MEMORY;
    }
    gpc_accepted_clear(&self->accepted);
    gpc_subscribe(about->stream, &self->subscriber, observed);
    return GPC_OK;
}

void
gpc_monitor_free(gpc_monitor_t *self)
{
    if (self) {
        gpc_unsubscribe(&self->subscriber);
        gpc_shadow_free(&self->shadow);
        gpc_logical_free(&self->logical);
        gpc_monitor_free_cells(self);
        gpc_monitor_free_variables(self);
        free(self->seen);
        free(self->warps);
        free(self->acquires);
        free(self->points);
        free(self->own_acquires);
        free(self->performed);
        free(self->accepted.stores);
        free(self->accepted.bucket);
        free(self->accepted.state);
        free(self);
    }
}

const gpc_monitor_counts_t *
gpc_monitor_counts(const gpc_monitor_t *self)
{
    return &self->counts;
}

void
gpc_monitor_set_counts(gpc_monitor_t *self, const gpc_monitor_counts_t *counts)
{
    self->counts = *counts;
}
