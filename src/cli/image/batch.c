/* See batch.h. */
#include "cli/image/batch.h"

#include "cli/shared/files.h"
#include "frame/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

tw_status cli_batch_check(const cli_job *job, const char *output, const char *preview)
{
    if (output == NULL && preview == NULL) {
        return TW_OK;
    }
    return tw_fail(job->ctx, TW_ERR_ARGUMENT, "--out-dir and --%s exclude each other",
                   output != NULL ? "output" : "preview");
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* What a result is called behind the dot. */
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
static tw_status check_names(const cli_job *job, char **names, int count)
{
    char **sorted = malloc((size_t)count * sizeof *sorted);
    tw_status status = TW_OK;
    if (sorted == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "no memory for %d names", count);
    }
    memcpy(sorted, names, (size_t)count * sizeof *sorted);
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

static tw_status make_folder(const cli_job *job, const char *folder)
{
    struct stat found;
    if (stat(folder, &found) == 0) {
        return S_ISDIR(found.st_mode) ? TW_OK
                                      : tw_fail(job->ctx, TW_ERR_ARGUMENT,
                                                "--out-dir '%.500s' is not a folder", folder);
    }
    return mkdir(folder, 0777) == 0
               ? TW_OK
               : tw_fail(job->ctx, TW_ERR_IO, "cannot make the folder '%.500s': %s", folder,
                         strerror(errno));
}

/* The sentence of a file that failed, with its name. */
static void say_failure(const cli_job *job, const char *input)
{
    char sentence[2048];
    const char *said = tw_last_error(job->ctx);
    const bool named = strstr(said, input) != NULL;
    snprintf(sentence, sizeof sentence, "%s%s%s", named ? "" : input, named ? "" : ": ", said);
    cli_error(sentence);
}

static tw_status run_files(cli_job *job, char **names, int count, char **inputs,
                           tw_status (*one)(void *self, cli_job *job, const char *input,
                                            const char *output),
                           void *self)
{
    const bool quiet = job->quiet;
    int failed = 0;
    tw_status worst = TW_OK;
    char seconds[CLI_SHOWN], label[96];
    for (int i = 0; i < count; i++) {
        snprintf(label, sizeof label, "%d/%d %.30s: ", i + 1, count, file_of(inputs[i]));
        cli_progress_label(label);
        job->quiet = true;
        tw_status status = one(self, job, inputs[i], names[i]);
        job->quiet = quiet;
        if (status == TW_ERR_CANCELLED) {
            return status;
        }
        if (status != TW_OK) {
            say_failure(job, inputs[i]);
            failed++;
            worst = worst == TW_OK || worst == TW_ERR_VERIFY ? status : worst;
        }
    }
    cli_progress_label("");
    cli_say(job, "%d of %d files done in %s", count - failed, count,
            cli_show_seconds(seconds, cli_seconds() - job->started));
    return failed > 0 ? tw_fail(job->ctx, worst, "%d of %d files failed", failed, count) : TW_OK;
}

tw_status cli_batch_run(cli_job *job, const cli_batch *batch, int count, char **inputs,
                        tw_status (*one)(void *self, cli_job *job, const char *input,
                                         const char *output),
                        void *self)
{
    char **names = calloc((size_t)count + 1, sizeof *names);
    tw_status status = TW_OK;
    if (names == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "no memory for %d names", count);
    }
    for (int i = 0; i < count && status == TW_OK; i++) {
        names[i] = name_output(batch, inputs[i]);
        if (names[i] == NULL) {
            status = tw_fail(job->ctx, TW_ERR_MEMORY, "no memory for %d names", count);
        } else if (strcmp(inputs[i], "-") == 0) {
            status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                             "--out-dir: standard input has no name for its result");
        }
    }
    if (status == TW_OK) {
        status = check_names(job, names, count);
    }
    if (status == TW_OK) {
        status = make_folder(job, batch->folder);
    }
    if (status == TW_OK) {
        status = run_files(job, names, count, inputs, one, self);
    }
    for (int i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
    return status;
}
