/* test_time_access.c: in which cycle does a core offer and complete its accesses? Tables of cycles that were computed
 * by hand, of launches that begin at cycle 0. The name of each test begins with that of its unit. */
#include "issue_trace.h"

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Cycle of the exit after two accesses and an instruction between them. */
static gpc_cycle_t
end_after(gpc_rule_t rule, gpc_instruction_t first, gpc_instruction_t between, gpc_instruction_t second)
{
    const gpc_instruction_t code[] = {first, between, second, NOP, EXIT};
    gpc_launch_t launch = world_launch(code, 5, 1, 32);
    world_reset();
    world.hit_delay = 5;
    run_launch(&launch, rule);
    return trace.issues[3].at; /* of the NOP */
}

/* An access that issues in cycle c is complete in c + 55: what waits for it issues in that cycle. */
TEST(order_waits_end_when_the_access_completes)
{
    const gpc_instruction_t store = STORE(C0, C1), load = LOAD(V | 1, C64),
                            fence = OP(FENCE, NONE, NONE, NONE, .order = GPC_ORDER_SC), nop = NOP;
    gpc_instruction_t acquire = load, release = STORE(C7, C1);
    acquire.order = GPC_ORDER_ACQUIRE;
    release.order = GPC_ORDER_RELEASE;
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, store, nop, load), 3);
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, store, fence, load), 55 + 2);
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, load, nop, release), 55 + 1);
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, nop, acquire, store), 1 + 55 + 1);
    CHECK_EQUAL_U64(end_after(GPC_RULE_SC, store, nop, load), 55 + 1);
    CHECK_EQUAL_U64(end_after(GPC_RULE_SC, store, load, store), 55 + 55 + 1);
}

/* Two accesses of one answer each, the first of which takes longer: the warp's fence waits for both. */
TEST(order_waits_for_the_latest_of_several)
{
    for (uint32_t late = 0; late < 3; late++) {
        world_reset();
        world.hit_delay = 5;
        world.late_line = late * 128;
        world.late_by = late * 10;
        (void) issues(CODE(STORE(C0, C1), STORE(C32, C1), STORE(C64, C1),
                           OP(FENCE, NONE, NONE, NONE, .order = GPC_ORDER_SC), EXIT),
                      1, 32);
        /* offered in cycles 0, 1 and 2 */
        gpc_cycle_t last = 2 + 55, delayed = late + 55 + late * 10;
        CHECK_EQUAL_U64(end_of(0, 0), (delayed > last ? delayed : last) + 1);
    }
}

/* Warp w stores to line w in cycle 2 + w, warp 0's takes 100 cycles longer: each fence waits for its own warp's store,
 * and the store's latency is its own. */
TEST(order_of_a_warp_is_not_that_of_another)
{
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 4;
    world.hit_delay = 5;
    world.late_by = 100;
    (void) issues(CODE(OF_WARP(0), OP(MUL, U | 0, U | 0, C32), STORE(U | 0, C1),
                       OP(FENCE, NONE, NONE, NONE, .order = GPC_ORDER_SC), EXIT),
                  1, 96);
    for (uint32_t warp = 0; warp < 3; warp++) {
        CHECK_EQUAL_U64(end_of(0, warp), 2 + warp + 55 + (warp == 0 ? 100 : 0) + 1);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].store_latency_cycles, 0 + 1 + 2 + 3 * 55 + 100); /* from the issue */
    CHECK_EQUAL_U64(world.cores.statistics[0].served_store_cycles, 3 * 55 + 100);              /* from the offer */
}

/* ---- coalescer --------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t line_bytes, width, stride, first; /* words, but for the line */
} access_t;

/* 32 lanes load `width` words each, `stride` words apart, from word `first` on; the launch's cycle of the load. */
static gpc_cycle_t
load_strided(const access_t *it)
{
    gpc_instruction_t load = LOAD(V | 4, V | 1);
    load.width = (uint8_t) it->width;
    const gpc_instruction_t code[] = {THREAD, OP(MUL, V | 1, V | 0, C_FIRST), OP(ADD, V | 1, V | 1, C_SECOND), load,
                                      EXIT};
    gpc_launch_t launch = launch_with(code, 5, 32, it->stride, it->first);
    small_core(ROUND_ROBIN, 1);
    world.machine.line_bytes = it->line_bytes;
    run_launch(&launch, GPC_RULE_RC);
    return 3;
}

/* Computed by hand: the lanes' words are first to first + 31 * stride + width - 1, without gaps of a line. */
TEST(coalescer_makes_a_request_per_line)
{
    static const struct {
        access_t access;
        uint32_t requests;
    } cases[] = {
        {{128, 1, 0, 5}, 1},    {{128, 1, 1, 0}, 1}, {{128, 1, 1, 1}, 2},   {{128, 1, 1, 31}, 2},  {{128, 1, 2, 0}, 2},
        {{128, 1, 3, 0}, 3},    {{128, 1, 3, 3}, 4}, {{128, 1, 31, 0}, 31}, {{128, 1, 32, 0}, 32}, {{64, 1, 1, 0}, 2},
        {{64, 1, 1, 1}, 3},     {{64, 1, 2, 0}, 4},  {{64, 1, 16, 0}, 32},  {{128, 2, 2, 0}, 2},   {{128, 2, 2, 2}, 3},
        {{128, 2, 32, 30}, 32}, {{128, 4, 4, 0}, 4}, {{128, 4, 4, 28}, 5},  {{64, 4, 4, 0}, 8},    {{64, 4, 4, 4}, 9},
        {{64, 4, 16, 12}, 32},  {{128, 4, 0, 4}, 1},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        (void) load_strided(&cases[i].access);
        CHECK_EQUAL_U64(world.num_seen, cases[i].requests);
        CHECK_EQUAL_U64(world.cores.statistics[0].loads, cases[i].requests);
        CHECK_EQUAL_U64(world.cores.statistics[0].load_instructions, 1);
    }
}

/* Every stride, width and alignment against lanes that are looked at one after another: a line is requested once, with
 * the words of all of its lanes, in the order of the first lanes, one in a cycle from the cycle of the issue on. */
static void
check_requests(const access_t *it)
{
    gpc_cycle_t issued = load_strided(it);
    gpc_address_t lines[GPC_MAX_LANES];
    gpc_mask_t masks[GPC_MAX_LANES];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t byte = 4 * (it->first + lane * it->stride), n = 0;
        while (n < count && lines[n] != byte / it->line_bytes * it->line_bytes) {
            n++;
        }
        if (n == count) {
            lines[count] = byte / it->line_bytes * it->line_bytes;
            masks[count++] = 0;
        }
        masks[n] |= ((UINT32_C(1) << it->width) - 1) << byte % it->line_bytes / 4;
    }
    CHECK_EQUAL_U64(world.num_seen, count);
    for (uint32_t n = 0; n < count; n++) {
        CHECK_EQUAL_U64(world.seen[n].line, lines[n]);
        CHECK_EQUAL_U64(world.seen[n].mask, masks[n]);
        CHECK_EQUAL_U64(world.seen[n].at, issued + n);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].load_latency_cycles, count - 1 + world.latency);
}

TEST(coalescer_offers_lines_in_order_one_in_a_cycle)
{
    for (uint32_t line_bytes = 64; line_bytes <= 128; line_bytes *= 2) {
        for (uint32_t width = 1; width <= 4; width *= 2) {
            for (uint32_t stride = 0; stride <= 32; stride += width) {
                for (uint32_t first = 0; first <= 3 * width; first += width) {
                    check_requests(&(access_t){line_bytes, width, stride, first});
                }
            }
        }
    }
}

/* Lanes go round 4 lines: each is requested once. */
TEST(coalescer_finds_a_line_to_which_lanes_come_back)
{
    small_core(ROUND_ROBIN, 1);
    (void) issues(CODE(THREAD, OP(AND, V | 1, V | 0, C3), OP(MUL, V | 1, V | 1, C32), LOAD(V | 4, V | 1), EXIT), 1, 32);
    CHECK_EQUAL_U64(world.num_seen, 4);
    for (uint32_t n = 0; n < 4; n++) {
        CHECK_EQUAL_U64(world.seen[n].line, 128 * n);
        CHECK_EQUAL_U64(world.seen[n].at, 3 + n);
    }
}

/* ---- port and queue ---------------------------------------------------------------------------------------------- */

/* Stores of 4 lines each, in a queue of one to three instructions. The first one's last request is taken in cycle 5 (it
 * issues in cycle 2), which is when its place is free: a waiting warp issues in the next cycle. */
TEST(queue_has_room_when_the_last_request_is_taken)
{
    static const struct {
        uint32_t places;
        const char *expected;
    } cases[] = {{1, "0 0 0 . . . 0 . . . 0 . . . ."},
                 {2, "0 0 0 0 . . 0 . . . . . . . ."},
                 {3, "0 0 0 0 0 . . . . . . . . . ."}};
    const gpc_launch_t launch = launch_with(
        CODE(THREAD, OP(MUL, V | 1, V | 0, C_FIRST), STORE(V | 1, C1), STORE(V | 1, C1), STORE(V | 1, C1), EXIT), 32, 4,
        0);
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        small_core(ROUND_ROBIN, 1);
        world.machine.load_store_queue = cases[i].places;
        run_launch(&launch, GPC_RULE_RC);
        CHECK(strncmp(issues_of(0), cases[i].expected, strlen(cases[i].expected)) == 0);
        for (uint32_t n = 0; n < 12; n++) {
            CHECK_EQUAL_U64(world.seen[n].at, 2 + n);
        }
    }
}

/* Room for 64 requests: the third store of 32 lines issues when 32 requests are complete, of which the last was offered
 * in cycle 2 + 31. */
TEST(queue_waits_for_room_of_a_whole_instruction)
{
    for (uint32_t room = 64; room <= 65; room++) {
        small_core(ROUND_ROBIN, 1);
        world.machine.requests_per_core = room;
        world.latency = 100;
        (void) issues(
            CODE(THREAD, OP(MUL, V | 1, V | 0, C100), STORE(V | 1, C1), STORE(V | 1, C1), STORE(V | 1, C1), EXIT), 1,
            32);
        CHECK_EQUAL_U64(world.seen[63].at, 2 + 63);
        CHECK_EQUAL_U64(world.seen[64].at, room == 64 ? 2 + 31 + 100 : 2 + 30 + 100);
    }
}

/* The port is closed until cycle 20; the four requests then follow one another. */
TEST(port_takes_a_held_request_first_and_one_a_cycle)
{
    small_core(ROUND_ROBIN, 1);
    world.held_until = 20;
    const gpc_launch_t launch =
        launch_with(CODE(THREAD, OP(MUL, V | 1, V | 0, C_FIRST), STORE(V | 1, C1), EXIT), 32, 4, 0);
    run_launch(&launch, GPC_RULE_RC);
    for (uint32_t n = 0; n < 4; n++) {
        CHECK_EQUAL_U64(world.seen[n].at, 20 + n);
        CHECK_EQUAL_U64(world.seen[n].line, 128 * n);
    }
}

/* The L1 takes a held request again in a cycle in which the core has issued: the core offers at once, at an edge of its
 * clock; else in its next cycle, the next one. The other requests follow one another. */
TEST(port_is_retried_at_once_or_in_the_next_cycle)
{
    for (uint32_t at_edge = 0; at_edge < 2; at_edge++) {
        const gpc_launch_t launch =
            launch_with(CODE(THREAD, OP(MUL, V | 1, V | 0, C_FIRST), STORE(V | 1, C1), EXIT), 32, 4, 0);
        small_core(ROUND_ROBIN, 1);
        world.held_until = 1000;
        world_begin();
        CHECK_EQUAL_I64(gpc_cores_launch(&world.cores, &launch, 0), 0);
        for (world.now = 0; world.now < 4; world.now++) {
            CHECK_EQUAL_I64(world_step(), 0);
        }
        CHECK_EQUAL_U64(world.num_seen, 0);
        world.held_until = 0;
        world.now = 3; /* in which the warp has found that it may not end */
        CHECK_EQUAL_I64(gpc_cores_retry(&world.cores, 0, at_edge != 0), 0);
        CHECK_EQUAL_U64(world.num_seen, at_edge);
        for (world.now = 4; world.now < 10; world.now++) {
            CHECK_EQUAL_I64(world_step(), 0);
        }
        CHECK_EQUAL_U64(world.num_seen, 4);
        for (uint32_t n = 0; n < world.num_seen; n++) {
            CHECK_EQUAL_U64(world.seen[n].at, 4 - at_edge + n);
        }
    }
}

/* 13 words fill no 64 bytes, which is what passes in a cycle at least: the second request follows in the next one. */
TEST(port_is_not_faster_for_few_words)
{
    small_core(ROUND_ROBIN, 1);
    world.machine.l1_bytes_per_cycle = 64;
    world.held_until = 20;
    (void) issues(CODE(THREAD, STORE(V | 0, C1), STORE(V | 0, C1), EXIT), 1, 13);
    CHECK_EQUAL_U64(world.seen[0].at, 20);
    CHECK_EQUAL_U64(world.seen[1].at, 21);
}

/* ---- scratchpad -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t banks, stride, lanes, passes; /* lane l accesses word (l mod lanes) * stride */
    bool atomic;
} conflict_t;

/* Runs an access whose lanes take `passes` passes, then a store, which waits for the scratchpad, and a use of what the
 * access has read, which waits for its latency and for the passes beyond the first. */
static void
check_passes(gpc_instruction_t access, uint32_t stride, uint32_t lanes, uint32_t banks, uint32_t passes)
{
    const gpc_instruction_t code[] = {THREAD, OP(AND, V | 1, V | 0, C_SECOND), OP(MUL, V | 1, V | 1, C_FIRST),
                                      access, SHARED_STORE(V | 0, V | 0),      MOVE(V | 3, V | 4),
                                      EXIT};
    gpc_launch_t launch = launch_with(code, 7, 32, stride, lanes - 1);
    small_core(ROUND_ROBIN, 1);
    world.machine.scratchpad_banks = banks;
    run_launch(&launch, GPC_RULE_RC);
    CHECK_EQUAL_U64(trace.issues[3].at, 3);
    CHECK_EQUAL_U64(trace.issues[4].at, 3 + passes);
    CHECK_EQUAL_U64(trace.issues[5].at, 3 + world.machine.scratchpad_latency + passes - 1);
    CHECK_EQUAL_U64(world.cores.statistics[0].shared_conflict_cycles, passes - 1 + (banks == 16)); /* and the store's */
}

/* Lanes 0 to 31 meet in bank (stride * lane) mod banks: in 32 banks gcd(stride, 32) of them, in 16 banks twice
 * gcd(stride, 16). Lanes of one word are served together, but for atomics. */
TEST(scratchpad_serialises_the_lanes_of_a_bank)
{
    static const conflict_t cases[] = {
        {32, 1, 32, 1, false},  {32, 2, 32, 2, false},   {32, 3, 32, 1, false},  {32, 4, 32, 4, false},
        {32, 6, 32, 2, false},  {32, 8, 32, 8, false},   {32, 12, 32, 4, false}, {32, 16, 32, 16, false},
        {32, 31, 32, 1, false}, {32, 32, 32, 32, false}, {32, 33, 32, 1, false}, {32, 63, 32, 1, false},
        {32, 1, 1, 1, false},   {32, 1, 2, 1, false},    {32, 32, 4, 4, false},  {32, 16, 4, 2, false},
        {16, 1, 32, 2, false},  {16, 2, 32, 4, false},   {16, 3, 32, 2, false},  {16, 16, 32, 32, false},
        {32, 1, 32, 1, true},   {32, 2, 32, 2, true},    {32, 1, 1, 32, true},   {32, 1, 2, 16, true},
        {0, 32, 32, 1, false},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_instruction_t access = SHARED_LOAD(V | 4, V | 1);
        if (cases[i].atomic) {
            access = OP(SHARED_ATOMIC, V | 4, V | 1, C1, .c = NONE, .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT);
        }
        check_passes(access, cases[i].stride, cases[i].lanes, cases[i].banks, cases[i].passes);
    }
}

/* By byte: of 2 words a lane, 16 lanes make a round, of 4 words 8 lanes; each round takes the passes of its words.
 * Words 4 * lane and the next one: banks 0, 1, 4, 5, .. twice in a round of 16 lanes. Halves: two lanes a word. */
TEST(scratchpad_takes_a_round_per_word_of_a_lane)
{
    static const struct {
        uint8_t width, bytes;
        uint32_t stride, passes; /* bytes */
    } cases[] = {{1, 0, 4, 1},  {1, 0, 8, 2},  {2, 0, 8, 2}, {2, 0, 16, 4},
                 {4, 0, 16, 4}, {4, 0, 32, 8}, {1, 2, 2, 1}, {1, 2, 8, 2}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_instruction_t access = OP(SHARED_LOAD, V | 4, V | 1, NONE, .flags = GPC_FLAG_BYTES);
        access.width = cases[i].width;
        access.bytes = cases[i].bytes;
        check_passes(access, cases[i].stride, 32, 32, cases[i].passes);
    }
}
