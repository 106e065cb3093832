/* The kernels that correct labels (gpu/kernels/labels.h), by type. */
#include "apsp/gpu/kernels/labels.h"

#include <stddef.h>

extern const twi_gpu_labels_kernel twi_gpu_labels_u16;
extern const twi_gpu_labels_kernel twi_gpu_labels_i32;
extern const twi_gpu_labels_kernel twi_gpu_labels_f32;
extern const twi_gpu_labels_kernel twi_gpu_labels_f64;

const twi_gpu_labels_kernel *twi_gpu_labels_kernel_find(tw_type type)
{
    switch (type) {
    case TW_U16:
        return &twi_gpu_labels_u16;
    case TW_I32:
        return &twi_gpu_labels_i32;
    case TW_F32:
        return &twi_gpu_labels_f32;
    case TW_F64:
        return &twi_gpu_labels_f64;
    default:
        return NULL;
    }
}
