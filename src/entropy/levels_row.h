/*
 * Rows of levels of one width, for levels.c: LEVEL is the type, NAME the end of the names. What
 * does not count has the level `levels`.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

static void JOIN(lay_values, NAME)(const twi_entropy_setup *setup, int64_t row, LEVEL *out)
{
    const tw_matrix *in = setup->in;
    const void *values = twi_entropy_row(setup, row);
    const uint8_t *mask = mask_row(setup, row);
    if (is_plain(setup) && in->type == TW_U8) {
        for (int64_t j = 0; j < in->cols; j++) {
            out[j] = ((const uint8_t *)values)[j];
        }
        return;
    }
    if (is_plain(setup) && in->type == TW_U16) {
        for (int64_t j = 0; j < in->cols; j++) {
            out[j] = ((const uint16_t *)values)[j];
        }
        return;
    }
    for (int64_t j = 0; j < in->cols; j++) {
        double value = twi_element(values, in->type, j);
        out[j] = (LEVEL)(counts(&setup->opts, mask, j, value) ? level_of(&setup->opts, value)
                                                              : setup->opts.levels);
    }
}

void JOIN(twi_levels_row, NAME)(const twi_entropy_setup *setup, int64_t row, LEVEL *out)
{
    const int64_t cols = setup->in->cols;
    const int64_t padded = twi_padded_cols(setup);
    const LEVEL none = (LEVEL)setup->opts.levels;
    const tw_border border = setup->opts.border;
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
