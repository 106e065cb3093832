/*
 * The method of stacks, for AVX-512: windows of up to 256 levels and 127 rows, 32 of them above
 * each other at a time (stack_run.h).
 */
#ifndef TWI_ENTROPY_CPU_STACKS_H
#define TWI_ENTROPY_CPU_STACKS_H

#include "entropy/cpu/band.h"
#include "entropy/cpu/stack_run.h"

bool twi_stacks_take(const twi_entropy_setup *setup);
/* Whether they are the fastest way for this array and window, too. */
bool twi_stacks_pay(const twi_entropy_setup *setup);
uint64_t twi_stacks_scratch(const twi_entropy_setup *setup);
/* There are levels for a multiple of TWI_STACK rows of outputs. */
void twi_stacks_run(tw_context *ctx, const twi_entropy_setup *setup, const twi_level_band *band);

#endif
