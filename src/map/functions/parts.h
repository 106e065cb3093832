/*
 * What the vector functions of one type are made of: names, polynomials, sums of two numbers,
 * powers of two. A template: the includer sets S (f32 or f64) first, and this file gives, for that
 * type, F(name)           name_f32 or name_f64 vec, bits, mask   its vectors (base/simd/float.h) T
 * the type of an element K(x)              x in all lanes C(name, i)        constant i of
 * coefficients.h in all lanes Compiled without contraction: where a product is to be summed before
 * it is rounded, it says fma.
 *
 * A function whose usual arguments need less than all do comes in parts: name_is_rare tells the
 * others, name does all, and the usual ones are computed either by name_usual or in two steps,
 * name_begin and name_end. Two loops with short chains of dependent operations are faster than one
 * with long ones. In usual lanes all ways have the same bits, so a kernel may choose for many lanes
 * at once, and none sees its neighbours.
 */
#define F(name) JOIN(name, S)
#define vec F(vec)
#define bits F(bits)
#define mask F(mask)
#define pair F(pair)
#define stage F(stage)
#define T F(element)
#define K(x) F(splat)((T)(x))
#define KB(x) F(splat_bits)(x)
#define C(name, i) F(splat)(F(name)[i])
#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline))

#define POLY(x, name) F(poly)(x, F(name), (int)(sizeof F(name) / sizeof *F(name)))

/* A number as an unevaluated sum, lo far below hi. */
typedef struct pair {
    vec hi, lo;
} pair;

/* What name_begin leaves for name_end. */
typedef struct stage {
    vec a, b, c;
} stage;

/* sum c[i] x^i: even and odd powers apart, so that two chains run at once. */
INLINE vec F(poly)(vec x, const T *c, int n)
{
    if (n <= 4) {
        vec sum = K(c[n - 1]);
        for (int i = n - 2; i >= 0; i--) {
            sum = F(fma)(sum, x, K(c[i]));
        }
        return sum;
    }
    vec square = x * x;
    vec one = K(c[n - 1]);
    vec two = K(c[n - 2]);
    for (int i = n - 3; i > 0; i -= 2) {
        one = F(fma)(one, square, K(c[i]));
        two = F(fma)(two, square, K(c[i - 1]));
    }
    if (n % 2 != 0) {
        one = F(fma)(one, square, K(c[0]));
        return F(fma)(two, x, one);
    }
    return F(fma)(one, x, two);
}

/* a + b without error; |a| >= |b|, or a is 0. */
INLINE pair F(fast_sum)(vec a, vec b)
{
    vec hi = a + b;
    return (pair){hi, (a - hi) + b};
}

/* a + b without error. */
INLINE pair F(two_sum)(vec a, vec b)
{
    vec hi = a + b;
    vec part = hi - a;
    return (pair){hi, (a - (hi - part)) + (b - part)};
}

/* a * b without error. */
INLINE pair F(two_product)(vec a, vec b)
{
    vec hi = a * b;
    return (pair){hi, F(fma)(a, b, -hi)};
}

/* Sums with this number are whole, and their low bits are that whole number. */
#define MAGIC K(1.5 * (double)((int64_t)1 << MANTISSA))

INLINE vec F(abs)(vec x)
{
    return F(of_bits)(F(bits_of)(x) & KB(~SIGN));
}

INLINE bits F(sign_of)(vec x)
{
    return F(bits_of)(x) & KB(SIGN);
}

/* x with the sign bits of `sign` flipped in. */
INLINE vec F(with_sign)(vec x, bits sign)
{
    return F(of_bits)(F(bits_of)(x) ^ sign);
}

INLINE mask F(is_negative)(vec x)
{
    return F(equal_bits)(F(sign_of)(x), KB(SIGN));
}

INLINE mask F(never)(vec x)
{
    return F(less)(x, x);
}

INLINE mask F(is_nan)(vec x)
{
    return F(opposite)(F(equal)(x, x));
}

/* 2^k, for k within the exponents of normal numbers. */
INLINE vec F(power_of_two)(bits k)
{
    return F(of_bits)(F(shift_left)(k + KB(BIAS), MANTISSA));
}

/* x 2^k in two steps, so that k may reach beyond the exponents: rounded once, where it is
 * subnormal. */
INLINE vec F(scale)(vec x, bits k)
{
    bits half = F(shift_right)(k, 1);
    return x * F(power_of_two)(half) * F(power_of_two)(k - half);
}
