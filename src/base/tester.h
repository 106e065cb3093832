/* What the wings' parts of tw_selftest share: where a case is counted and told. */
#ifndef TWI_BASE_TESTER_H
#define TWI_BASE_TESTER_H

#include "base/context.h"

typedef struct twi_tester {
    tw_context *ctx;
    tw_selftest_counts *counts;
    tw_selftest_fn line; /* may be NULL */
    void *user;
} twi_tester;

/* A case that a cancelled run breaks off neither passed nor failed: the wing ends with that. */
static inline void twi_tell(const twi_tester *t, const char *name, int32_t passed,
                            const char *detail)
{
    if (!passed && twi_is_cancelled(t->ctx)) {
        return;
    }
    if (passed) {
        t->counts->passed++;
    } else {
        t->counts->failed++;
    }
    if (t->line != NULL) {
        t->line(t->user, name, passed, detail);
    }
}

#endif
