/* Distances of a narrow working type as those of a wider one. */
#ifndef TWI_APSP_SHARED_WIDEN_H
#define TWI_APSP_SHARED_WIDEN_H

#include "base/context.h"

/* Whether twi_widen knows the way: from a type to itself, from u8 and u16 to i32, f32 and f64, and
 * from i32 to f64. */
bool twi_widens(tw_type from, tw_type to);

/* `count` distances, unreachable being tw_apsp_infinity of the type on both sides. */
void twi_widen(void *out, tw_type to, const void *in, tw_type from, int64_t count);

/* The same past the caches, where the machine can do that and there is a way: to f64 whole lines,
 * and what lies before and behind them as usual; from u16 to i32 if there are whole lines only. For
 * results that are too large for any cache. Before another thread looks at what was streamed, the
 * one that did it calls twi_streamed. */
void twi_widen_streaming(void *out, tw_type to, const void *in, tw_type from, int64_t count);
void twi_streamed(void);

#endif
