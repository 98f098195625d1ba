// queue.cu: a bounded queue of many producers and many consumers. A block takes a ticket, and waits until the ticket's
// slot is free or filled; a slot's turn counts both. Items are as many words as a block has threads.
#include "accesses.h"

enum { SLOTS = 16, ITEMS = 32, PAIRS = 14, THREADS = 64, POLLS = 100000 }; // ITEMS: of each producer

struct Queue {
    unsigned tail, head, turn[SLOTS]; // slot i is free for ticket t at turn t, and filled at t + 1
    unsigned words[SLOTS][THREADS];
};

__device__ unsigned word_of(unsigned ticket, unsigned word) { return 1000 * ticket + word; }

__global__ void run(Queue *queue, Fault *fault)
{
    bool produces = blockIdx.x % 2 == 0;
    unsigned word = threadIdx.x;
    __shared__ unsigned taken;
    for (int item = 0; item < ITEMS; item++) {
        if (word == 0) {
            ADD(relaxed.gpu, produces ? &queue->tail : &queue->head, 1, taken);
            unsigned wanted = taken + !produces;
            long long is;
            int polls = 0;
            do {
                GET(acquire.gpu, u32, &queue->turn[taken % SLOTS], is);
            } while (is != wanted && ++polls < POLLS);
            if (is != wanted)
                report(fault, {2, (int) taken, produces, 0, (unsigned) is, wanted});
        }
        __syncthreads();
        unsigned ticket = taken, slot = ticket % SLOTS;
        if (produces) {
            queue->words[slot][word] = word_of(ticket, word);
        } else {
            unsigned is = queue->words[slot][word], wanted = word_of(ticket, word);
            if (is != wanted)
                report(fault, {1, (int) ticket, 0, (int) word, is, wanted});
        }
        __syncthreads();
        if (word == 0)
            SET(release.gpu, u32, &queue->turn[slot], produces ? ticket + 1 : ticket + SLOTS);
    }
}

int main()
{
    static Queue start;
    for (unsigned slot = 0; slot < SLOTS; slot++)
        start.turn[slot] = slot;
    Queue *queue;
    Fault *device, fault;
    cudaMalloc(&queue, sizeof start);
    cudaMalloc(&device, sizeof fault);
    cudaMemcpy(queue, &start, sizeof start, cudaMemcpyHostToDevice);
    cudaMemset(device, 0, sizeof fault);
    run<<<2 * PAIRS, THREADS>>>(queue, device);
    cudaMemcpy(&fault, device, sizeof fault, cudaMemcpyDeviceToHost);
    if (fault.kind == 1)
        printf("wrong: word %d of item %d is %u instead of %u\n", fault.word, fault.round, fault.is, fault.wanted);
    else if (fault.kind)
        printf("wrong: the turn of ticket %d does not come: %u instead of %u\n", fault.round, fault.is, fault.wanted);
    else
        printf("%d items of %d words: every word is right\n", PAIRS * ITEMS, THREADS);
    return fault.kind != 0;
}
