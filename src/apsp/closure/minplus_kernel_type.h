/*
 * The kernels of one element type. Included by minplus_kernel.c with S (suffix), T, TW_TYPE, INFTY,
 * WHOLE (1 for integers), FOLD_MOST and SUM_ACROSS (holds the sum of 2^16) set; it takes those
 * names back at its end.
 */
#define FN(name) JOIN(name, S)
#define VEC JOIN(vec, S)
#define LANES JOIN(LANES, S)
#define A_LANES JOIN(A_LANES, S)
#define LOAD JOIN(load, S)
#define STORE JOIN(store, S)
#define SPLAT JOIN(splat, S)
#define ADD JOIN(add, S)
#define BROADCAST JOIN(broadcast, S)
#define MIN JOIN(min, S)
#define MAX JOIN(max, S)
#define WIDE JOIN(wide, S)
#define ADD_WIDE JOIN(add_wide, S)
#define SPREAD_WIDE JOIN(spread_wide, S)
#define OPAQUE JOIN(opaque, S)
#define COLUMNS_4 JOIN(columns_4, S)
#define NR (TWI_NV * LANES)

/* One step of depth p: the sums of a row are formed before the minima of the row above are taken,
 * so that no minimum waits for the sum beside it. Hiding the sums from the optimiser keeps that
 * order, which compilers would undo (98 % of the ceiling against 55 % on a Neoverse V1, November
 * 2026); it costs no instruction. */
/* clang-format off */
#define C_LOAD(i, j) VEC c##i##j = LOAD(c + (i) * ldc + (j) * LANES);
#define C_STORE(i, j) STORE(c + (i) * ldc + (j) * LANES, c##i##j);
#define B_LOAD(i, j) VEC b##j = LOAD(b + (j) * LANES);
#define A_LOAD(i) VEC a##i = BROADCAST(a + (i) * A_LANES);
#define SUM(i, j) VEC t##i##j = ADD(a##i, b##j); OPAQUE(t##i##j);
#define LEAST(i, j) c##i##j = MIN(c##i##j, t##i##j);
#define SUMS_AND_MINIMA(GET_A)          \
    GET_A(0) ROW(SUM, 0)                \
    GET_A(1) ROW(SUM, 1) ROW(LEAST, 0)  \
    GET_A(2) ROW(SUM, 2) ROW(LEAST, 1)  \
    GET_A(3) ROW(SUM, 3) ROW(LEAST, 2)  \
    ROW(LEAST, 3)
#define STEP                            \
    {                                   \
        ROW(B_LOAD, 0)                  \
        SUMS_AND_MINIMA(A_LOAD)         \
        a += MR * A_LANES;              \
        b += NR;                        \
    }
/* clang-format on */

#define C_BYTES (NR * (int64_t)sizeof(T)) /* of a row of a tile */

#if IN_TURN
#define ASK(row)                                               \
    {                                                          \
        __builtin_prefetch(next_c + (row)*ldc * sizeof(T), 1); \
        __builtin_prefetch(next_b, 0, 2);                      \
        next_b += ahead->b_step;                               \
        STEP;                                                  \
        STEP;                                                  \
    }
#else
static inline void FN(ask)(const twi_ahead *ahead, int64_t ldc)
{
    for (int64_t i = 0; i < ahead->c_rows; i++) {
        for (int64_t at = 0; at < C_BYTES; at += LINE) {
            __builtin_prefetch(ahead->c + i * ldc * (int64_t)sizeof(T) + at, 1);
        }
    }
    for (int64_t at = 0; at < ahead->b_bytes; at += LINE) {
        __builtin_prefetch(ahead->b + at, 0, 2);
    }
}
#endif

static void FN(update)(int64_t depth, const void *a_, const void *b_, void *c_, int64_t ldc,
                       const twi_ahead *ahead)
{
    const T *a = a_;
    const T *b = b_;
    T *c = c_;
    int64_t p = 0;
#if !IN_TURN
    if (ahead != NULL) {
        FN(ask)(ahead, ldc);
    }
#endif
    ROW(C_LOAD, 0)
    ROW(C_LOAD, 1)
    ROW(C_LOAD, 2)
    ROW(C_LOAD, 3)
#if IN_TURN
    if (ahead != NULL) {
        const char *next_c = ahead->c, *last_c = next_c + C_BYTES - LINE, *next_b = ahead->b;
        for (; p + 2 * MR <= depth; p += 2 * MR) {
            ASK(0)
            ASK(1)
            ASK(2)
            ASK(3)
            next_c = next_c < last_c ? next_c + LINE : last_c;
        }
    }
#endif
    for (; p < depth; p += 2) {
        STEP;
        STEP;
    }
    ROW(C_STORE, 0)
    ROW(C_STORE, 1)
    ROW(C_STORE, 2)
    ROW(C_STORE, 3)
}

/* One group of rows against one strip of columns. Fewer than MR rows have steps of their own:
 * blocks of a sparse factor are often narrow. */
/* clang-format off */
#define SUMS_AND_MINIMA_1 A_LOAD(0) ROW(SUM, 0) ROW(LEAST, 0)
#define SUMS_AND_MINIMA_2               \
    A_LOAD(0) ROW(SUM, 0)               \
    A_LOAD(1) ROW(SUM, 1) ROW(LEAST, 0) \
    ROW(LEAST, 1)
#define SUMS_AND_MINIMA_3               \
    A_LOAD(0) ROW(SUM, 0)               \
    A_LOAD(1) ROW(SUM, 1) ROW(LEAST, 0) \
    A_LOAD(2) ROW(SUM, 2) ROW(LEAST, 1) \
    ROW(LEAST, 2)
#define SUMS_AND_MINIMA_4 SUMS_AND_MINIMA(A_LOAD)
#define X_LOAD(i, j) \
    VEC c##i##j = product->fresh ? SPLAT(INFTY) : LOAD(c + to[i] + (j) * LANES);
#define X_STORE(i, j) STORE(c + to[i] + (j) * LANES, c##i##j);
#define EACH_1(X) ROW(X, 0)
#define EACH_2(X) ROW(X, 0) ROW(X, 1)
#define EACH_3(X) ROW(X, 0) ROW(X, 1) ROW(X, 2)
#define EACH_4(X) ROW(X, 0) ROW(X, 1) ROW(X, 2) ROW(X, 3)
/* clang-format on */
#define ROWS_STEP(ROWS, A, B)  \
    {                          \
        const T *a = A;        \
        const T *b = B;        \
        ROW(B_LOAD, 0)         \
        SUMS_AND_MINIMA_##ROWS \
    }
#define DEFINE_UPDATE_GROUP(ROWS)                                                        \
    static void FN(update_group_##ROWS)(const twi_rows_product *product, const T *strip, \
                                        const T *rows, T *c, const int64_t *to)          \
    {                                                                                    \
        const int64_t depth = product->depth;                                            \
        const int64_t *from = product->from;                                             \
        const int32_t *pick = product->pick;                                             \
        EACH_##ROWS(X_LOAD) if (pick != NULL)                                            \
        {                                                                                \
            for (int64_t p = 0; p < depth; p++)                                          \
                ROWS_STEP(ROWS, strip + pick[p] * (MR * A_LANES), rows + from[p])        \
        }                                                                                \
        else                                                                             \
        {                                                                                \
            const int64_t *even = from + depth / 2 * 2;                                  \
            for (; from < even; from += 2, strip += 2 * MR * A_LANES) {                  \
                ROWS_STEP(ROWS, strip, rows + from[0])                                   \
                ROWS_STEP(ROWS, strip + MR * A_LANES, rows + from[1])                    \
            }                                                                            \
            if (depth % 2 != 0)                                                          \
                ROWS_STEP(ROWS, strip, rows + from[0])                                   \
        }                                                                                \
        EACH_##ROWS(X_STORE)                                                             \
    }
DEFINE_UPDATE_GROUP(1)
DEFINE_UPDATE_GROUP(2)
DEFINE_UPDATE_GROUP(3)
DEFINE_UPDATE_GROUP(4)

/* Where the rows that are read pass a part of the first cache, one strip of them stays there while
 * all of the left operand goes by: 5 % on a grid of 200 x 200 (Neoverse N1, November 2026). */
#define ROWS_BYTES (24 << 10)
static void FN(update_rows)(const twi_rows_product *product)
{
    typedef void (*group_fn)(const twi_rows_product *, const T *, const T *, T *, const int64_t *);
    static const group_fn groups[] = {FN(update_group_1), FN(update_group_2), FN(update_group_3),
                                      FN(update_group_4)};
    const int64_t bytes = product->depth * product->strips * NR * (int64_t)sizeof(T);
    const int64_t together = bytes <= ROWS_BYTES ? product->strips : 1;
    for (int64_t from = 0; from < product->strips; from += together) {
        const T *strip = product->a;
        for (int64_t i = 0; i < product->rows; i += MR, strip += product->a_step) {
            const int64_t rows = product->rows - i < MR ? product->rows - i : MR;
            for (int64_t j = from; j < from + together; j++) {
                groups[rows - 1](product, strip, (const T *)product->b + j * NR,
                                 (T *)product->c + j * NR, product->to + i);
            }
        }
    }
}

/* The ceiling: the same sums and minima with nothing to load. Their order matters even here: a
 * Neoverse V1 runs u8 and u16 at full rate only in the kernel's order (67 % otherwise) and the
 * others only with each row's minima right after its sums (74 % otherwise); November 2026. So both
 * orders are offered, and the ceiling is the better. The left operand is made opaque in every step
 * so that each sum is really computed. */
/* clang-format off */
#define ROW_BY_ROW(GET_A)               \
    GET_A(0) ROW(SUM, 0) ROW(LEAST, 0)  \
    GET_A(1) ROW(SUM, 1) ROW(LEAST, 1)  \
    GET_A(2) ROW(SUM, 2) ROW(LEAST, 2)  \
    GET_A(3) ROW(SUM, 3) ROW(LEAST, 3)
#define C_START(i, j) VEC c##i##j = SPLAT((T)(100 + (i) + (j)));
#define B_START(i, j) VEC b##j = SPLAT((T)(1 + (j)));
#define A_START(i) VEC a##i = SPLAT((T)(1 + (i)));
#define A_HIDE(i) OPAQUE(a##i);
#define C_HIDE(i, j) OPAQUE(c##i##j);
/* clang-format on */
static double FN(probe)(int64_t rounds, int order)
{
    ROW(B_START, 0)
    A_START(0)
    A_START(1)
    A_START(2)
    A_START(3)
    ROW(C_START, 0)
    ROW(C_START, 1)
    ROW(C_START, 2)
    ROW(C_START, 3)
    if (order == 0) {
        for (int64_t round = 0; round < rounds; round++) {
            SUMS_AND_MINIMA(A_HIDE);
        }
    } else {
        for (int64_t round = 0; round < rounds; round++) {
            ROW_BY_ROW(A_HIDE);
        }
    }
    ROW(C_HIDE, 0)
    ROW(C_HIDE, 1)
    ROW(C_HIDE, 2)
    ROW(C_HIDE, 3)
    return (double)rounds * MR * NR;
}

#undef ROW_BY_ROW
#undef C_START
#undef B_START
#undef A_START
#undef A_HIDE
#undef C_HIDE
#undef C_LOAD
#undef C_STORE
#undef B_LOAD
#undef SUM
#undef LEAST
#undef A_LOAD
#undef SUMS_AND_MINIMA
#undef STEP
#undef SUMS_AND_MINIMA_1
#undef SUMS_AND_MINIMA_2
#undef SUMS_AND_MINIMA_3
#undef SUMS_AND_MINIMA_4
#undef X_LOAD
#undef X_STORE
#undef EACH_1
#undef EACH_2
#undef EACH_3
#undef EACH_4
#undef ROWS_STEP
#undef DEFINE_UPDATE_GROUP

/* From first and last finite depth to a range of even ends. */
static inline twi_range FN(range)(int64_t first, int64_t last)
{
    if (first < 0) {
        return (twi_range){0, 0};
    }
    return (twi_range){(int32_t)(first & ~(int64_t)1), (int32_t)((last | 1) + 1)};
}

static inline void FN(put_a)(T *out, T value)
{
    for (int i = 0; i < A_LANES; i++) {
        out[i] = value;
    }
}

/* MR rows that lie depth after depth; where the copies of an element make up a word, words. */
static void FN(pack_whole_a)(T *out, int64_t depth, const T *src, int64_t row_step)
{
    const T *row[MR] = {src, src + row_step, src + 2 * row_step, src + 3 * row_step};
    for (int64_t p = 0; p < depth; p++) {
        for (int i = 0; i < MR; i++) {
            T *to = out + (p * MR + i) * A_LANES;
            if (WHOLE && A_LANES > 1 && A_LANES * sizeof(T) == sizeof(uint32_t)) {
                const uint32_t copies = sizeof(T) == 1 ? 0x01010101u : 0x00010001u;
                const uint32_t word = (uint32_t)row[i][p] * copies;
                memcpy(to, &word, sizeof word);
            } else {
                FN(put_a)(to, row[i][p]);
            }
        }
    }
}

/* Whether any of the rows begins with something finite. */
static inline bool FN(any_finite_of)(const T *src, int64_t rows, int64_t row_step)
{
    T least = INFTY;
    for (int64_t i = 0; i < rows; i++) {
        const T value = src[i * row_step];
        least = value < least ? value : least;
    }
    return least < INFTY;
}

static twi_range FN(pack_a)(void *out_, int64_t rows, int64_t depth, const void *src_,
                            int64_t row_step, int64_t depth_step)
{
    T *out = out_;
    const T *src = src_;
    int64_t first = 0, last = depth - 1;
    if (rows == MR && depth_step == 1) {
        FN(pack_whole_a)(out, depth, src, row_step);
    } else {
        for (int64_t p = 0; p < depth; p++) {
            for (int64_t i = 0; i < MR; i++) {
                FN(put_a)
                (out + (p * MR + i) * A_LANES,
                 i < rows ? src[i * row_step + p * depth_step] : INFTY);
            }
        }
    }
    if (depth % 2 != 0) {
        for (int64_t i = 0; i < MR; i++) {
            FN(put_a)(out + (depth * MR + i) * A_LANES, INFTY);
        }
    }
    while (first <= last && !FN(any_finite_of)(src + first * depth_step, rows, row_step)) {
        first++;
    }
    while (last > first && !FN(any_finite_of)(src + last * depth_step, rows, row_step)) {
        last--;
    }
    return FN(range)(first <= last ? first : -1, last);
}

/* Whether a packed row of B holds anything finite. */
static inline int FN(any_finite)(const T *row)
{
    VEC least = LOAD(row);
    for (int j = 1; j < TWI_NV; j++) {
        least = MIN(least, LOAD(row + j * LANES));
    }
    T lane[LANES];
    STORE(lane, least);
    int finite = 0;
    for (int j = 0; j < LANES; j++) {
        finite |= lane[j] < INFTY;
    }
    return finite;
}

static twi_range FN(pack_b)(void *out_, int64_t cols, int64_t depth, const void *src_, int64_t ld)
{
    T *out = out_;
    const T *src = src_;
    int64_t first = 0, last = depth - 1;
    for (int64_t p = 0; p < depth; p++) {
        T *to = out + p * NR;
        if (cols == NR) {
            for (int j = 0; j < TWI_NV; j++) {
                STORE(to + j * LANES, LOAD(src + p * ld + j * LANES));
            }
            continue;
        }
        memcpy(to, src + p * ld, (size_t)cols * sizeof(T));
        for (int64_t j = cols; j < NR; j++) {
            to[j] = INFTY;
        }
    }
    if (depth % 2 != 0) {
        for (int64_t j = 0; j < NR; j++) {
            out[depth * NR + j] = INFTY;
        }
    }
    while (first <= last && !FN(any_finite)(out + first * NR)) {
        first++;
    }
    while (last > first && !FN(any_finite)(out + last * NR)) {
        last--;
    }
    return FN(range)(first <= last ? first : -1, last);
}

#include "apsp/closure/minplus_kernel_close.h"

/* Plain loops over a block that a square could not fill. */
static inline void FN(transpose_plain)(T *out, int64_t ld_out, const T *src, int64_t ld_src,
                                       int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            out[j * ld_out + i] = src[i * ld_src + j];
        }
    }
}

/* Bytes and pairs of bytes go in squares of one 64-bit word a row, which swap their halves,
 * quarters and eighths in registers (transpose_words); wider elements, and what is left over, one
 * by one, in blocks of a cache line a side. */
static void FN(transpose)(void *out_, int64_t ld_out, const void *src_, int64_t ld_src,
                          int64_t rows, int64_t cols)
{
    T *out = out_;
    const T *src = src_;
    enum { SIDE = sizeof(T) <= 2 ? 8 / sizeof(T) : 64 / sizeof(T) };
    for (int64_t i = 0; i < rows; i += SIDE) {
        int64_t high = rows - i < SIDE ? rows - i : SIDE;
        for (int64_t j = 0; j < cols; j += SIDE) {
            int64_t wide = cols - j < SIDE ? cols - j : SIDE;
            const T *from = src + i * ld_src + j;
            T *to = out + j * ld_out + i;
            if (sizeof(T) <= 2 && high == SIDE && wide == SIDE) {
                transpose_words(to, ld_out * (int64_t)sizeof(T), from, ld_src * (int64_t)sizeof(T),
                                SIDE);
            } else {
                FN(transpose_plain)(to, ld_out, from, ld_src, high, wide);
            }
        }
    }
}

#if WHOLE
#define DIFFERENCE(a, b) ((a) ^ (b))
#else
#define DIFFERENCE(a, b) ((a) != (b))
#endif
static bool FN(pull)(void *c_, int64_t ldc, int64_t cols, int64_t u, const int32_t *list,
                     const void *heads_, int64_t count)
{
    T *c = c_;
    T *row = c + u * ldc;
    const T *heads = heads_;
    const VEC zero = SPLAT(0), same = SPLAT(0);
    __typeof__(DIFFERENCE(zero, same)) differs = DIFFERENCE(zero, same);
    uint64_t word[(sizeof differs + 7) / 8] = {0};
    for (int64_t j = 0; j < cols; j += NR) {
        VEC x[TWI_NV];
        for (int v = 0; v < TWI_NV; v++) {
            x[v] = LOAD(row + j + v * LANES);
        }
        for (int64_t i = 0; i < count; i++) {
            const T *from = c + list[i] * ldc + j;
            VEC head = SPLAT(*(WHOLE ? row + list[i] : heads + i));
            for (int v = 0; v < TWI_NV; v++) {
                x[v] = MIN(x[v], ADD(head, LOAD(from + v * LANES)));
            }
        }
        for (int v = 0; v < TWI_NV; v++) {
            differs |= DIFFERENCE(x[v], LOAD(row + j + v * LANES));
            STORE(row + j + v * LANES, x[v]);
        }
    }
    memcpy(word, &differs, sizeof differs);
    uint64_t any = 0;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        any |= word[i];
    }
    return any != 0;
}
#undef DIFFERENCE

#if WHOLE
/* clang-format off */
#define W_LOAD(i, j) WIDE w##j = sum[j];
#define W_STORE(i, j) sum[j] = w##j;
#define M_ZERO(i, j) VEC m##j = SPLAT(0);
#define M_STORE(i, j) STORE(here + (j) * LANES, m##j); top = MAX(top, m##j);
#define F_LOAD(i, j) VEC v##j = LOAD(row + (j) * LANES);
#define F_ADD(i, j) ADD_WIDE(&w##j, v##j); m##j = MAX(m##j, v##j);
/* clang-format on */

/* Entries that are not infinite, when some are. */
static void FN(fold_some)(const twi_columns *known, int64_t rows, int64_t cols, const T *x,
                          int64_t step)
{
    T *most = known->most;
    for (int64_t i = 0; i < rows; i++, x += step) {
        for (int64_t j = 0; j < cols; j++) {
            T value = x[j] < INFTY ? x[j] : 0;
            most[j] = value > most[j] ? value : most[j];
            known->missing[j] += x[j] < INFTY ? 0 : 1;
        }
    }
}

static bool FN(fold)(const twi_columns *known, int64_t rows, int64_t cols, const void *x_,
                     int64_t step)
{
    const T *x = x_;
    T *most = known->most;
    WIDE *sum = known->sum;
    VEC top = SPLAT(0);
    T lane[LANES];
    T part[TWI_FOLD_COLS];
    bool some = false;
    for (int64_t j = 0; j < cols; j += TWI_FOLD_COLS) {
        const int64_t end = cols - j < TWI_FOLD_COLS ? cols - j : TWI_FOLD_COLS;
        for (int64_t k = 0; k < end; k += NR, sum += TWI_NV) {
            const T *row = x + j + k;
            ROW(W_LOAD, 0)
            ROW(M_ZERO, 0)
            for (int64_t i = 0; i < rows; i++, row += step) {
                ROW(F_LOAD, 0)
                ROW(F_ADD, 0)
            }
            ROW(W_STORE, 0)
            T *here = part + k;
            ROW(M_STORE, 0)
        }
        STORE(lane, top);
        bool infinite = false;
        for (int l = 0; l < LANES; l++) {
            infinite |= !(lane[l] < INFTY);
        }
        if (infinite) {
            const twi_columns of = {NULL, most + j, known->missing + j};
            FN(fold_some)(&of, rows, end, x + j, step);
            top = SPLAT(0);
            some = true;
        } else {
            for (int64_t k = 0; k < end; k += LANES) {
                STORE(most + j + k, MAX(LOAD(most + j + k), LOAD(part + k)));
            }
        }
    }
    return some;
}

static void FN(spread)(int64_t *to, int64_t cols, const void *sum_)
{
    const WIDE *sum = sum_;
    for (int64_t j = 0; j < cols; j += LANES, sum++) {
        SPREAD_WIDE(sum, to + j);
    }
}

/* The sum of a row and its largest entry, infinite ones included. */
static SUM_ACROSS FN(sum_across)(const T *x, int64_t cols, T *largest)
{
#ifdef TWI_ACROSS
    VEC parts = SPLAT(0), top = SPLAT(0);
    int64_t j = 0;
    for (; j + LANES <= cols; j += LANES) {
        const VEC v = LOAD(x + j);
        parts = JOIN(add_across, S)(parts, v);
        top = MAX(top, v);
    }
    SUM_ACROSS sum = (SUM_ACROSS)JOIN(total, S)(parts);
    T most = JOIN(largest, S)(top);
#else
    /* In four parts, so that no sum waits for the one before. */
    const int64_t part = cols / 4;
    const T *y[4] = {x, x + part, x + 2 * part, x + 3 * part};
    SUM_ACROSS sum = 0;
    SUM_ACROSS s[4] = {0, 0, 0, 0};
    T most = 0;
    T m[4] = {0, 0, 0, 0};
    int64_t j = 4 * part;
    for (int64_t i = 0; i < part; i++) {
        for (int k = 0; k < 4; k++) {
            s[k] += (SUM_ACROSS)y[k][i];
            m[k] = y[k][i] > m[k] ? y[k][i] : m[k];
        }
    }
    for (int k = 0; k < 4; k++) {
        sum += s[k];
        most = m[k] > most ? m[k] : most;
    }
#endif
    for (; j < cols; j++) {
        sum += (SUM_ACROSS)x[j];
        most = x[j] > most ? x[j] : most;
    }
    *largest = most;
    return sum;
}

static void FN(fold_across)(const twi_across *known, int64_t rows, int64_t cols, const void *x_,
                            int64_t step)
{
    const T *x = x_;
    for (int64_t i = 0; i < rows; i++, x += step) {
        T most;
        const SUM_ACROSS sum = FN(sum_across)(x, cols, &most);
        uint32_t missing = 0;
        if (most >= INFTY) {
            most = 0;
            for (int64_t j = 0; j < cols; j++) {
                T value = x[j] < INFTY ? x[j] : 0;
                missing += x[j] < INFTY ? 0 : 1;
                most = value > most ? value : most;
            }
        }
        known->sum[i] += (int64_t)sum - (int64_t)missing * (int64_t)INFTY;
        known->most[i] = most > known->most[i] ? (int32_t)most : known->most[i];
        known->missing[i] += missing;
    }
}

#undef W_LOAD
#undef W_STORE
#undef M_ZERO
#undef M_STORE
#undef F_LOAD
#undef F_ADD
#endif

static const twi_minplus_kernel FN(kernel) = {
    .type = TW_TYPE,
    .isa = KERNEL_ISA,
    .name = "minplus_" TEXT(S) "_" TEXT(TWI_KERNEL_ISA),
    .infinity = (double)INFTY,
    .mr = MR,
    .nr = NR,
    .a_lanes = A_LANES,
    .update = FN(update),
    .pack_a = FN(pack_a),
    .pack_b = FN(pack_b),
    .close = FN(close),
    .close_half = FN(close_half),
    .update_rows = FN(update_rows),
    .transpose = FN(transpose),
    .pull = FN(pull),
#if WHOLE
    .fold = FN(fold),
    .spread = FN(spread),
    .fold_across = FN(fold_across),
    .fold_most = FOLD_MOST,
#endif
    .probe = FN(probe),
};

#undef C_BYTES
#undef ASK
#undef FN
#undef VEC
#undef LANES
#undef A_LANES
#undef LOAD
#undef STORE
#undef SPLAT
#undef ADD
#undef BROADCAST
#undef MIN
#undef MAX
#undef WIDE
#undef ADD_WIDE
#undef SPREAD_WIDE
#undef WHOLE
#undef FOLD_MOST
#undef SUM_ACROSS
#undef OPAQUE
#undef COLUMNS_4
#undef NR
#undef S
#undef T
#undef TW_TYPE
#undef INFTY
