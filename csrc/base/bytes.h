/* bytes.h: many bytes compared with one value at a time. */
#ifndef GPC_BASE_BYTES_H
#define GPC_BASE_BYTES_H

#include <stdint.h>
#ifdef __SSE2__ /* of every x86-64 host */
#include <emmintrin.h>

/* Which of 16 bytes equal the value: a bit each, the first byte's the lowest. */
static inline uint32_t
gpc_equal_of_16(const uint8_t *bytes, uint8_t value)
{
    __m128i all = _mm_loadu_si128((const __m128i *) (const void *) bytes);
    return (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8((char) value)));
}
#endif

/* The same of `count` bytes, 1 to 32. */
static inline uint32_t
gpc_equal_bytes(const uint8_t *bytes, uint32_t count, uint8_t value)
{
    uint32_t equal = 0;
#ifdef __SSE2__
    if (count % 16 == 0) { /* as the words of a line mostly are */
        return gpc_equal_of_16(bytes, value) | (count == 16 ? 0 : gpc_equal_of_16(bytes + 16, value) << 16);
    }
#endif
    for (uint32_t i = 0; i < count; i++) {
        equal |= (uint32_t) (bytes[i] == value) << i;
    }
    return equal;
}

#endif
