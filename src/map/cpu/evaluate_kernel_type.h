/*
 * The operations of the register machine in one compute type, S (template: evaluate_kernel.c).
 * Every kernel is one loop, UNROLL vectors at a time, whose steps the compiler interleaves: the
 * chains of a polynomial are long, and a processor looks only so far ahead.
 */

/* An operand's vector at i: of a block, of one vector that is read again and again (step 0), or of
 * one that was read before the loop. Steps that are constants leave no question. */
#define HELD 2
INLINE vec F(operand)(const T *at, int64_t i, int64_t step, vec held)
{
    return step == HELD ? held : F(load)(at + i * step);
}
#define P F(operand)(p, i, sp, held_p)
#define Q F(operand)(q, i, sq, held_q)
#define R F(operand)(r, i, sr, held_r)

#define HOLD                                                                 \
    const vec held_p = F(load)(p), held_q = F(load)(q), held_r = F(load)(r); \
    (void)held_p, (void)held_q, (void)held_r

#define BLOCK_LOOP(NAME, VECTORS, VALUE)                                                \
    INLINE void F(loop_##NAME)(T * out, const T *p, const T *q, const T *r, int64_t sp, \
                               int64_t sq, int64_t sr, int64_t n)                       \
    {                                                                                   \
        (void)sp, (void)sq, (void)sr;                                                   \
        HOLD;                                                                           \
        for (int64_t from = 0; from < n; from += (VECTORS)*F(LANES)) {                  \
            vec value[VECTORS];                                                         \
            for (int v = 0; v < (VECTORS); v++) {                                       \
                const int64_t i = from + v * F(LANES);                                  \
                value[v] = VALUE;                                                       \
            }                                                                           \
            for (int v = 0; v < (VECTORS); v++) {                                       \
                F(store)(out + from + v * F(LANES), value[v]);                          \
            }                                                                           \
        }                                                                               \
    }
#define BLOCK_BY(NAME, VECTORS, VALUE)                                                         \
    BLOCK_LOOP(NAME, VECTORS, VALUE)                                                           \
    static void F(NAME)(void *out, const void *const arg[3], const int64_t step[3], int64_t n) \
    {                                                                                          \
        F(loop_##NAME)(out, arg[0], arg[1], arg[2], step[0] & 1, step[1] & 1, step[2] & 1, n); \
    }
/* Cheap ones have loops in which an operand of step 0 stays in a register: beside such a kernel's
 * work, reading it again costs. */
#define CHEAP(NAME, VALUE)                                                                     \
    BLOCK_LOOP(NAME, UNROLL, VALUE)                                                            \
    static void F(NAME)(void *out, const void *const arg[3], const int64_t step[3], int64_t n) \
    {                                                                                          \
        const T *p = arg[0], *q = arg[1], *r = arg[2];                                         \
        const int64_t sp = step[0] & 1, sq = step[1] & 1, sr = step[2] & 1;                    \
        if (sp == 1 && sq == 0 && sr == 0) {                                                   \
            F(loop_##NAME)(out, p, q, r, 1, HELD, HELD, n);                                    \
        } else if (sp == 1 && sq == 0) {                                                       \
            F(loop_##NAME)(out, p, q, r, 1, HELD, 1, n);                                       \
        } else if (sp == 1 && sr == 0) {                                                       \
            F(loop_##NAME)(out, p, q, r, 1, 1, HELD, n);                                       \
        } else {                                                                               \
            F(loop_##NAME)(out, p, q, r, sp, sq, sr, n);                                       \
        }                                                                                      \
    }
#define BLOCK(NAME, VALUE) BLOCK_BY(NAME, UNROLL, VALUE)
#define MASK(v) F(mask_of_bits)(F(bits_of)(v))
#define KEEP(m) F(of_bits)(F(bits_of_mask)(m))

BLOCK(run_neg, -P)
CHEAP(run_add, P + Q)
CHEAP(run_sub, P - Q)
CHEAP(run_mul, P *Q)
BLOCK(run_div, P / Q)
CHEAP(run_lt, KEEP(F(less)(P, Q)))
CHEAP(run_le, KEEP(F(at_most)(P, Q)))
BLOCK(run_eq, KEEP(F(equal)(P, Q)))
BLOCK(run_ne, KEEP(F(opposite)(F(equal)(P, Q))))
BLOCK(run_and, F(of_bits)(F(bits_of)(P) & F(bits_of)(Q)))
BLOCK(run_or, F(of_bits)(F(bits_of)(P) | F(bits_of)(Q)))
BLOCK(run_not, F(of_bits)(~F(bits_of)(P)))
BLOCK(run_number, F(of_bits)(F(bits_of)(P) & F(bits_of)(F(splat)(1))))
BLOCK(run_select, F(select)(MASK(P), Q, R))
BLOCK(run_copy, P)
CHEAP(run_min, F(lesser)(P, Q))
CHEAP(run_max, F(greater)(P, Q))
BLOCK(run_copysign, F(copysign)(P, Q))
BLOCK(run_nextafter, F(nextafter)(P, Q))
#define UNARY(NAME) BLOCK(run_##NAME, F(NAME)(P))
UNARY(abs)
UNARY(sqrt)
UNARY(cbrt)
UNARY(expm1)
UNARY(log1p)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(rint)
UNARY(trunc)
UNARY(cube)
UNARY(fourth)
UNARY(inverse_square)

/* Functions with rare arguments, a chunk of a block at a time: one loop tells whether there are
 * any, another has neither branch nor call, and its constants stay in registers. */
#define CHUNK 256

#define ALL_OF_CHUNK(VALUE)                        \
    for (int64_t i = at; i < end; i += F(LANES)) { \
        F(store)(out + i, VALUE);                  \
    }

#define CHOICE(NAME, VECTORS, ...)                                                               \
    BLOCK_BY(usual_##NAME, VECTORS, F(NAME##_usual)(__VA_ARGS__))                                \
    static void F(run_##NAME)(void *out_, const void *const arg[3], const int64_t step[3],       \
                              int64_t n)                                                         \
    {                                                                                            \
        T *out = out_;                                                                           \
        const T *p = arg[0], *q = arg[1], *r = p;                                                \
        const int64_t sp = step[0] & 1, sq = step[1] & 1;                                        \
        HOLD;                                                                                    \
        for (int64_t at = 0; at < n; at += CHUNK) {                                              \
            const int64_t end = n - at < CHUNK ? n : at + CHUNK;                                 \
            mask rare = F(never)(K(0));                                                          \
            for (int64_t i = at; i < end; i += F(LANES)) {                                       \
                rare = rare | F(NAME##_is_rare)(__VA_ARGS__);                                    \
            }                                                                                    \
            if (__builtin_expect(F(any)(rare), 0)) {                                             \
                ALL_OF_CHUNK(F(NAME)(__VA_ARGS__))                                               \
            } else {                                                                             \
                F(usual_##NAME)                                                                  \
                (out + at, (const void *const[3]){p + at * sp, q + at * sq, p}, step, end - at); \
            }                                                                                    \
        }                                                                                        \
    }
CHOICE(mod, UNROLL, P, Q)
CHOICE(pow, (UNROLL + 1) / 2, P, Q)
CHOICE(atan2, (UNROLL + 1) / 2, P, Q)
CHOICE(hypot, UNROLL, P, Q)

/* The same of one argument in two steps, with VALUES numbers a lane in between. What follows, THEN,
 * is done in the same loop: the polynomial and, say, a root run on different pipes. */
#define STAGED_THEN(RUN, NAME, VALUES, THEN)                                                   \
    static void F(RUN)(void *out_, const void *const arg[3], const int64_t step[3], int64_t n) \
    {                                                                                          \
        T a[CHUNK], b[CHUNK], c[CHUNK];                                                        \
        T *out = out_;                                                                         \
        const T *p = arg[0], *q = arg[1], *r = arg[2];                                         \
        const int64_t sp = step[0] & 1, sq = step[1] & 1, sr = step[2] & 1;                    \
        (void)sq, (void)sr;                                                                    \
        HOLD;                                                                                  \
        for (int64_t at = 0; at < n; at += CHUNK) {                                            \
            const int64_t end = n - at < CHUNK ? n : at + CHUNK;                               \
            mask rare[UNROLL];                                                                 \
            for (int v = 0; v < UNROLL; v++) {                                                 \
                rare[v] = F(never)(K(0));                                                      \
            }                                                                                  \
            for (int64_t from = at; from < end; from += UNROLL * F(LANES)) {                   \
                stage s[UNROLL];                                                               \
                for (int v = 0; v < UNROLL; v++) {                                             \
                    const int64_t i = from + v * F(LANES);                                     \
                    vec x = P;                                                                 \
                    rare[v] = rare[v] | F(NAME##_is_rare)(x);                                  \
                    s[v] = F(NAME##_begin)(x);                                                 \
                }                                                                              \
                for (int v = 0; v < UNROLL; v++) {                                             \
                    const int64_t k = from - at + v * F(LANES);                                \
                    F(store)(a + k, s[v].a);                                                   \
                    if ((VALUES) > 1) {                                                        \
                        F(store)(b + k, s[v].b);                                               \
                    }                                                                          \
                    if ((VALUES) > 2) {                                                        \
                        F(store)(c + k, s[v].c);                                               \
                    }                                                                          \
                }                                                                              \
            }                                                                                  \
            for (int v = 1; v < UNROLL; v++) {                                                 \
                rare[0] = rare[0] | rare[v];                                                   \
            }                                                                                  \
            if (__builtin_expect(F(any)(rare[0]), 0)) {                                        \
                ALL_OF_CHUNK(THEN(F(NAME)(P)))                                                 \
                continue;                                                                      \
            }                                                                                  \
            for (int64_t from = at; from < end; from += UNROLL * F(LANES)) {                   \
                vec value[UNROLL];                                                             \
                for (int v = 0; v < UNROLL; v++) {                                             \
                    const int64_t i = from + v * F(LANES);                                     \
                    stage s;                                                                   \
                    s.a = F(load)(a + i - at);                                                 \
                    s.b = (VALUES) > 1 ? F(load)(b + i - at) : s.a;                            \
                    s.c = (VALUES) > 2 ? F(load)(c + i - at) : s.a;                            \
                    value[v] = THEN(F(NAME##_end)(s));                                         \
                }                                                                              \
                for (int v = 0; v < UNROLL; v++) {                                             \
                    F(store)(out + from + v * F(LANES), value[v]);                             \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
    }
#define NOTHING(value) value
#define ROOT(value) (F(sqrt)((value) + Q) + R)
#define STAGED(NAME, VALUES)                       \
    STAGED_THEN(run_##NAME, NAME, VALUES, NOTHING) \
    STAGED_THEN(root_##NAME, NAME, VALUES, ROOT)
#define NEVER_RARE(NAME)                          \
    INLINE mask F(NAME##_is_rare)(vec x)          \
    {                                             \
        return F(never)(x);                       \
    }                                             \
    INLINE vec F(NAME)(vec x)                     \
    {                                             \
        return F(NAME##_end)(F(NAME##_begin)(x)); \
    }
NEVER_RARE(exp)
NEVER_RARE(exp2)
STAGED(exp, 3)
STAGED(exp2, 3)
STAGED(log, 2)
STAGED(log2, 2)
STAGED(log10, 2)
STAGED(sin, 3)
STAGED(cos, 3)
STAGED(tan, 3)

#define FUSED(NAME, FIRST)                \
    CHEAP(run_##NAME##_add, (FIRST) + R)  \
    CHEAP(run_##NAME##_sub, (FIRST)-R)    \
    CHEAP(run_##NAME##_from, R - (FIRST)) \
    CHEAP(run_##NAME##_mul, (FIRST)*R)
FUSED(add, P + Q)
FUSED(sub, P - Q)
FUSED(mul, P *Q)
CHEAP(run_add_sqrt, F(sqrt)(P + Q))
CHEAP(run_sqrt_add, F(sqrt)(P) + Q)
CHEAP(run_add_sqrt_add, F(sqrt)(P + Q) + R)

/* As a store of an integer type and a load leave it: never -0. */
static inline vec F(whole_within)(vec v, T low, T high)
{
    v = F(select)(F(equal)(v, v), F(rint)(v), F(splat)(0));
    v = F(min)(F(splat)(high), F(max)(F(splat)(low), v));
    return v + F(splat)(0);
}
BLOCK(run_stored_u8, F(whole_within)(P, 0, UINT8_MAX))
BLOCK(run_stored_u16, F(whole_within)(P, 0, UINT16_MAX))
BLOCK(run_stored_i16, F(whole_within)(P, INT16_MIN, INT16_MAX))
BLOCK(run_stored_i32, F(whole_within)(P, (T)INT32_MIN, (T)INT32_MAX))

/* Loads and stores. The periods that are common have loops of their own, in which the stride is a
 * constant that the compiler can turn into interleaved accesses. */
#define LOAD_LOOP(PERIOD)                    \
    for (int64_t k = 0; k < (PERIOD); k++) { \
        T *to = out[k];                      \
        for (int64_t i = 0; i < n; i++) {    \
            to[i] = (T)in[i * (PERIOD) + k]; \
        }                                    \
    }
#define STORE_LOOP(PERIOD, CONVERT)                   \
    for (int64_t k = 0; k < (PERIOD); k++) {          \
        const T *from = in[k];                        \
        for (int64_t i = 0; i < n; i++) {             \
            out[i * (PERIOD) + k] = CONVERT(from[i]); \
        }                                             \
    }
#define STORE_PAIR(TYPE, CONVERT)                           \
    {                                                       \
        const T *even = in[0], *odd = in[1];                \
        for (int64_t i = 0; i < n; i++) {                   \
            TYPE a = CONVERT(even[i]), b = CONVERT(odd[i]); \
            out[2 * i] = a;                                 \
            out[2 * i + 1] = b;                             \
        }                                                   \
    }
#define LOAD_PAIR                         \
    {                                     \
        T *even = out[0], *odd = out[1];  \
        for (int64_t i = 0; i < n; i++) { \
            even[i] = (T)in[2 * i];       \
            odd[i] = (T)in[2 * i + 1];    \
        }                                 \
    }

#define TRANSFER(NAME, TYPE, CONVERT)                                                         \
    static void F(load_##NAME)(void *const *out, const void *in_, int64_t period, int64_t n)  \
    {                                                                                         \
        const TYPE *in = in_;                                                                 \
        if (period == 1) {                                                                    \
            LOAD_LOOP(1)                                                                      \
        } else if (period == 2) {                                                             \
            LOAD_PAIR                                                                         \
        } else {                                                                              \
            LOAD_LOOP(period)                                                                 \
        }                                                                                     \
    }                                                                                         \
    static void F(store_##NAME)(void *out_, const void *const *in, int64_t period, int64_t n) \
    {                                                                                         \
        TYPE *out = out_;                                                                     \
        if (period == 1) {                                                                    \
            STORE_LOOP(1, CONVERT)                                                            \
        } else if (period == 2) {                                                             \
            STORE_PAIR(TYPE, CONVERT)                                                         \
        } else {                                                                              \
            STORE_LOOP(period, CONVERT)                                                       \
        }                                                                                     \
    }

#define TO_U8(x) (uint8_t)(int32_t)(x)
#define TO_U16(x) (uint16_t)(int32_t)(x)
#define TO_I16(x) (int16_t)(int32_t)(x)
#define TO_I32(x) ((x) >= (T)2147483648.0 ? INT32_MAX : (int32_t)(x))
TRANSFER(u8, uint8_t, TO_U8)
TRANSFER(u16, uint16_t, TO_U16)
TRANSFER(i16, int16_t, TO_I16)
TRANSFER(i32, int32_t, TO_I32)
TRANSFER(f32_, float, (float))
TRANSFER(f64_, double, (double))

#define MACHINE_OPERATIONS(EXP_, LOG_, SIN_, COS_)                                                 \
    {                                                                                              \
        [TWI_OP_NEG] = F(run_neg), [TWI_OP_ADD] = F(run_add), [TWI_OP_SUB] = F(run_sub),           \
        [TWI_OP_MUL] = F(run_mul), [TWI_OP_DIV] = F(run_div), [TWI_OP_LT] = F(run_lt),             \
        [TWI_OP_LE] = F(run_le), [TWI_OP_EQ] = F(run_eq), [TWI_OP_NE] = F(run_ne),                 \
        [TWI_OP_AND] = F(run_and), [TWI_OP_OR] = F(run_or), [TWI_OP_NOT] = F(run_not),             \
        [TWI_OP_NUMBER] = F(run_number), [TWI_OP_SELECT] = F(run_select),                          \
        [TWI_OP_ABS] = F(run_abs), [TWI_OP_SQRT] = F(run_sqrt), [TWI_OP_CBRT] = F(run_cbrt),       \
        [TWI_OP_EXP] = F(EXP_), [TWI_OP_EXP2] = F(run_exp2), [TWI_OP_EXPM1] = F(run_expm1),        \
        [TWI_OP_LOG] = F(LOG_), [TWI_OP_LOG2] = F(run_log2), [TWI_OP_LOG10] = F(run_log10),        \
        [TWI_OP_LOG1P] = F(run_log1p), [TWI_OP_SIN] = F(SIN_), [TWI_OP_COS] = F(COS_),             \
        [TWI_OP_TAN] = F(run_tan), [TWI_OP_ASIN] = F(run_asin), [TWI_OP_ACOS] = F(run_acos),       \
        [TWI_OP_ATAN] = F(run_atan), [TWI_OP_SINH] = F(run_sinh), [TWI_OP_COSH] = F(run_cosh),     \
        [TWI_OP_TANH] = F(run_tanh), [TWI_OP_ASINH] = F(run_asinh), [TWI_OP_ACOSH] = F(run_acosh), \
        [TWI_OP_ATANH] = F(run_atanh), [TWI_OP_FLOOR] = F(run_floor), [TWI_OP_CEIL] = F(run_ceil), \
        [TWI_OP_ROUND] = F(run_round), [TWI_OP_RINT] = F(run_rint), [TWI_OP_TRUNC] = F(run_trunc), \
        [TWI_OP_COPYSIGN] = F(run_copysign), [TWI_OP_NEXTAFTER] = F(run_nextafter),                \
        [TWI_OP_MIN] = F(run_min), [TWI_OP_MAX] = F(run_max), [TWI_OP_MOD] = F(run_mod),           \
        [TWI_OP_POW] = F(run_pow), [TWI_OP_ATAN2] = F(run_atan2), [TWI_OP_HYPOT] = F(run_hypot),   \
        [TWI_OP_CUBE] = F(run_cube), [TWI_OP_FOURTH] = F(run_fourth),                              \
        [TWI_OP_INVERSE_SQUARE] = F(run_inverse_square),                                           \
    }
#define MACHINE_FUSED                                                                   \
    {                                                                                   \
        [TWI_FUSED_ADD_ADD] = F(run_add_add), [TWI_FUSED_ADD_SUB] = F(run_add_sub),     \
        [TWI_FUSED_ADD_FROM] = F(run_add_from), [TWI_FUSED_ADD_MUL] = F(run_add_mul),   \
        [TWI_FUSED_SUB_ADD] = F(run_sub_add), [TWI_FUSED_SUB_SUB] = F(run_sub_sub),     \
        [TWI_FUSED_SUB_FROM] = F(run_sub_from), [TWI_FUSED_SUB_MUL] = F(run_sub_mul),   \
        [TWI_FUSED_MUL_ADD] = F(run_mul_add), [TWI_FUSED_MUL_SUB] = F(run_mul_sub),     \
        [TWI_FUSED_MUL_FROM] = F(run_mul_from), [TWI_FUSED_MUL_MUL] = F(run_mul_mul),   \
        [TWI_FUSED_ADD_SQRT] = F(run_add_sqrt), [TWI_FUSED_SQRT_ADD] = F(run_sqrt_add), \
        [TWI_FUSED_ADD_SQRT_ADD] = F(run_add_sqrt_add),                                 \
    }
#define MACHINE_ROOTS(EXP_, LOG_, SIN_, COS_)                                                 \
    {                                                                                         \
        [TWI_OP_EXP] = F(EXP_), [TWI_OP_EXP2] = F(root_exp2), [TWI_OP_LOG] = F(LOG_),         \
        [TWI_OP_LOG2] = F(root_log2), [TWI_OP_LOG10] = F(root_log10), [TWI_OP_SIN] = F(SIN_), \
        [TWI_OP_COS] = F(COS_), [TWI_OP_TAN] = F(root_tan),                                   \
    }
#define MACHINE_STORED(F32, F64)                                                                \
    {                                                                                           \
        [TW_U8] = F(run_stored_u8), [TW_U16] = F(run_stored_u16), [TW_I16] = F(run_stored_i16), \
        [TW_I32] = F(run_stored_i32), [TW_F32] = F32, [TW_F64] = F64,                           \
    }
#define MACHINE_TRANSFER(WAY)                                                        \
    {                                                                                \
        [TW_U8] = F(WAY##_u8), [TW_U16] = F(WAY##_u16), [TW_I16] = F(WAY##_i16),     \
        [TW_I32] = F(WAY##_i32), [TW_F32] = F(WAY##_f32_), [TW_F64] = F(WAY##_f64_), \
    }
