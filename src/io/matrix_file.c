/*
 * Matrix files opened for reading. A regular file of raw or npy elements is mapped: opening costs
 * nothing, and only what is looked at is read. A pipe, standard input, csv, and elements that do
 * not lie on a multiple of their size are brought into memory.
 */
#include "io/matrix_format.h"

#include "io/graph_format.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ ((uint64_t)1 << 20) /* buffer for a file of unknown size, doubled as needed */

/* As extensions. The first ones are also the names of the formats. */
static const char *const format_words[] = {"raw", "npy", "csv", "bin", "out"};

struct tw_matrix_file {
    tw_matrix view;
    void *mapped; /* of mapped_bytes; NULL when the file is in memory */
    uint64_t mapped_bytes;
    void *memory; /* elements, when not mapped */
};

/* True if a word names a format; raw has more than one, for files written under such names. */
static bool find_word(twi_matrix_format *out, const char *word, const char *const *names,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(word, names[i]) == 0) {
            *out = i < TWI_MATRIX_FORMATS ? (twi_matrix_format)i : TWI_MATRIX_RAW;
            return true;
        }
    }
    return false;
}

tw_status twi_matrix_format_find(tw_context *ctx, twi_matrix_format *out, const char *name,
                                 const char *path)
{
    *out = TWI_MATRIX_RAW;
    const char *word = name != NULL ? name : twi_extension(path);
    if (!find_word(out, word, format_words, TWI_MATRIX_FORMATS) && name != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "'%.40s' is no matrix format; use raw, npy or csv",
                       name);
    }
    return TW_OK;
}

tw_status twi_matrix_writer_find(tw_context *ctx, twi_matrix_format *out, const char *name,
                                 const char *path)
{
    const char *extension = twi_extension(path);
    if (name != NULL || extension[0] == '\0') {
        return twi_matrix_format_find(ctx, out, name, path);
    }
    if (find_word(out, extension, format_words, sizeof format_words / sizeof *format_words)) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "cannot write '%.400s': .%.40s is not a known matrix format; use .npy, .csv, or "
                   ".raw, .bin, .out or no extension for raw elements, or choose with --out-format",
                   path, extension);
}

static tw_status read_failed(tw_context *ctx, const char *path, int error)
{
    return tw_fail(ctx, TW_ERR_IO, "cannot read '%.600s': %s", path, strerror(error));
}

/* Everything until the end of a stream. */
static tw_status read_stream(tw_context *ctx, int fd, const char *path, void **out, uint64_t *bytes)
{
    uint64_t room = FIRST_READ;
    uint64_t used = 0;
    tw_status status = twi_alloc(ctx, out, room, 1, "the file's contents");
    while (status == TW_OK) {
        if (used == room) {
            status = twi_memory_check(ctx, room * 2, "the file's contents");
            if (status == TW_OK) {
                status = twi_grow(ctx, out, used, room * 2, 1, "the file's contents");
            }
            room *= 2;
            continue;
        }
        ssize_t got = read(fd, (char *)*out + used, (size_t)(room - used));
        if (got == 0) {
            *bytes = used;
            return TW_OK;
        }
        if (got < 0 && errno != EINTR) {
            status = read_failed(ctx, path, errno);
        } else {
            used += got > 0 ? (uint64_t)got : 0;
            status = twi_check_cancel(ctx);
        }
    }
    twi_free(*out);
    *out = NULL;
    return status;
}

/* Map the file or read it; *bytes is its size. */
static tw_status load(tw_context *ctx, tw_matrix_file *file, const char *path, uint64_t *bytes)
{
    struct stat found;
    const bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    tw_status status = TW_OK;
    if (fd < 0 || fstat(fd, &found) != 0) {
        status = read_failed(ctx, path, errno);
        goto done;
    }
    if (S_ISDIR(found.st_mode)) {
        status = read_failed(ctx, path, EISDIR);
        goto done;
    }
    if (!S_ISREG(found.st_mode) || found.st_size == 0 || standard) {
        status = read_stream(ctx, fd, path, &file->memory, bytes);
        goto done;
    }
    void *mapped = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
        status = read_stream(ctx, fd, path, &file->memory, bytes);
        goto done;
    }
    file->mapped = mapped;
    file->mapped_bytes = (uint64_t)found.st_size;
    *bytes = file->mapped_bytes;
done:
    if (fd >= 0 && !standard) {
        close(fd);
    }
    return status;
}

static void unmap(tw_matrix_file *file)
{
    if (file->mapped != NULL) {
        munmap(file->mapped, (size_t)file->mapped_bytes);
        file->mapped = NULL;
    }
}

static tw_status view_raw(tw_context *ctx, tw_matrix_file *file, const char *path, void *data,
                          uint64_t bytes, tw_type type)
{
    type = type == TW_AUTO ? TW_I32 : type;
    const uint64_t size = tw_type_size(type);
    const uint64_t count = bytes / size;
    uint64_t side = (uint64_t)sqrt((double)count);
    while (side * side > count) {
        side--;
    }
    while ((side + 1) * (side + 1) <= count) {
        side++;
    }
    if (side * side * size != bytes) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "'%.600s' holds %llu bytes, which is no square matrix of %s: %llu x %llu "
                       "would be %llu, the next larger %llu",
                       path, (unsigned long long)bytes, tw_type_name(type),
                       (unsigned long long)side, (unsigned long long)side,
                       (unsigned long long)(side * side * size),
                       (unsigned long long)((side + 1) * (side + 1) * size));
    }
    file->view = (tw_matrix){data, (int64_t)side, (int64_t)side, (int64_t)side, type};
    return TW_OK;
}

static tw_status view_npy(tw_context *ctx, tw_matrix_file *file, const char *path, char *data,
                          uint64_t bytes)
{
    twi_npy npy;
    tw_status status = twi_npy_parse(ctx, &npy, path, data, bytes);
    if (status == TW_OK && npy.type == TW_AUTO) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "'%.600s' has elements of type '%c%d'; u1, u2, i2, i4, f4 and f8 can be "
                         "read (convert with .astype)",
                         path, npy.kind, (int)npy.width);
    }
    if (status != TW_OK) {
        return status;
    }
    char *elements = data + npy.start;
    if (npy.start % (uint64_t)npy.width != 0) {
        void *aligned = NULL;
        status = twi_alloc(ctx, &aligned, bytes - npy.start, 1, "the matrix of an npy file");
        if (status != TW_OK) {
            return status;
        }
        memcpy(aligned, elements, (size_t)(bytes - npy.start));
        unmap(file);
        twi_free(file->memory);
        file->memory = aligned;
        elements = aligned;
    }
    file->view = (tw_matrix){elements, npy.rows, npy.cols, npy.cols, npy.type};
    return TW_OK;
}

static tw_status view_csv(tw_context *ctx, tw_matrix_file *file, const char *path, const char *data,
                          uint64_t bytes)
{
    tw_status status = twi_csv_parse(ctx, &file->view, path, data, bytes);
    if (status == TW_OK) {
        unmap(file);
        twi_free(file->memory);
        file->memory = file->view.data;
    }
    return status;
}

tw_status tw_matrix_open(tw_context *ctx, tw_matrix_file **out, const char *path,
                         const char *format, tw_type type)
{
    tw_matrix_file *file = NULL;
    twi_matrix_format found = TWI_MATRIX_RAW;
    uint64_t bytes = 0;
    *out = NULL;
    if (path == NULL || path[0] == '\0' || type == TW_F16 ||
        (type != TW_AUTO && tw_type_size(type) == 0)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a matrix file needs a name and a known type");
    }
    tw_status status = twi_matrix_format_find(ctx, &found, format, path);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &file, 1, sizeof *file, "a matrix file");
    }
    if (status == TW_OK) {
        status = load(ctx, file, path, &bytes);
    }
    if (status == TW_OK) {
        void *data = file->mapped != NULL ? file->mapped : file->memory;
        if (format == NULL && found == TWI_MATRIX_RAW && twi_npy_recognised(data, bytes)) {
            found = TWI_MATRIX_NPY;
        }
        status = found == TWI_MATRIX_NPY   ? view_npy(ctx, file, path, data, bytes)
                 : found == TWI_MATRIX_CSV ? view_csv(ctx, file, path, data, bytes)
                                           : view_raw(ctx, file, path, data, bytes, type);
    }
    if (status != TW_OK) {
        tw_matrix_close(file);
        return status;
    }
    *out = file;
    return TW_OK;
}

const tw_matrix *tw_matrix_file_view(const tw_matrix_file *file)
{
    return &file->view;
}

void tw_matrix_close(tw_matrix_file *file)
{
    if (file == NULL) {
        return;
    }
    unmap(file);
    twi_free(file->memory);
    twi_free(file);
}
