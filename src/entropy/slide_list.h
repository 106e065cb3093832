/*
 * One row of outputs of any window over levels of one width, for slide.c: LEVEL is the type, NAME
 * the end of the name.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

void JOIN(twi_slide_list, NAME)(const twi_entropy_setup *setup, const LEVEL *levels, int64_t pitch,
                                float *out, uint64_t *histogram)
{
    const twi_window *window = &setup->window;
    const uint64_t *step = setup->table.step;
    const uint64_t *total = setup->table.sum;
    const int64_t end = twi_padded_cols(setup) - window->cols;
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    uint64_t sum = 0;
    for (int64_t i = 0; i < window->run_count; i++) {
        const LEVEL *row = levels + window->runs[i].row * pitch;
        for (int32_t x = window->runs[i].begin; x < window->runs[i].end; x++) {
            sum += step[++histogram[row[x]]];
        }
    }
    for (int64_t x = 0; x <= end; x++) {
        const uint64_t uncounted = histogram[setup->opts.levels];
        const int64_t n = window->size - (int64_t)uncounted;
        out[x] = twi_entropy_value(total[n], sum - total[uncounted], n, unit);
        if (x == end) {
            break;
        }
        for (int64_t i = 0; i < window->run_count; i++) {
            const LEVEL *row = levels + window->runs[i].row * pitch + x;
            sum -= step[histogram[row[window->runs[i].begin]]--];
            sum += step[++histogram[row[window->runs[i].end]]];
        }
    }
    for (int64_t i = 0; i < window->run_count; i++) {
        const LEVEL *row = levels + window->runs[i].row * pitch + end;
        for (int32_t x = window->runs[i].begin; x < window->runs[i].end; x++) {
            histogram[row[x]] = 0;
        }
    }
}

#undef JOIN
#undef JOIN_
#undef LEVEL
#undef NAME
