/* test_tables.c: are the tables and declarations of the registered protocols whole? Each is checked and printed;
 * described structs are printed and encoded. */
#include <stdlib.h>
#include <string.h>

#include "check/explore/explore.h"
#include "controller/controller.h"
#include "controller/resolve.h"
#include "json.h"
#include "protocols/registry.h"
#include "tests/fresh.h"
#include "tests/harness.h"

/* NULL behind the last one. */
static const gpc_protocol_t *
protocol_at(uint32_t number)
{
    return number < gpc_protocol_count() ? gpc_protocol_at(number) : NULL;
}

/* ---- every table ------------------------------------------------------------------------------------------------- */

/* Calls `check` with every table of every protocol. */
static void
for_every_table(void (*check)(const gpc_controller_type_t *type, uint32_t table))
{
    const gpc_protocol_t *protocol;
    for (uint32_t p = 0; (protocol = protocol_at(p)); p++) {
        for (uint32_t c = 0; c < gpc_num_controllers(protocol); c++) {
            for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[c]->tables[t]; t++) {
                check(protocol->controllers[c], t);
            }
        }
    }
}

/* Files that expand the same list of states have arrays of their own. */
static bool
have_same_rows_and_columns(const gpc_table_t *a, const gpc_table_t *b)
{
    bool same = a->num_states == b->num_states && a->num_events == b->num_events;
    for (uint8_t s = 0; same && s < a->num_states; s++) {
        same = strcmp(a->states[s].name, b->states[s].name) == 0 && a->states[s].kind == b->states[s].kind;
    }
    for (uint8_t e = 0; same && e < a->num_events; e++) {
        same = strcmp(a->events[e].name, b->events[e].name) == 0;
    }
    return same;
}

static bool
has_table(const gpc_protocol_t *protocol, const gpc_table_t *table)
{
    for (uint32_t c = 0; protocol && c < gpc_num_controllers(protocol); c++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[c]->tables[t]; t++) {
            if (protocol->controllers[c]->tables[t] == table) {
                return true;
            }
        }
    }
    return false;
}

static void
expect_whole(const gpc_table_t *table)
{
    gpc_text_t *text = fresh_text();
    CHECK_EQUAL_I64(gpc_fsm_check(table, text), 0);
    printf("%s%s", text->bytes ? "# " : "", text->bytes ? text->bytes : "");
    CHECK(!table->base || has_table(gpc_protocol_find(table->base_protocol), table->base));
}

TEST(every_table_and_variant_is_whole)
{
    const gpc_protocol_t *protocol;
    for (uint32_t p = 0; (protocol = protocol_at(p)); p++) {
        for (uint32_t c = 0; c < gpc_num_controllers(protocol); c++) {
            const gpc_controller_type_t *type = protocol->controllers[c];
            for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
                expect_whole(type->tables[t]);
            }
            for (uint32_t v = 0; v < GPC_MAX_VARIANTS && type->variants[v].by; v++) {
                const gpc_variant_t *variant = &type->variants[v];
                const gpc_table_t *table = type->tables[variant->table];
                expect_whole(variant->by);
                CHECK(have_same_rows_and_columns(variant->by, table));
                CHECK(variant->by->object == table->object && variant->by->arrays == table->arrays);
                CHECK(protocol->options[variant->option].name != NULL);
            }
        }
    }
}

/* ---- plans: what steps read, against what is declared ------------------------------------------------------------ */

static void
expect_plan(const gpc_table_t *whole, const gpc_table_t *declared, uint8_t state, uint8_t event)
{
    const gpc_plan_t *plan = gpc_fsm_plan(whole, state, event);
    const gpc_cell_t *cell = gpc_fsm_declared_cell(declared, state, event);
    CHECK_EQUAL_U64(plan->kind, cell->kind);
    CHECK_EQUAL_U64(plan->next, cell->next);
    CHECK_EQUAL_U64(plan->opens, declared->states[cell->next].kind != GPC_STABLE);
    for (uint32_t i = 0; i <= GPC_MAX_ACTIONS; i++) {
        CHECK(plan->run[i] == (cell->actions[i] ? cell->actions[i]->run : NULL));
    }
}

static void
expect_all_plans(const gpc_protocol_t *protocol, const int64_t *options)
{
    uint64_t cells = 0;
    const gpc_protocol_t *resolved = gpc_protocol_resolve(protocol, options, fresh_arena());
    bool other = protocol->instead.by && options[protocol->instead.option] == protocol->instead.value;
    protocol = other ? protocol->instead.by : protocol;
    for (uint32_t c = 0; resolved && c < gpc_num_controllers(protocol); c++) {
        const gpc_controller_type_t *type = protocol->controllers[c];
        for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
            const gpc_table_t *declared = type->tables[t], *whole = resolved->controllers[c]->tables[t];
            for (uint32_t v = 0; v < GPC_MAX_VARIANTS && type->variants[v].by; v++) {
                const gpc_variant_t *variant = &type->variants[v];
                bool chosen = variant->table == t && options[variant->option] == variant->value;
                declared = chosen ? variant->by : declared;
            }
            for (uint32_t i = 0; i < (uint32_t) declared->num_states * declared->num_events; i++, cells++) {
                uint8_t state = (uint8_t) (i / declared->num_events), event = (uint8_t) (i % declared->num_events);
                expect_plan(whole, declared, state, event);
            }
        }
    }
    CHECK(cells > 0);
}

/* The random tester counts the cells of the tables that it has at hand. */
TEST(an_option_that_chooses_other_tables_is_not_drawn)
{
    const gpc_protocol_t *protocol;
    for (uint32_t p = 0; (protocol = protocol_at(p)); p++) {
        const gpc_option_info_t *option = &protocol->options[protocol->instead.option];
        CHECK(!protocol->instead.by || option->fuzz_least == option->fuzz_most);
    }
}

TEST(every_plan_is_its_declared_cell)
{
    const gpc_protocol_t *protocol;
    for (uint32_t p = 0; (protocol = protocol_at(p)); p++) {
        int64_t options[GPC_MAX_OPTIONS] = {0};
        for (uint32_t i = 0; i < GPC_MAX_OPTIONS && protocol->options[i].name; i++) {
            options[i] = protocol->options[i].standard;
        }
        expect_all_plans(protocol, options);
        for (uint32_t c = 0; c < gpc_num_controllers(protocol); c++) {
            const gpc_variant_t *variants = protocol->controllers[c]->variants;
            for (uint32_t v = 0; v < GPC_MAX_VARIANTS && variants[v].by; v++) {
                int64_t standard = options[variants[v].option];
                options[variants[v].option] = variants[v].value;
                expect_all_plans(protocol, options);
                options[variants[v].option] = standard;
            }
        }
        if (protocol->instead.by) {
            options[protocol->instead.option] = protocol->instead.value;
            expect_all_plans(protocol, options);
        }
    }
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* The first two of both are the toy's. */
#define MORE_STATES(X) X(TOY_OFF, STABLE, "off") X(TOY_ON, STABLE, "on") X(MORE_BUSY, STABLE, "busy")
#define MORE_EVENTS(X) X(TOY_SET, "set") X(TOY_CLEAR, "clear") X(MORE_WAIT, "wait")
GPC_FSM(MORE, MORE_STATES, MORE_EVENTS)
enum { TOY_NUM_STATES = MORE_BUSY, TOY_NUM_EVENTS = MORE_WAIT };

static gpc_event_id_t
toy_classify(const gpc_step_t *x)
{
    (void) x;
    return TOY_SET;
}

static const gpc_cell_t toy_cells[TOY_NUM_STATES][TOY_NUM_EVENTS] = {
    [TOY_OFF] = {[TOY_SET] = GO(TOY_ON)},
    [TOY_ON] = {[TOY_SET] = GO(TOY_ON), [TOY_CLEAR] = GO(TOY_OFF)},
};
static const gpc_table_t toy = {.name = "toy",
                                .object = GPC_OVER_UNIT,
                                .num_states = TOY_NUM_STATES,
                                .num_events = TOY_NUM_EVENTS,
                                .states = MORE_state_info,
                                .events = MORE_event_info,
                                .cells = &toy_cells[0][0],
                                .classify = toy_classify};

/* The errors of a table with the patches over the toy's. */
static const char *
errors_of(const gpc_patch_t *patches, uint16_t count)
{
    static char copy[256];
    gpc_table_t table = {GPC_TABLE("more", OVER_UNIT, MORE, toy_cells, toy_classify)};

    table.cells = NULL;
    table.base = &toy;
    table.base_protocol = "toy";
    table.patches = patches;
    table.num_patches = count;
    gpc_text_t *text = fresh_text();
    int status = gpc_fsm_check(&table, text);
    (void) snprintf(copy, sizeof(copy), "%s", text->bytes ? text->bytes : "");
    CHECK_EQUAL_I64(status, copy[0] ? GPC_ERROR_ARGUMENT : 0);
    return copy;
}

static const gpc_patch_t good_patches[] = {
    {TOY_OFF, MORE_WAIT, GO(MORE_BUSY), "an event of its own"},
    {MORE_BUSY, TOY_CLEAR, GO(TOY_OFF), "a state of its own"},
    {TOY_ON, TOY_SET, HOLD_QUEUE, NULL},
};

TEST(a_patched_table_has_its_bases_cells_but_for_the_patches)
{
    static const gpc_table_t patched = {
        GPC_PATCHED_TABLE("more", OVER_UNIT, MORE, "toy", toy, good_patches, toy_classify)};
    static const gpc_patch_t again[] = {{TOY_ON, TOY_SET, GO(TOY_OFF), "a base may have one itself"}};
    static const gpc_table_t twice = {GPC_PATCHED_TABLE("most", OVER_UNIT, MORE, "more", patched, again, toy_classify)};
    static const gpc_controller_type_t type = {.name = "toy", .tables = {&twice}};
    static const gpc_protocol_t protocol = {.id = "toys", .controllers = {&type}};
    static const int64_t options[GPC_MAX_OPTIONS];

    CHECK(strcmp(errors_of(good_patches, 3), "") == 0);
    CHECK(strcmp(gpc_fsm_reason(&patched, 2), "a state of its own") == 0);
    const gpc_protocol_t *resolved = gpc_protocol_resolve(&protocol, options, fresh_arena());
    REQUIRE(resolved != NULL);
    const gpc_table_t *whole = resolved->controllers[0]->tables[0];
    CHECK(whole->base == NULL);
    CHECK_EQUAL_U64(gpc_fsm_cell(whole, TOY_OFF, TOY_SET)->next, TOY_ON);
    CHECK_EQUAL_U64(gpc_fsm_cell(whole, TOY_ON, TOY_CLEAR)->next, TOY_OFF);
    CHECK_EQUAL_U64(gpc_fsm_cell(whole, TOY_OFF, MORE_WAIT)->next, MORE_BUSY);
    CHECK_EQUAL_U64(gpc_fsm_cell(whole, MORE_BUSY, TOY_CLEAR)->kind, GPC_CELL_GO);
    CHECK_EQUAL_U64(gpc_fsm_cell(whole, MORE_BUSY, MORE_WAIT)->kind, GPC_CELL_IMPOSSIBLE);
    CHECK_EQUAL_U64(gpc_fsm_cell(whole, TOY_ON, TOY_SET)->kind, GPC_CELL_GO);
    CHECK_EQUAL_U64(gpc_fsm_transitions(&twice, false), 5);
    CHECK_EQUAL_U64(gpc_fsm_transitions(&patched, false), 4);
}

TEST(a_wrong_patch_is_found)
{
    static const gpc_patch_t equal[] = {{TOY_ON, TOY_SET, GO(TOY_ON), "changes nothing"}};
    static const gpc_patch_t twice[] = {{TOY_ON, TOY_SET, GO(TOY_OFF), "one"}, {TOY_ON, TOY_SET, HOLD_QUEUE, "two"}};
    static const gpc_patch_t outside[] = {{MORE_NUM_STATES, TOY_SET, GO(TOY_OFF), "no such state"}};
    static const gpc_patch_t silent[] = {{TOY_ON, TOY_SET, GO(TOY_OFF), NULL}};
    static const gpc_patch_t absent[] = {{MORE_BUSY, TOY_SET, {.kind = GPC_CELL_IMPOSSIBLE}, "is already"}};
    gpc_table_t both = toy;

    CHECK(strcmp(errors_of(equal, 1), "more: cell [TOY_ON][TOY_SET] is patched with the cell that the base has\n") ==
          0);
    CHECK(strcmp(errors_of(twice, 2), "more: cell [TOY_ON][TOY_SET] is patched twice\n") == 0);
    CHECK(strcmp(errors_of(outside, 1), "more: patch 0 is of no cell\n") == 0);
    CHECK(strcmp(errors_of(silent, 1), "more: cell [TOY_ON][TOY_SET] is patched for no reason\n") == 0);
    CHECK(strstr(errors_of(absent, 1), "the cell that the base has") != NULL);
    gpc_text_t *text = fresh_text();
    both.base = &toy;
    CHECK_EQUAL_I64(gpc_fsm_check(&both, text), GPC_ERROR_ARGUMENT);
    both.cells = NULL;
    both.states = MORE_state_info + 1;
    CHECK_EQUAL_I64(gpc_fsm_check(&both, text), GPC_ERROR_ARGUMENT);
    CHECK(strstr(text->bytes, "do not begin with those of its base") != NULL);
}

/* ---- declarations ------------------------------------------------------------------------------------------------ */

static bool
is_named(const char *full, const char *word, size_t length)
{
    const char *at = strchr(full, '_') + 1;
    return strlen(at) == length && strncmp(at, word, length) == 0;
}

static const gpc_table_t *
table_named(const gpc_protocol_t *protocol, const char *name)
{
    for (uint32_t c = 0; c < gpc_num_controllers(protocol); c++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[c]->tables[t]; t++) {
            if (strcmp(protocol->controllers[c]->tables[t]->name, name) == 0) {
                return protocol->controllers[c]->tables[t];
            }
        }
    }
    return NULL;
}

static void
declared_cells_are_cells(const gpc_protocol_t *protocol, const gpc_uncovered_t *cells)
{
    const gpc_table_t *table = table_named(protocol, cells->table);
    REQUIRE(table != NULL);
    for (const char *s = cells->states; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        for (const char *e = cells->events; *e; e += strcspn(e, " "), e += strspn(e, " ")) {
            uint32_t found = 0;
            for (uint8_t state = 0; state < table->num_states; state++) {
                for (uint8_t event = 0; event < table->num_events; event++) {
                    found += is_named(table->states[state].name, s, strcspn(s, " ")) &&
                             is_named(table->events[event].name, e, strcspn(e, " ")) &&
                             gpc_fsm_declared_cell(table, state, event)->kind != GPC_CELL_IMPOSSIBLE;
                }
            }
            CHECK_EQUAL_U64(found, 1);
        }
    }
}

static void
expect_declared(const gpc_protocol_t *protocol, const char *text)
{
    gpc_failure_t failure = {0};
    CHECK_EQUAL_I64(gpc_protocol_check_declared(protocol, &failure), text ? GPC_ERROR_PROTOCOL : 0);
    CHECK_EQUAL_TEXT(failure.text, text ? text : "");
}

static void
expect_causes(const gpc_protocol_t *protocol, const char *text)
{
    gpc_failure_t failure = {0};
    CHECK_EQUAL_I64(gpc_explore_check_causes(protocol, &failure), text ? GPC_ERROR_PROTOCOL : 0);
    CHECK_EQUAL_TEXT(failure.text, text ? text : "");
}

/* wt's L1 takes both by classify. */
TEST(a_cause_that_never_comes_is_refused)
{
    gpc_protocol_t protocol = *gpc_protocol_find("gpu-drf");
    gpc_controller_type_t l1 = *protocol.controllers[0];

    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        expect_causes(protocol_at(p), NULL);
    }
    protocol.controllers[0] = &l1;
    l1.begins = 0;
    expect_causes(&protocol,
                  "gpu-drf: table L1 has an event for GPC_MSG_KERNEL_BEGIN, which never comes: the type lacks "
                  "its bit in .begins");
    l1 = *gpc_protocol_find("gpu-drf")->controllers[0];
    protocol.order = (gpc_order_traits_t){.keeps_own = true};
    expect_causes(
        &protocol,
        "gpu-drf: table L1 has an event for GPC_MSG_ACQUIRE, which never comes: the type lacks .order.acquire");
}

TEST(registered_protocols_declare_what_every_protocol_has)
{
    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        expect_declared(protocol_at(p), NULL);
    }
}

TEST(registered_protocols_have_ids_of_their_own)
{
    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        for (uint32_t q = 0; q < p; q++) {
            bool differ = strcmp(gpc_protocol_at(p)->id, gpc_protocol_at(q)->id) != 0;
            CHECK(differ);
            if (!differ) {
                harness_note("protocols %u and %u of registry.def have the id %s", q + 1, p + 1,
                             gpc_protocol_at(p)->id);
            }
        }
    }
}

TEST(a_protocol_that_lacks_a_member_is_refused)
{
    static const gpc_message_info_t message = {.name = "GETS", .network = 2};
    gpc_protocol_t protocol = *gpc_protocol_find("gpu-vi");
    protocol.id = NULL;
    expect_declared(&protocol, "protocol without .id lacks .id");
    protocol = *gpc_protocol_find("gpu-vi");
    protocol.text = "";
    expect_declared(&protocol, "protocol gpu-vi lacks .text");
    protocol = *gpc_protocol_find("gpu-vi");
    protocol.model[protocol.standard_rule] = NULL;
    expect_declared(&protocol, "protocol gpu-vi lacks the .model of its .standard_rule");
    protocol = *gpc_protocol_find("gpu-vi");
    protocol.controllers[1] = NULL;
    expect_declared(&protocol, "protocol gpu-vi lacks a controller at GPC_AT_CORE or GPC_AT_BANK in .controllers");
    protocol.controllers[1] = protocol.controllers[0];
    expect_declared(&protocol, "protocol gpu-vi: controller L1 is the second at its .position");
    protocol = *gpc_protocol_find("gpu-vi");
    protocol.num_messages = 0;
    expect_declared(&protocol, "protocol gpu-vi lacks .messages (GPC_MESSAGES_OF)");
    protocol.messages = &message;
    protocol.num_messages = 1;
    protocol.networks[2].name = NULL;
    expect_declared(&protocol, "protocol gpu-vi: message GETS is on network 2, and .networks has 2");
    protocol.networks[0].name = NULL;
    expect_declared(&protocol, "protocol gpu-vi lacks a network with .requests in .networks");
}

TEST(the_declarations_of_registered_protocols_are_consistent)
{
    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        const gpc_protocol_t *protocol = gpc_protocol_at(p);
        const gpc_declared_t *declared = &protocol->declared;
        bool is_sc = strcmp(protocol->model[protocol->standard_rule], "SC") == 0; /* no outcome is weak */
        CHECK((declared->weak_outcomes != NULL) == !is_sc);
        for (uint32_t i = 0; i < GPC_MAX_UNCOVERED && declared->uncovered[i].table; i++) {
            declared_cells_are_cells(protocol, &declared->uncovered[i]);
        }
        for (uint32_t i = 0; i < GPC_MAX_OPTIONS && protocol->options[i].name; i++) {
            const gpc_option_info_t *option = &protocol->options[i];
            int64_t small = option->small.given ? option->small.value : option->standard;
            bool drawn = option->fuzz_least || option->fuzz_most;
            CHECK(small >= option->smallest && small <= option->largest);
            CHECK(!drawn || (option->fuzz_least >= option->smallest && option->fuzz_most <= option->largest));
        }
    }
}

static bool
is_entered(const gpc_table_t *table, uint8_t state)
{
    for (uint8_t e = 0; e < table->num_events; e++) {
        if (gpc_fsm_declared_cell(table, state, e)->kind != GPC_CELL_IMPOSSIBLE) {
            return true;
        }
    }
    return false;
}

static void
prints_its_states_and_events(const gpc_controller_type_t *type, uint32_t number)
{
    const gpc_table_t *table = type->tables[number];
    char path[40];
    gpc_text_t *text = fresh_text();
    gpc_fsm_print(text, table);
    CHECK_EQUAL_I64(gpc_text_status(text), 0);
    REQUIRE(text->bytes != NULL);
    CHECK(json_is(text->bytes, "name", table->name));
    for (uint8_t s = 0; s < table->num_states; s++) {
        if (is_entered(table, s)) { /* others are a variant's alone */
            (void) snprintf(path, sizeof(path), "states/%u/text", s);
            CHECK(json_is(text->bytes, path, table->states[s].text));
        }
    }
    for (uint8_t e = 0; e < table->num_events; e++) {
        (void) snprintf(path, sizeof(path), "events/%u/text", e);
        CHECK(json_is(text->bytes, path, table->events[e].text));
    }
}

TEST(every_table_prints_its_states_and_events)
{
    for_every_table(prints_its_states_and_events);
}

/* In the table or, for events of an option's value alone, in the variant that it selects. */
static void
has_a_cell_for_every_event(const gpc_controller_type_t *type, uint32_t number)
{
    for (uint8_t e = 0; e < type->tables[number]->num_events; e++) {
        bool known = gpc_fsm_takes(type->tables[number], e);
        for (uint32_t v = 0; v < GPC_MAX_VARIANTS && type->variants[v].by; v++) {
            known |= type->variants[v].table == number && gpc_fsm_takes(type->variants[v].by, e);
        }
        CHECK(known);
        if (!known) {
            harness_note("%s: event %s has no cell", type->tables[number]->name, type->tables[number]->events[e].name);
        }
    }
}

TEST(every_event_has_a_cell)
{
    for_every_table(has_a_cell_for_every_event);
}

TEST(the_fields_of_every_message_fit)
{
    const gpc_protocol_t *protocol;
    for (uint32_t p = 0; (protocol = protocol_at(p)); p++) {
        /* the end mark may follow the fields */
        CHECK(!protocol->message || protocol->message()->size <= sizeof(((gpc_msg_t *) 0)->fields) + 8);
    }
}

/* ---- described structs ------------------------------------------------------------------------------------------- */

static size_t
encode(const gpc_described_t *described, const void *object, gpc_cycle_t now, const gpc_node_t *rename, uint8_t *bytes)
{
    gpc_encoder_t encoder = {.bytes = bytes, .capacity = 512, .now = now, .rename = rename};
    gpc_encode_described(&encoder, described, object);
    CHECK(!encoder.overflow);
    return encoder.length;
}

/* Whether a field is printed with this name, this kind, or both; NULL: any. */
static bool
prints_field(const gpc_described_t *described, const char *name, const char *kind)
{
    char path[40];
    bool found = false;
    gpc_text_t *text = fresh_text();
    gpc_print_fields(text, described);
    for (uint32_t i = 0; text->bytes && i < json_count(text->bytes, ""); i++) {
        (void) snprintf(path, sizeof(path), "%u/name", i);
        bool right = !name || json_is(text->bytes, path, name);
        (void) snprintf(path, sizeof(path), "%u/kind", i);
        found |= right && (!kind || json_is(text->bytes, path, kind));
    }
    return found;
}

TEST(described_structs_print_names_and_kinds)
{
    const gpc_protocol_t *denovo = gpc_protocol_find("denovo-drf");
    CHECK(prints_field(denovo->controllers[0]->mshr(), "taking", NULL));
    CHECK(prints_field(denovo->controllers[0]->mshr(), NULL, "REQUEST"));
    CHECK(prints_field(denovo->controllers[1]->arrays[0].line(), NULL, "NODES"));
    CHECK(prints_field(gpc_protocol_find("tc-weak")->controllers[0]->warp(), "gwct", "TIME"));
}

TEST(times_are_encoded_relative_to_now)
{
    const gpc_described_t *warp = gpc_protocol_find("tc-weak")->controllers[0]->warp();
    gpc_cycle_t early[2] = {130, 0}, late[2] = {1130, 0}, later[2] = {1131, 0}, past[2] = {7, 0}, older[2] = {5, 0};
    uint8_t a[512], b[512];

    size_t length = encode(warp, early, 100, NULL, a);
    CHECK_EQUAL_U64(encode(warp, late, 1100, NULL, b), length);
    CHECK(memcmp(a, b, length) == 0);
    length = encode(warp, later, 1100, NULL, b);
    CHECK(memcmp(a, b, length) != 0);
    length = encode(warp, past, 100, NULL, a);
    CHECK_EQUAL_U64(encode(warp, older, 100, NULL, b), length);
    CHECK(memcmp(a, b, length) == 0);
}

TEST(owners_are_renamed_word_by_word)
{
    static const gpc_node_t swap[] = {1, 0, 2, 3};
    const gpc_described_t *line = gpc_protocol_find("denovo-drf")->controllers[1]->arrays[0].line();
    struct {
        gpc_mask_t dirty;
        gpc_node_t owner[GPC_MAX_LINE_WORDS];
        uint64_t rest[2];
    } one, other;
    uint8_t a[512], b[512];

    memset(&one, 0xff, sizeof(one)); /* no node */
    memset(&other, 0xff, sizeof(other));
    one.owner[0] = other.owner[1] = 0;
    one.owner[1] = other.owner[0] = 1;
    size_t length = encode(line, &one, 0, swap, a);
    CHECK_EQUAL_U64(encode(line, &other, 0, NULL, b), length);
    CHECK(memcmp(a, b, length) == 0);
    (void) encode(line, &one, 0, NULL, a);
    CHECK(memcmp(a, b, length) != 0);
}
