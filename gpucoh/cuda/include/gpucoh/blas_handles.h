/* blas_handles.h: cuBLAS's handles, modes, and copies between host and device. */

namespace gpucoh_blas {
/* A vector is a matrix of one row, whose columns are its elements. */
inline cublasStatus_t
copied(int rows, int columns, int bytes, const void *from, int ld_from, void *to, int ld_to, cudaMemcpyKind kind,
       cudaStream_t stream)
{
    if (rows < 0 || columns < 0 || bytes <= 0 || ld_from <= 0 || ld_to <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (rows == 0 || columns == 0)
        return CUBLAS_STATUS_SUCCESS;
    size_t size = (size_t) bytes;
    if (cudaStreamSynchronize(stream) != cudaSuccess ||
        cudaMemcpy2D(to, ld_to * size, from, ld_from * size, rows * size, columns, kind) != cudaSuccess)
        return CUBLAS_STATUS_MAPPING_ERROR;
    return CUBLAS_STATUS_SUCCESS;
}

namespace api {
GPUCOH_CUBLAS
cublasCreate(cublasHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasContext made = {};
    made.atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    if (cudaMalloc(&made.space, SPACE) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    *handle = new cublasContext(made);
    return CUBLAS_STATUS_SUCCESS;
}

GPUCOH_CUBLAS
cublasDestroy(cublasHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaFree(handle->space);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

/* X(function's name, type, field) */
#define GPUCOH_CUBLAS_MODES(X)                          \
    X(Stream, cudaStream_t, stream)                     \
    X(PointerMode, cublasPointerMode_t, pointers)       \
    X(MathMode, cublasMath_t, math)                     \
    X(AtomicsMode, cublasAtomicsMode_t, atomics)

#define GPUCOH_CUBLAS_MODE(name, type, field)                              \
    GPUCOH_CUBLAS cublasSet##name(cublasHandle_t handle, type value)       \
    {                                                                      \
        if (!handle)                                                       \
            return CUBLAS_STATUS_NOT_INITIALIZED;                          \
        handle->field = value;                                             \
        return CUBLAS_STATUS_SUCCESS;                                      \
    }                                                                      \
    GPUCOH_CUBLAS cublasGet##name(cublasHandle_t handle, type *value)      \
    {                                                                      \
        if (!handle)                                                       \
            return CUBLAS_STATUS_NOT_INITIALIZED;                          \
        if (!value)                                                        \
            return CUBLAS_STATUS_INVALID_VALUE;                            \
        *value = handle->field;                                            \
        return CUBLAS_STATUS_SUCCESS;                                      \
    }
GPUCOH_CUBLAS_MODES(GPUCOH_CUBLAS_MODE)

GPUCOH_CUBLAS
cublasGetVersion(cublasHandle_t handle, int *version)
{
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    (void) handle;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

GPUCOH_CUBLAS
cublasSetWorkspace(cublasHandle_t handle, void *space, size_t bytes)
{
    (void) space;
    (void) bytes;
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

template <typename = void>
const char *
cublasGetStatusName(cublasStatus_t status)
{
#define GPUCOH_CUBLAS_NAME(name, number, text) \
    if (status == name)                        \
        return #name;
    GPUCOH_CUBLAS_STATUSES(GPUCOH_CUBLAS_NAME)
    return "unknown cublasStatus_t";
}

template <typename = void>
const char *
cublasGetStatusString(cublasStatus_t status)
{
#define GPUCOH_CUBLAS_TEXT(name, number, text) \
    if (status == name)                        \
        return text;
    GPUCOH_CUBLAS_STATUSES(GPUCOH_CUBLAS_TEXT)
    return "unknown cublasStatus_t";
}

/* ---- copies between host and device */
#define GPUCOH_CUBLAS_COPIES(Set, kind)                                                                              \
    GPUCOH_CUBLAS cublas##Set##Vector(int n, int bytes, const void *x, int incx, void *y, int incy)                  \
    {                                                                                                                \
        return copied(1, n, bytes, x, incx, y, incy, kind, 0);                                          \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##Set##VectorAsync(int n, int bytes, const void *x, int incx, void *y, int incy,             \
                                           cudaStream_t stream)                                                      \
    {                                                                                                                \
        return copied(1, n, bytes, x, incx, y, incy, kind, stream);                                     \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##Set##Matrix(int rows, int cols, int bytes, const void *A, int lda, void *B, int ldb)       \
    {                                                                                                                \
        return copied(rows, cols, bytes, A, lda, B, ldb, kind, 0);                                      \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##Set##MatrixAsync(int rows, int cols, int bytes, const void *A, int lda, void *B, int ldb,  \
                                           cudaStream_t stream)                                                      \
    {                                                                                                                \
        return copied(rows, cols, bytes, A, lda, B, ldb, kind, stream);                                 \
    }
GPUCOH_CUBLAS_COPIES(Set, cudaMemcpyHostToDevice)
GPUCOH_CUBLAS_COPIES(Get, cudaMemcpyDeviceToHost)
} // namespace api
} // namespace gpucoh_blas

/* ---- names of version 2 */
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasGetVersion_v2 cublasGetVersion
