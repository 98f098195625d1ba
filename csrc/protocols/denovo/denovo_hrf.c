/* denovo_hrf.c: denovo-hrf, DeNovo under HRF-Indirect (DH, section 5.3): denovo-drf whose local synchronisation needs
 * no ownership.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3, 5.3 and 6.4: synchronisation with local scope is performed at the
 *          L1 and invalidates and flushes nothing; ownership of words written locally is delayed until a global
 *          release.
 * Inferred a word written locally is in the store buffer until then. A load or store with local scope is an ordinary
 *          one. A read-modify-write with local scope is performed on the registered word, on the word in the store
 *          buffer, on the valid word, or on the word that an answer brings (even one that will not be kept: a core that
 *          polls with acquires would starve it otherwise). Global synchronisation on a delayed word registers it first.
 *          Synchronisation of 64 bits with local scope registers its words.
 * Options  as denovo-drf.
 */
#include "protocols/denovo/denovo.h"

#define HRF_L1_EVENTS(X)                                                                           \
    DENOVO_L1_EVENTS(X)                                                                            \
    X(L1_LOCAL_ATOMIC, "read-modify-write with local scope")                                       \
    X(L1_LOCAL_ATOMIC_BUFFERED, "the same, the word in the store buffer")

GPC_FSM(L1, DENOVO_L1_STATES, HRF_L1_EVENTS)

static gpc_event_id_t
hrf_classify(const gpc_step_t *x)
{
    if (x->cause != GPC_MSG_ATOMIC || x->msg->scope > GPC_SCOPE_CU || denovo_l1_whole(x)) {
        return denovo_l1_classify(x);
    }
    bool buffered = x->state != L1_V && (gpc_sb_held(x->unit, x->line) >> x->word & 1);
    return buffered ? L1_LOCAL_ATOMIC_BUFFERED : L1_LOCAL_ATOMIC;
}

static const gpc_patch_t l1_patches[] = {
    {L1_I, L1_LOCAL_ATOMIC, GO(L1_RDP, dn_act_reserve, dn_act_read), "needs the word's value, not its ownership"},
    {L1_RDP, L1_LOCAL_ATOMIC, GO(L1_RDP, act_wait), NULL},
    {L1_V, L1_LOCAL_ATOMIC, GO(L1_V, sb_act_perform_on_copy), "the written word enters the store buffer"},
    {L1_R, L1_LOCAL_ATOMIC, GO(L1_R, dn_act_perform), "the core owns the word"},
    {L1_SYP, L1_LOCAL_ATOMIC, GO(L1_SYP, dn_act_join_syncs), "it is performed when the registration arrives"},
    {L1_RDX, L1_LOCAL_ATOMIC, HOLD_LINE, "as a load: must not read what the acquire has made stale, or what has left"},
    {L1_WBP, L1_LOCAL_ATOMIC, HOLD_LINE, NULL},
    {L1_WBS, L1_LOCAL_ATOMIC, HOLD_LINE, NULL},
    {L1_WBF, L1_LOCAL_ATOMIC, HOLD_LINE, NULL},
    {L1_I, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_I, sb_act_perform), "the word in the store buffer is the core's newest"},
    {L1_RDP, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_RDP, sb_act_perform), NULL},
    {L1_RDX, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_RDX, sb_act_perform), NULL},
    {L1_WBP, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_WBP, sb_act_perform), NULL},
    {L1_WBS, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_WBS, sb_act_perform), NULL},
    {L1_WBF, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_WBF, sb_act_perform), NULL},
    {L1_WRP, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_WRP, sb_act_perform_sent),
     "its registration is outstanding, and stays valid"},
};

static const gpc_table_t words = {
    GPC_PATCHED_TABLE("L1", OVER_WORDS, L1, "denovo-drf", denovo_drf_words, l1_patches, hrf_classify),
    .alike = denovo_l1_alike, DENOVO_L1_WHOLE, .data_states = 1u << L1_V | 1u << L1_R};
static const gpc_controller_type_t denovo_hrf_l1 = {DENOVO_L1_TYPE(words)};

const gpc_protocol_t gpc_protocol_denovo_hrf = {
    .id = "denovo-hrf",
    .name = "DeNovo-HRF",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "DeNovo with scopes: a core's blocks synchronise at its L1, ownership of what they write is delayed",
    .model = {[GPC_RULE_HRF] = "HRF-indirect"},
    .standard_rule = GPC_RULE_HRF,
    .controllers = {&denovo_hrf_l1, &denovo_l2},
    DENOVO_PROTOCOL,
    .order = {DENOVO_ORDER, .local_scopes = true},
    .options = {GPC_SB_OPTIONS},
    .declared = {DENOVO_DECLARED,
                 .uncovered = {DENOVO_UNCOVERED("SYNC_BUFFERED"),
                               {.table = "L1",
                                .states = "SYP",
                                .events = "STORE LOCAL_ATOMIC",
                                .reason = "two warps of the core race for the word, one of them with global scope"}}},
    .watched = &denovo_watched,
};
