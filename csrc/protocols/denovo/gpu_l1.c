/* gpu_l1.c: the L1 of gpu-drf and gpu-hrf: events and actions.
 *
 * Paper    Sinclair et al., MICRO 2015, section 3: an acquire invalidates the whole cache; stores are written through,
 *          buffered and coalesced until the next release or until the buffer is full; synchronisation is performed at
 *          the L2.
 * Inferred loads find their words in the store buffer, or in the line, whose copy a store updates; a store allocates no
 *          way. A line that was requested before an acquire serves the loads that wait for it, and is not kept. Words
 *          stored after the request (or in the buffer then) are overlaid on the line that returns, also for the loads
 *          that wait, since a load of the storing warp may be among them. Synchronisation on a word in the store buffer
 *          waits until the word is at the L2.
 */
#include "protocols/denovo/gpu.h"

enum { GPU_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { GPU_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };

/* ---- classification ---------------------------------------------------------------------------------------------- */

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    gpc_mask_t held = gpc_sb_held(x->unit, x->line) & x->mask;
    bool local = x->unit->protocol->order.local_scopes && x->msg->scope <= GPC_SCOPE_CU;

    if (x->cause == GPC_MSG_ATOMIC || (x->msg->order != GPC_ORDER_WEAK && !local)) {
        return held ? L1_SYNC_BUFFERED : L1_SYNC;
    }
    if (x->cause == GPC_MSG_STORE) {
        return L1_STORE;
    }
    return held == x->mask && x->state != L1_V ? L1_LOAD_BUFFERED : L1_LOAD;
}

gpc_event_id_t
gpu_l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return classify_request(x);
        case GPC_MSG_ACQUIRE:
        case GPC_MSG_KERNEL_BEGIN:
            return L1_ACQUIRE;
        case GPC_MSG_EVICT:
            return L1_EVICT;
        case GPU_DATA:
            return L1_DATA;
        case GPU_SYNC_DATA:
        case GPU_SYNC_ACK:
        case GPU_ATOMIC_DATA:
            return L1_SYNC_DONE;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions of the table over lines ----------------------------------------------------------------------------- */

/* The line's words in the store buffer will not be in the line that returns, or are newer. */
static void
skip(gpc_step_t *x, gpc_mask_t mask)
{
    const gpc_sb_entry_t *entry = gpc_sb_find(x->unit, x->line);
    if (entry) {
        gpu_l1_mshr(x)->skip |= mask;
        gpc_merge_words(gpu_l1_mshr(x)->overlay.word, entry->words.word, mask);
    }
}

GPC_SHARED_ACTION(gpu_act_read, "send READ; the request becomes pending")
{
    gpc_msg_t *msg = gpc_new_message(x, GPU_READ, gpc_home_of(x->unit, x->line));
    msg->mask = x->mask;
    skip(x, gpc_sb_held(x->unit, x->line));
    gpc_count(x, load_misses);
    GPC_TRY(gpc_send(x, msg));
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(gpu_act_skip, "overlay the words on the line when it returns")
{
    skip(x, x->mask);
    return GPC_OK;
}

GPC_SHARED_ACTION(gpu_act_send_sync, "send SYNC_READ, SYNC_WRITE or ATOMIC; the access is kept until the answer")
{
    uint8_t type = x->cause == GPC_MSG_LOAD ? GPU_SYNC_READ : x->cause == GPC_MSG_STORE ? GPU_SYNC_WRITE : GPU_ATOMIC;
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, type));
}

GPC_SHARED_ACTION(gpu_act_overlay, "overlay own words on the line that has returned")
{
    gpc_merge_words(x->msg->data, gpu_l1_mshr(x)->overlay.word, gpu_l1_mshr(x)->skip);
    gpc_sb_overlay(x->unit, x->line, gpc_all_words(x->unit), x->msg->data);
    return GPC_OK;
}

GPC_SHARED_ACTION(gpu_act_complete_pending, "complete every pending request")
{
    gpc_index_t request;
    while ((request = gpc_pop_pending(x)) != GPC_NONE) {
        GPC_TRY(gpc_sb_complete(x, request, &gpc_mshr_at(&x->unit->mshrs, x->mshr)->waiters));
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(gpu_act_complete_sync, "complete the access that the answer names")
{
    gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, x->msg->request);
    waiting->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete(x, x->msg->request, x->msg->data, false);
}

/* ---- what both protocols declare --------------------------------------------------------------------------------- */

int
gpu_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return gpc_controller_flash(l1, 0, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

const gpc_watched_t gpu_watched = {
    .promise = GPC_PROMISE_ACQUIRED, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_IV, .bank_is_whole = true};

/* Words in a store buffer are newer than the L2's. */
int
gpu_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    int status = gpc_host_read(units, line, mask, words);
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_sb_overlay(units->cores[i], line, mask, words);
    }
    return status;
}
