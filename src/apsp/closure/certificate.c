/*
 * The certificate of exactness: see certificate.h. Sources are taken in batches; for each vertex
 * the batch has one bit per source, "reached below the cap". An arc u -> v refutes exactness if any
 * bit of u is missing in v, so a batch costs one and-not of a few words per arc. A batch in which
 * everything is reached needs no look at the arcs.
 */
#include "apsp/closure/certificate.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define WORDS 4
#define BATCH (64 * WORDS)

typedef struct bits {
    uint64_t word[WORDS];
} bits;

#define MARK_ROW(T)                                                       \
    {                                                                     \
        const T *row = (const T *)work->data + source * work->ld;         \
        const T limit = (T)cap;                                           \
        for (int64_t v = 0; v < work->n; v++) {                           \
            reached[v].word[word] |= (uint64_t)(row[v] < limit) << shift; \
        }                                                                 \
    }

/* Set the bits of one source. */
static void mark(const twi_work *work, int32_t cap, int64_t source, bits *reached, int64_t place)
{
    int64_t word = place / 64;
    int64_t shift = place % 64;
    switch (work->kernel->type) {
    case TW_U8:
        MARK_ROW(uint8_t)
        break;
    case TW_U16:
        MARK_ROW(uint16_t)
        break;
    default:
        MARK_ROW(int32_t)
        break;
    }
}

/* By the largest entry: compilers use vectors for that, not for a comparison of each. */
#define COUNT_ROW(T)                                              \
    {                                                             \
        const T *row = (const T *)work->data + source * work->ld; \
        T most = work->n > 0 ? row[0] : 0;                        \
        for (int64_t v = 0; v < work->n; v++) {                   \
            most = row[v] > most ? row[v] : most;                 \
        }                                                         \
        missing = work->n > 0 && most >= (T)cap;                  \
    }

static bool misses_any(const twi_work *work, int32_t cap, int64_t source)
{
    bool missing = false;
    switch (work->kernel->type) {
    case TW_U8:
        COUNT_ROW(uint8_t)
        break;
    case TW_U16:
        COUNT_ROW(uint16_t)
        break;
    default:
        COUNT_ROW(int32_t)
        break;
    }
    return missing;
}

static bool batch_exact(const tw_graph *graph, const twi_work *work, int32_t cap, int64_t first,
                        int64_t count, bits *reached)
{
    bool missing = false;
    for (int64_t i = 0; i < count && !missing; i++) {
        missing = misses_any(work, cap, first + i);
    }
    if (!missing) {
        return true;
    }
    memset(reached, 0, (size_t)graph->n * sizeof *reached);
    for (int64_t i = 0; i < count; i++) {
        mark(work, cap, first + i, reached, i);
    }
    for (int64_t u = 0; u < graph->n; u++) {
        bits from = reached[u];
        uint64_t left_out = 0;
        for (int64_t arc = graph->offsets[u]; arc < graph->offsets[u + 1]; arc++) {
            bits to = reached[graph->targets[arc]];
            for (int w = 0; w < WORDS; w++) {
                left_out |= from.word[w] & ~to.word[w];
            }
        }
        if (left_out != 0) {
            return false;
        }
    }
    return true;
}

uint64_t twi_certificate_memory(int64_t n, int32_t threads)
{
    return (uint64_t)n * (uint64_t)threads * sizeof(bits);
}

tw_status twi_certify_below(tw_context *ctx, const tw_graph *graph, const twi_work *work,
                            int32_t cap, bool *exact)
{
    bits *reached = NULL;
    int threads = twi_threads_for(ctx, graph->n * graph->n);
    uint64_t each = (uint64_t)graph->n;
    uint64_t total;
    *exact = true;
    if (work->kernel->type == TW_F32 || work->kernel->type == TW_F64) {
        return TW_OK;
    }
    if (graph->n <= BATCH) {
        for (int64_t i = 0; i < graph->n && *exact; i++) {
            *exact = !misses_any(work, cap, i);
        }
        if (*exact) {
            return TW_OK; /* the usual end of a small one, which memory would cost more than */
        }
        *exact = true;
    }
    if (!twi_mul(each, (uint64_t)threads, &total)) {
        total = UINT64_MAX;
    }
    tw_status status = twi_alloc(ctx, &reached, total, sizeof *reached, "the certificate");
    if (status != TW_OK) {
        return status;
    }
    atomic_bool refuted = false;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(dynamic)
    for (int64_t first = 0; first < graph->n; first += BATCH) {
        if (twi_is_cancelled(ctx) || atomic_load_explicit(&refuted, memory_order_relaxed)) {
            continue;
        }
        int64_t count = graph->n - first < BATCH ? graph->n - first : BATCH;
        if (!batch_exact(graph, work, cap, first, count,
                         reached + (uint64_t)twi_thread_id() * each)) {
            atomic_store_explicit(&refuted, true, memory_order_relaxed);
        }
    }
    *exact = !atomic_load(&refuted);
    twi_free(reached);
    return twi_check_cancel(ctx);
}

tw_status twi_certify(tw_context *ctx, const tw_graph *graph, const twi_work *work, bool *exact)
{
    const tw_type type = work->kernel->type;
    const bool whole = type == TW_U8 || type == TW_U16 || type == TW_I32;
    return twi_certify_below(ctx, graph, work, whole ? (int32_t)work->kernel->infinity : 0, exact);
}
