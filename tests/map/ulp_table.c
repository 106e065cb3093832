/*
 * Prints the table of the vector functions' errors: for each function, compute type and --fast, the
 * largest error found and where. `ulp_table` samples; `ulp_table --all NAME...` tries every f32 for
 * the named functions of one argument, which takes a minute or two each.
 */
#include "map/ulp.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096 };

typedef struct worst {
    double error;
    double at[2];
} worst;

static void note(worst *w, double error, double x, double y)
{
    if (error > w->error) {
        *w = (worst){error, {x, y}};
    }
}

static void measure_f32(const ulp_function *f, twi_map_block_fn run, const float *x, const float *y,
                        worst *w)
{
    static float out[BLOCK];
    const void *arg[3] = {x, y, NULL};
    run(out, arg, (const int64_t[3]){1, 1, 0}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        double truth =
            f->arguments == 1 ? f->one((double)x[i]) : f->two((double)x[i], (double)y[i]);
        note(w, ulp_error_f32(out[i], truth), (double)x[i], (double)y[i]);
    }
}

static void measure_f64(const ulp_function *f, twi_map_block_fn run, const double *x,
                        const double *y, worst *w)
{
    static double out[BLOCK];
    const void *arg[3] = {x, y, NULL};
    run(out, arg, (const int64_t[3]){1, 1, 0}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        long double truth = f->arguments == 1 ? f->one_long(x[i]) : f->two_long(x[i], y[i]);
        note(w, ulp_error_f64(out[i], truth), x[i], y[i]);
    }
}

static worst sample(const ulp_function *f, twi_map_block_fn run, int f64, int64_t blocks)
{
    static float x[BLOCK], y[BLOCK];
    static double xx[BLOCK], yy[BLOCK];
    worst w = {-1, {0, 0}};
    uint64_t counter = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (int i = 0; i < BLOCK; i++) {
            uint64_t r[4];
            for (int k = 0; k < 4; k++) {
                r[k] = twi_random_at((uint64_t)f->op, counter++);
            }
            x[i] = ulp_sample_f32(r[0]);
            y[i] = ulp_sample_f32(r[1]);
            xx[i] = ulp_sample_f64(r[0], r[1]);
            yy[i] = ulp_sample_f64(r[2], r[3]);
            if (i % 8 == 0 && f->op == TWI_OP_POW) { /* powers that stay in the range */
                x[i] = expf(x[i] * 0.01F);
                xx[i] = exp(xx[i] * 0.01);
            }
        }
        if (f64) {
            measure_f64(f, run, xx, yy, &w);
        } else {
            measure_f32(f, run, x, y, &w);
        }
    }
    return w;
}

static worst every_f32(const ulp_function *f, twi_map_block_fn run)
{
    static float x[BLOCK];
    worst w = {-1, {0, 0}};
    for (uint64_t from = 0; from < (uint64_t)1 << 32; from += BLOCK) {
        for (int i = 0; i < BLOCK; i++) {
            uint32_t pattern = (uint32_t)(from + (uint64_t)i);
            memcpy(&x[i], &pattern, sizeof x[i]);
        }
        measure_f32(f, run, x, x, &w);
    }
    return w;
}

static void print_worst(const worst *w, const ulp_function *f)
{
    printf(" %.3f at %.9g", w->error, w->at[0]);
    if (f->arguments == 2) {
        printf(", %.9g", w->at[1]);
    }
    printf(" |");
}

static int named(int argc, char **argv, const char *name)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return 1;
        }
    }
    return argc <= 2;
}

int main(int argc, char **argv)
{
    int all = argc > 1 && strcmp(argv[1], "--all") == 0;
    int64_t blocks = !all && argc > 1 ? atoll(argv[1]) : 200;
    twi_isa isa = TWI_ISA_SCALAR;
    const char *forced = getenv("TW_ISA");
    for (twi_isa i = TWI_ISA_SCALAR; i < TWI_ISA_COUNT; i++) {
        if (twi_isa_usable(i) && (forced == NULL || strcmp(forced, twi_isa_name(i)) == 0)) {
            isa = i;
        }
    }
    const twi_map_kernel *kernel = twi_map_kernel_find(isa);
    printf("| function (%s) | f32 | f32 --fast | f64 |\n|---|---|---|---|\n", kernel->name);
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        const ulp_function *f = &ulp_functions[i];
        twi_map_block_fn usual = kernel->f32->operation[f->op];
        twi_map_block_fn fast = kernel->f32->fast[f->op];
        if (!named(argc, argv, f->name) || (all && f->arguments != 1)) {
            continue;
        }
        printf("| %s |", f->name);
        worst w = all ? every_f32(f, usual) : sample(f, usual, 0, blocks);
        print_worst(&w, f);
        if (fast != usual) {
            w = all ? every_f32(f, fast) : sample(f, fast, 0, blocks);
            print_worst(&w, f);
        } else {
            printf(" |");
        }
        if (all) {
            printf(" |\n");
        } else {
            w = sample(f, kernel->f64->operation[f->op], 1, blocks);
            print_worst(&w, f);
            printf("\n");
        }
        fflush(stdout);
    }
    return 0;
}
