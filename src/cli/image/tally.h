/* What has been seen of a result on its way: a sink that counts, and keeps the extremes and the
 * sum. */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include <tilewright.h>

#include <stdbool.h>

typedef struct cli_tally {
    bool has_no_data; /* set by the caller, with no_data; the rest begins with zeros */
    double no_data;
    const tw_matrix
        *mask; /* set by the caller: u8, elements where it is 0 are passed over; or NULL */
    tw_type type;
    int64_t cols;
    int64_t count; /* finite or infinite numbers that are data */
    int64_t empty; /* NaN, no data, or masked */
    double least, most, sum;
} cli_tally;

/* A sink into `tally`, which stays the caller's. */
void cli_tally_sink(cli_tally *tally, tw_sink *out);

/* NaN where nothing was seen. */
double cli_tally_mean(const cli_tally *tally);

#endif
