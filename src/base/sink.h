/* Sinks: the one check that every function taking an array of them makes first. */
#ifndef TWI_BASE_SINK_H
#define TWI_BASE_SINK_H

#include "base/context.h"

/* TW_ERR_ARGUMENT unless there are `count` sinks, each with begin, rows, end and abort. */
TW_CHECKED tw_status twi_sinks_check(tw_context *ctx, const tw_sink *sinks, int32_t count);

#endif
