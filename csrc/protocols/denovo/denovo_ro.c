/* denovo_ro.c: denovo-ro, DeNovo under DRF whose acquires keep read-only regions (DD+RO, section 5.3).
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3, 4.2 and 5.3: valid read-only data is not invalidated at acquires;
 *          software says which regions are read-only, by a bit of the opcode; the fourth code of a word's two bits
 *          marks it.
 * Inferred the regions are the arrays that a kernel declares read-only. A load marks the words that it names, not
 *          others of the line. A read of marked words survives an acquire too. The marks end with the kernel, since a
 *          later one may write the region: ro_scope=kernel. A store or synchronisation on a marked word breaks the
 *          annotation; the word is then valid.
 * Options  as denovo-drf; ro_scope.
 */
#include "protocols/denovo/denovo.h"

enum { OPTION_RO_SCOPE = GPC_SB_NUM_OPTIONS };
enum { RO_KERNEL, RO_PROGRAM };

#define RO_L1_STATES(X)                                                                            \
    DENOVO_L1_STATES(X)                                                                            \
    X(L1_VO, STABLE, "valid and read-only: kept by acquires")
#define RO_L1_EVENTS(X)                                                                            \
    DENOVO_L1_EVENTS(X)                                                                            \
    X(L1_LOAD_RO, "load of a read-only region")                                                    \
    X(L1_DATA_RO, "answer that this word of a read-only region waits for")                         \
    X(L1_ACQUIRE_RO, "acquire part, while a word of a read-only region is read")                   \
    X(L1_BEGIN, "begin of a kernel, which ends the marks (ro_scope=kernel)")

GPC_FSM(L1, RO_L1_STATES, RO_L1_EVENTS)

static bool
wants_read_only(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && (denovo_l1_mshr(x)->read_only >> x->word & 1);
}

static gpc_event_id_t
ro_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = denovo_l1_classify(x);

    if (event == L1_LOAD && (x->msg->flags & GPC_MSG_FLAG_READ_ONLY) && x->msg->order == GPC_ORDER_WEAK) {
        bool stored =
            gpc_sb_held(x->unit, x->line) >> x->word & 1; /* through another array: the annotation is broken */
        return stored ? L1_LOAD : L1_LOAD_RO;
    }
    if (event == L1_DATA && wants_read_only(x)) {
        return L1_DATA_RO;
    }
    if (event != L1_ACQUIRE) {
        return event;
    }
    if (x->state == L1_RDP && wants_read_only(x)) {
        return L1_ACQUIRE_RO;
    }
    bool ends = x->cause == GPC_MSG_KERNEL_BEGIN && x->unit->options[OPTION_RO_SCOPE] == RO_KERNEL;
    return ends && x->state == L1_VO ? L1_BEGIN : L1_ACQUIRE;
}

static gpc_mask_t
ro_alike(const gpc_step_t *x)
{
    gpc_mask_t wanted = x->mshr == GPC_NONE ? GPC_NO_WORDS : denovo_l1_mshr(x)->read_only;
    return denovo_l1_alike(x) & denovo_same_side(x, wanted);
}

GPC_ACTION(act_mark, "the answer's word will be marked read-only")
{
    denovo_l1_mshr(x)->read_only |= x->mask;
    return GPC_OK;
}

static const gpc_patch_t l1_patches[] = {
    {L1_I, L1_LOAD_RO, GO(L1_RDP, dn_act_reserve, dn_act_read, act_mark),
     "the words that the load names will be marked"},
    {L1_RDP, L1_LOAD_RO, GO(L1_RDP, act_merge, act_mark), NULL},
    {L1_V, L1_LOAD_RO, GO(L1_VO, act_hit), "a hit marks the word"},
    {L1_VO, L1_LOAD_RO, GO(L1_VO, act_hit), NULL},
    {L1_R, L1_LOAD_RO, GO(L1_R, act_hit), "as any load"},
    {L1_RDX, L1_LOAD_RO, HOLD_LINE, NULL},
    {L1_SYP, L1_LOAD_RO, HOLD_LINE, NULL},
    {L1_WBP, L1_LOAD_RO, HOLD_LINE, NULL},
    {L1_WBS, L1_LOAD_RO, HOLD_LINE, NULL},
    {L1_WBF, L1_LOAD_RO, HOLD_LINE, NULL},
    {L1_RDP, L1_DATA_RO, GO(L1_VO, dn_act_complete_reads, words_act_install), "the answer to a read of marked words"},
    {L1_RDP, L1_ACQUIRE_RO, GO(L1_RDP, dn_act_poison),
     "a read of marked words survives an acquire, others of its line do not"},
    {L1_VO, L1_ACQUIRE, GO(L1_VO), "section 3: an acquire keeps read-only words"},
    {L1_VO, L1_BEGIN, GO(L1_I), "a later kernel may write the region"},
    {L1_VO, L1_STORE, GO_HARDENED(L1_V, sb_act_put, act_write_line, sb_act_complete), "the annotation is broken"},
    {L1_VO, L1_SYNC, GO_HARDENED(L1_SYP, dn_act_reserve, dn_act_register_sync), NULL},
    {L1_VO, L1_LOAD, GO(L1_VO, act_hit), "as a valid word"},
    {L1_VO, L1_EVICT, GO(L1_I), NULL},
    {L1_VO, L1_EXTRA, GO(L1_VO), NULL},
    {L1_VO, L1_EXTRA_BARRED, GO(L1_VO), NULL},
    {L1_VO, L1_FORWARD_READ, GO(L1_VO, dn_act_bounce), NULL},
};

static const gpc_table_t words = {
    GPC_PATCHED_TABLE("L1", OVER_WORDS, L1, "denovo-drf", denovo_drf_words, l1_patches, ro_classify), .alike = ro_alike,
    DENOVO_L1_WHOLE, .data_states = 1u << L1_V | 1u << L1_R | 1u << L1_VO};
static const gpc_controller_type_t denovo_ro_l1 = {DENOVO_L1_TYPE(words)};

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V | 1u << L1_R | 1u << L1_VO,
                                      .copies = 1u << L1_V | 1u << L1_R | 1u << L1_VO,
                                      .owners = 1u << L1_R,
                                      .bank_words = DENOVO_BANK_WORDS};

const gpc_protocol_t gpc_protocol_denovo_ro = {
    .id = "denovo-ro",
    .name = "DeNovo-DRF+RO",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "denovo-drf whose acquires keep the words of read-only arrays",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&denovo_ro_l1, &denovo_l2},
    DENOVO_PROTOCOL,
    .order = {DENOVO_ORDER},
    .options = {GPC_SB_OPTIONS,
                [OPTION_RO_SCOPE] = {.name = "ro_scope",
                                     .standard = RO_KERNEL,
                                     .smallest = RO_KERNEL,
                                     .largest = RO_PROGRAM,
                                     .choices = "kernel program",
                                     .text = "how long words of a read-only array survive acquires: to the end of the "
                                             "kernel, or until they are evicted",
                                     .analysis = "an array that a later kernel writes may be read stale"}},
    .declared =
        {DENOVO_DECLARED,
         .uncovered = {DENOVO_UNCOVERED("LOAD_BUFFERED STORE SYNC_BUFFERED DRAIN"),
                       {.table = "L1",
                        .states = "SYP",
                        .events = "STORE",
                        .reason = "two warps of the core race for the word, and programs of the tester have no races"},
                       {.table = "L1",
                        .states = "VO",
                        .events = "STORE",
                        .reason = "a launch of the tester writes no word that it declares read-only"}}},
    .watched = &watched,
};
