/*
 * Options checked and completed, and the method chosen.
 *
 * Methods, best first, each with what it can do: the counters take at most 16 levels, every element
 * counting, and full windows of less than 32 elements; the stacks and the bins up to 256 levels and
 * full windows of up to 127 rows, and are best from 15 and from 40 rows on, the bins without stacks
 * from 24; the lanes full windows of 4 rows or more; the list everything.
 */
#include "entropy/plan/prepare.h"

#include "base/given.h"
#include "base/matrix.h"
#include "entropy/cpu/bins.h"
#include "entropy/cpu/slide.h"
#include "entropy/cpu/stacks.h"
#include "entropy/gpu/host.h"
#include "entropy/plan/blocks.h"
#include "entropy/shared/edges.h"
#include "entropy/shared/table.h"
#include "entropy/shared/window.h"
#include "gpu/device.h"

#include <math.h>
#include <string.h>

static const char *const border_names[] = {"crop",  "reflect", "symmetric",
                                           "clamp", "wrap",    "valid"};
#define BORDERS ((int32_t)(sizeof border_names / sizeof *border_names))

const char *tw_entropy_border_name(tw_entropy_border border)
{
    return border >= 0 && border < BORDERS ? border_names[border] : "?";
}

tw_status tw_entropy_border_parse(tw_entropy_border *out, const char *name)
{
    for (int32_t border = 0; out != NULL && name != NULL && border < BORDERS; border++) {
        if (strcmp(name, border_names[border]) == 0) {
            *out = border;
            return TW_OK;
        }
    }
    return TW_ERR_ARGUMENT;
}

const char *twi_entropy_method_name(twi_entropy_method method)
{
    static const char *const names[] = {"auto", "counters", "stacks", "bins", "lanes", "list"};
    return names[method];
}

/* --------------------------------------------------------------------------------------- checks */

static tw_status check_range(tw_context *ctx, const tw_entropy_options *opts)
{
    if (opts->range != NULL && !(isfinite(opts->range[0]) && isfinite(opts->range[1]) &&
                                 opts->range[0] < opts->range[1])) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a range from %.9g to %.9g: expected two numbers, the smaller first",
                       opts->range[0], opts->range[1]);
    }
    return TW_OK;
}

static tw_status check_mask(tw_context *ctx, const tw_matrix *in, const tw_matrix *mask)
{
    tw_status status = twi_matrix_check(ctx, mask, "the mask");
    if (status == TW_OK && mask->type != TW_U8) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "the mask has type %s; expected u8",
                         tw_type_name(mask->type));
    }
    if (status == TW_OK && (mask->rows != in->rows || mask->cols != in->cols)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the mask is %lld x %lld and the array %lld x %lld; they must have the "
                         "same size",
                         (long long)mask->rows, (long long)mask->cols, (long long)in->rows,
                         (long long)in->cols);
    }
    return status;
}

static tw_status check_choices(tw_context *ctx, const tw_entropy_options *opts)
{
    if (opts->levels < 2 || opts->levels > TWI_LEVELS_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the number of levels is %d; use 2 to %d",
                       opts->levels, TWI_LEVELS_MOST);
    }
    if (opts->border < 0 || opts->border >= BORDERS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown border %d; use one of TW_ENTROPY_BORDER_*",
                       opts->border);
    }
    if (opts->base != TW_ENTROPY_BASE_E && opts->base != TW_ENTROPY_BASE_2 &&
        opts->base != TW_ENTROPY_BASE_10 && opts->base != TW_ENTROPY_BASE_LEVELS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown base %d; use 2, e, 10 or levels", opts->base);
    }
    if (opts->type != TW_F32 && opts->type != TW_F64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "result type %s is not supported; use f32 or f64",
                       tw_type_name(opts->type));
    }
    return check_range(ctx, opts);
}

static tw_status check_input(tw_context *ctx, const tw_matrix *in, const tw_entropy_options *opts)
{
    tw_status status = twi_matrix_check(ctx, in, "the array");
    if (status == TW_OK && in->type != TW_U8 && in->type != TW_U16 && in->type != TW_I16 &&
        in->type != TW_F32) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "arrays of type %s are not supported; use u8, u16, i16 or f32",
                         tw_type_name(in->type));
    }
    if (status == TW_OK && (in->rows > INT64_MAX / 2 - TWI_WINDOW_SIDE ||
                            in->cols > INT64_MAX / 2 - TWI_WINDOW_SIDE)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "an array of %lld x %lld is too large",
                         (long long)in->rows, (long long)in->cols);
    }
    if (status == TW_OK && opts->mask != NULL) {
        status = check_mask(ctx, in, opts->mask);
    }
    return status;
}

/* NaN as the value that does not count is the same as skip_nan, and whole numbers are never NaN. */
static void settle_no_data(tw_entropy_options *opts, tw_type type)
{
    if (opts->no_data != NULL && isnan(*opts->no_data)) {
        opts->no_data = NULL;
        opts->skip_nan = 1;
    }
    opts->skip_nan = opts->skip_nan != 0 && type == TW_F32;
}

/* ----------------------------------------------------------------------------------- the setup */

bool twi_entropy_can(const twi_entropy_setup *setup, twi_entropy_method method)
{
    const tw_entropy_options *opts = &setup->opts;
    switch (method) {
    case TWI_ENTROPY_COUNTERS:
        return opts->type == TW_F32 && opts->levels <= 16 && !twi_entropy_skips(opts) &&
               setup->window.full && setup->window.size < 32;
    case TWI_ENTROPY_STACKS:
        return twi_stacks_take(setup);
    case TWI_ENTROPY_BINS:
        return twi_bins_take(setup);
    case TWI_ENTROPY_LANES:
        return opts->type == TW_F32 && twi_lane_count(&setup->window) > 0 &&
               !twi_entropy_is_wide(setup);
    default:
        return true;
    }
}

/* Whether a method that can take the window is the one to take it. */
static bool pays(tw_context *ctx, const twi_entropy_setup *setup)
{
    return setup->method == TWI_ENTROPY_BINS ? twi_bins_pay(setup)
           : setup->method == TWI_ENTROPY_STACKS
               ? twi_stacks_pay(setup) && twi_entropy_fits_stacks(ctx, setup)
               : true;
}

void twi_entropy_turn_to(twi_entropy_setup *setup, const tw_matrix *in)
{
    const twi_window *window = &setup->window;
    bool valid = setup->opts.border == TW_ENTROPY_BORDER_VALID;
    int64_t rows = valid ? in->rows - window->rows + 1 : in->rows;
    int64_t cols = valid ? in->cols - window->cols + 1 : in->cols;
    bool empty = rows <= 0 || cols <= 0;
    setup->in = in;
    setup->shape =
        (tw_shape){valid && empty ? 0 : rows, valid && empty ? 0 : cols, setup->opts.type};
    setup->above = valid ? 0 : window->top;
    setup->before = valid ? 0 : window->left;
}

tw_status twi_entropy_prepare(tw_context *ctx, twi_entropy_setup *out, const tw_matrix *in,
                              const tw_entropy_options *opts, twi_entropy_method method)
{
    *out = (twi_entropy_setup){.opts = TW_ENTROPY_OPTIONS_INIT};
    tw_status status = TWI_TAKE(ctx, tw_entropy_options, &out->opts, opts);
    if (status == TW_OK) {
        status = check_choices(ctx, &out->opts);
    }
    if (status == TW_OK) {
        status = check_input(ctx, in, &out->opts);
    }
    if (status == TW_OK) {
        settle_no_data(&out->opts, in->type);
        status = twi_isa_resolve(ctx, &out->isa);
    }
    if (status == TW_OK) {
        status = twi_window_make(ctx, &out->window, &out->opts);
    }
    if (status == TW_OK) {
        status = twi_entropy_table_make(ctx, &out->table, out->window.size, out->opts.base,
                                        out->opts.levels, out->opts.type);
    }
    if (status == TW_OK && out->opts.range != NULL) {
        status = twi_edges_make(ctx, &out->edges, &out->opts);
    }
    if (status == TW_OK) {
        twi_entropy_turn_to(out, in);
        /* Without a byte-table instruction sixteen look-ups are sixteen loads. */
        bool vectors = out->isa != TWI_ISA_SCALAR;
        out->method = method != TWI_ENTROPY_AUTO ? method
                      : vectors                  ? TWI_ENTROPY_COUNTERS
                                                 : TWI_ENTROPY_LANES;
        while (method == TWI_ENTROPY_AUTO &&
               !(twi_entropy_can(out, out->method) && pays(ctx, out))) {
            out->method++;
        }
        if (!twi_entropy_can(out, out->method)) {
            status = tw_fail(ctx, TW_ERR_ARGUMENT, "the method '%s' cannot take this window",
                             twi_entropy_method_name(method));
        }
    }
    if (status != TW_OK) {
        twi_entropy_clear(out);
    }
    return status;
}

void twi_entropy_clear(twi_entropy_setup *setup)
{
    twi_entropy_gpu_close(setup->gpu);
    setup->gpu = NULL;
    twi_free(setup->edges);
    setup->edges = NULL;
    twi_entropy_table_clear(&setup->table);
    twi_window_clear(&setup->window);
}

tw_status twi_entropy_check_result(tw_context *ctx, const twi_entropy_setup *setup,
                                   const tw_matrix *out)
{
    const tw_shape *shape = &setup->shape;
    const tw_matrix *mask = setup->opts.mask;
    tw_status status = twi_matrix_check(ctx, out, "the result");
    if (status == TW_OK && (out->rows != shape->rows || out->cols != shape->cols)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "the result is %lld x %lld; expected %lld x %lld",
                         (long long)out->rows, (long long)out->cols, (long long)shape->rows,
                         (long long)shape->cols);
    }
    if (status == TW_OK && out->type != shape->type) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the result has type %s, but this plan was created for %s",
                         tw_type_name(out->type), tw_type_name(shape->type));
    }
    if (status == TW_OK &&
        (twi_matrix_overlap(out, setup->in) || (mask != NULL && twi_matrix_overlap(out, mask)))) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "the result overlaps the %s; use separate memory",
                         twi_matrix_overlap(out, setup->in) ? "input" : "mask");
    }
    return status;
}

const char *twi_entropy_method_of(const twi_entropy_setup *setup)
{
    return setup->gpu != NULL ? twi_entropy_gpu_method(setup->gpu)
                              : twi_entropy_method_name(setup->method);
}

bool twi_entropy_has_vectors(const twi_entropy_setup *setup)
{
    return setup->method == TWI_ENTROPY_COUNTERS || setup->method == TWI_ENTROPY_BINS ||
           setup->method == TWI_ENTROPY_STACKS;
}

const char *twi_entropy_isa_of(const twi_entropy_setup *setup)
{
    return setup->gpu != NULL
               ? twi_gpu_prefix()
               : twi_isa_name(twi_entropy_has_vectors(setup) ? setup->isa : TWI_ISA_SCALAR);
}
