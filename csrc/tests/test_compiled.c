/* test_compiled.c: do compiled tables do what interpreting their cells does? Each protocol is explored both ways. A state is that of all
 * caches, transactions and messages: a cell that acts otherwise gives other states. Every cell, also those that these programs do not
 * enter: test_compiled_cells.c. */
#include <string.h>

#include "check/explore.h"
#include "controller/protocol.h"
#include "protocols/registry.h"
#include "tests/harness.h"
#include "tests/small_programs.h"

enum { STATES = 1000, MAX_CELLS = 1024 };

static const gpc_explore_thread_t stores[] = {THREAD(0, ST(X, 1), LD(Y), LD(X)), THREAD(1, LD(X), ST(Y, 1), ST(X, 2))};
static const gpc_explore_thread_t atomics[] = {THREAD(0, INC(X), LD(X), ST(X, 7)), THREAD(1, LD(X), INC(X), INC(Y))};
static const gpc_explore_thread_t ordered[] = {THREAD(0, ST(X, 1), ST_RELEASE(Y, 1), LD(X)),
                                               THREAD(1, LD(X), LD_ACQUIRE(Y), LD(X), F, ST(X, 2))};
static const gpc_explore_thread_t launches[] = {THREAD(0, ST(X, 1), NEXT_KERNEL, LD_READ_ONLY(X), LD(Y)),
                                                THREAD(1, LD(Y), NEXT_KERNEL, LD_READ_ONLY(X), ST(Y, 1))};
static const gpc_explore_thread_t shared[] = {THREAD(0, LD(X), ST(X, 1)), THREAD(0, LD(X), INC(X)),
                                              THREAD(1, LD(X), ST(Y, 1))};

typedef struct {
    const gpc_explore_thread_t *threads;
    uint32_t count, warm;
    bool packed, tight;
} program_t;

#define PROGRAM(threads, ...) {threads, sizeof(threads) / sizeof(*threads), __VA_ARGS__}
static const program_t programs[] = {PROGRAM(stores, 0, false, false),  PROGRAM(stores, 15, true, false),
                                     PROGRAM(stores, 0, false, true),   PROGRAM(atomics, 15, false, false),
                                     PROGRAM(atomics, 0, true, true),   PROGRAM(ordered, 15, false, false),
                                     PROGRAM(ordered, 0, true, true),   PROGRAM(launches, 12, false, false),
                                     PROGRAM(launches, 15, true, true), PROGRAM(shared, 5, false, true)};

/* Cells of the protocol's tables that were entered, over all its explorations. */
static bool entered[16][MAX_CELLS];

static void
note_cells(const gpc_protocol_t *protocol, const char *result)
{
    uint32_t row = 0;
    const char *at = strstr(result, "\"cells\": {");
    for (uint32_t c = 0; at && protocol->controllers[c]; c++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[c]->tables[t]; t++, row++) {
            at = strchr(at, '[');
            while (at && *at != ']') {
                entered[row][strtoul(at + 1, (char **) &at, 10)] = true;
            }
        }
    }
}

static void
explore_both_ways(const gpc_protocol_t *protocol, const program_t *program, const gpc_option_value_t *options,
                  uint32_t num_options)
{
    gpc_text_t interpreted, compiled;
    gpc_explore_t what = {.protocol = protocol->id,
                          .rule = GPC_RULE_DEFAULT,
                          .options = options,
                          .num_options = num_options,
                          .cores = 2,
                          .variables = 2,
                          .num_threads = program->count,
                          .threads = program->threads,
                          .warm = program->warm,
                          .evictions = 2,
                          .packed = program->packed,
                          .tight = program->tight,
                          .max_states = STATES};
    gpc_text_init(&interpreted);
    gpc_text_init(&compiled);
    CHECK_EQUAL_I64(gpc_explore(&what, &interpreted), 0);
    what.compiled = true;
    CHECK_EQUAL_I64(gpc_explore(&what, &compiled), 0);
    CHECK(strstr(interpreted.bytes, "\"violations\": []") != NULL);
    CHECK_EQUAL_TEXT(compiled.bytes, interpreted.bytes);
    note_cells(protocol, interpreted.bytes);
    gpc_text_free(&interpreted);
    gpc_text_free(&compiled);
}

/* With the explorer's small values of options, but for one, if it is named. */
static void
explore_all(const gpc_protocol_t *protocol, const char *named, int64_t value)
{
    gpc_option_value_t options[GPC_MAX_OPTIONS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < GPC_MAX_OPTIONS && protocol->options[i].name; i++) {
        const gpc_option_info_t *option = &protocol->options[i];
        bool is_named = named && strcmp(named, option->name) == 0;
        if (is_named || option->small.given) {
            options[count++] = (gpc_option_value_t){option->name, is_named ? value : option->small.value};
        }
    }
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        explore_both_ways(protocol, &programs[i], options, count);
    }
}

/* Counts the cells of the protocol's tables, and those that were entered. */
static void
count_cells(const gpc_protocol_t *protocol, uint32_t *all, uint32_t *met)
{
    uint32_t row = 0;
    for (uint32_t c = 0; protocol->controllers[c]; c++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[c]->tables[t]; t++, row++) {
            const gpc_table_t *table = protocol->controllers[c]->tables[t];
            for (uint32_t i = 0; i < (uint32_t) table->num_states * table->num_events; i++) {
                uint8_t state = (uint8_t) (i / table->num_events), event = (uint8_t) (i % table->num_events);
                uint8_t kind = gpc_fsm_declared_cell(table, state, event)->kind;
                bool acts = kind == GPC_CELL_GO || kind == GPC_CELL_REDO;
                *all += acts;
                *met += acts && entered[row][i];
            }
        }
    }
}

static void
compiled_tables_reach_the_states_of_interpreted_ones(void)
{
    uint32_t all = 0, met = 0;
    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        const gpc_protocol_t *protocol = gpc_protocol_find(gpc_protocol_id(p));
        memset(entered, 0, sizeof(entered));
        explore_all(protocol, NULL, 0);
        count_cells(protocol, &all, &met);
        for (uint32_t c = 0; protocol->controllers[c]; c++) {
            const gpc_variant_t *variants = protocol->controllers[c]->variants;
            for (uint32_t v = 0; v < GPC_MAX_VARIANTS && variants[v].by; v++) {
                const gpc_option_info_t *option = &protocol->options[variants[v].option];
                if (!option->analysis) { /* others cannot be explored */
                    explore_all(protocol, option->name, variants[v].value);
                }
            }
        }
        if (protocol->instead.by) {
            explore_all(protocol, protocol->options[protocol->instead.option].name, protocol->instead.value);
        }
    }
    printf("# %u of %u cells with a transition were entered\n", met, all);
    CHECK(met * 10 > all * 7);
}

int
main(void)
{
    RUN(compiled_tables_reach_the_states_of_interpreted_ones);
    return harness_end();
}
