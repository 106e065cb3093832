/*
 * The files of a command: see files.h. An existing file is known by its device and inode. One that
 * is yet to be made is known by those of its folder and its name there, after links that lead
 * nowhere yet have been followed as the output will follow them.
 */
#include "cli/shared/files.h"

#include "frame/progress.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS 40 /* followed before a chain counts as a loop, as in Linux */

typedef struct identity {
    bool known; /* bytes written there are read by somebody: not /dev/null */
    bool lost;  /* a file, which is lost where it is written over */
    dev_t device;
    ino_t inode;
    char name[NAME_MAX + 1]; /* in the folder of that inode; "": the inode is the file */
} identity;

/* Whether it swallows what is written: as often as one likes. */
static bool is_null_device(const struct stat *found)
{
    struct stat null;
    return S_ISCHR(found->st_mode) && stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode) &&
           null.st_rdev == found->st_rdev;
}

static void know_inode(identity *out, const struct stat *found)
{
    out->known = !S_ISDIR(found->st_mode) && !is_null_device(found);
    out->lost = S_ISREG(found->st_mode);
    out->device = found->st_dev;
    out->inode = found->st_ino;
}

/* Replace a link by what it says; false if it is none. */
static bool follow_link(char path[PATH_MAX])
{
    char next[PATH_MAX];
    ssize_t length = readlink(path, next, sizeof next - 1);
    if (length < 0) {
        return false;
    }
    next[length] = '\0';
    const char *slash = strrchr(path, '/');
    size_t folder = next[0] == '/' || slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (folder + (size_t)length >= PATH_MAX) {
        return false;
    }
    memcpy(path + folder, next, (size_t)length + 1);
    return true;
}

static void know_future_file(identity *out, const char *given)
{
    char path[PATH_MAX];
    struct stat folder;
    if (strlen(given) >= sizeof path) {
        return; /* nor can it be opened */
    }
    memcpy(path, given, strlen(given) + 1);
    for (int links = 0; links < LINKS && follow_link(path); links++) {
    }
    char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strlen(name) >= sizeof out->name) {
        return;
    }
    memcpy(out->name, name, strlen(name) + 1);
    if (slash != NULL) {
        slash[1] = '\0';
    }
    if (stat(slash != NULL ? path : ".", &folder) == 0) {
        out->known = true;
        out->lost = true;
        out->device = folder.st_dev;
        out->inode = folder.st_ino;
    }
}

static identity identify(const char *path, int standard)
{
    identity out = {.known = false};
    struct stat found;
    if (path == NULL) {
        return out;
    }
    if (strcmp(path, "-") == 0) {
        if (fstat(standard, &found) == 0) {
            know_inode(&out, &found);
        }
    } else if (stat(path, &found) == 0) {
        know_inode(&out, &found);
    } else {
        know_future_file(&out, path);
    }
    return out;
}

static bool same(const identity *a, const identity *b)
{
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           strcmp(a->name, b->name) == 0;
}

/* The folder of the file that is written under this name, links followed. */
static void find_folder(char out[PATH_MAX], const char *path)
{
    memcpy(out, path, strlen(path) + 1);
    for (int links = 0; links < LINKS && follow_link(out); links++) {
    }
    char *slash = strrchr(out, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    } else {
        memcpy(out, "./", 3);
    }
}

/* Refuse a file that cannot be written before anything is computed for it: most are opened only
 * when there is something to write. What is neither a file nor to become one is left to that. */
static tw_status check_writable(tw_context *ctx, const char *path)
{
    char folder[PATH_MAX];
    struct stat found;
    if (path == NULL || path[0] == '\0' || strcmp(path, "-") == 0 || strlen(path) >= PATH_MAX) {
        return TW_OK;
    }
    const bool exists = stat(path, &found) == 0;
    if (exists && S_ISDIR(found.st_mode)) {
        return tw_fail(ctx, TW_ERR_IO, "cannot write '%.600s': it is a folder; name a file in it",
                       path);
    }
    if (exists && !S_ISREG(found.st_mode)) {
        return TW_OK;
    }
    find_folder(folder, path);
    if (!exists && stat(folder, &found) != 0 && errno == ENOENT) {
        return tw_fail(ctx, TW_ERR_IO, "cannot write '%.400s': there is no folder '%.400s'", path,
                       folder);
    }
    if ((exists && access(path, W_OK) != 0) || access(folder, W_OK | X_OK) != 0) {
        return tw_fail(ctx, TW_ERR_IO, "cannot open '%.600s' for writing: %s", path,
                       strerror(errno));
    }
    return TW_OK;
}

tw_status cli_check_files(tw_context *ctx, const cli_file *inputs, int input_count,
                          const cli_file *outputs, int output_count)
{
    for (int o = 0; o < output_count; o++) {
        tw_status status = check_writable(ctx, outputs[o].path);
        if (status != TW_OK) {
            return status;
        }
        const identity out = identify(outputs[o].path, STDOUT_FILENO);
        for (int i = 0; i < input_count; i++) {
            const identity in = identify(inputs[i].path, STDIN_FILENO);
            if (same(&out, &in) && out.lost) { /* a terminal or socket is both */
                return tw_fail(ctx, TW_ERR_ARGUMENT,
                               "%s '%.300s' is the same file as %s '%.300s', which would be lost: "
                               "write to another file",
                               outputs[o].what, outputs[o].path, inputs[i].what, inputs[i].path);
            }
        }
        for (int k = 0; k < o; k++) {
            const identity other = identify(outputs[k].path, STDOUT_FILENO);
            if (same(&out, &other)) {
                return tw_fail(ctx, TW_ERR_ARGUMENT,
                               "%s '%.300s' is the same file as %s '%.300s': name two files",
                               outputs[o].what, outputs[o].path, outputs[k].what, outputs[k].path);
            }
        }
    }
    return TW_OK;
}

bool cli_replaces(const char *output, const char *input)
{
    const identity out = identify(output, STDOUT_FILENO);
    const identity in = identify(input, STDIN_FILENO);
    return same(&out, &in) && out.lost;
}

void cli_watch_file(cli_watch *watch, const char *path)
{
    watch->path = path != NULL && cli_is_file(path) && stat(path, &watch->seen) == 0 ? path : NULL;
}

static bool has_changed(const cli_watch *watch)
{
    const struct stat *then = &watch->seen;
    struct stat now;
    return watch->path != NULL && stat(watch->path, &now) == 0 && now.st_dev == then->st_dev &&
           now.st_ino == then->st_ino && /* else another took its name, and ours is what it was */
           (now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != then->st_mtim.tv_nsec);
}

tw_status cli_watched(tw_context *ctx, const cli_watch *watches, int count, tw_status status)
{
    for (int i = 0; i < count && status == TW_ERR_VERIFY; i++) {
        if (has_changed(&watches[i])) {
            status =
                tw_fail(ctx, TW_ERR_IO,
                        "%.500s changed while it was being read; do not write to it during a run",
                        watches[i].path);
        }
    }
    return status;
}

bool cli_is_stdout(const char *path)
{
    const identity asked = identify(path, STDOUT_FILENO);
    const identity standard = identify("-", STDOUT_FILENO);
    return path != NULL && (strcmp(path, "-") == 0 || same(&asked, &standard));
}

bool cli_is_file(const char *path)
{
    struct stat found;
    return strcmp(path, "-") != 0 && stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

FILE *cli_report_file(const cli_job *job)
{
    return job->stdout_taken ? stderr : stdout;
}

tw_status cli_choose_output(cli_job *job, const char **out, const char *operand, const char *option)
{
    if (operand != NULL && option != NULL) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                       "OUT is given twice: '%.60s' and --output '%.60s'", operand, option);
    }
    *out = operand != NULL ? operand : option;
    cli_take_output(job, *out);
    return TW_OK;
}

/* The type of an image's elements; TW_AUTO: it is none, or not to be looked at. */
static tw_type type_of(tw_context *ctx, const char *path)
{
    tw_source source = TW_SOURCE_INIT;
    tw_type type = TW_AUTO;
    if (!cli_is_file(path)) { /* what a pipe has can be read once */
        return TW_AUTO;
    }
    const tw_status status = tw_image_source(ctx, &source, path, NULL, 0, NULL);
    if (status == TW_OK) {
        type = source.shape.type;
        tw_source_destroy(&source);
    }
    return status == TW_ERR_UNSUPPORTED || status == TW_ERR_MEMORY ? TW_U8 : type;
}

static bool has_fractions(tw_type type)
{
    return type == TW_F32 || type == TW_F64;
}

static bool is_made_here(tw_context *ctx, const char *path)
{
    tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
    tw_image_tags *tags = NULL;
    tw_status status = tw_image_tags_read(ctx, &tags, path, NULL);
    if (status == TW_OK) {
        status = tw_image_tags_describe(tags, &info);
    }
    tw_image_tags_destroy(tags);
    return status == TW_OK && info.made_here != 0;
}

/* Whether a file may be replaced whose kind is not the input's. */
static bool is_result(tw_context *ctx, const char *operand, const char *input, tw_type type)
{
    static const char *const nameless[] = {"pfm", "records", NULL}; /* cannot say who wrote them */
    return type == TW_AUTO || cli_writes(operand, NULL, nameless) ||
           (has_fractions(type) && !has_fractions(type_of(ctx, input))) ||
           is_made_here(ctx, operand);
}

tw_status cli_check_operand(tw_context *ctx, const char *operand, const char *input)
{
    static const char *const kinds[][4] = {{"tif", "tiff", NULL}, {"png", NULL}, {"npy", NULL},
                                           {"pgm", "ppm", "pnm"}, {"pfm", NULL}, {"jpg", "jpeg"},
                                           {"records", NULL}};
    struct stat found;
    bool image = false, alike = false;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const bool kind = cli_writes(operand, NULL, kinds[k]);
        image |= kind;
        alike |= kind && cli_writes(input, NULL, kinds[k]);
    }
    if (!image || !cli_is_file(operand) || stat(operand, &found) != 0 || found.st_size == 0) {
        return TW_OK;
    }
    const tw_type type = type_of(ctx, operand);
    const bool again = alike ? has_fractions(type) && !has_fractions(type_of(ctx, input))
                             : is_result(ctx, operand, input, type);
    return again ? TW_OK
                 : tw_fail(ctx, TW_ERR_ARGUMENT,
                           "'%.300s' already exists and may be an input: use -o '%.300s' to "
                           "replace it, or --out-dir for the results of several inputs",
                           operand, operand);
}

tw_status cli_check_foreign(tw_context *ctx, const char *path, const char *format)
{
    static const char *const marked[] = {"tif", "tiff", "png", "npy",
                                         "pgm", "ppm",  "pnm", NULL}; /* say who wrote them */
    struct stat found;
    if (!cli_writes(path, format, marked) || stat(path, &found) != 0 || !S_ISREG(found.st_mode) ||
        found.st_size == 0 || is_made_here(ctx, path)) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "--out-dir: '%.300s' already exists and was not written by tilewright; choose "
                   "another folder, or remove it",
                   path);
}

void cli_take_output(cli_job *job, const char *path)
{
    if (cli_is_stdout(path)) {
        job->stdout_taken = true;
        cli_progress_yield();
    }
}

tw_status cli_check_terminal(tw_context *ctx, const cli_file *file, bool text, const char *instead)
{
    if (text || !cli_is_stdout(file->path) || !isatty(STDOUT_FILENO)) {
        return TW_OK;
    }
    return tw_fail(
        ctx, TW_ERR_ARGUMENT,
        "%s: refusing to write binary data to the terminal; redirect standard output, or "
        "%s",
        file->what, instead);
}

const char *cli_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    bool number = dot != NULL && dot[1 + strspn(dot + 1, "0123456789")] == '\0';
    return dot != NULL && dot != name && !number ? dot + 1 : "";
}

const char *cli_format_word(char out[CLI_EXTENSION], const char *path, const char *format)
{
    static const char *const packed[] = {"gz", "zst", "xz", NULL};
    char stem[PATH_MAX];
    if (format != NULL) {
        return format;
    }
    const char *extension = cli_extension(path);
    if (!cli_writes(path, NULL, packed) || strlen(path) >= sizeof stem) {
        return extension;
    }
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(path) - strlen(extension) - 1), path);
    snprintf(out, CLI_EXTENSION, "%.60s", cli_extension(stem));
    return out;
}

tw_status cli_refuse_type(const cli_job *job, const char *option, tw_type type,
                          const cli_file *file, const char *format)
{
    char inner[CLI_EXTENSION];
    const char *word = cli_format_word(inner, file->path, format);
    if (!cli_given(job->parsed, option)) {
        return TW_OK;
    }
    if (strcasecmp(word, "npy") == 0) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                       "--%s has no effect on %s: an .npy file stores its type", option,
                       file->what);
    }
    if (strcasecmp(word, "csv") == 0 && type != TW_F32 && type != TW_F64) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                       "--%s %s has no effect on %s: text is read as f32 or f64, or as what its "
                       "numbers are",
                       option, tw_type_name(type), file->what);
    }
    return TW_OK;
}

bool cli_writes(const char *path, const char *format, const char *const *formats)
{
    const char *word = format != NULL ? format : cli_extension(path);
    for (; *formats != NULL; formats++) {
        if (strcasecmp(word, *formats) == 0) {
            return true;
        }
    }
    return false;
}

tw_status cli_check_array_output(tw_context *ctx, const char *path, const char *format)
{
    static const char *const known[] = {"",    "npy", "csv", "raw",  "bin", "out",     "pgm", "ppm",
                                        "pnm", "pfm", "png", "tiff", "tif", "records", NULL};
    static const char *const formats[] = {"npy", "csv",  "raw",     "pnm", "pfm",
                                          "png", "tiff", "records", NULL};
    if (path != NULL && format != NULL && !cli_writes(path, format, formats)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "--out-format %.40s is not supported; use npy, raw, csv, pnm, pfm, png, "
                       "tiff or records",
                       format);
    }
    if (path == NULL || format != NULL || cli_writes(path, NULL, known)) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "OUT '%.300s': .%.40s is not a known format; use .npy, .csv, .pgm, .ppm, .pfm, "
                   ".png, .tif, .records, or .raw, .bin, .out or no extension for raw elements, or "
                   "choose with --out-format",
                   path, cli_extension(path));
}

tw_status cli_check_graph_output(tw_context *ctx, const char *path, const char *format)
{
    static const char *const read_only[] = {"npz", NULL};
    static const char *const known[] = {"triples", "bin", "gr",  "mtx",   "edges", "el",  "txt",
                                        "csv",     "tsv", "tab", "metis", "graph", "npy", NULL};
    if (cli_writes(path, format, read_only)) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "npz files are read, not written; use .mtx, which scipy.io.mmread reads");
    }
    if (format != NULL || cli_writes(path, NULL, known)) {
        return TW_OK;
    }
    static const char *const compressed[] = {"gz", "bz2", "xz", "zst", NULL};
    if (cli_writes(path, NULL, compressed)) {
        return tw_fail(
            ctx, TW_ERR_UNSUPPORTED,
            "%.500s: compressed files are read, not written; compress the file afterwards", path);
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "%.500s: unknown extension; choose the graph format with --out-format: triples, "
                   "gr, mtx, edges, metis or npy",
                   path);
}
