/*
 * The vector functions in f32 and f64, for kernel sources (tw_kernel in src/CMakeLists.txt). They
 * compute the same bits on every instruction set and in every lane; docs/functions.md has the table
 * of their errors.
 */
#ifndef TWI_MAP_FUNCTIONS_FUNCTIONS_H
#define TWI_MAP_FUNCTIONS_FUNCTIONS_H

#include "base/simd/float.h"
#include "map/functions/coefficients.h"
#include "map/functions/reduce.h"

#include <math.h>

typedef float element_f32;
typedef double element_f64;

#define INFINITE __builtin_inf()
#define NAN_VALUE __builtin_nan("")

/* f64 comes first: pow of f32 uses its parts. */
#define S f64
#define MANTISSA 52
#define WIDTH 64
#define BIAS 1023
#define SIGN INT64_MIN
#define FRACTION 0xfffffffffffff
#define LEAST 0x1p-1022 /* normal number */
#define TINY 0x1p-54    /* below it x + x^2 is x */
#define UP 0x1p54       /* MANTISSA + 2: makes every subnormal normal */
#define EXP_LOW (-746)  /* e^x is 0 below ... */
#define EXP_HIGH 710    /* ... and inf above */
#define EXP2_LOW (-1076)
#define EXP2_HIGH 1025
#define EXPM1_LOW (-60)
#define HYPERBOLIC_NEAR 0x1p-16 /* the fifth power does not count */
#define HYPERBOLIC_FAR 0x1p60   /* the square has lost the 1 */
#define CIRCLE_LIMIT 0x1p20
#define ATAN_HIGH 0x1p80 /* its arc tangent is pi/2 */
#define NEAR_0 0x1p-800  /* atan2 scales points nearer ... */
#define FAR_OFF 0x1p1000 /* ... or farther */
#define POINT_UP 0x1p512
#define CBRT_UP 0x1p54
#define CBRT_DOWN 0x1p-18
#define CBRT_STEPS 2
#define HYPOT_FAR 0x1p480
#define HYPOT_UP 0x1p700
#define MOD_LIMIT 0x1p52
#define CUBE_FAR 0x1p690      /* squares beyond have infinite cubes ... */
#define FOURTH_FAR 0x1p513    /* ... and squares */
#define INVERSE_NEAR 0x1p-540 /* squares of less are 0 ... */
#define INVERSE_FAR 0x1p520   /* ... and of more infinite */
#define FMOD fmod
#include "map/functions/parts.h"

#include "map/functions/algebraic.h"
#include "map/functions/circular.h"
#include "map/functions/exponential.h"

#include "map/functions/f64.h"

#include "map/functions/pow.h"

#include "map/functions/end.h"

#define S f32
#define MANTISSA 23
#define WIDTH 32
#define BIAS 127
#define SIGN INT32_MIN
#define FRACTION 0x7fffff
#define LEAST 0x1p-126
#define TINY 0x1p-25
#define UP 0x1p25
#define EXP_LOW (-105)
#define EXP_HIGH 89
#define EXP2_LOW (-151)
#define EXP2_HIGH 129
#define EXPM1_LOW (-40)
#define HYPERBOLIC_NEAR 0x1p-10
#define HYPERBOLIC_FAR 0x1p30
#define CIRCLE_LIMIT 0x1p15
#define ATAN_HIGH 0x1p40
#define NEAR_0 0x1p-80
#define FAR_OFF 0x1p100
#define POINT_UP 0x1p64
#define CBRT_UP 0x1p24
#define CBRT_DOWN 0x1p-8
#define CBRT_STEPS 1
#define HYPOT_FAR 0x1p60
#define HYPOT_UP 0x1p96
#define MOD_LIMIT 0x1p23
#define CUBE_FAR 0x1p90
#define FOURTH_FAR 0x1p65
#define INVERSE_NEAR 0x1p-76
#define INVERSE_FAR 0x1p66
#define FMOD fmodf
#include "map/functions/parts.h"

#include "map/functions/algebraic.h"
#include "map/functions/circular.h"
#include "map/functions/exponential.h"

#include "map/functions/f32.h"

#include "map/functions/pow.h"

#include "map/functions/end.h"

#endif
