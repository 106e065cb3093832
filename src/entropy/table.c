/*
 * n log n as whole numbers: T[n] = round(n log n 2^F), with F fixed by the size of the window and
 * the base. The table must be the same on every machine, and libraries differ in the last bit of
 * log, so the logarithms are computed here with whole numbers alone:
 *
 *     ln n = ln(n-1) + 2 artanh(1/(2n-1)),   artanh x = x + x^3/3 + x^5/5 + ...
 *
 * with 96 bits after the point. Each step is wrong by less than 2^-90, so a million of them by less
 * than 2^-70. Other bases divide by their logarithm; the quotient keeps 56 bits. Costs a few
 * divisions of 128 bits for each n, some milliseconds for the largest windows.
 */
#include "entropy/entropy.h"

typedef unsigned __int128 wide;

#define POINT 96     /* bits after the point of a natural logarithm */
#define LOG_POINT 64 /* and of one to the base */
#define MOST_FRACTION 40

/* ln n - ln(n-1). */
static wide log_step(uint64_t n)
{
    const wide odd = 2 * (wide)n - 1;
    const wide square = odd * odd;
    wide power = ((wide)2 << POINT) / odd;
    wide sum = 0;
    for (uint64_t k = 1; power > 0; k += 2) {
        sum += power / k;
        power /= square;
    }
    return sum;
}

static wide natural_log(uint64_t n)
{
    wide sum = 0;
    for (uint64_t k = 2; k <= n; k++) {
        sum += log_step(k);
    }
    return sum;
}

/* log n to a base, LOG_POINT bits after the point; `unit` is the base's ln, or 0 for e. */
static wide rebase(wide log, wide unit)
{
    if (unit == 0) {
        return log >> (POINT - LOG_POINT);
    }
    return (log << 24) / (unit >> 40); /* 96 + 24 - (96 - 40) = 64 */
}

static int32_t bits_for(int64_t size)
{
    return size < 32 ? 24 : size <= 1024 ? 32 : 52;
}

/* round(n * log * 2^fraction) */
static uint64_t scaled(int64_t n, wide log, int32_t fraction)
{
    const int shift = LOG_POINT - fraction;
    return (uint64_t)(((wide)n * log + ((wide)1 << (shift - 1))) >> shift);
}

static void fill(twi_entropy_table *table, wide unit)
{
    wide log = 0;
    table->sum[0] = 0;
    table->step[0] = 0;
    for (int64_t n = 1; n <= table->size; n++) {
        log += n > 1 ? log_step((uint64_t)n) : 0;
        table->sum[n] = scaled(n, rebase(log, unit), table->fraction);
        table->step[n] = table->sum[n] - table->sum[n - 1];
    }
    for (int64_t high = 0; table->pair != NULL && high <= table->size; high++) {
        for (int64_t low = 0; low <= table->size; low++) {
            table->pair[high << 8 | low] = table->step[high] << 32 | table->step[low];
        }
    }
}

tw_status twi_entropy_table_make(tw_context *ctx, twi_entropy_table *out, int64_t size,
                                 tw_base base, int32_t levels)
{
    const uint64_t number = base == TW_BASE_LEVELS ? (uint64_t)levels : (uint64_t)base;
    const wide unit = base == TW_BASE_E ? 0 : natural_log(number);
    const wide largest = rebase(natural_log((uint64_t)size), unit);
    const int32_t bits = bits_for(size);
    *out = (twi_entropy_table){.size = size, .fraction = MOST_FRACTION};
    while (scaled(size, largest, out->fraction) >> bits != 0) {
        out->fraction--;
    }
    tw_status status =
        twi_alloc(ctx, &out->sum, (uint64_t)size + 1, sizeof *out->sum, "the logarithms");
    if (status == TW_OK) {
        status =
            twi_alloc(ctx, &out->step, (uint64_t)size + 1, sizeof *out->step, "the logarithms");
    }
    if (status == TW_OK && size <= UINT8_MAX) {
        status = twi_alloc(ctx, &out->pair, ((uint64_t)size + 1) << 8, sizeof *out->pair,
                           "the logarithms");
    }
    if (status != TW_OK) {
        twi_entropy_table_clear(out);
        return status;
    }
    fill(out, unit);
    return TW_OK;
}

void twi_entropy_table_clear(twi_entropy_table *table)
{
    twi_free(table->pair);
    twi_free(table->step);
    twi_free(table->sum);
    *table = (twi_entropy_table){0};
}
