/*
 * What a plan of a map is made of, and what is known of it.
 *
 *   variants   the programs (program.h)
 *   table      results looked up instead of computed, for inputs of 8 and 16 bits
 */
#ifndef TWI_MAP_PLAN_PLAN_H
#define TWI_MAP_PLAN_PLAN_H

#include "map/gpu/gpu.h"
#include "map/language/setting.h"

typedef enum twi_map_method {
    TWI_MAP_AUTO,
    TWI_MAP_DIRECT,
    TWI_MAP_TABLE,
    TWI_MAP_GPU,      /* where the context's device is one */
    TWI_MAP_REFERENCE /* for tests */
} twi_map_method;

/* The result for every value of an input of u8 or u16: one table for each program. */
typedef struct twi_map_table {
    int32_t input;   /* the one that is looked up */
    int64_t entries; /* 256 or 65536; 0: there is no table */
    size_t size;     /* bytes of an entry */
    char *data;      /* program by program */
} twi_map_table;

struct tw_map_plan {
    twi_map_method method;
    twi_map_setting setting;
    twi_variants variants;
    twi_map_table table;
    twi_gpu_list devices; /* none: the CPU */
    twi_map_gpu *gpu;
    bool gpu_ran;   /* with "auto": a driver ran before, no start was counted */
    tw_shape shape; /* of the result */
    tw_shape inputs[TWI_MAP_INPUTS];
    int32_t input_count;
    bool fast;
    char *explanation;
};

const char *twi_map_method_name(twi_map_method method);

/* Bytes read and written per element, broadcast inputs not counted. */
double twi_map_bytes(const tw_map_plan *plan);
/* Operations per element, all repetitions, averaged over the residues. */
double twi_map_operations(const tw_map_plan *plan);

#endif
