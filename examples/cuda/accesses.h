// accesses.h: what the examples with flags share: accesses of any order and scope, and the first fault of a run.
#include <cstdio>
#include <cuda_runtime.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define SET(ORDER, BITS, at, value)                                                                                    \
    asm volatile("st." TEXT(ORDER) ".global." TEXT(BITS) " [%0], %1;" ::"l"(at), "l"((long long)(value)) : "memory")
#define GET(ORDER, BITS, at, value)                                                                                    \
    asm volatile("ld." TEXT(ORDER) ".global." TEXT(BITS) " %0, [%1];" : "=l"(value) : "l"(at) : "memory")
#define ADD(ORDER, at, value, old)                                                                                     \
    asm volatile("atom." TEXT(ORDER) ".global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory")

struct Fault { // the first that a run finds: a wrong word (1), or a flag that does not come (2)
    int kind, round, from, word;
    unsigned is, wanted;
};

__device__ void report(Fault *fault, Fault what)
{
    if (atomicCAS(&fault->kind, 0, what.kind) == 0) {
        fault->round = what.round;
        fault->from = what.from;
        fault->word = what.word;
        fault->is = what.is;
        fault->wanted = what.wanted;
    }
}
