/*
 * What a file of kernels that is compiled once for each type begins with: its step, and what the
 * names and the first entry of its table are made of. A device's pass of HIP would want a table of
 * its own, of functions it has not: only where HAS_TABLE is defined there is one.
 */
#ifndef TWI_APSP_GPU_KERNELS_ONE_TYPE_CUH
#define TWI_APSP_GPU_KERNELS_ONE_TYPE_CUH

#include "apsp/gpu/kernels/step.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define JOIN3(a, b, c) JOIN(JOIN(a, b), c)

#define TYPE_i32 TW_I32
#define TYPE_f32 TW_F32
#define TYPE_u16 TW_U16
#define TYPE_f64 TW_F64
#define THIS_TYPE JOIN(TYPE_, TWI_GPU_TYPE)

#if !defined(__HIP_DEVICE_COMPILE__)
#define HAS_TABLE
#endif

typedef JOIN(step_, TWI_GPU_TYPE) step;
typedef step::element element;
typedef step::word word;

#endif
