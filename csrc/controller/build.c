/* build.c: builds a controller in the arena, and clears it. */
#include <assert.h>
#include <string.h>

#include "controller/controller.h"

/* The machine's cache and MSHRs at a position; none beside the hierarchy. */
typedef struct {
    uint32_t bytes, ways, mshrs;
    uint32_t replacement; /* of all arrays at the position */
} cache_t;

static cache_t
machine_cache(const gpc_controller_t *self)
{
    const gpc_machine_t *m = self->machine;
    switch (self->type->position) {
        case GPC_AT_CORE:
            return (cache_t){m->l1_bytes, m->l1_ways, m->l1_mshrs, m->l1_replacement};
        case GPC_AT_BANK:
            return (cache_t){m->l2_bytes, m->l2_ways, m->l2_mshrs, m->l2_replacement};
        case GPC_AT_MEMORY:
            return (cache_t){m->l3_bytes, m->l3_ways, m->l3_mshrs, 0};
        case GPC_AT_GLOBAL:
        case GPC_AT_HOST:
        case GPC_NUM_POSITIONS:
            break;
    }
    return (cache_t){0};
}

static uint16_t
described_size(gpc_describe_t describe)
{
    return describe ? describe()->size : 1;
}

static bool
over_words(const gpc_controller_type_t *type)
{
    for (uint32_t i = 0; i < GPC_MAX_TABLES && type->tables[i]; i++) {
        if (type->tables[i]->object == GPC_OVER_WORDS) {
            return true;
        }
    }
    return false;
}

/* l1_kib = 0, a machine without L1s, is valid for some protocols; the error names the user's field. */
static int
refuse_array(const gpc_controller_t *self, const gpc_array_info_t *info, uint32_t sets, uint32_t ways)
{
    const gpc_machine_t *m = self->machine;

    if (self->type->position == GPC_AT_CORE && m->l1_bytes == 0) {
        return gpc_fail(self->failure, GPC_ERROR_MACHINE,
                        "l1_kib = 0: protocol %s needs an L1 of at least %u bytes (one set); no-l1 runs without an L1",
                        self->protocol->id, m->line_bytes * m->l1_ways);
    }
    return gpc_fail(self->failure, GPC_ERROR_MACHINE, "%s: array %s has %u sets of %u ways (at least one of each)",
                    self->type->name, info->name, sets, ways);
}

static int
init_arrays(gpc_controller_t *self, gpc_arena_t *arena)
{
    const gpc_machine_t *m = self->machine;
    bool bank = self->type->position == GPC_AT_BANK;
    bool of_die = bank || (self->type->position == GPC_AT_MEMORY && m->memory_units > 1);
    gpc_index_map_t map = {m->line_bytes, m->interleave_bytes, bank ? self->homes.banks.divisor : 1, m->page_bytes,
                           of_die ? gpc_interleaved_dies(m) : 1};

    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && self->type->arrays[i].name; i++) {
        const gpc_array_info_t *info = &self->type->arrays[i];
        cache_t cache = machine_cache(self);
        uint32_t ways = cache.ways, sets = ways ? cache.bytes / m->line_bytes / ways : 0;
        if (info->geometry) {
            info->geometry(m, self->options, &sets, &ways);
        }
        if (sets == 0 || ways == 0) {
            return refuse_array(self, info, sets, ways);
        }
        int status =
            gpc_tags_init(&self->arrays[i], arena, sets, ways, map, described_size(info->line), over_words(self->type));
        GPC_TRY(status);
        self->arrays[i].replacement = gpc_replacements[cache.replacement];
    }
    return GPC_OK;
}

/* What x->msg of a step without a message is: the place behind the pool's last message. */
static void
blank_message(const gpc_pool_t *messages)
{
    if (messages) {
        gpc_msg_t *blank = gpc_pool_spare(messages);
        memset(blank, 0, sizeof(*blank));
        blank->next = blank->request = blank->lanes = blank->access = GPC_NONE;
    }
}

int
gpc_controller_init(gpc_controller_t *self, const gpc_controller_type_t *type, gpc_arena_t *arena)
{
    const gpc_machine_t *m = self->machine;
    gpc_arena_t *counts = self->counts_arena ? self->counts_arena : arena;

    assert(!type->tables[0] || type->tables[0]->plans); /* of a resolved protocol */
    self->type = type;
    self->line_tables = 0;
    for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
        self->line_tables |= (uint8_t) ((type->tables[t]->object <= GPC_OVER_WORDS) << t);
    }
    self->end_idle = gpc_end_idle;
    self->request_networks = 0;
    for (uint32_t i = 0; i < GPC_MAX_NETWORKS && self->protocol->networks[i].name; i++) {
        self->request_networks |= (uint8_t) (self->protocol->networks[i].requests << i);
    }
    self->by_flit = gpc_divider(m->flit_bytes ? m->flit_bytes : 1);
    self->sectors = m->sector_bytes != 0;
    self->homes = gpc_homes(m);
    uint32_t mshrs = type->mshrs ? type->mshrs(m, self->options) : machine_cache(self).mshrs;
    int status = init_arrays(self, arena);
    self->ready = GPC_ARENA_TAKE(arena, 1, uint32_t);
    if (status == GPC_OK) {
        status = gpc_parts_init(self, arena);
    }
    if (status == GPC_OK) {
        status = gpc_mshr_init(&self->mshrs, arena, mshrs ? mshrs : 1 /* of a unit without transactions */,
                               described_size(type->mshr), m->line_bytes / 4, m->line_bytes, over_words(type));
    }
    GPC_TRY(status);
    self->warp_fields_size = (described_size(type->warp) + 7u) / 8u * 8u;
    self->unit_fields = gpc_arena_take(arena, 1, described_size(type->unit));
    self->core_fields = gpc_arena_take(arena, 1, described_size(type->core));
    self->warp_fields = gpc_arena_take(arena, m->warps_per_core, self->warp_fields_size);
    self->unit_states = gpc_arena_take(arena, GPC_MAX_TABLES, 1);
    self->launch_pending = gpc_arena_take(arena, 1, 1);
    self->replay = GPC_ARENA_TAKE(arena, 1, gpc_list_t);
    self->idle_timer = GPC_ARENA_TAKE(arena, 1, gpc_cycle_t);
    self->statistics = GPC_ARENA_TAKE(counts, 1, gpc_controller_statistics_t);
    self->own_counters = GPC_ARENA_TAKE(counts, gpc_num_counts(type->counters), uint64_t);
    self->own_histograms = GPC_ARENA_TAKE(counts, gpc_num_counts(type->histograms), gpc_histogram_t);
    for (uint32_t i = 0; i < GPC_MAX_TABLES && type->tables[i]; i++) {
        self->counts[i] = gpc_arena_take(counts, (size_t) type->tables[i]->num_states * type->tables[i]->num_events,
                                         sizeof(uint64_t));
    }
    if (arena->failed || counts->failed) {
        return GPC_ERROR_MEMORY;
    }
    gpc_list_clear(self->replay);
    gpc_list_clear(&self->sent);
    blank_message(self->messages);
    return GPC_OK;
}

void
gpc_controller_forget_steps(gpc_controller_t *self)
{
    self->step = NULL;
    self->collects = false;
    gpc_list_clear(&self->sent);
}

void
gpc_controller_clear(gpc_controller_t *self)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && self->type->arrays[i].name; i++) {
        gpc_tags_clear(&self->arrays[i]);
    }
    for (uint32_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name; i++) {
        gpc_part_clear(&self->parts[i]);
    }
    gpc_mshr_clear(&self->mshrs);
    *self->ready = 0;
    gpc_list_clear(self->replay);
    gpc_list_clear(&self->sent);
    self->collects = false;
    *self->idle_timer = 0;
    memset(self->unit_fields, 0, described_size(self->type->unit));
    memset(self->core_fields, 0, described_size(self->type->core));
    memset(self->warp_fields, 0, (size_t) self->machine->warps_per_core * self->warp_fields_size);
    memset(self->unit_states, 0, GPC_MAX_TABLES);
    *self->launch_pending = 0;
}
