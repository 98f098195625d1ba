/* describe.h: described structs. An X-macro declares a struct's fields with their kinds once; the struct, its printer
 * and the explorer's state encoding, with timestamp normalisation and symmetry reduction, are generated from it.
 *
 *     #define L1_MSHR(FIELD) FIELD(PLAIN, uint16_t, outstanding) FIELD(TIME, uint32_t, lease)
 *     GPC_DESCRIBE(l1, mshr, L1_MSHR)        -> l1_mshr_t, l1_mshr_described()
 */
#ifndef GPC_BASE_DESCRIBE_H
#define GPC_BASE_DESCRIBE_H

#include "base/message.h"
#include "base/text.h"

#define GPC_FIELD_KINDS(X)                                                                          \
    X(PLAIN, "number or flag; encoded as it is")                                                    \
    X(TIME, "physical time in core cycles; encoded relative to now, all past times as one value")   \
    X(LOGICAL, "logical time, 0: none; encoded relative to the least of the state")                   \
    X(NODE, "gpc_node_t, or GPC_NO_NODE; renamed under symmetry")                                                   \
    X(NODESET, "gpc_nodeset_t; renamed under symmetry")                                             \
    X(NODES, "array of gpc_node_t, for example one per word; each renamed under symmetry")          \
    X(REQUEST, "gpc_list_t of messages, empty if all zero; encoded by its messages")                                   \
    X(DATA, "words of data: uint32_t, or a struct of them (a line: uint32_t words[GPC_MAX_LINE_WORDS])")                                                                        \
    X(STATISTIC, "counter; not encoded")

typedef enum {
#define X(name, text) GPC_FIELD_##name,
    GPC_FIELD_KINDS(X)
#undef X
        GPC_NUM_FIELD_KINDS
} gpc_field_kind_t;

typedef struct {
    const char *name;
    const char *type;
    gpc_field_kind_t kind;
    uint16_t offset, size;
} gpc_field_t;

typedef struct {
    const char *owner, *object; /* "l1", "mshr" */
    const gpc_field_t *fields;
    uint16_t count, size;
} gpc_described_t;

typedef const gpc_described_t *(*gpc_describe_t)(void);

#define GPC_FIELD_MEMBER_(kind, type, name) type name;
#define GPC_FIELD_ROW_(kind, type, name) {#name, #type, GPC_FIELD_##kind, offsetof(self_t, name), sizeof(((self_t *) 0)->name)},

/* The last member keeps a struct without fields legal C; it is never described. */
#define GPC_DESCRIBE(owner_, object_, FIELDS)                                                             \
    typedef struct {                                                                                      \
        FIELDS(GPC_FIELD_MEMBER_)                                                                         \
        uint8_t end_;                                                                                     \
    } owner_##_##object_##_t;                                                                             \
    __attribute__((unused)) static const gpc_described_t *owner_##_##object_##_described(void)            \
    {                                                                                                     \
        typedef owner_##_##object_##_t self_t;                                                            \
        static const gpc_field_t fields[] = {FIELDS(GPC_FIELD_ROW_){"", "", GPC_FIELD_PLAIN, offsetof(self_t, end_), 0}}; \
        static const gpc_described_t described = {#owner_, #object_, fields, GPC_COUNT_OF(fields) - 1, sizeof(self_t)};   \
        return &described;                                                                                \
    }

/* An encoding in progress. Encodings are equal exactly when the states are, up to the given renaming and time shift. */
typedef struct {
    uint8_t *bytes; /* borrowed */
    size_t length, capacity;
    bool overflow;
    gpc_cycle_t now;
    uint64_t least_logical;   /* of the whole state; what LOGICAL fields are relative to */
    uint64_t found_logical;   /* the least one encoded so far, 0: none */
    const gpc_node_t *rename; /* by node, or NULL */
    bool ages;                /* encode the LRU order of a set: evictions are possible */
    /* Encodes a message of a list; the caller knows the protocol's messages. */
    void (*message)(void *context, void *encoder, gpc_index_t message);
    void *context;
    const gpc_pool_t *messages;
} gpc_encoder_t;

void gpc_encode_bytes(gpc_encoder_t *self, const void *bytes, size_t length);
void gpc_encode_long_u64(gpc_encoder_t *self, uint64_t value);
/* Variable length: nearly all values are below 128. */
static inline void
gpc_encode_u64(gpc_encoder_t *self, uint64_t value)
{
    if (value < 0x80 && self->length < self->capacity) {
        self->bytes[self->length++] = (uint8_t) value;
    } else {
        gpc_encode_long_u64(self, value);
    }
}
void gpc_encode_node(gpc_encoder_t *self, gpc_node_t node);
void gpc_encode_list(gpc_encoder_t *self, const gpc_list_t *list);
void gpc_encode_described(gpc_encoder_t *self, const gpc_described_t *described, const void *object);

/* Each TIME and LOGICAL field of `into` becomes at least that of `from`. */
void gpc_join_described(const gpc_described_t *described, void *into, const void *from);
static inline bool
gpc_is_time(const gpc_field_t *field)
{
    return field->kind == GPC_FIELD_TIME || field->kind == GPC_FIELD_LOGICAL;
}

/* Readable form, e.g. "outstanding=2 lease=17". */
void gpc_print_described(gpc_text_t *out, const gpc_described_t *described, const void *object);
/* JSON: [{"name", "type", "kind"}, ...] */
void gpc_print_fields(gpc_text_t *out, const gpc_described_t *described);
const char *gpc_field_kind_name(gpc_field_kind_t kind);

#endif
