/* draw_exploration.c: gives an exploration as JSON to tools/draw_exploration.py, which prints and draws it.
 *
 * $GPUCOH_DRAW is the command that runs the script; meson.build sets it for the C tests. */
#define _DEFAULT_SOURCE /* popen */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "controller/describe.h"
#include "tests/draw_exploration.h"

static void
add_values(gpc_text_t *out, const char *key, const gpc_option_value_t *values, uint32_t count)
{
    gpc_text_open(out, key, "{");
    for (uint32_t i = 0; i < count; i++) {
        gpc_text_add_key(out, values[i].name);
        gpc_text_add(out, "%lld", (long long) values[i].value);
    }
    gpc_text_add(out, "}");
}

static void
add_operation(gpc_text_t *out, const gpc_explore_op_t *op)
{
#define X(name) #name,
    static const char *const orders[] = {GPC_ORDERS(X)}, *const scopes[] = {GPC_SCOPES(X)};
#undef X
    gpc_text_add_comma(out);
    gpc_text_add(out, "[%u, \"%s\", \"%s\", %u, %" PRIu64 ", %d, %u, %d]", op->kind, orders[op->order],
                 scopes[op->scope], op->variable, op->value, op->read_only, op->source, op->adds);
}

static void
add_threads(gpc_text_t *out, const gpc_explore_t *what)
{
    gpc_text_open(out, "threads", "[");
    for (uint32_t t = 0; t < what->num_threads; t++) {
        gpc_text_add_comma(out);
        gpc_text_add(out, "[%u, [", what->threads[t].core);
        for (uint32_t op = 0; op < what->threads[t].num_ops; op++) {
            add_operation(out, &what->threads[t].ops[op]);
        }
        gpc_text_add(out, "]]");
    }
    gpc_text_add(out, "]");
}

static void
add_setting(gpc_text_t *out, const gpc_explore_t *what)
{
    gpc_text_add_text(out, "protocol", what->protocol->id);
    gpc_text_add_key(out, "rule");
    gpc_text_add_string(out,
                        gpc_rule_name(what->rule == GPC_RULE_DEFAULT ? what->protocol->standard_rule : what->rule));
    add_values(out, "options", what->options, what->num_options);
    add_values(out, "fields", what->fields, what->num_fields);
    gpc_text_add_count(out, "timestamp_bits", what->timestamp_bits);
    gpc_text_add_count(out, "cores", what->cores);
    gpc_text_add_count(out, "variables", what->variables);
    gpc_text_add_count(out, "warm", what->warm);
    gpc_text_add_count(out, "evictions", what->evictions);
    gpc_text_add_count(out, "packed", what->packed);
    gpc_text_add_count(out, "tight", what->tight);
    add_threads(out, what);
}

bool
draw_exploration(const gpc_explore_t *what, const gpc_exploration_t *found, uint32_t lines)
{
    const char *command = getenv("GPUCOH_DRAW");
    gpc_text_t text;
    bool drawn = false;

    if (!command) {
        return false;
    }
    gpc_text_init(&text);
    gpc_text_add(&text, "{");
    gpc_text_add_count(&text, "lines", lines);
    add_setting(&text, what);
    gpc_text_add_key(&text, "found");
    gpc_exploration_print(found, &text);
    gpc_text_add(&text, "}\n");
    FILE *script = gpc_text_status(&text) == GPC_OK ? popen(command, "w") : NULL;
    if (script) {
        drawn = fputs(text.bytes, script) >= 0;
        drawn &= pclose(script) == 0;
    }
    gpc_text_free(&text);
    return drawn;
}
