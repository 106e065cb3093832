/*
 * The closure on a GPU (gpu/closure.c): small matrices in one launch, larger ones in one launch per
 * round, and the largest in rounds of several kernels (gpu/kernels/kernels.h) on two streams: the
 * wide update of one pivot runs on the caller's stream while the next pivot's rows, tile and panels
 * are made on a stream of higher priority. tw_apsp_device (gpu/entry.c) is the entry for matrices
 * that already lie in GPU memory.
 */
#ifndef TWI_APSP_GPU_GPU_H
#define TWI_APSP_GPU_GPU_H

#include "apsp/gpu/kernels/kernels.h"
#include "apsp/shared/deliver.h"
#include "apsp/shared/plan.h"
#include "base/context.h"
#include "gpu/device.h"

/* A call for a matrix in device memory, all of it checked (gpu/call.c). */
typedef struct twi_gpu_call {
    tw_apsp_options opts; /* work_type and symmetric */
    tw_device_options device;
} twi_gpu_call;
TW_CHECKED tw_status twi_gpu_take_call(tw_context *ctx, twi_gpu_call *out, const tw_matrix *matrix,
                                       const tw_apsp_options *opts,
                                       const tw_device_options *device);

/* A working matrix in device memory. */
typedef struct twi_gpu_work {
    const twi_gpu_kernel *kernel;
    void *data; /* 16-byte aligned */
    int64_t n;
    int64_t ld; /* elements; whole 16-byte pieces */
    bool symmetric;
    const int32_t *needed; /* NULL, or a device flag: 0 makes every kernel do nothing */
    bool untidy;           /* entries may be above infinity, and the diagonal anything */
    bool apart;            /* take rounds on two streams whatever n, for tests and measurements */
} twi_gpu_work;

/* The kernel for n vertices: small tiles while a matrix of large ones would be all critical path.
 */
const twi_gpu_kernel *twi_gpu_kernel_choose(tw_type type, int64_t n);

/* Bytes of device memory for panels besides the matrix. */
uint64_t twi_gpu_closure_bytes(const twi_gpu_kernel *kernel, int64_t n, bool symmetric);

/*
 * Close `work` in place. `panels` is
 * twi_gpu_closure_bytes of device memory, 256-byte aligned. Everything is put on `stream` (or made
 * to be waited for by it) and nothing is waited for, unless `paced`: then the call follows the
 * device, reports progress and can be cancelled.
 */
TW_CHECKED tw_status twi_gpu_closure(tw_context *ctx, const twi_gpu_work *work, void *panels,
                                     void *stream, bool paced);

/* What a run on a GPU finds out. */
typedef struct twi_gpu_outcome {
    tw_type used; /* the type that was enough; TW_U16 for 16 bits */
    int32_t attempts;
    bool symmetric;
    double seconds_device;   /* of the closures alone, by the device's clock */
    double seconds_upload;   /* memory on both sides, and the arcs */
    double seconds_download; /* waiting for rows; the sinks' time hides the rest */
} twi_gpu_outcome;

/* The closure of a plan whose matrix fits on its one GPU: from the arcs to the delivered rows. */
TW_CHECKED tw_status twi_gpu_resident_run(tw_context *ctx, const tw_apsp_plan *plan,
                                          twi_delivery *delivery, twi_gpu_outcome *out);
/* Device memory that it takes with a matrix of `type`, and host memory. */
uint64_t twi_gpu_resident_bytes(const tw_apsp_plan *plan, tw_type type);
uint64_t twi_gpu_resident_memory(const tw_apsp_plan *plan);

/* A sweep of a plan that has a tree, on the devices of its list (gpu/sweep.c). */
TW_CHECKED tw_status twi_gpu_sweep_run(tw_context *ctx, const tw_apsp_plan *plan,
                                       twi_delivery *delivery, twi_gpu_outcome *out);
/* Memory that it takes on each device, and on the host besides the tree, in `type`: as much of the
 * plan's gpu_allowed as a sweep can use, or the least it could do with, if that is more. */
uint64_t twi_gpu_sweep_bytes(const tw_apsp_plan *plan, tw_type type);
uint64_t twi_gpu_sweep_memory(const tw_apsp_plan *plan, tw_type type);

/* Searches from many sources at once, by correcting labels, of all sources of a plan, on the first
 * GPU of its list (gpu/labels.c). *arcs: arcs times rows, what searches one by one would scan. */
TW_CHECKED tw_status twi_gpu_labels_run(tw_context *ctx, const tw_apsp_plan *plan,
                                        twi_delivery *delivery, twi_gpu_outcome *out, double *arcs);
/* Memory that they take on the device, and on the host, in `type`: on the device as much of the
 * plan's gpu_allowed as they can use, or the least they could do with, if that is more. */
uint64_t twi_gpu_labels_bytes(const tw_apsp_plan *plan, tw_type type);
uint64_t twi_gpu_labels_memory(const tw_apsp_plan *plan, tw_type type);

/* Whether trying 16 bits first pays for n vertices on a device of this architecture, if they are
 * likely to be enough. */
bool twi_gpu_narrow_pays(int64_t n, int32_t compute);

/* A matrix in host memory, to be closed on a device. */
typedef struct twi_gpu_host {
    void *data;
    int64_t n;
    int64_t ld;
    tw_type type; /* TW_I32, TW_F32 or TW_F64 */
    bool symmetric;
    const tw_graph *graph; /* whose it is: tells far pairs from those without a path; or NULL */

    /* With checkpoints: who keeps it between two pivots, or NULL; the vertices that have been
     * pivots in what a run goes on from, and its kernel, which tells the type. */
    struct twi_checkpoint *checkpoint;
    int64_t done;
    const struct twi_minplus_kernel *found; /* NULL: it begins */
    int32_t *attempts; /* those after the first are added to it; NULL: nobody counts */
} twi_gpu_host;

/* Bring it to the device, close it by tw_apsp_device and bring it back, rows as far apart as in
 * host memory: what a caller of that would do. */
TW_CHECKED tw_status twi_gpu_close_by_entry(tw_context *ctx, int32_t device,
                                            const twi_gpu_host *host);

typedef struct twi_gpu_fit {
    twi_gpu_way way;
    uint64_t bytes; /* each device of the list will hold at most */
    int32_t passes; /* of the whole matrix to the devices and back */
} twi_gpu_fit;

/* What each device of the list may use, in bytes: what is free there, and what the context allows;
 * of a GPU that is named more than once, its part. */
TW_CHECKED tw_status twi_gpu_allowance(tw_context *ctx, const twi_gpu_list *gpus, uint64_t *bytes);
/* The way for a matrix of n vertices in host memory, with 16 bits tried first or not, where each
 * device may use `limit` bytes; TW_ERR_MEMORY with the numbers if there is none. */
TW_CHECKED tw_status twi_gpu_find_way(tw_context *ctx, const twi_gpu_list *gpus, uint64_t limit,
                                      tw_type type, int64_t n, bool narrow, twi_gpu_fit *out);
/* Close the matrix that way, in place, with `narrow` in 16 bits first. *used: the type that was
 * enough, TW_U16 or the matrix's own. */
TW_CHECKED tw_status twi_gpu_close(tw_context *ctx, const twi_gpu_list *gpus, twi_gpu_way way,
                                   uint64_t limit, const twi_gpu_host *host, bool narrow,
                                   tw_type *used);

/*
 * The two ways, in one type: TW_U16 or the matrix's own. *capped: some entries are at the cap of 16
 * bits, and those of the host's matrix are what they were, or any length between that and the
 * shortest. Of a symmetric matrix the lower triangle is closed. With a checkpoint they go on from
 * the host's `done`, and bring the matrix back whenever it is time to keep it.
 *
 * Several devices (gpu/multi.c), and the bytes that a share takes, at most.
 */
TW_CHECKED tw_status twi_gpu_close_several(tw_context *ctx, const twi_gpu_list *gpus,
                                           const twi_gpu_host *host, tw_type type, bool *capped);
uint64_t twi_gpu_several_bytes(const twi_gpu_list *gpus, tw_type type, int64_t n, bool narrow);

/* One that need not hold it (gpu/stream.c); whether that can be done in `limit` bytes of its
 * memory, and the bytes it then takes, or the least it could do with; and the times that the whole
 * matrix then goes to the device and back, in the first type that is tried. */
TW_CHECKED tw_status twi_gpu_close_streamed(tw_context *ctx, int32_t device,
                                            const twi_gpu_host *host, tw_type type, uint64_t limit,
                                            bool *capped);
bool twi_gpu_stream_fits(tw_type type, int64_t n, bool narrow, uint64_t limit, uint64_t *bytes);
int32_t twi_gpu_stream_passes(tw_type type, int64_t n, bool narrow, uint64_t limit);

/* The rate of the step on registers alone, in relaxations per second. */
TW_CHECKED tw_status twi_gpu_ceiling(tw_context *ctx, int32_t device, tw_type type, double *rate);

#endif
