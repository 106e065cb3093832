/*
 * The step of the (min,+) product for each element type, on words (gpu/kernels/kernels.h).
 *
 * Hopper has c = min(a + b, c) in one instruction, at half of the issue rate. Two additions and one
 * minimum of three take three issues for two steps, but the additions can go elsewhere: an integer
 * multiply-add by a 1 that the compiler does not know runs on the multiply pipe. A mix of both
 * forms uses both pipes: of every 8 accumulators, counted with a skew of SKEW from row to row, the
 * first FUSED take the first form. The best mix was found by trying (H200, November 2026;
 * docs/gpu.md).
 *
 * Non-negative floats order like their bit patterns, so they share the integer minimum of three.
 * Halves of at most 0x7FFF add without a carry, so a plain 32-bit addition adds both. AMD has no
 * fused step; its compiler finds the minimum of three, and the one of two halves, by itself.
 */
#ifndef TWI_APSP_GPU_KERNELS_STEP_CUH
#define TWI_APSP_GPU_KERNELS_STEP_CUH

#include "apsp/gpu/kernels/kernels.h"
#include "gpu/compat.h"

struct step_i32 {
    typedef int32_t element;
    typedef int32_t word;
    enum { LANES = 1, FUSED = 3, SKEW = 0 };
    static __device__ __forceinline__ element infinity(void)
    {
        return TW_APSP_INF_I32;
    }
    static __device__ __forceinline__ word spread(element value)
    {
        return value;
    }
    static __device__ __forceinline__ element lane(word w, int)
    {
        return w;
    }
    static __device__ __forceinline__ element clamp(element value)
    {
        return value < TW_APSP_INF_I32 ? value : TW_APSP_INF_I32;
    }

    static __device__ __forceinline__ word least(word a, word b)
    {
        return min(a, b);
    }
    static __device__ __forceinline__ word fused(word c, word a, word b)
    {
#if TWI_COMPUTE >= 900
        return __viaddmin_s32(a, b, c);
#else
        return min(a + b, c);
#endif
    }
    static __device__ __forceinline__ word pair(word c, word a0, word b0, word a1, word b1, int one)
    {
#if TWI_COMPUTE >= 900
        return __vimin3_s32(c, a0 * one + b0, a1 * one + b1);
#else
        (void)one;
        return min(min(a0 + b0, c), a1 + b1);
#endif
    }
};

struct step_f32 {
    typedef int32_t element; /* the bits of a float >= 0 */
    typedef int32_t word;
    enum { LANES = 1, FUSED = 0, SKEW = 0 };
    static __device__ __forceinline__ element infinity(void)
    {
        return 0x7F800000;
    }
    static __device__ __forceinline__ word spread(element value)
    {
        return value;
    }
    static __device__ __forceinline__ element lane(word w, int)
    {
        return w;
    }
    static __device__ __forceinline__ element clamp(element value)
    {
        return value == (int32_t)0x80000000 ? 0 : min(value, infinity()); /* -0; not a number */
    }

    static __device__ __forceinline__ word least(word a, word b)
    {
        return min(a, b);
    }
    static __device__ __forceinline__ word sum(word a, word b)
    {
        return __float_as_int(__int_as_float(a) + __int_as_float(b));
    }
    static __device__ __forceinline__ word fused(word c, word a, word b)
    {
        return min(sum(a, b), c);
    }
    static __device__ __forceinline__ word pair(word c, word a0, word b0, word a1, word b1, int)
    {
#if TWI_COMPUTE >= 900
        return __vimin3_s32(c, sum(a0, b0), sum(a1, b1));
#else
        return min(min(sum(a0, b0), c), sum(a1, b1));
#endif
    }
};

struct step_u16 {
    typedef uint16_t element;
    typedef uint32_t word;
    enum { LANES = 2, FUSED = 3, SKEW = 3 };
    static __device__ __forceinline__ element infinity(void)
    {
        return TWI_GPU_INF_U16;
    }
    static __device__ __forceinline__ word spread(element value)
    {
        return value * 0x10001u;
    }
    static __device__ __forceinline__ element lane(word w, int which)
    {
        return (element)(which == 0 ? w & 0xFFFFu : w >> 16);
    }
    static __device__ __forceinline__ element clamp(element value)
    {
        return value < TWI_GPU_INF_U16 ? value : (element)TWI_GPU_INF_U16;
    }

    static __device__ __forceinline__ word least(word a, word b)
    {
#if TWI_COMPUTE >= 900
        return __vminu2(a, b);
#elif defined(TWI_HIP)
        typedef uint16_t halves __attribute__((ext_vector_type(2)));
        halves v = __builtin_elementwise_min(*(halves *)&a, *(halves *)&b);
        return *(word *)&v;
#else
        word low = min(a & 0xFFFFu, b & 0xFFFFu);
        word high = min(a >> 16, b >> 16);
        return high << 16 | low;
#endif
    }
    static __device__ __forceinline__ word fused(word c, word a, word b)
    {
#if TWI_COMPUTE >= 900
        return __viaddmin_u16x2(a, b, c);
#else
        return least(a + b, c);
#endif
    }
    static __device__ __forceinline__ word pair(word c, word a0, word b0, word a1, word b1, int one)
    {
#if TWI_COMPUTE >= 900
        return __vimin3_u16x2(c, a0 * one + b0, a1 * one + b1);
#else
        (void)one;
        return least(least(a0 + b0, c), a1 + b1);
#endif
    }
};

struct step_f64 {
    typedef double element;
    typedef double word;
    enum { LANES = 1, FUSED = 0, SKEW = 0 };
    static __device__ __forceinline__ element infinity(void)
    {
        return __longlong_as_double(0x7FF0000000000000LL);
    }
    static __device__ __forceinline__ word spread(element value)
    {
        return value;
    }
    static __device__ __forceinline__ element lane(word w, int)
    {
        return w;
    }
    static __device__ __forceinline__ element clamp(element value)
    {
        return value + 0.0;
    }

    static __device__ __forceinline__ word least(word a, word b)
    {
        return a < b ? a : b;
    }
    static __device__ __forceinline__ word fused(word c, word a, word b)
    {
        return least(a + b, c);
    }
    static __device__ __forceinline__ word pair(word c, word a0, word b0, word a1, word b1, int)
    {
        return fused(fused(c, a0, b0), a1, b1);
    }
};

#endif
