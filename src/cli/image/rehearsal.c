/* Rehearsals: see rehearsal.h. */
#include "cli/image/rehearsal.h"

#include <string.h>
#include <sys/stat.h>

#define TURNS 8

bool cli_rehearsal_begin(cli_rehearsal *r, cli_job *job, tw_status status)
{
    if (status != TW_ERR_MEMORY || !cli_given(job->parsed, "memory")) {
        return false;
    }
    *r = (cli_rehearsal){.job = job, .status = status, .given = tw_memory_limit(job->ctx)};
    r->limit = r->given;
    snprintf(r->sentence, sizeof r->sentence, "%s", tw_last_error(job->ctx));
    return cli_refuse_memory(job, false) == TW_OK;
}

tw_status cli_rehearsal_output(const cli_job *job, const char **output)
{
    struct stat found;
    if (*output != NULL && strcmp(*output, "-") == 0) {
        *output = "/dev/null";
    } else if (*output != NULL && stat(*output, &found) == 0 && !S_ISREG(found.st_mode)) {
        return tw_fail(job->ctx, TW_ERR_UNSUPPORTED, "%.500s is not a regular file", *output);
    }
    return TW_OK;
}

/* The sentence without the limit that it names: what is before it, and what behind. */
static void cut_advice(char *sentence, const char **rest)
{
    static const char before[] = "; use --memory ", behind[] = " or more";
    char *at = strstr(sentence, before);
    const char *end = at != NULL ? strstr(at, behind) : NULL;
    *rest = end != NULL ? end + sizeof behind - 1 : "";
    if (at != NULL) {
        *at = '\0';
    }
}

bool cli_rehearsal_again(cli_rehearsal *r, tw_status rehearsed)
{
    tw_context *ctx = r->job->ctx;
    const uint64_t peak = tw_memory_peak(ctx);
    if (rehearsed != TW_ERR_CANCELLED || r->turns == TURNS || (r->turns > 0 && peak <= r->limit)) {
        return false;
    }
    r->turns++;
    r->limit = cli_show_limit(r->named, peak > r->limit ? peak : r->limit);
    return tw_set_memory(ctx, r->limit) == TW_OK;
}

tw_status cli_rehearsal_end(const cli_rehearsal *r, tw_status rehearsed)
{
    tw_context *ctx = r->job->ctx;
    char sentence[sizeof r->sentence];
    const char *rest = "";
    tw_status status = cli_refuse_memory(r->job, true);
    if (status == TW_OK) {
        status = tw_set_memory(ctx, r->given);
    }
    if (status != TW_OK) {
        return status;
    }
    if (rehearsed != TW_ERR_CANCELLED) { /* it came to no row: the sentence is all that is known */
        return tw_fail(ctx, r->status, "%s", r->sentence);
    }
    memcpy(sentence, r->sentence, sizeof sentence);
    cut_advice(sentence, &rest);
    return tw_fail(ctx, r->status, "%s; use --memory %s or more%s", sentence, r->named, rest);
}

static tw_status end_here(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                          int64_t stride)
{
    (void)self;
    (void)first;
    (void)count;
    (void)data;
    (void)stride;
    return tw_fail(ctx, TW_ERR_CANCELLED, "rehearsed");
}

void cli_rehearse_source(tw_source *source)
{
    source->rows = end_here;
}
