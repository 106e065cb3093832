/*
 * The file of a checkpoint: a square matrix half-way through its closure, in an order that does not
 * tell on how many processes it was computed.
 *
 *   128 bytes        16 numbers of 8 bytes: what the matrix is and how far it has come; the last is
 *                    the checksum of the others
 *   n numbers        the checksum of each row
 *   rows             from the next multiple of 4096 on: n entries each or, of a symmetric matrix,
 *                    as many as lie on and left of the diagonal
 *
 * All of it in the byte order of the machine. Two generations are kept, FILE and FILE.previous. A
 * new one is written under a temporary name and forced to the disk; then the one before becomes
 * FILE.previous and the new one takes its place. Whenever the process ends, one of the two is whole
 * and under its name.
 */
#ifndef TWI_IO_CHECKPOINT_H
#define TWI_IO_CHECKPOINT_H

#include "base/context.h"
#include "io/temporary.h"

#include <limits.h>

#define TWI_CHECKPOINT_VERSION 1
#define TWI_CHECKPOINT_HEADER 128 /* bytes */
#define TWI_CHECKPOINT_PAGE 4096

/* What the header says. */
typedef struct twi_state {
    int64_t n;
    tw_type type;
    bool lower;    /* a symmetric matrix: rows end at the diagonal */
    double cap;    /* the entry that stands for "no path" */
    int64_t done;  /* vertices that have been pivots; a multiple of block, or n */
    int64_t block; /* vertices of a pivot */
    uint64_t mark; /* of what the matrix was before the first pivot */
} twi_state;

typedef enum twi_state_verdict {
    TWI_STATE_GOOD,
    TWI_STATE_ABSENT,  /* no such file */
    TWI_STATE_DAMAGED, /* it was a checkpoint once */
    TWI_STATE_FOREIGN, /* something else */
    TWI_STATE_VERSION  /* a checkpoint of another version */
} twi_state_verdict;

/* Why a file is not good, for the end of a sentence. */
#define TWI_STATE_WHY 160

/* Read the first bytes of a file of `file_bytes`. Trusts nothing. */
TWI_SHARED twi_state_verdict twi_state_parse(twi_state *out, const void *header, uint64_t bytes,
                                             uint64_t file_bytes, char why[TWI_STATE_WHY]);
TWI_SHARED void twi_state_write(char header[TWI_CHECKPOINT_HEADER], const twi_state *state);

/* Bytes of row i, and where it and its checksum lie in the file; of all rows with `i` = n the end
 * of the file. */
static inline int64_t twi_state_row_bytes(const twi_state *state, int64_t i)
{
    return (state->lower ? i + 1 : state->n) * (int64_t)tw_type_size(state->type);
}
static inline int64_t twi_state_row_at(const twi_state *state, int64_t i)
{
    const int64_t front = TWI_CHECKPOINT_HEADER + 8 * state->n;
    const int64_t first =
        (front + TWI_CHECKPOINT_PAGE - 1) / TWI_CHECKPOINT_PAGE * TWI_CHECKPOINT_PAGE;
    return first +
           (state->lower ? i * (i + 1) / 2 : i * state->n) * (int64_t)tw_type_size(state->type);
}
static inline int64_t twi_state_sum_at(int64_t i)
{
    return TWI_CHECKPOINT_HEADER + 8 * i;
}

/* The checksum of row i: any change within eight bytes is seen, others but for one in 2^64. */
TWI_SHARED uint64_t twi_state_sum(int64_t i, const void *row, int64_t bytes);

/* -------------------------------------------------------------------------------- generations */

typedef struct twi_generations {
    char file[2][PATH_MAX]; /* the newest, the one before */
    bool keep_older;        /* the newest was found damaged: the next one replaces that */
    int lock; /* descriptor of FILE.lock, which one run at a time holds; -1: not held */
} twi_generations;

TWI_SHARED TW_CHECKED tw_status twi_generations_name(tw_context *ctx, twi_generations *out,
                                                     const char *path);
/* Hold them for this run, which releases them at its end. TW_ERR_IO if no file can be made beside
 * them, or another run holds them. */
TWI_SHARED TW_CHECKED tw_status twi_generations_hold(tw_context *ctx, twi_generations *files);
TWI_SHARED void twi_generations_release(twi_generations *files);

/* Open generation `which` for reading and look at its header. *fd is -1 unless it is good. */
TWI_SHARED twi_state_verdict twi_generation_open(const twi_generations *files, int which,
                                                 twi_state *out, int *fd, char why[TWI_STATE_WHY]);

/* The sentence where no generation will do. */
TWI_SHARED TW_CHECKED tw_status twi_generation_refuse(tw_context *ctx, const twi_generations *files,
                                                      int which, twi_state_verdict verdict,
                                                      const char *why);

/* All bytes at an offset; 0 or an errno, EIO where the file ends before. */
TWI_SHARED int twi_read_at(int fd, void *to, int64_t bytes, int64_t offset);
TWI_SHARED int twi_write_at(int fd, const void *from, int64_t bytes, int64_t offset);

/* Make room for a checkpoint of that state in a temporary file beside FILE, under a name if `named`
 * says so; `name` has room for PATH_MAX + TWI_TEMPORARY_NAME bytes. 0 or an errno, and nothing is
 * left then. */
TWI_SHARED int twi_generation_make(const twi_generations *files, const twi_state *state,
                                   twi_temporary *out, char *name, bool named);
/* Force it to the disk and let it become the newest. 0 or an errno; the file is gone then, and the
 * newest is the one it was. */
TWI_SHARED int twi_generation_publish(twi_generations *files, twi_temporary *file, char *name);

/* Remove both. */
TWI_SHARED void twi_generations_remove(const twi_generations *files);

#endif
