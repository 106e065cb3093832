/* A build without METIS: see metis.h. */
#include "apsp/sweep/metis.h"

bool twi_metis_is_built(void)
{
    return false;
}

tw_status twi_metis_order(tw_context *ctx, twi_order *out, const twi_skeleton *skeleton)
{
    (void)ctx, (void)skeleton;
    *out = (twi_order){0};
    return TW_OK;
}
