/*
 * The CUDA names that this library uses, on CUDA and on HIP: the runtime's for C and C++ alike, and
 * for device code the few instructions that depend on the architecture. Nothing else includes a
 * vendor's header.
 */
#ifndef TWI_GPU_COMPAT_H
#define TWI_GPU_COMPAT_H

#include <stdint.h>

#if defined(TWI_HIP)
#ifdef __cplusplus
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaDeviceProp hipDeviceProp_t
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaError_t hipError_t
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaEvent_t hipEvent_t
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define cudaFuncSetAttribute(kernel, attribute, value) \
    hipFuncSetAttribute((const void *)(kernel), attribute, value)
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaMalloc hipMalloc
#define cudaMallocHost(at, bytes) hipHostMalloc(at, bytes, 0)
#define cudaMemGetInfo hipMemGetInfo
#define cudaMemcpy2DAsync hipMemcpy2DAsync
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemsetAsync hipMemsetAsync
#define cudaSetDevice hipSetDevice
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess
#define TWI_GPU_API "HIP"
#define TWI_GPU_PREFIX "hip"
#else
#ifdef __cplusplus
#include <cuda_runtime.h>
#else
#include <cuda_runtime_api.h>
#endif
#define TWI_GPU_API "CUDA"
#define TWI_GPU_PREFIX "cuda"
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)

/* The CUDA architecture that is being compiled for; 0 for another vendor's or for the host. */
#ifdef __CUDA_ARCH__
#define TWI_COMPUTE __CUDA_ARCH__
#else
#define TWI_COMPUTE 0
#endif

/* Copy 16 bytes from global to shared memory, in the background where the architecture can; and
 * wait until all such copies of this thread have arrived. */
static __device__ __forceinline__ void copy16(void *shared, const void *global)
{
#if TWI_COMPUTE >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(global) : "memory");
#else
    *(uint4 *)shared = *(const uint4 *)global;
#endif
}

static __device__ __forceinline__ void copy16_wait(void)
{
#if TWI_COMPUTE >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#if TWI_COMPUTE >= 900
/* Barriers in shared memory that count arrivals and, for the copy engine, bytes. A barrier goes
 * through phases; waiting for parity 0 first, then 1, then 0, ... follows them. */
#define TWI_COPY_ENGINE 1

static __device__ __forceinline__ void barrier_init(uint64_t *barrier, int arrivals)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}

/* Makes initialised barriers visible to the copy engine. */
static __device__ __forceinline__ void barrier_init_done(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

static __device__ __forceinline__ void barrier_arrive_and_expect(uint64_t *barrier, int bytes)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, int parity)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(at),
                 "r"(parity)
                 : "memory");
}

/* A block of whole 16-byte pieces, by the copy engine, which reports its bytes to `barrier`. */
static __device__ __forceinline__ void copy_block(void *shared, const void *global, int bytes,
                                                  uint64_t *barrier)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(global), "r"(bytes), "r"(at)
                 : "memory");
}
#else
#define TWI_COPY_ENGINE 0
#endif

#endif

#endif
