/*
 * A few searches for the plan. They go on under the conditions of the run: on all threads at once,
 * since these share caches and memory, in batches that are cut out of a block of rows as the run
 * cuts them, since near sources are cheaper than scattered ones. What counts is the time that
 * threads were running, and of several rounds the one with the minimum per arc: what else the
 * machine does must not decide between methods.
 */
#include "apsp/search/sample.h"

#include "apsp/search/search.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

/* How often a batch that was cut short would have scanned each arc: a breadth-first search of a
 * graph of low diameter, */
#define USUAL_SCANS 7
/*   and a lane search, where arcs come to a vertex in no order. A vertex is scanned again when a
 * lane has become less, which of d arcs so many do as d has binary digits, about. Measured on
 * graphs of 500 to 4000 vertices: 6 for 5 arcs per vertex, 9 for 40, 12 for 450. */
#define LANE_SCANS 4
/* Of many levels, the part at which a breadth-first search looks at an arc: 512 sources that lie
 * near each other reach a vertex within so many (grid of 4000 vertices, November 2026). */
#define LEVELS_SCANNED (1.0 / 3)

/* For a batch: times the budget, and seconds at least, of a thread that is running. */
#define PATIENCE 4
#define PATIENCE_LEAST 0.01

/* Of the run that they foretell, what rounds may take after the first. */
#define OWN_SHARE 0.03

/* What a source takes beside others on all threads, times what it takes alone, at most. */
#define BESIDE_MOST 2

#define THREAD_MOST ((int64_t)4 << 20) /* elements of a thread's rows */
#define TOUCHED ((size_t)1 << 20)      /* bytes of them at a time */
#define ENTRY 0.5e-9                   /* seconds of a level, gathered and put into its row */
#define WIDEST 8                       /* bytes of one: the batch may have to be redone in f64 */

typedef struct sample {
    twi_searcher *e;
    char *rows; /* of each thread, `size` x n elements of WIDEST bytes */
    twi_ticket *tickets;
    int64_t count; /* of them: rows of a block */
    int64_t size;  /* sources of a batch */
    int64_t whole; /* those of a batch of the run, which a breadth-first search takes as fast */
    int team;      /* threads that took part in the last round */
    twi_search_kept *kept; /* of each thread, by the last round; NULL: batches are larger */
} sample;

static char *rows_of(const sample *s, int thread)
{
    return s->rows + (size_t)thread * (size_t)(s->size * s->e->plan->graph->n) * WIDEST;
}

/* The farthest of a row and how many are without a path, in loops that become vectors. */
#define SURVEY(TYPE, NONE)                         \
    {                                              \
        TYPE most = 0;                             \
        int32_t none = 0;                          \
        for (int64_t v = 0; v < n; v++) {          \
            const TYPE d = ((const TYPE *)row)[v]; \
            const TYPE near = d < (NONE) ? d : 0;  \
            most = near > most ? near : most;      \
            none += d >= (NONE);                   \
        }                                          \
        farthest = (double)most;                   \
        unreachable = none;                        \
        break;                                     \
    }

static void add_row(twi_search_sample *out, tw_type type, double scale, const void *row, int64_t n)
{
    double farthest = 0;
    int64_t unreachable = 0;
    switch (type) {
    case TW_U8:
        SURVEY(uint8_t, TW_APSP_INF_U8)
    case TW_U16:
        SURVEY(uint16_t, TW_APSP_INF_U16)
    case TW_I32:
        SURVEY(int32_t, TW_APSP_INF_I32)
    case TW_F32:
        SURVEY(float, INFINITY)
    default:
        SURVEY(double, (double)INFINITY)
    }
    out->farthest = fmax(out->farthest, farthest * scale);
    out->unreachable += (double)unreachable / (double)n; /* divided by the rows at the end */
    out->sources++;
}

/* The sources of one block of the run, chosen by the number of the round. */
static void choose_block(sample *s, uint64_t round)
{
    const tw_apsp_plan *plan = s->e->plan;
    uint64_t seed = (uint64_t)plan->graph->n * 31 + (uint64_t)plan->graph->arcs;
    int64_t blocks = (twi_plan_rows(plan) + s->count - 1) / s->count;
    int64_t block = (int64_t)twi_random_below(twi_random_at(seed, round), (uint64_t)blocks);
    int64_t first = block * s->count;
    if (first + s->count > twi_plan_rows(plan)) {
        first = twi_plan_rows(plan) - s->count;
    }
    twi_search_tickets(s->e, s->tickets, first, s->count);
}

/* Some sources of the block: those of one thread's batch. */
static void search_batch(sample *s, int thread, int64_t at, int64_t size)
{
    const twi_searcher *e = s->e;
    twi_search_batch b = {.count = (int)size};
    for (int64_t i = 0; i < size; i++) {
        b.source[i] = s->tickets[(at + i) % s->count].place;
        b.row[i] =
            rows_of(s, thread) + (size_t)(i * e->plan->graph->n) * (size_t)tw_type_size(e->type);
    }
    twi_searcher_run(s->e, &s->e->workers[thread], &b);
}

/* A batch for every thread; seconds of all of them. */
static double search_round(sample *s, uint64_t round)
{
    int64_t batches = (s->count + s->size - 1) / s->size;
    int64_t from = (int64_t)twi_random_below(twi_random_at(round, 7), (uint64_t)batches);
    choose_block(s, round);
    atomic_store(&s->e->verdict, TWI_SEARCH_FINE);
    double took = 0;
#pragma omp parallel num_threads(twi_team(s->e->threads)) reduction(+ : took)
    {
        double began = twi_thread_seconds();
        const int64_t at = (from + twi_thread_id()) % batches * s->size;
        const double before = s->e->workers[twi_thread_id()].scanned;
        search_batch(s, twi_thread_id(), at, s->size);
        took += twi_thread_seconds() - began;
        if (s->kept != NULL) {
            s->kept[twi_thread_id()] = (twi_search_kept){
                .source = s->tickets[at].place,
                .row = rows_of(s, twi_thread_id()),
                .scanned = s->e->workers[twi_thread_id()].scanned - before,
            };
        }
        if (twi_thread_id() == 0) {
            s->team = twi_team_size();
        }
    }
    return took;
}

/* Pages that a run touches once in many batches must not count, nor the start of a team. */
static void touch(sample *s)
{
    size_t bytes = (size_t)(s->size * s->e->plan->graph->n) * tw_type_size(s->e->type);
#pragma omp parallel num_threads(twi_team(s->e->threads))
    for (size_t at = 0; at < bytes && !twi_is_cancelled(s->e->ctx); at += TOUCHED) {
        memset(rows_of(s, twi_thread_id()) + at, 0, bytes - at < TOUCHED ? bytes - at : TOUCHED);
    }
}

/* The seconds of a source on one thread in a batch of the run, given those of a batch here. Lanes
 * are as many in both; a breadth-first search scans an arc for any number of sources at once. */
static double seconds_in_run(const sample *s, double batch)
{
    if (s->e->method != TW_APSP_METHOD_BFS) {
        return batch / (double)s->size;
    }
    const double entries = (double)(s->whole - s->size) * (double)s->e->plan->graph->n;
    return (batch + entries * ENTRY) / (double)s->whole;
}

static double arcs_scanned(const twi_searcher *e)
{
    double sum = 0;
    for (int t = 0; t < e->threads; t++) {
        sum += e->workers[t].scanned;
    }
    return sum;
}

double twi_usual_scans(const tw_graph *graph)
{
    return LANE_SCANS + log2(fmax((double)graph->arcs / fmax((double)graph->n, 1), 1));
}

/* No batch ended, after `took` seconds: guess from the arcs that were scanned how long one would
 * have taken, and search from a single source to see how far distances reach. */
static tw_status guess(sample *s, double took, twi_search_sample *out)
{
    twi_searcher *e = s->e;
    const tw_graph *graph = e->plan->graph;
    double scanned = fmax(arcs_scanned(e) / s->team, 1);
    double scale = e->method == TW_APSP_METHOD_BFS ? graph->max_weight : 1;
    double scans = e->method == TW_APSP_METHOD_BFS ? USUAL_SCANS
                   : atomic_load(&e->lanes) == 0   ? (double)s->size
                                                   : twi_usual_scans(graph);
    double alone = 0;
    tw_status status = TW_OK;
    e->patience = 0;
    do {
        const double began = twi_thread_seconds();
        atomic_store(&e->verdict, TWI_SEARCH_FINE);
        search_batch(s, 0, 0, 1);
        alone = twi_thread_seconds() - began;
        if ((status = twi_check_cancel(e->ctx)) != TW_OK) {
            return status;
        }
    } while (atomic_load(&e->verdict) == TWI_SEARCH_WIDEN &&
             (status = twi_searcher_widen(e)) == TW_OK);
    if (status == TW_OK) {
        *out = (twi_search_sample){.guessed = true};
        add_row(out, e->type, scale, rows_of(s, 0), graph->n);
        if (e->method == TW_APSP_METHOD_BFS) {
            const double levels = fmax(out->farthest / scale, 1);
            scans = fmin(levels, fmax(scans, levels * LEVELS_SCANNED));
        }
        out->seconds_least = seconds_in_run(s, took);
        out->seconds_per_source =
            seconds_in_run(s, took * fmax((double)graph->arcs * scans / scanned, 1));
        if (e->method != TW_APSP_METHOD_BFS) { /* whose batch takes no longer than all one by one */
            out->seconds_per_source = fmin(out->seconds_per_source, BESIDE_MOST * alone);
            out->seconds_least = fmin(out->seconds_least, out->seconds_per_source);
        }
    }
    return status;
}

static void add_rows(const sample *s, twi_search_sample *out)
{
    const twi_searcher *e = s->e;
    int64_t n = e->plan->graph->n;
    double scale = e->method == TW_APSP_METHOD_BFS ? e->plan->graph->max_weight : 1;
    for (int t = 0; t < s->team; t++) {
        for (int64_t i = 0; i < s->size && !twi_is_cancelled(e->ctx); i++) {
            add_row(out, e->type, scale,
                    rows_of(s, t) + (size_t)(i * n) * (size_t)tw_type_size(e->type), n);
        }
    }
}

static tw_status run_rounds(sample *s, int rounds, double budget, twi_search_sample *out)
{
    twi_searcher *e = s->e;
    double spent = 0;
    double scanned = 0; /* in the rounds that count */
    double best = INFINITY;
    double batch = 0; /* seconds of one */
    touch(s);
    e->patience = fmax(PATIENCE * budget, PATIENCE_LEAST);
    for (int round = 0, tried = 0; round < rounds && (round == 0 || spent < budget); tried++) {
        double before = arcs_scanned(e);
        double took = search_round(s, (uint64_t)tried);
        tw_status status = twi_check_cancel(e->ctx);
        twi_search_verdict end = (twi_search_verdict)atomic_load(&e->verdict);
        if (status != TW_OK ||
            (end == TWI_SEARCH_WIDEN && (status = twi_searcher_widen(e)) != TW_OK)) {
            return status;
        }
        if (end == TWI_SEARCH_WIDEN) {
            touch(s);
        }
        if (end == TWI_SEARCH_LATE && round == 0) {
            return guess(s, took / s->team, out);
        }
        if (end == TWI_SEARCH_LATE) {
            break;
        }
        if (end == TWI_SEARCH_FINE) {
            double arcs = fmax(arcs_scanned(e) - before, 1);
            add_rows(s, out);
            if ((status = twi_check_cancel(e->ctx)) != TW_OK) {
                return status;
            }
            best = fmin(best, took / arcs);
            scanned += arcs;
            spent += took / s->team;
            batch = best * scanned / (double)out->sources * (double)s->size;
            budget = fmin(budget, OWN_SHARE * seconds_in_run(s, batch) *
                                      (double)twi_plan_rows(e->plan) / e->threads);
            round++;
        }
    }
    out->seconds_per_source = seconds_in_run(s, batch);
    out->seconds_least = out->seconds_per_source;
    out->unreachable /= (double)out->sources;
    return TW_OK;
}

/* Where each source is searched from by itself, one tells as much as a batch, and its row is worth
 * keeping. */
static tw_status prepare_kept(sample *s)
{
    s->size = 1;
    s->whole = 1;
    tw_status status = twi_alloc(s->e->ctx, &s->kept, (uint64_t)s->e->threads, sizeof *s->kept,
                                 "the rows of a sample");
    for (int t = 0; t < s->e->threads && status == TW_OK; t++) {
        s->kept[t].source = -1;
    }
    return status;
}

/* The searcher for the run, with the rows of the last round if that came to its end. */
static void hand_over(sample *s, twi_search_sample *out, twi_searcher **searcher)
{
    twi_searcher *e = s->e;
    if (s->kept != NULL && !out->guessed && atomic_load(&e->verdict) == TWI_SEARCH_FINE) {
        e->kept = s->kept;
        e->kept_type = e->type;
        e->kept_rows = s->rows;
        out->kept = s->team < twi_plan_rows(e->plan) ? s->team : twi_plan_rows(e->plan);
        s->kept = NULL;
        s->rows = NULL;
    }
    *searcher = e;
    s->e = NULL;
}

tw_status twi_search_sample_run(tw_context *ctx, const tw_apsp_plan *plan, tw_apsp_method method,
                                int rounds, double budget, twi_search_sample *out,
                                twi_searcher **searcher)
{
    sample s = {.team = 1};
    int64_t n = plan->graph->n;
    memset(out, 0, sizeof *out);
    if (searcher != NULL) {
        *searcher = NULL;
    }
    if (n == 0 || twi_plan_rows(plan) == 0) {
        return TW_OK;
    }
    tw_status status = twi_searcher_create(ctx, &s.e, plan, method);
    if (status == TW_OK) {
        s.count = twi_search_block_rows(s.e);
        s.size = twi_search_batch_rows(s.e, s.count);
        s.size = s.size < twi_searcher_pass(s.e) ? s.size : twi_searcher_pass(s.e);
        s.whole = s.size;
        const int64_t room = (int64_t)(twi_memory_room(ctx) / WIDEST) / s.e->threads;
        while (s.size > 1 && (s.size * n > THREAD_MOST || s.size * n > room)) {
            s.size /= 2;
        }
        status = twi_searcher_is_single(s.e) ? prepare_kept(&s) : TW_OK;
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &s.rows, (uint64_t)(s.size * n) * (uint64_t)s.e->threads, WIDEST,
                           "a sample");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &s.tickets, (uint64_t)s.count, sizeof *s.tickets, "a sample");
    }
    if (status == TW_OK) {
        status = run_rounds(&s, rounds, budget, out);
    }
    if (status == TW_OK && searcher != NULL) {
        hand_over(&s, out, searcher);
    }
    twi_free(s.kept);
    twi_free(s.tickets);
    twi_free(s.rows);
    twi_searcher_destroy(s.e);
    return status;
}
