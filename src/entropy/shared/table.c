/*
 * n log n as whole numbers. The table must be the same on every machine, and libraries differ in
 * the last bit of log, so the logarithms are computed here with whole numbers alone:
 *
 *     ln n = ln(n-1) + 2 artanh(1/(2n-1)),   artanh x = x + x^3/3 + x^5/5 + ...
 *
 * with 120 bits after the point. Each step is wrong by less than 2^-114, so a million of them by
 * less than 2^-94. Other bases multiply by the inverse of their logarithm, which has 120 bits too.
 * So n log n with 64 bits after the point, which f64 results are made of, is the nearest whole
 * number but for ties closer than 2^-8; f32 results take it rounded once more, to
 *
 *     F = the least whole number with 2^F >= 2^25 * 3/(8 ln 2) * ln(base)
 *
 * bits after the point: 25 for base e, 24 for 2, 26 for 10, 24 to 28 for a number of levels. That
 * is what 1 ulp takes for every window, whole, cropped or masked (docs/methods.md). Costs a few
 * divisions of 128 bits for each n.
 */
#include "entropy/shared/table.h"

#include "base/memory.h"

typedef unsigned __int128 wide;

#define POINT 120       /* bits after the point of a logarithm */
#define LOOK_EVERY 4096 /* of them, 0.4 ms: whether the call was cancelled */

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

/* 1 / x, bit by bit. */
static wide inverse(wide x)
{
    wide rest = 1;
    wide quotient = 0;
    for (int bit = 0; bit < 2 * POINT; bit++) {
        const bool fits = rest << 1 >= x;
        rest = (rest << 1) - (fits ? x : 0);
        quotient = quotient << 1 | fits;
    }
    return quotient;
}

/* x y of numbers with POINT bits after the point, whose product is below 2^8. */
static wide product(wide x, wide y)
{
    const wide x0 = (uint64_t)x, x1 = x >> 64;
    const wide y0 = (uint64_t)y, y1 = y >> 64;
    const wide cross = x1 * y0 + (x0 * y0 >> 64);
    const wide middle = x0 * y1 + (uint64_t)cross;
    const wide high = x1 * y1 + (cross >> 64) + (middle >> 64);
    return high << (128 - POINT) | (uint64_t)middle >> (POINT - 64);
}

/* round(n log 2^64) */
static wide times(int64_t n, wide log)
{
    const int drop = POINT - TWI_WIDE_POINT;
    const wide low = (wide)(uint64_t)n * (uint64_t)log + ((wide)1 << (drop - 1));
    return ((wide)(uint64_t)n * (log >> 64) << (64 - drop)) + (low >> drop);
}

/* F for results of f32. */
static int32_t choose_fraction(wide base_log)
{
    const wide least = 3 * (base_log >> 64) << 22;
    const wide unit = natural_log(2) >> 64;
    int32_t fraction = 22;
    while (unit << fraction < least) {
        fraction++;
    }
    return fraction;
}

static tw_status fill(tw_context *ctx, twi_entropy_table *table, wide unit)
{
    const int drop = TWI_WIDE_POINT - table->fraction;
    wide log = 0;
    for (int64_t n = 0; n <= table->size; n++) {
        const tw_status status = n % LOOK_EVERY == 0 ? twi_check_cancel(ctx) : TW_OK;
        if (status != TW_OK) {
            return status;
        }
        log += n > 1 ? log_step((uint64_t)n) : 0;
        const wide exact = times(n, product(log, unit));
        if (table->wide_sum != NULL) {
            table->wide_sum[n] = exact;
            table->wide_step[n] = exact - (n > 0 ? table->wide_sum[n - 1] : 0);
            table->wide_inverse[n] = twi_inverse_of((uint32_t)n);
        } else {
            table->sum[n] = (uint64_t)((exact + ((wide)1 << (drop - 1))) >> drop);
            table->step[n] = table->sum[n] - (n > 0 ? table->sum[n - 1] : 0);
        }
    }
    for (int64_t high = 0; table->pair != NULL && high <= table->size; high++) {
        for (int64_t low = 0; low <= table->size; low++) {
            table->pair[high << 8 | low] = table->step[high] << 32 | table->step[low];
        }
    }
    return TW_OK;
}

/* Sums and steps lie one after the other, so that they can be copied at once. */
static tw_status make_room(tw_context *ctx, twi_entropy_table *table, tw_type type)
{
    const uint64_t count = (uint64_t)table->size + 1;
    const char *what = "the logarithms";
    if (type == TW_F64) {
        tw_status status =
            twi_alloc(ctx, &table->wide_sum, 2 * count, sizeof *table->wide_sum, what);
        table->wide_step = status == TW_OK ? table->wide_sum + count : NULL;
        return status != TW_OK
                   ? status
                   : twi_alloc(ctx, &table->wide_inverse, count, sizeof *table->wide_inverse, what);
    }
    tw_status status = twi_alloc(ctx, &table->sum, 2 * count, sizeof *table->sum, what);
    table->step = status == TW_OK ? table->sum + count : NULL;
    if (status == TW_OK && table->size <= UINT8_MAX) {
        status = twi_alloc(ctx, &table->pair, count << 8, sizeof *table->pair, what);
    }
    return status;
}

tw_status twi_entropy_table_make(tw_context *ctx, twi_entropy_table *out, int64_t size,
                                 tw_entropy_base base, int32_t levels, tw_type type)
{
    const uint64_t number = base == TW_ENTROPY_BASE_LEVELS ? (uint64_t)levels : (uint64_t)base;
    const wide one = (wide)1 << POINT;
    const wide base_log = base == TW_ENTROPY_BASE_E ? one : natural_log(number);
    *out = (twi_entropy_table){.size = size, .fraction = choose_fraction(base_log)};
    tw_status status = make_room(ctx, out, type);
    if (status == TW_OK) {
        status = fill(ctx, out, base == TW_ENTROPY_BASE_E ? one : inverse(base_log));
    }
    if (status != TW_OK) {
        twi_entropy_table_clear(out);
    }
    return status;
}

void twi_entropy_table_clear(twi_entropy_table *table)
{
    twi_free(table->pair);
    twi_free(table->wide_sum);
    twi_free(table->wide_inverse);
    twi_free(table->sum);
    *table = (twi_entropy_table){0};
}
