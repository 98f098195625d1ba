/* monitor_values.c: checks of performed writes and of loaded values. */
#include <inttypes.h>
#include <stdlib.h>

#include "check/monitor/monitor_parts.h"

/* ---- what a warp has seen: per location, nothing older after something newer ------------------------------------- */

static uint64_t
reader_of(const gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    return gpc_monitor_warp(self, core, warp)->life * GPC_MAX_CORES * GPC_MAX_WARPS + core * GPC_MAX_WARPS + warp + 1;
}

static gpc_seen_t *
seen_at(const gpc_monitor_t *self, uint64_t reader, gpc_address_t address)
{
    uint64_t key = (address / 4 + reader * UINT64_C(0xC2B2AE3D27D4EB4F)) * UINT64_C(0x9E3779B97F4A7C15);
    return &self->seen[key >> 32 & (GPC_SEEN_PLACES - 1)];
}

static void
note_seen(const gpc_monitor_t *self, uint64_t reader, gpc_address_t address, gpc_cycle_t issued, uint64_t version)
{
    gpc_seen_t *seen = seen_at(self, reader, address);
    if (seen->reader != reader || seen->address != address || seen->issued <= issued) {
        *seen = (gpc_seen_t){address, issued, version, reader};
    }
}

/* ---- writes performed -------------------------------------------------------------------------------------------- */

/* Checks that no other L1 may read the replaced value: at all, or beyond the time that the writer receives. */
static int
check_others(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_node_t writer, gpc_cycle_t until)
{
    gpc_cycle_t now = gpc_monitor_now(unit);
    const gpc_monitored_line_t *line = gpc_monitor_line(self, write->line);

    if (!line) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t core = gpc_monitor_next_holder(line, 0); core < self->about.machine->cores;
         core = gpc_monitor_next_holder(line, core + 1)) {
        gpc_controller_t *l1 = self->about.l1s[core];
        gpc_copy_t copy = gpc_copy_of(&self->watched, l1, write->line);
        if (l1->node == writer || !(copy.copies & write->mask) || gpc_copy_expired(&self->watched, l1, copy.way)) {
            continue;
        }
        if (self->watched.promise == GPC_PROMISE_FRESH) {
            return gpc_violated(l1, write->line, "single writer or many readers",
                                "core %u writes words 0x%" PRIx32 " while L1 %" PRIu32 " has a copy", writer,
                                write->mask, core);
        }
        if (gpc_monitor_is_logical(self) && self->watched.lease(l1, copy.way) >= until) {
            return gpc_violated(l1, write->line, "a version exceeds every lease of its line",
                                "core %u writes at time %" PRIu64 ", L1 %" PRIu32 " may read its copy until %" PRIu64,
                                writer, until, core, self->watched.lease(l1, copy.way));
        }
        gpc_cycle_t lease = self->watched.lease ? self->watched.lease(l1, copy.way) : now;
        if (self->watched.promise == GPC_PROMISE_LEASED && lease > until) {
            return gpc_violated(l1, write->line, "a write is globally visible when its writer is notified",
                                "core %u receives cycle %" PRIu64 ", L1 %" PRIu32 " may read its copy until %" PRIu64,
                                writer, until, core, lease);
        }
    }
    return GPC_OK;
}

static int
perform_store(gpc_monitor_t *self, const gpc_msg_t *write, gpc_cycle_t until)
{
    for (gpc_mask_t left = write->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        GPC_TRY(gpc_monitor_note_stored(self, write->line + 4 * word));
        GPC_TRY(gpc_shadow_write(&self->shadow, write->line + 4 * word, write->data[word], until));
    }
    return GPC_OK;
}

static int
perform_atomic(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until)
{
    const gpc_lane_list_t *lanes = gpc_lane_list_at(self->about.lane_lists, write->lanes);
    uint32_t words[GPC_MAX_LINE_WORDS];
    gpc_mask_t touched = 0;

    for (uint16_t i = 0; i < lanes->count; i++) {
        uint32_t word = lanes->word[i];
        if (!(touched >> word & 1)) {
            bool apart = self->watched.atomics_apart;
            words[word] = apart ? lanes->old[i] : gpc_shadow_value(&self->shadow, write->line + 4 * word);
            touched |= UINT32_C(1) << word;
        }
        self->counts.atomics++;
        if (lanes->old[i] != words[word]) {
            return gpc_violated(unit, write->line, "an atomic reads the last write",
                                "lane %u of core %u warp %u got 0x%" PRIx32 " from word %" PRIu32
                                ", the last write performed there left 0x%" PRIx32,
                                lanes->lane[i], write->requester, write->warp, lanes->old[i], word, words[word]);
        }
        if (lanes->width != 2) {
            words[word] =
                gpc_rmw_apply(lanes->operation, lanes->type, words[word], lanes->operand[i], lanes->replacement[i]);
        } else if (i % 2 == 1) { /* both words of the lane are as they should be */
            gpc_rmw_apply_words(lanes->operation, lanes->type, 2, words + word - 1, lanes->operand + i - 1,
                                lanes->replacement + i - 1);
        }
    }
    for (; touched; touched &= touched - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(touched);
        gpc_address_t address = write->line + 4 * word;
        uint32_t present = gpc_shadow_value(&self->shadow, address);
        GPC_TRY(gpc_shadow_write(&self->shadow, address, words[word], until));
        if (gpc_monitor_is_overtaken(self, write, address)) { /* that store comes after the atomic */
            GPC_TRY(gpc_shadow_write(&self->shadow, address, present, until));
        }
    }
    return GPC_OK;
}

static int
note_performed(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write)
{
    gpc_mask_t *performed = &self->performed[write->request];
    if (*performed & write->mask) {
        return gpc_violated(unit, write->line, "a write is performed once, before its answer",
                            "words 0x%" PRIx32 " of core %u warp %u are written again", *performed & write->mask,
                            write->requester, write->warp);
    }
    *performed |= write->mask;
    return GPC_OK;
}

/* ---- stores accepted before they are performed ------------------------------------------------------------------- */

static int
make_room(gpc_accepted_t *self)
{
    uint32_t capacity = self->capacity ? 2 * self->capacity : 1024;

    if (self->state->free != GPC_NONE || self->state->high < self->capacity) {
        return GPC_OK;
    }
    gpc_accepted_store_t *stores = realloc(self->stores, capacity * sizeof(*stores));
    if (!stores) {
        return GPC_ERROR_MEMORY;
    }
    self->stores = stores;
    self->capacity = capacity;
    return GPC_OK;
}

int
gpc_monitor_accepted(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *store)
{
    const gpc_msg_t *request = gpc_accepted_request(unit, store);
    gpc_accepted_store_t one = {.reader = reader_of(self, request->source, store->warp),
                                .issued = request->issued,
                                .core = request->source,
                                .place = gpc_accepted_place(unit, request->source),
                                .warp = store->warp};
    int status = GPC_OK;

    GPC_TRY(request == store ? GPC_OK : note_performed(self, unit, store)); /* a bank answers it */
    for (gpc_mask_t left = store->mask; left && status == GPC_OK; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        one.address = store->line + 4 * word;
        one.value = store->data[word];
        self->counts.accepted++;
        status = make_room(&self->accepted);
        if (status == GPC_OK) {
            status = gpc_accepted_add(&self->accepted, &one);
            gpc_monitor_warp(self, one.core, store->warp)->accepted++;
        }
    }
    return status;
}

/* Performs a store to a word, after the older stores of the place that it has replaced in a buffer. */
static int
perform_through(gpc_monitor_t *self, gpc_index_t last, gpc_cycle_t until, gpc_cycle_t readable)
{
    const gpc_accepted_store_t *stores = self->accepted.stores;
    gpc_index_t i = gpc_accepted_first(&self->accepted, stores[last].place, stores[last].address);

    for (;; i = gpc_accepted_next(&self->accepted, i)) {
        const gpc_accepted_store_t *store = &stores[i];
        GPC_TRY(gpc_monitor_note_stored(self, store->address));
        GPC_TRY(gpc_shadow_write(&self->shadow, store->address, store->value, readable));
        note_seen(self, store->reader, store->address, store->issued,
                  gpc_shadow_version(&self->shadow, store->address));
        if (reader_of(self, store->core, store->warp) == store->reader) { /* its block has not ended */
            gpc_monitored_warp_t *warp = gpc_monitor_warp(self, store->core, store->warp);
            warp->visible = warp->visible > until ? warp->visible : until;
            warp->accepted--;
        }
        if (i == last) {
            gpc_accepted_perform(&self->accepted, last);
            return GPC_OK;
        }
    }
}

/* Whether the word was performed when an earlier launch ended, and is now written where it is performed else. */
static bool
is_performed(const gpc_monitor_t *self, const gpc_controller_t *unit, const gpc_msg_t *write, uint32_t word)
{
    return self->watched.near_ahead && gpc_accepted_with(&self->accepted, unit, write, word) == GPC_NONE &&
           gpc_shadow_value(&self->shadow, write->line + 4 * word) == write->data[word];
}

static int
perform_accepted(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until,
                 gpc_cycle_t readable)
{
    self->counts.writes++;
    int status = check_others(self, unit, write, write->requester, until);
    for (gpc_mask_t left = write->mask; left && status == GPC_OK; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        gpc_index_t i;
        if (is_performed(self, unit, write, word)) {
            continue;
        }
        status = gpc_accepted_find(&self->accepted, unit, write, word, &i);
        if (status == GPC_OK) {
            status = perform_through(self, i, until, readable);
        }
    }
    return status;
}

bool
gpc_monitor_has_stores(const gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    return gpc_monitor_warp(self, core, warp)->accepted &&
           gpc_accepted_waits(&self->accepted, reader_of(self, core, warp));
}

int
gpc_monitor_at_rest(gpc_monitor_t *self)
{
    int status = gpc_accepted_check_end(&self->accepted, self->about.l1s);
    if (status == GPC_OK) {
        gpc_accepted_clear(&self->accepted);
    }
    return status;
}

/* ---- writes of requests that wait for their answer --------------------------------------------------------------- */

int
gpc_monitor_performed(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until)
{
    /* the core's own request, which waits for its answer, has the cycle of its issue */
    gpc_cycle_t now = gpc_monitor_now(unit), readable = gpc_monitor_is_logical(self) || until > now ? until : now;

    if (self->watched.near_ahead) {
        gpc_monitored_line_t *line = gpc_monitor_line(self, write->line);
        if (!line) {
            return GPC_ERROR_MEMORY;
        }
        bool home = gpc_home_of(unit, write->line) == unit->node;
        line->ahead = home ? line->ahead & ~write->mask : line->ahead | write->mask;
    }
    if (write->request == GPC_NONE) {
        return perform_accepted(self, unit, write, until, readable);
    }
    const gpc_msg_t *request = write->type < GPC_MSG_OWN ? write : gpc_msg_at(self->about.messages, write->request);
    gpc_monitored_warp_t *warp = gpc_monitor_warp(self, write->requester, write->warp);

    self->counts.writes++;
    warp->wrote = now;
    int status = note_performed(self, unit, write);
    if (status == GPC_OK) {
        status = gpc_monitor_variable_written(self, write, now);
    }
    if (status == GPC_OK && gpc_monitor_is_logical(self)) {
        status = gpc_logical_performed(&self->logical, unit, write, request->issued, until);
    }
    if (status == GPC_OK) {
        status = check_others(self, unit, write, write->requester, until);
    }
    if (status == GPC_OK) {
        /* an ordered store of 64 bits has lanes too, which say that its words belong together */
        status = write->lanes == GPC_NONE || request->type == GPC_MSG_STORE
                     ? perform_store(self, write, readable)
                     : perform_atomic(self, unit, write, readable);
    }
    GPC_TRY(status);
    warp->visible = warp->visible > until ? warp->visible : until;
    for (gpc_mask_t left = write->mask; left; left &= left - 1) {
        gpc_address_t address = write->line + 4 * (uint32_t) __builtin_ctz(left);
        note_seen(self, reader_of(self, write->requester, write->warp), address, request->issued,
                  gpc_shadow_version(&self->shadow, address));
    }
    return GPC_OK;
}

/* ---- requests completed ------------------------------------------------------------------------------------------ */

/* Whether the value is of a store of this core that is not performed yet; under leases its core may read it early. */
static bool
is_own_store(const gpc_monitor_t *self, const gpc_controller_t *l1, gpc_address_t line, uint32_t word, uint32_t value)
{
    gpc_index_t mshr = self->watched.promise == GPC_PROMISE_LEASED ? gpc_mshr_find(&l1->mshrs, line) : GPC_NONE;
    if (mshr == GPC_NONE) {
        return false;
    }
    const gpc_list_t *pending = &gpc_mshr_at(&l1->mshrs, mshr)->pending;
    gpc_index_t i = pending->head;
    for (uint32_t n = pending->count; n; n--) {
        const gpc_msg_t *msg = gpc_msg_at(self->about.messages, i);
        if (msg->type == GPC_MSG_STORE && (msg->mask >> word & 1) && msg->data[word] == value) {
            return true;
        }
        i = msg->next;
    }
    return false;
}

static int
wrong_value(const gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *load, uint32_t word, uint32_t value,
            bool old)
{
    return gpc_violated(l1, load->line, old ? "no older value after a newer one" : "a load returns a value it may",
                        "core %u warp %u, load of cycle %" PRIu64 ", reads 0x%" PRIx32 " in word %" PRIu32
                        "; the last write performed there left 0x%" PRIx32,
                        load->source, load->warp, load->issued, value, word,
                        gpc_shadow_value(&self->shadow, load->line + 4 * word));
}

/* from: the earliest time at which the word may have held the loaded value. */
static int
check_word(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *load, uint32_t word, uint32_t value,
           gpc_cycle_t from)
{
    gpc_address_t address = load->line + 4 * word;
    uint64_t reader = reader_of(self, load->source, load->warp), version;
    const gpc_seen_t *seen = seen_at(self, reader, address);
    bool ordered = !gpc_keeps_old_copies(&self->watched); /* else its own writes, and all of a program without races */
    bool knows = seen->reader == reader && seen->address == address && seen->issued < load->issued;

    self->counts.loads++;
    self->counts.order += knows;
    switch (gpc_shadow_judge(&self->shadow, address, value, from, knows ? seen->version : 0, &version)) {
        case GPC_VALUE_RIGHT:
            if (ordered) {
                note_seen(self, reader, address, load->issued, version);
            }
            return gpc_monitor_is_logical(self)
                       ? gpc_logical_loaded(&self->logical, l1, load, gpc_shadow_until(&self->shadow, version))
                       : GPC_OK;
        case GPC_VALUE_UNDECIDED:
            self->counts.undecided++;
            return GPC_OK;
        case GPC_VALUE_OLD:
            return is_own_store(self, l1, load->line, word, value) ? GPC_OK
                                                                   : wrong_value(self, l1, load, word, value, true);
        case GPC_VALUE_WRONG:
            break;
    }
    return is_own_store(self, l1, load->line, word, value) ? GPC_OK : wrong_value(self, l1, load, word, value, false);
}

/* From when on values may be read after the last acquire or order point before the load issued; 0: not among those that
 * are kept. */
static gpc_cycle_t
last_before(const gpc_acquires_t *acquires, const gpc_msg_t *load)
{
    uint64_t n = acquires->count, least = n > GPC_ACQUIRES ? n - GPC_ACQUIRES : 0;

    while (n > least && acquires->at[(n - 1) % GPC_ACQUIRES] > load->issued) {
        n--;
    }
    return n > least ? acquires->from[(n - 1) % GPC_ACQUIRES] : 0;
}

/* The earliest time at which the read may have been sent that a load has joined; else GPC_NEVER. */
static gpc_cycle_t
joined_from(const gpc_monitor_t *self, const gpc_msg_t *load, bool hit)
{
    if (hit || !self->watched.joins) {
        return GPC_NEVER;
    }
    return last_before(&self->points[(size_t) load->source * self->about.machine->warps_per_core + load->warp], load);
}

/* The earliest time at which a word may have held the value that the load returns; GPC_NEVER: it holds it now. */
static gpc_cycle_t
readable_from(const gpc_monitor_t *self, const gpc_controller_t *l1, const gpc_msg_t *load, bool hit)
{
    gpc_cycle_t joined = joined_from(self, load, hit), acquired, own;
    switch (self->watched.promise) {
        case GPC_PROMISE_FRESH:
            return hit ? GPC_NEVER : load->issued < joined ? load->issued : joined;
        case GPC_PROMISE_LEASED:
            return hit ? gpc_monitor_now(l1) : load->issued;
        case GPC_PROMISE_HELD:
            return 0;
        case GPC_PROMISE_ACQUIRED:
            acquired = last_before(&self->acquires[load->source], load);
            own = last_before(
                &self->own_acquires[(size_t) load->source * self->about.machine->warps_per_core + load->warp], load);
            acquired = own > acquired ? own : acquired;
            return acquired < joined ? acquired : joined;
        case GPC_PROMISE_LOGICAL:
            return gpc_logical_time_of(&self->logical, load, hit) + 1;
        case GPC_PROMISE_NOTHING:
            break;
    }
    return 0;
}

static int
check_lease_hit(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *load)
{
    gpc_index_t way = gpc_tags_find(&l1->arrays[0], load->line);
    bool ended = gpc_copy_expired(&self->watched, l1, way);

    self->counts.lease_hits++;
    if (self->watched.warp_clock && way != GPC_NONE) {
        ended = self->watched.lease(l1, way) < self->watched.warp_clock(l1, load->warp);
    }
    if (!ended) {
        return GPC_OK;
    }
    return gpc_violated(l1, load->line, "no hit on an expired copy",
                        "core %u warp %u hits a copy that ended at cycle %" PRIu64, load->source, load->warp,
                        way == GPC_NONE ? 0 : self->watched.lease(l1, way));
}

static int
check_answer(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *request)
{
    if (request->request == GPC_NONE) {
        return GPC_OK; /* accepted */
    }
    gpc_mask_t *performed = &self->performed[request->request];
    gpc_mask_t missing = request->mask & ~*performed;
    *performed &= ~request->mask;
    return missing == 0 ? GPC_OK
                        : gpc_violated(l1, request->line, "a write is performed once, before its answer",
                                       "words 0x%" PRIx32 " of core %u warp %u are answered and not written", missing,
                                       request->source, request->warp);
}

int
gpc_monitor_completed(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words,
                      bool hit)
{
    bool promises = self->watched.promise != GPC_PROMISE_NOTHING;
    uint64_t reader = reader_of(self, request->source, request->warp);

    gpc_monitor_variable_acquired(self, request);
    if (request->type != GPC_MSG_LOAD) {
        GPC_TRY(check_answer(self, l1, request));
        return gpc_monitor_is_logical(self) ? gpc_logical_answered(&self->logical, l1, request) : GPC_OK;
    }
    if (hit && promises && self->watched.lease) {
        int status = check_lease_hit(self, l1, request);
        GPC_TRY(status);
    }
    gpc_cycle_t from = readable_from(self, l1, request, hit);
    for (gpc_mask_t left = promises || self->accepted.state->count ? request->mask : 0; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        int status = gpc_accepted_check_load(&self->accepted, l1, request, reader, request->issued, word, words[word]);
        self->counts.loads += status == GPC_ACCEPTED_READ;
        if (status == GPC_OK && promises) {
            status = check_word(self, l1, request, word, words[word], from);
        }
        if (status < 0) {
            return status;
        }
    }
    return GPC_OK;
}
