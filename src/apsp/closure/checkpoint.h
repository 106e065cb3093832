/*
 * Checkpoints of a closure on one machine: the matrix between two pivots goes into a file
 * (io/checkpoint.h), from which another run, here or over MPI, goes on. On GPUs the matrix is
 * brought back for that; of one that is closed in 16 bits there and is of i32 here, 16 bits are
 * kept.
 *
 * When one is due a large file is mapped, and its pages are found beside some rounds (io/mapped.h).
 * Then the threads stop at the end of a round and write the rows together; that reaches the memory
 * of the system, which then brings them to the disk beside the next rounds. When that is done,
 * beside them too, the file takes its name. A checkpoint that cannot be written is told in the log
 * and costs nothing but itself.
 */
#ifndef TWI_APSP_CLOSURE_CHECKPOINT_H
#define TWI_APSP_CLOSURE_CHECKPOINT_H

#include "apsp/closure/cpu.h"
#include "apsp/shared/plan.h"
#include "io/checkpoint.h"

/* The kernel to go on with from a state; NULL: this library has none of that cap and pivot. */
TWI_SHARED const twi_minplus_kernel *twi_state_kernel(const tw_apsp_plan *plan,
                                                      const twi_state *state);
/* TW_ERR_ARGUMENT unless a run of the plan ends with the same bytes from that state. */
TWI_SHARED TW_CHECKED tw_status twi_state_check(tw_context *ctx, const tw_apsp_plan *plan,
                                                const twi_state *state);

typedef struct twi_checkpoint twi_checkpoint;

/* Bytes that it holds for a matrix of n vertices. */
uint64_t twi_checkpoint_memory(int64_t n, int threads);

/* Look for the newest generation that is whole. Refused: no place to write to, or a file of that
 * name that is damaged without another generation, no checkpoint, or of another number of vertices.
 * Every `every` seconds one is due; 0: after every pivot. */
TW_CHECKED tw_status twi_checkpoint_open(tw_context *ctx, twi_checkpoint **out, const char *path,
                                         double every, int64_t n, int threads);
/* What was found; NULL: nothing. */
const twi_state *twi_checkpoint_found(const twi_checkpoint *self);

/* What a matrix is before its first pivot, as a number: a sum over its entries below `cap`, in any
 * order. */
static inline uint64_t twi_mark_of(int64_t i, int64_t j, uint64_t entry)
{
    uint64_t z = entry + ((uint64_t)i << 32 | (uint64_t)j) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
/* Of `cols` entries of row i from column j on: the diagonal and entries at the kernel's infinity
 * count nothing. */
TWI_SHARED uint64_t twi_mark_row(const twi_minplus_kernel *kernel, const void *row, int64_t i,
                                 int64_t j, int64_t cols, bool both_ways);

/* Begin with a matrix that is not closed at all; what is kept is in its own type. */
void twi_checkpoint_begin(twi_checkpoint *self, const twi_work *work, int32_t block,
                          bool symmetric);
/* After that, put what was found in its place; `kernel` is that of twi_state_kernel. Of a narrower
 * type than the matrix's, i32, entries at the cap leave what is there. TW_ERR_ARGUMENT if it is of
 * another matrix. */
TW_CHECKED tw_status twi_checkpoint_resume(twi_checkpoint *self, tw_context *ctx,
                                           const twi_minplus_kernel *kernel);

/* While the matrix, of i32, is still what it was in the beginning: it may be kept in the narrower
 * type of `kernel`, too. */
void twi_checkpoint_offer(twi_checkpoint *self, const twi_minplus_kernel *kernel);
/* What is kept from now on: its own type, or one that was offered or gone on from, in which entries
 * from the cap on count as none; and with which pivots. TW_ERR_ARGUMENT if floats have come so far
 * with others. NULL is fine. */
void twi_checkpoint_form(twi_checkpoint *self, tw_type type, double cap);
TW_CHECKED tw_status twi_checkpoint_pivots(twi_checkpoint *self, tw_context *ctx, int64_t block);

/* Whether it is time to keep the matrix after this round, and that; for those without a keeper.
 * NULL: never. */
bool twi_checkpoint_is_due(twi_checkpoint *self);
TW_CHECKED tw_status twi_checkpoint_keep(twi_checkpoint *self, int64_t done);
twi_keeper twi_checkpoint_keeper(twi_checkpoint *self);

/* Wait for what is on its way to the disk, and free. `finished`: the run is over, nothing of it is
 * needed any more. NULL is fine. */
void twi_checkpoint_close(tw_context *ctx, twi_checkpoint *self, bool finished);

#endif
