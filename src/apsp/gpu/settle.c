/* Pairs at the cap of 16 bits: see settle.h. */
#include "apsp/gpu/settle.h"

#include "apsp/closure/certificate.h"
#include "apsp/closure/kernels.h"
#include "apsp/gpu/mirror.h"

tw_status twi_gpu_settle(tw_context *ctx, const twi_gpu_host *host, uint64_t limit, bool *capped)
{
    bool exact = false;
    if (host->graph == NULL) {
        return TW_OK;
    }
    tw_status status = host->symmetric ? twi_gpu_mirror_host(ctx, host, limit) : TW_OK;
    if (status == TW_OK) {
        twi_work work = {twi_minplus_kernel_find(TWI_ISA_SCALAR, TW_I32), host->data, host->n,
                         host->ld};
        status = twi_certify_below(ctx, host->graph, &work, TWI_GPU_INF_U16, &exact);
    }
    *capped = !exact;
    return status;
}
