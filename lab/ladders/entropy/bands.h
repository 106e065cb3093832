/*
 * Bands of rows or columns for devices that know nothing of each other: a band of outputs, and the
 * elements that their windows cover, which overlap those of its neighbours. And rows in a common
 * list, from which anybody who is free takes some.
 */
#ifndef LAB_LADDERS_ENTROPY_BANDS_H
#define LAB_LADDERS_ENTROPY_BANDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Outputs first ... end-1 of a line, and elements from ... to-1 that they need. Without outputs it
 * needs none. */
typedef struct lab_band {
    int64_t first, end;
    int64_t from, to;
} lab_band;

/* Windows reach `halo` elements to either side, and no further than the line of `size`. */
lab_band lab_band_around(int64_t first, int64_t end, int64_t size, int64_t halo);
/* Part `index` of `count` equal ones, as far as it goes. */
lab_band lab_band_of(int64_t size, int64_t halo, int32_t count, int32_t index);

/* Rows first ... end-1 that nobody has taken yet. */
typedef struct lab_rest {
    pthread_mutex_t lock;
    int64_t first, end;
} lab_rest;

/* At most `most` rows from the beginning or the end; false if none is left. Any thread may call. */
bool lab_take_first(lab_rest *rest, int64_t most, int64_t *first, int64_t *end);
bool lab_take_last(lab_rest *rest, int64_t most, int64_t *first, int64_t *end);

#endif
