/* options.c: checks a protocol against a machine; options: defaults, values derived from the machine, given values. */
#include <string.h>

#include "controller/controller.h"
#include "controller/resolve.h"

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
    return self->check ? self->check(machine, options, failure) : GPC_OK;
}

int
gpc_protocol_refuse_analysis(const gpc_protocol_t *self, const int64_t *options, gpc_failure_t *failure)
{
    for (uint32_t i = 0; i < GPC_MAX_OPTIONS && self->options[i].name; i++) {
        const gpc_option_info_t *info = &self->options[i];
        if (info->analysis && options[i] != info->standard) {
            return gpc_fail(failure, GPC_ERROR_OPTION, "%s: option %s is for analysis only (%s): it cannot be explored",
                            self->id, info->name, info->analysis);
        }
    }
    return GPC_OK;
}

/* The first timestamp of a described struct, or NULL. */
static const gpc_field_t *
find_time(gpc_describe_t describe)
{
    const gpc_described_t *described = describe ? describe() : NULL;
    for (uint16_t i = 0; described && i < described->count; i++) {
        const gpc_field_t *field = &described->fields[i];
        if (gpc_is_time(field)) {
            return field;
        }
    }
    return NULL;
}

static const gpc_field_t *
find_time_of(const gpc_controller_type_t *type)
{
    gpc_describe_t metadata[] = {type->mshr, type->unit, type->warp, type->core};
    const gpc_field_t *found = NULL;
    for (uint32_t i = 0; i < GPC_COUNT_OF(metadata) && !found; i++) {
        found = find_time(metadata[i]);
    }
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && type->arrays[i].name && !found; i++) {
        found = find_time(type->arrays[i].line);
    }
    for (uint32_t i = 0; i < GPC_MAX_PARTS && type->parts[i].name && !found; i++) {
        found = find_time(type->parts[i].entry);
    }
    return found;
}

int
gpc_protocol_check_time(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    const gpc_field_t *found = find_time(self->message);
    for (uint32_t i = 0; i < gpc_num_controllers(self) && !found; i++) {
        found = find_time_of(self->controllers[i]);
    }
    if (found && !self->keeps_time) {
        return gpc_fail(failure, GPC_ERROR_PROTOCOL,
                        "protocol %s has the timestamp %s and does not declare how it handles their wrap-around "
                        "(keeps_time)",
                        self->id, found->name);
    }
    return GPC_OK;
}

/* The first field of a warp that no rule joins at a barrier, or NULL. */
static const gpc_field_t *
find_unjoined(const gpc_protocol_t *self, const gpc_controller_type_t *type)
{
    if (!type->warp || self->order.join || self->order.keeps_own) {
        return NULL;
    }
    const gpc_described_t *described = type->warp();
    for (uint16_t i = 0; i < described->count; i++) {
        const gpc_field_t *field = &described->fields[i];
        if (!gpc_is_time(field) && field->kind != GPC_FIELD_STATISTIC) {
            return field;
        }
    }
    return NULL;
}

int
gpc_protocol_check_join(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    const gpc_field_t *found = NULL;
    for (uint32_t i = 0; i < gpc_num_controllers(self) && !found; i++) {
        found = find_unjoined(self, self->controllers[i]);
    }
    if (found) {
        return gpc_fail(failure, GPC_ERROR_PROTOCOL,
                        "protocol %s: a barrier joins TIME and LOGICAL fields, and %s of its warps is %s: declare "
                        "order.join, or order.keeps_own",
                        self->id, found->name, gpc_field_kind_name(found->kind));
    }
    return GPC_OK;
}

int
gpc_protocol_check_prompt(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    for (uint32_t i = 0; i < self->num_messages && self->prompt.messages >> i; i++) {
        const gpc_message_info_t *info = &self->messages[i];
        if ((self->prompt.messages >> i & 1) && self->networks[info->network].ordered) {
            return gpc_fail(
                failure, GPC_ERROR_PROTOCOL,
                "protocol %s: %s is prompt, and its network '%s' is ordered: a prompt message passes others", self->id,
                info->name, self->networks[info->network].name);
        }
    }
    return GPC_OK;
}
