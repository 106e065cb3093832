/* The inside of the entropy wing: how a result that is set up goes through sinks. */
#ifndef TWI_ENTROPY_ENTROPY_H
#define TWI_ENTROPY_ENTROPY_H

#include "entropy/shared/setup.h"

/* All of a result through sinks. The values are checked, unless there is a feed, which does it. A
 * GPU has been opened before, if there is to be one. */
TW_CHECKED tw_status twi_entropy_push(tw_context *ctx, twi_entropy_setup *setup, tw_sink *sinks,
                                      int32_t sink_count, tw_entropy_report *report);

#endif
