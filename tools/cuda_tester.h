// What kernels of tools/cuda_tester.py are drawn from: arithmetic of every width without undefined behaviour, and the
// operations of warps and blocks. A C++ compiler compiles the same kernels for the host, where each thread is a context
// that runs until it waits for others.
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef float f32;
typedef double f64;

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define OWN static __device__ __noinline__
#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define TABLE static __constant__
FN int lane() { return (threadIdx.x + threadIdx.y * blockDim.x) % warpSize; }
FN u32 bits_of(f32 v) { return v != v ? 1 : __float_as_uint(v); }
FN f32 nan32() { return __uint_as_float(0x7fc00000); }
FN f64 nan64() { return __longlong_as_double(0x7ff8000000000000); }
FN void barrier() { __syncthreads(); }
#else
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#define FN static inline
#define OWN static __attribute__((noinline))
#define __shared__ static
#define TABLE static const
enum { warpSize = 32, MOST = 128 };
struct dim { u32 x, y, z; };
struct thread {
    ucontext_t context;
    dim place;
    u32 mask;   // of the lanes for which it waits
    int number, waits; // 0: runs, 1: for lanes, 2: for the block, 3: has ended
    u64 value, got[32];
    u32 count, waiting; // values other than 0 at a barrier, and threads
};
static thread threads[MOST], *now;
static ucontext_t scheduler;
static dim blockIdx, blockDim, gridDim;
static void (*body)();
static int num_threads;

#define threadIdx (now->place)
#define KERNEL(name, ...) static void name(__VA_ARGS__)
FN int lane() { return now->number % 32; }
FN f32 nan32() { return (f32) NAN; }
FN f64 nan64() { return (f64) NAN; }
FN u32 bits_of(f32 v) { u32 bits; memcpy(&bits, &v, 4); return v != v ? 1 : bits; }
static void wait_for(int what, u32 mask, u64 value)
{
    now->waits = what, now->mask = mask, now->value = value;
    swapcontext(&now->context, &scheduler);
}
static void run_thread() { body(); now->waits = 3; swapcontext(&now->context, &scheduler); }
// Let the lanes of a warp that wait for each other, all of them, go on with each other's values.
static bool release_warp(thread *warp, int size)
{
    bool progress = false;
    for (int k = 0; k < size; k++) {
        u32 mask = warp[k].waits == 1 ? warp[k].mask : 0, there = 0;
        for (int j = 0; j < size; j++)
            there |= (u32) (warp[j].waits == 1 && warp[j].mask == mask) << j;
        if (mask == 0 || there != mask)
            continue;
        for (int j = 0; j < size; j++)
            for (int i = 0; mask >> j & 1 && i < size; i++)
                warp[j].got[i] = warp[i].value;
        for (int j = 0; j < size; j++)
            warp[j].waits = mask >> j & 1 ? 0 : warp[j].waits;
        progress = true;
    }
    return progress;
}
static bool release_block()
{
    u32 waiting = 0, ended = 0, count = 0;
    for (int k = 0; k < num_threads; k++) {
        waiting += threads[k].waits == 2, ended += threads[k].waits == 3;
        count += threads[k].waits == 2 && threads[k].value != 0;
    }
    if (waiting == 0 || waiting + ended != (u32) num_threads)
        return false;
    for (int k = 0; k < num_threads; k++)
        if (threads[k].waits == 2)
            threads[k].waits = 0, threads[k].count = count, threads[k].waiting = waiting;
    return true;
}
static void run_block()
{
    static char stacks[MOST][1 << 16];
    for (int k = 0; k < num_threads; k++) {
        threads[k].number = k, threads[k].waits = 0;
        threads[k].place = dim{k % blockDim.x, k / blockDim.x, 0};
        getcontext(&threads[k].context);
        threads[k].context.uc_stack.ss_sp = stacks[k], threads[k].context.uc_stack.ss_size = sizeof stacks[k];
        makecontext(&threads[k].context, run_thread, 0);
    }
    for (int ended = 0; ended < num_threads;) {
        bool progress = false;
        ended = 0;
        for (int k = 0; k < num_threads; k++) {
            now = &threads[k];
            progress |= now->waits == 0;
            if (now->waits == 0)
                swapcontext(&scheduler, &now->context);
            ended += now->waits == 3;
        }
        for (int k = 0; k < num_threads; k += 32)
            progress |= release_warp(threads + k, num_threads - k < 32 ? num_threads - k : 32);
        if (!(progress | release_block()) && ended < num_threads)
            fprintf(stderr, "threads wait for ever\n"), abort();
    }
}
static void run_grid(int grid, int x, int y, void (*kernel)())
{
    body = kernel, blockDim = dim{(u32) x, (u32) y, 1}, gridDim = dim{(u32) grid, 1, 1}, num_threads = x * y;
    for (int block = 0; block < grid; block++)
        blockIdx = dim{(u32) block, 0, 0}, run_block();
}
FN u32 lanes_there() { int rest = num_threads - now->number / 32 * 32; return rest < 32 ? (1u << rest) - 1 : ~0u; }
FN u64 *exchange(u32 mask, u64 value) { wait_for(1, mask, value); return now->got; }
FN void barrier() { wait_for(2, 0, 0); }
#define __syncwarp(mask) ((void) exchange(mask, 0))
#define __activemask() lanes_there()
FN u32 __ballot_sync(u32 mask, bool v)
{
    u64 *got = exchange(mask, v);
    u32 found = 0;
    for (int k = 0; k < 32; k++)
        found |= (u32) (mask >> k & 1 && got[k]) << k;
    return found;
}
FN int __any_sync(u32 mask, bool v) { return __ballot_sync(mask, v) != 0; }
FN int __all_sync(u32 mask, bool v) { return __ballot_sync(mask, v) == mask; }
template <class T> FN u32 __match_any_sync(u32 mask, T v)
{
    u64 bits = 0, *got = (memcpy(&bits, &v, sizeof v), exchange(mask, bits));
    u32 found = 0;
    for (int k = 0; k < 32; k++)
        found |= (u32) (mask >> k & 1 && got[k] == bits) << k;
    return found;
}
template <class T> FN T shuffled(u32 mask, T v, int source)
{
    u64 bits = 0, *got = (memcpy(&bits, &v, sizeof v), exchange(mask, bits));
    memcpy(&v, &got[source], sizeof v);
    return v;
}
template <class T> FN T __shfl_sync(u32 mask, T v, int source, int width = 32)
{
    return shuffled(mask, v, lane() / width * width + source % width);
}
template <class T> FN T __shfl_xor_sync(u32 mask, T v, int by, int width = 32)
{
    int source = lane() ^ by;
    return shuffled(mask, v, source / width > lane() / width ? lane() : source);
}
template <class T> FN T __shfl_up_sync(u32 mask, T v, int by, int width = 32)
{
    return shuffled(mask, v, lane() % width < by ? lane() : lane() - by);
}
template <class T> FN T __shfl_down_sync(u32 mask, T v, int by, int width = 32)
{
    return shuffled(mask, v, lane() % width + by >= width ? lane() : lane() + by);
}
FN int __syncthreads_count(bool v) { wait_for(2, 0, v); return now->count; }
FN int __syncthreads_and(bool v) { wait_for(2, 0, v); return now->count == now->waiting; }
FN int __syncthreads_or(bool v) { wait_for(2, 0, v); return now->count > 0; }
#define ATOMIC(name, result) \
    template <class T> FN T atomic##name(T *p, T v) { T old = *p; *p = (T) (result); return old; }
ATOMIC(Add, old + v) ATOMIC(Sub, old - v) ATOMIC(Exch, v) ATOMIC(And, old &v) ATOMIC(Or, old | v) ATOMIC(Xor, old ^ v)
ATOMIC(Min, old < v ? old : v) ATOMIC(Max, old > v ? old : v)
ATOMIC(Inc, old >= v ? 0 : old + 1) ATOMIC(Dec, old == 0 || old > v ? v : old - 1)
template <class T> FN T atomicCAS(T *p, T before, T v) { T old = *p; *p = old == before ? v : old; return old; }
FN int __popc(u32 v) { return __builtin_popcount(v); }
FN int __popcll(u64 v) { return __builtin_popcountll(v); }
FN int __clz(i32 v) { return v ? __builtin_clz(v) : 32; }
FN int __clzll(i64 v) { return v ? __builtin_clzll(v) : 64; }
FN int __ffs(i32 v) { return __builtin_ffs(v); }
FN int __ffsll(i64 v) { return __builtin_ffsll(v); }
FN u32 __brev(u32 v) { u32 r = 0; for (int k = 0; k < 32; k++) r |= (v >> k & 1) << (31 - k); return r; }
FN u64 __brevll(u64 v) { return (u64) __brev((u32) v) << 32 | __brev((u32) (v >> 32)); }
FN i32 __mulhi(i32 a, i32 b) { return (i32) ((i64) a * b >> 32); }
FN u32 __umulhi(u32 a, u32 b) { return (u32) ((u64) a * b >> 32); }
FN i64 __mul64hi(i64 a, i64 b) { return (i64) ((i128) a * b >> 64); }
FN u64 __umul64hi(u64 a, u64 b) { return (u64) ((u128) a * b >> 64); }
FN i32 __mul24(i32 a, i32 b) { return (i32) ((u32) ((i32) ((u32) a << 8) >> 8) * (u32) ((i32) ((u32) b << 8) >> 8)); }
FN u32 __sad(i32 a, i32 b, u32 c) { return c + (a < b ? (u32) b - (u32) a : (u32) a - (u32) b); }
FN u32 __usad(u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); }
FN u32 __funnelshift_l(u32 low, u32 high, u32 n) { return (u32) (((u64) high << 32 | low) << (n & 31) >> 32); }
FN u32 __funnelshift_r(u32 low, u32 high, u32 n) { return (u32) (((u64) high << 32 | low) >> (n & 31)); }
FN u32 __byte_perm(u32 a, u32 b, u32 s)
{
    u32 r = 0;
    for (int k = 0; k < 4; k++)
        r |= (u32) (((u64) b << 32 | a) >> (s >> 4 * k & 7) * 8 & 255) << 8 * k;
    return r;
}
#endif

#define T1 template <class T> FN
T1 bool is_signed() { return (T) -1 < (T) 0; }
template <class T> struct wide { typedef u32 type; };
template <> struct wide<i64> { typedef u64 type; };
template <> struct wide<u64> { typedef u64 type; };
template <> struct wide<i128> { typedef u128 type; };
template <> struct wide<u128> { typedef u128 type; };
#define W(v) ((typename wide<T>::type) (v))
T1 T add(T a, T b) { return (T) (W(a) + W(b)); }
T1 T sub(T a, T b) { return (T) (W(a) - W(b)); }
T1 T mul(T a, T b) { return (T) (W(a) * W(b)); }
T1 T neg(T a) { return (T) (0 - W(a)); }
T1 T inv(T a) { return (T) ~W(a); }
T1 T both(T a, T b) { return (T) (a & b); }
T1 T either(T a, T b) { return (T) (a | b); }
T1 T differ(T a, T b) { return (T) (a ^ b); }
T1 T shl(T a, u32 n) { return (T) (W(a) << n % (8 * sizeof(T))); }
T1 T shr(T a, u32 n) { return (T) (a >> n % (8 * sizeof(T))); }
T1 T rotated(T a, u32 n) // Of a type without sign.
{
    n %= 8 * sizeof(T);
    return n ? (T) (W(a) << n | a >> (8 * sizeof(T) - n)) : a;
}
T1 T quotient(T a, T b) { return b == 0 ? a : is_signed<T>() && b == (T) -1 ? neg(a) : (T) (a / b); }
T1 T rest(T a, T b) { return b == 0 ? b : is_signed<T>() && b == (T) -1 ? 0 : (T) (a % b); }
T1 T least(T a, T b) { return a < b ? a : b; }
T1 T most(T a, T b) { return a > b ? a : b; }
T1 T as_integer(f64 v)
{
    const f64 top = sizeof(T) == 16 ? 1e38 : (f64) ((u64) 1 << (8 * sizeof(T) - 1 & 63)) * (is_signed<T>() ? 1 : 2);
    return v > (is_signed<T>() ? -top : -1) && v < top ? (T) v : (T) 7;
}
T1 T as_integer(f32 v)
{
    const f32 top = sizeof(T) == 16 ? 1e38f : (f32) ((u64) 1 << (8 * sizeof(T) - 1 & 63)) * (is_signed<T>() ? 1 : 2);
    return v > (is_signed<T>() ? -top : -1) && v < top ? (T) v : (T) 7;
}
FN f32 signed_as(f32 a, f32 b) { return b != b || a != a ? b : copysignf(a, b); }
FN f64 signed_as(f64 a, f64 b) { return b != b || a != a ? b : copysign(a, b); }
FN int nth(u32 mask, u32 n) // The lane of a set bit.
{
    for (n %= __popc(mask); n > 0; n--)
        mask &= mask - 1;
    return __ffs((int) mask) - 1;
}
T1 T from_lane(u32 mask, T v, u32 n) { return __shfl_sync(mask, v, nth(mask, n)); }
// What a lane reads from one that takes no part is undefined: its own value instead.
#define FROM(kind, source)                                        \
    T1 T from_##kind(u32 mask, T v, int by, int width)            \
    {                                                             \
        T found = __shfl_##kind##_sync(mask, v, by, width);       \
        return mask >> (source) & 1 ? found : v;                  \
    }
FROM(xor, (lane() ^ by) / width > lane() / width ? lane() : lane() ^ by)
FROM(up, lane() % width < by ? lane() : lane() - by)
FROM(down, lane() % width + by >= width ? lane() : lane() + by)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
FN u32 sum_of(u32 mask, u32 v) { return __reduce_add_sync(mask, v); }
FN i32 least_of(u32 mask, i32 v) { return __reduce_min_sync(mask, v); }
FN u32 differing(u32 mask, u32 v) { return __reduce_xor_sync(mask, v); }
#else
#define OF_ALL(name, T, combined)                                 \
    FN T name(u32 mask, T v)                                      \
    {                                                             \
        T all = from_lane(mask, v, 0), one;                       \
        for (int k = 1; k < __popc(mask); k++)                    \
            one = from_lane(mask, v, k), all = combined;          \
        return all;                                               \
    }
OF_ALL(sum_of, u32, all + one)
OF_ALL(least_of, i32, least(all, one))
OF_ALL(differing, u32, all ^ one)
#endif
// A result is 16 bytes; which NaN it is depends on the host.
T1 void put(u8 *out, int k, T v) { *(T *) (out + 16 * k) = v; }
FN void put(u8 *out, int k, f32 v) { *(f32 *) (out + 16 * k) = v != v ? nan32() : v; }
FN void put(u8 *out, int k, f64 v) { *(f64 *) (out + 16 * k) = v != v ? nan64() : v; }
T1 T get(const u8 *in, u32 k) { return *(const T *) (in + 16 * (k % 64)); }
