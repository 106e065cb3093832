/* Kernels of elements held to what their rows say of their accesses: bytes of shared and of global
 * memory, each access as the source has it (counts.cpp tells how). */
#ifndef LAB_EMULATED_ELEMENTS_H
#define LAB_EMULATED_ELEMENTS_H

#include "gpu/compat.h"
#include "trace.h"

#include <initializer_list>

struct array {
    const void *memory;
    size_t bytes;
};

/* What `kernel` accesses while `run` runs; of global memory what lies in the arrays. */
template <class runner>
static accesses accesses_of(const void *kernel, std::initializer_list<array> arrays, runner run)
{
    counted wanted = {&running, &now, &place, sizeof place, {}, {}, {kernel, NULL}};
    accesses found[2];
    int i = 0;
    for (const array &each : arrays) {
        wanted.global[i] = each.memory;
        wanted.global_bytes[i++] = each.bytes;
    }
    count_begin(wanted);
    run();
    count_end(found);
    return found[0];
}

static bool is_as_said(const char *rung, const accesses &is, const accesses &said)
{
    const struct {
        const char *what;
        double is, said;
    } all[] = {{"loaded from shared memory", is.loads, said.loads},
               {"stored to shared memory", is.stores, said.stores},
               {"read from global memory", is.reads, said.reads},
               {"written to global memory", is.writes, said.writes}};
    bool right = true;
    for (const auto &each : all) {
        if (each.is != each.said) {
            printf("%s: bytes %s: %.0f, not %.0f\n", rung, each.what, each.is, each.said);
            right = false;
        }
    }
    return right;
}

#endif
