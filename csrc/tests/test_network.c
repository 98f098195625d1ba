/* test_network.c: do networks deliver every message once, in order, in the exact cycle and with finite buffers, and
 * count it? */
#include "network_world.h"
#include "random.h"

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* One message alone arrives at exactly `cycles`, not a tick earlier. */
static void
check_arrival(const gpc_network_config_t *config, uint32_t from, uint32_t to, uint32_t flits, uint32_t cycles)
{
    begin(config);
    CHECK_EQUAL_U64(gpc_network_zero_load(&network, (gpc_node_t) from, (gpc_node_t) to, flits), cycles);
    send(from, to, 1, flits);
    run_to((gpc_tick_t) cycles * PERIOD - 1);
    CHECK_EQUAL_U64(num_arrived, 0);
    run_to((gpc_tick_t) cycles * PERIOD);
    CHECK_EQUAL_U64(num_arrived, 1);
    run_dry();
}

TEST(crossbar_takes_latency_and_the_tail)
{
    for (uint32_t flits = 1; flits <= 12; flits++) {
        check_arrival(&fermi, 3, CORES + 2, flits, 4 + flits - 1);
        check_arrival(&fermi, CORES + 7, 15, flits, 4 + flits - 1);
    }
}

TEST(crossbar_of_latency_1_takes_one_cycle_for_one_flit)
{
    gpc_network_config_t config = fermi;
    config.latency = 1;
    check_arrival(&config, 0, CORES, 1, 1);
}

TEST(link_moves_what_is_sent_between_edges_at_the_next)
{
    begin(&fermi);
    run_to(3);
    send(0, CORES, 0, 1);
    run_dry();
    CHECK_EQUAL_U64(arrived_at[0], 4 + 4 * PERIOD);
}

TEST(relay_takes_both_crossings_and_the_bank_never_sees_it)
{
    check_arrival(&fermi, 3, 9, 5, 2 * (4 + 4));
    CHECK_EQUAL_U64(total(hops_of), 10); /* both crossings */
    CHECK_EQUAL_U64(total(flits_of), 5); /* one message */
    check_arrival(&fermi, 3, 3, 1, 2 * 4);
}

/* Each of `count` messages of one flit after the other; the sum of the cycles that they take, which the function
 * checks. */
static uint64_t
check_jitter(uint64_t seed, uint32_t jitter, uint32_t count, uint64_t *seen)
{
    gpc_network_config_t config = fermi;
    uint64_t sum = 0;
    config.jitter = jitter;
    begin(&config);
    gpc_network_seed(&network, seed);
    for (uint32_t i = 0; i < count; i++) {
        gpc_tick_t sent = gpc_wheel_now(&wheel);
        send(3, CORES + 2, 0, 1);
        run_dry();
        uint64_t cycles = (arrived_at[i] - sent) / PERIOD;
        CHECK(cycles >= 4 && cycles <= 4 + jitter);
        *seen |= UINT64_C(1) << (cycles - 4);
        sum += cycles;
    }
    return sum;
}

TEST(jitter_adds_any_latency_up_to_its_own_by_the_seed)
{
    uint64_t seen = 0;
    CHECK_EQUAL_U64(check_jitter(1, 0, 50, &seen), 50 * 4);
    CHECK_EQUAL_U64(seen, 1);
    uint64_t sum = check_jitter(1, 7, 400, &seen);
    CHECK_EQUAL_U64(seen, 0xFF);
    CHECK(sum > 400 * 4 + 400 * 3 && sum < 400 * 4 + 400 * 4); /* mean 3.5 */
    CHECK_EQUAL_U64(check_jitter(1, 7, 400, &seen), sum);
    CHECK(check_jitter(2, 7, 400, &seen) != sum);
}

TEST(jitter_keeps_the_order_of_a_source_destination_and_network)
{
    gpc_network_config_t config = fermi;
    config.jitter = 30;
    begin(&config);
    for (uint32_t i = 0; i < 8; i++) {
        send(3, CORES + 2, 0, 1);
    }
    run_dry(); /* checks the order */
    CHECK_EQUAL_U64(num_arrived, 8);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

TEST(link_passes_no_more_than_the_buffers_hold_when_no_receiver_takes)
{
    begin(&fermi);
    holding = true;
    for (uint32_t core = 0; core < CORES; core++) {
        send(core, CORES, 0, 5);
    }
    send(0, CORES, 1, 5);
    run_to(100000);
    CHECK_EQUAL_U64(total(hops_of), 10); /* one of 5 flits in 8 a network */
    CHECK(gpc_network_peek(&network, CORES, 0) != GPC_NONE);
    CHECK(gpc_network_peek(&network, CORES, 1) != GPC_NONE);
    CHECK(!gpc_network_idle(&network));
    take_all(CORES, 0);
    run_to(200000);
    CHECK_EQUAL_U64(total(hops_of), 15);
    holding = false;
    take_all(CORES, 0);
    take_all(CORES, 1);
    run_dry();
}

TEST(link_has_room_for_its_buffers_flits_and_says_when_it_has_more)
{
    begin(&fermi);
    CHECK(has_room(0, CORES, 0, 8));
    CHECK(has_room(0, CORES, 0, 9)); /* longer than the buffer: it is empty */
    send(0, CORES, 0, 5);
    CHECK(has_room(0, CORES, 0, 3));
    CHECK(!has_room(0, CORES, 0, 4));
    CHECK(has_room(0, CORES, 1, 8));
    run_to(3 * PERIOD - 1);
    CHECK_EQUAL_U64(num_rooms, 0);
    run_to(3 * PERIOD); /* the grant */
    CHECK_EQUAL_U64(num_rooms, 1);
    CHECK(has_room(0, CORES, 0, 8));
    run_dry();
}

TEST(arbiter_lets_no_short_message_starve_a_long_one)
{
    begin(&fermi);
    holding = true;
    send(0, CORES, 0, 8);
    run_to(100);
    send(1, CORES, 0, 8); /* waits for all credits, and is granted next */
    for (uint32_t core = 2; core < CORES; core++) {
        send(core, CORES, 0, 1);
    }
    run_to(200);
    holding = false;
    take_all(CORES, 0);
    run_dry();
    CHECK(arrived_at[1] < arrived_at[2]);
}

/* A short pipeline and buffers of one flit: the next message to core 0 arrives when the last one ends. */
TEST(crossbar_keeps_no_bank_from_other_cores_by_a_stream_to_one)
{
    gpc_network_config_t config = with_buffers(&fermi, 1);
    config.latency = 1;
    begin(&config);
    spreading = true;
    goal = 200;
    send(CORES, 0, 1, 5);
    send(CORES, 3, 1, 5);
    run_to(101 * 5 * PERIOD);
    CHECK(last_from[CORES][3][1] > 90); /* of the 100 messages so far, one of the last */
    CHECK(last_from[CORES][0][1] > 90);
}

TEST(clear_empties_every_buffer)
{
    begin(&fermi);
    holding = true;
    for (uint32_t core = 0; core < CORES; core++) {
        send(core, CORES + core % 2, core % 2, 5);
        send(core, (core + 1) % CORES, 1 - core % 2, 3);
    }
    run_to(15 * PERIOD);
    gpc_wheel_clear(&wheel);
    gpc_network_clear(&network);
    CHECK(gpc_network_idle(&network));
    holding = false;
    uint32_t before = num_sent;
    send(0, CORES, 0, 5);
    gpc_tick_t sent = gpc_wheel_now(&wheel);
    run_to(sent + 100);
    CHECK_EQUAL_U64(num_arrived, 1);
    CHECK_EQUAL_U64(arrived_at[before], sent + 8 * PERIOD);
}

/* ---- random traffic ---------------------------------------------------------------------------------------------- */

/* Random messages between all nodes that a path connects, received at once or late. */
static void
random_traffic(const gpc_network_config_t *config, uint32_t count)
{
    uint32_t nodes = config->cores + config->banks;
    begin(config);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = any_below(nodes), to = any_below(nodes), vn = any_below(config->networks);
        uint32_t flits = any_below(2) ? 1 : 1 + any_below(9);
        if (config->topology == GPC_TOPOLOGY_CROSSBAR && from >= config->cores) {
            to %= config->cores;
        }
        holding = any_below(4) == 0;
        if (has_room(from, to, vn, flits)) {
            send(from, to, vn, flits);
        }
        if (any_below(8) == 0) {
            run_to(gpc_wheel_now(&wheel) + any_below(12));
        }
        uint32_t node = any_below(nodes);
        take_all((gpc_node_t) node, vn);
    }
    holding = false;
    for (uint32_t node = 0; node < nodes; node++) {
        for (uint32_t vn = 0; vn < config->networks; vn++) {
            take_all((gpc_node_t) node, vn);
        }
    }
    run_dry();
    CHECK(num_sent > count / 8);
}

TEST(random_traffic_arrives_in_order_over_every_topology_and_buffer)
{
    static const uint32_t buffers[] = {1, 2, 8, 64};
    gpc_network_config_t star = fermi;
    star.topology = GPC_TOPOLOGY_STAR;
    for (uint32_t i = 0; i < GPC_COUNT_OF(buffers); i++) {
        gpc_network_config_t config = with_buffers(&fermi, buffers[i]);
        random_traffic(&config, 6000);
        config = mesh(15, 16, 4);
        config.vc_flits = buffers[i];
        config.networks = 6;
        random_traffic(&config, 6000);
        config = with_buffers(&star, buffers[i]);
        random_traffic(&config, 6000);
    }
}

/* With few messages in flight, no other event hides a missing one. */
TEST(every_small_batch_arrives_by_itself)
{
    gpc_network_config_t config = mesh(15, 16, 4);
    config.latency = 3;
    begin(&config);
    for (uint32_t batch = 0; batch < 1500; batch++) {
        gpc_tick_t start = gpc_wheel_now(&wheel);
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t from = any_below(4), to = any_below(31), vn = any_below(2), flits = 1 + any_below(5);
            if (has_room(from, to, vn, flits)) {
                send(from, to, vn, flits);
            }
            run_to(gpc_wheel_now(&wheel) + any_below(6));
        }
        run_to(start + 400);
        CHECK_EQUAL_U64(num_arrived, num_sent);
    }
    run_dry();
}

TEST(a_saved_arena_replays_the_same_arrivals)
{
    gpc_network_config_t config = mesh(8, 8, 4);
    begin(&config);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t from = i % 8, to = (i * 5 + 3) % 16;
        if (has_room(from, to, i % 2, 3)) {
            send(from, to, i % 2, 3);
        }
    }
    run_to(9);
    uint8_t *saved = malloc(gpc_arena_bytes(&arena));
    REQUIRE(saved != NULL);
    gpc_arena_save(&arena, saved);
    run_to(10000);
    gpc_tick_t first[64];
    memcpy(first, arrived_at, sizeof(first));
    CHECK(num_arrived > 10);
    gpc_arena_load(&arena, saved);
    memset(last_from, 0, sizeof(last_from));
    run_to(10000);
    CHECK(memcmp(first, arrived_at, sizeof(first)) == 0);
    free(saved);
}

/* ---- mesh and star ----------------------------------------------------------------------------------------------- */

static uint32_t
distance(uint32_t a, uint32_t b, uint32_t width)
{
    uint32_t ax = a % width, ay = a / width, bx = b % width, by = b / width;
    return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

TEST(mesh_joins_every_pair_in_its_distance_in_time_and_hops)
{
    static const uint32_t shapes[][3] = {{15, 16, 4}, {7, 3, 3}, {16, 8, 4}, {5, 2, 1}};
    for (uint32_t s = 0; s < GPC_COUNT_OF(shapes); s++) {
        gpc_network_config_t config = mesh(shapes[s][0], shapes[s][1], shapes[s][2]);
        uint32_t nodes = config.cores + config.banks;
        begin(&config);
        for (uint32_t from = 0; from < nodes; from++) {
            for (uint32_t to = 0; to < nodes; to++) {
                uint32_t a = from < config.cores ? from : from - config.cores;
                uint32_t b = to < config.cores ? to : to - config.cores;
                uint32_t hops = distance(a, b, config.mesh_width);
                uint64_t before = total(hops_of);
                gpc_tick_t start = gpc_wheel_now(&wheel);
                start += start % PERIOD;
                uint32_t name = num_sent;
                send(from, to, 0, 3);
                run_to(start + 1000);
                CHECK_EQUAL_U64(arrived_at[name] - start, ((hops + 1) * 4 + 2) * PERIOD);
                CHECK_EQUAL_U64(gpc_network_zero_load(&network, (gpc_node_t) from, (gpc_node_t) to, 3),
                                (hops + 1) * 4 + 2);
                CHECK_EQUAL_U64(total(hops_of) - before, hops * 3);
            }
        }
        run_dry();
    }
}

TEST(mesh_routes_go_along_the_row_first)
{
    /* 3 -> 8 on a 3 x 3 mesh goes by 4 and 5, never by 6 and 7: that link is blocked. */
    gpc_network_config_t config = mesh(9, 1, 3);
    begin(&config);
    holding = true;
    for (uint32_t i = 0; i < 3; i++) { /* in 7's ejection buffer, in its router, before 6 -> 7 */
        send(6, 7, 0, 8);
        run_to(gpc_wheel_now(&wheel) + 100);
    }
    CHECK_EQUAL_U64(total(hops_of), 16);
    holding = false;
    gpc_tick_t start = gpc_wheel_now(&wheel);
    send(3, 8, 0, 8);
    run_to(start + 200);
    CHECK_EQUAL_U64(arrived_at[3], start + (4 * 4 + 7) * PERIOD);
    take_all(7, 0);
    run_dry();
}

TEST(mesh_link_passes_a_flit_a_cycle)
{
    gpc_network_config_t config = mesh(4, 4, 4);
    begin(&config);
    uint32_t sent = 0;
    for (gpc_tick_t tick = 0; sent < 200; tick += PERIOD) {
        if (has_room(0, 3, 0, 5)) {
            send(0, 3, 0, 5);
            sent++;
        }
        run_to(tick + PERIOD);
    }
    run_dry();
    CHECK_EQUAL_U64(arrived_at[199] - arrived_at[0], 199 * 5 * PERIOD);
}

TEST(star_is_one_hop_for_every_pair)
{
    gpc_network_config_t config = fermi;
    config.topology = GPC_TOPOLOGY_STAR;
    check_arrival(&config, 0, 5, 5, 8);
    CHECK_EQUAL_U64(total(hops_of), 5);
    check_arrival(&config, CORES + 1, CORES, 1, 4);
    check_arrival(&config, 0, CORES, 9, 12);
}

/* Corners 0 to 3: north-west, north-east, south-west, south-east. Five cores in rows of two: three rows. */
TEST(mesh_counts_the_links_to_every_corner)
{
    static const struct {
        uint32_t cores, width, core, links[4];
    } cases[] = {{16, 4, 0, {0, 3, 3, 6}}, {16, 4, 6, {3, 2, 4, 3}}, {5, 2, 4, {2, 3, 0, 1}}, {4, 4, 1, {1, 2, 1, 2}}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_network_config_t config = mesh(cases[i].cores, 1, cases[i].width);
        begin(&config);
        for (uint32_t corner = 0; corner < 4; corner++) {
            CHECK_EQUAL_U64(gpc_network_hops_to_corner(&network, (gpc_node_t) cases[i].core, corner),
                            cases[i].links[corner]);
        }
    }
    begin(&fermi);
    CHECK_EQUAL_U64(gpc_network_hops_to_corner(&network, 5, 3), 0);
}

/* Nodes of each kind begin at router 0: the first of the others, too. */
TEST(mesh_places_each_kind_of_nodes_from_the_first_router_on)
{
    gpc_network_config_t config = mesh(9, 4, 3);
    config.others = 2;
    begin(&config);
    for (uint32_t other = 0; other < 2; other++) {
        for (uint32_t core = 0; core < 9; core++) {
            CHECK_EQUAL_U64(gpc_network_zero_load(&network, (gpc_node_t) core, (gpc_node_t) (9 + 4 + other), 1),
                            4 * (1 + distance(core, other, 3)));
        }
    }
}

/* A queue for each output, in a mesh for each port of a node. */
TEST(lanes_are_the_queues_of_a_node)
{
    uint8_t ports[CORES + BANKS];
    gpc_network_config_t config = fermi;
    memset(ports, 1, sizeof(ports));
    ports[0] = ports[CORES + BANKS - 1] = 3;
    begin(&config);
    CHECK_EQUAL_U64(gpc_network_lanes(&network), CORES);
    for (config.cores = 4; config.cores != 0; config.cores /= 2) {
        begin(&config);
        CHECK_EQUAL_U64(gpc_network_lanes(&network), BANKS);
    }
    config = mesh(CORES, BANKS, 4);
    begin(&config);
    CHECK_EQUAL_U64(gpc_network_lanes(&network), 1);
    for (uint32_t node = 0; node < CORES + BANKS; node += CORES + BANKS - 1) { /* the first alone, or the last */
        memset(ports, 1, sizeof(ports));
        ports[node] = 3;
        config.ports = ports;
        begin(&config);
        CHECK_EQUAL_U64(gpc_network_lanes(&network), 3);
    }
}
