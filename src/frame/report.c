/* The JSON writer: see report.h. */
#include "frame/report.h"

#include "frame/progress.h"
#include "frame/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        int length = cli_utf8_length((const char *)c);
        if (length == 0) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (*c == '"' || *c == '\\') {
            fprintf(file, "\\%c", *c);
        } else if (*c == '\n') {
            fputs("\\n", file);
        } else if (*c == '\t') {
            fputs("\\t", file);
        } else if (*c < 0x20 || *c == 0x7F) {
            fprintf(file, "\\u%04x", *c);
        } else if (*c == 0xC2 && c[1] < 0xA0) { /* U+0080 to U+009F */
            fprintf(file, "\\u%04x", c[1]);
        } else {
            fwrite(c, 1, (size_t)length, file);
        }
        c += length;
    }
    fputc('"', file);
}

static void next_line(cli_report *report)
{
    fprintf(report->file, "\n%*s", 2 * report->depth, "");
}

static void begin_member(cli_report *report, const char *key)
{
    if (report->filled) {
        fputc(',', report->file);
    }
    report->filled = true;
    next_line(report);
    if (key != NULL) {
        write_string(report->file, key);
        fputs(": ", report->file);
    }
}

static void open_level(cli_report *report, char bracket)
{
    fputc(bracket, report->file);
    report->depth++;
    report->filled = false;
}

static void close_level(cli_report *report, char bracket)
{
    report->depth--;
    if (report->filled) {
        next_line(report);
    }
    fputc(bracket, report->file);
    report->filled = true;
}

void cli_report_begin(cli_report *report, FILE *file)
{
    cli_progress_before_output();
    *report = (cli_report){.file = file};
    open_level(report, '{');
}

void cli_report_end(cli_report *report)
{
    close_level(report, '}');
    fputc('\n', report->file);
}

void cli_report_object(cli_report *report, const char *key)
{
    begin_member(report, key);
    open_level(report, '{');
}

void cli_report_end_object(cli_report *report)
{
    close_level(report, '}');
}

void cli_report_array(cli_report *report, const char *key)
{
    begin_member(report, key);
    open_level(report, '[');
}

void cli_report_end_array(cli_report *report)
{
    close_level(report, ']');
}

void cli_report_text(cli_report *report, const char *key, const char *text)
{
    if (text == NULL) {
        cli_report_null(report, key);
        return;
    }
    begin_member(report, key);
    write_string(report->file, text);
}

/* The fewest digits that read back as the same double. */
void cli_report_number(cli_report *report, const char *key, double value)
{
    if (!isfinite(value)) {
        cli_report_null(report, key);
        return;
    }
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    begin_member(report, key);
    fputs(text, report->file);
}

void cli_report_integer(cli_report *report, const char *key, int64_t value)
{
    begin_member(report, key);
    fprintf(report->file, "%lld", (long long)value);
}

void cli_report_bool(cli_report *report, const char *key, bool value)
{
    begin_member(report, key);
    fputs(value ? "true" : "false", report->file);
}

void cli_report_null(cli_report *report, const char *key)
{
    begin_member(report, key);
    fputs("null", report->file);
}

void cli_report_raw(cli_report *report, const char *key, const char *text, size_t length)
{
    begin_member(report, key);
    fwrite(text, 1, length, report->file);
}
