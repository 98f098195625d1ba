/* harness.h: the test harness of the C tests: prints TAP, which meson reads (protocol: 'tap').
 *
 *     TEST(finds_what_was_put)
 *     {
 *         CHECK_EQUAL_U64(gpc_bitset_first(&set), 3);
 *     }
 *
 * The program runs the tests of its file in their order; harness.c has its main. BEFORE_TESTS and AFTER_TESTS, each
 * followed by a body, run once; AROUND_TESTS
 * runs before each test and behind the last one. A CHECK that fails prints its place and expression as a TAP comment,
 * on standard error, which `meson test --print-errorlogs` shows; it marks the running test as failed, and continues.
 * REQUIRE ends the test.
 */
#ifndef GPC_TESTS_HARNESS_H
#define GPC_TESTS_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct harness_test {
    const char *name;
    int line;
    void (*body)(void);
    struct harness_test *next;
} harness_test_t;

typedef struct {
    harness_test_t *first; /* of the file's tests */
    void (*before)(void), (*after)(void), (*around)(void);
    int argc; /* of main */
    char **argv;
    unsigned tests, failed_tests; /* so far */
    unsigned failures;            /* checks of the running test that failed */
    unsigned notes;               /* lines about failures */
    bool drawn;                   /* an exploration that failed */
} harness_t;

extern harness_t harness;

/* Most lines about failures. One exploration may be drawn (explorations.h), and few lines follow. */
enum {
    HARNESS_LINES = 40,
    HARNESS_DRAWING = 30,
    HARNESS_NOTES = HARNESS_LINES - HARNESS_DRAWING,
    HARNESS_NOTES_AFTER = 4
};

/* A line about a failure; after HARNESS_NOTES the names of the failed tests say enough. */
void __attribute__((format(printf, 1, 2))) harness_note(const char *format, ...);
void harness_fail(const char *file, int line, const char *what);
void harness_equal_u64(const char *file, int line, const char *what, uint64_t actual, uint64_t expected);
void harness_equal_i64(const char *file, int line, const char *what, int64_t actual, int64_t expected);
void harness_equal_text(const char *file, int line, const char *what, const char *actual, const char *expected);
void harness_add(harness_test_t *test);

/* clang-format off */
#define HARNESS_FUNCTION_(name, at_start)                                                                              \
    static void name(void);                                                                                            \
    static void __attribute__((constructor)) harness_knows_##name(void) { at_start; }                                  \
    static void name(void)
#define TEST(name)                                                                                                     \
    static void name(void);                                                                                            \
    static harness_test_t harness_test_##name = {#name, __LINE__, name, NULL};                                         \
    HARNESS_FUNCTION_(name, harness_add(&harness_test_##name))
#define BEFORE_TESTS HARNESS_FUNCTION_(before_tests, harness.before = before_tests)
#define AFTER_TESTS HARNESS_FUNCTION_(after_tests, harness.after = after_tests)
#define AROUND_TESTS HARNESS_FUNCTION_(around_tests, harness.around = around_tests)
/* clang-format on */

#define CHECK(condition)                                                                                               \
    ((condition) ? (void) 0 : harness_fail(__FILE__, __LINE__, "does not hold: " #condition))
#define CHECK_EQUAL_U64(actual, expected)                                                                              \
    harness_equal_u64(__FILE__, __LINE__, #actual, (uint64_t) (actual), (uint64_t) (expected))
#define CHECK_EQUAL_I64(actual, expected)                                                                              \
    harness_equal_i64(__FILE__, __LINE__, #actual, (int64_t) (actual), (int64_t) (expected))
#define CHECK_EQUAL_TEXT(actual, expected) harness_equal_text(__FILE__, __LINE__, #actual, (actual), (expected))
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            harness_fail(__FILE__, __LINE__, "does not hold: " #condition);                                            \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

#endif
