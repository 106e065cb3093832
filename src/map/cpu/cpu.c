/*
 * Maps on the CPU: blocks of columns through the register machine (kernels.h). A result is cut into
 * tasks, each a band of rows and a strip of columns; a thread takes one after the other and
 * computes it row by row, a block of some hundred columns at a time, so that every register of the
 * program stays in the first cache. Within a block an operation is one call of its kernel.
 *
 * Columns of one residue are computed together: a block of period * n columns is taken apart into
 * `period` blocks of n elements as it is loaded, each goes through its own program, and the results
 * are put together as they are stored. Where nothing has to be taken apart or converted, kernels
 * read the input and write the result in place.
 *
 * What depends on the column alone is computed once for a task's strip and kept over its rows; what
 * depends on the row alone is one vector; what depends on neither is computed once for the job.
 * Whole blocks are computed even where the last is not full: lanes know nothing of their
 * neighbours, so neither blocks nor threads show in the result.
 */
#include "map/cpu/cpu.h"

#include "base/matrix.h"
#include "base/threads.h"
#include "map/cpu/course.h"
#include "map/cpu/past.h"

#include <string.h>

/* A kernel that runs from memory to memory does so in pieces, and asks for each operand some way
 * ahead of them: three streams at once are more than a processor finds by itself. On a Neoverse V1
 * a*b+c went from 80 to 97 % of a copy's rate; 8 KiB ahead is too late, pieces of 2048 too long,
 * and the second cache in place of the last is worse than nothing. A Xeon wants short pieces and
 * the first cache: a*b+c took 30.5 ms with those below, 37.5 with the others, and 39.8 if it also
 * read what it was to overwrite (8192 x 8192 f32, two cores, November 2026). */
#define LONG 1024 /* elements, more than which are cut into pieces */
#ifdef __SSE2__
#define PIECE 128                /* elements */
#define AHEAD ((int64_t)1 << 10) /* bytes */
#define HOW_NEAR 3               /* a line is brought, of 0 to 3: into the first cache */
#define NEXT_NEAR 2 /* for a block that comes next, while one is computed: into the second */
#else
#define PIECE LONG
#define AHEAD ((int64_t)16 << 10)
#define HOW_NEAR 1 /* into the last */
#endif
_Static_assert(PIECE % TWI_MAP_GRAIN == 0, "pieces are whole rounds of a kernel");

/* What a thread owns, in its part of the scratch memory. */
typedef struct worker {
    const twi_map_course *plan;
    const void **value; /* of each operation of the current program */
    int64_t *step;      /* 0: one vector; 1: a block */
    char *rows;
    char *columns;
    char *places;
    char *inputs;  /* period blocks of each input that is converted or taken apart */
    char *results; /* two times period blocks */
    char *joined;  /* period blocks of the result on their way past the caches */
    const void *pointers[2 * TWI_MAP_COL_PERIOD];
} worker;

/* ------------------------------------------------------------------------------- values */

static void put(const twi_map_course *p, void *out, int64_t i, double value)
{
    if (p->size == sizeof(float)) {
        ((float *)out)[i] = (float)value;
    } else {
        ((double *)out)[i] = value;
    }
}

static void put_whole(const twi_map_course *p, void *out, int64_t i, int64_t value)
{
    if (p->size == sizeof(float)) {
        ((float *)out)[i] = (float)value;
    } else {
        ((double *)out)[i] = (double)value;
    }
}

static double element(const twi_map_job *job, int64_t index, int64_t row, int64_t col)
{
    const twi_map_input *input = &job->inputs[index];
    return twi_element(input->data, input->type,
                       (row - job->input_row) * input->row_step + col * input->col_step);
}

/* Operation i of a program into `out`, n elements, from the present values. */
static void compute(worker *w, const twi_program *program, int32_t i, void *out, int64_t n)
{
    const twi_operation *op = &program->ops[i];
    const void *arg[3];
    int64_t stride[3];
    for (int k = 0; k < 3; k++) {
        const int32_t from = op->args[k] >= 0 ? op->args[k] : op->args[0];
        arg[k] = w->value[from];
        stride[k] = w->step[from];
    }
    twi_kernel_of(w->plan, op)(out, arg, stride, n);
}

/* A value that is the same all over the row. */
static void compute_number(worker *w, const twi_program *program, int32_t i, char *out, int64_t row)
{
    const twi_map_course *p = w->plan;
    const twi_operation *op = &program->ops[i];
    for (int64_t k = 0; k < TWI_MAP_GRAIN; k++) {
        switch (op->code) {
        case TWI_OP_CONST:
            put(p, out, k, op->number);
            break;
        case TWI_OP_INPUT:
            put(p, out, k, element(p->job, op->index, row, 0));
            break;
        case TWI_OP_ROW:
            put_whole(p, out, k, row);
            break;
        case TWI_OP_ROW_MOD:
            put_whole(p, out, k, row % op->period);
            break;
        default:
            compute(w, program, i, out, TWI_MAP_GRAIN);
            k = TWI_MAP_GRAIN;
        }
    }
    w->value[i] = out;
    w->step[i] = 0;
}

static void take_uniforms(worker *w, int32_t number, const twi_program *program)
{
    const char *at = w->plan->uniform + w->plan->uniform_at[number];
    for (int32_t i = 0; i < program->uniform_end; i++) {
        w->value[i] = at + (uint64_t)i * twi_vector_bytes(w->plan);
        w->step[i] = 0;
    }
}

/* Values of the row, for a program. */
static void compute_row(worker *w, int32_t number, int64_t row)
{
    const twi_map_course *p = w->plan;
    const twi_program *program = &p->job->variants->programs[number];
    char *at = w->rows + p->row_at[number];
    take_uniforms(w, number, program);
    for (int32_t i = program->uniform_end; i < program->row_end; i++) {
        compute_number(w, program, i, at, row);
        at += twi_vector_bytes(p);
    }
}

/* Elements of a residue in `cols` columns from a multiple of the period on. */
static int64_t residue_count(const twi_map_course *p, int64_t cols, int64_t residue)
{
    return cols > residue ? (cols - residue + p->period - 1) / p->period : 0;
}

/* Values of the columns of a strip, for a lane. */
static void compute_columns(worker *w, const twi_map_lane *l, int64_t first, int64_t cols)
{
    const twi_map_course *p = w->plan;
    const twi_program *program = l->program;
    const uint64_t bytes = (uint64_t)(p->strip_room * p->size);
    const int64_t n = residue_count(p, cols, l->residue);
    take_uniforms(w, l->number, program);
    for (int32_t i = program->row_end; i < program->col_end; i++) {
        const twi_operation *op = &program->ops[i];
        char *out = w->columns + l->columns + (uint64_t)(i - program->row_end) * bytes;
        if (op->code == TWI_OP_INPUT) {
            for (int64_t k = 0; k < n; k++) {
                put(p, out, k,
                    element(p->job, op->index, p->job->input_row,
                            first + l->residue + k * p->period));
            }
        } else if (op->code == TWI_OP_COL) {
            for (int64_t k = 0; k < n; k++) {
                put_whole(p, out, k, first + l->residue + k * p->period);
            }
        } else if (op->code == TWI_OP_COL_MOD) {
            for (int64_t k = 0; k < n; k++) {
                put_whole(p, out, k, (first + l->residue + k * p->period) % op->period);
            }
        } else {
            compute(w, program, i, out, twi_round_up(n, TWI_MAP_GRAIN));
        }
        w->value[i] = out;
        w->step[i] = 1;
    }
}

/* ------------------------------------------------------------------------------- blocks */

/* Where a block lies. */
typedef struct place {
    int64_t row;
    int64_t first; /* column */
    int64_t cols;
    int64_t offset; /* elements of a residue from the strip's start to here */
    bool whole;     /* nothing taken apart, all vectors full: memory serves as a register */
} place;

/* Where an input has the elements of a block. */
static const char *input_at(const twi_map_job *job, const twi_map_input *input, const place *at)
{
    return (const char *)input->data + ((at->row - job->input_row) * input->row_step + at->first) *
                                           (int64_t)tw_type_size(input->type);
}

static bool serves_as_register(const twi_map_course *p, const twi_map_input *input, const place *at)
{
    return at->whole && input->type == p->job->variants->compute;
}

static char *input_block(const worker *w, int32_t slot, int64_t residue)
{
    return w->inputs + (uint64_t)(slot * w->plan->period + residue) * twi_block_bytes(w->plan);
}

/* Convert and take apart what does not serve as it is. */
static void load_inputs(worker *w, const place *at)
{
    const twi_map_course *p = w->plan;
    int32_t slot = 0;
    for (int32_t k = 0; k < p->job->input_count; k++) {
        const twi_map_input *input = &p->job->inputs[k];
        if ((p->inputs >> k & 1) == 0) {
            continue;
        }
        if (!serves_as_register(p, input, at)) {
            void *out[TWI_MAP_COL_PERIOD];
            const char *in = input_at(p->job, input, at);
            const int64_t groups = at->cols / p->period;
            for (int64_t residue = 0; residue < p->period; residue++) {
                out[residue] = input_block(w, slot, residue);
            }
            p->machine->load[input->type](out, in, p->period, groups);
            for (int64_t j = 0; j < at->cols % p->period; j++) {
                void *last = (char *)out[j] + groups * p->size;
                const int64_t from = groups * p->period + j;
                p->machine->load[input->type](&last, in + from * (int64_t)tw_type_size(input->type),
                                              1, 1);
            }
        }
        slot++;
    }
}

/* Set the values that a lane finds ready: numbers of the job and row, columns, inputs. */
static void set_values(worker *w, const twi_map_lane *l, const place *at)
{
    const twi_map_course *p = w->plan;
    const twi_program *program = l->program;
    const char *row = w->rows + p->row_at[l->number];
    const uint64_t bytes = (uint64_t)(p->strip_room * p->size);
    take_uniforms(w, l->number, program);
    for (int32_t i = program->uniform_end; i < program->row_end; i++) {
        w->value[i] = row + (uint64_t)(i - program->uniform_end) * twi_vector_bytes(p);
        w->step[i] = 0;
    }
    for (int32_t i = program->row_end; i < program->col_end; i++) {
        w->value[i] = w->columns + l->columns + (uint64_t)(i - program->row_end) * bytes +
                      (uint64_t)(at->offset * p->size);
        w->step[i] = 1;
    }
    for (int32_t i = program->col_end; i < program->count; i++) {
        const twi_operation *op = &program->ops[i];
        w->step[i] = 1;
        if (op->code == TWI_OP_INPUT) {
            const twi_map_input *input = &p->job->inputs[op->index];
            const int32_t slot = __builtin_popcount(p->inputs & ((1U << op->index) - 1));
            w->value[i] = serves_as_register(p, input, at) ? input_at(p->job, input, at)
                                                           : input_block(w, slot, l->residue);
        } else {
            w->value[i] = w->places + (uint64_t)op->place * twi_block_bytes(p);
        }
    }
}

/* One step over more than a block, its operands asked for ahead. */
static void run_stream(const twi_map_course *p, const twi_map_step *s, char *out,
                       const void *const arg[3], const int64_t stride[3], int64_t n)
{
    _Alignas(TWI_CACHE_LINE) char piece[PIECE * sizeof(double)];
    const bool past = TWI_STORES_PAST && p->past_caches && (uintptr_t)out % TWI_CACHE_LINE == 0;
    for (int64_t from = 0; from < n; from += PIECE) {
        const int64_t count = n - from < PIECE ? n - from : PIECE;
        const void *here[3];
        for (int k = 0; k < 3; k++) {
            const char *in = (const char *)arg[k] + from * stride[k] * p->size;
            const bool again = k > 0 && arg[k] == arg[0]; /* an operand that the step lacks */
            here[k] = in;
            for (int64_t at = 0; at < count * stride[k] * p->size && !again; at += TWI_CACHE_LINE) {
                __builtin_prefetch(in + AHEAD + at, 0, HOW_NEAR);
            }
        }
        if (past) {
            s->run(piece, here, stride, count);
            twi_write_past(out + from * p->size, piece, count * p->size);
        } else {
            s->run(out + from * p->size, here, stride, count);
        }
    }
}

static void run_steps(worker *w, const twi_map_step *from, const twi_map_step *to, int64_t n)
{
    for (const twi_map_step *s = from; s < to; s++) {
        const void *arg[3];
        int64_t stride[3];
        for (int k = 0; k < 3; k++) {
            arg[k] = w->value[s->args[k]];
            stride[k] = w->step[s->args[k]];
        }
        if (n > LONG) {
            run_stream(w->plan, s, (char *)w->value[s->out], arg, stride, n);
        } else {
            s->run((void *)w->value[s->out], arg, stride, n);
        }
    }
}

/* Where pass `pass` of a lane puts its result: `out`, if there is one and it is the last. */
static const void *result_of_pass(const worker *w, const twi_map_lane *l, int64_t pass, void *out)
{
    const twi_map_course *p = w->plan;
    if (out != NULL && pass == p->job->repeat - 1) {
        return out;
    }
    return w->results + (uint64_t)((pass & 1) * p->period + l->residue) * twi_block_bytes(p);
}

/* All passes of a lane over n elements. Returns its result, which is `out` if it could be put
 * there. */
static const void *run_lane(worker *w, const twi_map_lane *l, int64_t n, void *out)
{
    const twi_map_course *p = w->plan;
    const twi_program *program = l->program;
    const twi_map_step *steps = p->steps + p->steps_at[l->number];
    const twi_map_step *still = steps + p->still_steps[l->number];
    const twi_map_step *end = steps + p->step_count[l->number];
    const int32_t result = program->result;
    const bool computed = result >= program->col_end && program->ops[result].code != TWI_OP_INPUT;
    if (computed && result < program->still_end) {
        w->value[result] = result_of_pass(w, l, p->job->repeat - 1, out);
    }
    run_steps(w, steps, still, n);
    for (int64_t pass = 0; pass < p->job->repeat && result >= program->still_end; pass++) {
        if (computed) {
            w->value[result] = result_of_pass(w, l, pass, out);
        }
        run_steps(w, still, end, n);
        for (int32_t i = program->still_end; i < program->count; i++) {
            if (program->ops[i].code == TWI_OP_INPUT && program->ops[i].index == p->job->x_input) {
                w->value[i] = w->value[result];
            }
        }
        if (twi_is_cancelled(p->ctx)) { /* a block of many passes can take hours */
            break;
        }
    }
    return w->value[result];
}

/* A result that is one vector, or that lies in the memory of an input, as a block. */
static const void *as_block(worker *w, const twi_map_lane *l, const void *value, int64_t n)
{
    const twi_map_course *p = w->plan;
    const int64_t stride = w->step[l->program->result];
    if (stride == 1) {
        return value;
    }
    char *out = w->results + (uint64_t)l->residue * twi_block_bytes(p);
    p->machine->stored[TW_F64](out, (const void *const[3]){value, value, value},
                               (const int64_t[3]){0, 0, 0}, n);
    return out;
}

static void put_together(const worker *w, char *out, const void *const *results, int64_t cols)
{
    const twi_map_course *p = w->plan;
    const tw_type type = p->job->variants->type;
    const int64_t groups = cols / p->period;
    p->machine->store[type](out, results, p->period, groups);
    for (int64_t j = 0; j < cols % p->period; j++) {
        const void *last = (const char *)results[j] + groups * p->size;
        p->machine->store[type](out + (groups * p->period + j) * (int64_t)tw_type_size(type), &last,
                                1, 1);
    }
}

static void store_results(worker *w, char *out, const void *const *results, const place *at)
{
    const twi_map_course *p = w->plan;
    const tw_type type = p->job->variants->type;
    const int64_t bytes = at->cols * (int64_t)tw_type_size(type);
    const bool past = TWI_STORES_PAST && p->past_caches;
    const char *whole = results[0];
    if (p->period > 1 || type != p->job->variants->compute) {
        put_together(w, past ? w->joined : out, results, at->cols);
        whole = past ? w->joined : out;
    }
    if (past) {
        twi_write_past(out, whole, bytes);
    } else if (whole != out) {
        memmove(out, whole, (size_t)bytes); /* of an input, perhaps, that is the result, too */
    }
}

/* The block that comes next is asked for while this one is computed: measured on a Xeon alone. */
static void ask_for_next(const worker *w, const place *at)
{
#ifdef NEXT_NEAR
    const twi_map_course *p = w->plan;
    for (int32_t k = 0; k < p->job->input_count; k++) {
        const twi_map_input *input = &p->job->inputs[k];
        const int64_t bytes = at->cols * (int64_t)tw_type_size(input->type);
        if ((p->inputs >> k & 1) != 0) {
            const char *next = input_at(p->job, input, at) + bytes;
            for (int64_t from = 0; from < bytes; from += TWI_CACHE_LINE) {
                __builtin_prefetch(next + from, 0, NEXT_NEAR);
            }
        }
    }
#else
    (void)w, (void)at;
#endif
}

static void run_block(worker *w, const int32_t *lane_of, const place *at)
{
    const twi_map_course *p = w->plan;
    const twi_map_job *job = p->job;
    const tw_type type = job->variants->type;
    char *out = (char *)job->out + ((at->row - job->first_row) * job->out_stride + at->first) *
                                       (int64_t)tw_type_size(type);
    const bool stream = p->room < p->block;
    const bool direct = at->whole && type == job->variants->compute &&
                        (stream || !(TWI_STORES_PAST && p->past_caches));
    const void *results[TWI_MAP_COL_PERIOD];
    bool stored = false;
    load_inputs(w, at);
    if (!stream) {
        ask_for_next(w, at);
    }
    for (int64_t residue = 0; residue < p->period; residue++) {
        const twi_map_lane *l = &p->lanes[lane_of[residue]];
        const int64_t n = twi_round_up(residue_count(p, at->cols, residue), TWI_MAP_GRAIN);
        set_values(w, l, at);
        const void *value = run_lane(w, l, n, direct ? out : NULL);
        stored = value == out;
        results[residue] = as_block(w, l, value, n);
    }
    if (!stored) {
        store_results(w, out, results, at);
    }
}

/* -------------------------------------------------------------------------------- tasks */

/* Elements before the first of a stream that begins a line of the result: they have a block to
 * themselves, or every store would touch two lines (and every load, where arrays lie alike). */
static int64_t lead(const twi_map_course *p, int64_t row, int64_t first, int64_t cols)
{
    const twi_map_job *job = p->job;
    const char *out =
        (const char *)job->out + ((row - job->first_row) * job->out_stride + first) * p->size;
    const int64_t beyond = (int64_t)((uintptr_t)out % TWI_CACHE_LINE);
    if (p->room == p->block || p->column_bytes > 0 || cols < LONG || beyond % p->size != 0) {
        return 0;
    }
    return (TWI_CACHE_LINE - beyond) % TWI_CACHE_LINE / p->size;
}

static void run_row(worker *w, int64_t row, int64_t first, int64_t cols)
{
    const twi_map_course *p = w->plan;
    const int32_t *lane_of = p->lane_of + row % p->job->variants->row_period * p->period;
    const int64_t width = p->block * p->period;
    for (int64_t residue = 0; residue < p->period; residue++) {
        compute_row(w, p->lanes[lane_of[residue]].number, row);
    }
    int64_t count = lead(p, row, first, cols);
    for (int64_t at = 0; at < cols; at += count) {
        if (at > 0 || count == 0) {
            count = cols - at < width ? cols - at : width;
            if (p->period == 1 && count > TWI_MAP_GRAIN) { /* what is left over comes alone */
                count = count / TWI_MAP_GRAIN * TWI_MAP_GRAIN;
            }
        }
        const place here = {row, first + at, count, at / p->period,
                            p->period == 1 && count % TWI_MAP_GRAIN == 0};
        run_block(w, lane_of, &here);
    }
}

static void run_task(worker *w, int64_t task)
{
    const twi_map_course *p = w->plan;
    const twi_map_job *job = p->job;
    const int64_t first_row = job->first_row + task / p->strips * p->band;
    const int64_t end_row = job->first_row + job->row_count;
    const int64_t last_row = end_row - first_row < p->band ? end_row : first_row + p->band;
    const int64_t first = task % p->strips * p->strip;
    const int64_t cols = job->cols - first < p->strip ? job->cols - first : p->strip;
    for (int32_t i = 0; i < p->lane_count; i++) {
        if (p->lanes[i].program->col_end > p->lanes[i].program->row_end) {
            compute_columns(w, &p->lanes[i], first, cols);
        }
    }
    for (int64_t row = first_row; row < last_row; row++) {
        run_row(w, row, first, cols);
    }
    if (p->past_caches) {
        twi_written_past();
    }
}

/* A thread's part: pointers to values, their steps, then what the values are made of. */
static void lay_out(worker *w, const twi_map_course *p, char *part)
{
    w->plan = p;
    w->value = (const void **)part;
    part += twi_aligned((uint64_t)p->count * sizeof *w->value);
    w->step = (int64_t *)part;
    part += twi_aligned((uint64_t)p->count * sizeof *w->step);
    w->rows = part;
    part += p->row_bytes;
    w->columns = part;
    part += p->column_bytes;
    w->places = part;
    part += (uint64_t)p->places * twi_block_bytes(p);
    w->inputs = part;
    part += (uint64_t)(p->input_count * p->period) * twi_block_bytes(p);
    w->results = part;
    part += 2 * (uint64_t)p->period * twi_block_bytes(p);
    w->joined = part;
}

/* How far the whole result is, once a share of this job is done. */
static void say_progress(const twi_map_course *p, double share)
{
    const twi_map_job *job = p->asked;
    if (job->rows > 0) {
        const double done = (double)job->first_row + (double)job->row_count * share;
        twi_progress(p->ctx, "map", done, (double)job->rows, "rows");
    }
}

static void work(twi_map_course *p)
{
    worker w;
    lay_out(&w, p, p->scratch + (uint64_t)twi_thread_id() * p->part);
    const int64_t tasks = p->bands * p->strips;
#pragma omp for schedule(dynamic, 1)
    for (int64_t task = 0; task < tasks; task++) {
        if (twi_is_cancelled(p->ctx)) {
            continue;
        }
        run_task(&w, task);
        int64_t done = atomic_fetch_add_explicit(&p->done, 1, memory_order_relaxed) + 1;
        if (twi_thread_id() == 0) {
            say_progress(p, (double)done / (double)tasks);
        }
    }
}

static void compute_uniforms(twi_map_course *p)
{
    worker w;
    lay_out(&w, p, p->scratch);
    for (int32_t k = 0; k < p->job->variants->program_count; k++) {
        const twi_program *program = &p->job->variants->programs[k];
        for (int32_t i = 0; i < program->uniform_end; i++) {
            compute_number(&w, program, i,
                           p->uniform + p->uniform_at[k] + (uint64_t)i * twi_vector_bytes(p), 0);
        }
    }
}

/* Rows that follow each other in memory and look the same are one long row: narrow arrays would
 * fill few lanes of a block. */
static void flatten(twi_map_job *job)
{
    const twi_variants *v = job->variants;
    const twi_program *program = &v->programs[0];
    if (v->program_count != 1 || v->row_period != 1 || v->col_period != 1 ||
        program->col_end > program->uniform_end || job->out_stride != job->cols) {
        return;
    }
    for (int32_t k = 0; k < job->input_count; k++) {
        const twi_map_input *input = &job->inputs[k];
        if (input->col_step != 0 && input->row_step != job->cols) {
            return;
        }
    }
    for (int32_t k = 0; k < job->input_count; k++) {
        twi_map_input *input = &job->inputs[k];
        input->data = (const char *)input->data + (job->first_row - job->input_row) *
                                                      input->row_step *
                                                      (int64_t)tw_type_size(input->type);
    }
    job->cols *= job->row_count;
    job->first_row = job->input_row = 0;
    job->row_count = 1;
    job->out_stride = job->cols;
}

/* The threads that a job is worth: planes of a few elements come in hundreds of thousands. */
static int threads_for(tw_context *ctx, const twi_map_job *job)
{
    const double steps = (double)job->row_count * (double)job->cols * (double)job->repeat *
                         (1 + job->variants->generic.cost);
    return twi_threads_for(ctx, steps < 1e15 ? (int64_t)steps : INT64_MAX);
}

tw_status twi_map_cpu_run(tw_context *ctx, const twi_map_job *asked)
{
    twi_map_job flat = *asked;
    const twi_map_job *job = &flat;
    const int threads = threads_for(ctx, job);
    const twi_variants *v = job->variants;
    twi_isa isa;
    twi_map_course p = {.ctx = ctx, .job = job, .asked = asked, .period = v->col_period};
    tw_status status = twi_isa_resolve(ctx, &isa);
    if (status != TW_OK || job->row_count == 0 || job->cols == 0) {
        return status != TW_OK ? status : twi_check_cancel(ctx);
    }
    flatten(&flat);
    const twi_map_kernel *kernel = twi_map_kernel_find(isa);
    p.machine = v->compute == TW_F32 ? kernel->f32 : kernel->f64;
    p.operation = job->fast ? p.machine->fast : p.machine->operation;
    p.size = (int64_t)tw_type_size(v->compute);
    atomic_init(&p.done, 0);
    status = twi_map_course_make(&p, threads);
    if (status == TW_OK) {
        compute_uniforms(&p);
        say_progress(&p, 0); /* a task of many passes can take hours */
#pragma omp parallel num_threads(twi_team(threads)) if (threads > 1)
        work(&p);
        status = twi_check_cancel(ctx);
    }
    twi_map_course_clear(&p);
    return status;
}
