/* Sources: the checks that functions taking or filling them make first. They may be longer or
 * shorter than ours, as sinks may: see base/given.h. */
#ifndef TWI_BASE_SOURCE_H
#define TWI_BASE_SOURCE_H

#include "base/given.h"

/* Nothing into *out, which a function is about to fill, unless it is NULL; TW_ERR_ARGUMENT if
 * out->size leaves no room for a source. */
TW_CHECKED tw_status twi_source_clear(tw_context *ctx, tw_source *out);

/* The source into *out, which has been cleared. */
void twi_source_give(tw_source *out, tw_source ours);

/* TW_ERR_ARGUMENT unless `sources` is NULL or holds `count` sources of one size. Their functions
 * may be missing. */
TW_CHECKED tw_status twi_sources_check(tw_context *ctx, const tw_source *sources, int32_t count);

/* Source i of an array that has passed the check; one without functions, if the array is NULL. */
tw_source twi_source_at(const tw_source *sources, int32_t i);

#endif
