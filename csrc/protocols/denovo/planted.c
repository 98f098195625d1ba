/* planted.c: bugs planted in gpu-drf, gpu-hrf and denovo-*. */
#include "protocols/denovo/denovo.h"
#include "tests/mutants.h"

/* ---- gpu-* ------------------------------------------------------------------------------------------------------- */

/* The words that the read-modify-writes write are in the line only. */
GPC_ACTION(act_perform_on_line, "perform on the line")
{
    (void) gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, x->msg->lanes), gpc_line_words(x));
    x->msg->request = GPC_NONE;
    return gpc_complete(x, x->message, NULL, true);
}

/* ---- denovo-* ---------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_send_whole_line, "send every word of the line that the core has, valid ones too")
{
    const uint8_t *states = gpc_tags_word_states(&x->unit->arrays[0], x->way);
    gpc_msg_t *msg = gpc_new_message(x, DENOVO_DATA, x->msg->requester);
    gpc_mask_t mask = x->mask;
    for (uint32_t word = 0; word < x->unit->arrays[0].line_words; word++) {
        mask |= (gpc_mask_t) (states[word] != x->table->initial) << word;
    }
    gpc_carry(x, msg, mask, gpc_line_words(x));
    gpc_demanded_message(msg)->demanded = x->mask;
    return gpc_send(x, msg);
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

#define GRANTS_OWNED_WORDS                                                                                             \
    COPY("L2", "R", "REGISTER", "V", "REGISTER"), COPY("L2", "R", "REGISTER_SYNC", "V", "REGISTER_SYNC")

PLANTED(denovo) = {
    BUG("gpu-drf!release-waits-for-nothing", "a release does not wait for the store buffer", NULL,
        WITH(order.release, NULL)),
    BUG("gpu-drf!acquire-keeps-copies", "an acquire invalidates nothing", NULL, WITH(order.acquire, NULL)),
    BUG("gpu-drf!fill-survives-acquire", "a line that was requested before an acquire is kept",
        "section 3: an acquire invalidates the cache, of fills in flight it says nothing", STAY("L1", "IV", "ACQUIRE")),
    BUG("gpu-drf!own-words-not-overlaid",
        "a line that returns hides a word that was stored since, once the store buffer has drained", NULL,
        DROP("L1", "IV", "STORE", "skip")),
    BUG("gpu-drf!late-words-lost", "an acknowledgement frees an entry that was stored to since it was sent", NULL,
        NEXT("L1.store_buffer", "MORE", "ACK ACK_DRAINS", "FREE"),
        DROP("L1.store_buffer", "MORE", "ACK", "drain_if_eager"),
        DROP("L1.store_buffer", "MORE", "ACK_DRAINS", "write_through")),
    BUG("gpu-drf!copy-survives-synchronisation", "a copy stays valid when the L2 performs synchronisation on its line",
        NULL, STAY("L1", "V", "SYNC")),

    BUG("denovo-drf!words-not-given-up", "an access of 64 bits waits for a word while its L1 keeps the other one", NULL,
        DROP("L1", "R", "SYNC_BUFFERED", "give_up")),
    BUG("denovo-drf!words-asked-apart",
        "an access of 64 bits joins registrations that do not ask for its words together", NULL,
        COPY("L1", "SYP", "SYNC_BUFFERED", "SYP", "SYNC")),

    BUG("denovo-drf!synchronised-words-overwritten",
        "an answer in flight may install the old value of a word that synchronisation has written since", NULL,
        REPLACE("L1", "SYP", "REGISTERED REGISTERED_TAKEN", "run_syncs", words_act_perform_pending)),

    BUG("gpu-hrf!local-atomic-not-buffered", "a local read-modify-write leaves its words in the line only", NULL,
        REPLACE("L1", "V", "LOCAL_ATOMIC", "perform_on_copy", act_perform_on_line)),
    BUG("gpu-hrf!release-waits-for-nothing", "a global release does not flush local writes", NULL,
        WITH(order.release, NULL)),
    BUG("gpu-hrf!acquire-keeps-copies", "a global acquire invalidates nothing", NULL, WITH(order.acquire, NULL)),
    BUG("gpu-hrf!fill-survives-acquire", "a line that was requested before a global acquire is kept", NULL,
        STAY("L1", "IV", "ACQUIRE")),
    BUG("gpu-hrf!own-words-not-overlaid",
        "a line that returns hides a word that was stored since, once the store buffer has drained", NULL,
        DROP("L1", "IV", "STORE", "skip")),
    BUG("gpu-hrf!copy-survives-synchronisation",
        "a copy stays valid when the L2 performs global synchronisation on its line", NULL, STAY("L1", "V", "SYNC")),

    BUG("gpu-hrf!synchronisation-passes-local-atomic",
        "the L2 performs global synchronisation on a word that a local read-modify-write waits for", NULL,
        COPY("L1", "IV IVX", "SYNC_AFTER_ATOMIC", "IV", "SYNC")),

    BUG("denovo-drf!fill-survives-acquire", "a word that was requested before an acquire is kept",
        "section 3: an acquire invalidates valid words, of reads in flight it says nothing",
        DROP("L1", "RDP", "ACQUIRE", "poison"), STAY("L1", "RDP", "ACQUIRE")),
    BUG("denovo-drf!l2-grants-owned-words", "the L2 grants a registered word at once, while its owner still hits",
        "section 3: a release waits until ownership is obtained; who grants it is not said", GRANTS_OWNED_WORDS),
    BUG("denovo-drf!owner-sends-valid-words", "an owner answers a read with its valid words too",
        "section 3: words of a line are transferred together",
        REPLACE("L1", "R", "FORWARD_READ", "serve_read", act_send_whole_line)),
    BUG("denovo-drf!write-back-freed-when-stale", "a stale write-back frees its buffer, and the forward finds nothing",
        NULL, COPY("L1", "WBP", "STALE", "WBP", "WRITTEN_BACK")),
    BUG("denovo-drf!acquire-keeps-copies", "an acquire invalidates nothing", NULL, WITH(order.acquire, NULL)),
    BUG("denovo-drf!acquire-drops-registered-words", "an acquire drops registered words", NULL,
        NEXT("L1", "R", "ACQUIRE", "I")),
    BUG("denovo-drf!crossed-write-back-lost", "the L2 forgets the words of a write-back that crosses its recall", NULL,
        DROP("L2", "RC", "WRITE_BACK", "take")),
    BUG("denovo-drf!l2-answers-for-owners", "the L2 answers a read of a registered word with the content of its slot",
        NULL, COPY("L2", "R", "READ", "V", "READ")),
    BUG("denovo-drf!owner-keeps-word", "an owner passes a word on and stays registered", NULL,
        STAY("L1", "R", "FORWARD_TAKE")),

    BUG("denovo-hrf!release-waits-for-nothing", "a global release does not register delayed words", NULL,
        WITH(order.release, NULL)),
    BUG("denovo-hrf!local-atomic-not-buffered", "a local read-modify-write leaves its word in the line only", NULL,
        REPLACE("L1", "V", "LOCAL_ATOMIC", "perform_on_copy", act_perform_on_line)),
    BUG("denovo-hrf!l2-grants-owned-words", "the L2 grants a registered word at once, while its owner still hits", NULL,
        GRANTS_OWNED_WORDS),
    BUG("denovo-hrf!acquire-drops-registered-words", "an acquire drops registered words", NULL,
        NEXT("L1", "R", "ACQUIRE", "I")),
    BUG("denovo-hrf!crossed-write-back-lost", "the L2 forgets the words of a write-back that crosses its recall", NULL,
        DROP("L2", "RC", "WRITE_BACK", "take")),
    BUG("denovo-hrf!owner-keeps-word", "an owner passes a word on and stays registered", NULL,
        STAY("L1", "R", "FORWARD_TAKE")),

    BUG("denovo-ro!marks-every-word", "a word that an ordinary load reads survives acquires too", NULL,
        NEXT("L1", "RDP", "DATA", "VO")),
    BUG("denovo-ro!marks-survive-kernels", "words of a read-only array stay marked when the next kernel may write them",
        NULL, STAY("L1", "VO", "BEGIN")),
    BUG("denovo-ro!marked-reads-not-poisoned",
        "an acquire lets the answer of a read-only read install the line's other words", NULL,
        DROP("L1", "RDP", "ACQUIRE_RO", "poison")),
    BUG("denovo-ro!marks-lines", "a hit on a read-only word marks the line's other valid words", NULL,
        REPLACE("L1", "V", "LOAD_RO", "hit", act_hit_and_mark)),
    BUG("denovo-ro!l2-grants-owned-words", "the L2 grants a registered word at once, while its owner still hits", NULL,
        GRANTS_OWNED_WORDS),
    BUG("denovo-ro!acquire-drops-registered-words", "an acquire drops registered words", NULL,
        NEXT("L1", "R", "ACQUIRE", "I")),
    BUG("denovo-ro!crossed-write-back-lost", "the L2 forgets the words of a write-back that crosses its recall", NULL,
        DROP("L2", "RC", "WRITE_BACK", "take")),
    BUG("denovo-ro!owner-keeps-word", "an owner passes a word on and stays registered", NULL,
        STAY("L1", "R", "FORWARD_TAKE")),
    {0},
};
