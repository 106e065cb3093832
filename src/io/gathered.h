/*
 * All that a flow brings, for whoever cannot work in order: see input.h. It stays in memory while
 * it is a part of what is left there; from there on it goes into a temporary file without a name,
 * in $TMPDIR or /var/tmp, and its size is known at the end.
 */
#ifndef TWI_IO_GATHERED_H
#define TWI_IO_GATHERED_H

#include "io/input.h"

/* The input is no flow afterwards: all of it is in memory, if that has room for it, or else all but
 * the head is absent. What is no flow stays as it is. `whole`: it will be loaded, so that what is
 * far more than the memory is refused before all of it has come. */
TW_CHECKED tw_status twi_input_gather(tw_context *ctx, twi_input *input, bool whole);

#endif
