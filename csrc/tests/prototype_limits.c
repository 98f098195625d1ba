/* prototype_limits.c: the prototype protocol of test_resource_limits.c (prototype_limits.h): one small table for each
 * rare case, with complete actions.
 *
 * lines       evictions are recalls; an ACK ends a recall, and so does cycle 91 when MSHRs run out
 * words       a table over words, one of whose states can neither be evicted nor read
 * directory   one state in two arrays: data of one line, directory entries of two
 */
#include "tests/prototype_limits.h"
#include "controller/actions.h"
#include "tests/bench_world.h"
#include "tests/places.h"

/* ---- lines: evictions are recalls; an ACK ends them, or cycle 91 when MSHRs run out ------------------------------ */

#define LINE_STATES(X)                                            \
    X(LINE_I, STABLE, "not present")                              \
    X(LINE_V, STABLE, "present")                                  \
    X(LINE_P, TRANSIENT_CACHE, "wanted")                          \
    X(LINE_PX, TRANSIENT_CACHE, "wanted, not to be kept")         \
    X(LINE_RC, TRANSIENT_COHERENCE, "recalled, still in its way")

#define LINE_EVENTS(X)                              \
    X(LINE_LOAD, "a load")                          \
    X(LINE_STORE, "the other table's line must go") \
    X(LINE_EVICT, "the replacement wants the way")  \
    X(LINE_EXPIRE, "its time is over")              \
    X(LINE_ACQUIRE, "an acquire")                   \
    X(LINE_DATA, "the line")                        \
    X(LINE_ACK, "the recall is done")

GPC_FSM(LINE, LINE_STATES, LINE_EVENTS)

static gpc_event_id_t
line_classify(const gpc_step_t *x)
{
    if (x->state == LINE_V && ((const bench_world_t *) x->unit->world)->expired) {
        return GPC_PRE_EVENT(LINE_EXPIRE);
    }
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return LINE_LOAD;
        case GPC_MSG_STORE:
            return LINE_STORE;
        case GPC_MSG_EVICT:
            return LINE_EVICT;
        case GPC_MSG_EXPIRE:
            return LINE_EXPIRE;
        case GPC_MSG_ACQUIRE:
            return LINE_ACQUIRE;
        case LIMITS_DATA:
            return LINE_DATA;
        case LIMITS_ACK:
            return LINE_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(limits_act_hit, "the load completes")
{
    return gpc_complete(x, x->message, gpc_line_words(x), true);
}

GPC_ACTION(act_complete_pending, "all that wait complete")
{
    return gpc_complete_pending(x, x->msg->data);
}

GPC_ACTION(act_evict_other, "the line of the other table leaves")
{
    return gpc_controller_line(x->unit, 1, GPC_MSG_EVICT, x->line, gpc_all_words(x->unit), GPC_NONE);
}

/* clang-format off */
static const gpc_cell_t line_table[LINE_NUM_STATES][LINE_NUM_EVENTS] = {
    [LINE_I] = {
        [LINE_LOAD] = GO(LINE_P, act_reserve_way, act_wait),
    },
    [LINE_V] = {
        [LINE_LOAD] = GO(LINE_V, limits_act_hit),
        [LINE_STORE] = GO(LINE_V, act_evict_other, limits_act_hit),
        [LINE_EVICT] = GO(LINE_RC),
        [LINE_EXPIRE] = GO(LINE_I),
    },
    [LINE_P] = {
        [LINE_STORE] = HOLD_LINE,
        [LINE_EVICT] = NOT_A_VICTIM,
        [LINE_ACQUIRE] = GO(LINE_PX),
        [LINE_DATA] = GO(LINE_V, act_complete_pending),
    },
    [LINE_PX] = {
        [LINE_STORE] = HOLD_LINE,
        [LINE_EVICT] = NOT_A_VICTIM,
        [LINE_DATA] = GO(LINE_I, act_release_way, act_replay),
    },
    [LINE_RC] = {
        [LINE_EVICT] = NOT_A_VICTIM,
        [LINE_EXPIRE] = GO(LINE_I),
        [LINE_ACK] = GO(LINE_I),
    },
};
/* clang-format on */

static const gpc_table_t over_lines = {GPC_TABLE("lines", OVER_LINES, LINE, line_table, line_classify)};

static gpc_cycle_t
recall_ends(const gpc_controller_t *unit, gpc_index_t mshr)
{
    return gpc_mshr_at(&unit->mshrs, mshr)->state == LINE_RC ? 91 : GPC_NEVER;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

#define WORD_STATES(X)                                          \
    X(WORD_I, STABLE, "not present")                            \
    X(WORD_V, STABLE, "present")                                \
    X(WORD_D, STABLE, "present, may not leave nor be read now") \
    X(WORD_P, TRANSIENT_CACHE, "wanted")

#define WORD_EVENTS(X)                             \
    X(WORD_LOAD, "a load or atomic")               \
    X(WORD_STORE, "a store")                       \
    X(WORD_EVICT, "the replacement wants the way") \
    X(WORD_ACQUIRE, "an acquire")                  \
    X(WORD_DATA, "the words")

GPC_FSM(WORD, WORD_STATES, WORD_EVENTS)

GPC_ACTION(act_get, "GET of the words")
{
    gpc_msg_t *msg = gpc_new_message(x, LIMITS_GET, 9);
    msg->mask = x->mask;
    return gpc_send(x, msg);
}

GPC_ACTION(act_give, "PUT or BACK with the words")
{
    bool back = x->cause == GPC_MSG_EVICT;
    gpc_msg_t *msg = gpc_new_message(x, back ? LIMITS_BACK : LIMITS_PUT, 9);
    gpc_carry(x, msg, x->mask, back ? gpc_line_words(x) : x->msg->data);
    return gpc_send(x, msg);
}

GPC_ACTION(act_complete_words, "those that wait for the words complete")
{
    gpc_index_t i;
    while ((i = gpc_take_pending_words(x, x->msg->request, x->mask)) != GPC_NONE) {
        GPC_TRY(gpc_complete(x, i, x->msg->data, false));
    }
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t word_table[WORD_NUM_STATES][WORD_NUM_EVENTS] = {
    [WORD_I] = {
        [WORD_LOAD] = GO(WORD_P, act_reserve_way, act_get, act_wait),
        [WORD_STORE] = GO(WORD_I, act_give),
    },
    [WORD_V] = {
        [WORD_LOAD] = GO(WORD_V, limits_act_hit),
        [WORD_STORE] = GO(WORD_V, act_give),
        [WORD_EVICT] = GO(WORD_I, act_give),
        [WORD_ACQUIRE] = GO(WORD_I),
    },
    [WORD_D] = {
        [WORD_LOAD] = HOLD_QUEUE,
        [WORD_EVICT] = NOT_A_VICTIM,
        [WORD_ACQUIRE] = GO(WORD_D),
    },
    [WORD_P] = {
        [WORD_LOAD] = HOLD_LINE, /* the data ends it */
        [WORD_EVICT] = NOT_A_VICTIM,
        [WORD_DATA] = GO(WORD_V, act_complete_words),
    },
};
/* clang-format on */

static const gpc_table_t over_words = {GPC_TABLE("words", OVER_WORDS, WORD, word_table, NULL),
                                       .causes = {ON(GPC_MSG_LOAD, WORD_LOAD), ON(GPC_MSG_ATOMIC, WORD_LOAD),
                                                  ON(GPC_MSG_STORE, WORD_STORE), ON(GPC_MSG_EVICT, WORD_EVICT),
                                                  ON(GPC_MSG_ACQUIRE, WORD_ACQUIRE), ON(LIMITS_DATA, WORD_DATA)}};

/* ---- a state in two arrays: data, and a directory that has more lines -------------------------------------------- */

#define DIR_STATES(X)                          \
    X(DIR_I, STABLE, "in neither")             \
    X(DIR_N, STABLE, "in the directory only")  \
    X(DIR_V, STABLE, "in both")                \
    X(DIR_P, TRANSIENT_CACHE, "wanted")

#define DIR_EVENTS(X)                                   \
    X(DIR_LOAD, "a load")                               \
    X(DIR_EVICT_DATA, "the data's way is wanted")       \
    X(DIR_EVICT_ENTRY, "the directory's way is wanted") \
    X(DIR_DATA, "the line")

GPC_FSM(DIR, DIR_STATES, DIR_EVENTS)

static gpc_event_id_t
dir_classify(const gpc_step_t *x)
{
    return x->array == 0 ? DIR_EVICT_DATA : DIR_EVICT_ENTRY;
}

GPC_ACTION(act_reserve_ways, "a way in both arrays, or hold")
{
    return gpc_reserve_ways(x);
}

/* clang-format off */
static const gpc_cell_t dir_table[DIR_NUM_STATES][DIR_NUM_EVENTS] = {
    [DIR_I] = {[DIR_LOAD] = GO(DIR_P, act_reserve_ways, act_wait)},
    [DIR_N] = {[DIR_LOAD] = GO(DIR_P, act_reserve_ways, act_wait), [DIR_EVICT_ENTRY] = GO(DIR_I)},
    [DIR_V] = {[DIR_LOAD] = GO(DIR_V, limits_act_hit), [DIR_EVICT_DATA] = GO(DIR_N), [DIR_EVICT_ENTRY] = GO(DIR_I)},
    [DIR_P] = {[DIR_EVICT_DATA] = NOT_A_VICTIM,
               [DIR_EVICT_ENTRY] = NOT_A_VICTIM,
               [DIR_DATA] = GO(DIR_V, act_complete_pending)},
};
/* clang-format on */

static const gpc_table_t over_both = {GPC_TABLE("directory", OVER_LINES, DIR, dir_table, dir_classify),
                                      .causes = {ON(GPC_MSG_LOAD, DIR_LOAD), ON(LIMITS_DATA, DIR_DATA)},
                                      .arrays = 1u << 0 | 1u << 1};

/* ---- controllers ------------------------------------------------------------------------------------------------- */

#define NO_FIELDS(FIELD)
GPC_DESCRIBE(limits, line, NO_FIELDS)

SETS_AND_WAYS(one_way, 1, 1)

PLACES(four, 4)

#define TAGS {.name = "tags", .line = limits_line_described, .has_data = true}

static const gpc_controller_type_t lines = {
    .name = "lines",
    .tables = {&over_lines},
    .arrays = {TAGS},
    .parts = {{.name = "buffer", .entry = limits_line_described, .capacity = four}},
    .idle_until = recall_ends};
static const gpc_controller_type_t words = {.name = "words", .tables = {&over_words}, .arrays = {TAGS}};
static const gpc_controller_type_t two = {
    .name = "two", .tables = {&over_lines, &over_lines}, .arrays = {TAGS, TAGS}, .object_of = {0, 1}};
static const gpc_controller_type_t directory = {
    .name = "directory",
    .tables = {&over_both},
    .arrays = {{.name = "tags", .line = limits_line_described, .geometry = one_way, .has_data = true},
               {.name = "entries", .line = limits_line_described}}};

const gpc_protocol_t prototype_limits = {
    .id = "limits",
    .controllers = {&lines, &words, &two, &directory},
    GPC_MESSAGES_OF(LIMITS),
    .networks = {{.name = "request", .requests = true}, {.name = "response"}},
};
