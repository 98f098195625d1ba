/* mutants.c: the protocols of the test library, planted bugs included (mutants.h); it replaces protocols/registry.c. */
#include <stdlib.h>
#include <string.h>

#include "protocols/registry.h"
#include "tests/mutants_parts.h"
#include "tests/skeletons.h"

static const gpc_protocol_t *const products[] = {
#define GPC_PROTOCOL(name, file) &gpc_protocol_##name,
#include "protocols/registry.def"
    &gpc_protocol_self_inval,        &gpc_protocol_skel_epochs, &gpc_protocol_skel_src,
    &gpc_protocol_skel_three_levels, &gpc_protocol_tardis,
};

#define GPC_PLANTED(family, file) extern const mutant_info_t planted_##family[];
#include "protocols/registry.def"
extern const mutant_info_t planted_example[];

static const mutant_info_t *const families[] = {
#define GPC_PLANTED(family, file) planted_##family,
#include "protocols/registry.def"
    planted_example,
};

/* Made when the library is loaded, then constant. */
static mutant_t **mutants;
static uint32_t num_mutants;

static const gpc_protocol_t *
product(const char *id, size_t length)
{
    for (uint32_t i = 0; i < GPC_COUNT_OF(products); i++) {
        if (strlen(products[i]->id) == length && strncmp(products[i]->id, id, length) == 0) {
            return products[i];
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

__attribute__((constructor)) static void
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

/* ---- the registry ------------------------------------------------------------------------------------------------ */

const gpc_protocol_t *
gpc_protocol_find(const char *id)
{
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        if (strcmp(gpc_protocol_id(i), id) == 0) {
            return i < GPC_COUNT_OF(products) ? products[i] : &mutants[i - GPC_COUNT_OF(products)]->protocol;
        }
    }
    return NULL;
}

uint32_t
gpc_protocol_count(void)
{
    return (uint32_t) GPC_COUNT_OF(products) + num_mutants;
}

const gpc_protocol_t *
gpc_protocol_at(uint32_t i)
{
    return i < GPC_COUNT_OF(products) ? products[i] : &mutants[i - GPC_COUNT_OF(products)]->protocol;
}
