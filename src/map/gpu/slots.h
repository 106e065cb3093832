/* Bands of host arrays under way on a device, with the memory that they pass through. */
#ifndef TWI_MAP_GPU_SLOTS_H
#define TWI_MAP_GPU_SLOTS_H

#include "base/context.h"
#include "gpu/store.h"

typedef struct twi_map_slot {
    int32_t device;
    twi_gpu_stream stream;
    twi_gpu_block pinned, memory;
    uint64_t bytes;               /* of both at least */
    int64_t first_row, row_count; /* of the band under way; 0 rows: none */
} twi_map_slot;

/* Waits for what is under way in it. */
void twi_map_slot_close(twi_map_slot *slot);

/* All of them, and the array. */
void twi_map_slots_free(twi_map_slot **slots, int32_t *count);

#endif
