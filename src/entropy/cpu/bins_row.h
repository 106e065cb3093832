/* One row of outputs of the method of bins (bins.h), and its kernel. */
#ifndef TWI_ENTROPY_CPU_BINS_ROW_H
#define TWI_ENTROPY_CPU_BINS_ROW_H

#include "entropy/cpu/kernels.h"

#define TWI_BINS_GROUP 64 /* bins of a vector */
#define TWI_BINS_GROUPS 4 /* at most */
#define TWI_BINS (TWI_BINS_GROUP * TWI_BINS_GROUPS)
#define TWI_BINS_ROWS 127   /* of a window, at most */
#define TWI_BINS_SIDE 256   /* columns of it */
#define TWI_BINS_COUNTS 256 /* that are looked up */

/* The bins whose counts are 256 or more. */
typedef struct twi_bins_list {
    int32_t count;
    uint8_t bin[TWI_BINS];
    uint8_t place[TWI_BINS]; /* of a bin in the list */
    uint8_t upper[TWI_BINS]; /* of a bin's count: how often 256; 0 of all that are not in it */
} twi_bins_list;

/* One row of outputs of one strip. Of what does not count there is one more bin behind the groups.
 */
typedef struct twi_bins_row {
    const twi_entropy_setup *setup;
    uint16_t *window; /* the counts of the first window; those of the next row's on return */
    uint8_t *change; /* by which the counts of each next window differ, mod 256; updated likewise */
    int64_t step;    /* bytes from one of them to the next */
    int32_t groups;
    bool skips; /* some elements do not count */
    int64_t outputs;
    const uint16_t *entering; /* levels of the row that the next row's windows have more, */
    const uint16_t *leaving;  /* and of the one that they have no more */
    const uint16_t *bin;      /* of each level */
    const uint8_t (*plane)[TWI_BINS_COUNTS]; /* TWI_PLANES: of r[n] */
    uint64_t slope;                          /* a */
    const uint64_t *large;                   /* of counts of 256 or more: what makes up for them */
    twi_bins_list *list;                     /* empty on entry and on return */
    float *out;
} twi_bins_row;

/* For AVX-512 with VBMI and VNNI only: see permute.h. */
void twi_permute_bins_run(const twi_bins_row *row);

#endif
