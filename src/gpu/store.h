/*
 * What a context keeps of its GPUs from one call for the next: pinned memory of the host, memory of
 * devices, streams, and code that was loaded. To pin memory takes 0.5 ms per MB (H200, November
 * 2026), longer than to send it over the link twenty times, so a call that ends gives its buffers
 * back to the context and the next one finds them there.
 *
 * What lies idle is bounded: TWI_MOST_PINNED bytes of the host, TWI_MOST_DEVICE bytes of devices,
 * TWI_MOST_STREAMS streams, TWI_MOST_CODES kernels; beyond that the longest idle goes first. Pinned
 * memory is counted with the context's memory, idle or not; idle memory is given back, whatever the
 * bound, before something is refused for want of it (base/memory.c), and idle memory of devices
 * before their free memory is read; where that is limited, none lies idle. tw_device_release gives
 * back all of it, and so does the end of the context. What is still in use then (a plan may outlive
 * its context) is freed when it is given back.
 */
#ifndef TWI_GPU_STORE_H
#define TWI_GPU_STORE_H

#include "base/context.h"

#define TWI_MOST_PINNED ((uint64_t)64 << 20)
#define TWI_MOST_DEVICE ((uint64_t)256 << 20)
#define TWI_MOST_STREAMS 16
#define TWI_MOST_CODES 16

#define TWI_PINNED (-1) /* instead of a device: pinned memory of the host */

typedef struct twi_gpu_block {
    void *data;
    uint64_t bytes; /* at least as many as were asked for */
    struct twi_store_piece *piece;
} twi_gpu_block;

/* Memory of `device`, which is the current one, or TWI_PINNED; with what somebody left in it. On
 * failure *out is {0}. */
TW_CHECKED tw_status twi_gpu_take(tw_context *ctx, twi_gpu_block *out, int32_t device,
                                  uint64_t bytes, const char *what);
/* Nothing queued may use it any more. {0} is fine, and is what *block becomes. */
void twi_gpu_give(twi_gpu_block *block);

typedef struct twi_gpu_stream {
    void *stream; /* the runtime's, whose names builds without a GPU lack */
    struct twi_store_piece *piece;
} twi_gpu_stream;

/* A stream of `device`, which is the current one, that does not wait for the default stream. */
TW_CHECKED tw_status twi_gpu_take_stream(tw_context *ctx, twi_gpu_stream *out, int32_t device);
/* Waits for what is queued; a stream in which something failed is not kept. {0} is fine. */
void twi_gpu_give_stream(twi_gpu_stream *stream);

/* A kernel that was compiled from text, on the device that it was loaded on. */
typedef struct twi_gpu_code {
    void *module;
    void *function;
    struct twi_store_piece *piece;
} twi_gpu_code;

/* One of that text, if it is kept and nobody has it; else *out is {0}. */
TW_CHECKED tw_status twi_gpu_take_code(tw_context *ctx, twi_gpu_code *out, int32_t device,
                                       const char *text);
/* Whether that would find one. */
bool twi_gpu_keeps_code(const tw_context *ctx, int32_t device, const char *text);
/* One that was just loaded, to be kept once it is given back; `unload` is called on its device. On
 * failure it is unloaded. */
TW_CHECKED tw_status twi_gpu_own_code(tw_context *ctx, twi_gpu_code *out, int32_t device,
                                      const char *text, void *module, void *function,
                                      void (*unload)(void *module));
/* {0} is fine. */
void twi_gpu_give_code(twi_gpu_code *code);

#endif
