// random.cu: calls of cuRAND on the device and by generators. Each line has a name and numbers; test_curand.py computes
// the same from the generators' definitions.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <curand.h>
#include <curand_kernel.h>
#include <string>
#include <vector>

#include "library.h"

#define RIGHT(call) check(call, CURAND_STATUS_SUCCESS, #call)

template <class T>
static void
show(const std::string &name, const T *values, int count)
{
    printf("%s", name.c_str());
    for (int i = 0; i < count; i++)
        printf(" %.17g", double(values[i]));
    printf("\n");
}

static const int THREADS = 40, DRAWS = 6;

// Each thread draws words, uniform numbers and normal ones of a subsequence, then a word far behind them.
template <class State>
__global__ void
draw(unsigned long long seed, unsigned *words, double *numbers)
{
    int i = threadIdx.x;
    State state;
    curand_init(seed, i * 1000003ull, i * 37ull, &state);
    for (int k = 0; k < DRAWS - 1; k++)
        words[i * DRAWS + k] = curand(&state);
    numbers[i * DRAWS] = curand_uniform(&state);
    numbers[i * DRAWS + 1] = curand_uniform_double(&state);
    numbers[i * DRAWS + 2] = curand_normal(&state);
    numbers[i * DRAWS + 3] = curand_normal(&state); // the second of the pair
    numbers[i * DRAWS + 4] = curand_normal_double(&state);
    numbers[i * DRAWS + 5] = curand_log_normal(&state, 1.0f, 0.5f);
    skipahead(123456789ull, &state);
    skipahead_sequence(5, &state);
    words[i * DRAWS + DRAWS - 1] = curand(&state);
}

template <class State>
static void
device(const char *name)
{
    unsigned *words;
    double *numbers;
    cudaMallocManaged(&words, THREADS * DRAWS * sizeof *words);
    cudaMallocManaged(&numbers, THREADS * DRAWS * sizeof *numbers);
    draw<State><<<1, THREADS>>>(0x0123456789abcdefull, words, numbers);
    cudaDeviceSynchronize();
    show(std::string(name) + "words", words, THREADS * DRAWS);
    show(std::string(name) + "numbers", numbers, THREADS * DRAWS);
}

// Random123's vectors of counters and keys.
static void
known()
{
    uint4 out[] = {
        gpucoh_random::philox(uint4{0, 0, 0, 0}, uint2{0, 0}),
        gpucoh_random::philox(uint4{~0u, ~0u, ~0u, ~0u}, uint2{~0u, ~0u}),
        gpucoh_random::philox(uint4{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                              uint2{0xa4093822u, 0x299f31d0u}),
    };
    show("known", (unsigned *) out, 12);
}

template <class T>
static void
made(const std::string &name, const T *from, int count)
{
    std::vector<T> values(count);
    cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDefault);
    show(name, values.data(), count);
}

// Numbers of a generator: calls continue one sequence.
static void
generator(std::string name, curandRngType_t type, bool on_host)
{
    const int count = 5001;
    void *out = nullptr;
    curandGenerator_t g;
    RIGHT(on_host ? curandCreateGeneratorHost(&g, type) : curandCreateGenerator(&g, type));
    if (on_host)
        out = malloc(count * sizeof(double));
    else
        cudaMalloc(&out, count * sizeof(double));
    RIGHT(curandSetPseudoRandomGeneratorSeed(g, 1234));
    RIGHT(curandGenerate(g, (unsigned *) out, count));
    made(name + "words", (unsigned *) out, count);
    RIGHT(curandGenerateUniform(g, (float *) out, 10));
    made(name + "uniform", (float *) out, 10);
    RIGHT(curandSetGeneratorOffset(g, 12345));
    RIGHT(curandGenerateNormal(g, (float *) out, 100, 1, 2));
    made(name + "normal", (float *) out, 100);
    RIGHT(curandGenerateUniformDouble(g, (double *) out, 100));
    made(name + "double", (double *) out, 100);
    if (type == CURAND_RNG_PSEUDO_XORWOW)
        check(curandGenerateNormal(g, (float *) out, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE,
              "three normal numbers");
    check(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_SEEDED), CURAND_STATUS_OUT_OF_RANGE, "ordering");
    RIGHT(curandDestroyGenerator(g));
}

int
main()
{
    curandGenerator_t g;
    check(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MT19937), CURAND_STATUS_TYPE_ERROR, "MT19937");
    check(curandGenerate(nullptr, nullptr, 1), CURAND_STATUS_NOT_INITIALIZED, "no generator");
    known();
    device<curandState>("x");
    device<curandStatePhilox4_32_10_t>("p");
    device<curandStateMRG32k3a_t>("m");
    for (bool on_host : {false, true}) {
        generator(on_host ? "hostx" : "devicex", CURAND_RNG_PSEUDO_XORWOW, on_host);
        generator(on_host ? "hostp" : "devicep", CURAND_RNG_PSEUDO_PHILOX4_32_10, on_host);
        generator(on_host ? "hostm" : "devicem", CURAND_RNG_PSEUDO_MRG32K3A, on_host);
    }
}
