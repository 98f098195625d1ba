/* cusparse.h: cuSPARSE for programs that gpucoh runs, after its public documentation: its generic functions of sparse
 * matrices (CSR or COO) of real numbers, over kernels of our own. What is missing here does not compile. */
#ifndef GPUCOH_CUSPARSE_H
#define GPUCOH_CUSPARSE_H
#ifndef __cplusplus
#error "gpucoh's cusparse.h has kernels: CUDA and C++ files of a program can include it, C files cannot"
#endif

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <library_types.h>
#include <stddef.h>
#include <stdint.h>

#define CUSPARSE_VER_MAJOR (CUDART_VERSION / 1000)
#define CUSPARSE_VER_MINOR 0
#define CUSPARSE_VER_PATCH 0
#define CUSPARSE_VERSION (CUSPARSE_VER_MAJOR * 1000)

/* X(status, number, description) */
#define GPUCOH_CUSPARSE_STATUSES(X)                                                  \
    X(CUSPARSE_STATUS_SUCCESS, 0, "success")                                         \
    X(CUSPARSE_STATUS_NOT_INITIALIZED, 1, "the library was not initialized")         \
    X(CUSPARSE_STATUS_ALLOC_FAILED, 2, "the resource allocation failed")             \
    X(CUSPARSE_STATUS_INVALID_VALUE, 3, "an unsupported value or parameter")         \
    X(CUSPARSE_STATUS_ARCH_MISMATCH, 4, "the device lacks a feature")                \
    X(CUSPARSE_STATUS_MAPPING_ERROR, 5, "an access to GPU memory failed")            \
    X(CUSPARSE_STATUS_EXECUTION_FAILED, 6, "the GPU program failed to execute")      \
    X(CUSPARSE_STATUS_INTERNAL_ERROR, 7, "an internal operation failed")             \
    X(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, 8, "the matrix type is not supported") \
    X(CUSPARSE_STATUS_ZERO_PIVOT, 9, "zero pivot")                                   \
    X(CUSPARSE_STATUS_NOT_SUPPORTED, 10, "the operation is not supported")           \
    X(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, 11, "insufficient resources")

typedef enum {
#define GPUCOH_CUSPARSE_NUMBER(name, number, text) name = number,
    GPUCOH_CUSPARSE_STATUSES(GPUCOH_CUSPARSE_NUMBER)
#undef GPUCOH_CUSPARSE_NUMBER
} cusparseStatus_t;

typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
    CUSPARSE_OPERATION_TRANSPOSE = 1,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;
typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_MV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_COOMV_ALG = 1,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_CSRMV_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3,
    CUSPARSE_CSRMV_ALG2 = 3,
    CUSPARSE_SPMV_COO_ALG2 = 4
} cusparseSpMVAlg_t;

typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
typedef enum {
    CUSPARSE_SPMM_ALG_DEFAULT = 0,
    CUSPARSE_SPMM_COO_ALG1 = 1,
    CUSPARSE_SPMM_COO_ALG2 = 2,
    CUSPARSE_SPMM_COO_ALG3 = 3,
    CUSPARSE_SPMM_CSR_ALG1 = 4,
    CUSPARSE_SPMM_COO_ALG4 = 5,
    CUSPARSE_SPMM_CSR_ALG2 = 6,
    CUSPARSE_SPMM_CSR_ALG3 = 12
} cusparseSpMMAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT = 0 } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 } cusparseCsr2CscAlg_t;
typedef enum {
    CUSPARSE_SPGEMM_DEFAULT = 0,
    CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1,
    CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
    CUSPARSE_SPGEMM_ALG1 = 3,
    CUSPARSE_SPGEMM_ALG2 = 4,
    CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;

struct cusparseContext {
    cudaStream_t stream;
    cusparsePointerMode_t pointers;
};
typedef struct cusparseContext *cusparseHandle_t;

/* Matrices of a batch are `stride` values apart, CSR's offsets `offsets_stride`. */
struct gpucohBatches {
    int count;
    int64_t stride, offsets_stride;
};

/* A sparse matrix: `rows` are CSR's num_rows + 1 offsets, or COO's row of each value, in order of rows. */
struct cusparseSpMatDescr {
    bool is_csr;
    int64_t num_rows, num_columns, num_values;
    void *rows, *columns, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    gpucohBatches batches = {1, 0, 0};
    bool is_upper = false, has_unit_diagonal = false; /* of a triangle to solve */
};
struct cusparseDnMatDescr {
    int64_t num_rows, num_columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    gpucohBatches batches;
};
struct cusparseSpVecDescr {
    int64_t size, num_values;
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};
struct cusparseDnVecDescr {
    int64_t size;
    void *values;
    cudaDataType type;
};
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef const struct cusparseSpMatDescr *cusparseConstSpMatDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef const struct cusparseDnVecDescr *cusparseConstDnVecDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef const struct cusparseSpVecDescr *cusparseConstSpVecDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef const struct cusparseDnMatDescr *cusparseConstDnMatDescr_t;

#define GPUCOH_CUSPARSE template <typename = void> cusparseStatus_t

#ifdef __CUDACC__ /* gpucoh compiles C++ files that include this as CUDA */
// clang-format off
extern "C++" { /* also where a program includes this in extern "C" */
#include <gpucoh/launching.h>
#include <gpucoh/sparse_descriptors.h>
#include <gpucoh/sparse_products.h>
#include <gpucoh/sparse_conversions.h>
#include <gpucoh/sparse_solves.h>
using namespace gpucoh_sparse::api;
}
// clang-format on
#endif

#endif
