/* denovo_drf.c: denovo-drf, DeNovo under DRF (DD, section 5.3); denovo_l1.c has its L1's actions, denovo_l2.c the registry.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3, 4 and 5.3: DeNovoSync0 without regions.
 * Options  of the store buffer (store_buffer.h). sb_drain=eager is inferred: section 6.4 makes delayed registration an addition of
 *          DeNovo-H.
 */
#include "protocols/denovo/denovo.h"

GPC_FSM(L1, DENOVO_L1_STATES, DENOVO_L1_EVENTS)

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {DENOVO_ROW_I},
    [L1_V] = {DENOVO_ROW_V},
    [L1_R] = {DENOVO_ROW_R},
    [L1_RDP] = {DENOVO_ROW_RDP},
    [L1_RDX] = {DENOVO_ROW_RDX},
    [L1_WRP] = {DENOVO_ROW_WRP},
    [L1_SYP] = {DENOVO_ROW_SYP},
    [L1_WBP] = {DENOVO_ROW_WBP},
    [L1_WBS] = {DENOVO_ROW_WBS},
    [L1_WBF] = {DENOVO_ROW_WBF},
};
/* clang-format on */

static const gpc_table_t words = {GPC_TABLE("L1", OVER_WORDS, L1, l1_table, denovo_l1_classify),
                                  .data_states = 1u << L1_V | 1u << L1_R};
static const gpc_controller_type_t denovo_drf_l1 = {DENOVO_L1_TYPE(words)};

const gpc_protocol_t gpc_protocol_denovo_drf = {
    .id = "denovo-drf",
    .name = "DeNovo-DRF",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "DeNovo: stores and synchronisation own their words at the L1, which acquires keep; the L2 is the registry",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&denovo_drf_l1, &denovo_l2},
    .messages = DENOVO_info,
    .num_messages = GPC_COUNT_OF(DENOVO_info),
    .message = denovo_message_described,
    .networks = DENOVO_NETWORKS,
    .order = {.release = sb_release, .exit = sb_exit, .acquire = denovo_acquire, .same_word = true, .keeps_own = true},
    .options = {SB_OPTIONS(SB_EAGER)},
    .check = sb_check,
    .declared = {.figure_slot = 18,
                 .weak_outcomes = "SB MP LB",
                 .variations = "sb_drain=lazy sb_full=flush,sb_entries=2",
                 .uncovered =
                     {DENOVO_UNCOVERED("LOAD_BUFFERED STORE SYNC_BUFFERED DRAIN"),
                      {.table = "L1",
                       .states = "SYP",
                       .events = "STORE",
                       .reason = "two warps of the core race for the word, and programs of the tester have no races"}}},
    .host_read = denovo_host_read,
    .host_write = denovo_host_write,
    .watched = &denovo_watched,
    .monitor = denovo_monitor,
};
