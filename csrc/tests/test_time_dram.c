/* test_time_dram.c: cycles of DRAM channels, computed by hand, and mean waits in closed form. test_dram.c has the
 * unloaded latencies, test_dram_reference.c compares random traffic with plain models.
 *
 * GDDR5's numbers: a line is four columns, one every 2 cycles; tRCD 12, tRP 12, tRAS 28, tRC 40, tRRD 6, tCL 12, tWL 4,
 * tCDLR 5, tWR 12, tRTPL 2, two cycles of data a column. */
#include "dram_world.h"
#include "queueing.h"
#include "tests/fresh.h"

enum { ACTIVATE = GPC_DRAM_ACTIVATE, PRECHARGE = GPC_DRAM_PRECHARGE };
enum { READ = GPC_DRAM_READ_COLUMN, WRITE = GPC_DRAM_WRITE_COLUMN };

/* A line of channel 0 by its bank, row and place in the row. */
static gpc_address_t
line_at(uint32_t bank, uint32_t row, uint32_t place)
{
    const gpc_dram_config_t *c = &dram.config;
    return line_of_channel((row * c->banks + bank) * (c->row_bytes / c->line_bytes) + place);
}

static gpc_tick_t
cycle(gpc_tick_t cycles)
{
    return cycles * PERIOD;
}

/* A command to a bank; of columns the first one of a line. */
typedef struct {
    uint32_t cycle, command, bank;
} expected_t;

static void
check_commands(const expected_t *expected, uint32_t count, uint32_t columns, uint32_t spacing)
{
    uint32_t at = 0;
    run_dry();
    qsort(commands, num_commands, sizeof(*commands), by_tick);
    command_t flat[64];
    uint32_t num_flat = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t copies = expected[i].command >= READ ? columns : 1;
        for (uint32_t k = 0; k < copies; k++) {
            flat[num_flat++] = (command_t){.command = (gpc_dram_command_t) expected[i].command,
                                           .bank = expected[i].bank,
                                           .tick = cycle(expected[i].cycle + k * spacing)};
        }
    }
    qsort(flat, num_flat, sizeof(*flat), by_tick);
    CHECK_EQUAL_U64(num_commands, num_flat);
    for (; at < num_flat && at < num_commands; at++) {
        CHECK_EQUAL_U64(commands[at].tick, flat[at].tick);
        CHECK_EQUAL_U64(commands[at].command, flat[at].command);
        CHECK_EQUAL_U64(commands[at].bank, flat[at].bank);
    }
}
#define CHECK_COMMANDS(columns, spacing, ...)                                                                          \
    check_commands((const expected_t[]){__VA_ARGS__}, GPC_COUNT_OF(((const expected_t[]){__VA_ARGS__})), columns,      \
                   spacing)

/* ---- banks and rows ---------------------------------------------------------------------------------------------- */

/* tRRD between the activations; the second line's columns follow the first's, at 18, by tCCD. */
TEST(dram_banks_activates_two_banks_trrd_apart)
{
    begin(&gddr5);
    read_line(0, line_at(1, 0, 0), 0);
    read_line(0, line_at(0, 0, 0), 1);
    CHECK_COMMANDS(4, 2, {0, ACTIVATE, 1}, {6, ACTIVATE, 0}, {12, READ, 1}, {20, READ, 0});
    CHECK_EQUAL_U64(answered[0], cycle(18 + 12 + 2) + 10);
    CHECK_EQUAL_U64(answered[1], cycle(26 + 12 + 2) + 10);
}

/* The last column is written at 18, its data end at 18 + 4 + 2, and the read follows by tCDLR: in any bank. */
TEST(dram_banks_reads_after_written_data_and_tcdlr)
{
    for (uint32_t bank = 0; bank < 2; bank++) {
        begin(&gddr5);
        write_word(0, line_at(0, 0, 0), 1);
        read_line(0, line_at(bank, 0, 1), 0);
        if (bank == 0) {
            CHECK_COMMANDS(4, 2, {0, ACTIVATE, 0}, {12, WRITE, 0}, {29, READ, 0});
        } else {
            CHECK_COMMANDS(4, 2, {0, ACTIVATE, 0}, {6, ACTIVATE, 1}, {12, WRITE, 0}, {29, READ, 1});
        }
    }
}

/* The read's data end at 18 + 12 + 2 = 32; the pins are idle for 2 cycles; the write's data come tWL 4 after it. */
TEST(dram_banks_writes_after_read_data_and_two_idle_cycles)
{
    begin(&gddr5);
    read_line(0, line_at(0, 0, 0), 0);
    write_word(0, line_at(0, 0, 1), 1);
    CHECK_COMMANDS(4, 2, {0, ACTIVATE, 0}, {12, READ, 0}, {30, WRITE, 0});
}

/* Another row of the bank, after a read: the precharge waits for tRAS, or for the last column at 18 and tRTPL; the
 * activation for tRP, or for tRC. */
TEST(dram_banks_closes_a_row_after_tras_or_trtpl_and_opens_one_after_trp_or_trc)
{
    static const struct {
        uint32_t t_ras, t_rc, precharge, activate;
    } cases[] = {{28, 40, 28, 40}, {28, 45, 28, 45}, {15, 30, 20, 32}, {21, 33, 21, 33}, {15, 32, 20, 32}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_dram_config_t config = gddr5;
        config.t_ras = cases[i].t_ras;
        config.t_rc = cases[i].t_rc;
        begin(&config);
        read_line(0, line_at(3, 0, 0), 0);
        read_line(0, line_at(3, 1, 0), 1);
        uint32_t activate = cases[i].activate;
        CHECK_COMMANDS(4, 2, {0, ACTIVATE, 3}, {12, READ, 3}, {cases[i].precharge, PRECHARGE, 3},
                       {activate, ACTIVATE, 3}, {activate + 12, READ, 3});
    }
}

/* After a write, the precharge follows the data, which end at 18 + 4 + 2, by tWR. */
TEST(dram_banks_closes_a_written_row_after_twr)
{
    begin(&gddr5);
    write_word(0, line_at(0, 0, 0), 1);
    write_word(0, line_at(0, 1, 0), 1);
    CHECK_COMMANDS(4, 2, {0, ACTIVATE, 0}, {12, WRITE, 0}, {36, PRECHARGE, 0}, {48, ACTIVATE, 0}, {60, WRITE, 0});
    CHECK_EQUAL_U64(dram.statistics[0].row_misses, 1);
    CHECK_EQUAL_U64(dram.statistics[0].row_conflicts, 1);
}

/* Columns of bank 0 take the command bus at 12, 14, 16 and 18. A row command that comes meanwhile takes the next odd
 * cycle; with a column every cycle, at 12 to 15, the first one behind. */
TEST(dram_banks_issues_row_commands_between_columns)
{
    for (uint32_t arrival = 11; arrival <= 19; arrival++) {
        static const uint32_t expected[] = {11, 13, 13, 15, 15, 17, 17, 19, 19};
        begin(&gddr5);
        read_line(0, line_at(0, 0, 0), 0);
        run_to(cycle(arrival) - 1); /* between edges: at the next one */
        read_line(0, line_at(1, 0, 0), 1);
        uint32_t row = expected[arrival - 11], column = row + 12;
        CHECK_COMMANDS(4, 2, {0, ACTIVATE, 0}, {12, READ, 0}, {row, ACTIVATE, 1}, {column, READ, 1});
    }
    gpc_dram_config_t config = gddr5;
    config.bytes_per_cycle = 32;
    config.t_ccd = 1;
    begin(&config);
    read_line(0, line_at(0, 0, 0), 0);
    run_to(cycle(12));
    read_line(0, line_at(1, 0, 0), 1);
    CHECK_COMMANDS(4, 1, {0, ACTIVATE, 0}, {12, READ, 0}, {16, ACTIVATE, 1}, {28, READ, 1});
}

/* Bank 0's row is open. At 40 the activation for an older request and the column of a younger one are possible: the
 * column goes first. Behind it, at 41 and 43 (tRRD is 1), the activations of two banks, the older request's first. */
TEST(dram_banks_prefers_columns_to_rows_and_then_the_older_request)
{
    gpc_dram_config_t config = gddr5;
    config.t_rrd = 1;
    begin(&config);
    read_line(0, line_at(0, 0, 0), 0);
    run_to(cycle(40) - 1);
    read_line(0, line_at(2, 0, 0), 1);
    read_line(0, line_at(1, 0, 0), 2);
    read_line(0, line_at(0, 0, 1), 3);
    CHECK_COMMANDS(4, 2, {0, ACTIVATE, 0}, {12, READ, 0}, {40, READ, 0}, {41, ACTIVATE, 2}, {43, ACTIVATE, 1},
                   {53, READ, 2}, {61, READ, 1});
}

/* Only the columns of the bytes that cross the pins: of 32, 64 and 33 bytes 1, 2 and 2. */
TEST(dram_banks_transfers_the_columns_of_the_bytes_requested)
{
    static const uint32_t bytes[] = {32, 64, 33, 128}, columns[] = {1, 2, 2, 4};
    for (uint32_t i = 0; i < GPC_COUNT_OF(bytes); i++) {
        uint32_t value = 1;
        begin(&gddr5);
        gpc_index_t message = gpc_pool_take(&messages);
        *gpc_msg_at(&messages, message) = (gpc_msg_t){.line = line_at(0, 0, 0)};
        CHECK_EQUAL_I64(gpc_dram_read_part(&dram, 0, message, bytes[i]), 0);
        CHECK_COMMANDS(columns[i], 2, {0, ACTIVATE, 0}, {12, READ, 0});
        CHECK_EQUAL_U64(answered[0], cycle(12 + 2 * (columns[i] - 1) + 12 + 2) + 10);
        CHECK_EQUAL_I64(gpc_dram_write_part(&dram, 0, line_at(0, 0, 1), 1, &value, GPC_NONE, bytes[i]), 0);
        run_dry();
        CHECK_EQUAL_U64(dram.statistics[0].busy_cycles, 2 * 2 * columns[i]);
    }
}

/* A column of 32 bytes on 31 a cycle takes two cycles, a line of 128 bytes in columns of 127 two columns. */
TEST(dram_banks_rounds_columns_and_their_cycles_up)
{
    gpc_dram_config_t config = gddr5;
    config.bytes_per_cycle = 31;
    CHECK_EQUAL_U64(gpc_dram_closed_row_ticks(&config), cycle(12 + 3 * 2 + 12 + 2));
    config.bytes_per_cycle = 32;
    CHECK_EQUAL_U64(gpc_dram_closed_row_ticks(&config), cycle(12 + 3 * 2 + 12 + 1));
    config.burst_bytes = 127;
    CHECK_EQUAL_U64(gpc_dram_closed_row_ticks(&config), cycle(12 + 4 + 12 + 4));
    config = fixed();
    CHECK_EQUAL_U64(gpc_dram_closed_row_ticks(&config), 0);
}

/* ---- the fixed model and the queue ------------------------------------------------------------------------------- */

/* Fills and write-backs pass at one rate; of 128, 32, 17 and 16 bytes on 16 a cycle 8, 2, 2 and 1 cycles. */
TEST(dram_fixed_passes_fills_and_write_backs_at_the_rate_of_the_pins)
{
    static const uint32_t bytes[] = {128, 32, 17, 16}, cycles[] = {8, 2, 2, 1};
    for (uint32_t i = 0; i < GPC_COUNT_OF(bytes); i++) {
        gpc_dram_config_t config = fixed();
        begin(&config);
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t value = k;
            gpc_index_t message = gpc_pool_take(&messages);
            *gpc_msg_at(&messages, message) = (gpc_msg_t){.line = k * 512, .request = k};
            CHECK_EQUAL_I64(k % 2 ? gpc_dram_write_part(&dram, 0, k * 512, 1, &value, message, bytes[i])
                                  : gpc_dram_read_part(&dram, 0, message, bytes[i]),
                            0);
        }
        run_dry();
        for (uint32_t k = 0; k < 16; k++) {
            CHECK_EQUAL_U64(answered[k], 100 + cycle(k * cycles[i]));
        }
        CHECK_EQUAL_U64(dram.statistics[0].busy_cycles, 16 * cycles[i]);
    }
}

/* A queue of 4, full; then a write-back in the additional place and two by answers. There is room again, and the
 * channel says so once, when the fourth has left. */
TEST(dram_queue_has_no_room_while_additional_places_are_occupied)
{
    gpc_dram_config_t config = fixed();
    config.queue = 4;
    config.answers = 2;
    begin(&config);
    read_line(0, 0, 0); /* at the pins until 8 */
    for (uint32_t i = 0; i < 4 + 1 + 2; i++) {
        CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), i < 4 ? 4 - i : 0);
        write_word(0, i * 512, i);
    }
    for (uint32_t i = 0; i <= 4 + 1 + 2; i++) {
        run_to(cycle(8 * i));
        CHECK_EQUAL_U64(gpc_dram_room(&dram, 0), i <= 3 ? 0 : i - 3);
        CHECK_EQUAL_U64(num_rooms, i >= 4);
    }
    run_dry();
}

/* ---- what a channel waits for ------------------------------------------------------------------------------------ */

static bool
sleeps(const char *report)
{
    const gpc_schedule_t schedule = {.wheel = &wheel};
    gpc_text_t *text = fresh_text();
    bool forgotten = gpc_dram_sleeps_on_work(&dram, &schedule, text);
    CHECK_EQUAL_U64(text->bytes != NULL, forgotten);
    CHECK(!forgotten || strstr(text->bytes, report) != NULL);
    return forgotten;
}

/* A read waits in the queue for the pins, then for its answer; each with its event. Either channel counts. */
TEST(dram_queue_waits_for_its_event_and_is_idle_when_all_is_answered)
{
    for (uint32_t i = 0; i < 4; i++) {
        gpc_dram_config_t config = fixed();
        uint32_t channel = i % 2;
        begin(&config);
        CHECK(gpc_dram_idle(&dram));
        CHECK(!sleeps(""));
        write_word(channel, 0, 1); /* occupies the pins, without an answer */
        CHECK(gpc_dram_idle(&dram));
        read_line(channel, 512, 0);
        run_to(i < 2 ? 0 : cycle(8));
        CHECK(!gpc_dram_idle(&dram));
        CHECK(!sleeps(""));
        gpc_wheel_clear(&wheel);
        CHECK(sleeps(i >= 2         ? "DRAM channels hold 1 answers, of which 0 have an event"
                     : channel == 0 ? "DRAM channel 0 holds 1 requests"
                                    : "DRAM channel 1 holds 1 requests"));
    }
}

/* ---- random load ------------------------------------------------------------------------------------------------- */

/* Random reads that one server serves, each in `service` cycles; alone a read is answered after `unloaded` ticks. The
 * first one prepares the row of its bank. */
static void
check_random_load(const gpc_dram_config_t *config, double load, uint32_t service, gpc_tick_t unloaded,
                  gpc_address_t (*line)(uint32_t i))
{
    static gpc_tick_t accepted[QUEUEING_REQUESTS + 1];
    gpc_dram_config_t long_queue = *config;
    waits_t waits = {.count = 0};
    long_queue.queue = MESSAGES - 1;
    begin(&long_queue);
    dram.monitor = NULL;
    read_line(0, line(0), 0);
    run_to(cycle(1000));
    for (uint32_t i = 1; waits.count < QUEUEING_REQUESTS;) {
        if (i <= QUEUEING_REQUESTS) {
            run_to(gpc_wheel_now(&wheel) + cycle(slots_to_next_request(load, service)));
            accepted[i] = gpc_wheel_now(&wheel);
            answered[i % MESSAGES] = GPC_NEVER;
            REQUIRE(gpc_dram_room(&dram, 0) > 0);
            read_line(0, line(i), i % MESSAGES);
            i++;
        } else {
            run_dry();
        }
        for (uint32_t k; k = waits.count + 1, k < i && answered[k % MESSAGES] != GPC_NEVER;) {
            note_wait(&waits, (answered[k % MESSAGES] - accepted[k] - unloaded) / PERIOD);
        }
    }
    check_waits(&waits, load, service);
}

static gpc_address_t
line_of_row_0(uint32_t i)
{
    return line_at(0, 0, i % 16);
}

static gpc_address_t
line_of_another_row(uint32_t i)
{
    return line_at(0, i, 0);
}

/* A line of 128 bytes on 16 a cycle. */
TEST(dram_fixed_pins_under_random_load_wait_as_m_d_1)
{
    gpc_dram_config_t config = fixed();
    check_random_load(&config, 0.5, 8, 100, line_of_row_0);
    check_random_load(&config, 0.8, 8, 100, line_of_row_0);
}

/* Hits: four columns, one every 2 cycles. */
TEST(dram_banks_pins_under_random_load_wait_as_m_d_1)
{
    check_random_load(&gddr5, 0.5, 8, cycle(3 * 2 + 12 + 2) + 10, line_of_row_0);
    check_random_load(&gddr5, 0.8, 8, cycle(3 * 2 + 12 + 2) + 10, line_of_row_0);
}

/* Each request finds another row open: it is precharged for tRP, and the next one's precharge follows the activation
 * after tRAS. */
TEST(dram_banks_bank_under_random_load_waits_as_m_d_1)
{
    check_random_load(&gddr5, 0.5, 12 + 28, cycle(12 + 12 + 3 * 2 + 12 + 2) + 10, line_of_another_row);
    check_random_load(&gddr5, 0.8, 12 + 28, cycle(12 + 12 + 3 * 2 + 12 + 2) + 10, line_of_another_row);
}

static gpc_address_t
line_of_bank_0(uint32_t i)
{
    return line_of_channel(i * dram.config.banks);
}

TEST(dram_closed_bank_under_random_load_waits_as_m_d_1)
{
    gpc_dram_config_t config = closed();
    check_random_load(&config, 0.5, 11, cycle(2) + 10, line_of_bank_0);
    check_random_load(&config, 0.8, 11, cycle(2) + 10, line_of_bank_0);
}
