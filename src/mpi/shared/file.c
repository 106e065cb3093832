/* See file.h. */
#include "mpi/shared/file.h"

#include "base/memory.h"
#include "io/matrix/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

tw_status twi_mpi_file_check(tw_context *ctx, const char *path, const char *format)
{
    twi_matrix_format found;
    if (path[0] == '\0' || strcmp(path, "-") == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "many ranks cannot write to standard output; name a file");
    }
    return twi_matrix_writer_find(ctx, &found, format, path);
}

static tw_status failed(tw_context *ctx, const char *path, int error)
{
    return tw_fail(ctx, TW_ERR_IO, "cannot write '%.600s': %s", path, strerror(error));
}

/* The file that is to be replaced, existing or not, behind any links. */
static tw_status find_target(tw_context *ctx, twi_mpi_file *file, const char *path)
{
    struct stat found;
    file->mode = -1;
    if (strlen(path) >= sizeof file->target) {
        return failed(ctx, path, ENAMETOOLONG);
    }
    if (stat(path, &found) != 0) {
        memcpy(file->target, path, strlen(path) + 1);
        return errno == ENOENT ? TW_OK : failed(ctx, path, errno);
    }
    if (!S_ISREG(found.st_mode)) {
        return tw_fail(ctx, TW_ERR_IO, "cannot write '%.600s': it is not a regular file", path);
    }
    if (access(path, W_OK) != 0 || realpath(path, file->target) == NULL) {
        return failed(ctx, path, errno);
    }
    file->mode = (int)(found.st_mode & 0777);
    return TW_OK;
}

/* A full disk shows now. File systems that cannot reserve are tolerated. */
static tw_status reserve(tw_context *ctx, const twi_mpi_file *file, uint64_t bytes)
{
    struct statvfs disk;
    char size[32];
    const int fd = file->temporary.fd;
    const bool known = fstatvfs(fd, &disk) == 0 && disk.f_frsize > 0;
    int error = known && bytes / disk.f_frsize > disk.f_bavail ? ENOSPC : 0;
    if (error == 0 && bytes > 0 && fallocate(fd, 0, 0, (off_t)bytes) != 0) {
        error = errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? errno : 0;
    }
    return error == 0 ? TW_OK
                      : tw_fail(ctx, TW_ERR_IO, "no room for '%.600s': %s for its %s", file->target,
                                strerror(error), twi_bytes(size, (double)bytes));
}

/* What rank 0 does: the file with its header and all of its space. */
static tw_status make(tw_context *ctx, twi_mpi_file *file, const twi_mpi_wish *wish)
{
    const char *path = wish->path;
    twi_matrix_format found;
    char header[TWI_NPY_HEADER_MOST];
    tw_status status = twi_matrix_writer_find(ctx, &found, wish->format, path);
    file->sink = wish->sink;
    if (status == TW_OK && file->sink == NULL && found == TWI_MATRIX_CSV) {
        status = tw_sink_to_file(ctx, &file->text, path, wish->format);
        file->sink = &file->text;
    }
    if (status == TW_OK) {
        status = find_target(ctx, file, path);
    }
    if (status != TW_OK) {
        return status;
    }
    int error = twi_temporary_open(&file->temporary, file->name, file->target, true);
    if (error != 0) {
        return failed(ctx, path, error);
    }
    file->made = true;
    file->start = found == TWI_MATRIX_NPY && file->sink == NULL
                      ? (int64_t)twi_npy_header(header, &file->shape)
                      : 0;
    status =
        reserve(ctx, file,
                (uint64_t)file->start + (uint64_t)file->shape.rows * (uint64_t)file->shape.cols *
                                            tw_type_size(file->shape.type));
    if (status == TW_OK && file->start > 0 &&
        pwrite(file->temporary.fd, header, (size_t)file->start, 0) != (ssize_t)file->start) {
        status = failed(ctx, path, errno);
    }
    return status;
}

/* Whether this rank sees the file that rank 0 has made: its name is random, so no other has it. An
 * MPI_File_open that fails on one rank alone may wait for the others for ever (Open MPI 4.1). */
static tw_status look(tw_context *ctx, const twi_mpi_file *file, const char *path)
{
    const int fd = open(file->name, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return tw_fail(ctx, TW_ERR_IO,
                       "rank %d cannot write '%.600s' together with rank 0: %s; use a folder that "
                       "all ranks see",
                       file->world->rank, path, strerror(errno));
    }
    (void)close(fd);
    return TW_OK;
}

tw_status twi_mpi_file_open(tw_context *ctx, twi_mpi_file **out, const twi_world *world,
                            const twi_mpi_wish *wish)
{
    const tw_shape *shape = &wish->shape;
    twi_mpi_file *file = NULL;
    *out = NULL;
    if (wish->path == NULL) {
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &file, 1, sizeof *file, "the output file");
    *out = file;
    if (status == TW_OK) {
        *file = (twi_mpi_file){
            .world = world, .shape = *shape, .row = MPI_DATATYPE_NULL, .text = TW_SINK_INIT};
        status = world->rank == 0 ? make(ctx, file, wish) : TW_OK;
    }
    status = twi_world_agree(ctx, world, status);
    if (status != TW_OK) {
        return status;
    }
    (void)MPI_Bcast(&file->start, 1, MPI_INT64_T, 0, world->comm);
    (void)MPI_Bcast(file->name, (int)sizeof file->name, MPI_BYTE, 0, world->comm);
    status = twi_world_agree(ctx, world, look(ctx, file, wish->path));
    if (status != TW_OK) {
        return status;
    }
    status = twi_mpi_check(
        ctx, MPI_File_open(world->comm, file->name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file->handle),
        "open the output file");
    status = twi_world_agree(ctx, world, status);
    file->open = status == TW_OK; /* or some have it open, and never get it closed together */
    if (status == TW_OK) {
        (void)MPI_Type_contiguous((int)((uint64_t)shape->cols * tw_type_size(shape->type)),
                                  MPI_BYTE, &file->row);
        (void)MPI_Type_commit(&file->row);
    }
    return status;
}

tw_status twi_mpi_file_write_alone(tw_context *ctx, twi_mpi_file *file, int64_t first,
                                   int64_t count, const void *rows)
{
    const int64_t bytes = file->shape.cols * (int64_t)tw_type_size(file->shape.type);
    const MPI_Offset at = (MPI_Offset)(file->start + first * bytes);
    MPI_Status written;
    int whole = 0;
    if (count == 0 || bytes == 0) {
        return TW_OK;
    }
    tw_status status = twi_mpi_check(
        ctx, MPI_File_write_at(file->handle, at, rows, (int)count, file->row, &written),
        "write the output file");
    if (status == TW_OK) {
        (void)MPI_Get_count(&written, file->row, &whole);
        if (whole != (int)count) { /* or MPI_UNDEFINED: some of a row */
            status = tw_fail(ctx, TW_ERR_IO,
                             "cannot write the output file: %d of %d rows written; the file system "
                             "may be full",
                             whole > 0 ? whole : 0, (int)count);
        }
    }
    return status;
}

tw_status twi_mpi_file_write(tw_context *ctx, twi_mpi_file *file, int64_t first, int64_t count,
                             const void *rows)
{
    return twi_world_agree(ctx, file->world,
                           twi_mpi_file_write_alone(ctx, file, first, count, rows));
}

static tw_status close_file(tw_context *ctx, twi_mpi_file *file)
{
    tw_status status = TW_OK;
    if (file->open) {
        (void)MPI_Type_free(&file->row);
        status = twi_mpi_check(ctx, MPI_File_close(&file->handle), "close the output file");
    }
    file->open = false;
    return status;
}

/* Rows that all ranks have written, for tw_feed_source. The file is opened again, as network file
 * systems want it of whoever is to see what others wrote. */
typedef struct reading {
    const twi_mpi_file *file;
    int fd;
} reading;

static tw_status read_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    const reading *r = self;
    const twi_mpi_file *file = r->file;
    const int64_t size = (int64_t)tw_type_size(file->shape.type), bytes = file->shape.cols * size;
    for (int64_t i = 0; i < count; i++) {
        char *row = (char *)data + i * stride * size;
        for (int64_t done = 0; done < bytes;) {
            const ssize_t got = pread(r->fd, row + done, (size_t)(bytes - done),
                                      (off_t)((first + i) * bytes + done));
            if (got <= 0 && !(got < 0 && errno == EINTR)) {
                return tw_fail(ctx, TW_ERR_IO, "cannot read the rows of '%.600s' again: %s",
                               file->target, got < 0 ? strerror(errno) : "some are missing");
            }
            done += got > 0 ? got : 0;
        }
    }
    return TW_OK;
}

static tw_status feed_sink(tw_context *ctx, twi_mpi_file *file)
{
    reading self = {file, open(file->name, O_RDONLY | O_CLOEXEC)};
    tw_source source = TW_SOURCE_INIT;
    source.self = &self;
    source.shape = file->shape;
    source.rows = read_rows;
    if (self.fd < 0) {
        return failed(ctx, file->target, errno);
    }
    tw_status status = tw_feed_source(ctx, &source, file->sink, 1);
    (void)close(self.fd);
    return status;
}

tw_status twi_mpi_file_commit(tw_context *ctx, twi_mpi_file *file)
{
    if (file == NULL) {
        return TW_OK;
    }
    tw_status status = twi_world_agree(ctx, file->world, close_file(ctx, file));
    if (status == TW_OK && file->made && file->sink != NULL) {
        status = feed_sink(ctx, file);
    } else if (status == TW_OK && file->made) {
        file->made = false;
        int error = twi_temporary_publish(&file->temporary, file->name, file->target, file->mode);
        status = error == 0 ? TW_OK : failed(ctx, file->target, error);
    }
    return twi_world_agree(ctx, file->world, status);
}

void twi_mpi_file_discard(twi_mpi_file *file)
{
    if (file == NULL) {
        return;
    }
    if (file->open) {
        (void)MPI_Type_free(&file->row);
        (void)MPI_File_close(&file->handle);
        file->open = false;
    }
    if (file->made) {
        twi_temporary_discard(&file->temporary, file->name);
    }
    tw_sink_destroy(&file->text);
    twi_free(file);
}
