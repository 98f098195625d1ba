/* registry.c: every protocol, one line each; looking them up, their options, and their description. */
#include <string.h>

#include "protocol/describe.h"

extern const gpc_protocol_t gpc_protocol_no_l1, gpc_protocol_no_coherence, gpc_protocol_ideal;
extern const gpc_protocol_t gpc_protocol_gpu_vi, gpc_protocol_gpu_vini, gpc_protocol_mesi;
extern const gpc_protocol_t gpc_protocol_tc_strong, gpc_protocol_tc_weak;

/* clang-format off */
const gpc_protocol_t *const gpc_protocols[] = {
    &gpc_protocol_no_l1,
    &gpc_protocol_no_coherence,
    &gpc_protocol_ideal,
    &gpc_protocol_gpu_vi,
    &gpc_protocol_gpu_vini,
    &gpc_protocol_mesi,
    &gpc_protocol_tc_strong,
    &gpc_protocol_tc_weak,
    NULL,
};
/* clang-format on */

const gpc_protocol_t *
gpc_protocol_find(const char *id)
{
    for (uint32_t i = 0; gpc_protocols[i]; i++) {
        if (strcmp(gpc_protocols[i]->id, id) == 0) {
            return gpc_protocols[i];
        }
    }
    return NULL;
}

uint32_t
gpc_protocol_count(void)
{
    uint32_t count = 0;
    while (gpc_protocols[count]) {
        count++;
    }
    return count;
}

const char *
gpc_protocol_id(uint32_t i)
{
    return gpc_protocols[i]->id;
}

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
    return 0;
}
