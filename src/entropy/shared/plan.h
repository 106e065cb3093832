/* What a plan of local entropy is made of. */
#ifndef TWI_ENTROPY_SHARED_PLAN_H
#define TWI_ENTROPY_SHARED_PLAN_H

#include "entropy/shared/setup.h"

struct tw_entropy_plan {
    twi_entropy_setup setup; /* for an array of the planned shape, whose data is nowhere */
    tw_matrix planned;       /* that array */
    tw_matrix mask;          /* what the options point to; of the mask, the elements are not ours */
    double range[2];
    double no_data;
    tw_entropy_plan_info info;
    char *explanation;
};

#endif
