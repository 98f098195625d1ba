/* mesi_wt.c: MESI-WT, a directory protocol with write-through L1s, the baseline of the RCC paper; mesi_wt_l1.c has its
 * L1.
 *
 * Paper    Ren and Lis, HPCA 2017, sections I and IV.A, call their baseline MESI with write-through L1s: a store takes
 *          the round trip to the L2, and the invalidation of the other sharers; five virtual networks; 16 L1 and 15 L2
 *          states (table V). The paper prints no table.
 * Inferred every cell. Every write (store or atomic) goes to the L2, which has the sharer list, so E and M at the L1
 *          give a right only if writes may complete at the L1 (exclusive=on). From the authors' public simulator: the
 *          L2 blocks the line of every write until the writer's UNBLOCK; a line that an L1 has in a transient state
 *          holds its loads; and an L1 has one write to a line outstanding, into which later stores of the core merge if
 *          it is a store ("stalling same-cacheline stores from other threads in MSHRs until the ack is received",
 *          section I). There memory is written when an instruction issues, and merged writes are never sent. Here they
 *          are performed at the L1 when the answer has arrived, while the line is blocked, and UNBLOCK takes their
 *          words to the L2. Atomics wait and are waited for (ruby_atomics_stall_at_mshr, which the authors added to the
 *          simulator that they took over, and which acts under MESI only).
 * Options  mshr=merge: atomics merge as stores do, if the writes before them know their words (the public simulator
 *          without that switch). mshr=stall: every write waits for the outstanding one.
 *          exclusive=on: the only reader receives the line in E, a write of a sharer leads to M, and a write in E or M
 *          completes at the L1, which sends it to the L2 behind (public simulator, MESI_CMP_directory_wt). There the L2
 *          answers another reader with its own copy while such a write is in flight: two stores of one warp to two
 *          lines may then be seen in the wrong order. Here the L2 answers after the owner's DOWNGRADE_ACK, which
 *          follows the write on its network.
 * Differs  from the public simulator: the L2 collects acknowledgements, not the writing L1; a load that meets an own
 *          outstanding write waits for it, and does not complete with it.
 */
#include "protocols/invalidation/mesi_wt.h"

BASELINE_SAME_MESSAGES(MWT);
GPC_SAME_NUMBER(MWT_INV, VI_INV);
GPC_SAME_NUMBER(MWT_RECALL, VI_RECALL);

/* ---- L2: states and events --------------------------------------------------------------------------------------- */

/* The last two are those of exclusive=on only. */
#define L2_STATES(X)                                                                        \
    VI_L2_STATES(X)                                                                       \
    X(L2_SB, TRANSIENT_COHERENCE, "written; the writer's UNBLOCK is outstanding")           \
    X(L2_MT, STABLE, "owned by an L1, whose writes may be in flight")                    \
    X(L2_MT_S, TRANSIENT_COHERENCE, "owned, another L1 reads; DOWNGRADE_ACK outstanding")

/* Among the baseline events, GETS means that no other L1 owns the line, GETX and ATOMIC that no other L1 shares it. */
#define L2_EVENTS(X)                                                    \
    BASELINE_L2_EVENTS(X)                                               \
    X(L2_GETX_SHARED, "store to a line that other L1s share")           \
    X(L2_ATOMIC_SHARED, "atomic to a line that other L1s share")        \
    X(L2_INV_ACK, "invalidation acknowledged; others outstanding")      \
    X(L2_LAST_INV_ACK, "last invalidation acknowledged")                \
    X(L2_UNBLOCK, "the writer, a sharer, has the answer")               \
    X(L2_UNBLOCK_ALONE, "the writer, no sharer, has the answer")        \
    X(L2_GETS_OWNED, "read request, another L1 owns the line")          \
    X(L2_FILL_ALONE, "fill from memory, for the loads of one L1")       \
    X(L2_DOWNGRADE_ACK, "owner shares the line")                        \
    X(L2_BEHIND, "write that the owner has performed")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static bool
owns_another(const gpc_step_t *x)
{
    return x->state == L2_MT && gpc_others_share(x);
}

static bool
shares_another(const gpc_step_t *x)
{
    return (x->state == L2_S || x->state == L2_MT) && gpc_others_share(x);
}

/* GPC_NO_EVENT: no transaction waits for it. */
static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return GPC_NO_EVENT;
    }
    return gpc_sharers_mshr(x)->acknowledgements > 1 ? L2_INV_ACK : L2_LAST_INV_ACK;
}

static gpc_event_id_t
classify_unblock(const gpc_step_t *x)
{
    if (x->state != L2_SB) {
        return GPC_NO_EVENT;
    }
    return gpc_nodeset_count(gpc_sharers(x)) ? L2_UNBLOCK : L2_UNBLOCK_ALONE;
}

static bool
fills_alone(const gpc_step_t *x)
{
    const gpc_msg_t *first = gpc_first_pending(x);
    return x->unit->options[MWT_OPTION_EXCLUSIVE] == MWT_EXCLUSIVE_ON && first->type == MWT_GETS &&
           gpc_next_pending(x, first) == NULL;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case MWT_GETS:
            return owns_another(x) ? L2_GETS_OWNED : L2_GETS;
        case MWT_GETX:
            return shares_another(x) ? L2_GETX_SHARED : L2_GETX;
        case MWT_ATOMIC:
            return shares_another(x) ? L2_ATOMIC_SHARED : L2_ATOMIC;
        case MWT_INV_ACK:
        case MWT_RECALL_ACK:
            return classify_acknowledgement(x);
        case MWT_UNBLOCK:
        case MWT_UNBLOCK_WORDS:
            return classify_unblock(x);
        case MWT_DOWNGRADE_ACK:
            return L2_DOWNGRADE_ACK;
        case MWT_WRITE_BEHIND:
            return L2_BEHIND;
        case GPC_MSG_FILL:
            return fills_alone(x) ? L2_FILL_ALONE : baseline_l2_classify(x);
        default:
            return baseline_l2_classify(x);
    }
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------- */

/* The answer has the line's words too, for the L1's merged narrow stores (mesi_wt_l1.c). */
static int
answer_writer(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *answer = gpc_new_writer_answer(x, type, 0);
    gpc_merge_words(answer->data, gpc_line_words(x), gpc_all_words(x->unit));
    return gpc_answer_writer(x, answer);
}

GPC_ACTION(act_write_blocked, "write the store's words, send ACK")
{
    (void) gpc_act(writer_act_write, x);
    return answer_writer(x, MWT_ACK);
}

GPC_ACTION(act_perform_blocked, "perform the atomic, send its old values")
{
    (void) gpc_act(writer_act_perform, x);
    return answer_writer(x, MWT_ATOMIC_DATA);
}

GPC_ACTION(act_drop_invalidated, "reduce the sharer list to the writer, or empty it if the writer is no sharer")
{
    bool shares = vi_writer_shares(x);
    *gpc_sharers(x) = (gpc_nodeset_t){{0}};
    if (shares) {
        gpc_nodeset_add(gpc_sharers(x), gpc_writer_message(x)->source);
    }
    return GPC_OK;
}

static void
write_words_of(gpc_step_t *x)
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    gpc_writer_line(x)->dirty |= x->msg->mask != GPC_NO_WORDS;
}

GPC_ACTION(act_write_merged, "write the words that UNBLOCK carries")
{
    write_words_of(x);
    return GPC_OK;
}

static int
answer_exclusive(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    return gpc_send(x, gpc_new_answer(x, to, type));
}

GPC_ACTION(act_answer_exclusive, "send DATA_E to the requester")
{
    gpc_count(x, load_hits);
    return answer_exclusive(x, x->message, MWT_DATA_E);
}

GPC_ACTION(act_answer_alone, "send DATA_E to the pending load")
{
    return gpc_answer_pending(x, MWT_DATA_E, answer_exclusive);
}

GPC_ACTION(act_downgrade, "send DOWNGRADE to the owner")
{
    gpc_count(x, load_hits);
    return gpc_call_in(x, MWT_DOWNGRADE, gpc_sharers(x));
}

static int
acknowledge_behind(gpc_step_t *x)
{
    return gpc_send(x, gpc_new_answer(x, x->message, MWT_BEHIND_ACK));
}

GPC_ACTION(act_write_behind_owner, "write the owner's words, send BEHIND_ACK")
{
    write_words_of(x);
    return acknowledge_behind(x);
}

GPC_ACTION(act_pass_behind, "write the owner's words to memory, send BEHIND_ACK")
{
    GPC_TRY(gpc_write_memory(x, x->msg->mask, x->msg->data));
    return acknowledge_behind(x);
}

/* ---- L2: the tables. A held request waits for a fill, or for messages on networks that nothing blocks. ----------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_S, act_add_sharer, act_answer),
        [L2_GETX] = GO(L2_SB, act_write_blocked),
        [L2_ATOMIC] = GO(L2_SB, act_perform_blocked),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_add_sharer, act_answer),
        [L2_GETX] = GO(L2_SB, act_write_blocked),
        [L2_GETX_SHARED] = GO(L2_SW, act_invalidate_others, act_wait),
        [L2_ATOMIC] = GO(L2_SB, act_perform_blocked),
        [L2_ATOMIC_SHARED] = GO(L2_SA, act_invalidate_others, act_wait),
        [L2_EVICT_CLEAN] = GO(L2_SI, act_recall, act_release_way),
        [L2_EVICT_DIRTY] = GO(L2_SI, act_recall, act_write_back, act_release_way),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        BASELINE_HOLD_WRITES,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_S, act_fill_line, act_add_readers, act_answer_all),
    },
    [L2_IM] = {
        BASELINE_HOLD_REQUESTS,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_SB, act_fill_line, act_write_blocked),
        [L2_FILL_ATOMIC] = GO(L2_SB, act_fill_line, act_perform_blocked),
    },
    [L2_SW] = {
        BASELINE_HOLD_REQUESTS,
        BASELINE_NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SW, act_count),
        [L2_LAST_INV_ACK] = GO(L2_SB, act_drop_invalidated, act_write_blocked),
    },
    [L2_SA] = {
        BASELINE_HOLD_REQUESTS,
        BASELINE_NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SA, act_count),
        [L2_LAST_INV_ACK] = GO(L2_SB, act_drop_invalidated, act_perform_blocked),
    },
    [L2_SI] = { /* no way: never a victim */
        BASELINE_HOLD_REQUESTS,
        [L2_INV_ACK] = GO(L2_SI, act_count),
        [L2_LAST_INV_ACK] = GO(L2_I),
    },
    [L2_SB] = {
        BASELINE_HOLD_REQUESTS,
        BASELINE_NOT_VICTIMS,
        [L2_UNBLOCK] = GO(L2_S, act_write_merged),
        [L2_UNBLOCK_ALONE] = GO(L2_V, act_write_merged),
    },
};
/* clang-format on */

static const gpc_patch_t exclusive_patches[] = {
    {L2_V, L2_GETS, GO(L2_MT, act_add_sharer, act_answer_exclusive), "the only reader receives the line exclusively"},
    {L2_IS, L2_FILL_ALONE, GO(L2_MT, act_fill_line, act_add_readers, act_answer_alone), NULL},
    {L2_MT, L2_GETS, GO(L2_MT, act_answer_exclusive), "the owner has evicted its copy"},
    {L2_SB, L2_UNBLOCK, GO(L2_MT, act_write_merged), "a sharer's write makes it the owner"},
    {L2_MT, L2_GETX, GO(L2_SB, act_write_blocked), "the owner has evicted its copy"},
    {L2_MT, L2_ATOMIC, GO(L2_SB, act_perform_blocked), NULL},
    {L2_S, L2_GETX, IMPOSSIBLE, "a shared line has another sharer"},
    {L2_S, L2_ATOMIC, IMPOSSIBLE, NULL},
    {L2_MT, L2_BEHIND, GO(L2_MT, act_write_behind_owner), "the owner has performed the write"},
    {L2_SW, L2_BEHIND, GO(L2_SW, act_write_behind_owner), NULL},
    {L2_SA, L2_BEHIND, GO(L2_SA, act_write_behind_owner), NULL},
    {L2_MT_S, L2_BEHIND, GO(L2_MT_S, act_write_behind_owner), NULL},
    {L2_SB, L2_BEHIND, GO(L2_SB, act_write_behind_owner), "it may have overtaken UNBLOCK"},
    {L2_SI, L2_BEHIND, GO(L2_SI, act_pass_behind), "the line has left its way"},
    {L2_MT, L2_GETS_OWNED, GO(L2_MT_S, act_downgrade, act_wait),
     "the owner shares the line, and its writes arrive before"},
    {L2_MT_S, L2_GETS, GO(L2_MT_S, act_merge), NULL},
    {L2_MT_S, L2_GETX, HOLD_LINE, NULL},
    {L2_MT_S, L2_ATOMIC, HOLD_LINE, NULL},
    {L2_MT_S, L2_EVICT_CLEAN, NOT_A_VICTIM, NULL},
    {L2_MT_S, L2_EVICT_DIRTY, NOT_A_VICTIM, NULL},
    {L2_MT_S, L2_DOWNGRADE_ACK, GO(L2_S, act_add_readers, act_answer_all), NULL},
    {L2_MT, L2_GETX_SHARED, GO(L2_SW, act_invalidate_others, act_wait),
     "the owner is invalidated or recalled as a sharer is"},
    {L2_MT, L2_ATOMIC_SHARED, GO(L2_SA, act_invalidate_others, act_wait), NULL},
    {L2_MT, L2_EVICT_CLEAN, GO(L2_SI, act_recall, act_release_way), NULL},
    {L2_MT, L2_EVICT_DIRTY, GO(L2_SI, act_recall, act_write_back, act_release_way), NULL},
};

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};
static const gpc_table_t exclusive = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mesi-wt", l2, exclusive_patches, l2_classify)};

static const gpc_controller_type_t mwt_l2 = {
    VI_L2_TYPE,
    .tables = {&l2},
    .variants = {{.table = 0, .option = MWT_OPTION_EXCLUSIVE, .value = MWT_EXCLUSIVE_ON, .by = &exclusive}},
};

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

enum { MWT_L1_STATES(GPC_FSM_STATE_ENUM_) };

#define OWNERS (1u << L1_E | 1u << L1_M)
#define READABLE (1u << L1_S | OWNERS)
#define COPIES (1u << L1_SM | 1u << L1_MM | 1u << L1_MM_S | READABLE)

/* A bank in MT lacks the writes in flight; in SB the merged ones, until UNBLOCK. */
static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH,
                                      .readable = READABLE,
                                      .copies = COPIES,
                                      .owners = OWNERS,
                                      .bank_words = 1u << L2_V | 1u << L2_S};

/* While the bank has no transaction for the line: every copy is listed, and only the owner of an owned line may write
 * its copy. */
static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_controller_t *bank = units->bank;
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    bool owned = way != GPC_NONE && bank->arrays[0].tags[way].state == L2_MT;

    if (gpc_mshr_find(&bank->mshrs, line) != GPC_NONE) {
        return GPC_OK; /* an invalidation may be in flight */
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_index_t copy;
        if (gpc_is_among(OWNERS, gpc_state_at(core, line, 0, &copy)) && !owned) {
            return gpc_violated(core, line, "the bank knows the owner",
                                "L1 %u owns the line, and bank %u takes it for shared or absent", i, bank->index);
        }
    }
    return vi_monitor(units, line);
}

const gpc_protocol_t gpc_protocol_mesi_wt = {
    .id = "mesi-wt",
    .name = "MESI-WT",
    .paper = "Ren and Lis, HPCA 2017",
    .family = "write-through invalidation",
    .text =
        "write-through L1s under a blocking directory: a write invalidates the other sharers before it is acknowledged",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_SC,
    .controllers = {&mwt_l1, &mwt_l2},
    GPC_MESSAGES_OF(MWT),
    .networks = {{.name = "request", .ordered = true, .requests = true},
                 {.name = "response", .ordered = true},
                 {.name = "invalidation", .ordered = true},
                 {.name = "acknowledgement", .ordered = true},
                 {.name = "unblock"}},
    .options = {[MWT_OPTION_EXCLUSIVE] = GPC_CHOICE("exclusive", MWT_EXCLUSIVE_OFF, MWT_EXCLUSIVE_ON, "off on",
                                                    "states E and M at the L1, in which a store completes at once"),
                [MWT_OPTION_BYTES] = PUBLIC_BYTES_OPTION,
                [MWT_OPTION_MSHR] =
                    GPC_CHOICE("mshr", MWT_MSHR_STORES, MWT_MSHR_STALL, "merge stores stall",
                               "what merges with a line's outstanding write: stores and atomics, stores "
                               "with stores, or nothing")},
    .other_sizes = PUBLIC_SIZES(MWT_OPTION_BYTES, public_bytes_with_header),
    .declared = {.variations = "mshr=merge mshr=stall exclusive=on exclusive=on,mshr=merge "
                               "exclusive=on,mshr=stall",
                 .uncovered = {{.table = "L2",
                                .states = "V",
                                .events = "EVICT_CLEAN",
                                .reason = "a line without sharers is dirty: a store or atomic has emptied its list, or "
                                          "has fetched it"}}},
    .watched = &watched,
    .monitor = monitor,
};
