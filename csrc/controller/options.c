/* options.c: a protocol's options: their standards, what follows from the machine, what is given; the tables that they choose. */
#include <string.h>

#include "controller/controller.h"

static const gpc_option_info_t *
find_option(const gpc_protocol_t *self, const char *name, uint32_t *number)
{
    for (*number = 0; *number < GPC_MAX_OPTIONS && self->options[*number].name; (*number)++) {
        if (strcmp(self->options[*number].name, name) == 0) {
            return &self->options[*number];
        }
    }
    return NULL;
}

int
gpc_protocol_options(const gpc_protocol_t *self, const gpc_machine_t *machine, const gpc_option_value_t *given,
                     uint32_t num_given, int64_t *options, gpc_failure_t *failure)
{
    uint32_t number;

    for (uint32_t i = 0; i < GPC_MAX_OPTIONS; i++) {
        options[i] = self->options[i].name ? self->options[i].standard : 0;
    }
    if (self->derive) {
        self->derive(machine, options);
    }
    for (uint32_t i = 0; i < num_given; i++) {
        const gpc_option_info_t *info = find_option(self, given[i].name, &number);
        if (!info) {
            return gpc_fail(failure, GPC_ERROR_OPTION, "protocol %s has no option %s", self->id, given[i].name);
        }
        if (given[i].value < info->smallest || given[i].value > info->largest) {
            return gpc_fail(failure, GPC_ERROR_OPTION, "%s[%s=%lld]: allowed are %lld to %lld", self->id, info->name,
                            (long long) given[i].value, (long long) info->smallest, (long long) info->largest);
        }
        options[number] = given[i].value;
    }
    return self->check ? self->check(machine, options, failure) : 0;
}

const gpc_controller_type_t *
gpc_chosen_type(const gpc_controller_type_t *type, const int64_t *options, gpc_arena_t *arena)
{
    gpc_controller_type_t *chosen = NULL;

    for (uint32_t i = 0; i < GPC_MAX_VARIANTS && type->variants[i].by; i++) {
        const gpc_variant_t *variant = &type->variants[i];
        if (options[variant->option] != variant->value) {
            continue;
        }
        if (!chosen) {
            chosen = GPC_ARENA_TAKE(arena, 1, gpc_controller_type_t);
            if (!chosen) {
                return NULL;
            }
            *chosen = *type;
        }
        chosen->tables[variant->table] = variant->by;
    }
    return chosen ? chosen : type;
}
