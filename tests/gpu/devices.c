/*
 * The GPU closure and the device entry against the CPU engine: every type, sizes around the tile
 * edges, directed and undirected, any stride and alignment. Weights are whole and sums small, so
 * that every type must give the same numbers, bit by bit. What lies between the rows is poisoned
 * and must stay so. Without a GPU everything is skipped, with the reason.
 *
 * No cmocka: the program is also built and run on machines that have a GPU and little else.
 */
#include "apsp/closure/cpu.h"
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/convert.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xAB

static tw_context *ctx;
static cudaStream_t stream_of_its_own; /* on which launches wait for no other stream */
static int passed, failed;
static int part, parts = 1; /* every case whose number is `part` beyond a multiple of `parts` */

/* One case: a matrix of n x n in `type`, worked on as `work`, at `offset` elements from an aligned
 * address, rows `gap` elements longer than they must be. */
typedef struct device_case {
    tw_type type;
    tw_type work; /* TW_AUTO, TW_U16, or `type` */
    int32_t side; /* not 0: the closure alone, with this tile, instead of the entry */
    int64_t n;
    int64_t gap;
    int64_t offset;
    bool undirected;
    double density;
    int32_t heaviest;
    int32_t parts; /* that no edge joins; 0: one */
    int64_t reach; /* edges join vertices at most this far from each other; 0: any */
    bool apart;    /* rounds on two streams */
    bool nan;      /* in place of "no path" */
} device_case;

static void must(tw_status status, const char *what)
{
    if (status != TW_OK) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what), what);
}

/* The weight of an edge; TW_APSP_INF_I32 or a little above it where there is none. */
static int32_t weight_of(const device_case *c, int64_t i, int64_t j)
{
    int64_t a = c->undirected && i < j ? j : i;
    int64_t b = c->undirected && i < j ? i : j;
    uint64_t random = twi_random_at(11 + (uint64_t)c->n, (uint64_t)(a * c->n + b));
    bool joined = c->parts == 0 || i * c->parts / c->n == j * c->parts / c->n;
    bool near = c->reach == 0 || llabs(i - j) <= c->reach;
    if (!joined || !near || twi_random_unit(random) >= c->density) {
        bool above = c->type == TW_I32 && c->side == 0 && random % 2 == 0;
        return TW_APSP_INF_I32 + (above ? 5 : 0);
    }
    return (int32_t)twi_random_below(twi_random_at(5, random), (uint64_t)c->heaviest + 1);
}

static double infinity_of(const device_case *c)
{
    return c->type == TW_U16 ? TWI_GPU_INF_U16 : tw_apsp_infinity(c->type);
}

static void put(void *at, tw_type type, int32_t weight, double infinity, bool nan)
{
    bool edge = weight < TW_APSP_INF_I32 && weight < infinity;
    infinity = nan ? (double)NAN : infinity;
    switch (type) {
    case TW_I32:
        *(int32_t *)at = weight;
        break;
    case TW_U16:
        *(uint16_t *)at = (uint16_t)(edge ? weight : infinity);
        break;
    case TW_F32:
        *(float *)at = (float)(edge ? weight : infinity);
        break;
    default:
        *(double *)at = edge ? weight : infinity;
        break;
    }
}

static double get(const void *at, tw_type type)
{
    switch (type) {
    case TW_I32:
        return *(const int32_t *)at;
    case TW_U16:
        return *(const uint16_t *)at;
    case TW_F32:
        return *(const float *)at;
    default:
        return *(const double *)at;
    }
}

/* The same problem on the CPU, in i32. */
static twi_work reference(const device_case *c)
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
            int32_t weight = j < c->n ? weight_of(c, i, j) : TW_APSP_INF_I32;
            weight = weight < TW_APSP_INF_I32 ? weight : TW_APSP_INF_I32;
            out[i * work.ld + j] = i == j ? 0 : weight;
        }
    }
    must(twi_cpu_closure(ctx, &work, twi_block_choose(work.kernel, c->n), twi_thread_count(ctx),
                         c->undirected),
         "the reference");
    return work;
}

static int64_t count_wrong(const device_case *c, const char *result, int64_t ld)
{
    twi_work expected = reference(c);
    size_t size = c->type == TW_U16 ? 2 : tw_type_size(c->type);
    double infinity = infinity_of(c);
    int64_t wrong = 0;
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = 0; j < c->n; j++) {
            int32_t want = ((const int32_t *)expected.data)[i * expected.ld + j];
            double limit = want == TW_APSP_INF_I32 || want > infinity ? infinity : want;
            double got = get(result + (size_t)(i * ld + j) * size, c->type);
            if (got != limit && wrong++ < 2) {
                printf("  (%lld, %lld) is %.9g, not %.9g\n", (long long)i, (long long)j, got,
                       limit);
            }
        }
        const unsigned char *gap = (const unsigned char *)result + (size_t)(i * ld + c->n) * size;
        for (size_t b = 0; b < (size_t)(ld - c->n) * size; b++) {
            wrong += gap[b] != POISON;
        }
    }
    twi_free(expected.data);
    return wrong;
}

static cudaStream_t stream_of(const device_case *c)
{
    return c->gap / 2 % 2 == 0 ? stream_of_its_own : NULL;
}

/* Only the closure, on a matrix that is tidy already. */
static void run_closure(const device_case *c, char *matrix, int64_t ld)
{
    const twi_gpu_kernel *kernel = twi_gpu_kernel_find(c->type, c->side);
    void *panels = NULL;
    must_run(cudaMalloc(&panels, twi_gpu_closure_bytes(kernel, c->n, c->undirected) + 1), "panels");
    twi_gpu_work work = {kernel, matrix, c->n, ld, c->undirected, NULL, false, c->apart};
    must(twi_gpu_closure(ctx, &work, panels, stream_of(c), c->gap % 2 == 1), "the closure");
    must_run(cudaDeviceSynchronize(), "waiting for the closure");
    must_run(cudaFree(panels), "freeing panels");
}

static void run_entry(const device_case *c, char *matrix, int64_t ld)
{
    tw_matrix view = {matrix, c->n, c->n, ld, c->type};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_device_options device = TW_DEVICE_OPTIONS_INIT;
    opts.work_type = c->work;
    opts.symmetric = c->undirected;
    device.stream = stream_of(c);
    must(tw_apsp_device_workspace(ctx, &device.workspace_bytes, &view, &opts), "the workspace");
    must_run(cudaMalloc(&device.workspace, device.workspace_bytes + 1), "the workspace");
    must(tw_apsp_device(ctx, &view, &opts, &device), "the device entry");
    must_run(cudaDeviceSynchronize(), "waiting for the device entry");
    must_run(cudaFree(device.workspace), "freeing the workspace");
}

static void run_case(const device_case *c)
{
    static int number;
    if (number++ % parts != part) {
        return;
    }
    size_t size = tw_type_size(c->type);
    int64_t unit = 16 / (int64_t)size;
    int64_t ld = c->n + c->gap;
    ld = c->side != 0 ? (ld + unit - 1) / unit * unit : ld;
    size_t bytes = (size_t)c->n * (size_t)ld * size;
    size_t skip = (size_t)c->offset * size;
    char *host = malloc(bytes + 1);
    char *device = NULL;
    if (host == NULL) {
        printf("FAILED: no memory\n");
        exit(1);
    }
    memset(host, POISON, bytes);
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = 0; j < c->n; j++) {
            int32_t weight = i == j ? (c->side != 0 ? 0 : 7) : weight_of(c, i, j);
            put(host + (size_t)(i * ld + j) * size, c->type, weight, infinity_of(c), c->nan);
        }
    }
    must_run(cudaMalloc((void **)&device, bytes + skip + 1), "the matrix");
    must_run(cudaMemcpy(device + skip, host, bytes, cudaMemcpyHostToDevice), "upload");
    must_run(cudaDeviceSynchronize(), "waiting for the upload");
    if (c->side != 0) {
        run_closure(c, device + skip, ld);
    } else {
        run_entry(c, device + skip, ld);
    }
    memset(host, POISON ^ 0xFF, bytes);
    must_run(cudaMemcpy(host, device + skip, bytes, cudaMemcpyDeviceToHost), "download");
    must_run(cudaFree(device), "freeing the matrix");
    int64_t wrong = count_wrong(c, host, ld);
    free(host);
    passed += wrong == 0;
    failed += wrong != 0;
    if (wrong != 0) {
        printf("FAILED %s as %s, tile %d, n %lld, gap %lld, offset %lld, %s, density %.2f: %lld\n",
               tw_type_name(c->type), tw_type_name(c->work), c->side, (long long)c->n,
               (long long)c->gap, (long long)c->offset, c->undirected ? "undirected" : "directed",
               c->density, (long long)wrong);
    } else if (parts > 1) { /* a checker may be stopped: what was seen until then is told */
        printf("case %d passed\n", number - 1);
        (void)fflush(stdout);
    }
}

static void closures_of_every_size(const int64_t *sizes, int count, bool apart)
{
    static const tw_type types[] = {TW_I32, TW_U16, TW_F32, TW_F64};
    for (int t = 0; t < 4; t++) {
        for (int32_t side = 64; side <= 128; side += 64) {
            for (int s = 0; s < count && twi_gpu_kernel_find(types[t], side) != NULL; s++) {
                for (int undirected = 0; undirected < 2; undirected++) {
                    double density = s % 3 == 0 ? 0.02 : s % 3 == 1 ? 0.3 : 1.0;
                    device_case c = {types[t], types[t],        side,    sizes[s], s % 4,
                                     0,        undirected != 0, density, 100,      0,
                                     0,        apart,           false};
                    run_case(&c);
                }
            }
        }
    }
}

/* Most tiles are infinite at first, some to the end. */
static void closures_with_infinite_tiles(const int64_t *sizes, int count)
{
    static const tw_type types[] = {TW_I32, TW_U16, TW_F32, TW_F64};
    for (int t = 0; t < 4; t++) {
        for (int32_t side = 64; side <= 128; side += 64) {
            for (int s = 0; s < count && twi_gpu_kernel_find(types[t], side) != NULL; s++) {
                for (int form = 0; form < 6; form++) {
                    device_case c = {types[t],
                                     types[t],
                                     side,
                                     sizes[s],
                                     s % 4,
                                     0,
                                     form < 3,
                                     0.5,
                                     100,
                                     form % 3 == 0   ? 3
                                     : form % 3 == 1 ? 40
                                                     : 0,
                                     form % 3 == 2 ? 9 : 0,
                                     false,
                                     false};
                    run_case(&c);
                    c.apart = true;
                    run_case(&c);
                }
            }
        }
    }
}

static void entries_of_any_layout(const int64_t *sizes, int count)
{
    static const struct {
        tw_type type, work;
        int32_t heaviest;
    } forms[] = {{TW_I32, TW_I32, 100000}, {TW_I32, TW_U16, 1000},  {TW_I32, TW_U16, 40000},
                 {TW_I32, TW_AUTO, 1000},  {TW_F32, TW_AUTO, 1000}, {TW_F64, TW_AUTO, 1000}};
    for (int f = 0; f < 6; f++) {
        for (int s = 0; s < count; s++) {
            double density = (s + f) % 3 == 0 ? 0.02 : (s + f) % 3 == 1 ? 0.3 : 1.0;
            device_case c = {
                forms[f].type, forms[f].work,     0, sizes[s], s % 4, s / 2 % 3, (s + f) % 2 == 0,
                density,       forms[f].heaviest, 0, 0,        false, false};
            run_case(&c);
        }
    }
}

/* 16 bits are tried, and left at once where searches from and to a vertex end early: parts that no
 * edge joins, and few levels; many levels, which leave it open. */
static void entries_in_parts(const int64_t *sizes, int count)
{
    for (int s = 0; s < count; s++) {
        for (int form = 0; form < 8; form++) {
            device_case c = {TW_I32,
                             TW_U16,
                             0,
                             sizes[s],
                             s % 4,
                             s / 2 % 3,
                             form % 2 != 0,
                             form % 4 < 2 ? 1.0 : 0.3,
                             1000,
                             form < 4 ? 3 : 0,
                             form < 4 ? 0 : 9,
                             false,
                             false};
            run_case(&c);
        }
    }
}

/* The largest matrices that go one way, and more tiles than begin before a round's panels do. */
static void closures_at_the_borders(void)
{
    static const struct {
        tw_type type;
        int32_t side;
        int64_t n;
    } borders[] = {{TW_I32, 64, 1024},  {TW_I32, 64, 1025},  {TW_I32, 64, 1440},
                   {TW_I32, 64, 1441},  {TW_I32, 64, 1536},  {TW_F32, 64, 1408},
                   {TW_I32, 64, 1537},  {TW_I32, 64, 2240},  {TW_I32, 64, 3840},
                   {TW_F32, 64, 2240},  {TW_F32, 64, 3840},  {TW_I32, 128, 3201},
                   {TW_F32, 128, 3201}, {TW_I32, 128, 3841}, {TW_U16, 128, 4481}};
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        for (int form = 0; form < 2; form++) {
            device_case c = {borders[i].type,
                             borders[i].type,
                             borders[i].side,
                             borders[i].n,
                             (int64_t)(i + form) % 2,
                             0,
                             form != 0,
                             0.3,
                             100,
                             0,
                             0,
                             false,
                             false};
            run_case(&c);
        }
    }
}

/* A float that is not a number must not keep a closure waiting; it is no path. */
static void entries_that_are_not_numbers(const int64_t *sizes, int count)
{
    for (int s = 0; s < count; s++) {
        for (int form = 0; form < 2; form++) {
            device_case c = {TW_F32, TW_AUTO,           0, sizes[s], s % 4, 0, form != 0, 0.3,
                             100,    form == 0 ? 3 : 0, 0, false,    true};
            run_case(&c);
        }
    }
}

/* Arcs of which a search that looks for pairs without a path may find all ends, or not. */
typedef enum arcs { COMPLETE, TWO_PARTS, NONE_TO_0, NONE_FROM_0, A_PATH, ARCS } arcs;

static bool has_arc(arcs form, int64_t n, int64_t i, int64_t j)
{
    switch (form) {
    case TWO_PARTS:
        return (i < n / 2) == (j < n / 2);
    case NONE_TO_0:
        return j != 0;
    case NONE_FROM_0:
        return i != 0;
    case A_PATH: /* and back: more levels than are looked at */
        return i - j == 1 || j - i == 1;
    default:
        return true;
    }
}

/* Whether 16 bits are left where, and only where, a search has seen that they cannot be enough. */
static void decisions(int64_t n)
{
    static const bool hopeless[ARCS] = {false, true, true, true, false};
    const int64_t ld = n + 3;
    uint16_t *host = malloc((size_t)(n * ld) * sizeof *host);
    for (int form = 0; form < ARCS && host != NULL; form++) {
        for (int64_t at = 0; at < n * ld; at++) {
            const int64_t i = at / ld, j = at % ld;
            const bool arc = j < n && (i == j || has_arc((arcs)form, n, i, j));
            host[at] = i == j ? 0 : arc ? 5 : TWI_GPU_INF_U16;
        }
        twi_gpu_square square = {NULL, ld};
        twi_gpu_decision *decision = NULL, got;
        uint8_t *reached = NULL;
        must_run(cudaMalloc(&square.data, (size_t)(n * ld) * sizeof *host), "a matrix");
        must_run(cudaMalloc((void **)&decision, sizeof *decision), "a decision");
        must_run(cudaMalloc((void **)&reached, TWI_GPU_REACHED_BYTES(n)), "what is reached");
        must_run(
            cudaMemcpy(square.data, host, (size_t)(n * ld) * sizeof *host, cudaMemcpyHostToDevice),
            "upload");
        must(twi_gpu_check(ctx, twi_gpu_decide(decision, reached, square, n, NULL), "deciding"),
             "deciding");
        must_run(cudaMemcpy(&got, decision, sizeof got, cudaMemcpyDeviceToHost), "download");
        const bool right = got.possible == !hopeless[form] && got.undecided == hopeless[form];
        passed += right;
        failed += !right;
        if (!right) {
            printf("FAILED decision %d, n %lld: possible %d, undecided %d\n", form, (long long)n,
                   got.possible, got.undecided);
        }
        must_run(cudaFree(square.data), "freeing");
        must_run(cudaFree(decision), "freeing");
        must_run(cudaFree(reached), "freeing");
    }
    free(host);
}

int main(int argc, char **argv)
{
    /* "small" keeps to sizes for the checkers of memory, "middle" to one whose rounds are a launch
     * each, "tiny" to sizes for the checker of races; "tiny PART PARTS" is a part of them, for runs
     * side by side. */
    bool middle = argc > 1 && strcmp(argv[1], "middle") == 0;
    bool tiny = argc > 1 && strcmp(argv[1], "tiny") == 0;
    bool small = tiny || (argc > 1 && strcmp(argv[1], "small") == 0);
    static const int64_t all[] = {1,   2,   3,   31,  63,  64,  65,  100, 127, 128, 129, 130,
                                  191, 192, 200, 255, 256, 257, 300, 385, 511, 640, 1001};
    static const int64_t few[] = {130, 65, 257, 1, 64, 200};
    const int count = tiny ? 2 : small ? 6 : 23;
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
    must_run(cudaStreamCreateWithFlags(&stream_of_its_own, cudaStreamNonBlocking), "a stream");
    static const int64_t sparse[] = {130, 300, 1500, 1601};
    /* More tiles of 64 than one launch holds: one more row, whole tiles; more rows per thread. */
    static const int64_t rounds[] = {1409, 1472, 1473, 2241, 2304, 2305, 2561};
    enum { ROUNDS = sizeof rounds / sizeof *rounds };
    if (middle) {
        closures_of_every_size(rounds, 1, false);
        closures_of_every_size(rounds, 1, true);
    } else {
        closures_of_every_size(small ? few : all, count, false);
        closures_of_every_size(small ? few : all, count, true);
        entries_of_any_layout(small ? few : all, count);
        closures_with_infinite_tiles(sparse, tiny ? 1 : small ? 2 : 4);
        entries_in_parts(sparse, tiny ? 1 : small ? 2 : 4);
        entries_in_parts(few, 6);
        entries_that_are_not_numbers(small ? few : all, tiny ? 2 : small ? 6 : 23);
        decisions(257);
    }
    if (!small && !middle) {
        closures_of_every_size(rounds, ROUNDS, false);
        closures_of_every_size(rounds, ROUNDS, true);
        entries_of_any_layout(rounds, ROUNDS);
        entries_that_are_not_numbers(rounds, ROUNDS);
        closures_at_the_borders();
        decisions(1409);
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    tw_context_destroy(ctx);
    return failed == 0 ? 0 : 1;
}
