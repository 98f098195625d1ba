/* flat.c: see flat.h. A pointer that leaves its array and reaches another one is not found: as on a GPU. */
#include "core/memory/flat.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/registers.h"
#include "core/where.h"

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* The last array that begins at or below the address; NULL: none does. */
static const gpc_range_t *
range_below(const gpc_core_launch_t *launch, gpc_address_t address)
{
    uint32_t low = 0, high = launch->num_ranges;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (launch->ranges[middle].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? NULL : &launch->ranges[low - 1];
}

static inline bool
has(const gpc_range_t *range, gpc_address_t begin, gpc_address_t end)
{
    return begin >= range->begin && end <= range->end && begin < end;
}

bool
gpc_flat_inside(const gpc_issue_t *x, gpc_address_t begin, gpc_address_t end)
{
    gpc_core_launch_t *launch = x->base->parts->launch;
    if (launch->num_ranges == 0) {
        return false;
    }
    if (has(&launch->ranges[launch->last_range], begin, end)) {
        return true;
    }
    const gpc_range_t *found = range_below(launch, begin);
    if (found == NULL || !has(found, begin, end)) {
        return false;
    }
    launch->last_range = (uint32_t) (found - launch->ranges);
    return true;
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static gpc_address_t
distance_to(const gpc_range_t *range, gpc_address_t address, uint32_t bytes)
{
    if (address < range->begin) {
        return range->begin - address;
    }
    return address + bytes > range->end ? address + bytes - range->end : 0;
}

/* "; nearest: 'x' of 400 bytes at 0x10000, 16 bytes before": text of the array next to an address. */
static const char *
name_nearest(const gpc_core_launch_t *launch, gpc_address_t address, uint32_t bytes, char *text, size_t size)
{
    const gpc_range_t *range = range_below(launch, address), *after = range == NULL ? launch->ranges : range + 1;
    if (launch->num_ranges == 0) {
        return "; there are no arrays";
    }
    if (range == NULL || (after < launch->ranges + launch->num_ranges &&
                          distance_to(after, address, bytes) < distance_to(range, address, bytes))) {
        range = after;
    }
    const char *name = range->buffer == GPC_NONE ? "an array" : launch->launch.buffers[range->buffer].name;
    snprintf(text, size, "; nearest: '%s' of %" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64 " bytes %s it", name,
             range->end - range->begin, range->begin, distance_to(range, address, bytes),
             address < range->begin ? "before" : "behind");
    return text;
}

static int
fail_flat(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, gpc_address_t address)
{
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    const char *kernel = gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc);
    static const char *const what[] = {[GPC_ACCESS_LOAD] = "load", [GPC_ACCESS_STORE] = "store"};
    char who[120], nearest[160];
    gpc_core_who(x, lane, who, sizeof who);
    if (address % size != 0) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                        "kernel '%s': address 0x%" PRIx64 " is not aligned to %u bytes: %s", kernel, address, size,
                        who);
    }
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': %s of %u bytes at address 0x%" PRIx64 ", which is in no array%s: %s", kernel,
                    d->access.kind <= GPC_ACCESS_STORE ? what[d->access.kind] : "atomic", size, address,
                    name_nearest(x->launch, address, size, nearest, sizeof nearest), who);
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

int
gpc_flat_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_address_t *addresses)
{
    uint32_t room_low[GPC_MAX_LANES], room_high[GPC_MAX_LANES];
    gpc_operand_t second = gpc_operand_next(x, d->a, 1);
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    gpc_address_t offset = (gpc_address_t) (int64_t) (int32_t) d->immediate;
    const uint32_t *low = gpc_operand_lanes(x, &d->a, room_low), *high = gpc_operand_lanes(x, &second, room_high);
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes);
        gpc_address_t address = ((gpc_address_t) high[l] << 32 | low[l]) + offset;
        if (address % size != 0 || !gpc_flat_inside(x, address, address + size)) {
            return fail_flat(x, d, l, address);
        }
        addresses[l] = address;
    }
    return GPC_OK;
}

bool
gpc_flat_words(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *words, gpc_address_t *base)
{
    gpc_operand_t second = gpc_operand_next(x, d->a, 1);
    if (!gpc_operand_even(x, &second)) {
        return false;
    }
    uint32_t room[GPC_MAX_LANES], offset = d->immediate, unusual = 0, below = offset >> 31;
    const uint32_t *low = gpc_operand_lanes(x, &d->a, room);
    *base = (gpc_address_t) gpc_operand_word(x, &second) << 32;
    for (const uint32_t *end = low + x->launch->lanes; low != end; low += 32, words += 32) {
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t byte = low[l] + offset;
            /* not aligned, or a carry to the upper words */
            unusual |= (byte & 3) | ((uint32_t) (byte < low[l]) ^ below);
            words[l] = byte / 4;
        }
    }
    return unusual == 0;
}
