/*
 * The vector layer of the instruction set that this object is compiled for (simd/scalar.h states
 * its contract), the number of that set, and the macros that build names from it. For kernel
 * sources only, which the build compiles once per set.
 */
#ifndef TWI_BASE_SIMD_SIMD_H
#define TWI_BASE_SIMD_SIMD_H

#include "base/isa.h"

#if defined(TWI_KERNEL_NEON)
#include "base/simd/neon.h"
#define KERNEL_ISA TWI_ISA_NEON
#elif defined(TWI_KERNEL_AVX2)
#include "base/simd/avx.h"
#define KERNEL_ISA TWI_ISA_AVX2
#elif defined(TWI_KERNEL_AVX512)
#include "base/simd/avx.h"
#define KERNEL_ISA TWI_ISA_AVX512
#else
#include "base/simd/scalar.h"
#define KERNEL_ISA TWI_ISA_SCALAR
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#endif
