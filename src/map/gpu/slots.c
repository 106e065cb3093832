/* Slots: see slots.h. */
#include "map/gpu/slots.h"

#include "gpu/compat.h"

void twi_map_slot_close(twi_map_slot *slot)
{
    (void)cudaSetDevice(slot->device);
    twi_gpu_give_stream(&slot->stream);
    twi_gpu_give(&slot->memory);
    twi_gpu_give(&slot->pinned);
    *slot = (twi_map_slot){0};
}

void twi_map_slots_free(twi_map_slot **slots, int32_t *count)
{
    for (int32_t k = *count - 1; k >= 0; k--) {
        twi_map_slot_close(&(*slots)[k]);
    }
    twi_free(*slots);
    *slots = NULL;
    *count = 0;
}
