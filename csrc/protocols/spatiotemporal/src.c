/* src.c: SRC, self-invalidating release consistency: write-through L1s that drop every copy at an acquire.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, section 4.1: the baseline, a VI protocol of AMD's GPUs (buffer_wbinvl1_vol).
 *          A release waits for the acknowledgements of the wave's stores, an acquire invalidates the whole L1 in one
 *          cycle, and so does the begin of a kernel; atomics are performed at the L2.
 * Inferred loads of order relaxed or stronger read at the L2. A read that is outstanding at an acquire completes its
 *          loads and is not kept: its data may be older than what the acquire has seen.
 *          A load of a line whose read is outstanding completes with it, unless its wave has passed an order point
 *          since the read was sent: then it waits for the answer and is taken again.
 *          A barrier of a block drops no copies, as the block has one L1: RCc is the strongest of our models whose
 *          barriers order nothing for other blocks.
 * Options  acquire=off, for figure 1's potential: copies survive acquires and kernels; a hit returns the L2's words,
 *          since results would be wrong and loops endless otherwise.
 */
#include "protocols/spatiotemporal/stc.h"

GPC_MESSAGES(SRC, SRC_MESSAGES)

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "coalesced load of a wave")                                                                             \
    X(L1_LOAD_FRESH, "load of order relaxed or stronger, which reads at the L2")                                       \
    X(L1_LOAD_JOIN, "load of a line whose read was sent after the last order point of its wave")                       \
    X(L1_STORE, "a store or atomic to the line is issued")                                                             \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_DATA, "the line")                                                                                             \
    X(L1_ACQUIRE, "an acquire, or a kernel begins")
GPC_FSM(L1, STC_L1_STATES, L1_EVENTS)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause != GPC_MSG_LOAD) {
        return GPC_NO_EVENT;
    }
    return gpc_may_join(x) ? L1_LOAD_JOIN : x->msg->order == GPC_ORDER_WEAK ? L1_LOAD : L1_LOAD_FRESH;
}

GPC_ACTION(act_hit_newest, "complete the load with the L2's words")
{
    gpc_controller_t *unit = x->unit;
    GPC_TRY(unit->ports->newest(unit->world, x->line, gpc_line_words(x)));
    return gpc_act(act_hit, x);
}

/* A held request waits for the line's data, which always come. */
/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_read),
        [L1_LOAD_FRESH] = GO(L1_II, act_read_uncached),
        [L1_STORE] = GO(L1_I),
        [L1_ACQUIRE] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_LOAD_FRESH] = GO(L1_II, act_release_way, act_read_uncached),
        [L1_STORE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_ACQUIRE] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_FRESH] = HOLD_LINE,
        [L1_LOAD_JOIN] = GO(L1_IV, act_merge_load),
        [L1_DATA] = GO(L1_V, act_fill, act_complete),
        [L1_ACQUIRE] = GO_HARDENED(L1_II, act_release_way),
    },
    [L1_II] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_FRESH] = HOLD_LINE,
        [L1_LOAD_JOIN] = GO(L1_II, act_merge_load),
        [L1_DATA] = GO(L1_I, act_complete),
        [L1_ACQUIRE] = GO(L1_II),
    },
};

static const gpc_patch_t survive_patches[] = {
    {L1_V, L1_LOAD, GO(L1_V, act_hit_newest), "copies survive acquires, so that they may be old"},
    {L1_V, L1_ACQUIRE, GO(L1_V), NULL},
    {L1_IV, L1_ACQUIRE, GO(L1_IV), NULL},
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
                               .causes = {ON_SAME(GPC_MSG, L1, STORE, EVICT, ACQUIRE),
                                          ON(GPC_MSG_KERNEL_BEGIN, L1_ACQUIRE), ON(SRC_DATA, L1_DATA)}};
static const gpc_table_t surviving = {GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "src", l1, survive_patches, l1_classify)};

static const gpc_controller_type_t src_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1, &src_buffer},
    .variants = {{.table = STC_TABLE_LINES, .option = SRC_OPTION_ACQUIRE, .value = 0, .by = &surviving}},
    .arrays = {{.name = "tags", .line = stc_l1_line_described, .has_data = true}},
    .parts = {{.name = "coalescing buffer", .entry = stc_entry_described, .capacity = stc_buffer_entries}},
    .mshr = gpc_joined_mshr_described,
    .route = src_route,
};

static int
acquire(gpc_controller_t *l1_unit, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    if (l1_unit->options[SRC_OPTION_ACQUIRE] == 0) {
        return GPC_OK;
    }
    return gpc_controller_flash(l1_unit, STC_TABLE_LINES, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .joins = true};

const gpc_protocol_t gpc_protocol_src = {
    .id = "src",
    .name = "SRC",
    .paper = "Puthoor and Lipasti, TACO 2023",
    .family = "spatiotemporal coherence",
    .text = "write-through L1s; an acquire drops every copy",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&src_l1, &stc_l2},
    GPC_MESSAGES_OF(SRC),
    .networks = {{.name = "request", .requests = true}, {.name = "response"}},
    .order = {.acquire = acquire, .order_point = gpc_note_order_point},
    STC_ACKNOWLEDGES,
    .options = {[STC_OPTION_BUFFER] =
                    GPC_NUMBER("buffer", 256, 1, 4096, "entries of a CU's coalescing buffer", 4, 1, 256),
                STC_ACKS,
                [SRC_OPTION_ACQUIRE] = {.name = "acquire",
                                        .standard = 1,
                                        .smallest = 0,
                                        .largest = 1,
                                        .choices = "off on",
                                        .text = "whether an acquire drops the copies",
                                        .analysis =
                                            "copies survive acquires, and hits read the L2's words in no time"}},
    .declared = {.weak_outcomes = "SB MP", .variations = "ack=pipeline"},
    .host_read = stc_host_read,
    .watched = &watched,
};
