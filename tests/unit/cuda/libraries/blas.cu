// blas.cu: calls of cuBLAS. Each line has a name and what the call left in its last vector or matrix, with the elements
// that it must leave alone; test_libraries.py computes the same by NumPy. Values are quarters, so that sums are exact.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <string>
#include <vector>

#include "library.h"

#define RIGHT(call) check(call, CUBLAS_STATUS_SUCCESS, #call)

template <class T> struct Device {
    T *data;
    int size;
    Device(int size, int seed) : size(size)
    {
        std::vector<T> values(size);
        for (int i = 0; i < size; i++)
            values[i] = T(float((i * 37 + seed * 11) % 23 - 11) / 4);
        cudaMalloc(&data, size * sizeof(T));
        RIGHT(cublasSetVector(size, sizeof(T), values.data(), 1, data, 1));
    }
    ~Device() { cudaFree(data); }
    void print(const std::string &name)
    {
        std::vector<T> values(size);
        RIGHT(cublasGetVector(size, sizeof(T), data, 1, values.data(), 1));
        printf("%s", name.c_str());
        for (T value : values)
            printf(" %.9g", double(value));
        printf("\n");
    }
};

template <class T> struct Blas;
#define BLAS(S, s, T)                                                                                                  \
    template <> struct Blas<T> {                                                                                       \
        static constexpr const char *letter = #S;                                                                      \
        static constexpr auto axpy = cublas##S##axpy<>;                                                                \
        static constexpr auto scal = cublas##S##scal<>;                                                                \
        static constexpr auto copy = cublas##S##copy<>;                                                                \
        static constexpr auto swap = cublas##S##swap<>;                                                                \
        static constexpr auto dot = cublas##S##dot<>;                                                                  \
        static constexpr auto asum = cublas##S##asum<>;                                                                \
        static constexpr auto nrm2 = cublas##S##nrm2<>;                                                                \
        static constexpr auto amax = cublasI##s##amax<>;                                                               \
        static constexpr auto amin = cublasI##s##amin<>;                                                               \
        static constexpr auto gemv = cublas##S##gemv<>;                                                                \
        static constexpr auto ger = cublas##S##ger<>;                                                                  \
        static constexpr auto geam = cublas##S##geam<>;                                                                \
    };
BLAS(S, s, float)
BLAS(D, d, double)

static const cublasOperation_t OPERATIONS[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const char LETTERS[] = "NTC";

template <class T>
static void
vectors(cublasHandle_t h, int n)
{
    typedef Blas<T> B;
    std::string letter = B::letter, of = std::to_string(n);
    T alpha = -1.5;
    Device<T> x(2 * n + 1, 1), y(3 * n + 2, 2), scalars(4, 3);
    RIGHT(B::axpy(h, n, &alpha, x.data, 2, y.data, -3));
    y.print(letter + "axpy" + of);
    RIGHT(B::scal(h, n, &alpha, x.data, 2));
    x.print(letter + "scal" + of);
    RIGHT(B::swap(h, n, x.data, -2, y.data, 3));
    x.print(letter + "swap" + of);
    RIGHT(B::copy(h, n, x.data, 1, y.data, 2));
    y.print(letter + "copy" + of);

    T dot, asum, nrm2;
    int most, least;
    RIGHT(B::dot(h, n, x.data, 2, y.data, -1, &dot));
    RIGHT(B::asum(h, n, x.data, 2, &asum));
    RIGHT(B::nrm2(h, n, x.data, 2, &nrm2));
    RIGHT(B::amax(h, n, x.data, 2, &most));
    RIGHT(B::amin(h, n, x.data, 2, &least));
    printf("%sresults%s %.9g %.9g %.9g %d %d\n", letter.c_str(), of.c_str(), double(dot), double(asum), double(nrm2),
           most, least);
    // scalars and results on the device, in a stream
    cudaStream_t stream, was;
    cudaStreamCreate(&stream);
    RIGHT(cublasSetStream(h, stream));
    RIGHT(cublasGetStream(h, &was));
    RIGHT(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    RIGHT(B::dot(h, n, x.data, 2, y.data, -1, scalars.data));
    RIGHT(B::asum(h, n, x.data, 2, scalars.data + 1));
    RIGHT(B::axpy(h, n, scalars.data + 2, x.data, 1, y.data, 1));
    RIGHT(B::amax(h, n, x.data, 2, (int *) (scalars.data + 3)));
    T zero = 0;
    cudaStreamSynchronize(stream);
    int index;
    RIGHT(cublasGetVector(1, sizeof(int), scalars.data + 3, 1, &index, 1));
    printf("same%s%s %d %d\n", letter.c_str(), of.c_str(), index == most, was == stream);
    RIGHT(cublasSetVector(1, sizeof(T), &zero, 1, scalars.data + 3, 1));
    scalars.print(letter + "scalars" + of);
    y.print(letter + "device" + of);
    RIGHT(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    RIGHT(cublasSetStream(h, 0));
    cudaStreamDestroy(stream);
}

template <class T>
static void
matrices(cublasHandle_t h)
{
    typedef Blas<T> B;
    std::string letter = B::letter;
    const int m = 37, n = 21, lda = 41;
    T alpha = 0.5, beta = 2, zero = 0;
    for (int k = 0; k < 3; k++) {
        Device<T> A(lda * n, 1), x(2 * m, 2), y(3 * m, 3);
        RIGHT(B::gemv(h, OPERATIONS[k], m, n, &alpha, A.data, lda, x.data, 2, k == 1 ? &zero : &beta, y.data, -3));
        y.print(letter + "gemv" + LETTERS[k]);
    }
    Device<T> A(lda * n, 1), x(2 * m, 2), y(3 * n, 3);
    RIGHT(B::ger(h, m, n, &alpha, x.data, -2, y.data, 3, A.data, lda));
    A.print(letter + "ger");
    for (int k = 0; k < 4; k++) {
        Device<T> C(lda * n, 1), P(lda * lda, 2), Q(lda * lda, 3);
        RIGHT(B::geam(h, OPERATIONS[k % 2], OPERATIONS[k / 2], m, n, &alpha, P.data, lda, &beta, Q.data, lda - 1,
                      C.data, lda));
        C.print(letter + "geam" + LETTERS[k % 2] + LETTERS[k / 2]);
    }
}

template <class T, class Gemm, class Strided, class Batched>
static void
products(cublasHandle_t h, std::string letter, Gemm gemm, Strided strided, Batched batched)
{
    const int m = 19, n = 33, k = 21, ld = 35, size = ld * ld;
    T alpha = T(0.5f), beta = T(2.0f);
    for (int one = 0; one < 9; one++) {
        cublasOperation_t a = OPERATIONS[one % 3], b = OPERATIONS[one / 3];
        Device<T> A(size, 1), B(size, 2), C(size, 3);
        RIGHT(gemm(h, a, b, m, n, k, &alpha, A.data, ld, B.data, ld, &beta, C.data, ld));
        C.print(letter + "gemm" + LETTERS[one % 3] + LETTERS[one / 3]);
    }
    Device<T> A(3 * size, 1), B(size, 2), C(3 * size, 3), D(3 * size, 3);
    RIGHT(strided(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, A.data, ld, size, B.data, ld, 0, &beta, C.data, ld,
                  size, 3));
    C.print(letter + "strided");
    T *pointers[9], **places;
    for (int one = 0; one < 3; one++) {
        pointers[one] = A.data + one * size;
        pointers[3 + one] = B.data;
        pointers[6 + one] = D.data + one * size;
    }
    cudaMalloc(&places, sizeof pointers);
    cudaMemcpy(places, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    RIGHT(batched(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, places, ld, places + 3, ld, &beta, places + 6, ld, 3));
    D.print(letter + "batched");
}

template <class A, class R, class S>
static void
product_of_types(cublasHandle_t h, const char *name, cudaDataType a, cudaDataType c, cublasComputeType_t type)
{
    const int m = 18, n = 5, k = 20;
    S alpha = S(2.0f), beta = S(1.0f);
    Device<A> left(m * k, 1), right(k * n, 2);
    Device<R> C(2 * m * n, 3);
    RIGHT(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, left.data, a, m, right.data, a, n, &beta, C.data,
                       c, m, type, CUBLAS_GEMM_DEFAULT_TENSOR_OP));
    RIGHT(cublasGemmStridedBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, left.data, a, m, 0, right.data, a, n,
                                     0, &beta, C.data, c, m, m * n, 2, type, CUBLAS_GEMM_DEFAULT));
    C.print(std::string("Ex") + name);
}

static void
types(cublasHandle_t h)
{
    product_of_types<float, float, float>(h, "f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
    product_of_types<double, double, double>(h, "f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F);
    product_of_types<__half, __half, __half>(h, "f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
    product_of_types<__half, float, float>(h, "f16f32", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    product_of_types<__nv_bfloat16, float, float>(h, "bf16f32", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    product_of_types<signed char, int, int>(h, "s8s32", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I);
    Device<__half> x(33, 1), y(33, 2), result(1, 0);
    RIGHT(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    RIGHT(cublasDotEx(h, 33, x.data, CUDA_R_16F, 1, y.data, CUDA_R_16F, 1, result.data, CUDA_R_16F, CUDA_R_32F));
    RIGHT(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    result.print("DotEx");
}

// What cuBLAS refuses, and what has nothing to do: no element of C, beta = 0 with NaN in C, alpha = 0 with NaN in A.
static void
statuses(cublasHandle_t h)
{
    float one = 1, zero = 0, result = 5, *no = nullptr;
    int index = 5;
    Device<float> A(16, 1), C(16, 2);
    cublasOperation_t N = CUBLAS_OP_N, T = CUBLAS_OP_T;
    const cublasStatus_t bad = CUBLAS_STATUS_INVALID_VALUE, none = CUBLAS_STATUS_NOT_INITIALIZED;
    check(cublasSaxpy(nullptr, 1, &one, A.data, 1, C.data, 1), none, "axpy without a handle");
    check(cublasSgemm(nullptr, N, N, 1, 1, 1, &one, A.data, 1, A.data, 1, &zero, C.data, 1), none,
          "gemm without a handle");
    check(cublasSgemm(h, N, N, 4, 4, 4, &one, A.data, 3, A.data, 4, &zero, C.data, 4), bad, "lda");
    check(cublasSgemm(h, T, N, 4, 4, 2, &one, A.data, 2, A.data, 1, &zero, C.data, 4), bad, "ldb");
    check(cublasSgemm(h, N, N, 4, 4, 4, &one, A.data, 4, A.data, 4, &zero, C.data, 3), bad, "ldc");
    check(cublasSgemm(h, N, N, -1, 4, 4, &one, A.data, 4, A.data, 4, &zero, C.data, 4), bad, "m");
    check(cublasSgemm(h, N, N, 4, 4, 4, no, A.data, 4, A.data, 4, &zero, C.data, 4), bad, "alpha");
    check(cublasSgemm(h, (cublasOperation_t) 7, N, 4, 4, 4, &one, A.data, 4, A.data, 4, &zero, C.data, 4), bad,
          "transa");
    check(cublasSgemv(h, N, 4, 4, &one, A.data, 4, A.data, 0, &zero, C.data, 1), bad, "incx");
    check(cublasSger(h, 4, 4, &one, A.data, 1, A.data, 0, C.data, 4), bad, "incy");
    check(cublasSdot(h, 4, A.data, 1, A.data, 1, no), bad, "result");
    check(cublasSetVector(4, 0, &one, 1, A.data, 1), bad, "size of elements");
    check(cublasGemmEx(h, N, N, 1, 1, 1, &one, A.data, CUDA_R_32F, 1, A.data, CUDA_R_64F, 1, &zero, C.data, CUDA_R_32F,
                       1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          CUBLAS_STATUS_NOT_SUPPORTED, "types");
    RIGHT(cublasSnrm2(h, 0, A.data, 1, &result));
    RIGHT(cublasIsamax(h, 0, A.data, 1, &index));
    printf("nothing %g %d\n", result, index);
    RIGHT(cublasSgemm(h, N, N, 0, 4, 4, &one, A.data, 1, A.data, 4, &zero, C.data, 1));
    cudaMemset(C.data, 255, 16 * sizeof(float));
    RIGHT(cublasSgemm(h, N, N, 4, 4, 4, &one, A.data, 4, A.data, 4, &zero, C.data, 4));
    C.print("overwritten");
    cudaMemset(A.data, 255, 16 * sizeof(float));
    RIGHT(cublasSgemm(h, N, N, 4, 4, 4, &zero, A.data, 4, A.data, 4, &one, C.data, 4));
    C.print("unread");
    Device<double> large(3, 1);
    double values[] = {3e300, 0, -4e300}, norm;
    RIGHT(cublasSetVector(3, sizeof(double), values, 1, large.data, 1));
    RIGHT(cublasDnrm2(h, 3, large.data, 1, &norm));
    printf("large %.3g\n", norm);
    check(cublasDestroy(nullptr), none, "destroy");
    printf("names %s, %s\n", cublasGetStatusName(bad), cublasGetStatusString(none));
}

int
main(int, char **argv)
{
    cublasHandle_t h;
    RIGHT(cublasCreate(&h));
    RIGHT(cublasSetMathMode(h, CUBLAS_TENSOR_OP_MATH));
    if (!strcmp(argv[1], "vectors")) {
        vectors<float>(h, 1027);
        vectors<double>(h, 33);
        matrices<float>(h);
        matrices<double>(h);
        statuses(h);
    } else {
        products<float>(h, "S", cublasSgemm<>, cublasSgemmStridedBatched<>, cublasSgemmBatched<>);
        products<double>(h, "D", cublasDgemm<>, cublasDgemmStridedBatched<>, cublasDgemmBatched<>);
        products<__half>(h, "H", cublasHgemm<>, cublasHgemmStridedBatched<>, cublasHgemmBatched<>);
        types(h);
    }
    RIGHT(cublasDestroy(h));
}
