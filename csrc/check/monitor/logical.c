/* logical.c: follows the clocks of cores and warps, and checks loads and writes against them. */
#include "check/monitor/logical.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

enum { PAGE_LINES = 64 };

int
gpc_logical_init(gpc_logical_t *self, const gpc_watched_t *watched, const gpc_machine_t *machine, uint32_t messages)
{
    size_t warps = (size_t) machine->cores * machine->warps_per_core;
    *self = (gpc_logical_t){.watched = watched,
                            .num_cores = machine->cores,
                            .warps_per_core = machine->warps_per_core,
                            .clocks = calloc(warps, sizeof(*self->clocks)),
                            .warps = calloc(warps, sizeof(*self->warps)),
                            .versions = calloc(messages, sizeof(*self->versions))};
    gpc_pages_init(&self->lines, PAGE_LINES * sizeof(gpc_logical_line_t));
    return self->clocks && self->warps && self->versions ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_logical_free(gpc_logical_t *self)
{
    gpc_pages_free(&self->lines);
    free(self->clocks);
    free(self->warps);
    free(self->versions);
    *self = (gpc_logical_t){0};
}

void
gpc_logical_forget(gpc_logical_t *self)
{
    gpc_pages_free(&self->lines);
    size_t warps = (size_t) self->num_cores * self->warps_per_core;
    memset(self->clocks, 0, warps * sizeof(*self->clocks));
    memset(self->warps, 0, warps * sizeof(*self->warps));
    self->begin = 0;
}

static uint64_t
later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static gpc_logical_line_t *
line_at(gpc_logical_t *self, const gpc_controller_t *unit, gpc_address_t line)
{
    uint64_t number = line / unit->machine->line_bytes;
    gpc_logical_line_t *page = gpc_pages_make(&self->lines, number / PAGE_LINES);
    return page ? &page[number % PAGE_LINES] : NULL;
}

static gpc_logical_warp_t *
warp_at(const gpc_logical_t *self, uint32_t core, uint32_t warp)
{
    return &self->warps[(size_t) core * self->warps_per_core + warp];
}

static gpc_logical_clock_t *
clock_at(const gpc_logical_t *self, uint32_t core, uint32_t warp)
{
    return &self->clocks[(size_t) core * self->warps_per_core + (self->watched->warp_clock ? warp : 0)];
}

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

void
gpc_logical_launched(gpc_logical_t *self)
{
    size_t warps = (size_t) self->num_cores * self->warps_per_core;
    for (size_t i = 0; i < warps; i++) {
        self->begin = later(self->begin, later(self->clocks[i].reads, self->clocks[i].writes));
    }
    for (size_t i = 0; i < warps; i++) {
        self->clocks[i] = (gpc_logical_clock_t){self->begin, self->begin};
    }
}

void
gpc_logical_ordered(gpc_logical_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access, gpc_cycle_t now)
{
    gpc_logical_clock_t *clock = clock_at(self, core, warp);
    gpc_logical_warp_t *state = warp_at(self, core, warp);
    bool joins = access->kind == GPC_ACCESS_FENCE || (access->kind < GPC_ACCESS_FENCE && access->order == GPC_ORDER_SC);
    /* the release part of a barrier is one fence, which takes effect when its warps leave */
    bool releases = joins || access->kind == GPC_ACCESS_EXIT ||
                    (access->kind != GPC_ACCESS_BARRIER && access->order >= GPC_ORDER_RELEASE);

    if (releases || state->acquires || !self->watched->two_views) {
        /* an acquire orders stores after what was read; a core's one clock of writes, after its older stores too */
        bool all = releases || !self->watched->two_views || !self->watched->warp_clock;
        state->least = all ? state->seen : later(state->least, clock->reads);
        state->since = now;
    }
    if (releases) {
        clock->writes = later(clock->writes, clock->reads);
    }
    if (joins) {
        clock->reads = clock->writes;
    }
    if (joins || state->acquires || !self->watched->two_views) {
        state->floor = clock->reads; /* everything before is complete */
    }
    state->acquires = access->kind < GPC_ACCESS_FENCE &&
                      (access->order == GPC_ORDER_ACQUIRE || access->order == GPC_ORDER_ACQ_REL || joins);
}

void
gpc_logical_began(gpc_logical_t *self, uint32_t core, uint32_t warp)
{
    *warp_at(self, core, warp) = (gpc_logical_warp_t){0};
    if (self->watched->warp_clock) {
        *clock_at(self, core, warp) = (gpc_logical_clock_t){self->begin, self->begin};
    }
}

void
gpc_logical_met(gpc_logical_t *self, uint32_t core, uint64_t warps)
{
    gpc_logical_clock_t latest = {0};
    for (uint64_t left = self->watched->warp_clock ? warps : 0; left; left &= left - 1) {
        const gpc_logical_clock_t *one = clock_at(self, core, (uint32_t) __builtin_ctzll(left));
        latest = (gpc_logical_clock_t){later(latest.reads, one->reads), later(latest.writes, one->writes)};
    }
    for (uint64_t left = self->watched->warp_clock ? warps : 0; left; left &= left - 1) {
        *clock_at(self, core, (uint32_t) __builtin_ctzll(left)) = latest;
    }
}

/* The warp has read or written a version. */
static void
note_seen(const gpc_logical_t *self, const gpc_msg_t *request, uint64_t version)
{
    gpc_logical_warp_t *state = warp_at(self, request->source, request->warp);
    state->seen = later(state->seen, version);
}

static int
check_clock(const gpc_watched_t *watched, gpc_controller_t *l1, const gpc_msg_t *request, uint64_t version,
            const char *what)
{
    uint64_t now = watched->warp_clock ? watched->warp_clock(l1, request->warp) : watched->clock(l1);
    if (now >= version) {
        return GPC_OK;
    }
    return gpc_violated(l1, request->line, "a core's clock reaches the versions that it reads and writes",
                        "core %u warp %u %s version %" PRIu64 " at time %" PRIu64, request->source, request->warp, what,
                        version, now);
}

int
gpc_logical_answered(gpc_logical_t *self, gpc_controller_t *l1, const gpc_msg_t *request)
{
    gpc_logical_clock_t *clock = clock_at(self, l1->index, request->warp);
    uint64_t version = self->versions[request->request];

    note_seen(self, request, version);
    clock->writes = later(clock->writes, version);
    if (self->watched->two_views && request->type == GPC_MSG_STORE) {
        return GPC_OK;
    }
    clock->reads = later(clock->reads, version);
    return check_clock(self->watched, l1, request, version, "writes");
}

int
gpc_logical_loaded(gpc_logical_t *self, gpc_controller_t *l1, const gpc_msg_t *load, uint64_t version)
{
    gpc_logical_clock_t *clock = clock_at(self, l1->index, load->warp);
    note_seen(self, load, version);
    clock->reads = later(clock->reads, version);
    if (!self->watched->two_views) {
        clock->writes = clock->reads;
    }
    return check_clock(self->watched, l1, load, version, "reads");
}

uint64_t
gpc_logical_time_of(const gpc_logical_t *self, const gpc_msg_t *load, bool hit)
{
    return hit ? clock_at(self, load->source, load->warp)->reads : warp_at(self, load->source, load->warp)->floor;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

int
gpc_logical_bank(gpc_logical_t *self, gpc_controller_t *bank, gpc_address_t line)
{
    gpc_logical_line_t *known = line_at(self, bank, line);
    uint64_t leased = self->watched->leased(bank, line);

    if (!known) {
        return GPC_ERROR_MEMORY;
    }
    if (leased < known->lease) {
        return gpc_violated(bank, line, "the bank forgets no lease",
                            "it knows of one until time %" PRIu64 ", and has given one until %" PRIu64, leased,
                            known->lease);
    }
    known->lease = leased;
    return GPC_OK;
}

int
gpc_logical_performed(gpc_logical_t *self, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t issued,
                      uint64_t version)
{
    gpc_logical_line_t *known = line_at(self, unit, write->line);
    const gpc_logical_warp_t *writer = warp_at(self, write->requester, write->warp);

    if (!known) {
        return GPC_ERROR_MEMORY;
    }
    if (known->lease && version <= known->lease) {
        return gpc_violated(unit, write->line, "a version exceeds every lease of its line",
                            "core %u writes at time %" PRIu64 ", a lease lasts until %" PRIu64, write->requester,
                            version, known->lease);
    }
    if (version < known->version) {
        return gpc_violated(unit, write->line, "versions of a line do not decrease",
                            "core %u writes at time %" PRIu64 ", after a write at %" PRIu64, write->requester, version,
                            known->version);
    }
    if (issued >= writer->since && version < writer->least) {
        return gpc_violated(unit, write->line, "a write behind a release follows what its warp has seen",
                            "core %u warp %u writes at time %" PRIu64 ", and has seen version %" PRIu64,
                            write->requester, write->warp, version, writer->least);
    }
    known->version = version;
    self->versions[write->request] = version;
    return GPC_OK;
}
