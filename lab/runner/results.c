/*
 * Results as JSON: one file a ladder, FOLDER/LADDER.json, with the machine, the compiler, the
 * commit, the seed and every repetition. It is written anew after each case and is whole at any
 * moment; report and compare (pages.py) read it.
 *
 * A later run into the same folder adds to it (kept.c): a case measured again takes the place of
 * the earlier one, a case with counters stands beside the one without, and the others stay. The
 * head of the file is true of all its cases but those that say themselves which build measured
 * them, and when: those that another build left there are made to say it. What the load of the
 * machine was is each case's own. What was measured on another machine, with another compiler,
 * number of threads or seed cannot be added to.
 */
#include "runner/results.h"

#include "base/memory.h"
#include "frame/report.h"
#include "gpu/device.h"
#include "io/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef LAB_COMMIT
#define LAB_COMMIT "unknown"
#endif
#ifndef LAB_GPU_COMPILER
#define LAB_GPU_COMPILER ""
#endif
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

enum { PATH = 4096 };

/* Whether a card had a part in the results. */
static bool used_gpu(const lab_run *run)
{
    bool used = run->ladder->gpu || run->kept.gpu[0] != '\0';
    for (int32_t i = 0; i < run->count; i++) {
        used = used || (run->cases[i].rung->gpu && run->cases[i].status == TW_OK);
    }
    return used;
}

static void keep_gpu(cli_report *json, const lab_run *run)
{
    twi_gpu_info gpu;
    char driver[32], runtime[32];
    if (used_gpu(run) && twi_gpu_describe(run->job->ctx, 0, &gpu) == TW_OK) {
        twi_gpu_versions(driver, runtime);
        cli_report_text(json, "gpu", gpu.name);
        cli_report_integer(json, "gpu_memory", (int64_t)gpu.memory);
        cli_report_integer(json, "gpu_processors", gpu.processors);
        cli_report_text(json, "gpu_driver", driver);
        cli_report_text(json, "gpu_runtime", runtime);
        cli_report_text(json, "gpu_compiler", LAB_GPU_COMPILER);
    }
}

static void keep_machine(cli_report *json, const lab_run *run)
{
    tw_machine machine = TW_MACHINE_INIT;
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
    keep_gpu(json, run);
    cli_report_number(json, "load", run->load);
    cli_report_end_object(json);
    cli_report_text(json, "date", date);
    cli_report_text(json, "version", tw_version());
    cli_report_text(json, "commit", LAB_COMMIT);
    cli_report_text(json, "compiler", COMPILER);
    cli_report_integer(json, "threads", tw_threads(run->job->ctx));
}

/* The parts of the middle repetition, which add up to what the median is of, and those of each. */
static void keep_parts(cli_report *json, const lab_case *c)
{
    bool known[LAB_PARTS], any = false;
    for (int p = 0; p < LAB_PARTS; p++) {
        known[p] = false;
        for (int32_t i = 0; i < c->repeats; i++) {
            known[p] = known[p] || lab_part_of(&c->times[i], &lab_parts[p]) > 0;
        }
        any = any || known[p];
    }
    if (!any) {
        return;
    }
    cli_report_object(json, "parts");
    for (int p = 0; p < LAB_PARTS; p++) {
        if (known[p]) {
            cli_report_number(json, lab_parts[p].name,
                              lab_part_of(&c->times[c->middle], &lab_parts[p]));
        }
    }
    cli_report_end_object(json);
    cli_report_object(json, "parts_of_each");
    for (int p = 0; p < LAB_PARTS; p++) {
        if (known[p]) {
            cli_report_array(json, lab_parts[p].name);
            for (int32_t i = 0; i < c->repeats; i++) {
                cli_report_number(json, NULL, lab_part_of(&c->times[i], &lab_parts[p]));
            }
            cli_report_end_array(json);
        }
    }
    cli_report_end_object(json);
}

static void keep_rung(cli_report *json, const lab_case *c)
{
    cli_report_object(json, NULL);
    cli_report_text(json, "rung", c->rung->name);
    cli_report_text(json, "parent", c->rung->parent);
    cli_report_text(json, "row", c->rung->row);
    cli_report_text(json, "idea", c->rung->idea);
    if (c->rung->against != NULL) {
        cli_report_text(json, "against", c->rung->against);
    }
    if (c->rung->flaw != NULL) {
        cli_report_text(json, "flaw", c->rung->flaw);
    }
    cli_report_integer(json, "n", c->n);
    cli_report_number(json, "load", c->load);
}

static void keep_case(cli_report *json, const lab_run *run, const lab_case *c)
{
    const lab_ladder *ladder = run->ladder;
    keep_rung(json, c);
    cli_report_bool(json, "checked", true);
    cli_report_number(json, "median", c->median);
    cli_report_number(json, "spread", c->repeats > 1 ? c->spread : NAN);
    cli_report_number(json, "rate", ladder->work(c->n) / c->median);
    cli_report_number(json, "bytes_per_second", ladder->traffic(c->n) / c->median);
    if (c->kernel.registers > 0) {
        cli_report_integer(json, "registers", c->kernel.registers);
        cli_report_integer(json, "shared", c->kernel.shared);
        cli_report_integer(json, "local", c->kernel.local);
        cli_report_number(json, "occupancy", c->kernel.occupancy);
    }
    if (c->published > 0) {
        cli_report_number(json, "published_milliseconds", c->published);
    }
    lab_profile_keep(json, &c->profile);
    cli_report_array(json, "seconds");
    for (int32_t i = 0; i < c->repeats; i++) {
        cli_report_number(json, NULL, c->times[i].total);
    }
    cli_report_end_array(json);
    keep_parts(json, c);
    cli_report_end_object(json);
}

static void keep_failure(cli_report *json, const lab_case *c)
{
    keep_rung(json, c);
    cli_report_text(json, "outcome", c->status == TW_ERR_VERIFY ? "wrong" : "skipped");
    cli_report_text(json, "why", c->why);
    cli_report_end_object(json);
}

/* --------------------------------------------------------------------------------- adding to a
 * file */

/* A case of this run, or one that the file had: the other is NULL. */
typedef struct entry {
    const lab_case *now;
    const lab_kept_case *before;
    int64_t n;
    int32_t rung; /* its place in the ladder */
    bool counted;
    bool failed;
} entry;

static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->n != y->n) {
        return x->n < y->n ? -1 : 1;
    }
    return x->rung != y->rung ? (x->rung < y->rung ? -1 : 1) : x->counted - y->counted;
}

static int32_t place_of(const lab_ladder *ladder, const char *rung)
{
    int32_t place = 0;
    while (place < ladder->count && strcmp(ladder->rungs[place].name, rung) != 0) {
        place++;
    }
    return place;
}

/* Whether this run has measured anew what the file had. */
static bool is_replaced(const lab_kept_case *old, const entry *now, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (now[i].n == old->n && strcmp(now[i].now->rung->name, old->rung) == 0 &&
            (now[i].failed || old->failed || now[i].counted == old->counted)) {
            return true;
        }
    }
    return false;
}

/* What the file is to hold, in the order of sizes and rungs; free the list. */
static tw_status gather(const lab_run *run, entry **out, int32_t *count)
{
    tw_status status =
        twi_alloc(run->job->ctx, out, (uint64_t)run->count + (uint64_t)run->kept.count + 1,
                  sizeof **out, "the list of cases");
    entry *list = *out;
    *count = 0;
    for (int32_t i = 0; status == TW_OK && i < run->count; i++) {
        const lab_case *c = &run->cases[i];
        list[(*count)++] = (entry){c,
                                   NULL,
                                   c->n,
                                   place_of(run->ladder, c->rung->name),
                                   !lab_profile_is_empty(&c->profile),
                                   c->status != TW_OK};
    }
    for (int32_t i = 0; status == TW_OK && i < run->kept.count; i++) {
        const lab_kept_case *old = &run->kept.cases[i];
        if (!is_replaced(old, list, run->count)) {
            list[(*count)++] = (entry){
                NULL, old, old->n, place_of(run->ladder, old->rung), old->counted, old->failed};
        }
    }
    if (status == TW_OK) {
        qsort(list, (size_t)*count, sizeof *list, by_place);
    }
    return status;
}

static void keep_value(FILE *file, const char *key, const lab_kept_value *value)
{
    fprintf(file, "\n      \"%s\": ", key);
    fwrite(value->text != NULL ? value->text : "null", 1, value->text != NULL ? value->length : 4,
           file);
    fputc(',', file);
}

/* A case of another build than the head now tells begins with what the head told before, and one
 * of the head's build that does not say what the machine's load was with the one that the head
 * told. */
static void keep_earlier(cli_report *json, const lab_kept *kept, const lab_kept_case *c)
{
    const bool same =
        strcmp(kept->version, tw_version()) == 0 && strcmp(kept->commit, LAB_COMMIT) == 0;
    const bool build = !c->dated && !same;
    const bool load = !c->loaded && !c->dated && kept->load.text != NULL;
    cli_report_raw(json, NULL, "{", 1);
    if (build) {
        keep_value(json->file, "version", &kept->built.version);
        keep_value(json->file, "commit", &kept->built.commit);
        keep_value(json->file, "date", &kept->built.date);
    }
    if (load) {
        keep_value(json->file, "load", &kept->load);
    }
    fwrite(c->text + 1, 1, c->length - 1, json->file);
}

static void keep_entries(cli_report *json, const lab_run *run, const entry *list, int32_t count,
                         bool failed)
{
    cli_report_array(json, failed ? "failed" : "cases");
    for (int32_t i = 0; i < count; i++) {
        if (list[i].failed != failed) {
            continue;
        }
        if (list[i].before != NULL) {
            keep_earlier(json, &run->kept, list[i].before);
        } else if (failed) {
            keep_failure(json, list[i].now);
        } else {
            keep_case(json, run, list[i].now);
        }
    }
    cli_report_end_array(json);
}

static void keep_all(FILE *file, const lab_run *run, const entry *list, int32_t count)
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
    keep_entries(&json, run, list, count, false);
    keep_entries(&json, run, list, count, true);
    cli_report_end(&json);
}

/* ------------------------------------------------------------------------------------------ files
 */

static tw_status name_file(const lab_run *run, char path[PATH])
{
    int length = snprintf(path, PATH, "%s/%s.json", run->folder, run->ladder->name);
    return length > 0 && length < PATH
               ? TW_OK
               : tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--out: folder name too long");
}

/* What keeps this run from adding to the file; NULL: nothing. */
static const char *difference(const lab_run *run)
{
    const lab_kept *kept = &run->kept;
    tw_machine machine = TW_MACHINE_INIT;
    twi_gpu_info gpu = {0};
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    if (strcmp(kept->ladder, run->ladder->name) != 0) {
        return "of another ladder";
    }
    if (strcmp(kept->compiler, COMPILER) != 0) {
        return "of another compiler";
    }
    bool other = tw_machine_describe(run->job->ctx, &machine) != TW_OK ||
                 strncmp(kept->processor, machine.processor, LAB_KEPT_TEXT - 1) != 0;
    if (!other && kept->gpu[0] != '\0') {
        other =
            twi_gpu_describe(run->job->ctx, 0, &gpu) != TW_OK || strcmp(kept->gpu, gpu.name) != 0;
    }
    if (other) {
        return "of another machine";
    }
    if (kept->threads != tw_threads(run->job->ctx)) {
        return "of another number of threads";
    }
    return strcmp(kept->seed, seed) != 0 ? "of another seed" : NULL;
}

tw_status lab_find_results(lab_run *run)
{
    tw_context *ctx = run->job->ctx;
    char path[PATH];
    tw_status status = name_file(run, path);
    if (status == TW_OK) {
        status = lab_kept_open(ctx, path, &run->kept);
    }
    const char *why = status == TW_OK && run->kept.text != NULL ? difference(run) : NULL;
    if (why != NULL) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "%s has results %s, which cannot be mixed with new ones; choose "
                         "another folder with --out, or remove it",
                         path, why);
    }
    return status;
}

/* By a context of its own: Ctrl-C cancels the run, and what is done is kept all the same. */
static tw_status put_file(tw_context *ctx, const char *path, const char *text, size_t size)
{
    tw_context *own = NULL;
    twi_output *output = NULL;
    tw_status status = tw_context_create(&own);
    if (status == TW_OK) {
        status = twi_output_open(own, &output, path, size);
    }
    if (status == TW_OK) {
        status = twi_output_write(own, output, text, size);
    }
    if (status == TW_OK) {
        status = twi_output_commit(own, output);
    } else {
        twi_output_discard(output);
    }
    if (status != TW_OK) {
        status = tw_fail(ctx, status, "%s", own != NULL ? tw_last_error(own) : "no memory");
    }
    tw_context_destroy(own);
    return status;
}

/* The whole file in memory: it is small, and appears in the folder whole or not at all. */
static tw_status write_file(const lab_run *run, const char *path, const entry *list, int32_t count)
{
    tw_context *ctx = run->job->ctx;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory != NULL) {
        keep_all(memory, run, list, count);
    }
    tw_status status = TW_OK;
    if (memory == NULL || fclose(memory) != 0) {
        status = tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for the results");
    }
    if (status == TW_OK && mkdir(run->folder, 0777) != 0 && errno != EEXIST) {
        status = tw_fail(ctx, TW_ERR_IO, "cannot create %s: %s", run->folder, strerror(errno));
    }
    if (status == TW_OK) {
        status = put_file(ctx, path, text, size);
    }
    free(text);
    return status;
}

tw_status lab_keep_results(const lab_run *run)
{
    char path[PATH];
    entry *list = NULL;
    int32_t count = 0;
    tw_status status = name_file(run, path);
    if (status == TW_OK) {
        status = gather(run, &list, &count);
    }
    if (status == TW_OK) {
        status = write_file(run, path, list, count);
    }
    twi_free(list);
    return status;
}
