/* The clock of the commands. */
#ifndef FRAME_CLOCK_H
#define FRAME_CLOCK_H

/* Monotonic seconds. */
double cli_seconds(void);

#endif
