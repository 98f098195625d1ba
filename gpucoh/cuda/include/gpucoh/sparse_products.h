/* sparse_products.h: cuSPARSE's handles, descriptors, and y = alpha * op(A) * x + beta * y. */
namespace gpucoh_sparse {
using namespace gpucoh_library;
constexpr int LANES = 32;

template <class T> struct Matrix {
    bool is_csr;
    int num_rows, num_values, base;
    const int *rows, *columns;
    const T *values;

    /* The place of a row's first value; num_rows gives the end. In COO it is searched. */
    __device__ int first_of(int row) const
    {
        if (is_csr)
            return rows[row] - base;
        int low = 0, high = num_values;
        while (low < high) {
            int middle = (low + high) / 2;
            if (rows[middle] - base < row)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
};

/* A warp has a row. What beta = 0 drops is not read. */
template <class T>
__global__ void
spmv(Matrix<T> A, Scalar<T> alpha, const T *x, Scalar<T> beta, T *y)
{
    int row = (int) (own_index() / LANES), lane = threadIdx.x % LANES;
    if (row >= A.num_rows)
        return;
    T sum = 0;
    for (int place = A.first_of(row) + lane, end = A.first_of(row + 1); place < end; place += LANES)
        sum += A.values[place] * x[A.columns[place] - A.base];
    for (int half = LANES / 2; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (lane == 0)
        y[row] = alpha.get() * sum + (beta.get() == T(0) ? T(0) : beta.get() * y[row]);
}

template <class T>
__global__ void
scale(long n, Scalar<T> beta, T *y)
{
    long i = own_index();
    if (i < n)
        y[i] = beta.get() == T(0) ? T(0) : beta.get() * y[i];
}

/* The transpose: a warp has a row, and adds each value's product to its column's sum. */
template <class T>
__global__ void
spmv_transposed(Matrix<T> A, Scalar<T> alpha, const T *x, T *y)
{
    int row = (int) (own_index() / LANES), lane = threadIdx.x % LANES;
    if (row >= A.num_rows)
        return;
    T factor = alpha.get() * x[row];
    for (int place = A.first_of(row) + lane, end = A.first_of(row + 1); place < end; place += LANES)
        atomicAdd(&y[A.columns[place] - A.base], factor * A.values[place]);
}

template <class T>
cusparseStatus_t
multiplied(cusparseHandle_t handle, bool transposed, const void *alpha, cusparseConstSpMatDescr_t A, const void *x,
           const void *beta, void *y)
{
    bool on_device = handle->pointers == CUSPARSE_POINTER_MODE_DEVICE;
    Scalar<T> by = scalar(on_device, (const T *) alpha), before = scalar(on_device, (const T *) beta);
    Matrix<T> matrix = {A->is_csr,
                        (int) A->num_rows,
                        (int) A->num_values,
                        (int) A->base,
                        (const int *) A->rows,
                        (const int *) A->columns,
                        (const T *) A->values};
    unsigned blocks = blocks_of(A->num_rows * LANES);
    cudaError_t error = cudaSuccess;
    if (!transposed && A->num_rows > 0)
        error = launched(handle->stream, spmv<T>, blocks, THREADS, matrix, by, (const T *) x, before, (T *) y);
    if (transposed && A->num_columns > 0)
        error = launched(handle->stream, scale<T>, blocks_of(A->num_columns), THREADS, A->num_columns, before, (T *) y);
    if (transposed && A->num_rows > 0 && error == cudaSuccess)
        error = launched(handle->stream, spmv_transposed<T>, blocks, THREADS, matrix, by, (const T *) x, (T *) y);
    return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

inline cusparseStatus_t
checked(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha, cusparseConstSpMatDescr_t A,
        cusparseConstDnVecDescr_t x, const void *beta, cusparseConstDnVecDescr_t y, cudaDataType type)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!alpha || !A || !x || !beta || !y)
        return CUSPARSE_STATUS_INVALID_VALUE;
    bool transposed = operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (x->size != (transposed ? A->num_rows : A->num_columns) ||
        y->size != (transposed ? A->num_columns : A->num_rows))
        return CUSPARSE_STATUS_INVALID_VALUE;
    bool one_type = A->type == type && x->type == type && y->type == type;
    if (!one_type || (type != CUDA_R_32F && type != CUDA_R_64F) || A->index_type != CUSPARSE_INDEX_32I)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

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
    cusparseIndexType_t index = offsets_type == columns_type ? columns_type : CUSPARSE_INDEX_64I;
    return described(A, rows >= 0 && cols >= 0 && nnz >= 0 && (offsets || rows == 0),
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

/* No kernel needs a buffer; programs allocate one of its size. */
GPUCOH_CUSPARSE
cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void *beta,
                        cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t, size_t *bytes)
{
    if (bytes)
        *bytes = 8;
    cusparseStatus_t status = checked(handle, operation, alpha, A, x, beta, y, type);
    return status == CUSPARSE_STATUS_SUCCESS && !bytes ? CUSPARSE_STATUS_INVALID_VALUE : status;
}

GPUCOH_CUSPARSE
cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void *beta,
                        cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t, void *)
{
    return checked(handle, operation, alpha, A, x, beta, y, type);
}

GPUCOH_CUSPARSE
cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha, cusparseConstSpMatDescr_t A,
             cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType type,
             cusparseSpMVAlg_t, void *)
{
    cusparseStatus_t status = checked(handle, operation, alpha, A, x, beta, y, type);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    auto product = type == CUDA_R_32F ? multiplied<float> : multiplied<double>;
    return product(handle, operation != CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, A, x->values, beta, y->values);
}
} // namespace api
} // namespace gpucoh_sparse
