/* harness.c: runs the tests of a C test (harness.h). */
#include "tests/harness.h"

#include <stdarg.h>

harness_t harness;

/* By line: the order in which a program calls its constructors is not said. */
void
harness_add(harness_test_t *test)
{
    harness_test_t **at = &harness.first;
    while (*at && (*at)->line < test->line) {
        at = &(*at)->next;
    }
    test->next = *at;
    *at = test;
}

void
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

void
harness_fail(const char *file, int line, const char *what)
{
    harness.failures++;
    harness_note("%s:%d: %s", file, line, what);
}

void
harness_equal_u64(const char *file, int line, const char *what, uint64_t actual, uint64_t expected)
{
    if (actual != expected) {
        harness_fail(file, line, what);
        harness_note("    is %" PRIu64 " (0x%" PRIx64 "), should be %" PRIu64 " (0x%" PRIx64 ")", actual, actual,
                     expected, expected);
    }
}

void
harness_equal_i64(const char *file, int line, const char *what, int64_t actual, int64_t expected)
{
    if (actual != expected) {
        harness_fail(file, line, what);
        harness_note("    is %" PRId64 ", should be %" PRId64, actual, expected);
    }
}

void
harness_equal_text(const char *file, int line, const char *what, const char *actual, const char *expected)
{
    if (!actual || !expected || strcmp(actual, expected) != 0) {
        harness_fail(file, line, what);
        harness_note("    is \"%s\", should be \"%s\"", actual ? actual : "(null)", expected ? expected : "(null)");
    }
}

static void
call(void (*hook)(void))
{
    if (hook) {
        hook();
    }
}

static void
run_test(const harness_test_t *test)
{
    harness.failures = 0;
    call(harness.around);
    test->body();
    harness.tests++;
    harness.failed_tests += harness.failures != 0;
    printf("%s %u - %s\n", harness.failures == 0 ? "ok" : "not ok", harness.tests, test->name);
    fflush(stdout); /* keeps the output if the next test crashes */
}

/* TAP allows the plan at the end. A file without tests fails, and so does a check that fails outside of tests. */
int
main(int argc, char **argv)
{
    harness.argc = argc;
    harness.argv = argv;
    call(harness.before);
    unsigned outside = harness.failures;
    for (const harness_test_t *test = harness.first; test; test = test->next) {
        run_test(test);
    }
    call(harness.around);
    call(harness.after);
    printf("1..%u\n", harness.tests);
    return harness.failed_tests + outside == 0 && harness.tests != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
