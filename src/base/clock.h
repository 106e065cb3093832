/* The monotonic clock, in seconds. */
#ifndef TWI_BASE_CLOCK_H
#define TWI_BASE_CLOCK_H

double twi_seconds(void);

/* Time that the calling thread has been running on a processor: waiting for memory counts, waiting
 * for other programs does not. A system call. */
double twi_thread_seconds(void);

#endif
