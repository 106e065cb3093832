/* See batch.h. */
#include "cli/image/batch.h"

#include "frame/progress.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

tw_status cli_batch_check(const cli_job *job, const char *output, const char *preview)
{
    if (output == NULL && preview == NULL) {
        return TW_OK;
    }
    return tw_fail(job->ctx, TW_ERR_ARGUMENT, "--out-dir and --%s cannot be used together",
                   output != NULL ? "output" : "preview");
}

/* ----------------------------------------------------------------------------------- the names */

typedef struct batch_work {
    const cli_batch *batch;
    char **words;   /* as they were given: FILE or FILE[BAND] */
    char **inputs;  /* their files */
    char **results; /* in the folder */
    int count;
    tw_status (*one)(void *self, cli_job *job, const char *input, const char *output);
    void *self;
} batch_work;

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The extension of a result. */
static const char *extension_for(const char *input, const char *format)
{
    static const char *const writable[] = {"npy", "csv", "raw", "pgm",  "ppm",     "pnm",
                                           "pfm", "png", "tif", "tiff", "records", NULL};
    static const char *const photographs[] = {"jpg", "jpeg", NULL};
    if (format != NULL) {
        return strcmp(format, "tiff") == 0 ? "tif" : format;
    }
    return cli_writes(input, NULL, writable)      ? cli_extension(input)
           : cli_writes(input, NULL, photographs) ? "png"
                                                  : "npy";
}

/* FOLDER/NAME.EXTENSION, to be freed. */
static char *name_output(const cli_batch *batch, const char *input)
{
    const char *file = file_of(input);
    const char *old = cli_extension(input);
    const size_t stem = strlen(file) - (old[0] != '\0' ? strlen(old) + 1 : 0);
    char *name = NULL;
    if (asprintf(&name, "%s/%.*s.%s", batch->folder, (int)stem, file,
                 extension_for(input, batch->format)) < 0) {
        return NULL;
    }
    return name;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two inputs of one name would be one output. */
static tw_status check_names(const cli_job *job, const batch_work *w)
{
    const int count = w->count;
    char **sorted = malloc((size_t)count * sizeof *sorted);
    tw_status status = TW_OK;
    if (sorted == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for %d names", count);
    }
    memcpy(sorted, w->results, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int i = 1; i < count && status == TW_OK; i++) {
        if (strcmp(sorted[i], sorted[i - 1]) == 0) {
            status =
                tw_fail(job->ctx, TW_ERR_ARGUMENT,
                        "two inputs would both be written to '%.500s': rename one, or run them "
                        "one by one",
                        sorted[i]);
        }
    }
    free(sorted);
    return status;
}

/* *made: whether it was not there before. */
static tw_status make_folder(const cli_job *job, const char *folder, bool *made)
{
    struct stat found;
    if (stat(folder, &found) == 0) {
        return S_ISDIR(found.st_mode) ? TW_OK
                                      : tw_fail(job->ctx, TW_ERR_ARGUMENT,
                                                "--out-dir '%.500s' is not a folder", folder);
    }
    *made = mkdir(folder, 0777) == 0;
    return *made ? TW_OK
                 : tw_fail(job->ctx, TW_ERR_IO, "cannot make the folder '%.500s': %s", folder,
                           strerror(errno));
}

/* ----------------------------------------------------------------------------------- the checks */

/* A file that is there, by which it is known whatever leads to it. */
typedef struct known_file {
    dev_t device;
    ino_t inode;
    cli_file file;
    bool result;
} known_file;

static int by_inode(const void *a, const void *b)
{
    const known_file *x = a, *y = b;
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->inode != y->inode) {
        return x->inode < y->inode ? -1 : 1;
    }
    return (int)x->result - (int)y->result; /* inputs first */
}

static void know(known_file *list, int *count, cli_file file, bool result)
{
    struct stat found;
    if (file.path != NULL && stat(file.path, &found) == 0 && S_ISREG(found.st_mode)) {
        list[(*count)++] = (known_file){found.st_dev, found.st_ino, file, result};
    }
}

/* Two neighbours of the sorted list that are one file. An input may be given twice. */
static tw_status check_pair(const cli_job *job, const known_file *a, const known_file *b)
{
    if (a->device != b->device || a->inode != b->inode || !b->result) {
        return TW_OK;
    }
    return a->result
               ? tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "--out-dir: the results '%.300s' and '%.300s' are the same file; remove "
                         "the link, or choose another folder",
                         a->file.path, b->file.path)
               : tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "--out-dir: the result '%.300s' would replace %s '%.300s'; choose another "
                         "folder",
                         b->file.path, a->file.what, a->file.path);
}

/* A result that exists and is one of the inputs would take its place, perhaps before it is read;
 * and only a result is made again. */
static tw_status check_files(const cli_job *job, const batch_work *w)
{
    const cli_batch *batch = w->batch;
    const int count = w->count;
    known_file *list = calloc(2 * (size_t)count + (size_t)batch->other_count + 1, sizeof *list);
    tw_status status = TW_OK;
    int known = 0;
    if (list == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for %d names", count);
    }
    for (int i = 0; i < batch->other_count; i++) {
        know(list, &known, batch->others[i], false);
    }
    for (int i = 0; i < count; i++) {
        know(list, &known, (cli_file){"the input", w->inputs[i]}, false);
        know(list, &known, (cli_file){"OUT", w->results[i]}, true);
    }
    qsort(list, (size_t)known, sizeof *list, by_inode);
    for (int i = 1; i < known && status == TW_OK; i++) {
        status = check_pair(job, &list[i - 1], &list[i]);
    }
    for (int i = 0; i < count && status == TW_OK; i++) {
        status = cli_check_foreign(job->ctx, w->results[i], batch->format);
    }
    free(list);
    return status;
}

/* --tiff and --compression are for the results that can take them: there must be one. */
static tw_status check_storage(const cli_job *job, const batch_work *w)
{
    const cli_batch *batch = w->batch;
    static const char *const packed[] = {"png", NULL};
    bool tiff = false, png = false;
    for (int i = 0; i < w->count; i++) {
        tiff = tiff || cli_writes_tiff(w->results[i], batch->format);
        png = png || cli_writes(w->results[i], batch->format, packed);
    }
    if (batch->storage->tiff != NULL && !tiff) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                       "--tiff has no effect: none of the results is a .tif");
    }
    if (batch->storage->compression >= 0 && !tiff && !png) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                       "--compression has no effect: none of the results is a .png or .tif");
    }
    return TW_OK;
}

/* --------------------------------------------------------------------------------- the reports */

void cli_file_report_begin(cli_job *job, cli_report *report)
{
    if (job->reports == NULL) {
        cli_report_begin(report, cli_report_file(job));
        return;
    }
    *report = *job->reports;
    cli_report_object(report, "report");
}

void cli_file_report_end(cli_job *job, cli_report *report)
{
    if (job->reports == NULL) {
        cli_report_end(report);
        return;
    }
    cli_report_end_object(report);
    *job->reports = *report;
}

static void begin_report(cli_job *job, cli_report *report)
{
    job->reports = report;
    cli_report_begin(report, cli_report_file(job));
    cli_report_text(report, "command", job->command->name);
    cli_report_text(report, "version", tw_version());
    cli_report_array(report, "files");
    if (isatty(fileno(report->file))) { /* whose lines a progress line would take away */
        cli_progress_detach(job->ctx);
    }
}

static void end_report(cli_job *job, int done, int failed, bool interrupted)
{
    cli_report *report = job->reports;
    if (report == NULL) {
        return;
    }
    cli_report_end_array(report);
    cli_report_integer(report, "done", done);
    cli_report_integer(report, "failed", failed);
    cli_report_bool(report, "interrupted", interrupted);
    cli_report_number(report, "seconds", cli_seconds() - job->started);
    cli_report_end(report);
    job->reports = NULL;
}

/* Whether a sentence names a file, as a word of its own. */
static bool names_file(const char *sentence, const char *file)
{
    const size_t length = strlen(file);
    for (const char *at = strstr(sentence, file); at != NULL; at = strstr(at + 1, file)) {
        const bool begins = at == sentence || !isalnum((unsigned char)at[-1]);
        if (begins && !isalnum((unsigned char)at[length])) {
            return true;
        }
    }
    return false;
}

/* The sentence of a file that failed, with its name. */
static void say_failure(const cli_job *job, const char *input)
{
    char sentence[2048];
    const char *said = tw_last_error(job->ctx);
    const bool named = names_file(said, input);
    snprintf(sentence, sizeof sentence, "%s%s%s", named ? "" : input, named ? "" : ": ", said);
    cli_error(sentence);
}

/* ------------------------------------------------------------------------------------- the run */

/* Who hears the library while a file of many is worked on. */
typedef struct listener {
    const cli_job *job;
    const char *input;
    char last[512];
} listener;

/* News about the file itself are said, once. */
static void hear(void *user, const char *line)
{
    listener *l = user;
    if (names_file(line, l->input) && strncmp(line, l->last, sizeof l->last - 1) != 0) {
        cli_note(l->job, "%s", line);
        snprintf(l->last, sizeof l->last, "%s", line);
    }
}

/* One file, quietly: what fails is said by the caller. */
static tw_status run_file(cli_job *job, const batch_work *w, int i)
{
    listener ears = {.job = job, .input = w->inputs[i]};
    const bool quiet = job->quiet;
    const double started = job->started;
    if (job->reports != NULL) {
        cli_report_object(job->reports, NULL);
        cli_report_text(job->reports, "input", w->words[i]);
    }
    job->quiet = true;
    job->started = cli_seconds();
    tw_set_log(job->ctx, hear, &ears);
    tw_status status = w->one(w->self, job, w->words[i], w->results[i]);
    cli_hear(job);
    job->quiet = quiet;
    job->started = started;
    if (job->reports != NULL) {
        if (status != TW_OK) {
            cli_report_text(job->reports, "error", tw_last_error(job->ctx));
        }
        cli_report_end_object(job->reports);
    }
    return status;
}

static tw_status run_files(cli_job *job, const batch_work *w)
{
    cli_report report;
    int done = 0, failed = 0;
    tw_status worst = TW_OK, status = TW_OK;
    char seconds[CLI_SHOWN], label[96];
    if (w->batch->json) {
        begin_report(job, &report);
    }
    for (int i = 0; i < w->count && status != TW_ERR_CANCELLED; i++) {
        snprintf(label, sizeof label, "%d/%d %.30s: ", i + 1, w->count, file_of(w->inputs[i]));
        cli_progress_label(label);
        status = run_file(job, w, i);
        done += status == TW_OK;
        if (status != TW_OK && status != TW_ERR_CANCELLED) {
            say_failure(job, w->inputs[i]);
            failed++;
            worst = worst == TW_OK || worst == TW_ERR_VERIFY ? status : worst;
        }
    }
    cli_progress_label("");
    end_report(job, done, failed, status == TW_ERR_CANCELLED);
    const char *files = w->count == 1 ? "" : "s";
    if (status == TW_ERR_CANCELLED) {
        cli_say(job, "%d of %d file%s done before the interrupt", done, w->count, files);
        return status;
    }
    cli_say(job, "%d of %d file%s done in %s", done, w->count, files,
            cli_show_seconds(seconds, cli_seconds() - job->started));
    return failed > 0 ? tw_fail(job->ctx, worst, "%d of %d file%s failed", failed, w->count, files)
                      : TW_OK;
}

/* The files that the words name, and what their results are called. */
static tw_status name_files(const cli_job *job, batch_work *w)
{
    for (int i = 0; i < w->count; i++) {
        if (strcmp(w->words[i], "-") == 0) {
            return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                           "--out-dir: standard input has no name for its result");
        }
        w->inputs[i] = strndup(w->words[i], cli_band_path_length(w->words[i]));
        w->results[i] = w->inputs[i] != NULL ? name_output(w->batch, w->inputs[i]) : NULL;
        if (w->results[i] == NULL) {
            return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for %d names", w->count);
        }
    }
    return TW_OK;
}

tw_status cli_batch_run(cli_job *job, const cli_batch *batch, int count, char **inputs,
                        tw_status (*one)(void *self, cli_job *job, const char *input,
                                         const char *output),
                        void *self)
{
    char **names = calloc(2 * (size_t)count + 1, sizeof *names);
    batch_work w = {batch, inputs, names, names + count, count, one, self};
    bool made = false;
    if (names == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for %d names", count);
    }
    tw_status status = name_files(job, &w);
    if (status == TW_OK) {
        status = check_names(job, &w);
    }
    if (status == TW_OK) {
        status = check_files(job, &w);
    }
    if (status == TW_OK) {
        status = cli_check_array_output(job->ctx, w.results[0], batch->format);
    }
    if (status == TW_OK) {
        status = check_storage(job, &w);
    }
    if (status == TW_OK) {
        status = make_folder(job, batch->folder, &made);
    }
    if (status == TW_OK) {
        status = run_files(job, &w);
    }
    if (status != TW_OK && made) {
        (void)rmdir(batch->folder); /* which fails if there are results in it */
    }
    for (int i = 0; i < 2 * count; i++) {
        free(names[i]);
    }
    free(names);
    return status;
}
