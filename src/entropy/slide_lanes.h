/*
 * One kernel of slide.c, included once per field width with LANES, FIELD (bits) and NAME set:
 * LANES rows of outputs share a histogram whose words hold one count for each of them. An element
 * that enters or leaves changes the counts of all windows it belongs to with one addition; what
 * is left for each window is to look up what its new count adds to its sum.
 *
 * Two neighbouring counts of a byte are one index of a table of 64-bit words that hold both steps,
 * and two sums of 32 bits are one word: additions and subtractions of such words keep both, since
 * in the end the lower sum is neither negative nor above 32 bits.
 */
#define FN_(a, b) a##_##b
#define FN__(a, b) FN_(a, b)
#define FN(name) FN__(name, NAME)
#define FIELD_MASK (((uint64_t)1 << FIELD) - 1)
#define INLINE static inline __attribute__((always_inline))

#if FIELD == 8
#define SUMS (LANES / 2) /* words of sums */
#else
#define SUMS LANES
#endif

typedef struct FN(sums) {
    uint64_t word[SUMS];
} FN(sums);

INLINE uint64_t FN(sum_of)(const FN(sums) * sums, int lane)
{
#if FIELD == 8
    return (uint32_t)(sums->word[lane / 2] >> (lane % 2 * 32));
#else
    return sums->word[lane];
#endif
}

/* What the counts of the lanes lo ... hi have added to word w of the sums; 0 if it is not theirs.
 */
INLINE uint64_t FN(steps)(const twi_entropy_table *table, uint64_t count, int w, int lo, int hi)
{
#if FIELD == 8
    const bool low = lo <= 2 * w && 2 * w <= hi;
    const bool high = lo <= 2 * w + 1 && 2 * w + 1 <= hi;
    count >>= 16 * w;
    return low && high ? table->pair[count & 0xFFFF]
           : low       ? table->step[count & 0xFF]
           : high      ? table->step[(count >> 8) & 0xFF] << 32
                       : 0;
#else
    return lo <= w && w <= hi ? table->step[(count >> (w * FIELD)) & FIELD_MASK] : 0;
#endif
}

/* A one in the fields lo ... hi. */
INLINE uint64_t FN(ones)(int lo, int hi)
{
    uint64_t ones = 0;
    for (int j = lo; j <= hi; j++) {
        ones |= (uint64_t)1 << (j * FIELD);
    }
    return ones;
}

INLINE void FN(enter)(uint64_t *cell, const twi_entropy_table *table, FN(sums) * sums, int lo,
                      int hi)
{
    const uint64_t count = *cell + FN(ones)(lo, hi);
    *cell = count;
    for (int w = 0; w < SUMS; w++) {
        sums->word[w] += FN(steps)(table, count, w, lo, hi);
    }
}

INLINE void FN(leave)(uint64_t *cell, const twi_entropy_table *table, FN(sums) * sums, int lo,
                      int hi)
{
    const uint64_t count = *cell;
    *cell = count - FN(ones)(lo, hi);
    for (int w = 0; w < SUMS; w++) {
        sums->word[w] -= FN(steps)(table, count, w, lo, hi);
    }
}

/* A column of the padded array: the upper rows belong to the first windows only, the lower ones to
 * the last only, those between to all. There are at least LANES rows in a window. */
#define COLUMN(ACTION)                                                                    \
    INLINE void FN(ACTION##_column)(uint64_t * histogram, const twi_entropy_table *table, \
                                    FN(sums) * sums, const uint16_t *at, int64_t pitch,   \
                                    int32_t rows)                                         \
    {                                                                                     \
        UPPER(ACTION)                                                                     \
        for (int32_t r = LANES - 1; r < rows; r++, at += pitch) {                         \
            FN(ACTION)(&histogram[*at], table, sums, 0, LANES - 1);                       \
        }                                                                                 \
        LOWER(ACTION)                                                                     \
    }
#define ONE(ACTION, lo, hi)                           \
    FN(ACTION)(&histogram[*at], table, sums, lo, hi); \
    at += pitch;
#if LANES == 8
#define UPPER(A) \
    ONE(A, 0, 0) ONE(A, 0, 1) ONE(A, 0, 2) ONE(A, 0, 3) ONE(A, 0, 4) ONE(A, 0, 5) ONE(A, 0, 6)
#define LOWER(A) \
    ONE(A, 1, 7) ONE(A, 2, 7) ONE(A, 3, 7) ONE(A, 4, 7) ONE(A, 5, 7) ONE(A, 6, 7) ONE(A, 7, 7)
#else
#define UPPER(A) ONE(A, 0, 0) ONE(A, 0, 1) ONE(A, 0, 2)
#define LOWER(A) ONE(A, 1, 3) ONE(A, 2, 3) ONE(A, 3, 3)
#endif
COLUMN(enter)
COLUMN(leave)

/* Column x of all outputs. */
INLINE void FN(emit)(const twi_entropy_setup *setup, const FN(sums) * sums, uint64_t uncounted,
                     float *out, int64_t stride, int64_t live, double unit)
{
    const uint64_t *total = setup->table.sum;
    const int64_t size = setup->window.size;
    if (uncounted == 0 && live == LANES) {
        for (int j = 0; j < LANES; j++) {
            out[j * stride] = twi_entropy_value(total[size], FN(sum_of)(sums, j), size, unit);
        }
        return;
    }
    for (int j = 0; j < live; j++) {
        int64_t n = (int64_t)((uncounted >> (j * FIELD)) & FIELD_MASK);
        out[j * stride] =
            twi_entropy_value(total[size - n], FN(sum_of)(sums, j) - total[n], size - n, unit);
    }
}

static void FN(slide)(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                      float *out, int64_t stride, int64_t live, uint64_t *histogram)
{
    const twi_entropy_table *table = &setup->table;
    const int32_t rows = setup->window.rows;
    const int64_t cols = setup->window.cols;
    const int64_t end = twi_padded_cols(setup);
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    FN(sums) sums = {{0}};
    for (int64_t x = 0; x < cols - 1; x++) {
        FN(enter_column)(histogram, table, &sums, levels + x, pitch, rows);
    }
    for (int64_t x = cols - 1; x < end; x++) {
        FN(enter_column)(histogram, table, &sums, levels + x, pitch, rows);
        FN(emit)
        (setup, &sums, histogram[setup->opts.levels], out + x - (cols - 1), stride, live, unit);
        FN(leave_column)(histogram, table, &sums, levels + x - (cols - 1), pitch, rows);
    }
    for (int64_t x = end - (cols - 1); x < end; x++) { /* what is still in it */
        for (int32_t r = 0; r < rows + LANES - 1; r++) {
            histogram[levels[r * pitch + x]] = 0;
        }
    }
}

#undef UPPER
#undef LOWER
#undef ONE
#undef COLUMN
#undef INLINE
#undef FIELD_MASK
#undef FN
#undef FN__
#undef FN_
#undef LANES
#undef FIELD
#undef SUMS
#undef NAME
