/* rfo.c: RFO, read for ownership: a CPU's MOESI directory protocol on the GPU; rfo_l1.c has its L1, rfo_l2.c directory,
 * L2 and L3.
 *
 * Paper    Hechtman et al., HPCA 2014, sections 2.4.2 and 4.1: write-back, a single writer or many readers, a fully
 *          mapped directory with full sharers that includes L1s and L2 and recalls, MOESI, L3 writeable.
 *          Synchronisation runs in the L1.
 * Inferred every cell (the paper prints none): a directory that serves one request of a line at a time. The L2 is one
 *          more cache that the directory tracks and recalls from, as the L1s are ("inclusive of the L1s and L2",
 *          "recall data from the L1 or L2", section 2.4.2); that L1 victims alone fill it is the authors' later code's.
 *          rfo_victim.c has its directory. 32,768 entries cover eight times the L2, so most entries are without data.
 * Options  dir_ways, dir_ratio: the directory's associativity, and its entries per line of the L2 (table 1: 256 KiB of
 *          8 bytes each). stores=wait: a warp issues nothing while a store of its waits for ownership ("additional
 *          latency imposed to write operations because they first must acquire exclusive coherence permissions",
 *          section 5.1). l2=store (rfo_l2.c): the L2 stores the directory's data, of lines that no L1 owns; owners
 *          pass lines on directly and stay owners after a read; evictions of shared copies are silent.
 */
#include "protocols/quickrelease/rfo_directory.h"

/* ---- the host: the newest words are an owner's, else the L2's, else the L3's, else memory's ---------------------- */

static uint32_t *
copy_in(const gpc_controller_t *unit, uint8_t array, gpc_address_t line)
{
    const gpc_tags_t *tags = &unit->arrays[array];
    gpc_index_t way = gpc_tags_find(tags, line);
    return way == GPC_NONE || tags->tags[way].mshr != GPC_NONE ? NULL : gpc_tags_words(tags, way);
}

static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    const uint32_t *newest = copy_in(units->memory, 0, line);
    const uint32_t *l2 = copy_in(units->bank, RFO_DATA, line);
    newest = l2 ? l2 : newest;
    for (uint32_t i = 0; i < units->num_cores; i++) {
        const uint32_t *owned = rfo_l1_owned(units->cores[i], line);
        newest = owned ? owned : newest;
    }
    if (newest) {
        gpc_merge_words(words, newest, mask);
    }
    return GPC_OK;
}

/* The CPU is the only one that has the line; memory has its other words. */
static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) mask, (void) words;
    gpc_tags_drop_line(&units->memory->arrays[0], line);
    gpc_tags_drop_line(&units->bank->arrays[RFO_DIRECTORY], line);
    gpc_tags_drop_line(&units->bank->arrays[RFO_DATA], line);
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_tags_drop_line(&units->cores[i]->arrays[0], line);
    }
    return GPC_OK;
}

/* ---- monitor: the directory includes the L1s --------------------------------------------------------------------- */

static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    if (gpc_mshr_find(&units->bank->mshrs, line) != GPC_NONE) {
        return GPC_OK;
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_index_t way;
        uint8_t state = gpc_state_at(core, line, 0, &way);
        bool owner, listed = rfo_l2_lists(units->bank, line, core->node, &owner);
        if (gpc_is_among(rfo_watched.copies, state) && !listed) {
            return gpc_violated(core, line, "every copy is listed", "L1 %u has a copy, and bank %u does not list it", i,
                                units->bank->index);
        }
        if (owner && !rfo_l1_owned(core, line)) {
            return gpc_violated(core, line, "the listed owner owns the line", "bank %u lists L1 %u", units->bank->index,
                                i);
        }
        if (!owner && (gpc_is_among(rfo_watched.owners, state) || (listed && rfo_l1_owned(core, line)))) {
            return gpc_violated(core, line, "every owner is listed as such",
                                "L1 %u owns the line, bank %u does not say so", i, units->bank->index);
        }
    }
    return GPC_OK;
}

/* ---- the protocol ------------------------------------------------------------------------------------------------ */

#define RFO_PROTOCOL                                                                                                   \
    .id = "rfo", .name = "RFO", .paper = "Hechtman et al., HPCA 2014", .family = "synchronisation FIFOs",              \
    .text = "read for ownership: write-back MOESI L1s, a full-map directory that recalls, L2 and L3 behind it",        \
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"}, .standard_rule = GPC_RULE_RC,                           \
    .message = rfo_message_described,                                                                                  \
    .networks = {{.name = "request", .requests = true},                                                                \
                 {.name = "forward"},                                                                                  \
                 {.name = "response"},                                                                                 \
                 {.name = "unblock"},                                                                                  \
                 {.name = "up", .ordered = true, .requests = true, .star = true},                                      \
                 {.name = "down", .ordered = true, .star = true}},                                                     \
    .order = {.same_word = true, /* a load hits while the store of its warp waits for permission */                    \
              .store_option = GPC_OPTION(RFO_OPTION_STORES)},                                                          \
    .host_read = host_read, .host_write = host_write, .host_takes_line = true, .watched = &rfo_watched,                \
    .monitor = monitor

static const gpc_protocol_t store = {
    RFO_PROTOCOL,
    .controllers = {&rfo_l1, &rfo_l2, &rfo_l3},
    GPC_MESSAGES_OF(RFO),
};

const gpc_protocol_t gpc_protocol_rfo = {
    RFO_PROTOCOL,
    .controllers = {&rfo_l1, &rfo_victim_l2, &rfo_l3},
    GPC_MESSAGES_OF(RFO_VICTIM),
    .options = {[RFO_OPTION_DIR_WAYS] = {.name = "dir_ways",
                                         .standard = 8,
                                         .smallest = 1,
                                         .largest = 64,
                                         .text = "associativity of the directory",
                                         .fuzz_least = 1,
                                         .fuzz_most = 8},
                [RFO_OPTION_DIR_RATIO] =
                    GPC_NUMBER("dir_ratio", 8, 1, 64, "directory entries per line of the L2", 1, 1, 4),
                [RFO_OPTION_STORES] = GPC_CHOICE("stores", 0, 1, "post wait",
                                                 "whether a warp waits for the ownership of its store's line"),
                /* the random tester does not draw it: its cells are those of other tables */
                [RFO_OPTION_L2] = {.name = "l2",
                                   .standard = RFO_L2_VICTIM,
                                   .largest = RFO_L2_VICTIM,
                                   .choices = "store victim",
                                   .text = "whether the L2 is the directory's data store, or a cache for L1 victims "
                                           "that the directory tracks"}},
    .instead = {.option = RFO_OPTION_L2, .value = RFO_L2_STORE, .by = &store},
    .declared = {.weak_outcomes = "SB MP LB R S 2+2W SB+rel+acq R+rel+acq",
                 .variations = "dir_ways=2,dir_ratio=1 stores=wait l2=store"},
};
