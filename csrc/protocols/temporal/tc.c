/* tc.c: actions shared by TC-Strong and TC-Weak.
 *
 * Paper    Singh et al., HPCA 2013, section 6.
 * Hardened data that expires in flight serves the loads issued no later than its timestamp: the load that requested it,
 *          and those that merged with it until then. Younger ones are requested again: a load issued after an acquire
 *          would otherwise read a value from before the acquire.
 */
#include "protocols/temporal/tc.h"

enum { TC_L1_STATES(GPC_FSM_STATE_ENUM_, "") };
enum { TC_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };
enum { TC_L2_STATES(GPC_FSM_STATE_ENUM_) };
enum { TC_L2_EVENTS(GPC_FSM_EVENT_ENUM_) };

int
tc_check_lifetime(const char *id, const gpc_machine_t *machine, int64_t lifetime, gpc_failure_t *failure)
{
    gpc_cycle_t longest = gpc_longest_time(machine);
    if (lifetime <= 0 || (gpc_cycle_t) lifetime <= longest) {
        return GPC_OK;
    }
    return gpc_fail(
        failure, GPC_ERROR_OPTION,
        "%s: lifetime %lld exceeds the largest timestamp of timestamp_bits %u (%llu): reduce the lifetime, or "
        "set timestamp_bits to %d or more",
        id, (long long) lifetime, machine->timestamp_bits, (unsigned long long) longest,
        64 - __builtin_clzll((unsigned long long) lifetime));
}

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

bool
tc_serves(const gpc_msg_t *answer, const gpc_msg_t *load)
{
    return load->issued <= tc_message(answer)->timestamp;
}

bool
tc_is_behind_merged(const gpc_step_t *x)
{
    GPC_FOR_PENDING(x, waiting)
    {
        bool merged = waiting->request != gpc_msg_index(x->unit->messages, waiting);
        if (merged && waiting->type == GPC_MSG_LOAD && waiting->warp == x->msg->warp) {
            return true;
        }
    }
    return false;
}

int
tc_send_timed(gpc_step_t *x, uint8_t type, gpc_cycle_t timestamp)
{
    gpc_msg_t *msg = gpc_new_request(x, type);
    tc_message(msg)->timestamp = timestamp;
    return gpc_send_and_wait(x, msg);
}

static gpc_event_id_t
classify_read(const gpc_step_t *x)
{
    bool expired = gpc_expired(x, tc_message(x->msg)->timestamp);

    if (expired && gpc_leaves_loads(x, tc_serves)) {
        return L1_READ_AGAIN;
    }
    if (expired && x->state == L1_IV) {
        return L1_READ_EXPIRED;
    }
    return gpc_is_last_answer(x) ? L1_LAST_READ : L1_READ;
}

gpc_event_id_t
tc_l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD: /* in II it does not merge, and would overtake a merged load that is requested again */
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

GPC_SHARED_ACTION(act_note_expired_miss, "count the load as a miss on an expired copy")
{
    if (x->cause == GPC_MSG_LOAD) {
        x->msg->flags |= GPC_MSG_FLAG_EXPIRED_MISS;
        gpc_count(x, expired);
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(tc_act_request_line, "send GETS; the load becomes pending")
{
    gpc_count(x, load_misses);
    gpc_msg_t *msg = gpc_new_request(x, MSG_GETS);
    msg->flags |= x->msg->flags & GPC_MSG_FLAG_EXPIRED_MISS;
    return gpc_send_and_wait(x, msg);
}

GPC_SHARED_ACTION(tc_act_fill, "fill the line and its lease from the answer")
{
    tc_l1_line(x)->timestamp = tc_message(x->msg)->timestamp;
    return gpc_act(act_fill, x);
}

GPC_SHARED_ACTION(act_request_again, "send GETS again, for the loads issued after the data's timestamp together")
{
    gpc_msg_t *again = gpc_request_again(x, MSG_GETS, tc_serves);
    gpc_count(x, load_misses);
    return gpc_send_outstanding(x, again);
}

/* ---- L2 ---------------------------------------------------------------------------------------------------------- */

int
tc_answer_writer(gpc_step_t *x, uint8_t type, gpc_cycle_t gwct)
{
    gpc_msg_t *answer = gpc_new_writer_answer(x, type, gwct);
    tc_message(answer)->gwct = gwct;
    return gpc_answer_writer(x, answer);
}

GPC_SHARED_ACTION(tc_act_fill_line, "fill the way from memory, with the timestamp kept in the MSHR")
{
    tc_l2_line(x)->timestamp = tc_l2_mshr(x)->timestamp;
    return gpc_act(act_fill_line, x);
}

GPC_STAMPED_ANSWER(answer_read, tc_message, tc_l2_line, timestamp)

GPC_SHARED_ACTION(tc_act_answer, "send DATA with the timestamp to the requester")
{
    gpc_count(x, load_hits);
    return answer_read(x, x->message, MSG_DATA);
}

GPC_SHARED_ACTION(tc_act_answer_all, "send DATA with the timestamp to all pending loads")
{
    return gpc_answer_pending(x, MSG_DATA, answer_read);
}

GPC_SHARED_ACTION(act_keep_lease, "free the way, keep the timestamp in the MSHR")
{
    tc_l2_mshr(x)->timestamp = tc_l2_line(x)->timestamp;
    return gpc_release_way(x);
}

gpc_cycle_t
tc_lease_end(const gpc_controller_t *unit, gpc_index_t mshr)
{
    const gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, mshr);
    if (entry->state != L2_MI) {
        return GPC_NEVER; /* in use by an outstanding miss */
    }
    return tc_l2_mshr_at(unit, mshr)->timestamp + 1;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

static int
end_lease(gpc_controller_t *bank, gpc_address_t line)
{
    gpc_cycle_t now = gpc_now_at(bank);
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line), mshr = gpc_mshr_find(&bank->mshrs, line);
    gpc_cycle_t *timestamp = NULL;

    if (way != GPC_NONE) {
        timestamp = &tc_l2_line_at(bank, 0, way)->timestamp;
    } else if (mshr != GPC_NONE) {
        timestamp = &tc_l2_mshr_at(bank, mshr)->timestamp;
    }
    if (!timestamp || *timestamp < now) {
        return GPC_OK; /* expired, before or after its EXPIRE event */
    }
    *timestamp = 0;
    return gpc_controller_cause(bank, GPC_MSG_EXPIRE, line);
}

int
tc_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    GPC_TRY(end_lease(units->bank, line));
    return gpc_host_write_alone(units, line, mask, words);
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

int
tc_check_private(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                 uint8_t private_state)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    const gpc_watched_t *watched = bank->protocol->watched;
    gpc_cycle_t now = gpc_now_at(bank);
    uint32_t copies = 0;

    if (way == GPC_NONE || bank->arrays[0].tags[way].mshr != GPC_NONE ||
        bank->arrays[0].tags[way].state != private_state || gpc_leased_at(bank, line) < now) {
        return GPC_OK;
    }
    for (uint32_t i = 0; i < num_cores; i++) {
        gpc_index_t copy;
        uint8_t state = gpc_state_at(cores[i], line, 0, &copy);
        copies += gpc_is_among(watched->copies, state) && copy != GPC_NONE && gpc_lease_at(cores[i], copy) >= now;
    }
    return copies < 2 ? GPC_OK
                      : gpc_violated(bank, line, "a private line has one unexpired copy", "%u L1s have one", copies);
}
