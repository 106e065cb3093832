/* See signed.h. */
#include "apsp/closure/signed.h"

#include "apsp/closure/cpu.h"
#include "apsp/closure/scatter.h"
#include "base/matrix.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SPARE 8 /* times the longest path is still far from what a type holds */
#define F32_WHOLE 0x1p24

static tw_type work_type(const tw_graph *graph)
{
    return graph->integral ? TW_I32 : TW_F64;
}

bool twi_signed_suits(const tw_graph *graph, tw_type type)
{
    const double heaviest = fmax(fabs(graph->min_weight), fabs(graph->max_weight));
    const double longest = (double)graph->n * heaviest;
    if (graph->n > TWI_SIGNED_VERTICES || !(graph->min_weight < 0)) {
        return false;
    }
    if (graph->integral) {
        return longest <= (double)TW_APSP_INF_I32 / SPARE &&
               (type == TW_I32 || type == TW_F64 || (type == TW_F32 && longest < F32_WHOLE));
    }
    return longest < (twi_graph_is_exact(graph) ? TWI_EXACT_LIMIT : DBL_MAX) / SPARE &&
           (type == TW_F64 || (type == TW_F32 && graph->weight_type == TW_F32));
}

#define DIAGONAL_STAYS(T)                         \
    {                                             \
        const T *m = work->data;                  \
        for (int64_t i = 0; i < work->n; i++) {   \
            stays &= m[i * work->ld + i] >= (T)0; \
        }                                         \
    }

/* NaN, of infinities that a negative cycle made, is no 0 either. */
static bool diagonal_stays(const twi_work *work)
{
    bool stays = true;
    if (work->kernel->type == TW_I32) {
        DIAGONAL_STAYS(int32_t)
    } else {
        DIAGONAL_STAYS(double)
    }
    return stays;
}

#define EACH_ROW(IN, OUT, VALUE)                                               \
    for (int64_t i = 0; i < work->n; i++) {                                    \
        const IN *row = (const IN *)work->data + i * work->ld;                 \
        OUT *to = twi_matrix_row(out, i);                                      \
        for (int64_t j = 0; j < work->n; j++) {                                \
            to[j] = row[j] > TW_APSP_INF_I32 / 2 ? (OUT)(VALUE) : (OUT)row[j]; \
        }                                                                      \
    }

static void put_whole(const tw_matrix *out, const twi_work *work)
{
    if (out->type == TW_I32) {
        EACH_ROW(int32_t, int32_t, TW_APSP_INF_I32)
    } else if (out->type == TW_F32) {
        EACH_ROW(int32_t, float, INFINITY)
    } else {
        EACH_ROW(int32_t, double, INFINITY)
    }
}
#undef EACH_ROW

/* A row in f32. False where that does not hold it: a path became infinite, or a distance 0 that is
 * none. All in numbers of one width, for vectors. */
static bool round_row(float *restrict to, const double *restrict row, int64_t n)
{
    int64_t misfits = 0;
    for (int64_t j = 0; j < n; j++) {
        const float rounded = (float)row[j];
        const double x = fabs((double)rounded), y = fabs(row[j]);
        to[j] = rounded;
        misfits |= ((x == 0) != (y == 0)) | ((x == (double)INFINITY) != (y == (double)INFINITY));
    }
    return misfits == 0;
}

static bool put_floats(const tw_matrix *out, const twi_work *work)
{
    float rounded[TWI_SIGNED_VERTICES][TWI_SIGNED_VERTICES];
    const double *all = work->data;
    const bool rounds = out->type == TW_F32;
    bool fits = true;
    for (int64_t i = 0; i < work->n && rounds; i++) {
        fits &= round_row(rounded[i], all + i * work->ld, work->n);
    }
    for (int64_t i = 0; i < work->n && fits; i++) {
        const void *row = rounds ? (const void *)rounded[i] : all + i * work->ld;
        memcpy(twi_matrix_row(out, i), row, (size_t)work->n * tw_type_size(out->type));
    }
    return fits;
}

tw_status twi_signed_close(tw_context *ctx, tw_matrix *out, const tw_graph *graph, bool *done)
{
    const tw_apsp_plan plan = {.graph = graph};
    const tw_type type = work_type(graph);
    twi_isa isa;
    *done = false;
    tw_status status = twi_isa_resolve(ctx, &isa);
    if (status != TW_OK) {
        return status;
    }
    twi_work work = {.kernel = twi_minplus_kernel_find(isa, type), .n = graph->n};
    work.ld = twi_work_stride(work.kernel, work.n);
    status = twi_alloc(ctx, &work.data, (uint64_t)work.n, (uint64_t)work.ld * tw_type_size(type),
                       "the distance matrix");
    if (status != TW_OK) {
        return status;
    }
    twi_scatter(ctx, &plan, &work);
    status = twi_cpu_closure(ctx, &work, TWI_SIGNED_VERTICES, 1, false);
    if (status == TW_OK && diagonal_stays(&work)) {
        *done = type == TW_I32 || put_floats(out, &work);
        if (type == TW_I32) {
            put_whole(out, &work);
        }
    }
    twi_free(work.data);
    return status;
}
