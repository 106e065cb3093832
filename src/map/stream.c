/*
 * Maps through sinks, in blocks of rows. Inputs lie in memory, or come from sources: then the rows
 * behind a block of the result are read before it is computed, by all threads, and the next ones
 * take their place. So neither inputs nor result need fit in memory, and a file is copied once,
 * into memory that stays in use, instead of into pages that have to be found for all of it.
 *
 * A block is as high as serves the speed, or as the memory allows. Elements know nothing of their
 * neighbours, and a job knows the numbers of its rows, so blocks do not show in the result.
 */
#include "map/map.h"

#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/source.h"
#include "base/threads.h"
#include "map/language/scalar.h"

#include <math.h>
#include <string.h>

#define BLOCK_BYTES ((uint64_t)32 << 20) /* of a block of the result, and of inputs behind it */
#define SHARE 4 /* of the memory that is left, one part in four is not taken */

typedef struct feed {
    const tw_map_plan *plan;
    const tw_source *sources;         /* NULL: all inputs are in memory */
    tw_matrix inputs[TWI_MAP_INPUTS]; /* those of sources: as large as they, the rows of a block */
    void *rows;                       /* of all sources, one after the other */
} feed;

static bool is_streamed(const tw_source *sources, int32_t i)
{
    return twi_source_at(sources, i).rows != NULL;
}

/* Rows of an input behind `rows` of the result: one that is repeated stays one. */
static uint64_t held_bytes(const tw_shape *input, int64_t rows)
{
    const uint64_t row = (uint64_t)input->cols * tw_type_size(input->type);
    const uint64_t bytes = (uint64_t)(input->rows == 1 ? 1 : rows) * row;
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

/* Bytes of the inputs behind a block. */
static uint64_t held_by_sources(const tw_map_plan *plan, const tw_source *sources, int64_t rows)
{
    uint64_t bytes = 0;
    for (int32_t i = 0; i < plan->input_count; i++) {
        bytes += is_streamed(sources, i) ? held_bytes(&plan->inputs[i], rows) : 0;
    }
    return bytes;
}

static uint64_t block_bytes(const tw_map_plan *plan, const tw_source *sources, int64_t rows)
{
    const uint64_t row = (uint64_t)plan->shape.cols * tw_type_size(plan->shape.type);
    return (uint64_t)rows * row + held_by_sources(plan, sources, rows);
}

/* The rows of a block: those of BLOCK_BYTES of the result, fewer if the inputs behind them are
 * larger or memory is short. */
static int64_t choose_rows(const tw_context *ctx, const tw_map_plan *plan, const tw_source *sources)
{
    const uint64_t room = twi_memory_left(ctx) / SHARE * (SHARE - 1);
    const uint64_t row = (uint64_t)plan->shape.cols * tw_type_size(plan->shape.type);
    /* Rows without columns take no room: all of them at once. */
    int64_t rows = row > 0 ? (int64_t)(BLOCK_BYTES / row) : plan->shape.rows;
    rows = rows < plan->shape.rows ? rows : plan->shape.rows;
    while (rows > 1 && (held_by_sources(plan, sources, rows) > BLOCK_BYTES ||
                        block_bytes(plan, sources, rows) > room)) {
        rows /= 2;
    }
    return rows > 1 ? rows : 1;
}

tw_status tw_map_plan_block(tw_context *ctx, const tw_map_plan *plan, const tw_source *sources,
                            int64_t *rows, uint64_t *bytes)
{
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan});
    if (status == TW_OK) {
        status = twi_sources_check(ctx, sources, plan->input_count);
    }
    if (status != TW_OK) {
        return status;
    }
    const int64_t high = choose_rows(ctx, plan, sources);
    if (rows != NULL) {
        *rows = high;
    }
    if (bytes != NULL) {
        *bytes = block_bytes(plan, sources, high);
    }
    return TW_OK;
}

/* ------------------------------------------------------------------------------------- the feed */

/* Memory for the rows of the sources behind a block of `rows`. */
static tw_status open_feed(tw_context *ctx, feed *f, const tw_matrix *inputs, int64_t rows)
{
    const tw_map_plan *plan = f->plan;
    uint64_t at = 0;
    tw_status status = TW_OK;
    if (f->sources != NULL) {
        status = twi_alloc(ctx, &f->rows, held_by_sources(plan, f->sources, rows), 1,
                           "rows of the inputs");
    }
    for (int32_t i = 0; i < plan->input_count && status == TW_OK; i++) {
        const tw_shape *in = &plan->inputs[i];
        if (is_streamed(f->sources, i)) {
            f->inputs[i] =
                (tw_matrix){(char *)f->rows + at, in->rows, in->cols, in->cols, in->type};
            at += held_bytes(in, rows);
        } else {
            f->inputs[i] = inputs[i];
        }
    }
    return status;
}

/* Bring the rows of the sources behind a block into memory. */
static tw_status hold(tw_context *ctx, const feed *f, int64_t first, int64_t count)
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < f->plan->input_count && status == TW_OK; i++) {
        const tw_matrix *in = &f->inputs[i];
        const bool once = in->rows == 1;
        if (is_streamed(f->sources, i) && !(once && first > 0)) {
            const tw_source source = twi_source_at(f->sources, i);
            status = source.rows(source.self, ctx, first, once ? 1 : count, in->data, in->cols);
        }
    }
    return status;
}

/* The job of a block: all inputs begin at its first row. */
static twi_map_job job_of(const feed *f, int64_t first, int64_t count, void *block)
{
    twi_map_job job = twi_map_job_of(f->plan, first, count, f->inputs, block, f->plan->shape.cols);
    job.input_row = first;
    for (int32_t i = 0; i < job.input_count; i++) {
        if (!is_streamed(f->sources, i) && job.inputs[i].row_step != 0) {
            job.inputs[i].data = twi_matrix_row(&f->inputs[i], first);
        }
    }
    return job;
}

/* --------------------------------------------------------------------------- what became no data
 */

#define STRETCH 1024 /* columns looked at together: marks that stay in the first cache */

#define MARK_HITS(TYPE)                                  \
    for (int64_t j = 0; j < count; j++) {                \
        hit[j] = ((const TYPE *)row)[j] == (TYPE)stored; \
    }                                                    \
    break

/* hit[j]: element j is the no-data value, whatever the reason. */
static void mark_hits(uint8_t *hit, const void *row, tw_type type, int64_t count, double stored)
{
    switch (type) {
    case TW_U8:
        MARK_HITS(uint8_t);
    case TW_U16:
        MARK_HITS(uint16_t);
    case TW_I16:
        MARK_HITS(int16_t);
    case TW_I32:
        MARK_HITS(int32_t);
    case TW_F32:
        MARK_HITS(float);
    default:
        MARK_HITS(double);
    }
}

#define DROP_MISSING(TYPE)                                          \
    if (wide) {                                                     \
        for (int64_t j = 0; j < count; j++) {                       \
            hit[j] &= (double)((const TYPE *)row)[j] != mark;       \
        }                                                           \
    } else {                                                        \
        for (int64_t j = 0; j < count; j++) {                       \
            hit[j] &= (float)((const TYPE *)row)[j] != (float)mark; \
        }                                                           \
    }                                                               \
    break

/* Take those away that an input has, as numbers of the compute type, which is f64 if it is wide. */
static void drop_missing(uint8_t *hit, const void *row, tw_type type, bool wide, int64_t count,
                         double mark)
{
    switch (type) {
    case TW_U8:
        DROP_MISSING(uint8_t);
    case TW_U16:
        DROP_MISSING(uint16_t);
    case TW_I16:
        DROP_MISSING(int16_t);
    case TW_I32:
        DROP_MISSING(int32_t);
    case TW_F32:
        DROP_MISSING(float);
    default:
        DROP_MISSING(double);
    }
}

static int64_t sum_of(const uint8_t *hit, int64_t count)
{
    int64_t sum = 0;
    for (int64_t j = 0; j < count; j++) {
        sum += hit[j];
    }
    return sum;
}

/* Of `count` elements of row i from column `first` on. */
static int64_t count_stretch(const tw_map_plan *plan, const twi_map_job *job, uint32_t used,
                             int64_t i, int64_t first, int64_t count)
{
    const twi_map_setting *s = &plan->setting;
    const double mark = twi_scalar_round(s->no_data, s->compute);
    uint8_t hit[STRETCH];
    const size_t at = (size_t)(i * job->out_stride + first) * tw_type_size(s->type);
    mark_hits(hit, (const char *)job->out + at, s->type, count, twi_scalar_stored(mark, s->type));
    int64_t found = sum_of(hit, count);
    for (int32_t k = 0; k < job->input_count && found > 0; k++) {
        const twi_map_input *in = &job->inputs[k];
        if ((used >> k & 1) == 0) {
            continue;
        }
        const char *row =
            (const char *)in->data +
            (size_t)(i * in->row_step + first * in->col_step) * tw_type_size(in->type);
        if (in->col_step == 0) {
            found = twi_scalar_round(twi_element(row, in->type, 0), s->compute) == mark ? 0 : found;
        } else {
            drop_missing(hit, row, in->type, s->compute == TW_F64, count, mark);
            found = sum_of(hit, count);
        }
    }
    return found;
}

/* Elements of a block that are no data where every input has some. */
static int64_t count_no_data(tw_context *ctx, const tw_map_plan *plan, const twi_map_job *job)
{
    const twi_program *p = &job->variants->generic;
    uint32_t used = 0;
    int64_t found = 0;
    if (!plan->setting.has_no_data || isnan(plan->setting.no_data)) {
        return 0;
    }
    for (int32_t i = 0; i < p->count; i++) {
        used |= p->ops[i].code == TWI_OP_INPUT ? (uint32_t)1 << p->ops[i].index : 0;
    }
    const int threads = twi_threads_for(ctx, job->row_count * job->cols);
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static) reduction(+ : found)
    for (int64_t i = 0; i < job->row_count; i++) {
        for (int64_t j = 0; j < job->cols && !twi_is_cancelled(ctx); j += STRETCH) {
            const int64_t left = job->cols - j;
            found += count_stretch(plan, job, used, i, j, left < STRETCH ? left : STRETCH);
        }
    }
    return found;
}

/* ------------------------------------------------------------------------------------ the blocks
 */

static tw_status push_blocks(tw_context *ctx, const feed *f, twi_sinks *out, void *block,
                             int64_t rows, tw_map_report *report)
{
    const tw_shape *shape = &f->plan->shape;
    tw_status status = TW_OK;
    for (int64_t first = 0; first < shape->rows && status == TW_OK; first += rows) {
        int64_t count = shape->rows - first < rows ? shape->rows - first : rows;
        const double started = twi_seconds();
        status = hold(ctx, f, first, count);
        const double held = twi_seconds();
        if (status == TW_OK) {
            const twi_map_job job = job_of(f, first, count, block);
            status = twi_map_run(ctx, f->plan, &job);
            report->became_no_data += status == TW_OK ? count_no_data(ctx, f->plan, &job) : 0;
        }
        const double computed = twi_seconds();
        if (status == TW_OK) {
            status = twi_sinks_rows(ctx, out, first, count, block, shape->cols);
        }
        report->seconds_read += held - started;
        report->seconds_compute += computed - held;
        report->seconds_output += twi_seconds() - computed;
        twi_progress(ctx, "map", (double)(first + count), (double)shape->rows, "rows");
    }
    return status;
}

/* Memory for the inputs behind a block and for the block, of what the sinks have left. */
static tw_status open_blocks(tw_context *ctx, feed *f, const tw_matrix *inputs, void **block,
                             int64_t *rows)
{
    const tw_map_plan *plan = f->plan;
    *rows = choose_rows(ctx, plan, f->sources);
    tw_status status =
        twi_memory_check(ctx, block_bytes(plan, f->sources, *rows), "a block of rows");
    if (status == TW_OK) {
        status = open_feed(ctx, f, inputs, *rows);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, block, (uint64_t)*rows,
                           (uint64_t)plan->shape.cols * tw_type_size(plan->shape.type),
                           "a block of the result");
    }
    return status;
}

/* The sinks begin first: a block takes what is left, and they cannot do with less than they need.
 */
static tw_status push(tw_context *ctx, feed *f, const tw_matrix *inputs, tw_sink *sinks,
                      int32_t sink_count, tw_map_report *report)
{
    twi_sinks out = {0};
    void *block = NULL;
    int64_t rows = 0;
    tw_status status = twi_sinks_begin(ctx, &out, sinks, sink_count, &f->plan->shape);
    if (status == TW_OK) {
        status = open_blocks(ctx, f, inputs, &block, &rows);
    }
    if (status == TW_OK) {
        status = push_blocks(ctx, f, &out, block, rows, report);
    }
    const double started = twi_seconds();
    status = twi_sinks_finish(ctx, &out, status);
    report->seconds_output += twi_seconds() - started;
    twi_free(block);
    twi_free(f->rows);
    return status;
}

tw_status tw_map_plan_stream(tw_context *ctx, tw_map_plan *plan, const tw_matrix *inputs,
                             const tw_source *sources, int32_t input_count, tw_sink *sinks,
                             int32_t sink_count, tw_map_report *report)
{
    tw_map_report seen = TW_MAP_REPORT_INIT;
    feed f = {.plan = plan, .sources = sources};
    tw_status status = twi_map_check_inputs(ctx, plan, inputs, sources, input_count);
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_map_report, report);
    }
    if (status == TW_OK) {
        status = twi_sinks_check(ctx, sinks, sink_count);
    }
    if (status == TW_OK) {
        status = push(ctx, &f, inputs, sinks, sink_count, &seen);
    }
    if (status == TW_OK) {
        twi_map_give_report(ctx, plan, report, &seen);
    }
    return status;
}

tw_status tw_map_plan_run(tw_context *ctx, tw_map_plan *plan, const tw_matrix *inputs,
                          int32_t input_count, tw_sink *sinks, int32_t sink_count,
                          tw_map_report *report)
{
    return tw_map_plan_stream(ctx, plan, inputs, NULL, input_count, sinks, sink_count, report);
}
