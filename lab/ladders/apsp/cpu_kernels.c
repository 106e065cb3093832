/* See cpu_kernels.h. Compiled once for each instruction set, over the library's vectors. */
#include "ladders/apsp/cpu_kernels.h"

#include "base/simd/simd.h"

enum { BLOCK = LAB_CPU_BRIDGE_BLOCK, ROWS = LAB_CPU_BRIDGE_ROWS, VECTORS = 2 /* of C, each row */ };

/* The library's 16-bit addition saturates; here entries are small enough for a plain one, which
 * some processors can do twice as often. */
#if defined(TWI_KERNEL_NEON)
#define plain_add_u16(a, b) vaddq_u16(a, b)
#elif defined(TWI_KERNEL_AVX2) || defined(TWI_KERNEL_AVX512)
#define plain_add_u16(a, b) MM(add_epi16)(a, b)
#else
#define plain_add_u16(a, b) add_u16(a, b)
#endif
#define plain_add_i32(a, b) add_i32(a, b)

#define KERNELS(S, T)                                                                      \
    static void update_##S(void *c_, const void *a_, const void *b_, int64_t ld)           \
    {                                                                                      \
        T *c = c_;                                                                         \
        const T *a = a_, *b = b_;                                                          \
        for (int p = 0; p < BLOCK; p++) {                                                  \
            for (int i = 0; i < BLOCK; i++) {                                              \
                vec_##S through = splat_##S(a[i * ld + p]);                                \
                for (int j = 0; j < BLOCK; j += LANES_##S) {                               \
                    vec_##S sum = plain_add_##S(through, load_##S(b + p * ld + j));        \
                    store_##S(c + i * ld + j, min_##S(load_##S(c + i * ld + j), sum));     \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    /* Results of ROWS rows and VECTORS vectors stay in registers over the whole depth. */ \
    static void strip_##S(T *c, int64_t ld, const T *a, const T *b)                        \
    {                                                                                      \
        vec_##S sum[ROWS][VECTORS];                                                        \
        for (int i = 0; i < ROWS; i++) {                                                   \
            for (int v = 0; v < VECTORS; v++) {                                            \
                sum[i][v] = load_##S(c + i * ld + v * LANES_##S);                          \
            }                                                                              \
        }                                                                                  \
        for (int p = 0; p < BLOCK; p++) {                                                  \
            for (int i = 0; i < ROWS; i++) {                                               \
                vec_##S through = splat_##S(a[p * ROWS + i]);                              \
                for (int v = 0; v < VECTORS; v++) {                                        \
                    vec_##S row = load_##S(b + (p * VECTORS + v) * LANES_##S);             \
                    sum[i][v] = min_##S(sum[i][v], plain_add_##S(through, row));           \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
        for (int i = 0; i < ROWS; i++) {                                                   \
            for (int v = 0; v < VECTORS; v++) {                                            \
                store_##S(c + i * ld + v * LANES_##S, sum[i][v]);                          \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    static void product_##S(void *c_, int64_t ld, const void *a_, const void *b_)          \
    {                                                                                      \
        T *c = c_;                                                                         \
        const T *a = a_, *b = b_;                                                          \
        for (int j = 0; j < BLOCK; j += VECTORS * LANES_##S) {                             \
            for (int i = 0; i < BLOCK; i += ROWS) {                                        \
                strip_##S(c + i * ld + j, ld, a + i * BLOCK, b + j * BLOCK);               \
            }                                                                              \
        }                                                                                  \
    }

KERNELS(i32, int32_t)
KERNELS(u16, uint16_t)

_Static_assert(BLOCK % (VECTORS * LANES_i32) == 0 && BLOCK % (VECTORS * LANES_u16) == 0,
               "tiles are whole strips");

const lab_cpu_bridge_kernel JOIN(lab_cpu_bridge, TWI_KERNEL_ISA)[LAB_CPU_BRIDGE_TYPES] = {
    [LAB_CPU_BRIDGE_I32] = {VECTORS * LANES_i32, update_i32, product_i32},
    [LAB_CPU_BRIDGE_U16] = {VECTORS * LANES_u16, update_u16, product_u16}};
