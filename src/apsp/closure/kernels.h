/*
 * The micro-kernels of the (min,+) engine: one struct per type and ISA holds the functions and the
 * tile they work on. docs/adding-a-kernel.md states the contract; tests/kernels checks every one
 * against the scalar one.
 *
 * A packed left operand is a sequence of strips of mr rows: element (i, p) of a strip stands,
 * a_lanes times over, at a[(p * mr + i) * a_lanes]. A packed right operand is a sequence of strips
 * of nr columns: element (p, j) stands at b[p * nr + j]. The depth of both is padded with
 * "infinity" to an even number. A strip also knows the range of depths in which it holds anything
 * finite.
 */
#ifndef TWI_APSP_CLOSURE_KERNELS_H
#define TWI_APSP_CLOSURE_KERNELS_H

#include "base/isa.h"

#include <stdbool.h>

#define TWI_CLOSE_HALF 64 /* vertices of a symmetric tile that is closed as a whole, at most */

typedef struct twi_range {
    int32_t begin; /* even */
    int32_t end;   /* even; begin == end: all infinite */
} twi_range;

/*
 * A product on rows that lie anywhere: for i < rows, p < depth and j < strips * nr
 * c[to[i] + j] = min(c[to[i] + j], a[i][pick[p]] + b[from[p] + j]). No row is both read and
 * written.
 */
typedef struct twi_rows_product {
    int64_t rows;
    int64_t depth;
    int64_t strips;
    const void *a;       /* packed by pack_a, strip after strip */
    int64_t a_step;      /* elements from one strip of it to the next */
    const int32_t *pick; /* depths of a; NULL: 0, 1, 2, ... */
    const void *b;
    const int64_t *from; /* where each row begins, in elements */
    void *c;
    const int64_t *to;
    bool fresh; /* the rows of c count as infinite before */
} twi_rows_product;

/*
 * What is known of columns of whole numbers >= 0, some of which are "infinity". `sum` counts those
 * in, too: whoever reads it takes them off.
 */
typedef struct twi_columns {
    void *sum;         /* a column's in twice the bytes of an element, in the kernel's own order */
    void *most;        /* the largest below "infinity" of each column; 0 at first */
    uint32_t *missing; /* how many are infinite, of each column */
} twi_columns;

/* And of rows. Nothing infinite is in the sums. */
typedef struct twi_across {
    int64_t *sum;
    int32_t *most;
    uint32_t *missing;
} twi_across;

/* What a caller of `update` will want next, to be prefetched. The kernels of x86 prefetch line by
 * line in the course of their steps, all rows of a tile and b_step bytes of B for every two steps:
 * all lines of a tile or of a strip at once fill the buffers that the steps' own lines need on
 * their way from the second cache. The others prefetch c_rows rows and b_bytes bytes before the
 * first step. Where nothing comes next, `c` and `b` are places in the present tile and strip, and
 * the numbers are 0. */
typedef struct twi_ahead {
    const char *c;   /* the next tile of C, its rows as far apart as this one's */
    int64_t c_rows;  /* rows of that tile inside C */
    const char *b;   /* a part of the next strip of B */
    int64_t b_bytes; /* bytes of that part */
    int64_t b_step;  /* bytes to advance after every two steps, at most a line */
} twi_ahead;

typedef struct twi_minplus_kernel {
    tw_type type;
    twi_isa isa;
    const char *name; /* "minplus_u16_neon"; with its tile, minplus_u16_neon_4x32 */
    double infinity;  /* "no path" */
    int32_t mr;
    int32_t nr;
    int32_t a_lanes;

    /* c[i][j] = min(c[i][j], a[i][p] + b[p][j]) over an mr x nr tile and `depth` (even) steps;
     * `ahead` may be NULL. */
    void (*update)(int64_t depth, const void *a, const void *b, void *c, int64_t ldc,
                   const twi_ahead *ahead);

    /* Pack one strip: `rows` <= mr rows of `depth` elements, element (i, p) at
     * src[i * row_step + p * depth_step]. Missing rows are infinite. */
    twi_range (*pack_a)(void *out, int64_t rows, int64_t depth, const void *src, int64_t row_step,
                        int64_t depth_step);

    /* Pack one strip: `cols` <= nr columns, row p at src + p * ld. Missing columns are infinite. */
    twi_range (*pack_b)(void *out, int64_t cols, int64_t depth, const void *src, int64_t ld);

    /* Floyd-Warshall in place on a small square tile of `size`, with the first `pivots` of its
     * vertices. Its rows have `padded` >= size columns, the others infinite: so many more may be
     * computed as fill a vector, which is three times as fast as one element after the other. */
    void (*close)(void *c, int64_t ldc, int64_t size, int64_t padded, int64_t pivots);

    void (*update_rows)(const twi_rows_product *product);

    /* out[j * ld_out + i] = src[i * ld_src + j] for a rows x cols source. */
    void (*transpose)(void *out, int64_t ld_out, const void *src, int64_t ld_src, int64_t rows,
                      int64_t cols);

    /* The same of a symmetric matrix of up to TWI_CLOSE_HALF vertices, rows padded to a multiple of
     * nr: what lies below the diagonal is computed, and mirrored in the end. The same bits. */
    void (*close_half)(void *c, int64_t ldc, int64_t size);

    /* Row u of a matrix of `cols` (a multiple of nr) columns takes c[u][j] = min(c[u][j], h +
     * c[v][j]) for each v of a list without u. Of whole numbers h is c[u][v], and where one strip
     * lowered that, the next ones have it; of floats it is that of `heads`. Whether the row
     * changed. */
    bool (*pull)(void *c, int64_t ldc, int64_t cols, int64_t u, const int32_t *list,
                 const void *heads, int64_t count);

    /* Whole numbers only, NULL for floats: `rows` rows of `cols` (a multiple of nr) columns, one
     * `step` elements after the other, put to what is known of their columns. Returns whether any
     * entry is infinite. A sum holds fold_most rows; spread adds the sums to 64-bit ones. */
    bool (*fold)(const twi_columns *known, int64_t rows, int64_t cols, const void *x, int64_t step);
    void (*spread)(int64_t *to, int64_t cols, const void *sum);
    /* The same across: `cols` (any number up to 2^16) columns of each row. */
    void (*fold_across)(const twi_across *known, int64_t rows, int64_t cols, const void *x,
                        int64_t step);
    int64_t fold_most;

    /* The register-only probe, in one of two instruction orders (0, 1): `rounds` times a fixed
     * number of steps; returns the relaxations done. */
    double (*probe)(int64_t rounds, int order);
} twi_minplus_kernel;

/* The kernel of a usable ISA; NULL for a type the engine does not compute in (i16). */
TWI_SHARED const twi_minplus_kernel *twi_minplus_kernel_find(twi_isa isa, tw_type type);

/* Those of u16 for values below 2^15 - 1 and of u8 for values below 2^7 - 1, which are their
 * infinities: sums are plain ones, twice as fast on x86-64. NULL for other types. */
TWI_SHARED const twi_minplus_kernel *twi_minplus_kernel_plain(twi_isa isa, tw_type type);
TWI_SHARED const twi_minplus_kernel *twi_minplus_kernel_of_15_bits(twi_isa isa);

/* Whether it is one of those: all bits of the type are yet to be tried. */
TWI_SHARED bool twi_kernel_is_plain(const twi_minplus_kernel *kernel);

/* "7 bits of ", "15 bits of ", or "" where distances may use all of them. */
const char *twi_kernel_bits(const twi_minplus_kernel *kernel);

#endif
