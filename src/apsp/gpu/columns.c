/* See columns.h. */
#include "apsp/gpu/columns.h"

#include "base/matrix.h"
#include "gpu/device.h"
#include "gpu/queue.h"

static tw_status check(const twi_gpu_columns *self, cudaError_t error, const char *call)
{
    return twi_gpu_check(self->ctx, (int)error, call);
}

/* The sentence for a value that the result's type cannot hold. */
static tw_status fail_misfit(const twi_gpu_columns *self, uint64_t where)
{
    const tw_apsp_plan *plan = self->plan;
    const twi_gpu_rows *rows = &self->rows;
    const int64_t row = (int64_t)where / rows->cols;
    const int64_t col = (int64_t)where % rows->cols;
    const int64_t source = twi_plan_source(plan, row);
    const int64_t target = twi_plan_target(plan, col);
    const int64_t line = self->place != NULL ? self->place[target] : target;
    const int64_t column =
        self->column != NULL ? self->column[row - rows->begin] : row - rows->begin;
    const size_t size = tw_type_size(rows->work);
    char element[sizeof(double)] __attribute__((aligned(8))) = {0};
    const char *from = (const char *)rows->in.data + (size_t)(line * rows->in.ld + column) * size;
    tw_status status =
        check(self, cudaMemcpyAsync(element, from, size, cudaMemcpyDeviceToHost, self->stream),
              "reading a distance");
    if (status == TW_OK) {
        status = check(self, cudaStreamSynchronize(self->stream), "reading a distance");
    }
    if (status != TW_OK) {
        return status;
    }
    double distance = twi_element(element, rows->work, 0);
    if (plan->potential != NULL) {
        distance += plan->potential[target] - plan->potential[source];
    }
    return twi_delivery_misfit(self->ctx, self->delivery, row, col, distance);
}

static tw_status fetch(void *columns, int64_t first, int64_t count, int turn)
{
    const twi_gpu_columns *self = columns;
    const twi_gpu_rows *rows = &self->rows;
    const size_t bytes = (size_t)(count * rows->cols) * tw_type_size(rows->type);
    tw_status status = twi_gpu_check(
        self->ctx, twi_gpu_take_rows(self->block[turn], rows, first, count, self->stream),
        "starting to convert rows");
    if (status == TW_OK) {
        status = twi_gpu_record(self->ctx, self->converted, self->stream);
    }
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->copies, self->converted);
    }
    return status == TW_OK ? check(self,
                                   cudaMemcpyAsync(self->stage->pinned[turn], self->block[turn],
                                                   bytes, cudaMemcpyDeviceToHost, self->copies),
                                   "copying rows")
                           : status;
}

static tw_status give(void *columns, int64_t first, int64_t count, char *rows)
{
    const twi_gpu_columns *self = columns;
    return twi_delivery_finished_rows(self->ctx, self->delivery, first, count, rows);
}

tw_status twi_gpu_deliver_columns(twi_gpu_columns *self, int64_t count)
{
    const twi_gpu_rows *rows = &self->rows;
    const twi_gpu_rows_back how = {self, fetch, give, self->copies, self->seconds};
    const int64_t row_bytes = rows->cols * (int64_t)tw_type_size(rows->type);
    if (row_bytes == 0) {
        return twi_delivery_finished_rows(self->ctx, self->delivery, rows->begin, count,
                                          self->stage->pinned[0]);
    }
    tw_status status =
        twi_gpu_bring_back(self->ctx, self->stage, &how, rows->begin, rows->begin + count,
                           (int64_t)self->stage->bytes / row_bytes);
    if (status == TW_OK) {
        status = check(self,
                       cudaMemcpyAsync(self->misfit, rows->misfit, sizeof *self->misfit,
                                       cudaMemcpyDeviceToHost, self->stream),
                       "copying rows");
    }
    if (status == TW_OK) {
        status = check(self, cudaStreamSynchronize(self->stream), "copying rows");
    }
    return status == TW_OK && *self->misfit != UINT64_MAX ? fail_misfit(self, *self->misfit)
                                                          : status;
}
