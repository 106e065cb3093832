/*
 * GPUs: which there are, which a name means, and how their errors become statuses. Nothing here
 * knows any problem. A build without a GPU has the same functions; they say so and fail.
 */
#ifndef TWI_GPU_DEVICE_H
#define TWI_GPU_DEVICE_H

#include "base/context.h"

#define TWI_GPU_MOST 16 /* devices one run can name */

typedef struct twi_gpu_list {
    int32_t count;
    int32_t index[TWI_GPU_MOST]; /* the same device may stand here more than once */
} twi_gpu_list;

typedef struct twi_gpu_info {
    char name[64];
    uint64_t memory; /* bytes, all of it */
    uint64_t memory_free;
    int32_t processors;
    double clock;          /* the highest, in Hz; 0: not told */
    int32_t compute;       /* 90 for compute capability 9.0 and for gfx90a, 103 for gfx1030 */
    bool amd;              /* by which those two are told apart */
    char architecture[32]; /* "9.0", "gfx90a" */
} twi_gpu_info;

/* Whether device i of the list is there for the first time: what is told of its processors counts
 * once. */
static inline bool twi_gpu_is_first(const twi_gpu_list *gpus, int32_t i)
{
    int32_t first = 0;
    while (gpus->index[first] != gpus->index[i]) {
        first++;
    }
    return first == i;
}

/* "this build has no GPU code", "no driver", "no device", or a count such as "1 CUDA device". */
const char *twi_gpu_text(void);

/* How many there are; 0 too without a driver or GPU code. */
int32_t twi_gpu_count(void);

/* Of the driver and of the runtime, "CUDA 13.0"; "" for what is not there. */
void twi_gpu_versions(char driver[32], char runtime[32]);

/* What device names begin with: "cuda" or "hip"; "" without GPU code. */
const char *twi_gpu_prefix(void);

/* The devices that the context's device name means: "cuda" is device 0, "cuda:0,1" two. A name of
 * the CPU ("auto", "cpu") gives a count of 0. A device that is not there is TW_ERR_DEVICE. */
TW_CHECKED tw_status twi_gpu_select(tw_context *ctx, twi_gpu_list *out);
TW_CHECKED tw_status twi_gpu_describe(tw_context *ctx, int32_t device, twi_gpu_info *out);

/* How device `from` reaches the memory of `to`. */
TW_CHECKED tw_status twi_gpu_link(tw_context *ctx, tw_gpu_link *out, int32_t from, int32_t to);

/* The device in whose memory `data` lies, which is called `what` in the sentence of
 * TW_ERR_ARGUMENT, if that is host memory. */
TW_CHECKED tw_status twi_gpu_holder(tw_context *ctx, const void *data, const char *what,
                                    int32_t *device);

/* TW_OK for 0; else TW_ERR_DEVICE (TW_ERR_MEMORY if it is about memory) with a sentence that names
 * the current device and `call`, which is what was being done: "allocating 4.3 GB for panels". */
TW_CHECKED tw_status twi_gpu_check(tw_context *ctx, int error, const char *call);
/* Make the n-th check from now report an error, whatever came of the call (1: the next); 0 turns it
 * off. For tests. */
void twi_gpu_fail_at(int32_t n);

#endif
