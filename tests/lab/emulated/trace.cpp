/*
 * What ThreadSanitizer's instrumentation calls before each access, without its runtime. Loads from
 * shared memory are kept by lane, in their order. The lanes of a warp run the same instructions, so
 * the i-th load of each is one access of the warp, which takes as many turns as there are different
 * words in one of the 32 banks. Or accesses are counted by the memory they go to: static memory of
 * the program is shared, global memory and the stacks of the threads are told.
 */
#include "trace.h"

#include <cstdint>
#include <set>
#include <unordered_set>
#include <vector>

enum { LANES = 32, BANKS = 32, WORD = 4 };

static traced want;
static std::vector<size_t> loads[LANES];

void trace_begin(const traced &wanted)
{
    want = wanted;
    for (auto &lane : loads) {
        lane.clear();
    }
}

double trace_end(void)
{
    double turns = 0;
    size_t count = loads[0].size();
    for (const auto &lane : loads) {
        count = lane.size() < count ? lane.size() : count;
    }
    for (size_t i = 0; i < count; i++) {
        std::set<size_t> words[BANKS];
        size_t most = 0;
        for (const auto &lane : loads) {
            auto &bank = words[lane[i] % BANKS];
            bank.insert(lane[i]);
            most = bank.size() > most ? bank.size() : most;
        }
        turns += (double)most;
    }
    want = traced{};
    return count > 0 ? turns / (double)count : 0;
}

/* -------------------------------------------------------------------------------------- counts */

extern "C" char __data_start[], _end[]; /* static memory of the program */

static counted what;
static accesses found[2];
static std::unordered_set<uintptr_t> seen[2][LANES];

void count_begin(const counted &wanted)
{
    what = wanted;
    for (int k = 0; k < 2; k++) {
        found[k] = accesses{};
        for (auto &lane : seen[k]) {
            lane.clear();
        }
    }
}

void count_end(accesses out[2])
{
    for (int k = 0; k < 2; k++) {
        for (const auto &lane : seen[k]) {
            found[k].values += (double)lane.size();
        }
        out[k] = found[k];
    }
    what = counted{};
}

static bool lies_in(const void *at, const void *memory, size_t bytes)
{
    return (uintptr_t)at - (uintptr_t)memory < bytes;
}

/* One more access of its width; a copy of other lengths has none. */
static void count_width(double (&of)[LAB_WIDTHS], size_t bytes)
{
    for (int i = 0; i < LAB_WIDTHS; i++) {
        of[i] += bytes == (size_t)1 << i;
    }
}

static void count(const void *at, size_t bytes, bool stores)
{
    if (what.running == NULL || *what.running == NULL) {
        return;
    }
    const bool shared = lies_in(at, __data_start, (size_t)(_end - __data_start)) &&
                        !lies_in(at, what.own, what.own_bytes);
    bool global = false;
    for (int g = 0; g < LAB_GLOBALS; g++) {
        global = global || lies_in(at, what.global[g], what.global_bytes[g]);
    }
    for (int k = 0; k < 2; k++) {
        if (*what.running == what.kernels[k] && (shared || global)) {
            accesses &to = found[k];
            (shared   ? stores ? to.stores : to.loads
             : stores ? to.writes
                      : to.reads) += (double)bytes;
            if (global) {
                count_width(stores ? to.writes_of : to.reads_of, bytes);
            } else if (!stores) {
                count_width(to.loads_of, bytes);
            }
            for (size_t i = 0; shared && !stores && *what.thread < LANES && i < bytes; i++) {
                seen[k][*what.thread].insert((uintptr_t)at + i);
            }
        } else if (*what.running == what.kernels[k] &&
                   lies_in(at, what.stacks, what.stacks_bytes)) {
            count_width(stores ? found[k].own_stores_of : found[k].own_loads_of, bytes);
        }
    }
}

extern "C" {
static void keep(const void *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)want.memory);
    if (offset < want.bytes && *want.running == want.kernel && *want.thread < LANES) {
        loads[*want.thread].push_back(offset / WORD);
    }
}

#define ACCESS(bytes)                            \
    void __tsan_read##bytes(void *at)            \
    {                                            \
        if (bytes == WORD) {                     \
            keep(at);                            \
        }                                        \
        count(at, bytes, false);                 \
    }                                            \
    void __tsan_write##bytes(void *at)           \
    {                                            \
        count(at, bytes, true);                  \
    }                                            \
    void __tsan_unaligned_read##bytes(void *at)  \
    {                                            \
        count(at, bytes, false);                 \
    }                                            \
    void __tsan_unaligned_write##bytes(void *at) \
    {                                            \
        count(at, bytes, true);                  \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *at, size_t bytes)
{
    count(at, bytes, false);
}
void __tsan_write_range(void *at, size_t bytes)
{
    count(at, bytes, true);
}
void __tsan_vptr_read(void *)
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_vptr_update(void *, void *)
{
}
void __tsan_func_exit(void)
{
}
void __tsan_init(void)
{
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    count(from, bytes, false);
    count(to, bytes, true);
    return __builtin_memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    count(to, bytes, true);
    return __builtin_memset(to, value, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    count(from, bytes, false);
    count(to, bytes, true);
    return __builtin_memmove(to, from, bytes);
}
}
