/* test_network_ports.c: do nodes with several ports have their bandwidth and keep each source's order, does a multicast
 * cross its source's link once, and do several networks share a wheel? */
#include "network_world.h"
#include "random.h"

enum { ALL_NETWORKS = 8 };

/* ---- several ports ----------------------------------------------------------------------------------------------- */

/* Ticks until `count` messages of 5 flits from each core have arrived at bank 0, which has `ports` ports. */
static gpc_tick_t
time_to_bank_0(gpc_topology_t topology, uint8_t ports_of_bank, uint32_t count)
{
    uint8_t ports[CORES + BANKS];
    gpc_network_config_t config = topology == GPC_TOPOLOGY_MESH ? mesh(CORES, BANKS, 4) : fermi;
    config.topology = topology;
    config.ports = ports;
    memset(ports, 1, sizeof(ports));
    ports[CORES] = ports_of_bank;
    begin(&config);
    keep_sending = true;
    goal = CORES * count;
    for (uint32_t core = 0; core < CORES; core++) {
        send(core, CORES, 0, 5);
    }
    run_to(100000);
    run_dry();
    CHECK_EQUAL_U64(num_arrived, goal);
    gpc_tick_t last = 0;
    for (uint32_t i = 0; i < goal; i++) {
        last = arrived_at[i] > last ? arrived_at[i] : last;
    }
    return last;
}

TEST(ports_have_the_bandwidth_of_their_number)
{
    gpc_topology_t topologies[] = {GPC_TOPOLOGY_CROSSBAR, GPC_TOPOLOGY_STAR};
    for (uint32_t i = 0; i < GPC_COUNT_OF(topologies); i++) {
        gpc_tick_t one = time_to_bank_0(topologies[i], 1, 20), four = time_to_bank_0(topologies[i], 4, 20);
        CHECK_EQUAL_U64(one, (4 + CORES * 20 * 5 - 1) * PERIOD);
        CHECK_EQUAL_U64(four, (4 + CORES * 20 * 5 / 4 - 1) * PERIOD);
    }
    CHECK(time_to_bank_0(GPC_TOPOLOGY_MESH, 4, 20) < time_to_bank_0(GPC_TOPOLOGY_MESH, 1, 20));
}

/* Answers leave through as many ports: four at a time. */
TEST(ports_of_a_bank_answer_all_at_once)
{
    uint8_t ports[CORES + BANKS];
    gpc_network_config_t config = fermi;
    config.ports = ports;
    memset(ports, 1, sizeof(ports));
    ports[CORES] = 4;
    begin(&config);
    for (uint32_t core = 0; core < CORES; core++) {
        send(CORES, core, 1, 5);
    }
    run_to(10000);
    for (uint32_t round = 1; round <= CORES / 4; round++) {
        uint32_t arrived = 0;
        for (uint32_t i = 0; i < CORES; i++) {
            arrived += arrived_at[i] == (4 + 5 * round - 1) * PERIOD;
        }
        CHECK_EQUAL_U64(arrived, 4);
    }
    run_dry();
}

/* Random messages over eight virtual networks between nodes with different numbers of ports. */
static void
random_traffic(gpc_topology_t topology, uint32_t vc_flits)
{
    uint8_t ports[CORES + BANKS + 2];
    gpc_network_config_t config = topology == GPC_TOPOLOGY_MESH ? mesh(CORES, BANKS, 4) : fermi;
    uint32_t nodes = CORES + BANKS;
    config.topology = topology;
    config.ports = ports;
    config.networks = ALL_NETWORKS;
    config.vc_flits = vc_flits;
    config.others = 2;
    nodes += topology == GPC_TOPOLOGY_CROSSBAR ? 0 : 2;
    for (uint32_t node = 0; node < sizeof(ports); node++) {
        ports[node] = (uint8_t) (1 + node % 4);
    }
    begin(&config);
    for (uint32_t i = 0; i < 6000; i++) {
        uint32_t from = any_below(nodes), to = any_below(nodes), vn = any_below(ALL_NETWORKS);
        uint32_t flits = 1 + any_below(5);
        if (topology == GPC_TOPOLOGY_CROSSBAR && from >= CORES) {
            to %= CORES;
        }
        holding = any_below(4) == 0;
        if (has_room(from, to, vn, flits)) {
            send(from, to, vn, flits);
        }
        if (any_below(8) == 0) {
            run_to(gpc_wheel_now(&wheel) + any_below(12));
        }
        take_all((gpc_node_t) any_below(nodes), vn);
    }
    holding = false;
    for (uint32_t node = 0; node < nodes; node++) {
        for (uint32_t vn = 0; vn < ALL_NETWORKS; vn++) {
            take_all((gpc_node_t) node, vn);
        }
    }
    run_dry();
    CHECK(num_sent > 750);
}

TEST(ports_keep_the_order_of_every_source)
{
    gpc_topology_t topologies[] = {GPC_TOPOLOGY_CROSSBAR, GPC_TOPOLOGY_MESH, GPC_TOPOLOGY_STAR};
    for (uint32_t i = 0; i < GPC_COUNT_OF(topologies); i++) {
        random_traffic(topologies[i], 1);
        random_traffic(topologies[i], 8);
    }
}

TEST(numbers_of_ports_that_do_not_fit_are_refused)
{
    const gpc_network_hooks_t hooks = {0};
    uint8_t ports[CORES + BANKS];
    gpc_network_config_t config = fermi;
    config.ports = ports;
    memset(ports, 1, sizeof(ports));
    for (uint32_t i = 0; i < 2; i++) {
        ports[3] = i == 0 ? 0 : GPC_NETWORK_MAX_PORTS + 1;
        gpc_network_free(&network);
        CHECK_EQUAL_I64(gpc_network_init(&network, &config, &arena, &messages, &wheel, &hooks), GPC_ERROR_MACHINE);
    }
    ports[3] = GPC_NETWORK_MAX_PORTS;
    begin(&config);
}

/* Two ports: of 16 messages of 5 flits to bank 0 those of even and of odd cores cross side by side, ready at 3. */
TEST(ports_of_two_pass_two_streams)
{
    uint8_t ports[CORES + BANKS];
    gpc_network_config_t config = fermi;
    memset(ports, 1, sizeof(ports));
    ports[CORES] = 2;
    config.ports = ports;
    begin(&config);
    for (uint32_t core = 0; core < CORES; core++) {
        send(core, CORES, 0, 5);
    }
    run_dry();
    for (uint32_t core = 0; core < CORES; core++) {
        CHECK_EQUAL_U64(arrived_at[core], (3 + 5 + 5 * (gpc_tick_t) (core / 2)) * PERIOD);
    }
}

static int
status_of(gpc_network_config_t config)
{
    const gpc_network_hooks_t hooks = {0};
    gpc_network_free(&network);
    return gpc_network_init(&network, &config, &arena, &messages, &wheel, &hooks);
}

TEST(a_configuration_that_does_not_fit_is_refused)
{
    gpc_network_config_t config = fermi;
    uint32_t *const positive[] = {&config.cores, &config.banks, &config.networks, &config.vc_flits, &config.latency};
    for (uint32_t i = 0; i < GPC_COUNT_OF(positive); i++) {
        config = fermi;
        *positive[i] = 0;
        CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
        *positive[i] = 1;
        CHECK_EQUAL_I64(status_of(config), 0);
    }
    config.homes = NULL;
    CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
    config = fermi;
    config.clock.period = 0;
    CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
    uint32_t *const limited[] = {&config.cores, &config.banks, &config.networks};
    static const uint32_t most[] = {GPC_MAX_CORES, GPC_MAX_BANKS, GPC_MAX_NETWORKS};
    for (uint32_t i = 0; i < GPC_COUNT_OF(limited); i++) {
        config = fermi;
        *limited[i] = most[i];
        CHECK_EQUAL_I64(status_of(config), 0);
        *limited[i] = most[i] + 1;
        CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
    }
    CHECK_EQUAL_I64(status_of(mesh(4, 4, 0)), GPC_ERROR_MACHINE);
    gpc_network_free(&network);
    gpc_network_free(&network);
}

/* ---- multicasts -------------------------------------------------------------------------------------------------- */

/* Sends one message to nodes first, first + 1, .. */
static void
multicast(uint32_t from, uint32_t first, uint32_t count, uint32_t vn, uint32_t flits)
{
    gpc_index_t head = GPC_NONE;
    gpc_index_t copies[CORES];
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = gpc_pool_take(&messages);
        *gpc_msg_at(&messages, copies[i]) = (gpc_msg_t){.type = 16,
                                                        .lanes = GPC_NONE,
                                                        .source = (gpc_node_t) from,
                                                        .destination = (gpc_node_t) (first + i),
                                                        .network = (uint8_t) vn,
                                                        .flits = (uint16_t) flits,
                                                        .bytes = bytes_in(flits, 1),
                                                        .request = num_sent++};
        if (i == 0) {
            head = copies[i];
        } else {
            gpc_network_add_copy(&messages, head, copies[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const gpc_msg_t *msg = gpc_msg_at(&messages, copies[i]);
        CHECK(gpc_network_has_room(&network, msg));
        CHECK_EQUAL_I64(gpc_network_send(&network, copies[i]), 0);
    }
}

/* Every message arrives and every buffer is empty again; a multicast counts once. */
static void
run_multicasts_dry(uint32_t sent, uint32_t flits)
{
    run_to(gpc_wheel_now(&wheel) + 100000);
    CHECK_EQUAL_U64(num_arrived, num_sent);
    CHECK_EQUAL_U64(out_of_order, 0);
    CHECK_EQUAL_U64(total(messages_of), sent);
    CHECK_EQUAL_U64(total(flits_of), flits);
    CHECK_EQUAL_U64(total(bytes_of), bytes_in(flits, sent));
    CHECK_EQUAL_U64(messages.state->in_use, 0);
    CHECK(gpc_network_idle(&network));
}

TEST(multicast_arrives_everywhere_as_one_message_would)
{
    gpc_topology_t topologies[] = {GPC_TOPOLOGY_CROSSBAR, GPC_TOPOLOGY_STAR};
    for (uint32_t i = 0; i < GPC_COUNT_OF(topologies); i++) {
        gpc_network_config_t config = fermi;
        config.topology = topologies[i];
        begin(&config);
        multicast(CORES, 0, CORES, 1, 3);
        run_multicasts_dry(1, 3);
        for (uint32_t core = 0; core < CORES; core++) {
            CHECK_EQUAL_U64(arrived_at[core], (4 + 3 - 1) * PERIOD);
        }
        CHECK_EQUAL_U64(total(hops_of), 3 * CORES);
    }
}

/* In a mesh the source's link to its router carries one message; each link behind it carries the copies that pass
 * it. */
TEST(multicast_is_replicated_at_the_sources_router_of_a_mesh)
{
    gpc_network_config_t config = mesh(4, 1, 2);
    begin(&config);
    multicast(0, 0, 3, 0, 5); /* to its own router, to the east and to the south */
    run_multicasts_dry(1, 5);
    CHECK_EQUAL_U64(arrived_at[0], (4 + 4) * PERIOD);
    CHECK_EQUAL_U64(arrived_at[1], (2 * 4 + 4) * PERIOD);
    CHECK_EQUAL_U64(arrived_at[2], (2 * 4 + 4) * PERIOD);
    CHECK_EQUAL_U64(total(hops_of), 10);
}

/* The link carries the multicast and the other message once each, in either order. */
TEST(multicast_occupies_its_sources_link_once)
{
    begin(&fermi);
    multicast(CORES, 0, 8, 1, 5);
    send(CORES, 15, 0, 5);
    run_multicasts_dry(2, 10);
    gpc_tick_t first = (4 + 4) * PERIOD, second = (4 + 5 + 4) * PERIOD;
    CHECK(arrived_at[8] == first || arrived_at[8] == second);
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_EQUAL_U64(arrived_at[i], arrived_at[8] == first ? second : first);
    }
}

/* Copies for busy outputs follow when these are free, without the source's link. */
TEST(multicast_copy_for_a_busy_output_follows_without_the_link)
{
    begin(&fermi);
    send(CORES + 1, 0, 1, 5);
    run_to(PERIOD);
    multicast(CORES, 0, 2, 1, 5);
    send(CORES, 5, 1, 5);
    run_multicasts_dry(3, 15);
    CHECK_EQUAL_U64(arrived_at[0], (4 + 4) * PERIOD);
    CHECK_EQUAL_U64(arrived_at[1], (4 + 4 + 5) * PERIOD);     /* to core 0, behind the other bank's message */
    CHECK_EQUAL_U64(arrived_at[2], (1 + 4 + 4) * PERIOD);     /* to core 1, at once */
    CHECK_EQUAL_U64(arrived_at[3], (1 + 4 + 5 + 4) * PERIOD); /* the link is free after one stream */
}

/* In a mesh, whose sources have one queue: the link is idle while the last copy waits for its output, and the message
 * behind has been ready for long. */
TEST(multicast_lets_the_message_behind_its_last_copy_follow_at_once)
{
    gpc_network_config_t config = mesh(4, 1, 2);
    begin(&config);
    send(0, 1, 0, 8); /* to the east */
    run_to(PERIOD);
    multicast(4, 0, 2, 0, 2); /* to its own router, to the east */
    send(4, 2, 0, 2);         /* to the south */
    run_multicasts_dry(3, 12);
    CHECK_EQUAL_U64(arrived_at[3], arrived_at[2]);
}

/* The source's port streams to core 5 from 3 to 11; the multicast, ready at 7, follows. */
TEST(multicast_waits_for_the_end_of_its_sources_stream)
{
    begin(&fermi);
    send(CORES, 5, 1, 8);
    run_to(4 * PERIOD);
    multicast(CORES, 0, 2, 1, 2);
    run_multicasts_dry(2, 8 + 2);
    CHECK_EQUAL_U64(arrived_at[0], 11 * PERIOD);
    CHECK_EQUAL_U64(arrived_at[1], (11 + 2) * PERIOD);
    CHECK_EQUAL_U64(arrived_at[2], (11 + 2) * PERIOD);
    send(CORES, 1, 1, 8); /* a copy has returned no room */
    CHECK(!has_room(CORES, 1, 1, 1));
    run_multicasts_dry(3, 8 + 2 + 8);
}

/* A multicast at 0 crosses at 3; the message to core 0 behind it, sent at 2, is ready at 5 and not before. */
TEST(multicast_makes_the_message_behind_it_ready_no_sooner)
{
    begin(&fermi);
    multicast(CORES, 0, 2, 1, 1);
    run_to(2 * PERIOD);
    send(CORES, 0, 1, 1);
    run_multicasts_dry(2, 2);
    CHECK_EQUAL_U64(arrived_at[0], 4 * PERIOD);
    CHECK_EQUAL_U64(arrived_at[2], (2 + 4) * PERIOD);
}

TEST(random_multicasts_arrive_once_and_in_order)
{
    gpc_topology_t topologies[] = {GPC_TOPOLOGY_CROSSBAR, GPC_TOPOLOGY_MESH, GPC_TOPOLOGY_STAR};
    for (uint32_t i = 0; i < GPC_COUNT_OF(topologies); i++) {
        gpc_network_config_t config = topologies[i] == GPC_TOPOLOGY_MESH ? mesh(CORES, BANKS, 4) : fermi;
        uint32_t sent = 0, flits = 0;
        config.topology = topologies[i];
        begin(&config);
        for (uint32_t pass = 0; pass < 400; pass++) {
            uint32_t from = CORES + any_below(BANKS), first = any_below(CORES), size = 1 + any_below(5);
            uint32_t most = CORES - first, vn = any_below(2);
            gpc_msg_t msg = {.source = (gpc_node_t) from,
                             .destination = (gpc_node_t) first,
                             .network = (uint8_t) vn,
                             .flits = (uint16_t) size};
            holding = any_below(3) == 0;
            if (gpc_network_has_room(&network, &msg)) {
                multicast(from, first, 1 + any_below(most), vn, size);
                sent++;
                flits += size;
            }
            run_to(gpc_wheel_now(&wheel) + any_below(30));
            take_all((gpc_node_t) any_below(CORES), vn);
        }
        holding = false;
        for (uint32_t core = 0; core < CORES; core++) {
            take_all((gpc_node_t) core, 0);
            take_all((gpc_node_t) core, 1);
        }
        CHECK(sent > 100);
        run_multicasts_dry(sent, flits);
    }
}

/* ---- several networks -------------------------------------------------------------------------------------------- */

/* Two networks of equal nodes on one wheel: the star's events name it, and its clock is its own. */
TEST(a_star_beside_the_crossbar_has_its_own_clock_and_counts)
{
    const gpc_network_hooks_t hooks = {.arrived = on_arrival, .room = on_room};
    gpc_network_t both[2];
    gpc_network_config_t star = fermi;
    gpc_event_t event;

    begin(&fermi);
    star.topology = GPC_TOPOLOGY_STAR;
    star.number = 1;
    star.latency = 5;
    star.others = 1;
    star.clock = (gpc_clock_t){3};
    both[0] = network;
    CHECK_EQUAL_I64(gpc_network_init(&both[1], &star, &arena, &messages, &wheel, &hooks), 0);
    send(0, CORES, 0, 1);
    network = both[1];
    send(0, CORES + BANKS, 0, 1); /* to the other node */
    while (gpc_wheel_next(&wheel, &event)) {
        bool other = event.kind == GPC_EVENT_OTHER_ARRIVE || event.kind == GPC_EVENT_OTHER_GRANT;
        CHECK_EQUAL_U64(gpc_network_of_event(&event), other);
        network = both[other];
        CHECK_EQUAL_I64(gpc_network_event(&both[other], &event), 0);
    }
    CHECK_EQUAL_U64(arrived_at[0], 4 * PERIOD);
    CHECK_EQUAL_U64(arrived_at[1], 5 * 3);
    for (uint32_t i = 0; i < 2; i++) {
        network = both[i];
        CHECK_EQUAL_U64(total(messages_of), 1);
        CHECK_EQUAL_U64(total(hops_of), 1);
        CHECK(gpc_network_idle(&network));
    }
    gpc_network_free(&both[1]);
    network = both[0];
}

TEST(a_route_that_no_link_joins_has_no_output)
{
    gpc_network_config_t config = fermi;
    config.others = 1;
    begin(&config);
    gpc_msg_t from_bank_to_bank = {.source = CORES, .destination = CORES + 1};
    gpc_msg_t from_bank_to_other = {.source = CORES, .destination = CORES + BANKS};
    gpc_msg_t from_core_to_other = {.source = 0, .destination = CORES + BANKS};
    CHECK_EQUAL_U64(gpc_network_route_of(&network, &from_bank_to_bank).output, GPC_NONE);
    CHECK_EQUAL_U64(gpc_network_route_of(&network, &from_bank_to_other).output, GPC_NONE);
    CHECK(gpc_network_route_of(&network, &from_core_to_other).output != GPC_NONE);
}
