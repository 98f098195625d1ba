/* small_programs.h: programs for the explorer, and macros to write them. */
#ifndef GPC_TESTS_SMALL_PROGRAMS_H
#define GPC_TESTS_SMALL_PROGRAMS_H

#include "machine/gpu.h"

enum { LOAD, STORE, ADD, FENCE };
enum { X, Y };

#define LD(variable) {LOAD, GPC_ORDER_WEAK, GPC_SCOPE_GPU, (variable), 0, false, 0, false, 0, 0, 0}
#define ST(variable, value) {STORE, GPC_ORDER_WEAK, GPC_SCOPE_GPU, (variable), (value), false, 0, false, 0, 0, 0}
#define INC(variable) {ADD, GPC_ORDER_RELAXED, GPC_SCOPE_GPU, (variable), 1, false, 0, false, 0, 0, 0}
#define F {FENCE, GPC_ORDER_SC, GPC_SCOPE_GPU, 0, 0, false, 0, false, 0, 0, 0}
#define LD_ACQUIRE(variable) {LOAD, GPC_ORDER_ACQUIRE, GPC_SCOPE_GPU, (variable), 0, false, 0, false, 0, 0, 0}
#define ST_RELEASE(variable, value) {STORE, GPC_ORDER_RELEASE, GPC_SCOPE_GPU, (variable), (value), false, 0, false, 0, 0, 0}
#define BLOCK_BARRIER {GPC_EXPLORE_BARRIER, GPC_ORDER_WEAK, GPC_SCOPE_CTA, 0, 0, false, 0, false, 0, 0, 0}
#define THREAD_END {GPC_EXPLORE_EXIT, GPC_ORDER_WEAK, GPC_SCOPE_SYS, 0, 0, false, 0, false, 0, 0, 0}
#define NEXT_KERNEL {GPC_EXPLORE_KERNEL, GPC_ORDER_WEAK, GPC_SCOPE_SYS, 0, 0, false, 0, false, 0, 0, 0}

#define THREAD(core, ...)                                                                                              \
    {                                                                                                                  \
        (core), sizeof((gpc_explore_op_t[]) {__VA_ARGS__}) / sizeof(gpc_explore_op_t), (const gpc_explore_op_t[]) {__VA_ARGS__} \
    }

/* The exploration of two threads: ASK(threads, .protocol = .., .rule = ..) */
#define ASK(threads_, ...)                                                                                             \
    ((gpc_explore_t) {.cores = 2, .variables = 2, .num_threads = 2, .threads = (threads_), .max_states = 2000000, __VA_ARGS__})

static const gpc_explore_thread_t mp[] = {THREAD(0, ST(X, 1), ST(Y, 1)), THREAD(1, LD(Y), LD(X))};
static const gpc_explore_thread_t mp_fences[] = {THREAD(0, ST(X, 1), F, ST(Y, 1)), THREAD(1, LD(Y), F, LD(X))};
static const gpc_explore_thread_t sb[] = {THREAD(0, ST(X, 1), LD(Y)), THREAD(1, ST(Y, 1), LD(X))};
static const gpc_explore_thread_t sb_fences[] = {THREAD(0, ST(X, 1), F, LD(Y)), THREAD(1, ST(Y, 1), F, LD(X))};

#endif
