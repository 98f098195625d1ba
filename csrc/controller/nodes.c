/* nodes.c: lists the nodes of a protocol on a machine, and finds controllers by position and line. */
#include "controller/nodes.h"

#include "controller/protocol.h"

/* What a machine says of a position: offsets of its fields. */
typedef struct {
    const char *name;
    const char *where;   /* for errors */
    const char *field;   /* of its count */
    size_t count, mhz;   /* offsets */
    size_t standard_mhz; /* the clock's offset when `mhz` is 0 */
    uint8_t level;
} place_t;

#define OFFSET(field) offsetof(gpc_machine_t, field)

static const place_t places[GPC_NUM_POSITIONS] = {
    [GPC_AT_CORE] = {"core", "at the cores", "cores", OFFSET(cores), OFFSET(core_mhz), OFFSET(core_mhz), 1},
    [GPC_AT_BANK] = {"bank", "at the banks", "partitions", OFFSET(partitions), OFFSET(l2_mhz), OFFSET(l2_mhz), 2},
    [GPC_AT_MEMORY] = {"memory", "at the memory side", "memory_units", OFFSET(memory_units), OFFSET(memory_mhz),
                       OFFSET(l2_mhz), 3},
    [GPC_AT_GLOBAL] = {"global", "for the whole machine", "global_units", OFFSET(global_units), OFFSET(global_mhz),
                       OFFSET(core_mhz), 0},
    [GPC_AT_HOST] = {"host", "at the host", "host_units", OFFSET(host_units), OFFSET(host_mhz), OFFSET(core_mhz), 0},
};

static uint32_t
field_at(const gpc_machine_t *machine, size_t offset)
{
    return *(const uint32_t *) (const void *) ((const uint8_t *) machine + offset);
}

static const gpc_controller_type_t *
type_at(const gpc_protocol_t *protocol, gpc_position_t position)
{
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        if (protocol->controllers[i]->position == position) {
            return protocol->controllers[i];
        }
    }
    return NULL;
}

/* The dies of the nodes of a kind, which is the last of the list so far. */
static void
put_on_dies(gpc_nodes_t *self, const gpc_node_kind_t *kind, const gpc_machine_t *machine)
{
    uint32_t dies = machine->l2_crossing ? 2 : machine->dies > 1 ? machine->dies : 1;
    for (uint32_t i = 0; i < kind->count; i++) {
        self->die[kind->first + i] = GPC_NO_DIE;
        if (kind->position <= GPC_AT_BANK || (kind->position == GPC_AT_MEMORY && kind->count > 1)) {
            self->die[kind->first + i] = (uint8_t) (i * dies / kind->count);
        }
    }
}

int
gpc_nodes_list(gpc_nodes_t *self, const gpc_protocol_t *protocol, const gpc_machine_t *machine, gpc_failure_t *failure)
{
    *self = (gpc_nodes_t){0};
    for (gpc_position_t position = 0; position < GPC_NUM_POSITIONS; position++) {
        const place_t *place = &places[position];
        const gpc_controller_type_t *type = type_at(protocol, position);
        uint32_t count = field_at(machine, place->count);
        if (!type && position > GPC_AT_BANK) {
            continue;
        }
        if (!type) {
            return gpc_fail(failure, GPC_ERROR_PROTOCOL, "protocol %s has no controller %s", protocol->id,
                            place->where);
        }
        if (count == 0) {
            return gpc_fail(failure, GPC_ERROR_MACHINE,
                            "%s = 0: protocol %s needs a controller %s (%s), and the machine has none", place->field,
                            protocol->id, place->where, type->name);
        }
        self->kinds[self->num_kinds++] =
            (gpc_node_kind_t){type, position, place->level, (gpc_node_t) self->count, count};
        put_on_dies(self, &self->kinds[self->num_kinds - 1], machine);
        self->count += count;
        self->top = place->level > self->top ? place->level : self->top;
    }
    return GPC_OK;
}

const gpc_node_kind_t *
gpc_nodes_at(const gpc_nodes_t *self, gpc_position_t position)
{
    for (uint32_t i = 0; i < self->num_kinds; i++) {
        if (self->kinds[i].position == position) {
            return &self->kinds[i];
        }
    }
    return NULL;
}

const gpc_node_kind_t *
gpc_nodes_kind(const gpc_nodes_t *self, gpc_node_t node)
{
    const gpc_node_kind_t *kind = &self->kinds[self->num_kinds - 1];
    while (node < kind->first) {
        kind--;
    }
    return kind;
}

void
gpc_nodes_add_dies(const gpc_nodes_t *self, const gpc_machine_t *machine, gpc_text_t *out)
{
    if (machine->dies <= 1) {
        return;
    }
    gpc_text_open(out, "dies", "{");
    gpc_text_add_count(out, "gpus", machine->gpus);
    gpc_text_open(out, "of", "[");
    for (uint32_t node = 0; node < self->count; node++) {
        gpc_text_add_comma(out);
        gpc_text_add_number(out, gpc_die_of(self, (gpc_node_t) node));
    }
    gpc_text_add(out, "]}");
}

const char *
gpc_position_name(gpc_position_t position)
{
    return places[position].name;
}

uint32_t
gpc_position_mhz(const gpc_machine_t *machine, gpc_position_t position)
{
    uint32_t mhz = field_at(machine, places[position].mhz);
    return mhz ? mhz : field_at(machine, places[position].standard_mhz);
}

/* ---- nodes as a controller names them ---------------------------------------------------------------------------- */

gpc_node_t
gpc_near_of(const gpc_controller_t *unit, gpc_address_t line)
{
    uint32_t banks = unit->homes.banks.divisor, die = gpc_die_of(unit->nodes, unit->node);
    gpc_node_t home = gpc_home_of(unit, line);
    if (die == GPC_NO_DIE || !unit->homes.paged) {
        return home;
    }
    return (gpc_node_t) (unit->homes.first_bank + die * banks + (home - unit->homes.first_bank) % banks);
}

gpc_node_t
gpc_node_of(const gpc_controller_t *unit, gpc_position_t position)
{
    const gpc_node_kind_t *kind = gpc_nodes_at(unit->nodes, position);
    return kind ? kind->first : GPC_NO_NODE;
}

gpc_node_t
gpc_memory_of(const gpc_controller_t *unit, gpc_address_t line)
{
    const gpc_node_kind_t *kind = gpc_nodes_at(unit->nodes, GPC_AT_MEMORY);
    if (!kind) {
        return GPC_NO_NODE;
    }
    return (gpc_node_t) (kind->first + gpc_home_bank(&unit->homes, line) * kind->count / unit->machine->partitions);
}

gpc_node_t
gpc_memory_above(const gpc_controller_t *bank)
{
    const gpc_node_kind_t *kind = gpc_nodes_at(bank->nodes, GPC_AT_MEMORY);
    if (!kind) {
        return GPC_NO_NODE;
    }
    return (gpc_node_t) (kind->first + bank->index * kind->count / bank->machine->partitions);
}

static gpc_controller_t *
only_unit(const gpc_nodes_t *self, gpc_controller_t *controllers, gpc_position_t position)
{
    const gpc_node_kind_t *kind = gpc_nodes_at(self, position);
    return kind ? &controllers[kind->first] : NULL;
}

gpc_units_t
gpc_nodes_units(const gpc_nodes_t *self, gpc_controller_t *controllers, gpc_controller_t *const *l1s,
                gpc_address_t line)
{
    gpc_node_t memory = line == GPC_NEVER ? GPC_NO_NODE : gpc_memory_of(controllers, line);
    return (gpc_units_t){.cores = l1s,
                         .num_cores = self->kinds[GPC_AT_CORE].count,
                         .bank = line == GPC_NEVER ? NULL : &controllers[gpc_home_of(controllers, line)],
                         .global = only_unit(self, controllers, GPC_AT_GLOBAL),
                         .memory =
                             memory == GPC_NO_NODE ? only_unit(self, controllers, GPC_AT_MEMORY) : &controllers[memory],
                         .host = only_unit(self, controllers, GPC_AT_HOST),
                         .all = controllers};
}
