/* The remainder of large arguments by pi/2. */
#ifndef TWI_MAP_FUNCTIONS_REDUCE_H
#define TWI_MAP_FUNCTIONS_REDUCE_H

/* n mod 4 and x - n pi/2 as a sum, |rest| <= pi/4, for 2^15 <= x; NaN for inf and NaN. */
int twi_map_reduce(double x, double rest[2]);

#endif
