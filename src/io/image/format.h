/* Image formats: one file per format behind it. */
#ifndef TWI_IO_IMAGE_FORMAT_H
#define TWI_IO_IMAGE_FORMAT_H

#include "image/image.h"
#include "image/tags.h"
#include "io/extension.h"
#include "io/input.h"
#include "io/output.h"

/* Integers of files that no matrix has: they are given in a type that holds them. */
typedef enum twi_stored {
    TWI_STORED_ALIKE, /* a file has what the matrix has */
    TWI_STORED_I8,    /* as i16 */
    TWI_STORED_U32,   /* as f64 */
    TWI_STORED_I64,   /* as f64, those beyond 2^53 are refused */
    TWI_STORED_U64
} twi_stored;

/* Where the elements of a plane lie in a file that holds them as they are. */
typedef struct twi_layout {
    int64_t planes; /* of the file */
    int64_t rows, cols;
    tw_type type;
    uint64_t start;   /* byte of the first element */
    int64_t row_step; /* bytes from row to row; may be negative */
    int64_t col_step;
    bool swapped;      /* the high byte first */
    int32_t largest;   /* value that may occur; 0: any */
    twi_stored stored; /* what is not alike lies side by side */
} twi_layout;

/* A plane that is decoded row after row. */
typedef struct twi_rows {
    int64_t planes; /* of the file */
    tw_shape shape;
    void *state;
    tw_status (*next)(tw_context *ctx, void *state, void *row);
    void (*close)(void *state); /* accepts NULL */
} twi_rows;

/* Planes that are written row by row, in order. `state` is the format's own, made by begin. A
 * format that weaves has the elements of all planes side by side: it gets a row of each, one behind
 * the other, at once. */
typedef struct twi_row_writer {
    tw_status (*begin)(tw_context *ctx, void **state, twi_output *output,
                       const tw_image_file_options *opts, const tw_shape *shape);
    /* The next of opts->planes begins; NULL: the format weaves. */
    tw_status (*next)(tw_context *ctx, void *state, twi_output *output, const tw_shape *shape);
    tw_status (*row)(tw_context *ctx, void *state, twi_output *output, const void *row);
    tw_status (*end)(tw_context *ctx, void *state, twi_output *output);
    void (*close)(void *state); /* accepts NULL */
    bool upwards;               /* the last row is written first */
} twi_row_writer;

typedef struct twi_image_format {
    const char *name;
    const char *extensions;                     /* by blanks */
    bool (*recognised)(const twi_input *input); /* NULL: never by content */
    /* The input may be no more than its head; what needs it in memory loads it. */
    tw_status (*read)(tw_context *ctx, tw_image *image, twi_input *input);
    /* One of these two is NULL, or both. TW_ERR_UNSUPPORTED for a file of this format that can
     * only be read as a whole, and TW_ERR_ARGUMENT for a plane that is not there. */
    tw_status (*layout)(tw_context *ctx, twi_layout *out, const twi_input *input, int64_t plane);
    tw_status (*rows)(tw_context *ctx, twi_rows *out, const twi_input *input, int64_t plane);
    /* TW_ERR_ARGUMENT if it cannot hold these planes; called before a file is opened. */
    tw_status (*accepts)(tw_context *ctx, const tw_image *image);
    tw_status (*write)(tw_context *ctx, const tw_image *image, twi_output *output);
    const twi_row_writer *writer; /* NULL: it is not written, as `accepts` says */
    /* What the file says besides its elements; NULL: nothing. */
    tw_status (*tags)(tw_context *ctx, tw_image_tags *tags, const twi_input *input);
    /* Planes that are decoded together: see tw_image_read_some. NULL: none are. */
    tw_status (*some)(tw_context *ctx, tw_image *image, const twi_input *input, int64_t plane,
                      uint64_t bytes);
} twi_image_format;

extern const twi_image_format twi_image_npy;
extern const twi_image_format twi_image_pnm;
extern const twi_image_format twi_image_pfm;
extern const twi_image_format twi_image_png;
extern const twi_image_format twi_image_tiff;
extern const twi_image_format twi_image_jpeg;
extern const twi_image_format twi_image_records;

/* Add the plane: in place, loading the input, if its elements lie as those of a matrix do, else as
 * a copy. */
TW_CHECKED tw_status twi_layout_add(tw_context *ctx, tw_image *image, twi_input *input,
                                    const twi_layout *layout);
/* Whether the former holds. */
bool twi_layout_in_place(const twi_layout *layout);
/* Rows first ... first+count-1 as a matrix has them. */
TW_CHECKED tw_status twi_layout_rows(tw_context *ctx, const twi_input *input,
                                     const twi_layout *layout, int64_t first, int64_t count,
                                     void *out, int64_t stride);

/* A row of integers, `step` bytes apart, in the type that holds them; what that cannot hold exactly
 * is refused. */
TW_CHECKED tw_status twi_stored_row(tw_context *ctx, const char *name, twi_stored stored,
                                    const void *from, int64_t step, int64_t cols, int64_t row,
                                    void *out);

/* TW_ERR_UNSUPPORTED: nothing is decoded together with that plane, or there is no room for it. */
tw_status twi_no_company(tw_context *ctx, const char *name, int64_t plane);

/* The sentence for a plane that is not there. */
tw_status twi_no_plane(tw_context *ctx, const char *name, int64_t plane, int64_t planes);

/* The format of a file, by name or extension, else by content. */
TW_CHECKED tw_status twi_image_format_find(tw_context *ctx, const twi_image_format **out,
                                           const char *format, const char *path,
                                           const twi_input *input);

/* The format to write, by name or the extension of the path. */
TW_CHECKED tw_status twi_image_writer_find(tw_context *ctx, const twi_image_format **out,
                                           const char *format, const char *path);

/* TW_ERR_ARGUMENT if the format, or with NULL the one of the path's extension, cannot hold it. */
TW_CHECKED tw_status twi_image_accepts(tw_context *ctx, const tw_image *image, const char *path,
                                       const char *format);

#endif
