/* cpelide.c: CPELIDE, FLUSH whose L2s keep other dies' lines, dirty ones too, from kernel to kernel, until the command
 * processor has them dropped or written back before a launch.
 *
 * Paper    Dalmia et al., MICRO 2024, by its artifact's code.
 * Inferred what cpelide_table.c says of the table's rules, and what flush_l2.c and mcm_l1.c say of acquires and
 *          releases within a kernel. The command processor acts through the first core of a die, as in the artifact;
 *          the kernel begins a launch latency behind the last answer.
 * Differs  a home's L2 keeps its lines, as under FLUSH. */
#include "protocols/dies/cpelide.h"
#include "controller/host.h"
#include "controller/nodes.h"

enum { MCM_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { FLUSH_L2_STATES(GPC_FSM_STATE_ENUM_) };

/* The way of the line in the die's near bank; GPC_NONE: it has none, or is the home. */
static gpc_index_t
near_way(const gpc_units_t *units, uint32_t die, gpc_address_t line, const gpc_controller_t **near)
{
    *near = &units->all[mcm_bank_in(units->bank, die)];
    return *near == units->bank ? GPC_NONE : gpc_tags_find(&(*near)->arrays[0], line);
}

static gpc_mask_t
near_ahead(const gpc_units_t *units, gpc_address_t line)
{
    gpc_mask_t words = GPC_NO_WORDS;
    for (uint32_t die = 0; die < units->bank->machine->dies; die++) {
        const gpc_controller_t *near;
        gpc_index_t way = near_way(units, die, line, &near);
        words |= way == GPC_NONE ? GPC_NO_WORDS : flush_dirty_words(near, way);
    }
    return words;
}

static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    GPC_TRY(gpc_host_read(units, line, mask, words));
    for (uint32_t die = 0; die < units->bank->machine->dies; die++) {
        const gpc_controller_t *near;
        gpc_index_t way = near_way(units, die, line, &near);
        if (way != GPC_NONE) {
            gpc_merge_words(words, gpc_tags_words(&near->arrays[0], way), mask & flush_dirty_words(near, way));
        }
    }
    return GPC_OK;
}

/* Every copy gets the words, since none need be dropped before the next launch; L1s drop theirs then. */
static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t die = 0; die < units->bank->machine->dies; die++) {
        const gpc_controller_t *near;
        gpc_index_t way = near_way(units, die, line, &near);
        if (way != GPC_NONE) {
            gpc_merge_words(gpc_tags_words(&near->arrays[0], way), words, mask);
        }
    }
    return gpc_host_write(units, line, mask, words);
}

static int
boundary(const gpc_boundary_t *boundary)
{
    uint32_t drops = 0, flushes = 0, dies = cpelide_dies(boundary);

    if (dies > 1) {
        cpelide_decide(boundary, &drops, &flushes);
    }
    for (uint32_t die = 0; die < dies && (drops | flushes); die++) {
        gpc_controller_t *l1 = &boundary->all[gpc_first_core_of(boundary->nodes, die)];
        bool drop = drops >> die & 1, flush = flushes >> die & 1;
        l1->own_counters[CPELIDE_COUNT_launch_drops] += drop;
        l1->own_counters[CPELIDE_COUNT_launch_flushes] += flush;
        GPC_TRY(cpelide_l1_cross(l1, drop, flush));
    }
    return GPC_OK;
}

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP | 1u << L2_M | 1u << L2_W,
                                      .near_accepts = true,
                                      .near_ahead = near_ahead};

const gpc_protocol_t gpc_protocol_cpelide = {
    .id = "cpelide",
    .name = "CPElide",
    .paper = "Dalmia et al., MICRO 2024",
    .family = "coherence of dies",
    .text = "flush whose L2s keep lines from kernel to kernel, until a table of arrays says which dies drop them",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&cpelide_l1, &cpelide_l2},
    GPC_MESSAGES_OF(FLUSH),
    .message = flush_message_described,
    .networks = MCM_NETWORKS,
    .order = {.before = mcm_before,
              .release = flush_release,
              .exit = gpc_sb_exit, /* what is dirty stays so */
              .acquire = mcm_acquire,
              .barrier = mcm_barrier,
              .keeps_own = true,
              .barrier_releases = true},
    .options = {[CPELIDE_RULES] = {.name = "rules",
                                   .standard = CPELIDE_RANGES,
                                   .largest = CPELIDE_ARTIFACT,
                                   .choices = "ranges artifact",
                                   .text = "what the command processor decides from: which lines of an array each die "
                                           "has read and written, or a state of the array for each die, as in the "
                                           "artifact's code",
                                   .analysis = "a die that has read and written an array keeps what others have "
                                               "written in it"},
                [CPELIDE_ARRAYS] = GPC_NUMBER("arrays", CPELIDE_MOST_ARRAYS, 1, CPELIDE_MOST_ARRAYS,
                                              "Rows of the table; the other arrays share one more", 2, 1, 8)},
    .declared = {.weak_outcomes = "SB MP", .variations = "arrays=1"},
    .explored = {.dies = 2},
    .host_read = host_read,
    .host_write = host_write,
    .boundary = boundary,
    .watched = &watched,
};
