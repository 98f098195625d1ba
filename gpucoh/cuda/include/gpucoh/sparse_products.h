/* sparse_products.h: cuSPARSE's products: a sparse matrix and a vector or a dense matrix, and dense ones where a sparse
 * one has values. */
namespace gpucoh_sparse {
/* A warp has a row. */
template <class T, class I>
__global__ void
spmv(Sparse<T, I> A, Scalar<T> alpha, const T *x, Scalar<T> beta, T *y)
{
    I row = own_index() / LANES, lane = threadIdx.x % LANES;
    if (row >= A.num_rows)
        return;
    T sum = 0;
    for (I place = A.first_of(row) + lane, end = A.first_of(row + 1); place < end; place += LANES)
        sum += A.values[place] * x[A.column_of(place)];
    for (int half = LANES / 2; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (lane == 0)
        y[row] = alpha.get() * sum + kept(beta.get(), y[row]);
}

template <class T>
__global__ void
scale(long n, Scalar<T> beta, T *y)
{
    long i = own_index();
    if (i < n)
        y[i] = kept(beta.get(), y[i]);
}

/* The transpose: a warp has a row, and adds each value's product to its column's sum. */
template <class T, class I>
__global__ void
spmv_transposed(Sparse<T, I> A, Scalar<T> alpha, const T *x, T *y)
{
    I row = own_index() / LANES, lane = threadIdx.x % LANES;
    if (row >= A.num_rows)
        return;
    T by = alpha.get() * x[row];
    for (I place = A.first_of(row) + lane, end = A.first_of(row + 1); place < end; place += LANES)
        atomicAdd(&y[A.column_of(place)], by * A.values[place]);
}

/* A thread has an element of C; those of a warp have consecutive columns. */
template <class T, class I>
__global__ void
spmm(Sparse<T, I> A, Scalar<T> alpha, Dense<T> B, Scalar<T> beta, Dense<T> C, long num_columns)
{
    long row = own_index() / num_columns, column = own_index() % num_columns;
    if (row >= A.num_rows)
        return;
    T sum = 0;
    for (I place = A.first_of(row), end = A.first_of(row + 1); place < end; place++)
        sum += A.values[place] * B.at(A.column_of(place), column);
    C.at(row, column) = alpha.get() * sum + kept(beta.get(), C.at(row, column));
}

template <class T>
__global__ void
scale_matrix(long num_rows, Scalar<T> beta, Dense<T> C, long num_columns)
{
    long row = own_index() / num_columns, column = own_index() % num_columns;
    if (row < num_rows)
        C.at(row, column) = kept(beta.get(), C.at(row, column));
}

/* The transpose of A: a thread has a row of A and a column of C. */
template <class T, class I>
__global__ void
spmm_transposed(Sparse<T, I> A, Scalar<T> alpha, Dense<T> B, Dense<T> C, long num_columns)
{
    long row = own_index() / num_columns, column = own_index() % num_columns;
    if (row >= A.num_rows)
        return;
    for (I place = A.first_of(row), end = A.first_of(row + 1); place < end; place++)
        atomicAdd(&C.at(A.column_of(place), column), alpha.get() * A.values[place] * B.at(row, column));
}

/* A thread has a value of C. */
template <class T, class I>
__global__ void
sddmm(Dense<T> A, Dense<T> B, long num_layers, Scalar<T> alpha, Scalar<T> beta, Sparse<T, I> C)
{
    I place = own_index();
    if (place >= C.num_values)
        return;
    I row = C.row_of(place), column = C.column_of(place);
    T sum = 0;
    for (long layer = 0; layer < num_layers; layer++)
        sum += A.at(row, layer) * B.at(layer, column);
    C.values[place] = alpha.get() * sum + kept(beta.get(), C.values[place]);
}

inline cusparseStatus_t
checked(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha, cusparseConstSpMatDescr_t A,
        cusparseConstDnVecDescr_t x, const void *beta, cusparseConstDnVecDescr_t y, cudaDataType type)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!alpha || !A || !x || !beta || !y)
        return CUSPARSE_STATUS_INVALID_VALUE;
    bool transposed = is_transposed(operation);
    if (x->size != (transposed ? A->num_rows : A->num_columns) ||
        y->size != (transposed ? A->num_columns : A->num_rows))
        return CUSPARSE_STATUS_INVALID_VALUE;
    return A->type == type && x->type == type && y->type == type ? CUSPARSE_STATUS_SUCCESS
                                                                 : CUSPARSE_STATUS_NOT_SUPPORTED;
}

/* A product of the sizes m, n, k, of which none, or the first or last one, is sparse. */
template <class A, class B, class C>
cusparseStatus_t
checked(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha, A a, B b,
        const void *beta, C c, cudaDataType type)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!alpha || !a || !b || !beta || !c)
        return CUSPARSE_STATUS_INVALID_VALUE;
    int64_t m = is_transposed(opA) ? a->num_columns : a->num_rows,
            k = is_transposed(opA) ? a->num_rows : a->num_columns;
    int64_t n = is_transposed(opB) ? b->num_rows : b->num_columns,
            l = is_transposed(opB) ? b->num_columns : b->num_rows;
    if (k != l || c->num_rows != m || c->num_columns != n)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return a->type == type && b->type == type && c->type == type ? CUSPARSE_STATUS_SUCCESS
                                                                 : CUSPARSE_STATUS_NOT_SUPPORTED;
}

namespace api {
/* No kernel of products needs a buffer; programs allocate one of its size. */
GPUCOH_CUSPARSE
cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t operation, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void *beta,
                        cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
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
    return typed(type, A->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        auto matrix = sparse_of<T, I>(A);
        auto by = factor<T>(handle, alpha), before = factor<T>(handle, beta);
        const T *from = (const T *) x->values;
        T *to = (T *) y->values;
        if (!is_transposed(operation))
            return each(handle, LANES * A->num_rows, spmv<T, I>, matrix, by, from, before, to);
        cusparseStatus_t scaled = each(handle, y->size, scale<T>, y->size, before, to);
        return scaled == CUSPARSE_STATUS_SUCCESS
                   ? each(handle, LANES * A->num_rows, spmv_transposed<T, I>, matrix, by, from, to)
                   : scaled;
    });
}

GPUCOH_CUSPARSE
cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B, const void *beta,
                        cusparseDnMatDescr_t C, cudaDataType type, cusparseSpMMAlg_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
    cusparseStatus_t status = checked(handle, opA, opB, alpha, A, B, beta, C, type);
    return status == CUSPARSE_STATUS_SUCCESS && !bytes ? CUSPARSE_STATUS_INVALID_VALUE : status;
}

GPUCOH_CUSPARSE
cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                        cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B, const void *beta,
                        cusparseDnMatDescr_t C, cudaDataType type, cusparseSpMMAlg_t, void *)
{
    return checked(handle, opA, opB, alpha, A, B, beta, C, type);
}

GPUCOH_CUSPARSE
cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
             cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B, const void *beta, cusparseDnMatDescr_t C,
             cudaDataType type, cusparseSpMMAlg_t, void *)
{
    cusparseStatus_t status = checked(handle, opA, opB, alpha, A, B, beta, C, type);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    return typed(type, A->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        auto by = factor<T>(handle, alpha), before = factor<T>(handle, beta);
        long n = C->num_columns;
        cusparseStatus_t done = CUSPARSE_STATUS_SUCCESS;
        for (int batch = 0; batch < C->batches.count && done == CUSPARSE_STATUS_SUCCESS; batch++) {
            auto left = sparse_of<T, I>(A, batch);
            auto right = dense_of<T>(B, is_transposed(opB), batch), out = dense_of<T>(C, false, batch);
            if (!is_transposed(opA)) {
                done = each(handle, A->num_rows * n, spmm<T, I>, left, by, right, before, out, n);
                continue;
            }
            done = each(handle, C->num_rows * n, scale_matrix<T>, C->num_rows, before, out, n);
            if (done == CUSPARSE_STATUS_SUCCESS)
                done = each(handle, A->num_rows * n, spmm_transposed<T, I>, left, by, right, out, n);
        }
        return done;
    });
}

GPUCOH_CUSPARSE
cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                         cusparseConstDnMatDescr_t A, cusparseConstDnMatDescr_t B, const void *beta,
                         cusparseSpMatDescr_t C, cudaDataType type, cusparseSDDMMAlg_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
    cusparseStatus_t status = checked(handle, opA, opB, alpha, A, B, beta, C, type);
    return status == CUSPARSE_STATUS_SUCCESS && !bytes ? CUSPARSE_STATUS_INVALID_VALUE : status;
}

GPUCOH_CUSPARSE
cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                         cusparseConstDnMatDescr_t A, cusparseConstDnMatDescr_t B, const void *beta,
                         cusparseSpMatDescr_t C, cudaDataType type, cusparseSDDMMAlg_t, void *)
{
    return checked(handle, opA, opB, alpha, A, B, beta, C, type);
}

GPUCOH_CUSPARSE
cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
              cusparseConstDnMatDescr_t A, cusparseConstDnMatDescr_t B, const void *beta, cusparseSpMatDescr_t C,
              cudaDataType type, cusparseSDDMMAlg_t, void *)
{
    cusparseStatus_t status = checked(handle, opA, opB, alpha, A, B, beta, C, type);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    return typed(type, C->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        cusparseStatus_t done = CUSPARSE_STATUS_SUCCESS;
        for (int batch = 0; batch < C->batches.count && done == CUSPARSE_STATUS_SUCCESS; batch++)
            done = each(handle, C->num_values, sddmm<T, I>, dense_of<T>(A, is_transposed(opA), batch),
                        dense_of<T>(B, is_transposed(opB), batch), is_transposed(opA) ? A->num_rows : A->num_columns,
                        factor<T>(handle, alpha), factor<T>(handle, beta), sparse_of<T, I>(C, batch));
        return done;
    });
}
} // namespace api
} // namespace gpucoh_sparse
