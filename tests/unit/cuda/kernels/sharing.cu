// Kernels whose blocks, warps or lanes communicate.
#include <cstdio>
#include <cassert>

// One thread a block takes a lock.
extern "C" __global__ void spin_lock(int *lock, int *data, int rounds)
{
    if (threadIdx.x == 0) {
        for (int r = 0; r < rounds; r++) {
            while (atomicCAS(lock, 0, 1) != 0)
                ;
            __threadfence();
            for (int k = 0; k < 4; k++)
                data[k] = data[k] + 1;
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}

// Every lane takes the lock.
extern "C" __global__ void lane_lock(int *lock, int *data)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    for (int k = 0; k < 4; k++)
        data[k] = data[k] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Tickets, one for each lane.
extern "C" __global__ void ticket_lock(unsigned *next, volatile unsigned *serving, int *data)
{
    unsigned ticket = atomicAdd(next, 1u);
    while (*serving != ticket)
        ;
    __threadfence();
    *data = *data * 3 + 1;
    __threadfence();
    *serving = ticket + 1;
}

// The last lane releases the others, from either side of a branch.
extern "C" __global__ void lane_flag(volatile int *flag, int *out, int setter)
{
    int lane = threadIdx.x;
    if (lane == setter) {
        out[lane] = 1;
        __threadfence();
        flag[0] = 1;
    } else {
        while (flag[0] == 0)
            ;
        out[lane] = 2;
    }
}

// Lanes hand an item on, each to the next.
extern "C" __global__ void lane_queue(volatile int *slots, int *out)
{
    int lane = threadIdx.x, got = 7;
    if (lane > 0) {
        while ((got = slots[lane - 1]) == 0)
            ;
    }
    out[lane] = got;
    __threadfence();
    slots[lane] = got + 1;
}

// Block 0 produces, block 1 consumes; the flags are atomic, the data plain.
extern "C" __global__ void message_passing(int *flag, int *data, int *out, int rounds)
{
    int t = threadIdx.x, sum = 0;
    if (blockIdx.x == 0) {
        for (int r = 0; r < rounds; r++) {
            data[t] = r * 100 + t;
            __syncthreads();
            if (t == 0) {
                __threadfence();
                atomicExch(flag, r + 1);
                while (atomicAdd(flag + 32, 0) != r + 1)
                    ;
                __threadfence();
            }
            __syncthreads();
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            if (t == 0) {
                while (atomicAdd(flag, 0) != r + 1)
                    ;
                __threadfence();
            }
            __syncthreads();
            sum += data[t];
            __syncthreads();
            if (t == 0) {
                __threadfence();
                atomicExch(flag + 32, r + 1);
            }
        }
        out[t] = sum;
    }
}

// The same, polled by volatile loads.
extern "C" __global__ void volatile_flags(volatile int *flag, volatile int *data, int *out, int rounds)
{
    int t = threadIdx.x, sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (blockIdx.x == 0) {
            data[t] = r * 10 + t;
            __threadfence();
            __syncthreads();
            if (t == 0) {
                flag[0] = r + 1;
                while (flag[32] != r + 1)
                    ;
            }
            __syncthreads();
        } else {
            if (t == 0)
                while (flag[0] != r + 1)
                    ;
            __syncthreads();
            __threadfence();
            sum += data[t];
            __syncthreads();
            if (t == 0)
                flag[32] = r + 1;
        }
    }
    if (blockIdx.x == 1)
        out[t] = sum;
}

__device__ unsigned arrivals;

// A stencil of all blocks, with a barrier of the grid between its steps.
extern "C" __global__ void grid_stencil(int *a, int *b, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        int *from = s & 1 ? b : a, *to = s & 1 ? a : b;
        if (i < n)
            to[i] = from[i] + (i > 0 ? from[i - 1] : 0) + (i < n - 1 ? from[i + 1] : 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&arrivals, 1u);
            while (atomicAdd(&arrivals, 0u) < gridDim.x * (s + 1))
                ;
            __threadfence();
        }
        __syncthreads();
    }
}

// Atomic operations of 64 bits: a maximum, a sum of doubles, a list by compare and swap.
extern "C" __global__ void wide_atomics(const long long *in, unsigned long long *most, double *sum,
                                        unsigned long long *list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMax(most, (unsigned long long) in[i]);
        atomicAdd(sum, (double) in[i]);
        unsigned long long old = *(volatile unsigned long long *) list, seen;
        do {
            seen = old;
            old = atomicCAS(list, seen, seen + ((unsigned long long) in[i] << 20) + 1);
        } while (old != seen);
    }
}

// Every thread counts without an atomic: a data race.
extern "C" __global__ void racy_count(int *count)
{
    count[0] = count[0] + 1;
}

extern "C" __global__ void speak(const int *in, int n)
{
    int i = threadIdx.x;
    if (i < n)
        printf("thread %d of %u: %5.2f %lld\n", i, blockDim.x, in[i] / 4.0, in[i] * 10000000000ll);
}

extern "C" __global__ void insist(const int *in)
{
    assert(in[threadIdx.x] < 100);
}

// Barriers that count; threads that have ended count no more, and warps arrive at different times.
extern "C" __global__ void block_votes(const int *in, int *counts, int *flags, int rounds, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    for (int r = 0; r < rounds; r++) {
        int v = in[r * n + i], count = __syncthreads_count(v > 0);
        counts[r * n + i] = count;
        if (i / 32 == r % 3)
            __nanosleep(500);
        flags[r * n + i] = 2 * (__syncthreads_or(v > 98) != 0) + (__syncthreads_and(v > -98) != 0);
    }
}
