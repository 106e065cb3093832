/*
 * The general kernels: histograms that slide along rows of the padded array. Their rows are u16
 * levels, or u32 where twi_entropy_is_wide, `pitch` apart; the level `levels` is what does not
 * count. `histogram` is all zero on entry and on return.
 */
#ifndef TWI_ENTROPY_CPU_SLIDE_H
#define TWI_ENTROPY_CPU_SLIDE_H

#include "entropy/shared/setup.h"

/* Words of histogram that any of the kernels needs. */
int64_t twi_slide_words(const twi_entropy_setup *setup);

/* Rows of outputs that the lanes take at once for this window; 0 if it is not for them. */
int32_t twi_lane_count(const twi_window *window);

/* Row y of twi_lane_count rows of outputs has its windows' upper edge at levels + y * pitch; the
 * first `live` of them are written. */
void twi_slide_lanes(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                     float *out, int64_t stride, int64_t live, uint64_t *histogram);

/* One row of outputs, any window. */
void twi_slide_list_u16(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                        float *out, uint64_t *histogram);
void twi_slide_list_u32(const twi_entropy_setup *setup, const uint32_t *levels, int64_t pitch,
                        float *out, uint64_t *histogram);
void twi_slide_list_u16_f64(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                            double *out, uint64_t *histogram);
void twi_slide_list_u32_f64(const twi_entropy_setup *setup, const uint32_t *levels, int64_t pitch,
                            double *out, uint64_t *histogram);

#endif
