/* From arcs to a working matrix, and to the kernel that works on it. */
#ifndef TWI_APSP_CLOSURE_SCATTER_H
#define TWI_APSP_CLOSURE_SCATTER_H

#include "apsp/closure/cpu.h"
#include "apsp/shared/plan.h"

/* Whether a run in a type takes plain sums (twi_minplus_kernel_plain) where distances are short. */
bool twi_may_be_plain(twi_isa isa, tw_type type);

/* The kernel that a run in a type begins with: where the plan expects distances of 15 bits, theirs
 * for u16, and where it expects 7, and plain sums of bytes are faster, theirs for u8. */
TWI_SHARED const twi_minplus_kernel *twi_closure_kernel(const tw_apsp_plan *plan, tw_type type);

/* Fill `work` from the plan's graph: 0 on the diagonal, the minimum weight of parallel arcs (with
 * the plan's potentials, if any), infinity elsewhere and in the padding; weights at or above
 * infinity become infinity. */
void twi_scatter(tw_context *ctx, const tw_apsp_plan *plan, const twi_work *work);

/* Entries at the kernel's infinity become those of its type's, where these differ (15 and 7 bits).
 */
void twi_name_infinity(tw_context *ctx, const twi_work *work);

/* Whether the matrix equals its transpose. Stops at the first difference. */
bool twi_is_symmetric(tw_context *ctx, const twi_work *work);

#endif
