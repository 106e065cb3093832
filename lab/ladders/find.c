/* Ladders and rungs by name, with the nearest one for a slip. */
#include "ladders/ladders.h"

#include "frame/options.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 256 };

tw_status lab_find_ladder(tw_context *ctx, const char *name, const lab_ladder **out)
{
    const char *names[MOST_NAMES];
    int count = 0;
    for (const lab_ladder *const *ladder = lab_ladders; *ladder != NULL; ladder++) {
        if (strcmp((*ladder)->name, name) == 0) {
            *out = *ladder;
            return TW_OK;
        }
        names[count++] = (*ladder)->name;
    }
    const char *nearest = cli_nearest(name, names, count);
    if (nearest != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown ladder '%.60s'; did you mean '%s'?", name,
                       nearest);
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown ladder '%.60s'; see 'tilewright-lab list'", name);
}

static const lab_rung *rung_named(const lab_ladder *ladder, const char *name)
{
    for (int32_t i = 0; i < ladder->count; i++) {
        if (strcmp(ladder->rungs[i].name, name) == 0) {
            return &ladder->rungs[i];
        }
    }
    return NULL;
}

tw_status lab_find_rung(tw_context *ctx, const lab_ladder *ladder, const char *name,
                        const lab_rung **out)
{
    const char *names[MOST_NAMES];
    *out = rung_named(ladder, name);
    if (*out != NULL) {
        return TW_OK;
    }
    for (int32_t i = 0; i < ladder->count && i < MOST_NAMES; i++) {
        names[i] = ladder->rungs[i].name;
    }
    const char *nearest = cli_nearest(name, names, ladder->count);
    return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown rung '%.60s' of %s; %s%s%s", name, ladder->name,
                   nearest != NULL ? "did you mean '" : "see 'tilewright-lab list ",
                   nearest != NULL ? nearest : ladder->name, nearest != NULL ? "'?" : "'");
}

tw_status lab_find_ladder_of(tw_context *ctx, char **names, int count, const lab_ladder **out)
{
    char having[256] = "";
    size_t used = 0;
    int found = 0;
    for (const lab_ladder *const *ladder = lab_ladders; *ladder != NULL; ladder++) {
        bool all = true;
        for (int i = 0; i < count; i++) {
            all = all && rung_named(*ladder, names[i]) != NULL;
        }
        if (all && found++ == 0) {
            *out = *ladder;
        }
        if (all && used < sizeof having) {
            used += (size_t)snprintf(having + used, sizeof having - used, "%s%s",
                                     used > 0 ? ", " : "", (*ladder)->name);
        }
    }
    if (found == 1) {
        return TW_OK;
    }
    if (found == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "no ladder has %s '%.60s'%s%.60s%s; see 'tilewright-lab list LADDER'",
                       count == 1 ? "a rung" : "both", names[0], count == 1 ? "" : " and '",
                       count == 1 ? "" : names[1], count == 1 ? "" : "'");
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT, "several ladders have '%.60s'; put one of %s before it",
                   names[0], having);
}
