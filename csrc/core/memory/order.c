/* order.c: when accesses issue, what releases, acquires and fences do, and what barriers join. */
#include "core/memory/order.h"

#include <string.h>

#include "controller/protocol.h"

const char *
gpc_order_verdict_text(gpc_order_verdict_t verdict)
{
    static const char *const texts[] = {
#define X(name, text) text,
        GPC_ORDER_VERDICTS(X)
#undef X
    };
    return verdict < GPC_NUM_ORDER_VERDICTS ? texts[verdict] : "?";
}

static int
init_touches(gpc_order_t *self, const gpc_order_sizes_t *sizes, gpc_arena_t *arena)
{
    bool minds_lines = self->traits->same_line || self->traits->same_word || self->options.word_order;
    if (!minds_lines || self->rule == GPC_RULE_SC) {
        return GPC_OK; /* under sc every access waits for the older ones, whatever their lines */
    }
    self->touched = GPC_ARENA_TAKE(arena, (size_t) sizes->cores * sizes->warps, gpc_index_t);
    return gpc_pool_init(&self->touches, arena, sizes->cores * sizes->requests, sizeof(gpc_order_touch_t));
}

/* Whether warps have fields that a barrier joins. */
static bool
has_joined_fields(const gpc_order_t *self)
{
    const gpc_controller_type_t *type = self->l1s ? self->l1s[0]->type : NULL; /* a test of cores may have no L1s */
    const gpc_described_t *described = type && type->warp ? type->warp() : NULL;

    for (uint16_t i = 0; described && i < described->count; i++) {
        if (gpc_is_time(&described->fields[i])) {
            return true;
        }
    }
    return self->traits->join != NULL;
}

int
gpc_order_init(gpc_order_t *self, gpc_rule_t rule, const gpc_order_traits_t *traits, gpc_controller_t *const *l1s,
               const gpc_order_sizes_t *sizes, gpc_order_options_t options, gpc_arena_t *arena)
{
    size_t warps = (size_t) sizes->cores * sizes->warps;
    size_t barriers = (size_t) sizes->cores * sizes->blocks * GPC_NAMED_BARRIERS;
    *self = (gpc_order_t){.rule = rule,
                          .options =
                              rule == GPC_RULE_SC ? (gpc_order_options_t){.fence_trip = options.fence_trip} : options,
                          .traits = traits,
                          .l1s = l1s,
                          .cores = sizes->cores,
                          .warps = sizes->warps,
                          .blocks = sizes->blocks};
    self->warp = GPC_ARENA_TAKE(arena, warps, gpc_order_warp_t);
    self->barrier = GPC_ARENA_TAKE(arena, barriers, gpc_order_barrier_t);
    self->across_warps = self->options.word_order || self->options.fence_drains;
    self->drains = self->options.fence_drains ? GPC_ARENA_TAKE(arena, warps, uint64_t) : NULL;
    if (options.fence_trip && !traits->release_travels && l1s && l1s[0]->ports->trip) {
        self->trips = GPC_ARENA_TAKE(arena, warps, gpc_cycle_t);
    }
    if (has_joined_fields(self)) {
        self->joined_size = l1s[0]->warp_fields_size;
        self->joined = gpc_arena_take(arena, barriers, self->joined_size);
    }
    if (init_touches(self, sizes, arena) || arena->failed) {
        return GPC_ERROR_MEMORY;
    }
    gpc_order_clear(self);
    return GPC_OK;
}

void
gpc_order_clear(gpc_order_t *self)
{
    memset(self->warp, 0, (size_t) self->cores * self->warps * sizeof(*self->warp));
    memset(self->barrier, 0, (size_t) self->cores * self->blocks * GPC_NAMED_BARRIERS * sizeof(*self->barrier));
    if (self->drains) {
        memset(self->drains, 0, (size_t) self->cores * self->warps * sizeof(*self->drains));
    }
    if (self->trips) {
        memset(self->trips, 0, (size_t) self->cores * self->warps * sizeof(*self->trips));
    }
    if (self->touched) {
        for (size_t i = 0; i < (size_t) self->cores * self->warps; i++) {
            self->touched[i] = GPC_NONE;
        }
        gpc_pool_clear(&self->touches);
    }
}

static gpc_order_warp_t *
warp_at(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return &self->warp[(size_t) core * self->warps + warp];
}

static bool
has_release(const gpc_access_t *access)
{
    if (access->kind >= GPC_ACCESS_FENCE) {
        return true;
    }
    /* an sc access, even a load, implies an sc fence of its scope before it */
    return access->order == GPC_ORDER_RELEASE || access->order == GPC_ORDER_ACQ_REL || access->order == GPC_ORDER_SC;
}

static bool
has_acquire(const gpc_access_t *access)
{
    bool reads = access->kind == GPC_ACCESS_LOAD || access->kind == GPC_ACCESS_ATOMIC;
    return reads &&
           (access->order == GPC_ORDER_ACQUIRE || access->order == GPC_ORDER_ACQ_REL || access->order == GPC_ORDER_SC);
}

/* Scopes cta and cu are local if the protocol distinguishes scopes: a local access waits but neither drains nor
 * invalidates. */
static bool
is_local(const gpc_order_t *self, uint8_t scope)
{
    return self->traits->local_scopes && scope <= GPC_SCOPE_CU;
}

static int
older(const gpc_order_warp_t *warp)
{
    if (warp->outstanding[GPC_ACCESS_LOAD]) {
        return GPC_ORDER_VERDICT_OLDER_LOAD;
    }
    if (warp->outstanding[GPC_ACCESS_STORE]) {
        return GPC_ORDER_VERDICT_OLDER_STORE;
    }
    return warp->outstanding[GPC_ACCESS_ATOMIC] ? GPC_ORDER_VERDICT_OLDER_ATOMIC : GPC_ORDER_VERDICT_GO;
}

/* Whether a warp waits before the access until older ones are complete, and performs its release part. */
static bool
releases(const gpc_order_t *self, const gpc_access_t *access)
{
    bool free = self->options.block_fences_free && access->kind <= GPC_ACCESS_FENCE && access->scope <= GPC_SCOPE_CU;
    return has_release(access) && !free;
}

/* Whether the warp issues nothing while the access is outstanding. Under drf and hrf every synchronisation access, even
 * a relaxed one, is ordered before all later accesses, without relaxed_unordered; under rc only an acquire is. */
static bool
blocks(const gpc_order_t *self, const gpc_access_t *access)
{
    bool ordered = (self->rule == GPC_RULE_DRF || self->rule == GPC_RULE_HRF) && !self->options.relaxed_unordered;
    return has_acquire(access) || (ordered && access->order != GPC_ORDER_WEAK);
}

/* The verdict for the status of a trait that may hold. */
static int
verdict_of(int status, const gpc_cycle_t *until)
{
    if (status == GPC_HOLD) {
        return *until == GPC_NEVER ? GPC_ORDER_VERDICT_RELEASE : GPC_ORDER_VERDICT_TIME;
    }
    return status < 0 ? status : GPC_ORDER_VERDICT_GO;
}

static int
release_part(gpc_order_t *self, uint32_t core, uint32_t warp, uint8_t scope, gpc_cycle_t *until)
{
    if (!self->traits->release || is_local(self, scope)) {
        return GPC_ORDER_VERDICT_GO;
    }
    return verdict_of(self->traits->release(self->l1s[core], (uint16_t) warp, scope, until), until);
}

/* The release part of a warp's end. */
static int
exit_part(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_cycle_t *until)
{
    if (!self->traits->exit || self->exit_releases) {
        return release_part(self, core, warp, GPC_SCOPE_SYS, until);
    }
    return verdict_of(self->traits->exit(self->l1s[core], (uint16_t) warp, until), until);
}

/* The protocol's additional condition for a load, store or atomic. */
static int
before_part(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    if (!self->traits->before || access->kind >= GPC_ACCESS_FENCE) {
        return GPC_ORDER_VERDICT_GO;
    }
    return verdict_of(self->traits->before(self->l1s[core], (uint16_t) warp, access, until), until);
}

/* Acquire and fence parts must not hold: callers do not retry them. */
static int
never_waits(gpc_controller_t *l1, const char *part, int status)
{
    return status <= 0
               ? status
               : gpc_fail(
                     l1->failure, GPC_ERROR_PROTOCOL,
                     "%s %u: the %s part of an order trait returned %d: only `before`, `release` and `exit` may hold",
                     l1->type->name, l1->index, part, status);
}

static int
acquire_part(gpc_order_t *self, uint32_t core, uint32_t warp, uint8_t scope)
{
    if (!self->traits->acquire || is_local(self, scope)) {
        return GPC_OK;
    }
    return never_waits(self->l1s[core], "acquire", self->traits->acquire(self->l1s[core], (uint16_t) warp, scope));
}

/* The protocol's addition to the parts of a fence. */
static int
fence_part(gpc_order_t *self, uint32_t core, uint32_t warp, uint8_t scope)
{
    if (!self->traits->fence) {
        return GPC_OK;
    }
    return never_waits(self->l1s[core], "fence", self->traits->fence(self->l1s[core], (uint16_t) warp, scope));
}

/* What was requested for any warp of the core is too old for the warp's later loads. */
static void
pass_order_point(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    if (self->traits->order_point) {
        self->traits->order_point(self->l1s[core], (uint16_t) warp);
    }
}

/* The end of a fence, after its release part: the acquire part and the protocol's addition. */
static int
end_of_fence(gpc_order_t *self, uint32_t core, uint32_t warp, uint8_t scope)
{
    int status = acquire_part(self, core, warp, scope);
    pass_order_point(self, core, warp);
    GPC_TRY(status);
    return fence_part(self, core, warp, scope);
}

/* ---- the option fence_drains ------------------------------------------------------------------------------------- */

static bool
has_stores(const gpc_order_warp_t *warp)
{
    return warp->outstanding[GPC_ACCESS_STORE] || warp->outstanding[GPC_ACCESS_ATOMIC];
}

/* Whether every warp of the core that had stores outstanding when the fence began to wait has had none since. */
static bool
has_drained(gpc_order_t *self, uint32_t core, uint32_t warp)
{
    uint64_t *left = &self->drains[(size_t) core * self->warps + warp], own = UINT64_C(1) << warp;
    for (uint32_t w = 0; *left == 0 && w < self->warps; w++) {
        own |= has_stores(warp_at(self, core, w)) ? UINT64_C(1) << w : 0;
    }
    *left = *left == 0 ? own : *left;
    if (*left != UINT64_C(1) << warp) {
        return false;
    }
    *left = 0;
    return true;
}

static void
note_drained(gpc_order_t *self, uint32_t core, uint32_t warp)
{
    for (uint32_t w = 0; w < self->warps; w++) {
        if (w != warp) {
            self->drains[(size_t) core * self->warps + w] &= ~(UINT64_C(1) << warp);
        }
    }
}

/* ---- the option fence_trip --------------------------------------------------------------------------------------- */

static gpc_cycle_t *
trip_of(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return &self->trips[(size_t) core * self->warps + warp];
}

/* Whether the warp's release has made its release part, and is on its trip. */
static inline bool
is_on_trip(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return self->trips && *trip_of(self, core, warp) != 0;
}

/* After the release part: the trip begins, is under way, or has ended. */
static int
trip_part(gpc_order_t *self, uint32_t core, uint32_t warp, uint8_t scope, gpc_cycle_t *until)
{
    if (!self->trips || scope <= GPC_SCOPE_CU) {
        return GPC_ORDER_VERDICT_GO;
    }
    gpc_cycle_t *trip = trip_of(self, core, warp);
    gpc_controller_t *l1 = self->l1s[core];
    if (*trip == 0) {
        *trip = GPC_NEVER;
        GPC_TRY(l1->ports->trip(l1->world, l1, (uint16_t) warp));
    }
    if (*trip > l1->ports->now(l1->world)) {
        *until = *trip;
        return GPC_ORDER_VERDICT_RELEASE;
    }
    *trip = 0;
    return GPC_ORDER_VERDICT_GO;
}

void
gpc_order_trip_back(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_cycle_t at)
{
    *trip_of(self, core, warp) = at;
}

/* The release part and the trip of a fence or access, or of a barrier's last arrival. */
static int
parts_of_release(gpc_order_t *self, uint32_t core, uint32_t warp, uint8_t scope, gpc_cycle_t *until)
{
    int verdict = is_on_trip(self, core, warp) ? GPC_ORDER_VERDICT_GO : release_part(self, core, warp, scope, until);
    return verdict == GPC_ORDER_VERDICT_GO ? trip_part(self, core, warp, scope, until) : verdict;
}

int
gpc_order_may_issue(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    const gpc_order_warp_t *state = warp_at(self, core, warp);
    int verdict = older(state);

    *until = GPC_NEVER;
    if (verdict != GPC_ORDER_VERDICT_GO && (state->blocked || self->rule == GPC_RULE_SC || releases(self, access))) {
        return verdict;
    }
    if (verdict != GPC_ORDER_VERDICT_GO && self->traits->stores_block && state->outstanding[GPC_ACCESS_STORE]) {
        return GPC_ORDER_VERDICT_OLDER_STORE;
    }
    verdict = before_part(self, core, warp, access, until);
    if (verdict != GPC_ORDER_VERDICT_GO || !releases(self, access) || access->kind == GPC_ACCESS_BARRIER) {
        return verdict;
    }
    if (access->kind == GPC_ACCESS_EXIT) {
        return exit_part(self, core, warp, until);
    }
    if (self->drains && access->scope > GPC_SCOPE_CU && !is_on_trip(self, core, warp) &&
        !has_drained(self, core, warp)) {
        return GPC_ORDER_VERDICT_RELEASE;
    }
    bool fences =
        access->kind == GPC_ACCESS_FENCE || (access->kind < GPC_ACCESS_FENCE && access->order == GPC_ORDER_SC);
    if (self->traits->fences_only && !fences) {
        return GPC_ORDER_VERDICT_GO;
    }
    verdict = parts_of_release(self, core, warp, access->scope, until);
    if (verdict != GPC_ORDER_VERDICT_GO) {
        return verdict;
    }
    return fences ? end_of_fence(self, core, warp, access->scope) : GPC_ORDER_VERDICT_GO;
}

void
gpc_order_issued(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    gpc_order_warp_t *state = warp_at(self, core, warp);
    state->outstanding[access->kind]++;
    state->blocked |= blocks(self, access);
}

int
gpc_order_completed(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access)
{
    gpc_order_warp_t *state = warp_at(self, core, warp);
    state->outstanding[access->kind]--;
    if (self->drains && !has_stores(state)) {
        note_drained(self, core, warp);
    }
    if (blocks(self, access)) {
        state->blocked = false; /* no second one could issue while it was outstanding */
        pass_order_point(self, core, warp);
    } else if (self->rule == GPC_RULE_SC) {
        pass_order_point(self, core, warp);
    }
    bool acquires = has_acquire(access) && !self->traits->fences_only;
    return acquires ? acquire_part(self, core, warp, access->scope) : GPC_OK;
}

int
gpc_order_older(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return older(warp_at(self, core, warp));
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

static gpc_order_barrier_t *
barrier_at(const gpc_order_t *self, uint32_t core, uint32_t block, uint32_t id)
{
    return &self->barrier[((size_t) core * self->blocks + block) * GPC_NAMED_BARRIERS + id];
}

static void
join(const gpc_order_t *self, gpc_controller_t *l1, void *into, const void *from)
{
    if (self->traits->join) {
        self->traits->join(l1, into, from);
    } else {
        gpc_join_described(l1->type->warp(), into, from);
    }
}

/* Joins the warp's metadata into that of the warps that have arrived before; the first one's into its own. */
static void
bring(gpc_order_t *self, uint32_t core, const gpc_order_barrier_t *barrier, uint32_t warp)
{
    gpc_controller_t *l1 = self->l1s[core];
    uint8_t *joined = self->joined + (size_t) (barrier - self->barrier) * self->joined_size;
    const uint8_t *fields = l1->warp_fields + (size_t) warp * self->joined_size;

    if (!barrier->arrived) {
        memcpy(joined, fields, self->joined_size);
    }
    if (barrier->arrived || self->traits->join) {
        join(self, l1, joined, fields);
    }
}

/* Every warp leaves with the join of all metadata, and with its own fields that are not joined. */
static void
leave_with_join(gpc_order_t *self, uint32_t core, const gpc_order_barrier_t *barrier)
{
    const uint8_t *joined = self->joined + (size_t) (barrier - self->barrier) * self->joined_size;
    gpc_controller_t *l1 = self->l1s[core];

    for (uint64_t left = barrier->waiting; left; left &= left - 1) {
        uint8_t *fields = l1->warp_fields + (size_t) __builtin_ctzll(left) * self->joined_size;
        if (self->traits->join) {
            memcpy(fields, joined, self->joined_size);
        } else {
            gpc_join_described(l1->type->warp(), fields, joined);
        }
    }
}

/* The release part, performed once, by the last warp to arrive: its metadata then stand for those of all. */
static int
release_of_barrier(gpc_order_t *self, uint32_t core, const gpc_order_barrier_t *barrier, uint32_t warp, uint8_t parts,
                   gpc_cycle_t *until)
{
    if (!parts && !self->traits->barrier_releases) {
        return GPC_ORDER_VERDICT_GO;
    }
    if (self->joined && barrier->arrived) {
        const uint8_t *joined = self->joined + (size_t) (barrier - self->barrier) * self->joined_size;
        gpc_controller_t *l1 = self->l1s[core];
        join(self, l1, l1->warp_fields + (size_t) warp * self->joined_size,
             joined); /* again where the part is retried */
    }
    if (!parts && self->traits->barrier) {
        return verdict_of(self->traits->barrier(self->l1s[core], (uint16_t) warp, until), until);
    }
    return parts_of_release(self, core, warp, parts ? (uint8_t) (parts - 1) : GPC_SCOPE_CTA, until);
}

/* What the warps that leave do after the release part. */
static int
end_of_barrier(gpc_order_t *self, uint32_t core, uint64_t leaving, uint8_t parts)
{
    uint8_t scope = (uint8_t) (parts - 1);
    int status = GPC_OK;

    for (uint64_t left = parts ? leaving : 0; left && status == GPC_OK; left &= left - 1) {
        uint32_t warp = (uint32_t) __builtin_ctzll(left);
        status = self->traits->barrier_keeps_copies ? fence_part(self, core, warp, scope)
                                                    : end_of_fence(self, core, warp, scope);
    }
    return status;
}

/* The barrier after the arrival. */
static gpc_order_barrier_t
with_arrival(const gpc_order_barrier_t *barrier, const gpc_order_arrival_t *arrival)
{
    uint8_t parts = arrival->access.order == GPC_ORDER_WEAK ? 0 : (uint8_t) (arrival->access.scope + 1);
    uint64_t warp = UINT64_C(1) << arrival->warp;

    return (gpc_order_barrier_t){.arrived = barrier->arrived + arrival->threads,
                                 .expected = arrival->threads ? arrival->expected : barrier->expected,
                                 .warps = barrier->warps | warp,
                                 .waiting = barrier->waiting | (arrival->waits ? warp : 0),
                                 .parts = parts > barrier->parts ? parts : barrier->parts,
                                 .counted = barrier->counted || (arrival->threads && !arrival->awaited)};
}

/* Whether the arrival has another count than those before it, or is one too many. */
static bool
contradicts(const gpc_order_barrier_t *barrier, const gpc_order_barrier_t *after, uint32_t warp)
{
    bool repeated = !after->counted && (barrier->warps >> warp & 1);
    return (barrier->expected && barrier->expected != after->expected) || after->arrived > after->expected || repeated;
}

int
gpc_order_barrier(gpc_order_t *self, uint32_t core, const gpc_order_arrival_t *arrival, uint64_t *released,
                  gpc_cycle_t *until)
{
    gpc_order_barrier_t *barrier = barrier_at(self, core, arrival->block, arrival->id);
    gpc_order_barrier_t after = with_arrival(barrier, arrival);
    bool complete = after.counted ? after.arrived == after.expected : (arrival->awaited & ~after.warps) == 0;

    *released = 0;
    *until = GPC_NEVER;
    if (arrival->threads && contradicts(barrier, &after, arrival->warp)) {
        return GPC_ERROR_BARRIER;
    }
    if (complete) {
        int verdict = release_of_barrier(self, core, barrier, arrival->warp, after.parts, until);
        if (verdict != GPC_ORDER_VERDICT_GO) {
            return verdict;
        }
    }
    if (self->joined) {
        bring(self, core, barrier, arrival->warp);
    }
    *barrier = after;
    if (!complete) {
        return GPC_OK;
    }
    *released = barrier->waiting;
    if (self->joined) {
        leave_with_join(self, core, barrier);
    }
    *barrier = (gpc_order_barrier_t){0};
    for (uint64_t left = *released; left; left &= left - 1) {
        pass_order_point(self, core, (uint32_t) __builtin_ctzll(left));
    }
    return end_of_barrier(self, core, *released, after.parts);
}

bool
gpc_order_barrier_is_complete_with(const gpc_order_t *self, uint32_t core, uint32_t block, uint32_t id,
                                   uint64_t awaited, gpc_access_t *access)
{
    const gpc_order_barrier_t *barrier = barrier_at(self, core, block, id);

    *access = (gpc_access_t){GPC_ACCESS_BARRIER, GPC_ORDER_WEAK, GPC_SCOPE_CTA};
    if (barrier->parts) {
        *access = (gpc_access_t){GPC_ACCESS_BARRIER, GPC_ORDER_ACQ_REL, (uint8_t) (barrier->parts - 1)};
    }
    return barrier->warps && !barrier->counted && !(awaited & ~barrier->warps);
}

void
gpc_order_block_begin(gpc_order_t *self, uint32_t core, uint32_t block, uint64_t warps)
{
    for (uint32_t id = 0; id < GPC_NAMED_BARRIERS; id++) {
        *barrier_at(self, core, block, id) = (gpc_order_barrier_t){0};
    }
    for (; warps; warps &= warps - 1) {
        *warp_at(self, core, (uint32_t) __builtin_ctzll(warps)) = (gpc_order_warp_t){0};
    }
}
