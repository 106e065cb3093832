/* The cases of tw_selftest that this wing has. They leave the context's ISA changed. */
#ifndef TWI_MAP_SELFTEST_H
#define TWI_MAP_SELFTEST_H

#include "base/tester.h"

TW_CHECKED tw_status twi_map_selftest(const twi_tester *t, uint64_t seed);

#endif
