/* test_counts.c: the one place with the numbers of states and transitions of every table: do tables and papers
 * agree? */
#include "protocols/registry.h"
#include "tests/harness.h"

typedef struct {
    const char *protocol, *table, *option; /* NULL: under the defaults */
    uint32_t stable, cache, coherence;     /* states, by kind */
    uint32_t transitions, hardened;
    /* What the paper counts; NULL: it counts nothing. Our reading of a paper may need other transitions, and states of
     * its own. */
    const char *paper;
} counts_t;

#define SINGH "table 1 of Singh et al., HPCA 2013: these states"
#define REN "table V of Ren and Lis, HPCA 2017: "

/* clang-format off */
static const counts_t expected[] = {
    {"no-l1", "L1", NULL, 1, 0, 0, 4, 0, NULL},
    {"no-l1", "L2", NULL, 2, 2, 0, 12, 0, NULL},
    {"no-l1", "L2", "fill", 2, 2, 0, 12, 0, NULL},
    {"no-coh", "L1", NULL, 2, 2, 0, 19, 0, SINGH},
    {"no-coh", "L2", NULL, 2, 2, 0, 12, 0, SINGH},
    {"ideal", "L1", NULL, 2, 2, 1, 31, 0, NULL},
    {"ideal", "L2", NULL, 2, 2, 0, 12, 0, NULL},
    {"gpu-vi", "L1", NULL, 2, 2, 1, 30, 0, SINGH},
    {"gpu-vi", "L2", NULL, 3, 2, 3, 26, 0, SINGH},
    {"gpu-vini", "L1", NULL, 2, 2, 1, 30, 0, SINGH},
    {"gpu-vini", "L2", NULL, 5, 2, 8, 56, 0, SINGH},
    {"mesi", "L1", NULL, 4, 2, 4, 52, 0, SINGH},
    {"mesi", "L2", NULL, 4, 3, 9, 51, 0, SINGH},
    {"mesi-wt", "L1", NULL, 2, 3, 1, 24, 0, REN "16 states, 81 transitions (csrc/protocols/invalidation/README.md)"},
    {"mesi-wt", "L2", NULL, 3, 2, 4, 27, 0, REN "15 states, 50 transitions"},
    {"mesi-wt", "L1", "exclusive", 4, 3, 5, 52, 0, NULL},
    {"mesi-wt", "L2", "exclusive", 4, 2, 5, 42, 0, NULL},
    {"sc-ideal", "L1", NULL, 2, 3, 1, 32, 0, NULL},
    {"sc-ideal", "L2", NULL, 3, 2, 1, 20, 0, NULL},
    {"tc-strong", "L1", NULL, 2, 2, 1, 28, 2, REN "these states"},
    {"tc-strong", "L2", NULL, 4, 2, 2, 34, 1, REN "these states"},
    {"tc-strong", "L2", "stall", 4, 2, 2, 33, 1, NULL},
    {"tc-weak", "L1", NULL, 2, 2, 1, 30, 8, SINGH},
    {"tc-weak", "L1", "simulator", 2, 2, 1, 30, 8, NULL},
    {"tc-weak", "L2", NULL, 4, 2, 1, 28, 12, SINGH "; " REN "eight states"},
    {"tc-weak", "L2", "private", 4, 2, 1, 36, 4, SINGH},
    {"rcc-sc", "L1", NULL, 2, 2, 1, 33, 14, REN "these states and transitions"},
    {"rcc-sc", "L1.clock", NULL, 1, 0, 0, 3, 0, NULL},
    {"rcc-sc", "L2", NULL, 2, 2, 0, 14, 2, REN "these states and transitions"},
    {"rcc-sc", "L2.rollover", NULL, 1, 0, 1, 3, 0, NULL},
    {"rcc-wo", "L1", NULL, 2, 2, 1, 33, 14, REN "these states and transitions"},
    {"rcc-wo", "L1.clock", NULL, 1, 0, 0, 3, 0, NULL},
    {"rcc-wo", "L2", NULL, 2, 2, 0, 14, 2, REN "these states and transitions"},
    {"rcc-wo", "L2.rollover", NULL, 1, 0, 1, 3, 0, NULL},
    {"gpu-drf", "L1", NULL, 2, 1, 1, 24, 0, NULL},
    {"gpu-drf", "L1.store_buffer", NULL, 2, 0, 2, 11, 0, NULL},
    {"gpu-drf", "L2", NULL, 2, 1, 0, 13, 0, NULL},
    {"gpu-hrf", "L1", NULL, 2, 1, 1, 30, 0, NULL},
    {"gpu-hrf", "L1.store_buffer", NULL, 2, 0, 2, 11, 0, NULL},
    {"gpu-hrf", "L2", NULL, 2, 1, 0, 13, 0, NULL},
    {"denovo-drf", "L1", NULL, 3, 1, 6, 84, 0, NULL},
    {"denovo-drf", "L1.store_buffer", NULL, 2, 0, 1, 10, 0, NULL},
    {"denovo-drf", "L2", NULL, 3, 1, 3, 28, 0, NULL},
    {"denovo-ro", "L1", NULL, 4, 1, 6, 98, 2, NULL},
    {"denovo-ro", "L1.store_buffer", NULL, 2, 0, 1, 10, 0, NULL},
    {"denovo-ro", "L2", NULL, 3, 1, 3, 28, 0, NULL},
    {"denovo-hrf", "L1", NULL, 3, 1, 6, 96, 0, NULL},
    {"denovo-hrf", "L1.store_buffer", NULL, 2, 0, 1, 10, 0, NULL},
    {"denovo-hrf", "L2", NULL, 3, 1, 3, 28, 0, NULL},
    {"src", "L1", NULL, 2, 1, 1, 14, 1, "table 1 of Puthoor and Lipasti, TACO 2023: three states, and one more for STC; SRC has the fourth for poisoned fills"},
    {"src", "L1", "acquire", 2, 1, 1, 15, 0, "table 1 of Puthoor and Lipasti, TACO 2023: three states, and one more for STC; SRC has the fourth for poisoned fills"},
    {"src", "L1.buffer", NULL, 1, 0, 1, 3, 0, NULL},
    {"src", "L2", NULL, 2, 1, 0, 10, 0, NULL},
    {"stc-nv", "L1", NULL, 2, 1, 1, 16, 1, "table 1 of Puthoor and Lipasti, TACO 2023: three states, and one more for STC; SRC has the fourth for poisoned fills"},
    {"stc-nv", "L1.buffer", NULL, 3, 0, 1, 12, 0, NULL},
    {"stc-nv", "L1.epochs", NULL, 1, 0, 3, 13, 0, NULL},
    {"stc-nv", "L1.epochs", "skew", 1, 0, 4, 15, 0, NULL},
    {"stc-nv", "L2", NULL, 2, 1, 0, 10, 0, NULL},
    {"stc-nv", "EMU", NULL, 1, 0, 2, 9, 0, NULL},
    {"stc-es", "L1", NULL, 2, 1, 1, 16, 1, NULL},
    {"stc-es", "L1.buffer", NULL, 3, 0, 1, 12, 0, NULL},
    {"stc-es", "L1.epochs", NULL, 1, 0, 3, 13, 0, NULL},
    {"stc-es", "L1.epochs", "skew", 1, 0, 4, 15, 0, NULL},
    {"stc-es", "L2", NULL, 2, 1, 0, 10, 0, NULL},
    {"stc-es", "EMU", NULL, 1, 0, 2, 15, 0, NULL},
    {"stc-ab", "L1", NULL, 2, 1, 1, 16, 1, NULL},
    {"stc-ab", "L1.buffer", NULL, 3, 0, 1, 12, 0, NULL},
    {"stc-ab", "L1.epochs", NULL, 1, 0, 3, 13, 0, NULL},
    {"stc-ab", "L1.epochs", "skew", 1, 0, 4, 15, 0, NULL},
    {"stc-ab", "L2", NULL, 2, 1, 0, 10, 0, NULL},
    {"stc-ab", "EMU", NULL, 1, 0, 2, 18, 0, NULL},
    {"stc-mb", "L1", NULL, 2, 1, 1, 16, 1, NULL},
    {"stc-mb", "L1.buffer", NULL, 3, 0, 1, 12, 0, NULL},
    {"stc-mb", "L1.epochs", NULL, 1, 0, 3, 13, 0, NULL},
    {"stc-mb", "L1.epochs", "skew", 1, 0, 4, 15, 0, NULL},
    {"stc-mb", "L2", NULL, 2, 1, 0, 10, 0, NULL},
    {"stc-mb", "EMU", NULL, 1, 0, 2, 18, 0, NULL},
    {"wt", "L1", NULL, 2, 1, 1, 21, 0, NULL},
    {"wt", "L2", NULL, 2, 1, 1, 22, 0, NULL},
    {"wt", "L3", NULL, 2, 1, 0, 8, 0, NULL},
    {"rfo", "L1", NULL, 5, 2, 5, 63, 0, NULL},
    {"rfo", "L2", NULL, 6, 2, 4, 41, 0, NULL},
    {"rfo", "L3", NULL, 2, 1, 0, 7, 0, NULL},
    {"qr", "L1", NULL, 3, 1, 1, 40, 0, NULL},
    {"qr", "L1.write", NULL, 2, 0, 0, 5, 0, NULL},
    {"qr", "L1.S-FIFO", NULL, 2, 0, 2, 6, 0, NULL},
    {"qr", "L1.markers", NULL, 1, 0, 0, 4, 0, NULL},
    {"qr", "L2", NULL, 3, 1, 1, 33, 0, NULL},
    {"qr", "L2.write", NULL, 2, 0, 0, 5, 0, NULL},
    {"qr", "L2.S-FIFO", NULL, 2, 0, 2, 6, 0, NULL},
    {"qr", "L2.markers", NULL, 1, 0, 0, 5, 0, NULL},
    {"qr", "L3", NULL, 2, 2, 1, 27, 0, NULL},
    {"qr", "L3.write", NULL, 2, 0, 0, 5, 0, NULL},
    {"qr", "L3.S-FIFO", NULL, 2, 0, 2, 6, 0, NULL},
    {"qr", "L3.markers", NULL, 1, 0, 0, 1, 0, NULL},
};
/* clang-format on */

static const counts_t *
find(const char *protocol, const char *table, const char *option)
{
    for (size_t i = 0; i < GPC_COUNT_OF(expected); i++) {
        const counts_t *e = &expected[i];
        bool same_option = option && e->option ? strcmp(option, e->option) == 0 : option == e->option;
        if (same_option && strcmp(protocol, e->protocol) == 0 && strcmp(table, e->table) == 0) {
            return e;
        }
    }
    return NULL;
}

/* States that a table leaves to a variant have no cell. */
static bool
has_cells(const gpc_table_t *table, uint8_t state)
{
    for (uint8_t e = 0; e < table->num_events; e++) {
        if (gpc_fsm_declared_cell(table, state, e)->kind != GPC_CELL_IMPOSSIBLE) {
            return true;
        }
    }
    return false;
}

static void
expect(const char *protocol, const gpc_table_t *table, const char *option)
{
    const counts_t *e = find(protocol, table->name, option);
    uint32_t states[3] = {0, 0, 0};

    if (!e) {
        printf("# %s %s %s: not in the list\n", protocol, table->name, option ? option : "");
    }
    REQUIRE(e != NULL);
    for (uint8_t s = 0; s < table->num_states; s++) {
        states[table->states[s].kind] += has_cells(table, s);
    }
    CHECK_EQUAL_U64(states[GPC_STABLE], e->stable);
    CHECK_EQUAL_U64(states[GPC_TRANSIENT_CACHE], e->cache);
    CHECK_EQUAL_U64(states[GPC_TRANSIENT_COHERENCE], e->coherence);
    CHECK_EQUAL_U64(gpc_fsm_transitions(table, false), e->transitions);
    CHECK_EQUAL_U64(gpc_fsm_transitions(table, true), e->hardened);
}

static void
every_table_has_the_listed_states_and_transitions(void)
{
    uint32_t found = 0;
    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        const gpc_protocol_t *protocol = gpc_protocol_at(p);
        for (uint32_t c = 0; protocol->controllers[c]; c++) {
            const gpc_controller_type_t *type = protocol->controllers[c];
            for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++, found++) {
                expect(protocol->id, type->tables[t], NULL);
            }
            for (uint32_t v = 0; v < GPC_MAX_VARIANTS && type->variants[v].by; v++, found++) {
                expect(protocol->id, type->variants[v].by, protocol->options[type->variants[v].option].name);
            }
        }
    }
    CHECK_EQUAL_U64(found, GPC_COUNT_OF(expected));
}

int
main(void)
{
    RUN(every_table_has_the_listed_states_and_transitions);
    return harness_end();
}
