/* wt.c: WT, the paper's write-through baseline: L1s without store buffers, which acquires and kernel begins invalidate.
 *
 * Paper    Hechtman et al., HPCA 2014, sections 2.2 and 2.4.1: an acquire invalidates the L1, a release waits for all
 *          prior writes to be visible globally. No table is printed: every cell is inferred.
 * Inferred stores allocate no line and update a present one. A store to a line that is being read is overlaid on it; so
 *          that a load does not read its warp's later store, that store waits for it (`same_word`). A line read before
 *          an acquire serves the loads that wait and is not kept. Relaxed loads and stronger ones, and atomics, go past
 *          the L1 and drop its copy; such a load is answered by 32-byte sectors, as loads of the system without L1s are
 *          (section 5.1: "similar to NVIDIA's Kepler"). A release waits for all writes that its CU has sent before,
 *          those of other wavefronts too: one that has read another's store early would not order it otherwise, which
 *          breaks transitivity (section 3 rejects S-FIFOs per wavefront for that reason). barrier() is a release, once
 *          a block (with barrier=local it is none); no barrier is an acquire. The L1 has no MSHRs beside its lines
 *          (section 1): as many lines as it has may be outstanding.
 */
#include "protocols/quickrelease/write_through.h"

enum { OPTION_FILL, OPTION_BARRIER };
enum { FILL_LINE, FILL_SECTOR };

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "valid until the next acquire or kernel begin")                                                    \
    X(L1_P, TRANSIENT_CACHE, "read outstanding; later loads join, stores are overlaid")                                \
    X(L1_PX, TRANSIENT_COHERENCE, "the same, but the line will not be kept: an acquire or synchronisation came later")
#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "weak load of a warp")                                                                                  \
    X(L1_STORE, "store of a warp")                                                                                     \
    X(L1_SYNC, "load of order relaxed or stronger, or atomic: performed beyond the L1")                                \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_ACQUIRE, "acquire part of an access or fence; begin of a kernel")                                             \
    X(L1_DATA, "line returned")                                                                                        \
    X(L1_DONE, "a store or synchronisation is done")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L1_LINE(FIELD) FIELD(STATISTIC, uint32_t, filled) /* the unit's number of acquires then */
GPC_METADATA(wt_l1, line, L1_LINE)
#define L1_MSHR(FIELD)                                                                                                 \
    FIELD(PLAIN, gpc_mask_t, overlay) /* words stored since the read */                                                \
    FIELD(DATA, wt_words_t, words)    /* their values */
GPC_METADATA(wt_l1, mshr, L1_MSHR)
#define L1_UNIT(FIELD)                                                                                                 \
    FIELD(REQUEST, gpc_list_t, writes)    /* stores that are not acknowledged, the oldest first */                     \
    FIELD(PLAIN, uint64_t, releasing)     /* warps whose release waits */                                              \
    FIELD(STATISTIC, uint32_t, acquires)
GPC_METADATA(wt_l1, unit, L1_UNIT)
#define L1_WARP(FIELD)                                                                                                 \
    FIELD(PLAIN, uint32_t, writes) /* the first ones of the unit's list, which its release waits for */                \
    FIELD(PLAIN, uint8_t, releases) /* a release is in progress */
GPC_METADATA(wt_l1, warp, L1_WARP)

#define L1_COUNTERS(X, P) X(P, hits_across_acquires, "hits on lines filled before the CU's last acquire or kernel begin")
GPC_COUNTS(WT_L1, L1_COUNTERS)

static gpc_event_id_t
classify_answer(const gpc_step_t *x)
{
    const gpc_msg_t *first = gpc_first_pending(x);
    return first && first->request == x->msg->request ? L1_DATA : L1_DONE;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return x->msg->order == GPC_ORDER_WEAK ? L1_LOAD : L1_SYNC;
        case WT_DATA:
            return classify_answer(x);
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_read, "send GETS; the load is pending")
{
    gpc_count(x, load_misses);
    GPC_TRY(gpc_send(x, gpc_new_request(x, WT_GETS)));
    return gpc_keep_pending(x);
}

GPC_ACTION(wt_act_hit, "complete the load from the line")
{
    x->unit->own_counters[WT_L1_hits_across_acquires] += wt_l1_line(x)->filled != wt_l1_unit(x->unit)->acquires;
    return gpc_act(act_hit, x);
}

GPC_ACTION(act_send_store, "send GETX with the words; the store is one of the unit's writes")
{
    gpc_msg_t *msg = gpc_new_request(x, WT_GETX);
    gpc_list_push(&wt_l1_unit(x->unit)->writes, x->unit->messages, x->message);
    x->kept = true;
    return gpc_send(x, msg);
}

GPC_ACTION(act_overlay, "overlay the words on the line when it comes")
{
    wt_l1_mshr(x)->overlay |= x->msg->mask;
    gpc_merge_words(wt_l1_mshr(x)->words.word, x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_ACTION(act_send_sync, "send GET_SECTORS (with fill=line GETS) or ATOMIC; the access is kept until the answer")
{
    uint8_t get = x->unit->options[OPTION_FILL] == FILL_SECTOR ? WT_GET_SECTORS : WT_GETS;
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, x->cause == GPC_MSG_LOAD ? get : WT_ATOMIC));
}

GPC_ACTION(act_serve_pending, "complete every pending load from the line with the words stored since")
{
    gpc_merge_words(x->msg->data, wt_l1_mshr(x)->words.word, wt_l1_mshr(x)->overlay);
    return gpc_complete_pending(x, x->msg->data);
}

GPC_ACTION(wt_act_fill, "fill the reserved way")
{
    wt_l1_line(x)->filled = wt_l1_unit(x->unit)->acquires;
    return gpc_act(act_fill, x);
}

/* The write leaves the unit's list: one fewer for the releases that began behind it. */
static int
take_write(gpc_controller_t *unit, gpc_index_t write)
{
    gpc_list_t *writes = &wt_l1_unit(unit)->writes;
    gpc_index_t previous = GPC_NONE, i = writes->head;
    uint32_t place = 0;
    int status = GPC_OK;

    for (; i != write; i = gpc_msg_at(unit->messages, i)->next, place++) {
        previous = i;
    }
    gpc_list_remove_after(writes, unit->messages, previous, write);
    if (writes->count == 0) {
        gpc_list_clear(writes);
    }
    for (uint64_t left = wt_l1_unit(unit)->releasing; left && status == GPC_OK; left &= left - 1) {
        uint16_t warp = (uint16_t) __builtin_ctzll(left);
        if (wt_l1_warp(unit, warp)->writes > place && --wt_l1_warp(unit, warp)->writes == 0) {
            wt_l1_unit(unit)->releasing &= ~(UINT64_C(1) << warp);
            status = unit->ports->wake_warp(unit->world, unit, warp, 0);
        }
    }
    return status;
}

GPC_ACTION(act_complete_named, "complete the access that the answer names; releases that waited for a write go on")
{
    gpc_index_t request = x->msg->request;
    gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, request);
    int status = x->cause == WT_ACK ? take_write(x->unit, request) : GPC_OK;

    waiting->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    GPC_TRY(status);
    return gpc_complete(x, request, x->msg->data, false);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_P, act_reserve_way, act_read),
        [L1_STORE] = GO(L1_I, act_send_store), /* no way is allocated */
        [L1_SYNC] = GO(L1_I, act_send_sync),
        [L1_DONE] = GO(L1_I, act_complete_named),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, wt_act_hit),
        [L1_STORE] = GO(L1_V, act_write_line, act_send_store),
        [L1_SYNC] = GO(L1_I, act_send_sync),
        [L1_EVICT] = GO(L1_I),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_DONE] = GO(L1_V, act_complete_named),
    },
    [L1_P] = {
        [L1_LOAD] = GO(L1_P, act_merge),
        [L1_STORE] = GO(L1_P, act_overlay, act_send_store),
        [L1_SYNC] = GO(L1_PX, act_release_way, act_send_sync),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the line */
        [L1_ACQUIRE] = GO(L1_PX, act_release_way),
        [L1_DATA] = GO(L1_V, act_serve_pending, wt_act_fill),
        [L1_DONE] = GO(L1_P, act_complete_named),
    },
    [L1_PX] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE, /* it must not read what the acquire has made stale */
        [L1_STORE] = GO(L1_PX, act_overlay, act_send_store),
        [L1_SYNC] = GO(L1_PX, act_send_sync),
        [L1_ACQUIRE] = GO(L1_PX),
        [L1_DATA] = GO(L1_I, act_serve_pending),
        [L1_DONE] = GO(L1_PX, act_complete_named),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
                               .causes = {ON(GPC_MSG_STORE, L1_STORE), ON(GPC_MSG_ATOMIC, L1_SYNC),
                                          ON(GPC_MSG_EVICT, L1_EVICT), ON(GPC_MSG_ACQUIRE, L1_ACQUIRE),
                                          ON(GPC_MSG_KERNEL_BEGIN, L1_ACQUIRE), ON(WT_SECTORS, L1_DONE),
                                          ON(WT_ACK, L1_DONE), ON(WT_ATOMIC_DATA, L1_DONE)}};

static uint32_t
l1_lines(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l1_bytes / machine->line_bytes;
}

/* A kernel's begin is an acquire, whose cells drop every line. */
static void
launch(gpc_controller_t *unit, uint8_t cause)
{
    const gpc_tags_t *tags = &unit->arrays[0];

    if (cause == GPC_MSG_KERNEL_BEGIN) {
        wt_l1_unit(unit)->acquires++;
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            unit->statistics->self_invalidations += gpc_tags_present(tags, way);
        }
    }
}

static const gpc_controller_type_t wt_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = wt_l1_line_described, .has_data = true}},
    .mshr = wt_l1_mshr_described,
    .unit = wt_l1_unit_described,
    .warp = wt_l1_warp_described,
    .counters = WT_L1_info,
    .mshrs = l1_lines,
    .launch = launch,
};

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int
release(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    wt_l1_warp_t *fields = wt_l1_warp(unit, warp);
    (void) scope, (void) until; /* every scope waits; wake_warp ends the wait */
    if (!fields->releases) {
        fields->releases = 1;
        fields->writes = wt_l1_unit(unit)->writes.count;
        wt_l1_unit(unit)->releasing |= (uint64_t) (fields->writes != 0) << warp;
    }
    if (fields->writes) {
        return GPC_HOLD;
    }
    fields->releases = 0;
    return GPC_OK;
}

/* The end of a kernel waits for the end of each warp, which waits for the warp's own writes. */
static int
end(gpc_controller_t *unit, uint16_t warp, gpc_cycle_t *until)
{
    (void) unit, (void) warp, (void) until;
    return GPC_OK;
}

static int
acquire(gpc_controller_t *unit, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    wt_l1_unit(unit)->acquires++;
    return gpc_controller_flash(unit, 0, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

static const gpc_watched_t watched = {
    .promise = GPC_PROMISE_ACQUIRED, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_P, .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_wt = {
    .id = "wt",
    .name = "WT",
    .paper = "Hechtman et al., HPCA 2014",
    .family = "synchronisation FIFOs",
    .text = "write-through to memory; acquires and kernel begins invalidate the L1, releases wait for the CU's writes",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&wt_l1, &wt_l2, &wt_l3},
    GPC_MESSAGES_OF(WT),
    .message = wt_message_described,
    .networks = WT_NETWORKS,
    .order = {.release = release,
              .release_travels = true,
              .exit = end,
              .acquire = acquire,
              .keeps_own = true,
              .same_word = true,
              .barrier_releases = true,
              .barrier_option = GPC_OPTION(OPTION_BARRIER),
              .barrier_keeps_copies = true},
    .options = {[OPTION_FILL] = GPC_CHOICE("fill", FILL_SECTOR, FILL_SECTOR, "line sector",
                                           "what answers a load past the L1: the line, or its 32-byte sectors with "
                                           "requested words"),
                [OPTION_BARRIER] = QR_BARRIER_OPTION},
    .declared = {.weak_outcomes = "SB MP LB", .variations = "fill=line barrier=local"},
    .host_write = wt_host_write,
    .watched = &watched,
};
