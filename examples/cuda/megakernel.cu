// megakernel.cu: one kernel has all layers of a ring of tiles. A block takes the next tile by a counter, waits for the
// flags of the tile and its two neighbours, reads their words and writes its own. docs/flags.md says which scopes and
// lines it takes.
//
// The defaults are right; each can be changed:
// -D STORE=release.gpu -D LOAD=acquire.gpu   order and scope of the flags' accesses, as PTX writes them
// -D COUNT=relaxed.gpu                       of the counter's atomics
// -D "FENCE=__threadfence()"                 before a flag is stored and after it is loaded; by default none
// -D RAISE=1                                 an atomic add raises a flag, in the order of STORE
// -D LINES=2                                 the flags have a line of their own; 3: each has one; by default all share
//                                            the counter's
#include "accesses.h"

#ifndef STORE
#define STORE release.gpu
#endif
#ifndef LOAD
#define LOAD acquire.gpu
#endif
#ifndef COUNT
#define COUNT relaxed.gpu
#endif
#ifndef FENCE
#define FENCE
#endif
#ifndef RAISE
#define RAISE 0
#endif
#ifndef LINES
#define LINES 1
#endif

enum { LAYERS = 12, TILES = 28, THREADS = 64, POLLS = 2000, LINE = 32 }; // words of a line

struct Shared {
    unsigned control[(TILES + 1) * LINE]; // the counter, and for each tile the layers that are finished
    unsigned words[2][TILES][THREADS];    // of even and of odd layers
};

__device__ unsigned *flag_of(Shared *shared, int tile)
{
    return shared->control + (LINES == 1 ? 1 + tile : LINES == 2 ? LINE + tile : LINE * (1 + tile));
}

__device__ unsigned word_of(int layer, int tile, int word) { return 10000 * layer + 100 * tile + word; }

__global__ void megakernel(Shared *shared, Fault *fault)
{
    __shared__ unsigned taken;
    for (;;) {
        if (threadIdx.x == 0)
            ADD(COUNT, shared->control, 1, taken);
        __syncthreads();
        int layer = taken / TILES, tile = taken % TILES, word = threadIdx.x;
        if (layer >= LAYERS)
            break;
        if (threadIdx.x < 3) {
            int from = (tile + TILES + threadIdx.x - 1) % TILES;
            long long is = 0;
            for (int polls = 0; is < layer && polls < POLLS; polls++)
                GET(LOAD, u32, flag_of(shared, from), is);
            FENCE;
            if (is < layer)
                report(fault, {2, layer, from, 0, 0, 0});
        }
        __syncthreads();
        for (int neighbour = 0; layer > 0 && neighbour < 3; neighbour++) {
            int from = (tile + TILES + neighbour - 1) % TILES;
            unsigned is = shared->words[(layer - 1) % 2][from][word], wanted = word_of(layer - 1, from, word);
            if (is != wanted)
                report(fault, {1, layer, from, word, is, wanted});
        }
        shared->words[layer % 2][tile][word] = word_of(layer, tile, word);
        __syncthreads();
        if (threadIdx.x == 0) {
            FENCE;
            if (RAISE)
                ADD(STORE, flag_of(shared, tile), 1, taken);
            else
                SET(STORE, u32, flag_of(shared, tile), layer + 1);
        }
    }
}

int main()
{
    Shared *shared;
    Fault *device, fault;
    cudaDeviceProp about;
    cudaGetDeviceProperties(&about, 0);
    cudaMalloc(&shared, sizeof *shared);
    cudaMalloc(&device, sizeof fault);
    cudaMemset(shared, 0, sizeof *shared);
    cudaMemset(device, 0, sizeof fault);
    megakernel<<<about.multiProcessorCount, THREADS>>>(shared, device);
    cudaMemcpy(&fault, device, sizeof fault, cudaMemcpyDeviceToHost);
    if (fault.kind == 1)
        printf("layer %d: word %d of tile %d is %u instead of %u\n", fault.round, fault.word, fault.from, fault.is,
               fault.wanted);
    else if (fault.kind)
        printf("layer %d: the flag of tile %d does not come\n", fault.round, fault.from);
    else
        printf("%d tiles of %d layers: every word is right\n", TILES, LAYERS);
    return fault.kind != 0;
}
