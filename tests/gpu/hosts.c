/*
 * Matrices in host memory that are dealt out to several devices or streamed through one, against
 * the CPU engine: every type, sizes around the tile edges, one GPU named one to five times, and
 * limits from the minimum memory upwards. Weights are whole and sums small, so that every type must
 * give the same numbers, bit by bit; with fractions, several devices must give the bits of one.
 * Graphs that fall apart come too: tiles without a path are left out of the work.
 * What lies between the rows is poisoned and must stay so. Without a GPU everything is skipped,
 * with the reason.
 *
 * No cmocka: the program is also built and run on machines that have a GPU and little else.
 */
#include "apsp/closure/cpu.h"
#include "apsp/gpu/gpu.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "gpu/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xAB

static tw_context *ctx;
static bool tiny;           /* two sizes, four ways */
static int part, parts = 1; /* every case whose number is `part` beyond a multiple of `parts` */
static int number;
static int passed, failed;

/* Which pairs may have an edge: in all but the first there are tiles without a path. */
typedef enum shape {
    WHOLE,
    PARTS, /* of vertices that follow each other */
    WOVEN, /* of every third tile: gaps between the tiles of a part */
    BAND,  /* vertices near each other; everything is reached in the end */
    FEW,   /* most vertices have none */
    HUBS,  /* some vertices of every tile */
    NONE,
} shape;

/* One matrix, closed one way. */
typedef struct host_case {
    tw_type type;
    int64_t n;
    bool narrow; /* 16 bits first */
    double density;
    int32_t heaviest;
    int32_t devices; /* 0: streamed */
    double room;     /* streamed: this many times the minimum memory */
    bool undirected;
    shape form;
} host_case;

static void must(tw_status status, const char *what)
{
    if (status != TW_OK) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
        exit(1);
    }
}

static void *must_have(size_t bytes)
{
    void *block = malloc(bytes + 1);
    if (block == NULL) {
        printf("FAILED: no memory\n");
        exit(1);
    }
    memset(block, POISON, bytes);
    return block;
}

static bool may_join(const host_case *c, int64_t i, int64_t j)
{
    switch (c->form) {
    case PARTS:
        return i / 150 == j / 150;
    case WOVEN:
        return i / 128 % 3 == j / 128 % 3;
    case BAND:
        return llabs(i - j) <= 40;
    case FEW:
        return i > c->n - c->n / 4 && j < c->n / 4;
    case HUBS:
        return i % 61 == 0 && j % 61 == 0;
    case NONE:
        return false;
    default:
        return true;
    }
}

static int32_t weight_of(const host_case *c, int64_t i, int64_t j)
{
    int64_t a = c->undirected && i < j ? j : i;
    int64_t b = c->undirected && i < j ? i : j;
    uint64_t random = twi_random_at(17 + (uint64_t)c->n, (uint64_t)(a * c->n + b));
    if (i == j) {
        return 0;
    }
    if (!may_join(c, a, b) || twi_random_unit(random) >= c->density) {
        return TW_APSP_INF_I32;
    }
    return (int32_t)twi_random_below(twi_random_at(5, random), (uint64_t)c->heaviest + 1);
}

static void put(void *row, int64_t at, tw_type type, int32_t weight, double unit)
{
    double value = weight < TW_APSP_INF_I32 ? weight * unit : tw_apsp_infinity(type);
    if (type == TW_I32) {
        ((int32_t *)row)[at] = weight;
    } else if (type == TW_F32) {
        ((float *)row)[at] = (float)value;
    } else {
        ((double *)row)[at] = value;
    }
}

static double get(const void *row, int64_t at, tw_type type)
{
    return type == TW_I32   ? ((const int32_t *)row)[at]
           : type == TW_F32 ? (double)((const float *)row)[at]
                            : ((const double *)row)[at];
}

static int64_t row_length(const host_case *c)
{
    return c->n + c->n % 5;
}

/* The case's matrix, weights times `unit`. */
static char *make_matrix(const host_case *c, double unit)
{
    size_t row = (size_t)row_length(c) * tw_type_size(c->type);
    char *matrix = must_have((size_t)c->n * row);
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = 0; j < c->n; j++) {
            put(matrix + (size_t)i * row, j, c->type, weight_of(c, i, j), unit);
        }
    }
    return matrix;
}

static twi_gpu_list same_device(int32_t count)
{
    twi_gpu_list list = {.count = count};
    return list;
}

/* Close `matrix` as the case says. */
static tw_type run(const host_case *c, char *matrix)
{
    twi_gpu_host host = {.data = matrix,
                         .n = c->n,
                         .ld = row_length(c),
                         .type = c->type,
                         .symmetric = c->undirected};
    tw_type used = c->type;
    if (c->devices > 0) {
        twi_gpu_list list = same_device(c->devices);
        must(twi_gpu_close(ctx, &list, TWI_GPU_SEVERAL, UINT64_MAX, &host, c->narrow, &used),
             "several devices");
    } else {
        uint64_t least = 0;
        uint64_t bytes = 0;
        (void)twi_gpu_stream_fits(c->type, c->n, c->narrow, 0, &least);
        uint64_t limit = (uint64_t)((double)least * c->room);
        if (!twi_gpu_stream_fits(c->type, c->n, c->narrow, limit, &bytes) || bytes > limit) {
            printf("FAILED: n %lld does not fit its own least memory\n", (long long)c->n);
            failed++;
        }
        twi_gpu_list one = same_device(1);
        must(twi_gpu_close(ctx, &one, TWI_GPU_STREAMED, limit, &host, c->narrow, &used),
             "streaming");
    }
    return used;
}

static void tell(const host_case *c, const char *what, int64_t wrong)
{
    passed += wrong == 0;
    failed += wrong != 0;
    if (wrong != 0) {
        printf(
            "FAILED %s: %s, n %lld, %d devices, room %.2f, %s, %s, form %d, density %.2f, to %d: "
            "%lld\n",
            what, tw_type_name(c->type), (long long)c->n, c->devices, c->room,
            c->narrow ? "16 bits first" : "in its type", c->undirected ? "undirected" : "directed",
            c->form, c->density, c->heaviest, (long long)wrong);
    }
}

/* The same problem on the CPU, in i32. */
static twi_work reference(const host_case *c)
{
    twi_isa isa;
    must(twi_isa_resolve(ctx, &isa), "an instruction set");
    twi_work work = {twi_minplus_kernel_find(isa, TW_I32), NULL, c->n, 0};
    work.ld = twi_work_stride(work.kernel, c->n);
    must(twi_alloc(ctx, &work.data, twi_work_bytes(work.kernel, c->n), 1, "the reference"),
         "the reference");
    int32_t *out = work.data;
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = 0; j < work.ld; j++) {
            out[i * work.ld + j] = j < c->n ? weight_of(c, i, j) : TW_APSP_INF_I32;
        }
    }
    must(twi_cpu_closure(ctx, &work, twi_block_choose(work.kernel, c->n), twi_thread_count(ctx),
                         false),
         "the reference");
    return work;
}

static int64_t count_wrong(const host_case *c, const char *result, const twi_work *expected)
{
    size_t size = tw_type_size(c->type);
    size_t row = (size_t)row_length(c) * size;
    int64_t wrong = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const unsigned char *line = (const unsigned char *)result + (size_t)i * row;
        for (int64_t j = 0; j < c->n; j++) {
            int32_t want = ((const int32_t *)expected->data)[i * expected->ld + j];
            double limit = want == TW_APSP_INF_I32 ? tw_apsp_infinity(c->type) : want;
            double got = get(line, j, c->type);
            if (got != limit && wrong++ < 2) {
                printf("  (%lld, %lld) is %.9g, not %.9g\n", (long long)i, (long long)j, got,
                       limit);
            }
        }
        for (size_t b = (size_t)c->n * size; b < row; b++) {
            wrong += line[b] != POISON;
        }
    }
    return wrong;
}

/* All ways of one matrix against one reference. */
static void run_ways(host_case c)
{
    static const double rooms[] = {1.0, 1.3, 2.5, 6.0};
    twi_work expected = reference(&c);
    for (int way = 0; way < 9; way++) {
        bool left_out = tiny && way != 1 && way != 2 && way != 5 && way != 7;
        if (left_out || number++ % parts != part) {
            continue;
        }
        c.devices = way < 5 ? way + 1 : 0;
        c.room = way < 5 ? 0 : rooms[way - 5];
        char *matrix = make_matrix(&c, 1);
        (void)run(&c, matrix);
        tell(&c, "not the CPU's result", count_wrong(&c, matrix, &expected));
        free(matrix);
    }
    twi_free(expected.data);
}

/* Blocks of many sizes, whose last one has fewer rows and may be closed in another way. */
static void blocks_that_end_early(int64_t n)
{
    static const double rooms[] = {1.2, 1.6, 2, 3, 4, 5, 6, 7, 8, 10};
    host_case c = {TW_I32, n, false, 0.02, 100000, 0, 0, false, WHOLE};
    twi_work expected = reference(&c);
    for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
        c.room = rooms[r];
        char *matrix = make_matrix(&c, 1);
        (void)run(&c, matrix);
        tell(&c, "not the CPU's result", count_wrong(&c, matrix, &expected));
        free(matrix);
    }
    twi_free(expected.data);
}

/* Several devices do the same sums as one, so fractions are rounded alike. */
static void fractions_are_rounded_as_on_one_device(tw_type type, int64_t n, int32_t devices,
                                                   shape form)
{
    host_case c = {type, n, false, 0.4, 1000, devices, 0, devices % 2 == 1, form};
    twi_gpu_host host = {.data = make_matrix(&c, 1.0 / 7),
                         .n = n,
                         .ld = row_length(&c),
                         .type = type,
                         .symmetric = c.undirected};
    twi_gpu_list one = same_device(1);
    tw_type used;
    must(twi_gpu_close(ctx, &one, TWI_GPU_STREAMED, UINT64_MAX, &host, false, &used), "one device");
    char *matrix = make_matrix(&c, 1.0 / 7);
    (void)run(&c, matrix);
    size_t bytes = (size_t)n * (size_t)row_length(&c) * tw_type_size(type);
    tell(&c, "not the bits of one device", memcmp(matrix, host.data, bytes) != 0);
    free(matrix);
    free(host.data);
}

enum { KINDS = 5 };
static const struct {
    tw_type type;
    bool narrow;
    int32_t heaviest;
} kinds[KINDS] = {{TW_I32, false, 100000},
                  {TW_I32, true, 1000},
                  {TW_I32, true, 40000}, /* some pairs are too far for 16 bits */
                  {TW_F32, false, 1000},
                  {TW_F64, false, 1000}};

static void every_size(const int64_t *sizes, int count)
{
    for (int k = 0; k < KINDS; k++) {
        for (int s = 0; s < count; s++) {
            double density = (s + k) % 3 == 0 ? 0.02 : (s + k) % 3 == 1 ? 0.3 : 1.0;
            run_ways((host_case){kinds[k].type, sizes[s], kinds[k].narrow, density,
                                 kinds[k].heaviest, 0, 0, s % 2 == 1, WHOLE});
        }
    }
}

static void every_shape(int64_t n, int last)
{
    for (int k = 0; k < KINDS; k++) {
        for (int form = PARTS; form <= last; form++) {
            double density = form == BAND || form == FEW || form == HUBS ? 0.1 : 0.5;
            run_ways((host_case){kinds[k].type, n + form, kinds[k].narrow, density,
                                 kinds[k].heaviest, 0, 0, (k + form) % 2 == 1, (shape)form});
        }
    }
}

int main(int argc, char **argv)
{
    /* "small" keeps to sizes that a memory checker can follow in a minute, "tiny" to what the one
     * of races can; "tiny PART PARTS" is a part of that, for runs side by side. */
    tiny = argc > 1 && strcmp(argv[1], "tiny") == 0;
    bool small = tiny || (argc > 1 && strcmp(argv[1], "small") == 0);
    static const int64_t all[] = {1,   2,   63,  64,  65,  127, 128, 129,  200,
                                  256, 257, 384, 385, 512, 640, 777, 1001, 1500};
    static const int64_t few[] = {300, 129, 1, 65};
    int count = tiny ? 2 : small ? 4 : (int)(sizeof all / sizeof *all);
    if (argc == 4) {
        part = atoi(argv[2]);
        parts = atoi(argv[3]);
    }
    if (parts < 1 || part < 0 || part >= parts) {
        printf("a part is one of 0 to PARTS - 1\n");
        return 2;
    }
    if (tw_context_create(&ctx) != TW_OK) {
        return 2;
    }
    if (tw_set_device(ctx, TWI_GPU_PREFIX) != TW_OK) {
        printf("%s\n", tw_last_error(ctx));
        return 2;
    }
    twi_gpu_list list;
    if (twi_gpu_select(ctx, &list) != TW_OK) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", tw_last_error(ctx));
        tw_context_destroy(ctx);
        return 77;
    }
    every_size(small ? few : all, count);
    every_shape(small ? 300 : 1300, tiny ? PARTS : NONE);
    if (!small) {
        blocks_that_end_early(5000);
    }
    for (int32_t devices = 2; devices < 5 && !tiny; devices++) {
        shape form = small ? WHOLE : (shape)(devices - 2);
        fractions_are_rounded_as_on_one_device(TW_F32, small ? 300 : 3500, devices, WHOLE);
        fractions_are_rounded_as_on_one_device(TW_F32, 257, devices,
                                               form); /* in one launch there */
        fractions_are_rounded_as_on_one_device(TW_F64, small ? 200 : 1000, devices, form);
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    tw_context_destroy(ctx);
    return failed == 0 ? 0 : 1;
}
