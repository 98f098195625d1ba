/* test_crossing.c: two halves of an L2 (l2_crossing), and dies: round trips, order, and every protocol's results. */
#include "gpu_bench.h"
#include "machine/windows.h"
#include "protocols/registry.h"

/* Words and the constants that hold their numbers: of partition 0, in core 0's half, and of partition 4. */
enum { WORDS = 4096, NEAR = 0, FAR = 11, L2_HIT = 340 };

static gpc_machine_t
machine_with(uint32_t crossing)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    machine.l2_crossing = crossing;
    return machine;
}

static void
check_round_trips(uint32_t crossing, uint32_t topology)
{
    gpc_machine_t machine = machine_with(crossing);
    machine.topology = topology;
    bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
    uint32_t cold = machine.dram_round_trip;
    CHECK_EQUAL_U64(load_of(&it, NEAR, WORDS, 1), cold);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), cold + crossing);
    CHECK_EQUAL_U64(load_of(&it, NEAR, WORDS, 1), L2_HIT);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), L2_HIT + crossing);
}

TEST(crossing_makes_hits_and_misses_of_the_far_half_later)
{
    for (uint32_t crossing = 0; crossing <= 400; crossing += 100) {
        check_round_trips(crossing, GPC_TOPOLOGY_CROSSBAR);
        check_round_trips(crossing, GPC_TOPOLOGY_STAR);
    }
}

/* ---- dies -------------------------------------------------------------------------------------------------------- */

/* Pages of 256 words: constant 11 is a word of die 1. */
static gpc_machine_t
machine_of_two_dies(uint32_t latency, uint32_t bytes)
{
    gpc_machine_t machine = machine_with(0);
    machine.dies = 2;
    machine.page_bytes = 1024;
    machine.die_latency = latency;
    machine.die_bytes = bytes;
    return machine;
}

/* A request has 8 bytes, its answer 8 and a line. */
TEST(links_take_their_latency_and_bytes_to_the_cycle)
{
    static const uint32_t latencies[] = {0, 2, 100, 500}, bytes[] = {0, 2, 4};
    for (uint32_t i = 0; i < 4 * 3 * 2; i++) {
        gpc_machine_t machine = machine_of_two_dies(latencies[i / 3 % 4], bytes[i % 3]);
        machine.links = i < 4 * 3 ? GPC_LINKS_JOINED : GPC_LINKS_SPLIT;
        bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
        uint32_t cold = machine.dram_round_trip;
        uint32_t link = 2 * machine.die_latency + (bytes[i % 3] ? (8 + 8 + machine.line_bytes) / bytes[i % 3] : 0);
        CHECK_EQUAL_U64(load_of(&it, NEAR, WORDS, 1), cold);
        CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), cold + link);
        CHECK_EQUAL_U64(load_of(&it, NEAR, WORDS, 1), L2_HIT);
        CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), L2_HIT + link);
    }
}

/* Three messages at one tick: the second waits for the first, of whatever network; the third has a link of its own. */
TEST(links_pass_messages_of_all_networks_one_after_another)
{
    gpc_machine_t machine = machine_of_two_dies(100, 4);
    bench_t it = bench(&machine, gpc_protocol_find("mesi"), WORDS);
    gpc_msg_t there = {.source = 0, .destination = 15, .bytes = 136}, back = {.source = 15, .bytes = 8};
    gpc_tick_t cycle = it.gpu->core_clock.period;
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &there), (100 + 34) * cycle);
    there.network = 1;
    there.source = 7;
    there.bytes = 8;
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &there), (100 + 34 + 2) * cycle);
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &back), (100 + 2) * cycle);
    there.flags = GPC_MSG_FLAG_COPY; /* crosses with the first of its multicast */
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &there), (100 + 34 + 2) * cycle);
    there.destination = 6; /* of die 0 */
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &there), 0);
    CHECK_EQUAL_U64(it.gpu->die_links[1].messages, 2);
    CHECK_EQUAL_U64(it.gpu->die_links[1].bytes, 144);
    CHECK_EQUAL_U64(it.gpu->die_links[1].waited, 34 * cycle * machine.die_bytes);
    CHECK_EQUAL_U64(it.gpu->die_links[2].messages, 1);
}

/* A die of the own GPU, then two dies of the other one, over one link. */
TEST(links_of_gpus_pass_what_goes_to_any_of_their_dies)
{
    gpc_machine_t machine = machine_of_two_dies(100, 4);
    machine.dies = 4;
    machine.gpus = 2;
    machine.gpu_latency = 500;
    machine.gpu_bytes = 2;
    bench_t it = bench(&machine, gpc_protocol_find("mesi"), WORDS);
    gpc_msg_t msg = {.source = 0, .destination = 4, .bytes = 8};
    gpc_tick_t cycle = it.gpu->core_clock.period;
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &msg), (100 + 2) * cycle);
    msg.destination = 8;
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &msg), (500 + 4) * cycle);
    uint32_t kind = gpc_gpu_crossing_kind(it.gpu, &msg);
    msg.source = 4;
    msg.destination = 15;
    CHECK_EQUAL_U64(gpc_gpu_crossing_ticks(it.gpu, &msg), (500 + 8) * cycle);
    CHECK_EQUAL_U64(gpc_gpu_crossing_kind(it.gpu, &msg), kind); /* a multicast to both dies takes it once */
    const gpc_link_t *dies = it.gpu->die_links, *gpus = dies + 16;
    CHECK_EQUAL_U64(dies[1].messages, 1);
    CHECK_EQUAL_U64(gpus[1].messages, 2);
    CHECK_EQUAL_U64(gpus[1].bytes, 16);
    CHECK_EQUAL_U64(gpus[1].waited, 4 * cycle * machine.gpu_bytes);
    CHECK_EQUAL_U64(gpus[2].messages, 0);
}

/* ---- links = split ----------------------------------------------------------------------------------------------- */

/* Of die 0, from core 3 to core 15 of die 1. */
static gpc_index_t
send_over_link(bench_t *it, uint32_t network, uint32_t bytes, uint8_t flags)
{
    gpc_index_t message = gpc_pool_take(&it->gpu->messages);
    gpc_msg_t *msg = gpc_msg_at(&it->gpu->messages, message);
    gpc_msg_clear(msg);
    *msg = (gpc_msg_t){.source = 3, .destination = 15, .network = (uint8_t) network, .bytes = bytes, .flags = flags};
    CHECK_EQUAL_I64(gpc_gpu_send(it->gpu, &it->gpu->controllers[3], message), GPC_OK);
    return message;
}

static void
check_crosses_at(bench_t *it, gpc_index_t message, uint64_t cycle)
{
    gpc_event_t event;
    while (gpc_wheel_next(&it->gpu->wheel, &event) && event.kind == GPC_EVENT_LINK) {
        CHECK_EQUAL_I64(gpc_gpu_link_event(it->gpu, event.target), GPC_OK);
    }
    CHECK_EQUAL_U64(event.kind, GPC_EVENT_CROSSED);
    CHECK_EQUAL_U64(event.argument, message);
    CHECK_EQUAL_U64(event.tick, cycle * it->gpu->core_clock.period);
}

static bench_t
bench_of_links(uint32_t links, uint32_t bytes)
{
    gpc_machine_t machine = machine_of_two_dies(100, bytes);
    machine.links = links;
    return bench(&machine, gpc_protocol_find("mesi"), WORDS);
}

/* Five messages at one tick, the first of 34 cycles, the others of two, on networks 0, 0, 1, 0 and 2. */
TEST(links_serve_networks_round_robin_if_split_and_all_in_order_if_joined)
{
    static const uint8_t networks[5] = {0, 0, 1, 0, 2}, order[2][5] = {{0, 1, 2, 3, 4}, {0, 2, 4, 1, 3}};
    for (uint32_t links = GPC_LINKS_JOINED; links <= GPC_LINKS_SPLIT; links++) {
        bench_t it = bench_of_links(links, 4);
        gpc_index_t sent[5];
        for (uint32_t i = 0; i < 5; i++) {
            sent[i] = send_over_link(&it, networks[i], i ? 8 : 136, 0);
        }
        for (uint32_t i = 0; i < 5; i++) {
            check_crosses_at(&it, sent[order[links][i]], 100 + 34 + 2 * i);
        }
        const gpc_link_t *link = &it.gpu->die_links[1];
        CHECK_EQUAL_U64(link->messages, 5);
        CHECK_EQUAL_U64(link->bytes, 136 + 4 * 8);
        CHECK_EQUAL_U64(link->waited, (34 + 36 + 38 + 40) * it.gpu->core_clock.period * 4);
    }
}

/* Messages of 8 bytes at 7 in a cycle: the seventh ends with the eighth cycle. */
TEST(links_send_without_a_pause_if_split)
{
    bench_t it = bench_of_links(GPC_LINKS_SPLIT, 7);
    gpc_event_t event;
    for (uint32_t i = 0; i < 7; i++) {
        (void) send_over_link(&it, i % 3, 8, 0);
    }
    while (gpc_wheel_next(&it.gpu->wheel, &event)) {
        CHECK_EQUAL_I64(event.kind == GPC_EVENT_LINK ? gpc_gpu_link_event(it.gpu, event.target) : GPC_OK, GPC_OK);
    }
    CHECK_EQUAL_U64(gpc_wheel_now(&it.gpu->wheel), (100 + 8) * it.gpu->core_clock.period);
}

TEST(links_pass_all_copies_of_a_multicast_together_if_split)
{
    bench_t it = bench_of_links(GPC_LINKS_SPLIT, 4);
    gpc_index_t first = send_over_link(&it, 0, 8, 0), copy = send_over_link(&it, 0, 8, GPC_MSG_FLAG_COPY);
    gpc_index_t later = send_over_link(&it, 1, 8, 0), copies[2];
    copies[0] = send_over_link(&it, 1, 8, GPC_MSG_FLAG_COPY);
    copies[1] = send_over_link(&it, 1, 8, GPC_MSG_FLAG_COPY);
    gpc_index_t last = send_over_link(&it, 1, 8, 0);
    check_crosses_at(&it, first, 102);
    check_crosses_at(&it, copy, 102);
    check_crosses_at(&it, later, 104);
    check_crosses_at(&it, copies[0], 104);
    check_crosses_at(&it, copies[1], 104);
    check_crosses_at(&it, last, 106);
    CHECK_EQUAL_U64(it.gpu->die_links[1].messages, 3);
}

TEST(links_hold_nothing_after_an_abort)
{
    bench_t it = bench_of_links(GPC_LINKS_SPLIT, 4);
    (void) send_over_link(&it, 0, 8, 0);
    (void) send_over_link(&it, 1, 8, 0);
    CHECK_EQUAL_U64(it.gpu->link_queues[1].messages, 1);
    const gpc_schedule_t schedule = {&it.gpu->wheel, NULL};
    gpc_text_t text;
    gpc_text_init(&text);
    CHECK(!gpc_gpu_links_sleep_on_work(it.gpu, &schedule, &text));
    gpc_wheel_clear(&it.gpu->wheel);
    CHECK(gpc_gpu_links_sleep_on_work(it.gpu, &schedule, &text));
    CHECK(strcmp(text.bytes, "link 1 between dies holds 1 messages") == 0);
    gpc_text_free(&text);
    gpc_gpu_abort(it.gpu);
    CHECK_EQUAL_U64(it.gpu->link_queues[1].messages + it.gpu->link_queues[1].waiting[1].count, 0);
}

/* Channels 0 and 1 are of die 0. */
TEST(a_unit_on_a_die_reaches_the_channels_of_the_die)
{
    gpc_machine_t machine = machine_of_two_dies(0, 0);
    machine.dram_channels = 4;
    for (uint32_t units = 1; units <= 2; units++) {
        machine.memory_units = units;
        bench_t it = bench(&machine, gpc_protocol_find("wt"), WORDS);
        for (uint32_t channel = 0; channel < 4; channel++) {
            CHECK_EQUAL_U64(gpc_gpu_reaches(it.gpu, 16, channel), channel < 2);
            CHECK_EQUAL_U64(gpc_gpu_reaches(it.gpu, 23, channel), channel >= 2);
            CHECK_EQUAL_U64(gpc_gpu_reaches(it.gpu, 24, channel), channel < 2 || units == 1);
        }
    }
}

/* The page of constant 11, of die 1 when interleaved, is where core 0 is, and a snapshot from before does not know. */
TEST(a_page_is_in_the_die_of_its_first_access)
{
    gpc_machine_t machine = machine_of_two_dies(100, 0);
    machine.placement_of_pages = GPC_PAGES_FIRST_TOUCH;
    bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
    gpc_address_t line = it.address + 4 * 256;
    uint32_t word = 7;
    gpc_snapshot_t *before;
    CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, line, 1, &word), GPC_OK); /* no access of a core */
    CHECK_EQUAL_U64(gpc_touched_die(&it.gpu->homes.touched, line / machine.page_bytes), GPC_NONE);
    CHECK_EQUAL_I64(gpc_gpu_snapshot(it.gpu, &before), GPC_OK);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), machine.dram_round_trip);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), L2_HIT);
    CHECK_EQUAL_U64(gpc_home_die(&it.gpu->homes, line), 0);
    CHECK_EQUAL_I64(gpc_gpu_restore(it.gpu, before), GPC_OK);
    CHECK_EQUAL_U64(gpc_home_die(&it.gpu->homes, line), 1);
    CHECK_EQUAL_U64(gpc_touched_add(&it.gpu->homes.touched, line / machine.page_bytes, 1), true);
    CHECK_EQUAL_U64(gpc_touched_add(&it.gpu->homes.touched, line / machine.page_bytes, 0), true);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), machine.dram_round_trip + 200);
    gpc_snapshot_free(before);
}

TEST(more_pages_than_the_table_has_are_an_error)
{
    gpc_machine_t machine = machine_of_two_dies(0, 0);
    machine.placement_of_pages = GPC_PAGES_FIRST_TOUCH;
    bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
    for (uint64_t page = 1; page <= GPC_TOUCHED_ENTRIES / 2; page++) {
        CHECK(gpc_touched_add(&it.gpu->homes.touched, page << 30, page % 2));
    }
    CHECK_EQUAL_U64(gpc_touched_die(&it.gpu->homes.touched, UINT64_C(99999) << 30), 1);
    const gpc_instruction_t program[] = {LOAD(R1, CONSTANT(FAR)), EXIT};
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, WORDS, 1, 1), GPC_ERROR_CAPACITY);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "more than 131072 pages of page_bytes = 1024 are accessed") != NULL);
}

static void
expect_no_dies(gpc_machine_t machine, const char *says)
{
    expect_no_gpu(&machine, gpc_protocol_find("mesi"), says);
}

TEST(dies_that_do_not_fit_are_refused)
{
    gpc_machine_t machine = machine_of_two_dies(0, 0);
    machine.cores = 15;
    expect_no_dies(machine, "dies = 2: must divide cores = 15");
    machine = machine_of_two_dies(0, 0);
    machine.partitions = 7;
    expect_no_dies(machine, "dies = 2: must divide partitions = 7");
    machine = machine_of_two_dies(0, 0);
    machine.dram_channels = 3;
    expect_no_dies(machine, "dies = 2: must divide dram_channels = 3");
    machine = machine_of_two_dies(0, 0);
    machine.page_bytes = 128;
    expect_no_dies(machine, "page_bytes = 128: must be a power of two of at least interleave_bytes = 256");
    machine = machine_of_two_dies(0, 0);
    machine.topology = GPC_TOPOLOGY_MESH;
    expect_no_dies(machine, "dies = 2: must be 1 with a mesh");
    machine = machine_of_two_dies(0, 0);
    machine.gpus = 4;
    expect_no_dies(machine, "gpus = 4: must divide dies = 2");
    machine = machine_of_two_dies(0, 0);
    machine.memory_units = 3;
    expect_no_dies(machine, "memory_units = 3: must be 0, 1 or dies = 2");
}

/* ---- halves ------------------------------------------------------------------------------------------------------ */

static gpc_msg_t
message_between(uint32_t from, uint32_t to, gpc_address_t line)
{
    return (gpc_msg_t){.source = (gpc_node_t) from, .destination = (gpc_node_t) to, .line = line};
}

static uint64_t
cycles_between(gpc_gpu_t *gpu, uint32_t from, uint32_t to, gpc_address_t line)
{
    gpc_msg_t msg = message_between(from, to, line);
    return gpc_gpu_crossing_ticks(gpu, &msg) / gpu->core_clock.period;
}

/* An odd number of cycles is divided, and nothing is lost. */
#ifdef GPC_DIE_WINDOWS /* make asan */
/* Of a window of 100 cycles three events of die 0 and one of die 1, of a later one two of die 1. */
TEST(windows_take_as_long_as_their_busiest_die)
{
    gpc_machine_t machine = machine_of_two_dies(100, 4);
    bench_t it = bench(&machine, gpc_protocol_find("mesi"), WORDS);
    gpc_tick_t cycle = it.gpu->core_clock.period;
    const gpc_event_t events[] = {{.tick = 0, .kind = GPC_EVENT_CORE, .target = 0},
                                  {.tick = 9 * cycle, .kind = GPC_EVENT_DRAM},
                                  {.tick = 99 * cycle, .kind = GPC_EVENT_CORE, .target = 7},
                                  {.tick = 99 * cycle, .kind = GPC_EVENT_CORE, .target = 8},
                                  {.tick = 500 * cycle, .kind = GPC_EVENT_DRAM, .target = 4},
                                  {.tick = 599 * cycle, .kind = GPC_EVENT_OUTBOX, .target = 20}};
    for (uint32_t i = 0; i < 6; i++) {
        gpc_gpu_count_event(it.gpu, &events[i]);
    }
    CHECK_EQUAL_U64(it.gpu->windows.events, 6);
    CHECK_EQUAL_U64(it.gpu->windows.longest + gpc_most_of_window(&it.gpu->windows), 3 + 2);
}
#endif

TEST(crossing_is_shared_by_requests_and_answers)
{
    gpc_machine_t machine = machine_with(101);
    bench_t it = bench(&machine, gpc_protocol_find("mesi"), WORDS);
    gpc_gpu_t *gpu = it.gpu;
    uint32_t first_bank = machine.cores, last_bank = machine.cores + machine.partitions - 1;
    CHECK_EQUAL_U64(cycles_between(gpu, 0, first_bank, 0), 0);
    CHECK_EQUAL_U64(cycles_between(gpu, 7, first_bank + 3, 0), 0);
    CHECK_EQUAL_U64(cycles_between(gpu, 8, first_bank + 3, 0), 51);
    CHECK_EQUAL_U64(cycles_between(gpu, 7, first_bank + 4, 0), 51);
    CHECK_EQUAL_U64(cycles_between(gpu, first_bank + 4, 7, 0), 50);
    CHECK_EQUAL_U64(cycles_between(gpu, first_bank, 8, 0), 50);
    CHECK_EQUAL_U64(cycles_between(gpu, 15, last_bank, 0), 0);
    /* from core to core by the home of the line: partition 0 */
    CHECK_EQUAL_U64(cycles_between(gpu, 0, 7, 0), 0);
    CHECK_EQUAL_U64(cycles_between(gpu, 0, 15, 0), 50);
    CHECK_EQUAL_U64(cycles_between(gpu, 15, 0, 0), 51);
    CHECK_EQUAL_U64(cycles_between(gpu, 15, 8, 0), 101);
}

TEST(every_protocol_stays_right_and_no_message_is_lost)
{
    gpc_machine_t machines[] = {machine_with(220), machine_of_two_dies(110, 8), machine_of_two_dies(110, 8)};
    machines[2].placement_of_pages = GPC_PAGES_FIRST_TOUCH;
    machines[2].memory_units = machines[2].gpus = 2;
    machines[2].links = GPC_LINKS_SPLIT;
    for (uint32_t i = 0; i < 3 * gpc_protocol_count(); i++) {
        check_add_and_store(&machines[i % 3], gpc_protocol_at(i / 3));
    }
}
