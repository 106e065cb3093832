/*
 * The method of bins, for processors with permutes of 64 bytes (permute.h): as long as counts are
 * small, an output costs the same in windows of any height. The counts of a window are a byte for
 * each level, modulo 256; every window of a strip keeps by how much the next one's differ, which an
 * element that enters or leaves changes in two places only. All counts are looked up for every
 * output, 64 at once.
 *
 * What is looked up is r[n] = a n - T[n] for counts below 256, with `a` such that it is never below
 * zero: it fits four bytes, and all counts together are known. Counts of 256 or more find r of
 * their lower eight bits, so their levels are kept in a list, and what makes up for it is added for
 * each of them. From one window to the next a count goes up or down by less than 128, since windows
 * have at most 127 rows: so it goes past a multiple of 256 where its uppermost bit changes to that
 * of the difference.
 */
#ifndef TWI_ENTROPY_CPU_BINS_H
#define TWI_ENTROPY_CPU_BINS_H

#include "entropy/cpu/band.h"
#include "entropy/shared/setup.h"

bool twi_bins_take(const twi_entropy_setup *setup);
/* Whether they are the fastest way for this window, too, but for the stacks (stacks.h). */
bool twi_bins_pay(const twi_entropy_setup *setup);
uint64_t twi_bins_scratch(const twi_entropy_setup *setup);
void twi_bins_run(tw_context *ctx, const twi_entropy_setup *setup, const twi_level_band *band);

#endif
