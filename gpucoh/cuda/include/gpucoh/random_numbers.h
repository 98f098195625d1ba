/* random_numbers.h: cuRAND's distributions over its generators: uniform, normal and log-normal numbers. */
#ifndef GPUCOH_RANDOM_NUMBERS_H
#define GPUCOH_RANDOM_NUMBERS_H
#include <gpucoh/random_engines.h>
#include <math.h>

namespace gpucoh_random {
constexpr float UNIT = 2.3283064e-10f; /* 2^-32; the middle of a step is added, so that 0 is left out */
constexpr double WORD_UNIT = 1.0 / (1ll << 32), DOUBLE_UNIT = 1.0 / (1ll << 53);
constexpr float TWO_PI = 6.2831855f;

/* Uniform numbers in (0, 1], of which the normal ones are made too. */
GPUCOH_RANDOM float
unit_of(unsigned word)
{
    return word * UNIT + UNIT / 2;
}

template <class State>
GPUCOH_RANDOM float
uniform(State *state)
{
    return unit_of(curand(state));
}

GPUCOH_RANDOM float
uniform(curandStateMRG32k3a *state)
{
    return (float) (next(state) * NORM);
}

/* Of two words, 53 bits. */
template <class State>
GPUCOH_RANDOM double
whole_double(State *state)
{
    unsigned long long low = curand(state), high = curand(state);
    return (low ^ high << 21) * DOUBLE_UNIT + DOUBLE_UNIT / 2;
}

GPUCOH_RANDOM double
whole_double(curandStateMRG32k3a *state)
{
    return next(state) * NORM;
}

template <class State>
GPUCOH_RANDOM double
uniform_double(State *state)
{
    return whole_double(state);
}

/* Of one word. */
GPUCOH_RANDOM double
uniform_double(curandStatePhilox4_32_10 *state)
{
    return curand(state) * WORD_UNIT + WORD_UNIT;
}

/* Two normal numbers by Box and Muller's method. */
GPUCOH_RANDOM float2
normal_pair(float first, float angle)
{
    float radius = sqrtf(-2 * logf(first)), sine, cosine;
#ifdef __CUDA_ARCH__
    __sincosf(angle, &sine, &cosine);
#else
    sine = sinf(angle), cosine = cosf(angle);
#endif
    return float2{radius * sine, radius * cosine};
}

template <class State>
GPUCOH_RANDOM float2
normal2(State *state)
{
    unsigned first = curand(state), second = curand(state);
    return normal_pair(unit_of(first), second * (UNIT * TWO_PI) + UNIT * TWO_PI / 2);
}

GPUCOH_RANDOM float2
normal2(curandStateMRG32k3a *state)
{
    float first = uniform(state), second = uniform(state);
    return normal_pair(first, second * TWO_PI);
}

template <class State>
GPUCOH_RANDOM double2
normal2_double(State *state)
{
    double first = whole_double(state), second = whole_double(state);
    double radius = sqrt(-2 * log(first)), angle = 2 * 3.141592653589793 * second;
    double sine, cosine;
#ifdef __CUDA_ARCH__
    (void) angle;
    sincospi(2 * second, &sine, &cosine);
#else
    sine = sin(angle), cosine = cos(angle);
#endif
    return double2{radius * sine, radius * cosine};
}
enum { NOTHING, NORMAL, LOG_NORMAL }; /* what the second number of a pair is */

/* Keeps the second number. */
template <class Pair, class Number>
GPUCOH_RANDOM Number
first_of(Pair pair, int kind, int &flag, Number &extra)
{
    flag = kind;
    extra = pair.y;
    return pair.x;
}
} // namespace gpucoh_random

template <class State>
GPUCOH_RANDOM float
curand_uniform(State *state)
{
    return gpucoh_random::uniform(state);
}

template <class State>
GPUCOH_RANDOM double
curand_uniform_double(State *state)
{
    return gpucoh_random::uniform_double(state);
}

template <class State>
GPUCOH_RANDOM float2
curand_normal2(State *state)
{
    return gpucoh_random::normal2(state);
}

template <class State>
GPUCOH_RANDOM double2
curand_normal2_double(State *state)
{
    return gpucoh_random::normal2_double(state);
}

template <class State>
GPUCOH_RANDOM float2
curand_log_normal2(State *state, float mean, float deviation)
{
    float2 pair = curand_normal2(state);
    return float2{expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}

template <class State>
GPUCOH_RANDOM double2
curand_log_normal2_double(State *state, double mean, double deviation)
{
    double2 pair = curand_normal2_double(state);
    return double2{exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};
}

/* The second number of a pair is the next one of its kind, if no other kind is between them. */
template <class State>
GPUCOH_RANDOM float
curand_normal(State *state)
{
    if (state->flag != gpucoh_random::NORMAL) {
        float2 pair = curand_normal2(state);
        return gpucoh_random::first_of(pair, gpucoh_random::NORMAL, state->flag, state->extra);
    }
    state->flag = gpucoh_random::NOTHING;
    return state->extra;
}

template <class State>
GPUCOH_RANDOM double
curand_normal_double(State *state)
{
    if (state->flag_double != gpucoh_random::NORMAL) {
        double2 pair = curand_normal2_double(state);
        return gpucoh_random::first_of(pair, gpucoh_random::NORMAL, state->flag_double, state->extra_double);
    }
    state->flag_double = gpucoh_random::NOTHING;
    return state->extra_double;
}

template <class State>
GPUCOH_RANDOM float
curand_log_normal(State *state, float mean, float deviation)
{
    if (state->flag != gpucoh_random::LOG_NORMAL) {
        float2 pair = curand_log_normal2(state, mean, deviation);
        return gpucoh_random::first_of(pair, gpucoh_random::LOG_NORMAL, state->flag, state->extra);
    }
    state->flag = gpucoh_random::NOTHING;
    return state->extra;
}

template <class State>
GPUCOH_RANDOM double
curand_log_normal_double(State *state, double mean, double deviation)
{
    if (state->flag_double != gpucoh_random::LOG_NORMAL) {
        double2 pair = curand_log_normal2_double(state, mean, deviation);
        return gpucoh_random::first_of(pair, gpucoh_random::LOG_NORMAL, state->flag_double, state->extra_double);
    }
    state->flag_double = gpucoh_random::NOTHING;
    return state->extra_double;
}

/* ---- four at a time, of Philox */
GPUCOH_RANDOM uint4
curand4(curandStatePhilox4_32_10 *state)
{
    uint4 words;
    words.x = curand(state);
    words.y = curand(state);
    words.z = curand(state);
    words.w = curand(state);
    return words;
}

GPUCOH_RANDOM float4
curand_uniform4(curandStatePhilox4_32_10 *state)
{
    uint4 words = curand4(state);
    using gpucoh_random::unit_of;
    return float4{unit_of(words.x), unit_of(words.y), unit_of(words.z), unit_of(words.w)};
}

GPUCOH_RANDOM float4
curand_normal4(curandStatePhilox4_32_10 *state)
{
    float2 first = curand_normal2(state), second = curand_normal2(state);
    return float4{first.x, first.y, second.x, second.y};
}

GPUCOH_RANDOM float4
curand_log_normal4(curandStatePhilox4_32_10 *state, float mean, float deviation)
{
    float2 first = curand_log_normal2(state, mean, deviation), second = curand_log_normal2(state, mean, deviation);
    return float4{first.x, first.y, second.x, second.y};
}

GPUCOH_RANDOM double2
curand_uniform2_double(curandStatePhilox4_32_10 *state)
{
    double first = gpucoh_random::whole_double(state);
    return double2{first, gpucoh_random::whole_double(state)};
}
#endif
