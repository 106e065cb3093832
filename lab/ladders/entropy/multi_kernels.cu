/*
 * The kernel of the ladders of entropy on several GPUs: version 7 of row D1 (gpu_kernels.cu), on
 * floats as its authors have it or on bytes, for a piece of an array, whose first outputs may have
 * elements above and left of them.
 */
#include "ladders/entropy/piece.h"

#include "ladders/entropy/logarithms.h"
#include "ladders/gpu_names.h"

#define HALF LAB_ENTROPY_HALF
#define LEVELS LAB_ENTROPY_LEVELS
#define MOST LAB_ENTROPY_MOST
#define WIDE 32 /* threads across; the others are below each other */
#define HIGH (LAB_ENTROPY_PIECE_THREADS / WIDE)
#define BOUNDS __launch_bounds__(LAB_ENTROPY_PIECE_THREADS, 1) /* without the 1 it spills more */

template <typename Element>
static __global__ BOUNDS void solve_piece(const Element *in, lab_entropy_piece p)
{
    int8_t counts[LEVELS];
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    int row = y + p.above, col = x + p.before, total = 0;
    if (x >= p.cols || y >= p.rows) {
        return;
    }
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    for (int i = max(row - HALF, 0); i <= min(row + HALF, p.in_rows - 1); i++) {
        for (int j = max(col - HALF, 0); j <= min(col + HALF, p.in_cols - 1); j++) {
            counts[(int)in[i * p.in_stride + j]]++;
            total++;
        }
    }
    double sum = own[total], inverse = 1.0 / total;
    for (int level = 0; level < LEVELS; level++) {
        sum -= (double)own[counts[level]] * counts[level] * inverse;
    }
    p.out[y * p.out_stride + x] = (float)sum;
}

extern "C" int lab_entropy_launch(const lab_entropy_piece *piece, void *stream)
{
    dim3 blocks((piece->cols + WIDE - 1) / WIDE, (piece->rows + HIGH - 1) / HIGH);
    if (piece->floats != NULL) {
        solve_piece<float>
            <<<blocks, dim3(WIDE, HIGH), 0, (cudaStream_t)stream>>>(piece->floats, *piece);
    } else {
        solve_piece<uint8_t>
            <<<blocks, dim3(WIDE, HIGH), 0, (cudaStream_t)stream>>>(piece->in, *piece);
    }
    return (int)cudaGetLastError();
}

extern "C" const void *lab_entropy_piece_kernel(bool floats)
{
    return floats ? (const void *)solve_piece<float> : (const void *)solve_piece<uint8_t>;
}
