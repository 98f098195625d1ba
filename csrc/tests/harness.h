/* harness.h: the test harness of the C tests: prints TAP, which meson reads (protocol: 'tap').
 *
 *     static void
 *     finds_what_was_put(void)
 *     {
 *         CHECK_EQUAL_U64(gpc_bitset_first(&set), 3);
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         RUN(finds_what_was_put);
 *         return harness_end();
 *     }
 *
 * A CHECK that fails prints its place and expression as a TAP comment, on standard error, which
 * `meson test --print-errorlogs` shows; it marks the running test as failed, and continues. REQUIRE ends the test. Each
 * test executable includes this header in one file, which owns the state.
 */
#ifndef GPC_TESTS_HARNESS_H
#define GPC_TESTS_HARNESS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned tests, failed_tests; /* so far */
    unsigned failures;            /* checks of the running test that failed */
    unsigned notes;               /* lines about failures */
    bool drawn;                   /* an exploration that failed */
} harness_t;

static harness_t harness;

/* Most lines about failures. One exploration may be drawn (explorations.h), and few lines follow. */
enum {
    HARNESS_LINES = 40,
    HARNESS_DRAWING = 30,
    HARNESS_NOTES = HARNESS_LINES - HARNESS_DRAWING,
    HARNESS_NOTES_AFTER = 4
};

/* A line about a failure; after HARNESS_NOTES the names of the failed tests say enough. */
static inline void __attribute__((format(printf, 1, 2)))
harness_note(const char *format, ...)
{
    char text[400];
    if (++harness.notes > HARNESS_NOTES) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void) vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "# %s\n", text);
}

static inline void
harness_fail(const char *file, int line, const char *what)
{
    harness.failures++;
    harness_note("%s:%d: %s", file, line, what);
}

static inline void
harness_equal_u64(const char *file, int line, const char *what, uint64_t actual, uint64_t expected)
{
    if (actual == expected) {
        return;
    }
    harness_fail(file, line, what);
    harness_note("    is %" PRIu64 " (0x%" PRIx64 "), should be %" PRIu64 " (0x%" PRIx64 ")", actual, actual, expected,
                 expected);
}

static inline void
harness_equal_i64(const char *file, int line, const char *what, int64_t actual, int64_t expected)
{
    if (actual == expected) {
        return;
    }
    harness_fail(file, line, what);
    harness_note("    is %" PRId64 ", should be %" PRId64, actual, expected);
}

static inline void
harness_equal_text(const char *file, int line, const char *what, const char *actual, const char *expected)
{
    if (actual != NULL && expected != NULL && strcmp(actual, expected) == 0) {
        return;
    }
    harness_fail(file, line, what);
    harness_note("    is \"%s\", should be \"%s\"", actual == NULL ? "(null)" : actual,
                 expected == NULL ? "(null)" : expected);
}

static inline void
harness_run(const char *name, void (*test)(void))
{
    harness.failures = 0;
    test();
    harness.tests++;
    if (harness.failures != 0) {
        harness.failed_tests++;
    }
    printf("%s %u - %s\n", harness.failures == 0 ? "ok" : "not ok", harness.tests, name);
    fflush(stdout); /* keeps the output if the next test crashes */
}

/* TAP allows the plan at the end. A file without tests fails. */
static inline int
harness_end(void)
{
    printf("1..%u\n", harness.tests);
    return harness.failed_tests == 0 && harness.tests != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define RUN(test) harness_run(#test, test)

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
