/*
 * Sinks: the check that every function taking an array of them makes first, and the one driver of
 * their contract, which include/tilewright.h states. Whoever has rows for sinks goes
 *
 *     twi_sinks out = {0};
 *     status = twi_sinks_begin(ctx, &out, sinks, count, &shape);
 *     ... while status is TW_OK: status = twi_sinks_rows(ctx, &out, first, rows, data, stride);
 *     return twi_sinks_finish(ctx, &out, status);
 *
 * and calls no function of a sink by itself. Two drivers, each with sinks of its own shape, finish
 * one after the other, the second, which is marked as such, with the status of the first.
 *
 * A caller's sinks may be longer or shorter than ours (see base/given.h): they are looked at by
 * twi_sink_at, and filled by twi_sink_clear and twi_sink_give.
 */
#ifndef TWI_BASE_SINK_H
#define TWI_BASE_SINK_H

#include "base/given.h"

typedef struct twi_sinks {
    tw_sink *sinks;
    int32_t count;
    int32_t begun;  /* whose begin succeeded */
    int32_t ended;  /* whose end succeeded: their results stand */
    bool refused;   /* one of them failed */
    bool second;    /* those of another driver end before */
    int32_t number; /* of the first of them, in sentences; set before begin */
    tw_shape shape;
    int64_t next; /* row that is due */
} twi_sinks;

/* Nothing into *out, which a function is about to fill, unless it is NULL; TW_ERR_ARGUMENT if
 * out->size leaves no room for a sink. */
TW_CHECKED tw_status twi_sink_clear(tw_context *ctx, tw_sink *out);

/* The sink into *out, which has been cleared. */
void twi_sink_give(tw_sink *out, tw_sink ours);

/* TW_ERR_ARGUMENT unless there are `count` sinks of one size, each with begin, rows, end and
 * abort. */
TW_CHECKED tw_status twi_sinks_check(tw_context *ctx, const tw_sink *sinks, int32_t count);
/* The same of a sink by itself, which sentences call sink `number`. */
TW_CHECKED tw_status twi_sink_check(tw_context *ctx, const tw_sink *sink, int32_t number);

/* Sink i of an array that has passed the check. */
tw_sink twi_sink_at(const tw_sink *sinks, int32_t i);

/* end and abort of a sink that has nothing left to do then. */
TWI_SHARED tw_status twi_sink_ended(void *self, tw_context *ctx);
TWI_SHARED void twi_sink_aborted(void *self, tw_context *ctx);

/* begin of each sink, as far as they succeed. `sinks` must have passed the check. */
TW_CHECKED tw_status twi_sinks_begin(tw_context *ctx, twi_sinks *out, tw_sink *sinks, int32_t count,
                                     const tw_shape *shape);

/* rows of each sink, unless the call has been cancelled, before or meanwhile. Rows out of turn are
 * TW_ERR_INTERNAL. */
TW_CHECKED tw_status twi_sinks_rows(tw_context *ctx, twi_sinks *out, int64_t first, int64_t count,
                                    const void *data, int64_t stride);

/* The same with `take` in place of each sink's rows: what all of them understand, whatever data and
 * stride are, stands for these rows. */
typedef tw_status (*twi_sink_take)(void *self, tw_context *ctx, int64_t first, int64_t count,
                                   const void *data, int64_t stride);
TW_CHECKED tw_status twi_sinks_take(tw_context *ctx, twi_sinks *out, int64_t first, int64_t count,
                                    const void *data, int64_t stride, twi_sink_take take);

/* With TW_OK, end of each sink, unless the call has been cancelled before the first one; after a
 * failure abort of those that are open. Returns what went wrong first. */
TW_CHECKED tw_status twi_sinks_finish(tw_context *ctx, twi_sinks *out, tw_status status);

/* abort of those that are open, as for a result that will not be complete. The sentence of the
 * failure stays. */
void twi_sinks_abort(tw_context *ctx, twi_sinks *out);

#endif
