// Fetches from textures of every kind, at coordinates that the input gives: x, y, z of each of 64 threads.
#include "library.h"
#include <cstring>

constexpr int W = 12, H = 6, D = 4, THREADS = 64;

texture<float, cudaTextureType1D, cudaReadModeElementType> line;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> plane(0, cudaFilterModeLinear, cudaAddressModeClamp);
texture<float, cudaTextureType3D> box(1, cudaFilterModePoint, cudaAddressModeWrap);

__global__ void objects(cudaTextureObject_t flat, cudaTextureObject_t deep, cudaTextureObject_t layers,
                        cudaTextureObject_t row, cudaTextureObject_t bytes, const float *at, float *out)
{
    int i = threadIdx.x;
    float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    out[i] = tex2D<float>(flat, x, y);
    out[THREADS + i] = tex3D<float>(deep, x, y, z);
    tex2DLayered(&out[2 * THREADS + i], layers, x, y, (int) floorf(z));
    float4 four = tex1Dfetch<float4>(row, (int) floorf(x));
    out[3 * THREADS + i] = four.x + 2 * four.y + 4 * four.z + 8 * four.w;
    out[4 * THREADS + i] = tex2D<unsigned char>(bytes, x, y);
}

__global__ void references(const float *at, float *out)
{
    int i = threadIdx.x;
    float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    out[i] = tex1Dfetch(line, (int) floorf(x));
    float4 four = tex2D(plane, x, y);
    out[THREADS + i] = four.x + 2 * four.y + 4 * four.z + 8 * four.w;
    out[2 * THREADS + i] = tex3D(box, x, y, z);
}

static cudaTextureObject_t object(const cudaResourceDesc &from, cudaTextureFilterMode filter, bool normalized,
                                  cudaTextureAddressMode mode, float border = 0)
{
    cudaTextureDesc as = {};
    as.addressMode[0] = as.addressMode[1] = as.addressMode[2] = mode;
    as.filterMode = filter;
    as.normalizedCoords = normalized;
    as.borderColor[0] = border;
    cudaTextureObject_t made = 0;
    check(cudaCreateTextureObject(&made, &from, &as, nullptr), cudaSuccess, "an object");
    return made;
}

static cudaResourceDesc of(cudaArray_t array)
{
    cudaResourceDesc made = {};
    made.resType = cudaResourceTypeArray;
    made.res.array.array = array;
    return made;
}

int main(int, char **words)
{
    auto filter = (cudaTextureFilterMode) atoi(words[1]);
    auto mode = (cudaTextureAddressMode) atoi(words[2]);
    bool normalized = atoi(words[3]);
    std::vector<float> values(W * H * D);
    std::vector<unsigned char> small(4 * W * H);
    for (int k = 0; k < W * H * D; k++) values[k] = (float) (k * 37 % 101) / 8;
    for (int k = 0; k < 4 * W * H; k++) small[k] = k * 29 % 251;
    float *at = given<float>(3 * THREADS), *out = device(std::vector<float>(5 * THREADS)), *linear = device(values);

    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), byte = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t flat, deep, layers;
    check(cudaMallocArray(&flat, &floats, W, H), cudaSuccess, "an array");
    cudaMemcpy2DToArray(flat, 0, 0, values.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice);
    cudaExtent extent = make_cudaExtent(W, H, D);
    cudaMalloc3DArray(&deep, &floats, extent);
    cudaMalloc3DArray(&layers, &floats, extent, cudaArrayLayered);
    for (cudaArray_t to : {deep, layers}) {
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(values.data(), W * 4, W, H);
        copy.dstArray = to;
        copy.extent = extent;
        copy.kind = cudaMemcpyHostToDevice;
        check(cudaMemcpy3D(&copy), cudaSuccess, "a box");
    }
    std::vector<float> back(W * H);
    cudaMemcpyFromArray(back.data(), flat, 0, 0, W * H * 4, cudaMemcpyDeviceToHost);
    check(memcmp(back.data(), values.data(), W * H * 4), 0, "what an array has");
    unsigned char *bytes;
    size_t pitch;
    cudaMallocPitch((void **) &bytes, &pitch, 4 * W, H);
    cudaMemcpy2D(bytes, pitch, small.data(), 4 * W, 4 * W, H, cudaMemcpyHostToDevice);
    cudaResourceDesc row = {}, rows = {};
    row.resType = cudaResourceTypeLinear;
    row.res.linear.devPtr = linear;
    row.res.linear.desc = cudaCreateChannelDesc<float4>();
    row.res.linear.sizeInBytes = 10 * sizeof(float4);
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D = {bytes, byte, 4 * W, H, pitch};

    objects<<<1, THREADS>>>(object(of(flat), filter, normalized, mode, 5), object(of(deep), filter, normalized, mode),
                            object(of(layers), filter, normalized, mode),
                            object(row, cudaFilterModePoint, false, cudaAddressModeClamp),
                            object(rows, cudaFilterModePoint, normalized, mode), at, out);
    for (const char *name : {"flat", "deep", "layers", "row", "bytes"}) {
        print(name, out, THREADS);
        out += THREADS;
    }
    out -= 5 * THREADS;
    check(cudaBindTexture(nullptr, line, linear, 40), cudaSuccess, "a line");
    check(cudaBindTexture2D(nullptr, plane, bytes, cudaCreateChannelDesc<uchar4>(), W, H, pitch), cudaSuccess, "a plane");
    check(cudaBindTextureToArray(box, deep), cudaSuccess, "a box");
    references<<<1, THREADS>>>(at, out);
    for (const char *name : {"line", "plane", "box"}) {
        print(name, out, THREADS);
        out += THREADS;
    }
    cudaResourceDesc none = row;
    none.resType = cudaResourceTypeMipmappedArray;
    cudaTextureDesc as = {};
    cudaTextureObject_t made;
    check(cudaCreateTextureObject(&made, &none, &as, nullptr), cudaErrorNotSupported, "a mipmap");
    cudaUnbindTexture(line);
    check(cudaFreeArray(flat), cudaSuccess, "an array's end");
}
