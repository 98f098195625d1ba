/* test_boundaries_explorer.c: does the explorer cover a protocol whole, and report the limit that stops it? Are logical
 * times normalised, so that ever-growing clocks have few states, and states that differ in their order are kept apart?
 * Are messages that may pass each other sorted? */
#include "base/blocks.h"
#include "check/explore/states.h"
#include "check/explore/world.h"
#include "controller/actions.h"
#include "explorations.h"
#include "harness.h"
#include "own_protocols.h"
#include "small_programs.h"

/* ---- prototypes: an L1 without lines that completes stores at once and sends PINGs to the bank ------------------- */

#define MESSAGES(X, P) X(P, PING, ST, 0, 8, 0, false, "") X(P, PONG, ST, 1, 8, 0, false, "") X(P, PUT, ST, 0, 8, 4, false, "")
GPC_MESSAGES(MSG, MESSAGES)

#define MESSAGE_FIELDS(FIELD) FIELD(LOGICAL, uint64_t, time)
GPC_DESCRIBE(prototype, message, MESSAGE_FIELDS)
#define PLAIN_MESSAGE_FIELDS(FIELD) FIELD(PLAIN, uint64_t, time)
GPC_DESCRIBE(plain, message, PLAIN_MESSAGE_FIELDS)
#define UNIT_FIELDS(FIELD) FIELD(LOGICAL, uint64_t, now)
GPC_DESCRIBE(prototype, unit, UNIT_FIELDS)
#define PLAIN_UNIT_FIELDS(FIELD) FIELD(PLAIN, uint64_t, now)
GPC_DESCRIBE(plain, unit, PLAIN_UNIT_FIELDS)

static uint64_t *
clock_of(const gpc_controller_t *unit)
{
    return &((prototype_unit_t *) unit->unit_fields)->now;
}

static int
send(gpc_step_t *x, uint8_t type, gpc_position_t to, uint64_t time)
{
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_node_of(x->unit, to));
    msg->fields[0] = time;
    return gpc_send(x, msg);
}

static int
send_several(gpc_step_t *x, uint32_t count)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < count && status == GPC_OK; i++) {
        status = send(x, MSG_PING, GPC_AT_BANK, 0);
    }
    GPC_TRY(status);
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_flood, "150 PINGs")
{
    return send_several(x, 150);
}

GPC_ACTION(act_few, "4 PINGs")
{
    return send_several(x, 4);
}

GPC_ACTION(act_deluge, "5000 PINGs")
{
    return send_several(x, 5000);
}

GPC_ACTION(act_name_request, "a PING that names the store, which completes")
{
    gpc_msg_t *msg = gpc_new_message(x, MSG_PING, gpc_node_of(x->unit, GPC_AT_BANK));
    msg->request = x->message;
    GPC_TRY(gpc_send(x, msg));
    return gpc_complete(x, x->message, NULL, true);
}

/* The L1's clock follows the bank's, which is always ahead: both grow without bound. */
GPC_ACTION(act_start_clock, "")
{
    *clock_of(x->unit) = 1;
    GPC_TRY(send(x, MSG_PING, GPC_AT_BANK, 1));
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_answer, "")
{
    uint64_t *clock = clock_of(x->unit), time = x->msg->fields[0];
    if (time == 0) {
        return GPC_OK;
    }
    *clock = (time > *clock ? time : *clock) + 10;
    return send(x, MSG_PONG, GPC_AT_CORE, *clock);
}

GPC_ACTION(act_follow, "")
{
    *clock_of(x->unit) = x->msg->fields[0];
    return send(x, MSG_PING, GPC_AT_BANK, *clock_of(x->unit));
}

GPC_ACTION(act_perform, "")
{
    return gpc_write_memory_answered(x, x->msg->mask, x->msg->data, 0);
}

GPC_ACTION(act_performed, "")
{
    return send(x, MSG_PONG, GPC_AT_CORE, 0);
}

#define L1_STATES(X) X(L1_ON, STABLE, "")
#define L1_EVENTS(X) X(L1_STORE, "") X(L1_PONG, "")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L2_STATES(X) X(L2_ON, STABLE, "")
#define L2_EVENTS(X) X(L2_PING, "") X(L2_PUT, "") X(L2_WRITTEN, "memory has the words of PUT")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

static int
read_memory(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

static const gpc_cell_t flood_cells[1][L1_NUM_EVENTS] = {{[L1_STORE] = GO(L1_ON, act_flood)}};
static const gpc_cell_t few_cells[1][L1_NUM_EVENTS] = {{[L1_STORE] = GO(L1_ON, act_few)}};
static const gpc_cell_t deluge_cells[1][L1_NUM_EVENTS] = {{[L1_STORE] = GO(L1_ON, act_deluge)}};
static const gpc_cell_t early_cells[1][L1_NUM_EVENTS] = {{[L1_STORE] = GO(L1_ON, act_name_request)}};
static const gpc_cell_t clock_cells[1][L1_NUM_EVENTS] = {{[L1_STORE] = GO(L1_ON, act_start_clock)}};
static const gpc_cell_t answer_cells[1][L1_NUM_EVENTS] = {{[L1_PONG] = GO(L1_ON, act_follow)}};
static const gpc_cell_t bank_cells[1][L2_NUM_EVENTS] = {
    {[L2_PING] = GO(L2_ON, act_answer), [L2_PUT] = GO(L2_ON, act_perform), [L2_WRITTEN] = GO(L2_ON, act_performed)}};

/* ---- prototype: an L1 that keeps its last store until a release or a kernel's end -------------------------------- */

#define LAZY_UNIT(FIELD) FIELD(PLAIN, uint64_t, line) FIELD(PLAIN, uint32_t, value)
GPC_DESCRIBE(lazy, unit, LAZY_UNIT)

#define LAZY_STATES(X) X(LAZY_EMPTY, STABLE, "") X(LAZY_FULL, STABLE, "") X(LAZY_SENT, TRANSIENT_COHERENCE, "")
#define LAZY_EVENTS(X) X(LAZY_STORE, "") X(LAZY_DRAIN, "") X(LAZY_END, "") X(LAZY_PONG, "")
GPC_FSM(LAZY, LAZY_STATES, LAZY_EVENTS)

GPC_ACTION(act_keep_store, "")
{
    *(lazy_unit_t *) x->unit->unit_fields = (lazy_unit_t){.line = x->line, .value = x->msg->data[0]};
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_put, "")
{
    const lazy_unit_t *kept = x->unit->unit_fields;
    gpc_msg_t *msg = gpc_new_message(x, MSG_PUT, gpc_node_of(x->unit, GPC_AT_BANK));
    msg->line = kept->line;
    msg->mask = 1;
    msg->data[0] = kept->value;
    return gpc_send(x, msg);
}

static const gpc_cell_t lazy_cells[LAZY_NUM_STATES][LAZY_NUM_EVENTS] = {
    [LAZY_EMPTY] = {[LAZY_STORE] = GO(LAZY_FULL, act_keep_store), [LAZY_END] = GO(LAZY_EMPTY)},
    [LAZY_FULL] = {[LAZY_STORE] = HOLD_QUEUE,
                   [LAZY_DRAIN] = GO(LAZY_SENT, act_put),
                   [LAZY_END] = GO_HARDENED(LAZY_SENT, act_put)},
    [LAZY_SENT] = {[LAZY_STORE] = HOLD_QUEUE, [LAZY_END] = HOLD_QUEUE, [LAZY_PONG] = GO(LAZY_EMPTY)},
};
static const gpc_table_t lazy_table = {GPC_TABLE("L1", OVER_UNIT, LAZY, lazy_cells, NULL),
                                       .causes = {ON(GPC_MSG_STORE, LAZY_STORE), ON(GPC_MSG_RELEASE, LAZY_DRAIN),
                                                  ON(GPC_MSG_KERNEL_END, LAZY_END), ON(MSG_PONG, LAZY_PONG)}};
static const gpc_controller_type_t lazy_l1 = {
    .name = "L1", .position = GPC_AT_CORE, .tables = {&lazy_table}, .unit = lazy_unit_described};
static const gpc_controller_type_t lazy_end_l1 = {
    .name = "L1", .position = GPC_AT_CORE, .tables = {&lazy_table}, .unit = lazy_unit_described, .ends = 1};

static int
lazy_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) warp, (void) scope, (void) until;
    int status = l1->unit_states[0] == LAZY_FULL ? gpc_controller_unit(l1, 0, GPC_MSG_RELEASE, GPC_NONE) : GPC_OK;
    return status < 0 || l1->unit_states[0] == LAZY_EMPTY ? status : GPC_HOLD;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

#define STORES(cells) {GPC_TABLE("L1", OVER_UNIT, L1, cells, NULL), .causes = {ON(GPC_MSG_STORE, L1_STORE)}}
static const gpc_table_t flood_table = STORES(flood_cells), few_table = STORES(few_cells),
                         deluge_table = STORES(deluge_cells), early_table = STORES(early_cells),
                         clock_table = STORES(clock_cells);
static const gpc_table_t answer_table = {GPC_TABLE("L1.answers", OVER_UNIT, L1, answer_cells, NULL),
                                         .causes = {ON(MSG_PONG, L1_PONG)}};
static const gpc_table_t bank_table = {
    GPC_TABLE("L2", OVER_UNIT, L2, bank_cells, NULL),
    .causes = {ON(MSG_PING, L2_PING), ON(MSG_PUT, L2_PUT), ON(GPC_MSG_WRITTEN, L2_WRITTEN)}};

#define AT_CORE(name_, unit_, ...)                                                                                     \
    static const gpc_controller_type_t name_ = {                                                                       \
        .name = "L1", .position = GPC_AT_CORE, .tables = {__VA_ARGS__}, .unit = (unit_)}
AT_CORE(flood_l1, prototype_unit_described, &flood_table);
AT_CORE(few_l1, plain_unit_described, &few_table);
AT_CORE(deluge_l1, prototype_unit_described, &deluge_table);
AT_CORE(early_l1, prototype_unit_described, &early_table);
AT_CORE(clock_l1, prototype_unit_described, &clock_table, &answer_table);
AT_CORE(plain_l1, plain_unit_described, &clock_table, &answer_table);

static const gpc_controller_type_t bank = {
    .name = "L2", .position = GPC_AT_BANK, .tables = {&bank_table}, .unit = prototype_unit_described};
static const gpc_controller_type_t plain_bank = {
    .name = "L2", .position = GPC_AT_BANK, .tables = {&bank_table}, .unit = plain_unit_described};

#define PROTOCOL(id_, l1_, l2_, ...)                                                                              \
    {                                                                                                                  \
        .id = (id_), .model = {[GPC_RULE_RC] = "none"}, .standard_rule = GPC_RULE_RC, .controllers = {&(l1_), &(l2_)}, \
        GPC_MESSAGES_OF(MSG), .message = __VA_ARGS__,                           \
        .networks = {{.name = "request"}, {.name = "response"}}, .host_read = read_memory,                             \
    }

static const gpc_protocol_t prototypes[] = {
    PROTOCOL("flood", flood_l1, bank, prototype_message_described),
    PROTOCOL("few", few_l1, plain_bank, plain_message_described),
    PROTOCOL("deluge", deluge_l1, bank, prototype_message_described),
    PROTOCOL("early", early_l1, bank, prototype_message_described),
    PROTOCOL("clocks", clock_l1, bank, prototype_message_described),
    PROTOCOL("plain clocks", plain_l1, plain_bank, plain_message_described),
    PROTOCOL("lazy", lazy_l1, plain_bank, plain_message_described, .order = {.release = lazy_release}),
    PROTOCOL("lazy at the end", lazy_end_l1, plain_bank, plain_message_described),
};

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static const gpc_explore_thread_t one_store[] = {THREAD(0, ST(X, 1))};

static gpc_explore_t
asked(const char *protocol)
{
    return (gpc_explore_t){.protocol = named(protocol),
                           .rule = GPC_RULE_DEFAULT,
                           .cores = 1,
                           .variables = 1,
                           .num_threads = 1,
                           .threads = one_store,
                           .max_states = 100000};
}

TEST(an_image_of_600_kib_comes_back)
{
    size_t bytes = 600u << 10;
    uint8_t *base = calloc(1, bytes), *image = calloc(1, bytes), *back = malloc(bytes);
    gpc_states_t states;

    REQUIRE(base && image && back);
    gpc_states_init(&states, base, bytes);
    image[560u << 10] = 1;
    CHECK_EQUAL_I64(gpc_states_queue(&states, image), 0);
    memset(image, 7, bytes);
    CHECK_EQUAL_I64(gpc_states_queue(&states, image), 0);
    gpc_states_dequeue(&states, back);
    CHECK_EQUAL_U64(back[560u << 10], 1);
    CHECK_EQUAL_U64(back[(560u << 10) % (512u << 10)], 0);
    gpc_states_dequeue(&states, back);
    CHECK(memcmp(image, back, bytes) == 0);
    memcpy(image, base, bytes);
    image[bytes - 1] = 2;
    CHECK_EQUAL_I64(gpc_states_queue(&states, image), 0);
    gpc_states_dequeue(&states, back);
    CHECK(memcmp(image, back, bytes) == 0); /* nothing of the image before it is left */
    gpc_states_free(&states);
    free(base);
    free(image);
    free(back);
}

/* One store and up to 150 PINGs in flight: more messages than one operation usually needs, more than 128 moves. */
TEST(all_of_150_messages_in_flight_can_be_the_next)
{
    gpc_explore_t what = asked("flood");
    EXPLORE(&what, .states = 152);
}

TEST(too_many_messages_are_a_limit_that_is_reported)
{
    gpc_explore_t what = asked("deluge");
    EXPLORE(&what, .limit = "more than 4096 messages in flight");
}

TEST(too_many_states_are_a_limit_that_is_reported)
{
    gpc_explore_t what = asked("flood");
    what.max_states = 3;
    EXPLORE(&what, .limit = "more than 3 states");
}

TEST(states_too_far_away_are_a_limit_that_is_reported)
{
    gpc_explore_t what = asked("plain clocks");
    EXPLORE(&what, .limit = "states that are more than 4095 moves away");
}

TEST(cells_of_every_table_are_covered)
{
    static const struct {
        const char *table;
        uint32_t cell; /* the only one that was entered */
    } entered[] = {{"L1", 0}, {"L1.answers", 1}, {"L2", 0}};
    gpc_explore_t what = asked("clocks");
    gpc_exploration_t found;

    EXPLORE_TO(&found, &what, .violation = "livelock");
    CHECK_EQUAL_U64(found.num_tables, GPC_COUNT_OF(entered));
    for (uint32_t i = 0; i < found.num_tables && i < GPC_COUNT_OF(entered); i++) {
        CHECK_EQUAL_TEXT(found.tables[i].name, entered[i].table);
        CHECK_EQUAL_U64(found.tables[i].count, 1);
        CHECK_EQUAL_U64(found.tables[i].cells[0], entered[i].cell);
    }
    gpc_exploration_free(&found);
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t bytes[512];
    size_t length;
} encoded_t;

static gpc_world_t *
make_world(const gpc_explore_t *what)
{
    gpc_world_t *world = gpc_block_take(sizeof(*world));
    CHECK(world != NULL);
    if (world) {
        CHECK_EQUAL_I64(gpc_world_init(world, what, 1), 0);
    }
    return world;
}

static void
free_world(gpc_world_t *world)
{
    gpc_world_free(world);
    gpc_block_give(world, sizeof(*world));
}

static void
encode(gpc_world_t *world, encoded_t *out)
{
    gpc_encoder_t encoder = {.bytes = out->bytes, .capacity = sizeof(out->bytes)};
    gpc_world_encode(world, world->symmetries, &encoder);
    CHECK(!encoder.overflow);
    out->length = encoder.length;
}

static bool
same(const encoded_t *one, const encoded_t *other)
{
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

TEST(a_message_that_names_a_completed_request_is_encoded_without_it)
{
    gpc_explore_t what = asked("early");
    gpc_world_t *world = make_world(&what);
    REQUIRE(world != NULL);
    encoded_t before, after;

    CHECK_EQUAL_I64(gpc_world_move(world, &(gpc_move_t){.kind = GPC_MOVE_ISSUE}), GPC_OK);
    const gpc_list_t *channel = gpc_world_channel(world, 0, 1, 0);
    REQUIRE(channel->count == 1);
    encode(world, &before);
    gpc_msg_at(&world->messages, channel->head)->request = GPC_NONE;
    encode(world, &after);
    CHECK(same(&before, &after));
    free_world(world);
}

TEST(clocks_that_grow_for_ever_have_few_states)
{
    gpc_explore_t what = asked("clocks");
    /* the start, the first PING, a PONG, a later PING; no state is at rest */
    EXPLORE(&what, .states = 4, .violation = "livelock");
}

/* A state with a PING of this time, the L1's clock and the bank's. */
static void
encode_times(gpc_world_t *world, uint64_t message, uint64_t l1, uint64_t l2, encoded_t *out)
{
    gpc_list_t *channel = gpc_world_channel(world, 0, 1, 0);
    if (channel->count == 0) {
        CHECK_EQUAL_I64(gpc_world_move(world, &(gpc_move_t){.kind = GPC_MOVE_ISSUE}), GPC_OK);
    }
    gpc_msg_at(&world->messages, channel->head)->fields[0] = message;
    *clock_of(&world->controllers[0]) = l1;
    *clock_of(&world->controllers[1]) = l2;
    encode(world, out);
}

TEST(logical_times_are_the_same_up_to_a_shift_and_no_other_change)
{
    gpc_explore_t what = asked("clocks");
    gpc_world_t *world = make_world(&what);
    REQUIRE(world != NULL);
    encoded_t one, other;

    encode_times(world, 5, 9, 3, &one); /* M.exp > D.ver */
    encode_times(world, 15, 19, 13, &other);
    CHECK(same(&one, &other));
    encode_times(world, 5, 9, 7, &other); /* M.exp < D.ver */
    CHECK(!same(&one, &other));
    encode_times(world, 5, 9, 5, &other); /* and equal */
    CHECK(!same(&one, &other));
    encode_times(world, 5, 9, 4, &other); /* the same order, another distance */
    CHECK(!same(&one, &other));
    encode_times(world, 0, 9, 3, &one); /* 0 means no time, which is not before all others */
    encode_times(world, 0, 19, 13, &other);
    CHECK(same(&one, &other));
    encode_times(world, 3, 9, 3, &other);
    CHECK(!same(&one, &other));
    free_world(world);
}

/* A state whose four PINGs have these times, in the order in which they were sent. */
static void
encode_four(gpc_world_t *world, const uint64_t *times, encoded_t *out)
{
    gpc_index_t i = gpc_world_channel(world, 0, 1, 0)->head;
    for (uint32_t n = 0; n < 4; n++, i = gpc_msg_at(&world->messages, i)->next) {
        gpc_msg_at(&world->messages, i)->fields[0] = times[n];
    }
    encode(world, out);
}

TEST(the_order_of_messages_that_may_pass_each_other_distinguishes_no_states)
{
    gpc_explore_t what = asked("few");
    gpc_world_t *world = make_world(&what);
    REQUIRE(world != NULL);
    encoded_t one, other;
    static const uint64_t times[] = {1, 70000, 300, 300};

    CHECK_EQUAL_I64(gpc_world_move(world, &(gpc_move_t){.kind = GPC_MOVE_ISSUE}), GPC_OK);
    REQUIRE(gpc_world_channel(world, 0, 1, 0)->count == 4);
    encode_four(world, times, &one);
    for (uint32_t n = 0; n < 256; n++) { /* every choice of four, all orders of the same four among them */
        uint32_t at[] = {n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6 & 3};
        encode_four(world, (uint64_t[]){times[at[0]], times[at[1]], times[at[2]], times[at[3]]}, &other);
        uint64_t sum = times[at[0]] + times[at[1]] + times[at[2]] + times[at[3]];
        CHECK_EQUAL_U64(same(&one, &other), sum == 1 + 70000 + 300 + 300);
    }
    free_world(world);
}

/* ---- the end of a thread and of a launch ------------------------------------------------------------------------- */

static void
expect_only(const char *protocol, const gpc_explore_thread_t *thread, const char *outcome)
{
    gpc_explore_t what = asked(protocol);
    what.threads = thread;
    EXPLORE(&what, .only = outcome);
}

TEST(a_thread_ends_once_its_stores_are_drained)
{
    const gpc_explore_thread_t ends[] = {THREAD(0, ST(X, 1), THREAD_END)};
    expect_only("lazy", one_store, "0");
    expect_only("lazy", ends, "1");
    expect_only("lazy at the end", ends, "1");
}

TEST(a_launch_ends_once_what_its_end_causes_is_over)
{
    const gpc_explore_thread_t next[] = {THREAD(0, ST(X, 1), NEXT_KERNEL, ST(X, 2), NEXT_KERNEL)};
    expect_only("lazy", next, "2");
    expect_only("lazy at the end", one_store, "1");
    expect_only("lazy at the end", next, "2");
}

BEFORE_TESTS
{
    for (size_t i = 0; i < GPC_COUNT_OF(prototypes); i++) {
        register_own(&prototypes[i]);
    }
}
