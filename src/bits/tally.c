/* Sums per bit by carry-save addition: see tally.h. */
#include "bits/tally.h"

#include <string.h>

#define WORDS TWI_TALLY_WORDS

void twi_tally_clear(twi_tally *tally)
{
    memset(tally, 0, sizeof *tally);
}

static void add_at(twi_tally *tally, const uint64_t *row, int plane)
{
    uint64_t carry[WORDS];
    memcpy(carry, row, sizeof carry);
    for (; tally->waits[plane]; plane++) {
        uint64_t *sum = tally->sum[plane];
        const uint64_t *waiting = tally->waiting[plane];
        for (int i = 0; i < WORDS; i++) {
            uint64_t both = sum[i] & waiting[i];
            uint64_t one = sum[i] ^ waiting[i];
            sum[i] = one ^ carry[i];
            carry[i] = both | (one & carry[i]);
        }
        tally->waits[plane] = false;
    }
    memcpy(tally->waiting[plane], carry, sizeof carry);
    tally->waits[plane] = true;
}

void twi_tally_add(twi_tally *tally, const uint64_t row[WORDS], uint64_t weight)
{
    for (; weight != 0; weight &= weight - 1) {
        add_at(tally, row, __builtin_ctzll(weight));
    }
}

int64_t twi_tally_sum(const twi_tally *tally, int at)
{
    int64_t total = 0;
    for (int plane = 0; plane < TWI_TALLY_PLANES; plane++) {
        uint64_t sum = tally->sum[plane][at / 64];
        uint64_t waiting = tally->waits[plane] ? tally->waiting[plane][at / 64] : 0;
        total += (int64_t)(((sum >> (at % 64)) & 1) + ((waiting >> (at % 64)) & 1)) << plane;
    }
    return total;
}
