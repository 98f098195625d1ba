/* hlrc_planted.c: hLRC with a planted bug, which the option `bug` names: -p './hlrc_planted.c[bug=no_drop]'. What claims
 * to find bugs must find these. All else is hlrc.c. */
#include <string.h>

#include "controller/outside.h"

#pragma push_macro("GPC_EXPORT_PROTOCOLS")
#undef GPC_EXPORT_PROTOCOLS
#define GPC_EXPORT_PROTOCOLS(...) _Static_assert(true, "only what follows is exported")
#include "hlrc.c"
#pragma pop_macro("GPC_EXPORT_PROTOCOLS")

/*     name           what is wrong */
#define BUGS(X)                                                                                                        \
    X(none,           "nothing")                                                                                       \
    X(no_drop,        "a new owner keeps its valid words")                                                             \
    X(no_flush,       "an owner returns a word without a flush")                                                       \
    X(fill_kept,      "words that were requested before a drop are kept")                                              \
    X(recalled_hits,  "synchronisation hits an owned word while its recall waits for the flush")                       \
    X(evicted_dirty,  "an owned word is evicted without a flush")                                                      \
    X(two_owners,     "the L2 grants a word that another core owns")                                                   \
    X(return_lost,    "the L2 does not keep the value of an evicted variable")                                         \
    X(write_beside,   "a write-through is performed at the L2 while a core owns the word")                             \
    X(write_waits,    "a write-through to a recalled word waits for the flush")                                        \
    X(write_needs_way, "a write-through waits for a way or an MSHR")                                                   \
    X(owner_misnamed, "after a recall the L2 takes the core that caused it for the new owner")                         \
    X(relaxed_kept,   "a valid word is kept when a relaxed access is performed at the L2")                             \
    X(relaxed_beside, "a relaxed access is performed at the L2 while a core owns the word")                            \
    X(relaxed_takes,  "a relaxed access recalls an owned word without a flush")                                        \
    X(fence_keeps,    "a fence drops nothing")                                                                         \
    X(fence_leaves,   "a fence does not flush the store buffer")

#define BUG_ENUM(name, text) BUG_##name,
#define BUG_NAME(name, text) #name " "
enum { BUGS(BUG_ENUM) NUM_BUGS };
enum { OPTION_BUG = GPC_SB_NUM_OPTIONS };

static bool
has(const gpc_step_t *x, int64_t bug)
{
    return x->unit->options[OPTION_BUG] == bug;
}

/* ---- tables, one a bug in a cell; classifiers for the other bugs ------------------------------------------------- */

static gpc_event_id_t
planted_l1_classify(const gpc_step_t *x)
{
    return x->cause == GPC_MSG_EVICT && has(x, BUG_evicted_dirty) ? L1_EVICT : l1_classify(x);
}

static gpc_event_id_t
planted_l2_classify(const gpc_step_t *x)
{
    return x->cause == HLRC_WRITE && has(x, BUG_write_needs_way) ? L2_WRITE : l2_classify(x);
}

static const gpc_patch_t no_drop[] = {
    {L1_OP, L1_OWNED, GO(L1_O, words_act_install, words_act_perform_pending), "no_drop"}};
static const gpc_patch_t no_flush[] = {{L1_O, L1_RECALL, GO(L1_I, act_give_back), "no_flush"}};
static const gpc_patch_t fill_kept[] = {{L1_RD, L1_ACQUIRE, GO(L1_RD), "fill_kept"}};
static const gpc_patch_t recalled_hits[] = {{L1_O, L1_SYNC_RECALLED, GO(L1_O, act_perform), "recalled_hits"}};

GPC_ACTION(act_own_for_other, "send OWN in the name of the core that caused the recall")
{
    return gpc_send_mask(x, HLRC_OWN, gpc_home_of(x->unit, x->line));
}

static const gpc_patch_t owner_misnamed[] = {
    {L1_OW, L1_TAKE, GO(L1_OP, act_give_back, act_own_for_other), "owner_misnamed"}};
static const gpc_patch_t relaxed_kept[] = {{L1_V, L1_RELAXED_DONE, GO(L1_V, act_complete_relaxed), "relaxed_kept"}};
static const gpc_patch_t two_owners[] = {{L2_O, L2_OWN, GO(L2_O, registry_act_name_owner, act_grant), "two_owners"}};
static const gpc_patch_t return_lost[] = {{L2_O, L2_RETURN, GO(L2_V, registry_act_name_none), "return_lost"}};
static const gpc_patch_t write_beside[] = {
    {L2_O, L2_WRITE, GO(L2_O, registry_act_take, act_acknowledge), "write_beside"}};
static const gpc_patch_t write_waits[] = {{L2_OR, L2_WRITE, HOLD_LINE, "write_waits"}};
static const gpc_patch_t relaxed_beside[] = {{L2_O, L2_RELAXED, GO(L2_O, act_perform_relaxed), "relaxed_beside"}};
static const gpc_patch_t relaxed_takes[] = {{L2_O, L2_RELAXED, GO(L2_OT, act_take, act_wait), "relaxed_takes"}};

/* The table of a bug, <bug>_table, and the option's value that chooses it. */
#define L1_TABLE(bug)                                                                                                  \
    static const gpc_table_t bug##_table = {                                                                           \
        GPC_PATCHED_TABLE("L1", OVER_WORDS, L1, "hlrc", l1, bug, planted_l1_classify), .data_states = DATA_STATES}
#define L2_TABLE(bug)                                                                                                  \
    static const gpc_table_t bug##_table = {                                                                           \
        GPC_PATCHED_TABLE("L2", OVER_WORDS, L2, "hlrc", l2, bug, planted_l2_classify), .alike = l2_alike,              \
        .data_states = L2_OWN_STATES}
#define VARIANT(bug) {.option = OPTION_BUG, .value = BUG_##bug, .by = &bug##_table}
enum { DATA_STATES = 1u << L1_V | L1_OWNED_STATES };

L1_TABLE(no_drop);
L1_TABLE(no_flush);
L1_TABLE(fill_kept);
L1_TABLE(recalled_hits);
L1_TABLE(owner_misnamed);
L1_TABLE(relaxed_kept);
L2_TABLE(two_owners);
L2_TABLE(return_lost);
L2_TABLE(write_beside);
L2_TABLE(write_waits);
L2_TABLE(relaxed_beside);
L2_TABLE(relaxed_takes);

/* ---- the parts of fences ----------------------------------------------------------------------------------------- */

static int
planted_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    return l1->options[OPTION_BUG] == BUG_fence_leaves ? GPC_OK : gpc_sb_release(l1, warp, scope, until);
}

static int
planted_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    return l1->options[OPTION_BUG] == BUG_fence_keeps ? GPC_OK : drop(l1, warp, scope);
}

/* ---- what is exported: hlrc, but for these tables ---------------------------------------------------------------- */

GPC_EXPORT_INTERFACE;
GPC_API gpc_protocols_of_t gpucoh_protocols;
const gpc_protocol_t *const *
gpucoh_protocols(void)
{
    static const gpc_variant_t l1_variants[] = {VARIANT(no_drop),       VARIANT(no_flush),       VARIANT(fill_kept),
                                                VARIANT(recalled_hits), VARIANT(owner_misnamed), VARIANT(relaxed_kept)};
    static const gpc_variant_t l2_variants[] = {VARIANT(two_owners),  VARIANT(return_lost),    VARIANT(write_beside),
                                                VARIANT(write_waits), VARIANT(relaxed_beside), VARIANT(relaxed_takes)};
    static gpc_table_t planted_l1, planted_l2;
    static gpc_controller_type_t planted_l1_type, planted_l2_type;
    static gpc_protocol_t planted;
    static const gpc_protocol_t *const exported[] = {&planted, NULL};

    planted_l1 = l1;
    planted_l1.classify = planted_l1_classify;
    planted_l2 = l2;
    planted_l2.classify = planted_l2_classify;
    planted_l1_type = hlrc_l1;
    planted_l1_type.tables[0] = &planted_l1;
    memcpy(planted_l1_type.variants, l1_variants, sizeof(l1_variants));
    planted_l2_type = hlrc_l2;
    planted_l2_type.tables[0] = &planted_l2;
    memcpy(planted_l2_type.variants, l2_variants, sizeof(l2_variants));
    planted = hlrc;
    planted.id = "hlrc-planted";
    planted.order.release = planted_release;
    planted.order.acquire = planted_acquire;
    planted.controllers[0] = &planted_l1_type;
    planted.controllers[1] = &planted_l2_type;
    planted.options[OPTION_BUG] = (gpc_option_info_t){
        .name = "bug", .largest = NUM_BUGS - 1, .choices = BUGS(BUG_NAME), .text = "the planted bug"};
    return exported;
}
