/* The monotonic clock, in seconds. */
#ifndef TWI_BASE_CLOCK_H
#define TWI_BASE_CLOCK_H

#include "base/export.h"

TWI_SHARED double twi_seconds(void);

/* Time that the calling thread has been running on a processor: waiting for memory counts, waiting
 * for other programs does not. A system call. */
TWI_SHARED double twi_thread_seconds(void);

/* "0.41 s", "2 min 05 s", "9.73 h": a length of time for a reader, as the commands write it. */
#define TWI_DURATION 32
TWI_SHARED const char *twi_duration(char out[TWI_DURATION], double seconds);

#endif
