/* describe.c: a protocol in JSON: id, options, messages, controllers, tables, and declarations for tools. */
#include "controller/describe.h"

#include <string.h>

#include "controller/lease.h"
#include "controller/nodes.h"
#include "controller/resolve.h"

const char *
gpc_rule_name(gpc_rule_t rule)
{
    static const char *const names[] = {
#define X(name, text) text,
        GPC_RULES(X)
#undef X
    };
    return rule < GPC_NUM_RULES ? names[rule] : "default";
}

static const char *const class_names[] = {
#define X(name, text) #name,
    GPC_TRAFFIC_CLASSES(X)
#undef X
};

static void
add_number(gpc_text_t *out, const char *key, long long value)
{
    gpc_text_add_key(out, key);
    gpc_text_add(out, "%lld", value);
}

static void
add_flag(gpc_text_t *out, const char *key, bool value)
{
    gpc_text_add_key(out, key);
    gpc_text_add(out, value ? "true" : "false");
}

static void
add_models(gpc_text_t *out, const gpc_protocol_t *protocol)
{
    gpc_text_open(out, "models", "{");
    for (uint32_t rule = 0; rule < GPC_NUM_RULES; rule++) {
        if (protocol->model[rule]) {
            gpc_text_add_text(out, gpc_rule_name((gpc_rule_t) rule), protocol->model[rule]);
        }
    }
    gpc_text_add(out, "}");
    gpc_text_add_text(out, "gpus_model", protocol->gpus_model);
    gpc_text_add_text(out, "default_consistency", gpc_rule_name(protocol->standard_rule));
}

static void
add_options(gpc_text_t *out, const gpc_protocol_t *protocol)
{
    gpc_text_open(out, "options", "[");
    for (uint32_t i = 0; i < GPC_MAX_OPTIONS && protocol->options[i].name; i++) {
        const gpc_option_info_t *option = &protocol->options[i];
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", option->name);
        add_number(out, "default", option->standard);
        add_number(out, "smallest", option->smallest);
        add_number(out, "largest", option->largest);
        gpc_text_add_text(out, "choices", option->choices);
        gpc_text_add_text(out, "text", option->text);
        gpc_text_add_text(out, "analysis", option->analysis);
        if (option->small.given) {
            add_number(out, "small", option->small.value);
        }
        if (option->fuzz_least || option->fuzz_most) {
            gpc_text_add_key(out, "fuzz");
            gpc_text_add(out, "[%lld, %lld]", (long long) option->fuzz_least, (long long) option->fuzz_most);
        }
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

/* Adds the words of a text as a list; NULL: an empty one. */
static void
add_words(gpc_text_t *out, const char *key, const char *words)
{
    gpc_text_open(out, key, "[");
    for (const char *at = words ? words : ""; *at; at += strspn(at, " ")) {
        int length = (int) strcspn(at, " ");
        gpc_text_add_comma(out);
        gpc_text_add(out, "\"%.*s\"", length, at);
        at += length;
    }
    gpc_text_add(out, "]");
}

static void
add_declared(gpc_text_t *out, const gpc_declared_t *declared)
{
    gpc_text_open(out, "declared", "{");
    add_words(out, "weak_outcomes", declared->weak_outcomes);
    add_words(out, "variations", declared->variations);
    gpc_text_open(out, "uncovered", "[");
    for (uint32_t i = 0; i < GPC_MAX_UNCOVERED && declared->uncovered[i].table; i++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "table", declared->uncovered[i].table);
        add_words(out, "states", declared->uncovered[i].states);
        add_words(out, "events", declared->uncovered[i].events);
        add_words(out, "rules", declared->uncovered[i].rules);
        gpc_text_add_text(out, "reason", declared->uncovered[i].reason);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]}");
}

/* What the generic monitors hold it to, and which of them have something to look at. */
static void
add_watched(gpc_text_t *out, const gpc_protocol_t *protocol)
{
    static const char *const promises[] = {
#define X(name, text) #name,
        GPC_PROMISES(X)
#undef X
    };

    gpc_text_add_key(out, "watched");
    if (!protocol->watched) {
        gpc_text_add(out, "null");
        return;
    }
    gpc_watched_t declared = gpc_watched_of(protocol), *watched = &declared;
    gpc_text_add(out, "{");
    gpc_text_add_text(out, "promise", promises[watched->promise]);
    add_flag(out, "copies", watched->promise == GPC_PROMISE_FRESH ? watched->readable : watched->owners);
    add_flag(out, "banks", watched->bank_is_whole || watched->bank_words);
    add_flag(out, "leases", watched->lease);
    gpc_text_add(out, "}");
}

static void
add_described(gpc_text_t *out, const char *key, gpc_describe_t describe)
{
    if (describe) {
        gpc_text_add_key(out, key);
        gpc_print_fields(out, describe());
    }
}

static void
add_messages(gpc_text_t *out, const gpc_protocol_t *protocol)
{
    gpc_text_open(out, "networks", "[");
    for (uint32_t i = 0; i < GPC_MAX_NETWORKS && protocol->networks[i].name; i++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", protocol->networks[i].name);
        gpc_text_add_text(out, "order",
                          protocol->networks[i].ordered ? "fifo per source, destination and network" : "none");
        add_flag(out, "requests", protocol->networks[i].requests);
        add_flag(out, "star", protocol->networks[i].star);
        add_flag(out, "rotates", protocol->networks[i].rotates);
        add_flag(out, "multicast", protocol->networks[i].multicast);
        add_flag(out, "answers", protocol->networks[i].answers);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
    gpc_text_open(out, "messages", "[");
    for (uint32_t i = 0; i < protocol->num_messages; i++) {
        const gpc_message_info_t *info = &protocol->messages[i];
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", info->name);
        gpc_text_add_text(out, "class", class_names[info->traffic_class]);
        add_number(out, "network", info->network);
        add_number(out, "fixed_bytes", info->fixed_bytes);
        add_number(out, "bytes_per_word", info->bytes_per_word);
        add_flag(out, "whole_line", info->whole_line);
        add_flag(out, "prompt", protocol->prompt.messages >> i & 1);
        gpc_text_add_text(out, "text", info->text);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
    add_described(out, "message_fields", protocol->message);
}

/* The name of each counter or histogram, with its text. */
static void
add_counts(gpc_text_t *out, const char *key, const gpc_count_info_t *infos)
{
    gpc_text_open(out, key, "{");
    for (uint32_t i = 0; i < gpc_num_counts(infos); i++) {
        gpc_text_add_text(out, infos[i].name, infos[i].text);
    }
    gpc_text_add(out, "}");
}

/* Tables that options select: [{option, value, number, table}]. */
static void
add_variants(gpc_text_t *out, const gpc_protocol_t *protocol, const gpc_controller_type_t *type)
{
    gpc_text_open(out, "variants", "[");
    for (uint32_t i = 0; i < GPC_MAX_VARIANTS && type->variants[i].by; i++) {
        const gpc_variant_t *variant = &type->variants[i];
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "option", protocol->options[variant->option].name);
        add_number(out, "value", variant->value);
        add_number(out, "number", variant->table);
        gpc_text_add_key(out, "table");
        gpc_fsm_print(out, variant->by);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

static void
add_controller(gpc_text_t *out, const gpc_protocol_t *protocol, const gpc_controller_type_t *type)
{
    gpc_text_open(out, NULL, "{");
    gpc_text_add_text(out, "name", type->name);
    gpc_text_add_text(out, "position", gpc_position_name(type->position));
    gpc_text_open(out, "tables", "[");
    for (uint32_t i = 0; i < GPC_MAX_TABLES && type->tables[i]; i++) {
        gpc_text_add_comma(out);
        gpc_fsm_print(out, type->tables[i]);
    }
    gpc_text_add(out, "]");
    add_variants(out, protocol, type);
    gpc_text_open(out, "arrays", "[");
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && type->arrays[i].name; i++) {
        gpc_text_add_comma(out);
        gpc_text_add_string(out, type->arrays[i].name);
    }
    gpc_text_add(out, "]");
    gpc_text_open(out, "metadata", "{");
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && type->arrays[i].name; i++) {
        add_described(out, type->arrays[i].name, type->arrays[i].line);
    }
    for (uint32_t i = 0; i < GPC_MAX_PARTS && type->parts[i].name; i++) {
        add_described(out, type->parts[i].name, type->parts[i].entry);
    }
    add_described(out, "mshr", type->mshr);
    add_described(out, "unit", type->unit);
    add_described(out, "warp", type->warp);
    add_described(out, "core", type->core);
    gpc_text_add(out, "}");
    add_counts(out, "counters", type->counters);
    add_counts(out, "histograms", type->histograms);
    gpc_text_add(out, "}");
}

/* Those of the protocol, or of the one that runs instead, whose options are the protocol's. */
static void
add_controllers(gpc_text_t *out, const gpc_protocol_t *protocol, const gpc_protocol_t *of)
{
    gpc_text_open(out, "controllers", "[");
    for (uint32_t i = 0; i < gpc_num_controllers(of); i++) {
        add_controller(out, protocol, of->controllers[i]);
    }
    gpc_text_add(out, "]");
}

static bool
has_roles(const gpc_protocol_t *protocol)
{
    bool has = false;
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        has |= protocol->controllers[i]->role != NULL;
    }
    return has;
}

void
gpc_describe_whole_protocol(gpc_text_t *out, const gpc_protocol_t *protocol)
{
    gpc_text_add(out, "{");
    gpc_text_add_text(out, "id", protocol->id);
    gpc_text_add_text(out, "name", protocol->name ? protocol->name : protocol->id);
    gpc_text_add_text(out, "paper", protocol->paper);
    gpc_text_add_text(out, "family", protocol->family);
    gpc_text_add_text(out, "text", protocol->text);
    add_models(out, protocol);
    add_options(out, protocol);
    add_messages(out, protocol);
    add_flag(out, "keeps_time", protocol->keeps_time);
    add_number(out, "dies", protocol->explored.dies > 1 ? protocol->explored.dies : 1);
    add_number(out, "gpus", protocol->explored.gpus > 1 ? protocol->explored.gpus : 1);
    add_flag(out, "scopes", protocol->order.local_scopes || protocol->order.reads_scopes);
    add_flag(out, "splits_pairs", gpc_protocol_splits_pairs(protocol));
    add_flag(out, "release_travels", protocol->order.release_travels);
    add_flag(out, "roles", has_roles(protocol));
    add_declared(out, &protocol->declared);
    add_watched(out, protocol);
    add_controllers(out, protocol, protocol);
    if (protocol->instead.by) {
        gpc_text_open(out, "instead", "{");
        gpc_text_add_text(out, "option", protocol->options[protocol->instead.option].name);
        gpc_text_add_key(out, "value");
        gpc_text_add(out, "%lld", (long long) protocol->instead.value);
        add_messages(out, protocol->instead.by);
        add_controllers(out, protocol, protocol->instead.by);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "}");
}
