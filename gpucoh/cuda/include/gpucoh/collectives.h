/* collectives.h: NCCL's communicators and collective operations. Each rank launches a kernel on its device. The kernels
 * run at the same time, tell each other their arrays, and access each other's memory: of an all-reduce each rank
 * reduces its share of the elements, and takes the other ranks' shares from them. */
#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gpucoh/launching.h>
#include <string.h>
#include <type_traits>

namespace gpucoh_nccl {
using namespace gpucoh_library;
constexpr int RANKS = 64, BLOCKS = 8, LANES = 32;

/* Of a communicator, on the device that was current. A block of a kernel meets the same block of the other ranks. */
struct Shared {
    unsigned arrived[BLOCKS];
    void *sent[BLOCKS][RANKS], *received[BLOCKS][RANKS];
};
} // namespace gpucoh_nccl

struct ncclComm {
    int rank, ranks, device;
    unsigned operations; /* begun, the same on all ranks */
    gpucoh_nccl::Shared *shared;
    int *users; /* of the shared memory: communicators of this process */
};

namespace gpucoh_nccl {
struct Call {
    Shared *shared;
    int rank, ranks, root; /* root: -1 for all ranks */
    unsigned operation;
    const void *sent;
    void *received;
    size_t count;

    /* Waits for the same block of all ranks; barrier number `step` of the operation, which has three. */
    __device__ void
    meet(unsigned step) const
    {
        __syncthreads();
        if (threadIdx.x == 0) {
            volatile unsigned *arrived = &shared->arrived[blockIdx.x];
            unsigned all = ranks * (operation * 3 + step + 1);
            __threadfence_system();
            atomicAdd_system(&shared->arrived[blockIdx.x], 1);
            while ((int) (*arrived - all) < 0)
                ;
            __threadfence_system();
        }
        __syncthreads();
    }

    /* Tells the other ranks the arrays. */
    __device__ void
    begin() const
    {
        if (threadIdx.x == 0) {
            shared->sent[blockIdx.x][rank] = (void *) sent;
            shared->received[blockIdx.x][rank] = received;
        }
        meet(0);
    }

    template <class T>
    __device__ const T *
    sent_by(int other) const
    {
        return (const T *) shared->sent[blockIdx.x][other];
    }
    template <class T>
    __device__ const T *
    received_by(int other) const
    {
        return (const T *) shared->received[blockIdx.x][other];
    }
};

/* Halves are reduced as floats. */
template <class T> struct Accumulated {
    typedef typename std::conditional<sizeof(T) == 2, float, T>::type type;
};

template <class V>
__device__ V
joined(ncclRedOp_t op, V a, V b)
{
    switch (op) {
        case ncclProd:
            return a * b;
        case ncclMax:
            return a < b ? b : a;
        case ncclMin:
            return b < a ? b : a;
        default:
            return a + b;
    }
}

/* What element i of all ranks gives. */
template <class T>
__device__ T
reduced(const Call &call, ncclRedOp_t op, size_t i)
{
    typedef typename Accumulated<T>::type V;
    V sum = V(call.sent_by<T>(0)[i]);
    for (int other = 1; other < call.ranks; other++)
        sum = joined(op, sum, V(call.sent_by<T>(other)[i]));
    return T(op == ncclAvg ? sum / V(call.ranks) : sum);
}

/* The kernels of an operation have the same grid, so that a block meets the same elements of the other ranks. */
template <class T>
__global__ void
all_reduce(Call call, ncclRedOp_t op)
{
    T *received = (T *) call.received;
    size_t step = (size_t) gridDim.x * blockDim.x;
    call.begin();
    for (size_t i = own_index(); i < call.count; i += step)
        if (i / LANES % call.ranks == call.rank)
            received[i] = reduced<T>(call, op, i);
    call.meet(1);
    for (size_t i = own_index(); i < call.count; i += step)
        if (i / LANES % call.ranks != call.rank)
            received[i] = call.received_by<T>(i / LANES % call.ranks)[i];
    call.meet(2);
}

/* The root, or with root = -1 each rank for its part of all elements, reduces. */
template <class T>
__global__ void
reduce(Call call, ncclRedOp_t op)
{
    T *received = (T *) call.received;
    size_t first = call.root < 0 ? call.rank * call.count : 0;
    call.begin();
    for (size_t i = own_index(); i < call.count; i += (size_t) gridDim.x * blockDim.x)
        if (call.root < 0 || call.root == call.rank)
            received[i] = reduced<T>(call, op, first + i);
    call.meet(1);
    call.meet(2);
}

/* Each rank takes the elements of the root, or with root = -1 those of all ranks one behind the other. */
template <class T>
__global__ void
gather(Call call)
{
    T *received = (T *) call.received;
    call.begin();
    for (int other = 0; other < call.ranks; other++) {
        const T *from = call.sent_by<T>(other);
        T *to = call.root < 0 ? received + other * call.count : received;
        for (size_t i = own_index(); i < call.count; i += (size_t) gridDim.x * blockDim.x)
            if ((call.root < 0 || call.root == other) && to + i != from + i)
                to[i] = from[i];
    }
    call.meet(1);
    call.meet(2);
}

inline size_t
bytes_of(ncclDataType_t type)
{
    const char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return type >= 0 && type < ncclNumTypes ? bytes[type] : 0;
}

/* Counts the operation, and launches its kernel, which has the same grid on every rank. */
template <class... P, class... A>
ncclResult_t
begin(ncclComm_t comm, void (*kernel)(Call, P...), Call call, cudaStream_t stream, A... arguments)
{
    int current = 0;
    call.shared = comm->shared;
    call.rank = comm->rank;
    call.ranks = comm->ranks;
    call.operation = comm->operations++;
    cudaGetDevice(&current);
    cudaError_t error = cudaSetDevice(comm->device);
    if (error == cudaSuccess)
        error = launched(stream, kernel, BLOCKS, THREADS, call, arguments...);
    cudaSetDevice(current);
    return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/* Copies words, or bytes of types that are smaller. */
inline ncclResult_t
gathered(ncclComm_t comm, ncclDataType_t type, int root, size_t count, const void *sent, void *received,
         cudaStream_t stream)
{
    size_t bytes = count * bytes_of(type);
    if (bytes_of(type) < sizeof(unsigned))
        return begin(comm, gather<unsigned char>, {nullptr, 0, 0, root, 0, sent, received, bytes}, stream);
    return begin(comm, gather<unsigned>, {nullptr, 0, 0, root, 0, sent, received, bytes / sizeof(unsigned)}, stream);
}

inline ncclResult_t
checked(ncclComm_t comm, ncclDataType_t type, int root, size_t count, const void *sent, const void *received)
{
    if (!comm || bytes_of(type) == 0 || root < -1 || root >= comm->ranks)
        return ncclInvalidArgument;
    return count == 0 || sent || received ? ncclSuccess : ncclInvalidArgument;
}

/* Calls with a value of the type. */
template <class F>
ncclResult_t
typed(ncclDataType_t type, F call)
{
    switch (type) {
        case ncclInt8:
            return call((signed char) 0);
        case ncclUint8:
            return call((unsigned char) 0);
        case ncclInt32:
            return call(int());
        case ncclUint32:
            return call(unsigned());
        case ncclInt64:
            return call((long long) 0);
        case ncclUint64:
            return call((unsigned long long) 0);
        case ncclFloat16:
            return call(__half());
        case ncclFloat32:
            return call(float());
        case ncclFloat64:
            return call(double());
        default:
            return call(__nv_bfloat16());
    }
}

/* Makes the memory that the ranks share, on the current device; the id has its address. */
inline ncclResult_t
share(ncclUniqueId *id)
{
    struct {
        Shared *shared;
        int *users;
    } made = {nullptr, new int(0)};
    if (cudaMalloc(&made.shared, sizeof(Shared)) != cudaSuccess ||
        cudaMemset(made.shared, 0, sizeof(Shared)) != cudaSuccess)
        return ncclUnhandledCudaError;
    memset(id, 0, sizeof *id);
    memcpy(id, &made, sizeof made);
    return ncclSuccess;
}

namespace api {
GPUCOH_NCCL
ncclGetVersion(int *version)
{
    if (!version)
        return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

template <typename = void>
const char *
ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
        case ncclSuccess:
            return "no error";
        case ncclUnhandledCudaError:
            return "unhandled cuda error";
        case ncclSystemError:
            return "unhandled system error";
        case ncclInternalError:
            return "internal error";
        case ncclInvalidArgument:
            return "invalid argument";
        case ncclInvalidUsage:
            return "invalid usage";
        case ncclRemoteError:
            return "remote process exited or there was a network error";
        case ncclInProgress:
            return "NCCL operation in progress";
        default:
            return "unknown result code";
    }
}

GPUCOH_NCCL
ncclGetUniqueId(ncclUniqueId *id)
{
    return id ? share(id) : ncclInvalidArgument;
}

/* The rank is on the current device. */
GPUCOH_NCCL
ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    if (!comm || ranks < 1 || ranks > RANKS || rank < 0 || rank >= ranks)
        return ncclInvalidArgument;
    ncclComm made = {rank, ranks, 0, 0, nullptr, nullptr};
    memcpy(&made.shared, id.internal, sizeof made.shared);
    memcpy(&made.users, id.internal + sizeof made.shared, sizeof made.users);
    cudaGetDevice(&made.device);
    ++*made.users;
    *comm = new ncclComm(made);
    return ncclSuccess;
}

GPUCOH_NCCL
ncclCommInitAll(ncclComm_t *comms, int ranks, const int *devices)
{
    int current = 0;
    ncclUniqueId id;
    if (!comms || ranks < 1 || ranks > RANKS)
        return ncclInvalidArgument;
    cudaGetDevice(&current);
    ncclResult_t result = share(&id);
    for (int rank = 0; rank < ranks && result == ncclSuccess; rank++) {
        if (devices && std::find(devices, devices + rank, devices[rank]) != devices + rank)
            result = ncclInvalidUsage; /* kernels of one device run one after the other */
        else if (cudaSetDevice(devices ? devices[rank] : rank) != cudaSuccess)
            result = ncclInvalidArgument;
        else
            result = ncclCommInitRank(&comms[rank], ranks, id, rank);
    }
    cudaSetDevice(current);
    return result;
}

GPUCOH_NCCL
ncclCommDestroy(ncclComm_t comm)
{
    if (!comm)
        return ncclInvalidArgument;
    if (--*comm->users == 0) {
        cudaFree(comm->shared);
        delete comm->users;
    }
    delete comm;
    return ncclSuccess;
}

GPUCOH_NCCL
ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess : ncclInvalidArgument;
}

GPUCOH_NCCL
ncclCommAbort(ncclComm_t comm)
{
    return ncclCommDestroy(comm);
}

#define GPUCOH_NCCL_QUERY(name, field)                              \
    GPUCOH_NCCL ncclComm##name(ncclComm_t comm, int *value)         \
    {                                                               \
        if (!comm || !value)                                        \
            return ncclInvalidArgument;                             \
        *value = comm->field;                                       \
        return ncclSuccess;                                         \
    }
GPUCOH_NCCL_QUERY(Count, ranks)
GPUCOH_NCCL_QUERY(CuDevice, device)
GPUCOH_NCCL_QUERY(UserRank, rank)

/* A kernel of each rank waits until the program waits for a device, so that a group has nothing to do. */
GPUCOH_NCCL
ncclGroupStart()
{
    return ncclSuccess;
}

GPUCOH_NCCL
ncclGroupEnd()
{
    return ncclSuccess;
}

GPUCOH_NCCL
ncclAllReduce(const void *sent, void *received, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
              cudaStream_t stream)
{
    ncclResult_t result = checked(comm, type, -1, count, sent, received);
    if (result != ncclSuccess || op < 0 || op >= ncclNumOps)
        return ncclInvalidArgument;
    return typed(type, [&](auto value) {
        return begin(comm, all_reduce<decltype(value)>, {nullptr, 0, 0, -1, 0, sent, received, count}, stream, op);
    });
}

GPUCOH_NCCL
ncclReduce(const void *sent, void *received, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
           ncclComm_t comm, cudaStream_t stream)
{
    ncclResult_t result = checked(comm, type, root, count, sent, received);
    if (result != ncclSuccess || root < 0 || op < 0 || op >= ncclNumOps)
        return ncclInvalidArgument;
    return typed(type, [&](auto value) {
        return begin(comm, reduce<decltype(value)>, {nullptr, 0, 0, root, 0, sent, received, count}, stream, op);
    });
}

GPUCOH_NCCL
ncclReduceScatter(const void *sent, void *received, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                  cudaStream_t stream)
{
    ncclResult_t result = checked(comm, type, -1, count, sent, received);
    if (result != ncclSuccess || op < 0 || op >= ncclNumOps)
        return ncclInvalidArgument;
    return typed(type, [&](auto value) {
        return begin(comm, reduce<decltype(value)>, {nullptr, 0, 0, -1, 0, sent, received, count}, stream, op);
    });
}

GPUCOH_NCCL
ncclBroadcast(const void *sent, void *received, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
              cudaStream_t stream)
{
    ncclResult_t result = checked(comm, type, root, count, sent, received);
    if (result != ncclSuccess || root < 0)
        return ncclInvalidArgument;
    return gathered(comm, type, root, count, sent, received, stream);
}

GPUCOH_NCCL
ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

GPUCOH_NCCL
ncclAllGather(const void *sent, void *received, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    ncclResult_t result = checked(comm, type, -1, count, sent, received);
    return result == ncclSuccess ? gathered(comm, type, -1, count, sent, received, stream) : result;
}
} // namespace api
} // namespace gpucoh_nccl
