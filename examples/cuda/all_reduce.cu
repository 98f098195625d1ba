// all_reduce.cu: every GPU gets the sums of all GPUs' words, through flags in each other's memory. docs/all-reduce.md
// says which of the fences it takes.
//
// -D FORM=ONE_SHOT   every GPU reads the words of all GPUs and adds them (the default)
// -D FORM=TWO_SHOT   every GPU adds a share of the words, and reads the sums of the others' shares
// -D FORM=PUT        every GPU writes its words into the memory of all GPUs, which add what they were sent
//
// The defaults are right; each can be weakened:
// -D STORE=release.sys -D LOAD=acquire.sys          order and scope of the flags' accesses, as PTX writes them
// -D END_STORE=release.sys -D END_LOAD=acquire.sys  the same of those at a round's end; -D END=0: none
// -D "FENCE=__threadfence_system()"                 before a flag is stored and after it is loaded; by default none
// -D BEFORE= -D AFTER=                              nothing in place of __syncthreads() before and after the flags
// -D BUFFERS=2                                      two buffers in turn
// -D FLAG=u64                                       flags of 8 bytes; u8: of one
// -D RESET=1                                        flags are raised and lowered; by default they count rounds
#include "all_reduce.h"

#define ONE_SHOT 1
#define TWO_SHOT 2
#define PUT 3
#ifndef FORM
#define FORM ONE_SHOT
#endif
#ifndef STORE
#define STORE release.sys
#endif
#ifndef LOAD
#define LOAD acquire.sys
#endif
#ifndef END_STORE
#define END_STORE STORE
#endif
#ifndef END_LOAD
#define END_LOAD LOAD
#endif
#ifndef FENCE
#define FENCE
#endif
#ifndef BEFORE
#define BEFORE __syncthreads()
#endif
#ifndef AFTER
#define AFTER __syncthreads()
#endif
#ifndef END
#define END 1
#endif
#ifndef BUFFERS
#define BUFFERS 1
#endif
#ifndef FLAG
#define FLAG u32
#endif
#ifndef RESET
#define RESET 0
#endif
enum Place { START, MIDDLE, LAST };

struct Shared {
    unsigned words[BUFFERS][MOST][WORDS], sums[BUFFERS][WORDS];
    char flags[3][BLOCKS][MOST][FLAG]; // by place, block, and the GPU that raises it
};

// Wait until this block of every GPU has come to this place in this round.
__device__ void meet(Peers gpus, int rank, Place place, int round, Fault *fault)
{
    int peer = threadIdx.x, wanted = RESET ? 1 : round;
    BEFORE;
    if (peer < gpus.count) {
        char *theirs = gpus.of[peer]->flags[place][blockIdx.x][rank];
        char *mine = gpus.of[rank]->flags[place][blockIdx.x][peer];
        long long is = 0;
        FENCE;
        if (place == LAST)
            SET(END_STORE, FLAG, theirs, wanted);
        else
            SET(STORE, FLAG, theirs, wanted);
        for (int polls = 0; is < wanted && polls < POLLS; polls++)
            if (place == LAST)
                GET(END_LOAD, FLAG, mine, is);
            else
                GET(LOAD, FLAG, mine, is);
        FENCE;
        if (is < wanted)
            report(fault, {2, round, peer, 0, 0, 0});
        if (RESET)
            SET(relaxed.sys, FLAG, mine, 0);
    }
    AFTER;
}

__global__ void all_reduce(Peers gpus, int rank, Fault *fault)
{
    Shared *mine = gpus.of[rank];
    int word = blockIdx.x * THREADS + threadIdx.x, owner = threadIdx.x * gpus.count / THREADS;
#pragma unroll 1
    for (int round = 1; round <= ROUNDS; round++) {
        int buffer = round % BUFFERS;
        unsigned sum = 0, wanted = 0;
        if (FORM == PUT)
            for (int to = 0; to < gpus.count; to++)
                gpus.of[to]->words[buffer][rank][word] = word_of(rank, round, word);
        else
            mine->words[buffer][rank][word] = word_of(rank, round, word);
        meet(gpus, rank, START, round, fault);
        for (int from = 0; from < gpus.count; from++) {
            wanted += word_of(from, round, word);
            if (FORM == TWO_SHOT && owner != rank)
                continue;
            unsigned is = (FORM == PUT ? mine : gpus.of[from])->words[buffer][from][word];
            if (is != word_of(from, round, word))
                report(fault, {1, round, from, word, is, word_of(from, round, word)});
            sum += is;
        }
        if (FORM == TWO_SHOT) {
            if (owner == rank)
                mine->sums[buffer][word] = sum;
            meet(gpus, rank, MIDDLE, round, fault);
            sum = gpus.of[owner]->sums[buffer][word];
        }
        if (sum != wanted)
            report(fault, {1, round, owner, word, sum, wanted});
        if (END)
            meet(gpus, rank, LAST, round, fault);
    }
}

int main() { return run(sizeof(Shared)); }
