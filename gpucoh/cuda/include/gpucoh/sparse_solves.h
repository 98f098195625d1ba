/* sparse_solves.h: cuSPARSE's solutions of a triangle of CSR, and its product of two sparse matrices. */
struct cusparseSpSVDescr {};
struct cusparseSpSMDescr {};
struct cusparseSpGEMMDescr {
    void *offsets; /* on the device: of the product; NULL: not computed */
};
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;

namespace gpucoh_sparse {
/* A warp has a column of X, and solves row after row: lanes share the values of a row. Those of the other triangle are
 * left out. */
template <class T, class I>
__global__ void
solve(Sparse<T, I> A, bool is_upper, bool has_unit_diagonal, Scalar<T> alpha, Dense<T> B, Dense<T> X, long num_columns)
{
    long column = own_index() / LANES;
    int lane = threadIdx.x % LANES;
    if (column >= num_columns)
        return;
    for (I step = 0; step < A.num_rows; step++) {
        I row = is_upper ? A.num_rows - 1 - step : step;
        T sum = 0, diagonal = 0;
        for (I place = A.first_of(row) + lane, end = A.first_of(row + 1); place < end; place += LANES) {
            I other = A.column_of(place);
            if (other == row)
                diagonal = A.values[place];
            else if (other < row != is_upper)
                sum += A.values[place] * X.at(other, column);
        }
        for (int half = LANES / 2; half > 0; half /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, half);
            diagonal += __shfl_down_sync(0xffffffffu, diagonal, half);
        }
        if (lane == 0)
            X.at(row, column) = (alpha.get() * B.at(row, column) - sum) / (has_unit_diagonal ? T(1) : diagonal);
        __syncwarp();
    }
}

inline cusparseStatus_t
solved(cusparseHandle_t handle, const void *alpha, cusparseConstSpMatDescr_t A, const cusparseDnMatDescr &B,
       bool transposed_b, const cusparseDnMatDescr &X)
{
    return typed(A->type, A->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        return each(handle, LANES * X.num_columns, solve<T, I>, sparse_of<T, I>(A), A->is_upper, A->has_unit_diagonal,
                    factor<T>(handle, alpha), dense_of<T>(&B, transposed_b), dense_of<T>(&X), X.num_columns);
    });
}

inline cusparseStatus_t
checked(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha, cusparseConstSpMatDescr_t A,
        bool valid)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!alpha || !A || !valid || A->num_rows != A->num_columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return is_transposed(operation) || !A->is_csr ? CUSPARSE_STATUS_NOT_SUPPORTED : CUSPARSE_STATUS_SUCCESS;
}

/* A thread has a row of the product, whose columns it takes in their order: each is the smallest one of the rows of B
 * behind the one before. Without WRITES the values of a row are counted. */
template <class T, class I, bool WRITES>
__global__ void
multiply_sparse(Sparse<T, I> A, Sparse<T, I> B, Scalar<T> alpha, Sparse<T, I> C)
{
    I row = own_index(), column = -1, count = 0;
    if (row >= A.num_rows)
        return;
    I first = WRITES ? C.first_of(row) : 0;
    while (true) {
        I next = B.num_columns;
        T sum = 0;
        for (I place = A.first_of(row), end = A.first_of(row + 1); place < end; place++) {
            I inner = A.column_of(place);
            for (I other = B.first_of(inner), last = B.first_of(inner + 1); other < last; other++) {
                I at = B.column_of(other);
                if (at <= column || at > next)
                    continue;
                if (at < next)
                    sum = 0;
                next = at;
                sum += A.values[place] * B.values[other];
            }
        }
        if (next == B.num_columns)
            break;
        if (WRITES) {
            C.columns[first + count] = next + C.base;
            C.values[first + count] = alpha.get() * sum;
        }
        count++;
        column = next;
    }
    if (!WRITES)
        C.rows[row + 1] = count;
}

inline cusparseStatus_t
checked_sparse(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
               cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B, const void *beta, cusparseConstSpMatDescr_t C,
               cudaDataType type, cusparseSpGEMMDescr_t work)
{
    cusparseStatus_t status = checked(handle, opA, opB, alpha, A, B, beta, C, type);
    if (status != CUSPARSE_STATUS_SUCCESS || !work)
        return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_INVALID_VALUE : status;
    bool one_type = A->index_type == B->index_type && A->index_type == C->index_type;
    bool is_csr = A->is_csr && B->is_csr && C->is_csr;
    return one_type && is_csr && !is_transposed(opA) && !is_transposed(opB) ? CUSPARSE_STATUS_SUCCESS
                                                                            : CUSPARSE_STATUS_NOT_SUPPORTED;
}

namespace api {
#define GPUCOH_CUSPARSE_DESCRIPTOR(Name)                                                  \
    GPUCOH_CUSPARSE cusparse##Name##_createDescr(cusparse##Name##Descr_t *descriptor)     \
    {                                                                                     \
        return described(descriptor, true, cusparse##Name##Descr());                      \
    }
GPUCOH_CUSPARSE_DESCRIPTOR(SpSV)
GPUCOH_CUSPARSE_DESCRIPTOR(SpSM)
GPUCOH_CUSPARSE_DESCRIPTOR(SpGEMM)

GPUCOH_CUSPARSE
cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor)
{
    return forgotten(descriptor, CUSPARSE_STATUS_INVALID_VALUE);
}

GPUCOH_CUSPARSE
cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor)
{
    return forgotten(descriptor, CUSPARSE_STATUS_INVALID_VALUE);
}

GPUCOH_CUSPARSE
cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor)
{
    if (descriptor)
        cudaFree(descriptor->offsets);
    return forgotten(descriptor, CUSPARSE_STATUS_INVALID_VALUE);
}

GPUCOH_CUSPARSE
cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType,
                        cusparseSpSVAlg_t, cusparseSpSVDescr_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
    return checked(handle, operation, alpha, A, x && y && bytes);
}

GPUCOH_CUSPARSE
cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha,
                      cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType,
                      cusparseSpSVAlg_t, cusparseSpSVDescr_t, void *)
{
    return checked(handle, operation, alpha, A, x && y);
}

/* A * y = alpha * x */
GPUCOH_CUSPARSE
cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha,
                   cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType type,
                   cusparseSpSVAlg_t, cusparseSpSVDescr_t)
{
    bool valid = A && x && y && x->size == A->num_rows && y->size == A->num_rows;
    cusparseStatus_t status = checked(handle, operation, alpha, A, valid);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    cusparseDnMatDescr from = {x->size, 1, 1, x->values, type, CUSPARSE_ORDER_ROW, {1, 0, 0}}, to = from;
    to.values = y->values;
    return solved(handle, alpha, A, from, false, to);
}

GPUCOH_CUSPARSE
cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B, cusparseDnMatDescr_t C, cudaDataType,
                        cusparseSpSMAlg_t, cusparseSpSMDescr_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
    return checked(handle, opA, alpha, A, B && C && bytes);
}

GPUCOH_CUSPARSE
cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t, const void *alpha,
                      cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B, cusparseDnMatDescr_t C, cudaDataType,
                      cusparseSpSMAlg_t, cusparseSpSMDescr_t, void *)
{
    return checked(handle, opA, alpha, A, B && C);
}

/* A * C = alpha * op(B) */
GPUCOH_CUSPARSE
cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                   cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B, cusparseDnMatDescr_t C, cudaDataType,
                   cusparseSpSMAlg_t, cusparseSpSMDescr_t)
{
    bool valid = A && B && C && C->num_rows == A->num_rows &&
                 (is_transposed(opB) ? B->num_columns : B->num_rows) == C->num_rows &&
                 (is_transposed(opB) ? B->num_rows : B->num_columns) == C->num_columns;
    cusparseStatus_t status = checked(handle, opA, alpha, A, valid);
    return status == CUSPARSE_STATUS_SUCCESS ? solved(handle, alpha, A, *B, is_transposed(opB), *C) : status;
}

GPUCOH_CUSPARSE
cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                              const void *alpha, cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B,
                              const void *beta, cusparseSpMatDescr_t C, cudaDataType type, cusparseSpGEMMAlg_t,
                              cusparseSpGEMMDescr_t work, size_t *bytes, void *)
{
    if (bytes)
        *bytes = BUFFER;
    return checked_sparse(handle, opA, opB, alpha, A, B, beta, C, type, work);
}

/* With a buffer, counts the values of C, whose pattern is that of A * B. */
GPUCOH_CUSPARSE
cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                       cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B, const void *beta,
                       cusparseSpMatDescr_t C, cudaDataType type, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t work,
                       size_t *bytes, void *buffer)
{
    if (bytes)
        *bytes = BUFFER;
    cusparseStatus_t status = checked_sparse(handle, opA, opB, alpha, A, B, beta, C, type, work);
    if (status != CUSPARSE_STATUS_SUCCESS || !buffer)
        return status;
    return typed(type, A->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        cudaFree(work->offsets);
        if (cudaMalloc(&work->offsets, (C->num_rows + 1) * sizeof(I)) != cudaSuccess)
            return CUSPARSE_STATUS_ALLOC_FAILED;
        cusparseSpMatDescr made = *C;
        made.rows = work->offsets;
        cusparseStatus_t counted = each(handle, A->num_rows, multiply_sparse<T, I, false>, sparse_of<T, I>(A),
                                        sparse_of<T, I>(B), factor<T>(handle, alpha), sparse_of<T, I>(&made));
        if (counted == CUSPARSE_STATUS_SUCCESS)
            counted = added_up<T, I>(handle, &made);
        C->num_values = made.num_values;
        return counted;
    });
}

/* beta * C, whose pattern would have to be that of the product, is left out: beta is 0. */
GPUCOH_CUSPARSE
cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                    cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B, const void *beta, cusparseSpMatDescr_t C,
                    cudaDataType type, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t work)
{
    cusparseStatus_t status = checked_sparse(handle, opA, opB, alpha, A, B, beta, C, type, work);
    if (status != CUSPARSE_STATUS_SUCCESS || !work->offsets)
        return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_INVALID_VALUE : status;
    return typed(type, A->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        bool on_device = handle->pointers == CUSPARSE_POINTER_MODE_DEVICE;
        if (!on_device && *(const T *) beta != T(0))
            return CUSPARSE_STATUS_NOT_SUPPORTED;
        cudaMemcpyAsync(C->rows, work->offsets, (C->num_rows + 1) * sizeof(I), cudaMemcpyDeviceToDevice,
                        handle->stream);
        return each(handle, A->num_rows, multiply_sparse<T, I, true>, sparse_of<T, I>(A), sparse_of<T, I>(B),
                    factor<T>(handle, alpha), sparse_of<T, I>(C));
    });
}
} // namespace api
} // namespace gpucoh_sparse
