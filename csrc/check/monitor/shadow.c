/* shadow.c: keeps recent values of each word, and judges a loaded one. */
#include "check/monitor/shadow.h"

#include <stdlib.h>

#include "base/errors.h"

typedef struct {
    uint32_t value[GPC_SHADOW_PAGE_WORDS];
    uint64_t version[GPC_SHADOW_PAGE_WORDS];
} page_t;

static uint64_t
number_of(gpc_address_t address)
{
    return address / (4 * GPC_SHADOW_PAGE_WORDS);
}

static uint32_t
word_of(gpc_address_t address)
{
    return (uint32_t) (address / 4 % GPC_SHADOW_PAGE_WORDS);
}

int
gpc_shadow_init(gpc_shadow_t *self)
{
    *self = (gpc_shadow_t){.replaced = calloc(GPC_SHADOW_WRITES, sizeof(gpc_replaced_t))};
    gpc_pages_init(&self->pages, sizeof(page_t));
    return self->replaced ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_shadow_free(gpc_shadow_t *self)
{
    gpc_pages_free(&self->pages);
    free(self->replaced);
    self->replaced = NULL;
}

void
gpc_shadow_forget(gpc_shadow_t *self)
{
    gpc_pages_free(&self->pages);
    self->last = 0;
}

uint32_t
gpc_shadow_value(const gpc_shadow_t *self, gpc_address_t address)
{
    const page_t *page = gpc_pages_find(&self->pages, number_of(address));
    return page ? page->value[word_of(address)] : 0;
}

uint64_t
gpc_shadow_version(const gpc_shadow_t *self, gpc_address_t address)
{
    const page_t *page = gpc_pages_find(&self->pages, number_of(address));
    return page ? page->version[word_of(address)] : 0;
}

gpc_cycle_t
gpc_shadow_until(const gpc_shadow_t *self, uint64_t version)
{
    bool known = version && version + GPC_SHADOW_WRITES > self->last;
    return known ? self->replaced[version % GPC_SHADOW_WRITES].until : 0;
}

const uint32_t *
gpc_shadow_line(const gpc_shadow_t *self, gpc_address_t line)
{
    const page_t *page = gpc_pages_find(&self->pages, number_of(line));
    return page ? page->value + word_of(line) : NULL;
}

int
gpc_shadow_write(gpc_shadow_t *self, gpc_address_t address, uint32_t value, gpc_cycle_t until)
{
    page_t *page = gpc_pages_find(&self->pages, number_of(address));
    uint32_t word = word_of(address);

    if (value == (page ? page->value[word] : 0)) {
        return GPC_OK;
    }
    if (!page && (page = gpc_pages_make(&self->pages, number_of(address))) == NULL) {
        return GPC_ERROR_MEMORY;
    }
    self->last++;
    self->replaced[self->last % GPC_SHADOW_WRITES] = (gpc_replaced_t){page->version[word], until, page->value[word]};
    page->value[word] = value;
    page->version[word] = self->last;
    return GPC_OK;
}

gpc_value_verdict_t
gpc_shadow_judge(const gpc_shadow_t *self, gpc_address_t address, uint32_t value, gpc_cycle_t from, uint64_t least,
                 uint64_t *version)
{
    uint64_t at = gpc_shadow_version(self, address);
    bool held = gpc_shadow_value(self, address) == value, fits = held && at >= least;

    *version = at;
    while (at != 0 && from != GPC_NEVER && !(fits && at <= least)) {
        if (at + GPC_SHADOW_WRITES <= self->last) {
            return fits ? GPC_VALUE_RIGHT : GPC_VALUE_UNDECIDED;
        }
        const gpc_replaced_t *replaced = &self->replaced[at % GPC_SHADOW_WRITES];
        if (replaced->until < from) {
            break;
        }
        at = replaced->version;
        if (replaced->value == value) {
            held = true;
            if (at >= least) {
                fits = true;
                *version = at;
            }
        }
    }
    return fits ? GPC_VALUE_RIGHT : held ? GPC_VALUE_OLD : GPC_VALUE_WRONG;
}
