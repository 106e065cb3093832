/* Results that lie in the folder already, so that a later run adds to them. See kept.c. */
#ifndef LAB_RUNNER_KEPT_H
#define LAB_RUNNER_KEPT_H

#include "ladders/ladder.h"

#define LAB_KEPT_TEXT 128

/* One case of the file, as it stands there. */
typedef struct lab_kept_case {
    const char *text; /* its object, inside lab_kept.text */
    size_t length;
    char rung[LAB_KEPT_TEXT];
    int64_t n;
    bool counted; /* it has counters */
    bool failed;  /* it has no time: wrong, or could not run */
    bool dated;   /* it says itself which build measured it */
    bool loaded;  /* and what the load of the machine was */
} lab_kept_case;

/* A value as it stands in the text; NULL: it is not there. */
typedef struct lab_kept_value {
    const char *text;
    size_t length;
} lab_kept_value;

/* A file of results; all zero: there is none. Texts are cut to their room. */
typedef struct lab_kept {
    char *text;
    size_t size;
    lab_kept_case *cases;
    int32_t count;
    char ladder[LAB_KEPT_TEXT], version[LAB_KEPT_TEXT], commit[LAB_KEPT_TEXT];
    char compiler[LAB_KEPT_TEXT], seed[LAB_KEPT_TEXT];
    char processor[LAB_KEPT_TEXT], gpu[LAB_KEPT_TEXT]; /* "": not named */
    int64_t threads;
    struct {
        lab_kept_value version, commit, date;
    } built;             /* of all cases that do not say it themselves */
    lab_kept_value load; /* the same */
} lab_kept;

/* Read a file; none at that place is an empty one. Anything but results is TW_ERR_FORMAT with a
 * sentence that says what to do. Free it in any case. */
TW_CHECKED tw_status lab_kept_open(tw_context *ctx, const char *path, lab_kept *out);
/* The same from memory, which the result points into; `what` is wrong where it returns false. */
bool lab_kept_parse(const char *text, size_t size, lab_kept *out, const char **what);
void lab_kept_close(lab_kept *kept);

#endif
