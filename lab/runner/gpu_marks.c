/* Tells NVIDIA's profilers where the rung begins and ends; those of AMD are not used. */
#include "ladders/gpu_names.h"
#include "runner/counters.h"

#ifndef TWI_HIP
/* Declared in cuda_profiler_api.h, which a toolkit may lack; the runtime always has them. */
extern cudaError_t cudaProfilerStart(void);
extern cudaError_t cudaProfilerStop(void);
#endif

/* Without a profiler both do nothing; their status has nothing to tell. The work of the rung is
 * waited for, so that no kernel of its own is left out and none from before is taken for it. */
void lab_mark_begin(void)
{
    (void)cudaDeviceSynchronize();
#ifndef TWI_HIP
    (void)cudaProfilerStart();
#endif
}

void lab_mark_end(void)
{
    (void)cudaDeviceSynchronize();
#ifndef TWI_HIP
    (void)cudaProfilerStop();
#endif
}
