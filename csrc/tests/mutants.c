/* mutants.c: the protocols of the test library, planted bugs included (mutants.h), which the extension loads. */
#include <stdlib.h>
#include <string.h>

#include "controller/outside.h"
#include "protocols/registry.h"
#include "tests/mutants_parts.h"

static const gpc_protocol_t *const of_tests[] = {&gpc_protocol_self_inval, &gpc_protocol_tardis};

#define GPC_PLANTED(family, file) extern const mutant_info_t planted_##family[];
#include "protocols/registry.def"
extern const mutant_info_t planted_example[];

static const mutant_info_t *const families[] = {
#define GPC_PLANTED(family, file) planted_##family,
#include "protocols/registry.def"
    planted_example,
};

/* Made once, then constant. */
static mutant_t **mutants;
static uint32_t num_mutants;

static const gpc_protocol_t *
product(const char *id, size_t length)
{
    for (uint32_t i = 0; i < GPC_COUNT_OF(of_tests) + gpc_protocol_count(); i++) {
        const gpc_protocol_t *one =
            i < GPC_COUNT_OF(of_tests) ? of_tests[i] : gpc_protocol_at(i - (uint32_t) GPC_COUNT_OF(of_tests));
        if (strlen(one->id) == length && strncmp(one->id, id, length) == 0) {
            return one;
        }
    }
    mutant_stop(id, "no protocol has the id %.*s", (int) length, id);
}

static void
add(mutant_t *mutant)
{
    for (uint32_t i = 0; i < num_mutants; i++) {
        if (strcmp(mutants[i]->protocol.id, mutant->protocol.id) == 0) {
            mutant_stop(mutant->protocol.id, "two planted bugs have this id");
        }
    }
    mutants[num_mutants++] = mutant;
}

static void
make_all(void)
{
    const char *base = getenv("GPUCOH_ADDED");
    uint32_t count = 1;

    for (uint32_t i = 0; i < GPC_COUNT_OF(families); i++) {
        for (const mutant_info_t *info = families[i]; info->id; info++) {
            count++;
        }
    }
    mutants = mutant_take(count, sizeof(mutant_t *));
    if (base) {
        add(mutant_make_added(product(base, strlen(base))));
        return;
    }
    for (uint32_t i = 0; i < GPC_COUNT_OF(families); i++) {
        for (const mutant_info_t *info = families[i]; info->id; info++) {
            add(mutant_make(info, product(info->id, strcspn(info->id, "!"))));
        }
    }
}

const mutant_t *
mutant_of(const char *id)
{
    uint32_t i = 0;
    while (mutants[i]->protocol.id != id) {
        i++;
    }
    return mutants[i];
}

/* ---- what the library exports ------------------------------------------------------------------------------------ */

GPC_EXPORT_INTERFACE;
GPC_API gpc_protocols_of_t gpucoh_protocols;

/* The planted bugs, and the protocols of tests. */
const gpc_protocol_t *const *
gpucoh_protocols(void)
{
    static const gpc_protocol_t **exported; /* made once */
    if (!exported) {
        make_all();
        exported = mutant_take(GPC_COUNT_OF(of_tests) + num_mutants + 1, sizeof(*exported));
        memcpy(exported, of_tests, sizeof(of_tests));
        for (uint32_t i = 0; i < num_mutants; i++) {
            exported[GPC_COUNT_OF(of_tests) + i] = &mutants[i]->protocol;
        }
    }
    return exported;
}
