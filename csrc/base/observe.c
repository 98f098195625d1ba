/* observe.c: subscribes to the events of a world, and passes each event to its subscribers. */
#include "base/observe.h"

void
gpc_stream_init(gpc_stream_t *self)
{
    *self = (gpc_stream_t){.tap = {.stream = self}};
}

void
gpc_stream_connect(gpc_stream_t *self, gpc_tap_t *tap)
{
    *tap = (gpc_tap_t){self->tap.kinds, self, self->tap.next};
    self->tap.next = tap;
}

/* Copies the kinds with a subscriber to every tap. */
static void
tell_taps(gpc_stream_t *self)
{
    uint32_t kinds = 0;
    for (const gpc_subscriber_t *one = self->first; one; one = one->next) {
        kinds |= one->kinds;
    }
    for (gpc_tap_t *tap = &self->tap; tap; tap = tap->next) {
        tap->kinds = kinds;
    }
}

void
gpc_subscribe(gpc_stream_t *self, gpc_subscriber_t *subscriber, uint32_t kinds)
{
    gpc_subscriber_t **last = &self->first;
    gpc_unsubscribe(subscriber);
    while (*last) {
        last = &(*last)->next;
    }
    *last = subscriber;
    subscriber->kinds = kinds;
    subscriber->stream = self;
    subscriber->next = NULL;
    tell_taps(self);
}

/* The subscriber keeps its `next`, so that an event that is being reported continues behind it. */
void
gpc_unsubscribe(gpc_subscriber_t *subscriber)
{
    gpc_stream_t *stream = subscriber->stream;
    if (!stream) {
        return;
    }
    gpc_subscriber_t **at = &stream->first;
    while (*at != subscriber) {
        at = &(*at)->next;
    }
    *at = subscriber->next;
    subscriber->kinds = 0;
    subscriber->stream = NULL;
    tell_taps(stream);
}

void
gpc_stream_set_aside(gpc_stream_t *self)
{
    self->aside = self->first;
    self->first = NULL;
    tell_taps(self);
}

void
gpc_stream_resume(gpc_stream_t *self)
{
    self->first = self->aside;
    self->aside = NULL;
    tell_taps(self);
}

__attribute__((cold, noinline)) int
gpc_stream_tell(const gpc_stream_t *self, const gpc_observation_t *event)
{
    int status = GPC_OK;
    for (const gpc_subscriber_t *one = self->first; one && status == GPC_OK; one = one->next) {
        status = one->kinds >> event->kind & 1 ? one->observe(one->self, event) : 0;
    }
    return status;
}
