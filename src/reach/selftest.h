/* The part of tw_selftest for reachability. */
#ifndef TWI_REACH_SELFTEST_H
#define TWI_REACH_SELFTEST_H

#include "base/tester.h"

TW_CHECKED tw_status twi_reach_selftest(const twi_tester *t, uint64_t seed);

#endif
