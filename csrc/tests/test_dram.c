/* test_dram.c: do DRAM channels answer in the exact cycle, and keep their queue's size and the order of each line? That
 * they violate no timing is test_dram_reference.c's. */
#include "dram_world.h"

/* ---- the fixed model --------------------------------------------------------------------------------------------- */

TEST(dram_fixed_answers_after_its_latency_and_not_a_tick_sooner)
{
    gpc_dram_config_t config = fixed();
    begin(&config);
    run_to(7);
    read_line(0, 0, 0);
    run_to(106);
    CHECK_EQUAL_U64(answered[0], GPC_NEVER);
    run_to(107);
    CHECK_EQUAL_U64(answered[0], 107);
    run_dry();
}

TEST(dram_fixed_passes_a_line_every_transfer_and_channels_apart)
{
    gpc_dram_config_t config = fixed();
    begin(&config);
    for (uint32_t i = 0; i < 10; i++) {
        read_line(i % 2, i * 128, i);
    }
    run_dry();
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQUAL_U64(answered[i], 100 + i / 2 * (128 / 16) * PERIOD);
    }
    CHECK_EQUAL_U64(dram.statistics[0].busy_cycles, 5 * 8);
    CHECK_EQUAL_U64(dram.statistics[0].queue_cycles, (1 + 2 + 3 + 4) * 8);
}

TEST(dram_queue_has_no_room_until_one_leaves_for_the_pins)
{
    gpc_dram_config_t config = fixed();
    config.queue = 4;
    begin(&config);
    for (uint32_t i = 0; i < 5; i++) { /* the first is sent to the DRAM at once */
        CHECK(gpc_dram_room(&dram, 0) > 0);
        read_line(0, i * 512, i);
    }
    CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), 0);
    run_to(8 * PERIOD - 1);
    CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), 0);
    CHECK_EQUAL_U64(num_rooms, 0);
    run_to(8 * PERIOD);
    CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), 1);
    CHECK_EQUAL_U64(num_rooms, 1);
    run_dry();
    CHECK_EQUAL_U64(num_rooms, 1);
}

TEST(dram_queue_lets_a_read_see_the_writes_before_it_and_not_those_after)
{
    for (uint32_t model = 0; model <= GPC_DRAM_CLOSED; model++) {
        gpc_dram_config_t config = gddr5;
        config.model = model;
        begin(&config);
        write_word(0, 0, 1);
        read_line(0, 0, 0);
        write_word(0, 0, 2);
        run_dry();
        CHECK_EQUAL_U64(last_word, 1);
        read_line(0, 0, 1);
        run_dry();
        CHECK_EQUAL_U64(last_word, 2);
        CHECK_EQUAL_U64(dram.statistics[0].writes, 2);
        CHECK_EQUAL_U64(dram.statistics[0].reads, 2);
    }
}

TEST(dram_queue_is_empty_after_clear_and_serves_later_requests)
{
    for (uint32_t model = 0; model <= GPC_DRAM_CLOSED; model++) {
        gpc_dram_config_t config = gddr5;
        config.model = model;
        begin(&config);
        for (uint32_t i = 0; i < 20; i++) {
            write_word(0, i * 8192, i);
        }
        gpc_wheel_clear(&wheel);
        gpc_dram_clear(&dram);
        CHECK(gpc_dram_idle(&dram));
        CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), 32);
        read_line(0, 19 * 8192, 0);
        run_dry();
        CHECK_EQUAL_U64(last_word, 19);
    }
}

/* ---- banks without rows ------------------------------------------------------------------------------------------ */

TEST(dram_closed_answers_after_the_transfer_and_its_latency_and_not_a_tick_sooner)
{
    gpc_dram_config_t config = closed();
    begin(&config);
    CHECK_EQUAL_U64(gpc_dram_closed_row_ticks(&config), 2 * PERIOD);
    read_line(0, 0, 0);
    run_to(2 * PERIOD + 10 - 1);
    CHECK_EQUAL_U64(answered[0], GPC_NEVER);
    run_to(2 * PERIOD + 10);
    CHECK_EQUAL_U64(answered[0], 2 * PERIOD + 10);
    CHECK_EQUAL_U64(dram.statistics[0].row_misses, 1); /* each access opens a row */
    run_dry();
}

TEST(dram_closed_serves_consecutive_lines_two_cycles_apart)
{
    gpc_dram_config_t config = closed();
    begin(&config);
    for (uint32_t i = 0; i < 16; i++) { /* one of each bank */
        read_line(0, line_of_channel(i), i);
    }
    run_dry();
    for (uint32_t i = 0; i < 16; i++) {
        CHECK_EQUAL_U64(answered[i], (2 * i + 2) * PERIOD + 10);
    }
    CHECK_EQUAL_U64(dram.statistics[0].busy_cycles, 16 * 2);
}

TEST(dram_closed_serves_lines_of_a_bank_eleven_cycles_apart)
{
    gpc_dram_config_t config = closed();
    begin(&config);
    read_line(0, line_of_channel(0), 0);
    read_line(0, line_of_channel(16), 1); /* the same bank */
    read_line(0, line_of_channel(0), 2);  /* the same line: no row is open */
    read_line(0, line_of_channel(1), 3);  /* passes both */
    run_dry();
    CHECK_EQUAL_U64(answered[1], (11 + 2) * PERIOD + 10);
    CHECK_EQUAL_U64(answered[2], (22 + 2) * PERIOD + 10);
    CHECK_EQUAL_U64(answered[3], (2 + 2) * PERIOD + 10);
    CHECK_EQUAL_U64(dram.statistics[0].row_hits, 0);
}

TEST(dram_closed_writes_two_cycles_later_after_a_read_and_reads_at_once_after_a_write)
{
    gpc_dram_config_t config = closed();
    begin(&config);
    read_line(0, line_of_channel(0), 0);
    write_word(0, line_of_channel(1), 1);
    read_line(0, line_of_channel(1), 1); /* of the write's bank: after it */
    read_line(0, line_of_channel(2), 2); /* passes the write, which waits for the bubble */
    run_to(6 * PERIOD - 1);
    CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), 32 - 2);
    run_to(6 * PERIOD); /* reads at 0 and 2, the bubble to 6 */
    CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), 32 - 1);
    read_line(0, line_of_channel(3), 3);
    run_dry();
    CHECK_EQUAL_U64(answered[2], (2 + 2) * PERIOD + 10);
    CHECK_EQUAL_U64(answered[3], (8 + 2) * PERIOD + 10);
    CHECK_EQUAL_U64(answered[1], (6 + 11 + 2) * PERIOD + 10);
}

/* ---- banks and rows ---------------------------------------------------------------------------------------------- */

TEST(dram_banks_answers_a_closed_row_after_the_closed_form_and_not_a_tick_sooner)
{
    /* tRCD 12 + three more columns at tCCD 2 + tCL 12 + the last column's 2 cycles of data */
    gpc_tick_t expected = (12 + 3 * 2 + 12 + 2) * PERIOD;
    begin(&gddr5);
    CHECK_EQUAL_U64(gpc_dram_closed_row_ticks(&gddr5), expected);
    read_line(0, 0, 0);
    run_to(expected + 10 - 1);
    CHECK_EQUAL_U64(answered[0], GPC_NEVER);
    run_to(expected + 10);
    CHECK_EQUAL_U64(answered[0], expected + 10);
    CHECK_EQUAL_U64(dram.statistics[0].row_misses, 1);
}

TEST(dram_banks_lets_a_hit_pass_an_older_conflict_and_the_oldest_hit_go_first)
{
    gpc_address_t other_row = (gpc_address_t) 2 * 2048 * 16;
    begin(&gddr5);
    read_line(0, 0, 0);
    read_line(0, other_row, 1);
    read_line(0, 128, 2);
    read_line(0, 512, 3);
    run_dry();
    CHECK_EQUAL_U64(order[0], 0);
    CHECK_EQUAL_U64(order[1], 2);
    CHECK_EQUAL_U64(order[2], 3);
    CHECK_EQUAL_U64(order[3], 1);
}

TEST(dram_banks_lets_64_requests_pass_a_conflict_and_no_more)
{
    gpc_address_t other_row = (gpc_address_t) 2 * 2048 * 16;
    uint32_t passed = 0;
    begin(&gddr5);
    read_line(0, 0, 0);
    read_line(0, other_row, 1);
    while (answered[1] == GPC_NEVER && passed < 400) { /* an endless stream of hits of the open row */
        while (gpc_dram_room(&dram, 0) > 16) {
            read_line(0, 128 * (passed % 2), 2 + passed % 400);
            passed++;
        }
        run_to(gpc_wheel_now(&wheel) + PERIOD);
    }
    CHECK(answered[1] != GPC_NEVER);
    CHECK(passed >= 64 && passed < 110);
    CHECK_EQUAL_U64(num_answers, 1 + 64 + 1); /* the hit before it, those that passed it, itself */
    run_dry();
}

/* The request that was passed too often is the last one of its queue; later requests are served like the first. */
TEST(dram_banks_serves_a_request_after_a_forced_one_emptied_the_queue)
{
    gpc_address_t other_row = (gpc_address_t) 2 * 2048 * 16;
    begin(&gddr5);
    read_line(0, 0, 0);
    read_line(0, other_row, 1);
    for (uint32_t hits = 0; hits < 64;) { /* as many as may pass it, and no more */
        while (hits < 64 && gpc_dram_room(&dram, 0) > 16) {
            read_line(0, 128 * (hits % 2), 2 + hits);
            hits++;
        }
        run_to(gpc_wheel_now(&wheel) + PERIOD);
    }
    run_dry();
    CHECK_EQUAL_U64(order[num_answers - 1], 1);

    gpc_tick_t begun = gpc_clock_edge(gddr5.clock, gpc_wheel_now(&wheel) + 300);
    run_to(begun);
    read_line(0, other_row + 128, 100);
    write_word(0, 0, 1);
    run_dry();
    CHECK_EQUAL_U64(answered[100], begun + (3 * 2 + 12 + 2) * PERIOD + 10);
}

TEST(dram_banks_reaches_85_percent_of_the_pins_by_row_hits)
{
    enum { LINES = 2000 };
    begin(&gddr5);
    for (uint32_t i = 0; i < LINES;) {
        while (gpc_dram_room(&dram, 0) && i < LINES) {
            read_line(0, (gpc_address_t) (i / 2) * 512 + i % 2 * 128, i % MESSAGES);
            i++;
        }
        run_to(gpc_wheel_now(&wheel) + PERIOD);
    }
    run_dry();
    uint64_t cycles = gpc_wheel_now(&wheel) / PERIOD, bytes = (uint64_t) LINES * 128;
    printf("# %.1f%% of the pin bandwidth\n", 100.0 * (double) bytes / (double) (cycles * 16));
    CHECK(bytes * 100 >= cycles * 16 * 85);
    CHECK(bytes <= cycles * 16);
    CHECK_EQUAL_U64(dram.statistics[0].busy_cycles, LINES * 8);
}

/* Alternating writes and reads of one line: their columns follow the order of acceptance. */
TEST(dram_banks_keeps_the_order_of_a_line)
{
    uint32_t expected_write = 1, columns = 0;
    begin(&gddr5);
    for (uint32_t i = 0; i < 16; i++) {
        write_word(0, 0, i);
        read_line(0, 0, i);
    }
    run_dry();
    for (uint32_t i = 0; i < num_commands; i++) {
        if (commands[i].command >= GPC_DRAM_READ_COLUMN) {
            CHECK_EQUAL_U64(commands[i].command == GPC_DRAM_WRITE_COLUMN, expected_write);
            expected_write ^= ++columns % 4 == 0;
        }
    }
    CHECK_EQUAL_U64(columns, 32 * 4);
}

static int
status_of(gpc_dram_config_t config)
{
    gpc_arena_free(&arena);
    gpc_arena_init(&arena, 1u << 16);
    return gpc_dram_init(&dram, &config, &arena, &messages, memory, &wheel, answer, NULL);
}

TEST(a_configuration_that_does_not_fit_is_refused)
{
    gpc_dram_config_t config = gddr5;
    uint32_t *const positive[] = {&config.channels,         &config.queue, &config.bytes_per_cycle, &config.burst_bytes,
                                  &config.interleave_bytes, &config.banks};
    for (uint32_t i = 0; i < GPC_COUNT_OF(positive); i++) {
        config = gddr5;
        *positive[i] = 0;
        CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
        *positive[i] = 1;
        CHECK_EQUAL_I64(status_of(config), 0);
    }
    config = gddr5;
    config.clock.period = 0;
    CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
    config = gddr5;
    config.banks = 65;
    CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
    config = gddr5;
    config.row_bytes = 127;
    CHECK_EQUAL_I64(status_of(config), GPC_ERROR_MACHINE);
    config.row_bytes = 128;
    CHECK_EQUAL_I64(status_of(config), 0);
}
