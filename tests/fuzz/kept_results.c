/* Any bytes given as a file of results are refused, or every case of it, and what its
 * head says of the build, is a part of them. */
#include "runner/kept.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *what = NULL;
    lab_kept kept = {0};
    if (!lab_kept_parse(text, size, &kept, &what)) {
        insist(what != NULL);
        return 0;
    }
    int32_t count = kept.count;
    kept.cases = calloc((size_t)count + 1, sizeof *kept.cases);
    insist(kept.cases != NULL && lab_kept_parse(text, size, &kept, &what) && kept.count == count);
    for (int32_t i = 0; i < count; i++) {
        const lab_kept_case *c = &kept.cases[i];
        insist(c->text >= text && c->length >= 2 && c->length <= size);
        insist(c->text + c->length <= text + size);
        insist(c->text[0] == '{' && c->text[c->length - 1] == '}');
        insist(c->n > 0 && c->rung[0] != '\0' && strnlen(c->rung, sizeof c->rung) < sizeof c->rung);
    }
    const lab_kept_value values[] = {kept.built.version, kept.built.commit, kept.built.date};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        insist(values[i].text == NULL || (values[i].text >= text && values[i].length >= 1 &&
                                          values[i].text + values[i].length <= text + size));
    }
    free(kept.cases);
    return 0;
}
