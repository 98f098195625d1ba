/* denovo_checks.c: host accesses and the monitor of denovo-*. */
#include "protocols/denovo/denovo.h"

enum { DENOVO_L1_STATES(GPC_FSM_STATE_ENUM_) };

/* ---- the host: the words are at the bank, or where they are registered, or newer in a store buffer --------------- */

int
denovo_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    gpc_controller_t *const *cores = units->cores;
    const gpc_controller_t *bank = units->bank;
    gpc_index_t at_bank = gpc_tags_find(&bank->arrays[0], line);

    if (at_bank != GPC_NONE) {
        gpc_merge_words(words, gpc_tags_words(&bank->arrays[0], at_bank), mask & denovo_l2_has(bank, line));
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_mask_t registered = mask & denovo_registered(cores[i], line);
        gpc_index_t mshr = gpc_mshr_find(&cores[i]->mshrs, line);
        const gpc_sb_entry_t *entry = gpc_sb_find(cores[i], line);
        if (registered) {
            gpc_index_t way = gpc_tags_find(&cores[i]->arrays[0], line);
            gpc_merge_words(words, gpc_tags_words(&cores[i]->arrays[0], way), registered);
        }
        if (mshr != GPC_NONE) { /* of an aborted launch */
            const denovo_l1_mshr_t *fields = denovo_l1_mshr_at(cores[i], mshr);
            gpc_merge_words(words, fields->words.word, mask & fields->leaving);
        }
        if (entry) {
            gpc_merge_words(words, entry->words.word, mask & (entry->fresh | entry->sent));
        }
    }
    return GPC_OK;
}

/* Registered words are written where they are; valid copies are dropped. */
static void
write_at(gpc_controller_t *core, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    gpc_tags_t *tags = &core->arrays[0];
    gpc_index_t way = gpc_tags_find(tags, line);
    gpc_mask_t registered = denovo_registered(core, line);

    if (way == GPC_NONE) {
        return;
    }
    gpc_merge_words(gpc_tags_words(tags, way), words, mask & registered);
    for (gpc_mask_t left = mask & ~registered; left; left &= left - 1) {
        gpc_tags_word_states(tags, way)[__builtin_ctz(left)] = L1_I;
    }
}

int
denovo_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        write_at(units->cores[i], line, mask, words);
    }
    return gpc_host_write(units, line, mask, words);
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

const gpc_watched_t denovo_watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V | 1u << L1_R,
                                      .copies = 1u << L1_V | 1u << L1_R,
                                      .owners = 1u << L1_R,
                                      .bank_words = DENOVO_BANK_WORDS};

int
denovo_monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_mask_t there = denovo_l2_has(units->bank, line), owned = GPC_NO_WORDS;

    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_mask_t registered = denovo_registered(core, line);
        if (registered & owned) {
            return gpc_violated(core, line, "a word has at most one owner", "L1 %u and another one own words 0x%x", i,
                                registered & owned);
        }
        if (registered & there) {
            return gpc_violated(core, line, "a word is at the L2 or at its owner", "L1 %u owns words 0x%x of the bank",
                                i, registered & there);
        }
        if (registered & gpc_sb_held(core, line)) {
            return gpc_violated(core, line, "no registered word is in the store buffer", "L1 %u owns words 0x%x in it",
                                i, registered & gpc_sb_held(core, line));
        }
        owned |= registered;
    }
    return GPC_OK;
}
