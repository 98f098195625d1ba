/* word_owners.h: L1s that own words, and the bank that registers the owners: what a table over words at each of them
 * has in common, the host's accesses, and a monitor.
 *
 * The bank's table begins with three stable states: the line is not present, the bank has the word, an L1 owns it
 *     GPC_REGISTRY_STATES(L2_NP, L2_V, L2_O);
 * and its type is {GPC_REGISTRY_TYPE(table), ..}. Messages with words that were demanded and others of the line have
 * the field GPC_DEMANDED first. The states of an L1 that owns a word, and those of the bank that has it, are
 * .watched->owners and .bank_words, from which the host's accesses and the monitor follow:
 *     .host_read = gpc_host_read_words, .host_write = gpc_host_write_words, .monitor = gpc_monitor_words
 * The L1 has a store buffer (store_buffer.h), whose words are newer than all others but owned ones, which it never has.
 */
#ifndef GPC_CONTROLLER_WORD_OWNERS_H
#define GPC_CONTROLLER_WORD_OWNERS_H

#include "controller/metadata.h"

/* Whether the word that is classified is in the mask. */
static inline bool
gpc_has_word(const gpc_step_t *x, gpc_mask_t mask)
{
    return mask >> x->word & 1;
}
/* Words of the line in the way that are in these states. */
static inline gpc_mask_t
gpc_words_in(const gpc_controller_t *unit, gpc_index_t way, uint32_t states)
{
    const gpc_tags_t *tags = &unit->arrays[0];
    gpc_index_t mshr = tags->tags[way].mshr;
    gpc_mask_t words = GPC_NO_WORDS;

    for (; states; states &= states - 1) {
        uint8_t state = (uint8_t) __builtin_ctz(states);
        gpc_mask_t stable = gpc_tags_words_in(tags, way, state);
        words |= mshr == GPC_NONE ? stable
                                  : (stable & gpc_mshr_words_in(&unit->mshrs, mshr, 0)) |
                                        gpc_mshr_words_in(&unit->mshrs, mshr, (uint8_t) (state + 1));
    }
    return words;
}
/* The same for a line, whose way is *way, or GPC_NONE. */
GPC_API gpc_mask_t gpc_words_at(const gpc_controller_t *unit, gpc_address_t line, uint32_t states, gpc_index_t *way);

/* Sends a message that names x's words, and one that has them too. */
GPC_API GPC_MUST_CHECK int gpc_send_mask(gpc_step_t *x, uint8_t type, gpc_node_t to);
GPC_API GPC_MUST_CHECK int gpc_send_words(gpc_step_t *x, uint8_t type, gpc_node_t to);
/* Writes the words of x's message into the line. */
GPC_API_ACTION(words_act_install);

#define GPC_DEMANDED(FIELD) FIELD(PLAIN, uint64_t, demanded) /* of an answer: words of its mask */
GPC_METADATA(gpc_demanded, message, GPC_DEMANDED)

/* ---- an L1 that owns words --------------------------------------------------------------------------------------- */

/* The words are owned: of a store, and of the accesses that are pending until this step. */
GPC_API_ACTION(words_act_write);
GPC_API_ACTION(words_act_perform_pending);

/* ---- the bank ---------------------------------------------------------------------------------------------------- */

enum { GPC_REGISTRY_ABSENT, GPC_REGISTRY_HERE, GPC_REGISTRY_OWNED };
#define GPC_REGISTRY_STATES(absent, here, owned)                                                                       \
    GPC_SAME_NUMBER(absent, GPC_REGISTRY_ABSENT);                                                                      \
    GPC_SAME_NUMBER(here, GPC_REGISTRY_HERE);                                                                          \
    GPC_SAME_NUMBER(owned, GPC_REGISTRY_OWNED)

typedef struct {
    gpc_node_t node[GPC_MAX_LINE_WORDS];
} gpc_word_owners_t;

#define GPC_REGISTRY_LINE(FIELD)                                                                                       \
    FIELD(PLAIN, gpc_mask_t, dirty)        /* words that memory does not have */                                       \
    FIELD(NODES, gpc_word_owners_t, owner) /* of owned words */
GPC_METADATA(gpc_registry, line, GPC_REGISTRY_LINE)
#define GPC_REGISTRY_MSHR(FIELD) FIELD(PLAIN, uint8_t, fetches) /* memory's answer is outstanding */
GPC_METADATA(gpc_registry, mshr, GPC_REGISTRY_MSHR)

#define GPC_REGISTRY_TYPE(table)                                                                                       \
    .name = "L2", .position = GPC_AT_BANK, .tables = {&(table)},                                                       \
    .arrays = {{.name = "tags", .line = gpc_registry_line_described, .has_data = true}},                               \
    .mshr = gpc_registry_mshr_described, .victim_rank = gpc_rank_of_owned

static inline bool
gpc_has_owned_words(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return gpc_tags_words_in(&unit->arrays[array], way, GPC_REGISTRY_OWNED) != GPC_NO_WORDS;
}
/* Lines with owned words are evicted last. */
GPC_API uint32_t gpc_rank_of_owned(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);
/* The event of an EVICT, of three in this order: memory is up to date, memory is stale, some words are owned. */
static inline gpc_event_id_t
gpc_event_of_eviction(const gpc_step_t *x, gpc_event_id_t first)
{
    bool owned = gpc_has_owned_words(x->unit, x->array, x->way);
    return (gpc_event_id_t) (first + (owned ? 2 : gpc_registry_line(x)->dirty ? 1 : 0));
}
/* Answers x's requester with its words and the line's others that the bank has; a hit. */
GPC_API GPC_MUST_CHECK int gpc_send_demanded(gpc_step_t *x, uint8_t type);
/* Sends the type to each owner of x's words, one message a word, which the step combines. */
GPC_API GPC_MUST_CHECK int gpc_send_to_owners(gpc_step_t *x, uint8_t type);

GPC_API_ACTION(registry_act_fetch);
GPC_API_ACTION(registry_act_take);
GPC_API_ACTION(registry_act_name_owner);
GPC_API_ACTION(registry_act_name_none);
GPC_API_ACTION(registry_act_write_memory);

/* ---- the host and the monitor ------------------------------------------------------------------------------------ */

/* A word is at its owner, else at the bank if that has it, or newer in a store buffer; else memory has it. */
GPC_API int gpc_host_read_words(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words);
/* Writes owned words at their owner and at the bank; drops other copies. */
GPC_API int gpc_host_write_words(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);
/* One owner a word, none where the bank has the word; no owned word is in its core's store buffer. */
GPC_API GPC_MUST_CHECK int gpc_monitor_words(const gpc_units_t *units, gpc_address_t line);

#endif
