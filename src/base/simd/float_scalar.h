/* Arithmetic of floats on plain C (contract: simd/float.h). */
#ifndef TWI_BASE_SIMD_FLOAT_SCALAR_H
#define TWI_BASE_SIMD_FLOAT_SCALAR_H

#define TWI_SCALAR_FLOAT(S, T, I, U, F)                                        \
    typedef I bits_##S;                                                        \
    typedef int mask_##S;                                                      \
    static inline bits_##S bits_of_##S(vec_##S v)                              \
    {                                                                          \
        bits_##S b;                                                            \
        __builtin_memcpy(&b, &v, sizeof b);                                    \
        return b;                                                              \
    }                                                                          \
    static inline vec_##S of_bits_##S(bits_##S b)                              \
    {                                                                          \
        vec_##S v;                                                             \
        __builtin_memcpy(&v, &b, sizeof v);                                    \
        return v;                                                              \
    }                                                                          \
    static inline bits_##S splat_bits_##S(int64_t x)                           \
    {                                                                          \
        return (I)x;                                                           \
    }                                                                          \
    static inline bits_##S shift_left_##S(bits_##S b, int n)                   \
    {                                                                          \
        return (I)((U)b << n);                                                 \
    }                                                                          \
    static inline bits_##S shift_right_##S(bits_##S b, int n)                  \
    {                                                                          \
        return b >> n;                                                         \
    }                                                                          \
    static inline vec_##S fma_##S(vec_##S a, vec_##S b, vec_##S c)             \
    {                                                                          \
        return __builtin_fma##F(a, b, c);                                      \
    }                                                                          \
    static inline vec_##S sqrt_##S(vec_##S v)                                  \
    {                                                                          \
        return __builtin_sqrt##F(v);                                           \
    }                                                                          \
    static inline vec_##S floor_##S(vec_##S v)                                 \
    {                                                                          \
        return __builtin_floor##F(v);                                          \
    }                                                                          \
    static inline vec_##S ceil_##S(vec_##S v)                                  \
    {                                                                          \
        return __builtin_ceil##F(v);                                           \
    }                                                                          \
    static inline vec_##S trunc_##S(vec_##S v)                                 \
    {                                                                          \
        return __builtin_trunc##F(v);                                          \
    }                                                                          \
    static inline vec_##S rint_##S(vec_##S v)                                  \
    {                                                                          \
        return __builtin_rint##F(v);                                           \
    }                                                                          \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                        \
    {                                                                          \
        return a > b ? a : b;                                                  \
    }                                                                          \
    static inline mask_##S less_##S(vec_##S a, vec_##S b)                      \
    {                                                                          \
        return a < b;                                                          \
    }                                                                          \
    static inline mask_##S at_most_##S(vec_##S a, vec_##S b)                   \
    {                                                                          \
        return a <= b;                                                         \
    }                                                                          \
    static inline mask_##S equal_##S(vec_##S a, vec_##S b)                     \
    {                                                                          \
        return a == b;                                                         \
    }                                                                          \
    static inline mask_##S less_bits_##S(bits_##S a, bits_##S b)               \
    {                                                                          \
        return a < b;                                                          \
    }                                                                          \
    static inline mask_##S equal_bits_##S(bits_##S a, bits_##S b)              \
    {                                                                          \
        return a == b;                                                         \
    }                                                                          \
    static inline mask_##S lacks_bits_##S(bits_##S a, bits_##S b)              \
    {                                                                          \
        return (a & b) == 0;                                                   \
    }                                                                          \
    static inline vec_##S flip_##S(vec_##S v, bits_##S sign)                   \
    {                                                                          \
        return sign < 0 ? -v : v;                                              \
    }                                                                          \
    static inline bits_##S bits_of_mask_##S(mask_##S m)                        \
    {                                                                          \
        return -(I)m;                                                          \
    }                                                                          \
    static inline mask_##S mask_of_bits_##S(bits_##S b)                        \
    {                                                                          \
        return b != 0;                                                         \
    }                                                                          \
    static inline mask_##S opposite_##S(mask_##S m)                            \
    {                                                                          \
        return !m;                                                             \
    }                                                                          \
    static inline vec_##S select_##S(mask_##S m, vec_##S a, vec_##S b)         \
    {                                                                          \
        return m ? a : b;                                                      \
    }                                                                          \
    static inline bits_##S select_bits_##S(mask_##S m, bits_##S a, bits_##S b) \
    {                                                                          \
        return m ? a : b;                                                      \
    }                                                                          \
    static inline int any_##S(mask_##S m)                                      \
    {                                                                          \
        return m;                                                              \
    }

TWI_SCALAR_FLOAT(f32, float, int32_t, uint32_t, f)
TWI_SCALAR_FLOAT(f64, double, int64_t, uint64_t, )

static inline vec_f32 of_whole_f32(bits_f32 b)
{
    return (float)b;
}
static inline vec_f64 of_whole_f64(bits_f64 b)
{
    return (double)b;
}

static inline vec_f64 widen_low_f32(vec_f32 v)
{
    return v;
}
static inline vec_f64 widen_high_f32(vec_f32 v)
{
    return v;
}
static inline vec_f32 narrow_f64(vec_f64 low, vec_f64 high)
{
    (void)high;
    return (float)low;
}

#endif
