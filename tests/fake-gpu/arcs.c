/* The passes of kernels/arcs.h and kernels/rows.h in plain C, put on the streams of runtime.c. Of
 * matrices in i32 and 16 bits only, as the closures of kernels.c; rows also of floats, which sweeps
 * have. */
#include "runtime.h"

#include "apsp/gpu/kernels/arcs.h"
#include "apsp/gpu/kernels/kernels.h"
#include "apsp/gpu/kernels/rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int32_t infinity_of(tw_type type)
{
    return type == TW_U16 ? TWI_GPU_INF_U16 : TW_APSP_INF_I32;
}

static int32_t get(twi_gpu_square m, tw_type type, int64_t i, int64_t j)
{
    return type == TW_U16 ? ((const uint16_t *)m.data)[i * m.ld + j]
                          : ((const int32_t *)m.data)[i * m.ld + j];
}

static void put(twi_gpu_square m, tw_type type, int64_t i, int64_t j, int32_t value)
{
    if (type == TW_U16) {
        ((uint16_t *)m.data)[i * m.ld + j] = (uint16_t)value;
    } else {
        ((int32_t *)m.data)[i * m.ld + j] = value;
    }
}

/* What any of the passes takes. */
typedef struct pass {
    tw_type type;
    twi_gpu_square m;
    int64_t n;
    twi_gpu_arcs arcs;
    int32_t *found;
} pass;

static void run_scatter(const void *arguments)
{
    const pass *p = arguments;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            put(p->m, p->type, i, j, i == j ? 0 : infinity_of(p->type));
        }
    }
    for (int64_t u = 0; u < p->n; u++) {
        for (int64_t a = p->arcs.offsets[u]; a < p->arcs.offsets[u + 1]; a++) {
            int32_t v = p->arcs.targets[a];
            double weight = ((const int32_t *)p->arcs.weights)[a];
            if (p->arcs.potential != NULL) {
                weight += p->arcs.potential[u] - p->arcs.potential[v];
            }
            if (weight < get(p->m, p->type, u, v)) {
                put(p->m, p->type, u, v, (int32_t)weight);
            }
        }
    }
}

int twi_gpu_scatter(tw_type type, twi_gpu_square out, const twi_gpu_arcs *arcs, void *stream)
{
    pass p = {type, out, arcs->n, *arcs, NULL};
    return fake_launch(run_scatter, &p, sizeof p, stream);
}

static void run_asymmetry(const void *arguments)
{
    const pass *p = arguments;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < i; j++) {
            if (get(p->m, p->type, i, j) != get(p->m, p->type, j, i)) {
                *p->found = 1;
            }
        }
    }
}

int twi_gpu_find_asymmetry(int32_t *differs, tw_type type, twi_gpu_square in, int64_t n,
                           void *stream)
{
    pass p = {.type = type, .m = in, .n = n, .found = differs};
    return fake_launch(run_asymmetry, &p, sizeof p, stream);
}

static void run_infinite(const void *arguments)
{
    const pass *p = arguments;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            if (get(p->m, p->type, i, j) >= infinity_of(p->type)) {
                *p->found = 1;
            }
        }
    }
}

int twi_gpu_find_infinite(int32_t *capped, tw_type type, twi_gpu_square in, int64_t n, void *stream)
{
    pass p = {.type = type, .m = in, .n = n, .found = capped};
    return fake_launch(run_infinite, &p, sizeof p, stream);
}

static void run_certify(const void *arguments)
{
    const pass *p = arguments;
    int32_t cap = infinity_of(p->type);
    for (int64_t s = 0; s < p->n; s++) {
        for (int64_t u = 0; u < p->n; u++) {
            for (int64_t a = p->arcs.offsets[u]; a < p->arcs.offsets[u + 1]; a++) {
                if (get(p->m, p->type, s, u) < cap &&
                    get(p->m, p->type, s, p->arcs.targets[a]) >= cap) {
                    *p->found = 1;
                }
            }
        }
    }
}

uint64_t twi_gpu_reached_bytes(int64_t n)
{
    return (uint64_t)n;
}

int twi_gpu_certify(int32_t *refuted, uint32_t *reached, tw_type type, twi_gpu_square in,
                    const twi_gpu_arcs *arcs, void *stream)
{
    pass p = {type, in, arcs->n, *arcs, refuted};
    (void)reached;
    return fake_launch(run_certify, &p, sizeof p, stream);
}

typedef struct rows_pass {
    twi_gpu_rows rows;
    int64_t first, count;
    void *out;
} rows_pass;

/* A working value as a distance. */
static double distance_at(const twi_gpu_rows *r, int64_t row, int64_t column)
{
    int64_t at = row * r->in.ld + column;
    if (r->work == TW_F32) {
        return ((const float *)r->in.data)[at];
    }
    if (r->work == TW_F64) {
        return ((const double *)r->in.data)[at];
    }
    int32_t value = get(r->in, r->work, row, column);
    return value >= infinity_of(r->work) ? (double)INFINITY : value;
}

/* Into element `at` of the result; false if its type cannot hold it. */
static bool store(void *out, tw_type type, int64_t at, double distance)
{
    bool none = isinf(distance);
    bool fits = true;
    switch (type) {
    case TW_U8:
        fits = none || (distance >= 0 && distance < TW_APSP_INF_U8);
        ((uint8_t *)out)[at] = none ? TW_APSP_INF_U8 : fits ? (uint8_t)distance : 0;
        break;
    case TW_I32:
        ((int32_t *)out)[at] = none ? TW_APSP_INF_I32 : (int32_t)distance;
        break;
    case TW_F32:
        ((float *)out)[at] = (float)distance;
        break;
    default:
        ((double *)out)[at] = distance;
        break;
    }
    return fits;
}

static void run_rows(const void *arguments)
{
    const rows_pass *p = arguments;
    const twi_gpu_rows *r = &p->rows;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t s = r->sources != NULL ? r->sources[p->first + i] : p->first + i;
        for (int64_t j = 0; j < r->cols; j++) {
            int64_t t = r->targets != NULL ? r->targets[j] : j;
            double distance = r->column != NULL
                                  ? distance_at(r, r->place[t], r->column[p->first + i - r->begin])
                                  : distance_at(r, s, t);
            if (r->potential != NULL) {
                distance += r->potential[t] - r->potential[s];
            }
            if (r->cutoff >= 0 && distance > r->cutoff) {
                distance = (double)INFINITY;
            }
            int64_t at = i * r->cols + j;
            uint64_t place = (uint64_t)(p->first * r->cols + at);
            if (!store(p->out, r->type, at, distance) && place < *r->misfit) {
                *r->misfit = place;
            }
        }
    }
}

int twi_gpu_take_rows(void *out, const twi_gpu_rows *rows, int64_t first, int64_t count,
                      void *stream)
{
    rows_pass p = {*rows, first, count, out};
    return fake_launch(run_rows, &p, sizeof p, stream);
}
