/* monitor_copies.c: what an L1 has of a line, for the monitors. */
#include "check/monitor/monitor_parts.h"

gpc_mask_t
gpc_monitor_words_among(const gpc_controller_t *unit, const uint8_t *word_states, uint32_t states)
{
    gpc_mask_t among = GPC_NO_WORDS;

    for (uint32_t word = 0; word < unit->machine->line_bytes / 4; word++) {
        among |= (gpc_mask_t) gpc_is_among(states, word_states[word]) << word;
    }
    return among;
}

gpc_copy_t
gpc_monitor_copy(const gpc_monitor_t *self, const gpc_controller_t *l1, gpc_address_t line)
{
    const gpc_watched_t *watched = &self->watched;
    uint8_t states[GPC_MAX_LINE_WORDS];
    gpc_copy_t copy;

    if (self->over_words && gpc_word_states_at(l1, line, states, &copy.way)) {
        copy.copies = gpc_monitor_words_among(l1, states, watched->copies);
        copy.readable = gpc_monitor_words_among(l1, states, watched->readable);
        copy.owned = gpc_monitor_words_among(l1, states, watched->owners);
    } else {
        uint8_t state = gpc_state_at(l1, line, 0, &copy.way);
        gpc_mask_t all = gpc_all_words(l1);
        copy.copies = gpc_is_among(watched->copies, state) ? all : GPC_NO_WORDS;
        copy.readable = gpc_is_among(watched->readable, state) ? all : GPC_NO_WORDS;
        copy.owned = gpc_is_among(watched->owners, state) ? all : GPC_NO_WORDS;
    }
    return copy;
}
