/* The monotonic clock, in seconds. */
#ifndef TWI_BASE_CLOCK_H
#define TWI_BASE_CLOCK_H

double twi_seconds(void);

#endif
