/*
 * Input files as bytes in memory. They are read, never mapped: a mapped file that somebody else
 * cuts ends the program that looks at it, and one that somebody else rewrites is not what was
 * checked. A file is therefore copied once, by all threads, and what is checked is what is used.
 *
 * Files that need not be in memory as a whole (a picture that is decoded, a matrix of which a few
 * rows are wanted) are opened by their head; the rest is fetched as it is asked for. What was
 * fetched is the caller's copy and has to be checked again.
 *
 * What comes one byte after the other, a pipe or what a compressed file unpacks to, is a flow: its
 * head is in memory, and the rest is read in order by whoever can work that way, as text can.
 */
#ifndef TWI_IO_INPUT_H
#define TWI_IO_INPUT_H

#include "base/context.h"

#include <string.h>

#define TWI_INPUT_HEAD ((uint64_t)1 << 15) /* bytes of a head: more than any header takes */

/* Bytes that come in order, once. */
typedef struct twi_flow {
    /* At most `room` of them, at least one, into `out`; *got is 0 at the end and stays so. */
    tw_status (*read)(tw_context *ctx, struct twi_flow *flow, char *out, uint64_t room,
                      uint64_t *got);
    void (*close)(struct twi_flow *flow);
} twi_flow;

typedef struct twi_input {
    const char *name;  /* for error sentences */
    const char *bytes; /* the first size - absent bytes; never NULL */
    uint64_t size;     /* of the file as it was opened; of a flow, what has come of it */
    uint64_t absent;   /* bytes at its end that are not in memory */
    void *memory;      /* behind `bytes`, or NULL */
    int fd;            /* where absent bytes are */
    twi_flow *flow;    /* where more may come from behind them; NULL: that is all */
    uint64_t piece;    /* bytes of text parsed at a time; 0: what memory and threads suggest */
    bool once;         /* a pipe, whose flow can be opened no second time */
    uint64_t beside;   /* bytes that what is unpacked may take, for the sentence of a refusal */
    bool has_names;    /* set by who could not read a flow: its vertices are names, not indices */
} twi_input;

/* The head of a regular file; what is none is read to its end, once. "-" is standard input. `path`
 * must live as long as the input. */
TWI_SHARED TW_CHECKED tw_status twi_input_open_head(tw_context *ctx, twi_input *out,
                                                    const char *path);
/* The same, but what is no regular file is a flow, of which the head is read. */
TW_CHECKED tw_status twi_input_open_flow(tw_context *ctx, twi_input *out, const char *path);
/* Have `count` bytes in memory, or all if there are fewer. A flow that has come to its end is
 * closed and gone. */
TW_CHECKED tw_status twi_input_widen(tw_context *ctx, twi_input *input, uint64_t count);
/* Bring what is absent into memory. */
TW_CHECKED tw_status twi_input_load(tw_context *ctx, twi_input *input);
TWI_SHARED void twi_input_close(twi_input *input);

/* Copy bytes at ... at+count-1, which must lie within `size`, wherever they are. */
TWI_SHARED TW_CHECKED tw_status twi_input_fetch(tw_context *ctx, const twi_input *input,
                                                uint64_t at, void *out, uint64_t count);
/* The same without a sentence, for callbacks of other libraries: 0, an errno, or TWI_INPUT_CUT. */
int twi_input_try(const twi_input *input, uint64_t at, void *out, uint64_t count);
#define TWI_INPUT_CUT (-1) /* the file is shorter than it was */
/* The sentence for such a number, which is not 0. Never TW_OK. */
tw_status twi_input_failed(tw_context *ctx, const char *name, int error);
#ifdef __clang_analyzer__ /* tell it so */
#define twi_input_failed(ctx, name, error) ((void)twi_input_failed(ctx, name, error), TW_ERR_IO)
#endif

static inline uint64_t twi_input_held(const twi_input *input)
{
    return input->size - input->absent;
}

/* Nothing is behind the bytes in memory. */
static inline bool twi_input_is_held(const twi_input *input)
{
    return input->absent == 0 && input->flow == NULL;
}

/* The length of the byte order mark that spreadsheets put before UTF-8; 0 without one. Readers of
 * text pass over it. */
static inline uint64_t twi_input_mark(const char *bytes, uint64_t size)
{
    return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Nothing in a file bounds the sides of an array without elements, so a bound is set: loops over
 * its rows, and what is reserved for each, must not come from two numbers in a header. */
#define TWI_EMPTY_SIDE_MOST 65536
static inline bool twi_empty_too_long(int64_t rows, int64_t cols)
{
    return (rows == 0 || cols == 0) && (rows > TWI_EMPTY_SIDE_MOST || cols > TWI_EMPTY_SIDE_MOST);
}

#endif
