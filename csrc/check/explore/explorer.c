/* explorer.c: breadth-first search over all interleavings of a small world, but for orders of moves that commute
 * (world_subset.c): the first violation has a shortest trace of those that are visited. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "check/explore/canonical.h"
#include "check/explore/exploration.h"
#include "check/explore/outcomes.h"
#include "check/explore/states.h"
#include "check/explore/world.h"

enum { MAX_DEPTH = 4096, MAX_SCALE = 256 /* messages can be numbered */ };

typedef struct {
    gpc_world_t world;
    gpc_states_t states;
    uint8_t *start, *here, *there; /* owned: images of the arena */
    bool moved;                    /* the arena is not `here`: a move was tried */
    gpc_canonical_t canonical;
    gpc_moves_t moves;
    gpc_exploration_t *found; /* borrowed */
} explorer_t;

static bool
is_violated(const explorer_t *self)
{
    return self->found->violation != NULL;
}

static bool
is_bounded(const explorer_t *self)
{
    return self->found->limit.length > 0;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* Records the world's state with its parent and move. */
static int
discover(explorer_t *self, const gpc_state_seen_t *how, uint32_t *state)
{
    gpc_state_hash_t hash;
    bool is_new;
    int status = gpc_canonical_hash(&self->canonical, &self->world, &hash);

    if (status == GPC_OK) {
        status = gpc_states_note(&self->states, hash, how, state, &is_new);
    }
    if (status == GPC_OK && is_new) {
        self->found->depth = how->depth > self->found->depth ? how->depth : self->found->depth;
        const uint8_t *image = gpc_arena_whole(&self->world.arena);
        if (!image) {
            gpc_arena_save(&self->world.arena, self->there);
        }
        status = gpc_states_queue(&self->states, image ? image : self->there);
    }
    return status;
}

/* ---- violations -------------------------------------------------------------------------------------------------- */

/* Replays a sequence of moves and prints it. */
static void
replay(explorer_t *self, const uint16_t *path, uint32_t depth)
{
    gpc_text_t *out = &self->found->trace;
    gpc_world_view_t before;

    gpc_arena_load(&self->world.arena, self->start);
    for (uint32_t i = 0; i < depth; i++) {
        if (gpc_world_moves(&self->world, &self->moves)) {
            out->failed = true; /* out of memory */
            return;
        }
        const gpc_move_t *move = &self->moves.list[path[i]];
        self->found->trace_moves |= 1u << move->kind;
        gpc_world_look(&self->world, &before);
        gpc_text_open(out, NULL, "{");
        gpc_world_print_move(&self->world, move, out);
        int status = gpc_world_move(&self->world, move);
        gpc_world_print_changes(&self->world, &before, out);
        gpc_text_add(out, "}");
        if (status) {
            return; /* the violation */
        }
    }
}

/* ["L1", "core", 0]: controller, position, index. */
static void
print_nodes(const explorer_t *self, gpc_text_t *out)
{
    gpc_text_open(out, "nodes", "[");
    for (uint32_t node = 0; node < self->world.nodes.count; node++) {
        const gpc_controller_t *unit = &self->world.controllers[node];
        gpc_text_add(out, "%s[\"%s\", \"%s\", %u]", node ? ", " : "", unit->type->name,
                     gpc_position_name(unit->type->position), unit->index);
    }
    gpc_text_add(out, "]");
}

static void
note_violation(explorer_t *self, uint32_t state, int last_move, const char *kind, const char *what)
{
    uint16_t path[MAX_DEPTH + 1];
    uint32_t depth = gpc_states_path(&self->states, state, path);
    gpc_text_t *out = &self->found->trace;

    self->found->violation = kind;
    gpc_text_add(&self->found->what, "%s", what);
    if (last_move >= 0) {
        path[depth++] = (uint16_t) last_move;
    }
    print_nodes(self, out);
    gpc_text_open(out, "trace", "[");
    replay(self, path, depth);
    gpc_text_add(out, "]");
}

static const char *
kind_of(int error)
{
    return error == GPC_ERROR_PROTOCOL ? "protocol error" : "invariant";
}

/* Whether an error is a limit of the explorer, not a fault of the protocol. */
static bool
is_ours(int error)
{
    return error == GPC_ERROR_CAPACITY || error == GPC_ERROR_MEMORY;
}

/* Records why the search is incomplete. */
__attribute__((format(printf, 2, 3))) static void
note_limit(explorer_t *self, const char *format, ...)
{
    char what[512];
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    gpc_text_clear(&self->found->limit);
    gpc_text_add(&self->found->limit, "%s", what);
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static int
note_outcome(explorer_t *self, uint32_t state, const gpc_symmetry_t *symmetry)
{
    const gpc_explore_t *what = self->world.what;
    uint32_t row[GPC_OUTCOME_MAX_WIDTH], width;
    bool is_new = false;
    int status = gpc_outcome_read(&self->world, symmetry, row, &width);

    if (status == GPC_OK) {
        status = gpc_outcomes_note(&self->found->outcomes, row, width, &is_new);
    }
    GPC_TRY(status);
    if (!is_new || !what->allowed || is_violated(self)) {
        return GPC_OK;
    }
    if (!gpc_outcome_is_among(what->allowed, what->num_allowed, row, width)) {
        note_violation(self, state, -1, "outcome", "the memory model does not allow these values");
        gpc_arena_load(&self->world.arena, self->here); /* printing the violation has replayed the moves */
    }
    return GPC_OK;
}

/* Records the outcomes of the state and of all states equivalent to it. */
static int
note_outcomes(explorer_t *self, uint32_t state)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < self->world.num_symmetries && status == GPC_OK; i++) {
        status = note_outcome(self, state, &self->world.symmetries[i]);
    }
    return status;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* Whether nothing is left to do: programs have ended, and with them the last launch. */
static bool
is_at_rest(const gpc_world_t *world)
{
    for (uint32_t node = 0; node < world->nodes.count; node++) {
        if (*world->controllers[node].launch_pending) {
            return false;
        }
    }
    return gpc_world_programs_done(world) && gpc_world_quiet(world);
}

/* Checks a state: at rest, the outcome and invariants; otherwise, that some move is possible. */
static int
judge(explorer_t *self, uint32_t state, bool anything_happens)
{
    if (is_at_rest(&self->world)) {
        self->states.seen[state].rests = true;
        for (uint32_t node = 0; node < self->world.nodes.count; node++) {
            if (gpc_controller_verify(&self->world.controllers[node], true)) {
                note_violation(self, state, -1, "invariant", self->world.failure.text);
                return GPC_OK;
            }
        }
        if (gpc_world_check_accepted(&self->world) || gpc_world_check_memory(&self->world)) {
            note_violation(self, state, -1, "invariant", self->world.failure.text);
            return GPC_OK;
        }
        return note_outcomes(self, state);
    }
    if (!anything_happens) {
        note_violation(self, state, -1, "deadlock", "operations are incomplete and no move is possible");
    }
    return GPC_OK;
}

/* Executes the move and checks the protocol's invariants in the new state. */
static int
take_move(explorer_t *self, const gpc_move_t *move)
{
    GPC_TRY(gpc_world_move(&self->world, move));
    return gpc_world_monitor(&self->world);
}

static int
list_moves(explorer_t *self)
{
    int status = gpc_world_moves(&self->world, &self->moves);
    if (status == GPC_OK && self->moves.count > UINT16_MAX) {
        return gpc_fail(&self->world.failure, GPC_ERROR_CAPACITY, "a state has %u moves: at most %u are supported",
                        self->moves.count, (unsigned) UINT16_MAX);
    }
    return status;
}

/* Whether programs may count on the move: evictions and background timers need not happen, a serving timer expires
 * while a thread has not ended. */
static bool
is_help(const gpc_move_t *move, bool programs_done)
{
    return move->kind != GPC_MOVE_EVICT && (move->kind != GPC_MOVE_BACKGROUND || (move->a && !programs_done));
}

/* Carries out a move of the state that is loaded. *next: the state after it, or `state` if it is not possible now. */
static int
follow(explorer_t *self, uint32_t state, uint32_t number, uint32_t *next)
{
    const gpc_move_t *move = &self->moves.list[number];
    int status = take_move(self, move);

    *next = state;
    self->moved = status != GPC_WORLD_WAITS;
    if (status == GPC_OK) {
        gpc_state_seen_t how = {state, (uint16_t) (self->states.seen[state].depth + 1), (uint16_t) number, false};
        return discover(self, &how, next);
    }
    if (status < 0 && !is_ours(status)) {
        char what[sizeof(self->world.failure.text)];
        memcpy(what, self->world.failure.text, sizeof(what));
        note_violation(self, state, (int) number, kind_of(status), what);
    }
    return status < 0 && is_ours(status) ? status : GPC_OK;
}

static void
load_here(explorer_t *self)
{
    if (self->moved) {
        gpc_arena_load(&self->world.arena, self->here);
        self->moved = false;
    }
}

typedef struct {
    bool done;    /* the programs are, in the state that is expanded */
    bool happens; /* a move that programs may count on is possible, */
    bool leads;   /* and leads to a state that is not expanded yet */
} expansion_t;

/* Carries out the moves of the nodes. */
static int
follow_all(explorer_t *self, uint32_t state, uint32_t nodes, expansion_t *found)
{
    int status = GPC_OK;
    uint32_t next;

    for (uint32_t i = 0; i < self->moves.count && status == GPC_OK && !is_violated(self); i++) {
        load_here(self);
        if (!gpc_world_is_move_of(&self->world, &self->moves.list[i], nodes)) {
            continue;
        }
        bool helps = is_help(&self->moves.list[i], found->done);
        status = follow(self, state, i, &next);
        if (status == GPC_OK && !is_violated(self) && next != state) {
            self->found->transitions++;
            found->happens |= helps;
            found->leads |= helps && next > state;
            status = helps ? gpc_states_add_edge(&self->states, next) : GPC_OK;
        }
    }
    return status;
}

static int
expand(explorer_t *self, uint32_t state)
{
    gpc_states_dequeue(&self->states, self->here);
    self->moved = true;
    load_here(self);
    expansion_t found = {.done = gpc_world_programs_done(&self->world)};
    uint32_t nodes = gpc_world_subset(&self->world), others = gpc_world_all_nodes(&self->world) & ~nodes;
    int status = list_moves(self);
    if (status == GPC_OK) {
        status = follow_all(self, state, nodes, &found);
    }
    if (status == GPC_OK && !is_violated(self) && !found.leads && others) {
        status = follow_all(self, state, others, &found);
    }
    GPC_TRY(status);
    if (is_violated(self)) {
        return GPC_OK;
    }
    gpc_states_expanded(&self->states);
    if (found.happens && !found.done) {
        return GPC_OK; /* neither at rest nor stuck */
    }
    load_here(self);
    return judge(self, state, found.happens);
}

/* Checks that a state at rest is reachable from every state. */
static int
find_trap(explorer_t *self)
{
    uint32_t state;
    int status = gpc_states_find_trap(&self->states, &state);

    if (status == GPC_OK && state != GPC_NONE) {
        note_violation(self, state, -1, "livelock", "from this state the operations can never complete");
    }
    return status;
}

static int
search(explorer_t *self, uint64_t max_states)
{
    static const gpc_state_seen_t first = {0};
    uint32_t next = 0, state;
    int status = discover(self, &first, &state);

    while (status == GPC_OK && next < self->states.count && !is_violated(self) && !is_bounded(self)) {
        if (self->states.count > max_states) {
            note_limit(self, "more than %llu states", (unsigned long long) max_states);
        } else if (self->states.seen[next].depth >= MAX_DEPTH - 1) {
            note_limit(self, "states that are more than %d moves away", MAX_DEPTH - 1);
        } else {
            status = expand(self, next++);
        }
    }
    if (status == GPC_ERROR_CAPACITY && !gpc_world_is_full(&self->world)) {
        note_limit(self, "%s", self->world.failure.text);
        status = GPC_OK;
    }
    if (status == GPC_OK && !is_violated(self)) {
        status = find_trap(self);
    }
    if (status == GPC_ERROR_MEMORY) {
        return gpc_fail(&self->world.failure, status, "out of memory after %u states", self->states.count);
    }
    return status;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static int
note_result(const explorer_t *self)
{
    gpc_exploration_t *found = self->found;

    found->states = self->states.count;
    found->complete = !is_violated(self) && !is_bounded(self);
    GPC_TRY(gpc_exploration_note(found, &self->world));
    return found->what.failed || found->trace.failed || found->limit.failed ? GPC_ERROR_MEMORY : GPC_OK;
}

static int
check_allowed(explorer_t *self)
{
    uint32_t row[GPC_OUTCOME_MAX_WIDTH], width;
    int status = gpc_outcome_read(&self->world, self->world.symmetries, row, &width);

    if (status == GPC_OK && self->world.what->allowed && self->world.what->allowed_width != width) {
        return gpc_fail(&self->world.failure, GPC_ERROR_ARGUMENT, "allowed outcomes must have %u values, got %u", width,
                        self->world.what->allowed_width);
    }
    return status;
}

static int
make_images(explorer_t *self)
{
    size_t bytes = gpc_arena_bytes(&self->world.arena);

    self->start = malloc(bytes);
    self->here = malloc(bytes);
    self->there = malloc(bytes);
    if (!self->start || !self->here || !self->there) {
        return GPC_ERROR_MEMORY;
    }
    gpc_arena_save(&self->world.arena, self->start);
    gpc_states_init(&self->states, self->start, bytes);
    return GPC_OK;
}

static void
free_all(explorer_t *self)
{
    gpc_world_free(&self->world);
    gpc_states_free(&self->states);
    gpc_moves_free(&self->moves);
    free(self->start);
    free(self->here);
    free(self->there);
    gpc_canonical_free(&self->canonical);
    gpc_block_give(self, sizeof(*self));
}

/* *too_small: the protocol has more messages in flight than the world has space for. */
static int
explore(const gpc_explore_t *what, uint32_t scale, gpc_exploration_t *out, bool *too_small)
{
    explorer_t *self = gpc_block_take(sizeof(*self));
    *too_small = false;
    if (!self) {
        return gpc_fail(&out->failure, GPC_ERROR_MEMORY, "%s", gpc_error_message(GPC_ERROR_MEMORY));
    }
    self->found = out;
    int status = gpc_world_init(&self->world, what, scale);
    if (status == GPC_OK) {
        status = check_allowed(self);
    }
    if (status == GPC_OK) {
        status = make_images(self);
    }
    if (status == GPC_OK) {
        status = search(self, what->max_states < GPC_NONE / 2 ? what->max_states : GPC_NONE / 2);
    }
    if (status == GPC_ERROR_CAPACITY && gpc_world_is_full(&self->world)) {
        *too_small = scale < MAX_SCALE;
        note_limit(self, "more than %u messages in flight", self->world.messages.capacity);
        status = GPC_OK;
    }
    if (status == GPC_OK) {
        status = note_result(self);
    }
    if (status != GPC_OK) {
        (void) gpc_fail(&out->failure, status, "%s",
                        self->world.failure.code ? self->world.failure.text : gpc_error_message(status));
    }
    free_all(self);
    return status;
}

/* Restarts the search with more space if messages run out: a protocol may send any number of messages per access. */
int
gpc_explore_search(const gpc_explore_t *what, gpc_exploration_t *out)
{
    bool too_small = true;
    int status = GPC_OK;

    *out = (gpc_exploration_t){0};
    for (uint32_t scale = 1; too_small; scale *= 2) {
        gpc_exploration_free(out);
        status = explore(what, scale, out, &too_small);
    }
    return status;
}

int
gpc_explore(const gpc_explore_t *what, gpc_text_t *out)
{
    gpc_exploration_t found;
    int status = gpc_explore_search(what, &found);

    gpc_text_clear(out);
    if (status == GPC_OK) {
        gpc_exploration_print(&found, out);
        status = gpc_text_status(out);
    } else {
        gpc_text_add(out, "%s", found.failure.text);
    }
    gpc_exploration_free(&found);
    return status;
}
