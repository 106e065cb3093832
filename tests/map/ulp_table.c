/*
 * Prints the table of the vector functions' errors: for each function, compute type and --fast, the
 * largest error found and where, and a hash of all bits that were computed, which is the same on
 * every instruction set.
 *   ulp_table [BLOCKS [NAME...]]         samples of 4096 numbers a block, 200 if not said
 *   ulp_table --all PART PARTS NAME...   every f32, or part PART (from 0) of them, for functions of
 *                                        one argument; all of them take a minute or two each
 *   ulp_table --within LOW HIGH NAME...  150 blocks of arguments between two numbers
 * TW_ISA chooses the instruction set.
 */
#include "map/ulp.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096 };

typedef struct worst {
    double error;
    double at[2];
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
    if (error > w->error) {
        w->error = error;
        w->at[0] = x;
        w->at[1] = y;
    }
}

/* One function, or two of the same truth. */
static void measure_f32(const ulp_function *f, const twi_map_block_fn run[2], const float *x,
                        const float *y, worst w[2])
{
    static float out[2][BLOCK];
    const void *arg[3] = {x, y, y};
    for (int k = 0; k < 2 && run[k] != NULL; k++) {
        run[k](out[k], arg, (const int64_t[3]){1, 1, 1}, BLOCK);
    }
    for (int i = 0; i < BLOCK; i++) {
        double truth =
            f->arguments == 1 ? f->one((double)x[i]) : f->two((double)x[i], (double)y[i]);
        for (int k = 0; k < 2 && run[k] != NULL; k++) {
            note(&w[k], ulp_error_f32(out[k][i], truth), (double)x[i], (double)y[i]);
            mix(&w[k], &out[k][i], sizeof out[k][i], isnan(out[k][i]));
        }
    }
}

static void measure_f64(const ulp_function *f, twi_map_block_fn run, const double *x,
                        const double *y, worst *w)
{
    static double out[BLOCK];
    const void *arg[3] = {x, y, y};
    run(out, arg, (const int64_t[3]){1, 1, 1}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        long double truth = f->arguments == 1 ? f->one_long(x[i]) : f->two_long(x[i], y[i]);
        note(w, ulp_error_f64(out[i], truth), x[i], y[i]);
        mix(w, &out[i], sizeof out[i], isnan(out[i]));
    }
}

/* Arguments between range[0] and range[1], or of all sizes if range is NULL. */
static void sample(const ulp_function *f, const twi_map_block_fn run[2], twi_map_block_fn run_f64,
                   int64_t blocks, const double *range, worst w[3])
{
    static float x[BLOCK], y[BLOCK];
    static double xx[BLOCK], yy[BLOCK];
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
                x[i] = 1 + (float)(r[0] & 0xffff) * 0x1p-14F;
                xx[i] = 1 + (double)(r[0] & 0xffffffff) * 0x1p-30;
            }
        }
        for (int i = 0; i < BLOCK && range != NULL; i++) {
            xx[i] = range[0] + (range[1] - range[0]) * twi_random_unit(twi_random_at(9, counter++));
            x[i] = (float)xx[i];
        }
        measure_f32(f, run, x, y, w);
        measure_f64(f, run_f64, xx, yy, &w[2]);
    }
}

static void every_f32(const ulp_function *f, const twi_map_block_fn run[2], uint64_t part,
                      uint64_t parts, worst w[2])
{
    static float x[BLOCK];
    for (uint64_t from = part * BLOCK; from < (uint64_t)1 << 32; from += parts * BLOCK) {
        for (int i = 0; i < BLOCK; i++) {
            uint32_t pattern = (uint32_t)(from + (uint64_t)i);
            memcpy(&x[i], &pattern, sizeof x[i]);
        }
        measure_f32(f, run, x, x, w);
    }
}

static void print_worst(const worst *w, const ulp_function *f)
{
    printf(" %.3f at %.9g", w->error, w->at[0]);
    if (f->arguments == 2) {
        printf(", %.9g", w->at[1]);
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
    const int all = argc > 3 && strcmp(argv[1], "--all") == 0;
    const int within = argc > 3 && strcmp(argv[1], "--within") == 0;
    const double range[2] = {within ? strtod(argv[2], NULL) : 0,
                             within ? strtod(argv[3], NULL) : 0};
    const uint64_t part = all ? strtoull(argv[2], NULL, 10) : 0;
    const uint64_t parts = all ? strtoull(argv[3], NULL, 10) : 1;
    const int64_t blocks = within ? 150 : !all && argc > 1 ? strtoll(argv[1], NULL, 10) : 200;
    const twi_map_kernel *kernel = chosen_kernel();
    printf("| %s | f32 | f32 --fast | f64 |\n|---|---|---|---|\n", kernel->name);
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        const ulp_function *f = &ulp_functions[i];
        twi_map_block_fn run[2] = {kernel->f32->operation[f->op], kernel->f32->fast[f->op]};
        worst w[3];
        if (!named(argc, argv, all || within ? 4 : 2, f->name) || (all && f->arguments != 1)) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            w[k] = (worst){-1, {0, 0}, 0xCBF29CE484222325u};
        }
        run[1] = run[1] == run[0] ? NULL : run[1];
        if (all) {
            every_f32(f, run, part, parts, w);
        } else {
            sample(f, run, kernel->f64->operation[f->op], blocks, within ? range : NULL, w);
        }
        printf("| %s |", f->name);
        for (int k = 0; k < (all ? 2 : 3); k++) {
            if (w[k].error < 0) {
                printf(" |");
            } else {
                print_worst(&w[k], f);
            }
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
