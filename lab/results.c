/*
 * Results as JSON: one file a ladder, FOLDER/LADDER.json, with the machine, the compiler, the
 * commit, the seed and every repetition. It is written beside and renamed after each case, so that
 * it is whole at any moment; report and compare (pages.py) read it.
 */
#include "runner.h"

#include "gpu/device.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef LAB_COMMIT
#define LAB_COMMIT "unknown"
#endif

static void keep_machine(cli_report *json, const lab_run *run)
{
    tw_machine machine;
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    cli_report_object(json, "machine");
    if (tw_machine_describe(run->job->ctx, &machine) == TW_OK) {
        cli_report_text(json, "processor", machine.processor);
        cli_report_integer(json, "processors", machine.threads);
        cli_report_integer(json, "memory", (int64_t)machine.memory);
        cli_report_text(json, "isa", machine.isa);
    }
    twi_gpu_info gpu;
    if (run->ladder->gpu && twi_gpu_describe(run->job->ctx, 0, &gpu) == TW_OK) {
        cli_report_text(json, "gpu", gpu.name);
        cli_report_integer(json, "gpu_memory", (int64_t)gpu.memory);
        cli_report_integer(json, "gpu_processors", gpu.processors);
    }
    cli_report_number(json, "load", run->load);
    cli_report_end_object(json);
    cli_report_text(json, "date", date);
    cli_report_text(json, "version", tw_version());
    cli_report_text(json, "commit", LAB_COMMIT);
    cli_report_text(json, "compiler", __VERSION__);
    cli_report_integer(json, "threads", tw_threads(run->job->ctx));
}

static void keep_times(cli_report *json, const lab_case *c)
{
    static const struct {
        const char *name;
        size_t place;
    } parts[] = {{"read", offsetof(lab_time, read)},
                 {"upload", offsetof(lab_time, upload)},
                 {"compute", offsetof(lab_time, compute)},
                 {"download", offsetof(lab_time, download)},
                 {"write", offsetof(lab_time, write)}};
    cli_report_array(json, "seconds");
    for (int32_t i = 0; i < c->repeats; i++) {
        cli_report_number(json, NULL, c->times[i].total);
    }
    cli_report_end_array(json);
    const char *last = (const char *)&c->times[c->repeats - 1];
    bool any = false;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        double value = *(const double *)(last + parts[p].place);
        if (value > 0 && !any) {
            cli_report_object(json, "parts");
            any = true;
        }
        if (value > 0) {
            cli_report_number(json, parts[p].name, value);
        }
    }
    if (any) {
        cli_report_end_object(json);
    }
}

static void keep_case(cli_report *json, const lab_run *run, const lab_case *c)
{
    const lab_ladder *ladder = run->ladder;
    cli_report_object(json, NULL);
    cli_report_text(json, "rung", c->rung->name);
    cli_report_text(json, "parent", c->rung->parent);
    cli_report_text(json, "row", c->rung->row);
    cli_report_text(json, "idea", c->rung->idea);
    if (c->rung->against != NULL) {
        cli_report_text(json, "against", c->rung->against);
    }
    cli_report_integer(json, "n", c->n);
    cli_report_bool(json, "checked", true);
    cli_report_number(json, "median", c->median);
    cli_report_number(json, "spread", c->spread);
    cli_report_number(json, "rate", ladder->work(c->n) / c->median);
    cli_report_number(json, "bytes_per_second", ladder->traffic(c->n) / c->median);
    if (c->kernel.registers > 0) {
        cli_report_integer(json, "registers", c->kernel.registers);
        cli_report_integer(json, "shared", c->kernel.shared);
        cli_report_integer(json, "spilled", c->kernel.spilled);
        cli_report_number(json, "occupancy", c->kernel.occupancy);
    }
    if (c->published > 0) {
        cli_report_number(json, "published_milliseconds", c->published);
    }
    lab_profile_keep(json, &c->profile);
    keep_times(json, c);
    cli_report_end_object(json);
}

static void keep_all(FILE *file, const lab_run *run)
{
    cli_report json;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    cli_report_begin(&json, file);
    cli_report_text(&json, "format", "tilewright-lab 1");
    cli_report_text(&json, "ladder", run->ladder->name);
    cli_report_text(&json, "title", run->ladder->title);
    cli_report_text(&json, "unit", run->ladder->unit);
    cli_report_text(&json, "size", run->ladder->size);
    cli_report_text(&json, "against", run->ladder->against);
    keep_machine(&json, run);
    cli_report_text(&json, "seed", seed);
    cli_report_text(&json, "published_on", run->ladder->published_on);
    cli_report_object(&json, "ceiling");
    cli_report_number(&json, "rate", run->ceiling.rate);
    cli_report_number(&json, "bytes_per_second", run->ceiling.bytes);
    cli_report_text(&json, "of", run->ceiling.of);
    cli_report_end_object(&json);
    cli_report_array(&json, "cases");
    for (int32_t i = 0; i < run->count; i++) {
        keep_case(&json, run, &run->cases[i]);
    }
    cli_report_end_array(&json);
    cli_report_end(&json);
}

tw_status lab_keep_results(const lab_run *run)
{
    tw_context *ctx = run->job->ctx;
    char path[4096], beside[4100];
    int length = snprintf(path, sizeof path, "%s/%s.json", run->folder, run->ladder->name);
    if (length < 0 || length >= (int)sizeof path) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--out: the name of the folder is too long");
    }
    snprintf(beside, sizeof beside, "%s.new", path);
    if (mkdir(run->folder, 0777) != 0 && errno != EEXIST) {
        return tw_fail(ctx, TW_ERR_IO, "cannot make the folder %s: %s", run->folder,
                       strerror(errno));
    }
    FILE *file = fopen(beside, "w");
    if (file == NULL) {
        return tw_fail(ctx, TW_ERR_IO, "cannot write %s: %s", beside, strerror(errno));
    }
    keep_all(file, run);
    bool bad = ferror(file) != 0;
    bad = fclose(file) != 0 || bad;
    if (bad || rename(beside, path) != 0) {
        tw_status status = tw_fail(ctx, TW_ERR_IO, "cannot write %s: %s", path,
                                   strerror(errno != 0 ? errno : EIO));
        unlink(beside);
        return status;
    }
    return TW_OK;
}
