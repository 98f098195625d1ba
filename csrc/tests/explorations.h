/* explorations.h: explorations in C tests: what a test expects of the result, and what a failing one prints.
 *
 *     EXPLORE(&what, .never = "1 0 _ _");
 *
 * explores, and checks that the result is complete and without violations, or what else the test expects. A failing
 * exploration prints one line, and the first one of an executable its protocol, program, setting and violation as
 * well, drawn as `gpucoh verify` draws it (tools/draw_exploration.py).
 *
 * An outcome is written as the values that loads and atomics read, thread by thread, and then the final values of the
 * variables; `_` is any value. */
#ifndef GPC_TESTS_EXPLORATIONS_H
#define GPC_TESTS_EXPLORATIONS_H

#include "harness.h"
#include "tests/draw_exploration.h"

/* An exploration, and what a test expects of it. A member that is NULL or 0 expects nothing, but that there is neither
 * violation nor limit. */
typedef struct {
    const gpc_explore_t *what;
    const char *seen, *never; /* an outcome; no outcome */
    const char *only;         /* all outcomes */
    const char *violation;    /* its kind */
    const char *says;         /* a part of its description */
    uint32_t moves;           /* kinds of moves that its trace has, a bit each (gpc_move_kind_t) */
    const char *limit;        /* why the search ended early */
    uint32_t states;
} exploration_expected_t;

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static inline uint32_t
exploration_values(const char *pattern)
{
    uint32_t count = 0;
    for (const char *at = pattern; *at; count++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return count;
}

/* The pattern has as many values as the outcome. */
static inline bool
exploration_matches(const char *pattern, const uint32_t *row)
{
    const char *at = pattern;
    for (uint32_t i = 0; *at; i++) {
        if (*at != '_' && strtoul(at, NULL, 10) != row[i]) {
            return false;
        }
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return true;
}

static inline const uint32_t *
exploration_row(const gpc_exploration_t *found, uint32_t number)
{
    return &found->outcomes.rows[(size_t) number * found->outcomes.width];
}

/* The number of outcomes as the pattern says. */
static inline uint32_t
exploration_count(const gpc_exploration_t *found, const char *pattern)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found->outcomes.count; i++) {
        count += exploration_matches(pattern, exploration_row(found, i));
    }
    return count;
}

/* Whether both have the same outcomes, in any order. */
static inline bool
exploration_has_outcomes_of(const gpc_exploration_t *self, const gpc_exploration_t *other)
{
    const gpc_outcomes_t *these = &self->outcomes, *those = &other->outcomes;
    for (uint32_t i = 0; i < these->count; i++) {
        bool there = false;
        for (uint32_t k = 0; k < those->count && these->width == those->width; k++) {
            there |= memcmp(exploration_row(self, i), exploration_row(other, k), these->width * sizeof(uint32_t)) == 0;
        }
        if (!there) {
            return false;
        }
    }
    return these->count == those->count;
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* The first pattern that has not as many values as outcomes have; NULL: none. */
static inline const char *
exploration_misfit(const gpc_exploration_t *found, const exploration_expected_t *expected)
{
    const char *const patterns[] = {expected->seen, expected->never, expected->only};
    for (uint32_t i = 0; i < GPC_COUNT_OF(patterns); i++) {
        if (patterns[i] && exploration_values(patterns[i]) != found->outcomes.width) {
            return patterns[i];
        }
    }
    return NULL;
}

/* Draws what was found. An outcome that is not expected has no trace: the same is explored again, and such outcomes are
 * violations. */
static inline bool
exploration_draw(const gpc_exploration_t *found, const exploration_expected_t *expected)
{
    uint32_t width = found->outcomes.width;
    uint32_t *allowed = malloc((size_t) found->outcomes.count * width * sizeof(*allowed) + 1);
    gpc_explore_t again = *expected->what;
    gpc_exploration_t drawn = {0};
    bool fits = allowed && !exploration_misfit(found, expected), done;

    again.allowed = allowed;
    again.allowed_width = width;
    for (uint32_t i = 0; i < found->outcomes.count && fits; i++) {
        const uint32_t *row = exploration_row(found, i);
        if ((!expected->never || !exploration_matches(expected->never, row)) &&
            (!expected->only || exploration_matches(expected->only, row))) {
            memcpy(&allowed[(size_t) again.num_allowed++ * width], row, width * sizeof(*row));
        }
    }
    fits = fits && found->complete && again.num_allowed < found->outcomes.count;
    fits = fits && gpc_explore_search(&again, &drawn) == 0;
    done = draw_exploration(expected->what, fits ? &drawn : found, HARNESS_DRAWING);
    gpc_exploration_free(&drawn);
    free(allowed);
    return done;
}

/* Prints why an exploration fails, and draws it if none was drawn before. */
static inline void
exploration_fail(const char *file, int line, const gpc_exploration_t *found, const exploration_expected_t *expected,
                 const char *fault)
{
    char text[300];

    (void) snprintf(text, sizeof(text), "%s: %s", expected->what->protocol->id, fault);
    harness_fail(file, line, text);
    if (harness.drawn) {
        return;
    }
    harness.drawn = true;
    if (!exploration_draw(found, expected)) {
        harness_note("    `meson test --print-errorlogs` draws it");
    }
    if (harness.notes < HARNESS_NOTES - HARNESS_NOTES_AFTER) {
        harness.notes = HARNESS_NOTES - HARNESS_NOTES_AFTER;
    }
}

/* ---- expectations ------------------------------------------------------------------------------------------------ */

/* The first difference from what is expected of the search, in `fault`. */
static inline bool
exploration_search_differs(const gpc_exploration_t *found, const exploration_expected_t *expected, char *fault,
                           size_t size)
{
    const char *what = found->what.bytes ? found->what.bytes : "", *limit = found->limit.bytes;
    const char *kind = found->violation ? found->violation : "no violation";

    if (strcmp(kind, expected->violation ? expected->violation : "no violation") != 0) {
        (void) snprintf(fault, size, "%s: %.160s", kind, what);
    } else if (expected->says && !strstr(what, expected->says)) {
        (void) snprintf(fault, size, "\"%s\" is not said, but: %.120s", expected->says, what);
    } else if ((found->trace_moves & expected->moves) != expected->moves) {
        (void) snprintf(fault, size, "moves 0x%x, not 0x%x", found->trace_moves, expected->moves);
    } else if (expected->limit ? !limit || strcmp(limit, expected->limit) != 0 : found->limit.length != 0) {
        (void) snprintf(fault, size, "limit: %.160s", limit ? limit : "none");
    } else if (found->complete != (!expected->violation && !expected->limit)) {
        (void) snprintf(fault, size, "%s", found->complete ? "complete" : "not complete");
    } else if (expected->states && found->states != expected->states) {
        (void) snprintf(fault, size, "%" PRIu32 " states, not %" PRIu32, found->states, expected->states);
    } else {
        return false;
    }
    return true;
}

static inline bool
exploration_outcomes_differ(const gpc_exploration_t *found, const exploration_expected_t *expected, char *fault,
                            size_t size)
{
    const char *misfit = exploration_misfit(found, expected);

    if (misfit) {
        (void) snprintf(fault, size, "outcome %s: outcomes have %" PRIu32 " values", misfit, found->outcomes.width);
    } else if (expected->seen && !exploration_count(found, expected->seen)) {
        (void) snprintf(fault, size, "no outcome %s", expected->seen);
    } else if (expected->never && exploration_count(found, expected->never)) {
        (void) snprintf(fault, size, "outcome %s", expected->never);
    } else if (expected->only &&
               (exploration_count(found, expected->only) != found->outcomes.count || found->outcomes.count == 0)) {
        (void) snprintf(fault, size, "outcomes other than %s", expected->only);
    } else {
        return false;
    }
    return true;
}

/* Explores; the caller frees the result. */
static inline void
exploration_make(const char *file, int line, const exploration_expected_t *expected, gpc_exploration_t *found)
{
    char fault[240];

    if (gpc_explore_search(expected->what, found) != 0) {
        harness_fail(file, line, found->failure.text);
    } else if (exploration_search_differs(found, expected, fault, sizeof(fault)) ||
               exploration_outcomes_differ(found, expected, fault, sizeof(fault))) {
        exploration_fail(file, line, found, expected, fault);
    }
}

/* The number of states. */
static inline uint32_t
exploration_check(const char *file, int line, const exploration_expected_t *expected)
{
    gpc_exploration_t found;
    exploration_make(file, line, expected, &found);
    uint32_t states = found.states;
    gpc_exploration_free(&found);
    return states;
}

/* An exploration, and the members of exploration_expected_t that are expected. */
#define EXPLORE(...) exploration_check(__FILE__, __LINE__, &(exploration_expected_t){.what = __VA_ARGS__})
/* The same; the caller frees the result. */
#define EXPLORE_TO(found, ...)                                                                                         \
    exploration_make(__FILE__, __LINE__, &(exploration_expected_t){.what = __VA_ARGS__}, found)

#endif
