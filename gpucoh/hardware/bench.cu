// The microbenchmarks mb-* of gpucoh on a GPU: nvcc -O3 -arch=native bench.cu -o bench && ./bench > measured.txt
// and gpucoh hardware --timing --measured measured.txt. No dependency; each line is "curve point cycles",
// but that of a bandwidth has bytes a cycle and SM.
// Cycles are those of the SM's clock (clock()), which clock_mhz gives where the card runs at its largest clock.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECKED(call)                                                                                                  \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef unsigned int word;

static const int LANES = 32;
static const int LINE = 32; // words of 128 bytes

__device__ word now() { return (word)clock(); }

__device__ word load_acquire(word *p)
{
    word value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ word load_relaxed(word *p)
{
    word value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void store_release(word *p, word value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}

__device__ void store_plain(word *p, word value)
{
    asm volatile("st.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}

__global__ void chase(const word *next, word *out, int warm, int steps)
{
    if (threadIdx.x == 0) {
        word at = 0;
        for (int i = 0; i < warm; i++)
            at = next[at];
        word start = now();
        for (int i = 0; i < steps; i++)
            at = next[at];
        out[1] = at;
        out[0] = now() - start + (at >> 31);
    }
}

__global__ void add_in_turn(word *counter, word *out, int steps)
{
    if (threadIdx.x == 0) {
        word zero = atomicAdd(counter, 1u) >> 31;
        word start = now();
        for (int i = 0; i < steps; i++)
            zero = atomicAdd(counter + zero, 1u) >> 31;
        out[0] = now() - start + zero;
    }
}

__global__ void add_together(word *counter, word *out, int steps)
{
    if (threadIdx.x == 0) {
        word seen = 0;
        word start = now();
        for (int i = 0; i < steps; i++)
            seen = atomicAdd(counter, 1u + (seen >> 31));
        out[blockIdx.x] = now() - start + (seen >> 31);
    }
}

// kind: 0 nothing, 1 fence, 2 release, 3 acquire
__global__ void fenced_stores(word *data, word *flag, word *out, int steps, int stores, int pitch, int kind)
{
    if (threadIdx.x == 0) {
        word seen = 0;
        word start = 0;
        for (int step = 0; step <= steps; step++) {
            if (step == 1)
                start = now();
            for (int i = 0; i < stores; i++)
                store_plain(data + step * pitch + i * 32, (word)step + 1);
            if (kind == 1)
                __threadfence();
            if (kind == 2)
                store_release(flag, (word)step + 1);
            if (kind == 3)
                seen += load_acquire(flag);
        }
        out[0] = now() - start + (seen >> 31);
    }
}

__global__ void ping_pong(word *flag, word *data, word *out, int rounds, int message)
{
    if (threadIdx.x == 0) {
        word me = blockIdx.x;
        word got = 0;
        word start = now();
        for (int turn = 0; turn < rounds; turn++) {
            word want = 2 * (word)turn + me;
            while (load_acquire(flag) != want)
                ;
            if (message) {
                got += *(volatile word *)(data + 32 - 32 * me) == want;
                store_plain(data + 32 * me, want + 1);
            }
            store_release(flag, want + 1);
        }
        out[32 * me] = now() - start;
        out[32 * me + 1] = got;
    }
}

__global__ void passes(word *counters, double *target, const double *source, int words, int warm, int count, word *out)
{
    word start = now();
    for (int turn = 0; turn < warm + count; turn++) {
        if (turn == warm)
            start = now();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x)
            target[i] = source[i] * 0.25;
        __syncthreads();
        __threadfence();
        if (threadIdx.x == 0) {
            atomicAdd(counters + turn, 1u);
            while (load_relaxed(counters + turn) != gridDim.x)
                ;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = now() - start;
}

__global__ void read_words(const uint4 *data, word *out, int count, int rounds, word *times)
{
    word total = 0;
    word start = 0;
    for (int turn = 0; turn <= rounds; turn++) {
        if (turn == 1) {
            __syncthreads();
            start = now();
        }
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            uint4 four = data[i];
            total += (four.x ^ turn) + four.y + four.z + four.w;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        times[blockIdx.x] = now() - start;
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

static word *on_device(size_t words)
{
    word *p;
    CHECKED(cudaMalloc((void **)&p, words * sizeof(word)));
    CHECKED(cudaMemset(p, 0, words * sizeof(word)));
    return p;
}

static word largest(const word *device, int count)
{
    word *host = (word *)malloc(count * sizeof(word));
    CHECKED(cudaDeviceSynchronize());
    CHECKED(cudaMemcpy(host, device, count * sizeof(word), cudaMemcpyDeviceToHost));
    word most = 0;
    for (int i = 0; i < count; i++)
        most = host[i] > most ? host[i] : most;
    free(host);
    return most;
}

static void line(const char *curve, const char *point, double cycles)
{
    printf("%s %s %.1f\n", curve, point, cycles);
    fflush(stdout);
}

static unsigned long long state = 88172645463325252ull;

static unsigned long long random_word()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// A random cycle through a word of each line of an array.
static void measure_chase(const char *point, size_t bytes, int warm, int steps)
{
    size_t lines = bytes / 128 < 2 ? 2 : bytes / 128;
    word *order = (word *)malloc(lines * sizeof(word)), *links = (word *)calloc(lines * LINE, sizeof(word));
    for (size_t i = 0; i < lines; i++)
        order[i] = (word)i;
    for (size_t i = lines - 1; i > 1; i--) {
        size_t j = 1 + random_word() % i;
        word kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (size_t i = 0; i < lines; i++)
        links[(size_t)order[i] * LINE] = order[(i + 1) % lines] * LINE;
    word *next = on_device(lines * LINE), *out = on_device(2);
    CHECKED(cudaMemcpy(next, links, lines * LINE * sizeof(word), cudaMemcpyHostToDevice));
    chase<<<1, LANES>>>(next, out, warm * (int)lines, steps);
    line("chase", point, (double)largest(out, 1) / steps);
    CHECKED(cudaFree(next));
    CHECKED(cudaFree(out));
    free(order);
    free(links);
}

static void measure_atomics(int cores)
{
    word *counter = on_device(LINE), *out = on_device(cores);
    add_in_turn<<<1, LANES>>>(counter, out, 64);
    line("atomics", "dependent", largest(out, 1) / 64.0);
    add_together<<<cores, LANES>>>(counter, out, 16);
    line("atomics", "contended", largest(out, cores) / 16.0);
    CHECKED(cudaFree(counter));
    CHECKED(cudaFree(out));
}

static void measure_fence(const char *point, int kind, int stores, int cold)
{
    const int steps = 32;
    int pitch = cold ? LINE * (stores ? stores : 1) : 0;
    word *data = on_device(LINE * 8 * (steps + 1)), *flag = on_device(LINE), *out = on_device(1);
    if (cold) { // out of the caches: an array as large as twice the L2 is written
        cudaDeviceProp card;
        CHECKED(cudaGetDeviceProperties(&card, 0));
        word *other = on_device((size_t)card.l2CacheSize / 2);
        CHECKED(cudaFree(other));
    }
    fenced_stores<<<1, LANES>>>(data, flag, out, steps, stores, pitch, kind);
    line("fence", point, (double)largest(out, 1) / steps);
    CHECKED(cudaFree(data));
    CHECKED(cudaFree(flag));
    CHECKED(cudaFree(out));
}

static void measure_flag(const char *point, int message)
{
    const int rounds = 64;
    word *flag = on_device(LINE), *data = on_device(2 * LINE), *out = on_device(2 * LINE);
    ping_pong<<<2, LANES>>>(flag, data, out, rounds, message);
    line("flag", point, (double)largest(out, 1) / rounds);
    CHECKED(cudaFree(flag));
    CHECKED(cudaFree(data));
    CHECKED(cudaFree(out));
}

static void measure_barrier(int block)
{
    const int words = 4096, warm = 4, count = 28;
    int blocks = words / block;
    char point[16];
    double *arrays;
    CHECKED(cudaMalloc((void **)&arrays, 2 * words * sizeof(double)));
    CHECKED(cudaMemset(arrays, 0, 2 * words * sizeof(double)));
    word *counters = on_device(warm + count), *out = on_device(blocks);
    passes<<<blocks, block>>>(counters, arrays, arrays + words, words, warm, count, out);
    snprintf(point, sizeof point, "%d", block);
    line("barrier", point, (double)largest(out, blocks) / count);
    CHECKED(cudaFree(arrays));
    CHECKED(cudaFree(counters));
    CHECKED(cudaFree(out));
}

// Bytes a cycle and SM.
static void measure_bandwidth(const char *point, int cores, int kib, int rounds)
{
    const int block = 256;
    word *data = on_device((size_t)kib * 256), *out = on_device((size_t)cores * block), *times = on_device(cores);
    read_words<<<cores, block>>>((const uint4 *)data, out, kib * 64, rounds, times);
    line("bandwidth", point, (double)kib * 1024 * rounds / largest(times, cores));
    CHECKED(cudaFree(data));
    CHECKED(cudaFree(out));
    CHECKED(cudaFree(times));
}

int main()
{
    cudaDeviceProp card;
    int driver = 0, clock_khz = 0;
    CHECKED(cudaGetDeviceProperties(&card, 0));
    CHECKED(cudaDriverGetVersion(&driver));
    CHECKED(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    int cores = card.multiProcessorCount;
    printf("gpucoh-timing 1\ncard %s\ndriver %d\nclock_mhz %d\ncores %d\n", card.name, driver, clock_khz / 1000, cores);
    measure_chase("l1", 4 * 1024, 1, 512);
    measure_chase("l2", 1024 * 1024, 1, 512);
    measure_chase("l2_far", (size_t)card.l2CacheSize / 4 * 3, 1, 512); // as l2 where the L2 has no halves
    measure_chase("memory", 4 * (size_t)card.l2CacheSize, 0, 512);
    measure_atomics(cores);
    measure_fence("nothing-1-warm", 0, 1, 0);
    measure_fence("fence-0-warm", 1, 0, 0);
    measure_fence("fence-1-warm", 1, 1, 0);
    measure_fence("fence-1-cold", 1, 1, 1);
    measure_fence("fence-8-warm", 1, 8, 0);
    measure_fence("release-1-warm", 2, 1, 0);
    measure_fence("release-1-cold", 2, 1, 1);
    measure_fence("acquire-0-warm", 3, 0, 0);
    measure_flag("flag", 0);
    measure_flag("message", 1);
    for (int block = 32; block <= 1024; block *= 2)
        measure_barrier(block);
    measure_bandwidth("l1", cores, 8, 20);
    measure_bandwidth("l2", cores, 512, 1);
    return 0;
}
