/* See bands.h. */
#include "ladders/entropy/bands.h"

lab_band lab_band_around(int64_t first, int64_t end, int64_t size, int64_t halo)
{
    lab_band band = {first, end, first, end};
    if (first < end) {
        band.from = first < halo ? 0 : first - halo;
        band.to = size - end < halo ? size : end + halo;
    }
    return band;
}

lab_band lab_band_of(int64_t size, int64_t halo, int32_t count, int32_t index)
{
    return lab_band_around(size * index / count, size * (index + 1) / count, size, halo);
}

/* How many of the rest are taken. */
static int64_t portion(const lab_rest *rest, int64_t most)
{
    int64_t left = rest->end - rest->first;
    return left < most ? left : most;
}

bool lab_take_first(lab_rest *rest, int64_t most, int64_t *first, int64_t *end)
{
    (void)pthread_mutex_lock(&rest->lock);
    *first = rest->first;
    rest->first += portion(rest, most);
    *end = rest->first;
    (void)pthread_mutex_unlock(&rest->lock);
    return *first < *end;
}

bool lab_take_last(lab_rest *rest, int64_t most, int64_t *first, int64_t *end)
{
    (void)pthread_mutex_lock(&rest->lock);
    *end = rest->end;
    rest->end -= portion(rest, most);
    *first = rest->end;
    (void)pthread_mutex_unlock(&rest->lock);
    return *first < *end;
}
