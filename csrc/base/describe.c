/* describe.c: encodes, joins and prints described structs. */
#include "base/describe.h"

#include <string.h>

void
gpc_encode_bytes(gpc_encoder_t *self, const void *bytes, size_t length)
{
    if (self->length + length > self->capacity) {
        self->overflow = true;
        return;
    }
    memcpy(self->bytes + self->length, bytes, length);
    self->length += length;
}

void
gpc_encode_long_u64(gpc_encoder_t *self, uint64_t value)
{
    uint8_t bytes[10];
    size_t length = 0;
    do {
        bytes[length++] = (uint8_t) ((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    gpc_encode_bytes(self, bytes, length);
}

void
gpc_encode_node(gpc_encoder_t *self, gpc_node_t node)
{
    bool renamed = self->rename && node != GPC_NO_NODE;
    gpc_encode_u64(self, renamed ? self->rename[node] : node);
}

void
gpc_encode_list(gpc_encoder_t *self, const gpc_list_t *list)
{
    gpc_encode_u64(self, list->count);
    gpc_index_t i = list->head;
    for (uint32_t n = 0; n < list->count; n++) {
        self->message(self->context, self, i);
        i = gpc_msg_at(self->messages, i)->next;
    }
}

static uint64_t
number_at(const gpc_field_t *field, const void *object)
{
    uint64_t value = 0; /* little-endian hosts only; checked when a GPU is created */
    memcpy(&value, (const uint8_t *) object + field->offset, field->size < 8 ? field->size : 8);
    return value;
}

void
gpc_join_described(const gpc_described_t *described, void *into, const void *from)
{
    for (uint16_t i = 0; i < described->count; i++) {
        const gpc_field_t *field = &described->fields[i];
        if (gpc_is_time(field) && number_at(field, into) < number_at(field, from)) {
            memcpy((uint8_t *) into + field->offset, (const uint8_t *) from + field->offset, field->size);
        }
    }
}

static void
encode_nodeset(gpc_encoder_t *self, const gpc_nodeset_t *set)
{
    gpc_nodeset_t renamed = self->rename ? (gpc_nodeset_t){{0}} : *set;
    for (uint32_t i = 0; self->rename && i < GPC_NODESET_WORDS; i++) {
        for (uint64_t left = set->bits[i]; left; left &= left - 1) {
            uint32_t to = self->rename[i * 64 + (uint32_t) __builtin_ctzll(left)];
            renamed.bits[to / 64] |= UINT64_C(1) << (to % 64);
        }
    }
    for (uint32_t i = 0; i < GPC_NODESET_WORDS; i++) {
        gpc_encode_u64(self, renamed.bits[i]);
    }
}

/* No time but 0 is mapped to 0, and the order of any two stays. */
static void
encode_logical(gpc_encoder_t *self, uint64_t time)
{
    if (time && (self->found_logical == 0 || time < self->found_logical)) {
        self->found_logical = time;
    }
    gpc_encode_u64(self, time ? time - self->least_logical + 1 : 0);
}

static void
encode_nodes(gpc_encoder_t *self, const uint8_t *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gpc_node_t node;
        memcpy(&node, at + i * sizeof(node), sizeof(node));
        gpc_encode_node(self, node);
    }
}

void
gpc_encode_described(gpc_encoder_t *self, const gpc_described_t *described, const void *object)
{
    for (uint16_t i = 0; i < described->count; i++) {
        const gpc_field_t *field = &described->fields[i];
        const uint8_t *at = (const uint8_t *) object + field->offset;
        switch (field->kind) {
            case GPC_FIELD_PLAIN:
                if (field->size <= 8) {
                    gpc_encode_u64(self, number_at(field, object));
                } else {
                    gpc_encode_bytes(self, at, field->size);
                }
                break;
            case GPC_FIELD_TIME: {
                uint64_t time = number_at(field, object);
                gpc_encode_u64(self, time < self->now ? 0 : time - self->now + 1);
                break;
            }
            case GPC_FIELD_LOGICAL:
                encode_logical(self, number_at(field, object));
                break;
            case GPC_FIELD_NODE:
                gpc_encode_node(self, (gpc_node_t) number_at(field, object));
                break;
            case GPC_FIELD_NODESET:
                encode_nodeset(self, (const gpc_nodeset_t *) (const void *) at);
                break;
            case GPC_FIELD_NODES:
                encode_nodes(self, at, field->size / sizeof(gpc_node_t));
                break;
            case GPC_FIELD_REQUEST:
                gpc_encode_list(self, (const gpc_list_t *) (const void *) at);
                break;
            case GPC_FIELD_DATA:
                gpc_encode_bytes(self, at, field->size);
                break;
            case GPC_FIELD_STATISTIC:
            case GPC_NUM_FIELD_KINDS:
                break;
        }
    }
}

static void
print_nodes(gpc_text_t *out, const uint8_t *at, size_t count)
{
    gpc_text_add(out, "(");
    for (size_t i = 0; i < count; i++) {
        gpc_node_t node;
        memcpy(&node, at + i * sizeof(node), sizeof(node));
        gpc_text_add(out, i ? "," : "");
        gpc_text_add(out, node == GPC_NO_NODE ? "-" : "%u", node);
    }
    gpc_text_add(out, ")");
}

static void
print_nodeset(gpc_text_t *out, const gpc_nodeset_t *set)
{
    bool first = true;
    gpc_text_add(out, "{");
    for (uint32_t node = 0; node < GPC_NODESET_WORDS * 64; node++) {
        if (set->bits[node / 64] >> (node % 64) & 1) {
            gpc_text_add(out, first ? "%u" : ",%u", node);
            first = false;
        }
    }
    gpc_text_add(out, "}");
}

void
gpc_print_described(gpc_text_t *out, const gpc_described_t *described, const void *object)
{
    for (uint16_t i = 0; i < described->count; i++) {
        const gpc_field_t *field = &described->fields[i];
        const void *at = (const uint8_t *) object + field->offset;
        gpc_text_add(out, "%s%s=", i ? " " : "", field->name);
        if (field->kind == GPC_FIELD_NODESET) {
            print_nodeset(out, at);
        } else if (field->kind == GPC_FIELD_NODES) {
            print_nodes(out, at, field->size / sizeof(gpc_node_t));
        } else if (field->kind == GPC_FIELD_REQUEST && field->size == sizeof(gpc_list_t)) {
            gpc_text_add(out, "[%u]", ((const gpc_list_t *) at)->count);
        } else if (field->size <= 8) {
            gpc_text_add_number(out, number_at(field, object));
        } else {
            gpc_text_add(out, "<%u bytes>", field->size);
        }
    }
}

const char *
gpc_field_kind_name(gpc_field_kind_t kind)
{
    static const char *const names[] = {
#define X(name, text) #name,
        GPC_FIELD_KINDS(X)
#undef X
    };
    return kind < GPC_NUM_FIELD_KINDS ? names[kind] : "?";
}

void
gpc_print_fields(gpc_text_t *out, const gpc_described_t *described)
{
    gpc_text_add(out, "[");
    for (uint16_t i = 0; i < described->count; i++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", described->fields[i].name);
        gpc_text_add_text(out, "type", described->fields[i].type);
        gpc_text_add_text(out, "kind", gpc_field_kind_name(described->fields[i].kind));
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}
