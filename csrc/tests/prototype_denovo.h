/* prototype_denovo.h: shared by the controllers of the DeNovo prototype: messages and their fields. */
#ifndef GPC_TESTS_PROTOTYPE_DENOVO_H
#define GPC_TESTS_PROTOTYPE_DENOVO_H

#include "tests/prototypes.h"

/* clang-format off */
/*    name           class network bytes word line   */
#define DENOVO_MESSAGES(X, prefix)                                                                            \
    X(prefix, READ,          REQ, 0, 16, 0, false, "read of the demanded words")                              \
    X(prefix, REGISTER,      REG, 0, 16, 0, false, "ownership of words for data writes")                      \
    X(prefix, REGISTER_SYNC, ATO, 0, 16, 0, false, "ownership of words for synchronisation")                  \
    X(prefix, FORWARD_READ,  REQ, 1, 16, 0, false, "read, to the words' owner")                               \
    X(prefix, FORWARD_TAKE,  REG, 1, 16, 0, false, "registration, to the words' old owner")                   \
    X(prefix, FORWARD_TAKE_SYNC, ATO, 1, 16, 0, false, "registration for synchronisation, to the old owner")  \
    X(prefix, RECALL,        WB,  1, 16, 0, false, "the L2 evicts the line: give the words back")             \
    X(prefix, DATA,          LD,  2, 16, 4, false, "demanded words and others of the line")                   \
    X(prefix, REGISTERED,    REG, 2, 16, 0, false, "the words are yours, from their old owner or the L2")     \
    X(prefix, REGISTERED_SYNC, ATO, 2, 16, 4, false, "the words are yours, with their values")                \
    X(prefix, WRITE_BACK,    WB,  3, 16, 4, false, "registered words of an evicted line")                     \
    X(prefix, WRITE_BACK_OK, WB,  2, 16, 0, false, "taken")                                                   \
    X(prefix, WRITE_BACK_STALE, WB, 2, 16, 0, false, "not taken: the words have a new owner")                 \
    X(prefix, RECALLED,      WB,  3, 16, 4, false, "recalled words")                                          \
    X(prefix, RECALLED_NONE, WB,  3, 16, 0, false, "recalled words that were on their way already")
/* clang-format on */
GPC_MESSAGES(DENOVO, DENOVO_MESSAGES)

#define DENOVO_MESSAGE(FIELD) FIELD(PLAIN, uint64_t, demanded) /* DATA: demanded words of its mask */
GPC_DESCRIBE(denovo, message, DENOVO_MESSAGE)

static inline denovo_message_t *
denovo_fields(gpc_msg_t *msg)
{
    return (denovo_message_t *) (void *) msg->fields;
}

/* A store-buffer entry; its states are in prototype_denovo_store_buffer.c. */
#define SB_ENTRY(FIELD)                                                                                                \
    FIELD(PLAIN, gpc_address_t, line)                                                                                  \
    FIELD(PLAIN, gpc_mask_t, sent)       /* words that await their answer */                                           \
    FIELD(PLAIN, gpc_mask_t, fresh)      /* words stored and not yet sent */                                           \
    FIELD(PLAIN, uint8_t, drain_wanted)  /* send the fresh words when the answer arrives */                             \
    FIELD(DATA, prototype_words_t, words)
GPC_DESCRIBE(sb, entry, SB_ENTRY)

enum { DENOVO_PART_STORE_BUFFER };
extern const gpc_table_t prototype_denovo_store_buffer;
extern const gpc_controller_type_t prototype_denovo_l1, prototype_denovo_l2;

/* Words of the line that the core's store buffer holds. */
static inline gpc_mask_t
denovo_buffered(const gpc_step_t *x)
{
    const gpc_part_t *part = &x->unit->parts[DENOVO_PART_STORE_BUFFER];
    for (gpc_index_t i = 0; i < part->pool.capacity; i++) { /* a complete protocol would use gpc_part_find */
        const sb_entry_t *entry = (const sb_entry_t *) (const void *) (part->fields + (size_t) i * part->fields_size);
        if (part->states[i] != 0 && entry->line == x->line) {
            return entry->sent | entry->fresh;
        }
    }
    return GPC_NO_WORDS;
}

#endif
