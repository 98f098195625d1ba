/* monitor_variables.c: what an acquire promises of the variable that it names (gpc_watched_t.by_variable).
 *
 * An acquire that issued after another die's last store or atomic to its word, of an order beyond weak, sees what was
 * performed before that. Once its warp has released, so do later acquires of cores of the same die, whatever their
 * word: they rely on the same near lines. */
#include <stdlib.h>

#include "check/monitor/monitor_parts.h"

/* The last write to a word, and the last one of another die than that one's. */
typedef struct {
    gpc_cycle_t at[2]; /* 0: none */
    uint8_t die[2];
} writers_t;

int
gpc_monitor_init_variables(gpc_monitor_t *self)
{
    const gpc_machine_t *machine = self->about.machine;
    gpc_variables_t *variables = &self->variables;
    if (!self->watched.by_variable) {
        return GPC_OK;
    }
    gpc_pages_init(&variables->writers, GPC_SHADOW_PAGE_WORDS * sizeof(writers_t));
    variables->named = calloc((size_t) machine->cores * machine->warps_per_core, sizeof(*variables->named));
    variables->of_die = calloc(machine->dies, sizeof(*variables->of_die));
    return variables->named && variables->of_die ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_monitor_free_variables(gpc_monitor_t *self)
{
    if (self->watched.by_variable) {
        gpc_pages_free(&self->variables.writers);
    }
    free(self->variables.named);
    free(self->variables.of_die);
}

static uint32_t
die_of(const gpc_monitor_t *self, uint32_t core)
{
    return gpc_die_of(self->about.nodes, (gpc_node_t) core);
}

int
gpc_monitor_variable_written(gpc_monitor_t *self, const gpc_msg_t *write, gpc_cycle_t now)
{
    uint8_t die = (uint8_t) die_of(self, write->requester);
    bool watched = self->watched.by_variable && write->order != GPC_ORDER_WEAK;
    for (gpc_mask_t left = watched ? write->mask : 0; left; left &= left - 1) {
        uint64_t word = write->line / 4 + (uint32_t) __builtin_ctz(left);
        writers_t *page = gpc_pages_make(&self->variables.writers, word / GPC_SHADOW_PAGE_WORDS);
        if (!page) {
            return GPC_ERROR_MEMORY;
        }
        writers_t *writers = &page[word % GPC_SHADOW_PAGE_WORDS];
        if (writers->at[0] && writers->die[0] != die) {
            writers->at[1] = writers->at[0];
            writers->die[1] = writers->die[0];
        }
        writers->at[0] = now;
        writers->die[0] = die;
    }
    return GPC_OK;
}

void
gpc_monitor_variable_acquired(gpc_monitor_t *self, const gpc_msg_t *request)
{
    bool acquires = request->order == GPC_ORDER_ACQUIRE || request->order >= GPC_ORDER_ACQ_REL;
    bool watched = self->watched.by_variable && acquires && request->type != GPC_MSG_STORE;
    size_t warp = (size_t) request->source * self->about.machine->warps_per_core + request->warp;
    for (gpc_mask_t left = watched ? request->mask : 0; left; left &= left - 1) {
        uint64_t word = request->line / 4 + (uint32_t) __builtin_ctz(left);
        const writers_t *page = gpc_pages_find(&self->variables.writers, word / GPC_SHADOW_PAGE_WORDS);
        const writers_t *writers = page ? &page[word % GPC_SHADOW_PAGE_WORDS] : NULL;
        gpc_cycle_t other = writers ? writers->at[writers->die[0] == die_of(self, request->source)] : 0;
        if (other <= request->issued && other > self->variables.named[warp]) {
            self->variables.named[warp] = other;
        }
    }
}

gpc_cycle_t
gpc_monitor_acquired_from(const gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    gpc_cycle_t of_die = self->variables.of_die[die_of(self, core)];
    gpc_cycle_t named = self->variables.named[(size_t) core * self->about.machine->warps_per_core + warp];
    return named > of_die ? named : of_die;
}

void
gpc_monitor_variable_released(gpc_monitor_t *self, uint32_t core, uint32_t warp)
{
    if (self->watched.by_variable) {
        self->variables.of_die[die_of(self, core)] = gpc_monitor_acquired_from(self, core, warp);
    }
}
