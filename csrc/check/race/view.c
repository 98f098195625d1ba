/* view.c: compares, joins and shares vector clocks. */
#include "check/race/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

gpc_view_t *
gpc_view_share(gpc_view_t *self)
{
    if (self) {
        self->shares++;
    }
    return self;
}

void
gpc_view_drop(gpc_view_t *self)
{
    if (self && --self->shares == 0) {
        free(self);
    }
}

/* The index of the thread, or its insertion point. */
static uint32_t
place_of(const gpc_view_t *self, uint32_t thread)
{
    uint32_t low = 0, high = self->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->known[middle].thread < thread) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool
gpc_view_knows(const gpc_view_t *self, gpc_moment_t moment)
{
    if (!self) {
        return false;
    }
    uint32_t place = place_of(self, moment.thread);
    return place < self->count && self->known[place].thread == moment.thread && self->known[place].time >= moment.time;
}

static gpc_view_t *
new_view(uint32_t capacity)
{
    gpc_view_t *view = malloc(sizeof(*view) + capacity * sizeof(gpc_moment_t));
    if (view) {
        view->shares = 1;
        view->count = 0;
    }
    return view;
}

static bool
knows_all(const gpc_view_t *self, const gpc_view_t *other)
{
    uint32_t at = 0;
    if (other->count > self->count) {
        return false;
    }
    for (uint32_t i = 0; i < other->count; i++) {
        while (at < self->count && self->known[at].thread < other->known[i].thread) {
            at++;
        }
        if (at == self->count || self->known[at].thread != other->known[i].thread ||
            self->known[at].time < other->known[i].time) {
            return false;
        }
    }
    return true;
}

static void
merge(const gpc_view_t *a, const gpc_view_t *b, gpc_view_t *out)
{
    uint32_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        if (j == b->count || (i < a->count && a->known[i].thread < b->known[j].thread)) {
            out->known[out->count++] = a->known[i++];
        } else if (i == a->count || b->known[j].thread < a->known[i].thread) {
            out->known[out->count++] = b->known[j++];
        } else {
            out->known[out->count] = a->known[i];
            if (b->known[j].time > a->known[i].time) {
                out->known[out->count].time = b->known[j].time;
            }
            out->count++;
            i++;
            j++;
        }
    }
}

int
gpc_view_join(gpc_view_t **into, gpc_view_t *other)
{
    gpc_view_t *self = *into;

    if (!other || self == other || (self && knows_all(self, other))) {
        return GPC_OK;
    }
    if (!self || knows_all(other, self)) {
        *into = gpc_view_share(other);
        gpc_view_drop(self);
        return GPC_OK;
    }
    gpc_view_t *joined = new_view(self->count + other->count);
    if (!joined) {
        return GPC_ERROR_MEMORY;
    }
    merge(self, other, joined);
    *into = joined;
    gpc_view_drop(self);
    return GPC_OK;
}

int
gpc_view_add(gpc_view_t **into, gpc_moment_t moment)
{
    gpc_view_t *self = *into;
    uint32_t count = self ? self->count : 0;

    if (gpc_view_knows(self, moment)) {
        return GPC_OK;
    }
    gpc_view_t *grown = new_view(count + 1);
    if (!grown) {
        return GPC_ERROR_MEMORY;
    }
    uint32_t place = self ? place_of(self, moment.thread) : 0;
    bool replaces = place < count && self->known[place].thread == moment.thread;
    if (place) {
        memcpy(grown->known, self->known, place * sizeof(moment));
    }
    grown->known[place] = moment;
    if (place + replaces < count) {
        memcpy(&grown->known[place + 1], &self->known[place + replaces], (count - place - replaces) * sizeof(moment));
    }
    grown->count = count + !replaces;
    *into = grown;
    gpc_view_drop(self);
    return GPC_OK;
}
