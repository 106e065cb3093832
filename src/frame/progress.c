/*
 * The progress line: "computing  45 %  12.3 G relaxations/s  12 s left". The rate is the mean of
 * the stage so far, which is what the estimate of the rest needs; it settles within a second. One
 * line for the whole program, since there is one terminal.
 */
#include "frame/progress.h"

#include "frame/clock.h"
#include "frame/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTERVAL 0.1 /* seconds between two drawings */
#define WIDTH 79     /* columns; a line that wraps cannot be redrawn */

static struct {
    bool attached;
    bool shown;
    bool over; /* standard output may write to the terminal at any time */
    char stage[32];
    double stage_started; /* seconds */
    double stage_done;    /* where the stage began */
    double drawn;         /* seconds, of the last drawing */
    char label[96];       /* before the stage */
} line;

static void draw(const char *text)
{
    fprintf(stderr, "\r\033[K%.*s", WIDTH, text);
    fflush(stderr);
    line.shown = true;
}

static void show(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)user;
    if (line.over) {
        return;
    }
    double now = cli_seconds();
    if (strncmp(stage, line.stage, sizeof line.stage - 1) != 0) {
        snprintf(line.stage, sizeof line.stage, "%s", stage);
        line.stage_started = now;
        line.stage_done = done;
    } else if (now - line.drawn < INTERVAL) {
        return;
    }
    line.drawn = now;
    char text[256], shown[CLI_SHOWN], left[CLI_SHOWN];
    int used = snprintf(text, sizeof text, "%s%s", line.label, line.stage);
    if (total > 0) {
        used += snprintf(text + used, sizeof text - (size_t)used, "  %3.0f %%",
                         100 * (done < total ? done / total : 1));
    }
    double elapsed = now - line.stage_started;
    double rate = elapsed > 0 ? (done - line.stage_done) / elapsed : 0;
    if (rate > 0) {
        used += snprintf(text + used, sizeof text - (size_t)used, "  %s %.20s/s",
                         cli_show_scaled(shown, rate), unit);
        if (total > done) {
            snprintf(text + used, sizeof text - (size_t)used, "  %s left",
                     cli_show_seconds(left, (total - done) / rate));
        }
    }
    draw(text);
}

void cli_progress_attach(tw_context *ctx)
{
    const char *terminal = getenv("TERM");
    bool dumb = terminal != NULL && strcmp(terminal, "dumb") == 0;
    if (isatty(STDERR_FILENO) && !dumb) {
        tw_set_progress(ctx, show, NULL);
        line.attached = true;
    }
}

void cli_progress_detach(tw_context *ctx)
{
    tw_set_progress(ctx, NULL, NULL);
    line.attached = false;
}

void cli_progress_label(const char *text)
{
    snprintf(line.label, sizeof line.label, "%s", text);
    line.stage[0] = '\0'; /* its rate begins again */
    if (line.attached && text[0] != '\0') {
        draw(text); /* its first news may be long in coming */
    }
}

void cli_progress_clear(void)
{
    if (line.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        line.shown = false;
    }
}

/* Whether what goes there stays there: in a file, or nowhere. */
static bool output_is_kept(void)
{
    struct stat found;
    return fstat(STDOUT_FILENO, &found) != 0 || S_ISREG(found.st_mode) ||
           (S_ISCHR(found.st_mode) && !isatty(STDOUT_FILENO));
}

void cli_progress_before_output(void)
{
    cli_progress_clear();
    line.over |= !isatty(STDOUT_FILENO) && !output_is_kept();
}

void cli_progress_yield(void)
{
    cli_progress_clear();
    line.over |= !output_is_kept();
}
