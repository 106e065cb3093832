/* How fast the ranks of a job are at what a closure does, measured for some tenths of a second. */
#ifndef TWI_MPI_PROBE_H
#define TWI_MPI_PROBE_H

#include "mpi/closure/share.h"
#include "mpi/plan/model.h"

/* On how many machines the ranks run, how many of them on this one, and how many threads of theirs
 * there are per processor that they may use, at least 1. Collective. */
typedef struct twi_machines {
    int count, here;
    double turns;
} twi_machines;
TW_CHECKED tw_status twi_probe_machines(tw_context *ctx, twi_machines *out, const twi_world *world,
                                        int threads);

/* How long panels travel, alone: a GPU, whose rate is known, computes meanwhile. Collective. */
TW_CHECKED tw_status twi_probe_casts(tw_context *ctx, twi_pace *out, const twi_grid *grid,
                                     const twi_mesh *mesh);

/* All ranks at once update tiles, close one, and broadcast panels. Collective; the same status and
 * the same paces everywhere. */
TW_CHECKED tw_status twi_probe_pace(tw_context *ctx, twi_pace *out, const twi_machines *machines,
                                    const twi_grid *grid, const twi_minplus_kernel *kernel,
                                    const twi_mesh *mesh, int threads);

/* The same of a rank's rate alone, all of them at work. Collective. */
TW_CHECKED tw_status twi_probe_together(tw_context *ctx, const twi_world *world,
                                        const twi_minplus_kernel *kernel, int64_t block,
                                        int64_t columns, int threads, double *rate, double *crowd);

/* Relaxations per second of updates by `threads` threads here, in wall-clock time and, in *alone,
 * as if nobody else had been on the processors. Not collective. */
TW_CHECKED tw_status twi_probe_rate(tw_context *ctx, const twi_minplus_kernel *kernel,
                                    int64_t block, int64_t columns, int threads, double *rate,
                                    double *alone);

/* Bytes per second that each rank writes into the folder of `path`, all at once; what cannot be
 * written is a guess. Collective. */
TW_CHECKED tw_status twi_probe_write(tw_context *ctx, const twi_world *world, const char *path,
                                     double *rate);

#endif
