/* copies.h: what L1s have of a line, in the states that the protocol declares in `watched`, for the monitors and the
 * explorer. */
#ifndef GPC_CHECK_COPIES_H
#define GPC_CHECK_COPIES_H

#include "controller/protocol.h"

/* What one L1 has of a line: its way, or GPC_NONE, and words in states of gpc_watched_t. Over lines all words are
 * alike. */
typedef struct {
    gpc_index_t way;
    gpc_mask_t copies, readable, owned;
} gpc_copy_t;

/* The words of a line that are in one of the states. */
gpc_mask_t gpc_words_among(const gpc_controller_t *unit, const uint8_t *word_states, uint32_t states);
gpc_copy_t gpc_copy_of(const gpc_watched_t *watched, const gpc_controller_t *l1, gpc_address_t line);

/* The copies of all L1s: words that one has, that several have, and that one may write. */
typedef struct {
    gpc_mask_t copies, shared, owned;
} gpc_copies_t;

/* Whether copies may be old, until an acquire or for longer. */
static inline bool
gpc_keeps_old_copies(const gpc_watched_t *watched)
{
    return watched->promise == GPC_PROMISE_ACQUIRED || watched->promise == GPC_PROMISE_HELD;
}

static inline void
gpc_add_copy(const gpc_watched_t *watched, gpc_copies_t *all, const gpc_copy_t *copy)
{
    gpc_mask_t its = gpc_keeps_old_copies(watched) ? copy->owned : copy->copies;
    all->shared |= all->copies & its;
    all->copies |= its;
    all->owned |= copy->owned;
}

/* Single writer or many readers: reports masked words that one L1 may write and another one holds. GPC_OK, or
 * GPC_ERROR_INVARIANT. */
GPC_MUST_CHECK int gpc_report_two_have_words(const gpc_watched_t *watched, gpc_controller_t *const *l1s, uint32_t cores,
                                             gpc_address_t line, gpc_mask_t words);
/* Whether the bank has the line's latest lease: not while an owner, which has kept a copy, sends words and lease to it.
 */
bool gpc_bank_knows_lease(const gpc_watched_t *watched, const gpc_controller_t *l1, const gpc_controller_t *bank,
                          gpc_address_t line);
/* No lease of the copy in that way outlives the line's at its bank. The same. */
GPC_MUST_CHECK int gpc_check_lease(const gpc_watched_t *watched, gpc_controller_t *l1, const gpc_controller_t *bank,
                                   gpc_index_t way, gpc_address_t line);
/* Whether the copy in that way may not be read any more, or there is none. */
bool gpc_copy_expired(const gpc_watched_t *watched, const gpc_controller_t *l1, gpc_index_t way);

/* Both, of a line in a state of the explorer. */
GPC_MUST_CHECK int gpc_check_copies(const gpc_watched_t *watched, const gpc_units_t *units, gpc_address_t line);

#endif
