/* blas_epilogues.h: cuBLASLt's descriptors, and D = epilogue(alpha * op(A) * op(B) + beta * C). */
namespace gpucoh_blas {
/* A row of D has an element of the bias. GELU is the approximation by tanh. */
template <class T>
__global__ void
finish(Matrices<T> D, int m, int n, int batches, const T *bias, bool is_relu, bool is_gelu)
{
    long row = own_index(), columns = (long) n * batches;
    for (long column = blockIdx.y; row < m && column < columns; column += gridDim.y) {
        T &d = D.of(column / n)[row + column % n * D.ld];
        float x = float(d) + (bias ? float(bias[row]) : 0);
        if (is_relu)
            x = x > 0 ? x : 0;
        if (is_gelu)
            x = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
        d = T(x);
    }
}

template <class T>
cublasStatus_t
finished(cublasHandle_t handle, const cublasLtMatmulDescOpaque_t &how, const cublasLtMatrixLayoutOpaque_t &at, void *D)
{
    Matrices<T> out = {(T *) D, nullptr, at.stride, (long) at.ld};
    bool has_bias = how.epilogue & CUBLASLT_EPILOGUE_BIAS;
    return launch(handle, finish<T>, grid_of(at.rows, at.cols * at.batches), THREADS, out, (int) at.rows, (int) at.cols,
                  at.batches, has_bias ? (const T *) how.bias : nullptr, (how.epilogue & CUBLASLT_EPILOGUE_RELU) != 0,
                  (how.epilogue & CUBLASLT_EPILOGUE_GELU) != 0);
}

inline size_t
bytes_of(uint32_t type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F || type == CUDA_R_32I ? 4 : 2;
}

/* Whether all matrices are in columns, C like D, and the sizes those of a product. */
inline bool
fits(const cublasLtMatmulDescOpaque_t &how, const cublasLtMatrixLayoutOpaque_t &A,
     const cublasLtMatrixLayoutOpaque_t &B, const cublasLtMatrixLayoutOpaque_t &C,
     const cublasLtMatrixLayoutOpaque_t &D)
{
    bool a = how.transa != CUBLAS_OP_N, b = how.transb != CUBLAS_OP_N;
    return (a ? A.cols : A.rows) == D.rows && (b ? B.rows : B.cols) == D.cols &&
           (a ? A.rows : A.cols) == (b ? B.cols : B.rows) && C.rows == D.rows && C.cols == D.cols &&
           A.batches == D.batches && B.batches == D.batches && C.batches == D.batches;
}

/* An attribute whose member has another size is refused. */
template <class T>
cublasStatus_t
set(T &member, const void *value, size_t bytes)
{
    if (!value || bytes != sizeof member)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

namespace api {
GPUCOH_CUBLAS
cublasLtCreate(cublasLtHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasLtContext();
    return CUBLAS_STATUS_SUCCESS;
}

GPUCOH_CUBLAS
cublasLtDestroy(cublasLtHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

#define GPUCOH_CUBLASLT_DESTROY(Name)                                        \
    GPUCOH_CUBLAS cublasLt##Name##Destroy(cublasLt##Name##_t descriptor)     \
    {                                                                        \
        delete descriptor;                                                   \
        return CUBLAS_STATUS_SUCCESS;                                        \
    }
GPUCOH_CUBLASLT_DESTROY(MatmulDesc)
GPUCOH_CUBLASLT_DESTROY(MatrixLayout)
GPUCOH_CUBLASLT_DESTROY(MatmulPreference)

GPUCOH_CUBLAS
cublasLtMatmulDescInit(cublasLtMatmulDesc_t how, cublasComputeType_t compute, cudaDataType scale)
{
    *how = {compute, scale, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
    return CUBLAS_STATUS_SUCCESS;
}

GPUCOH_CUBLAS
cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *how, cublasComputeType_t compute, cudaDataType scale)
{
    *how = new cublasLtMatmulDescOpaque_t();
    return cublasLtMatmulDescInit(*how, compute, scale);
}

GPUCOH_CUBLAS
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t how, cublasLtMatmulDescAttributes_t attribute, const void *value,
                               size_t bytes)
{
    switch (attribute) {
        case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
            return set(how->compute, value, bytes);
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
            return set(how->scale, value, bytes);
        case CUBLASLT_MATMUL_DESC_POINTER_MODE:
            return set(how->pointer_mode, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return set(how->transa, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return set(how->transb, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return set(how->epilogue, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return set(how->bias, value, bytes);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

GPUCOH_CUBLAS
cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
    *layout = {(uint32_t) type, CUBLASLT_ORDER_COL, rows, cols, ld, 1, 0};
    return CUBLAS_STATUS_SUCCESS;
}

GPUCOH_CUBLAS
cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
    *layout = new cublasLtMatrixLayoutOpaque_t();
    return cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld);
}

GPUCOH_CUBLAS
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes)
{
    switch (attribute) {
        case CUBLASLT_MATRIX_LAYOUT_TYPE:
            return set(layout->type, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_ORDER:
            return set(layout->order, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_ROWS:
            return set(layout->rows, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_COLS:
            return set(layout->cols, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_LD:
            return set(layout->ld, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return set(layout->batches, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return set(layout->stride, value, bytes);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

GPUCOH_CUBLAS
cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference)
{
    *preference = {};
    return CUBLAS_STATUS_SUCCESS;
}

GPUCOH_CUBLAS
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    *preference = new cublasLtMatmulPreferenceOpaque_t();
    return CUBLAS_STATUS_SUCCESS;
}

/* Preferences change nothing: no kernel needs a workspace. */
GPUCOH_CUBLAS
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *,
                                     size_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

/* There is one algorithm. */
GPUCOH_CUBLAS
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t A,
                               cublasLtMatrixLayout_t B, cublasLtMatrixLayout_t C, cublasLtMatrixLayout_t D,
                               cublasLtMatmulPreference_t, int most, cublasLtMatmulHeuristicResult_t *results,
                               int *found)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!how || !A || !B || !C || !D || !results || !found || most < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    results[0] = {};
    *found = fits(*how, *A, *B, *C, *D);
    return *found ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

GPUCOH_CUBLAS
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void *alpha, const void *a,
               cublasLtMatrixLayout_t A, const void *b, cublasLtMatrixLayout_t B, const void *beta, const void *c,
               cublasLtMatrixLayout_t C, void *d, cublasLtMatrixLayout_t D, const cublasLtMatmulAlgo_t *, void *,
               size_t, cudaStream_t stream)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!how || !A || !B || !C || !D || !alpha || !beta || !fits(*how, *A, *B, *C, *D))
        return CUBLAS_STATUS_INVALID_VALUE;
    bool by_rows = A->order != CUBLASLT_ORDER_COL || B->order != CUBLASLT_ORDER_COL || D->order != CUBLASLT_ORDER_COL;
    bool finishes = how->epilogue != CUBLASLT_EPILOGUE_DEFAULT;
    if (by_rows || C->type != D->type || (finishes && (D->type == CUDA_R_64F || D->type == CUDA_R_32I)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    cublasContext context = {};
    context.stream = stream;
    context.pointers =
        how->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST;
    size_t bytes = bytes_of(D->type);
    for (int batch = 0; batch < D->batches && c && c != d; batch++)
        cudaMemcpy2DAsync((char *) d + batch * D->stride * bytes, D->ld * bytes,
                          (const char *) c + batch * C->stride * bytes, C->ld * bytes, D->rows * bytes, D->cols,
                          cudaMemcpyDeviceToDevice, stream);
    Product product = {&context,
                       (cublasOperation_t) how->transa,
                       (cublasOperation_t) how->transb,
                       (int) D->rows,
                       (int) D->cols,
                       (int) (how->transa == CUBLAS_OP_N ? A->cols : A->rows),
                       alpha,
                       a,
                       b,
                       beta,
                       d,
                       (int) A->ld,
                       (int) B->ld,
                       (int) D->ld,
                       A->stride,
                       B->stride,
                       D->stride,
                       D->batches,
                       false};
    cublasStatus_t status =
        multiplied_as(product, (cudaDataType) A->type, (cudaDataType) B->type, (cudaDataType) D->type, how->compute);
    if (status != CUBLAS_STATUS_SUCCESS || !finishes)
        return status;
    switch (D->type) {
        case CUDA_R_16F:
            return finished<__half>(&context, *how, *D, d);
        case CUDA_R_16BF:
            return finished<__nv_bfloat16>(&context, *how, *D, d);
        default:
            return finished<float>(&context, *how, *D, d);
    }
}
} // namespace api
} // namespace gpucoh_blas
