/*
 * Weights of tables, and decimals with a comma among them, as spreadsheets save them where that is
 * the custom, and R's write.csv2: "7,5". A comma may stand between thousands as well, so one of
 * "1,234" counts only where another weight of the file settles it, and none beside points.
 */
#ifndef TWI_IO_GRAPH_DECIMALS_H
#define TWI_IO_GRAPH_DECIMALS_H

#include "io/graph/fields.h"

#include <stdatomic.h>
#include <string.h>

/* How the weights of a file are written, as found so far by all threads. */
typedef struct twi_decimals {
    atomic_bool commas;    /* certainly decimals: "7,5", "0,125" */
    atomic_bool thousands; /* or thousands: "1,234" */
    atomic_bool points;    /* "7.5" */
} twi_decimals;

/* Whether it may be a number with a comma in it. */
bool twi_decimal_has_comma(const twi_field *field);

/* The weight in a field. False after twi_text_fail. */
bool twi_decimal_read(twi_text *text, const twi_field *field, twi_decimals *seen, twi_number *out);

/* That the number in [begin, end) may have a point. */
static inline void twi_decimals_note_point(twi_decimals *seen, const twi_number *number,
                                           const char *begin, const char *end)
{
    if (!number->whole && !atomic_load_explicit(&seen->points, memory_order_relaxed) &&
        memchr(begin, '.', (size_t)(end - begin)) != NULL) {
        atomic_store(&seen->points, true);
    }
}

/* After all weights: refuses what can be read in two ways, and mentions commas that were read. */
TW_CHECKED tw_status twi_decimals_check(tw_context *ctx, const twi_input *input,
                                        const twi_decimals *seen);

#endif
