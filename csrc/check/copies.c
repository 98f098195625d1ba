/* copies.c: invariants of the copies in L1s. */
#include "check/copies.h"

#include <inttypes.h>

gpc_mask_t
gpc_words_among(const gpc_controller_t *unit, const uint8_t *word_states, uint32_t states)
{
    gpc_mask_t among = GPC_NO_WORDS;

    for (uint32_t word = 0; word < unit->machine->line_bytes / 4; word++) {
        among |= (gpc_mask_t) gpc_is_among(states, word_states[word]) << word;
    }
    return among;
}

gpc_copy_t
gpc_copy_of(const gpc_watched_t *watched, const gpc_controller_t *l1, gpc_address_t line)
{
    bool over_words = l1->type->tables[0]->object == GPC_OVER_WORDS;
    uint8_t states[GPC_MAX_LINE_WORDS];
    gpc_copy_t copy;

    if (over_words && gpc_word_states_at(l1, line, states, &copy.way)) {
        copy.copies = gpc_words_among(l1, states, watched->copies);
        copy.readable = gpc_words_among(l1, states, watched->readable);
        copy.owned = gpc_words_among(l1, states, watched->owners);
    } else {
        uint8_t state = gpc_state_at(l1, line, 0, &copy.way);
        gpc_mask_t all = gpc_all_words(l1);
        copy.copies = gpc_is_among(watched->copies, state) ? all : GPC_NO_WORDS;
        copy.readable = gpc_is_among(watched->readable, state) ? all : GPC_NO_WORDS;
        copy.owned = gpc_is_among(watched->owners, state) ? all : GPC_NO_WORDS;
    }
    return copy;
}

int
gpc_report_two_have_words(const gpc_watched_t *watched, gpc_controller_t *const *l1s, uint32_t cores,
                          gpc_address_t line, gpc_mask_t words)
{
    gpc_mask_t first = words & -words; /* one word suffices */
    uint32_t copies = 0, owner = 0;

    for (uint32_t core = 0; core < cores; core++) {
        gpc_copy_t copy = gpc_copy_of(watched, l1s[core], line);
        copies += (copy.copies & first) != 0;
        owner = copy.owned & first ? core : owner;
    }
    if (l1s[owner]->type->tables[0]->object == GPC_OVER_WORDS) {
        return gpc_violated(l1s[owner], line, "single writer or many readers",
                            "L1 %" PRIu32 " may write word %d, and %" PRIu32 " L1s have copies", owner,
                            __builtin_ctz(first), copies);
    }
    return gpc_violated(l1s[owner], line, "single writer or many readers",
                        "L1 %" PRIu32 " may write the line, and %" PRIu32 " L1s have copies", owner, copies);
}

bool
gpc_bank_knows_lease(const gpc_watched_t *watched, const gpc_controller_t *l1, const gpc_controller_t *bank,
                     gpc_address_t line)
{
    gpc_index_t way;
    uint8_t state = gpc_state_at(bank, line, 0, &way);
    return !l1->type->owned || way == GPC_NONE || gpc_is_among(watched->bank_words, state);
}

int
gpc_check_lease(const gpc_watched_t *watched, gpc_controller_t *l1, const gpc_controller_t *bank, gpc_index_t way,
                gpc_address_t line)
{
    gpc_cycle_t lease = watched->lease(l1, way), leased = watched->leased(bank, line);
    if (lease <= leased) {
        return GPC_OK;
    }
    return gpc_violated(l1, line, "no lease outlives the bank's",
                        "L1 %" PRIu32 " may read its copy until cycle %" PRIu64 ", the bank knows of %" PRIu64,
                        l1->index, lease, leased);
}

bool
gpc_copy_expired(const gpc_watched_t *watched, const gpc_controller_t *l1, gpc_index_t way)
{
    gpc_cycle_t now = watched->clock ? watched->clock(l1) : l1->ports->now(l1->world);
    return watched->lease && (way == GPC_NONE || watched->lease(l1, way) < now);
}

int
gpc_check_copies(const gpc_watched_t *watched, const gpc_units_t *units, gpc_address_t line)
{
    gpc_copies_t all = {0};
    int status = GPC_OK;

    for (uint32_t core = 0; core < units->num_cores && status == GPC_OK; core++) {
        gpc_controller_t *l1 = units->cores[core];
        gpc_copy_t copy = gpc_copy_of(watched, l1, line);
        gpc_add_copy(watched, &all, &copy);
        bool leased = watched->lease && copy.way != GPC_NONE && copy.copies && !gpc_copy_expired(watched, l1, copy.way);
        if (leased && gpc_bank_knows_lease(watched, l1, units->bank, line)) {
            status = gpc_check_lease(watched, l1, units->bank, copy.way, line);
        }
    }
    GPC_TRY(status);
    return all.owned & all.shared
               ? gpc_report_two_have_words(watched, units->cores, units->num_cores, line, all.owned & all.shared)
               : GPC_OK;
}
