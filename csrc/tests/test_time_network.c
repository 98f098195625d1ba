/* test_time_network.c: cycles of networks, computed by hand, and mean waits in closed form. test_network*.c have the
 * unloaded latencies, orders and bandwidths.
 *
 * With latency 4 a message sent at cycle t is ready at t + 3; granted at g it occupies its ports until g + flits, and
 * its last flit arrives at g + flits. */
#include "network_world.h"
#include "queueing.h"
#include "tests/fresh.h"

static gpc_tick_t
cycle(gpc_tick_t cycles)
{
    return cycles * PERIOD;
}

/* Whether a message is forgotten; the report has the text. */
static bool
sleeps(const char *report)
{
    const gpc_schedule_t schedule = {.wheel = &wheel};
    gpc_text_t *text = fresh_text();
    bool forgotten = gpc_network_sleeps_on_work(&network, &schedule, text);
    CHECK_EQUAL_U64(text->bytes != NULL, forgotten);
    CHECK(!forgotten || strstr(text->bytes, report) != NULL);
    return forgotten;
}

/* ---- arbiters ---------------------------------------------------------------------------------------------------- */

/* Core 2 is served alone; then all at once, its successors first. Each message has 3 flits. */
TEST(arbiter_serves_inputs_round_robin_after_the_last)
{
    begin(&fermi);
    send(2, CORES, 0, 3);
    run_to(cycle(10));
    for (uint32_t core = 0; core < CORES; core++) {
        send(core, CORES, 0, 3);
    }
    run_dry();
    for (uint32_t i = 0; i < CORES; i++) { /* ready at 13 */
        CHECK_EQUAL_U64(arrived_at[1 + (3 + i) % CORES], cycle(13 + 3 + 3 * i));
    }
}

/* `from` serves `last` of its inputs or outputs alone, then those listed, in this order. */
typedef struct {
    uint32_t cores, last, count, order[4];
} round_robin_t;

/* Requests and outputs are sets of 64-bit words: sets of one word, of more, and next to the limits. */
static const round_robin_t rounds[] = {
    {16, 15, 2, {0, 3}},        {16, 4, 3, {9, 2, 4}},   {64, 63, 2, {0, 62}},   {65, 10, 2, {64, 3}},
    {100, 70, 3, {10, 65, 66}}, {128, 127, 2, {65, 66}}, {100, 70, 2, {65, 66}}, {130, 70, 4, {129, 10, 65, 66}},
};

TEST(arbiter_serves_inputs_round_robin_over_words)
{
    for (uint32_t k = 0; k < GPC_COUNT_OF(rounds); k++) {
        const round_robin_t *round = &rounds[k];
        gpc_network_config_t config = fermi;
        config.cores = round->cores;
        begin(&config);
        send(round->last, config.cores, 1, 1);
        run_to(cycle(10));
        for (uint32_t i = round->count; i-- > 0;) {
            send(round->order[i], config.cores, 1, 2);
        }
        run_to(cycle(14));
        CHECK(!sleeps(""));
        run_to(cycle(1000));
        for (uint32_t i = 0; i < round->count; i++) {
            CHECK_EQUAL_U64(arrived_at[round->count - i], cycle(13 + 2 + 2 * i));
        }
    }
}

/* A bank streams to core `last` from 3 to 11 while the others become ready. */
TEST(arbiter_serves_outputs_round_robin_over_words)
{
    for (uint32_t k = 0; k < GPC_COUNT_OF(rounds); k++) {
        const round_robin_t *round = &rounds[k];
        gpc_network_config_t config = fermi;
        config.cores = round->cores;
        begin(&config);
        send(config.cores, round->last, 1, 8);
        run_to(cycle(4));
        for (uint32_t i = round->count; i-- > 0;) {
            send(config.cores, round->order[i], 1, 2);
        }
        run_to(cycle(1000));
        for (uint32_t i = 0; i < round->count; i++) {
            CHECK_EQUAL_U64(arrived_at[round->count - i], cycle(11 + 2 + 2 * i));
        }
    }
}

/* Four virtual networks with two messages each, of different cores: 0, 1, 2, 3, 0, 1, 2, 3. */
TEST(arbiter_serves_four_virtual_networks_round_robin)
{
    gpc_network_config_t config = fermi;
    config.networks = 4;
    begin(&config);
    for (uint32_t i = 0; i < 8; i++) {
        send(7 - i, CORES, i % 4, 2); /* core 7 - i: the order of the cores is not that of the networks */
    }
    run_dry();
    for (uint32_t i = 0; i < 4; i++) { /* of a network, the lower core first */
        CHECK_EQUAL_U64(arrived_at[4 + i], cycle(3 + 2 + 2 * i));
        CHECK_EQUAL_U64(arrived_at[i], cycle(3 + 2 + 2 * (4 + i)));
    }
}

/* A network without credits does not keep the output from the next one, and keeps its place. */
TEST(arbiter_passes_a_virtual_network_without_credits)
{
    begin(&fermi);
    holding = true;
    send(0, CORES, 0, 8);
    run_to(cycle(20)); /* fills the buffer of network 0; network 1 is next */
    send(1, CORES, 0, 2);
    send(2, CORES, 1, 2);
    send(3, CORES, 1, 2);
    run_to(cycle(23 + 2 + 2)); /* ready at 23: network 1 twice */
    CHECK_EQUAL_U64(total(hops_of), 8 + 2 + 2);
    take_all(CORES, 0); /* the credits return at 27: network 0 at once */
    holding = false;
    run_to(cycle(27 + 2) - 1);
    CHECK_EQUAL_U64(arrived_at[1], GPC_NEVER);
    run_to(cycle(27 + 2));
    CHECK_EQUAL_U64(arrived_at[1], cycle(27 + 2));
    take_all(CORES, 1);
    run_dry();
}

/* Keeps streams of messages of 4 flits full, up to a cycle: from, to, virtual network. */
static void
stream_until(const uint32_t streams[][3], uint32_t count, gpc_tick_t end)
{
    while (gpc_wheel_now(&wheel) < cycle(end)) {
        for (uint32_t i = 0; i < count; i++) {
            if (has_room(streams[i][0], streams[i][1], streams[i][2], 4)) {
                send(streams[i][0], streams[i][1], streams[i][2], 4);
            }
        }
        run_to(gpc_wheel_now(&wheel) + PERIOD);
        CHECK(!sleeps(""));
    }
}

/* Cores 2, 3 and 4 keep bank 0 busy with messages of 4 flits, cores 0 and 1 banks 1 and 2. These stream from 3 + 4k to
 * 7 + 4k, bank 0 is free at 4 + 4k, when they are busy. Core 0's message for bank 0, ready at 4, is passed at 4, 8, ..:
 * the 32nd time (two rounds of 16 inputs) at 4 + 31 * 4 = 128, when bank 0 claims core 0. Its stream ends at 131 and no
 * other begins; bank 0, free at 132, takes it, and not core 4, which is next. Core 1's message is passed from 136 on:
 * the 32nd time at 260. */
TEST(arbiter_claims_an_input_after_passing_it_for_two_rounds)
{
    static const uint32_t streams[][3] = {
        {0, CORES + 1, 0}, {1, CORES + 2, 0}, {2, CORES, 0}, {3, CORES, 0}, {4, CORES, 0}};
    begin(&fermi);
    send(0, CORES + 1, 0, 4);
    send(1, CORES + 2, 0, 4);
    run_to(cycle(1));
    uint32_t passed = num_sent;
    send(0, CORES, 0, 4);
    send(1, CORES, 0, 4);
    stream_until(streams, GPC_COUNT_OF(streams), 300);
    CHECK_EQUAL_U64(arrived_at[passed], cycle(132 + 4));
    CHECK_EQUAL_U64(arrived_at[passed + 1], cycle(264 + 4));
    run_dry();
}

/* The same on two virtual networks, which alternate at bank 0: core 0 is passed on network 0 at 4, 12, .. and claimed
 * at 4 + 31 * 8 = 252. Its stream ends at 255. At 256 network 1 takes its message, which leaves the claim: the one on
 * network 0 follows at 260. */
TEST(arbiter_keeps_a_claim_while_another_virtual_network_is_served)
{
    static const uint32_t streams[][3] = {{0, CORES + 1, 0}, {1, CORES, 0}, {2, CORES, 0}, {3, CORES, 1}};
    begin(&fermi);
    send(0, CORES + 1, 0, 4);
    run_to(cycle(1));
    uint32_t passed = num_sent;
    send(0, CORES, 0, 4);
    send(0, CORES, 1, 4);
    stream_until(streams, GPC_COUNT_OF(streams), 280);
    CHECK_EQUAL_U64(arrived_at[passed], cycle(260 + 4));
    CHECK_EQUAL_U64(arrived_at[passed + 1], cycle(256 + 4));
    run_dry();
}

/* Messages of core 0 for all banks are ready at once. The outputs' order rotates from cycle to cycle: at cycle c bank b
 * is (b + c) mod 8th; the first takes the input. From then on the input serves its outputs round robin. */
TEST(arbiter_breaks_ties_of_outputs_by_the_cycle)
{
    for (uint32_t start = 0; start < 2 * BANKS; start++) {
        begin(&fermi);
        run_to(cycle(start));
        for (uint32_t bank = 0; bank < BANKS; bank++) {
            send(0, CORES + bank, 0, 2);
        }
        run_dry();
        uint32_t first = (2 * BANKS - (start + 3) % BANKS) % BANKS;
        for (uint32_t i = 0; i < BANKS; i++) {
            CHECK_EQUAL_U64(arrived_at[(first + i) % BANKS], cycle(start + 3 + 2 + 2 * i));
        }
    }
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* Two idle cycles between flits: a message of n flits has its last one 3 (n - 1) cycles behind the first, and occupies
 * the link for 3 n cycles. */
TEST(link_passes_a_flit_every_gap_and_one)
{
    gpc_network_config_t config = with_buffers(&fermi, 16);
    config.flit_gap = 2;
    begin(&config);
    CHECK_EQUAL_U64(gpc_network_zero_load(&network, 0, CORES, 5), 4 + 3 * 4);
    for (uint32_t i = 0; i < 3; i++) {
        send(0, CORES, 0, 5);
    }
    run_dry();
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQUAL_U64(arrived_at[i], cycle(4 + 3 * 4 + 3 * 5 * i));
    }
}

/* The ejection buffer has 8 flits. Messages of 4, 4 and 1: the third needs the credits of the first, which return when
 * the receiver takes it, at the next edge. */
TEST(link_waits_for_the_credits_that_the_receiver_returns)
{
    for (gpc_tick_t tick = cycle(20) - 1; tick <= cycle(20) + 1; tick++) {
        gpc_index_t taken;
        begin(&fermi);
        holding = true;
        for (uint32_t core = 0; core < 2; core++) {
            send(core, CORES, 0, 4);
        }
        send(2, CORES, 0, 1);
        run_to(tick);
        CHECK_EQUAL_U64(total(hops_of), 8);
        CHECK_EQUAL_U64(num_heads, 1);
        CHECK_EQUAL_I64(gpc_network_take(&network, CORES, 0, &taken), 0);
        gpc_pool_give(&messages, taken);
        num_arrived++;
        take_all(CORES, 0); /* the second */
        holding = false;
        gpc_tick_t edge = tick > cycle(20) ? 21 : 20;
        run_to(cycle(edge + 1) - 1);
        CHECK_EQUAL_U64(arrived_at[2], GPC_NEVER);
        run_to(cycle(edge + 1));
        CHECK_EQUAL_U64(arrived_at[2], cycle(edge + 1));
        run_dry();
    }
}

/* A mesh's link between routers has the credits of the next router's queue, 8 flits, which return at its grants. With a
 * router of latency 20, 1 -> 2 is idle while a message of 8 flits waits for the pipeline behind it: one message a
 * latency. */
TEST(link_between_routers_waits_for_the_credits_of_the_next_grant)
{
    gpc_network_config_t config = mesh(3, 1, 3);
    config.latency = 20;
    begin(&config);
    for (uint32_t i = 0; i < 3; i++) {
        while (!has_room(0, 2, 0, 8)) {
            run_to(gpc_wheel_now(&wheel) + 1);
        }
        send(0, 2, 0, 8);
    }
    run_dry();
    /* Granted at 19, 39 and 59 + 20 i. The next message enters router 0 at the grant of the one before and is ready 19
     * cycles later; the credits of router 1 return one cycle later still. */
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQUAL_U64(arrived_at[i], cycle(3 * 20 + 7 + 20 * i));
    }
}

/* Each output counts the ticks in which it passes flits, until the counts are reset. */
TEST(link_counts_the_time_that_it_is_busy)
{
    begin(&fermi);
    send(0, CORES, 0, 5);
    send(1, CORES, 0, 2);
    send(1, CORES + BANKS - 1, 0, 1);
    send(CORES, 0, 0, 3);
    run_dry();
    gpc_tick_t sum = 0;
    for (uint32_t output = 0; output < gpc_network_num_outputs(&network); output++) {
        sum += gpc_network_busy(&network, output);
    }
    CHECK_EQUAL_U64(gpc_network_num_outputs(&network), CORES + BANKS);
    CHECK_EQUAL_U64(gpc_network_busy(&network, CORES), cycle(5 + 2)); /* behind the cores' outputs */
    CHECK_EQUAL_U64(sum, cycle(5 + 2 + 1 + 3));
    gpc_network_reset_busy(&network);
    for (uint32_t output = 0; output < CORES + BANKS; output++) {
        CHECK_EQUAL_U64(gpc_network_busy(&network, output), 0);
    }
}

/* D/D/1: a message of 5 flits every `gap` cycles waits for those before it: i (5 - gap) cycles, if they come faster
 * than they pass. */
TEST(link_under_periodic_load_waits_as_long_as_the_load_exceeds_it)
{
    gpc_network_config_t config = with_buffers(&fermi, 1024);
    for (uint32_t gap = 1; gap <= 7; gap++) {
        begin(&config);
        for (uint32_t i = 0; i < 100; i++) {
            run_to(cycle(i * gap));
            send(0, CORES, 0, 5);
        }
        run_dry();
        for (uint32_t i = 0; i < 100; i++) {
            CHECK_EQUAL_U64(arrived_at[i] - cycle(i * gap), cycle(4 + 4 + (gap < 5 ? i * (5 - gap) : 0)));
        }
    }
}

/* Random messages of 8 flits of one core, or of any of `cores`, to a bank. */
static void
check_random_load(double load, uint32_t cores)
{
    static gpc_tick_t sent_at[QUEUEING_REQUESTS];
    gpc_network_config_t config = with_buffers(&fermi, 1024);
    waits_t waits = {.count = 0};
    begin(&config);
    while (waits.count < QUEUEING_REQUESTS) {
        if (num_sent < QUEUEING_REQUESTS) {
            run_to(gpc_wheel_now(&wheel) + cycle(slots_to_next_request(load, 8)));
            sent_at[num_sent] = gpc_wheel_now(&wheel);
            arrived_at[num_sent % MESSAGES] = GPC_NEVER;
            send(any_below(cores), CORES, 0, 8);
        } else {
            run_dry();
        }
        for (; waits.count < num_sent && arrived_at[waits.count % MESSAGES] != GPC_NEVER;) {
            gpc_tick_t took = arrived_at[waits.count % MESSAGES] - sent_at[waits.count];
            note_wait(&waits, took / PERIOD - (4 + 7));
        }
    }
    check_waits(&waits, load, 8);
}

TEST(link_under_random_load_waits_as_m_d_1)
{
    check_random_load(0.3, 1);
    check_random_load(0.7, 1);
}

/* The order of service differs from that of arrival, which leaves the mean. */
TEST(arbiter_under_random_load_waits_as_m_d_1)
{
    check_random_load(0.5, CORES);
    check_random_load(0.8, CORES);
}

/* ---- what a network waits for ------------------------------------------------------------------------------------ */

/* At no tick of a busy network a message is forgotten: it waits for credits, a port, or its event. */
TEST(waits_end_in_events_at_every_tick)
{
    gpc_network_config_t configs[] = {fermi, mesh(6, 5, 3), with_buffers(&fermi, 1)};
    for (uint32_t c = 0; c < GPC_COUNT_OF(configs); c++) {
        uint32_t forgotten = 0;
        begin(&configs[c]);
        for (gpc_tick_t tick = 1; tick < 3000; tick++) {
            uint32_t from = any_below(6), to = any_below(configs[c].cores + 5);
            uint32_t vn = any_below(2), flits = 1 + any_below(5);
            to = random_below(2) ? configs[c].cores : to;
            holding = tick % 64 < 24;
            if (random_below(2) && has_room(from, to, vn, flits)) {
                send(from, to, vn, flits);
            }
            take_all(holding ? 0 : (gpc_node_t) random_below(configs[c].cores + 5), vn);
            run_to(tick);
            forgotten += sleeps("");
        }
        CHECK_EQUAL_U64(forgotten, 0);
        CHECK(num_sent > 500);
    }
}

/* Without its event a message is forgotten, in a queue (at 2) or on its last link (at 5). */
TEST(waits_without_an_event_are_reported)
{
    static const gpc_tick_t ticks[] = {2, 5};
    for (uint32_t i = 0; i < 2 * GPC_COUNT_OF(ticks); i++) {
        begin(&fermi);
        send(0, i % 2 ? CORES : 5, 0, 3);
        run_to(cycle(ticks[i / 2]));
        CHECK(!sleeps(""));
        gpc_wheel_clear(&wheel);
        CHECK(sleeps(i < 2 ? "has no grant" : "1 messages on their last links, of which 0 have an event"));
    }
}

/* ---- contention in a mesh --------------------------------------------------------------------------------------- */

/* Two messages of 4 flits from core 0 and from core 1 to core 2, in a row of three routers. Router 1 passes core 1's
 * first one at 3, core 0's at 7 (in router 1 at 4, ready at 7), core 1's second at 11, core 0's second (granted in
 * router 0 at 7, ready at 11) at 15. Router 2 passes each 4 cycles later. */
TEST(mesh_router_alternates_between_its_node_and_a_link)
{
    gpc_network_config_t config = mesh(3, 1, 3);
    static const gpc_tick_t granted[] = {7, 3, 15, 11}; /* in router 1 */
    begin(&config);
    for (uint32_t i = 0; i < 4; i++) {
        send(i % 2, 2, 0, 4);
    }
    run_dry();
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQUAL_U64(arrived_at[i], cycle(granted[i] + 4 + 4));
    }
}

/* A mesh's node has one queue for all destinations: behind a message whose output is busy one to an idle output waits,
 * too. Core 0's message occupies core 1's ejection port from 7 to 15; core 1's to itself passes at 15, and its next one
 * to core 2 at 17 and, in router 2, at 21. */
TEST(mesh_holds_up_messages_behind_a_busy_output)
{
    gpc_network_config_t config = mesh(3, 1, 3);
    begin(&config);
    send(0, 1, 0, 8);
    run_to(cycle(5));
    send(1, 1, 0, 2);
    send(1, 2, 0, 2);
    run_dry();
    CHECK_EQUAL_U64(arrived_at[0], cycle(7 + 8));
    CHECK_EQUAL_U64(arrived_at[1], cycle(15 + 2));
    CHECK_EQUAL_U64(arrived_at[2], cycle(21 + 2));
}
