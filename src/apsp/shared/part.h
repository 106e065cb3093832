/*
 * A summary of rows that lie with several processes. Each has a part: a summary that gets some of
 * the rows, in any order, and keeps the numbers of each at its place. Whoever carries messages then
 *
 *  1. takes the largest `exponent` of all parts, and asks for the part with that;
 *  2. puts `rows` of all parts together by a bitwise or, and `cells` by a sum, in place;
 *  3. takes the largest twi_summary_part_farthest of all parts, and finishes each with that.
 *
 * Every process has the summary then, and it is the one that all rows in their order give, to the
 * last bit.
 */
#ifndef TWI_APSP_SHARED_PART_H
#define TWI_APSP_SHARED_PART_H

#include "apsp/shared/fold.h"
#include "apsp/shared/statistics.h"

/* The sink of a part: row i that comes has places[i] in the result, which is read when it comes.
 * `asked` is the plan of all rows. Ended or aborted, the sink leaves the part as it is. */
TWI_SHARED void twi_summary_part_sink(tw_apsp_summary *summary, const int64_t *places,
                                      const tw_apsp_plan *asked, tw_sink *out);

typedef struct twi_summary_part {
    void *rows; /* row_count times row_bytes */
    int64_t row_count, row_bytes;
    int64_t *cells; /* of the histogram; NULL without one */
    int64_t cell_count;
    int32_t exponent; /* of their width; INT_MIN: nothing is known of it */
} twi_summary_part;
/* With cells of that width, or wider if they are. */
TWI_SHARED twi_summary_part twi_summary_part_of(tw_apsp_summary *summary, int32_t exponent);

/* The column of the diameter, if its row is one of this part; else -1. After step 2. */
TWI_SHARED int64_t twi_summary_part_farthest(const tw_apsp_summary *summary);

TWI_SHARED TW_CHECKED tw_status twi_summary_part_finish(tw_context *ctx, tw_apsp_summary *summary,
                                                        int64_t farthest);
/* What there is of it, where it will not be finished. */
TWI_SHARED void twi_summary_part_forget(tw_apsp_summary *summary);

#endif
