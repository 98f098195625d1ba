/* tc_weak_l2.c: TC-Weak's L2.
 *
 * Paper    Singh et al., HPCA 2013, section 6.3 and table 2 (right half), 6.4 (lifetimes), 4.2 (eviction of live leases
 *          into MSHRs).
 * Inferred the text names neither where predictions begin nor bounds. The authors' public simulator does
 *          (gems-2.1.1/ruby_clean/system/TCpredictor.C): they begin at its fixed lease of 800 cycles, stores shorten
 *          only longer ones (to less than 800 by what is left of one step), and 0 is the least; the timestamps' width
 *          alone limits them above. predictor_bounds=width: they begin at 1024 and stay within 0 to 65535, or the
 *          timestamps' width. A read lengthens them at most once; it predicts before the lease is given. A program uses
 *          fences when it has a fence, or an acquire, release or sc access: the controllers know it at launch. "A store
 *          operation writes to an unexpired block" (6.4): not an atomic, which table 2 tells from a store, and not the
 *          private store, whose fence waits for no lease (6.3.1), while the rule is to shorten that wait. The authors'
 *          public simulator does the same (cachelease3-L2cache.sm).
 * Hardened a line fetched under a live old lease is shared, never private; a store that is filled under one answers
 *          with a GWCT; a store makes no line private (P means: at most one unexpired copy, the one with the L2's
 *          timestamp). A UPGR whose copy has expired raises the line's timestamp to now and leaves it shared: a UPGR
 *          carries its copy's timestamp plus the UPGRs before it, and a lease given meanwhile to another core must not
 *          have the number of the next one, which would be taken for a private store beside that core's copy. Other
 *          stores do not raise an expired timestamp. A timestamp at the counter's last value cannot be incremented, so
 *          it does not identify the newest copy: no UPGR matches it.
 */
#include "protocols/temporal/tc_weak.h"

/* Changes of a prediction, in core cycles: table 4; the authors' public simulator (default of -ruby_cl_pred_perL2). */
typedef struct {
    int32_t longer, shorter_by_eviction, shorter_by_store;
} constants_t;

static const constants_t constants_of[] = {
    [TCW_PREDICTOR_PAPER] = {.longer = 4, .shorter_by_eviction = 8, .shorter_by_store = 8},
    [TCW_PREDICTOR_REFERENCE] = {.longer = 1, .shorter_by_eviction = 16, .shorter_by_store = 64},
};

/* The first prediction and the longest, in core cycles. A store predicts shorter only above `floor`. */
typedef struct {
    int32_t first, floor, longest;
} bounds_t;

static const bounds_t bounds_of[] = {
    [TCW_BOUNDS_REFERENCE] = {.first = 800, .floor = 800, .longest = INT32_MAX}, /* -ruby_cl_fixed_lease */
    [TCW_BOUNDS_WIDTH] = {.first = 1024, .longest = 65535},
};

#define L2_EVENTS(X)                                                                            \
    TC_L2_EVENTS(X)                                                                             \
    X(L2_UPGR_SAME, "store by an L1 whose copy has the L2's timestamp")                         \
    X(L2_UPGR_OTHER, "store by an L1 whose copy has another timestamp")                         \
    X(L2_FILL_UPGR, "fill from memory, for a UPGR; no unexpired lease")                         \
    X(L2_FILL_LIVE_STORE, "fill from memory, for a store; unexpired lease")                     \
    X(L2_FILL_LIVE_OTHER, "fill from memory, for a UPGR of another timestamp; unexpired lease") \
    X(L2_FILL_LIVE_ATOMIC, "fill from memory, for an atomic; unexpired lease")

GPC_FSM(L2, TC_L2_STATES, L2_EVENTS)
TC_L2_STATES(TC_SAME)
TC_L2_EVENTS(TC_SAME)

#define L2_UNIT(FIELD) FIELD(PLAIN, int32_t, drift) /* predicted lifetime minus the initial one */
GPC_METADATA(tcw_l2, unit, L2_UNIT)

/* ---- classification ---------------------------------------------------------------------------------------------- */

/* Whether the UPGR's copy equals the line: both contain the same stores. */
static bool
is_same(const gpc_step_t *x, const gpc_msg_t *upgrade, gpc_cycle_t timestamp)
{
    return tc_message(upgrade)->timestamp == timestamp && timestamp != gpc_last_time(x->unit, timestamp);
}

static gpc_event_id_t
classify_fill(const gpc_step_t *x)
{
    const gpc_list_t *pending = gpc_step_pending(x);
    gpc_cycle_t kept = tc_l2_mshr(x)->timestamp;
    bool live = !gpc_expired(x, kept);
    const gpc_msg_t *first = gpc_first_pending(x);

    switch (first->type) {
        case TCW_GETS:
            return live || pending->count > 1 ? L2_FILL_SHARED : L2_FILL;
        case TCW_ATOMIC:
            return live ? L2_FILL_LIVE_ATOMIC : L2_FILL_ATOMIC;
        case TCW_UPGR:
            if (live && !is_same(x, first, kept)) {
                return L2_FILL_LIVE_OTHER;
            }
            return live ? L2_FILL_LIVE_STORE : L2_FILL_UPGR;
        default:
            return live ? L2_FILL_LIVE_STORE : L2_FILL_STORE;
    }
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    bool leased = x->state == L2_P || x->state == L2_S;

    switch (x->cause) {
        case TCW_UPGR:
            return leased && is_same(x, x->msg, tc_l2_line(x)->timestamp) ? L2_UPGR_SAME : L2_UPGR_OTHER;
        case GPC_MSG_EVICT:
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        case GPC_MSG_FILL:
            return classify_fill(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- lifetimes --------------------------------------------------------------------------------------------------- */

/* The lifetime, limited by the width of timestamps. */
static int32_t
fitting(const gpc_controller_t *unit, int32_t lifetime)
{
    gpc_cycle_t longest = gpc_longest_time(unit->machine);
    return longest < (gpc_cycle_t) lifetime ? (int32_t) longest : lifetime;
}

static const constants_t *
constants(const gpc_step_t *x)
{
    return &constants_of[x->unit->options[TCW_OPTION_PREDICTOR]];
}

static const bounds_t *
bounds(const gpc_step_t *x)
{
    return &bounds_of[x->unit->options[TCW_OPTION_PREDICTOR_BOUNDS]];
}

static int32_t
predicted(const gpc_step_t *x)
{
    return fitting(x->unit, bounds(x)->first) + tcw_l2_unit(x->unit)->drift;
}

static void
predict(gpc_step_t *x, int32_t change)
{
    int64_t life = (int64_t) predicted(x) + change, longest = fitting(x->unit, bounds(x)->longest);

    if (tcw_predicts(x->unit)) {
        life = life < 0 ? 0 : life > longest ? longest : life;
        tcw_l2_unit(x->unit)->drift = (int32_t) life - fitting(x->unit, bounds(x)->first);
    }
}

GPC_ACTION(act_lease_too_short, "predict longer: line requested again after its leases expired")
{
    predict(x, constants(x)->longer);
    return GPC_OK;
}

GPC_ACTION(act_lease_too_long, "predict shorter: line evicted before its lease expired")
{
    predict(x, -constants(x)->shorter_by_eviction);
    return GPC_OK;
}

GPC_ACTION(act_store_meets_lease, "predict shorter if the program uses fences: store to a leased line")
{
    if (x->unit->program_fences && predicted(x) > bounds(x)->floor) {
        predict(x, -constants(x)->shorter_by_store);
    }
    return GPC_OK;
}

GPC_ACTION(act_write_meets_lease, "the same for an atomic or a private store, with predict_down=write")
{
    bool counts = x->unit->options[TCW_OPTION_PREDICT_DOWN] == TCW_PREDICT_DOWN_WRITE;
    return counts ? gpc_act(act_store_meets_lease, x) : GPC_OK;
}

GPC_ACTION(act_note_expired_copy, "predict longer if the requester's copy had expired")
{
    if (x->msg->flags & GPC_MSG_FLAG_EXPIRED_MISS) {
        predict(x, constants(x)->longer);
    }
    return GPC_OK;
}

GPC_ACTION(act_extend, "extend the lease to the predicted or fixed lifetime from now")
{
    int64_t fixed = x->unit->options[TCW_OPTION_LIFETIME];
    gpc_extend_lease(x, &tc_l2_line(x)->timestamp, (gpc_cycle_t) (tcw_predicts(x->unit) ? predicted(x) : fixed));
    return GPC_OK;
}

/* ---- answers: a GWCT is the timestamp before the increment ------------------------------------------------------- */

GPC_ACTION(act_increment, "increment the timestamp, so that older copies do not match")
{
    tc_l2_line(x)->timestamp = gpc_later(x->unit, tc_l2_line(x)->timestamp, 1);
    return GPC_OK;
}

/* The UPGRs of a core arrive in order, each with a timestamp at most one above the previous one's. The line's timestamp
 * reached this one's and has passed. So the next one's is now at most, and smaller than that of every lease given
 * later. */
GPC_ACTION(act_raise_to_now,
           "raise the timestamp to now, so that no later lease has the number of the writer's next UPGR")
{
    gpc_raise_time(&tc_l2_line(x)->timestamp, gpc_now(x));
    return GPC_OK;
}

GPC_ACTION(act_send_ack, "send ACK to the writer")
{
    return tc_answer_writer(x, TCW_ACK, 0);
}

GPC_ACTION(act_send_ack_g, "send ACK_G to the writer, with the timestamp as GWCT")
{
    return tc_answer_writer(x, TCW_ACK_G, tc_l2_line(x)->timestamp);
}

GPC_ACTION(act_send_data_g, "send DATA_G to the writer: the line, with the timestamp as GWCT")
{
    return tc_answer_writer(x, TCW_DATA_G, tc_l2_line(x)->timestamp);
}

GPC_ACTION(act_send_old_g, "send the atomic's old values, with the timestamp as GWCT")
{
    return tc_answer_writer(x, TCW_ATOMIC_DATA, tc_l2_line(x)->timestamp);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_note_expired_copy, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_UPGR_OTHER] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
    },
    [L2_P] = {
        [L2_GETS] = GO(L2_S, act_note_expired_copy, act_extend, tc_act_answer),
        [L2_GETX] = GO_HARDENED(L2_S, act_store_meets_lease, writer_act_write, act_send_ack_g, act_increment),
        [L2_UPGR_SAME] = GO(L2_P, act_write_meets_lease, writer_act_write, act_send_ack, act_increment),
        [L2_UPGR_OTHER] = GO_HARDENED(L2_S, act_store_meets_lease, writer_act_write, act_send_data_g, act_increment),
        [L2_ATOMIC] = GO_HARDENED(L2_S, act_write_meets_lease, writer_act_perform, act_send_old_g, act_increment),
        [L2_EVICT_CLEAN] = GO(L2_MI, act_lease_too_long, act_keep_lease),
        [L2_EVICT_DIRTY] = GO(L2_MI, act_lease_too_long, act_write_back, act_keep_lease),
        [L2_EXPIRE] = GO(L2_E),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_note_expired_copy, act_extend, tc_act_answer),
        [L2_GETX] = GO_HARDENED(L2_S, act_store_meets_lease, writer_act_write, act_send_ack_g, act_increment),
        [L2_UPGR_SAME] = GO_HARDENED(L2_S, act_store_meets_lease, writer_act_write, act_send_ack_g, act_increment),
        [L2_UPGR_OTHER] = GO_HARDENED(L2_S, act_store_meets_lease, writer_act_write, act_send_data_g, act_increment),
        [L2_ATOMIC] = GO(L2_S, act_write_meets_lease, writer_act_perform, act_send_old_g, act_increment),
        [L2_EVICT_CLEAN] = GO(L2_MI, act_lease_too_long, act_keep_lease),
        [L2_EVICT_DIRTY] = GO(L2_MI, act_lease_too_long, act_write_back, act_keep_lease),
        [L2_EXPIRE] = GO(L2_E),
    },
    [L2_E] = {
        [L2_GETS] = GO(L2_P, act_lease_too_short, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_E, writer_act_write, act_send_ack),
        /* that copy has expired too */
        [L2_UPGR_OTHER] = GO_HARDENED(L2_S, writer_act_write, act_send_ack, act_raise_to_now),
        [L2_ATOMIC] = GO(L2_E, writer_act_perform, act_send_old_g), /* the GWCT has passed: it delays no fence */
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_IS] = { /* until memory answers, which it always does */
        [L2_GETS] = GO(L2_IS, act_note_expired_copy, act_merge),
        [L2_GETX] = HOLD_LINE,
        [L2_UPGR_OTHER] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_P, tc_act_fill_line, act_extend, tc_act_answer_all),
        [L2_FILL_SHARED] = GO_HARDENED(L2_S, tc_act_fill_line, act_extend, tc_act_answer_all),
    },
    [L2_IM] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_UPGR_OTHER] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_E, tc_act_fill_line, writer_act_write, act_send_ack),
        [L2_FILL_UPGR] = GO_HARDENED(L2_S, tc_act_fill_line, writer_act_write, act_send_ack, act_raise_to_now),
        [L2_FILL_ATOMIC] = GO(L2_E, tc_act_fill_line, writer_act_perform, act_send_old_g),
        [L2_FILL_LIVE_STORE] = GO_HARDENED(L2_S, tc_act_fill_line, writer_act_write, act_send_ack_g, act_increment),
        [L2_FILL_LIVE_OTHER] = GO_HARDENED(L2_S, tc_act_fill_line, writer_act_write, act_send_data_g, act_increment),
        [L2_FILL_LIVE_ATOMIC] = GO_HARDENED(L2_S, tc_act_fill_line, writer_act_perform, act_send_old_g, act_increment),
    },
    [L2_MI] = { /* the transaction continues, with its timestamp */
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_note_expired_copy, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_UPGR_OTHER] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_EXPIRE] = GO(L2_I),
    },
};

static const gpc_patch_t literal_patches[] = {
    {L2_P, L2_GETX, GO(L2_P, act_store_meets_lease, writer_act_write, act_send_ack_g, act_increment),
     "table 2: a store or atomic leaves the line private, although other copies may be unexpired"},
    {L2_P, L2_UPGR_OTHER, GO(L2_P, act_store_meets_lease, writer_act_write, act_send_data_g, act_increment), NULL},
    {L2_P, L2_ATOMIC, GO(L2_P, act_write_meets_lease, writer_act_perform, act_send_old_g, act_increment), NULL},
    {L2_S, L2_GETX, GO(L2_P, act_store_meets_lease, writer_act_write, act_send_ack_g, act_increment),
     "table 2: a store makes the line private, although other copies may be unexpired"},
    {L2_S, L2_UPGR_SAME, GO(L2_P, act_store_meets_lease, writer_act_write, act_send_ack_g, act_increment), NULL},
    {L2_S, L2_UPGR_OTHER, GO(L2_P, act_store_meets_lease, writer_act_write, act_send_data_g, act_increment), NULL},
    {L2_E, L2_UPGR_OTHER, GO(L2_E, writer_act_write, act_send_ack),
     "the writer's copy has expired too, and the L1 does not increment its timestamp: no later UPGR can match"},
    {L2_IM, L2_FILL_UPGR, GO(L2_E, tc_act_fill_line, writer_act_write, act_send_ack), NULL},
};
/* clang-format on */

static const gpc_table_t l2 = {
    GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON(GPC_MSG_EXPIRE, L2_EXPIRE), ON(TCW_GETS, L2_GETS), ON(TCW_GETX, L2_GETX), ON(TCW_ATOMIC, L2_ATOMIC)},
    TC_L2_EXPIRY};
static const gpc_table_t literal = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "tc-weak", l2, literal_patches, l2_classify)};

const gpc_controller_type_t tcw_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .variants = {{.table = 0, .option = TCW_OPTION_PRIVATE, .value = TCW_PRIVATE_LITERAL, .by = &literal}},
    .arrays = {{.name = "tags", .line = tc_l2_line_described, .has_data = true}},
    .mshr = tc_l2_mshr_described,
    .unit = tcw_l2_unit_described,
    TC_L2_LEASE,
    .may_idle_in_transaction = true,
    .idle_until = tc_lease_end,
};

int
tcw_monitor(const gpc_units_t *units, gpc_address_t line)
{
    if (!tcw_bumps(units->bank)) {
        return GPC_OK; /* as printed, P may have several unexpired copies */
    }
    return tc_check_private(units->cores, units->num_cores, units->bank, line, L2_P);
}
