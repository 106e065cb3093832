/* See band.h. */
#include "cli/image/band.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

tw_status cli_no_plane(const cli_job *job, const char *path, int64_t plane, int64_t planes)
{
    if (planes <= 1) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT, "%.500s has no plane %lld; it has %s", path,
                       (long long)plane, planes == 1 ? "only plane 0" : "none");
    }
    return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                   "%.500s has no plane %lld; valid planes are 0 to %lld", path, (long long)plane,
                   (long long)planes - 1);
}

/* The sentence for a name that no band has, with those that there are. */
static tw_status no_band(const cli_job *job, const cli_band *b)
{
    char names[256] = "";
    size_t used = 0;
    for (int64_t k = 0; k < b->planes && used < sizeof names - 80; k++) {
        const char *name = tw_image_tags_name(b->tags, k);
        if (name != NULL) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%.60s'",
                                     used > 0 ? ", " : "", name);
        }
    }
    return tw_fail(job->ctx, TW_ERR_ARGUMENT, "%.300s has no band named '%.60s'; %s%s", b->path,
                   b->name, used > 0 ? "there are " : "its bands have no names", names);
}

/* The sentence for a name that two bands have. */
static tw_status two_bands(const cli_job *job, const cli_band *b, int64_t first, int64_t second)
{
    return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                   "%.300s has two bands named '%.60s': planes %lld and %lld; choose one by its "
                   "number",
                   b->path, b->name, (long long)first, (long long)second);
}

/* The plane whose name is that of the band by `compare`, from `first` on; -1: none. */
static int64_t plane_called(const cli_band *b, int64_t first,
                            int (*compare)(const char *, const char *))
{
    for (int64_t k = first; k < b->planes; k++) {
        const char *name = tw_image_tags_name(b->tags, k);
        if (name != NULL && compare(name, b->name) == 0) {
            return k;
        }
    }
    return -1;
}

/* The plane of the band's name, as it is written or else in any case; -1: none has it. */
static tw_status find_name(const cli_job *job, const cli_band *b, int64_t *out)
{
    int (*compare)(const char *, const char *) = strcmp;
    *out = plane_called(b, 0, compare);
    if (*out < 0) {
        compare = strcasecmp;
        *out = plane_called(b, 0, compare);
    }
    const int64_t other = *out >= 0 ? plane_called(b, *out + 1, compare) : -1;
    return other >= 0 ? two_bands(job, b, *out, other) : TW_OK;
}

tw_status cli_band_find(const cli_job *job, const cli_band *b, int64_t *out)
{
    int64_t number = -1;
    const bool numbered = cli_read_count(b->name, &number);
    if (numbered && number < b->planes) {
        *out = number;
        return TW_OK;
    }
    tw_status status = find_name(job, b, out); /* which may be a number */
    if (status == TW_OK && *out < 0) {
        status = numbered ? cli_no_plane(job, b->path, number, b->planes) : no_band(job, b);
    }
    return status;
}

void cli_band_tell(const cli_job *job, const cli_band *b, int64_t plane)
{
    int64_t number = -1;
    if (!cli_read_count(b->name, &number)) {
        return;
    }
    const int64_t named = plane_called(b, 0, strcmp);
    if (number != plane) {
        cli_say(job, "%s[%s] is the band named '%s', plane %lld", b->path, b->name, b->name,
                (long long)plane);
    } else if (named >= 0 && named != number) {
        cli_say(job, "%s[%s] is plane %lld; the band named '%s' is plane %lld", b->path, b->name,
                (long long)number, b->name, (long long)named);
    }
}

/* Whether there is a file of the first `length` bytes of the word. */
static bool is_path(const char *word, size_t length)
{
    char *path = strndup(word, length);
    const bool there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Where the bracket stands that the last one closes; 0: nowhere. */
static size_t opening(const char *word, size_t end)
{
    int depth = 0;
    for (size_t at = end; at-- > 1;) {
        depth += (word[at] == ']') - (word[at] == '[');
        if (depth == 0) {
            return at;
        }
    }
    return 0;
}

size_t cli_band_path_length(const char *word)
{
    const size_t end = strlen(word);
    if (end < 2 || word[end - 1] != ']' || access(word, F_OK) == 0) {
        return end;
    }
    const size_t bracket = opening(word, end);
    if (bracket > 0 && is_path(word, bracket)) {
        return bracket;
    }
    for (size_t at = end - 1; at > 0; at--) { /* the brackets of a name need not match */
        if (word[at] == '[' && is_path(word, at)) {
            return at;
        }
    }
    return bracket > 0 ? bracket : end;
}
