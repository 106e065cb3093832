/*
 * The CUDA names that this library uses, on CUDA and on HIP: the runtime's for C and C++ alike, and
 * for device code the few instructions that depend on the architecture. Nothing else includes a
 * vendor's header.
 */
#ifndef TWI_GPU_COMPAT_H
#define TWI_GPU_COMPAT_H

#include <stdint.h>

#if defined(TWI_HIP)
#include "gpu/hip_names.h"
#define __grid_constant__
#define TWI_BYTE_PRODUCT_FROM 1000000000 /* compute: none has it */
#define TWI_GPU_API "HIP"
#define TWI_GPU_PREFIX "hip"
#else
#ifdef __cplusplus
#include <cuda_runtime.h>
#else
#include <cuda_runtime_api.h>
#endif
#define TWI_BYTE_PRODUCT_FROM 80 /* compute: see byte_product */
#define TWI_GPU_API "CUDA"
#define TWI_GPU_PREFIX "cuda"
#endif

/* Versions come as one number; an architecture as two, or as text with features after a colon. */
#if defined(TWI_HIP)
#define TWI_VERSION_MAJOR(version) ((version) / 10000000)
#define TWI_VERSION_MINOR(version) ((version) / 100000 % 100)
#define TWI_ARCHITECTURE(out, props) \
    snprintf(out, sizeof(out), "%.*s", (int)strcspn((props).gcnArchName, ":"), (props).gcnArchName)
#else
#define TWI_VERSION_MAJOR(version) ((version) / 1000)
#define TWI_VERSION_MINOR(version) ((version) % 1000 / 10)
#define TWI_ARCHITECTURE(out, props) \
    snprintf(out, sizeof(out), "%d.%d", (props).major, (props).minor)
#endif

/* Of what cudaPointerGetAttributes says. */
#if !defined(TWI_HIP)
#define TWI_IS_DEVICE_MEMORY(at) \
    ((at).type == cudaMemoryTypeDevice || (at).type == cudaMemoryTypeManaged)
#define TWI_IS_PINNED_MEMORY(at) ((at).type == cudaMemoryTypeHost)
#elif HIP_VERSION_MAJOR < 6
#define TWI_IS_DEVICE_MEMORY(at) ((at).memoryType == hipMemoryTypeDevice || (at).isManaged)
#define TWI_IS_PINNED_MEMORY(at) ((at).memoryType == hipMemoryTypeHost)
#else
#define TWI_IS_DEVICE_MEMORY(at) ((at).type == hipMemoryTypeDevice || (at).isManaged)
#define TWI_IS_PINNED_MEMORY(at) ((at).type == hipMemoryTypeHost)
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)

/* The CUDA architecture that is being compiled for; 0 for another vendor's or for the host. */
#ifdef __CUDA_ARCH__
#define TWI_COMPUTE __CUDA_ARCH__
#else
#define TWI_COMPUTE 0
#endif

/* Threads that go in step. Code for the host sees some value: what it needs must not depend on it.
 */
#if defined(__AMDGCN_WAVEFRONT_SIZE)
#define TWI_WAVE __AMDGCN_WAVEFRONT_SIZE
#else
#define TWI_WAVE 32
#endif

/* Threads of a wave that went different ways meet again. */
static __device__ __forceinline__ void sync_wave(void)
{
#if !defined(TWI_HIP)
    __syncwarp();
#endif
}

/* Groups of `lanes` threads of a wave, a power of two up to 32, beginning at multiples of it: how
 * those of the calling thread's group vote, bit i for the i-th; and the sum over them. All of a
 * group must call; groups of a wave may go different ways. */
static __device__ __forceinline__ uint32_t group_votes(bool yes, int lanes)
{
    const unsigned first = threadIdx.x % TWI_WAVE & ~(unsigned)(lanes - 1);
    const uint32_t all = 0xffffffffu >> (32 - lanes);
#if defined(TWI_HIP)
    return (uint32_t)(__ballot(yes) >> first) & all;
#else
    return __ballot_sync(all << first, yes) >> first & all;
#endif
}

static __device__ __forceinline__ uint32_t group_sum(uint32_t value, int lanes)
{
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
#if defined(TWI_HIP)
        value += __shfl_xor(value, apart);
#else
        const unsigned first = threadIdx.x % TWI_WAVE & ~(unsigned)(lanes - 1);
        value += __shfl_xor_sync((0xffffffffu >> (32 - lanes)) << first, value, apart);
#endif
    }
    return value;
}

/* The value of the thread beside this one, of an even and an odd thread; both must call. */
static __device__ __forceinline__ uint32_t from_neighbour(uint32_t value)
{
#if defined(TWI_HIP)
    return __shfl_xor(value, 1);
#else
    return __shfl_xor_sync(3u << (threadIdx.x % TWI_WAVE & ~1u), value, 1);
#endif
}

/* A kernel for blocks of `threads`, of which a processor is to hold `blocks` at a time. HIP counts
 * waves on each of a processor's four units of 64 lanes instead. */
#if defined(TWI_HIP)
#define TWI_BOUNDS(threads, blocks) __launch_bounds__(threads, (threads) * (blocks) / (4 * 64))
#else
#define TWI_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#endif

/* 16 bytes of global memory that nobody reads again soon. */
static __device__ __forceinline__ int4 load_once(const int4 *from)
{
#if defined(TWI_HIP)
    typedef int quad __attribute__((ext_vector_type(4)));
    quad v = __builtin_nontemporal_load((const quad *)from);
    return make_int4(v.x, v.y, v.z, v.w);
#else
    return __ldcs(from);
#endif
}

static __device__ __forceinline__ void store_once(int4 *to, int4 value)
{
#if defined(TWI_HIP)
    typedef int quad __attribute__((ext_vector_type(4)));
    quad v = {value.x, value.y, value.z, value.w};
    __builtin_nontemporal_store(v, (quad *)to);
#else
    __stcs(to, value);
#endif
}

/* Four words that another thread block may be writing or reading at this moment, each for itself.
 */
static __device__ __forceinline__ void publish16(void *to, int4 v)
{
#if defined(TWI_HIP)
    volatile int *at = (volatile int *)to;
    at[0] = v.x, at[1] = v.y, at[2] = v.z, at[3] = v.w;
#elif TWI_COMPUTE > 0
    asm volatile("st.relaxed.gpu.global.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x),
                 "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
#endif
}

static __device__ __forceinline__ int4 read16(const void *from)
{
    int4 v = {0, 0, 0, 0};
#if defined(TWI_HIP)
    const volatile int *at = (const volatile int *)from;
    v = make_int4(at[0], at[1], at[2], at[3]);
#elif TWI_COMPUTE > 0
    asm volatile("ld.relaxed.gpu.global.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
#endif
    return v;
}

/* For a kernel that may begin while the one before it runs: wait until that has ended, and all it
 * wrote is there; and let the next kernel begin, once every block has said so or has ended. */
static __device__ __forceinline__ void await_launch_before(void)
{
#if TWI_COMPUTE >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void allow_next_launch(void)
{
#if TWI_COMPUTE >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#if !defined(TWI_HIP) /* where rounds stay on two streams */
/* A flag in global memory that one thread block raises when the others may read what it wrote. The
 * thread that raises it must have met its block's other threads at a barrier; what the reader has
 * seen holds for all threads that it meets at one. */
static __device__ __forceinline__ void raise_flag(int32_t *flag, int32_t value)
{
#if TWI_COMPUTE > 0
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
#endif
}

static __device__ __forceinline__ int32_t read_flag(const int32_t *flag)
{
    int32_t value = 0;
#if TWI_COMPUTE > 0
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
#endif
    return value;
}
#endif

/* Between ordinary writes of global memory and the copy engine's reads of it, within one kernel. */
static __device__ __forceinline__ void order_copies(void)
{
#if TWI_COMPUTE >= 900
    asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}

/* Copy 16 bytes from global to shared memory in the background, where the architecture can; and
 * wait until all such copies of this thread have arrived. */
#define TWI_BACKGROUND_COPY (TWI_COMPUTE >= 800)

#if TWI_BACKGROUND_COPY
static __device__ __forceinline__ void copy16(void *shared, const void *global)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(global) : "memory");
}
#endif

/* Copies up to here are one group; wait until all of this thread's groups but the last `later` have
 * arrived. */
#if TWI_BACKGROUND_COPY
static __device__ __forceinline__ void copy16_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int later> static __device__ __forceinline__ void copy16_wait_but(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");
}
#endif

static __device__ __forceinline__ void copy16_wait(void)
{
#if TWI_BACKGROUND_COPY
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#if TWI_COMPUTE >= 800
/* d = a b + c on the matrix units, a of 16 x 32 and b of 32 x 8 unsigned bytes, in fragments. */
#define TWI_BYTE_PRODUCT 1

static __device__ __forceinline__ void byte_product(int32_t d[4], const uint32_t a[4], uint32_t b0,
                                                    uint32_t b1, const int32_t c[4])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]),
          "r"(c[2]), "r"(c[3]));
}

/* Byte i of the result is byte s of the eight of (low, high), s being nibble i of `nibbles`; for
 * s >= 8 it is the sign of byte s - 8, over and over. (__byte_perm has no such s.) */
static __device__ __forceinline__ uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t nibbles)
{
    uint32_t picked;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(low), "r"(high), "r"(nibbles));
    return picked;
}
#else
#define TWI_BYTE_PRODUCT 0
#endif

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
