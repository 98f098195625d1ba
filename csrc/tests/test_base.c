/* test_base.c: arenas, pools, text, errors, described structs, lists of messages, bytes. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/describe.h"
#include "base/errors.h"
#include "base/failure.h"
#include "base/text.h"
#include "harness.h"
#include "json.h"

TEST(an_arena_comes_back_as_it_was_saved)
{
    gpc_arena_t arena;
    gpc_arena_init(&arena, 256);
    uint32_t *a = GPC_ARENA_TAKE(&arena, 10, uint32_t);
    uint32_t *b = GPC_ARENA_TAKE(&arena, 1000, uint32_t); /* larger than a chunk */
    REQUIRE(a && b);
    CHECK_EQUAL_U64((uintptr_t) a % 64, 0);
    CHECK_EQUAL_U64((uintptr_t) b % 64, 0);
    CHECK_EQUAL_U64(b[999], 0);
    a[3] = 7;
    b[999] = 8;
    uint8_t *image = malloc(gpc_arena_bytes(&arena));
    gpc_arena_save(&arena, image);
    a[3] = b[999] = 0;
    gpc_arena_load(&arena, image);
    CHECK_EQUAL_U64(a[3], 7);
    CHECK_EQUAL_U64(b[999], 8);
    free(image);
    gpc_arena_free(&arena);
    gpc_arena_free(&arena); /* twice is safe */
}

TEST(an_arena_image_restores_written_blocks_and_blocks_of_zeros)
{
    gpc_arena_t arena;
    gpc_arena_image_t *image = NULL;
    gpc_arena_init(&arena, 256);
    uint32_t *a = GPC_ARENA_TAKE(&arena, 10, uint32_t);
    uint32_t *b = GPC_ARENA_TAKE(&arena, 5000, uint32_t); /* several blocks of an image */
    REQUIRE(a && b);
    a[3] = 7;
    b[4999] = 8;
    REQUIRE(gpc_arena_image_save(&arena, &image) == 0);
    CHECK_EQUAL_U64(gpc_arena_image_bytes(image), gpc_arena_bytes(&arena));
    a[3] = b[4999] = 0;
    b[2000] = 9; /* in a block that was zero */
    gpc_arena_image_load(&arena, image);
    CHECK_EQUAL_U64(a[3], 7);
    CHECK_EQUAL_U64(b[2000], 0);
    CHECK_EQUAL_U64(b[4999], 8);
    gpc_arena_image_free(image);
    gpc_arena_image_free(NULL);
    gpc_arena_free(&arena);
}

TEST(an_arena_refuses_what_overflows)
{
    gpc_arena_t arena;
    gpc_arena_init(&arena, 256);
    CHECK(gpc_arena_take(&arena, SIZE_MAX / 4, 16) == NULL);
    CHECK(arena.failed);
    gpc_arena_free(&arena);
}

TEST(a_pool_gives_each_item_once_and_knows_how_many_are_out)
{
    gpc_arena_t arena;
    gpc_pool_t pool;
    gpc_arena_init(&arena, 4096);
    REQUIRE(gpc_pool_init(&pool, &arena, 3, 12) == 0);
    gpc_index_t a = gpc_pool_take(&pool), b = gpc_pool_take(&pool), c = gpc_pool_take(&pool);
    CHECK(a != b && b != c && a != c);
    CHECK_EQUAL_U64(gpc_pool_take(&pool), GPC_NONE);
    gpc_pool_give(&pool, b);
    CHECK_EQUAL_U64(pool.state->in_use, 2);
    CHECK_EQUAL_U64(gpc_pool_take(&pool), b);
    gpc_arena_free(&arena);
}

TEST(lists_keep_order_and_lose_nothing)
{
    gpc_arena_t arena;
    gpc_pool_t pool;
    gpc_list_t list, more;
    gpc_index_t i[4];
    gpc_arena_init(&arena, 4096);
    REQUIRE(gpc_pool_init(&pool, &arena, 4, sizeof(gpc_msg_t)) == 0);
    gpc_list_clear(&list);
    gpc_list_clear(&more);
    for (int n = 0; n < 4; n++) {
        i[n] = gpc_pool_take(&pool);
        gpc_list_push(n < 3 ? &list : &more, &pool, i[n]);
    }
    gpc_list_remove_after(&list, &pool, i[1], i[2]); /* the tail */
    gpc_list_append(&list, &pool, &more);
    CHECK_EQUAL_U64(list.count, 3);
    CHECK_EQUAL_U64(more.count, 0);
    CHECK_EQUAL_U64(gpc_list_pop(&list, &pool), i[0]);
    CHECK_EQUAL_U64(gpc_list_pop(&list, &pool), i[1]);
    CHECK_EQUAL_U64(gpc_list_pop(&list, &pool), i[3]);
    CHECK_EQUAL_U64(gpc_list_pop(&list, &pool), GPC_NONE);
    gpc_arena_free(&arena);
}

TEST(text_is_valid_json_where_it_should_be)
{
    gpc_text_t text;
    gpc_text_init(&text);
    gpc_text_add(&text, "{");
    gpc_text_add_text(&text, "a", "say \"x\\y\"\n");
    gpc_text_add_key(&text, "b");
    gpc_text_add(&text, "%d", 2);
    gpc_text_add_count(&text, "c", 0);
    gpc_text_add_count(&text, "d", UINT64_MAX);
    gpc_text_add_count(&text, "e", 1230);
    gpc_text_add(&text, "}");
    CHECK_EQUAL_TEXT(text.bytes, "{\"a\": \"say \\\"x\\\\y\\\"\\u000a\", \"b\": 2, \"c\": 0, "
                                 "\"d\": 18446744073709551615, \"e\": 1230}");
    gpc_text_free(&text);
    gpc_text_free(&text);
}

TEST(the_first_failure_stays)
{
    gpc_failure_t failure;
    gpc_failure_clear(&failure);
    CHECK_EQUAL_I64(gpc_fail(&failure, GPC_ERROR_BOUNDS, "index %d", 9), GPC_ERROR_BOUNDS);
    CHECK_EQUAL_I64(gpc_fail(&failure, GPC_ERROR_MEMORY, "later"), GPC_ERROR_MEMORY);
    CHECK_EQUAL_TEXT(failure.text, "index 9");
    CHECK_EQUAL_TEXT(gpc_error_exception(failure.code), "KernelError");
    CHECK_EQUAL_TEXT(gpc_error_name(12345), "NONE");
}

#define EXAMPLE(FIELD)                                                                                                     \
    FIELD(PLAIN, uint16_t, count)                                                                                          \
    FIELD(TIME, uint64_t, lease)                                                                                           \
    FIELD(NODE, gpc_node_t, owner)                                                                                         \
    FIELD(NODESET, gpc_nodeset_t, sharers)                                                                                 \
    FIELD(STATISTIC, uint64_t, hits)
GPC_DESCRIBE(example, line, EXAMPLE)

static size_t
encode(const example_line_t *line, gpc_cycle_t now, const gpc_node_t *rename, uint8_t *bytes)
{
    gpc_encoder_t encoder = {.bytes = bytes, .capacity = 256, .now = now, .rename = rename};
    gpc_encode_described(&encoder, example_line_described(), line);
    return encoder.length;
}

TEST(described_structs_encode_alike_when_they_mean_the_same)
{
    static const gpc_node_t swap[GPC_NODESET_WORDS * 64] = {1, 0};
    example_line_t a = {.count = 3, .lease = 100, .owner = 0, .sharers = {{1}}, .hits = 5};
    example_line_t later = {.count = 3, .lease = 150, .owner = 1, .sharers = {{2}}, .hits = 9};
    uint8_t x[256], y[256];
    size_t n = encode(&a, 90, NULL, x);
    CHECK_EQUAL_U64(encode(&later, 140, swap, y), n);
    CHECK(memcmp(x, y, n) == 0);
    later.lease++; /* and refuses what does not */
    size_t m = encode(&later, 140, swap, y);
    CHECK(m != n || memcmp(x, y, n) != 0);
}

TEST(all_past_times_are_one)
{
    example_line_t a = {.lease = 10}, b = {.lease = 20};
    uint8_t x[256], y[256];
    size_t n = encode(&a, 90, NULL, x);
    CHECK_EQUAL_U64(encode(&b, 90, NULL, y), n);
    CHECK(memcmp(x, y, n) == 0);
}

TEST(described_structs_print)
{
    example_line_t a = {.count = 3, .lease = 100, .owner = 2, .sharers = {{5}}};
    gpc_text_t text;
    gpc_text_init(&text);
    gpc_print_described(&text, example_line_described(), &a);
    CHECK_EQUAL_TEXT(text.bytes, "count=3 lease=100 owner=2 sharers={0,2} hits=0");
    gpc_text_free(&text);
}

TEST(bytes_equal_to_a_value_are_found)
{
    for (uint32_t count = 1; count <= 32; count++) {
        uint8_t *bytes = malloc(count); /* no more: a sanitizer sees what is read beyond them */
        uint32_t expected = 0;
        REQUIRE(bytes);
        for (uint32_t i = 0; i < count; i++) {
            bytes[i] = (uint8_t) (i * i % 7 + (i == 17 ? 0x80 : 0));
            expected |= (uint32_t) (bytes[i] == 2) << i;
        }
        CHECK_EQUAL_U64(gpc_equal_bytes(bytes, count, 2), expected);
        CHECK_EQUAL_U64(gpc_equal_bytes(bytes, count, 0xFF), 0);
        bytes[count - 1] = 0xFF;
        CHECK_EQUAL_U64(gpc_equal_bytes(bytes, count, 0xFF), UINT32_C(1) << (count - 1));
        free(bytes);
    }
}

/* ---- json.h, which other tests read texts by --------------------------------------------------------------------- */

TEST(json_is_found_by_paths)
{
    static const char json[] =
        "{\"a, b\": [1, {\"c\": \"}\\\"]\"}, [], {}], \"c\": {\"a\": 20, \"aa\": 3}, \"d\": \"\"}";
    CHECK_EQUAL_U64(json_count(json, ""), 3);
    CHECK_EQUAL_U64(json_count(json, "a, b"), 4);
    CHECK_EQUAL_U64(json_count(json, "a, b/2") + json_count(json, "a, b/3"), 0);
    CHECK_EQUAL_U64(json_number(json, "a, b/0"), 1);
    CHECK_EQUAL_U64(json_number(json, "c/a"), 20);
    CHECK_EQUAL_U64(json_number(json, "c/aa"), 3);
    CHECK(json_is(json, "a, b/1/c", "}\"]") && json_is(json, "d", ""));
    CHECK(!json_is(json, "a, b/1/c", "}") && !json_is(json, "c/a", "20") && !json_is(json, "e", ""));
    CHECK(!json_find(json, "c/b") && !json_find(json, "a, b/4") && !json_find(json, "c/a/b"));
}
