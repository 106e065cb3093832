/*
 * What ThreadSanitizer's instrumentation calls before each access, without its runtime: loads from
 * shared memory are kept by lane, in their order. The lanes of a warp run the same instructions, so
 * the i-th load of each is one access of the warp, which takes as many turns as there are different
 * words in one of the 32 banks.
 */
#include "trace.h"

#include <set>
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

extern "C" {
void __tsan_read4(void *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)want.memory);
    if (offset < want.bytes && *want.running == want.kernel && *want.thread < LANES) {
        loads[*want.thread].push_back(offset / WORD);
    }
}

#define NOT_KEPT(name)         \
    void __tsan_##name(void *) \
    {                          \
    }
NOT_KEPT(read1)
NOT_KEPT(read2)
NOT_KEPT(read8)
NOT_KEPT(read16)
NOT_KEPT(write1)
NOT_KEPT(write2)
NOT_KEPT(write4)
NOT_KEPT(write8)
NOT_KEPT(write16)
NOT_KEPT(unaligned_read2)
NOT_KEPT(unaligned_read4)
NOT_KEPT(unaligned_read8)
NOT_KEPT(unaligned_read16)
NOT_KEPT(unaligned_write2)
NOT_KEPT(unaligned_write4)
NOT_KEPT(unaligned_write8)
NOT_KEPT(unaligned_write16)
NOT_KEPT(vptr_read)
NOT_KEPT(func_entry)

void __tsan_read_range(void *, size_t)
{
}
void __tsan_write_range(void *, size_t)
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
    return __builtin_memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    return __builtin_memset(to, value, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    return __builtin_memmove(to, from, bytes);
}
}
