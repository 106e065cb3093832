/* Matrix formats: what sinks write and tw_matrix_file_create reads. One file per format behind it.
 */
#ifndef TWI_IO_MATRIX_FORMAT_H
#define TWI_IO_MATRIX_FORMAT_H

#include "io/input.h"

typedef enum twi_matrix_format {
    TWI_MATRIX_RAW, /* row-major elements, nothing else */
    TWI_MATRIX_NPY,
    TWI_MATRIX_CSV,
    TWI_MATRIX_FORMATS /* how many there are */
} twi_matrix_format;

/* Of a file to read: by name; with name NULL by the extension of `path`, raw for none or an unknown
 * one. */
TW_CHECKED tw_status twi_matrix_format_find(tw_context *ctx, twi_matrix_format *out,
                                            const char *name, const char *path);

/* Of a file to write: the same, but raw for none, .raw, .bin and .out alone; another extension,
 * which would promise what is not written, is refused. */
TWI_SHARED TW_CHECKED tw_status twi_matrix_writer_find(tw_context *ctx, twi_matrix_format *out,
                                                       const char *name, const char *path);

/* npy ----------------------------------------------------------------------------------------- */

#define TWI_NPY_HEADER_MOST 256 /* bytes of the longest header written */

/* The header of a file of this shape into `out`; returns its length, a multiple of 64. */
TWI_SHARED size_t twi_npy_header(char out[TWI_NPY_HEADER_MOST], const tw_shape *shape);

/* The same for a stack of planes of this shape, three dimensions. */
size_t twi_npy_header_stack(char out[TWI_NPY_HEADER_MOST], const tw_shape *shape, int64_t planes);

/* What an npy header says. */
typedef struct twi_npy {
    char kind;      /* 'i', 'u', 'f', 'b', ... as numpy writes it */
    int32_t width;  /* bytes per element */
    tw_type type;   /* TW_AUTO when no tw_type is the same */
    int64_t planes; /* 1, or the first of three dimensions */
    int64_t rows;   /* of a matrix of two dimensions, in C order and little-endian: others are */
    int64_t cols;   /* refused */
    uint64_t start; /* byte of the first element */
} twi_npy;

bool twi_npy_recognised(const void *bytes, uint64_t count);
/* Whether a file that begins with these bytes, and was parsed as that, has one of our headers. */
bool twi_npy_made_here(const void *bytes, uint64_t count, const twi_npy *npy);
/* The header must be in memory; the elements are known to be in the file on success. */
TW_CHECKED tw_status twi_npy_parse(tw_context *ctx, twi_npy *out, const twi_input *input);

/* The same, but three dimensions are taken too, as planes one after the other. */
TW_CHECKED tw_status twi_npy_parse_stack(tw_context *ctx, twi_npy *out, const twi_input *input);

/* The same of one dimension, or none: `rows` elements, one column. */
TW_CHECKED tw_status twi_npy_parse_flat(tw_context *ctx, twi_npy *out, const twi_input *input);

/* csv ----------------------------------------------------------------------------------------- */

/* Bytes that one element of `type` takes at most, separator included. */
size_t twi_csv_width(tw_type type);
/* One line, newline included, into `out` (cols * twi_csv_width bytes, at least 1); returns its
 * length. Whole numbers as such, no path as "inf", others with the fewest digits that read back as
 * the same value. Worker-safe. */
size_t twi_csv_format_row(char *out, const void *row, int64_t cols, tw_type type);

/* Lines of numbers into a matrix of `type` if that is TW_F32 or TW_F64; else of TW_I32 if all are
 * whole and below TW_APSP_INF_I32 ("inf" is TW_APSP_INF_I32 then), else TW_F64. *out owns
 * out->data: free it with twi_free. `path` names the file in sentences. */
TW_CHECKED tw_status twi_csv_parse(tw_context *ctx, tw_matrix *out, const twi_input *input,
                                   const char *path, tw_type type);

/* The names of a table, a line for each, as the file has them; both NULL if it is none. */
typedef struct twi_csv_names {
    char *rows, *cols; /* to be freed with twi_free */
} twi_csv_names;
TW_CHECKED tw_status twi_csv_read_names(tw_context *ctx, twi_csv_names *out, const twi_input *input,
                                        const char *path);

/* The same without the matrix: rows are parsed when they are asked for, best in order. The input
 * and the path must live as long. One thread at a time. */
typedef struct twi_csv twi_csv;
TW_CHECKED tw_status twi_csv_open(tw_context *ctx, twi_csv **out, const twi_input *input,
                                  const char *path, tw_type type);
tw_shape twi_csv_shape(const twi_csv *csv);
TW_CHECKED tw_status twi_csv_rows(tw_context *ctx, twi_csv *csv, int64_t first, int64_t count,
                                  void *data, int64_t stride);
void twi_csv_close(twi_csv *csv); /* accepts NULL */

#endif
