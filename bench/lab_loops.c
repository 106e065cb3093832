/*
 * Single loops of the laboratory's rungs on a CPU, to tell what a rung waits for (docs/tour.md,
 * parts 1 and 5):
 *
 *   loads    the tile update of wide-avx512, or of the instruction set compiled for, on one thread,
 *            as it is and with loads or stores left out: which of them does it wait for?
 *   rows     the same on a matrix whose rows lie 1, 2, 3 ... lines past a multiple of 4 KiB apart:
 *            does a load wait that has the low 12 bits of a store just before it? "stepped" takes
 *            the rows of a tile in another order, where they lie as in the rung.
 *   tiles N...  the tiles of blocked-openmp dealt out in four ways, by two threads; with rows that
 *            follow each other, and with rows that begin where a cache line begins
 *   counts   what integral and sliding (31 x 31, 1000 x 1000) spend on counts and on look-ups, on
 *            one thread, in processor time
 *
 * Everything is measured in turns, and medians are printed. To build it, with BUILD from "cmake":
 *
 *   cc -O3 -fopenmp -fwrapv -Ilab -Isrc -Iinclude $ISA bench/lab_loops.c BUILD/src/libtilewright.a
 *
 * and -lm and what else the library was built with. ISA is "-DTWI_KERNEL_ISA=avx512
 * -DTWI_KERNEL_AVX512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512",
 * "-DTWI_KERNEL_ISA=avx2 -DTWI_KERNEL_AVX2 -mavx2 -mfma" or "-DTWI_KERNEL_ISA=neon
 * -DTWI_KERNEL_NEON".
 */
#define _GNU_SOURCE
#include "ladders/apsp/cpu_kernels.c"
#include "ladders/entropy/versions.c"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __x86_64__
#define VECTOR "v" /* a register of the widest kind */
#else
#define VECTOR "w"
#endif

enum { TURNS = 15, FEWER_TURNS = 5, SIDE = 2048, TILES = SIDE / 64 };

static double now(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_value);
    return times[count / 2];
}

static void *take(size_t bytes)
{
    void *block = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (block == NULL) {
        exit(2);
    }
    return block;
}

static void fill(int32_t *d, int64_t words)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < words; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        d[i] = 1 + (int32_t)(state >> 54);
    }
}

/* -------------------------------------------------------------------------------------- rows */

/* update_i32 with the rows of the tile in steps of 8: stores just before a load lie 8 rows off. */
static void update_stepped(void *c_, const void *a_, const void *b_, int64_t ld)
{
    int32_t *c = c_;
    const int32_t *a = a_, *b = b_;
    for (int p = 0; p < BLOCK; p++) {
        for (int first = 0; first < 8; first++) {
            for (int i = first; i < BLOCK; i += 8) {
                vec_i32 through = splat_i32(a[i * ld + p]);
                for (int j = 0; j < BLOCK; j += LANES_i32) {
                    vec_i32 sum = plain_add_i32(through, load_i32(b + p * ld + j));
                    store_i32(c + i * ld + j, min_i32(load_i32(c + i * ld + j), sum));
                }
            }
        }
    }
}

/* Additions and minima on registers alone: the ceiling, in relaxations per second. */
static double ceiling(void)
{
    enum { CHAINS = 12, ROUNDS = 1 << 20 };
    vec_i32 sum[CHAINS], one = splat_i32(1);
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = splat_i32(i);
    }
    double begun = now(CLOCK_THREAD_CPUTIME_ID);
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < CHAINS; i++) {
            vec_i32 more = plain_add_i32(sum[i], one);
            __asm__ volatile("" : "+" VECTOR(more));
            sum[i] = min_i32(sum[i], more);
        }
        __asm__ volatile("" : "+" VECTOR(one));
    }
    double seconds = now(CLOCK_THREAD_CPUTIME_ID) - begun;
    for (int i = 0; i < CHAINS; i++) {
        __asm__ volatile("" : : VECTOR(sum[i]));
    }
    return (double)ROUNDS * CHAINS * LANES_i32 / seconds;
}

/* The third phase of one round. */
static double third_phase(int32_t *d, int64_t ld,
                          void (*update)(void *, const void *, const void *, int64_t))
{
    const int64_t k = 5;
    double begun = now(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < TILES; i++) {
        for (int64_t j = 0; j < TILES; j++) {
            if (i != k && j != k) {
                update(d + i * 64 * ld + j * 64, d + i * 64 * ld + k * 64, d + k * 64 * ld + j * 64,
                       ld);
            }
        }
    }
    return now(CLOCK_THREAD_CPUTIME_ID) - begun;
}

/* An update that keeps the row of B in registers, or reads no C, or stores nothing. What is left
 * out of the loads is a value in a register, so that the arithmetic stays. */
#define UPDATE(name, held, read, stored)                                        \
    static void name(void *c_, const void *a_, const void *b_, int64_t ld)      \
    {                                                                           \
        enum { WIDE = BLOCK / LANES_i32 };                                      \
        int32_t *c = c_;                                                        \
        const int32_t *a = a_, *b = b_;                                         \
        for (int p = 0; p < BLOCK; p++) {                                       \
            vec_i32 row[WIDE], most = splat_i32(1 << 30);                       \
            for (int v = 0; v < WIDE; v++) {                                    \
                row[v] = load_i32(b + p * ld + v * LANES_i32);                  \
            }                                                                   \
            for (int i = 0; i < BLOCK; i++) {                                   \
                vec_i32 through = splat_i32(a[i * ld + p]);                     \
                for (int v = 0; v < WIDE; v++) {                                \
                    int32_t *at = c + i * ld + v * LANES_i32;                   \
                    if (!(held)) {                                              \
                        __asm__ volatile("" : : : "memory");                    \
                        row[v] = load_i32(b + p * ld + v * LANES_i32);          \
                    }                                                           \
                    vec_i32 old = (read) ? load_i32(at) : most;                 \
                    vec_i32 sum = min_i32(old, plain_add_i32(through, row[v])); \
                    if (stored) {                                               \
                        store_i32(at, sum);                                     \
                    } else {                                                    \
                        __asm__ volatile("" : : VECTOR(sum));                   \
                    }                                                           \
                }                                                               \
            }                                                                   \
        }                                                                       \
    }
UPDATE(all_kept, false, true, true)
UPDATE(row_held, true, true, true)
UPDATE(not_read, false, false, true)
UPDATE(held_not_read, true, false, true)
UPDATE(not_stored, false, true, false)
UPDATE(held_not_stored, true, true, false)
UPDATE(arithmetic, true, false, false)

/* One tile as often as a round has tiles. */
static double one_tile(int32_t *d, void (*update)(void *, const void *, const void *, int64_t))
{
    const int64_t ld = SIDE + 16;
    double begun = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < (TILES - 1) * (TILES - 1); i++) {
        update(d, d + 64, d + 128, ld);
    }
    return now(CLOCK_THREAD_CPUTIME_ID) - begun;
}

static void loads(void)
{
    static const struct {
        const char *name;
        void (*update)(void *, const void *, const void *, int64_t);
        int loads, stores;
    } cases[] = {{"the rung", update_i32, 2, 1},
                 {"the same, by hand", all_kept, 2, 1},
                 {"row of B in registers", row_held, 1, 1},
                 {"C not read", not_read, 1, 1},
                 {"neither", held_not_read, 0, 1},
                 {"C not stored", not_stored, 2, 0},
                 {"row held, not stored", held_not_stored, 1, 0},
                 {"arithmetic alone", arithmetic, 0, 0}};
    enum { COUNT = sizeof cases / sizeof *cases };
    static double times[2][COUNT][TURNS], tops[TURNS];
    int32_t *d = take((size_t)SIDE * (SIDE + 16) * 4);
    for (int turn = 0; turn < TURNS; turn++) {
        tops[turn] = ceiling();
        for (int c = 0; c < COUNT; c++) {
            fill(d, (int64_t)SIDE * (SIDE + 16));
            times[0][c][turn] = third_phase(d, SIDE + 16, cases[c].update);
            times[1][c][turn] = one_tile(d, cases[c].update);
        }
    }
    const double vectors = (TILES - 1) * (TILES - 1) * 64.0 * 64 * 64 / LANES_i32;
    const double top = median(tops, TURNS) / LANES_i32; /* vectors per second */
    printf("lanes %d; the ceiling is %.1f G relaxations/s; times of a vector, 1 is the ceiling's\n",
           LANES_i32, top * LANES_i32 / 1e9);
    printf("                        loads  stores   all tiles   one tile\n");
    for (int c = 0; c < COUNT; c++) {
        printf("%-22s  %5d  %6d   %9.2f  %9.2f\n", cases[c].name, cases[c].loads, cases[c].stores,
               median(times[0][c], TURNS) * top / vectors,
               median(times[1][c], TURNS) * top / vectors);
    }
    free(d);
}

static void rows(void)
{
    static const struct {
        int lines; /* from row to row, beyond 2 pages */
        bool stepped;
    } cases[] = {{1, false}, {1, true},   {2, false},  {3, false},  {4, false}, {5, false},
                 {8, false}, {12, false}, {13, false}, {16, false}, {33, false}};
    enum { COUNT = sizeof cases / sizeof *cases };
    static double times[COUNT][TURNS], tops[TURNS];
    int32_t *d = take((size_t)SIDE * (SIDE + 64 * 16) * 4);
    for (int turn = 0; turn < TURNS; turn++) {
        tops[turn] = ceiling();
        for (int c = 0; c < COUNT; c++) {
            const int64_t ld = SIDE + 16 * cases[c].lines;
            fill(d, SIDE * ld);
            times[c][turn] = third_phase(d, ld, cases[c].stepped ? update_stepped : update_i32);
        }
    }
    const double work = (double)(TILES - 1) * (TILES - 1) * 64 * 64 * 64, top = median(tops, TURNS);
    printf("lanes %d; the ceiling is %.1f G relaxations/s\n", LANES_i32, top / 1e9);
    printf("lines past 8 KiB   order     ns/tile   of the ceiling\n");
    for (int c = 0; c < COUNT; c++) {
        const double seconds = median(times[c], TURNS);
        printf("%16d   %-7s %9.0f   %6.1f %%\n", cases[c].lines,
               cases[c].stepped ? "stepped" : "plain", seconds * 1e9 / ((TILES - 1) * (TILES - 1)),
               100 * work / seconds / top);
    }
    free(d);
}

/* ------------------------------------------------------------------------------------- tiles */

/* As update_plainly of apsp-cpu. */
static void update_plainly(int32_t *d, int64_t n, int64_t ld, int64_t ci, int64_t cj, int64_t k)
{
    const int64_t last = (cj + 1) * 64 < n ? (cj + 1) * 64 : n;
    for (int64_t p = k * 64; p < (k + 1) * 64 && p < n; p++) {
        const int32_t *row = d + p * ld;
        for (int64_t i = ci * 64; i < (ci + 1) * 64 && i < n; i++) {
            int32_t *c = d + i * ld, through = c[p];
            for (int64_t j = cj * 64; j < last; j++) {
                c[j] = through + row[j] < c[j] ? through + row[j] : c[j];
            }
        }
    }
}

static double closed(int32_t *d, int64_t n, int64_t ld, omp_sched_t kind, int chunk, double *busy)
{
    const int64_t count = (n + 63) / 64;
    double begun = now(CLOCK_MONOTONIC), all = 0;
    omp_set_schedule(kind, chunk);
    for (int64_t k = 0; k < count; k++) {
        update_plainly(d, n, ld, k, k, k);
#pragma omp parallel for num_threads(2) schedule(runtime)
        for (int64_t other = 0; other < 2 * count; other++) {
            if (other / 2 != k) {
                update_plainly(d, n, ld, other % 2 == 0 ? k : other / 2,
                               other % 2 == 0 ? other / 2 : k, k);
            }
        }
#pragma omp parallel for collapse(2) num_threads(2) schedule(runtime) reduction(+ : all)
        for (int64_t i = 0; i < count; i++) {
            for (int64_t j = 0; j < count; j++) {
                if (i != k && j != k) {
                    double first = now(CLOCK_THREAD_CPUTIME_ID);
                    update_plainly(d, n, ld, i, j, k);
                    all += now(CLOCK_THREAD_CPUTIME_ID) - first;
                }
            }
        }
    }
    *busy = all;
    return now(CLOCK_MONOTONIC) - begun;
}

static void tiles(int sizes, char **words)
{
    static const struct {
        const char *name;
        omp_sched_t kind;
        int chunk; /* -1: a row of tiles */
    } ways[] = {{"dynamic, 4", omp_sched_dynamic, 4},
                {"static", omp_sched_static, 0},
                {"static, 4", omp_sched_static, 4},
                {"dynamic, row", omp_sched_dynamic, -1}};
    enum { WAYS = sizeof ways / sizeof *ways };
    printf(
        "n     rows     way                 ms  over dynamic, 4   us/tile of phase 3  over it\n");
    for (int s = 0; s < 2 * sizes; s++) {
        const int64_t n = atoll(words[s / 2]), count = (n + 63) / 64, lines = (n + 15) / 16;
        const int64_t ld = s % 2 == 0 ? n : 16 * (lines + (lines % 2 == 0));
        int32_t *d = take((size_t)(n * ld) * 4);
        double times[WAYS][FEWER_TURNS], busy[WAYS][FEWER_TURNS], first = 0, first_busy = 0;
        for (int turn = 0; turn < FEWER_TURNS; turn++) {
            for (int w = 0; w < WAYS; w++) {
                const int chunk = ways[w].chunk < 0 ? (int)count : ways[w].chunk;
                fill(d, n * ld);
                times[w][turn] = closed(d, n, ld, ways[w].kind, chunk, &busy[w][turn]);
            }
        }
        for (int w = 0; w < WAYS; w++) {
            const double t = median(times[w], FEWER_TURNS), b = median(busy[w], FEWER_TURNS);
            first = w == 0 ? t : first;
            first_busy = w == 0 ? b : first_busy;
            printf("%-5lld %-8s %-12s %9.2f         %8.3f             %8.2f   %6.3f\n",
                   (long long)n, s % 2 == 0 ? "plain" : "aligned", ways[w].name, t * 1e3, first / t,
                   b * 1e6 / (double)(count * (count - 1) * (count - 1)), first_busy / b);
        }
        free(d);
    }
}

/* ------------------------------------------------------------------------------------ counts */

static void keep(const void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* subtract_row and slide_row without what they do with counts. */
static void corners_of_row(const lab_entropy_task *task, int64_t y)
{
    const int64_t side = task->n + 1, area = side * side;
    const int64_t top = low(task, y) * side, bottom = high(task, y) * side;
    for (int64_t x = 0; x < task->n; x++) {
        int32_t counts[LEVELS];
        const int64_t left = low(task, x), right = high(task, x);
        for (int level = 0; level < LEVELS; level++) {
            const int32_t *image = task->integrals + level * area;
            counts[level] = image[bottom + right] - image[top + right] - image[bottom + left] +
                            image[top + left];
        }
        keep(counts);
    }
}

static void slides_of_row(const lab_entropy_task *task, int64_t y)
{
    int64_t top = low(task, y), bottom = high(task, y), left = 0, right = 0;
    int32_t counts[LEVELS] = {0};
    for (int64_t x = 0; x < task->n; x++) {
        while (right < high(task, x)) {
            add_column(task, top, bottom, right++, 1, counts);
        }
        while (left < low(task, x)) {
            add_column(task, top, bottom, left++, -1, counts);
        }
        keep(counts);
    }
}

/* The same elements read in the same order, and no count changed: what reading them costs. */
static void reads_of_row(const lab_entropy_task *task, int64_t y)
{
    int64_t top = low(task, y), bottom = high(task, y), left = 0, right = 0;
    for (int64_t x = 0; x < task->n; x++) {
        int32_t sum = 0;
        for (; right < high(task, x); right++) {
            for (int64_t i = top; i < bottom; i++) {
                sum += task->input[i * task->n + right];
            }
        }
        for (; left < low(task, x); left++) {
            for (int64_t i = top; i < bottom; i++) {
                sum += task->input[i * task->n + left];
            }
        }
        keep(&sum);
    }
}

static void finish_row(const lab_entropy_task *task, const tables *t, const int32_t counts[LEVELS],
                       int64_t y)
{
    for (int64_t x = 0; x < task->n; x++) {
        keep(counts);
        task->output[y * task->n + x] = finish(t, counts, 961);
    }
}

static void counts(void)
{
    enum { N = 1000, WIDE = 31, PARTS = 9 };
    static const char *const names[PARTS] = {"integral, its 16 images",
                                             "integral, rows",
                                             "  64 corners read, subtracted",
                                             "sliding, rows",
                                             "  62 counts read, changed, written",
                                             "    62 elements read",
                                             "16 looked up",
                                             "  64 corners, one row again and again",
                                             "  62 counts, one row again and again"};
    static float n_log_n[MOST + 1], inverse[MOST + 1];
    static double times[PARTS][TURNS];
    const tables t = {NULL, n_log_n, inverse};
    int32_t fixed[LEVELS];
    uint8_t *input = take(N * N);
    float *output = take(N * N * 4);
    lab_entropy_task task = {0};
    task.n = N;
    task.window = WIDE;
    task.input = input;
    task.output = output;
    task.integrals = take((size_t)(N + 1) * (N + 1) * LEVELS * 4);
    if (tw_context_create(&task.ctx) != TW_OK) {
        exit(2);
    }
    for (int i = 1; i <= MOST; i++) {
        n_log_n[i] = (float)(i * log(i));
        inverse[i] = (float)(1.0 / i);
    }
    uint64_t state = 1;
    for (int64_t i = 0; i < N * N; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        input[i] = (uint8_t)(state >> 60);
    }
    for (int level = 0; level < LEVELS; level++) {
        fixed[level] = level == 0 ? 61 : 60;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        for (int part = 0; part < PARTS; part++) {
            double begun = now(CLOCK_THREAD_CPUTIME_ID);
            for (int level = 0; part == 0 && level < LEVELS; level++) {
                integrate(&task, level);
            }
            for (int64_t y = 0; part > 0 && y < N; y++) {
                switch (part) {
                case 1:
                    subtract_row(&task, &t, y);
                    break;
                case 2:
                    corners_of_row(&task, y);
                    break;
                case 3:
                    slide_row(&task, &t, y);
                    break;
                case 4:
                    slides_of_row(&task, y);
                    break;
                case 5:
                    reads_of_row(&task, y);
                    break;
                case 6:
                    finish_row(&task, &t, fixed, y);
                    break;
                case 7:
                    corners_of_row(&task, N / 2);
                    break;
                default:
                    slides_of_row(&task, N / 2);
                    break;
                }
            }
            times[part][turn] = now(CLOCK_THREAD_CPUTIME_ID) - begun;
        }
    }
    printf("ns per element, %d x %d windows of %d x %d, one thread\n", WIDE, WIDE, N, N);
    for (int part = 0; part < PARTS; part++) {
        printf("%-38s %6.1f\n", names[part], median(times[part], TURNS) * 1e9 / (N * N));
    }
    tw_context_destroy(task.ctx);
    free(task.integrals);
    free(output);
    free(input);
}

int main(int argc, char **words)
{
    const char *what = argc >= 2 ? words[1] : "";
    if (strcmp(what, "loads") == 0) {
        loads();
    } else if (strcmp(what, "rows") == 0) {
        rows();
    } else if (strcmp(what, "tiles") == 0) {
        tiles(argc - 2, words + 2);
    } else if (strcmp(what, "counts") == 0) {
        counts();
    } else {
        fprintf(stderr, "usage: %s loads | rows | tiles N... | counts\n", words[0]);
        return 2;
    }
    return 0;
}
