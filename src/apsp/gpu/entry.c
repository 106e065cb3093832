/*
 * The entry for matrices in GPU memory. The closure wants rows of whole 16-byte pieces; a matrix
 * that has them is closed in place, another is copied to the workspace and back, which costs one
 * part in a thousand of a large closure.
 *
 * With 16 bits tried first everything is decided on the device, since the call may not wait for it:
 * the 16-bit closure runs beside the matrix, a pass looks for entries at the cap, and either the
 * result is widened into the matrix, or the kernels of the i32 closure, which are queued in any
 * case, find that they are needed.
 *
 * Workspace: a flag; then the copy of the matrix, if one is needed, and panels. The 16-bit form and
 * the closure that may follow it share the space.
 */
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/convert.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/layout.h"
#include "gpu/queue.h"

#define FLAG_BYTES 256          /* of the decision */
#define NARROW_FROM 4001        /* n: below, a failed attempt would cost more than 16 bits gain */
#define NARROW_FROM_HALVES 8000 /* likewise of symmetric matrices */
#define NARROW_COMPUTE 90       /* architectures on which 16 bits are twice as fast: from here */
#define NARROW_UNKNOWN 120      /* to here; what this one makes of them was never measured */

/* What one call will do. */
typedef struct device_run {
    twi_gpu_square matrix;
    tw_type type;
    int64_t n;
    bool undirected;
    const twi_gpu_kernel *kernel;
    const twi_gpu_kernel *narrow; /* NULL: 16 bits are not tried */
    int64_t copy_ld;              /* of the copy in the workspace; 0: in place */
    int64_t narrow_ld;
    uint64_t bytes;
} device_run;

_Static_assert(sizeof(twi_gpu_decision) <= FLAG_BYTES, "the decision begins the workspace");

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + FLAG_BYTES - 1) / FLAG_BYTES * FLAG_BYTES;
}

static uint64_t copy_bytes(int64_t n, int64_t ld, int64_t element)
{
    return round_up((uint64_t)n * (uint64_t)ld * (uint64_t)element);
}

/* Make the GPU that holds `data` the current one. */
static tw_status enter_device(tw_context *ctx, const void *data, int *previous, int *compute)
{
    int32_t device;
    tw_status status = twi_gpu_holder(ctx, data, "the matrix", &device);
    if (status != TW_OK) {
        return status;
    }
    status = twi_gpu_check(ctx, (int)cudaGetDevice(previous), "querying the current device");
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaSetDevice(device), "selecting the device");
    }
    int major = 0;
    int minor = 0;
    if (status == TW_OK) {
        status = twi_gpu_check(
            ctx, (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
            "querying the architecture");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(
            ctx, (int)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
            "querying the architecture");
    }
    *compute = major * 10 + minor;
    return status;
}

bool twi_gpu_narrow_pays(int64_t n, int32_t compute)
{
    return n >= NARROW_FROM && compute >= NARROW_COMPUTE && compute < NARROW_UNKNOWN;
}

static device_run describe(const tw_matrix *matrix, const tw_apsp_options *opts, int compute)
{
    int64_t n = matrix->rows;
    int64_t element = (int64_t)tw_type_size(matrix->type);
    device_run run = {
        .matrix = {matrix->data, matrix->stride},
        .type = matrix->type,
        .n = n,
        .undirected = opts->symmetric != 0,
        .kernel = twi_gpu_kernel_choose(matrix->type, n),
    };
    bool pays = twi_gpu_narrow_pays(n, compute) && (!run.undirected || n >= NARROW_FROM_HALVES);
    bool narrow = opts->work_type == TW_U16 || (opts->work_type == TW_AUTO && pays);
    bool pieces = (uintptr_t)matrix->data % TWI_GPU_PIECE == 0 &&
                  matrix->stride * element % TWI_GPU_PIECE == 0;
    run.copy_ld = pieces || n <= run.kernel->side ? 0 : twi_gpu_row_length(n, element);
    run.bytes =
        copy_bytes(n, run.copy_ld, element) + twi_gpu_closure_bytes(run.kernel, n, run.undirected);
    if (narrow && matrix->type == TW_I32) {
        run.narrow = twi_gpu_kernel_find(TW_U16, 0);
        run.narrow_ld = twi_gpu_row_length(n, run.narrow->element);
        const uint64_t panels = twi_gpu_closure_bytes(run.narrow, n, run.undirected);
        const uint64_t reached = round_up(TWI_GPU_REACHED_BYTES(n));
        uint64_t bytes = copy_bytes(n, run.narrow_ld, run.narrow->element) +
                         (panels > reached ? panels : reached);
        run.bytes = bytes > run.bytes ? bytes : run.bytes;
    }
    run.bytes += FLAG_BYTES;
    return run;
}

/* In 16 bits, and back into the matrix unless that leaves anything undecided. */
static tw_status close_narrow(tw_context *ctx, const device_run *run, twi_gpu_decision *decision,
                              char *space, void *stream)
{
    twi_gpu_square copy = {space, run->narrow_ld};
    char *panels = space + copy_bytes(run->n, run->narrow_ld, run->narrow->element);
    tw_status status = twi_gpu_check(ctx, twi_gpu_narrow(copy, run->matrix, run->n, stream),
                                     "starting to narrow the matrix");
    if (status == TW_OK) { /* where the panels will be */
        status =
            twi_gpu_check(ctx, twi_gpu_decide(decision, (uint8_t *)panels, copy, run->n, stream),
                          "starting to look for pairs without a path");
    }
    if (status == TW_OK) {
        twi_gpu_work work = {run->narrow,         space, run->n, run->narrow_ld, run->undirected,
                             &decision->possible, false, false};
        status = twi_gpu_closure(ctx, &work, panels, stream, false);
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, twi_gpu_find_capped(decision, copy, run->n, stream),
                               "starting to look for far pairs");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, twi_gpu_widen(run->matrix, copy, run->n, decision, stream),
                               "starting to widen the matrix");
    }
    return status;
}

/* In the matrix's own type; with `needed`, only if that is set by then. */
static tw_status close_wide(tw_context *ctx, const device_run *run, const int32_t *needed,
                            char *space, void *stream)
{
    twi_gpu_square copy = {space, run->copy_ld};
    twi_gpu_square square = run->copy_ld > 0 ? copy : run->matrix;
    tw_status status = TW_OK;
    if (run->copy_ld > 0) {
        status =
            twi_gpu_check(ctx, twi_gpu_tidy(run->type, copy, run->matrix, run->n, needed, stream),
                          "starting to copy the matrix");
    }
    if (status == TW_OK) {
        char *panels = space + copy_bytes(run->n, run->copy_ld, (int64_t)tw_type_size(run->type));
        twi_gpu_work work = {run->kernel, square.data,       run->n, square.ld, run->undirected,
                             needed,      run->copy_ld == 0, false};
        status = twi_gpu_closure(ctx, &work, panels, stream, false);
    }
    if (status == TW_OK && run->copy_ld > 0) {
        status =
            twi_gpu_check(ctx, twi_gpu_copy(run->type, run->matrix, copy, run->n, needed, stream),
                          "starting to copy the result");
    }
    return status;
}

/* A kernel that is given memory which its device does not have would end the caller's process. */
static tw_status check_workspace(tw_context *ctx, const void *matrix, const void *workspace)
{
    int32_t there;
    int32_t here;
    tw_status status = twi_gpu_holder(ctx, matrix, "the matrix", &there);
    if (status == TW_OK) {
        status = twi_gpu_holder(ctx, workspace, "the workspace", &here);
    }
    return status == TW_OK && here != there
               ? tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the workspace is in the memory of GPU %d, the matrix in that of GPU %d; "
                         "allocate both on the same GPU",
                         here, there)
               : status;
}

static tw_status queue(tw_context *ctx, const device_run *run, const tw_device_options *device)
{
    if (device->workspace_bytes < run->bytes || (uintptr_t)device->workspace % FLAG_BYTES != 0) {
        char need[32];
        char have[32];
        return tw_fail(ctx, TW_ERR_MEMORY,
                       "a workspace of %s, aligned to %d bytes, is needed in GPU memory; got %s",
                       twi_bytes(need, (double)run->bytes), FLAG_BYTES,
                       twi_bytes(have, (double)device->workspace_bytes));
    }
    tw_status status = check_workspace(ctx, run->matrix.data, device->workspace);
    if (status != TW_OK) {
        return status;
    }
    twi_gpu_decision *decision = device->workspace;
    char *space = (char *)device->workspace + FLAG_BYTES;
    if (run->narrow == NULL) {
        return close_wide(ctx, run, NULL, space, device->stream);
    }
    status = close_narrow(ctx, run, decision, space, device->stream);
    return status == TW_OK ? close_wide(ctx, run, &decision->undecided, space, device->stream)
                           : status;
}

/* Both entries: with `bytes`, only the size of the workspace. */
static tw_status enter(tw_context *ctx, uint64_t *bytes, const tw_matrix *matrix,
                       const tw_apsp_options *opts, const tw_device_options *device)
{
    twi_gpu_call call;
    tw_status status = twi_gpu_take_call(ctx, &call, matrix, opts, device);
    if (status != TW_OK) {
        return status;
    }
    if (matrix->rows == 0) {
        if (bytes != NULL) {
            *bytes = 0;
        }
        return TW_OK;
    }
    int previous = -1;
    int compute = 0;
    status = enter_device(ctx, matrix->data, &previous, &compute);
    if (status == TW_OK) {
        device_run run = describe(matrix, &call.opts, compute);
        if (bytes != NULL) {
            *bytes = run.bytes;
        } else {
            status = queue(ctx, &run, &call.device);
        }
    }
    if (previous >= 0) {
        (void)cudaSetDevice(previous);
    }
    return status;
}

tw_status tw_apsp_device_workspace(tw_context *ctx, uint64_t *bytes, const tw_matrix *matrix,
                                   const tw_apsp_options *opts)
{
    tw_status missing = TWI_REQUIRE(ctx, {"bytes", bytes}, {"matrix", matrix});
    if (missing != TW_OK) {
        return missing;
    }
    return enter(ctx, bytes, matrix, opts, NULL);
}

tw_status tw_apsp_device(tw_context *ctx, tw_matrix *matrix, const tw_apsp_options *opts,
                         const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"matrix", matrix});
    if (missing != TW_OK) {
        return missing;
    }
    return enter(ctx, NULL, matrix, opts, device);
}

/* ------------------------------------------------------------------- matrices in host memory */

/* What a host matrix has on the device. */
typedef struct host_copy {
    tw_context *ctx;
    void *matrix;
    cudaStream_t stream;
} host_copy;

static tw_status copy_rows(host_copy *self, const twi_gpu_host *host, bool up)
{
    size_t row = (size_t)host->ld * tw_type_size(host->type);
    twi_gpu_rows_copy copy = {
        host->data,     row, self->matrix, row, (size_t)host->n * tw_type_size(host->type),
        (size_t)host->n};
    tw_status status = twi_gpu_copy_rows(self->ctx, &copy, up, self->stream);
    return status == TW_OK ? twi_gpu_check(self->ctx, (int)cudaStreamSynchronize(self->stream),
                                           up ? "copying the matrix" : "closing the matrix")
                           : status;
}

tw_status twi_gpu_close_by_entry(tw_context *ctx, int32_t device, const twi_gpu_host *host)
{
    host_copy self = {.ctx = ctx};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_device_options call = TW_DEVICE_OPTIONS_INIT;
    tw_matrix view = {NULL, host->n, host->n, host->ld, host->type};
    const size_t bytes = (size_t)host->n * (size_t)host->ld * tw_type_size(host->type);
    if (host->n == 0) {
        return TW_OK;
    }
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(device), "selecting the device");
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaMalloc(&self.matrix, bytes), "allocating a matrix");
    }
    if (status == TW_OK) {
        status = twi_gpu_open_stream(ctx, &self.stream, false);
    }
    opts.symmetric = host->symmetric;
    call.stream = self.stream;
    view.data = self.matrix;
    if (status == TW_OK) {
        status = tw_apsp_device_workspace(ctx, &call.workspace_bytes, &view, &opts);
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaMalloc(&call.workspace, call.workspace_bytes),
                               "allocating a workspace");
    }
    if (status == TW_OK) {
        status = copy_rows(&self, host, true);
    }
    if (status == TW_OK) {
        status = tw_apsp_device(ctx, &view, &opts, &call);
    }
    if (status == TW_OK) {
        status = copy_rows(&self, host, false);
    }
    twi_gpu_close_stream(self.stream);
    (void)cudaFree(call.workspace); /* waits for what is still running on the device */
    (void)cudaFree(self.matrix);
    return status;
}
