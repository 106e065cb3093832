/*
 * Orders of METIS (METIS_NodeND), where the build has that library: a tenth to a third fewer steps
 * than our own dissection on grids and meshes, none elsewhere, for several times its time.
 */
#ifndef TWI_APSP_SWEEP_METIS_H
#define TWI_APSP_SWEEP_METIS_H

#include "apsp/sweep/order.h"

bool twi_metis_is_built(void);

/* out->vertex is NULL if METIS failed, is not in this build, or would make a child process in a
 * program that handles SIGCHLD. Every vertex is a group. */
TW_CHECKED tw_status twi_metis_order(tw_context *ctx, twi_order *out, const twi_skeleton *skeleton);

#endif
