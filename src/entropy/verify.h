/* Elements of a result against the reference. */
#ifndef TWI_ENTROPY_VERIFY_H
#define TWI_ENTROPY_VERIFY_H

#include "entropy/shared/setup.h"

/* TW_ERR_VERIFY if an element of these rows that the options ask to verify is not what the
 * reference gives for it. */
TW_CHECKED tw_status twi_entropy_verify(tw_context *ctx, const twi_entropy_setup *setup,
                                        int64_t first, int64_t count, const void *rows,
                                        int64_t stride, int64_t *verified);

#endif
