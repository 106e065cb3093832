/*
 * One run of tilewright map: what it was asked for, what it is made of, what it has seen. The
 * operands are read in map_inputs.c, the run is cmd_map.c, what is said about it is in
 * map_report.c.
 */
#ifndef CLI_MAP_RUN_H
#define CLI_MAP_RUN_H

#include "cli/image/raster.h"
#include "cli/image/tally.h"
#include "cli/shared/files.h"
#include "frame/job.h"

#include <stdbool.h>

#define MAP_INPUTS 32

typedef struct map_settings {
    cli_common common;
    const char *in_format;
    const char *output;
    const char *out_format;
    cli_texts constants; /* NAME=VALUE */
    int64_t repeat;
    tw_type out_type;
    tw_type compute;
    const char *no_data;
    int32_t grey;
    cli_storage storage;
    const char *out_dir;
    int32_t fast;
    int64_t plane;  /* -1: all */
    int64_t verify; /* -1: no; 0: all elements */
    int32_t explain;
} map_settings;

typedef struct map_input {
    char name[72];
    const char *word; /* as it was given: FILE or FILE[BAND] */
    char *path;
    char *band; /* NULL: none was given */
    cli_raster in;
} map_input;

typedef struct map_run {
    cli_job *job;
    const map_settings *s;
    const char *text;   /* the expression */
    const char *output; /* NULL: none */
    int32_t input_count;
    char reading; /* of them; set for a second try, whose news are known */
    map_input inputs[MAP_INPUTS];
    cli_watch watches[MAP_INPUTS]; /* of their files */
    tw_constant constants[CLI_MOST_TEXTS];
    char constant_names[CLI_MOST_TEXTS][72];
    tw_expr *expr;
    tw_map_options opts;
    double no_data;
    tw_image_file_options storage; /* of OUT, if it is an image file */
    char layout;                   /* of planes, as cli_read_storage has it */
    tw_sink file;                  /* into OUT, opened for the first plane */
    bool as_image;                 /* that writes it: an image file, or an array of planes */
    bool alpha;                    /* the opacity of the input goes into OUT */
    bool as_text;                  /* OUT is csv */
    int64_t planes;
    cli_tally seen;
    tw_map_plan *planned;        /* for the last plane, and for the next of the same shapes */
    tw_shape shapes[MAP_INPUTS]; /* that it is for */
    tw_map_plan_info plan;       /* what it says */
    tw_map_report report;
    int64_t checked; /* elements */
    int64_t became_no_data;
    double seconds_read, seconds_plan, seconds_compute, seconds_output, seconds_verify;
} map_run;

/* Whether an operand is NAME=FILE. */
bool map_is_named(const char *word);
/* Sort the operands into expression, inputs and OUT; read --set and --no-data. */
TW_CHECKED tw_status map_read_words(map_run *run, int count, char **words);
/* Whether nothing is computed. */
bool map_only_explains(const map_run *run);
/* Parse the expression; an error is shown with its place. */
TW_CHECKED tw_status map_read_expression(map_run *run);
TW_CHECKED tw_status map_open_files(map_run *run);
void map_close_files(map_run *run);
/* A plane of all inputs, matrices and sources: an input of one plane serves all. The caller
 * destroys the sources, even after a failure. */
TW_CHECKED tw_status map_open_plane(map_run *run, int64_t plane, tw_matrix inputs[MAP_INPUTS],
                                    tw_source sources[MAP_INPUTS]);

/* How OUT is written, and its type where the format decides it. */
TW_CHECKED tw_status map_choose_output(map_run *run);
/* Whether the opacity of the input can stand beside the result, once that is planned. */
TW_CHECKED tw_status map_choose_alpha(map_run *run);
/* Say what the elements of the inputs show, where those of OUT do not. */
void map_tell_light(const map_run *run);
/* The opacity that stands before this plane in OUT, if it does. */
TW_CHECKED tw_status map_feed_alpha(map_run *run, int64_t plane);
/* The sink into OUT of an image format, opened for the first plane. */
TW_CHECKED tw_status map_open_output(map_run *run);

/* A sink that lets OUT appear only if the verifier, which saw the same rows, is content. */
typedef struct map_gate {
    tw_sink inner;
    const tw_map_verifier *verifier;
} map_gate;
void map_gate_sink(map_gate *gate, tw_sink *out);

/* A sink that passes integers on as f64: csv files are made for distances, in which the largest
 * integers mean "no path"; here they are numbers. Destroying it destroys the inner one. */
typedef struct map_plain {
    tw_sink inner;
    tw_type type;
    int64_t cols;
    double *row;
} map_plain;
void map_plain_sink(map_plain *plain, tw_sink *out);

/* The explanation of a plan, its memory and its floor on this machine, on standard output or as
 * news. */
TW_CHECKED tw_status map_explain(map_run *run, const tw_map_plan *plan,
                                 const tw_source sources[MAP_INPUTS], bool alone);
/* The summary or the JSON report on standard output, and a line of news. */
void map_conclude(const map_run *run);

#endif
