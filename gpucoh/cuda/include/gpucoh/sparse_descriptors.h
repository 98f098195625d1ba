/* sparse_descriptors.h: cuSPARSE's handles and descriptors, and what its kernels see of these. */
namespace gpucoh_sparse {
using namespace gpucoh_library;
constexpr int LANES = 32;
constexpr size_t BUFFER = 8; /* bytes that programs are asked to allocate */

template <class D, class V>
cusparseStatus_t
described(D **made, bool valid, V values)
{
    if (!made || !valid)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *made = new V(values);
    return CUSPARSE_STATUS_SUCCESS;
}

template <class D>
cusparseStatus_t
forgotten(D *descriptor, cusparseStatus_t without)
{
    if (!descriptor)
        return without;
    delete descriptor;
    return CUSPARSE_STATUS_SUCCESS;
}

namespace api {
GPUCOH_CUSPARSE
cusparseCreate(cusparseHandle_t *handle)
{
    return described(handle, true, cusparseContext());
}

GPUCOH_CUSPARSE
cusparseDestroy(cusparseHandle_t handle)
{
    return forgotten(handle, CUSPARSE_STATUS_NOT_INITIALIZED);
}

GPUCOH_CUSPARSE
cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->pointers = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseGetVersion(cusparseHandle_t handle, int *version)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!version)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}

template <typename = void>
const char *
cusparseGetErrorName(cusparseStatus_t status)
{
#define GPUCOH_CUSPARSE_NAME(name, number, text) \
    if (status == name)                          \
        return #name;
    GPUCOH_CUSPARSE_STATUSES(GPUCOH_CUSPARSE_NAME)
    return "unrecognized error code";
}

template <typename = void>
const char *
cusparseGetErrorString(cusparseStatus_t status)
{
#define GPUCOH_CUSPARSE_TEXT(name, number, text) \
    if (status == name)                          \
        return text;
    GPUCOH_CUSPARSE_STATUSES(GPUCOH_CUSPARSE_TEXT)
    return "unrecognized error code";
}

GPUCOH_CUSPARSE
cusparseCreateCsr(cusparseSpMatDescr_t *A, int64_t rows, int64_t cols, int64_t nnz, void *offsets, void *columns,
                  void *values, cusparseIndexType_t offsets_type, cusparseIndexType_t columns_type,
                  cusparseIndexBase_t base, cudaDataType type)
{
    cusparseIndexType_t index = offsets_type == columns_type ? columns_type : CUSPARSE_INDEX_16U; /* not supported */
    return described(A, rows >= 0 && cols >= 0 && nnz >= 0,
                     cusparseSpMatDescr{true, rows, cols, nnz, offsets, columns, values, index, base, type});
}

GPUCOH_CUSPARSE
cusparseCreateCoo(cusparseSpMatDescr_t *A, int64_t rows, int64_t cols, int64_t nnz, void *row_of_each, void *columns,
                  void *values, cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type)
{
    return described(A, rows >= 0 && cols >= 0 && nnz >= 0,
                     cusparseSpMatDescr{false, rows, cols, nnz, row_of_each, columns, values, index, base, type});
}

GPUCOH_CUSPARSE
cusparseDestroySpMat(cusparseConstSpMatDescr_t A)
{
    return forgotten(A, CUSPARSE_STATUS_INVALID_VALUE);
}

GPUCOH_CUSPARSE
cusparseCreateDnVec(cusparseDnVecDescr_t *vector, int64_t size, void *values, cudaDataType type)
{
    return described(vector, size >= 0 && (values || size == 0), cusparseDnVecDescr{size, values, type});
}

GPUCOH_CUSPARSE
cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector)
{
    return forgotten(vector, CUSPARSE_STATUS_INVALID_VALUE);
}

GPUCOH_CUSPARSE
cusparseSpMatGetSize(cusparseConstSpMatDescr_t A, int64_t *rows, int64_t *cols, int64_t *nnz)
{
    if (!A || !rows || !cols || !nnz)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = A->num_rows;
    *cols = A->num_columns;
    *nnz = A->num_values;
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseCsrSetPointers(cusparseSpMatDescr_t A, void *offsets, void *columns, void *values)
{
    if (!A || !A->is_csr)
        return CUSPARSE_STATUS_INVALID_VALUE;
    A->rows = offsets;
    A->columns = columns;
    A->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseCsrSetStridedBatch(cusparseSpMatDescr_t A, int batches, int64_t offsets_stride, int64_t stride)
{
    if (!A || !A->is_csr || batches < 1)
        return CUSPARSE_STATUS_INVALID_VALUE;
    A->batches = {batches, stride, offsets_stride};
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseSpMatSetAttribute(cusparseSpMatDescr_t A, cusparseSpMatAttribute_t attribute, const void *value, size_t bytes)
{
    if (!A || !value || bytes != sizeof(int))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE)
        A->is_upper = *(const cusparseFillMode_t *) value == CUSPARSE_FILL_MODE_UPPER;
    else
        A->has_unit_diagonal = *(const cusparseDiagType_t *) value == CUSPARSE_DIAG_TYPE_UNIT;
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseCreateSpVec(cusparseSpVecDescr_t *vector, int64_t size, int64_t nnz, void *indices, void *values,
                    cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type)
{
    return described(vector, size >= 0 && nnz >= 0 && nnz <= size,
                     cusparseSpVecDescr{size, nnz, indices, values, index, base, type});
}

GPUCOH_CUSPARSE
cusparseDestroySpVec(cusparseConstSpVecDescr_t vector)
{
    return forgotten(vector, CUSPARSE_STATUS_INVALID_VALUE);
}

GPUCOH_CUSPARSE
cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t cols, int64_t ld, void *values,
                    cudaDataType type, cusparseOrder_t order)
{
    bool valid = rows >= 0 && cols >= 0 && ld >= (order == CUSPARSE_ORDER_ROW ? cols : rows);
    return described(matrix, valid, cusparseDnMatDescr{rows, cols, ld, values, type, order, {1, 0, 0}});
}

GPUCOH_CUSPARSE
cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int batches, int64_t stride)
{
    if (!matrix || batches < 1)
        return CUSPARSE_STATUS_INVALID_VALUE;
    matrix->batches = {batches, stride, 0};
    return CUSPARSE_STATUS_SUCCESS;
}

GPUCOH_CUSPARSE
cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix)
{
    return forgotten(matrix, CUSPARSE_STATUS_INVALID_VALUE);
}
} // namespace api

/* ---- for kernels; T is the type of values, I of indices */
template <class T, class I> struct Sparse {
    bool is_csr;
    I num_rows, num_columns, num_values, base;
    I *rows, *columns;
    T *values;

    /* The first place at which `rows`, of `count` places, is at least a number. */
    __device__ I
    search(I number, I count) const
    {
        I low = 0, high = count;
        while (low < high) {
            I middle = (low + high) / 2;
            if (rows[middle] - base < number)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* The place of a row's first value; num_rows gives the end. */
    __device__ I
    first_of(I row) const
    {
        return is_csr ? rows[row] - base : search(row, num_values);
    }
    __device__ I
    row_of(I place) const
    {
        return is_csr ? search(place + 1, num_rows + 1) - 1 : rows[place] - base;
    }
    __device__ I
    column_of(I place) const
    {
        return columns[place] - base;
    }
};

template <class T> struct Dense {
    T *values;
    long row_step, column_step;
    __device__ T &
    at(long row, long column) const
    {
        return values[row * row_step + column * column_step];
    }
};

template <class T, class I>
Sparse<T, I>
sparse_of(cusparseConstSpMatDescr_t A, int batch = 0)
{
    return {A->is_csr,
            (I) A->num_rows,
            (I) A->num_columns,
            (I) A->num_values,
            (I) A->base,
            (I *) A->rows + batch * A->batches.offsets_stride,
            (I *) A->columns + batch * A->batches.stride,
            (T *) A->values + batch * A->batches.stride};
}

template <class T>
Dense<T>
dense_of(cusparseConstDnMatDescr_t B, bool transposed = false, int batch = 0)
{
    bool by_rows = (B->order == CUSPARSE_ORDER_ROW) != transposed;
    return {(T *) B->values + batch * B->batches.stride, by_rows ? B->ld : 1, by_rows ? 1 : B->ld};
}

template <class T>
Scalar<T>
factor(cusparseHandle_t handle, const void *given)
{
    return scalar(handle->pointers == CUSPARSE_POINTER_MODE_DEVICE, (const T *) given);
}

/* Launches a thread for each of n. */
template <class... P, class... A>
cusparseStatus_t
each(cusparseHandle_t handle, long n, void (*kernel)(P...), A... arguments)
{
    if (n <= 0)
        return CUSPARSE_STATUS_SUCCESS;
    cudaError_t error = launched(handle->stream, kernel, blocks_of(n), THREADS, arguments...);
    return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

/* Calls with a value and an index of the types that the program names. */
template <class F>
cusparseStatus_t
typed(cudaDataType type, cusparseIndexType_t index, F call)
{
    bool is_long = index == CUSPARSE_INDEX_64I;
    if ((type != CUDA_R_32F && type != CUDA_R_64F) || (index != CUSPARSE_INDEX_32I && !is_long))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (type == CUDA_R_32F)
        return is_long ? call(float(), int64_t()) : call(float(), int());
    return is_long ? call(double(), int64_t()) : call(double(), int());
}

inline bool
is_transposed(cusparseOperation_t operation)
{
    return operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
}

/* What is left of a value of y before its sum is added; a value that beta = 0 drops is not read. */
template <class T>
__device__ T
kept(T beta, const T &y)
{
    return beta == T(0) ? T(0) : beta * y;
}
} // namespace gpucoh_sparse
