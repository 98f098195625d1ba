/* test_planted.c: do rows of planted bugs edit what they name, and does a wrong row end the process with one clear
 * line? */
#define _DEFAULT_SOURCE /* fork */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fresh.h"
#include "harness.h"
#include "protocols/registry.h"
#include "tests/mutants_parts.h"

GPC_ACTION(act_nothing, "do nothing")
{
    (void) x;
    return GPC_OK;
}

static gpc_event_id_t
first_event(const gpc_step_t *x)
{
    (void) x;
    return 0;
}

/* ---- right rows -------------------------------------------------------------------------------------------------- */

/* Checks a cell of gpu-vi's L1 after one row's edits: "act_a, act_b -> V". */
static void
check_cell(const mutant_edit_t *edits, const char *state, const char *event, const char *expected)
{
    const mutant_info_t info = {"gpu-vi!x", "a bug", NULL, edits};
    uint8_t s = 0, e = 0;

    mutant_t *made = mutant_make(&info, &gpc_protocol_gpu_vi);
    const gpc_table_t *table = made->protocol.controllers[0]->tables[0];
    while (!mutant_is_named(table->states[s].name, state)) {
        s++;
    }
    while (!mutant_is_named(table->events[e].name, event)) {
        e++;
    }
    const gpc_cell_t *cell = gpc_fsm_declared_cell(table, s, e);
    gpc_text_t *text = fresh_text();
    gpc_fsm_print_actions(text, cell);
    gpc_text_add(text, cell->kind == GPC_CELL_GO ? " -> %s" : " held", table->states[cell->next].name);
    CHECK_EQUAL_TEXT(text->bytes, expected);
    free(made);
}
#define EDITS(...) ((const mutant_edit_t[]) {__VA_ARGS__, {0}})

TEST(edits_change_the_cells_that_they_name)
{
    check_cell(EDITS(DROP("L1", "V IV", "INV", "acknowledge")), "V", "INV", "act_count_invalidation -> L1_I");
    check_cell(EDITS(DROP("L1", "V IV", "INV", "acknowledge")), "IV", "INV",
               "act_count_invalidation, act_release_way -> L1_II");
    check_cell(EDITS(REPLACE("L1", "V II", "ATOMIC", "send_atomic", act_nothing)), "V", "ATOMIC",
               "act_release_way, act_nothing -> L1_II");
    check_cell(EDITS(ADD("L1", "V", "LOAD INV", act_nothing)), "V", "LOAD", "act_hit, act_nothing -> L1_V");
    check_cell(EDITS(SWAP("L1", "V", "STORE", "write_line", "write_through")), "V", "STORE",
               "act_write_through, act_write_line -> L1_VM");
    check_cell(EDITS(COPY("L1", "II", "LOAD", "IV", "LOAD")), "II", "LOAD", "act_merge_load -> L1_IV");
    check_cell(EDITS(COPY("L1", "II", "LOAD", "IV", "LOAD"), STAY("L1", "II", "LOAD")), "II", "LOAD",
               "act_merge_load -> L1_II");
    check_cell(EDITS(NEXT("L1", "I IV", "EVICT", "V")), "IV", "EVICT", " -> L1_V");
    check_cell(EDITS(HOLD("L1", "V", "LOAD")), "V", "LOAD", " held");
}

TEST(edits_change_protocols)
{
    const mutant_info_t info = {"mesi-wt!x", "a bug", "the paper's words",
                                EDITS(CHOOSE("exclusive", "on"), SMALL("exclusive", 0), UNORDERED("acknowledgement"),
                                      CLASSIFY("L1", first_event), WITH(order.same_line, true))};
    const gpc_protocol_t *base = &gpc_protocol_mesi_wt;

    mutant_t *made = mutant_make(&info, base);
    CHECK_EQUAL_TEXT(made->protocol.id, "mesi-wt!x");
    CHECK_EQUAL_TEXT(made->protocol.paper, "the paper's words");
    CHECK_EQUAL_I64(made->protocol.options[0].standard, 1);
    CHECK(made->protocol.options[0].small.given && made->protocol.options[0].small.value == 0);
    CHECK(base->networks[3].ordered && !made->protocol.networks[3].ordered);
    CHECK(!base->order.same_line && made->protocol.order.same_line);
    CHECK(base->order.stores_block == made->protocol.order.stores_block);
    const gpc_table_t *lines = made->protocol.controllers[0]->tables[0];
    CHECK(lines->classify == first_event);
    CHECK(lines->base == base->controllers[0]->variants[0].by); /* exclusive=on chooses it */
    free(made);
}

/* ---- wrong rows -------------------------------------------------------------------------------------------------- */

/* In a process of its own; `said` is what it printed. */
static void
make_apart(const mutant_info_t *info, char said[static 256])
{
    int ends[2], status = 0;
    ssize_t length = 0, more;

    said[0] = 0;
    REQUIRE(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0}; /* no core dump */
        (void) setrlimit(RLIMIT_CORE, &none);
        (void) dup2(ends[1], STDERR_FILENO);
        (void) mutant_make(info, &gpc_protocol_mesi_wt);
        _exit(0);
    }
    (void) close(ends[1]);
    while ((more = read(ends[0], said + length, (size_t) (255 - length))) > 0) {
        length += more;
    }
    said[length] = 0;
    (void) close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
}

TEST(a_wrong_row_ends_the_process)
{
    const struct {
        const char *id;
        const mutant_edit_t *edits;
        const char *says;
    } rows[] = {
        {"mesi-wt", EDITS(UNORDERED("request")), "mesi-wt: no name after the base protocol's id and '!'"},
        {"mesi-wt!x", EDITS(STAY("L7", "S", "LOAD")), "mesi-wt!x: no table L7"},
        {"mesi-wt!x", EDITS(STAY("L1", "S Q", "LOAD")), "mesi-wt!x: table L1 has no state Q"},
        {"mesi-wt!x", EDITS(STAY("L1", "S", "LOAD FETCH")), "mesi-wt!x: table L1 has no event FETCH"},
        {"mesi-wt!x", EDITS(STAY("L1", "", "LOAD")), "mesi-wt!x: table L1: no states or no events"},
        {"mesi-wt!x", EDITS(STAY("L1", "S", " ")), "mesi-wt!x: table L1: no states or no events"},
        {"mesi-wt!x", EDITS(NEXT("L1", "S", "LOAD", "Q")), "mesi-wt!x: table L1 has no state Q"},
        {"mesi-wt!x", EDITS(COPY("L1", "S", "LOAD", "Q", "LOAD")), "mesi-wt!x: table L1 has no state Q"},
        {"mesi-wt!x", EDITS(COPY("L1", "S", "LOAD", "S", "FETCH")), "mesi-wt!x: table L1 has no event FETCH"},
        {"mesi-wt!x", EDITS(HOLD("L1", "S", "FETCH")), "mesi-wt!x: table L1 has no event FETCH"},
        {"mesi-wt!x", EDITS(CLASSIFY("L7", first_event)), "mesi-wt!x: no table L7"},
        {"mesi-wt!x", EDITS(DROP("L1", "S", "LOAD", "fly")), "mesi-wt!x: table L1, state S, event LOAD: no action fly"},
        {"mesi-wt!x", EDITS(REPLACE("L1", "S", "LOAD", "fly", act_nothing)),
         "mesi-wt!x: table L1, state S, event LOAD: no action fly"},
        {"mesi-wt!x", EDITS(SWAP("L1", "S", "LOAD", "hit", "fly")),
         "mesi-wt!x: table L1, state S, event LOAD: no action fly"},
        {"mesi-wt!x",
         EDITS(ADD("L1", "S", "LOAD", act_nothing), ADD("L1", "S", "LOAD", act_nothing),
               ADD("L1", "S", "LOAD", act_nothing), ADD("L1", "S", "LOAD", act_nothing),
               ADD("L1", "S", "LOAD", act_nothing), ADD("L1", "S", "LOAD", act_nothing)),
         "mesi-wt!x: table L1, state S, event LOAD: more than 6 actions"},
        {"mesi-wt!x", EDITS(CHOOSE("colour", "on")), "mesi-wt!x: no option colour"},
        {"mesi-wt!x", EDITS(CHOOSE("exclusive", "red")), "mesi-wt!x: option exclusive has no value red"},
        {"mesi-wt!x", EDITS(SMALL("colour", 1)), "mesi-wt!x: no option colour"},
        {"mesi-wt!x", EDITS(UNORDERED("post")), "mesi-wt!x: no network post"},
        {"mesi-wt!x", EDITS(UNORDERED("unblock")), "mesi-wt!x: network unblock is unordered anyway"},
        {"mesi-wt!x", EDITS(WITH(order.same_line, false)), "mesi-wt!x: order.same_line has that value anyway"},
    };
    char said[256], expected[256];

    for (uint32_t i = 0; i < GPC_COUNT_OF(rows); i++) {
        const mutant_info_t info = {rows[i].id, "a bug", NULL, rows[i].edits};
        make_apart(&info, said);
        (void) snprintf(expected, sizeof(expected), "mutants: %s\n", rows[i].says);
        CHECK_EQUAL_TEXT(said, expected);
    }
}
