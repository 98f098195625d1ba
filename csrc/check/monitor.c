#include "check/monitor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a warp has seen of a word; those that share a place forget each other, which loses checks and makes none wrong. */
typedef struct {
    gpc_address_t address;
    gpc_cycle_t issued; /* of its access */
    uint64_t version;   /* that it read or wrote, or a later one */
    uint64_t reader;    /* which warp of which block */
} seen_t;

enum { SEEN_PLACES = 1 << 16 };

typedef struct {
    gpc_cycle_t visible; /* its writes may be missed by others until then */
    uint64_t life;       /* changes with the block on the warp */
} warp_t;

struct gpc_monitor {
    gpc_monitored_t about;
    gpc_watched_t watched;
    gpc_monitor_counts_t counts;
    gpc_shadow_t shadow;
    seen_t *seen;  /* owned; [SEEN_PLACES] */
    warp_t *warps; /* owned; [cores * warps_per_core] */
    uint64_t lives;
};

int
gpc_monitor_create(const gpc_monitored_t *about, gpc_monitor_t **out)
{
    gpc_monitor_t *self = calloc(1, sizeof(*self));
    *out = self;
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    self->about = *about;
    if (about->protocol->watched) {
        self->watched = *about->protocol->watched;
    }
    self->seen = calloc(SEEN_PLACES, sizeof(*self->seen));
    self->warps = calloc((size_t) about->machine->cores * about->machine->warps_per_core, sizeof(*self->warps));
    int status = gpc_shadow_init(&self->shadow);
    return status || !self->seen || !self->warps ? GPC_ERROR_MEMORY : 0;
}

void
gpc_monitor_free(gpc_monitor_t *self)
{
    if (self) {
        gpc_shadow_free(&self->shadow);
        free(self->seen);
        free(self->warps);
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

static warp_t *
warp_at(const gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    return &self->warps[(size_t) core * self->about.machine->warps_per_core + warp];
}

static gpc_cycle_t
now_of(const gpc_controller_t *unit)
{
    return unit->ports->now(unit->world);
}

static gpc_controller_t *
home_of(const gpc_monitor_t *self, gpc_address_t line)
{
    const gpc_machine_t *m = self->about.machine;
    return &self->about.banks[line / m->interleave_bytes % m->partitions];
}

/* ---- memory as the host knows it ------------------------------------------------------------------------------------------ */

void
gpc_monitor_forget_memory(gpc_monitor_t *self)
{
    gpc_shadow_forget(&self->shadow);
    memset(self->seen, 0, SEEN_PLACES * sizeof(*self->seen));
}

int
gpc_monitor_host_wrote(gpc_monitor_t *self, gpc_address_t address, uint64_t words, const uint32_t *in)
{
    for (uint64_t i = 0; i < words; i++) {
        int status = gpc_shadow_write(&self->shadow, address + 4 * i, in[i], 0);
        if (status) {
            return status;
        }
    }
    return 0;
}

/* ---- copies: what is in caches, compared with the writes performed ----------------------------------------------------------- */

static int
check_words(gpc_monitor_t *self, gpc_controller_t *unit, gpc_address_t line, const uint32_t *words,
            const char *invariant)
{
    static const uint32_t nothing[GPC_MAX_LINE_WORDS];
    const uint32_t *right = gpc_shadow_line(&self->shadow, line);
    uint32_t count = self->about.machine->line_bytes / 4, word = 0;

    right = right ? right : nothing;
    if (memcmp(words, right, count * sizeof(*words)) == 0) {
        return GPC_OK;
    }
    while (words[word] == right[word]) {
        word++;
    }
    return gpc_violated(unit, line, invariant,
                        "%s %u has 0x%" PRIx32 " in word %" PRIu32 ", the last write performed there left 0x%" PRIx32,
                        unit->type->name, unit->index, words[word], word, right[word]);
}

static int
check_bank(gpc_monitor_t *self, gpc_controller_t *bank, gpc_address_t line)
{
    const gpc_tags_t *tags = &bank->arrays[0];
    gpc_index_t way = self->watched.bank_is_whole ? gpc_tags_find(tags, line) : GPC_NONE;

    if (way == GPC_NONE || tags->tags[way].mshr != GPC_NONE) {
        return GPC_OK; /* a way without a transaction: what it was reserved for has come */
    }
    self->counts.banks++;
    return check_words(self, bank, line, gpc_tags_words(tags, way), "the bank has every write");
}

static bool
has_expired(const gpc_monitor_t *self, const gpc_controller_t *l1, gpc_index_t way)
{
    return self->watched.lease && (way == GPC_NONE || self->watched.lease(l1, way) < now_of(l1));
}

static int
check_lease(gpc_monitor_t *self, gpc_controller_t *l1, gpc_index_t way, gpc_address_t line)
{
    gpc_cycle_t lease = self->watched.lease(l1, way), leased = self->watched.leased(home_of(self, line), line);
    self->counts.leases++;
    if (lease <= leased) {
        return GPC_OK;
    }
    return gpc_violated(l1, line, "no lease outlives the bank's",
                        "L1 %" PRIu32 " may read its copy until cycle %" PRIu64 ", the bank knows of %" PRIu64,
                        l1->index, lease, leased);
}

/* Of one L1's copy: its words and its lease. */
static int
check_copy(gpc_monitor_t *self, gpc_controller_t *l1, gpc_address_t line, uint8_t state, gpc_index_t way)
{
    if (way == GPC_NONE || !gpc_is_among(self->watched.copies, state) || has_expired(self, l1, way)) {
        return GPC_OK;
    }
    int status = self->watched.lease ? check_lease(self, l1, way, line) : GPC_OK;
    if (status || self->watched.promise != GPC_PROMISE_FRESH || !gpc_is_among(self->watched.readable, state)) {
        return status;
    }
    self->counts.copies++;
    return check_words(self, l1, line, gpc_tags_words(&l1->arrays[0], way), "a readable copy is current");
}

static int
check_copies(gpc_monitor_t *self, gpc_address_t line)
{
    uint32_t copies = 0, owner = UINT32_MAX;

    for (uint32_t core = 0; core < self->about.machine->cores; core++) {
        gpc_index_t way;
        uint8_t state = gpc_l1_state(self->about.l1s[core], line, &way);
        int status = check_copy(self, self->about.l1s[core], line, state, way);
        if (status) {
            return status;
        }
        copies += gpc_is_among(self->watched.copies, state);
        owner = gpc_is_among(self->watched.owners, state) ? core : owner;
    }
    if (owner == UINT32_MAX || copies == 1) {
        return GPC_OK;
    }
    return gpc_violated(self->about.l1s[owner], line, "single writer or many readers",
                        "L1 %" PRIu32 " may write the line, and %" PRIu32 " L1s have copies", owner, copies);
}

int
gpc_monitor_stepped(gpc_monitor_t *self, gpc_controller_t *unit, gpc_address_t line)
{
    gpc_controller_t *bank = home_of(self, line);
    int status = GPC_OK;

    if (line == GPC_NEVER) {
        return GPC_OK;
    }
    self->counts.steps++;
    if (unit == bank) {
        status = check_bank(self, bank, line);
    }
    if (status == GPC_OK && self->watched.copies) {
        status = check_copies(self, line);
    }
    if (status == GPC_OK && self->about.protocol->monitor) {
        status = self->about.protocol->monitor(self->about.l1s, self->about.machine->cores, bank, line);
    }
    return status;
}

/* ---- what a warp has seen: per location, nothing older after something newer ----------------------------------------------------- */

static uint64_t
reader_of(const gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    return warp_at(self, core, warp)->life * GPC_MAX_CORES * GPC_MAX_WARPS + core * GPC_MAX_WARPS + warp + 1;
}

static seen_t *
seen_at(const gpc_monitor_t *self, uint64_t reader, gpc_address_t address)
{
    uint64_t key = (address / 4 + reader * UINT64_C(0xC2B2AE3D27D4EB4F)) * UINT64_C(0x9E3779B97F4A7C15);
    return &self->seen[key >> 32 & (SEEN_PLACES - 1)];
}

static void
note_seen(const gpc_monitor_t *self, uint64_t reader, gpc_address_t address, gpc_cycle_t issued, uint64_t version)
{
    seen_t *seen = seen_at(self, reader, address);
    if (seen->reader != reader || seen->address != address || seen->issued <= issued) {
        *seen = (seen_t){address, issued, version, reader};
    }
}

/* ---- writes performed ------------------------------------------------------------------------------------------------------------ */

/* Nobody else may go on reading what the write replaces: at all, or beyond the time that the writer is told. */
static int
check_others(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until)
{
    gpc_cycle_t now = now_of(unit);

    for (uint32_t core = 0; core < self->about.machine->cores; core++) {
        gpc_controller_t *l1 = self->about.l1s[core];
        gpc_index_t way;
        uint8_t state = gpc_l1_state(l1, write->line, &way);
        if (l1->node == write->source || !gpc_is_among(self->watched.copies, state) || has_expired(self, l1, way)) {
            continue;
        }
        if (self->watched.promise == GPC_PROMISE_FRESH) {
            return gpc_violated(l1, write->line, "single writer or many readers",
                                "core %u writes words 0x%" PRIx32 " while L1 %" PRIu32 " has a copy", write->source,
                                write->mask, core);
        }
        gpc_cycle_t lease = self->watched.lease ? self->watched.lease(l1, way) : now;
        if (self->watched.promise == GPC_PROMISE_LEASED && lease > until) {
            return gpc_violated(l1, write->line, "a write is visible when its writer is told",
                                "core %u is told cycle %" PRIu64 ", L1 %" PRIu32 " may read its copy until %" PRIu64,
                                write->source, until, core, lease);
        }
    }
    return GPC_OK;
}

static int
perform_store(gpc_monitor_t *self, const gpc_msg_t *write, gpc_cycle_t until)
{
    for (gpc_mask_t left = write->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        int status = gpc_shadow_write(&self->shadow, write->line + 4 * word, write->data[word], until);
        if (status) {
            return status;
        }
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
            words[word] = gpc_shadow_value(&self->shadow, write->line + 4 * word);
            touched |= UINT32_C(1) << word;
        }
        self->counts.atomics++;
        if (lanes->old[i] != words[word]) {
            return gpc_violated(unit, write->line, "an atomic reads the last write",
                                "lane %u of core %u warp %u got 0x%" PRIx32 " from word %" PRIu32
                                ", the last write performed there left 0x%" PRIx32,
                                lanes->lane[i], write->source, write->warp, lanes->old[i], word, words[word]);
        }
        words[word] =
            gpc_rmw_apply(lanes->operation, lanes->type, words[word], lanes->operand[i], lanes->replacement[i]);
    }
    for (; touched; touched &= touched - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(touched);
        int status = gpc_shadow_write(&self->shadow, write->line + 4 * word, words[word], until);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

int
gpc_monitor_performed(gpc_monitor_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until)
{
    /* the core's own request, which waits for its answer: it knows when it was made */
    const gpc_msg_t *request = write->type < GPC_MSG_OWN ? write : gpc_msg_at(self->about.messages, write->request);
    gpc_cycle_t now = now_of(unit), readable = until > now ? until : now;
    warp_t *warp = warp_at(self, write->source, write->warp);

    self->counts.writes++;
    int status = check_others(self, unit, write, until);
    if (status == GPC_OK) {
        status = write->lanes == GPC_NONE ? perform_store(self, write, readable)
                                          : perform_atomic(self, unit, write, readable);
    }
    if (status) {
        return status;
    }
    warp->visible = warp->visible > until ? warp->visible : until;
    for (gpc_mask_t left = write->mask; left; left &= left - 1) {
        gpc_address_t address = write->line + 4 * (uint32_t) __builtin_ctz(left);
        note_seen(self, reader_of(self, write->source, write->warp), address, request->issued,
                  gpc_shadow_version(&self->shadow, address));
    }
    return GPC_OK;
}

/* ---- requests completed ------------------------------------------------------------------------------------------------------------- */

/* A store of this core that is not performed yet: under leases its core may see it first. */
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

/* from: the oldest time at which the word may have held what the load returns. */
static int
check_word(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *load, uint32_t word, uint32_t value,
           gpc_cycle_t from)
{
    gpc_address_t address = load->line + 4 * word;
    uint64_t reader = reader_of(self, load->source, load->warp), version;
    const seen_t *seen = seen_at(self, reader, address);
    bool knows = seen->reader == reader && seen->address == address && seen->issued < load->issued;

    self->counts.loads++;
    self->counts.order += knows;
    switch (gpc_shadow_judge(&self->shadow, address, value, from, knows ? seen->version : 0, &version)) {
        case GPC_VALUE_RIGHT:
            note_seen(self, reader, address, load->issued, version);
            return GPC_OK;
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

static int
check_lease_hit(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *load)
{
    gpc_index_t way = gpc_tags_find(&l1->arrays[0], load->line);
    self->counts.lease_hits++;
    if (!has_expired(self, l1, way)) {
        return GPC_OK;
    }
    return gpc_violated(l1, load->line, "no hit on an expired copy",
                        "core %u warp %u hits a copy that ended at cycle %" PRIu64, load->source, load->warp,
                        way == GPC_NONE ? 0 : self->watched.lease(l1, way));
}

int
gpc_monitor_completed(gpc_monitor_t *self, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words,
                      bool hit)
{
    gpc_cycle_t from = request->issued;

    if (request->type != GPC_MSG_LOAD || self->watched.promise == GPC_PROMISE_NOTHING) {
        return GPC_OK;
    }
    if (hit) {
        int status = self->watched.lease ? check_lease_hit(self, l1, request) : GPC_OK;
        if (status) {
            return status;
        }
        from = self->watched.promise == GPC_PROMISE_FRESH ? GPC_NEVER : now_of(l1);
    }
    for (gpc_mask_t left = request->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        int status = check_word(self, l1, request, word, words[word], from);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

/* ---- fences and barriers -------------------------------------------------------------------------------------------------------------- */

void
gpc_monitor_block_began(gpc_monitor_t *self, uint32_t core, uint32_t first_warp, uint32_t warps)
{
    for (uint32_t i = 0; i < warps; i++) {
        *warp_at(self, core, first_warp + i) = (warp_t){.life = ++self->lives};
    }
}

int
gpc_monitor_ordered(gpc_monitor_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    gpc_controller_t *l1 = self->about.l1s[core];
    gpc_cycle_t visible = warp_at(self, core, warp)->visible;
    bool releases = access->kind == GPC_ACCESS_FENCE || access->kind == GPC_ACCESS_EXIT ||
                    (access->kind <= GPC_ACCESS_ATOMIC && access->order >= GPC_ORDER_RELEASE);

    if (!releases || self->watched.promise != GPC_PROMISE_LEASED) {
        return GPC_OK; /* elsewhere a write is visible when it is performed */
    }
    self->counts.fences++;
    if (visible == 0 || visible < now_of(l1)) {
        return GPC_OK;
    }
    return gpc_violated(l1, GPC_NEVER, "a fence waits for its warp's writes",
                        "core %" PRIu32 " warp %" PRIu32
                        " goes on, its writes are visible everywhere after cycle %" PRIu64,
                        core, warp, visible);
}

void
gpc_monitor_met(gpc_monitor_t *self, uint32_t core, uint64_t warps)
{
    gpc_cycle_t visible = 0;
    for (uint64_t left = warps; left; left &= left - 1) {
        gpc_cycle_t one = warp_at(self, core, (uint32_t) __builtin_ctzll(left))->visible;
        visible = one > visible ? one : visible;
    }
    for (uint64_t left = warps; left; left &= left - 1) {
        warp_at(self, core, (uint32_t) __builtin_ctzll(left))->visible = visible;
    }
}
