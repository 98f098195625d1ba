/* profile_print.c: the profile as JSON; counts that are 0 are left out. */
#include "check/profile/profile_parts.h"

static const char *const cycle_names[GPC_NUM_CYCLES] = {
#define X(name, text) #name,
    GPC_STALLS(X)
#undef X
        [GPC_CYCLES_ISSUE] = "issue",
    [GPC_CYCLES_NOT_SELECTED] = "not_selected",
};

static const char *const count_names[GPC_NUM_COUNTS] = {
#define X(name, text) #name,
    GPC_CONTROLLER_STATISTICS(X)
#undef X
};

static void
add_group(gpc_text_t *out, const char *name, const char *const *names, const uint64_t *values, uint32_t count)
{
    gpc_text_open(out, name, "{");
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] != 0) {
            gpc_text_add_count(out, names[i], values[i]);
        }
    }
    gpc_text_add(out, "}");
}

static bool
is_zero(const uint64_t *values, uint32_t count)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < count; i++) {
        any |= values[i];
    }
    return any == 0;
}

static void
add_traffic(gpc_text_t *out, const gpc_traffic_counts_t *counts, uint32_t dies)
{
    static const char *const names[GPC_NUM_POSITIONS] = {"l1", "l2", "l3", "global", "host"};
    for (uint32_t i = 0; i < GPC_NUM_POSITIONS; i++) {
        if (!is_zero(counts->counts[i], GPC_NUM_COUNTS)) {
            add_group(out, names[i], count_names, counts->counts[i], GPC_NUM_COUNTS);
        }
    }
    gpc_text_add_count(out, "flits", counts->flits);
    gpc_text_add_count(out, "owner_changes", counts->owner_changes);
    gpc_text_add_count(out, "bank_cycles", counts->bank_cycles);
    if (dies > 1) {
        gpc_text_add_count(out, "requests", counts->requests);
        gpc_text_add_count(out, "remote_requests", counts->remote_requests);
        gpc_text_add_count(out, "link_requests", counts->link_requests);
        gpc_text_add_count(out, "link_bytes", counts->link_bytes);
    }
}

/* Requests for a buffer's lines, by the die of the core: on several dies. */
static void
add_by_die(gpc_text_t *out, const gpc_die_requests_t *by_die, uint32_t dies)
{
    if (dies <= 1) {
        return;
    }
    gpc_text_open(out, "by_die", "[");
    for (uint32_t die = 0; die < dies; die++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_count(out, "requests", by_die[die].requests);
        gpc_text_add_count(out, "remote_requests", by_die[die].remote_requests);
        gpc_text_add_count(out, "link_requests", by_die[die].link_requests);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

/* The buffer of an instruction's access, or `none`. */
static uint32_t
slot_of(const gpc_profiled_program_t *program, uint32_t pc)
{
    const gpc_instruction_t *in = &program->code[pc < program->count ? pc : 0];
    bool accesses = in->opcode == GPC_OP_LOAD || in->opcode == GPC_OP_STORE || in->opcode == GPC_OP_ATOMIC;
    if (pc >= program->count || !accesses) {
        return program->num_buffers;
    }
    return (in->flags & GPC_FLAG_FLAT) != 0 ? program->places[pc].slot : in->immediate;
}

/* "file": -1 is no instruction. */
static void
add_where(gpc_text_t *out, const gpc_profiled_program_t *program, uint32_t pc)
{
    bool none = pc >= program->count || program->code[pc].file >= program->num_files;
    gpc_text_add_key(out, "file");
    gpc_text_add(out, "%d", none ? -1 : program->code[pc].file);
    gpc_text_add_count(out, "line", none ? 0 : program->first_lines[program->code[pc].file] + program->code[pc].line);
    gpc_text_add_count(out, "slot", slot_of(program, pc));
}

static void
add_places(gpc_text_t *out, const gpc_profiled_program_t *program, uint32_t dies)
{
    gpc_text_open(out, "places", "[");
    for (uint32_t pc = 0; pc <= program->count; pc++) {
        const gpc_profiled_place_t *place = &program->places[pc];
        if (is_zero((const uint64_t *) place, offsetof(gpc_profiled_place_t, slot) / sizeof(uint64_t))) {
            continue;
        }
        gpc_text_open(out, NULL, "{");
        add_where(out, program, pc);
        gpc_text_add_count(out, "instructions", place->instructions);
        add_group(out, "cycles", cycle_names, place->cycles, GPC_NUM_STALLS + 1);
        add_group(out, "awaited", cycle_names, place->awaited, GPC_NUM_STALLS + 1);
        add_traffic(out, &place->caused, dies);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

static void
add_program(gpc_text_t *out, const gpc_profiled_program_t *program, uint32_t dies)
{
    gpc_text_open(out, NULL, "{");
    gpc_text_add_text(out, "kernel", program->kernel);
    gpc_text_add_count(out, "launches", program->launches);
    gpc_text_open(out, "files", "[");
    for (uint32_t i = 0; i < program->num_files; i++) {
        gpc_text_add_comma(out);
        gpc_text_add_string(out, program->files[i]);
    }
    gpc_text_add(out, "]");
    add_places(out, program, dies);
    gpc_text_open(out, "buffers", "[");
    for (uint32_t i = 0; i <= program->num_buffers; i++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", i < program->num_buffers ? program->buffers[i] : "");
        add_traffic(out, &program->slots[i], dies);
        add_by_die(out, &program->by_die[(size_t) i * dies], dies);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]}");
}

static void
add_warps(gpc_text_t *out, const gpc_profile_t *self)
{
    const gpc_machine_t *machine = self->about.cores->machine;
    gpc_text_open(out, "warps", "[");
    for (uint32_t i = 0; i < machine->cores * machine->warps_per_core; i++) {
        const gpc_profiled_warp_t *warp = &self->warps[i];
        if (warp->instructions == 0) {
            continue;
        }
        gpc_text_open(out, NULL, "{");
        gpc_text_add_count(out, "core", i / machine->warps_per_core);
        gpc_text_add_count(out, "warp", i % machine->warps_per_core);
        gpc_text_add_count(out, "instructions", warp->instructions);
        add_group(out, "cycles", cycle_names, warp->cycles, GPC_NUM_STALLS + 1);
        add_group(out, "waits", cycle_names, warp->waits, GPC_NUM_CYCLES);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

static void
add_link(gpc_text_t *out, const gpc_profile_t *self, const gpc_link_t *link)
{
    const gpc_profiled_program_t *program = self->links_of;
    gpc_text_open(out, NULL, "{");
    gpc_text_add_count(out, "from", link->from - self->began_of_links);
    gpc_text_add_count(out, "to", link->to - self->began_of_links);
    gpc_text_add_count(out, "core", link->core);
    gpc_text_add_count(out, "warp", link->warp);
    gpc_text_add_count(out, "block", link->block);
    gpc_text_add_text(out, "after", link->cause < GPC_NUM_STALLS ? cycle_names[link->cause] : "launch");
    gpc_text_open(out, "place", "{");
    add_where(out, program, link->pc);
    gpc_text_add(out, "}");
    if (link->slot < program->num_buffers) {
        gpc_text_add_text(out, "buffer", program->buffers[link->slot]);
        gpc_text_add_count(out, "element", link->element);
    }
    if (link->longest.cycles != 0) {
        gpc_text_open(out, "longest", "{");
        add_where(out, program, link->longest.pc);
        gpc_text_add_text(out, "cause", cycle_names[link->longest.cause]);
        gpc_text_add_count(out, "cycles", link->longest.cycles);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "}");
}

int
gpc_profile_print(gpc_profile_t *self, gpc_text_t *out)
{
    gpc_profile_sweep(self);
    gpc_text_add(out, "{");
    gpc_text_open(out, "programs", "[");
    for (const gpc_profiled_program_t *program = self->programs; program; program = program->next) {
        add_program(out, program, gpc_profile_dies(self));
    }
    gpc_text_add(out, "]");
    gpc_nodes_add_dies(self->about.nodes, self->about.cores->machine, out);
    add_warps(out, self);
    gpc_text_open(out, "critical", "{");
    gpc_text_add_text(out, "kernel", self->links_of ? self->links_of->kernel : "");
    gpc_text_open(out, "files", "[");
    for (uint32_t i = 0; self->links_of && i < self->links_of->num_files; i++) {
        gpc_text_add_comma(out);
        gpc_text_add_string(out, self->links_of->files[i]);
    }
    gpc_text_add(out, "]");
    gpc_text_add_key(out, "cut");
    gpc_text_add(out, self->links_cut ? "true" : "false");
    gpc_text_open(out, "links", "[");
    for (uint32_t i = 0; i < self->num_links; i++) {
        add_link(out, self, &self->links[i]);
    }
    gpc_text_add(out, "]}}");
    return gpc_text_status(out);
}
