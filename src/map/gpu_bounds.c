/*
 * The bounds of functions on a GPU, in ulp. In f32 they are those of functions.def, found by trying
 * every argument on an H200 (bench/results). In f64 the functions are the vendor's own, whose
 * documented bounds are wider for some.
 */
#include "map/gpu_source.h"

double twi_map_gpu_ulp(twi_op op, tw_type compute)
{
    if (compute == TW_F64) {
        switch (op) {
        case TWI_OP_SIN:
        case TWI_OP_COS:
        case TWI_OP_TAN:
        case TWI_OP_ASIN:
        case TWI_OP_ACOS:
        case TWI_OP_ATAN:
        case TWI_OP_SINH:
        case TWI_OP_POW:
        case TWI_OP_ATAN2:
        case TWI_OP_HYPOT:
            return 2;
        default:
            break;
        }
    }
    return twi_op_ulp(op, compute, false);
}
