// collectives.cu: collective operations of NCCL by one thread or a thread a device. Each rank prints what it received;
// test_nccl.py computes the same. Sums of halves and quarters are exact.
#include <cstdio>
#include <cuda_fp16.h>
#include <nccl.h>
#include <string>
#include <thread>
#include <vector>

#include "library.h"

#define RIGHT(call) check(call, ncclSuccess, #call)

static const int COUNT = 2500; // more than a pass of the kernels' blocks

template <class T> struct Rank {
    int device;
    T *sent, *received;
    cudaStream_t stream;
    void
    begin(int number, int ranks)
    {
        device = number;
        std::vector<T> values(ranks * COUNT);
        for (size_t i = 0; i < values.size(); i++)
            values[i] = T(float((i * 37 + device * 11) % 23) / 4 - 2);
        cudaSetDevice(device);
        cudaStreamCreate(&stream);
        cudaMalloc(&sent, values.size() * sizeof(T));
        cudaMalloc(&received, values.size() * sizeof(T));
        cudaMemset(received, 0, values.size() * sizeof(T));
        cudaMemcpy(sent, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    void
    print(const std::string &name, const T *from, int count)
    {
        std::vector<T> values(count);
        cudaSetDevice(device);
        cudaStreamSynchronize(stream);
        cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost);
        std::string text = name + std::to_string(device);
        for (T value : values)
            text += " " + std::to_string(double(float(value)));
        printf("%s\n", text.c_str());
    }
};

// The operations of a rank; each is of all ranks, and they follow each other in their streams.
template <class T>
static void
operate(Rank<T> &rank, ncclComm_t comm, ncclDataType_t type, int step)
{
    auto [device, sent, received, stream] = rank;
    switch (step) {
        case 0:
            RIGHT(ncclAllReduce(sent, received, COUNT, type, ncclSum, comm, stream));
            break;
        case 1:
            RIGHT(ncclAllReduce(sent, sent, COUNT, type, ncclMax, comm, stream));
            break; // in place
        case 2:
            RIGHT(ncclReduce(sent + COUNT, received, COUNT, type, ncclAvg, 1, comm, stream));
            break;
        case 3:
            RIGHT(ncclBroadcast(sent, received, COUNT - 1, type, 1, comm, stream));
            break;
        case 4:
            RIGHT(ncclAllGather(sent, received, COUNT, type, comm, stream));
            break;
        case 5:
            RIGHT(ncclReduceScatter(received, sent, COUNT, type, ncclSum, comm, stream));
            break;
    }
}

template <class T>
static void
by_one_thread(const std::string &letter, ncclDataType_t type, int ranks)
{
    std::vector<ncclComm_t> comms(ranks);
    std::vector<Rank<T>> all(ranks);
    int count = 0, number = 0;
    RIGHT(ncclCommInitAll(comms.data(), ranks, nullptr));
    for (int r = 0; r < ranks; r++)
        all[r].begin(r, ranks);
    RIGHT(ncclCommCount(comms[1], &count));
    RIGHT(ncclCommUserRank(comms[1], &number));
    check(count * 10 + number, ranks * 10 + 1, "queries");
    for (int step = 0; step < 6; step++) {
        RIGHT(ncclGroupStart());
        for (int r = 0; r < ranks; r++)
            operate(all[r], comms[r], type, step);
        RIGHT(ncclGroupEnd());
        for (auto &rank : all) {
            bool of_sent = step == 1 || step == 5;
            if (step != 2 || rank.device == 1)
                rank.print(letter + std::to_string(step) + "_", of_sent ? rank.sent : rank.received,
                           step == 4 ? ranks * COUNT : COUNT);
        }
    }
    for (auto comm : comms)
        RIGHT(ncclCommDestroy(comm));
}

static void
by_threads(int ranks)
{
    ncclUniqueId id;
    std::vector<std::thread> threads;
    RIGHT(ncclGetUniqueId(&id));
    for (int r = 0; r < ranks; r++)
        threads.emplace_back([=] {
            Rank<int> rank;
            ncclComm_t comm;
            rank.begin(r, ranks);
            RIGHT(ncclCommInitRank(&comm, ranks, id, r));
            for (int step = 0; step < 2; step++)
                operate(rank, comm, ncclInt, step);
            rank.print("T0_", rank.received, COUNT);
            rank.print("T1_", rank.sent, COUNT);
            RIGHT(ncclCommDestroy(comm));
        });
    for (auto &thread : threads)
        thread.join();
}

int
main()
{
    int ranks = 0, twice[] = {0, 0};
    ncclComm_t comms[2];
    cudaGetDeviceCount(&ranks);
    check(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage, "a device twice");
    check(ncclAllReduce(nullptr, nullptr, 1, ncclFloat, ncclSum, nullptr, 0), ncclInvalidArgument, "no communicator");
    by_one_thread<float>("F", ncclFloat, ranks);
    by_one_thread<__half>("H", ncclHalf, ranks);
    by_threads(ranks);
}
