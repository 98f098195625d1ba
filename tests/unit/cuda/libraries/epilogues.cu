// epilogues.cu: products of cuBLASLt with epilogues. Each line has a name and D; test_cublas.py computes the same.
#include <cstdio>
#include <cublasLt.h>
#include <string>
#include <vector>

#include "library.h"

#define RIGHT(call) check(call, CUBLAS_STATUS_SUCCESS, #call)

template <class T>
static T *
drawn(int size, int seed)
{
    std::vector<T> values(size);
    for (int i = 0; i < size; i++)
        values[i] = T(float((i * 37 + seed * 11) % 23 - 11) / 4);
    T *made;
    cudaMalloc(&made, size * sizeof(T));
    cudaMemcpy(made, values.data(), size * sizeof(T), cudaMemcpyHostToDevice);
    return made;
}

template <class T>
static void
multiply(cublasLtHandle_t h, const std::string &name, cudaDataType type, cublasLtEpilogue_t epilogue, bool in_place)
{
    const int m = 18, n = 7, k = 20, batches = 2;
    float alpha = 0.125, beta = 2;
    T *A = drawn<T>(k * m * batches, 1), *B = drawn<T>(k * n * batches, 2), *C = drawn<T>(m * n * batches, 3);
    T *D = in_place ? C : drawn<T>(m * n * batches, 4), *bias = drawn<T>(m, 5);
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    const int32_t transposed = CUBLAS_OP_T, count = batches;
    int found = 0;
    RIGHT(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    RIGHT(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
    RIGHT(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    RIGHT(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    RIGHT(cublasLtMatrixLayoutCreate(&a, type, k, m, k));
    RIGHT(cublasLtMatrixLayoutCreate(&b, type, k, n, k));
    RIGHT(cublasLtMatrixLayoutCreate(&d, type, m, n, m));
    for (auto [layout, size] : {std::pair{a, k * m}, std::pair{b, k * n}, std::pair{d, m * n}}) {
        int64_t stride = size;
        RIGHT(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
        RIGHT(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof stride));
    }
    RIGHT(cublasLtMatmulPreferenceCreate(&preference));
    RIGHT(cublasLtMatmulAlgoGetHeuristic(h, how, a, b, d, d, preference, 1, &result, &found));
    check(found, 1, "algorithms");
    RIGHT(cublasLtMatmul(h, how, &alpha, A, a, B, b, &beta, C, d, D, d, &result.algo, nullptr, 0, 0));
    check(cublasLtMatmul(h, how, &alpha, A, b, B, a, &beta, C, d, D, d, &result.algo, nullptr, 0, 0),
          CUBLAS_STATUS_INVALID_VALUE, "sizes");
    check(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, 1), CUBLAS_STATUS_INVALID_VALUE,
          "bytes of an attribute");
    std::vector<T> values(m * n * batches);
    cudaMemcpy(values.data(), D, values.size() * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s", name.c_str());
    for (T value : values)
        printf(" %.9g", double(float(value)));
    printf("\n");
    RIGHT(cublasLtMatmulPreferenceDestroy(preference));
    RIGHT(cublasLtMatrixLayoutDestroy(a));
    RIGHT(cublasLtMatmulDescDestroy(how));
}

int
main()
{
    cublasLtHandle_t h;
    RIGHT(cublasLtCreate(&h));
    multiply<float>(h, "none", CUDA_R_32F, CUBLASLT_EPILOGUE_DEFAULT, false);
    multiply<float>(h, "relu_bias", CUDA_R_32F, CUBLASLT_EPILOGUE_RELU_BIAS, false);
    multiply<float>(h, "gelu", CUDA_R_32F, CUBLASLT_EPILOGUE_GELU, true);
    multiply<__half>(h, "bias", CUDA_R_16F, CUBLASLT_EPILOGUE_BIAS, true);
    RIGHT(cublasLtDestroy(h));
}
