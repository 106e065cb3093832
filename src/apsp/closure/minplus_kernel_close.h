/*
 * The closure of a small tile, of one element type: included by minplus_kernel_type.h, whose names
 * it uses. CLOSE_STEPS vertices are taken at a time, so that a row is loaded and stored once for
 * all of them and the pivots' rows stay in registers. What each step adds to a row, its head,
 * depends on the steps before it alone, in as many columns as there are steps: all heads are found
 * first. At 64 vertices in u16 that is a fifth of the time (Neoverse V1, November 2026).
 */
/* One sum, no larger than infinity where it could wrap. */
static inline T FN(plus)(T a, T b)
{
    return TW_TYPE == TW_U8 || TW_TYPE == TW_U16 ? (T)(a > INFTY - b ? INFTY : a + b) : (T)(a + b);
}

/* One step of a row. */
static inline void FN(close_row)(T *row, const T *pivot, T head, int64_t size)
{
    VEC a = SPLAT(head);
    int64_t j = 0;
    for (; j + LANES <= size; j += LANES) {
        STORE(row + j, MIN(LOAD(row + j), ADD(a, LOAD(pivot + j))));
    }
    for (; j < size; j++) {
        T sum = FN(plus)(head, pivot[j]);
        row[j] = sum < row[j] ? sum : row[j];
    }
}

/* The steps p ... p + CLOSE_STEPS - 1 among the pivots' own columns: element (q, r) for r < q is
 * what row q adds in step r, and for r > q what step q offers to column p + r. */
static inline void FN(close_among)(T among[CLOSE_STEPS][CLOSE_STEPS], const T *pivot, int64_t ldc,
                                   int64_t p)
{
    for (int q = 0; q < CLOSE_STEPS; q++) {
        memcpy(among[q], pivot + q * ldc + p, sizeof among[q]);
    }
    for (int q = 1; q < CLOSE_STEPS; q++) {
        for (int r = 0; r < q; r++) {
            for (int s = r + 1; s < CLOSE_STEPS; s++) {
                T sum = FN(plus)(among[q][r], among[r][s]);
                among[q][s] = sum < among[q][s] ? sum : among[q][s];
            }
        }
    }
}

/* A head as a row's steps take it. Vectors that are whole go from memory to memory without a
 * general register on the way, which on a Neoverse V1 takes a pipe of its own: in i32 a tenth of a
 * tile's time (November 2026). */
static inline void FN(put_head)(T *out, const T *head)
{
    if (A_LANES == LANES) {
        STORE(out, SPLAT(*head));
    } else {
        FN(put_a)(out, *head);
    }
}

/* The heads of `count` rows in CLOSE_STEPS steps from p on, each A_LANES times: what step q adds is
 * known once the steps before it have lowered the row's element in column p + q. One row beside the
 * other, so that vectors do it: element by element this took two fifths of the time of a tile of 64
 * (Neoverse N1, u16). Rows without a finite head are left out; returns how many stay, and which. */
static int64_t FN(close_heads)(T *out, T **rows, T *c, int64_t ldc, int64_t count, int64_t p,
                               T among[CLOSE_STEPS][CLOSE_STEPS])
{
    T head[CLOSE_STEPS][CLOSE_ROWS];
    T least[CLOSE_ROWS];
    for (int64_t i = 0; i < count; i += LANES) {
        VEC h[CLOSE_STEPS];
        if (i + LANES <= count) {
            COLUMNS_4(h, c + i * ldc + p, ldc);
        } else {
            for (int64_t k = i; k < i + LANES; k++) {
                for (int q = 0; q < CLOSE_STEPS; q++) {
                    head[q][k] = k < count ? c[k * ldc + p + q] : INFTY;
                }
            }
            for (int q = 0; q < CLOSE_STEPS; q++) {
                h[q] = LOAD(head[q] + i);
            }
        }
        VEC low = h[0];
        STORE(head[0] + i, h[0]);
        for (int q = 1; q < CLOSE_STEPS; q++) {
            for (int r = 0; r < q; r++) {
                h[q] = MIN(h[q], ADD(h[r], SPLAT(among[r][q])));
            }
            STORE(head[q] + i, h[q]);
            low = MIN(low, h[q]);
        }
        STORE(least + i, low);
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        for (int q = 0; q < CLOSE_STEPS; q++) {
            FN(put_head)(out + (kept * CLOSE_STEPS + q) * A_LANES, &head[q][i]);
        }
        rows[kept] = c + i * ldc;
        kept += least[i] < INFTY;
    }
    return kept;
}

/* The steps p ... p + CLOSE_STEPS - 1 of some rows, NR columns wide. The pivots' vectors take the
 * steps before their own and stay in registers, and a row is loaded and stored once for all of the
 * steps, whose sums and minima have the order of STEP above. The pivots' rows are rows like others:
 * their diagonal is 0. */
/* clang-format off */
#define P_LOAD(q, j) VEC b##q##j = LOAD(pivot + (q) * ldc + (j) * LANES);
#define P_LEAST(q, r, j) b##q##j = MIN(b##q##j, ADD(head, b##r##j));
#define P_LEAST_0(q, j) P_LEAST(q, 0, j)
#define P_LEAST_1(q, j) P_LEAST(q, 1, j)
#define P_LEAST_2(q, j) P_LEAST(q, 2, j)
#define P_STEP(q, r) { VEC head = SPLAT(among[q][r]); ROW(P_LEAST_##r, q) }
#define R_LOAD(i, j) VEC c##j = LOAD(c + (j) * LANES);
#define R_STORE(i, j) STORE(c + (j) * LANES, c##j);
#define R_HEAD(q) VEC a##q = BROADCAST(heads + (q) * A_LANES);
#define R_SUM(q, j) VEC t##q##j = ADD(a##q, b##q##j); OPAQUE(t##q##j);
#define R_LEAST(q, j) c##j = MIN(c##j, t##q##j);
#define R_STEPS                              \
    R_HEAD(0) ROW(R_SUM, 0)                  \
    R_HEAD(1) ROW(R_SUM, 1) ROW(R_LEAST, 0)  \
    R_HEAD(2) ROW(R_SUM, 2) ROW(R_LEAST, 1)  \
    R_HEAD(3) ROW(R_SUM, 3) ROW(R_LEAST, 2)  \
    ROW(R_LEAST, 3)
/* clang-format on */
static void FN(close_strip)(T *const *rows, const T *heads, int64_t count, const T *pivot,
                            int64_t ldc, T among[CLOSE_STEPS][CLOSE_STEPS], int64_t j)
{
    pivot += j;
    ROW(P_LOAD, 0)
    ROW(P_LOAD, 1)
    P_STEP(1, 0)
    ROW(P_LOAD, 2)
    P_STEP(2, 0)
    P_STEP(2, 1)
    ROW(P_LOAD, 3)
    P_STEP(3, 0)
    P_STEP(3, 1)
    P_STEP(3, 2)
    for (int64_t i = 0; i < count; i++, heads += CLOSE_STEPS * A_LANES) {
        T *c = rows[i] + j;
        ROW(R_LOAD, 0)
        R_STEPS
        ROW(R_STORE, 0)
    }
}
#undef P_LOAD
#undef P_LEAST
#undef P_LEAST_0
#undef P_LEAST_1
#undef P_LEAST_2
#undef P_STEP
#undef R_LOAD
#undef R_STORE
#undef R_HEAD
#undef R_SUM
#undef R_LEAST
#undef R_STEPS

/* The same, one vector wide. */
static void FN(close_vector)(T *const *rows, const T *heads, int64_t count, const T *pivot,
                             int64_t ldc, T among[CLOSE_STEPS][CLOSE_STEPS], int64_t j)
{
    VEC b[CLOSE_STEPS];
    for (int q = 0; q < CLOSE_STEPS; q++) {
        b[q] = LOAD(pivot + q * ldc + j);
        for (int r = 0; r < q; r++) {
            b[q] = MIN(b[q], ADD(SPLAT(among[q][r]), b[r]));
        }
    }
    for (int64_t i = 0; i < count; i++) {
        VEC c = LOAD(rows[i] + j);
        for (int q = 0; q < CLOSE_STEPS; q++, heads += A_LANES) {
            c = MIN(c, ADD(BROADCAST(heads), b[q]));
        }
        STORE(rows[i] + j, c);
    }
}

/* The same for the columns from j on, which no vector fills. */
static void FN(close_end)(T *const *rows, const T *heads, int64_t count, const T *pivot,
                          int64_t ldc, T among[CLOSE_STEPS][CLOSE_STEPS], int64_t j, int64_t cols)
{
    T b[CLOSE_STEPS][LANES];
    const int64_t width = cols - j;
    for (int q = 0; q < CLOSE_STEPS; q++) {
        memcpy(b[q], pivot + q * ldc + j, (size_t)width * sizeof(T));
        for (int r = 0; r < q; r++) {
            FN(close_row)(b[q], b[r], among[q][r], width);
        }
    }
    for (int64_t i = 0; i < count; i++) {
        for (int q = 0; q < CLOSE_STEPS; q++, heads += A_LANES) {
            FN(close_row)(rows[i] + j, b[q], *heads, width);
        }
    }
}

/* CLOSE_STEPS steps of up to CLOSE_ROWS rows. */
static void FN(close_rows)(T *c, int64_t ldc, int64_t count, int64_t cols, const T *pivot,
                           int64_t p, T among[CLOSE_STEPS][CLOSE_STEPS])
{
    T *rows[CLOSE_ROWS];
    T heads[CLOSE_ROWS * CLOSE_STEPS * A_LANES];
    count = FN(close_heads)(heads, rows, c, ldc, count, p, among);
    int64_t j = 0;
    for (; j + NR <= cols; j += NR) {
        FN(close_strip)(rows, heads, count, pivot, ldc, among, j);
    }
    for (; j + LANES <= cols; j += LANES) {
        FN(close_vector)(rows, heads, count, pivot, ldc, among, j);
    }
    if (LANES > 1 && j < cols) {
        FN(close_end)(rows, heads, count, pivot, ldc, among, j, cols);
    }
}

/* Row p and column p do not change in step p (the diagonal is 0), so the tile is closed in place.
 * CLOSE_STEPS steps are taken at a time, with the sums and minima, in their order, of one step
 * after the other. The rows beside the pivots' own are read, so these are changed last. */
static void FN(close)(void *c_, int64_t ldc, int64_t size, int64_t padded, int64_t pivots)
{
    T *c = c_;
    T among[CLOSE_STEPS][CLOSE_STEPS];
    int64_t p = 0;
    const int64_t whole = (size + LANES - 1) / LANES * LANES;
    const int64_t cols = whole < padded ? whole : padded;
    for (; p + CLOSE_STEPS <= pivots; p += CLOSE_STEPS) {
        const int64_t own = p / CLOSE_ROWS * CLOSE_ROWS;
        const T *pivot = c + p * ldc;
        FN(close_among)(among, pivot, ldc, p);
        for (int64_t i = 0; i < size; i += CLOSE_ROWS) {
            if (i != own) {
                FN(close_rows)
                (c + i * ldc, ldc, size - i < CLOSE_ROWS ? size - i : CLOSE_ROWS, cols, pivot, p,
                 among);
            }
        }
        FN(close_rows)
        (c + own * ldc, ldc, size - own < CLOSE_ROWS ? size - own : CLOSE_ROWS, cols, pivot, p,
         among);
    }
    for (; p < pivots; p++) {
        for (int64_t i = 0; i < size; i++) {
            T head = c[i * ldc + p];
            if (head < INFTY && i != p) {
                FN(close_row)(c + i * ldc, c + p * ldc, head, cols);
            }
        }
    }
}

/* ------------------------------------------------------------------------- symmetric matrices */

/* Columns p ... p + count - 1 of a symmetric matrix that is up to date below its diagonal alone: up
 * to there a column is the row of its vertex. */
static void FN(half_columns)(T *out, int64_t step, const T *c, int64_t ldc, int64_t size, int64_t p,
                             int count)
{
    int64_t whole = p + count; /* rows that vectors have taken end here */
    for (; count == CLOSE_STEPS && whole + LANES <= size; whole += LANES) {
        VEC column[CLOSE_STEPS];
        COLUMNS_4(column, c + whole * ldc + p, ldc);
        for (int q = 0; q < CLOSE_STEPS; q++) {
            STORE(out + q * step + whole, column[q]);
        }
    }
    for (int q = 0; q < count; q++) {
        memcpy(out + q * step, c + (p + q) * ldc, (size_t)(p + q + 1) * sizeof(T));
        for (int64_t i = p + q + 1; i < p + count; i++) {
            out[q * step + i] = c[i * ldc + p + q];
        }
        for (int64_t i = whole; i < size; i++) {
            out[q * step + i] = c[i * ldc + p + q];
        }
    }
}

/* The half above the diagonal from the one below. */
static void FN(mirror)(T *c, int64_t ldc, int64_t size)
{
    for (int64_t i = 0; i < size; i += LANES) {
        int64_t j = 0;
        for (; j + CLOSE_STEPS <= i && i + LANES <= size; j += CLOSE_STEPS) {
            VEC column[CLOSE_STEPS];
            COLUMNS_4(column, c + i * ldc + j, ldc);
            for (int q = 0; q < CLOSE_STEPS; q++) {
                STORE(c + (j + q) * ldc + i, column[q]);
            }
        }
        for (; j < i + LANES && j < size; j++) {
            for (int64_t k = i > j ? i : j; k < i + LANES && k < size; k++) {
                c[j * ldc + k] = c[k * ldc + j];
            }
        }
    }
}

/*
 * Closes the half below the diagonal, a strip of columns at a time with the rows from there on.
 * Each row's heads are what the pivots' rows hold in its own column, so both are found once.
 */
static void FN(close_half)(void *c_, int64_t ldc, int64_t size)
{
    enum { WIDTH = NR > CLOSE_ROWS ? NR : CLOSE_ROWS };
    T *c = c_;
    T pivot[CLOSE_STEPS][WIDTH];
    T heads[CLOSE_ROWS * CLOSE_STEPS * A_LANES];
    T none[CLOSE_STEPS][CLOSE_STEPS]; /* of the steps before: they have been taken */
    T among[CLOSE_STEPS][CLOSE_STEPS];
    T *rows[CLOSE_ROWS];
    int64_t p = 0;
    for (int q = 0; q < CLOSE_STEPS; q++) {
        for (int64_t j = 0; j < WIDTH; j++) {
            pivot[q][j] = INFTY;
        }
        for (int r = 0; r < CLOSE_STEPS; r++) {
            none[q][r] = INFTY;
        }
    }
    for (; p + CLOSE_STEPS <= size; p += CLOSE_STEPS) {
        int64_t after[WIDTH / NR]; /* rows kept above each strip's first */
        int64_t kept = 0;
        FN(half_columns)(pivot[0], WIDTH, c, ldc, size, p, CLOSE_STEPS);
        FN(close_among)(among, pivot[0], WIDTH, p);
        for (int64_t j = 0; j < WIDTH; j += LANES) {
            VEC h[CLOSE_STEPS];
            for (int q = 0; q < CLOSE_STEPS; q++) {
                h[q] = LOAD(pivot[q] + j);
                for (int r = 0; r < q; r++) {
                    h[q] = MIN(h[q], ADD(h[r], SPLAT(among[r][q])));
                }
                STORE(pivot[q] + j, h[q]);
            }
        }
        for (int64_t i = 0; i < size; i++) {
            T least = pivot[0][i];
            if (i % NR == 0) {
                after[i / NR] = kept;
            }
            for (int q = 0; q < CLOSE_STEPS; q++) {
                FN(put_head)(heads + (kept * CLOSE_STEPS + q) * A_LANES, &pivot[q][i]);
                least = pivot[q][i] < least ? pivot[q][i] : least;
            }
            rows[kept] = c + i * ldc;
            kept += least < INFTY;
        }
        for (int64_t j = 0; j < size; j += NR) {
            const int64_t first = after[j / NR];
            FN(close_strip)
            (rows + first, heads + first * CLOSE_STEPS * A_LANES, kept - first, pivot[0], WIDTH,
             none, j);
        }
    }
    for (; p < size; p++) {
        FN(half_columns)(pivot[0], WIDTH, c, ldc, size, p, 1);
        for (int64_t i = 0; i < size; i++) {
            if (pivot[0][i] < INFTY && i != p) {
                FN(close_row)(c + i * ldc, pivot[0], pivot[0][i], i + 1);
            }
        }
    }
    FN(mirror)(c, ldc, size);
}
