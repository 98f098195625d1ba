/* test_explorations.c: do explorations of C tests fail when they should, and does the first failure of an executable
 * print protocol, program, setting and drawing, all failures together at most HARNESS_LINES lines? */
#define _DEFAULT_SOURCE /* fork */
#include <sys/wait.h>
#include <unistd.h>

#include "explorations.h"
#include "harness.h"
#include "protocols/registry.h"
#include "small_programs.h"

#define ASKED ASK(mp, .protocol = gpc_protocol_find("no-l1"), .rule = GPC_RULE_RC, .evictions = 3)

typedef struct {
    char text[16384];
    unsigned lines;
    int failures; /* checks of the function that failed */
} printed_t;

/* What the function prints on standard error, in a process and a harness of its own. */
static void
run_apart(void (*function)(void), printed_t *printed)
{
    size_t length = 0;
    ssize_t count = 1;
    int ends[2], status = 0;

    *printed = (printed_t){.failures = -1};
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        harness = (harness_t){0};
        (void) dup2(ends[1], STDERR_FILENO);
        (void) close(ends[0]);
        (void) close(ends[1]);
        function();
        _exit((int) harness.failures);
    }
    (void) close(ends[1]);
    while (count > 0 && length < sizeof(printed->text) - 1) {
        count = read(ends[0], printed->text + length, sizeof(printed->text) - 1 - length);
        length += count > 0 ? (size_t) count : 0;
    }
    (void) close(ends[0]);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    printed->failures = WEXITSTATUS(status);
    for (size_t i = 0; i < length; i++) {
        printed->lines += printed->text[i] == '\n';
    }
}

static void
hold(void)
{
    gpc_explore_t what = ASKED;
    EXPLORE(&what);
    EXPLORE(&what, .seen = "1 0 1 1", .never = "2 _ _ _");
    EXPLORE(&what, .only = "_ _ 1 1");
    CHECK(EXPLORE(&what) > 10);
    what.max_states = 5;
    EXPLORE(&what, .limit = "more than 5 states");
}

static void
fail(void)
{
    gpc_explore_t what = ASKED;
    gpc_exploration_t found;
    EXPLORE(&what, .seen = "2 _ _ _");
    EXPLORE(&what, .never = "1 0 _ _");
    EXPLORE(&what, .only = "_ 1 _ _");
    EXPLORE(&what, .never = "1 0 _");       /* outcomes have four values */
    EXPLORE(&what, .never = "2 0 _ _ _ _"); /* so does a pattern that would match none */
    EXPLORE(&what, .limit = "more than 5 states");
    EXPLORE(&what, .violation = "deadlock");
    EXPLORE(&what, .states = 1);
    EXPLORE_TO(&found, &what, .only = "0 0 _ _");
    gpc_exploration_free(&found);
    what.allowed = (const uint32_t[]){0, 0, 1, 1};
    what.num_allowed = 1;
    what.allowed_width = 4;
    EXPLORE(&what);
    EXPLORE(&what, .violation = "outcome", .says = "something else");
    EXPLORE(&what, .violation = "outcome", .moves = 1u << 31);
    what.rule = GPC_RULE_HRF;
    EXPLORE(&what);
}

TEST(every_expectation_is_checked)
{
    printed_t printed;
    run_apart(hold, &printed);
    CHECK_EQUAL_I64(printed.failures, 0);
    CHECK_EQUAL_TEXT(printed.text, "");
    run_apart(fail, &printed);
    CHECK_EQUAL_I64(printed.failures, 13);
    CHECK(printed.lines <= HARNESS_LINES);
}

static void
fail_by_outcomes(void)
{
    gpc_explore_t what = ASKED;
    for (int i = 0; i < 50; i++) {
        EXPLORE(&what, .never = "1 0 _ _");
    }
}

/* `meson test` sets GPUCOH_DRAW; an executable that is started otherwise says what draws. */
TEST(one_failure_is_drawn)
{
    static const char *const parts[] = {
        "test_explorations.c:",
        ": no-l1: outcome 1 0 _ _\n#   protocol no-l1, consistency rc\n#   program 0: st x 1; st y 1 | 1: ld y; ld x\n",
        "ld x\n#   setting 2 cores, lines x y, 3 evictions\n#   outcome: ",
        "#   outcome: the memory model does not allow these values\n",
        " core 0 ",
        " L2 of x ",
        "[0: st x 1]",
        "thread 1 reads y = 1",
    };
    printed_t printed;
    run_apart(fail_by_outcomes, &printed);
    CHECK_EQUAL_I64(printed.failures, 50);
    CHECK(printed.lines > 1 && printed.lines <= HARNESS_LINES);
    for (uint32_t i = 0; i < GPC_COUNT_OF(parts) && getenv("GPUCOH_DRAW"); i++) {
        CHECK(strstr(printed.text, parts[i]) != NULL);
    }
    const char *first = strstr(printed.text, "protocol no-l1");
    CHECK(!first || !strstr(first + 1, "protocol no-l1"));
    CHECK((strstr(printed.text, "draws it") != NULL) == !getenv("GPUCOH_DRAW"));
}
