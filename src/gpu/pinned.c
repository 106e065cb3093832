/* Pinned host memory: see pinned.h. */
#include "gpu/pinned.h"

#include "base/memory.h"
#include "gpu/compat.h"

bool twi_gpu_pin(tw_context *ctx, void *data, uint64_t bytes)
{
    cudaError_t error = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
    }
    if (error != cudaSuccess && error != cudaErrorHostMemoryAlreadyRegistered) {
        char text[32];
        twi_log(ctx, "%s of host memory could not be pinned (%s); copies will be slower",
                twi_bytes(text, (double)bytes), cudaGetErrorString(error));
    }
    return error == cudaSuccess;
}

void twi_gpu_unpin(void *data)
{
    (void)cudaHostUnregister(data);
}
