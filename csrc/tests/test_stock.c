/* test_stock.c: blocks that are kept for later use are zero, few, and of the newest. */
#define _DEFAULT_SOURCE /* mincore */
#include "base/stock.h"

#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/blocks.h"
#include "fabric/memory.h"
#include "harness.h"

enum { MIB = 1 << 20 };

static size_t page; /* of the host */

/* ---- a host that has moved pages to disk ------------------------------------------------------------------------- */

static bool absent; /* mincore says of every page that it is not in memory */

int __real_mincore(void *bytes, size_t size, unsigned char *present);
int __wrap_mincore(void *bytes, size_t size, unsigned char *present);

int
__wrap_mincore(void *bytes, size_t size, unsigned char *present)
{
    int status = __real_mincore(bytes, size, present);
    if (absent) {
        memset(present, 0, (size + page - 1) / page);
    }
    return status;
}

int __wrap_sysinfo(struct sysinfo *host);

int
__wrap_sysinfo(struct sysinfo *host)
{
    *host = (struct sysinfo){.totalswap = absent};
    return 0;
}

static bool
is_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* A block with `bytes` written every `step`. */
static uint8_t *
written(gpc_stock_t *stock, size_t bytes, size_t step)
{
    uint8_t *block = gpc_stock_take(stock, bytes);
    for (size_t i = 0; block && i < bytes; i += step) {
        block[i] = 0xA5;
    }
    return block;
}

TEST(without_a_stock_blocks_are_the_systems)
{
    uint8_t *block = gpc_stock_take(NULL, MIB);
    REQUIRE(block);
    CHECK(is_zero(block, MIB));
    gpc_stock_give(NULL, block, MIB);
    gpc_stock_give(NULL, NULL, MIB);
    gpc_stock_free(NULL);
}

/* An arena and a memory that were built before get the same blocks for the same pieces. */
#ifdef __linux__
TEST(a_block_comes_back_as_zeros)
{
    const size_t steps[] = {1, page, 2 * page, 100 * page}, sizes[] = {3 * MIB, 3 * MIB + 1, 7 * MIB, 12 * MIB - 100};
    gpc_stock_t *stock = gpc_stock_create();
    REQUIRE(stock);
    for (uint32_t i = 0; i < 4; i++) {
        size_t bytes = sizes[i];
        uint8_t *block = written(stock, bytes, steps[i]);
        REQUIRE(block);
        block[bytes - 1] = 7;
        gpc_stock_give(stock, block, bytes);
        size_t memory = gpc_stock_bytes(stock);
        CHECK(memory >= bytes / steps[i] / 2 * (steps[i] < page ? 1 : page));
        CHECK(gpc_stock_take(stock, bytes) == block);
        CHECK_EQUAL_U64(gpc_stock_bytes(stock), 0);
        gpc_stock_give(stock, block, bytes);
        CHECK_EQUAL_U64(gpc_stock_bytes(stock), memory); /* zeros were not written where nothing was */
        CHECK(gpc_stock_take(stock, bytes) == block);
        CHECK(is_zero(block, bytes));
        gpc_block_give(block, bytes);
    }
    gpc_stock_free(stock);
}

/* Of such a page mincore says the same as of one that was never written. */
TEST(a_page_that_the_host_moved_to_disk_comes_back_as_zeros)
{
    gpc_stock_t *stock = gpc_stock_create();
    uint8_t *block = written(stock, MIB, 2 * page);
    REQUIRE(stock && block);
    absent = true;
    gpc_stock_give(stock, block, MIB);
    absent = false;
    CHECK_EQUAL_U64(gpc_stock_bytes(stock), 0);
    CHECK(gpc_stock_take(stock, MIB) == block);
    CHECK(is_zero(block, MIB));
    gpc_stock_give(stock, block, MIB);
    gpc_stock_free(stock);
}

TEST(only_a_block_of_the_same_size_is_used_again)
{
    gpc_stock_t *stock = gpc_stock_create();
    uint8_t *small = written(stock, MIB, page), *newer = written(stock, MIB, page),
            *large = written(stock, 2 * MIB, page);
    REQUIRE(stock && small && newer && large);
    gpc_stock_give(stock, small, MIB);
    gpc_stock_give(stock, newer, MIB);
    gpc_stock_give(stock, large, 2 * MIB);
    CHECK_EQUAL_U64(gpc_stock_bytes(stock), 4 * MIB);
    uint8_t *other = gpc_stock_take(stock, MIB + page);
    CHECK(other != small && other != newer && other != large);
    CHECK(gpc_stock_take(stock, MIB) == newer); /* the one given last */
    CHECK(gpc_stock_take(stock, MIB) == small);
    CHECK(gpc_stock_take(stock, 2 * MIB) == large);
    CHECK_EQUAL_U64(gpc_stock_bytes(stock), 0);
    gpc_stock_give(stock, other, MIB + page);
    gpc_stock_give(stock, small, MIB);
    gpc_stock_give(stock, newer, MIB);
    gpc_stock_give(stock, large, 2 * MIB);
    gpc_stock_free(stock);
}

TEST(a_stock_keeps_no_more_than_it_may)
{
    enum { COUNT = 12 };
    gpc_stock_t *stock = gpc_stock_create();
    uint8_t *blocks[COUNT];
    REQUIRE(stock);
    for (uint32_t i = 0; i < COUNT; i++) {
        blocks[i] = written(stock, 2 * MIB + i * page, page);
        REQUIRE(blocks[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        gpc_stock_give(stock, blocks[i], 2 * MIB + i * page);
        CHECK(gpc_stock_bytes(stock) <= GPC_STOCK_BYTES);
    }
    CHECK(gpc_stock_bytes(stock) > GPC_STOCK_BYTES - 3 * MIB);
    size_t before = gpc_stock_bytes(stock);
    gpc_block_give(gpc_stock_take(stock, 2 * MIB), 2 * MIB); /* the first is gone */
    CHECK_EQUAL_U64(gpc_stock_bytes(stock), before);
    CHECK(gpc_stock_take(stock, 2 * MIB + 11 * page) == blocks[11]);
    gpc_stock_give(stock, blocks[11], 2 * MIB + 11 * page);

    before = gpc_stock_bytes(stock);
    uint8_t *huge = written(stock, GPC_STOCK_BYTES / 2, page); /* too much for one block */
    REQUIRE(huge);
    gpc_stock_give(stock, huge, GPC_STOCK_BYTES / 2);
    CHECK_EQUAL_U64(gpc_stock_bytes(stock), before);

    huge = written(stock, 4 * GPC_STOCK_BYTES, MIB); /* large, and hardly written */
    REQUIRE(huge);
    gpc_stock_give(stock, huge, 4 * GPC_STOCK_BYTES);
    CHECK(gpc_stock_take(stock, 4 * GPC_STOCK_BYTES) == huge);
    gpc_stock_give(stock, huge, 4 * GPC_STOCK_BYTES);
    gpc_stock_free(stock);
}

TEST(many_small_blocks_push_the_oldest_out)
{
    enum { COUNT = 300 };
    gpc_stock_t *stock = gpc_stock_create();
    static uint8_t *blocks[COUNT];
    REQUIRE(stock);
    for (uint32_t i = 0; i < COUNT; i++) {
        blocks[i] = written(stock, (i + 1) * page, page * COUNT);
        REQUIRE(blocks[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        gpc_stock_give(stock, blocks[i], (i + 1) * page);
    }
    CHECK_EQUAL_U64(gpc_stock_bytes(stock), 256 * page);
    CHECK(gpc_stock_take(stock, COUNT * page) == blocks[COUNT - 1]);
    CHECK(gpc_stock_take(stock, (COUNT - 255) * page) == blocks[COUNT - 256]);
    gpc_stock_give(stock, blocks[COUNT - 1], COUNT * page);
    gpc_stock_give(stock, blocks[COUNT - 256], (COUNT - 255) * page);
    gpc_stock_free(stock);
}

TEST(an_arena_and_a_memory_use_what_the_last_ones_gave)
{
    gpc_stock_t *stock = gpc_stock_create();
    uint8_t *pieces[2][3];
    REQUIRE(stock);
    for (uint32_t round = 0; round < 2; round++) {
        gpc_arena_t arena;
        gpc_memory_t *memory = NULL;
        uint32_t word = 5;
        gpc_arena_init(&arena, MIB);
        arena.stock = stock;
        REQUIRE(gpc_memory_create(&memory, stock) == 0);
        CHECK_EQUAL_U64(gpc_stock_bytes(stock) > 0, round);
        for (uint32_t i = 0; i < 3; i++) {
            pieces[round][i] = gpc_arena_take(&arena, MIB, 1);
            REQUIRE(pieces[round][i]);
            CHECK(is_zero(pieces[round][i], MIB));
            memset(pieces[round][i], 0x5A, MIB / 2 * (i + 1) / 2);
        }
        gpc_memory_read(memory, 65536, 1, &word);
        CHECK_EQUAL_U64(word, 0);
        word = 9;
        CHECK_EQUAL_I64(gpc_memory_write(memory, 65540, 1, &word), 0);
        gpc_memory_read(memory, 65536, 1, &word);
        CHECK_EQUAL_U64(word, 0);
        CHECK_EQUAL_U64(gpc_stock_bytes(stock), 0);
        gpc_memory_free(memory);
        gpc_arena_free(&arena);
    }
    CHECK(memcmp(pieces[0], pieces[1], sizeof(pieces[0])) == 0);
    gpc_stock_free(stock);
}
#endif

BEFORE_TESTS
{
    page = (size_t) sysconf(_SC_PAGESIZE);
}
