/* From tree to programs: the periods of row % k and col % k, and a program for each residue. */
#ifndef TWI_MAP_LANGUAGE_SPECIALISE_H
#define TWI_MAP_LANGUAGE_SPECIALISE_H

#include "map/language/setting.h"
#include "map/language/tree.h"

TW_CHECKED tw_status twi_variants_make(tw_context *ctx, twi_variants *out, const tw_expr *expr,
                                       const twi_map_setting *setting);
void twi_variants_clear(twi_variants *variants);

#endif
