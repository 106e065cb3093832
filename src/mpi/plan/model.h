/*
 * What a closure over ranks takes, as a formula: for --explain of a job, whose paces are measured
 * (probe.h), and of a cluster that is only described.
 *
 * There are n / b rounds on a grid of R x C ranks. In each a rank updates its tiles, for W seconds:
 *
 *     W = b n^2 / (R C rate)
 *
 * and, hidden behind that, the panels of the next pivot are made, one step after the other:
 *
 *     L = head + tile + cast(tile) + panel + cast(panels)
 *     head = b^2 (n / R + n / C) / rate       on the rank with the pivot's tile
 *     panel = b^2 max(n / R, n / C) / rate    on those of its row and column of the grid
 *
 * A rank that computes looks for messages after each task, a chunk of rows of its tiles; a message
 * that is announced first and sent when it is wanted waits for two such looks on each level of the
 * tree of a broadcast.
 *
 * A round lasts for the longer of W and L; where ranks take turns on processors, the rest of L that
 * W does not hide goes faster, for all others wait. Where messages are copied by the processors
 * that compute (ranks of one machine), the casts of the panels count with W, too.
 */
#ifndef TWI_MPI_MODEL_H
#define TWI_MPI_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* The matrix and who has it. */
typedef struct twi_mesh {
    int64_t n, block;
    int64_t element; /* bytes */
    int rows, cols;  /* of the grid */
    bool symmetric;
    double filled; /* share of all products of tiles that are there, 1 for a dense graph */
} twi_mesh;

/* How fast a rank and its messages are. */
typedef struct twi_pace {
    double rate;      /* relaxations per second, of updates */
    double tile;      /* seconds: to close the tile of a pivot, */
    double tile_cast; /*   until a row and a column of the grid have it, */
    double cast;      /*   and until they have the panels, if they do nothing but wait */
    double looks;     /* what that takes longer, of both, since they compute */
    double turns;     /* threads of ours that take turns on a processor, at least 1 */
    double crowd;     /* times slower than a processor with nobody else on it, at least 1 */
    bool copies;      /* messages are copied by processors that compute */
} twi_pace;

/* A network: broadcasts are trees whose messages follow each other in pieces. */
typedef struct twi_link {
    double bandwidth; /* bytes per second into or out of a rank */
    double latency;   /* seconds of a message */
    bool flat;        /* the root sends to each rank itself */
} twi_link;

/* The looks of a pace, from its rate and the threads of a rank. */
void twi_model_looks(twi_pace *pace, const twi_mesh *mesh, int64_t chunk, int threads);

/* The seconds of the casts of a mesh over a link, into the pace. */
void twi_model_casts(twi_pace *pace, const twi_mesh *mesh, const twi_link *link);

/* Seconds of all rounds. */
typedef struct twi_rounds {
    double total;
    double compute; /* of a rank that never waits */
    double exposed; /* total less compute: what panels add */
    double chain;   /* of all chains by themselves */
    double ideal;   /* share of `total` in which ranks at their full rate would be done */
} twi_rounds;
twi_rounds twi_model_rounds(const twi_mesh *mesh, const twi_pace *pace);

#endif
