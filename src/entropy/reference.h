/* The oracle of the wing: slow, obvious, trusted. */
#ifndef TWI_ENTROPY_REFERENCE_H
#define TWI_ENTROPY_REFERENCE_H

#include "entropy/entropy.h"

/* The entropy of every window by its definition, counted anew for each and summed in f64 with the
 * library's log, into `out`, dense, of setup's shape. `exact`, if not NULL, gets the number that
 * the fixed-point table defines for the same counts. Values are checked already. */
TW_CHECKED tw_status twi_reference_entropy(tw_context *ctx, const twi_entropy_setup *setup,
                                           double *out, float *exact);

/* The latter for one output; `counts` has room for one number a level. */
float twi_reference_at(const twi_entropy_setup *setup, int64_t y, int64_t x, int64_t *counts);

/* The most that `exact` may differ from the real value of a window of n elements: docs/methods.md.
 */
double twi_entropy_bound(const twi_entropy_setup *setup, int64_t n);

#endif
