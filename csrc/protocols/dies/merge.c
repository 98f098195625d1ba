/* merge.c: the atomic merge unit beside an L2 bank.
 *
 * Paper    LRM-GPU, HPCA 2026, section III-C, tables II and III: a unit in a chiplet's network merges atomics that
 *          cross chiplets. An entry is valid (open) until its countdown ends or its list of SMs is full, then reserved
 *          until the answer comes, which goes to all of the list. Without a free entry an atomic passes.
 * Inferred an entry is of a line and an operation, and a line has one open entry: an atomic of another operation sends
 *          it. Each lane has its own old value: what the home had, and what the lanes before it make of that. Messages
 *          take along the atomics that they stand for, with what hardware keeps in the table meanwhile; their sizes are
 *          those of the combined operands. What else a core sends to a line while an atomic of it waits there sends the
 *          entry first: "between" keeps their order. A near line stays until then.
 *          A compare-and-swap whose swap leaves the compared value is no failure of those behind it: they do not merge.
 * Differs  f32 sums are rounded at each addition, as if they came alone. */
#include "controller/nodes.h"
#include "protocols/dies/lrm.h"

BASELINE_SAME_MESSAGES(MERGE);
GPC_SAME_NUMBER(MERGE_MERGED_DATA, MCM_END);
GPC_SAME_PLACE(merge_message_t, lrm_message_t, drops);

enum { DATA_BYTES = 32 }; /* of an entry: its operands */
static const gpc_list_t nothing = {GPC_NONE, GPC_NONE, 0};

/* LRM has a directory before the unit. */
static uint8_t
part_of(const gpc_controller_t *unit)
{
    return unit->type->parts[1].name != NULL;
}

static void
count(const gpc_step_t *x, uint32_t counter)
{
    gpc_count_own(x, part_of(x->unit) * LRM_COUNT_END + counter);
}

static gpc_msg_t *
head_of(const gpc_controller_t *unit, const gpc_list_t *joined)
{
    return gpc_msg_at(unit->messages, joined->head);
}

static gpc_lane_list_t *
lanes_of(const gpc_controller_t *unit, const gpc_msg_t *atomic)
{
    return gpc_lane_list_at(unit->lane_lists, atomic->lanes);
}

#define FOR_JOINED(unit, list, atomic)                                                                                 \
    for (gpc_msg_t *atomic = (list)->count ? head_of(unit, list) : NULL; atomic;                                       \
         atomic = atomic->next == GPC_NONE ? NULL : gpc_msg_at((unit)->messages, atomic->next))

/* ---- combining --------------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t operation, type;
    gpc_mask_t mask;
    uint32_t operand[GPC_MAX_LINE_WORDS], replacement[GPC_MAX_LINE_WORDS];
} combined_t;

enum {
    OPERATIONS = 1 << GPC_ATOMIC_ADD | 1 << GPC_ATOMIC_SUB | 1 << GPC_ATOMIC_MIN | 1 << GPC_ATOMIC_MAX |
    1 << GPC_ATOMIC_AND | 1 << GPC_ATOMIC_OR | 1 << GPC_ATOMIC_XOR | 1 << GPC_ATOMIC_CAS
};

/* One more lane of a word that has an operand. False: no single operation stands for both. */
static bool
combine_lane(combined_t *self, uint32_t word, uint32_t operand)
{
    if (self->operation == GPC_ATOMIC_CAS) {
        return operand == self->operand[word] && self->replacement[word] != operand;
    }
    uint8_t operation = self->operation == GPC_ATOMIC_SUB ? GPC_ATOMIC_ADD : self->operation;
    self->operand[word] = gpc_rmw_apply(operation, self->type, self->operand[word], operand, 0);
    return true;
}

static bool
combine_lanes(combined_t *self, const gpc_lane_list_t *lanes)
{
    bool alike = lanes->operation == self->operation && lanes->type == self->type;
    if (lanes->width == 2 || !(OPERATIONS >> lanes->operation & 1) || !alike) {
        return false;
    }
    for (uint16_t i = 0; i < lanes->count; i++) {
        uint32_t word = lanes->word[i];
        if (!(self->mask >> word & 1)) {
            self->mask |= UINT32_C(1) << word;
            self->operand[word] = lanes->operand[i];
            self->replacement[word] = lanes->replacement[i];
        } else if (!combine_lane(self, word, lanes->operand[i])) {
            return false;
        }
    }
    return gpc_count_bits(self->mask) * (self->operation == GPC_ATOMIC_CAS ? 8u : 4u) <= DATA_BYTES;
}

/* What stands for all of the list and one more (NULL: none). False: nothing does. */
static bool
combine(const gpc_controller_t *unit, const gpc_list_t *joined, const gpc_msg_t *more, combined_t *out)
{
    const gpc_lane_list_t *first = lanes_of(unit, joined->count ? head_of(unit, joined) : more);
    *out = (combined_t){.operation = first->operation, .type = first->type};
    FOR_JOINED(unit, joined, atomic)
    {
        if (!combine_lanes(out, lanes_of(unit, atomic))) {
            return false;
        }
    }
    return !more || combine_lanes(out, lanes_of(unit, more));
}

/* ---- the home ---------------------------------------------------------------------------------------------------- */

/* Each joined lane's old value follows from those that the home had, `words`. */
static int
give_old_values(gpc_step_t *x, const gpc_list_t *joined, uint32_t *words)
{
    FOR_JOINED(x->unit, joined, atomic)
    {
        (void) gpc_rmw_perform(lanes_of(x->unit, atomic), words);
        GPC_TRY(gpc_note_performed(x, gpc_msg_index(x->unit->messages, atomic), 0));
    }
    return GPC_OK;
}

/* Under LRM, once all are performed: monitors look at the line at steps of the directory. */
static int
note_each(gpc_step_t *x, const gpc_list_t *joined)
{
    FOR_JOINED(x->unit, joined, atomic)
    {
        bool drops;
        GPC_TRY(lrm_note(x, atomic, &drops));
        merge_message(atomic)->drops = drops;
    }
    return GPC_OK;
}

GPC_ACTION(act_perform_merged, "perform the combined atomic, send its old values to the near L2")
{
    gpc_msg_t *merged = gpc_writer_message(x);
    gpc_list_t joined = merge_message(merged)->joined;
    uint32_t *line = gpc_line_words(x), old[GPC_MAX_LINE_WORDS], rounded[GPC_MAX_LINE_WORDS];
    combined_t all;
    (void) combine(x->unit, &joined, NULL, &all);
    gpc_merge_words(old, line, merged->mask);
    gpc_merge_words(rounded, line, merged->mask);
    for (gpc_mask_t left = merged->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        line[word] = gpc_rmw_apply(all.operation, all.type, line[word], merged->data[word], all.replacement[word]);
    }
    GPC_TRY(give_old_values(x, &joined, rounded));
    if (all.type == GPC_F32) {
        gpc_merge_words(line, rounded, merged->mask);
    }
    gpc_writer_line(x)->dirty = 1;
    GPC_TRY(part_of(x->unit) ? note_each(x, &joined) : GPC_OK);
    gpc_msg_t *answer = gpc_new_answer(x, gpc_writer(x), MERGE_MERGED_DATA);
    gpc_merge_words(answer->data, old, answer->mask);
    merge_message(answer)->joined = joined;
    return gpc_answer_writer(x, answer);
}

GPC_FSM(L2, MCM_L2_STATES, MERGE_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static bool
is_merged(uint8_t type)
{
    return type == MERGE_MERGED || type == MERGE_MERGED_CAS;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    bool fills = x->cause == GPC_MSG_FILL && is_merged(gpc_first_pending(x)->type);
    return is_merged(x->cause)                ? L2_MERGED
           : fills                            ? L2_FILL_MERGED
           : x->cause == GPC_MSG_KERNEL_BEGIN ? L2_DROP
                                              : mcm_l2_classify(x);
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_I, L2_MERGED, GO(L2_IM, act_reserve_way, act_fetch), "near L2s send combined atomics"},
    {L2_V, L2_MERGED, GO(L2_V, act_perform_merged), NULL},
    {L2_IS, L2_MERGED, HOLD_LINE, NULL}, /* until the fill */
    {L2_IM, L2_MERGED, HOLD_LINE, NULL},
    {L2_IM, L2_FILL_MERGED, GO(L2_V, act_fill_line, act_perform_merged), NULL},
};
/* clang-format on */

static const gpc_table_t mcm_lines = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mcm", mcm_l2_lines, l2_patches, l2_classify)};
static const gpc_table_t lrm_lines = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "lrm", lrm_l2_lines, l2_patches, l2_classify)};

/* ---- near -------------------------------------------------------------------------------------------------------- */

#define M_STATES(X)                                                                                                    \
    X(M_I, STABLE, "no entry")                                                                                         \
    X(M_V, STABLE, "open: atomics join it")                                                                            \
    X(M_R, STABLE, "reserved: sent, until the answer")
#define M_EVENTS(X)                                                                                                    \
    X(M_FIRST, "atomic that may merge, for which there is an entry")                                                   \
    X(M_JOIN, "atomic that the open entry's can stand for, too")                                                       \
    X(M_LAST, "such an atomic, which fills the list")                                                                  \
    X(M_OTHER, "atomic that does not join the open entry, and may merge itself or is of a core whose atomic waits")    \
    X(M_ALONE, "atomic that merges with no other")                                                                     \
    X(M_FULL, "atomic for which there is no entry")                                                                    \
    X(M_BEHIND, "load or store of a core whose atomic waits")                                                          \
    X(M_END, "the countdown's end")                                                                                    \
    X(M_LATE, "the end of a countdown, after the entry was sent")                                                      \
    X(M_ANSWER, "the old values of the combined atomic")
GPC_FSM(M, M_STATES, M_EVENTS)

static merge_entry_t *
entry_at(const gpc_controller_t *unit, gpc_index_t entry)
{
    return gpc_part_fields(&unit->parts[part_of(unit)], entry);
}

static bool
lists(const gpc_controller_t *unit, gpc_index_t entry, gpc_node_t core)
{
    FOR_JOINED(unit, &entry_at(unit, entry)->joined, atomic)
    {
        if (atomic->requester == core) {
            return true;
        }
    }
    return false;
}

/* Of an open entry. */
static gpc_event_id_t
classify_with(const gpc_step_t *x)
{
    combined_t all;
    const gpc_list_t *joined = &entry_at(x->unit, x->entry)->joined;
    if (combine(x->unit, joined, x->msg, &all)) {
        return joined->count + 1 < (uint32_t) x->unit->options[MERGE_LIST] ? M_JOIN : M_LAST;
    }
    bool merges = combine(x->unit, &nothing, x->msg, &all);
    return merges || lists(x->unit, x->entry, x->msg->requester) ? M_OTHER : M_ALONE;
}

static gpc_event_id_t
m_classify(const gpc_step_t *x)
{
    const gpc_part_t *part = &x->unit->parts[part_of(x->unit)];
    combined_t all;
    switch (x->cause) {
        case GPC_MSG_TIMER:
            return x->state == M_V && entry_at(x->unit, x->entry)->until <= gpc_now(x) ? M_END : M_LATE;
        case MERGE_MERGED_DATA:
            return M_ANSWER;
        case MCM_ATOMIC:
            return x->state == M_V                             ? classify_with(x)
                   : !combine(x->unit, &nothing, x->msg, &all) ? M_ALONE
                   : part->order->count < part->pool.capacity  ? M_FIRST
                                                               : M_FULL;
        default:
            return M_BEHIND;
    }
}

GPC_ACTION(act_join, "add the atomic to the entry")
{
    gpc_list_push(&entry_at(x->unit, x->entry)->joined, x->unit->messages, x->message);
    count(x, MERGE_COUNT_merged);
    x->kept = true;
    return GPC_OK;
}

GPC_ACTION(act_open, "take an entry for the atomic, begin its countdown")
{
    GPC_TRY(gpc_take_entry(x));
    merge_entry_t *entry = entry_at(x->unit, x->entry);
    entry->joined = nothing;
    gpc_list_push(&entry->joined, x->unit->messages, x->message);
    x->kept = true;
    entry->until = gpc_now(x) + (gpc_cycle_t) x->unit->options[MERGE_CYCLES];
    return x->unit->ports->wake_at(x->unit->world, x->unit, entry->until, x->line, 0, GPC_TIMER_NEEDED);
}

GPC_ACTION(act_drop_near, "drop the near line")
{
    gpc_index_t way;
    return gpc_state_at(x->unit, x->line, 0, &way) == L2_I
               ? GPC_OK
               : gpc_controller_line(x->unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, x->line, GPC_NO_WORDS, GPC_NONE);
}

GPC_ACTION(act_send, "send the combined atomic to the home")
{
    gpc_list_t *joined = &entry_at(x->unit, x->entry)->joined;
    const gpc_msg_t *first = head_of(x->unit, joined);
    combined_t all;
    (void) combine(x->unit, joined, NULL, &all);
    uint8_t type = all.operation == GPC_ATOMIC_CAS ? MERGE_MERGED_CAS : MERGE_MERGED;
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    msg->requester = first->requester;
    msg->request = first->request;
    msg->warp = first->warp;
    msg->order = first->order;
    msg->scope = first->scope;
    gpc_carry(x, msg, all.mask, all.operand);
    merge_message(msg)->joined = *joined;
    gpc_list_clear(joined);
    count(x, MERGE_COUNT_merged_sent);
    return gpc_send(x, msg);
}

GPC_ACTION(act_pass_alone, "drop the near line, pass the atomic on to the home")
{
    x->kept = true;
    return gpc_controller_line(x->unit, MCM_TABLE_LINES, x->cause, x->line, x->mask, x->message);
}

GPC_ACTION(act_count_full, "count it")
{
    count(x, MERGE_COUNT_merged_full);
    return GPC_OK;
}

GPC_ACTION(act_follow, "replay the request")
{
    gpc_list_t one = nothing;
    gpc_list_push(&one, x->unit->messages, x->message);
    x->kept = true;
    return gpc_replay_list(x, &one);
}

GPC_ACTION(act_answer_each, "send each atomic's old values to its core")
{
    gpc_list_t *joined = &merge_message(x->msg)->joined;
    gpc_index_t i;
    while ((i = gpc_list_pop(joined, x->unit->messages)) != GPC_NONE) {
        gpc_msg_t *msg = gpc_new_answer(x, i, MERGE_OLD_VALUES);
        merge_message(msg)->drops = merge_message(gpc_msg_at(x->unit->messages, i))->drops;
        int status = gpc_send(x, msg);
        gpc_free_message(x->unit, i);
        GPC_TRY(status);
    }
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t m_table[M_NUM_STATES][M_NUM_EVENTS] = {
    [M_I] = {
        [M_FIRST] = GO(M_V, act_open),
        [M_ALONE] = GO(M_I, act_pass_alone),
        [M_FULL] = GO(M_I, act_count_full, act_pass_alone),
        [M_LATE] = GO(M_I),
    },
    [M_V] = {
        [M_JOIN] = GO(M_V, act_join),
        [M_LAST] = GO(M_R, act_join, act_drop_near, act_send),
        [M_OTHER] = REDO(M_R, act_drop_near, act_send),
        [M_ALONE] = GO(M_V, act_pass_alone),
        [M_BEHIND] = GO(M_R, act_drop_near, act_send, act_follow),
        [M_END] = GO(M_R, act_drop_near, act_send),
        [M_LATE] = GO(M_V),
    },
    [M_R] = {
        [M_FIRST] = GO(M_V, act_open), /* another entry */
        [M_ALONE] = GO(M_R, act_pass_alone),
        [M_FULL] = GO(M_R, act_count_full, act_pass_alone),
        [M_LATE] = GO(M_R),
        [M_ANSWER] = GO(M_I, act_answer_each),
    },
};
/* clang-format on */

static const gpc_table_t entries = {GPC_TABLE("L2.merge", OVER_ENTRIES, M, m_table, m_classify)};

/* The line's open entry is its newest one. */
static gpc_index_t
entry_of(const gpc_controller_t *unit, uint8_t number, const gpc_msg_t *msg)
{
    const gpc_part_t *part = &unit->parts[number];
    if (msg->type != MERGE_MERGED_DATA) {
        return gpc_part_find(part, msg->line);
    }
    gpc_index_t entry = gpc_part_first(part); /* of those that are reserved for the line none differs */
    while (gpc_part_line(part, entry) != msg->line) {
        entry = gpc_part_next(part, entry);
    }
    return entry;
}

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    uint8_t merge = (uint8_t) (MCM_TABLE_DIRECTORY + part_of(unit));
    if (msg->type == GPC_MSG_TIMER || msg->type == MERGE_MERGED_DATA) {
        return merge;
    }
    bool asks = msg->type == MCM_GETS || msg->type == MCM_GETX || msg->type == MCM_ATOMIC || msg->type == MCM_GETS_HOME;
    if (!asks || gpc_home_of(unit, msg->line) == unit->node) {
        return mcm_l2_route(unit, msg);
    }
    const gpc_part_t *part = &unit->parts[part_of(unit)];
    gpc_index_t entry = gpc_part_find(part, msg->line);
    bool waits = entry != GPC_NONE && part->states[entry] == M_V && lists(unit, entry, msg->requester);
    return msg->type == MCM_ATOMIC || waits ? merge : MCM_TABLE_LINES;
}

static uint32_t
capacity(const gpc_machine_t *machine, const int64_t *options)
{
    return mcm_bank_entries(machine, options[MERGE_ENTRIES], 2048);
}

#define MERGE_PART                                                                                                     \
    {                                                                                                                  \
        .name = "merge", .entry = merge_entry_described, .capacity = capacity                                    \
    }

static const gpc_count_info_t counters[] = {MERGE_COUNTERS(GPC_COUNT_INFO_, MERGE_COUNT){NULL, NULL}};

const gpc_controller_type_t merge_mcm_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&mcm_lines, &mcm_l2_acquires, &entries},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
    .parts = {MERGE_PART},
    .counters = counters,
    .route = route,
    .entry_of = entry_of,
    .begins = 1u << MCM_TABLE_LINES,
};

static const gpc_count_info_t lrm_counters[] = {LRM_COUNTERS(GPC_COUNT_INFO_, LRM_COUNT)
                                                    MERGE_COUNTERS(GPC_COUNT_INFO_, MERGE_COUNT){NULL, NULL}};

const gpc_controller_type_t merge_lrm_l2 = {
    LRM_L2,
    .tables = {&lrm_lines, &mcm_l2_acquires, &lrm_directory, &entries},
    .parts = {LRM_DIRECTORY, MERGE_PART},
    .object_of = {0, 0, MCM_DIRECTORY, MCM_DIRECTORY + 1},
    .counters = lrm_counters,
    .route = route,
    .entry_of = entry_of,
};
