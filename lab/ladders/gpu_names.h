/* The CUDA names that only the laboratory uses, on HIP; gpu/compat.h has the others. */
#ifndef LAB_LADDERS_GPU_NAMES_H
#define LAB_LADDERS_GPU_NAMES_H

#include "gpu/compat.h"

#ifdef TWI_HIP
#define cudaArray hipArray
#define cudaChannelFormatDesc hipChannelFormatDesc
#define cudaChannelFormatKindFloat hipChannelFormatKindFloat
#define cudaChannelFormatKindUnsigned hipChannelFormatKindUnsigned
#define cudaCreateChannelDesc hipCreateChannelDesc
#define cudaCreateTextureObject hipCreateTextureObject
#define cudaDestroyTextureObject hipDestroyTextureObject
#define cudaFreeArray hipFreeArray
#define cudaFuncAttributes hipFuncAttributes
#define cudaFuncGetAttributes hipFuncGetAttributes
#define cudaMallocArray hipMallocArray
#define cudaMallocPitch hipMallocPitch
#define cudaMemcpy2DToArray hipMemcpy2DToArray
#define cudaMemcpyToSymbol(symbol, from, bytes) hipMemcpyToSymbol(HIP_SYMBOL(symbol), from, bytes)
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessor
#define cudaReadModeElementType hipReadModeElementType
#define cudaResourceDesc hipResourceDesc
#define cudaResourceTypeArray hipResourceTypeArray
#define cudaResourceTypeLinear hipResourceTypeLinear
#define cudaTextureDesc hipTextureDesc
#define cudaTextureObject_t hipTextureObject_t
#endif

#endif
