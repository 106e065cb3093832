/* Names of vertices: see labels.h. */
#include "io/graph/labels.h"

#include "base/memory.h"
#include "base/random.h"
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_NAMES 1024
#define FIRST_TEXT 16384

/* SipHash-1-3 (Aumasson and Bernstein, 2012): one round a word of eight bytes, three at the end. */
static inline uint64_t rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

uint64_t twi_label_hash(const uint64_t key[2], const char *name, size_t length)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    uint64_t last = (uint64_t)length << 56;
    for (; length >= sizeof last; name += sizeof last, length -= sizeof last) {
        uint64_t word;
        memcpy(&word, name, sizeof word);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < length; i++) {
        last |= (uint64_t)(unsigned char)name[i] << (8 * i);
    }
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++) {
        sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* A system that gives no random bytes gets a key that at least differs from run to run. */
static void draw_key(uint64_t key[2])
{
    if (getrandom(key, 2 * sizeof *key, GRND_NONBLOCK) != (ssize_t)(2 * sizeof *key)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        key[0] = twi_random_at((uint64_t)now.tv_nsec, (uint64_t)now.tv_sec);
        key[1] = twi_random_at(key[0], (uint64_t)(uintptr_t)key);
    }
}

/* The slot of a name, or the empty one where it belongs. */
static int32_t *find_slot(const twi_labels *labels, const char *name, size_t length)
{
    uint64_t mask = labels->slot_count - 1;
    for (uint64_t at = twi_label_hash(labels->key, name, length) & mask;; at = (at + 1) & mask) {
        int32_t vertex = labels->slots[at] - 1;
        if (vertex < 0) {
            return &labels->slots[at];
        }
        const char *known = labels->text + labels->offsets[vertex];
        if (strncmp(known, name, length) == 0 && known[length] == '\0') {
            return &labels->slots[at];
        }
    }
}

static tw_status grow_slots(tw_context *ctx, twi_labels *labels)
{
    twi_labels wider = *labels;
    if (labels->slot_count == 0) {
        draw_key(wider.key);
    }
    wider.slot_count = labels->slot_count > 0 ? 2 * labels->slot_count : 2 * FIRST_NAMES;
    tw_status status = twi_alloc_zeroed(ctx, &wider.slots, wider.slot_count, sizeof *wider.slots,
                                        "the table of vertex names");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t v = 0; v < labels->count; v++) {
        const char *name = labels->text + labels->offsets[v];
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): with a name there is text */
        *find_slot(&wider, name, strlen(name)) = (int32_t)v + 1;
    }
    twi_free(labels->slots);
    *labels = wider;
    return TW_OK;
}

/* Room for one more name. */
static tw_status make_room(tw_context *ctx, twi_labels *labels, size_t length)
{
    tw_status status = TW_OK;
    if (labels->count == labels->offsets_room) {
        int64_t room = labels->count > 0 ? 2 * labels->count : FIRST_NAMES;
        status = twi_grow(ctx, &labels->offsets, (uint64_t)labels->count * sizeof(int64_t),
                          (uint64_t)room, sizeof(int64_t), "the vertex names");
        if (status != TW_OK) {
            return status;
        }
        labels->offsets_room = room;
    }
    if (labels->text_room - labels->text_used <= length) {
        uint64_t room = 2 * labels->text_room + length + FIRST_TEXT;
        status = twi_grow(ctx, &labels->text, labels->text_used, room, 1, "the vertex names");
        if (status != TW_OK) {
            return status;
        }
        labels->text_room = room;
    }
    if (2 * (uint64_t)labels->count >= labels->slot_count) {
        status = grow_slots(ctx, labels);
    }
    return status;
}

tw_status twi_labels_vertex(tw_context *ctx, twi_labels *labels, const char *name, size_t length,
                            int32_t *out)
{
    if (labels->slot_count > 0) {
        int32_t known = *find_slot(labels, name, length);
        if (known > 0) {
            *out = known - 1;
            return TW_OK;
        }
    }
    if (labels->count == TWI_MOST_VERTICES) {
        return tw_fail(ctx, TW_ERR_RANGE, "more than %d names of vertices", TWI_MOST_VERTICES);
    }
    tw_status status = make_room(ctx, labels, length);
    if (status != TW_OK) {
        return status;
    }
    int32_t vertex = (int32_t)labels->count++;
    labels->offsets[vertex] = (int64_t)labels->text_used;
    memcpy(labels->text + labels->text_used, name, length);
    labels->text[labels->text_used + length] = '\0';
    labels->text_used += length + 1;
    *find_slot(labels, name, length) = vertex + 1;
    *out = vertex;
    return TW_OK;
}

int32_t twi_labels_find(const twi_labels *labels, const char *name, size_t length)
{
    return labels->slot_count > 0 ? *find_slot(labels, name, length) - 1 : -1;
}

static int by_name(const void *left, const void *right, void *self)
{
    const twi_labels *labels = self;
    return strcmp(labels->text + labels->offsets[*(const int32_t *)left],
                  labels->text + labels->offsets[*(const int32_t *)right]);
}

tw_status twi_labels_give(tw_context *ctx, twi_labels *labels, tw_graph *graph)
{
    tw_status status = twi_alloc(ctx, &graph->label_order, (uint64_t)graph->n, sizeof(int32_t),
                                 "the order of vertex names");
    if (status == TW_OK && labels->count == 0) {
        status = make_room(ctx, labels, 0); /* a graph without vertices is labelled all the same */
    }
    if (status != TW_OK) {
        return status;
    }
    for (int64_t v = 0; v < graph->n; v++) {
        graph->label_order[v] = (int32_t)v;
    }
    qsort_r(graph->label_order, (size_t)graph->n, sizeof(int32_t), by_name, labels);
    graph->label_text = labels->text;
    graph->label_offsets = labels->offsets;
    labels->text = NULL;
    labels->offsets = NULL;
    return TW_OK;
}

void twi_labels_clear(twi_labels *labels)
{
    twi_free(labels->slots);
    twi_free(labels->offsets);
    twi_free(labels->text);
    *labels = (twi_labels){0};
}
