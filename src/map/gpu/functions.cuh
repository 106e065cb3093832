/*
 * The functions that a generated kernel calls, as its text: the library carries this file as a
 * string and hands it to the run-time compiler before the kernel (gpu/source.c). So it includes
 * nothing, keeps to names that CUDA and HIP share, and is compiled without contraction of products
 * and sums: what is fused here is written as fmaf.
 *
 * A value is an array of N lanes, or of one where it is the same for all: lane i is a[A == 1 ? 0 :
 * i]. Functions of one f32 argument whose accuracy costs something come in two parts: a straight
 * one without a branch that holds for the arguments of everyday, and, once for all lanes of the
 * thread together, a test whether any of them is outside; those, and only those, are computed in
 * f64, so that an element's bits do not depend on its neighbours. The bounds of gpu/bounds.c were
 * found by trying all 2^32 arguments.
 */
#define TW_DEVICE static __device__ __forceinline__
#define TW_LANES _Pragma("unroll") for (int i = 0; i < N; i++)

/* ------------------------------------------------------------------------- square root, f32 */

/* sqrt(x) from an approximate 1/sqrt(x) and one step of Newton's method on the residual, which
 * fmaf gives exactly: correctly rounded wherever no intermediate leaves the normal numbers. The
 * residual itself tells where that is: it is less than 2^-20 x unless x is tiny, negative, infinite
 * or NaN. Zero is near, since maps run into it often. */
TW_DEVICE float tw_sqrt_near(float x, bool &far)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(fmaxf(x, 1.0e-30f)));
    float g = x * r;
    float h = 0.5f * r;
    float e = fmaf(-g, g, x);
    far |= !(fabsf(e) <= x * 9.5367431640625e-07f);
    return fmaf(e, h, g);
#else
    return sqrtf(x);
#endif
}

static __device__ __noinline__ float tw_sqrt_far(float x, float)
{
    return sqrtf(x);
}

/* --------------------------------------------------------------------------- logarithm, f32 */

/* x = 2^k (1 + f) with f in [-1/3, 1/3]; log x = k log 2 + f + f^2 P(f). k stays scaled by 2^23, as
 * it stands in the bits of x. */
TW_DEVICE bool tw_log_is_far(float x)
{
    return (unsigned)(__float_as_int(x) - 0x00800000) >= 0x7f000000u;
}

TW_DEVICE float tw_log_near(float x, bool &far)
{
    far |= tw_log_is_far(x);
    int bits = __float_as_int(x);
    int k = (bits - 0x3f2aaaab) & 0xff800000;
    float f = __int_as_float(bits - k) - 1.0f;
    float p = -1.2885657e-01f;
    p = fmaf(p, f, 1.3986897e-01f);
    p = fmaf(p, f, -1.2185714e-01f);
    p = fmaf(p, f, 1.4005306e-01f);
    p = fmaf(p, f, -1.6680376e-01f);
    p = fmaf(p, f, 2.0010446e-01f);
    p = fmaf(p, f, -2.49998e-01f);
    p = fmaf(p, f, 3.3333215e-01f);
    p = fmaf(p, f, -0.5f);
    return fmaf((float)k, 8.262958e-08f, fmaf(f * f, p, f));
}

static __device__ __noinline__ float tw_log_far(float x, float near)
{
    return tw_log_is_far(x) ? (float)log((double)x) : near;
}

/* --------------------------------------------------------------------- sine and cosine, f32 */

/* x = q pi/2 + r + low with |r| < 0.79: pi/2 in three parts, the second so short that q times it is
 * exact. The sum with 1.5 * 2^23 (and, for the cosine, one quarter more) leaves q in its low bits:
 * the lowest chooses between sine and cosine of r, the next is the sign. */
TW_DEVICE bool tw_sin_is_far(float x)
{
    return fabsf(x) >= 8192.0f;
}

TW_DEVICE float tw_turned(float x, float start)
{
    float t = fmaf(x, 0.63661975f, start);
    float q = t - start;
    float near = fmaf(-q, 1.5707964f, x);
    float r = fmaf(q, 4.3713953e-08f, near);
    float low = fmaf(-q, 2.563344e-12f, fmaf(q, 4.3713953e-08f, near - r));
    float s = r * r;
    float p = fmaf(-1.9507846e-04f, s, 8.332106e-03f);
    p = fmaf(p, s, -1.6666654e-01f);
    float sine = fmaf(r * s, p, low) + r;
    p = fmaf(2.443188e-05f, s, -1.3887307e-03f);
    p = fmaf(p, s, 4.1666646e-02f);
    p = fmaf(p, s, -0.5f);
    /* Half of what s lacks for having been rounded, and for `low`. */
    float lack = fmaf(fmaf(r, r, -s), 0.5f, r * low);
    float cosine = fmaf(s, p, -lack) + 1.0f;
    int n = __float_as_int(t);
    float y = (n & 1) != 0 ? cosine : sine;
    return __int_as_float(__float_as_int(y) ^ ((n & 2) << 30));
}

TW_DEVICE float tw_sin_near(float x, bool &far)
{
    far |= tw_sin_is_far(x);
    float y = tw_turned(x, 12582912.0f);
    return x == 0.0f ? x : y; /* keeps -0 */
}

TW_DEVICE float tw_cos_near(float x, bool &far)
{
    far |= tw_sin_is_far(x);
    return tw_turned(x, 12582913.0f);
}

static __device__ __noinline__ float tw_sin_far(float x, float near)
{
    return tw_sin_is_far(x) ? (float)sin((double)x) : near;
}

static __device__ __noinline__ float tw_cos_far(float x, float near)
{
    return tw_sin_is_far(x) ? (float)cos((double)x) : near;
}

/* ----------------------------------------------------------------------- exponential, f32 */

/* x = n log 2 + r + low; e^x = 2^n (1 + r + r^2 P(r) + low), n added to the exponent's bits. Near:
 * the result is a normal number. */
TW_DEVICE bool tw_exp_is_far(float x)
{
    return !(fabsf(x) < 87.0f);
}

TW_DEVICE float tw_scaled(float y, float n)
{
    return __int_as_float((int)((unsigned)__float_as_int(y) + ((unsigned)__float_as_int(n) << 23)));
}

TW_DEVICE float tw_exp_near(float x, bool &far)
{
    far |= tw_exp_is_far(x);
    float t = fmaf(x, 1.442695f, 12582912.0f);
    float n = t - 12582912.0f;
    float near = fmaf(-n, 0.69314575f, x);
    float r = fmaf(-n, 1.4286068e-06f, near);
    float low = fmaf(-n, 1.4286068e-06f, near - r);
    float p = fmaf(1.3862869e-03f, r, 8.367627e-03f);
    p = fmaf(p, r, 4.1667253e-02f);
    p = fmaf(p, r, 1.6666533e-01f);
    p = fmaf(p, r, 0.5f);
    return tw_scaled((fmaf(r * r, p, low) + r) + 1.0f, t);
}

static __device__ __noinline__ float tw_exp_far(float x, float near)
{
    return tw_exp_is_far(x) ? (float)exp((double)x) : near;
}

TW_DEVICE bool tw_exp2_is_far(float x)
{
    return !(fabsf(x) < 125.0f);
}

TW_DEVICE float tw_exp2_near(float x, bool &far)
{
    far |= tw_exp2_is_far(x);
    float t = x + 12582912.0f;
    float r = x - (t - 12582912.0f);
    float p = fmaf(1.5349848e-04f, r, 1.3399072e-03f);
    p = fmaf(p, r, 9.618454e-03f);
    p = fmaf(p, r, 5.550332e-02f);
    p = fmaf(p, r, 2.4022648e-01f);
    p = fmaf(p, r, 2.0651738e-08f);
    return tw_scaled(fmaf(r, 0.6931472f, r * p) + 1.0f, t);
}

static __device__ __noinline__ float tw_exp2_far(float x, float near)
{
    return tw_exp2_is_far(x) ? (float)exp2((double)x) : near;
}

/* ------------------------------------------------------------------- all lanes of a thread */

#define TW_NEAR_AND_FAR(name)                                                   \
    template <int N> TW_DEVICE void tw_##name(float(&y)[N], const float(&x)[N]) \
    {                                                                           \
        bool far = false;                                                       \
        TW_LANES                                                                \
        {                                                                       \
            y[i] = tw_##name##_near(x[i], far);                                 \
        }                                                                       \
        if (far) {                                                              \
            TW_LANES                                                            \
            {                                                                   \
                y[i] = tw_##name##_far(x[i], y[i]);                             \
            }                                                                   \
        }                                                                       \
    }
TW_NEAR_AND_FAR(sqrt)
TW_NEAR_AND_FAR(log)
TW_NEAR_AND_FAR(sin)
TW_NEAR_AND_FAR(cos)
TW_NEAR_AND_FAR(exp)
TW_NEAR_AND_FAR(exp2)

/* One lane at a time: by the function of that type, or in f64 and rounded. */
#define TW_ONE(name, type, function)                                          \
    template <int N> TW_DEVICE void tw_##name(type(&y)[N], const type(&x)[N]) \
    {                                                                         \
        TW_LANES                                                              \
        {                                                                     \
            y[i] = (type)function(x[i]);                                      \
        }                                                                     \
    }
#define TW_TWO(name, type, function)                                            \
    template <int N, int A, int B>                                              \
    TW_DEVICE void tw_##name(type(&y)[N], const type(&a)[A], const type(&b)[B]) \
    {                                                                           \
        TW_LANES                                                                \
        {                                                                       \
            y[i] = (type)function(a[A == 1 ? 0 : i], b[B == 1 ? 0 : i]);        \
        }                                                                       \
    }
#define TW_BY_F64_1(name)                    \
    TW_DEVICE double tw_f64_##name(double x) \
    {                                        \
        return name(x);                      \
    }                                        \
    TW_ONE(name, float, tw_f64_##name)
#define TW_BY_F64_2(name)                              \
    TW_DEVICE double tw_f64_##name(double a, double b) \
    {                                                  \
        return name(a, b);                             \
    }                                                  \
    TW_TWO(name, float, tw_f64_##name)

TW_ONE(abs, float, fabsf)
TW_ONE(abs, double, fabs)
TW_ONE(floor, float, floorf)
TW_ONE(floor, double, floor)
TW_ONE(ceil, float, ceilf)
TW_ONE(ceil, double, ceil)
TW_ONE(round, float, roundf)
TW_ONE(round, double, round)
TW_ONE(rint, float, rintf)
TW_ONE(rint, double, rint)
TW_ONE(trunc, float, truncf)
TW_ONE(trunc, double, trunc)
TW_TWO(min, float, fminf)
TW_TWO(min, double, fmin)
TW_TWO(max, float, fmaxf)
TW_TWO(max, double, fmax)
TW_TWO(fmod, float, fmodf)
TW_TWO(fmod, double, fmod)
TW_TWO(copysign, float, copysignf)
TW_TWO(copysign, double, copysign)
TW_TWO(nextafter, float, nextafterf)
TW_TWO(nextafter, double, nextafter)

TW_ONE(cbrt, float, cbrtf)
TW_ONE(log2, float, log2f)
TW_ONE(log1p, float, log1pf)
TW_BY_F64_1(expm1)
TW_BY_F64_1(log10)
TW_BY_F64_1(tan)
TW_BY_F64_1(asin)
TW_BY_F64_1(acos)
TW_BY_F64_1(atan)
TW_BY_F64_1(sinh)
TW_BY_F64_1(cosh)
TW_BY_F64_1(tanh)
TW_BY_F64_1(asinh)
TW_BY_F64_1(acosh)
TW_BY_F64_1(atanh)
TW_BY_F64_2(pow)
TW_BY_F64_2(atan2)
TW_BY_F64_2(hypot)

TW_ONE(sqrt, double, sqrt)
TW_ONE(cbrt, double, cbrt)
TW_ONE(exp, double, exp)
TW_ONE(exp2, double, exp2)
TW_ONE(expm1, double, expm1)
TW_ONE(log, double, log)
TW_ONE(log2, double, log2)
TW_ONE(log10, double, log10)
TW_ONE(log1p, double, log1p)
TW_ONE(sin, double, sin)
TW_ONE(cos, double, cos)
TW_ONE(tan, double, tan)
TW_ONE(asin, double, asin)
TW_ONE(acos, double, acos)
TW_ONE(atan, double, atan)
TW_ONE(sinh, double, sinh)
TW_ONE(cosh, double, cosh)
TW_ONE(tanh, double, tanh)
TW_ONE(asinh, double, asinh)
TW_ONE(acosh, double, acosh)
TW_ONE(atanh, double, atanh)
TW_TWO(pow, double, pow)
TW_TWO(atan2, double, atan2)
TW_TWO(hypot, double, hypot)

/* ------------------------------------------------------------------- small whole powers */

/* As the CPU has them (functions/pow.h), and with the same bits: products with what their rounding
 * leaves, and the plain product where that is 0, infinite or NaN anyhow. */
TW_DEVICE float tw_fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}
TW_DEVICE double tw_fused(double a, double b, double c)
{
    return fma(a, b, c);
}
#define TW_POWERS(type, CUBE_FAR, FOURTH_FAR, NEAR, FAR)                                 \
    TW_DEVICE type tw_cube_of(type x)                                                    \
    {                                                                                    \
        type s = x * x;                                                                  \
        type rest = tw_fused(x, x, -s);                                                  \
        return s < CUBE_FAR ? tw_fused(s, x, rest * x) : s * x;                          \
    }                                                                                    \
    TW_DEVICE type tw_fourth_of(type x)                                                  \
    {                                                                                    \
        type s = x * x;                                                                  \
        type rest = tw_fused(x, x, -s);                                                  \
        return s < FOURTH_FAR ? tw_fused(s, s, s * (rest + rest)) : s * s;               \
    }                                                                                    \
    TW_DEVICE type tw_inverse_square_of(type x)                                          \
    {                                                                                    \
        type q = (type)1 / x;                                                            \
        type rest = tw_fused(-q, x, (type)1);                                            \
        type size = q < (type)0 ? -q : q;                                                \
        return NEAR < size && size < FAR ? tw_fused(q, q, (q + q) * (q * rest)) : q * q; \
    }                                                                                    \
    TW_ONE(cube, type, tw_cube_of)                                                       \
    TW_ONE(fourth, type, tw_fourth_of)                                                   \
    TW_ONE(inverse_square, type, tw_inverse_square_of)
TW_POWERS(float, 1.2379400392853803e27f, 3.6893488147419103e19f, 1.3234889800848443e-23f,
          7.378697629483821e19f)
TW_POWERS(double, 5.136851466355834e207, 2.6815615859885194e154, 2.778448436856347e-163,
          3.432398830065305e156)

/* ------------------------------------------------------------------------------- storing */

/* What a store as an integer and a load leave: rounded to the nearest, ties to even, clamped, NaN
 * to 0. low and high are the ends of the type's range, rounded to the compute type. */
TW_DEVICE float tw_whole(float v, float low, float high)
{
    v = v != v ? 0.0f : v;
    return fminf(fmaxf(rintf(v) + 0.0f, low), high); /* integers have no -0 */
}

TW_DEVICE double tw_whole(double v, double low, double high)
{
    v = v != v ? 0.0 : v;
    return fmin(fmax(rint(v) + 0.0, low), high);
}

/* The value of the last operation as the type of the result, which can hold it. */
template <class T, class F> struct tw_cast {
    static __device__ __forceinline__ T of(F v)
    {
        return (T)v;
    }
};
template <> struct tw_cast<int, float> {
    static __device__ __forceinline__ int of(float v)
    {
        return v >= 2147483648.0f ? 2147483647 : (int)v; /* 2^31 - 1 is no f32 */
    }
};

/* -------------------------------------------------------------------------------- access */

template <int BYTES> struct tw_piece;
template <> struct tw_piece<16> {
    typedef uint4 type;
};
template <> struct tw_piece<8> {
    typedef uint2 type;
};
template <> struct tw_piece<4> {
    typedef unsigned type;
};
template <> struct tw_piece<2> {
    typedef unsigned short type;
};
template <> struct tw_piece<1> {
    typedef unsigned char type;
};

/* A thread computes W groups of E neighbouring elements, `spread` columns from one to the next. A
 * group is read and written in pieces of U elements where rows are aligned and the thread's groups
 * end before the row does; else element by element. Lanes past the end are 1. */
template <int E, int U, int W, class T, class F>
TW_DEVICE void tw_load(F (&to)[E * W], const T *at, long long spread)
{
    typedef typename tw_piece<sizeof(T) * U>::type piece;
    piece pieces[E * W / U];
    _Pragma("unroll") for (int w = 0; w < W; w++)
    {
        _Pragma("unroll") for (int g = 0; g < E / U; g++)
        {
            pieces[w * (E / U) + g] = *(const piece *)(at + w * spread + g * U);
        }
    }
    _Pragma("unroll") for (int j = 0; j < E * W; j++)
    {
        to[j] = (F)((const T *)pieces)[j];
    }
}

template <int E, int W, class T, class F>
TW_DEVICE void tw_load_some(F (&to)[E * W], const T *at, long long spread, long long left)
{
    _Pragma("unroll") for (int j = 0; j < E * W; j++)
    {
        long long k = j / E * spread + j % E;
        to[j] = k < left ? (F)at[k] : (F)1;
    }
}

template <int E, int U, int W, class T, class F>
TW_DEVICE void tw_store(T *at, const F (&from)[E * W], long long spread)
{
    typedef typename tw_piece<sizeof(T) * U>::type piece;
    piece pieces[E * W / U];
    _Pragma("unroll") for (int j = 0; j < E * W; j++)
    {
        ((T *)pieces)[j] = tw_cast<T, F>::of(from[j]);
    }
    _Pragma("unroll") for (int w = 0; w < W; w++)
    {
        _Pragma("unroll") for (int g = 0; g < E / U; g++)
        {
            *(piece *)(at + w * spread + g * U) = pieces[w * (E / U) + g];
        }
    }
}

template <int E, int W, class T, class F>
TW_DEVICE void tw_store_some(T *at, const F (&from)[E * W], long long spread, long long left)
{
    _Pragma("unroll") for (int j = 0; j < E * W; j++)
    {
        long long k = j / E * spread + j % E;
        if (k < left) {
            at[k] = tw_cast<T, F>::of(from[j]);
        }
    }
}
