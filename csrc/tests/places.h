/* places.h: parts of as many places, and arrays of as many sets and ways, whatever the machine and the options. */
#ifndef GPC_TESTS_PLACES_H
#define GPC_TESTS_PLACES_H

#include "controller/declare.h"

/* clang-format off */
#define PLACES(name, count)                                                                                            \
    static uint32_t name(const gpc_machine_t *machine, const int64_t *options)                                         \
    { (void) machine, (void) options; return count; }
#define SETS_AND_WAYS(name, number, of_each)                                                                           \
    static void name(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)             \
    { (void) machine, (void) options; *sets = number; *ways = of_each; }
/* clang-format on */

#endif
