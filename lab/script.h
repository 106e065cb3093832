/* The Python scripts that are installed with this program. */
#ifndef LAB_SCRIPT_H
#define LAB_SCRIPT_H

#include "base/context.h"

/* Run the script of that name with `count` words, at most LAB_SCRIPT_WORDS, and take its exit
 * status. TW_ERR_IO where the script or Python is missing. */
#define LAB_SCRIPT_WORDS 24
TW_CHECKED tw_status lab_run_script(tw_context *ctx, const char *name, int count,
                                    const char *const *words, int *exit_status);

#endif
