/* merge.h: the atomic merge unit of LRM-GPU, an option of MCM and LRM: beside an L2 bank, entries in which atomics to
 * lines of other dies wait for others that one message can stand for. */
#ifndef GPC_PROTOCOLS_DIES_MERGE_H
#define GPC_PROTOCOLS_DIES_MERGE_H

#include "protocols/dies/mcm.h"

enum { MERGE_OFF, MERGE_ON };
enum { MERGE_UNIT, MERGE_CYCLES, MERGE_LIST, MERGE_ENTRIES, MERGE_NUM_OPTIONS };
#define MERGE_OPTIONS                                                                                                  \
    {.name = "merge", /* the random tester does not draw it: its cells are those of other tables */                    \
     .standard = MERGE_OFF,                                                                                            \
     .largest = MERGE_ON,                                                                                              \
     .choices = "off on",                                                                                              \
     .text = "Whether L2 banks merge atomics to a line of another die before they send them to its home"},             \
        GPC_NUMBER("merge_cycles", 32, 1, 1 << 20,                                                                     \
                   "Core cycles that an atomic to another die waits for others that merge with it", 1, 1, 400),        \
        GPC_NUMBER("merge_list", 8, 2, 64, "Atomics that one message stands for, at most", 2, 2, 8),                   \
        GPC_NUMBER("merge_entries", 0, 0, 1 << 20,                                                                     \
                   "Entries of the merge unit of each L2 bank; 0: 2048 a die, at least one a bank", 1, 1, 4)

/* Sizes are inferred, as those of MCM. A combined atomic is answered to the near bank, which answers the cores. */
/* clang-format off */
#define MERGE_MESSAGES(X, P)                                                                                            \
    MCM_MESSAGES(X, P)                                                                                                  \
    X(P, MERGED_DATA,   ATO, 4, 12, 4, false, "the old values of a combined atomic's words")                            \
    X(P, MERGED,        ATO, 3, 12, 4, false, "a combined atomic, with an operand for each word")                       \
    X(P, MERGED_CAS,    ATO, 3, 12, 8, false, "combined compare-and-swaps, with two operands for each word")            \
    X(P, OLD_VALUES,    ATO, 5, 12, 0, false, "old values of one of the atomics, from the near L2")
/* clang-format on */
GPC_MESSAGES(MERGE, MERGE_MESSAGES)

#define MERGE_MESSAGE(FIELD)                                                                                           \
    FIELD(PLAIN, uint8_t, drops)       /* as of LRM; also of an atomic that has been performed */                      \
    FIELD(REQUEST, gpc_list_t, joined) /* MERGED, MERGED_CAS, MERGED_DATA: the atomics that it stands for */
GPC_METADATA(merge, message, MERGE_MESSAGE)

/* Of a protocol that runs with merge=on. The unit is in the network: its answers do not take the bank's pipeline. */
#define MERGE_PROTOCOL                                                                                                 \
    GPC_MESSAGES_OF(MERGE), .message = merge_message_described,                                                        \
    .networks = {MCM_FIVE_NETWORKS, {.name = "merged"}},                                                               \
    .prompt = {.messages = GPC_MESSAGE_BIT(MERGE_OLD_VALUES), .option = MERGE_UNIT, .value = MERGE_ON}

#define MERGE_ENTRY(FIELD)                                                                                             \
    FIELD(REQUEST, gpc_list_t, joined) /* in order of arrival, which is that of their effects */                       \
    FIELD(STATISTIC, gpc_cycle_t, until) /* the countdown's end; not encoded: the line's last timer has it */
GPC_METADATA(merge, entry, MERGE_ENTRY)

#define MERGE_COUNTERS(X, P)                                                                                           \
    X(P, merged, "atomics that joined an entry of the merge unit")                                                     \
    X(P, merged_sent, "combined atomics sent to homes")                                                                \
    X(P, merged_full, "atomics that found all entries of the merge unit taken")
enum { MERGE_COUNTERS(GPC_COUNT_ENUM_, MERGE_COUNT) };

/* Lines: those of MCM or LRM, with combined atomics at the home. */
#define MERGE_L2_EVENTS(X)                                                                                             \
    MCM_L2_EVENTS(X)                                                                                                   \
    X(L2_MERGED, "combined atomic")                                                                                    \
    X(L2_FILL_MERGED, "fill from memory, for a combined atomic")

/* Parts and tables: the merge unit's are the last. */
extern const gpc_controller_type_t merge_mcm_l2;

#endif
