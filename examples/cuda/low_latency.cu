// low_latency.cu: an all-reduce whose words travel with their flags. docs/all-reduce.md says what it rests on.
//
// -D FORM=PAIRS   8 bytes hold a word and the number of its round (the default)
// -D FORM=LINES   128 bytes, which a warp stores at once, hold 31 words and the number of the round
//
// The defaults are right where such a store is never torn:
// -D ORDER=relaxed.sys  of all accesses
// -D PARTS=2            two stores in place of one, the one with the number last; -D PARTS=-2: first
// -D BUFFERS=1          one buffer; by default two in turn
#include "all_reduce.h"

#define PAIRS 1
#define LINES 2
#ifndef FORM
#define FORM PAIRS
#endif
#ifndef ORDER
#define ORDER relaxed.sys
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif

struct Shared {
    alignas(128) unsigned words[BUFFERS][MOST][WORDS][2];
};

// Send a word with the number of its round: the upper half of 8 bytes, or the last lane's word.
__device__ void send(unsigned (*at)[2], unsigned word, int round)
{
    int lane = threadIdx.x % 32;
    if (FORM == PAIRS && PARTS == 1)
        SET(ORDER, u64, at, word | (unsigned long long)round << 32);
    for (int part = 0; part < 2 && FORM == PAIRS && PARTS != 1; part++) {
        bool number = part == (PARTS > 0);
        SET(ORDER, u32, &(*at)[number], number ? round : word);
    }
    for (int part = 0; part < 2 && FORM == LINES; part++)
        if (PARTS == 1 ? part == 0 : lane / 16 == (part == (PARTS > 0)))
            SET(ORDER, u32, &(at - threadIdx.x % 32)[lane / 2][lane % 2], lane == 31 ? round : word);
}

// The word that has come with the number of this round; 0 if none comes.
__device__ unsigned receive(unsigned (*at)[2], int round, bool &came)
{
    int lane = threadIdx.x % 32;
    unsigned long long value = 0;
    came = false;
    for (int polls = 0; !came && polls < POLLS; polls++)
        if (FORM == PAIRS) {
            GET(ORDER, u64, at, value);
            came = value >> 32 >= round;
        } else {
            GET(ORDER, u32, &(at - lane)[lane / 2][lane % 2], value);
            came = __shfl_sync(~0u, (unsigned)value, 31) >= round;
        }
    return (unsigned)value;
}

__global__ void all_reduce(Peers gpus, int rank, Fault *fault)
{
    int word = blockIdx.x * THREADS + threadIdx.x;
#pragma unroll 1
    for (int round = 1; round <= ROUNDS; round++) {
        int buffer = round % BUFFERS;
        for (int to = 0; to < gpus.count; to++)
            send(&gpus.of[to]->words[buffer][rank][word], word_of(rank, round, word), round);
        for (int from = 0; from < gpus.count; from++) {
            bool came, carries = FORM == PAIRS || threadIdx.x % 32 != 31;
            unsigned wanted = word_of(from, round, word);
            unsigned is = receive(&gpus.of[rank]->words[buffer][from][word], round, came);
            if (!came)
                report(fault, {2, round, from, word, 0, 0});
            else if (carries && is != wanted)
                report(fault, {1, round, from, word, is, wanted});
        }
    }
}

int main() { return run(sizeof(Shared)); }
