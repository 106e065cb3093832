/* Answers compared with the right ones, how much work and traffic a size means, and what bounds it:
 * what ladders of the same problem share. */
#ifndef LAB_LADDERS_ANSWERS_H
#define LAB_LADDERS_ANSWERS_H

#include "ladders/ladder.h"

/* n x n distances, all equal; TW_ERR_VERIFY names the rung and the first that is not. */
TW_CHECKED tw_status lab_same_distances(tw_context *ctx, const lab_rung *rung, const int32_t *got,
                                        const int32_t *right, int64_t n);
/* Floats, each within `tolerance`; NaN never is. Of n x n, or of rows x cols. */
TW_CHECKED tw_status lab_near_floats(tw_context *ctx, const lab_rung *rung, const float *got,
                                     const float *right, int64_t n, float tolerance);
TW_CHECKED tw_status lab_near_rectangle(tw_context *ctx, const lab_rung *rung, const float *got,
                                        const float *right, int64_t rows, int64_t cols,
                                        float tolerance);
/* What those mean by the right answer (lab_ladder.against). */
#define LAB_AGAINST_CLOSURE                                                                       \
    "the library's distances, all of them; 4 rows of those by a search that shares no code with " \
    "it"
#define LAB_AGAINST_ENTROPY "the definition in double precision, every output, within 5e-6"

/* Bytes that no right answer consists of. */
void lab_poison(void *output, int64_t n, int32_t element);

/* Elements to ask for instead of `count`, so that a block shares no page of memory with another and
 * can be pinned whole: blocks of two huge pages and more consist of such (base/memory.h). */
static inline uint64_t lab_own_pages(uint64_t count, uint64_t element)
{
    const uint64_t least = ((uint64_t)4 << 20) / element;
    return count > least ? count : least;
}

double lab_relaxations(int64_t n);  /* n^3 */
double lab_elements(int64_t n);     /* n^2 */
double lab_matrix_bytes(int64_t n); /* 4-byte elements, read and written once */
double lab_image_bytes(int64_t n);  /* bytes read, floats written */

/* What bounds a ladder (lab_ladder.ceiling); each sets the context's device as well. On a CPU,
 * where no count of operations bounds it: a copy of the bytes of a matrix or of an image. */
TW_CHECKED tw_status lab_matrix_copy_ceiling(tw_context *ctx, lab_ceiling *out);
TW_CHECKED tw_status lab_image_copy_ceiling(tw_context *ctx, lab_ceiling *out);
/* The same by one thread, for weak scaling. */
TW_CHECKED tw_status lab_matrix_copy_ceiling_of_one(tw_context *ctx, lab_ceiling *out);
TW_CHECKED tw_status lab_image_copy_ceiling_of_one(tw_context *ctx, lab_ceiling *out);
/* The relaxations of one GPU; what d of them could do is d times that. */
TW_CHECKED tw_status lab_gpu_relaxation_ceiling(tw_context *ctx, lab_ceiling *out);
/* The link between host and GPU bounds an image that comes and goes, a byte up and four down for
 * each element, both at once; or a matrix that comes back, four bytes down (link_gpu.c). */
TW_CHECKED tw_status lab_link_ceiling(tw_context *ctx, lab_ceiling *out);
TW_CHECKED tw_status lab_download_ceiling(tw_context *ctx, lab_ceiling *out);
/* A copy on the card bounds floats that are read and written there. */
TW_CHECKED tw_status lab_card_copy_ceiling(tw_context *ctx, lab_ceiling *out);

/* Of rungs that scale over threads, `b` of them: whether there are as many (lab_ladder.offers). */
bool lab_has_threads(tw_context *ctx, const lab_rung *rung);

#endif
