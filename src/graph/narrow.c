/* 64-bit integers as what a graph holds: see narrow.h. Threads take stretches of the array. */
#include "graph/narrow.h"

#include "base/memory.h"
#include "base/threads.h"

#define STRETCH 65536 /* integers between two looks at the cancel flag */

typedef struct span {
    int64_t low;
    int64_t high;
    int64_t bad; /* place of the first integer outside; INT64_MAX if none */
} span;

/* The smallest and the largest of them, and the first outside low ... high. */
static span find_span(tw_context *ctx, const void *in, int64_t count, int64_t low, int64_t high)
{
    const int64_t stretches = (count + STRETCH - 1) / STRETCH;
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static) \
    reduction(min                                                            \
              : least, bad) reduction(max                                    \
                                      : most)
    for (int64_t s = 0; s < stretches; s++) {
        const int64_t last = count - s * STRETCH < STRETCH ? count : (s + 1) * STRETCH;
        const int64_t end = twi_is_cancelled(ctx) ? 0 : last;
        for (int64_t i = s * STRETCH; i < end; i++) {
            const int64_t value = twi_load_i64(in, i);
            least = value < least ? value : least;
            most = value > most ? value : most;
            if ((value < low || value > high) && i < bad) {
                bad = i;
            }
        }
    }
    return (span){least, most, bad};
}

#define CONVERT(TYPE)                                                                         \
    static void convert_##TYPE(tw_context *ctx, TYPE *out, const void *in, int64_t count)     \
    {                                                                                         \
        const int64_t stretches = (count + STRETCH - 1) / STRETCH;                            \
        _Pragma("omp parallel for num_threads(twi_thread_count(ctx)) schedule(static)") for ( \
            int64_t s = 0; s < stretches; s++)                                                \
        {                                                                                     \
            const int64_t last = count - s * STRETCH < STRETCH ? count : (s + 1) * STRETCH;   \
            const int64_t end = twi_is_cancelled(ctx) ? 0 : last;                             \
            for (int64_t i = s * STRETCH; i < end; i++) {                                     \
                out[i] = (TYPE)twi_load_i64(in, i);                                           \
            }                                                                                 \
        }                                                                                     \
    }
CONVERT(int32_t)
CONVERT(double)
#undef CONVERT

tw_status twi_narrow_vertices(tw_context *ctx, int32_t **out, int64_t *bad, const void *in,
                              int64_t count, int64_t vertices)
{
    *out = NULL;
    *bad = find_span(ctx, in, count, 0, vertices - 1).bad;
    tw_status status = twi_check_cancel(ctx);
    if (status != TW_OK || *bad != INT64_MAX) {
        return status;
    }
    status = twi_alloc(ctx, out, (uint64_t)count, sizeof **out, "the vertices of the arcs");
    if (status == TW_OK) {
        convert_int32_t(ctx, *out, in, count);
    }
    return status == TW_OK ? twi_check_cancel(ctx) : status;
}

tw_status twi_narrow_weights(tw_context *ctx, void **out, tw_type *type, int64_t *bad,
                             const void *in, int64_t count)
{
    *out = NULL;
    const span seen = find_span(ctx, in, count, -TWI_WHOLE_MOST, TWI_WHOLE_MOST);
    *bad = seen.bad;
    *type = count == 0 || (seen.low >= INT32_MIN && seen.high <= INT32_MAX) ? TW_I32 : TW_F64;
    tw_status status = twi_check_cancel(ctx);
    if (status != TW_OK || *bad != INT64_MAX) {
        return status;
    }
    status = twi_alloc(ctx, out, (uint64_t)count, tw_type_size(*type), "the weights of the arcs");
    if (status == TW_OK && *type == TW_I32) {
        convert_int32_t(ctx, *out, in, count);
    } else if (status == TW_OK) {
        convert_double(ctx, *out, in, count);
    }
    return status == TW_OK ? twi_check_cancel(ctx) : status;
}
