/* The kernels of a sweep (gpu/kernels/sweep.h), by type. */
#include "apsp/gpu/kernels/sweep.h"

#include <stddef.h>

extern const twi_gpu_sweep_kernel twi_gpu_sweep_u16;
extern const twi_gpu_sweep_kernel twi_gpu_sweep_i32;
extern const twi_gpu_sweep_kernel twi_gpu_sweep_f32;
extern const twi_gpu_sweep_kernel twi_gpu_sweep_f64;

const twi_gpu_sweep_kernel *twi_gpu_sweep_kernel_find(tw_type type)
{
    switch (type) {
    case TW_U16:
        return &twi_gpu_sweep_u16;
    case TW_I32:
        return &twi_gpu_sweep_i32;
    case TW_F32:
        return &twi_gpu_sweep_f32;
    case TW_F64:
        return &twi_gpu_sweep_f64;
    default:
        return NULL;
    }
}
