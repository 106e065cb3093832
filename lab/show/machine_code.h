/* What the compiler made of a rung. See machine_code.c. */
#ifndef LAB_SHOW_MACHINE_CODE_H
#define LAB_SHOW_MACHINE_CODE_H

#include "ladders/ladder.h"

/* Print it on standard output: registers and memory of a kernel, the inner loop of a function; or
 * one line on what is missing. `source` is "FILE FUNCTION...". */
void lab_print_machine_code(tw_context *ctx, const lab_ladder *ladder, const lab_rung *rung,
                            const char *source);

#endif
