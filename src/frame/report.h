/*
 * The --json report: a small writer of one JSON document, indented by two. Keys and values go out
 * as they come; commas, indentation and escapes are its business. A key is NULL inside arrays.
 */
#ifndef FRAME_REPORT_H
#define FRAME_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_report {
    FILE *file;
    int depth;
    bool filled; /* the innermost object or array has a member already */
} cli_report;

void cli_report_begin(cli_report *report, FILE *file); /* opens the outermost object */
void cli_report_end(cli_report *report);               /* closes it, and the line */

void cli_report_object(cli_report *report, const char *key);
void cli_report_end_object(cli_report *report);
void cli_report_array(cli_report *report, const char *key);
void cli_report_end_array(cli_report *report);

/* NULL text is null; so is a number that is not finite. Bytes that are not UTF-8 become U+FFFD. */
void cli_report_text(cli_report *report, const char *key, const char *text);
void cli_report_number(cli_report *report, const char *key, double value);
void cli_report_integer(cli_report *report, const char *key, int64_t value);
void cli_report_bool(cli_report *report, const char *key, bool value);
void cli_report_null(cli_report *report, const char *key);
/* A value that is JSON already. */
void cli_report_raw(cli_report *report, const char *key, const char *text, size_t length);

#endif
