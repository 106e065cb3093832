/*
 * Intervals that hold every value an evaluator may rightly compute: each operation widens its
 * result by the bound of that operation, so a chain of operations is checked without a bound on the
 * expression as a whole, which may lose any number of digits. Arithmetic rounds correctly: points
 * stay points, and such expressions are checked to the last bit.
 */
#ifndef TWI_MAP_INTERVAL_H
#define TWI_MAP_INTERVAL_H

#include "base/context.h"

/* All numbers from lo to hi, and NaN if `nan`. lo > hi: no numbers, only NaN. The ends are numbers
 * of the compute type. A truth value is 0, 1, or both. */
typedef struct twi_interval {
    double lo, hi;
    bool nan;
} twi_interval;

static inline twi_interval twi_interval_point(double value)
{
    return value == value ? (twi_interval){value, value, false}
                          : (twi_interval){__builtin_inf(), -__builtin_inf(), true};
}

/* The union, as an interval. */
twi_interval twi_interval_join(twi_interval a, twi_interval b);

/* An operation of program.h that has arguments, STORED excepted, with its bound in ulp. */
twi_interval twi_interval_apply(int code, tw_type compute, double ulp, const twi_interval args[3]);

#endif
