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
#include "map/kernels.h"

#include "base/matrix.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <string.h>

#define CACHE_BYTES ((int64_t)40 << 10)  /* for the registers of a thread */
#define BLOCK_MOST 1024                  /* elements of a register */
#define BLOCK_LEAST 64                   /* below it the calls would cost more than the work */
#define BLOCK_STREAM (BLOCK_MOST << 6)   /* where one kernel runs from memory to memory */
#define STRIP_BYTES ((int64_t)256 << 10) /* for the values of columns */
#define TASKS_A_THREAD 8
#define TASK_ELEMENTS ((int64_t)1 << 22) /* at most, so that a cancelled run ends soon */

/* One call of a kernel: value `out` from values `args`. */
typedef struct step {
    twi_map_block_fn run;
    int32_t out;
    int32_t args[3];
} step;

/* The columns of one residue under one program. */
typedef struct lane {
    const twi_program *program;
    int32_t residue;
    int32_t number;   /* of the program */
    uint64_t columns; /* its part of a thread's values of columns, in bytes from their start */
} lane;

/* What the threads share. */
typedef struct plan {
    tw_context *ctx;
    const twi_map_job *job;
    const twi_map_machine *machine;
    const twi_map_block_fn *operation;
    int64_t size;          /* bytes of an element of the compute type */
    int64_t period;        /* of columns */
    int64_t block;         /* elements of a residue in a block */
    int64_t room;          /* elements of a register */
    int64_t strip_room;    /* elements of a residue in a strip: whole vectors */
    int64_t strip, strips; /* columns of a task */
    int64_t band, bands;   /* rows of a task */
    uint32_t inputs;       /* those that some program reads element by element */
    int32_t input_count;   /* bits of `inputs` */
    int32_t places;
    int32_t count; /* operations of the longest program */
    int32_t lane_count;
    lane *lanes;
    int32_t *lane_of;  /* of row residue * period + column residue */
    step *steps;       /* of each program, from steps_at on; as many as operations */
    int32_t *steps_at; /* program_count + 1 */
    int32_t *still_steps, *step_count; /* those not of a pass; all */
    int32_t *uses;                     /* while steps are listed: of each value */
    char *uniform;        /* values of [0, uniform_end) of each program, a vector each */
    uint64_t *uniform_at; /* of each program, in bytes */
    uint64_t *row_at;     /* likewise in a thread's values of rows */
    uint64_t row_bytes, column_bytes, part;
    char *scratch; /* one part for each thread */
    atomic_int_fast64_t done;
} plan;

/* What a thread owns, in its part of the scratch memory. */
typedef struct worker {
    const plan *plan;
    const void **value; /* of each operation of the program at hand */
    int64_t *step;      /* 0: one vector; 1: a block */
    char *rows;
    char *columns;
    char *places;
    char *inputs;  /* period blocks of each input that is converted or taken apart */
    char *results; /* two times period blocks */
    const void *pointers[2 * TWI_MAP_COL_PERIOD];
} worker;

static uint64_t vector_bytes(const plan *p)
{
    return (uint64_t)(TWI_MAP_GRAIN * p->size);
}

static uint64_t block_bytes(const plan *p)
{
    return (uint64_t)(p->room * p->size);
}

static int64_t round_up(int64_t value, int64_t grain)
{
    return (value + grain - 1) / grain * grain;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

/* ------------------------------------------------------------------------------- values */

static void put(const plan *p, void *out, int64_t i, double value)
{
    if (p->size == sizeof(float)) {
        ((float *)out)[i] = (float)value;
    } else {
        ((double *)out)[i] = value;
    }
}

static void put_whole(const plan *p, void *out, int64_t i, int64_t value)
{
    if (p->size == sizeof(float)) {
        ((float *)out)[i] = (float)value;
    } else {
        ((double *)out)[i] = (double)value;
    }
}

static double element(const twi_map_input *input, int64_t row, int64_t col)
{
    return twi_element(input->data, input->type, row * input->row_step + col * input->col_step);
}

static twi_map_block_fn kernel_of(const plan *p, const twi_operation *op)
{
    return op->code == TWI_OP_STORED ? p->machine->stored[op->type] : p->operation[op->code];
}

/* Operation i of a program into `out`, n elements, from the values at hand. */
static void compute(worker *w, const twi_program *program, int32_t i, void *out, int64_t n)
{
    const twi_operation *op = &program->ops[i];
    const void *arg[3] = {NULL, NULL, NULL};
    int64_t stride[3] = {0, 0, 0};
    for (int k = 0; k < 3 && op->args[k] >= 0; k++) {
        arg[k] = w->value[op->args[k]];
        stride[k] = w->step[op->args[k]];
    }
    kernel_of(w->plan, op)(out, arg, stride, n);
}

/* A value that is the same all over the row. */
static void compute_number(worker *w, const twi_program *program, int32_t i, char *out, int64_t row)
{
    const plan *p = w->plan;
    const twi_operation *op = &program->ops[i];
    for (int64_t k = 0; k < TWI_MAP_GRAIN; k++) {
        switch (op->code) {
        case TWI_OP_CONST:
            put(p, out, k, op->number);
            break;
        case TWI_OP_INPUT:
            put(p, out, k, element(&p->job->inputs[op->index], row, 0));
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
        w->value[i] = at + (uint64_t)i * vector_bytes(w->plan);
        w->step[i] = 0;
    }
}

/* Values of the row, for a program. */
static void compute_row(worker *w, int32_t number, int64_t row)
{
    const plan *p = w->plan;
    const twi_program *program = &p->job->variants->programs[number];
    char *at = w->rows + p->row_at[number];
    take_uniforms(w, number, program);
    for (int32_t i = program->uniform_end; i < program->row_end; i++) {
        compute_number(w, program, i, at, row);
        at += vector_bytes(p);
    }
}

/* Elements of a residue in `cols` columns from a multiple of the period on. */
static int64_t residue_count(const plan *p, int64_t cols, int64_t residue)
{
    return cols > residue ? (cols - residue + p->period - 1) / p->period : 0;
}

/* Values of the columns of a strip, for a lane. */
static void compute_columns(worker *w, const lane *l, int64_t first, int64_t cols)
{
    const plan *p = w->plan;
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
                    element(&p->job->inputs[op->index], 0, first + l->residue + k * p->period));
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
            compute(w, program, i, out, round_up(n, TWI_MAP_GRAIN));
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

static bool serves_as_register(const plan *p, const twi_map_input *input, const place *at)
{
    return at->whole && input->type == p->job->variants->compute;
}

static char *input_block(const worker *w, int32_t slot, int64_t residue)
{
    return w->inputs + (uint64_t)(slot * w->plan->period + residue) * block_bytes(w->plan);
}

/* Convert and take apart what does not serve as it is. */
static void load_inputs(worker *w, const place *at)
{
    const plan *p = w->plan;
    int32_t slot = 0;
    for (int32_t k = 0; k < p->job->input_count; k++) {
        const twi_map_input *input = &p->job->inputs[k];
        if ((p->inputs >> k & 1) == 0) {
            continue;
        }
        if (!serves_as_register(p, input, at)) {
            void *out[TWI_MAP_COL_PERIOD];
            const char *in = (const char *)input->data + (at->row * input->row_step + at->first) *
                                                             (int64_t)tw_type_size(input->type);
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
static void set_values(worker *w, const lane *l, const place *at)
{
    const plan *p = w->plan;
    const twi_program *program = l->program;
    const char *row = w->rows + p->row_at[l->number];
    const uint64_t bytes = (uint64_t)(p->strip_room * p->size);
    take_uniforms(w, l->number, program);
    for (int32_t i = program->uniform_end; i < program->row_end; i++) {
        w->value[i] = row + (uint64_t)(i - program->uniform_end) * vector_bytes(p);
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
            w->value[i] =
                serves_as_register(p, input, at)
                    ? (const char *)input->data + (at->row * input->row_step + at->first) * p->size
                    : input_block(w, slot, l->residue);
        } else {
            w->value[i] = w->places + (uint64_t)op->place * block_bytes(p);
        }
    }
}

static void run_steps(worker *w, const step *from, const step *to, int64_t n)
{
    for (const step *s = from; s < to; s++) {
        const void *arg[3];
        int64_t stride[3];
        for (int k = 0; k < 3; k++) {
            arg[k] = w->value[s->args[k]];
            stride[k] = w->step[s->args[k]];
        }
        s->run((void *)w->value[s->out], arg, stride, n);
    }
}

/* Where pass `pass` of a lane puts its result: `out`, if there is one and it is the last. */
static const void *result_of_pass(const worker *w, const lane *l, int64_t pass, void *out)
{
    const plan *p = w->plan;
    if (out != NULL && pass == p->job->repeat - 1) {
        return out;
    }
    return w->results + (uint64_t)((pass & 1) * p->period + l->residue) * block_bytes(p);
}

/* All passes of a lane over n elements. Returns its result, which is `out` if it could be put
 * there. */
static const void *run_lane(worker *w, const lane *l, int64_t n, void *out)
{
    const plan *p = w->plan;
    const twi_program *program = l->program;
    const step *steps = p->steps + p->steps_at[l->number];
    const step *still = steps + p->still_steps[l->number];
    const step *end = steps + p->step_count[l->number];
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
    }
    return w->value[result];
}

/* A result that is one vector, or that lies in the memory of an input, as a block. */
static const void *as_block(worker *w, const lane *l, const void *value, int64_t n)
{
    const plan *p = w->plan;
    const int64_t stride = w->step[l->program->result];
    if (stride == 1) {
        return value;
    }
    char *out = w->results + (uint64_t)l->residue * block_bytes(p);
    p->machine->stored[TW_F64](out, (const void *const[3]){value, value, value},
                               (const int64_t[3]){0, 0, 0}, n);
    return out;
}

static void store_results(worker *w, char *out, const void *const *results, const place *at)
{
    const plan *p = w->plan;
    const tw_type type = p->job->variants->type;
    const int64_t groups = at->cols / p->period;
    if (p->period == 1 && type == p->job->variants->compute) {
        memmove(out, results[0], (size_t)(groups * p->size)); /* in place they are the same */
        return;
    }
    p->machine->store[type](out, results, p->period, groups);
    for (int64_t j = 0; j < at->cols % p->period; j++) {
        const void *last = (const char *)results[j] + groups * p->size;
        p->machine->store[type](out + (groups * p->period + j) * (int64_t)tw_type_size(type), &last,
                                1, 1);
    }
}

static void run_block(worker *w, const int32_t *lane_of, const place *at)
{
    const plan *p = w->plan;
    const twi_map_job *job = p->job;
    const tw_type type = job->variants->type;
    char *out = (char *)job->out + ((at->row - job->first_row) * job->out_stride + at->first) *
                                       (int64_t)tw_type_size(type);
    const bool direct = at->whole && type == job->variants->compute;
    const void *results[TWI_MAP_COL_PERIOD];
    bool stored = false;
    load_inputs(w, at);
    for (int64_t residue = 0; residue < p->period; residue++) {
        const lane *l = &p->lanes[lane_of[residue]];
        const int64_t n = round_up(residue_count(p, at->cols, residue), TWI_MAP_GRAIN);
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

static void run_row(worker *w, int64_t row, int64_t first, int64_t cols)
{
    const plan *p = w->plan;
    const int32_t *lane_of = p->lane_of + row % p->job->variants->row_period * p->period;
    const int64_t width = p->block * p->period;
    for (int64_t residue = 0; residue < p->period; residue++) {
        compute_row(w, p->lanes[lane_of[residue]].number, row);
    }
    int64_t count = 0;
    for (int64_t at = 0; at < cols; at += count) {
        count = cols - at < width ? cols - at : width;
        if (p->period == 1 && count > TWI_MAP_GRAIN) { /* what is left over has a block to itself */
            count = count / TWI_MAP_GRAIN * TWI_MAP_GRAIN;
        }
        const place here = {row, first + at, count, at / p->period,
                            p->period == 1 && count % TWI_MAP_GRAIN == 0};
        run_block(w, lane_of, &here);
    }
}

static void run_task(worker *w, int64_t task)
{
    const plan *p = w->plan;
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
}

/* A thread's part: pointers to values, their steps, then what the values are made of. */
static void lay_out(worker *w, const plan *p, char *part)
{
    w->plan = p;
    w->value = (const void **)part;
    part += aligned((uint64_t)p->count * sizeof *w->value);
    w->step = (int64_t *)part;
    part += aligned((uint64_t)p->count * sizeof *w->step);
    w->rows = part;
    part += p->row_bytes;
    w->columns = part;
    part += p->column_bytes;
    w->places = part;
    part += (uint64_t)p->places * block_bytes(p);
    w->inputs = part;
    part += (uint64_t)(p->input_count * p->period) * block_bytes(p);
    w->results = part;
}

static void work(plan *p)
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
            const double rows = (double)p->job->row_count;
            twi_progress(p->ctx, "map", rows * (double)done / (double)tasks, rows, "rows");
        }
    }
}

/* ----------------------------------------------------------------------------- planning */

/* How often each value of a program is used; the result counts twice, since it is not to vanish. */
static void count_uses(const twi_program *program, int32_t *uses)
{
    memset(uses, 0, (size_t)program->count * sizeof *uses);
    for (int32_t i = 0; i < program->count; i++) {
        for (int k = 0; k < 3 && program->ops[i].args[k] >= 0; k++) {
            uses[program->ops[i].args[k]]++;
        }
    }
    uses[program->result] += 2;
}

static int fused_arithmetic(int first, int second, int side)
{
    const int group = first == TWI_OP_ADD   ? TWI_FUSED_ADD_ADD
                      : first == TWI_OP_SUB ? TWI_FUSED_SUB_ADD
                      : first == TWI_OP_MUL ? TWI_FUSED_MUL_ADD
                                            : -1;
    const int way = second == TWI_OP_ADD   ? 0
                    : second == TWI_OP_SUB ? 1 + side
                    : second == TWI_OP_MUL ? 3
                                           : -1;
    return group < 0 || way < 0 ? -1 : group + way;
}

/* Make step `s` one with the step before it, whose value nothing else uses; false if there is no
 * kernel for the two. */
static bool fuse(const plan *p, const twi_operation *ops, step *before, const step *s)
{
    const int first = ops[before->out].code;
    const int second = ops[s->out].code;
    const int side = s->args[0] == before->out ? 0 : 1; /* of the value before */
    int kernel = fused_arithmetic(first, second, side);
    step both = {NULL, s->out, {before->args[0], before->args[1], s->args[1 - side]}};
    if (before->run == p->machine->fused[TWI_FUSED_ADD_SQRT]) {
        kernel = second == TWI_OP_ADD ? TWI_FUSED_ADD_SQRT_ADD : -1;
    } else if (before->run != kernel_of(p, &ops[before->out])) {
        return false; /* one already */
    } else if (first == TWI_OP_ADD && second == TWI_OP_SQRT) {
        kernel = TWI_FUSED_ADD_SQRT;
        both.args[2] = both.args[1];
    } else if (first == TWI_OP_SQRT && second == TWI_OP_ADD) {
        kernel = TWI_FUSED_SQRT_ADD;
        both.args[1] = both.args[2];
    }
    if (kernel < 0) {
        return false;
    }
    both.run = p->machine->fused[kernel];
    *before = both;
    return true;
}

/* Likewise a function and the root of a sum with its value. */
static bool fuse_root(const plan *p, const twi_operation *ops, step *function, const step *root)
{
    const twi_map_block_fn *roots = p->job->fast ? p->machine->fast_roots : p->machine->roots;
    const twi_map_block_fn run = roots[ops[function->out].code];
    const int side = root->args[0] == function->out ? 0 : 1;
    if (run == NULL || function->run != kernel_of(p, &ops[function->out]) ||
        root->run != p->machine->fused[TWI_FUSED_ADD_SQRT_ADD] ||
        root->args[side] != function->out) {
        return false;
    }
    *function = (step){run, root->out, {function->args[0], root->args[1 - side], root->args[2]}};
    return true;
}

/* The kernels of a program in order; inputs need none. */
static void list_steps(plan *p, int32_t number, int32_t *uses)
{
    const twi_program *program = &p->job->variants->programs[number];
    int32_t count = 0;
    int32_t from = 0; /* steps before it belong to another part */
    count_uses(program, uses);
    p->still_steps[number] = 0;
    for (int32_t i = program->col_end; i < program->count; i++) {
        const twi_operation *op = &program->ops[i];
        step s = {NULL, i, {0, 0, 0}};
        if (i == program->still_end) {
            from = count;
        }
        if (op->code == TWI_OP_INPUT) {
            continue;
        }
        s.run = kernel_of(p, op);
        for (int k = 0; k < 3; k++) {
            s.args[k] = op->args[k] >= 0 ? op->args[k] : op->args[0];
        }
        step *last = &p->steps[p->steps_at[number] + count - 1];
        if (count == from || uses[last->out] != 1 ||
            (op->args[0] != last->out && op->args[1] != last->out) ||
            !fuse(p, program->ops, last, &s)) {
            p->steps[p->steps_at[number] + count] = s;
            count++;
        }
        step *now = &p->steps[p->steps_at[number] + count - 1];
        if (count - 1 > from && uses[now[-1].out] == 1 &&
            fuse_root(p, program->ops, now - 1, now)) {
            count--;
        }
        if (i < program->still_end) {
            p->still_steps[number] = count;
        }
    }
    p->step_count[number] = count;
}

/* Inputs that are read element by element, the longest program, the most places. */
static void survey(plan *p)
{
    const twi_variants *v = p->job->variants;
    for (int32_t k = 0; k < v->program_count; k++) {
        const twi_program *program = &v->programs[k];
        p->count = program->count > p->count ? program->count : p->count;
        p->places = program->places > p->places ? program->places : p->places;
        for (int32_t i = program->col_end; i < program->count; i++) {
            if (program->ops[i].code == TWI_OP_INPUT) {
                p->inputs |= 1U << program->ops[i].index;
            }
        }
    }
    p->input_count = __builtin_popcount(p->inputs);
}

/* One lane for each pair of a program and a residue of columns that occurs. */
static void find_lanes(plan *p)
{
    const twi_variants *v = p->job->variants;
    for (int64_t at = 0; at < v->row_period * p->period; at++) {
        const int32_t residue = (int32_t)(at % p->period);
        int32_t found = 0;
        while (found < p->lane_count &&
               (p->lanes[found].number != v->index[at] || p->lanes[found].residue != residue)) {
            found++;
        }
        if (found == p->lane_count) {
            p->lanes[p->lane_count++] =
                (lane){&v->programs[v->index[at]], residue, v->index[at], 0};
        }
        p->lane_of[at] = found;
    }
}

/* One kernel or none does it all, and reads and writes the arrays themselves. */
static bool is_stream(const plan *p)
{
    const twi_variants *v = p->job->variants;
    if (p->lane_count != 1 || p->step_count[0] > 1 || p->job->repeat != 1 ||
        v->type != v->compute || v->programs[0].result < v->programs[0].col_end) {
        return false;
    }
    for (int32_t k = 0; k < p->job->input_count; k++) {
        if ((p->inputs >> k & 1) != 0 && p->job->inputs[k].type != v->compute) {
            return false;
        }
    }
    return true;
}

/* Sizes of blocks, strips and bands. */
static void cut(plan *p, int threads)
{
    const twi_map_job *job = p->job;
    int64_t registers = p->places + (p->input_count + 2) * p->period;
    int64_t block = CACHE_BYTES / (registers * p->size) / TWI_MAP_GRAIN * TWI_MAP_GRAIN;
    block = block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : block;
    const bool stream = is_stream(p);
    block = stream ? BLOCK_STREAM : block;
    int64_t most = round_up((job->cols + p->period - 1) / p->period, TWI_MAP_GRAIN);
    p->block = block < most ? block : most;
    p->room = stream ? TWI_MAP_GRAIN : p->block; /* a stream's registers hold what is left over */

    const int64_t width = p->block * p->period;
    int64_t values = 0;
    for (int32_t i = 0; i < p->lane_count; i++) {
        values += p->lanes[i].program->col_end - p->lanes[i].program->row_end;
    }
    p->strip = round_up(job->cols, width);
    if (values > 0) {
        int64_t strip = STRIP_BYTES / (values * p->size) * p->period / width * width;
        strip = strip < width ? width : strip;
        p->strip = strip < p->strip ? strip : p->strip;
    }
    const int64_t wanted = (int64_t)threads * TASKS_A_THREAD;
    if (job->row_count < wanted) { /* few rows: more strips */
        int64_t strips = (wanted + job->row_count - 1) / job->row_count;
        int64_t strip = round_up((job->cols + strips - 1) / strips, width);
        p->strip = strip < p->strip ? strip : p->strip;
    }
    p->strips = (job->cols + p->strip - 1) / p->strip;
    p->strip_room = round_up((p->strip + p->period - 1) / p->period, TWI_MAP_GRAIN);
    int64_t band = job->row_count / wanted;
    int64_t most_rows = TASK_ELEMENTS / job->repeat / p->strip;
    band = band < most_rows ? band : most_rows;
    p->band = band < 1 ? 1 : band;
    p->bands = (job->row_count + p->band - 1) / p->band;
}

/* Offsets of the parts of a thread's scratch memory, and its size. */
static void measure(plan *p)
{
    const twi_variants *v = p->job->variants;
    for (int32_t k = 0; k < v->program_count; k++) {
        p->row_at[k] = p->row_bytes;
        p->row_bytes +=
            (uint64_t)(v->programs[k].row_end - v->programs[k].uniform_end) * vector_bytes(p);
    }
    for (int32_t i = 0; i < p->lane_count; i++) {
        const twi_program *program = p->lanes[i].program;
        p->lanes[i].columns = p->column_bytes;
        p->column_bytes +=
            (uint64_t)(program->col_end - program->row_end) * (uint64_t)(p->strip_room * p->size);
    }
    uint64_t blocks = (uint64_t)p->places + (uint64_t)(p->input_count + 2) * (uint64_t)p->period;
    p->part = aligned((uint64_t)p->count * sizeof(void *)) +
              aligned((uint64_t)p->count * sizeof(int64_t)) + p->row_bytes + p->column_bytes +
              blocks * block_bytes(p) + TWI_CACHE_LINE;
    p->part = aligned(p->part);
}

static tw_status allocate_lists(plan *p)
{
    const twi_variants *v = p->job->variants;
    const uint64_t programs = (uint64_t)v->program_count;
    const uint64_t variants = (uint64_t)(v->row_period * v->col_period);
    const char *what = "the program of a map";
    uint64_t steps = 0;
    uint64_t uniform = 0;
    tw_status status = twi_alloc(p->ctx, &p->lanes, variants, sizeof *p->lanes, what);
    if (status == TW_OK) {
        status = twi_alloc(p->ctx, &p->lane_of, variants, sizeof *p->lane_of, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(p->ctx, &p->steps_at, 3 * programs, sizeof *p->steps_at, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(p->ctx, &p->uniform_at, 2 * programs, sizeof *p->uniform_at, what);
    }
    if (status != TW_OK) {
        return status;
    }
    p->still_steps = p->steps_at + programs;
    p->step_count = p->still_steps + programs;
    p->row_at = p->uniform_at + programs;
    for (uint64_t k = 0; k < programs; k++) {
        p->steps_at[k] = (int32_t)steps;
        p->uniform_at[k] = uniform;
        steps += (uint64_t)v->programs[k].count;
        uniform += (uint64_t)v->programs[k].uniform_end * vector_bytes(p);
    }
    status = twi_alloc(p->ctx, &p->steps, steps, sizeof *p->steps, what);
    if (status == TW_OK) {
        status = twi_alloc(p->ctx, &p->uniform, uniform, 1, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(p->ctx, &p->uses, (uint64_t)p->count, sizeof *p->uses, what);
    }
    return status;
}

static void compute_uniforms(plan *p)
{
    worker w;
    lay_out(&w, p, p->scratch);
    for (int32_t k = 0; k < p->job->variants->program_count; k++) {
        const twi_program *program = &p->job->variants->programs[k];
        for (int32_t i = 0; i < program->uniform_end; i++) {
            compute_number(&w, program, i,
                           p->uniform + p->uniform_at[k] + (uint64_t)i * vector_bytes(p), 0);
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
        input->data = (const char *)input->data +
                      job->first_row * input->row_step * (int64_t)tw_type_size(input->type);
    }
    job->cols *= job->row_count;
    job->first_row = 0;
    job->row_count = 1;
    job->out_stride = job->cols;
}

tw_status twi_map_cpu_run(tw_context *ctx, const twi_map_job *asked)
{
    twi_map_job flat = *asked;
    const twi_map_job *job = &flat;
    const int threads = twi_thread_count(ctx);
    const twi_variants *v = job->variants;
    twi_isa isa;
    plan p = {.ctx = ctx, .job = job, .period = v->col_period};
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
    survey(&p);
    status = allocate_lists(&p);
    if (status != TW_OK) {
        goto done;
    }
    find_lanes(&p);
    for (int32_t k = 0; k < v->program_count; k++) {
        list_steps(&p, k, p.uses);
    }
    cut(&p, threads);
    measure(&p);
    status = twi_alloc_zeroed(ctx, &p.scratch, (uint64_t)threads, p.part, "the registers of a map");
    if (status != TW_OK) {
        goto done;
    }
    compute_uniforms(&p);
#pragma omp parallel num_threads(threads)
    work(&p);
    status = twi_check_cancel(ctx);
done:
    twi_free(p.scratch);
    twi_free(p.uses);
    twi_free(p.uniform);
    twi_free(p.steps);
    twi_free(p.uniform_at);
    twi_free(p.steps_at);
    twi_free(p.lane_of);
    twi_free(p.lanes);
    return status;
}
