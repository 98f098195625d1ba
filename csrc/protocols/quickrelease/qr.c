/* qr.c: QR, QuickRelease: write-combining caches whose dirty blocks a FIFO lists; qr_l1.c, qr_l2.c and qr_l3.c have its
 * levels, qr_writes.c the write caches and FIFOs, qr_checks.c the monitors.
 *
 * Paper    Hechtman et al., HPCA 2014, section 3 and table 1. Every level has a read-only and a small write-only cache
 *          and a FIFO of the addresses that may be dirty. A release puts a marker into the FIFO, which passes all
 *          levels behind the writes; its answer completes the release. Acquires are plain loads, because every block
 *          that the wL2 gives up is invalidated in all rL1s. Writes are not acknowledged.
 * Inferred all tables (the paper prints none); what is listed in the levels' files. Wavefronts synchronise by the CU's
 *          one FIFO, which keeps transitivity (section 3).
 * Options  fifo: entries of S-FIFO1; S-FIFO2 and 3 have twice and four times as many (table 1). inv=ack: Invs are
 *          acknowledged, for L2s of several banks. sync_sc=on: loads of order relaxed or stronger read at the L2, and
 *          wait for the answer to the warp's release stores (the paper's loads may hit old copies, and its release
 *          stores may wait in the wL1). clean=on: blocks leave as soon as the path to the next level is free.
 *          mask=word: masks of words, for the sizes of messages. barrier: memory_side.h.
 */
#include "protocols/quickrelease/qr.h"

static void
derive(const gpc_machine_t *machine, int64_t *options)
{
    options[QR_OPTION_INV] = machine->partitions > 1 ? QR_BY_ACK : QR_BY_FIFO;
}

static int
check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    if (options[QR_OPTION_INV] == QR_BY_ACK || machine->partitions == 1) {
        return GPC_OK;
    }
    return gpc_fail(
        failure, GPC_ERROR_OPTION,
        "inv=fifo with partitions=%u: must be inv=ack where the L2 has several banks, whose channels have no order",
        machine->partitions);
}

/* A mask of 16 words is 2 bytes instead of 8; a header of 8 bytes and it are 12. */
static uint32_t
bytes_with_word_masks(bool is_line, uint32_t payload)
{
    return payload == 0 || is_line ? 8 + payload : 12 + payload;
}

/* A warp ends without waiting: the kernel's end sends the core's marker. */
static int
end(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    (void) l1, (void) warp, (void) until;
    return GPC_OK;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

/* After an abort, words may be left in write caches: the CUs' are the newest. */
static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores + 2; i++) {
        const gpc_controller_t *unit = i == 0 ? units->memory : i == 1 ? units->bank : units->cores[i - 2];
        gpc_index_t way = gpc_tags_find(&unit->arrays[QR_WRITES], line);
        if (way != GPC_NONE) {
            gpc_merge_words(words, gpc_tags_words(&unit->arrays[QR_WRITES], way), mask & qr_dirty(unit, line));
        }
    }
    return GPC_OK;
}

/* The directory's probe invalidates the rL2's copy, which invalidates the rL1s'. */
static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) mask, (void) words; /* memory has them */
    gpc_tags_drop_line(&units->bank->arrays[QR_READS], line);
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_tags_drop_line(&units->cores[i]->arrays[QR_READS], line);
    }
    gpc_tags_drop_line(&units->memory->arrays[0], line);
    return GPC_OK;
}

static uint32_t
carries(const int64_t *options, gpc_position_t from, gpc_position_t to)
{
    if (from == GPC_AT_CORE && to == GPC_AT_BANK) {
        return 1u << QR_info[QR_BLOCK - GPC_MSG_OWN].network |
               (options[QR_OPTION_INV] == QR_BY_ACK ? 1u << QR_info[QR_INV_ACK - GPC_MSG_OWN].network : 0);
    }
    if (from == GPC_AT_BANK) {
        return to == GPC_AT_CORE     ? 1u << QR_info[QR_DATA - GPC_MSG_OWN].network
               : to == GPC_AT_MEMORY ? 1u << QR_info[QR_BLOCK_UP - GPC_MSG_OWN].network
                                     : 0;
    }
    return from == GPC_AT_MEMORY && to == GPC_AT_BANK ? 1u << QR_info[QR_DATA_DOWN - GPC_MSG_OWN].network : 0;
}

/* The three S-FIFOs have one table. */
#define AT_L1 "only S-FIFO1 has entries of atomics"
#define AT_L2 "only the L2 sends Invs, whose acknowledgements a marker waits for"
#define AT_L3 "only the memory side performs atomics"
#define SWITCH(name_, standard_, choices_, text_)                                                                      \
    .name = (name_), .standard = (standard_), .smallest = 0, .largest = 1, .choices = (choices_), .text = (text_)

const gpc_protocol_t gpc_protocol_qr = {
    .id = "qr",
    .name = "QR",
    .paper = "Hechtman et al., HPCA 2014",
    .family = "synchronisation FIFOs",
    .text = "QuickRelease: write-combining caches over three levels, FIFOs of their dirty blocks, releases by markers",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&qr_l1, &qr_l2, &qr_l3},
    GPC_MESSAGES_OF(QR),
    .message = qr_message_described,
    .networks = {{.name = "up", .ordered = true, .requests = true},
                 {.name = "down", .ordered = true, .multicast = true},
                 {.name = "up to memory", .ordered = true, .requests = true, .star = true},
                 {.name = "down from memory", .ordered = true, .star = true},
                 {.name = "acknowledgements", .ordered = true, .answers = true}},
    .other_sizes = {.option = QR_OPTION_MASK, .value = 1, .bytes = bytes_with_word_masks},
    .order = {.before = qr_before,
              .release = qr_release,
              .release_travels = true,
              .exit = end,
              .barrier = qr_barrier,
              .acquire = qr_acquire,
              .keeps_own = true,
              .barrier_releases = true,
              .barrier_option = GPC_OPTION(QR_OPTION_BARRIER),
              .barrier_keeps_copies = true},
    .options = {[QR_OPTION_FIFO] = GPC_NUMBER("fifo", 64, 2, 4096, "entries of S-FIFO1", 2, 2, 8),
                [QR_OPTION_INV] = {SWITCH(
                    "inv", QR_BY_FIFO, "fifo ack",
                    "what orders an invalidation before the answer to a marker: the channel, or its acknowledgement")},
                [QR_OPTION_SYNC_SC] = {SWITCH("sync_sc", 0, "off on",
                                              "whether acquire loads and release stores are sequentially consistent"),
                                       .fuzz_least = 0, .fuzz_most = 1},
                [QR_OPTION_CLEAN] = {SWITCH("clean", 0, "off on", "whether blocks leave before the S-FIFO is full"),
                                     .small = {true, 1}, .fuzz_least = 0, .fuzz_most = 1},
                [QR_OPTION_BARRIER] = QR_BARRIER_OPTION,
                [QR_OPTION_MASK] = {SWITCH("mask", 0, "byte word", "what the masks in messages count")}},
    .derive = derive,
    .check = check,
    .declared = {.weak_outcomes = "SB MP LB",
                 .variations = "fifo=4 sync_sc=on clean=on barrier=local",
                 .uncovered = {{"L1.S-FIFO", "BLOCK", "POP_BUSY", NULL, AT_L3},
                               {"L2.S-FIFO", "BLOCK", "POP_BUSY", NULL, AT_L3},
                               {"L1.S-FIFO", "MARKER", "POP_EARLY", NULL, AT_L2},
                               {"L1.S-FIFO", "WAITING", "POP_MARKER", NULL, AT_L2},
                               {"L3.S-FIFO", "MARKER", "POP_EARLY", NULL, AT_L2},
                               {"L3.S-FIFO", "WAITING", "POP_MARKER", NULL, AT_L2},
                               {"L2.S-FIFO", "ATOMIC", "ANSWERED", NULL, AT_L1},
                               {"L3.S-FIFO", "ATOMIC", "ANSWERED", NULL, AT_L1}}},
    .host_read = host_read,
    .host_write = host_write,
    .watched = &qr_watched,
    .monitor = qr_monitor,
    .explored = {.carries = carries, .one_bank = true},
};
