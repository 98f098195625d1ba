/* declare_check.c: checks that a protocol declares what every protocol has. */
#include <string.h>

#include "controller/resolve.h"

static int
lacks(const gpc_protocol_t *self, gpc_failure_t *failure, const char *what)
{
    return gpc_fail(failure, GPC_ERROR_PROTOCOL, "protocol %s lacks %s", self->id ? self->id : "without .id", what);
}

static int
check_names(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    const struct {
        const char *given, *member;
    } names[] = {{self->id, ".id"}, {self->paper, ".paper"}, {self->family, ".family"}, {self->text, ".text"}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(names); i++) {
        if (!names[i].given || !names[i].given[0]) {
            return lacks(self, failure, names[i].member);
        }
    }
    return GPC_OK;
}

static int
check_controllers(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    uint32_t positions = 0; /* bit p: there is a controller at p */
    for (uint32_t i = 0; i < gpc_num_controllers(self); i++) {
        const gpc_controller_type_t *type = self->controllers[i];
        if (!type->name || !type->tables[0]) {
            return gpc_fail(failure, GPC_ERROR_PROTOCOL, "protocol %s: controller %s lacks .name or .tables", self->id,
                            type->name ? type->name : "without .name");
        }
        if (positions >> type->position & 1) {
            return gpc_fail(failure, GPC_ERROR_PROTOCOL, "protocol %s: controller %s is the second at its .position",
                            self->id, type->name);
        }
        for (uint32_t other = 0; other < i; other++) {
            if (strcmp(self->controllers[other]->name, type->name) == 0) {
                return gpc_fail(failure, GPC_ERROR_PROTOCOL, "protocol %s: two controllers are called %s", self->id,
                                type->name);
            }
        }
        positions |= 1u << type->position;
    }
    if (!(positions >> GPC_AT_CORE & 1) || !(positions >> GPC_AT_BANK & 1)) {
        return lacks(self, failure, "a controller at GPC_AT_CORE or GPC_AT_BANK in .controllers");
    }
    return GPC_OK;
}

static int
check_messages(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    uint32_t num_networks = 0;
    bool requests = false;
    while (num_networks < GPC_MAX_NETWORKS && self->networks[num_networks].name) {
        requests |= self->networks[num_networks++].requests;
    }
    if (!requests) {
        return lacks(self, failure, "a network with .requests in .networks");
    }
    if (self->num_messages == 0) {
        return lacks(self, failure, ".messages (GPC_MESSAGES_OF)");
    }
    for (uint32_t i = 0; i < self->num_messages; i++) {
        if (self->messages[i].network >= num_networks) {
            return gpc_fail(failure, GPC_ERROR_PROTOCOL,
                            "protocol %s: message %s is on network %u, and .networks has %u", self->id,
                            self->messages[i].name, self->messages[i].network, num_networks);
        }
    }
    return GPC_OK;
}

int
gpc_protocol_check_declared(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    GPC_TRY(check_names(self, failure));
    if ((unsigned) self->standard_rule >= GPC_NUM_RULES || !self->model[self->standard_rule]) {
        return lacks(self, failure, "the .model of its .standard_rule");
    }
    GPC_TRY(check_controllers(self, failure));
    return check_messages(self, failure);
}
