/*
 * Rows of levels of one width, for levels.c: LEVEL is the type, NAME the end of the names. What
 * does not count has the level `levels`, and so has what is no level (any more).
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

static void JOIN(lay_values, NAME)(const twi_entropy_setup *setup, int64_t row, LEVEL *out)
{
    const tw_matrix *in = setup->in;
    const void *values = twi_entropy_row(setup, row);
    const uint8_t *mask = mask_row(setup, row);
    const int32_t levels = setup->opts.levels;
    if (is_plain(setup) && in->type == TW_U8) {
        const uint8_t most = levels < UINT8_MAX ? (uint8_t)levels : UINT8_MAX;
        for (int64_t j = 0; j < in->cols; j++) {
            const uint8_t value = ((const uint8_t *)values)[j];
            out[j] = value < most ? value : most;
        }
        return;
    }
    if (is_plain(setup) && in->type == TW_U16) {
        const uint16_t most = levels < UINT16_MAX ? (uint16_t)levels : UINT16_MAX;
        for (int64_t j = 0; j < in->cols; j++) {
            const uint16_t value = ((const uint16_t *)values)[j];
            out[j] = value < most ? value : most;
        }
        return;
    }
    for (int64_t j = 0; j < in->cols; j++) {
        const double value = twi_element(values, in->type, j);
        const int32_t level =
            counts(&setup->opts, mask, j, value) ? level_of(setup, value) : NO_LEVEL;
        out[j] = (LEVEL)(level == NO_LEVEL ? levels : level);
    }
}

void JOIN(twi_levels_row, NAME)(const twi_entropy_setup *setup, int64_t row, LEVEL *out)
{
    const int64_t cols = setup->in->cols;
    const int64_t padded = twi_padded_cols(setup);
    const LEVEL none = (LEVEL)setup->opts.levels;
    const tw_entropy_border border = setup->opts.border;
    int64_t place = twi_border_place(border, row - setup->above, setup->in->rows);
    if (place < 0 || cols == 0) {
        for (int64_t j = 0; j < padded; j++) {
            out[j] = none;
        }
        return;
    }
    LEVEL *middle = out + setup->before;
    JOIN(lay_values, NAME)(setup, place, middle);
    for (int64_t j = 0; j < padded; j++) {
        if (j == setup->before) {
            j += cols;
            if (j >= padded) {
                break;
            }
        }
        int64_t from = twi_border_place(border, j - setup->before, cols);
        out[j] = from < 0 ? none : middle[from];
    }
}

#undef JOIN
#undef JOIN_
#undef LEVEL
#undef NAME
