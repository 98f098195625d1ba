/* denovo_checks.c: host accesses and the monitor of denovo-*. */
#include "protocols/denovo/denovo.h"

enum { DENOVO_L1_STATES(GPC_FSM_STATE_ENUM_) };

/* ---- the host: the words are at the bank, or where they are registered, or newer in a store buffer --------------- */

/* Before the others: words that are written back and not answered, of an aborted launch. */
int
denovo_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_index_t mshr = gpc_mshr_find(&units->cores[i]->mshrs, line);
        if (mshr != GPC_NONE) {
            const denovo_l1_mshr_t *fields = denovo_l1_mshr_at(units->cores[i], mshr);
            gpc_merge_words(words, fields->words.word, mask & fields->leaving);
        }
    }
    return gpc_host_read_words(units, line, mask, words);
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

const gpc_watched_t denovo_watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V | 1u << L1_R,
                                      .copies = 1u << L1_V | 1u << L1_R,
                                      .owners = 1u << L1_R,
                                      .bank_words = DENOVO_BANK_WORDS};
