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
static void
requests_are_what_travels_on_a_network_that_is_declared_so(void)
{
    gpc_message_info_t messages[LIMITS_MESSAGES];
    gpc_protocol_t protocol = with_messages(messages);
    bench_t bench;

    for (uint32_t i = 0; i < GPC_COUNT_OF(messages); i++) {
        messages[i].network = !messages[i].network;
    }
    protocol.networks[0] = (gpc_network_info_t){.name = "response"};
    protocol.networks[1] = (gpc_network_info_t){.name = "request", .requests = true};
    limits_begin_with(&bench, &protocol, LIMITS_LINES, 4);

    gpc_index_t lanes = gpc_pool_take(&bench.lane_lists);
    *gpc_lane_list_at(&bench.lane_lists, lanes) = (gpc_lane_list_t){.operation = GPC_ATOMIC_CAS, .count = 3};
    gpc_msg_t up = {.type = LIMITS_PUT, .network = 1, .lanes = lanes};
    gpc_msg_t down = {.type = LIMITS_ACK, .network = 0, .lanes = lanes};
    CHECK(gpc_is_request(&bench.unit, &up));
    CHECK(!gpc_is_request(&bench.unit, &down));
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &up), 8 + 3 * 8);
    CHECK_EQUAL_U64(gpc_message_bytes(&bench.unit, &down), 8 + 3 * 4);
    gpc_pool_give(&bench.lane_lists, lanes);
    limits_end(&bench);
}

/* 1 for a line, 2 for an empty message, else the payload. */
static uint32_t
own_bytes(bool is_line, uint32_t payload)
{
    return is_line ? 1 : payload == 0 ? 2 : payload;
}

static void
an_option_selects_other_sizes_of_messages(void)
{
    gpc_message_info_t messages[LIMITS_MESSAGES];
    gpc_protocol_t protocol = with_messages(messages);
    bench_t bench;

    messages[LIMITS_ACK - GPC_MSG_OWN] = (gpc_message_info_t){.name = "ACK", .fixed_bytes = 12, .bytes_per_word = 4};
    messages[LIMITS_PUT - GPC_MSG_OWN] = (gpc_message_info_t){.name = "PUT", .fixed_bytes = 12, .whole_line = true};
    protocol.other_sizes = (gpc_other_sizes_t){.option = 3, .value = 1, .bytes = own_bytes};
    limits_begin_with(&bench, &protocol, LIMITS_LINES, 4);

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
    limits_end(&bench);
}

static void
public_sizes_round_operands_up_and_replace_the_header(void)
{
    CHECK_EQUAL_U64(public_bytes(true, 128), 128);
    CHECK_EQUAL_U64(public_bytes_with_header(true, 128), 8 + 128);
    CHECK_EQUAL_U64(public_bytes(false, 12), 16);
    CHECK_EQUAL_U64(public_bytes_with_header(false, 16), 16);
    CHECK_EQUAL_U64(public_bytes(false, 0), 8);
}

static void
a_message_without_room_is_refused_when_it_is_sent(void)
{
    gpc_index_t taken[64];
    bench_t bench;

    limits_begin(&bench, LIMITS_WORDS, 4);
    gpc_index_t load = bench_message(&bench, GPC_MSG_LOAD, A, 1);
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
    limits_end(&bench);
}

int
main(void)
{
    RUN(requests_are_what_travels_on_a_network_that_is_declared_so);
    RUN(an_option_selects_other_sizes_of_messages);
    RUN(public_sizes_round_operands_up_and_replace_the_header);
    RUN(a_message_without_room_is_refused_when_it_is_sent);
    return harness_end();
}
