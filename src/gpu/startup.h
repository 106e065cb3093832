/*
 * Starting a GPU: loading the driver and making its context takes a third of a second, most of it
 * waiting, so it is begun in the background as soon as the device is known. A context starts one
 * device; whoever needs it waits for what is left.
 */
#ifndef TWI_GPU_STARTUP_H
#define TWI_GPU_STARTUP_H

#include "base/context.h"

/* Wait until the context's (first) GPU can be used, starting it here and now if nobody has; with
 * "auto", device 0. Returns the seconds that this took. An error of the driver shows in the call
 * that uses the device. */
double twi_gpu_await(tw_context *ctx);

/* Whether the start has begun, or is over. */
bool twi_gpu_is_starting(const tw_context *ctx);

/* Whether the context's (first) GPU runs in this process, whichever context started it: its start
 * costs nothing more. */
bool twi_gpu_is_running(const tw_context *ctx);

/* With "auto": what the CPU must take for a GPU to be looked at, in seconds, and `why` not if it
 * takes less. Where no driver runs, the look is its start. */
double twi_gpu_worth_a_look(const tw_context *ctx, const char **why);

/* After twi_gpu_await: what the start of the context's device took, wherever it ran; 0: not
 * started. */
double twi_gpu_startup_seconds(const tw_context *ctx);

/* Whether this machine has a device at all; `why` (at least 128 bytes) says why not. Starts the
 * driver, though no device. */
bool twi_gpu_present(char *why, size_t size);

#endif
