/*
 * Separators: a few vertices of a connected part without which the rest falls into two sides of
 * like size.
 */
#ifndef TWI_APSP_SWEEP_SEPARATOR_H
#define TWI_APSP_SWEEP_SEPARATOR_H

#include "apsp/sweep/links.h"
#include "base/context.h"

enum { TWI_LEFT = 0, TWI_RIGHT = 1, TWI_BETWEEN = 2 };

/* What the search for separators of the parts of one graph works with. All arrays have room for n,
 * the queue for the part, `counts` for TWI_SEPARATOR_COUNTS times that: parts that have no vertex
 * in common can be separated at a time. */
enum { TWI_SEPARATOR_COUNTS = 4 };
typedef struct twi_separator {
    tw_context *ctx; /* for its cancel flag */
    const twi_links *links;
    int32_t *tag;         /* a vertex belongs to the current part if its tag is this->part */
    int32_t *distance[3]; /* from the three far ends of the part */
    int32_t *queue;
    int32_t *counts;
    uint8_t *side; /* the result: TWI_LEFT, TWI_RIGHT or TWI_BETWEEN for every vertex of the part */
    int32_t part;
    int64_t sizes[3]; /* of the sides */
} twi_separator;

/* Breadth-first from `start` within the part: distances into `distance`, where those of the
 * vertices not yet reached are -1, and the vertices into queue[from] and on, in their order.
 * Returns the place after the last. */
int64_t twi_separator_reach(const twi_separator *s, int32_t start, int32_t *distance, int64_t from);

/* Separate the part of `count` vertices, which is connected; `list` has them. distance[0] holds
 * those from list[0], as twi_separator_reach leaves them, and the queue the vertices in that order.
 * False if it has found nothing that is worth the name, or was cancelled: the part then goes as
 * one. */
bool twi_separate(twi_separator *s, const int32_t *list, int64_t count);

#endif
