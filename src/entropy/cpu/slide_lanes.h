/*
 * One kernel of slide.c, included once per field width with LANES, FIELD (bits) and NAME set:
 * LANES rows of outputs share a histogram whose words hold one count for each of them. An element
 * that enters or leaves changes the counts of all windows it belongs to with one addition; what
 * is left for each window is to look up what its new count adds to its sum.
 *
 * Two neighbouring counts of a byte are one index of a table of 64-bit words that hold both steps.
 * What a column adds to two sums, or takes from them, is one such word too: each half stays below
 * 2^32 (ROWS_OF_BYTES). After the column both halves go to the sums, which have 64 bits.
 */
#define FN_(a, b) a##_##b
#define FN__(a, b) FN_(a, b)
#define FN(name) FN__(name, NAME)
#define FIELD_MASK (((uint64_t)1 << FIELD) - 1)
#define INLINE static inline __attribute__((always_inline))

#if FIELD == 8
#define WORDS (LANES / 2) /* of what a column changes */
#else
#define WORDS LANES
#endif

typedef struct FN(sums) {
    uint64_t change[WORDS]; /* by the present column */
    uint64_t sum[LANES];
} FN(sums);

/* The change to the sums, as an addition or as a subtraction. */
INLINE void FN(fold)(FN(sums) * sums, bool entered)
{
    for (int j = 0; j < LANES; j++) {
#if FIELD == 8
        const uint64_t change = (uint32_t)(sums->change[j / 2] >> (j % 2 * 32));
#else
        const uint64_t change = sums->change[j];
#endif
        sums->sum[j] += entered ? change : -change;
    }
    for (int w = 0; w < WORDS; w++) {
        sums->change[w] = 0;
    }
}

/* What the counts of the lanes lo ... hi add to word w of the change; 0 if it is not theirs. */
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
    for (int w = 0; w < WORDS; w++) {
        sums->change[w] += FN(steps)(table, count, w, lo, hi);
    }
}

INLINE void FN(leave)(uint64_t *cell, const twi_entropy_table *table, FN(sums) * sums, int lo,
                      int hi)
{
    const uint64_t count = *cell;
    *cell = count - FN(ones)(lo, hi);
    for (int w = 0; w < WORDS; w++) {
        sums->change[w] += FN(steps)(table, count, w, lo, hi);
    }
}

/* Windows that slide over a part of the columns: `at` is their next column, or the one to leave. */
typedef struct FN(stream) {
    const uint16_t *at;
    float *out;
    uint64_t *histogram;
    FN(sums) sums;
} FN(stream);

/* A column of the padded array, `back` columns behind: the upper rows belong to the first windows
 * only, the lower ones to the last only, those between to all. There are at least LANES rows in a
 * window. An element that follows an equal one waits for its count to be stored; two streams,
 * element by element, wait half as long. */
#define COLUMN(ACTION)                                                                           \
    INLINE void FN(ACTION##_column)(FN(stream) * a, FN(stream) * b,                              \
                                    const twi_entropy_table *table, int64_t back, int64_t pitch, \
                                    int32_t rows)                                                \
    {                                                                                            \
        const uint16_t *at = a->at - back;                                                       \
        const uint16_t *bt = b != NULL ? b->at - back : NULL;                                    \
        UPPER(ACTION)                                                                            \
        for (int32_t r = LANES - 1; r < rows; r++) {                                             \
            ONE(ACTION, 0, LANES - 1)                                                            \
        }                                                                                        \
        LOWER(ACTION)                                                                            \
        FN(fold)(&a->sums, ENTERED_##ACTION);                                                    \
        if (b != NULL) {                                                                         \
            FN(fold)(&b->sums, ENTERED_##ACTION);                                                \
        }                                                                                        \
    }
#define ENTERED_enter true
#define ENTERED_leave false
#define ONE(ACTION, lo, hi)                                      \
    FN(ACTION)(&a->histogram[*at], table, &a->sums, lo, hi);     \
    at += pitch;                                                 \
    if (b != NULL) {                                             \
        FN(ACTION)(&b->histogram[*bt], table, &b->sums, lo, hi); \
        bt += pitch;                                             \
    }
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
INLINE void FN(emit)(const twi_entropy_setup *setup, FN(stream) * stream, int64_t stride,
                     int64_t live, double unit, double inverse)
{
    const uint64_t uncounted = stream->histogram[setup->opts.levels];
    const uint64_t *total = setup->table.sum;
    const int64_t size = setup->window.size;
    const FN(sums) *sums = &stream->sums;
    float *out = stream->out++;
    if (uncounted == 0 && live == LANES) {
        for (int j = 0; j < LANES; j++) {
            out[j * stride] =
                twi_entropy_value_by(total[size], sums->sum[j], (double)size * unit, inverse);
        }
        return;
    }
    for (int j = 0; j < live; j++) {
        int64_t n = (int64_t)((uncounted >> (j * FIELD)) & FIELD_MASK);
        out[j * stride] =
            twi_entropy_value(total[size - n], sums->sum[j] - total[n], size - n, unit);
    }
}

/* Zero again what the last windows of a stream counted. */
INLINE void FN(clear)(FN(stream) * stream, int64_t cols, int64_t pitch, int32_t rows)
{
    for (int64_t x = -(cols - 1); x < 0; x++) {
        for (int32_t r = 0; r < rows + LANES - 1; r++) {
            stream->histogram[stream->at[r * pitch + x]] = 0;
        }
    }
}

/* `outputs` columns of outputs for each stream; b is NULL if there is one. */
INLINE void FN(run)(const twi_entropy_setup *setup, FN(stream) * a, FN(stream) * b, int64_t outputs,
                    int64_t pitch, int64_t stride, int64_t live)
{
    const twi_entropy_table *table = &setup->table;
    const int32_t rows = setup->window.rows;
    const int64_t cols = setup->window.cols;
    const double unit = (double)((uint64_t)1 << table->fraction);
    const double inverse = 1 / ((double)setup->window.size * unit);
    for (int64_t x = -(cols - 1); x < outputs; x++) {
        FN(enter_column)(a, b, table, 0, pitch, rows);
        if (x >= 0) {
            FN(emit)(setup, a, stride, live, unit, inverse);
            if (b != NULL) {
                FN(emit)(setup, b, stride, live, unit, inverse);
            }
            FN(leave_column)(a, b, table, cols - 1, pitch, rows);
        }
        a->at++;
        if (b != NULL) {
            b->at++;
        }
    }
    FN(clear)(a, cols, pitch, rows);
    if (b != NULL) {
        FN(clear)(b, cols, pitch, rows);
    }
}

static void FN(slide)(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                      float *out, int64_t stride, int64_t live, uint64_t *histogram)
{
    const int64_t outputs = twi_padded_cols(setup) - (setup->window.cols - 1);
    FN(stream) a = {levels, out, histogram, {{0}, {0}}};
    if (!has_two_streams(setup)) {
        FN(run)(setup, &a, NULL, outputs, pitch, stride, live);
        return;
    }
    /* The second half ends with the last output; if their number is odd, both make the middle. */
    const int64_t half = (outputs + 1) / 2;
    FN(stream)
    b = {levels + outputs - half,
         out + outputs - half,
         histogram + setup->opts.levels + 1,
         {{0}, {0}}};
    FN(run)(setup, &a, &b, half, pitch, stride, live);
}

#undef UPPER
#undef LOWER
#undef ONE
#undef COLUMN
#undef ENTERED_enter
#undef ENTERED_leave
#undef INLINE
#undef FIELD_MASK
#undef FN
#undef FN__
#undef FN_
#undef LANES
#undef FIELD
#undef WORDS
#undef NAME
