/*
 * Orders kept on disk: see kept_order.h. A file is a header (magic, structure, counts, a checksum
 * of all that follows it and of the header before it), the vertices in their order, and where
 * groups begin, as this machine writes its numbers.
 */
#include "apsp/sweep/kept_order.h"

#include "base/cache.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x31524544524f5754ULL /* "TWORDER1": counts changes of orders, too */
#define EXTENSION ".order"
#define NAME_DIGITS 32
#define FORGOTTEN 3600 /* seconds after which a file that a writer left half written goes */

typedef struct file_header {
    uint64_t magic;
    uint64_t n;
    uint64_t structure[2];
    uint64_t groups;
    uint64_t maker;
    uint64_t sum;
} file_header;

static uint64_t checksum(const file_header *header, const void *vertex, const void *first)
{
    uint64_t sum = twi_cache_hash(TWI_HASH_BASIS, header, offsetof(file_header, sum));
    sum = twi_cache_hash(sum, vertex, header->n * sizeof(int32_t));
    return twi_cache_hash(sum, first, (header->groups + 1) * sizeof(int32_t));
}

static void path_of(char *out, size_t size, const char *folder, const twi_structure *structure)
{
    snprintf(out, size, "%s/%016llx%016llx" EXTENSION, folder,
             (unsigned long long)structure->hash[0], (unsigned long long)structure->hash[1]);
}

static bool header_fits(const file_header *header, const twi_structure *structure, uint64_t bytes)
{
    return header->magic == MAGIC && header->n == (uint64_t)structure->n &&
           header->structure[0] == structure->hash[0] &&
           header->structure[1] == structure->hash[1] && header->groups <= header->n &&
           header->maker < TWI_ORDER_MAKERS &&
           bytes == sizeof *header + (header->n + header->groups + 1) * sizeof(int32_t);
}

/* `seen` is a zero for each vertex. */
static bool is_permutation(const int32_t *vertex, int64_t n, uint8_t *seen)
{
    for (int64_t i = 0; i < n; i++) {
        if (vertex[i] < 0 || vertex[i] >= n || seen[vertex[i]] != 0) {
            return false;
        }
        seen[vertex[i]] = 1;
    }
    return true;
}

static bool are_groups(const int32_t *first, int64_t groups, int64_t n)
{
    bool ascending = first[0] == 0 && first[groups] == n;
    for (int64_t g = 0; g < groups; g++) {
        ascending = ascending && first[g] < first[g + 1];
    }
    return ascending;
}

tw_status twi_kept_order_parse(tw_context *ctx, twi_order *out, const twi_structure *structure,
                               const void *file, uint64_t bytes)
{
    const char *what = "the elimination order";
    file_header header;
    uint8_t *seen = NULL;
    tw_status status = TW_OK;
    *out = (twi_order){0};
    if (bytes < sizeof header) {
        return TW_OK;
    }
    memcpy(&header, file, sizeof header);
    if (!header_fits(&header, structure, bytes)) {
        return TW_OK;
    }
    const char *vertex = (const char *)file + sizeof header;
    const char *first = vertex + header.n * sizeof(int32_t); /* the file has so many */
    if (checksum(&header, vertex, first) != header.sum) {
        return TW_OK;
    }
    *out = (twi_order){.n = structure->n, .maker = (int32_t)header.maker};
    out->groups = (int64_t)header.groups;
    if ((status = twi_alloc(ctx, &out->vertex, header.n, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &out->first, header.groups + 1, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &seen, header.n, 1, what)) != TW_OK) {
        twi_order_clear(out);
        return status;
    }
    memcpy(out->vertex, vertex, header.n * sizeof(int32_t));
    memcpy(out->first, first, (header.groups + 1) * sizeof(int32_t));
    if (!is_permutation(out->vertex, out->n, seen) ||
        !are_groups(out->first, out->groups, out->n)) {
        twi_order_clear(out);
    }
    twi_free(seen);
    return TW_OK;
}

tw_status twi_kept_order_read(tw_context *ctx, twi_order *out, const twi_structure *structure)
{
    char folder[TWI_CACHE_PATH];
    char path[TWI_CACHE_PATH + 64];
    const uint64_t most = sizeof(file_header) + (2 * (uint64_t)structure->n + 1) * sizeof(int32_t);
    uint64_t bytes = 0;
    void *whole = NULL;
    *out = (twi_order){0};
    if (structure->n < TWI_KEPT_LEAST || !twi_cache_folder(folder, false)) {
        return TW_OK;
    }
    path_of(path, sizeof path, folder, structure);
    int file = twi_cache_open(path, &bytes);
    if (file < 0) {
        return TW_OK;
    }
    tw_status status = TW_OK;
    if (bytes <= most) {
        status = twi_alloc(ctx, &whole, bytes, 1, "the elimination order");
        if (status == TW_OK && twi_cache_read(file, whole, bytes)) {
            status = twi_kept_order_parse(ctx, out, structure, whole, bytes);
        }
    }
    if (out->vertex != NULL) {
        (void)futimens(file, NULL); /* it was used now */
    }
    twi_free(whole);
    (void)close(file);
    return status;
}

/* ------------------------------------------------------------------------------------- bounds */

/* What the folder holds of ours. */
typedef struct holding {
    int64_t files;
    uint64_t bytes;
    char oldest[NAME_DIGITS + sizeof EXTENSION];
    struct timespec when; /* of the oldest */
} holding;

/* The name of an order, or of one that is being written: its digits, the extension, and for the
 * latter something behind that. */
static bool is_order(const char *name, bool *half)
{
    const char *after = name + NAME_DIGITS;
    if (strspn(name, "0123456789abcdef") != NAME_DIGITS ||
        strncmp(after, EXTENSION, sizeof EXTENSION - 1) != 0) {
        return false;
    }
    after += sizeof EXTENSION - 1;
    *half = after[0] == '.';
    return after[0] == '\0' || *half;
}

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* Counts the orders, and removes what writers that died have left. */
static holding look_through(DIR *folder)
{
    holding found = {0};
    const time_t now = time(NULL);
    const struct dirent *entry = NULL;
    rewinddir(folder);
    while ((entry = readdir(folder)) != NULL) {
        struct stat at;
        bool half = false;
        if (!is_order(entry->d_name, &half) ||
            fstatat(dirfd(folder), entry->d_name, &at, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(at.st_mode)) {
            continue;
        }
        if (half) {
            if (now - at.st_mtim.tv_sec > FORGOTTEN) {
                (void)unlinkat(dirfd(folder), entry->d_name, 0);
            }
            continue;
        }
        if (found.files == 0 || is_before(at.st_mtim, found.when)) {
            found.when = at.st_mtim;
            memcpy(found.oldest, entry->d_name, sizeof found.oldest);
        }
        found.files++;
        found.bytes += (uint64_t)at.st_size;
    }
    return found;
}

/* Others may do the same: whoever finds a file gone has nothing to do. */
static void remove_oldest(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return;
    }
    holding now = look_through(folder);
    while (now.files > TWI_KEPT_ORDERS || now.bytes > TWI_KEPT_BYTES) {
        if (unlinkat(dirfd(folder), now.oldest, 0) != 0 && errno != ENOENT) {
            break;
        }
        now = look_through(folder);
    }
    (void)closedir(folder);
}

void twi_kept_order_write(tw_context *ctx, const twi_order *order, const twi_structure *structure)
{
    char folder[TWI_CACHE_PATH];
    char path[TWI_CACHE_PATH + 64];
    file_header header = {.magic = MAGIC,
                          .n = (uint64_t)order->n,
                          .structure = {structure->hash[0], structure->hash[1]},
                          .groups = (uint64_t)order->groups,
                          .maker = (uint64_t)order->maker};
    const uint64_t vertices = header.n * sizeof(int32_t);
    const uint64_t groups = (header.groups + 1) * sizeof(int32_t);
    if (order->n < TWI_KEPT_LEAST || vertices + groups > TWI_KEPT_BYTES / 4) {
        return;
    }
    if (!twi_cache_folder(folder, true)) {
        twi_log(ctx, "the elimination order is not cached: there is no cache folder");
        return;
    }
    path_of(path, sizeof path, folder, structure);
    header.sum = checksum(&header, order->vertex, order->first);
    const twi_cache_piece pieces[] = {
        {&header, sizeof header}, {order->vertex, vertices}, {order->first, groups}};
    if (!twi_cache_write(path, pieces, 3)) {
        twi_log(ctx, "the elimination order could not be cached in %.600s: %s", folder,
                strerror(errno));
        return;
    }
    remove_oldest(folder);
}
