/* Rows of the result against a search that shares nothing with the closure. */
#ifndef TWI_MPI_VERIFY_H
#define TWI_MPI_VERIFY_H

#include "apsp/shared/plan.h"
#include "apsp/shared/textbook.h"
#include "mpi/shared/graph.h"

typedef struct twi_mpi_verifier twi_mpi_verifier;

/* Draws the rows of the result that are compared: `samples`, or all for 0. Not collective, the same
 * on all ranks. */
TW_CHECKED tw_status twi_mpi_verifier_create(tw_context *ctx, twi_mpi_verifier **out,
                                             const tw_mpi_graph *graph, const tw_apsp_plan *plan,
                                             int64_t rows, int64_t samples, uint64_t seed);
void twi_mpi_verifier_destroy(twi_mpi_verifier *verifier);

bool twi_mpi_verifier_wants(const twi_mpi_verifier *verifier, int64_t row);

/* Compare a row, which is the distances from `source`; `data` is the row on the rank that has it,
 * and NULL on all others. Collective; TW_ERR_VERIFY with its sentence on all ranks if it is wrong.
 */
TW_CHECKED tw_status twi_mpi_verifier_row(tw_context *ctx, twi_mpi_verifier *verifier, int64_t row,
                                          int32_t source, const void *data);

/* The same with a search that this rank has made itself, from `source` in the whole graph. Not
 * collective. */
TW_CHECKED tw_status twi_mpi_verifier_compare(tw_context *ctx, twi_mpi_verifier *verifier,
                                              int64_t row, int32_t source,
                                              const twi_textbook *search, const void *data);

/* Rows compared so far. */
int64_t twi_mpi_verifier_count(const twi_mpi_verifier *verifier);

#endif
