/* test_checks.c: do the parts of the monitors and of the race detector decide correctly? Whole runs:
 * tests/verification. */
#include <string.h>

#include "check/monitor/shadow.h"
#include "check/race/view.h"
#include "controller/lease.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

/* ---- what a word holds and held ---------------------------------------------------------------------------------- */

enum { WORD = 4096, FIRST = 7, SECOND = 8, THIRD = 9 };

/* FIRST from the beginning, SECOND from cycle 100 on, THIRD from cycle 200 on. */
static void
write_three(gpc_shadow_t *shadow)
{
    REQUIRE(gpc_shadow_init(shadow) == 0);
    CHECK_EQUAL_I64(gpc_shadow_write(shadow, WORD, FIRST, 0), 0);
    CHECK_EQUAL_I64(gpc_shadow_write(shadow, WORD, SECOND, 100), 0);
    CHECK_EQUAL_I64(gpc_shadow_write(shadow, WORD, THIRD, 200), 0);
}

static gpc_value_verdict_t
judge(const gpc_shadow_t *shadow, uint32_t value, gpc_cycle_t from, uint64_t least)
{
    uint64_t version;
    return gpc_shadow_judge(shadow, WORD, value, from, least, &version);
}

TEST(a_hit_reads_what_the_word_holds)
{
    gpc_shadow_t shadow;
    write_three(&shadow);
    CHECK_EQUAL_I64(judge(&shadow, THIRD, GPC_NEVER, 0), GPC_VALUE_RIGHT);
    CHECK_EQUAL_I64(judge(&shadow, SECOND, GPC_NEVER, 0), GPC_VALUE_WRONG);
    gpc_shadow_free(&shadow);
}

TEST(an_answer_reads_what_the_word_held_since)
{
    gpc_shadow_t shadow;
    write_three(&shadow);
    CHECK_EQUAL_I64(judge(&shadow, SECOND, 200, 0), GPC_VALUE_RIGHT);
    CHECK_EQUAL_I64(judge(&shadow, SECOND, 201, 0), GPC_VALUE_WRONG);
    CHECK_EQUAL_I64(judge(&shadow, FIRST, 100, 0), GPC_VALUE_RIGHT);
    CHECK_EQUAL_I64(judge(&shadow, FIRST, 101, 0), GPC_VALUE_WRONG);
    CHECK_EQUAL_I64(judge(&shadow, 99, 0, 0), GPC_VALUE_WRONG);
    gpc_shadow_free(&shadow);
}

TEST(what_a_reader_has_seen_bounds_what_it_may_read)
{
    gpc_shadow_t shadow;
    write_three(&shadow);
    CHECK_EQUAL_I64(judge(&shadow, SECOND, 50, 2), GPC_VALUE_RIGHT);
    CHECK_EQUAL_I64(judge(&shadow, SECOND, 50, 3), GPC_VALUE_OLD);
    CHECK_EQUAL_I64(judge(&shadow, THIRD, 50, 3), GPC_VALUE_RIGHT);
    gpc_shadow_free(&shadow);
}

TEST(a_value_that_came_back_counts_as_its_first_version)
{
    gpc_shadow_t shadow;
    uint64_t version = 0;
    write_three(&shadow);
    CHECK_EQUAL_I64(gpc_shadow_write(&shadow, WORD, SECOND, 300), 0);
    CHECK_EQUAL_I64(gpc_shadow_judge(&shadow, WORD, SECOND, 150, 0, &version), GPC_VALUE_RIGHT);
    CHECK_EQUAL_U64(version, 2);
    CHECK_EQUAL_I64(gpc_shadow_judge(&shadow, WORD, SECOND, 150, 3, &version), GPC_VALUE_RIGHT);
    CHECK_EQUAL_U64(version, 4);
    gpc_shadow_free(&shadow);
}

TEST(too_many_writes_are_not_judged)
{
    gpc_shadow_t shadow;
    write_three(&shadow);
    for (uint64_t i = 0; i < GPC_SHADOW_WRITES; i++) {
        CHECK(gpc_shadow_write(&shadow, WORD + 4, (uint32_t) i + 1, 300) == 0);
    }
    CHECK_EQUAL_I64(judge(&shadow, SECOND, 150, 0), GPC_VALUE_UNDECIDED);
    CHECK_EQUAL_I64(judge(&shadow, THIRD, 150, 0), GPC_VALUE_RIGHT);
    gpc_shadow_free(&shadow);
}

TEST(fresh_memory_reads_zero)
{
    gpc_shadow_t shadow;
    write_three(&shadow);
    CHECK_EQUAL_U64(gpc_shadow_value(&shadow, 1 << 20), 0);
    CHECK(gpc_shadow_line(&shadow, 1 << 20) == NULL);
    CHECK_EQUAL_U64(gpc_shadow_line(&shadow, WORD)[0], THIRD);
    gpc_shadow_forget(&shadow);
    CHECK_EQUAL_U64(gpc_shadow_value(&shadow, WORD), 0);
    gpc_shadow_free(&shadow);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

static gpc_view_t *
view_of(const gpc_moment_t *moments, uint32_t count)
{
    gpc_view_t *view = NULL;
    for (uint32_t i = 0; i < count; i++) {
        CHECK_EQUAL_I64(gpc_view_add(&view, moments[i]), 0);
    }
    return view;
}

TEST(a_view_knows_up_to_a_time)
{
    gpc_view_t *view = view_of((gpc_moment_t[]){{5, 3}, {1, 2}, {9, 1}, {5, 4}}, 4);
    CHECK(gpc_view_knows(view, (gpc_moment_t){5, 4}) && gpc_view_knows(view, (gpc_moment_t){1, 1}));
    CHECK(!gpc_view_knows(view, (gpc_moment_t){5, 5}) && !gpc_view_knows(view, (gpc_moment_t){2, 1}));
    CHECK(!gpc_view_knows(NULL, (gpc_moment_t){5, 1}));
    CHECK_EQUAL_U64(view->count, 3);
    gpc_view_drop(view);
}

TEST(a_join_knows_what_either_knows)
{
    gpc_view_t *a = view_of((gpc_moment_t[]){{1, 5}, {3, 1}}, 2), *b = view_of((gpc_moment_t[]){{1, 2}, {2, 7}}, 2);
    CHECK_EQUAL_I64(gpc_view_join(&a, b), 0);
    CHECK_EQUAL_U64(a->count, 3);
    CHECK(gpc_view_knows(a, (gpc_moment_t){1, 5}) && gpc_view_knows(a, (gpc_moment_t){2, 7}) &&
          gpc_view_knows(a, (gpc_moment_t){3, 1}));
    CHECK(!gpc_view_knows(b, (gpc_moment_t){3, 1})); /* the other is unchanged */
    gpc_view_drop(a);
    gpc_view_drop(b);
}

TEST(a_join_with_less_makes_nothing_new)
{
    gpc_view_t *a = view_of((gpc_moment_t[]){{1, 5}, {3, 1}}, 2), *b = view_of((gpc_moment_t[]){{1, 2}}, 1);
    gpc_view_t *before = a;
    CHECK_EQUAL_I64(gpc_view_join(&a, b), 0);
    CHECK(a == before);
    CHECK_EQUAL_I64(gpc_view_join(&b, a), 0);
    CHECK(b == a && a->shares == 2);
    gpc_view_drop(a);
    gpc_view_drop(b);
}

/* ---- what protocols declare -------------------------------------------------------------------------------------- */

TEST(every_protocol_with_a_model_is_held_to_something)
{
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        const gpc_protocol_t *protocol = gpc_protocol_at(i);
        const gpc_watched_t *watched = protocol->watched;
        bool promises = strcmp(protocol->model[protocol->standard_rule], "none") != 0;
        if (!watched || (promises && watched->promise == GPC_PROMISE_NOTHING)) {
            harness_fail(__FILE__, __LINE__, protocol->id);
            continue;
        }
        CHECK((watched->readable & ~watched->copies) == 0 && (watched->owners & ~watched->readable) == 0);
        gpc_watched_t whole = gpc_watched_of(protocol);
        CHECK(!whole.lease == !whole.leased);
    }
}

/* ---- leases: no L1 is invalidated -------------------------------------------------------------------------------- */

TEST(an_invalidation_under_leases_is_reported)
{
    bench_t it =
        BENCH_WITH(4096, .machine = &test_fermi, .protocol = &gpc_protocol_tc_weak, .check = GPC_CHECK_PROTOCOL);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), 0);

    gpc_message_info_t messages[16];
    gpc_protocol_t forged = *it.gpu->protocol;
    REQUIRE(forged.num_messages <= GPC_COUNT_OF(messages));
    memcpy(messages, forged.messages, forged.num_messages * sizeof(*messages));
    messages[1].traffic_class = GPC_CLASS_INV; /* GETX */
    forged.messages = messages;
    it.gpu->protocol = &forged;
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "leases need no invalidations") != NULL);
}
