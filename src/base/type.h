/* Element types, beyond what the header says of them. */
#ifndef TWI_BASE_TYPE_H
#define TWI_BASE_TYPE_H

#include "tilewright.h"

#include <stdbool.h>

/* Whether matrices are computed and kept in it. Not TW_F16, which only files hold, and not TW_I64,
 * which only graphs are made from. */
bool twi_type_is_element(tw_type type);

/* Whether its values are whole numbers. */
bool twi_type_is_whole(tw_type type);

#endif
