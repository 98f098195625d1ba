/* nccl.h: NCCL for programs of one process that gpucoh runs, after its public documentation: collective operations over
 * the devices of a machine by kernels of our own. What is missing here does not compile. */
#ifndef GPUCOH_NCCL_H
#define GPUCOH_NCCL_H
#ifndef __cplusplus
#error "gpucoh's nccl.h has kernels: CUDA and C++ files of a program can include it, C files cannot"
#endif

#include <cuda_runtime.h>
#include <stddef.h>

#define NCCL_MAJOR 2
#define NCCL_MINOR 20
#define NCCL_PATCH 0
#define NCCL_SUFFIX ""
#define NCCL_VERSION_CODE 22000
#define NCCL_VERSION(X, Y, Z) ((X) * 10000 + (Y) * 100 + (Z))
#define NCCL_UNIQUE_ID_BYTES 128

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
    ncclNumResults = 8
} ncclResult_t;

typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclNumTypes = 10
} ncclDataType_t;

typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4, ncclNumOps = 5 } ncclRedOp_t;

typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef struct ncclComm *ncclComm_t;

#define GPUCOH_NCCL template <typename = void> ncclResult_t

#ifdef __CUDACC__ /* gpucoh compiles C++ files that include this as CUDA */
// clang-format off
extern "C++" { /* also where a program includes this in extern "C" */
#include <gpucoh/collectives.h>
using namespace gpucoh_nccl::api;
}
// clang-format on
#endif

#endif
