/*
 * The course of a job on the CPU (course.h). Operations become steps, one kernel each, and
 * neighbours for which there is a kernel of both become one; residues become lanes; and the result
 * is cut into tasks so that every thread has several and the registers of a block stay in the first
 * cache.
 */
#include "map/cpu/course.h"

#include "base/memory.h"

#include <string.h>

#define CACHE_BYTES ((int64_t)40 << 10)  /* for the registers of a thread */
#define BLOCK_MOST 1024                  /* elements of a register */
#define BLOCK_LEAST 64                   /* below it the calls would cost more than the work */
#define BLOCK_STREAM (BLOCK_MOST << 6)   /* where one kernel runs from memory to memory */
#define STRIP_BYTES ((int64_t)256 << 10) /* for the values of columns */
#define PAST_CACHES ((int64_t)32 << 20)  /* bytes of a result that no cache will hold */
#define TASKS_A_THREAD 8
/* At most, so that a cancelled run ends soon: of elements, and of what they cost in additions, some
 * milliseconds. */
#define TASK_ELEMENTS ((int64_t)1 << 22)
#define TASK_COST 0x1p23

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
static bool fuse(const twi_map_course *p, const twi_operation *ops, twi_map_step *before,
                 const twi_map_step *s)
{
    const int first = ops[before->out].code;
    const int second = ops[s->out].code;
    const int side = s->args[0] == before->out ? 0 : 1; /* of the value before */
    int kernel = fused_arithmetic(first, second, side);
    twi_map_step both = {NULL, s->out, {before->args[0], before->args[1], s->args[1 - side]}};
    if (before->run == p->machine->fused[TWI_FUSED_ADD_SQRT]) {
        kernel = second == TWI_OP_ADD ? TWI_FUSED_ADD_SQRT_ADD : -1;
    } else if (before->run != twi_kernel_of(p, &ops[before->out])) {
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
static bool fuse_root(const twi_map_course *p, const twi_operation *ops, twi_map_step *function,
                      const twi_map_step *root)
{
    const twi_map_block_fn *roots = p->job->fast ? p->machine->fast_roots : p->machine->roots;
    const twi_map_block_fn run = roots[ops[function->out].code];
    const int side = root->args[0] == function->out ? 0 : 1;
    if (run == NULL || function->run != twi_kernel_of(p, &ops[function->out]) ||
        root->run != p->machine->fused[TWI_FUSED_ADD_SQRT_ADD] ||
        root->args[side] != function->out) {
        return false;
    }
    *function =
        (twi_map_step){run, root->out, {function->args[0], root->args[1 - side], root->args[2]}};
    return true;
}

/* The kernels of a program in order; inputs need none. */
static void list_steps(twi_map_course *p, int32_t number, int32_t *uses)
{
    const twi_program *program = &p->job->variants->programs[number];
    int32_t count = 0;
    int32_t from = 0; /* steps before it belong to another part */
    count_uses(program, uses);
    p->still_steps[number] = 0;
    for (int32_t i = program->col_end; i < program->count; i++) {
        const twi_operation *op = &program->ops[i];
        twi_map_step s = {NULL, i, {0, 0, 0}};
        if (i == program->still_end) {
            from = count;
        }
        if (op->code == TWI_OP_INPUT) {
            continue;
        }
        s.run = twi_kernel_of(p, op);
        for (int k = 0; k < 3; k++) {
            s.args[k] = op->args[k] >= 0 ? op->args[k] : op->args[0];
        }
        twi_map_step *last = &p->steps[p->steps_at[number] + count - 1];
        if (count == from || uses[last->out] != 1 ||
            (op->args[0] != last->out && op->args[1] != last->out) ||
            !fuse(p, program->ops, last, &s)) {
            p->steps[p->steps_at[number] + count] = s;
            count++;
        }
        twi_map_step *now = &p->steps[p->steps_at[number] + count - 1];
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

/* Inputs that are read element by element, the longest program, the maximum number of places. */
static void survey(twi_map_course *p)
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
static void find_lanes(twi_map_course *p)
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
                (twi_map_lane){&v->programs[v->index[at]], residue, v->index[at], 0};
        }
        p->lane_of[at] = found;
    }
}

/* One kernel or none does it all, and reads and writes the arrays themselves. */
static bool is_stream(const twi_map_course *p)
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

/* How many elements a task may have. */
static int64_t task_elements(const twi_map_course *p)
{
    const twi_variants *v = p->job->variants;
    double cost = 1;
    for (int32_t k = 0; k < v->program_count; k++) {
        cost = v->programs[k].cost > cost ? v->programs[k].cost : cost;
    }
    const double most = TASK_COST / (cost * (double)p->job->repeat);
    return most < (double)TASK_ELEMENTS ? (int64_t)most + 1 : TASK_ELEMENTS;
}

/* Sizes of blocks, strips and bands. */
static void cut(twi_map_course *p, int threads)
{
    const twi_map_job *job = p->job;
    int64_t registers = p->places + (p->input_count + 2) * p->period;
    int64_t block = CACHE_BYTES / (registers * p->size) / TWI_MAP_GRAIN * TWI_MAP_GRAIN;
    block = block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : block;
    const bool stream = is_stream(p);
    block = stream ? BLOCK_STREAM : block;
    int64_t most = twi_round_up((job->cols + p->period - 1) / p->period, TWI_MAP_GRAIN);
    p->block = block < most ? block : most;
    p->room = stream ? TWI_MAP_GRAIN : p->block; /* a stream's registers hold what is left over */
    p->past_caches =
        job->row_count * job->cols * (int64_t)tw_type_size(job->variants->type) >= PAST_CACHES;

    const int64_t width = p->block * p->period;
    int64_t values = 0;
    for (int32_t i = 0; i < p->lane_count; i++) {
        values += p->lanes[i].program->col_end - p->lanes[i].program->row_end;
    }
    p->strip = twi_round_up(job->cols, width);
    if (values > 0) {
        int64_t strip = STRIP_BYTES / (values * p->size) * p->period / width * width;
        strip = strip < width ? width : strip;
        p->strip = strip < p->strip ? strip : p->strip;
    }
    const int64_t wanted = (int64_t)threads * TASKS_A_THREAD;
    if (job->row_count < wanted) { /* few rows: more strips */
        int64_t strips = (wanted + job->row_count - 1) / job->row_count;
        int64_t strip = twi_round_up((job->cols + strips - 1) / strips, width);
        p->strip = strip < p->strip ? strip : p->strip;
    }
    const int64_t elements = task_elements(p);
    if (elements < p->strip) {
        p->strip =
            twi_round_up(elements, width) < p->strip ? twi_round_up(elements, width) : p->strip;
    }
    p->strips = (job->cols + p->strip - 1) / p->strip;
    p->strip_room = twi_round_up((p->strip + p->period - 1) / p->period, TWI_MAP_GRAIN);
    int64_t band = job->row_count / wanted;
    int64_t most_rows = elements / p->strip;
    band = band < most_rows ? band : most_rows;
    p->band = band < 1 ? 1 : band;
    p->bands = (job->row_count + p->band - 1) / p->band;
}

/* Offsets of the parts of a thread's scratch memory, and its size. */
static void measure(twi_map_course *p)
{
    const twi_variants *v = p->job->variants;
    for (int32_t k = 0; k < v->program_count; k++) {
        p->row_at[k] = p->row_bytes;
        p->row_bytes +=
            (uint64_t)(v->programs[k].row_end - v->programs[k].uniform_end) * twi_vector_bytes(p);
    }
    for (int32_t i = 0; i < p->lane_count; i++) {
        const twi_program *program = p->lanes[i].program;
        p->lanes[i].columns = p->column_bytes;
        p->column_bytes +=
            (uint64_t)(program->col_end - program->row_end) * (uint64_t)(p->strip_room * p->size);
    }
    uint64_t blocks = (uint64_t)p->places + (uint64_t)(p->input_count + 2) * (uint64_t)p->period;
    const uint64_t joined = (uint64_t)(p->period * p->room) * tw_type_size(v->type);
    p->part = twi_aligned((uint64_t)p->count * sizeof(void *)) +
              twi_aligned((uint64_t)p->count * sizeof(int64_t)) + p->row_bytes + p->column_bytes +
              blocks * twi_block_bytes(p) + joined + TWI_CACHE_LINE;
    p->part = twi_aligned(p->part);
}

static tw_status allocate_lists(twi_map_course *p)
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
        uniform += (uint64_t)v->programs[k].uniform_end * twi_vector_bytes(p);
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

tw_status twi_map_course_make(twi_map_course *p, int threads)
{
    survey(p);
    tw_status status = allocate_lists(p);
    if (status != TW_OK) {
        return status;
    }
    find_lanes(p);
    for (int32_t k = 0; k < p->job->variants->program_count; k++) {
        list_steps(p, k, p->uses);
    }
    cut(p, threads);
    measure(p);
    return twi_alloc_zeroed(p->ctx, &p->scratch, (uint64_t)threads, p->part,
                            "the registers of a map");
}

void twi_map_course_clear(twi_map_course *p)
{
    twi_free(p->scratch);
    twi_free(p->uses);
    twi_free(p->uniform);
    twi_free(p->steps);
    twi_free(p->uniform_at);
    twi_free(p->steps_at);
    twi_free(p->lane_of);
    twi_free(p->lanes);
}
