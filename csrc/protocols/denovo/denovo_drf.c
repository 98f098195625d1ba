/* denovo_drf.c: denovo-drf, DeNovo under DRF (DD, section 5.3); denovo_l1.c has its L1's actions, denovo_l2.c the
 * registry.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3, 4 and 5.3: DeNovoSync0 without regions.
 * Options  of the store buffer (store_buffer.h). sb_drain=lazy: section 6.2.2, a release gets ownership for dirty data.
 *          Section 6.4, which makes delayed ownership an addition of DeNovo-H, allows sb_drain=eager too.
 */
#include "protocols/denovo/denovo.h"

GPC_FSM(L1, DENOVO_L1_STATES, DENOVO_L1_EVENTS)

/* A held request or drain waits for an answer: data, a grant or an acknowledgement always comes. */
/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_RDP, dn_act_reserve, dn_act_read),
        [L1_LOAD_COMING] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = GO(L1_I, sb_act_serve),
        [L1_STORE] = GO(L1_I, sb_act_put, sb_act_complete),
        [L1_SYNC] = GO(L1_SYP, dn_act_reserve, dn_act_register_sync),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_DRAIN] = GO(L1_WRP, dn_act_reserve, dn_act_register),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_EXTRA] = GO(L1_V, words_act_install),
        [L1_EXTRA_BARRED] = GO(L1_I),
        [L1_FORWARD_READ] = GO(L1_I, dn_act_bounce),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_V, sb_act_put, act_write_line, sb_act_complete),
        [L1_SYNC] = GO(L1_SYP, dn_act_reserve, dn_act_register_sync),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_DRAIN] = GO(L1_WRP, dn_act_reserve, dn_act_register),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_EXTRA] = GO(L1_V),
        [L1_EXTRA_BARRED] = GO(L1_V),
        [L1_FORWARD_READ] = GO(L1_V, dn_act_bounce),
    },
    [L1_R] = { /* the store buffer has no registered words */
        [L1_LOAD] = GO(L1_R, act_hit),
        [L1_STORE] = GO(L1_R, words_act_write),
        [L1_SYNC] = GO(L1_R, dn_act_perform),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(dn_act_give_up),
        [L1_ACQUIRE] = GO(L1_R),
        [L1_EVICT] = GO(L1_WBP, dn_act_write_back),
        [L1_EXTRA_BARRED] = GO(L1_R),
        [L1_FORWARD_READ] = GO(L1_R, dn_act_serve_read),
        [L1_FORWARD_TAKE] = GO(L1_I, dn_act_grant),
        [L1_RECALL] = GO(L1_I, dn_act_give_back),
    },
    [L1_RDP] = {
        [L1_LOAD] = GO(L1_RDP, act_merge),
        [L1_LOAD_BUFFERED] = GO(L1_RDP, sb_act_serve),
        [L1_STORE] = GO(L1_RDP, sb_act_put, dn_act_skip, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_DRAIN] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_RDX, dn_act_poison),
        [L1_DATA] = GO(L1_V, dn_act_complete_reads, words_act_install),
        [L1_DATA_SKIPPED] = GO(L1_I, dn_act_complete_reads),
        [L1_EXTRA] = GO(L1_RDP), /* its own answer is coming */
        [L1_EXTRA_BARRED] = GO(L1_RDP),
        [L1_FORWARD_READ] = GO(L1_RDP, dn_act_bounce),
    },
    [L1_RDX] = {
        [L1_LOAD] = HOLD_LINE, /* must not read what the acquire has made stale */
        [L1_LOAD_BUFFERED] = GO(L1_RDX, sb_act_serve),
        [L1_STORE] = GO(L1_RDX, sb_act_put, dn_act_skip, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_DRAIN] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_RDX),
        [L1_DATA] = GO(L1_I, dn_act_complete_reads),
        [L1_DATA_SKIPPED] = GO(L1_I, dn_act_complete_reads),
        [L1_EXTRA_BARRED] = GO(L1_RDX),
        [L1_FORWARD_READ] = GO(L1_RDX, dn_act_bounce),
    },
    [L1_WRP] = { /* the word is in the store buffer */
        [L1_LOAD_BUFFERED] = GO(L1_WRP, sb_act_serve),
        [L1_STORE] = GO(L1_WRP, sb_act_merge, sb_act_complete),
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_WRP),
        [L1_EXTRA_BARRED] = GO(L1_WRP),
        [L1_REGISTERED] = GO(L1_R, dn_act_take_buffered, dn_act_serve_queued_reads),
        [L1_REGISTERED_TAKEN] = GO(L1_I, dn_act_take_buffered, dn_act_serve_queued_reads, dn_act_serve_taking),
        [L1_FORWARD_READ] = GO(L1_WRP, dn_act_queue_read),
        [L1_FORWARD_TAKE] = GO(L1_WRP, dn_act_queue_taking),
        [L1_RECALL] = GO(L1_WRP, dn_act_queue_taking),
    },
    [L1_SYP] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_SYNC] = GO(L1_SYP, dn_act_join_syncs),
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_SYP),
        [L1_EXTRA] = GO(L1_SYP),
        [L1_EXTRA_BARRED] = GO(L1_SYP),
        [L1_REGISTERED] = GO(L1_R, words_act_install, dn_act_run_syncs, dn_act_serve_queued_reads),
        [L1_REGISTERED_TAKEN] = GO(L1_I, words_act_install, dn_act_run_syncs, dn_act_serve_queued_reads, dn_act_serve_taking),
        [L1_FORWARD_READ] = GO(L1_SYP, dn_act_queue_read),
        [L1_FORWARD_TAKE] = GO(L1_SYP, dn_act_queue_taking),
        [L1_RECALL] = GO(L1_SYP, dn_act_queue_taking),
    },
    [L1_WBP] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = GO(L1_WBP, sb_act_serve),
        [L1_STORE] = GO(L1_WBP, sb_act_put, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_DRAIN] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_WBP),
        [L1_EXTRA] = GO(L1_WBP), /* another node may have the word */
        [L1_EXTRA_BARRED] = GO(L1_WBP),
        [L1_FORWARD_READ] = GO(L1_WBP, dn_act_serve_leaving),
        [L1_FORWARD_TAKE] = GO(L1_WBF, dn_act_grant_leaving),
        [L1_RECALL] = GO(L1_WBP, dn_act_give_back_none),
        [L1_WRITTEN_BACK] = GO(L1_I, dn_act_left),
        [L1_STALE] = GO(L1_WBS),
    },
    [L1_WBS] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = GO(L1_WBS, sb_act_serve),
        [L1_STORE] = GO(L1_WBS, sb_act_put, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_DRAIN] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_WBS),
        [L1_FORWARD_READ] = GO(L1_WBS, dn_act_serve_leaving),
        [L1_FORWARD_TAKE] = GO(L1_I, dn_act_grant_leaving, dn_act_left),
    },
    [L1_WBF] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = GO(L1_WBF, sb_act_serve),
        [L1_STORE] = GO(L1_WBF, sb_act_put, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_DRAIN] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_WBF),
        [L1_EXTRA] = GO(L1_WBF), /* another node may have the word */
        [L1_EXTRA_BARRED] = GO(L1_WBF),
        [L1_FORWARD_READ] = GO(L1_WBF, dn_act_bounce),
        [L1_STALE] = GO(L1_I, dn_act_left),
    },
};
/* clang-format on */

const gpc_table_t denovo_drf_words = {GPC_TABLE("L1", OVER_WORDS, L1, l1_table, denovo_l1_classify),
                                      .alike = denovo_l1_alike, DENOVO_L1_WHOLE,
                                      .data_states = 1u << L1_V | 1u << L1_R};
static const gpc_controller_type_t denovo_drf_l1 = {DENOVO_L1_TYPE(denovo_drf_words)};

const gpc_protocol_t gpc_protocol_denovo_drf = {
    .id = "denovo-drf",
    .name = "DeNovo-DRF",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "DeNovo: stores and synchronisation own their words at the L1, which acquires keep; the L2 is the registry",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&denovo_drf_l1, &denovo_l2},
    DENOVO_PROTOCOL,
    .order = {DENOVO_ORDER},
    .options = {GPC_SB_OPTIONS},
    .declared = {DENOVO_DECLARED,
                 .uncovered =
                     {DENOVO_UNCOVERED("LOAD_BUFFERED STORE SYNC_BUFFERED DRAIN"),
                      {.table = "L1",
                       .states = "SYP",
                       .events = "STORE",
                       .reason = "two warps of the core race for the word, and programs of the tester have no races"}}},
    .watched = &denovo_watched,
};
