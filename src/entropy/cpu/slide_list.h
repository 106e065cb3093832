/*
 * One row of outputs of any window over levels of one width, for slide.c: LEVEL is the type, NAME
 * the end of the name; RESULT the type of the result, SUM that of its sums, TOTALS and STEPS their
 * tables, VALUE what becomes of them.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

void JOIN(twi_slide_list, NAME)(const twi_entropy_setup *setup, const LEVEL *levels, int64_t pitch,
                                RESULT *out, uint64_t *histogram)
{
    const twi_window *window = &setup->window;
    const SUM *step = setup->table.STEPS;
    const SUM *total = setup->table.TOTALS;
    const int64_t end = twi_padded_cols(setup) - window->cols;
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    (void)unit; /* f64 results have one unit */
    SUM sum = 0;
    for (int64_t i = 0; i < window->run_count; i++) {
        const LEVEL *row = levels + window->runs[i].row * pitch;
        for (int32_t x = window->runs[i].begin; x < window->runs[i].end; x++) {
            sum += step[++histogram[row[x]]];
        }
    }
    for (int64_t x = 0; x <= end; x++) {
        const uint64_t uncounted = histogram[setup->opts.levels];
        const int64_t n = window->size - (int64_t)uncounted;
        out[x] = VALUE(total[n], sum - total[uncounted], n, unit);
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
