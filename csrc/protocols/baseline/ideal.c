/* ideal.c: IDEAL-COH, write-through L1s whose copies are invalidated at once and for free.
 *
 * Paper    Singh et al., HPCA 2013, section 1, names IDEAL-COH and does not describe it. The paper's public simulator
 *          (GPGPUSIM-RUBY) has an "idealized write-through protocol" (README), whose L2 invalidates the other sharers
 *          in the cycle of the store (ideal_VI_wt-L2cache.sm, f_ideallyInvSharersMinusRequestor).
 * Bounds   write-through protocols that read no stale copies and fetch lines (GPU-VI, GPU-VIni, TC-Strong, NO-L1), to a
 *          few percent: an invalidation that takes time leaves a copy readable longer. It is no upper bound of all
 *          protocols: MESI reuses written lines in a write-back L1, while every store here goes to the L2; TC-Weak
 *          (like NO-COH) hits copies that others have overwritten, until their leases end; no-l1[fill=sector] sends
 *          fewer words. Where strides fill the ways of a set with misses, the other protocols wait for a way and merge,
 *          while ideal requests each such load (stn: 12% behind GPU-VI at 4 ways, 4% before it at 16).
 * Inferred every cell. GPU-VI's L1 (section 4.2) over NO-COH's L2 with an oracle: when the L2 performs a store or
 *          atomic, every other L1 that holds the line, or has its data in flight, receives GPU-VI's invalidation at the
 *          same instant, without a message. It limits no sharers and awaits no acknowledgements. A read miss that finds
 *          every way reserved proceeds without a way and its data is used once, so that set conflicts never make it
 *          slower than NO-L1. The oracle lists the L1s that the L2 sent the line to (`copies`); after a fill, when the
 *          list is unknown, it queries all L1s. An L1 whose request has not reached the L2 is not invalidated: it
 *          receives the new value.
 * Differs  the public simulator's L2 includes the L1s and recalls their copies, also at once; here an evicted line
 *          keeps its copies.
 */
#include <string.h>

#include "protocols/baseline/baseline.h"

/* ---- the sharer filter: L1s that the oracle queries when the list is unknown ------------------------------------- */

/* Conservative filter: L1s that may hold a line, one set per hash of lines. An L1 that reserves a way for the line is
 * in the set. Evictions leave stale members, so the sets are rebuilt periodically from the L1s' tags. Without it a
 * store at 256 cores would query every L1, and each query misses the host's cache. */
enum { FILTER_SETS = 8192 };

typedef struct {
    uint64_t noted;  /* copies noted since the sets were built */
    uint64_t asked;  /* nonzero once the sets are built; nothing is noted before */
    uint64_t sets[]; /* [FILTER_SETS][words], one bit per L1 */
} filter_t;

static size_t
filter_words(uint32_t l1s)
{
    return (l1s + 63) / 64;
}

static size_t
filter_bytes(uint32_t l1s)
{
    return sizeof(filter_t) + FILTER_SETS * filter_words(l1s) * sizeof(uint64_t);
}

static uint64_t *
filter_set(filter_t *filter, uint32_t l1s, gpc_address_t line)
{
    return filter->sets + (line * UINT64_C(0x9E3779B97F4A7C15) >> 32) % FILTER_SETS * filter_words(l1s);
}

static void
filter_note(filter_t *filter, const gpc_controller_t *l1, gpc_address_t line)
{
    filter_set(filter, l1->machine->cores, line)[l1->node / 64] |= UINT64_C(1) << (l1->node % 64);
}

static void
filter_make(filter_t *filter, gpc_controller_t *const *l1s, uint32_t num_l1s)
{
    memset(filter, 0, filter_bytes(num_l1s));
    filter->asked = true;
    for (uint32_t i = 0; i < num_l1s; i++) {
        const gpc_tags_t *tags = &l1s[i]->arrays[0];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            if (gpc_tags_present(tags, way)) {
                filter_note(filter, l1s[i], gpc_tags_line(tags, way));
            }
        }
    }
}

static void
filter_candidates(void *state, gpc_controller_t *const *l1s, uint32_t num_l1s, gpc_address_t line, gpc_nodeset_t *out)
{
    filter_t *filter = state;
    /* Rebuild when the stale members may equal the live ones: a few hundred lines per L1. */
    if (!filter->asked || filter->noted > UINT64_C(256) * num_l1s) {
        filter_make(filter, l1s, num_l1s);
    }
    *out = (gpc_nodeset_t){{0}};
    memcpy(out->bits, filter_set(filter, num_l1s, line), filter_words(num_l1s) * sizeof(uint64_t));
}

static const gpc_instant_filter_t filter = {.bytes = filter_bytes, .candidates = filter_candidates};

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                          \
    BASELINE_L1_STATES(X)                                                                     \
    X(L1_VM, TRANSIENT_COHERENCE, "present, own stores outstanding; readable once they are performed")

#define L1_EVENTS(X)                                                      \
    BASELINE_L1_EVENTS(X)                                                 \
    X(L1_LOAD_NO_WAY, "load miss while every way of its set is reserved") \
    X(L1_INVALIDATE, "another core's store or atomic performed at the L2")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_LOAD && x->state == L1_I && !gpc_can_reserve_way(x)) {
        return L1_LOAD_NO_WAY;
    }
    return x->cause == GPC_MSG_INSTANT ? L1_INVALIDATE : baseline_l1_classify(x);
}

GPC_ACTION(act_note_copy, "note in the filter that this L1 may hold the line")
{
    filter_t *state = x->unit->instant_filter;
    if (state && state->asked) {
        filter_note(state, x->unit, x->line);
        state->noted++;
    }
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line, act_note_copy),
        [L1_LOAD_NO_WAY] = GO(L1_II, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INVALIDATE] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_INVALIDATE] = GO(L1_I, act_count_invalidation),
    },
    [L1_VM] = {
        /* a miss: the value is not readable before the L2 performs the store */
        [L1_LOAD] = GO(L1_VM, act_request_line),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INVALIDATE] = GO(L1_II, act_count_invalidation, act_release_way),
        [L1_DATA] = GO(L1_VM, act_complete),
        [L1_LAST_DATA] = GO(L1_V, act_complete),
        [L1_ACK] = GO(L1_VM, act_complete),
        [L1_LAST_ACK] = GO(L1_V, act_complete), /* current: the line with its own stores, not invalidated */
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_INVALIDATE] = GO(L1_II, act_count_invalidation, act_release_way), /* the data in flight is used once */
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = GO(L1_II, act_request_line), /* no merging: the outstanding read may predate the move to II */
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INVALIDATE] = GO(L1_II),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

static const gpc_controller_type_t ideal_l1 = {BASELINE_L1_TYPE(l1)};

/* ---- L2: NO-COH's L2 with the oracle ----------------------------------------------------------------------------- */

GPC_FSM(L2, BASELINE_L2_STATES, BASELINE_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

#define IDEAL_L2_LINE(FIELD)                                                           \
    GPC_WRITER_LINE(FIELD)                                                             \
    FIELD(PLAIN, uint8_t, everyone)     /* the sharer list is unknown: after a fill */ \
    FIELD(NODESET, gpc_nodeset_t, copies) /* L1s that received the line and were not invalidated since */
GPC_METADATA(ideal_l2, line, IDEAL_L2_LINE)
GPC_KEEPS_DIRTY(ideal_l2);

GPC_ACTION(act_fill_unlisted, "fill the way from memory; the sharer list is unknown")
{
    ideal_l2_line(x)->everyone = 1;
    return gpc_act(act_fill_line, x);
}

GPC_ACTION(act_note_reader, "add the reader to the sharer list")
{
    return gpc_act(act_add_sharer, x);
}

GPC_ACTION(act_note_readers, "add all pending readers to the sharer list")
{
    return gpc_act(act_add_readers, x);
}

GPC_ACTION(act_invalidate_others, "invalidate all copies but the writer's, at once")
{
    ideal_l2_line_t *line = ideal_l2_line(x);
    gpc_node_t writer = gpc_writer_message(x)->source;
    int status = x->unit->ports->instant(x->unit->world, x->unit, x->line, line->everyone ? NULL : &line->copies,
                                         writer, GPC_MSG_INSTANT);

    line->everyone = 0;
    line->copies = (gpc_nodeset_t){{0}};
    gpc_nodeset_add(&line->copies, writer);
    return status;
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_V, L2_GETS, GO(L2_V, act_note_reader, act_answer), "the oracle lists the L1s that the L2 sent the line to"},
    {L2_IS, L2_FILL, GO(L2_V, act_fill_unlisted, act_note_readers, act_answer_all), NULL},
    {L2_V, L2_GETX, GO(L2_V, act_invalidate_others, act_write), "a write invalidates the other copies in the same cycle"},
    {L2_V, L2_ATOMIC, GO(L2_V, act_invalidate_others, act_perform), NULL},
    {L2_IM, L2_FILL_STORE, GO(L2_V, act_fill_unlisted, act_invalidate_others, act_write), NULL},
    {L2_IM, L2_FILL_ATOMIC, GO(L2_V, act_fill_unlisted, act_invalidate_others, act_perform), NULL},
};
/* clang-format on */

static const gpc_table_t l2 = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "no-coh", baseline_l2_lines, l2_patches, baseline_l2_classify)};

static const gpc_controller_type_t ideal_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = ideal_l2_line_described, .has_data = true}},
    .sharers = GPC_SHARERS(0, ideal_l2, line, copies),
};

static const gpc_watched_t watched = {
    .promise = GPC_PROMISE_FRESH, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_VM, .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_ideal = {
    .id = "ideal",
    .name = "IDEAL-COH",
    .paper = "Singh et al., HPCA 2013",
    .family = "baseline",
    .text = "write-through L1s, copies invalidated at once and for free; no bound on MESI (write-back) and TC-Weak "
            "(stale reads)",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&ideal_l1, &ideal_l2},
    GPC_MESSAGES_OF(MSG),
    .networks = BASELINE_NETWORKS,
    .declared = {.weak_outcomes = "SB MP"},
    .watched = &watched,
    .instant_filter = &filter,
};
