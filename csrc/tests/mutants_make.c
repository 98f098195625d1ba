/* mutants_make.c: a mutant is a copy of its base protocol's structs, with edits (mutants_edits.c). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mutants_parts.h"

void
mutant_stop(const char *subject, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "mutants: %s: ", subject);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

void *
mutant_take(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        mutant_stop("planted bugs", "no memory");
    }
    return memory;
}

void
mutant_derive_table(mutant_t *self, uint32_t controller, uint32_t table, const gpc_table_t *base)
{
    gpc_table_t *own = &self->tables[controller][table];
    *own = *base;
    own->cells = NULL;
    own->base = base;
    own->base_protocol = self->base->id;
    own->patches = self->patches[controller][table];
    own->num_patches = 0;
}

void
mutant_copy_base(mutant_t *self, const gpc_protocol_t *base)
{
    self->base = base;
    self->protocol = *base;
    for (uint32_t i = 0; i < gpc_num_controllers(base); i++) {
        self->types[i] = *base->controllers[i];
        self->protocol.controllers[i] = &self->types[i];
        for (uint32_t t = 0; t < GPC_MAX_TABLES && self->types[i].tables[t]; t++) {
            mutant_derive_table(self, i, t, self->types[i].tables[t]);
            self->types[i].tables[t] = &self->tables[i][t];
        }
    }
}

/* Without edits yet. */
static mutant_t *
copy_of(const gpc_protocol_t *base, const char *id)
{
    mutant_t *self = mutant_take(1, sizeof(*self));

    mutant_copy_base(self, base);
    self->protocol.id = id;
    return self;
}

mutant_t *
mutant_make(const mutant_info_t *info, const gpc_protocol_t *base)
{
    const char *name = strchr(info->id, '!');
    mutant_t *self = copy_of(base, info->id);

    if (!name || !name[1]) {
        mutant_stop(info->id, "no name after the base protocol's id and '!'");
    }
    self->info = info;
    self->protocol.text = info->what;
    self->protocol.paper = info->reading ? info->reading : "an ordinary mistake";
    self->protocol.family = "planted bug";
    mutant_edit(self);
    return self;
}

mutant_t *
mutant_make_added(const gpc_protocol_t *base)
{
    return copy_of(base, "added");
}
