/* mutants_denovo.c: bugs planted in gpu-drf, gpu-hrf and denovo-*. */
#include "protocols/denovo/denovo.h"
#include "tests/mutants.h"

static void
release_waits_for_nothing(mutant_t *m)
{
    mutant_protocol(m)->order.release = NULL;
}

static void
acquire_keeps_copies(mutant_t *m)
{
    mutant_protocol(m)->order.acquire = NULL;
}

/* ---- gpu-* ------------------------------------------------------------------------------------------------------------ */

static void
gpu_fill_survives_acquire(mutant_t *m)
{
    mutant_next(m, "L1", "IV", "ACQUIRE", "IV");
}

static void
own_words_not_overlaid(mutant_t *m)
{
    mutant_drop(m, "L1", "IV", "STORE", 1);
}

static void
late_words_lost(mutant_t *m)
{
    mutant_next(m, "L1.store_buffer", "MORE", "ACK", "FREE");
    mutant_next(m, "L1.store_buffer", "MORE", "ACK_DRAINS", "FREE");
    mutant_drop(m, "L1.store_buffer", "MORE", "ACK", 1);
    mutant_drop(m, "L1.store_buffer", "MORE", "ACK_DRAINS", 1);
}

static void
copy_survives_synchronisation(mutant_t *m)
{
    mutant_next(m, "L1", "V", "SYNC", "V");
}

/* The words that the read-modify-writes write are in the line only. */
GPC_ACTION(act_perform_on_line, "perform on the line")
{
    (void) gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, x->msg->lanes), gpc_line_words(x));
    x->msg->request = GPC_NONE;
    return gpc_complete(x, x->message, NULL, true);
}

static void
local_atomic_not_buffered(mutant_t *m)
{
    mutant_replace(m, "L1", "V", "LOCAL_ATOMIC", 0, act_perform_on_line);
}

/* ---- denovo-* --------------------------------------------------------------------------------------------------------- */

static void
fill_survives_acquire(mutant_t *m)
{
    mutant_next(m, "L1", "RDP", "ACQUIRE", "RDP");
    mutant_drop(m, "L1", "RDP", "ACQUIRE", 0);
}

static void
l2_grants_owned_words(mutant_t *m)
{
    mutant_copy(m, "L2", "R", "REGISTER", "V", "REGISTER");
    mutant_copy(m, "L2", "R", "REGISTER_SYNC", "V", "REGISTER_SYNC");
}

GPC_ACTION(act_send_whole_line, "send every word of the line that the core has, valid ones too")
{
    const uint8_t *states = gpc_tags_word_states(&x->unit->arrays[0], x->way);
    gpc_msg_t *msg = gpc_new_message(x, DENOVO_DATA, x->msg->requester);
    gpc_mask_t mask = x->mask;
    for (uint32_t word = 0; word < x->unit->arrays[0].line_words; word++) {
        mask |= (gpc_mask_t) (states[word] != x->table->initial) << word;
    }
    gpc_carry(x, msg, mask, gpc_line_words(x));
    denovo_message(msg)->demanded = x->mask;
    return gpc_send(x, msg);
}

static void
owner_sends_valid_words(mutant_t *m)
{
    mutant_replace(m, "L1", "R", "FORWARD_READ", 0, act_send_whole_line);
}

static void
write_back_freed_when_stale(mutant_t *m)
{
    mutant_copy(m, "L1", "WBP", "STALE", "WBP", "WRITTEN_BACK");
}

static void
acquire_drops_registered_words(mutant_t *m)
{
    mutant_next(m, "L1", "R", "ACQUIRE", "I");
}

static void
crossed_write_back_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "RC", "WRITE_BACK", 0);
}

static void
l2_answers_for_owners(mutant_t *m)
{
    mutant_copy(m, "L2", "R", "READ", "V", "READ");
}

static void
owner_keeps_word(mutant_t *m)
{
    mutant_next(m, "L1", "R", "FORWARD_TAKE", "R");
}

/* A word that a plain load reads is marked. */
static void
ro_marks_every_word(mutant_t *m)
{
    mutant_next(m, "L1", "RDP", "DATA", "VO");
}

static void
ro_marks_survive_kernels(mutant_t *m)
{
    mutant_next(m, "L1", "VO", "BEGIN", "VO");
}

static void
ro_marked_reads_not_poisoned(mutant_t *m)
{
    mutant_drop(m, "L1", "RDP", "ACQUIRE_RO", 0);
}

GPC_ACTION(act_hit_and_mark, "the load hits, and marks every valid word of the line")
{
    uint8_t *states = gpc_tags_word_states(&x->unit->arrays[0], x->way), valid = states[x->word];
    uint8_t marked = x->table->num_states - 1; /* VO */
    for (uint32_t word = 0; word < x->unit->arrays[0].line_words; word++) {
        states[word] = states[word] == valid ? marked : states[word];
    }
    return gpc_act(act_hit, x);
}

static void
ro_marks_lines(mutant_t *m)
{
    mutant_replace(m, "L1", "V", "LOAD_RO", 0, act_hit_and_mark);
}

/* clang-format off */
MUTANTS(denovo) {
    {"gpu-drf!release-waits-for-nothing", "a release does not wait for the store buffer", NULL, release_waits_for_nothing},
    {"gpu-drf!acquire-keeps-copies", "an acquire invalidates nothing", NULL, acquire_keeps_copies},
    {"gpu-drf!fill-survives-acquire", "a line that was requested before an acquire is kept",
     "section 3: an acquire invalidates the cache, of fills in flight it says nothing", gpu_fill_survives_acquire},
    {"gpu-drf!own-words-not-overlaid", "a line that returns hides a word that was stored since, once the store buffer has drained", NULL, own_words_not_overlaid},
    {"gpu-drf!late-words-lost", "an acknowledgement frees an entry that was stored to since it was sent", NULL, late_words_lost},
    {"gpu-drf!copy-survives-synchronisation", "a copy stays valid when the L2 performs synchronisation on its line", NULL, copy_survives_synchronisation},
    {"gpu-hrf!local-atomic-not-buffered", "a local read-modify-write leaves its words in the line only", NULL, local_atomic_not_buffered},
    {"gpu-hrf!release-waits-for-nothing", "a global release does not flush local writes", NULL, release_waits_for_nothing},
    {"gpu-hrf!acquire-keeps-copies", "a global acquire invalidates nothing", NULL, acquire_keeps_copies},
    {"gpu-hrf!fill-survives-acquire", "a line that was requested before a global acquire is kept", NULL, gpu_fill_survives_acquire},
    {"gpu-hrf!own-words-not-overlaid", "a line that returns hides a word that was stored since, once the store buffer has drained", NULL, own_words_not_overlaid},
    {"gpu-hrf!copy-survives-synchronisation", "a copy stays valid when the L2 performs global synchronisation on its line", NULL, copy_survives_synchronisation},
    {"denovo-drf!fill-survives-acquire", "a word that was requested before an acquire is kept",
     "section 3: an acquire invalidates valid words, of reads in flight it says nothing", fill_survives_acquire},
    {"denovo-drf!l2-grants-owned-words", "the L2 grants a registered word at once, while its owner still hits",
     "section 3: a release waits until ownership is obtained; who grants it is not said", l2_grants_owned_words},
    {"denovo-drf!owner-sends-valid-words", "an owner answers a read with its valid words too",
     "section 3: words of a line are transferred together", owner_sends_valid_words},
    {"denovo-drf!write-back-freed-when-stale", "a stale write-back frees its buffer, and the forward finds nothing", NULL, write_back_freed_when_stale},
    {"denovo-drf!acquire-drops-registered-words", "an acquire drops registered words", NULL, acquire_drops_registered_words},
    {"denovo-drf!crossed-write-back-lost", "the L2 forgets the words of a write-back that crosses its recall", NULL, crossed_write_back_lost},
    {"denovo-drf!l2-answers-for-owners", "the L2 answers a read of a registered word with the content of its slot", NULL, l2_answers_for_owners},
    {"denovo-drf!owner-keeps-word", "an owner passes a word on and stays registered", NULL, owner_keeps_word},
    {"denovo-hrf!release-waits-for-nothing", "a global release does not register delayed words", NULL, release_waits_for_nothing},
    {"denovo-hrf!local-atomic-not-buffered", "a local read-modify-write leaves its word in the line only", NULL, local_atomic_not_buffered},
    {"denovo-hrf!l2-grants-owned-words", "the L2 grants a registered word at once, while its owner still hits", NULL, l2_grants_owned_words},
    {"denovo-hrf!acquire-drops-registered-words", "an acquire drops registered words", NULL, acquire_drops_registered_words},
    {"denovo-hrf!crossed-write-back-lost", "the L2 forgets the words of a write-back that crosses its recall", NULL, crossed_write_back_lost},
    {"denovo-hrf!owner-keeps-word", "an owner passes a word on and stays registered", NULL, owner_keeps_word},
    {"denovo-ro!marks-every-word", "a word that an ordinary load reads survives acquires too", NULL, ro_marks_every_word},
    {"denovo-ro!marks-survive-kernels", "words of a read-only array stay marked when the next kernel may write them", NULL, ro_marks_survive_kernels},
    {"denovo-ro!marked-reads-not-poisoned", "an acquire lets the answer of a read-only read install the line's other words", NULL, ro_marked_reads_not_poisoned},
    {"denovo-ro!marks-lines", "a hit on a read-only word marks the line's other valid words", NULL, ro_marks_lines},
    {"denovo-ro!l2-grants-owned-words", "the L2 grants a registered word at once, while its owner still hits", NULL, l2_grants_owned_words},
    {"denovo-ro!acquire-drops-registered-words", "an acquire drops registered words", NULL, acquire_drops_registered_words},
    {"denovo-ro!crossed-write-back-lost", "the L2 forgets the words of a write-back that crosses its recall", NULL, crossed_write_back_lost},
    {"denovo-ro!owner-keeps-word", "an owner passes a word on and stays registered", NULL, owner_keeps_word},
    {0},
};
/* clang-format on */
