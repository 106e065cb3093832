/*
 * The vector functions beside SLEEF's and the C library's: nanoseconds per element on one core,
 * over blocks in the first cache, the best of several rounds in processor time. Built by hand,
 * since it looks inside the library and needs SLEEF: gcc -std=gnu17 -O2 -D_GNU_SOURCE -Iinclude
 * -Isrc bench/functions.c build/dev/src/libtilewright.a \ -fopenmp -lsleef -lm -o functions (and
 * what else the library was built with) Prints the table of bench/results/neoverse-v1-functions.md.
 */
#include "map/cpu/kernels.h"

#include <arm_neon.h>
#include <math.h>
#include <sleef.h>
#include <stdio.h>
#include <time.h>

enum { BLOCK = 1024, CALLS = 20, ROUNDS = 15 };

static float x32[BLOCK], y32[BLOCK], out32[BLOCK];
static double x64[BLOCK], y64[BLOCK], out64[BLOCK];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The minimum time of CODE per element, as a column of the table. */
#define COLUMN(CODE)                                      \
    do {                                                  \
        double best_ = 1;                                 \
        for (int round_ = 0; round_ < ROUNDS; round_++) { \
            double from_ = now();                         \
            for (int call_ = 0; call_ < CALLS; call_++) { \
                CODE;                                     \
            }                                             \
            double took_ = now() - from_;                 \
            best_ = took_ < best_ ? took_ : best_;        \
        }                                                 \
        printf(" %.2f |", best_ / CALLS / BLOCK * 1e9);   \
    } while (0)

static void ours(const twi_map_block_fn *table, twi_op op, void *out, const void *x, const void *y)
{
    table[op](out, (const void *const[3]){x, y, y}, (const int64_t[3]){1, 1, 1}, BLOCK);
}

#define EACH_F32(VALUE)                  \
    for (int i = 0; i < BLOCK; i += 4) { \
        vst1q_f32(out32 + i, VALUE);     \
    }
#define EACH_F64(VALUE)                  \
    for (int i = 0; i < BLOCK; i += 2) { \
        vst1q_f64(out64 + i, VALUE);     \
    }
#define X4 vld1q_f32(x32 + i)
#define Y4 vld1q_f32(y32 + i)
#define X2 vld1q_f64(x64 + i)
#define Y2 vld1q_f64(y64 + i)

/* A row: f32 ours, --fast, SLEEF 1.0 and 3.5 ulp, the C library; f64 ours, SLEEF, the C library. */
#define ROW(ID, NAME, F4_U10, F4_U35, D2_U10, LIBM32, LIBM64)               \
    do {                                                                    \
        printf("| %s |", NAME);                                             \
        COLUMN(ours(kernel->f32->operation, TWI_OP_##ID, out32, x32, y32)); \
        COLUMN(ours(kernel->f32->fast, TWI_OP_##ID, out32, x32, y32));      \
        COLUMN(EACH_F32(F4_U10));                                           \
        COLUMN(EACH_F32(F4_U35));                                           \
        COLUMN(for (int i = 0; i < BLOCK; i++) out32[i] = LIBM32);          \
        COLUMN(ours(kernel->f64->operation, TWI_OP_##ID, out64, x64, y64)); \
        COLUMN(EACH_F64(D2_U10));                                           \
        COLUMN(for (int i = 0; i < BLOCK; i++) out64[i] = LIBM64);          \
        printf("\n");                                                       \
    } while (0)
#define ONE(ID, NAME, U35)                                                                         \
    ROW(ID, #NAME, Sleef_##NAME##f4_u10(X4), Sleef_##NAME##f4_##U35(X4), Sleef_##NAME##d2_u10(X2), \
        NAME##f(x32[i]), NAME(x64[i]))

int main(void)
{
    const twi_map_kernel *kernel = twi_map_kernel_find(TWI_ISA_NEON);
    for (int i = 0; i < BLOCK; i++) { /* 0.05 ... 0.95, times 10 where functions take it */
        x64[i] = x32[i] = 0.05F + 0.9F * (float)(i * 619 % BLOCK) / BLOCK;
        y64[i] = y32[i] = 0.3F + (float)(i * 311 % BLOCK) / BLOCK;
    }
    printf("| ns/element | f32 | f32 --fast | SLEEF 1.0 ulp | SLEEF 3.5 ulp | C library "
           "| f64 | SLEEF f64 1.0 ulp | C library f64 |\n|---|---|---|---|---|---|---|---|---|\n");
    ONE(ATANH, atanh, u10);
    ONE(ASIN, asin, u35);
    ONE(ACOS, acos, u35);
    for (int i = 0; i < BLOCK; i++) {
        x64[i] = x32[i] *= 10;
    }
    ONE(EXP, exp, u10);
    ONE(EXP2, exp2, u35);
    ONE(EXPM1, expm1, u10);
    ONE(LOG, log, u35);
    ONE(LOG2, log2, u35);
    ONE(LOG10, log10, u10);
    ONE(LOG1P, log1p, u10);
    ONE(SIN, sin, u35);
    ONE(COS, cos, u35);
    ONE(TAN, tan, u35);
    ONE(ATAN, atan, u35);
    ONE(SINH, sinh, u35);
    ONE(COSH, cosh, u35);
    ONE(TANH, tanh, u35);
    ONE(ASINH, asinh, u10);
    for (int i = 0; i < BLOCK; i++) { /* 1 and more */
        x64[i] = x32[i] += 1;
    }
    ONE(ACOSH, acosh, u10);
    for (int i = 0; i < BLOCK; i++) {
        x64[i] = x32[i] -= 1;
    }
    ONE(CBRT, cbrt, u35);
    ROW(POW, "pow", Sleef_powf4_u10(X4, Y4), Sleef_fastpowf4_u3500(X4, Y4), Sleef_powd2_u10(X2, Y2),
        powf(x32[i], y32[i]), pow(x64[i], y64[i]));
    ROW(ATAN2, "atan2", Sleef_atan2f4_u10(X4, Y4), Sleef_atan2f4_u35(X4, Y4),
        Sleef_atan2d2_u10(X2, Y2), atan2f(x32[i], y32[i]), atan2(x64[i], y64[i]));
    ROW(HYPOT, "hypot", Sleef_hypotf4_u05(X4, Y4), Sleef_hypotf4_u35(X4, Y4),
        Sleef_hypotd2_u05(X2, Y2), hypotf(x32[i], y32[i]), hypot(x64[i], y64[i]));
    ROW(MOD, "fmod", Sleef_fmodf4(X4, Y4), Sleef_fmodf4(X4, Y4), Sleef_fmodd2(X2, Y2),
        fmodf(x32[i], y32[i]), fmod(x64[i], y64[i]));
    return 0;
}
