/* public_sizes.h: the option `bytes`: message sizes of the RCC paper's public simulator instead of those that a
 * protocol lists.
 *
 * Control 8 bytes, operands of stores and atomics and their old values rounded up to 8 bytes, a line without header or
 * with 8 bytes of it; masks and timestamps are free.
 */
#ifndef GPC_PROTOCOLS_PUBLIC_SIZES_H
#define GPC_PROTOCOLS_PUBLIC_SIZES_H

#include "controller/toolkit.h"

enum { PUBLIC_BYTES_OFF, PUBLIC_BYTES_ON };
#define PUBLIC_BYTES_OPTION                                                                         \
    GPC_CHOICE("bytes", PUBLIC_BYTES_OFF, PUBLIC_BYTES_ON, "paper public",                          \
            "message sizes: those listed, or those of the RCC paper's public simulator")

/* .other_sizes of a protocol with the option at that index, and the function of its family. */
#define PUBLIC_SIZES(index, function)                                                               \
    {                                                                                               \
        .option = (index), .value = PUBLIC_BYTES_ON, .bytes = (function)                            \
    }

static inline uint32_t
public_control_bytes(uint32_t payload)
{
    return payload == 0 ? 8 : (payload + 7) / 8 * 8;
}

/* Protocols with timestamps: a line travels without a header. */
static inline uint32_t
public_bytes(bool is_line, uint32_t payload)
{
    return is_line ? payload : public_control_bytes(payload);
}

/* The others: its header has 8 bytes. */
static inline uint32_t
public_bytes_with_header(bool is_line, uint32_t payload)
{
    return is_line ? 8 + payload : public_control_bytes(payload);
}

#endif
