/* report.c: conservation checks, and the printed state and trace of a GPU. */
#include <stddef.h>
#include <string.h>

#include "check/profile/profile.h"
#include "check/trace/trace.h"
#include "controller/describe.h"
#include "machine/parts.h"

/* ---- conservation ------------------------------------------------------------------------------------------------ */

static int
lost(gpc_gpu_t *gpu, const char *what, uint64_t count)
{
    return gpc_fail(&gpu->failure, GPC_ERROR_CONSERVATION, "%s after the launch: %llu", what,
                    (unsigned long long) count);
}

/* As many messages are received as sent, and the links have passed the flits that are counted. */
static int
check_network(gpc_gpu_t *gpu, const gpc_network_t *network)
{
    uint32_t number = network->config.number, in_flight = gpc_network_in_flight(network);
    uint64_t flits = gpc_network_link_flits(network), counted = 0;

    for (uint32_t type = 0; type < 256; type++) {
        counted += network->traffic[type].flit_hops;
    }
    if (in_flight) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CONSERVATION,
                        "messages sent and not received on network %u after the launch: %u", number, in_flight);
    }
    if (flits != counted) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CONSERVATION,
                        "flits on the links of network %u after the launch: %llu, of which %llu are counted", number,
                        (unsigned long long) flits, (unsigned long long) counted);
    }
    return gpc_network_idle(network) ? GPC_OK : lost(gpu, "networks with requests or without credits", 1);
}

int
gpc_gpu_check_conservation(gpc_gpu_t *gpu)
{
    bool may_idle = false;
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        GPC_TRY(gpc_controller_verify(&gpu->controllers[node], true));
        may_idle |= gpu->controllers[node].type->may_idle_in_transaction;
    }
    if (gpu->messages.state->in_use && !may_idle) {
        return lost(gpu, "messages in use", gpu->messages.state->in_use);
    }
    if (gpu->lane_lists.state->in_use) {
        return lost(gpu, "lane lists in use", gpu->lane_lists.state->in_use);
    }
    if (gpu->state->sent != gpu->state->received) {
        return lost(gpu, "messages in the network", gpu->state->sent - gpu->state->received);
    }
    for (uint32_t i = 0; i < gpu->num_links; i++) {
        GPC_TRY(check_network(gpu, &gpu->links[i]));
    }
    return gpc_dram_idle(&gpu->dram) ? GPC_OK : lost(gpu, "busy memories", 1);
}

int
gpc_gpu_verify(gpc_gpu_t *gpu)
{
    gpc_failure_clear(&gpu->failure);
    if (!gpu->state->running) {
        return gpc_gpu_check_conservation(gpu);
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        GPC_TRY(gpc_controller_verify(&gpu->controllers[node], false));
    }
    return GPC_OK;
}

/* ---- prints ------------------------------------------------------------------------------------------------------ */

int
gpc_gpu_print_state(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_add(out, "%s, %s, core cycle %llu, %u messages, %u events\n", gpu->protocol->id, gpc_rule_name(gpu->rule),
                 (unsigned long long) (gpc_wheel_now(&gpu->wheel) / gpu->core_clock.period),
                 gpu->messages.state->in_use, gpc_wheel_count(&gpu->wheel));
    gpc_text_add(out, "bank pipeline %llu ticks, fill %llu cycles\n",
                 (unsigned long long) gpu->services[GPC_AT_BANK].pipeline_ticks, (unsigned long long) gpu->fill_cycles);
    (void) gpc_cores_explain_wait(&gpu->cores, out, 64);
    gpc_text_add(out, "\n");
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_controller_print(&gpu->controllers[node], out);
    }
    return gpc_text_status(out);
}

int
gpc_gpu_trace(gpc_gpu_t *gpu, const gpc_trace_filter_t *filter)
{
    GPC_TRY(gpc_gpu_refuse_while_running(gpu, "a trace"));
    gpc_trace_free(gpu->trace);
    gpu->trace = NULL;
    if (filter->records) {
        gpu->trace = gpc_trace_new(&gpu->stream, &gpu->cores, filter);
    }
    return gpu->trace || !filter->records
               ? 0
               : gpc_fail(&gpu->failure, GPC_ERROR_MEMORY, "out of memory for a trace of %u records", filter->records);
}

const gpc_trace_t *
gpc_gpu_traced(const gpc_gpu_t *gpu)
{
    return gpu->trace;
}

_Static_assert(offsetof(gpc_state_info_t, name) == 0 && offsetof(gpc_event_info_t, name) == 0, "add_names");
_Static_assert(offsetof(gpc_message_info_t, name) == 0, "add_names");

/* `key`: the names of `count` structs of `size` bytes, whose first member is the name. */
static void
add_names(gpc_text_t *out, const char *key, const void *structs, size_t size, uint32_t count)
{
    gpc_text_open(out, key, "[");
    for (uint32_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *) structs + i * size, sizeof name);
        gpc_text_add(out, i ? ", " : "");
        gpc_text_add_string(out, name);
    }
    gpc_text_add(out, "]");
}

/* One table: its states, events and the actions of each cell, states by events. */
static void
add_table_names(const gpc_table_t *table, gpc_text_t *out)
{
    gpc_text_add(out, "{");
    add_names(out, "states", table->states, sizeof *table->states, table->num_states);
    add_names(out, "events", table->events, sizeof *table->events, table->num_events);
    gpc_text_open(out, "actions", "[");
    for (uint32_t i = 0; i < (uint32_t) table->num_states * table->num_events; i++) {
        gpc_text_add(out, i ? ", \"" : "\"");
        gpc_fsm_print_actions(out, &table->cells[i]);
        gpc_text_add(out, "\"");
    }
    gpc_text_add(out, "]}");
}

int
gpc_gpu_trace_names(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    gpc_text_add(out, "{");
    gpc_text_open(out, "nodes", "[");
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        const gpc_controller_t *unit = &gpu->controllers[node];
        gpc_text_add(out, node ? ", [\"%s\", %u]" : "[\"%s\", %u]", unit->type->name, unit->index);
    }
    gpc_text_add(out, "]");
    gpc_nodes_add_dies(&gpu->nodes, &gpu->machine, out);
    add_names(out, "messages", gpu->protocol->messages, sizeof *gpu->protocol->messages, gpu->protocol->num_messages);
    gpc_text_open(out, "tables", "{");
    for (uint32_t i = 0; i < gpc_num_controllers(gpu->protocol); i++) {
        const gpc_controller_type_t *type = gpu->protocol->controllers[i];
        gpc_text_open(out, type->name, "[");
        for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
            gpc_text_add(out, t ? ", " : "");
            add_table_names(type->tables[t], out);
        }
        gpc_text_add(out, "]");
    }
    gpc_text_add(out, "}}");
    return gpc_text_status(out);
}

/* The states of a line's words, each with its word mask, e.g. "V 0x3 R 0xc". */
static void
add_word_states(const gpc_controller_t *unit, gpc_address_t line, gpc_text_t *out)
{
    const gpc_table_t *table = unit->type->tables[0];
    gpc_mask_t words[UINT8_MAX + 1] = {0};
    gpc_index_t way;

    for (uint32_t word = 0; word < unit->machine->line_bytes / 4; word++) {
        words[gpc_state_at(unit, line, word, &way)] |= UINT32_C(1) << word;
    }
    for (uint32_t state = 0; state < table->num_states; state++) {
        if (words[state]) {
            gpc_text_add(out, " %s 0x%x", table->states[state].name, words[state]);
        }
    }
}

static void
add_line_at(const gpc_gpu_t *gpu, gpc_node_t node, gpc_address_t line, gpc_text_t *out)
{
    const gpc_controller_t *unit = &gpu->controllers[node];
    const gpc_table_t *table = unit->type->tables[0];
    gpc_index_t way;
    uint8_t state = gpc_state_at(unit, line, 0, &way);

    if (way == GPC_NONE && gpc_mshr_find(&unit->mshrs, line) == GPC_NONE) {
        return;
    }
    gpc_text_add(out, "; ");
    if (gpu->machine.dies > 1 && gpc_die_of(&gpu->nodes, node) != GPC_NO_DIE) {
        gpc_text_add(out, "die %u ", gpc_die_of(&gpu->nodes, node));
    }
    gpc_text_add(out, "%s %u:", unit->type->name, unit->index);
    if (table->object == GPC_OVER_WORDS) {
        add_word_states(unit, line, out);
    } else {
        gpc_text_add(out, " %s", table->states[state].name);
    }
}

void
gpc_gpu_add_line_state(gpc_gpu_t *gpu)
{
    gpc_text_t text;
    gpc_text_init(&text);
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        add_line_at(gpu, (gpc_node_t) node, gpu->failure.line, &text);
    }
    size_t length = strlen(gpu->failure.text), room = sizeof(gpu->failure.text) - length - 1;
    if (text.bytes) {
        memcpy(gpu->failure.text + length, text.bytes, text.length < room ? text.length : room);
        gpu->failure.text[length + (text.length < room ? text.length : room)] = 0;
    }
    gpc_text_free(&text);
}

int
gpc_gpu_profile(gpc_gpu_t *gpu, bool on)
{
    int status = gpc_gpu_refuse_while_running(gpu, "a profile");
    GPC_TRY(status);
    gpc_profile_free(gpu->profile);
    gpu->profile = NULL;
    if (on) {
        const gpc_profiled_t about = {&gpu->stream,     &gpu->cores,    &gpu->nodes,
                                      gpu->controllers, &gpu->messages, gpu->core_clock.period};
        status = gpc_profile_create(&about, &gpu->profile);
    }
    return status ? gpc_fail(&gpu->failure, status, "out of memory for a profile") : GPC_OK;
}

int
gpc_gpu_print_profile(const gpc_gpu_t *gpu, gpc_text_t *out)
{
    if (gpu->profile) {
        return gpc_profile_print(gpu->profile, out);
    }
    gpc_text_add(out, "null");
    return gpc_text_status(out);
}
