/* Which write-ups a few rows are of, and the lines that name them. */
#include "ladders/write_ups.h"

#include <stdio.h>

static const char *const titles[] = {LAB_WRITE_UP_A, LAB_WRITE_UP_B, LAB_WRITE_UP_C, LAB_WRITE_UP_D,
                                     LAB_WRITE_UP_E};

enum { COUNT = sizeof titles / sizeof *titles };

void lab_add_write_up(lab_write_ups *set, const char *row)
{
    if (row != NULL && row[0] >= 'A' && row[0] < 'A' + COUNT) {
        *set |= 1U << (row[0] - 'A');
    }
}

void lab_print_write_ups(lab_write_ups set)
{
    for (int i = 0; i < COUNT; i++) {
        if ((set >> i & 1) != 0) {
            printf("write-up %c: %s\n", 'A' + i, titles[i]);
        }
    }
}
