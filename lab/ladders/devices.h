/* Several GPUs for a ladder. Where the machine has fewer cards than the ladder has devices, a card
 * stands for more than one: the order of things is the same, a gain cannot be. */
#ifndef LAB_LADDERS_DEVICES_H
#define LAB_LADDERS_DEVICES_H

#include "gpu/device.h"

#include <stdio.h>

#define LAB_DEVICE_NAME 64

/* `count` devices, over the cards in turn; at most TWI_GPU_MOST. */
static inline twi_gpu_list lab_devices(int32_t count)
{
    twi_gpu_list list = {.count = count < TWI_GPU_MOST ? count : TWI_GPU_MOST};
    int32_t cards = twi_gpu_count();
    for (int32_t g = 0; cards > 0 && g < list.count; g++) {
        list.index[g] = g % cards;
    }
    return list;
}

/* The name that tw_set_device takes for them: "cuda:0,1". */
static inline const char *lab_device_name(char out[LAB_DEVICE_NAME], const twi_gpu_list *list)
{
    int used = snprintf(out, LAB_DEVICE_NAME, "%s", twi_gpu_prefix());
    for (int32_t g = 0; g < list->count && used < LAB_DEVICE_NAME; g++) {
        used += snprintf(out + used, (size_t)(LAB_DEVICE_NAME - used), "%c%d", g == 0 ? ':' : ',',
                         (int)list->index[g]);
    }
    return out;
}

#endif
