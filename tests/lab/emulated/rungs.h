/* Rungs held to what is said of them: which kernel a rung runs, with how many threads a block, how
 * much shared memory and how many barriers. A program here has one `expected` for every rung. */
#ifndef LAB_EMULATED_RUNGS_H
#define LAB_EMULATED_RUNGS_H

#include "gpu/compat.h"

#include <cstring>

extern "C" int rungs_of(const char *ladder, const char **names, const void **codes);

enum { MOST_RUNGS = 100, ANY = -1 };

struct expected {
    const char *ladder, *rung;
    const void *kernel; /* that takes its time; NULL: none that is known here */
    unsigned x, y;      /* threads */
    size_t bytes;       /* of shared memory that a launch asks for */
    long barriers;
    const void *second; /* the kernel of the second phase; NULL: there is none */
    long second_barriers;
};

static bool differs(const expected &e, const char *what, long is, long said)
{
    if (is != said) {
        printf("%s of %s: %s %ld, not %ld\n", e.rung, e.ladder, what, is, said);
    }
    return is != said;
}

/* What has been launched since launches were forgotten. */
static bool ran_as_said(const expected &e)
{
    const launch *main = launch_of(e.kernel), *second = launch_of(e.second);
    if (main == NULL || (e.second != NULL && second == NULL)) {
        printf("%s of %s: it runs another kernel than its row has\n", e.rung, e.ladder);
        return false;
    }
    bool wrong = differs(e, "threads across", main->threads.x, e.x);
    wrong = differs(e, "threads down", main->threads.y, e.y) || wrong;
    wrong = differs(e, "bytes of shared memory", (long)main->bytes, (long)e.bytes) || wrong;
    wrong = differs(e, "barriers", main->barriers, e.barriers) || wrong;
    if (second != NULL) {
        wrong = differs(e, "barriers in phase 2", second->barriers, e.second_barriers) || wrong;
    }
    return !wrong;
}

/* Every rung of a ladder by `run`, which is given the code of its rung. */
template <class runner>
static bool climb(const char *ladder, const expected *all, size_t count, runner run)
{
    const char *names[MOST_RUNGS];
    const void *codes[MOST_RUNGS];
    bool right = true;
    int rungs = rungs_of(ladder, names, codes);
    for (int i = 0; i < rungs; i++) {
        const expected *found = NULL;
        for (size_t e = 0; e < count; e++) {
            if (strcmp(all[e].ladder, ladder) == 0 && strcmp(all[e].rung, names[i]) == 0) {
                found = &all[e];
            }
        }
        if (found == NULL) {
            printf("%s of %s: nothing is said of what it runs\n", names[i], ladder);
            right = false;
        } else if (found->kernel != NULL) {
            launches.clear();
            right = run(names[i], codes[i]) && ran_as_said(*found) && right;
        }
    }
    if (rungs == 0) {
        printf("no ladder %s\n", ladder);
    }
    return right && rungs > 0;
}

#endif
