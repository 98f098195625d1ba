/* test_network_bandwidth.c: do crossbars use the full bandwidth of all ports, share it fairly, and need few events for
 * it? */
#include "network_world.h"

/* All messages of 5 flits to one output arrive, exactly one every 5 cycles. */
static void
check_every_five_cycles(void)
{
    gpc_tick_t first = GPC_NEVER, last = 0;
    run_dry();
    for (uint32_t i = 0; i < num_sent; i++) {
        first = arrived_at[i] < first ? arrived_at[i] : first;
        last = arrived_at[i] > last ? arrived_at[i] : last;
    }
    CHECK_EQUAL_U64(first, (4 + 4) * PERIOD);
    CHECK_EQUAL_U64(last - first, (gpc_tick_t) (num_sent - 1) * 5 * PERIOD);
}

TEST(arbiter_shares_a_bank_among_cores_at_one_flit_a_cycle)
{
    for (uint32_t vc_flits = 1; vc_flits <= 16; vc_flits += 5) {
        gpc_network_config_t config = with_buffers(&fermi, vc_flits);
        begin(&config);
        keep_sending = true;
        goal = 1600;
        for (uint32_t core = 0; core < CORES; core++) {
            send(core, CORES, 0, 5);
        }
        check_every_five_cycles();
        for (uint32_t core = 0; core < CORES; core++) { /* and fairly */
            CHECK_EQUAL_U64(arrivals_from[core], 100);
        }
    }
}

TEST(link_of_a_bank_is_filled_by_one_core)
{
    begin(&fermi);
    keep_sending = true;
    goal = 200;
    send(0, CORES, 0, 5);
    check_every_five_cycles();
}

TEST(arbiter_serves_virtual_networks_round_robin)
{
    begin(&fermi);
    keep_sending = true;
    goal = 400;
    send(0, CORES, 0, 5);
    send(1, CORES, 1, 5);
    check_every_five_cycles();
    CHECK_EQUAL_U64(arrivals_from[0], 200);
    CHECK_EQUAL_U64(arrivals_from[1], 200);
}

TEST(crossbar_streams_one_message_at_a_time_from_an_input_port)
{
    begin(&fermi);
    send(0, CORES, 0, 5);
    send(0, CORES + 1, 1, 5); /* another network, another output, the same port */
    run_dry();
    CHECK_EQUAL_U64(arrived_at[1] - arrived_at[0], 5 * PERIOD);
}

TEST(crossbar_holds_up_no_message_behind_a_busy_output)
{
    begin(&fermi);
    holding = true;
    for (uint32_t i = 0; i < 2; i++) { /* bank 0's buffer, then core 0's lane to it */
        send(0, CORES, 0, 8);
        run_to(gpc_wheel_now(&wheel) + 100);
    }
    CHECK(!has_room(0, CORES, 0, 1));
    CHECK(has_room(0, CORES + 1, 0, 8));
    gpc_tick_t start = gpc_wheel_now(&wheel);
    send(0, CORES + 1, 0, 5);
    holding = false;
    run_to(start + (4 + 4) * PERIOD);
    CHECK_EQUAL_U64(arrived_at[2], start + (4 + 4) * PERIOD);
    take_all(CORES, 0);
    run_dry();
}

/* Every bank always has a message for every core. */
static void
spread(const gpc_network_config_t *config, uint32_t count)
{
    begin(config);
    spreading = true;
    goal = count;
    for (uint32_t core = 0; core < config->cores; core++) {
        for (uint32_t bank = 0; bank < config->banks; bank++) {
            send(config->cores + bank, core, 0, 5);
        }
    }
    run_dry();
}

TEST(crossbar_streams_from_all_banks_to_all_cores_at_full_speed)
{
    static const uint32_t buffers[] = {5, 8, 16};
    for (uint32_t i = 0; i < GPC_COUNT_OF(buffers); i++) {
        gpc_network_config_t config = with_buffers(&fermi, buffers[i]);
        spread(&config, 8000);
        uint64_t least = (uint64_t) num_sent / BANKS * 5 * PERIOD; /* a port's bound */
        CHECK(gpc_wheel_now(&wheel) * 98 < least * 100);
        for (uint32_t bank = 0; bank < BANKS; bank++) {
            CHECK(arrivals_from[CORES + bank] * 100 > num_sent / BANKS * 97);
        }
    }
}

TEST(a_message_costs_two_events_and_a_bit_with_16_cores_as_with_256)
{
    gpc_network_config_t config = fermi;
    spread(&config, 8000);
    CHECK(num_events * 10 < num_sent * 23);
    config.cores = 256;
    spread(&config, 8000);
    CHECK(num_events * 10 < num_sent * 23);
}

/* Cores 3 and 11 send to core 9 through bank 0, which also sends to it whenever it has room. */
TEST(relay_alternates_with_the_bank_s_own_messages)
{
    enum { RELAYED = 24, OWN = 100, QUEUED = 12 }; /* messages that a queue of 64 flits holds */
    gpc_network_config_t config = with_buffers(&fermi, 64);
    begin(&config);
    spreading = true;
    goal = RELAYED + OWN;
    for (uint32_t i = 0; i < RELAYED; i++) {
        send(i % 2 ? 3 : 11, 9, 0, 5);
    }
    for (uint32_t i = 0; i < QUEUED; i++) {
        send(CORES, 9, 0, 5);
    }
    run_dry();
    CHECK_EQUAL_U64(num_arrived, RELAYED + OWN);
    uint32_t between = 0;
    gpc_tick_t first = arrived_at[1], last = arrived_at[0];
    for (uint32_t i = 0; i < RELAYED; i++) {
        first = arrived_at[i] < first ? arrived_at[i] : first;
        last = arrived_at[i] > last ? arrived_at[i] : last;
    }
    for (uint32_t i = RELAYED; i < RELAYED + OWN; i++) {
        between += arrived_at[i] > first && arrived_at[i] < last;
    }
    CHECK_EQUAL_U64(between, RELAYED - 1);
}
