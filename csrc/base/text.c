/* text.c: appends to a text, plain or as JSON. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

void
gpc_text_init(gpc_text_t *self)
{
    *self = (gpc_text_t){0};
}

void
gpc_text_free(gpc_text_t *self)
{
    free(self->bytes);
    gpc_text_init(self);
}

void
gpc_text_clear(gpc_text_t *self)
{
    self->length = 0;
    self->failed = false;
    if (self->bytes) {
        self->bytes[0] = 0;
    }
}

static bool
reserve(gpc_text_t *self, size_t more)
{
    size_t need = self->length + more + 1;
    if (self->failed) {
        return false;
    }
    if (need > self->capacity) {
        size_t capacity = self->capacity ? self->capacity : 256;
        while (capacity < need) {
            capacity *= 2;
        }
        char *bytes = realloc(self->bytes, capacity);
        if (!bytes) {
            self->failed = true;
            return false;
        }
        self->bytes = bytes;
        self->capacity = capacity;
    }
    return true;
}

void
gpc_text_add(gpc_text_t *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(self, (size_t) length)) {
        return;
    }
    va_start(arguments, format);
    (void) vsnprintf(self->bytes + self->length, (size_t) length + 1, format, arguments);
    va_end(arguments);
    self->length += (size_t) length;
}

static void
add_bytes(gpc_text_t *self, const char *bytes, size_t count)
{
    if (reserve(self, count)) {
        memcpy(self->bytes + self->length, bytes, count);
        self->length += count;
        self->bytes[self->length] = 0;
    }
}

void
gpc_text_add_number(gpc_text_t *self, uint64_t number)
{
    char digits[20]; /* of 2^64 - 1 */
    size_t first = sizeof digits;

    do {
        digits[--first] = (char) ('0' + number % 10);
        number /= 10;
    } while (number != 0);
    add_bytes(self, digits + first, sizeof digits - first);
}

void
gpc_text_add_string(gpc_text_t *self, const char *string)
{
    add_bytes(self, "\"", 1);
    for (const char *c = string; *c; c++) {
        unsigned char byte = (unsigned char) *c;
        if (byte == '"' || byte == '\\') {
            gpc_text_add(self, "\\%c", *c);
        } else if (byte < 0x20) {
            gpc_text_add(self, "\\u%04x", byte);
        } else {
            add_bytes(self, c, 1);
        }
    }
    add_bytes(self, "\"", 1);
}

void
gpc_text_add_comma(gpc_text_t *self)
{
    char last = self->length ? self->bytes[self->length - 1] : '{';
    if (last != '{' && last != '[') {
        add_bytes(self, ", ", 2);
    }
}

void
gpc_text_add_key(gpc_text_t *self, const char *name)
{
    gpc_text_add_comma(self);
    gpc_text_add_string(self, name);
    add_bytes(self, ": ", 2);
}

void
gpc_text_add_count(gpc_text_t *self, const char *name, uint64_t count)
{
    gpc_text_add_key(self, name);
    gpc_text_add_number(self, count);
}

void
gpc_text_add_text(gpc_text_t *self, const char *name, const char *text)
{
    gpc_text_add_key(self, name);
    gpc_text_add_string(self, text ? text : "");
}

void
gpc_text_open(gpc_text_t *self, const char *name, const char *bracket)
{
    if (name) {
        gpc_text_add_key(self, name);
    } else {
        gpc_text_add_comma(self);
    }
    add_bytes(self, bracket, 1);
}

int
gpc_text_status(const gpc_text_t *self)
{
    return self->failed ? GPC_ERROR_MEMORY : GPC_OK;
}
