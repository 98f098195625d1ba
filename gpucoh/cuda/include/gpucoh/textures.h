/* textures.h: CUDA arrays, texture objects and texture references, as loads from global memory.
 *
 * A texture object is the address of a gpucoh_image; a texture reference is one in constant memory. Arrays have their
 * texels in rows: how a GPU lays them out is not documented. Coordinates, address modes and filters are as CUDA's
 * programming guide says (Texture Memory; Texture Fetching): the weight of a linear filter has 8 bits behind the point.
 * Outside of linear memory tex1Dfetch gives 0. Without: surfaces, mipmaps, cube maps, gathers, gradients, sRGB. */
#ifndef GPUCOH_TEXTURES_H
#define GPUCOH_TEXTURES_H

#include <cuda_runtime_api.h>
#include <string.h>

/* What a fetch needs to know. */
struct gpucoh_image {
    char *texels;
    size_t pitch, slice; /* bytes of a row, of a layer or a plane */
    int extent[3];       /* texels; 0 where there is no such dimension */
    cudaChannelFormatDesc format;
    int address[3];  /* cudaTextureAddressMode */
    bool is_linear;  /* the filter */
    bool normalized; /* the coordinates */
    float border[4];
};

struct cudaArray {
    gpucoh_image image;
    unsigned flags;
};

/* ---- fetches ----------------------------------------------------------------------------------------------------- */

template <class T> struct gpucoh_channel;
#define GPUCOH_CHANNELS(type, name)                                                                                    \
    template <> struct gpucoh_channel<type> { typedef type of; };                                                      \
    template <> struct gpucoh_channel<name##1> { typedef type of; };                                                   \
    template <> struct gpucoh_channel<name##2> { typedef type of; };                                                   \
    template <> struct gpucoh_channel<name##4> { typedef type of; };
GPUCOH_CHANNELS(char, char)
GPUCOH_CHANNELS(unsigned char, uchar)
GPUCOH_CHANNELS(short, short)
GPUCOH_CHANNELS(unsigned short, ushort)
GPUCOH_CHANNELS(int, int)
GPUCOH_CHANNELS(unsigned, uint)
GPUCOH_CHANNELS(float, float)
template <> struct gpucoh_channel<signed char> { typedef signed char of; };

template <class T> struct gpucoh_is_float { enum { yes = 0 }; };
template <> struct gpucoh_is_float<float> { enum { yes = 1 }; };

/* A channel of 8 or 16 bits as a number of -1 to 1, or a half. */
static __device__ inline float
gpucoh_unit(const gpucoh_image *image, const char *at, int channel)
{
    bool is_signed = image->format.f == cudaChannelFormatKindSigned;
    if (image->format.x == 8) {
        return is_signed ? fmaxf(((const signed char *) at)[channel] / 127.0f, -1)
                         : ((const unsigned char *) at)[channel] / 255.0f;
    }
    if (image->format.f == cudaChannelFormatKindFloat) {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(((const unsigned short *) at)[channel]));
        return value;
    }
    return is_signed ? fmaxf(((const short *) at)[channel] / 32767.0f, -1)
                     : ((const unsigned short *) at)[channel] / 65535.0f;
}

/* The texel at these places; a negative one is beyond the border. */
template <class T>
static __device__ inline T
gpucoh_texel(const gpucoh_image *image, int x, int y, int z)
{
    typedef typename gpucoh_channel<T>::of C;
    const int channels = sizeof(T) / sizeof(C);
    T texel;
    if ((x | y | z) < 0) {
        for (int k = 0; k < channels; k++) {
            ((C *) &texel)[k] = (C) image->border[k];
        }
        return texel;
    }
    const cudaChannelFormatDesc *f = &image->format;
    const char *at = image->texels + z * image->slice + y * image->pitch + x * ((f->x + f->y + f->z + f->w) / 8);
    if (!gpucoh_is_float<C>::yes || f->x == 32) {
        return *(const T *) at;
    }
    for (int k = 0; k < channels; k++) {
        ((C *) &texel)[k] = (C) gpucoh_unit(image, at, k);
    }
    return texel;
}

/* The texel of a place in one dimension; -1: beyond the border. Wrap and mirror need normalized coordinates. */
static __device__ inline int
gpucoh_place(const gpucoh_image *image, int dimension, int at)
{
    int extent = image->extent[dimension], mode = image->address[dimension];
    if ((unsigned) at < (unsigned) extent) {
        return at;
    }
    if (mode == cudaAddressModeBorder) {
        return -1;
    }
    if (mode == cudaAddressModeClamp || !image->normalized) {
        return at < 0 ? 0 : extent - 1;
    }
    int period = mode == cudaAddressModeMirror ? 2 * extent : extent;
    at = (at % period + period) % period;
    return at < extent ? at : period - 1 - at;
}

template <class T>
static __device__ inline T
gpucoh_mix(T a, T b, float weight)
{
    for (int k = 0; k < (int) (sizeof(T) / sizeof(float)); k++) {
        ((float *) &a)[k] = (1 - weight) * ((float *) &a)[k] + weight * ((float *) &b)[k];
    }
    return a;
}

/* The number of dimensions that are filtered is D; layer is the third place of textures of layers. */
template <class T, int D>
static __device__ inline T
gpucoh_sample(const gpucoh_image *image, float x, float y, float z, int layer)
{
    float at[3] = {x, y, z}, weight[3] = {0, 0, 0};
    int low[3] = {0, 0, layer}, high[3] = {0, 0, layer};
    bool mixes = gpucoh_is_float<typename gpucoh_channel<T>::of>::yes && image->is_linear;
#pragma unroll
    for (int d = 0; d < D; d++) {
        float place = image->normalized ? at[d] * image->extent[d] : at[d];
        float first = floorf(mixes ? place - 0.5f : place);
        weight[d] = rintf((place - 0.5f - first) * 256) / 256;
        low[d] = gpucoh_place(image, d, (int) first);
        high[d] = mixes ? gpucoh_place(image, d, (int) first + 1) : 0;
    }
    T found = gpucoh_texel<T>(image, low[0], low[1], low[2]);
    if (!mixes) {
        return found;
    }
    found = gpucoh_mix(found, gpucoh_texel<T>(image, high[0], low[1], low[2]), weight[0]);
    if (D == 1) {
        return found;
    }
    T other = gpucoh_mix(gpucoh_texel<T>(image, low[0], high[1], low[2]),
                         gpucoh_texel<T>(image, high[0], high[1], low[2]), weight[0]);
    found = gpucoh_mix(found, other, weight[1]);
    if (D == 2) {
        return found;
    }
    T near = gpucoh_mix(gpucoh_texel<T>(image, low[0], low[1], high[2]),
                        gpucoh_texel<T>(image, high[0], low[1], high[2]), weight[0]);
    T far = gpucoh_mix(gpucoh_texel<T>(image, low[0], high[1], high[2]),
                       gpucoh_texel<T>(image, high[0], high[1], high[2]), weight[0]);
    return gpucoh_mix(found, gpucoh_mix(near, far, weight[1]), weight[2]);
}

template <class T>
static __device__ inline T
gpucoh_fetch(const gpucoh_image *image, int x)
{
    if ((unsigned) x < (unsigned) image->extent[0]) {
        return gpucoh_texel<T>(image, x, 0, 0);
    }
    T none;
    memset(&none, 0, sizeof none);
    return none;
}

/* ---- texture references, which CUDA 12 has dropped --------------------------------------------------------------- */

/* A setting that may not be set: the compiler gives the host's variable of a reference what the constructor without
 * arguments does, whatever the device's variable was declared with. */
template <class T, int by_default> struct gpucoh_setting {
    bool is_set;
    T value;
    constexpr gpucoh_setting() : is_set(false), value((T) by_default)
    {
    }
    constexpr gpucoh_setting(T value) : is_set(true), value(value)
    {
    }
    operator T() const
    {
        return value;
    }
};

struct textureReference : gpucoh_image {
    gpucoh_setting<int, 0> normalized;
    gpucoh_setting<cudaTextureFilterMode, cudaFilterModePoint> filterMode;
    gpucoh_setting<cudaTextureAddressMode, cudaAddressModeClamp> addressMode[3];
    cudaChannelFormatDesc channelDesc;
    constexpr textureReference() : gpucoh_image{}, channelDesc{}
    {
    }
    constexpr textureReference(int normalized, cudaTextureFilterMode filter, cudaTextureAddressMode mode)
        : gpucoh_image{}, normalized(normalized), filterMode(filter), addressMode{mode, mode, mode}, channelDesc{}
    {
    }
};

template <class T, int D = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct gpucoh_texture : textureReference {
    constexpr gpucoh_texture()
    {
    }
    constexpr gpucoh_texture(int normalized, cudaTextureFilterMode filter = cudaFilterModePoint,
                             cudaTextureAddressMode address = cudaAddressModeClamp)
        : textureReference(normalized, filter, address)
    {
    }
};

template <class T, cudaTextureReadMode mode> struct gpucoh_read { typedef T of; };
#define GPUCOH_READS(name)                                                                                             \
    template <> struct gpucoh_read<name##1, cudaReadModeNormalizedFloat> { typedef float1 of; };                       \
    template <> struct gpucoh_read<name##2, cudaReadModeNormalizedFloat> { typedef float2 of; };                       \
    template <> struct gpucoh_read<name##4, cudaReadModeNormalizedFloat> { typedef float4 of; };
GPUCOH_READS(char)
GPUCOH_READS(uchar)
GPUCOH_READS(short)
GPUCOH_READS(ushort)
template <> struct gpucoh_read<char, cudaReadModeNormalizedFloat> { typedef float of; };
template <> struct gpucoh_read<unsigned char, cudaReadModeNormalizedFloat> { typedef float of; };
template <> struct gpucoh_read<short, cudaReadModeNormalizedFloat> { typedef float of; };
template <> struct gpucoh_read<unsigned short, cudaReadModeNormalizedFloat> { typedef float of; };

/* A function of objects, by its result or by a pointer to it, and of references. */
#define GPUCOH_FETCHES(name, dimensions, parameters, fetched)                                                          \
    template <class T> static __device__ inline T name(cudaTextureObject_t texture, GPUCOH_LIST parameters)            \
    {                                                                                                                  \
        const gpucoh_image *image = (const gpucoh_image *) texture;                                                    \
        return fetched(T);                                                                                             \
    }                                                                                                                  \
    template <class T> static __device__ inline void name(T *to, cudaTextureObject_t texture, GPUCOH_LIST parameters)  \
    {                                                                                                                  \
        const gpucoh_image *image = (const gpucoh_image *) texture;                                                    \
        *to = fetched(T);                                                                                              \
    }                                                                                                                  \
    template <class T, cudaTextureReadMode mode>                                                                       \
    static __device__ inline typename gpucoh_read<T, mode>::of name(const gpucoh_texture<T, dimensions, mode> &texture, \
                                                                    GPUCOH_LIST parameters)                           \
    {                                                                                                                  \
        typedef typename gpucoh_read<T, mode>::of of;                                                                  \
        const gpucoh_image *image = &texture;                                                                          \
        return fetched(of);                                                                                            \
    }
#define GPUCOH_LIST(...) __VA_ARGS__
#define GPUCOH_FETCH(T) gpucoh_fetch<T>(image, x)
#define GPUCOH_1D(T) gpucoh_sample<T, 1>(image, x, 0, 0, 0)
#define GPUCOH_2D(T) gpucoh_sample<T, 2>(image, x, y, 0, 0)
#define GPUCOH_3D(T) gpucoh_sample<T, 3>(image, x, y, z, 0)
#define GPUCOH_1D_LAYER(T) gpucoh_sample<T, 1>(image, x, 0, 0, gpucoh_layer(image, layer))
#define GPUCOH_2D_LAYER(T) gpucoh_sample<T, 2>(image, x, y, 0, gpucoh_layer(image, layer))

static __device__ inline int
gpucoh_layer(const gpucoh_image *image, int layer)
{
    return min(max(layer, 0), image->extent[2] - 1);
}

GPUCOH_FETCHES(tex1Dfetch, cudaTextureType1D, (int x), GPUCOH_FETCH)
GPUCOH_FETCHES(tex1D, cudaTextureType1D, (float x), GPUCOH_1D)
GPUCOH_FETCHES(tex2D, cudaTextureType2D, (float x, float y), GPUCOH_2D)
GPUCOH_FETCHES(tex3D, cudaTextureType3D, (float x, float y, float z), GPUCOH_3D)
GPUCOH_FETCHES(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), GPUCOH_1D_LAYER)
GPUCOH_FETCHES(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), GPUCOH_2D_LAYER)

#include "gpucoh/arrays.h"

#ifdef GPUCOH_TEXTURE_REFERENCES
#define texture __constant__ gpucoh_texture
#endif

#endif
