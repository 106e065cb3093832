/*
 * tw_minplus: the (min,+) product for anyone. Rows of C go to threads in chunks; B is packed once
 * a slab of depth, A by the thread that uses it.
 */
#include "apsp/closure/product.h"
#include "base/context.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/threads.h"

#define DEPTH 256 /* of a slab: as the closure's pivots */

static tw_status check_shapes(tw_context *ctx, const tw_matrix *c, const tw_matrix *a,
                              const tw_matrix *b)
{
    tw_status status = twi_matrix_check(ctx, c, "C");
    if (status == TW_OK) {
        status = twi_matrix_check(ctx, a, "A");
    }
    if (status == TW_OK) {
        status = twi_matrix_check(ctx, b, "B");
    }
    if (status != TW_OK) {
        return status;
    }
    if (a->rows != c->rows || b->cols != c->cols || a->cols != b->rows) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "C is %lld x %lld, A is %lld x %lld, B is %lld x %lld: their shapes do not match",
            (long long)c->rows, (long long)c->cols, (long long)a->rows, (long long)a->cols,
            (long long)b->rows, (long long)b->cols);
    }
    if (a->type != c->type || b->type != c->type) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "C has type %s, A %s, B %s: all must have the same type",
                       tw_type_name(c->type), tw_type_name(a->type), tw_type_name(b->type));
    }
    if (twi_matrix_overlap(c, a) || twi_matrix_overlap(c, b)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "C overlaps %s; it must not overlap its operands",
                       twi_matrix_overlap(c, a) ? "A" : "B");
    }
    return TW_OK;
}

/* Sums of i32 cannot wrap as long as every entry is within 0 ... 2^30-1. */
static tw_status check_entries(tw_context *ctx, const tw_matrix *m, const char *name)
{
    for (int64_t i = 0; i < m->rows && m->type == TW_I32; i++) {
        const int32_t *row = twi_matrix_row(m, i);
        for (int64_t j = 0; j < m->cols; j++) {
            if (row[j] < 0 || row[j] > TW_APSP_INF_I32) {
                return tw_fail(ctx, TW_ERR_RANGE,
                               "%s[%lld][%lld] is %d, outside 0 ... %d; use f64 for such values",
                               name, (long long)i, (long long)j, row[j], TW_APSP_INF_I32);
            }
        }
    }
    return TW_OK;
}

typedef struct slab {
    const twi_minplus_kernel *kernel;
    tw_matrix *c;
    const tw_matrix *a;
    int64_t begin; /* depths begin ... begin+depth-1 */
    int64_t depth;
    twi_panel b;
    int threads;
    char *chunks; /* a packed chunk of A for each thread, then its ranges */
    uint64_t chunk_bytes;
    uint64_t ranges_bytes;
} slab;

static void multiply_chunk(const slab *s, int64_t row)
{
    char *mine = s->chunks + (uint64_t)twi_thread_id() * (s->chunk_bytes + s->ranges_bytes);
    twi_panel a = {mine, (twi_range *)(void *)(mine + s->chunk_bytes), 0};
    int64_t rows = s->c->rows - row;
    rows = rows < TWI_ROWS_AT_ONCE ? rows : TWI_ROWS_AT_ONCE;
    const char *src =
        (const char *)twi_matrix_row(s->a, row) + s->begin * (int64_t)tw_type_size(s->a->type);
    if (twi_pack_a(s->kernel, &a, rows, s->depth, src, s->a->stride, 1)) {
        twi_product(s->kernel, &a, rows, &s->b, 0, s->c->cols, twi_matrix_row(s->c, row),
                    s->c->stride, TWI_NO_DIAGONAL);
    }
}

static tw_status multiply(tw_context *ctx, slab *s, const tw_matrix *b)
{
    for (s->begin = 0; s->begin < b->rows; s->begin += DEPTH) {
        s->depth = b->rows - s->begin < DEPTH ? b->rows - s->begin : DEPTH;
        twi_pack_b(s->kernel, &s->b, 0, b->cols, s->depth, twi_matrix_row(b, s->begin), b->stride);
#pragma omp parallel for num_threads(twi_team(s->threads)) schedule(dynamic)
        for (int64_t row = 0; row < s->c->rows; row += TWI_ROWS_AT_ONCE) {
            if (!twi_is_cancelled(ctx)) {
                multiply_chunk(s, row);
            }
        }
        tw_status status = twi_check_cancel(ctx);
        if (status != TW_OK) {
            return status;
        }
        twi_progress(ctx, "multiplying", (double)(s->begin + s->depth), (double)b->rows, "steps");
    }
    return TW_OK;
}

tw_status tw_minplus(tw_context *ctx, tw_matrix *c, const tw_matrix *a, const tw_matrix *b)
{
    slab s = {.c = c, .a = a};
    twi_isa isa;
    tw_status status = check_shapes(ctx, c, a, b);
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &isa);
    }
    if (status != TW_OK) {
        return status;
    }
    s.kernel = twi_minplus_kernel_find(isa, c->type);
    if (s.kernel == NULL) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "type %s is not supported by the (min,+) product; use u8, u16, i32, f32 or f64",
            tw_type_name(c->type));
    }
    const tw_matrix *all[] = {c, a, b};
    static const char *const names[] = {"C", "A", "B"};
    for (int i = 0; i < 3 && status == TW_OK; i++) {
        status = check_entries(ctx, all[i], names[i]);
    }
    if (status != TW_OK) {
        return status;
    }
    s.chunk_bytes = twi_packed_a_bytes(s.kernel, TWI_ROWS_AT_ONCE, DEPTH);
    s.ranges_bytes = TWI_CACHE_LINE + TWI_ROWS_AT_ONCE * sizeof(twi_range);
    status = twi_alloc(ctx, &s.b.data, twi_packed_b_bytes(s.kernel, b->cols, DEPTH), 1,
                       "the packed right operand");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &s.b.ranges, (uint64_t)(b->cols / s.kernel->nr + 1),
                           sizeof(twi_range), "the packed right operand");
    }
    if (status == TW_OK) {
        const double steps = (double)b->rows * (double)b->cols * (double)s.c->rows;
        s.threads = twi_threads_for(ctx, steps < 1e15 ? (int64_t)steps : INT64_MAX);
        status = twi_alloc(ctx, &s.chunks, (uint64_t)s.threads, s.chunk_bytes + s.ranges_bytes,
                           "the packed left operand");
    }
    if (status == TW_OK) {
        status = multiply(ctx, &s, b);
    }
    twi_free(s.chunks);
    twi_free(s.b.ranges);
    twi_free(s.b.data);
    return status;
}
