/* hipcub.h: what HIP's <hipcub/hipcub.hpp> declares: CUB, which comes with CUDA's compiler, and names that newer CUB
 * has dropped. */
#ifndef GPUCOH_CUDA_HIPCUB_H
#define GPUCOH_CUDA_HIPCUB_H

#include <cub/cub.cuh>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hipcub {
using namespace cub;
template <class V, class Offset = ptrdiff_t> using ConstantInputIterator = thrust::constant_iterator<V, Offset>;
template <class V, class Offset = ptrdiff_t> using CountingInputIterator = thrust::counting_iterator<V>;
template <class V, class F, class I, class Offset = ptrdiff_t>
using TransformInputIterator = thrust::transform_iterator<F, I, V>;
#define GPUCOH_HIPCUB_FUNCTION(name, expression)                  \
    struct name {                                                 \
        template <class A, class B>                               \
        __host__ __device__ auto                                  \
        operator()(const A &a, const B &b) const                  \
        {                                                         \
            return expression;                                    \
        }                                                         \
    };
GPUCOH_HIPCUB_FUNCTION(Sum, a + b)
GPUCOH_HIPCUB_FUNCTION(Max, a < b ? b : a)
GPUCOH_HIPCUB_FUNCTION(Min, b < a ? b : a)
GPUCOH_HIPCUB_FUNCTION(Equality, a == b)
GPUCOH_HIPCUB_FUNCTION(Inequality, a != b)
#undef GPUCOH_HIPCUB_FUNCTION
} // namespace hipcub

#endif
