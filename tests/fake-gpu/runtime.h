/* What a test of the rounds can ask of the runtime beneath them: see runtime.c. */
#ifndef ROUNDS_RUNTIME_H
#define ROUNDS_RUNTIME_H

#include "cuda_runtime_api.h"

#include <stdint.h>

struct tw_context;

#define FAKE_DEVICES 4

/* Begin anew: the order in which streams go on comes from `seed`; call number `fail_at` fails (0:
 * none does). */
void fake_begin(uint64_t seed, int64_t fail_at);
/* Cancel the context at call number `call` from now on. */
void fake_cancel_at(struct tw_context *ctx, int64_t call);
/* Blocks, streams, events and registrations that have not been given back. */
int64_t fake_live(void);
/* The same after tw_device_release of a context. */
int64_t fake_live_without(struct tw_context *ctx);
/* Bytes that a device holds at most, and that were copied from the host so far. */
size_t fake_peak(int device);
size_t fake_uploaded(void);
/* Whether the byte lies in memory of a device. */
int fake_holds(const void *data);

/* What is free on each device; for the choice of a way alone. */
extern uint64_t fake_free_bytes[FAKE_DEVICES];

/* Pairs of tiles that products have multiplied so far. */
extern int64_t fake_steps;

/* Put a job on a stream: `run` is called with a copy of the arguments when its turn comes. */
int fake_launch(void (*run)(const void *arguments), const void *arguments, size_t bytes,
                void *stream);

#endif
