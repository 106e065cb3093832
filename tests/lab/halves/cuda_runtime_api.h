/* As much of a GPU runtime as the ladder of two GPUs calls, made of host memory: see halves.c,
 * whose calls are done when they return. */
#ifndef LAB_HALVES_CUDA_RUNTIME_API_H
#define LAB_HALVES_CUDA_RUNTIME_API_H

#include <stddef.h>

typedef enum cudaError {
    cudaSuccess,
    cudaErrorMemoryAllocation,
    cudaErrorPeerAccessAlreadyEnabled
} cudaError_t;
typedef enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost } cudaMemcpyKind;
enum { cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
typedef void *cudaStream_t, *cudaEvent_t;

/* What a kernel takes is not asked for here. */
struct cudaFuncAttributes {
    size_t sharedSizeBytes, localSizeBytes;
    int numRegs;
};
struct cudaDeviceProp {
    int maxThreadsPerMultiProcessor;
};

cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetLastError(void);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *kernel, int threads,
                                                          size_t bytes);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaMalloc(void **out, size_t bytes);
cudaError_t cudaFree(void *data);
cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *data);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *out);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);

#endif
