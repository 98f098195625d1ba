/* denovo_l1.c: the L1 of denovo-*: events and actions of the table over words; denovo_store_buffer.c has the table over
 * entries.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 4: an acquire drops valid words and keeps registered ones;
 *          stores and synchronisation register their words; a registration that reaches a core whose own one is
 *          outstanding waits there (a distributed queue), behind the core's own accesses.
 * Inferred the old owner, not the L2, grants an owned word, once it has given it up. An owner answers with registered
 *          words only. A read that an acquire follows serves the loads that wait, and is not kept; nor is a word that
 *          was stored to since, or that is in the store buffer, or was registered while the read was outstanding.
 *          Forwarded reads are served before the forward that takes the word. The write-back buffer has 16 lines; a
 *          word in it answers forwards until the L2 acknowledges.
 */
#include "protocols/denovo/denovo.h"

enum { DENOVO_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { DENOVO_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };

enum { WRITE_BACK_LINES = 16 };

/* ---- classification: of x->word ---------------------------------------------------------------------------------- */

/* Whether a read of other words of the line is outstanding whose answer may bring this one too: MSHRs are of lines, as
 * those of gpu-*, which merge such loads. */
static bool
is_coming(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE || denovo_l1_mshr(x)->poisoned || gpc_has_word(x, denovo_l1_mshr(x)->skip)) {
        return false;
    }
    return gpc_mshr_words_in(&x->unit->mshrs, x->mshr, L1_RDP + 1) != GPC_NO_WORDS;
}

/* Whether a core's request is of a synchronisation access of 64 bits. */
static bool
is_whole(const gpc_step_t *x, const gpc_msg_t *msg)
{
    return msg->lanes != GPC_NONE && gpc_lane_list_at(x->unit->lane_lists, msg->lanes)->width == 2;
}

bool
denovo_l1_whole(const gpc_step_t *x)
{
    return x->cause <= GPC_MSG_ATOMIC && is_whole(x, x->msg);
}

/* The words that an outstanding registration for an access of 64 bits, which has some of these, asks for. */
static gpc_mask_t
asked_together(const gpc_step_t *x, gpc_mask_t words)
{
    const gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;

    for (uint32_t n = pending->count; n; n--) {
        const gpc_msg_t *msg = gpc_msg_at(x->unit->messages, i);
        if (is_whole(x, msg) && (msg->mask & words)) {
            return msg->mask;
        }
        i = msg->next;
    }
    return GPC_NO_WORDS;
}

static gpc_event_id_t
classify_whole(const gpc_step_t *x)
{
    gpc_mask_t words = x->msg->mask;
    if (gpc_has_word(x, gpc_sb_held(x->unit, x->line))) {
        return L1_SYNC_BUFFERED;
    }
    bool apart = x->state == L1_R     ? (words & ~denovo_registered(x->unit, x->line)) != 0
                 : x->state == L1_SYP ? (words & ~asked_together(x, words)) != 0
                                      : false;
    return apart ? L1_SYNC_BUFFERED : L1_SYNC;
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    if (denovo_l1_whole(x)) {
        return classify_whole(x);
    }
    bool held = gpc_has_word(x, gpc_sb_held(x->unit, x->line));
    bool local = x->unit->protocol->order.local_scopes && x->msg->scope <= GPC_SCOPE_CU;

    if (x->cause == GPC_MSG_ATOMIC || (x->msg->order != GPC_ORDER_WEAK && !local)) {
        return held ? L1_SYNC_BUFFERED : L1_SYNC;
    }
    if (x->cause == GPC_MSG_STORE) {
        return L1_STORE;
    }
    if (held && x->state != L1_V) {
        return L1_LOAD_BUFFERED; /* a store updates the valid word */
    }
    return x->state == L1_I && is_coming(x) ? L1_LOAD_COMING : L1_LOAD;
}

static gpc_event_id_t
classify_data(const gpc_step_t *x)
{
    const denovo_l1_mshr_t *mshr = x->mshr == GPC_NONE ? NULL : denovo_l1_mshr(x);
    bool skipped = (mshr && gpc_has_word(x, mshr->skip)) || gpc_has_word(x, gpc_sb_held(x->unit, x->line));

    if (gpc_has_word(x, (gpc_mask_t) gpc_demanded_message(x->msg)->demanded)) {
        return skipped ? L1_DATA_SKIPPED : L1_DATA;
    }
    return !mshr || mshr->poisoned || skipped ? L1_EXTRA_BARRED : L1_EXTRA;
}

static gpc_event_id_t
classify_registered(const gpc_step_t *x)
{
    const gpc_list_t *taking = &denovo_l1_mshr(x)->taking;
    gpc_index_t i = taking->head;

    for (uint32_t n = taking->count; n; n--) {
        if (gpc_has_word(x, gpc_msg_at(x->unit->messages, i)->mask)) {
            return L1_REGISTERED_TAKEN;
        }
        i = gpc_msg_at(x->unit->messages, i)->next;
    }
    return L1_REGISTERED;
}

gpc_event_id_t
denovo_l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return classify_request(x);
        case GPC_MSG_REPLAY:
            return L1_DRAIN;
        case GPC_MSG_ACQUIRE:
        case GPC_MSG_KERNEL_BEGIN:
            return L1_ACQUIRE;
        case GPC_MSG_EVICT:
            return L1_EVICT;
        case DENOVO_DATA:
            return classify_data(x);
        case DENOVO_REGISTERED:
        case DENOVO_REGISTERED_SYNC:
            return x->mshr == GPC_NONE ? GPC_NO_EVENT : classify_registered(x);
        case DENOVO_FORWARD_READ:
            return L1_FORWARD_READ;
        case DENOVO_FORWARD_TAKE:
        case DENOVO_FORWARD_TAKE_SYNC:
            return L1_FORWARD_TAKE;
        case DENOVO_RECALL:
            return L1_RECALL;
        case DENOVO_WRITE_BACK_OK:
            return L1_WRITTEN_BACK;
        case DENOVO_WRITE_BACK_STALE:
            return L1_STALE;
        default:
            return GPC_NO_EVENT;
    }
}

/* By the facts that classify_request and classify_data read of a word. */
gpc_mask_t
denovo_l1_alike(const gpc_step_t *x)
{
    bool of_core = x->cause <= GPC_MSG_ATOMIC;
    gpc_mask_t skip = x->mshr == GPC_NONE ? GPC_NO_WORDS : denovo_l1_mshr(x)->skip;

    if (x->cause == DENOVO_REGISTERED || x->cause == DENOVO_REGISTERED_SYNC) {
        return x->mask; /* each may be awaited by another message */
    }
    if (!of_core && x->cause != DENOVO_DATA) {
        return UINT32_MAX;
    }
    gpc_mask_t same = denovo_same_side(x, gpc_sb_held(x->unit, x->line)) & denovo_same_side(x, skip);
    return of_core ? same : same & denovo_same_side(x, (gpc_mask_t) gpc_demanded_message(x->msg)->demanded);
}

/* ---- actions: own accesses --------------------------------------------------------------------------------------- */

uint32_t
denovo_l1_mshrs(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l1_mshrs + WRITE_BACK_LINES;
}

/* Lines in the write-back buffer have transactions beside the machine's MSHRs. */
GPC_SHARED_ACTION(dn_act_reserve, "reserve a way, evicting its victim, or hold")
{
    const gpc_controller_t *unit = x->unit;
    uint32_t requests = unit->mshrs.entries.state->in_use - denovo_l1_unit(unit)->leaving;

    return x->fresh && requests > unit->machine->l1_mshrs ? GPC_HOLD : gpc_reserve_way(x);
}

static int
ask(gpc_step_t *x, uint8_t type)
{
    return gpc_send_mask(x, type, gpc_home_of(x->unit, x->line));
}

GPC_SHARED_ACTION(dn_act_read, "send READ; the request becomes pending")
{
    gpc_count(x, load_misses);
    GPC_TRY(ask(x, DENOVO_READ));
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(dn_act_skip, "the answer must not overwrite these words")
{
    denovo_l1_mshr(x)->skip |= x->mask;
    return GPC_OK;
}

GPC_SHARED_ACTION(dn_act_register, "send REGISTER; the words of the store buffer count as sent")
{
    gpc_sb_sent(gpc_sb_find(x->unit, x->line), x->mask);
    return ask(x, DENOVO_REGISTER);
}

/* Some words of an access of 64 bits may be valid: it has two cells. */
static int
keep_once(gpc_step_t *x)
{
    if (x->kept) {
        return GPC_OK;
    }
    gpc_count_own(x, DENOVO_COUNT_sync_misses);
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(dn_act_register_sync, "send REGISTER_SYNC; the access becomes pending")
{
    gpc_msg_t *msg = gpc_new_message(x, DENOVO_REGISTER_SYNC, gpc_home_of(x->unit, x->line));
    msg->mask = x->mask;
    msg->flags |= denovo_l1_whole(x) ? DENOVO_FLAG_WHOLE : 0;
    GPC_TRY(gpc_send(x, msg));
    return keep_once(x);
}

GPC_SHARED_ACTION(dn_act_join_syncs, "the access joins the pending ones")
{
    return keep_once(x);
}

/* While other words of the line are in transit, it cannot leave. */
GPC_SHARED_ACTION(dn_act_give_up, "write back the line's registered words, as for an eviction")
{
    int status = x->mshr == GPC_NONE ? gpc_controller_cause(x->unit, GPC_MSG_EVICT, x->line) : GPC_OK;
    x->way = gpc_tags_find(&x->unit->arrays[0], x->line);
    return status > 0 ? GPC_OK : status;
}

GPC_SHARED_ACTION(dn_act_perform, "perform the synchronisation access on the registered words")
{
    gpc_count_own(x, DENOVO_COUNT_sync_hits);
    return gpc_perform_and_complete(x, x->message, true);
}

/* An answer in flight may carry the words' older values: an L2 that recalls them would let it install these. */
GPC_SHARED_ACTION(dn_act_run_syncs, "perform the pending synchronisation accesses in order; answers skip these words")
{
    denovo_l1_mshr(x)->skip |= x->mask;
    return gpc_act(words_act_perform_pending, x);
}

/* Grants of parts of what an access of 64 bits asked for wait for the last one, which then has the words of all. The
 * pending accesses are performed on them at once. */
int
denovo_l1_gather(gpc_step_t *x)
{
    gpc_mask_t words, have = x->mask;
    gpc_index_t i;

    if (x->cause != DENOVO_REGISTERED_SYNC || x->mshr == GPC_NONE || !(words = asked_together(x, x->mask))) {
        return GPC_OK;
    }
    gpc_list_t *granted = &denovo_l1_mshr(x)->granted;
    i = granted->head;
    for (uint32_t n = granted->count; n; n--) {
        have |= gpc_msg_at(x->unit->messages, i)->mask;
        i = gpc_msg_at(x->unit->messages, i)->next;
    }
    if (words & ~have) {
        gpc_list_push(granted, x->unit->messages, x->message);
        x->kept = true;
        x->mask = GPC_NO_WORDS;
        return GPC_OK;
    }
    while ((i = gpc_take_words(x->unit, granted, words)) != GPC_NONE) {
        const gpc_msg_t *part = gpc_msg_at(x->unit->messages, i);
        gpc_merge_words(x->msg->data, part->data, part->mask);
        gpc_free_message(x->unit, i);
    }
    x->mask = x->msg->mask = words;
    gpc_merge_words(gpc_line_words(x), x->msg->data, words);
    GPC_TRY(gpc_act(dn_act_run_syncs, x));
    gpc_merge_words(x->msg->data, gpc_line_words(x), words);
    return GPC_OK;
}

GPC_SHARED_ACTION(dn_act_write_back, "move the words to the write-back buffer, or hold; send WRITE_BACK; free the way")
{
    denovo_l1_mshr_t *mshr = denovo_l1_mshr(x);
    if (denovo_l1_unit(x->unit)->leaving == WRITE_BACK_LINES) {
        return GPC_HOLD;
    }
    denovo_l1_unit(x->unit)->leaving++;
    mshr->leaving = x->mask;
    gpc_merge_words(mshr->words.word, gpc_line_words(x), x->mask);
    gpc_count(x, writebacks);
    GPC_TRY(gpc_send_words(x, DENOVO_WRITE_BACK, gpc_home_of(x->unit, x->line)));
    return gpc_release_way(x);
}

GPC_SHARED_ACTION(dn_act_left, "the words leave the write-back buffer")
{
    denovo_l1_mshr_t *mshr = denovo_l1_mshr(x);
    mshr->leaving &= ~x->mask;
    denovo_l1_unit(x->unit)->leaving -= mshr->leaving == GPC_NO_WORDS;
    return GPC_OK;
}

/* ---- actions: answers -------------------------------------------------------------------------------------------- */

GPC_SHARED_ACTION(dn_act_poison, "other words of the answer are not to be kept either")
{
    denovo_l1_mshr(x)->poisoned = 1;
    return GPC_OK;
}

GPC_SHARED_ACTION(dn_act_complete_reads, "complete the pending requests for these words")
{
    gpc_index_t request;

    gpc_sb_overlay(x->unit, x->line, x->mask, x->msg->data);
    while ((request = gpc_take_words(x->unit, gpc_step_pending(x), x->mask)) != GPC_NONE) {
        GPC_TRY(gpc_sb_complete(x, request, x->unit->replay));
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(dn_act_take_buffered,
                  "move the words from the store buffer into the line: their stores are performed")
{
    gpc_index_t at = gpc_part_find(gpc_sb_part(x->unit), x->line);
    gpc_sb_entry_t *entry = gpc_sb_entry_at(x->unit, at);

    denovo_l1_mshr(x)->skip |= x->mask; /* as in dn_act_run_syncs */
    gpc_merge_words(gpc_line_words(x), entry->words.word, x->mask);
    int status = gpc_note_drained(x, x->mask, entry->words.word, 0);
    if (status == GPC_OK) {
        status = gpc_sb_performed(x, entry, x->mask);
    }
    GPC_TRY(status);
    return gpc_controller_entry(x->unit, GPC_SB_TABLE, GPC_SB_PART, at, DENOVO_REGISTERED, GPC_NONE);
}

/* ---- actions: forwards ------------------------------------------------------------------------------------------- */

/* Sends the words to the requester of x's message; `mask` may have more words than were demanded. */
static int
send_words(gpc_step_t *x, uint8_t type, gpc_mask_t mask, const uint32_t *words)
{
    gpc_msg_t *msg = gpc_new_message(x, type, x->msg->requester);
    gpc_carry(x, msg, mask, words);
    if (type == DENOVO_DATA) {
        gpc_demanded_message(msg)->demanded = x->mask;
    }
    return gpc_send(x, msg);
}

static int
pass_on(gpc_step_t *x, const uint32_t *words)
{
    gpc_count_own(x, DENOVO_COUNT_remote_takes);
    return send_words(x, x->cause == DENOVO_FORWARD_TAKE ? DENOVO_REGISTERED : DENOVO_REGISTERED_SYNC, x->mask, words);
}

gpc_mask_t
denovo_registered(const gpc_controller_t *l1, gpc_address_t line)
{
    const gpc_tags_t *tags = &l1->arrays[0];
    gpc_index_t way = gpc_tags_find(tags, line);

    return way == GPC_NONE ? GPC_NO_WORDS : gpc_tags_words_in(tags, way, L1_R);
}

GPC_SHARED_ACTION(dn_act_serve_read, "send DATA: these words and the line's other registered ones")
{
    gpc_count_own(x, DENOVO_COUNT_remote_reads);
    return send_words(x, DENOVO_DATA, x->mask | denovo_registered(x->unit, x->line), gpc_line_words(x));
}

GPC_SHARED_ACTION(dn_act_grant, "send REGISTERED, or REGISTERED_SYNC with the words, to the new owner")
{
    return pass_on(x, gpc_line_words(x));
}

GPC_SHARED_ACTION(dn_act_give_back, "send RECALLED with the words")
{
    return gpc_send_words(x, DENOVO_RECALLED, gpc_home_of(x->unit, x->line));
}

GPC_SHARED_ACTION(dn_act_serve_leaving, "send DATA from the write-back buffer")
{
    gpc_count_own(x, DENOVO_COUNT_remote_reads);
    return send_words(x, DENOVO_DATA, x->mask, denovo_l1_mshr(x)->words.word);
}

GPC_SHARED_ACTION(dn_act_grant_leaving, "send REGISTERED or REGISTERED_SYNC from the write-back buffer")
{
    return pass_on(x, denovo_l1_mshr(x)->words.word);
}

GPC_SHARED_ACTION(dn_act_give_back_none, "send RECALLED_NONE: the write-back is in flight")
{
    return ask(x, DENOVO_RECALLED_NONE);
}

GPC_SHARED_ACTION(dn_act_bounce, "send READ back to the L2 for the reader: the words are here no more")
{
    gpc_count_own(x, DENOVO_COUNT_bounced_reads);
    return ask(x, DENOVO_READ);
}

static int
queue(gpc_step_t *x, gpc_list_t *list)
{
    gpc_list_push(list, x->unit->messages, x->message);
    x->kept = true;
    return GPC_OK;
}

GPC_SHARED_ACTION(dn_act_queue_read, "the forwarded read waits for the registration")
{
    return queue(x, &denovo_l1_mshr(x)->reads);
}

GPC_SHARED_ACTION(dn_act_queue_taking, "the forward that takes the words waits for the registration")
{
    return queue(x, &denovo_l1_mshr(x)->taking);
}

/* Calls `serve` with a step for each forward in the list that wants some of x's words. */
static int
serve_queued(gpc_step_t *x, gpc_list_t *list, int (*serve)(gpc_step_t *x))
{
    int status = GPC_OK;
    gpc_index_t i;

    while (status == GPC_OK && (i = gpc_take_words(x->unit, list, x->mask)) != GPC_NONE) {
        gpc_step_t its = *x;
        its.message = i;
        its.msg = gpc_msg_at(x->unit->messages, i);
        its.cause = its.msg->type;
        its.mask = its.msg->mask;
        status = serve(&its);
        gpc_free_message(x->unit, i);
    }
    return status;
}

static int
serve_read(gpc_step_t *x)
{
    return gpc_act(dn_act_serve_read, x);
}

static int
serve_taking(gpc_step_t *x)
{
    return gpc_act(x->cause == DENOVO_RECALL ? dn_act_give_back : dn_act_grant, x);
}

GPC_SHARED_ACTION(dn_act_serve_queued_reads, "send DATA for the forwarded reads that wait")
{
    return serve_queued(x, &denovo_l1_mshr(x)->reads, serve_read);
}

GPC_SHARED_ACTION(dn_act_serve_taking, "grant the words to the registration that waits, or give them back to the L2")
{
    return serve_queued(x, &denovo_l1_mshr(x)->taking, serve_taking);
}

int
denovo_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return gpc_controller_flash(l1, 0, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}
