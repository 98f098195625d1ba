/* ways.c: ways of tag arrays: chosen, evicted, reserved and released on behalf of a step. */
#include "controller/actions.h"
#include "controller/controller.h"

static void
victim_step(const gpc_step_t *x, uint8_t array, gpc_index_t way, gpc_step_t *victim)
{
    *victim = (gpc_step_t){.unit = x->unit,
                           .table = x->table,
                           .table_number = x->table_number,
                           .array = array,
                           .cause = GPC_MSG_EVICT,
                           .state = x->unit->arrays[array].tags[way].state,
                           .message = GPC_NONE,
                           .line = gpc_tags_line(&x->unit->arrays[array], way),
                           .mask = gpc_all_words(x->unit),
                           .way = way,
                           .mshr = GPC_NONE,
                           .entry = GPC_NONE,
                           .kept = true};
}

/* The next victim after (rank, order): by the protocol's rank, then as the replacement policy orders them, among ways
 * without a transaction. GPC_NONE: there is none. */
static gpc_index_t
next_victim(const gpc_controller_t *unit, uint8_t array, gpc_index_t first, uint32_t *rank, uint64_t *order)
{
    const gpc_tags_t *tags = &unit->arrays[array];
    uint32_t (*rank_of)(const gpc_controller_t *, uint8_t, gpc_index_t) = unit->type->victim_rank;
    uint32_t after_rank = *rank, best_rank = UINT32_MAX;
    uint64_t after_order = *order, best_order = UINT64_MAX;
    gpc_index_t best = GPC_NONE;

    for (gpc_index_t way = first, end = first + tags->ways; way < end; way++) {
        uint64_t its_order = tags->tags[way].order;
        if (tags->tags[way].mshr != GPC_NONE) {
            continue;
        }
        uint32_t its_rank = rank_of ? rank_of(unit, array, way) : 0;
        bool is_behind = its_rank > after_rank || (its_rank == after_rank && its_order > after_order);
        if (is_behind && (its_rank < best_rank || (its_rank == best_rank && its_order < best_order))) {
            best = way;
            best_rank = its_rank;
            best_order = its_order;
        }
    }
    *rank = best_rank;
    *order = best_order;
    return best;
}

/* The way to reserve: a free one, else the first victim that the table accepts. None while a victim of this set is
 * leaving: its way will be free. */
static gpc_index_t
choose_way(const gpc_step_t *x, uint8_t array)
{
    const gpc_controller_t *unit = x->unit;
    const gpc_tags_t *tags = &unit->arrays[array];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways;

    bool leaving = false;
    for (gpc_index_t way = first, end = first + tags->ways; way < end; way++) {
        if (!gpc_tags_present(tags, way)) {
            return way;
        }
        gpc_index_t mshr = tags->tags[way].mshr;
        leaving |= mshr != GPC_NONE && gpc_mshr_at(&unit->mshrs, mshr)->leaving >> array & 1;
    }
    if (leaving) {
        return GPC_NONE;
    }
    uint32_t rank = 0;
    uint64_t order = 0; /* less than that of any way */
    for (;;) {
        gpc_index_t way = next_victim(unit, array, first, &rank, &order);
        gpc_step_t victim;
        if (way == GPC_NONE) {
            return GPC_NONE;
        }
        victim_step(x, array, way, &victim);
        if (gpc_fsm_lets_go(&victim)) {
            return way;
        }
    }
}

bool
gpc_can_reserve_way(const gpc_step_t *x)
{
    return choose_way(x, x->array) != GPC_NONE;
}

/* GPC_OK: the way is free; GPC_HOLD: not yet, or not now. */
static int
evict(gpc_step_t *x, uint8_t array, gpc_index_t way)
{
    gpc_tags_t *tags = &x->unit->arrays[array];
    gpc_step_t victim;
    bool gave_entry = false;

    victim_step(x, array, way, &victim);
    int status = gpc_fsm_step(&victim);
    if (status == GPC_HELD_QUEUE && x->fresh && gpc_mshr_room(&x->unit->mshrs) == 0) {
        /* x took the last MSHR, which the victim needs first */
        gpc_step_give_entry(x);
        gave_entry = true;
        victim_step(x, array, way, &victim);
        status = gpc_fsm_step(&victim);
    }
    if (status != GPC_OK) {
        return status < 0 ? status : GPC_HOLD;
    }
    gpc_count(x, evictions);
    tags->replacement->evicted(tags, way);
    if (gpc_tags_present(tags, way)) {
        gpc_index_t mshr = tags->tags[way].mshr;
        if (mshr != GPC_NONE) {
            gpc_mshr_at(&x->unit->mshrs, mshr)->leaving |= (uint8_t) (1u << array);
            return GPC_HOLD;
        }
        gpc_tags_drop(tags, way);
    }
    if (gave_entry && x->unit->type->idle_until) { /* the victim idles in the MSHR: x is retried when it may end */
        status = x->unit->end_idle(x->unit);
        return status < 0 ? status : GPC_HOLD;
    }
    return gave_entry ? GPC_HOLD : GPC_OK;
}

static int
reserve(gpc_step_t *x, uint8_t array, gpc_index_t *way)
{
    gpc_tags_t *tags = &x->unit->arrays[array];

    *way = choose_way(x, array);
    if (*way == GPC_NONE) {
        return GPC_HOLD;
    }
    if (gpc_tags_present(tags, *way)) {
        GPC_TRY(evict(x, array, *way));
    }
    gpc_tags_place(tags, *way, x->line, x->table->initial);
    tags->tags[*way].mshr = x->mshr;
    return GPC_OK;
}

int
gpc_reserve_way(gpc_step_t *x)
{
    gpc_index_t way;

    if (x->way != GPC_NONE) {
        return GPC_OK;
    }
    GPC_TRY(reserve(x, x->array, &way));
    x->way = way;
    if (x->mshr != GPC_NONE) {
        gpc_mshr_at(&x->unit->mshrs, x->mshr)->way = way;
    }
    return GPC_OK;
}

int
gpc_reserve_way_in(gpc_step_t *x, uint8_t array)
{
    gpc_index_t way;

    if (array == x->array) {
        return gpc_reserve_way(x);
    }
    return gpc_way_in(x, array) != GPC_NONE ? GPC_OK : reserve(x, array, &way);
}

int
gpc_reserve_ways(gpc_step_t *x)
{
    uint32_t reserved = 0;

    for (uint32_t left = x->table->arrays | 1u << x->array; left; left &= left - 1) {
        uint8_t array = (uint8_t) __builtin_ctz(left);
        bool had = gpc_way_in(x, array) != GPC_NONE;
        int status = gpc_reserve_way_in(x, array);
        if (status < 0) {
            return status;
        }
        if (status != GPC_OK) {
            for (; reserved; reserved &= reserved - 1) {
                int released = gpc_release_way_in(x, (uint8_t) __builtin_ctz(reserved));
                status = released < 0 ? released : status;
            }
            return status;
        }
        reserved |= had ? 0 : 1u << array;
    }
    return GPC_OK;
}

int
gpc_release_way(gpc_step_t *x)
{
    if (x->way != GPC_NONE) {
        gpc_tags_drop(&x->unit->arrays[x->array], x->way);
        x->way = GPC_NONE;
    }
    if (x->mshr != GPC_NONE) {
        gpc_mshr_at(&x->unit->mshrs, x->mshr)->way = GPC_NONE;
    }
    return GPC_OK;
}

int
gpc_release_way_in(gpc_step_t *x, uint8_t array)
{
    gpc_index_t way = gpc_way_in(x, array);

    if (array == x->array) {
        return gpc_release_way(x);
    }
    if (way != GPC_NONE) {
        gpc_tags_drop(&x->unit->arrays[array], way);
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(act_reserve_way, "reserve a way, evicting its victim, or hold")
{
    return gpc_reserve_way(x);
}

GPC_SHARED_ACTION(act_release_way, "free the line's way, if it has one")
{
    return gpc_release_way(x);
}
