/* gpu_vini.c: GPU-VIni, GPU-VI over a non-inclusive L2: a separate directory lists the sharers.
 *
 * Paper    Singh et al., HPCA 2013, section 4.3: the directory's size is independent of the L2's (8 ways, twice as many
 *          entries as L1 lines); an L2 eviction recalls nothing, a directory eviction does. One controller for both.
 *          L1s as in GPU-VI.
 * Inferred the names and cells of the 15 states (the paper prints none): whether the L2 has the data, whether the
 *          directory has an entry, and what the line waits for. An entry without sharers (VE) is replaced first,
 *          without a recall. Data that arrives before the last acknowledgement fills the L2; the write is performed
 *          when both have arrived.
 * Differs  A read miss in both arrays reserves its directory way together with its L2 way, so every fill finds a
 *          directory way. It takes the way of a recalled entry at once; the victim's MSHR entry counts the
 *          acknowledgements. Only a load that finds its data in the L2 waits for them (V_D, entered from V only).
 */
#include "protocols/invalidation/gpu_vi.h"

enum { DATA_ARRAY, DIRECTORY };
enum { DIR_WAYS, DIR_RATIO };

#define L2_STATES(X)                                                                                     \
    X(L2_I, STABLE, "no data, no directory entry")                                                       \
    X(L2_V, STABLE, "data, no directory entry")                                                          \
    X(L2_VE, STABLE, "data, directory entry without sharers")                                            \
    X(L2_S, STABLE, "data, directory entry with sharers")                                                \
    X(L2_N, STABLE, "no data, directory entry with sharers")                                             \
    X(L2_IS, TRANSIENT_CACHE, "fetch for loads outstanding; later loads merge")                          \
    X(L2_IM, TRANSIENT_CACHE, "fetch for one store or atomic outstanding; no acknowledgements expected") \
    X(L2_SW, TRANSIENT_COHERENCE, "store waits for invalidation acknowledgements")                       \
    X(L2_SA, TRANSIENT_COHERENCE, "atomic waits for invalidation acknowledgements")                      \
    X(L2_NS, TRANSIENT_COHERENCE, "fetch for loads outstanding; other L1s hold copies")                  \
    X(L2_NW, TRANSIENT_COHERENCE, "store waits for acknowledgements and for data")                       \
    X(L2_NA, TRANSIENT_COHERENCE, "atomic waits for acknowledgements and for data")                      \
    X(L2_SR, TRANSIENT_COHERENCE, "directory entry evicted, recall outstanding; data kept")              \
    X(L2_NR, TRANSIENT_COHERENCE, "directory entry evicted, recall outstanding; no data")                \
    X(L2_VD, TRANSIENT_COHERENCE, "loads wait for a directory way whose line is being recalled")

/* Among the baseline events: a GETS that needs a directory way finds one; GETX and ATOMIC mean that no other L1 shares
 * the line; FILL is for loads, or precedes the last acknowledgement; FILL_STORE and FILL_ATOMIC find no directory
 * entry. */
#define L2_EVENTS(X)                                                                            \
    BASELINE_L2_EVENTS(X)                                                                       \
    X(L2_GETS_NO_WAY, "read request; a recall must free a directory way first")                 \
    X(L2_GETX_SHARED, "store to a line that other L1s share")                                   \
    X(L2_ATOMIC_SHARED, "atomic to a line that other L1s share")                                \
    X(L2_EVICT_ENTRY, "directory way chosen for replacement")                                   \
    X(L2_INV_ACK, "invalidation acknowledged; others outstanding")                              \
    X(L2_LAST_INV_ACK, "last acknowledgement; the writer has no copy")                          \
    X(L2_LAST_INV_ACK_KEPT, "last acknowledgement; the writer keeps its copy")                  \
    X(L2_FILL_STORE_EMPTY, "fill from memory, for a store; directory entry without sharers")    \
    X(L2_FILL_STORE_KEPT, "fill from memory, for a store; the writer keeps its copy")           \
    X(L2_FILL_ATOMIC_EMPTY, "fill from memory, for an atomic; directory entry without sharers") \
    X(L2_WAY, "directory way of a recalled entry freed")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

GPC_METADATA(vini_directory, line, VI_SHARERS)

/* ---- the directory ----------------------------------------------------------------------------------------------- */

static bool
has_entry(const gpc_step_t *x)
{
    return gpc_way_in(x, DIRECTORY) != GPC_NONE;
}

/* Whether the set of x's line has a directory way that needs no recall. */
static bool
has_free_way(const gpc_step_t *x)
{
    const gpc_tags_t *tags = &x->unit->arrays[DIRECTORY];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways;
    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        if (!gpc_tags_present(tags, way) || (tags->tags[way].mshr == GPC_NONE && tags->tags[way].state == L2_VE)) {
            return true;
        }
    }
    return false;
}

static bool
is_leaving(const gpc_step_t *x)
{
    const gpc_tags_t *tags = &x->unit->arrays[DIRECTORY];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways;
    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        gpc_index_t mshr = gpc_tags_present(tags, way) ? tags->tags[way].mshr : GPC_NONE;
        if (mshr != GPC_NONE && gpc_mshr_at(&x->unit->mshrs, mshr)->state == L2_SR) {
            return true;
        }
        if (mshr != GPC_NONE && gpc_mshr_at(&x->unit->mshrs, mshr)->state == L2_NR) {
            return true;
        }
    }
    return false;
}

static uint32_t
victim_rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return array == DIRECTORY && unit->arrays[array].tags[way].state != L2_VE;
}

static void
directory_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    uint64_t l1_lines = (uint64_t) machine->cores * (machine->l1_bytes / machine->line_bytes);
    uint64_t entries = l1_lines * (uint64_t) options[DIR_RATIO] / machine->partitions;

    *ways = (uint32_t) options[DIR_WAYS];
    *sets = entries < *ways ? 1 : (uint32_t) (entries / *ways);
}

/* ---- classification ---------------------------------------------------------------------------------------------- */

static bool
others_share(const gpc_step_t *x)
{
    return (x->state == L2_S || x->state == L2_N) && gpc_others_share(x);
}

static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return GPC_NO_EVENT; /* no transaction waits for it */
    }
    if (gpc_sharers_mshr(x)->acknowledgements > 1) {
        return L2_INV_ACK;
    }
    bool keeps = (x->state == L2_SW || x->state == L2_NW) && vi_writer_shares(x);
    return keeps ? L2_LAST_INV_ACK_KEPT : L2_LAST_INV_ACK;
}

static gpc_event_id_t
classify_fill(const gpc_step_t *x)
{
    if (x->state != L2_IM) {
        return L2_FILL;
    }
    if (gpc_first_pending(x)->type == VI_ATOMIC) {
        return has_entry(x) ? L2_FILL_ATOMIC_EMPTY : L2_FILL_ATOMIC;
    }
    if (!has_entry(x)) {
        return L2_FILL_STORE;
    }
    return vi_writer_shares(x) ? L2_FILL_STORE_KEPT : L2_FILL_STORE_EMPTY;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case VI_GETS:
            return x->state == L2_V && !has_free_way(x) ? L2_GETS_NO_WAY : L2_GETS;
        case VI_GETX:
            return others_share(x) ? L2_GETX_SHARED : L2_GETX;
        case VI_ATOMIC:
            return others_share(x) ? L2_ATOMIC_SHARED : L2_ATOMIC;
        case VI_INV_ACK:
        case VI_RECALL_ACK:
            return classify_acknowledgement(x);
        case GPC_MSG_FILL:
            return classify_fill(x);
        case GPC_MSG_REPLAY:
            return L2_WAY;
        default:
            return x->cause == GPC_MSG_EVICT && x->array == DIRECTORY ? L2_EVICT_ENTRY : baseline_l2_classify(x);
    }
}

/* ---- actions: the entry ------------------------------------------------------------------------------------------ */

GPC_ACTION(act_touch_entry, "mark the directory entry as most recently used")
{
    gpc_tags_touch(&x->unit->arrays[DIRECTORY], gpc_way_in(x, DIRECTORY));
    return GPC_OK;
}

/* ---- actions: ways ----------------------------------------------------------------------------------------------- */

GPC_ACTION(act_reserve_entry, "reserve a directory way")
{
    return gpc_reserve_way_in(x, DIRECTORY);
}

/* The recall serves this request only, so that the request is retried when it ends; otherwise the request stays in its
 * queue. */
GPC_ACTION(act_start_recall, "recall a directory entry for this request, or hold")
{
    if (is_leaving(x)) {
        return GPC_HOLD;
    }
    int status = gpc_reserve_way_in(x, DIRECTORY);
    if (status < 0) {
        return status;
    }
    /* the victim got no transaction, or x's own: no recall serves x */
    return x->mshr != GPC_NONE && is_leaving(x) ? GPC_OK : GPC_HOLD;
}

/* Whether a load waits for the way of an entry that is being recalled from x's set. */
static bool
is_promised(const gpc_step_t *x)
{
    const gpc_tags_t *tags = &x->unit->arrays[DIRECTORY];
    for (gpc_index_t i = 0; i < *x->unit->mshrs.high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&x->unit->mshrs, i);
        if (entry->live && entry->state == L2_VD &&
            gpc_tags_set_of(tags, entry->line) == gpc_tags_set_of(tags, x->line)) {
            return true;
        }
    }
    return false;
}

/* Takes a way of x's set whose entry is being recalled, unless a load waits for it: its sharer list is no longer
 * needed. */
static bool
take_over(const gpc_step_t *x)
{
    gpc_tags_t *tags = &x->unit->arrays[DIRECTORY];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways;
    if (x->mshr == GPC_NONE || is_promised(x)) {
        return false;
    }
    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        gpc_index_t mshr = gpc_tags_present(tags, way) ? tags->tags[way].mshr : GPC_NONE;
        uint8_t state = mshr == GPC_NONE ? (uint8_t) L2_I : gpc_mshr_at(&x->unit->mshrs, mshr)->state;
        if (state == L2_SR || state == L2_NR) {
            gpc_mshr_at(&x->unit->mshrs, mshr)->leaving &= (uint8_t) ~(1u << DIRECTORY);
            gpc_tags_drop(tags, way);
            return true;
        }
    }
    return false;
}

GPC_ACTION(act_reserve_ways, "reserve a data way and a directory way")
{
    int status = gpc_reserve_ways(x);
    return status == GPC_HOLD && take_over(x) ? gpc_reserve_ways(x) : status;
}

GPC_ACTION(act_free_entry, "free the directory entry")
{
    return gpc_release_way_in(x, DIRECTORY);
}

GPC_ACTION(act_free_data, "free the data way")
{
    return gpc_release_way_in(x, DATA_ARRAY);
}

/* If this line still had its way, a load that waits for a way of the set takes it. */
GPC_ACTION(act_hand_over, "pass the freed way to a load that waits for one of the set")
{
    const gpc_tags_t *tags = &x->unit->arrays[DIRECTORY];
    if (!has_free_way(x)) {
        return GPC_OK;
    }
    for (gpc_index_t i = 0; i < *x->unit->mshrs.high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&x->unit->mshrs, i);
        if (entry->live && entry->state == L2_VD &&
            gpc_tags_set_of(tags, entry->line) == gpc_tags_set_of(tags, x->line)) {
            int status =
                gpc_controller_line(x->unit, x->table_number, GPC_MSG_REPLAY, entry->line, GPC_NO_WORDS, GPC_NONE);
            return status < 0 ? status : GPC_OK;
        }
    }
    return GPC_OK;
}

/* ---- the table. A held request waits for memory or for acknowledgements, which are never blocked. ---------------- */

#define HOLD_WRITES [L2_GETX] = HOLD_LINE, [L2_ATOMIC] = HOLD_LINE
#define HOLD_REQUESTS [L2_GETS] = HOLD_LINE, HOLD_WRITES
#define NOT_VICTIMS \
    [L2_EVICT_CLEAN] = NOT_A_VICTIM, [L2_EVICT_DIRTY] = NOT_A_VICTIM, [L2_EVICT_ENTRY] = NOT_A_VICTIM

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_ways, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_S, act_reserve_entry, act_touch_entry, act_add_sharer, act_answer),
        [L2_GETS_NO_WAY] = GO(L2_VD, act_start_recall, act_wait),
        [L2_GETX] = GO(L2_V, act_write),
        [L2_ATOMIC] = GO(L2_V, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_VE] = {
        [L2_GETS] = GO(L2_S, act_touch_entry, act_add_sharer, act_answer),
        [L2_GETX] = GO(L2_VE, act_write),
        [L2_ATOMIC] = GO(L2_VE, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
        [L2_EVICT_ENTRY] = GO(L2_V, act_free_entry),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_touch_entry, act_add_sharer, act_answer),
        [L2_GETX] = GO(L2_S, act_write),
        [L2_GETX_SHARED] = GO(L2_SW, act_invalidate_others, act_wait),
        [L2_ATOMIC] = GO(L2_VE, act_clear_sharers, act_perform),
        [L2_ATOMIC_SHARED] = GO(L2_SA, act_invalidate_others, act_wait),
        [L2_EVICT_CLEAN] = GO(L2_N, act_free_data),
        [L2_EVICT_DIRTY] = GO(L2_N, act_write_back, act_free_data),
        [L2_EVICT_ENTRY] = GO(L2_SR, act_recall),
    },
    [L2_N] = {
        [L2_GETS] = GO(L2_NS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_GETX_SHARED] = GO(L2_NW, act_reserve_way, act_invalidate_others, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_clear_sharers, act_fetch),
        [L2_ATOMIC_SHARED] = GO(L2_NA, act_reserve_way, act_invalidate_others, act_fetch),
        [L2_EVICT_ENTRY] = GO(L2_NR, act_recall),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        HOLD_WRITES,
        NOT_VICTIMS,
        [L2_FILL] = GO(L2_S, act_fill_line, act_add_readers, act_answer_all),
    },
    [L2_IM] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_FILL_STORE] = GO(L2_V, act_fill_line, act_write),
        [L2_FILL_STORE_EMPTY] = GO(L2_VE, act_fill_line, act_write),
        [L2_FILL_STORE_KEPT] = GO(L2_S, act_fill_line, act_write),
        [L2_FILL_ATOMIC] = GO(L2_V, act_fill_line, act_perform),
        [L2_FILL_ATOMIC_EMPTY] = GO(L2_VE, act_fill_line, act_perform),
    },
    [L2_SW] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SW, act_count),
        [L2_LAST_INV_ACK] = GO(L2_VE, act_clear_sharers, act_write),
        [L2_LAST_INV_ACK_KEPT] = GO(L2_S, act_keep_only_writer, act_write),
    },
    [L2_SA] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SA, act_count),
        [L2_LAST_INV_ACK] = GO(L2_VE, act_clear_sharers, act_perform),
    },
    [L2_NS] = {
        [L2_GETS] = GO(L2_NS, act_merge),
        HOLD_WRITES,
        NOT_VICTIMS,
        [L2_FILL] = GO(L2_S, act_fill_line, act_add_readers, act_answer_all),
    },
    [L2_NW] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_NW, act_count),
        [L2_LAST_INV_ACK] = GO(L2_IM, act_clear_sharers),
        [L2_LAST_INV_ACK_KEPT] = GO(L2_IM, act_keep_only_writer),
        [L2_FILL] = GO(L2_SW, act_fill_line),
    },
    [L2_NA] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_NA, act_count),
        [L2_LAST_INV_ACK] = GO(L2_IM, act_clear_sharers),
        [L2_FILL] = GO(L2_SA, act_fill_line),
    },
    [L2_SR] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SR, act_count),
        [L2_LAST_INV_ACK] = GO(L2_V, act_free_entry, act_hand_over),
    },
    [L2_NR] = {
        HOLD_REQUESTS,
        NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_NR, act_count),
        [L2_LAST_INV_ACK] = GO(L2_I, act_free_entry, act_hand_over),
    },
    [L2_VD] = {
        [L2_GETS] = GO(L2_VD, act_merge),
        HOLD_WRITES,
        NOT_VICTIMS,
        [L2_WAY] = GO(L2_S, act_reserve_entry, act_add_readers, act_answer_all),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .arrays = 1u << DATA_ARRAY | 1u << DIRECTORY};

static const gpc_controller_type_t vini_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true},
               {.name = "directory", .line = vini_directory_line_described, .geometry = directory_geometry}},
    .sharers = GPC_SHARERS(DIRECTORY, vini_directory, line, sharers),
    .mshr = gpc_sharers_mshr_described,
    .victim_rank = victim_rank,
};

static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&units->bank->arrays[DIRECTORY], line);
    return vi_check_listed(units, line,
                           way == GPC_NONE ? NULL : &vini_directory_line_at(units->bank, DIRECTORY, way)->sharers);
}

const gpc_protocol_t gpc_protocol_gpu_vini = {
    .id = "gpu-vini",
    .name = "GPU-VIni",
    .paper = "Singh et al., HPCA 2013",
    .family = "write-through invalidation",
    .text = "GPU-VI over a non-inclusive L2: a separate directory lists the sharers; directory evictions recall",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&vi_l1, &vini_l2},
    GPC_MESSAGES_OF(VI),
    .networks = VI_NETWORKS,
    .options = {[DIR_WAYS] = {.name = "dir_ways",
                              .standard = 8,
                              .smallest = 1,
                              .largest = 64,
                              .text = "associativity of the directory",
                              .fuzz_least = 1,
                              .fuzz_most = 8},
                [DIR_RATIO] = {.name = "dir_ratio",
                               .standard = 2,
                               .smallest = 1,
                               .largest = 64,
                               .text = "directory entries per L1 line of all cores",
                               .fuzz_least = 1,
                               .fuzz_most = 4}},
    .declared = {.weak_outcomes = "SB MP",
                 .variations = "dir_ways=2,dir_ratio=1",
                 .uncovered = {{.table = "L2",
                                .states = "VE",
                                .events = "EVICT_CLEAN",
                                .reason =
                                    "a line whose entry has no sharers is dirty, since a store emptied its list"}}},
    .watched = &vi_watched,
    .monitor = monitor,
};
