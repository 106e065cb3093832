/* What a call is made of: options checked and completed, and the method chosen. */
#ifndef TWI_ENTROPY_PLAN_PREPARE_H
#define TWI_ENTROPY_PLAN_PREPARE_H

#include "entropy/shared/setup.h"

/* Check everything but the values, and choose. `method` forces one (AUTO: the best); a method that
 * cannot do it is an argument error. What the options point to is not copied. Clear with
 * twi_entropy_clear. */
TW_CHECKED tw_status twi_entropy_prepare(tw_context *ctx, twi_entropy_setup *out,
                                         const tw_matrix *in, const tw_entropy_options *opts,
                                         twi_entropy_method method);
void twi_entropy_clear(twi_entropy_setup *setup);
/* The same window over another array: its shape, and that of the result. */
void twi_entropy_turn_to(twi_entropy_setup *setup, const tw_matrix *in);
/* TW_ERR_ARGUMENT unless the matrix can take the result. */
TW_CHECKED tw_status twi_entropy_check_result(tw_context *ctx, const twi_entropy_setup *setup,
                                              const tw_matrix *out);
bool twi_entropy_can(const twi_entropy_setup *setup, twi_entropy_method method);
const char *twi_entropy_method_name(twi_entropy_method method);
/* What reports call the method and the instruction set, on the GPU, too. */
const char *twi_entropy_method_of(const twi_entropy_setup *setup);
const char *twi_entropy_isa_of(const twi_entropy_setup *setup);
/* Whether the chosen method has kernels of the chosen instruction set. */
bool twi_entropy_has_vectors(const twi_entropy_setup *setup);

#endif
