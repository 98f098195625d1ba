/* random_engines.h: cuRAND's generators: XORWOW (Marsaglia, "Xorshift RNGs", 2003), Philox4x32-10 (Salmon et al.,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011) and MRG32k3a (L'Ecuyer, Operations Research 47(1), 1999),
 * with cuRAND's seeds and subsequences, for the device and the host. */
#ifndef GPUCOH_RANDOM_ENGINES_H
#define GPUCOH_RANDOM_ENGINES_H
#include <cuda_runtime.h>

#define GPUCOH_RANDOM __host__ __device__ inline

/* The last members are what Box and Muller's method leaves for the next normal number. Sizes are those of cuRAND. */
struct curandStateXORWOW {
    unsigned d, v[5];
    int flag, flag_double;
    float extra;
    double extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output; /* the words of the counter; `used` of them are used */
    uint2 key;
    unsigned used;
    int flag, flag_double;
    float extra;
    double extra_double;
};
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int flag, flag_double;
    float extra;
    double extra_double;
};

namespace gpucoh_random {
/* ---- XORWOW. A step of v is linear over GF(2): n steps are the polynomial x^n modulo the step's characteristic one,
 * whose coefficients say which of the next 160 states are added up. */
constexpr int WORDS = 5, DEGREE = 32 * WORDS, LOG_SUBSEQUENCE = 67;
constexpr int BITS = 2, DIGITS = 1 << BITS, PLACES = (LOG_SUBSEQUENCE + 64 + BITS - 1) / BITS;

struct Polynomial {
    unsigned words[WORDS];
};

constexpr Polynomial CHARACTERISTIC = {{0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e}};

constexpr Polynomial
times_x(const Polynomial &p)
{
    const unsigned *w = p.words;
    Polynomial out = {
        {w[0] << 1, w[1] << 1 | w[0] >> 31, w[2] << 1 | w[1] >> 31, w[3] << 1 | w[2] >> 31, w[4] << 1 | w[3] >> 31}};
    for (int i = 0; i < WORDS && w[4] >> 31; i++)
        out.words[i] ^= CHARACTERISTIC.words[i];
    return out;
}

constexpr Polynomial
product(const Polynomial &a, Polynomial b)
{
    Polynomial out = {};
    for (int bit = 0; bit < DEGREE; bit++, b = times_x(b))
        for (int i = 0; i < WORDS && a.words[bit / 32] >> bit % 32 & 1; i++)
            out.words[i] ^= b.words[i];
    return out;
}

/* x^(digit * DIGITS^place). */
struct Jumps {
    Polynomial of[PLACES][DIGITS];
};

constexpr Jumps
all_jumps()
{
    Jumps jumps = {};
    Polynomial root = {{2}};
    for (auto &place : jumps.of) {
        place[0].words[0] = 1;
        for (int digit = 1; digit < DIGITS; digit++)
            place[digit] = product(root, place[digit - 1]);
        root = product(root, place[DIGITS - 1]);
    }
    return jumps;
}

__device__ const Jumps JUMPS_OF_DEVICE = all_jumps();
const Jumps JUMPS_OF_HOST = all_jumps();

GPUCOH_RANDOM void
step(unsigned *v)
{
    unsigned t = v[0] ^ v[0] >> 2;
    for (int i = 0; i < WORDS - 1; i++)
        v[i] = v[i + 1];
    v[4] = v[3] ^ v[3] << 4 ^ t ^ t << 1;
}

/* `steps` times 2^log steps. */
GPUCOH_RANDOM void
jump(unsigned *v, unsigned long long steps, int log)
{
#ifdef __CUDA_ARCH__
    const Jumps &jumps = JUMPS_OF_DEVICE;
#else
    const Jumps &jumps = JUMPS_OF_HOST;
#endif
    /* The first digit has what log leaves of a place. */
    unsigned long long digit = steps << log % BITS & DIGITS - 1;
    steps >>= BITS - log % BITS;
    for (int place = log / BITS; digit != 0 || steps != 0; place++, digit = steps & DIGITS - 1, steps >>= BITS) {
        unsigned sum[WORDS] = {};
        for (int bit = 0; bit < DEGREE; bit++) {
            bool taken = jumps.of[place][digit].words[bit / 32] >> bit % 32 & 1;
            for (int i = 0; i < WORDS; i++)
                sum[i] ^= taken ? v[i] : 0;
            step(v);
        }
        for (int i = 0; i < WORDS; i++)
            v[i] = sum[i];
    }
}

/* ---- MRG32k3a: two recurrences modulo M1 and M2; n steps are the n-th power of a matrix. */
constexpr unsigned M1 = 4294967087u, M2 = 4294944443u;
constexpr double NORM = 2.328306549837829e-10; /* 1 / M1 */

struct Matrix {
    unsigned at[3][3];
};

__host__ __device__ constexpr Matrix
product(const Matrix &a, const Matrix &b, unsigned m)
{
    Matrix out = {};
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + (unsigned long long) a.at[row][k] * b.at[k][column] % m) % m;
            out.at[row][column] = (unsigned) sum;
        }
    return out;
}

__host__ __device__ constexpr Matrix
squared(Matrix matrix, int times, unsigned m)
{
    for (int i = 0; i < times; i++)
        matrix = product(matrix, matrix, m);
    return matrix;
}

constexpr Matrix FIRST = {{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}};
constexpr Matrix SECOND = {{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}};
constexpr int LOG_OF_SUBSEQUENCE = 76, LOG_OF_SEQUENCE = 127;

GPUCOH_RANDOM void
multiply(unsigned *s, Matrix matrix, unsigned long long power, unsigned m)
{
    for (; power != 0; power >>= 1) {
        unsigned was[3] = {s[0], s[1], s[2]};
        for (int row = 0; row < 3 && power & 1; row++) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + (unsigned long long) matrix.at[row][k] * was[k] % m) % m;
            s[row] = (unsigned) sum;
        }
        matrix = product(matrix, matrix, m);
    }
}

template <int LOG>
GPUCOH_RANDOM void
jump(curandStateMRG32k3a *state, unsigned long long n)
{
    constexpr Matrix first = squared(FIRST, LOG, M1), second = squared(SECOND, LOG, M2);
    multiply(state->s1, first, n, M1);
    multiply(state->s2, second, n, M2);
}

/* From 1 to M1. */
GPUCOH_RANDOM double
next(curandStateMRG32k3a *state)
{
    unsigned *s1 = state->s1, *s2 = state->s2;
    unsigned first = (1403580ull * s1[1] + (M1 - 810728ull) * s1[0] % M1) % M1;
    unsigned second = (527612ull * s2[2] + (M2 - 1370589ull) * s2[0] % M2) % M2;
    s1[0] = s1[1], s1[1] = s1[2], s1[2] = first;
    s2[0] = s2[1], s2[1] = s2[2], s2[2] = second;
    double difference = double(first) - second;
    return difference <= 0 ? difference + M1 : difference;
}

/* ---- Philox4x32-10 */
GPUCOH_RANDOM unsigned
high_product(unsigned a, unsigned b)
{
    return (unsigned) ((unsigned long long) a * b >> 32);
}

GPUCOH_RANDOM uint4
philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        const unsigned A = 0xD2511F53u, B = 0xCD9E8D57u;
        c = uint4{high_product(B, c.z) ^ c.y ^ key.x, B * c.z, high_product(A, c.x) ^ c.w ^ key.y, A * c.x};
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

/* Adds n to a number of two words. */
GPUCOH_RANDOM void
add(unsigned &low, unsigned &high, unsigned long long n)
{
    unsigned long long sum = ((unsigned long long) high << 32 | low) + n;
    low = (unsigned) sum;
    high = (unsigned) (sum >> 32);
}

GPUCOH_RANDOM void
count(uint4 &ctr, unsigned long long n)
{
    unsigned long long was = (unsigned long long) ctr.y << 32 | ctr.x;
    add(ctr.x, ctr.y, n);
    add(ctr.z, ctr.w, was + n < was);
}
} // namespace gpucoh_random

/* ---- cuRAND's functions of the generators */
GPUCOH_RANDOM unsigned
curand(curandStateXORWOW *state)
{
    gpucoh_random::step(state->v);
    state->d += 362437;
    return state->v[4] + state->d;
}

GPUCOH_RANDOM unsigned
curand(curandStatePhilox4_32_10 *state)
{
    const uint4 &o = state->output;
    unsigned word = state->used == 0 ? o.x : state->used == 1 ? o.y : state->used == 2 ? o.z : o.w;
    if (++state->used == 4) {
        gpucoh_random::count(state->ctr, 1);
        state->output = gpucoh_random::philox(state->ctr, state->key);
        state->used = 0;
    }
    return word;
}

GPUCOH_RANDOM unsigned
curand(curandStateMRG32k3a *state)
{
    return (unsigned) (gpucoh_random::next(state) * 1.000000048662); /* to 2^32 - 1 */
}

GPUCOH_RANDOM void
skipahead(unsigned long long n, curandStateXORWOW *state)
{
    gpucoh_random::jump(state->v, n, 0);
    state->d += 362437 * (unsigned) n;
}

GPUCOH_RANDOM void
skipahead_sequence(unsigned long long n, curandStateXORWOW *state)
{
    gpucoh_random::jump(state->v, n, gpucoh_random::LOG_SUBSEQUENCE); /* d comes round every 2^32 steps */
}

GPUCOH_RANDOM void
skipahead(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    gpucoh_random::count(state->ctr, n / 4 + (state->used + n % 4) / 4);
    state->used = (state->used + n) % 4;
    state->output = gpucoh_random::philox(state->ctr, state->key);
}

GPUCOH_RANDOM void
skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    gpucoh_random::add(state->ctr.z, state->ctr.w, n);
    state->output = gpucoh_random::philox(state->ctr, state->key);
}

GPUCOH_RANDOM void
skipahead(unsigned long long n, curandStateMRG32k3a *state)
{
    gpucoh_random::jump<0>(state, n);
}

GPUCOH_RANDOM void
skipahead_subsequence(unsigned long long n, curandStateMRG32k3a *state)
{
    gpucoh_random::jump<gpucoh_random::LOG_OF_SUBSEQUENCE>(state, n);
}

GPUCOH_RANDOM void
skipahead_sequence(unsigned long long n, curandStateMRG32k3a *state)
{
    gpucoh_random::jump<gpucoh_random::LOG_OF_SEQUENCE>(state, n);
}

GPUCOH_RANDOM void
curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
            curandStateXORWOW *state)
{
    unsigned low = 1099087573u * ((unsigned) seed ^ 0xaad26b49u);
    unsigned high = 2591861531u * ((unsigned) (seed >> 32) ^ 0xf7dcefddu);
    *state = curandStateXORWOW();
    state->d = 6615241u + high + low;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

GPUCOH_RANDOM void
curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
            curandStatePhilox4_32_10 *state)
{
    *state = curandStatePhilox4_32_10();
    state->key = uint2{(unsigned) seed, (unsigned) (seed >> 32)};
    state->ctr.z = (unsigned) subsequence;
    state->ctr.w = (unsigned) (subsequence >> 32);
    skipahead(offset, state);
}

GPUCOH_RANDOM void
curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
            curandStateMRG32k3a *state)
{
    unsigned long long low = (unsigned) seed ^ 0x55555555u, high = (unsigned) (seed >> 32) ^ 0xAAAAAAAAu;
    *state = curandStateMRG32k3a();
    for (int i = 0; i < 3; i++) {
        state->s1[i] = (i == 1 ? high : low) * 12345 % gpucoh_random::M1;
        state->s2[i] = (i == 1 ? low : high) * 12345 % gpucoh_random::M2;
    }
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}
#endif
