/* test_memory.c: does the backing memory keep words, unique addresses and separate images? */
#include "base/errors.h"
#include "fabric/memory.h"
#include "harness.h"
#include "random.h"

static gpc_memory_t *memory;

static void
begin(void)
{
    gpc_memory_free(memory);
    CHECK_EQUAL_I64(gpc_memory_create(&memory, NULL), 0);
}

static uint32_t
word_at(gpc_address_t address)
{
    uint32_t word;
    gpc_memory_read(memory, address, 1, &word);
    return word;
}

static void
put(gpc_address_t address, uint32_t word)
{
    CHECK_EQUAL_I64(gpc_memory_write(memory, address, 1, &word), 0);
}

static gpc_address_t
allocated(uint64_t words)
{
    gpc_address_t address = 0;
    CHECK_EQUAL_I64(gpc_memory_allocate(memory, words, &address), 0);
    return address;
}

TEST(fresh_memory_reads_zero_anywhere)
{
    begin();
    CHECK_EQUAL_U64(word_at(0), 0);
    CHECK_EQUAL_U64(word_at(UINT64_C(0xFFFFFFFFFFFFFF00)), 0);
}

TEST(a_range_over_pages_reads_back_as_written)
{
    enum { WORDS = 50000 };
    static uint32_t in[WORDS], out[WORDS];
    begin();
    for (uint32_t i = 0; i < WORDS; i++) {
        in[i] = i * 2654435761u;
    }
    CHECK_EQUAL_I64(gpc_memory_write(memory, 65536 * 3 - 8, WORDS, in), 0);
    gpc_memory_read(memory, 65536 * 3 - 8, WORDS, out);
    CHECK(memcmp(in, out, sizeof(in)) == 0);
    CHECK_EQUAL_U64(word_at(65536 * 3 - 12), 0);
    CHECK_EQUAL_U64(word_at(65536 * 3 - 8 + 4 * WORDS), 0);
}

TEST(thousands_of_scattered_pages_are_found_again)
{
    uint32_t wrong = 0;
    begin();
    for (uint32_t i = 0; i < 2000; i++) {
        put((gpc_address_t) i * 65536 * 1024, i + 1);
    }
    for (uint32_t i = 0; i < 2000; i++) {
        wrong += word_at((gpc_address_t) i * 65536 * 1024) != i + 1;
    }
    CHECK_EQUAL_U64(wrong, 0);
}

TEST(a_masked_write_changes_the_words_of_its_mask_only)
{
    uint32_t words[32];
    begin();
    for (uint32_t i = 0; i < 32; i++) {
        words[i] = 100 + i;
    }
    CHECK_EQUAL_I64(gpc_memory_write_masked(memory, 65536, 0x80000005u, words), 0);
    CHECK_EQUAL_U64(word_at(65536), 100);
    CHECK_EQUAL_U64(word_at(65536 + 4), 0);
    CHECK_EQUAL_U64(word_at(65536 + 8), 102);
    CHECK_EQUAL_U64(word_at(65536 + 124), 131);
}

TEST(allocations_are_aligned_and_never_given_twice)
{
    begin();
    gpc_address_t first = allocated(1), second = allocated(1025);
    CHECK(first > 0);
    CHECK_EQUAL_U64(first % 4096, 0);
    CHECK_EQUAL_U64(second, first + 4096);
    CHECK_EQUAL_I64(gpc_memory_release(memory, second), 0);
    CHECK_EQUAL_U64(allocated(1), second + 8192);
}

TEST(covers_exactly_the_words_of_one_live_allocation)
{
    begin();
    gpc_address_t address = allocated(10);
    CHECK(gpc_memory_covers(memory, address, 10));
    CHECK(gpc_memory_covers(memory, address + 36, 1));
    CHECK(!gpc_memory_covers(memory, address, 11));
    CHECK(!gpc_memory_covers(memory, address + 40, 1));
    CHECK(!gpc_memory_covers(memory, address - 4, 1));
    CHECK(!gpc_memory_covers(memory, address + 4, UINT64_MAX));
    CHECK_EQUAL_I64(gpc_memory_release(memory, address), 0);
    CHECK(!gpc_memory_covers(memory, address, 1));
}

TEST(releasing_what_is_no_allocation_is_an_error)
{
    begin();
    gpc_address_t address = allocated(10);
    CHECK_EQUAL_I64(gpc_memory_release(memory, address + 4), GPC_ERROR_ADDRESS);
    CHECK_EQUAL_I64(gpc_memory_release(memory, 0), GPC_ERROR_ADDRESS);
    CHECK_EQUAL_I64(gpc_memory_release(memory, address), 0);
    CHECK_EQUAL_I64(gpc_memory_release(memory, address), GPC_ERROR_ADDRESS);
}

TEST(released_pages_read_zero_and_neighbours_keep_theirs)
{
    begin();
    gpc_address_t before = allocated(4), middle = allocated(200000), after = allocated(4);
    put(before, 1);
    put(middle + 65536 * 4, 2);
    put(after, 3);
    CHECK_EQUAL_I64(gpc_memory_release(memory, middle), 0);
    CHECK_EQUAL_U64(word_at(before), 1);
    CHECK_EQUAL_U64(word_at(middle + 65536 * 4), 0);
    CHECK_EQUAL_U64(word_at(after), 3);
}

TEST(sizes_that_cannot_be_are_refused)
{
    gpc_address_t address;
    begin();
    CHECK_EQUAL_I64(gpc_memory_allocate(memory, 0, &address), GPC_ERROR_ARGUMENT);
    CHECK_EQUAL_I64(gpc_memory_allocate(memory, 1000000000000u, &address), GPC_ERROR_MEMORY);
    CHECK_EQUAL_I64(gpc_memory_allocate(memory, UINT64_MAX, &address), GPC_ERROR_MEMORY);
    gpc_address_t all = allocated(GPC_MEMORY_MAX_WORDS);
    CHECK_EQUAL_I64(gpc_memory_allocate(memory, 1, &address), GPC_ERROR_MEMORY);
    CHECK_EQUAL_I64(gpc_memory_release(memory, all), 0);
    CHECK_EQUAL_I64(gpc_memory_allocate(memory, 1, &address), 0);
}

/* The next allocation begins at the next multiple of 4096, also where one was to begin. */
TEST(memory_gives_the_next_aligned_address)
{
    begin();
    gpc_address_t first = allocated(1024);
    CHECK_EQUAL_U64(allocated(1), first + 4096);
    CHECK_EQUAL_I64(gpc_memory_allocate_from(memory, first + 8192), 0);
    CHECK_EQUAL_U64(allocated(1), first + 8192);
    CHECK_EQUAL_I64(gpc_memory_allocate_from(memory, first + 8192), GPC_ERROR_ADDRESS);
    CHECK_EQUAL_I64(gpc_memory_allocate_from(memory, (gpc_address_t) (1 << 20) + 1), 0);
    CHECK_EQUAL_U64(allocated(1), (1 << 20) + 4096);
    CHECK_EQUAL_I64(gpc_memory_allocate_from(memory, UINT64_MAX / 2 + 1), GPC_ERROR_ADDRESS);
    CHECK_EQUAL_I64(gpc_memory_allocate_from(memory, UINT64_C(3) << 61), 0);
    CHECK_EQUAL_U64(allocated(1), UINT64_C(3) << 61);
}

TEST(memory_lists_what_is_left_of_the_allocations)
{
    gpc_address_t addresses[4], address;
    uint64_t words;
    begin();
    for (uint32_t i = 0; i < 4; i++) {
        addresses[i] = allocated(i + 1);
    }
    CHECK_EQUAL_I64(gpc_memory_release(memory, addresses[1]), 0);
    static const uint32_t left[] = {0, 2, 3};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(gpc_memory_allocation(memory, i, &address, &words));
        CHECK_EQUAL_U64(address, addresses[left[i]]);
        CHECK_EQUAL_U64(words, left[i] + 1);
    }
    CHECK(!gpc_memory_allocation(memory, 3, &address, &words));
}

/* Whatever the order: released ones are neither listed nor covered, and are not released again. */
TEST(memory_knows_its_live_allocations_after_any_releases)
{
    enum { ALLOCATIONS = 300 };
    gpc_address_t addresses[ALLOCATIONS], address;
    uint64_t words;
    bool live[ALLOCATIONS];
    uint32_t wrong = 0;
    begin();
    for (uint32_t i = 0; i < ALLOCATIONS; i++) {
        addresses[i] = allocated(i + 1);
        live[i] = true;
    }
    for (uint32_t step = 0; step < 5 * ALLOCATIONS; step++) {
        uint32_t i = step < ALLOCATIONS / 3 ? step : any_below(ALLOCATIONS); /* the first ones first */
        wrong += gpc_memory_covers(memory, addresses[i], 1) != live[i];
        wrong += (gpc_memory_release(memory, addresses[i]) == 0) != live[i];
        live[i] = false;
        size_t listed = 0;
        for (uint32_t k = 0; step % 100 == 0 && k < ALLOCATIONS; k++) {
            wrong += live[k] && !(gpc_memory_allocation(memory, listed++, &address, &words) &&
                                  address == addresses[k] && words == k + 1);
        }
    }
    CHECK_EQUAL_U64(wrong, 0);
}

/* Pages leave the table, and those that collided with them are found. */
TEST(memory_finds_pages_after_others_are_released)
{
    enum { PAGES = 2000, PAGE_WORDS = 16384 };
    static gpc_address_t addresses[PAGES];
    uint32_t wrong = 0;
    begin();
    CHECK_EQUAL_I64(gpc_memory_allocate_from(memory, 65536 * 16), 0);
    for (uint32_t i = 0; i < PAGES; i++) {
        addresses[i] = allocated(PAGE_WORDS);
        put(addresses[i], i + 1);
    }
    for (uint32_t i = 0; i < PAGES; i += 1 + i % 3) {
        CHECK_EQUAL_I64(gpc_memory_release(memory, addresses[i]), 0);
        addresses[i] += 1; /* released */
        wrong += word_at(addresses[i] - 1) != 0;
        for (uint32_t k = i + 1; k < PAGES; k += 37) {
            wrong += word_at(addresses[k]) != k + 1;
        }
    }
    for (uint32_t i = 0; i < PAGES; i++) {
        wrong += addresses[i] % 2 == 0 && word_at(addresses[i]) != i + 1;
    }
    CHECK_EQUAL_U64(wrong, 0);
}

TEST(an_image_brings_back_words_and_allocations)
{
    gpc_memory_image_t *image = NULL;
    begin();
    gpc_address_t kept = allocated(4);
    put(kept, 11);
    CHECK_EQUAL_I64(gpc_memory_save(memory, &image), 0);
    put(kept, 12);
    put(UINT64_C(1) << 40, 13);
    gpc_address_t later = allocated(4);
    CHECK_EQUAL_I64(gpc_memory_release(memory, kept), 0);
    for (int again = 0; again < 2; again++) {
        CHECK_EQUAL_I64(gpc_memory_load(memory, image), 0);
        CHECK_EQUAL_U64(word_at(kept), 11);
        CHECK_EQUAL_U64(word_at(UINT64_C(1) << 40), 0);
        CHECK(gpc_memory_covers(memory, kept, 4));
        CHECK(!gpc_memory_covers(memory, later, 1));
        CHECK_EQUAL_U64(allocated(1), later);
        put(kept, 14);
    }
    gpc_memory_image_free(image);
    gpc_memory_image_free(NULL);
}

TEST(an_image_and_two_memories_share_pages_until_one_writes)
{
    gpc_memory_image_t *image = NULL;
    gpc_memory_t *other = NULL;
    uint32_t seven = 7, word;
    begin();
    put(0, 5);
    put(65536, 6);
    CHECK_EQUAL_I64(gpc_memory_save(memory, &image), 0);
    CHECK_EQUAL_I64(gpc_memory_create(&other, NULL), 0);
    CHECK_EQUAL_I64(gpc_memory_load(other, image), 0);
    CHECK_EQUAL_U64(gpc_memory_shared_pages(memory), 2);
    CHECK_EQUAL_I64(gpc_memory_write_masked(other, 0, 1, &seven), 0);
    CHECK_EQUAL_U64(word_at(0), 5);
    gpc_memory_read(other, 0, 1, &word);
    CHECK_EQUAL_U64(word, 7);
    put(0, 8); /* the image keeps the page */
    CHECK_EQUAL_U64(gpc_memory_shared_pages(memory), 1);
    gpc_memory_free(other);
    CHECK_EQUAL_U64(gpc_memory_shared_pages(memory), 1);
    CHECK_EQUAL_I64(gpc_memory_load(memory, image), 0);
    CHECK_EQUAL_U64(word_at(0), 5);
    gpc_memory_image_free(image);
    CHECK_EQUAL_U64(gpc_memory_shared_pages(memory), 0);
    CHECK_EQUAL_U64(word_at(65536), 6);
}

AFTER_TESTS
{
    gpc_memory_free(memory);
    gpc_memory_free(NULL);
}
