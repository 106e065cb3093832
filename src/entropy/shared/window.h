/* Which elements belong to a window. */
#ifndef TWI_ENTROPY_SHARED_WINDOW_H
#define TWI_ENTROPY_SHARED_WINDOW_H

#include "base/context.h"

#define TWI_WINDOW_SIDE 4095
#define TWI_WINDOW_SIZE ((int64_t)1 << 20)

/* Columns begin ... end-1 of one row of the window, counted from its upper left corner. */
typedef struct twi_run {
    int32_t row;
    int32_t begin;
    int32_t end;
} twi_run;

typedef struct twi_window {
    int32_t rows, cols; /* of the bounding box */
    int32_t top, left;  /* of the centre within it */
    int64_t size;       /* elements */
    bool full;          /* the box is filled */
    twi_run *runs;
    int64_t run_count;
} twi_window;

TW_CHECKED tw_status twi_window_make(tw_context *ctx, twi_window *out,
                                     const tw_entropy_options *opts);
void twi_window_clear(twi_window *window);

#endif
