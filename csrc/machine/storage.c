/* storage.c: sizes and accesses, for the energy model, of the arrays and parts that GPC_CONTROLLER_STATISTICS does not
 * count. The first array of an L1 or L2 is its cache, which the statistics count. */
#include "machine/parts.h"

static uint32_t
bits_for(uint64_t values)
{
    uint32_t bits = 0;
    while ((UINT64_C(1) << bits) < values) {
        bits++;
    }
    return bits;
}

/* Hardware bits of a field: a node by its number, a node set with one bit per core, a time by the machine's
 * timestamps. */
static uint32_t
bits_of_field(const gpc_field_t *field, const gpc_controller_t *unit)
{
    const gpc_machine_t *m = unit->machine;
    uint32_t node = bits_for(unit->nodes->count), words = m->line_bytes / 4;
    uint32_t nodes = field->size / (uint32_t) sizeof(gpc_node_t);
    switch (field->kind) {
        case GPC_FIELD_TIME:
        case GPC_FIELD_LOGICAL:
            return m->timestamp_bits ? m->timestamp_bits : 32;
        case GPC_FIELD_NODE:
            return node;
        case GPC_FIELD_NODESET:
            return m->cores;
        case GPC_FIELD_NODES:
            return (nodes < words ? nodes : words) * node;
        case GPC_FIELD_REQUEST:
        case GPC_FIELD_STATISTIC:
            return 0;
        case GPC_FIELD_DATA:
            return 8 * (field->size < m->line_bytes ? field->size : m->line_bytes);
        default:
            return 8u * field->size;
    }
}

static uint32_t
bits_of(gpc_describe_t describe, const gpc_controller_t *unit)
{
    const gpc_described_t *described = describe ? describe() : NULL;
    uint32_t bits = 0;
    for (uint32_t i = 0; described && i < described->count; i++) {
        bits += bits_of_field(&described->fields[i], unit);
    }
    return bits;
}

typedef struct {
    const char *name;
    uint32_t tables;  /* bit t: its steps look it up */
    uint32_t entries; /* of one controller */
    uint32_t bits;    /* of one entry */
} storage_t;

static storage_t
array_storage(const gpc_controller_t *unit, uint32_t array)
{
    const gpc_controller_type_t *type = unit->type;
    const gpc_array_info_t *info = &type->arrays[array];
    const gpc_machine_t *m = unit->machine;
    const gpc_tags_t *tags = &unit->arrays[array];
    storage_t it = {.name = info->name, .entries = tags->sets * tags->ways};
    for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
        const gpc_table_t *table = type->tables[t];
        if (table->object <= GPC_OVER_WORDS && (type->object_of[t] == array || (table->arrays >> array & 1))) {
            it.tables |= 1u << t;
            it.bits += bits_for(table->num_states) * (table->object == GPC_OVER_WORDS ? m->line_bytes / 4 : 1);
        }
    }
    uint32_t index = bits_for(m->line_bytes) + bits_for(tags->sets);
    it.bits += (index < 32 ? 32 - index : 0) + bits_of(info->line, unit) + (info->has_data ? 8 * m->line_bytes : 0);
    return it;
}

static storage_t
part_storage(const gpc_controller_t *unit, uint32_t part)
{
    const gpc_controller_type_t *type = unit->type;
    const gpc_machine_t *m = unit->machine;
    storage_t it = {.name = type->parts[part].name, .entries = unit->parts[part].pool.capacity};
    for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
        if (type->tables[t]->object == GPC_OVER_ENTRIES && type->object_of[t] == part) {
            it.tables |= 1u << t;
            it.bits += bits_for(type->tables[t]->num_states);
        }
    }
    it.bits += 32 - bits_for(m->line_bytes) + bits_of(type->parts[part].entry, unit);
    return it;
}

static uint64_t
steps(const gpc_controller_t *unit, uint32_t tables)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < GPC_MAX_TABLES && unit->type->tables[t]; t++) {
        const gpc_table_t *table = unit->type->tables[t];
        for (uint32_t cell = 0; (tables >> t & 1) && cell < (uint32_t) table->num_states * table->num_events; cell++) {
            sum += unit->counts[t][cell];
        }
    }
    return sum;
}

static void
add_storage(const gpc_gpu_t *gpu, gpc_text_t *out, const gpc_controller_type_t *type, const storage_t *it)
{
    uint64_t accesses = 0;
    uint32_t units = 0;
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        if (gpc_is_of_type(&gpu->controllers[node], type)) {
            accesses += steps(&gpu->controllers[node], it->tables);
            units++;
        }
    }
    gpc_text_add_key(out, it->name);
    gpc_text_add(out, "{\"accesses\": %llu, \"entries\": %u, \"bits\": %u, \"units\": %u}",
                 (unsigned long long) accesses, it->entries, it->bits, units);
}

static const gpc_controller_t *
first_of(const gpc_gpu_t *gpu, const gpc_controller_type_t *type)
{
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        if (gpc_is_of_type(&gpu->controllers[node], type)) {
            return &gpu->controllers[node];
        }
    }
    return NULL;
}

void
gpc_gpu_add_storage(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_open(out, "storage", "{");
    for (uint32_t i = 0; i < gpc_num_controllers(gpu->protocol); i++) {
        const gpc_controller_type_t *type = gpu->protocol->controllers[i];
        const gpc_controller_t *unit = first_of(gpu, type);
        uint32_t first = type->position == GPC_AT_CORE || type->position == GPC_AT_BANK ? 1 : 0;
        gpc_text_open(out, type->name, "{");
        for (uint32_t array = first; unit && array < GPC_MAX_ARRAYS && type->arrays[array].name; array++) {
            storage_t it = array_storage(unit, array);
            add_storage(gpu, out, type, &it);
        }
        for (uint32_t part = 0; unit && part < GPC_MAX_PARTS && type->parts[part].name; part++) {
            storage_t it = part_storage(unit, part);
            add_storage(gpu, out, type, &it);
        }
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "}");
}
