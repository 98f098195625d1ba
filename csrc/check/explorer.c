/* explorer.c: every interleaving of a small world, breadth first, so that the first violation found has the shortest way.
 *
 * A state is remembered by 128 bits of hash over its encoding (two different states with one hash: less likely than a broken
 * memory chip), its parent and the move that led here; the state itself is made again by replaying the moves. Breadth first,
 * neighbours have most of their way in common: the images along the last way are kept, and only what differs is replayed. */
#include <stdlib.h>
#include <string.h>

#include "check/world.h"

enum { ENCODING_BYTES = 32768, MAX_DEPTH = 4096, MAX_VIOLATIONS = 1, KEPT_IMAGES = 128 };
#define NO_STATE UINT64_MAX

typedef struct {
    uint64_t high, low;
} hash_t;

typedef struct {
    uint32_t parent;
    uint16_t move;
    uint16_t depth;
} seen_t;

typedef struct {
    gpc_world_t world;
    uint8_t *start, *here;          /* owned: images of the arena */
    uint8_t *images[KEPT_IMAGES];   /* owned, made when needed: of the states on the last way, by depth */
    uint64_t image_of[KEPT_IMAGES]; /* which state that is */
    uint8_t *encoding;              /* owned */
    hash_t *table;                  /* owned; open addressing, 0 is free */
    uint64_t slots;
    seen_t *states; /* owned, in order of discovery */
    uint64_t num_states, capacity;
    uint64_t transitions;
    uint32_t depth;
    uint32_t *outcomes; /* owned; rows of `width` values, each once */
    uint32_t num_outcomes, outcome_capacity, width;
    gpc_text_t violations;
    uint32_t num_violations;
    bool complete;
} explorer_t;

/* ---- hashing ------------------------------------------------------------------------------------------------------------------------ */

static uint64_t
mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static hash_t
hash_of(const uint8_t *bytes, size_t length)
{
    hash_t hash = {UINT64_C(0x9E3779B97F4A7C15) + length, UINT64_C(0xC2B2AE3D27D4EB4F)};
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? length - i : 8);
        hash.high = mix(hash.high ^ word);
        hash.low = mix(hash.low + word * UINT64_C(0x9FB21C651E98DF25));
    }
    hash.low |= 1; /* 0 marks a free slot */
    return hash;
}

/* True when the hash is new. */
static bool
insert(hash_t *table, uint64_t slots, hash_t hash)
{
    uint64_t slot = hash.high & (slots - 1);
    while (table[slot].low) {
        if (table[slot].low == hash.low && table[slot].high == hash.high) {
            return false;
        }
        slot = (slot + 1) & (slots - 1);
    }
    table[slot] = hash;
    return true;
}

static int
grow(explorer_t *self)
{
    if (self->num_states < self->capacity) {
        return GPC_OK;
    }
    uint64_t capacity = self->capacity ? 2 * self->capacity : 4096, slots = 4 * capacity;
    seen_t *states = realloc(self->states, capacity * sizeof(*states));
    hash_t *table = states ? calloc(slots, sizeof(*table)) : NULL;
    if (states) {
        self->states = states;
    }
    if (!table) {
        return gpc_fail(&self->world.failure, GPC_ERROR_MEMORY, "no memory for %llu states",
                        (unsigned long long) capacity);
    }
    for (uint64_t i = 0; i < self->slots; i++) {
        if (self->table[i].low) {
            (void) insert(table, slots, self->table[i]);
        }
    }
    free(self->table);
    self->table = table;
    self->slots = slots;
    self->capacity = capacity;
    return GPC_OK;
}

static int
hash_here(explorer_t *self, hash_t *hash)
{
    gpc_encoder_t encoder = {.bytes = self->encoding, .capacity = ENCODING_BYTES};

    gpc_world_encode(&self->world, &encoder);
    if (encoder.overflow) {
        return gpc_fail(&self->world.failure, GPC_ERROR_CAPACITY, "a state needs more than %d bytes", ENCODING_BYTES);
    }
    *hash = hash_of(self->encoding, encoder.length);
    return GPC_OK;
}

/* Notes the world's state if it is new. */
static int
discover(explorer_t *self, uint32_t parent, uint32_t move, uint32_t depth)
{
    hash_t hash;
    int status = grow(self);
    if (status == GPC_OK) {
        status = hash_here(self, &hash);
    }
    if (status) {
        return status;
    }
    if (insert(self->table, self->slots, hash)) {
        self->states[self->num_states++] = (seen_t){parent, (uint16_t) move, (uint16_t) depth};
        self->depth = depth > self->depth ? depth : self->depth;
    }
    return GPC_OK;
}

/* ---- getting back to a state ---------------------------------------------------------------------------------------------------------- */

static int
moves_to(const explorer_t *self, uint64_t state, uint16_t *moves)
{
    int depth = self->states[state].depth;
    for (int i = depth; i > 0; i--) {
        moves[i - 1] = self->states[state].move;
        state = self->states[state].parent;
    }
    return depth;
}

/* The world is at the state. */
static int
go_to(explorer_t *self, uint64_t state)
{
    gpc_move_t moves[GPC_WORLD_MAX_MOVES];
    uint64_t states[KEPT_IMAGES], at = state;
    uint16_t way[MAX_DEPTH + 1];
    int depth = moves_to(self, state, way), from = 0;

    for (int d = depth; d > 0; d--) {
        if (d < KEPT_IMAGES) {
            states[d] = at;
            from = !from && self->image_of[d] == at ? d : from;
        }
        at = self->states[at].parent;
    }
    gpc_arena_load(&self->world.arena, from ? self->images[from] : self->start);
    for (int d = from + 1; d <= depth; d++) {
        (void) gpc_world_moves(&self->world, moves);
        int status = gpc_world_move(&self->world, &moves[way[d - 1]]);
        if (status) {
            return status;
        }
        if (d < KEPT_IMAGES) {
            self->images[d] = self->images[d] ? self->images[d] : malloc(gpc_arena_bytes(&self->world.arena));
            self->image_of[d] = self->images[d] ? states[d] : NO_STATE;
            if (self->images[d]) {
                gpc_arena_save(&self->world.arena, self->images[d]);
            }
        }
    }
    return GPC_OK;
}

/* Replays a way and tells it. */
static void
replay(explorer_t *self, const uint16_t *way, int depth, gpc_text_t *tell)
{
    gpc_move_t moves[GPC_WORLD_MAX_MOVES];

    gpc_arena_load(&self->world.arena, self->start);
    for (int i = 0; i < depth; i++) {
        gpc_text_t line;
        (void) gpc_world_moves(&self->world, moves);
        gpc_text_init(&line);
        gpc_world_print_move(&self->world, &moves[way[i]], &line);
        gpc_text_add_comma(tell);
        gpc_text_add_string(tell, line.bytes ? line.bytes : "");
        gpc_text_free(&line);
        if (gpc_world_move(&self->world, &moves[way[i]])) {
            return; /* the violation */
        }
    }
}

static void
note_violation(explorer_t *self, uint64_t state, int last_move, const char *what)
{
    uint16_t way[MAX_DEPTH + 1];
    int depth = moves_to(self, state, way);

    if (self->num_violations++ >= MAX_VIOLATIONS) {
        return;
    }
    if (last_move >= 0) {
        way[depth++] = (uint16_t) last_move;
    }
    gpc_text_add(&self->violations, "{\"what\": ");
    gpc_text_add_string(&self->violations, what);
    gpc_text_add(&self->violations, ", \"trace\": [");
    replay(self, way, depth, &self->violations);
    gpc_text_add(&self->violations, "]}");
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------------------------------- */

static int
note_outcome(explorer_t *self)
{
    const gpc_explore_t *what = self->world.what;
    uint32_t row[GPC_WORLD_MAX_THREADS * GPC_WORLD_MAX_OPS + GPC_WORLD_MAX_VARIABLES], width = 0;

    for (uint32_t t = 0; t < what->num_threads; t++) {
        for (uint32_t op = 0; op < what->threads[t].num_ops; op++) {
            uint8_t kind = what->threads[t].ops[op].kind;
            if (kind == GPC_ACCESS_LOAD || kind == GPC_ACCESS_ATOMIC) {
                row[width++] = self->world.state->threads[t].read[op];
            }
        }
    }
    for (uint32_t v = 0; v < what->variables; v++) {
        int status = gpc_world_final(&self->world, v, &row[width++]);
        if (status) {
            return status;
        }
    }
    self->width = width;
    for (uint32_t i = 0; i < self->num_outcomes; i++) {
        if (memcmp(&self->outcomes[i * width], row, width * sizeof(*row)) == 0) {
            return GPC_OK;
        }
    }
    if (self->num_outcomes == self->outcome_capacity) {
        uint32_t capacity = self->outcome_capacity ? 2 * self->outcome_capacity : 64;
        uint32_t *outcomes = realloc(self->outcomes, (size_t) capacity * width * sizeof(*outcomes));
        if (!outcomes) {
            return gpc_fail(&self->world.failure, GPC_ERROR_MEMORY, "no memory for outcomes");
        }
        self->outcomes = outcomes;
        self->outcome_capacity = capacity;
    }
    memcpy(&self->outcomes[self->num_outcomes++ * width], row, width * sizeof(*row));
    return GPC_OK;
}

/* ---- the search --------------------------------------------------------------------------------------------------------------------------- */

/* An end: everything done, nothing on its way. Else something must be able to happen. */
static int
judge(explorer_t *self, uint64_t state, bool anything_happens)
{
    if (gpc_world_programs_done(&self->world) && gpc_world_quiet(&self->world)) {
        for (uint32_t node = 0; node < self->world.nodes; node++) {
            if (gpc_controller_verify(&self->world.controllers[node], true)) {
                note_violation(self, state, -1, self->world.failure.text);
                return GPC_OK;
            }
        }
        return note_outcome(self);
    }
    if (!anything_happens) {
        note_violation(self, state, -1, "deadlock: operations are not complete and nothing can happen");
    }
    return GPC_OK;
}

/* Whether a cycle's passing changes anything: a lease or a timer that counts it. */
static int
time_matters(explorer_t *self, bool *matters)
{
    static const gpc_move_t tick = {.kind = GPC_MOVE_TIME};
    hash_t before, after;
    int status = hash_here(self, &before);

    if (status == GPC_OK) {
        status = gpc_world_move(&self->world, &tick);
    }
    if (status == GPC_OK) {
        status = hash_here(self, &after);
    }
    gpc_arena_load(&self->world.arena, self->here);
    *matters = status == GPC_OK && (before.high != after.high || before.low != after.low);
    return status;
}

static int
expand(explorer_t *self, uint64_t state)
{
    gpc_move_t moves[GPC_WORLD_MAX_MOVES];
    uint32_t depth = self->states[state].depth;
    bool happens = false;

    int status = go_to(self, state);
    if (status) {
        return status;
    }
    gpc_arena_save(&self->world.arena, self->here);
    uint32_t count = gpc_world_moves(&self->world, moves);
    if (count && moves[count - 1].kind == GPC_MOVE_TIME) {
        bool matters;
        status = time_matters(self, &matters);
        if (status) {
            return status;
        }
        count -= matters ? 0 : 1;
    }
    for (uint32_t i = 0; i < count && self->num_violations == 0; i++) {
        status = gpc_world_move(&self->world, &moves[i]);
        if (status < 0) {
            char what[sizeof(self->world.failure.text)];
            memcpy(what, self->world.failure.text, sizeof(what));
            note_violation(self, state, (int) i, what);
            return GPC_OK;
        }
        if (status == GPC_OK) {
            self->transitions++;
            happens |= moves[i].kind != GPC_MOVE_EVICT;
            status = discover(self, (uint32_t) state, i, depth + 1);
            if (status) {
                return status;
            }
        }
        gpc_arena_load(&self->world.arena, self->here);
    }
    return judge(self, state, happens);
}

static int
search(explorer_t *self, uint64_t max_states)
{
    int status = discover(self, 0, 0, 0);
    uint64_t next = 0;

    while (status == GPC_OK && next < self->num_states && self->num_violations == 0) {
        if (self->num_states > max_states || self->states[next].depth >= MAX_DEPTH) {
            return GPC_OK; /* bounded: not complete */
        }
        status = expand(self, next++);
    }
    self->complete = status == GPC_OK && next == self->num_states;
    return status;
}

static void
print_result(const explorer_t *self, gpc_text_t *out)
{
    gpc_text_add(out, "{\"states\": %llu, \"transitions\": %llu, \"depth\": %u, \"complete\": %s, \"outcomes\": [",
                 (unsigned long long) self->num_states, (unsigned long long) self->transitions, self->depth,
                 self->complete ? "true" : "false");
    for (uint32_t i = 0; i < self->num_outcomes; i++) {
        gpc_text_add(out, i ? ", [" : "[");
        for (uint32_t v = 0; v < self->width; v++) {
            gpc_text_add(out, v ? ", %u" : "%u", self->outcomes[i * self->width + v]);
        }
        gpc_text_add(out, "]");
    }
    gpc_text_add(out, "], \"violations\": [%s]}", self->violations.bytes ? self->violations.bytes : "");
}

int
gpc_explore(const gpc_explore_t *what, gpc_text_t *out)
{
    explorer_t *self = calloc(1, sizeof(*self));
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < KEPT_IMAGES; i++) {
        self->image_of[i] = NO_STATE;
    }
    int status = gpc_world_init(&self->world, what);
    if (status == GPC_OK) {
        size_t bytes = gpc_arena_bytes(&self->world.arena);
        self->start = malloc(bytes);
        self->here = malloc(bytes);
        self->encoding = malloc(ENCODING_BYTES);
        status = self->start && self->here && self->encoding ? GPC_OK : GPC_ERROR_MEMORY;
    }
    if (status == GPC_OK) {
        gpc_arena_save(&self->world.arena, self->start);
        status = search(self, what->max_states);
    }
    if (status == GPC_OK) {
        print_result(self, out);
        status = gpc_text_status(out);
    } else {
        gpc_text_clear(out); /* on failure: what was wrong, as plain text */
        gpc_text_add(out, "%s", self->world.failure.code ? self->world.failure.text : gpc_error_message(status));
    }
    gpc_world_free(&self->world);
    gpc_text_free(&self->violations);
    for (uint32_t i = 0; i < KEPT_IMAGES; i++) {
        free(self->images[i]);
    }
    free(self->start);
    free(self->here);
    free(self->encoding);
    free(self->table);
    free(self->states);
    free(self->outcomes);
    free(self);
    return status;
}
