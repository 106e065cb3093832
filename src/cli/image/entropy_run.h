/*
 * One run of tilewright entropy: what it was asked for, what it is made of, what it has seen. The
 * options are read in entropy_options.c, the run is cmd_entropy.c, what is said about it is in
 * entropy_report.c.
 */
#ifndef CLI_ENTROPY_RUN_H
#define CLI_ENTROPY_RUN_H

#include "cli/image/raster.h"
#include "cli/image/tally.h"
#include "cli/shared/files.h"
#include "frame/job.h"

#include <stdbool.h>

typedef struct entropy_settings {
    cli_common common;
    const char *in_format;
    const char *output;
    const char *out_format;
    const char *window;
    int64_t radius; /* -1: none */
    const char *footprint;
    const char *anchor;
    int64_t levels;
    const char *range; /* LO:HI, auto, or NULL */
    const char *border;
    const char *base;
    const char *mask;
    const char *no_data;
    int32_t skip_nan;
    tw_type type;  /* of the result */
    int64_t plane; /* -1: all */
    int32_t grey;
    tw_type out_type;
    cli_storage storage;
    const char *out_dir;
    const char *preview;
    int64_t verify; /* -1: not */
    int32_t explain;
} entropy_settings;

typedef struct entropy_run {
    cli_job *job;
    const entropy_settings *s;
    const char *input; /* as it was given: FILE or FILE[BAND] */
    char *path;        /* of its file */
    char *band;        /* NULL: none was given */
    const char *output;
    cli_raster in;
    char reading; /* of it; set for a second try, whose news are known */
    tw_image *mask, *footprint;
    cli_watch watches[2]; /* of the input and the mask */
    tw_entropy_options opts;
    double range[2];
    double no_data;
    double stored_no_data;         /* as IN has it, which may be f64 */
    double empty;                  /* what OUT has where nothing counts: NaN */
    tw_image_file_options storage; /* of OUT, if it is an image file */
    char layout;                   /* of planes, as cli_read_storage has it */
    tw_sink file;                  /* into OUT, opened for the first plane */
    bool alpha;                    /* the opacity of IN goes into OUT */
    tw_entropy_plan *plan;         /* for planes of the shape `planned` */
    tw_shape planned;
    tw_shape shape; /* of its result */
    double most;    /* the largest value there can be */
    tw_type type;   /* of OUT */
    bool only_explained;
    bool picture;  /* OUT is an image file */
    bool tiff;     /* of that format */
    bool as_image; /* OUT is one, or an array of several planes: `file` writes it */
    cli_tally seen;
    tw_entropy_report report;
    double seconds_read, seconds_compute, seconds_verify, seconds_output;
    int64_t planes;
    int64_t verified;
} entropy_run;

/* The options that are no files, into run->opts. */
TW_CHECKED tw_status entropy_check_options(entropy_run *run);
/* --window, --levels, --mask ... into run->opts; reads the files that they name. */
TW_CHECKED tw_status entropy_read_options(entropy_run *run);

/* What the plan says, and the rate to expect. */
TW_CHECKED tw_status entropy_explain(const entropy_run *run, FILE *file);
/* The summary or the JSON report on standard output, and a line of news. */
void entropy_conclude(const entropy_run *run);

#endif
