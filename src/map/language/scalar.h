/* One operation on numbers in the compute type: for folding and for the reference. */
#ifndef TWI_MAP_LANGUAGE_SCALAR_H
#define TWI_MAP_LANGUAGE_SCALAR_H

#include "map/program/program.h"

/* One operation on numbers of a compute type, rounded to it; masks are 0 and 1. */
double twi_scalar(int code, tw_type type, tw_type compute, const double args[3]);
/* A function of functions.def as the C library has it in double, and the bound on the error of such
 * a value, in units in its last place; a is the first argument. */
double twi_scalar_function(int code, double a, double b);
double twi_scalar_function_error(int code, double a, double value);
/* A value as it is after a store as `type` and a load; exact types pass. */
double twi_scalar_stored(double value, tw_type type);
static inline double twi_scalar_round(double value, tw_type compute)
{
    return compute == TW_F32 ? (double)(float)value : value;
}

#endif
