/*
 * A flow that keeps what it brings, so that it can be read again from its beginning: see input.h.
 * The copy is in memory, and given up as soon as it is more than a small part of that.
 */
#ifndef TWI_IO_KEPT_H
#define TWI_IO_KEPT_H

#include "io/input.h"

typedef struct twi_kept twi_kept;

/* The input's flow keeps a copy from now on, of what is in memory, too. *out stays NULL where there
 * is too little memory to keep anything; else it is freed after the input was read. */
void twi_input_keep(tw_context *ctx, twi_input *input, twi_kept **out);

/* The input as it was, at its beginning; false if the copy was given up. */
bool twi_kept_restore(twi_kept *kept, twi_input *input);

/* An input that was not read to its end has its own flow again. Accepts NULL. */
void twi_kept_destroy(twi_kept *kept, twi_input *input);

#endif
