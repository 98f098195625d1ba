/* random_generators.h: cuRAND's generators of the host. A generator has `streams` subsequences, which take turns: of
 * XORWOW and MRG32k3a each makes one number, or a pair of normal ones, at a time; of Philox four numbers. */
#include <gpucoh/launching.h>
#include <gpucoh/random_numbers.h>
#include <stdlib.h>
#include <vector>

struct curandGenerator_st {
    curandRngType_t type;
    bool on_host;
    cudaStream_t stream;
    unsigned streams;
    unsigned long long seed, offset; /* offset: of 32-bit words */
    unsigned long long position;     /* in turns, of Philox in numbers */
    unsigned long long rounds;       /* of Philox: groups of four words that the current turn's subsequence has made */
    void *states;                    /* [streams], on the device or of the host; NULL: not made; not of Philox */
};

namespace gpucoh_random {
using namespace gpucoh_library;

/* A distribution makes WIDTH numbers at a time. */
struct Bits {
    typedef unsigned Number;
    static constexpr int WIDTH = 1;
    template <class State>
    GPUCOH_RANDOM void
    operator()(State *state, Number *out) const
    {
        *out = curand(state);
    }
};
struct Uniform {
    typedef float Number;
    static constexpr int WIDTH = 1;
    template <class State>
    GPUCOH_RANDOM void
    operator()(State *state, Number *out) const
    {
        *out = uniform(state);
    }
};
struct UniformDouble {
    typedef double Number;
    static constexpr int WIDTH = 1;
    template <class State>
    GPUCOH_RANDOM void
    operator()(State *state, Number *out) const
    {
        *out = whole_double(state);
    }
};

template <class T> struct Normal {
    typedef T Number;
    static constexpr int WIDTH = 2;
    T mean, deviation;
    bool is_log;
    GPUCOH_RANDOM T
    of(T normal) const
    {
        return is_log ? exp(mean + deviation * normal) : mean + deviation * normal;
    }
    template <class State>
    GPUCOH_RANDOM void
    operator()(State *state, T *out) const
    {
        auto pair = pair_of(state, T());
        out[0] = of(pair.x);
        out[1] = of(pair.y);
    }
    template <class State>
    static GPUCOH_RANDOM float2
    pair_of(State *state, float)
    {
        return normal2(state);
    }
    template <class State>
    static GPUCOH_RANDOM double2
    pair_of(State *state, double)
    {
        return normal2_double(state);
    }
};

/* What the subsequence of a thread makes of `turns` turns from the position on. */
template <class State, class Distribution>
GPUCOH_RANDOM void
make_turns(unsigned thread, Distribution distribution, State *states, unsigned streams, unsigned long long position,
           typename Distribution::Number *out, size_t turns)
{
    State &place = states[(position + thread) % streams], state = place;
    for (size_t turn = thread; turn < turns; turn += streams)
        distribution(&state, out + turn * Distribution::WIDTH);
    place = state;
}

struct Philox {
    unsigned long long seed, position, rounds;
    unsigned streams;

    template <class Distribution>
    GPUCOH_RANDOM void
    make(unsigned long long turn, Distribution distribution, typename Distribution::Number *out, size_t count) const
    {
        typedef typename Distribution::Number Number;
        constexpr int ROUNDS = sizeof(Number) / 4; /* four doubles need eight words */
        unsigned long long number = position / 4 % streams + turn, first = 4 * turn;
        Number made[4];
        curandStatePhilox4_32_10 state;
        curand_init(seed, number % streams, 4 * (rounds + number / streams * ROUNDS), &state);
        for (int i = 0; i < 4; i += Distribution::WIDTH)
            distribution(&state, made + i);
        for (int i = 0; i < 4; i++)
            if (first + i >= position % 4 && first + i - position % 4 < count)
                out[first + i - position % 4] = made[i];
    }
};

template <class State, class Distribution>
__global__ void
make_all(Distribution distribution, State *states, unsigned streams, unsigned long long position,
         typename Distribution::Number *out, size_t turns)
{
    unsigned thread = own_index();
    if (thread < streams && thread < turns)
        make_turns(thread, distribution, states, streams, position, out, turns);
}

template <class Distribution>
__global__ void
make_fours(Distribution distribution, Philox philox, typename Distribution::Number *out, size_t count, size_t turns)
{
    size_t turn = own_index();
    if (turn < turns)
        philox.make(turn, distribution, out, count);
}

inline void
next_subsequence(curandStateXORWOW *state)
{
    skipahead_sequence(1, state);
}

inline void
next_subsequence(curandStateMRG32k3a *state)
{
    skipahead_subsequence(1, state);
}

/* Makes the states of all subsequences behind the offset, on the host. */
template <class State>
curandStatus_t
begin(curandGenerator_t generator)
{
    if (generator->states)
        return CURAND_STATUS_SUCCESS;
    std::vector<State> states(generator->streams);
    State state;
    curand_init(generator->seed, 0, 0, &state);
    for (unsigned i = 0; i < generator->streams; i++) {
        states[i] = state;
        skipahead(generator->offset / generator->streams + (i < generator->offset % generator->streams), &states[i]);
        next_subsequence(&state);
    }
    size_t bytes = states.size() * sizeof(State);
    if (generator->on_host)
        generator->states = malloc(bytes);
    else if (cudaMalloc(&generator->states, bytes) != cudaSuccess)
        generator->states = nullptr;
    if (!generator->states)
        return CURAND_STATUS_ALLOCATION_FAILED;
    cudaMemcpy(generator->states, states.data(), bytes, cudaMemcpyDefault);
    return CURAND_STATUS_SUCCESS;
}

inline void
drop_states(curandGenerator_t generator)
{
    if (generator->on_host)
        free(generator->states);
    else
        cudaFree(generator->states);
    generator->states = nullptr;
    generator->position = generator->offset;
    generator->rounds = generator->offset / (4ull * generator->streams);
}

template <class State, class Distribution>
curandStatus_t
generate_turns(curandGenerator_t generator, Distribution distribution, typename Distribution::Number *out, size_t count)
{
    if (count % Distribution::WIDTH != 0)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    curandStatus_t status = begin<State>(generator);
    if (status != CURAND_STATUS_SUCCESS)
        return status;
    State *states = (State *) generator->states;
    size_t turns = count / Distribution::WIDTH;
    unsigned streams = generator->streams, threads = turns < streams ? turns : streams;
    for (unsigned thread = 0; generator->on_host && thread < threads; thread++)
        make_turns(thread, distribution, states, streams, generator->position, out, turns);
    if (!generator->on_host && launched(generator->stream, make_all<State, Distribution>, blocks_of(threads), THREADS,
                                        distribution, states, streams, generator->position, out, turns) != cudaSuccess)
        return CURAND_STATUS_LAUNCH_FAILURE;
    generator->position += turns;
    return CURAND_STATUS_SUCCESS;
}

template <class Distribution>
curandStatus_t
generate_fours(curandGenerator_t generator, Distribution distribution, typename Distribution::Number *out, size_t count)
{
    Philox philox = {generator->seed, generator->position, generator->rounds, generator->streams};
    size_t turns = (generator->position % 4 + count + 3) / 4;
    for (size_t turn = 0; generator->on_host && turn < turns; turn++)
        philox.make(turn, distribution, out, count);
    if (!generator->on_host && launched(generator->stream, make_fours<Distribution>, blocks_of(turns), THREADS,
                                        distribution, philox, out, count, turns) != cudaSuccess)
        return CURAND_STATUS_LAUNCH_FAILURE;
    unsigned long long begun = generator->position / 4 / generator->streams;
    generator->position += count;
    generator->rounds += (generator->position / 4 / generator->streams - begun) * (sizeof *out / 4);
    return CURAND_STATUS_SUCCESS;
}

template <class Distribution>
curandStatus_t
generate(curandGenerator_t generator, Distribution distribution, typename Distribution::Number *out, size_t count)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (count == 0)
        return CURAND_STATUS_SUCCESS;
    switch (generator->type) {
        case CURAND_RNG_PSEUDO_PHILOX4_32_10:
            return generate_fours(generator, distribution, out, count);
        case CURAND_RNG_PSEUDO_MRG32K3A:
            return generate_turns<curandStateMRG32k3a>(generator, distribution, out, count);
        default:
            return generate_turns<curandStateXORWOW>(generator, distribution, out, count);
    }
}

/* Subsequences of cuRAND's generators; 0: not known here. */
inline unsigned
streams_of(curandRngType_t type, curandOrdering_t ordering)
{
    if (ordering < CURAND_ORDERING_PSEUDO_BEST || ordering > CURAND_ORDERING_PSEUDO_LEGACY ||
        ordering == CURAND_ORDERING_PSEUDO_SEEDED)
        return 0;
    switch (type) {
        case CURAND_RNG_PSEUDO_DEFAULT:
        case CURAND_RNG_PSEUDO_XORWOW:
            return 4096;
        case CURAND_RNG_PSEUDO_MRG32K3A:
            return ordering == CURAND_ORDERING_PSEUDO_LEGACY ? 4096 : 81920;
        case CURAND_RNG_PSEUDO_PHILOX4_32_10:
            return 65536;
        default:
            return 0;
    }
}

inline curandStatus_t
create(curandGenerator_t *generator, curandRngType_t type, bool on_host)
{
    unsigned streams = streams_of(type, CURAND_ORDERING_PSEUDO_DEFAULT);
    if (streams == 0 || !generator)
        return CURAND_STATUS_TYPE_ERROR;
    *generator = new curandGenerator_st();
    (*generator)->type = type;
    (*generator)->on_host = on_host;
    (*generator)->streams = streams;
    return CURAND_STATUS_SUCCESS;
}

namespace api {
GPUCOH_CURAND
curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

GPUCOH_CURAND
curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true);
}

GPUCOH_CURAND
curandDestroyGenerator(curandGenerator_t generator)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    drop_states(generator);
    delete generator;
    return CURAND_STATUS_SUCCESS;
}

GPUCOH_CURAND
curandGetVersion(int *version)
{
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

GPUCOH_CURAND
curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

GPUCOH_CURAND
curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed = seed;
    drop_states(generator);
    return CURAND_STATUS_SUCCESS;
}

GPUCOH_CURAND
curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    drop_states(generator);
    return CURAND_STATUS_SUCCESS;
}

GPUCOH_CURAND
curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    unsigned streams = streams_of(generator->type, ordering);
    if (streams == 0)
        return CURAND_STATUS_OUT_OF_RANGE;
    generator->streams = streams;
    drop_states(generator);
    return CURAND_STATUS_SUCCESS;
}

/* The states are made with the first numbers otherwise. */
GPUCOH_CURAND
curandGenerateSeeds(curandGenerator_t generator)
{
    return generate(generator, Bits(), nullptr, 0);
}

GPUCOH_CURAND
curandGenerate(curandGenerator_t generator, unsigned *out, size_t count)
{
    return generate(generator, Bits(), out, count);
}

GPUCOH_CURAND
curandGenerateUniform(curandGenerator_t generator, float *out, size_t count)
{
    return generate(generator, Uniform(), out, count);
}

GPUCOH_CURAND
curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t count)
{
    return generate(generator, UniformDouble(), out, count);
}

#define GPUCOH_CURAND_NORMAL(name, T, is_log)                                                                    \
    GPUCOH_CURAND curandGenerate##name(curandGenerator_t generator, T *out, size_t count, T mean, T deviation)   \
    {                                                                                                            \
        return generate(generator, Normal<T>{mean, deviation, is_log}, out, count);                              \
    }
GPUCOH_CURAND_NORMAL(Normal, float, false)
GPUCOH_CURAND_NORMAL(NormalDouble, double, false)
GPUCOH_CURAND_NORMAL(LogNormal, float, true)
GPUCOH_CURAND_NORMAL(LogNormalDouble, double, true)
} // namespace api
} // namespace gpucoh_random
