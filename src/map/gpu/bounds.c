/*
 * The bounds of functions on a GPU, in ulp. In f32 they are those of functions.def, found by trying
 * every argument on an H200 (bench/map_ulp.cu). In f64 the functions are the vendor's own, which
 * stay within 2, the inverse hyperbolic ones within 3.
 */
#include "map/gpu/source.h"

double twi_map_gpu_ulp(twi_op op, tw_type compute)
{
    double bound = twi_op_ulp(op, compute, false);
    const bool inverse = op == TWI_OP_ASINH || op == TWI_OP_ACOSH || op == TWI_OP_ATANH;
    return compute == TW_F64 && bound >= 1 ? (inverse ? 3 : 2) : bound;
}
