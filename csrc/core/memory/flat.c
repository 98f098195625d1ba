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
    gpc_core_launch_t *launch = x->base->launch;
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

/* "which is in no array; nearest: 'x' of 400 bytes at 0x10000, 16 bytes before it": where an access is that is not in
 * one array. */
static const char *
name_nearest(const gpc_core_launch_t *launch, gpc_address_t address, uint32_t bytes, char *text, size_t size)
{
    const gpc_range_t *range = range_below(launch, address), *after = range == NULL ? launch->ranges : range + 1;
    if (launch->num_ranges == 0) {
        return "which is in no array; there are no arrays";
    }
    if (range == NULL || (after < launch->ranges + launch->num_ranges &&
                          distance_to(after, address, bytes) < distance_to(range, address, bytes))) {
        range = after;
    }
    const char *name = range->buffer == GPC_NONE ? "an array" : launch->launch.buffers[range->buffer].name;
    bool before = address < range->begin, begins_inside = !before && address < range->end;
    snprintf(text, size, "%s; nearest: '%s' of %" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64 " bytes %s",
             begins_inside ? "which ends in no array" : "which is in no array", name, range->end - range->begin,
             range->begin,
             before          ? range->begin - address
             : begins_inside ? range->end - address
                             : address - range->end,
             before          ? "before it"
             : begins_inside ? "before its end"
                             : "behind its end");
    return text;
}

static int
fail_flat(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, gpc_address_t address)
{
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    const char *kernel = gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc);
    static const char *const what[] = {[GPC_ACCESS_LOAD] = "load", [GPC_ACCESS_STORE] = "store"};
    char who[120], nearest[200];
    gpc_core_who(x, lane, who, sizeof who);
    if (address % size != 0) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                        "kernel '%s': address 0x%" PRIx64 " is not aligned to %u bytes: %s", kernel, address, size,
                        who);
    }
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': %s of %u bytes at address 0x%" PRIx64 ", %s: %s", kernel,
                    d->access.kind <= GPC_ACCESS_STORE ? what[d->access.kind] : "atomic", size, address,
                    name_nearest(x->launch, address, size, nearest, sizeof nearest), who);
}

/* ---- local memory ------------------------------------------------------------------------------------------------ */

/* The warp's first thread, of all threads of the grid. */
static uint64_t
first_thread(const gpc_issue_t *x)
{
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    return (uint64_t) block->number * x->launch->threads_per_block + (uint64_t) x->warp->index * x->launch->lanes;
}

static uint64_t
all_threads(const gpc_core_launch_t *launch)
{
    return (uint64_t) launch->blocks * launch->threads_per_block;
}

static int
fail_local(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, uint32_t byte)
{
    const char *kernel = gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc);
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    char who[120];
    gpc_core_who(x, lane, who, sizeof who);
    if (d->width != 1) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                        "kernel '%s': an access of %u words to local memory, whose words are not adjacent: %s", kernel,
                        (unsigned) d->width, who);
    }
    if (byte % size != 0) {
        return gpc_fail(x->base->cores->failure, GPC_ERROR_ADDRESS,
                        "kernel '%s': byte %u of local memory is not aligned to %u bytes: %s", kernel, byte, size, who);
    }
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BOUNDS,
                    "kernel '%s': %u bytes at byte %d of local memory, of which a thread has %u: %s", kernel, size,
                    (int) byte, x->launch->launch.local_bytes, who);
}

/* The address of a byte of a thread's local memory. */
static int
find_local(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t lane, uint32_t byte, gpc_address_t *address)
{
    const gpc_launch_t *launch = &x->launch->launch;
    uint32_t size = d->width * gpc_element_bytes(d->narrow.bytes);
    if (d->width != 1 || byte % size != 0 || (uint64_t) byte + size > launch->local_bytes) {
        return fail_local(x, d, lane, byte);
    }
    *address = launch->local_address + 4 * (byte / 4 * all_threads(x->launch) + first_thread(x) + lane) + byte % 4;
    return GPC_OK;
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
        if (high[l] == GPC_LOCAL_WINDOW) {
            GPC_TRY(find_local(x, d, l, low[l] + d->immediate, &address));
        }
        if (address % size != 0 || !gpc_flat_inside(x, address, address + size)) {
            return fail_flat(x, d, l, address);
        }
        addresses[l] = address;
    }
    return GPC_OK;
}

/* Of local memory, from its first line on. */
static bool
local_words(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *words, gpc_address_t *base)
{
    const gpc_launch_t *launch = &x->launch->launch;
    uint64_t first = first_thread(x), threads = all_threads(x->launch);
    uint32_t room[GPC_MAX_LANES], unusual = 0;
    const uint32_t *low = gpc_operand_lanes(x, &d->a, room);
    if (launch->local_bytes / 4 * threads > UINT32_MAX) {
        return false;
    }
    *base = launch->local_address;
    for (uint32_t l = 0; l < x->launch->lanes; l++) {
        uint32_t byte = low[l] + d->immediate;
        unusual |= (byte & 3) | (uint32_t) ((uint64_t) byte + 4 > launch->local_bytes);
        words[l] = (uint32_t) (byte / 4 * threads + first + l);
    }
    return unusual == 0;
}

bool
gpc_flat_words(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *words, gpc_address_t *base, bool *even)
{
    gpc_operand_t second = gpc_operand_next(x, d->a, 1);
    if (!gpc_operand_even(x, &second)) {
        return false;
    }
    *even = gpc_operand_even(x, &d->a) && gpc_operand_word(x, &second) != GPC_LOCAL_WINDOW;
    if (gpc_operand_word(x, &second) == GPC_LOCAL_WINDOW) {
        return local_words(x, d, words, base);
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
