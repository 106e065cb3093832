/*
 * Narrow first, then wider. A working type is tried that is likely to be enough; what comes of it
 * is certified, and where the certificate refuses, the next wider type follows. The CPU's searches
 * (twi_search_run) and its sweep (twi_sweep_run) have loops of their own, since they deliver rows
 * as they go and continue from the row that they have reached; the sweep also steps through
 * kernels, not types. All other engines go through here.
 */
#ifndef TWI_APSP_SHARED_ATTEMPT_H
#define TWI_APSP_SHARED_ATTEMPT_H

#include "base/context.h"

/* What an attempt consists of, in this order; `self` is the engine's own. */
typedef struct twi_engine {
    const char *doing; /* "closing": what is done again */
    /* Make ready to work in `type`: memory that the type needs, and what it begins with. What an
     * attempt before this one has left is there still. */
    tw_status (*open)(void *self, tw_type type);
    tw_status (*close)(void *self);
    /* *exact: whether the type was enough. */
    tw_status (*certify)(void *self, bool *exact);
    /* Only of an attempt that was exact. */
    tw_status (*deliver)(void *self);
    /* Whether there is more of the type to try than what was not enough, as the next `open` will;
     * NULL: there never is. */
    bool (*more)(void *self);
} twi_engine;

/* Attempts until one is exact, in `first` and the types after it: u8, u16, i32, f64. Where the
 * caller has `asked` for a type, it is the only one; TW_AUTO: nobody has. *used is the type that
 * was tried last; the attempts are added to *count. */
TWI_SHARED TW_CHECKED tw_status twi_attempt(tw_context *ctx, const twi_engine *engine, void *self,
                                            tw_type first, tw_type asked, tw_type *used,
                                            int32_t *count);

#endif
