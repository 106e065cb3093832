/*
 * A thread of its own beside the calling one, for work that mostly waits for somebody else: a
 * driver that starts, pages of a file that the system has to find. Computing is OpenMP's
 * (threads.h).
 */
#ifndef TWI_BASE_BACKGROUND_H
#define TWI_BASE_BACKGROUND_H

#include "base/export.h"

typedef struct twi_background twi_background;

/* Begin work(self). NULL if the system gives no thread: the caller does without. */
TWI_SHARED twi_background *twi_background_start(void (*work)(void *self), void *self);

/* Wait for the work to end and free; NULL is fine. */
TWI_SHARED void twi_background_join(twi_background *background);

#endif
