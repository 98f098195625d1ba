/* test_messages.c: the sizes of messages and the networks they travel on, on the tables of prototype_limits.c. */
#include "controller/nodes.h"
#include "controller/resolve.h"
#include "protocols/public_sizes.h"
#include "tests/limits_bench.h"

enum { A = 0x1000, LIMITS_MESSAGES = 5 };

/* The prototype with its messages in an array that a test may change. */
static gpc_protocol_t
with_messages(gpc_message_info_t messages[LIMITS_MESSAGES])
{
    gpc_protocol_t protocol = prototype_limits;
    for (uint32_t i = 0; i < LIMITS_MESSAGES; i++) {
        messages[i] = prototype_limits.messages[i];
    }
    protocol.messages = messages;
    return protocol;
}

/* Requests on network 1, answers on network 0: a message on the request network may be held and carries both operands
 * of a compare-and-swap. */
TEST(requests_are_what_travels_on_a_network_that_is_declared_so)
{
    gpc_message_info_t messages[LIMITS_MESSAGES];
    gpc_protocol_t protocol = with_messages(messages);

    for (uint32_t i = 0; i < GPC_COUNT_OF(messages); i++) {
        messages[i].network = !messages[i].network;
    }
    protocol.networks[0] = (gpc_network_info_t){.name = "response"};
    protocol.networks[1] = (gpc_network_info_t){.name = "request", .requests = true};
    limits_begin_with(&protocol, LIMITS_LINES, 4);

    gpc_index_t lanes = gpc_pool_take(&bench.lane_lists);
    *gpc_lane_list_at(&bench.lane_lists, lanes) = (gpc_lane_list_t){.operation = GPC_ATOMIC_CAS, .count = 3};
    gpc_msg_t up = {.type = LIMITS_PUT, .network = 1, .lanes = lanes};
    gpc_msg_t down = {.type = LIMITS_ACK, .network = 0, .lanes = lanes};
    CHECK(gpc_is_request(&bench.unit, &up));
    CHECK(!gpc_is_request(&bench.unit, &down));
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &up), 8 + 3 * 8);
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &down), 8 + 3 * 4);
    gpc_pool_give(&bench.lane_lists, lanes);
    limits_end();
}

/* A kind of message, and what it has on links of 16 and of 64 bytes. Lines have 64 bytes. */
typedef struct {
    uint8_t type, lanes, operation; /* without lanes: words of the mask, or of the line */
    gpc_mask_t mask, here;
    uint32_t bytes, flits[2];
} kind_t;

/* PUT carries a line here; network 0 has requests, network 1 answers. */
static const kind_t kinds[] = {
    {LIMITS_GET, .mask = 7, .bytes = 8, .flits = {1, 1}},                       /* a header */
    {LIMITS_BACK, .mask = 1, .bytes = 8 + 4, .flits = {1, 1}},                  /* and a word */
    {LIMITS_DATA, .mask = 0xFF, .bytes = 8 + 32, .flits = {3, 1}},              /* words */
    {LIMITS_PUT, .mask = 1, .bytes = 8 + 64, .flits = {5, 2}},                  /* a line */
    {LIMITS_PUT, .mask = 1, .here = 0xF, .bytes = 8 + 16, .flits = {2, 1}},     /* a sector of it */
    {LIMITS_GET, 3, GPC_ATOMIC_ADD, .bytes = 8 + 3 * 4, .flits = {2, 1}},       /* operands */
    {LIMITS_ACK, 3, GPC_ATOMIC_ADD, .bytes = 8 + 3 * 4, .flits = {2, 1}},       /* old values */
    {LIMITS_GET, 32, GPC_ATOMIC_CAS, .bytes = 8 + 32 * 8, .flits = {17, 5}},    /* two operands each */
    {LIMITS_ACK, 32, GPC_ATOMIC_CAS, .bytes = 8 + 32 * 4, .flits = {9, 3}},     /* one old value each */
    {LIMITS_GET, 3, GPC_ATOMIC_MERGE, .bytes = 8 + 3 * 4 + 2, .flits = {2, 1}}, /* words, masks of bytes */
    {LIMITS_ACK, 3, GPC_ATOMIC_MERGE, .bytes = 8, .flits = {1, 1}},             /* its acknowledgement */
};

static void
send_kind(const kind_t *kind)
{
    gpc_step_t x = {.unit = &bench.unit};
    gpc_msg_t *msg = gpc_msg_at(&bench.messages, bench_message(kind->type, A, kind->mask));
    msg->here = kind->here;
    if (kind->lanes) {
        msg->lanes = gpc_pool_take(&bench.lane_lists);
        *gpc_lane_list_at(&bench.lane_lists, msg->lanes) =
            (gpc_lane_list_t){.operation = kind->operation, .count = kind->lanes};
    }
    CHECK_EQUAL_I64(gpc_send(&x, msg), GPC_OK);
}

TEST(bytes_are_the_header_and_payload_on_links_of_any_width)
{
    static const uint32_t widths[] = {16, 64};
    gpc_message_info_t messages[LIMITS_MESSAGES];
    gpc_protocol_t protocol = with_messages(messages);
    messages[LIMITS_PUT - GPC_MSG_OWN].whole_line = true;

    for (uint32_t width = 0; width < GPC_COUNT_OF(widths); width++) {
        gpc_machine_t machine = bench_small_machine;
        machine.flit_bytes = widths[width];
        bench_begin(&protocol, LIMITS_LINES, &machine);
        for (uint32_t i = 0; i < GPC_COUNT_OF(kinds); i++) {
            send_kind(&kinds[i]);
            CHECK_EQUAL_U64(bench.world.sent_bytes, kinds[i].bytes);
            CHECK_EQUAL_U64(bench.world.sent_flits, kinds[i].flits[width]);
        }
        limits_end();
    }
}

/* 1 for a line, 2 for an empty message, else the payload. */
static uint32_t
own_bytes(bool is_line, uint32_t payload)
{
    return is_line ? 1 : payload == 0 ? 2 : payload;
}

TEST(an_option_selects_other_sizes_of_messages)
{
    gpc_message_info_t messages[LIMITS_MESSAGES];
    gpc_protocol_t protocol = with_messages(messages);

    messages[LIMITS_ACK - GPC_MSG_OWN] = (gpc_message_info_t){.name = "ACK", .fixed_bytes = 12, .bytes_per_word = 4};
    messages[LIMITS_PUT - GPC_MSG_OWN] = (gpc_message_info_t){.name = "PUT", .fixed_bytes = 12, .whole_line = true};
    protocol.other_sizes = (gpc_other_sizes_t){.option = 3, .value = 1, .bytes = own_bytes};
    limits_begin_with(&protocol, LIMITS_LINES, 4);

    gpc_msg_t line = {.type = LIMITS_PUT, .lanes = GPC_NONE}, words = {.type = LIMITS_ACK, .lanes = GPC_NONE};
    words.mask = 7;
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &line), 12 + bench.unit.machine->line_bytes);
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &words), 12 + 12);
    bench.options[3] = 1;
    bench.unit.protocol = gpc_protocol_resolve(&protocol, bench.options, &bench.arena);
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &line), 1);
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &words), 12);
    words.mask = 0;
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &words), 2);
    limits_end();
}

TEST(public_sizes_round_operands_up_and_replace_the_header)
{
    CHECK_EQUAL_U64(public_bytes(true, 128), 128);
    CHECK_EQUAL_U64(public_bytes_with_header(true, 128), 8 + 128);
    CHECK_EQUAL_U64(public_bytes(false, 12), 16);
    CHECK_EQUAL_U64(public_bytes_with_header(false, 16), 16);
    CHECK_EQUAL_U64(public_bytes(false, 0), 8);
}

TEST(a_message_without_room_is_refused_when_it_is_sent)
{
    gpc_index_t taken[64];

    limits_begin(LIMITS_WORDS, 4);
    gpc_index_t load = bench_message(GPC_MSG_LOAD, A, 1);
    for (uint32_t i = 1; i < 64; i++) {
        taken[i] = gpc_pool_take(&bench.messages);
    }
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, load), GPC_ERROR_CAPACITY);
    CHECK_EQUAL_U64(bench.world.sends, 0);
    CHECK_EQUAL_I64(bench.failure.code, GPC_ERROR_CAPACITY);
    for (uint32_t i = 1; i < 64; i++) {
        gpc_pool_give(&bench.messages, taken[i]);
    }
    gpc_pool_give(&bench.messages, load);
    limits_end();
}
