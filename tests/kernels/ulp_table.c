/*
 * Prints the table of the vector functions' errors: for each function, compute type and --fast, the
 * largest error found and where, and a hash of all bits that were computed, which is the same on
 * every instruction set.
 *   ulp_table [BLOCKS [NAME...]]         samples of 4096 numbers per block, 200 by default
 *   ulp_table --all PART PARTS NAME...   every f32, or part PART (from 0) of them, for functions of
 *                                        one argument; all of them take a minute or two each
 *   ulp_table --within LOW HIGH NAME...  150 blocks of arguments between two numbers
 *   ulp_table --search ROUNDS NAME...    100 blocks of samples and edges, then ROUNDS blocks around
 *                                        the worst arguments found so far, nearer and nearer
 * TW_ISA chooses the instruction set.
 *
 * The truth is MPFR's. Arguments where it would cost much and tell nothing are left to the C
 * library: all of f32, whose units the library's error does not reach, but for the worst one; and
 * of f64 those where a function whose library error is below 0.65 gives the library's very value.
 */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096, KEPT = 64, FORMS = 3 }; /* f32, f32 --fast, f64 */
static const double LIBRARY_ERROR = 0.65;

typedef struct place {
    double error;
    double at[2];
} place;

typedef struct worst {
    place kept[KEPT]; /* worst first */
    int count;
    uint64_t hash;
} worst;

/* FNV-1a over the bits, NaNs all alike. */
static void mix(worst *w, const void *data, size_t bytes, int nan)
{
    for (size_t i = 0; i < bytes; i++) {
        w->hash = (w->hash ^ (nan ? 0x7F : ((const unsigned char *)data)[i])) * 0x100000001B3u;
    }
}

static void note(worst *w, double error, double x, double y)
{
    error = x == 0 && y == 0 && isinf(error) ? 0 : error; /* which zero min gives is not said */
    if (w->count == KEPT && !(error > w->kept[KEPT - 1].error)) {
        return;
    }
    for (int i = 0; i < w->count; i++) {
        if (w->kept[i].at[0] == x && w->kept[i].at[1] == y) {
            return;
        }
    }
    int to = w->count < KEPT ? w->count++ : KEPT - 1;
    while (to > 0 && w->kept[to - 1].error < error) {
        w->kept[to] = w->kept[to - 1];
        to--;
    }
    w->kept[to] = (place){error, {x, y}};
}

/* ------------------------------------------------------------------------------------ measuring */

typedef struct subject {
    const ulp_function *f;
    twi_map_block_fn run[FORMS]; /* NULL: the same as the one before */
} subject;

static void measure_f32(const subject *s, const float *x, const float *y, worst w[FORMS])
{
    static float out[2][BLOCK];
    const void *arg[3] = {x, y, y};
    for (int k = 0; k < 2 && s->run[k] != NULL; k++) {
        s->run[k](out[k], arg, (const int64_t[3]){1, 1, 1}, BLOCK);
    }
    for (int i = 0; i < BLOCK; i++) {
        double truth = twi_scalar_function(s->f->op, (double)x[i], (double)y[i]);
        for (int k = 0; k < 2 && s->run[k] != NULL; k++) {
            note(&w[k], ulp_error_f32(out[k][i], truth), (double)x[i], (double)y[i]);
            mix(&w[k], &out[k][i], sizeof out[k][i], isnan(out[k][i]));
        }
    }
}

static bool library_is_good(twi_op op)
{
    switch ((int)op) {
    case TWI_OP_EXP:
    case TWI_OP_EXP2:
    case TWI_OP_LOG:
    case TWI_OP_LOG2:
    case TWI_OP_SIN:
    case TWI_OP_COS:
    case TWI_OP_TAN:
    case TWI_OP_ASIN:
    case TWI_OP_ACOS:
    case TWI_OP_ATAN:
    case TWI_OP_POW:
    case TWI_OP_ATAN2:
        return true;
    default:
        return false;
    }
}

static void measure_f64(const subject *s, const double *x, const double *y, worst *w)
{
    static double out[BLOCK];
    const void *arg[3] = {x, y, y};
    s->run[2](out, arg, (const int64_t[3]){1, 1, 1}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        bool bad = w->count == KEPT && w->kept[KEPT - 1].error > LIBRARY_ERROR;
        mix(w, &out[i], sizeof out[i], isnan(out[i]));
        if (bad && library_is_good(s->f->op) &&
            out[i] == twi_scalar_function(s->f->op, x[i], y[i])) {
            continue;
        }
        note(w, ulp_error(out[i], truth_of(s->f->op, x[i], y[i], TW_F64), TW_F64), x[i], y[i]);
    }
}

/* -------------------------------------------------------------------------------- the arguments */

typedef struct arguments {
    float x[BLOCK], y[BLOCK];
    double xx[BLOCK], yy[BLOCK];
    uint64_t counter;
} arguments;

static uint64_t draw(arguments *a, const subject *s)
{
    return twi_random_at((uint64_t)s->f->op, a->counter++);
}

static void draw_samples(arguments *a, const subject *s)
{
    for (int i = 0; i < BLOCK; i++) {
        uint64_t r[4];
        for (int k = 0; k < 4; k++) {
            r[k] = draw(a, s);
        }
        a->x[i] = ulp_sample_f32(r[0]);
        a->y[i] = ulp_sample_f32(r[1]);
        a->xx[i] = ulp_sample_f64(r[0], r[1]);
        a->yy[i] = ulp_sample_f64(r[2], r[3]);
        if (i % 8 == 0 && s->f->op == TWI_OP_POW) { /* powers that stay in the range */
            a->x[i] = 1 + (float)(r[0] & 0xffff) * 0x1p-14F;
            a->xx[i] = 1 + (double)(r[0] & 0xffffffff) * 0x1p-30;
        }
    }
}

static void draw_within(arguments *a, const subject *s, double low, double high)
{
    for (int i = 0; i < BLOCK; i++) {
        a->xx[i] = low + (high - low) * twi_random_unit(draw(a, s));
        a->x[i] = (float)a->xx[i];
    }
}

static void draw_edges(arguments *a, const subject *s)
{
    for (int i = 0; i < BLOCK; i++) {
        for (int k = 0; k < 2; k++) {
            uint64_t r = draw(a, s);
            double edge = ulp_edges[r % ULP_EDGES] * (r & 1024 ? 1 : -1);
            double scaled = ldexp(edge, r & 2048 ? (int)(r >> 32 & 7) - 4 : 0);
            scaled *= r & 4096 ? 1 + twi_random_unit(draw(a, s)) : 1; /* all its digits */
            (k == 0 ? a->xx : a->yy)[i] = scaled * (1 + (double)(r >> 40 & 15) * 0x1p-52);
            (k == 0 ? a->x : a->y)[i] = (float)scaled * (1 + (float)(r >> 40 & 15) * 0x1p-23F);
        }
    }
}

/* x and a random part of it that has from 1 to 40 digits less. */
static double beside(double x, uint64_t random)
{
    return x * (1 + ldexp(twi_random_unit(random) * 2 - 1, -1 - (int)(random % 40)));
}

static void draw_around(arguments *a, const subject *s, const worst w[FORMS])
{
    for (int i = 0; i < BLOCK; i++) {
        const worst *narrow = &w[i % 2 == 0 || s->run[1] == NULL ? 0 : 1];
        const place *from = &narrow->kept[draw(a, s) % (uint64_t)narrow->count];
        const place *wide = &w[2].kept[draw(a, s) % (uint64_t)w[2].count];
        uint64_t still = s->f->arguments == 2 ? draw(a, s) % 3 : 1; /* one may stay */
        a->x[i] = (float)(still == 0 ? from->at[0] : beside(from->at[0], draw(a, s)));
        a->y[i] = (float)(still == 1 ? from->at[1] : beside(from->at[1], draw(a, s)));
        a->xx[i] = still == 0 ? wide->at[0] : beside(wide->at[0], draw(a, s));
        a->yy[i] = still == 1 ? wide->at[1] : beside(wide->at[1], draw(a, s));
    }
}

static void measure(const subject *s, const arguments *a, worst w[FORMS])
{
    measure_f32(s, a->x, a->y, w);
    measure_f64(s, a->xx, a->yy, &w[2]);
}

static void sample(const subject *s, int64_t blocks, const double *range, worst w[FORMS])
{
    static arguments a;
    a.counter = 0;
    for (int64_t b = 0; b < blocks; b++) {
        draw_samples(&a, s);
        if (range != NULL) {
            draw_within(&a, s, range[0], range[1]);
        }
        measure(s, &a, w);
    }
}

static void search(const subject *s, int64_t rounds, worst w[FORMS])
{
    static arguments a;
    a.counter = 0;
    for (int b = 0; b < 100; b++) {
        (b % 4 == 3 ? draw_edges : draw_samples)(&a, s);
        measure(s, &a, w);
    }
    for (int64_t b = 0; b < rounds; b++) {
        draw_around(&a, s, w);
        measure(s, &a, w);
    }
}

static void every_f32(const subject *s, uint64_t part, uint64_t parts, worst w[FORMS])
{
    static float x[BLOCK];
    for (uint64_t from = part * BLOCK; from < (uint64_t)1 << 32; from += parts * BLOCK) {
        for (int i = 0; i < BLOCK; i++) {
            uint32_t pattern = (uint32_t)(from + (uint64_t)i);
            memcpy(&x[i], &pattern, sizeof x[i]);
        }
        measure_f32(s, x, x, w);
    }
}

/* ------------------------------------------------------------------------------------- the table
 */

/* The worst of f32 again, against MPFR. */
static double confirmed(const subject *s, int form, const place *at)
{
    float in[2][TWI_MAP_GRAIN], out[TWI_MAP_GRAIN];
    if (form == 2) {
        return at->error;
    }
    for (int i = 0; i < TWI_MAP_GRAIN; i++) {
        in[0][i] = (float)at->at[0];
        in[1][i] = (float)at->at[1];
    }
    s->run[form](out, (const void *const[3]){in[0], in[1], in[1]}, (const int64_t[3]){1, 1, 1},
                 TWI_MAP_GRAIN);
    return ulp_error((double)out[0], truth_of(s->f->op, at->at[0], at->at[1], TW_F32), TW_F32);
}

static void print_worst(const subject *s, int form, const worst *w)
{
    if (w->count == 0) {
        printf(" |");
        return;
    }
    printf(" %.3f at %.*g", confirmed(s, form, &w->kept[0]), form == 2 ? 17 : 9, w->kept[0].at[0]);
    if (s->f->arguments == 2) {
        printf(", %.*g", form == 2 ? 17 : 9, w->kept[0].at[1]);
    }
    printf(" (%08x) |", (unsigned)(w->hash ^ w->hash >> 32));
}

static int named(int argc, char **argv, int from, const char *name)
{
    for (int i = from; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return 1;
        }
    }
    return argc <= from;
}

static const twi_map_kernel *chosen_kernel(void)
{
    const char *forced = getenv("TW_ISA");
    twi_isa isa = TWI_ISA_SCALAR;
    for (twi_isa i = TWI_ISA_SCALAR; i < TWI_ISA_COUNT; i++) {
        if (twi_isa_usable(i) && (forced == NULL || strcmp(forced, twi_isa_name(i)) == 0)) {
            isa = i;
        }
    }
    return twi_map_kernel_find(isa);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 && argv[1][0] == '-' ? argv[1] : "";
    const int all = argc > 3 && strcmp(mode, "--all") == 0;
    const int within = argc > 3 && strcmp(mode, "--within") == 0;
    const int searching = strcmp(mode, "--search") == 0;
    const double range[2] = {within ? strtod(argv[2], NULL) : 0,
                             within ? strtod(argv[3], NULL) : 0};
    const int64_t blocks = within                     ? 150
                           : mode[0] == 0 && argc > 1 ? strtoll(argv[1], NULL, 10)
                                                      : 200;
    const int names = all || within ? 4 : searching ? 3 : 2;
    const twi_map_kernel *kernel = chosen_kernel();
    static worst w[FORMS];
    printf("| %s | f32 | f32 --fast | f64 |\n|---|---|---|---|\n", kernel->name);
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        const ulp_function *f = &ulp_functions[i];
        subject s = {f,
                     {kernel->f32->operation[f->op], kernel->f32->fast[f->op],
                      kernel->f64->operation[f->op]}};
        if (!named(argc, argv, names, f->name) || (all && f->arguments != 1)) {
            continue;
        }
        s.run[1] = s.run[1] == s.run[0] ? NULL : s.run[1];
        for (int k = 0; k < FORMS; k++) {
            w[k] = (worst){.hash = 0xCBF29CE484222325u};
        }
        if (all) {
            every_f32(&s, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), w);
        } else if (searching) {
            search(&s, strtoll(argv[2], NULL, 10), w);
        } else {
            sample(&s, blocks, within ? range : NULL, w);
        }
        printf("| %s |", f->name);
        for (int k = 0; k < (all ? 2 : FORMS); k++) {
            print_worst(&s, k, &w[k]);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
