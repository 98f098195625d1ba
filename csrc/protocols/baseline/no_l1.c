/* no_l1.c: NO-L1, no first-level cache: every coalesced access goes to the L2.
 *
 * Paper    Singh et al., HPCA 2013, sections 1, 8.1, 8.4: the baseline of the inter-workgroup programs; trivially
 *          coherent, since the L2 holds the only copy. Misses of different warps do not merge (8.4).
 * Inferred a core has at most as many requests in flight as the L1 has MSHRs. An answer to a load carries the 32-byte
 *          sectors that have a requested word, as a Fermi or Kepler without L1 reads them. The paper does not say; its
 *          public simulator (GPGPUSIM-RUBY, send_request in gpgpu-sim/ruby_wrapper.cc) requests the coalesced size. L2
 *          and DRAM transfer lines.
 * Options  fill=line: an answer carries the line. l2=through: the baseline of Hechtman et al., HPCA 2014 (section 5):
 *          L2, directory and L3 of wt, which write through to memory, and stores are acknowledged there. Its loads are
 *          "similar to NVIDIA's Kepler" (section 5.1), which reads sectors.
 * Differs  that simulator (non_coherent-L2cache.sm) answers with the aligned 32, 64 or 128 bytes that enclose the
 *          words: more than their sectors if they enclose an unused one.
 */
#include "protocols/baseline/baseline.h"
#include "protocols/quickrelease/write_through.h"

#define NO_L1_MESSAGES(X, P) \
    BASELINE_MESSAGES(X, P)  \
    X(P, SECTORS, LD, 1, 8, 4, false, "sectors to read; fill=sector, the default")

GPC_MESSAGES(NO_L1, NO_L1_MESSAGES)
BASELINE_SAME_MESSAGES(NO_L1);
GPC_SAME_NUMBER(NO_L1_SECTORS, WT_SECTORS);

enum { OPTION_FILL, OPTION_L2 };
enum { FILL_LINE, FILL_SECTOR };
enum { L2_BACK, L2_THROUGH };

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X) X(L1_ON, STABLE, "always on: no line is cached")

#define L1_EVENTS(X)                                               \
    X(L1_LOAD, "coalesced load of a warp")                         \
    X(L1_STORE, "coalesced store of a warp, with its word mask")   \
    X(L1_ATOMIC, "atomic read-modify-writes with their lane list") \
    X(L1_ANSWER, "data, acknowledgement or old values")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L1_UNIT(FIELD) FIELD(PLAIN, uint32_t, outstanding) /* requests in flight */
GPC_METADATA(l1, unit, L1_UNIT)

GPC_ACTION(act_take_place, "count one more request in flight, or hold; an answer frees a slot")
{
    if (l1_unit(x->unit)->outstanding >= x->unit->machine->l1_mshrs) {
        return GPC_HOLD;
    }
    l1_unit(x->unit)->outstanding++;
    return GPC_OK;
}

/* The core's request is kept until its answer, which names it. */
static int
send_away(gpc_step_t *x, uint8_t type)
{
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, type));
}

GPC_ACTION(act_get, "send GETS; with l2=through and fill=sector GET_SECTORS")
{
    const int64_t *options = x->unit->options;
    bool sectors = options[OPTION_L2] == L2_THROUGH && options[OPTION_FILL] == FILL_SECTOR;
    gpc_count(x, load_misses);
    return send_away(x, sectors ? WT_GET_SECTORS : NO_L1_GETS);
}

GPC_ACTION(act_put, "send GETX with the store's words")
{
    return send_away(x, NO_L1_GETX);
}

GPC_ACTION(no_l1_act_send_atomic, "send ATOMIC with the lane list")
{
    return send_away(x, NO_L1_ATOMIC);
}

GPC_ACTION(no_l1_act_complete, "complete the request that the answer names")
{
    gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, x->msg->request);
    l1_unit(x->unit)->outstanding--;
    waiting->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete(x, x->msg->request, x->msg->data, false);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_ON] = {
        [L1_LOAD] = GO(L1_ON, act_take_place, act_get),
        [L1_STORE] = GO(L1_ON, act_take_place, act_put),
        [L1_ATOMIC] = GO(L1_ON, act_take_place, no_l1_act_send_atomic),
        [L1_ANSWER] = GO(L1_ON, no_l1_act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_UNIT, L1, l1_table, NULL),
                               .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(GPC_MSG_STORE, L1_STORE),
                                          ON(GPC_MSG_ATOMIC, L1_ATOMIC), ON(NO_L1_DATA, L1_ANSWER),
                                          ON(NO_L1_SECTORS, L1_ANSWER), ON(NO_L1_ACK, L1_ANSWER),
                                          ON(NO_L1_ATOMIC_DATA, L1_ANSWER)}};

static const gpc_controller_type_t no_l1_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .unit = l1_unit_described,
};

/* ---- L2: its answers to loads have sectors; with fill=line they have the line ------------------------------------ */

GPC_FSM(L2, BASELINE_L2_STATES, BASELINE_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static int
answer_sectors(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_answer(x, to, type);
    gpc_carry(x, msg, baseline_sectors_of(x->unit, msg->mask), gpc_line_words(x));
    return gpc_send(x, msg);
}

GPC_ACTION(act_answer_sectors, "send SECTORS to the requester")
{
    gpc_count(x, load_hits);
    return answer_sectors(x, x->message, NO_L1_SECTORS);
}

GPC_ACTION(act_answer_all_sectors, "send SECTORS to all pending loads")
{
    return gpc_answer_pending(x, NO_L1_SECTORS, answer_sectors);
}

/* clang-format off */
static const gpc_patch_t sector_patches[] = {
    {L2_V, L2_GETS, GO(L2_V, act_answer_sectors), "the answer has the sectors with requested words, not the line"},
    {L2_IS, L2_FILL, GO(L2_V, act_fill_line, act_answer_all_sectors), NULL},
};
/* clang-format on */

static const gpc_table_t sectors = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "no-coh", baseline_l2_lines, sector_patches, baseline_l2_classify)};

static const gpc_controller_type_t no_l1_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&sectors},
    .variants = {{.table = 0, .option = OPTION_FILL, .value = FILL_LINE, .by = &baseline_l2_lines}},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
};

static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH, .bank_is_whole = true};

/* ---- the protocol ------------------------------------------------------------------------------------------------ */

#define NO_L1                                                                                                          \
    .id = "no-l1", .name = "NO-L1", .paper = "Singh et al., HPCA 2013", .family = "baseline",                          \
    .text = "no L1: every access is performed at the L2",                                                              \
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"}, .standard_rule = GPC_RULE_RC, .watched = &watched

static const gpc_protocol_t through = {
    NO_L1,
    .controllers = {&no_l1_l1, &wt_l2, &wt_l3},
    GPC_MESSAGES_OF(WT),
    .message = wt_message_described,
    .networks = WT_NETWORKS,
    .order = {.same_word =
                  true}, /* the L2 overlays stores that pass on what an older load of the line is answered with */
    .host_write = wt_host_write,
};

const gpc_protocol_t gpc_protocol_no_l1 = {
    NO_L1,
    .controllers = {&no_l1_l1, &no_l1_l2},
    GPC_MESSAGES_OF(NO_L1),
    .networks = BASELINE_NETWORKS,
    .options = {[OPTION_FILL] = {.name = "fill",
                                 .standard = FILL_SECTOR,
                                 .smallest = FILL_LINE,
                                 .largest = FILL_SECTOR,
                                 .choices = "line sector",
                                 .text = "what answers a load: the line, or its 32-byte sectors with requested words",
                                 .fuzz_least = FILL_LINE,
                                 .fuzz_most = FILL_SECTOR},
                [OPTION_L2] = {.name = "l2",
                               .standard = L2_BACK,
                               .smallest = L2_BACK,
                               .largest = L2_THROUGH,
                               .choices = "back through",
                               .text = "whether the L2 writes back, or through to memory"}},
    .instead = {.option = OPTION_L2, .value = L2_THROUGH, .by = &through},
    .declared = {.weak_outcomes = "SB MP", .variations = "fill=line l2=through l2=through,fill=line"},
    .host_write = gpc_host_write,
};
