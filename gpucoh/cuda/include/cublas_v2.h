/* cublas_v2.h: cuBLAS for programs that gpucoh runs, after its public documentation: names, argument checks and
 * statuses as documented, over plain kernels of our own, whose accesses go through the simulated caches as all do.
 * Functions are templates, so that a program has the kernels that it calls. What is missing here does not compile. */
#ifndef GPUCOH_CUBLAS_V2_H
#define GPUCOH_CUBLAS_V2_H
#ifndef __cplusplus
#error "gpucoh's cublas_v2.h has kernels: CUDA and C++ files of a program can include it, C files cannot"
#endif

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <library_types.h>
#include <stddef.h>

#define CUBLAS_VER_MAJOR (CUDART_VERSION / 1000)
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VER_BUILD 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000)
#define CUBLASWINAPI

/* X(status, number, description) */
#define GPUCOH_CUBLAS_STATUSES(X)                                                    \
    X(CUBLAS_STATUS_SUCCESS, 0, "the operation completed")                           \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1, "the library was not initialized")           \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3, "the resource allocation failed")               \
    X(CUBLAS_STATUS_INVALID_VALUE, 7, "an unsupported value or parameter was passed") \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8, "the device lacks a feature")                  \
    X(CUBLAS_STATUS_MAPPING_ERROR, 11, "an access to GPU memory failed")             \
    X(CUBLAS_STATUS_EXECUTION_FAILED, 13, "the GPU program failed to execute")       \
    X(CUBLAS_STATUS_INTERNAL_ERROR, 14, "an internal operation failed")              \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15, "the functionality is not supported")         \
    X(CUBLAS_STATUS_LICENSE_ERROR, 16, "the license was not found")

typedef enum {
#define GPUCOH_CUBLAS_NUMBER(name, number, text) name = number,
    GPUCOH_CUBLAS_STATUSES(GPUCOH_CUBLAS_NUMBER)
#undef GPUCOH_CUBLAS_NUMBER
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;

typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;

typedef enum {
    CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0, CUBLAS_GEMM_ALGO1, CUBLAS_GEMM_ALGO2,
    CUBLAS_GEMM_ALGO3, CUBLAS_GEMM_ALGO4, CUBLAS_GEMM_ALGO5, CUBLAS_GEMM_ALGO6, CUBLAS_GEMM_ALGO7,
    CUBLAS_GEMM_ALGO8, CUBLAS_GEMM_ALGO9, CUBLAS_GEMM_ALGO10, CUBLAS_GEMM_ALGO11, CUBLAS_GEMM_ALGO12,
    CUBLAS_GEMM_ALGO13, CUBLAS_GEMM_ALGO14, CUBLAS_GEMM_ALGO15, CUBLAS_GEMM_ALGO16, CUBLAS_GEMM_ALGO17,
    CUBLAS_GEMM_ALGO18, CUBLAS_GEMM_ALGO19, CUBLAS_GEMM_ALGO20, CUBLAS_GEMM_ALGO21, CUBLAS_GEMM_ALGO22,
    CUBLAS_GEMM_ALGO23, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100, CUBLAS_GEMM_ALGO1_TENSOR_OP, CUBLAS_GEMM_ALGO2_TENSOR_OP,
    CUBLAS_GEMM_ALGO3_TENSOR_OP, CUBLAS_GEMM_ALGO4_TENSOR_OP, CUBLAS_GEMM_ALGO5_TENSOR_OP,
    CUBLAS_GEMM_ALGO6_TENSOR_OP, CUBLAS_GEMM_ALGO7_TENSOR_OP, CUBLAS_GEMM_ALGO8_TENSOR_OP,
    CUBLAS_GEMM_ALGO9_TENSOR_OP, CUBLAS_GEMM_ALGO10_TENSOR_OP, CUBLAS_GEMM_ALGO11_TENSOR_OP,
    CUBLAS_GEMM_ALGO12_TENSOR_OP, CUBLAS_GEMM_ALGO13_TENSOR_OP, CUBLAS_GEMM_ALGO14_TENSOR_OP,
    CUBLAS_GEMM_ALGO15_TENSOR_OP
} cublasGemmAlgo_t;

typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

/* A handle; modes of arithmetic and atomics are accepted and change nothing. */
struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
    void *space; /* on the device: what blocks of a reduction found, and its result */
};
typedef struct cublasContext *cublasHandle_t;

#define GPUCOH_CUBLAS template <typename = void> cublasStatus_t

#ifdef __CUDACC__ /* gpucoh compiles C++ files that include this as CUDA */
// clang-format off
extern "C++" { /* also where a program includes this in extern "C" */
#include <gpucoh/blas_vectors.h>
#include <gpucoh/blas_matrices.h>
#include <gpucoh/blas_products.h>
#include <gpucoh/blas_solves.h>
#include <gpucoh/blas_handles.h>
using namespace gpucoh_blas::api;
}
// clang-format on
#endif

#endif
