/* Kernels of elements held to what their rows say of their accesses: bytes of shared and of global
 * memory, each access as the source has it (counts.cpp tells how), and how many accesses of which
 * width there are to global memory and to what a thread has of its own: its counters, its table. */
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
    wanted.stacks = fibers;
    wanted.stacks_bytes = MOST_THREADS * sizeof *fibers;
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

/* `count` accesses of a width in bytes, besides what is there. */
static void add(double (&of)[LAB_WIDTHS], int width, double count)
{
    of[__builtin_ctz((unsigned)width)] += count;
}

/* The accesses of each width; how a compiler fills a table is not told, so that stores of another
 * width than `counter` bytes, the threads' own, are not judged (0: none are). */
static bool has_widths(const char *rung, const accesses &is, const accesses &said, int counter)
{
    bool right = true;
    for (int i = 0; i < LAB_WIDTHS; i++) {
        const struct {
            const char *what;
            double is, said;
        } all[] = {{"reads from global memory", is.reads_of[i], said.reads_of[i]},
                   {"writes to global memory", is.writes_of[i], said.writes_of[i]},
                   {"loads of its own memory", is.own_loads_of[i], said.own_loads_of[i]},
                   {"stores to its own memory",
                    1 << i == counter ? is.own_stores_of[i] : said.own_stores_of[i],
                    said.own_stores_of[i]}};
        for (const auto &each : all) {
            if (each.is != each.said) {
                printf("%s: %s of %d bytes: %.0f, not %.0f\n", rung, each.what, 1 << i, each.is,
                       each.said);
                right = false;
            }
        }
    }
    return right;
}

#endif
