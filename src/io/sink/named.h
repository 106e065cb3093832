/* What sinks that write a file begin with. */
#ifndef TWI_IO_SINK_NAMED_H
#define TWI_IO_SINK_NAMED_H

#include "base/context.h"

/* A sink of `size` bytes, zeroed, into *self (any pointer), and a copy of its path into *kept; on
 * failure NULL. Free both with twi_free. */
TW_CHECKED tw_status twi_sink_named(tw_context *ctx, void *self, uint64_t size, char **kept,
                                    const char *path);

#endif
