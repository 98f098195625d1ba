/* tc.c: the actions that TC-Strong and TC-Weak share.
 *
 * Paper    Singh et al., HPCA 2013, section 6.
 * Hardened data that has expired on its way serves the load that asked for it and none that merged with it later: those ask again
 *          (a load merged after an acquire would else read what was there before it).
 */
#include "protocols/temporal/tc.h"

enum { TC_L1_STATES(GPC_FSM_STATE_ENUM_, "") };
enum { TC_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };
enum { TC_L2_STATES(GPC_FSM_STATE_ENUM_) };
enum { TC_L2_EVENTS(GPC_FSM_EVENT_ENUM_) };

int
tc_check_lifetime(const char *id, const gpc_machine_t *machine, int64_t lifetime, gpc_failure_t *failure)
{
    gpc_cycle_t longest = tc_longest(machine);
    if (lifetime <= 0 || (gpc_cycle_t) lifetime <= longest) {
        return 0;
    }
    return gpc_fail(failure, GPC_ERROR_OPTION,
                    "%s: lifetime %lld does not fit into timestamp_bits %u, whose last value is %llu: a lifetime up to "
                    "that, or timestamp_bits of %d or more",
                    id, (long long) lifetime, machine->timestamp_bits, (unsigned long long) longest,
                    64 - __builtin_clzll((unsigned long long) lifetime));
}

/* ---- L1 -------------------------------------------------------------------------------------------------------------- */

static baseline_l1_mshr_t *
l1_mshr(const gpc_step_t *x)
{
    return gpc_step_mshr_fields(x);
}

uint32_t
tc_served(const gpc_step_t *x)
{
    const gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;
    uint32_t count = 0;

    for (uint32_t n = pending->count; n; n--) {
        const gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, i);
        count += waiting->request == x->msg->request;
        i = waiting->next;
    }
    return count;
}

bool
tc_is_behind_merged(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return false;
    }
    const gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;

    for (uint32_t n = pending->count; n; n--) {
        const gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, i);
        if (waiting->type == GPC_MSG_LOAD && waiting->warp == x->msg->warp && waiting->request != i) {
            return true;
        }
        i = waiting->next;
    }
    return false;
}

bool
tc_is_last(const gpc_step_t *x)
{
    return l1_mshr(x)->outstanding == 1;
}

int
tc_send_request(gpc_step_t *x, uint8_t type, gpc_cycle_t timestamp, uint8_t flags)
{
    gpc_index_t i = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    if (i == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, i);
    msg->mask = x->msg->mask;
    msg->flags |= flags;
    tc_fields(msg)->timestamp = timestamp;
    if (x->msg->type == GPC_MSG_STORE) {
        gpc_merge_words(msg->data, x->msg->data, msg->mask);
    }
    msg->lanes = x->msg->lanes; /* they come back with the answer */
    x->msg->lanes = GPC_NONE;
    l1_mshr(x)->outstanding++;
    int status = gpc_send(x, i);
    return status ? status : gpc_keep_pending(x);
}

static gpc_event_id_t
classify_read(const gpc_step_t *x)
{
    bool expired = tc_expired(x, tc_fields(x->msg)->timestamp);

    if (expired && tc_served(x) > 1) {
        return L1_READ_AGAIN;
    }
    if (expired && x->state == L1_IV) {
        return L1_READ_EXPIRED;
    }
    return tc_is_last(x) ? L1_LAST_READ : L1_READ;
}

gpc_event_id_t
tc_l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_EVICT) {
        return L1_EVICT;
    }
    if ((x->state == L1_V || x->state == L1_VM) && tc_expired(x, *tc_l1_timestamp(x))) {
        return GPC_PRE_EVENT(L1_EXPIRE);
    }
    switch (x->cause) {
        case GPC_MSG_LOAD: /* one that does not merge would overtake one that did and has to ask again */
            return x->state == L1_II && tc_is_behind_merged(x) ? L1_BEHIND : L1_LOAD;
        case GPC_MSG_STORE:
            return tc_is_behind_merged(x) ? L1_BEHIND : L1_STORE;
        case GPC_MSG_ATOMIC:
            return tc_is_behind_merged(x) ? L1_BEHIND : L1_ATOMIC;
        case MSG_DATA:
            return x->mshr == GPC_NONE ? GPC_NO_EVENT : classify_read(x);
        default:
            return GPC_NO_EVENT;
    }
}

GPC_SHARED_ACTION(act_note_expired_miss, "the load in hand misses because the copy has expired")
{
    if (x->cause == GPC_MSG_LOAD) {
        x->msg->flags |= GPC_MSG_FLAG_EXPIRED_MISS;
        gpc_count(x, expired);
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(tc_act_request_line, "GETS for the load, which is then pending")
{
    gpc_count(x, load_misses);
    return tc_send_request(x, MSG_GETS, 0, x->msg->flags & GPC_MSG_FLAG_EXPIRED_MISS);
}

GPC_SHARED_ACTION(tc_act_fill, "the answer's line and lease")
{
    *tc_l1_timestamp(x) = tc_fields(x->msg)->timestamp;
    return gpc_act(act_fill, x);
}

GPC_SHARED_ACTION(act_complete_first, "the load that asked completes, none of those merged with it")
{
    l1_mshr(x)->outstanding--;
    return gpc_complete(x, gpc_take_pending(x, x->msg->request), x->msg->data, false);
}

GPC_SHARED_ACTION(act_request_again, "the merged loads ask again, together")
{
    gpc_pool_t *messages = x->unit->messages;
    gpc_index_t first = GPC_NONE, i = gpc_step_pending(x)->head;

    for (uint32_t n = gpc_step_pending(x)->count; n; n--) {
        gpc_msg_t *waiting = gpc_msg_at(messages, i);
        if (waiting->request == x->msg->request) {
            first = first == GPC_NONE ? i : first;
            waiting->request = first;
        }
        i = waiting->next;
    }
    gpc_index_t again = gpc_new_message(x, MSG_GETS, gpc_home_of(x->unit, x->line));
    if (again == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(messages, again);
    msg->request = first;
    msg->warp = gpc_msg_at(messages, first)->warp;
    msg->mask = gpc_msg_at(messages, first)->mask;
    l1_mshr(x)->outstanding++;
    gpc_count(x, load_misses);
    return gpc_send(x, again);
}

static uint32_t
rank_by(const gpc_controller_t *unit, gpc_cycle_t timestamp)
{
    return timestamp < unit->ports->now(unit->world) ? 0 : 1;
}

uint32_t
tc_l1_victim_rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return rank_by(unit, ((tc_l1_line_t *) gpc_tags_fields(&unit->arrays[array], way))->timestamp);
}

/* ---- L2 -------------------------------------------------------------------------------------------------------------- */

static bool
has_expired(const gpc_step_t *x)
{
    if (x->state == L2_P || x->state == L2_S) {
        return tc_expired(x, *tc_l2_timestamp(x));
    }
    return x->state == L2_MI && tc_expired(x, *tc_l2_kept_timestamp(x));
}

gpc_event_id_t
tc_l2_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_EXPIRE) {
        return L2_EXPIRE; /* entries have run out, and this one may end */
    }
    if (has_expired(x)) {
        return GPC_PRE_EVENT(L2_EXPIRE);
    }
    if (x->cause == GPC_MSG_EVICT) {
        bool dirty = x->way != GPC_NONE && ((const tc_l2_line_t *) gpc_line_fields(x))->dirty;
        return dirty ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
    }
    return GPC_NO_EVENT;
}

/* A store or atomic that has arrived just now; else the cause is what one has waited for. */
static bool
is_in_hand(const gpc_step_t *x)
{
    return x->cause >= GPC_MSG_OWN;
}

gpc_index_t
tc_writer(const gpc_step_t *x)
{
    return is_in_hand(x) ? x->message : gpc_step_pending(x)->head;
}

static int
answer(gpc_step_t *x, gpc_index_t to, uint8_t type, gpc_cycle_t timestamp, gpc_cycle_t gwct)
{
    gpc_msg_t *asked = gpc_msg_at(x->unit->messages, to);
    const gpc_message_info_t *info = &x->unit->protocol->messages[type - GPC_MSG_OWN];
    gpc_index_t i = gpc_new_message(x, type, asked->source);
    if (i == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, i);
    msg->requester = asked->requester;
    msg->request = asked->request;
    msg->warp = asked->warp;
    msg->lanes = asked->lanes;
    asked->lanes = GPC_NONE;
    tc_fields(msg)->timestamp = timestamp;
    tc_fields(msg)->gwct = gwct;
    if (msg->lanes != GPC_NONE) {
        msg->mask = asked->mask;
    }
    if (info->whole_line) {
        msg->mask = gpc_all_words(x->unit);
        gpc_merge_words(msg->data, gpc_line_words(x), msg->mask);
    }
    return gpc_send(x, i);
}

int
tc_answer_writer(gpc_step_t *x, uint8_t type, gpc_cycle_t gwct)
{
    int status = gpc_note_performed(x, tc_writer(x), gwct);
    if (status == GPC_OK) {
        status = answer(x, tc_writer(x), type, 0, gwct);
    }
    if (!is_in_hand(x)) {
        gpc_free_message(x->unit, gpc_list_pop(gpc_step_pending(x), x->unit->messages));
    }
    return status;
}

void
tc_extend(gpc_step_t *x, gpc_cycle_t lifetime)
{
    gpc_cycle_t *timestamp = tc_l2_timestamp(x), end = tc_later(x->unit, gpc_now(x), lifetime);
    gpc_count(x, leases);
    x->unit->statistics->lease_cycles += lifetime;
    x->unit->statistics->leases_cut += end < gpc_now(x) + lifetime;
    *timestamp = *timestamp > end ? *timestamp : end;
}

GPC_SHARED_ACTION(tc_act_write, "the words of the store in hand, or that waited")
{
    const gpc_msg_t *store = gpc_msg_at(x->unit->messages, tc_writer(x));
    gpc_merge_words(gpc_line_words(x), store->data, store->mask);
    ((tc_l2_line_t *) gpc_line_fields(x))->dirty = 1;
    return GPC_OK;
}

GPC_SHARED_ACTION(tc_act_perform, "the atomic on the line")
{
    const gpc_msg_t *atomic = gpc_msg_at(x->unit->messages, tc_writer(x));
    if (gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, atomic->lanes), gpc_line_words(x))) {
        ((tc_l2_line_t *) gpc_line_fields(x))->dirty = 1;
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(tc_act_fill_line, "memory's line, with the timestamp that the transaction has kept")
{
    *tc_l2_timestamp(x) = *tc_l2_kept_timestamp(x);
    return gpc_act(act_fill_line, x);
}

GPC_SHARED_ACTION(tc_act_answer, "DATA with the timestamp to the load in hand")
{
    gpc_count(x, load_hits);
    return answer(x, x->message, MSG_DATA, *tc_l2_timestamp(x), 0);
}

GPC_SHARED_ACTION(tc_act_answer_all, "DATA with the timestamp to all who wait")
{
    gpc_list_t *pending = gpc_step_pending(x);
    while (pending->count) {
        gpc_index_t i = gpc_list_pop(pending, x->unit->messages);
        int status = answer(x, i, MSG_DATA, *tc_l2_timestamp(x), 0);
        gpc_free_message(x->unit, i);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(act_keep_lease, "the way goes, the timestamp stays in the transaction")
{
    *tc_l2_kept_timestamp(x) = *tc_l2_timestamp(x);
    return gpc_release_way(x);
}

gpc_cycle_t
tc_lease_end(const gpc_controller_t *unit, gpc_index_t mshr)
{
    const gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, mshr);
    if (entry->state != L2_MI) {
        return GPC_NEVER; /* at work for somebody, be it since a moment ago */
    }
    return ((tc_l2_mshr_t *) gpc_mshr_fields(&unit->mshrs, mshr))->timestamp + 1;
}

uint32_t
tc_l2_victim_rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return rank_by(unit, ((tc_l2_line_t *) gpc_tags_fields(&unit->arrays[array], way))->timestamp);
}

/* ---- the host -------------------------------------------------------------------------------------------------------- */

static int
end_lease(gpc_controller_t *bank, gpc_address_t line)
{
    gpc_cycle_t now = bank->ports->now(bank->world);
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line), mshr = gpc_mshr_find(&bank->mshrs, line);
    gpc_cycle_t *timestamp = NULL;

    if (way != GPC_NONE) {
        timestamp = &((tc_l2_line_t *) gpc_tags_fields(&bank->arrays[0], way))->timestamp;
    } else if (mshr != GPC_NONE) {
        timestamp = &((tc_l2_mshr_t *) gpc_mshr_fields(&bank->mshrs, mshr))->timestamp;
    }
    if (!timestamp || *timestamp < now) {
        return GPC_OK; /* over, whether the table has noticed or not */
    }
    *timestamp = 0;
    return gpc_controller_cause(bank, GPC_MSG_EXPIRE, line);
}

int
tc_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
              gpc_mask_t mask, const uint32_t *words)
{
    baseline_drop_copies(cores, num_cores, line);
    int status = end_lease(bank, line);
    return status ? status : baseline_host_write(cores, num_cores, bank, line, mask, words);
}

/* ---- monitors -------------------------------------------------------------------------------------------------------- */

gpc_cycle_t
tc_lease(const gpc_controller_t *l1, gpc_index_t way)
{
    return ((const tc_l1_line_t *) gpc_tags_fields(&l1->arrays[0], way))->timestamp;
}

gpc_cycle_t
tc_leased(const gpc_controller_t *bank, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line), mshr = gpc_mshr_find(&bank->mshrs, line);
    gpc_cycle_t beside = 0, kept = 0;

    if (way != GPC_NONE) {
        beside = ((const tc_l2_line_t *) gpc_tags_fields(&bank->arrays[0], way))->timestamp;
    }
    if (mshr != GPC_NONE) {
        kept = ((const tc_l2_mshr_t *) gpc_mshr_fields(&bank->mshrs, mshr))->timestamp;
    }
    return beside > kept ? beside : kept;
}

int
tc_check_private(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                 uint8_t private_state)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    const gpc_watched_t *watched = bank->protocol->watched;
    gpc_cycle_t now = bank->ports->now(bank->world);
    uint32_t copies = 0;

    if (way == GPC_NONE || bank->arrays[0].tags[way].mshr != GPC_NONE ||
        bank->arrays[0].tags[way].state != private_state || tc_leased(bank, line) < now) {
        return GPC_OK;
    }
    for (uint32_t i = 0; i < num_cores; i++) {
        gpc_index_t copy;
        uint8_t state = gpc_state_at(cores[i], line, 0, &copy);
        copies += gpc_is_among(watched->copies, state) && copy != GPC_NONE && tc_lease(cores[i], copy) >= now;
    }
    return copies < 2 ? GPC_OK
                      : gpc_violated(bank, line, "a private line has one unexpired copy", "%u L1s have one", copies);
}
