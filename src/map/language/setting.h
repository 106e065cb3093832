/* What an expression is compiled for: arrays of given shapes and types. */
#ifndef TWI_MAP_LANGUAGE_SETTING_H
#define TWI_MAP_LANGUAGE_SETTING_H

#include "map/program/program.h"

/* What the plan knows besides the expression. */
typedef struct twi_map_setting {
    tw_type compute;
    tw_type type; /* of the result */
    int64_t rows, cols;
    int64_t repeat;
    int32_t x_input;                 /* -1: none */
    uint8_t depends[TWI_MAP_INPUTS]; /* TWI_ON_ROW, TWI_ON_COL: where an input changes */
    bool has_no_data;
    double no_data;
} twi_map_setting;

#endif
