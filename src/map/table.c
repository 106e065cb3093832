/*
 * Tables. Where a result is a function of one input of 8 or 16 bits, the evaluator computes it once
 * for every value of that input, and a run looks it up: the bits are those of the direct way. There
 * is a table for each program, so residues of row and col are served too.
 *
 * A repetition whose result has the input's own type is a function from values to values: the table
 * is composed with itself by squaring, log2 N steps. Otherwise the evaluator repeats.
 *
 * Rows are shared out among the threads in bands; an element costs a load and a look-up.
 */
#include "map/table.h"

#include "base/memory.h"
#include "base/threads.h"
#include "map/cpu/cpu.h"
#include "map/cpu/lookup.h"

#include <stdatomic.h>
#include <string.h>

#define BAND_ELEMENTS ((int64_t)1 << 18)
#define BANDS_A_THREAD 4 /* at least, so that no thread waits long for another */

/* ------------------------------------------------------------------------------------- building */

int32_t twi_map_table_input(const tw_map_plan *plan)
{
    const twi_variants *v = &plan->variants;
    int32_t input = -1;
    for (int32_t i = 0; i < v->program_count; i++) {
        const twi_program *p = &v->programs[i];
        for (int32_t k = 0; k < p->count; k++) {
            const twi_operation *op = &p->ops[k];
            bool other = op->code == TWI_OP_INPUT && input >= 0 && op->index != input;
            if (other || (op->code >= TWI_OP_ROW && op->code <= TWI_OP_COL_MOD)) {
                return -1;
            }
            input = op->code == TWI_OP_INPUT ? (int32_t)op->index : input;
        }
    }
    if (input < 0 || (plan->inputs[input].type != TW_U8 && plan->inputs[input].type != TW_U16) ||
        plan->setting.depends[input] != (TWI_ON_ROW | TWI_ON_COL) ||
        (plan->setting.repeat > 1 && input != plan->setting.x_input)) {
        return -1;
    }
    return input;
}

static uint32_t entry_at(const void *table, tw_type type, int64_t i)
{
    return type == TW_U8 ? ((const uint8_t *)table)[i] : ((const uint16_t *)table)[i];
}

static void set_entry(void *table, tw_type type, int64_t i, uint32_t value)
{
    if (type == TW_U8) {
        ((uint8_t *)table)[i] = (uint8_t)value;
    } else {
        ((uint16_t *)table)[i] = (uint16_t)value;
    }
}

/* table becomes itself applied `times` times; `power` and `result` have room for as many. */
static void compose(void *table, tw_type type, int64_t entries, int64_t times, void *power,
                    void *result)
{
    const size_t bytes = (size_t)entries * tw_type_size(type);
    memcpy(power, table, bytes);
    for (int64_t i = 0; i < entries; i++) {
        set_entry(result, type, i, (uint32_t)i);
    }
    for (int64_t n = times; n > 0; n >>= 1) {
        for (int64_t i = 0; i < entries && (n & 1) != 0; i++) {
            set_entry(result, type, i, entry_at(power, type, entry_at(result, type, i)));
        }
        for (int64_t i = 0; i < entries; i++) {
            set_entry(table, type, i, entry_at(power, type, entry_at(power, type, i)));
        }
        memcpy(power, table, bytes);
    }
    memcpy(table, result, bytes);
}

/* The results of one program for all values 0 ... entries-1 in `values`. */
static tw_status fill(tw_context *ctx, const tw_map_plan *plan, int32_t program, void *values,
                      int64_t repeat, char *out)
{
    const twi_map_table *table = &plan->table;
    twi_variants one = {.compute = plan->variants.compute,
                        .type = plan->variants.type,
                        .row_period = 1,
                        .col_period = 1,
                        .program_count = 1,
                        .programs = &plan->variants.programs[program],
                        .generic = plan->variants.programs[program]};
    twi_map_job job = {.variants = &one,
                       .input_count = plan->input_count,
                       .x_input = plan->setting.x_input,
                       .repeat = repeat,
                       .fast = plan->fast,
                       .row_count = 1,
                       .cols = table->entries,
                       .out = out,
                       .out_stride = table->entries};
    for (int32_t i = 0; i < plan->input_count; i++) { /* the others are not read */
        job.inputs[i] = (twi_map_input){values, plan->inputs[table->input].type, table->entries, 1};
    }
    return twi_map_cpu_run(ctx, &job);
}

tw_status twi_map_table_make(tw_context *ctx, tw_map_plan *plan)
{
    twi_map_table *table = &plan->table;
    const int32_t programs = plan->variants.program_count;
    char *room = NULL; /* the values, then two tables to compose with */
    table->input = twi_map_table_input(plan);
    const tw_type type = plan->inputs[table->input].type;
    table->entries = type == TW_U8 ? 256 : 65536;
    table->size = tw_type_size(plan->shape.type);
    const uint64_t bytes = (uint64_t)table->entries * tw_type_size(type);
    const bool composed = plan->setting.repeat > 1 && plan->shape.type == type;
    tw_status status = twi_alloc(ctx, &table->data, (uint64_t)programs * (uint64_t)table->entries,
                                 table->size, "the tables of a map");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &room, 3, bytes, "the tables of a map");
    }
    for (int64_t i = 0; i < table->entries && status == TW_OK; i++) {
        set_entry(room, type, i, (uint32_t)i);
    }
    for (int32_t p = 0; p < programs && status == TW_OK; p++) {
        char *data = table->data + (size_t)p * (size_t)table->entries * table->size;
        status = fill(ctx, plan, p, room, composed ? 1 : plan->setting.repeat, data);
        if (status == TW_OK && composed) {
            compose(data, type, table->entries, plan->setting.repeat, room + bytes,
                    room + 2 * bytes);
        }
    }
    twi_free(room);
    return status;
}

/* ------------------------------------------------------------------------------------ looking up
 */

typedef struct lookup {
    tw_context *ctx;
    const tw_map_plan *plan;
    const twi_map_job *job;
    twi_lookup_u8_fn bytes;
    int64_t band; /* rows */
    atomic_int_fast64_t done;
} lookup;

/* Columns first, first + step, ... of a row. */
#define LOOK_UP(IN, OUT)                                                       \
    for (int64_t c = first; c < cols; c += step) {                             \
        ((OUT *)out)[c] = ((const OUT *)table)[((const IN *)in)[c * in_step]]; \
    }

static void look_up(void *out, size_t size, const void *in, tw_type type, int64_t in_step,
                    const void *table, int64_t first, int64_t step, int64_t cols)
{
    const bool small = type == TW_U8;
    if (size == 1 && small) {
        LOOK_UP(uint8_t, uint8_t)
    } else if (size == 1) {
        LOOK_UP(uint16_t, uint8_t)
    } else if (size == 2 && small) {
        LOOK_UP(uint8_t, uint16_t)
    } else if (size == 2) {
        LOOK_UP(uint16_t, uint16_t)
    } else if (size == 4 && small) {
        LOOK_UP(uint8_t, uint32_t)
    } else if (size == 4) {
        LOOK_UP(uint16_t, uint32_t)
    } else if (small) {
        LOOK_UP(uint8_t, uint64_t)
    } else {
        LOOK_UP(uint16_t, uint64_t)
    }
}

static void look_up_row(const lookup *l, int64_t row)
{
    const twi_variants *v = &l->plan->variants;
    const twi_map_table *table = &l->plan->table;
    const twi_map_job *job = l->job;
    const twi_map_input *in = &job->inputs[table->input];
    const size_t table_bytes = (size_t)table->entries * table->size;
    const char *from = (const char *)in->data + (job->first_row - job->input_row + row) *
                                                    in->row_step * (int64_t)tw_type_size(in->type);
    char *to = (char *)job->out + (size_t)row * (size_t)job->out_stride * table->size;
    const int32_t *index =
        v->index + (job->first_row + row) % v->row_period * (int64_t)v->col_period;
    if (v->col_period <= 2 && table->size == 1 && in->type == TW_U8 && in->col_step == 1) {
        const uint8_t *data = (const uint8_t *)table->data;
        l->bytes((uint8_t *)to, (const uint8_t *)from, job->cols,
                 data + (size_t)index[0] * table_bytes,
                 data + (size_t)index[v->col_period - 1] * table_bytes);
        return;
    }
    for (int32_t residue = 0; residue < v->col_period; residue++) {
        look_up(to, table->size, from, in->type, in->col_step,
                table->data + (size_t)index[residue] * table_bytes, residue, v->col_period,
                job->cols);
    }
}

static void work(lookup *l)
{
    const int64_t bands = (l->job->row_count + l->band - 1) / l->band;
#pragma omp for schedule(dynamic, 1)
    for (int64_t b = 0; b < bands; b++) {
        int64_t first = b * l->band;
        int64_t end = first + l->band < l->job->row_count ? first + l->band : l->job->row_count;
        for (int64_t row = first; row < end && !twi_is_cancelled(l->ctx); row++) {
            look_up_row(l, row);
        }
        int64_t done = atomic_fetch_add_explicit(&l->done, end - first, memory_order_relaxed);
        if (twi_thread_id() == 0) {
            twi_progress(l->ctx, "map", (double)(l->job->first_row + done + end - first),
                         (double)l->plan->shape.rows, "rows");
        }
    }
}

tw_status twi_map_table_run(tw_context *ctx, const tw_map_plan *plan, const twi_map_job *job)
{
    const int threads = twi_threads_for(ctx, job->row_count * job->cols);
    twi_isa isa;
    tw_status status = twi_isa_resolve(ctx, &isa);
    if (status != TW_OK) {
        return status;
    }
    lookup l = {.ctx = ctx, .plan = plan, .job = job, .bytes = twi_lookup_u8_find(isa)};
    const int64_t share = job->row_count / ((int64_t)threads * BANDS_A_THREAD) + 1;
    l.band = BAND_ELEMENTS / job->cols + 1;
    l.band = l.band < share ? l.band : share;
    atomic_init(&l.done, 0);
#pragma omp parallel num_threads(twi_team(threads)) if (threads > 1)
    work(&l);
    return twi_check_cancel(ctx);
}
