/* What a GPU's compiler and runtime bring, as far as kernels that `show` prints name it: enough to
 * see whether every other name is there. Nothing here runs. */
#ifndef LAB_SHOWN_H
#define LAB_SHOWN_H

#include <cmath>
#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define TW_APSP_INF_I32 1073741823

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef unsigned long long cudaTextureObject_t;
enum { cudaSuccess, cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaFuncAttributes {
    int ptxVersion;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1);
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
extern const dim3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads();
void __syncwarp();
int __syncthreads_or(int some);
int __float2int_rn(float v);
int __viaddmin_s32(int a, int b, int c);
int __vimin3_s32(int a, int b, int c);
size_t __cvta_generic_to_shared(const void *at);
int4 make_int4(int x, int y, int z, int w);
int4 __ldcs(const int4 *from);
void __stcs(int4 *to, int4 value);
int min(int a, int b);
int max(int a, int b);
int atomicMin(int *at, int value);
template <class type> type __ldg(const type *at);
template <class type> type tex1Dfetch(cudaTextureObject_t texture, int i);
template <class type> type tex2D(cudaTextureObject_t texture, int x, int y);
int cudaGetLastError();
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes);
template <class type> int cudaFuncGetAttributes(cudaFuncAttributes *out, type kernel);
template <class type> int cudaFuncSetAttribute(type kernel, int attribute, int value);

#endif
