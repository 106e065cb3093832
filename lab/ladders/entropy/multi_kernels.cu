/*
 * The kernel of the ladders of entropy on several GPUs: version 7 of row D1 (gpu_kernels.cu)
 * for a piece of an array, whose first outputs may have elements above and left of them.
 */
#include "ladders/entropy/piece.h"

#include "ladders/gpu_names.h"

#define HALF LAB_ENTROPY_HALF
#define LEVELS LAB_ENTROPY_LEVELS
#define MOST LAB_ENTROPY_MOST
#define WIDE 32 /* threads across; the others are below each other */
#define HIGH (LAB_ENTROPY_PIECE_THREADS / WIDE)

static __global__ void solve_piece(lab_entropy_piece p, const float *table)
{
    uint8_t counts[LEVELS];
    float own[MOST + 1];
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    int row = y + p.above, col = x + p.before, total = 0;
    for (int i = 0; i <= MOST; i++) {
        own[i] = table[i];
    }
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    if (x >= p.cols || y >= p.rows) {
        return;
    }
    for (int i = max(row - HALF, 0); i <= min(row + HALF, p.in_rows - 1); i++) {
        for (int j = max(col - HALF, 0); j <= min(col + HALF, p.in_cols - 1); j++) {
            counts[p.in[i * p.in_stride + j]]++;
            total++;
        }
    }
    double sum = 0;
    for (int level = 0; level < LEVELS; level++) {
        sum += (double)own[counts[level]];
    }
    p.out[y * p.out_stride + x] = (float)(((double)own[total] - sum) / total);
}

extern "C" int lab_entropy_launch(const lab_entropy_piece *piece, const float *table, void *stream)
{
    dim3 blocks((piece->cols + WIDE - 1) / WIDE, (piece->rows + HIGH - 1) / HIGH);
    solve_piece<<<blocks, dim3(WIDE, HIGH), 0, (cudaStream_t)stream>>>(*piece, table);
    return (int)cudaGetLastError();
}

extern "C" const void *lab_entropy_piece_kernel(void)
{
    return (const void *)solve_piece;
}
