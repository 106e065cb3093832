/* Names of vertices: see labels.h. */
#include "io/graph/labels.h"

#include "base/memory.h"
#include "base/random.h"
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_NAMES 1024
#define FIRST_TEXT 16384
#define SAMPLE_SLOTS 16384 /* of a sample, which is halved when half of them are used */
#define SAMPLE_DOUBT 3     /* standard deviations that an estimate is raised by */

/* Hashes that end in `zeros` zeros, and the lengths of their names; a hash of 0 is an empty slot.
 */
typedef struct twi_label_sample {
    uint64_t hashes[SAMPLE_SLOTS];
    uint32_t lengths[SAMPLE_SLOTS];
    int64_t count;
    int zeros;
} twi_label_sample;

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

/* A quarter more than there is: what a limit must leave can be told the better the less this is. */
static uint64_t next_offsets(uint64_t room)
{
    return room + room / 4 + FIRST_NAMES;
}

static uint64_t next_text(uint64_t room, uint64_t length)
{
    return room + room / 4 + length + FIRST_TEXT;
}

/* Room for one more name. */
static tw_status make_room(tw_context *ctx, twi_labels *labels, size_t length)
{
    tw_status status = TW_OK;
    if (labels->count == labels->offsets_room) {
        const int64_t room = (int64_t)next_offsets((uint64_t)labels->offsets_room);
        status = twi_grow(ctx, &labels->offsets, (uint64_t)labels->count * sizeof(int64_t),
                          (uint64_t)room, sizeof(int64_t), "the vertex names");
        if (status != TW_OK) {
            return status;
        }
        labels->offsets_room = room;
    }
    if (labels->text_room - labels->text_used <= length) {
        const uint64_t room = next_text(labels->text_room, length);
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

/* ------------------------------------------------------------------------------------ counting */

static void put_hash(twi_label_sample *sample, uint64_t hash, uint32_t length)
{
    uint64_t at = (hash >> 32) % SAMPLE_SLOTS; /* its end is zeros */
    while (sample->hashes[at] != 0 && sample->hashes[at] != hash) {
        at = (at + 1) % SAMPLE_SLOTS;
    }
    sample->count += sample->hashes[at] == 0;
    sample->hashes[at] = hash;
    sample->lengths[at] = length;
}

static bool is_sampled(const twi_label_sample *sample, uint64_t hash)
{
    return hash != 0 && (hash & (((uint64_t)1 << sample->zeros) - 1)) == 0;
}

/* Half of the sample, in place: a run of slots is put again from its begin on. */
static void halve(twi_label_sample *sample)
{
    sample->zeros++;
    sample->count = 0;
    uint64_t start = 0;
    while (sample->hashes[start] != 0) {
        start++; /* half of the slots are empty */
    }
    for (uint64_t i = 1; i <= SAMPLE_SLOTS; i++) {
        const uint64_t at = (start + i) % SAMPLE_SLOTS;
        const uint64_t hash = sample->hashes[at];
        sample->hashes[at] = 0;
        if (is_sampled(sample, hash)) {
            put_hash(sample, hash, sample->lengths[at]);
        }
    }
}

/* The key is not secret: names that are chosen to mislead make the estimate wrong and nothing else.
 * So the same file has the same. */
static void sample_name(twi_label_sample *sample, const char *name, size_t length)
{
    static const uint64_t key[2] = {0x74696c6577726967, 0x6874206e616d6573};
    const uint64_t hash = twi_label_hash(key, name, length);
    if (is_sampled(sample, hash)) {
        put_hash(sample, hash, (uint32_t)(length < UINT32_MAX ? length : UINT32_MAX));
        if (sample->count > SAMPLE_SLOTS / 2) {
            halve(sample);
        }
    }
}

bool twi_labels_count(tw_context *ctx, twi_labels *labels)
{
    twi_label_sample *sample = NULL;
    if (labels->sample != NULL) {
        return false;
    }
    twi_free(labels->slots); /* makes room for the sample */
    labels->slots = NULL;
    labels->slot_count = 0;
    sample = twi_try_alloc(ctx, 1, sizeof *sample);
    if (sample == NULL) {
        return false;
    }
    memset(sample, 0, sizeof *sample);
    for (int64_t v = 0; v < labels->count; v++) {
        const char *name = labels->text + labels->offsets[v];
        sample_name(sample, name, strlen(name));
    }
    twi_labels_clear(labels);
    labels->sample = sample;
    return true;
}

twi_labels_guess twi_labels_estimate(const twi_labels *labels)
{
    const twi_label_sample *sample = labels->sample;
    const double each = sample != NULL ? ldexp(1, sample->zeros) : 0;
    double bytes = 0, squares = 0;
    for (uint64_t at = 0; sample != NULL && at < SAMPLE_SLOTS; at++) {
        const double length = sample->hashes[at] != 0 ? (double)sample->lengths[at] + 1 : 0;
        bytes += length;
        squares += length * length;
    }
    if (sample == NULL || sample->count == 0) {
        return (twi_labels_guess){.count = labels->count};
    }
    const double doubt = sample->zeros > 0 ? SAMPLE_DOUBT : 0;
    const double count = each * ((double)sample->count + doubt * sqrt((double)sample->count));
    const double text = each * (bytes + doubt * sqrt(squares));
    uint64_t names = 0, letters = 0, slots = 2 * FIRST_NAMES, old_names = 0, old_letters = 0;
    while ((double)names < count) {
        old_names = names;
        names = next_offsets(names);
    }
    while ((double)letters < text) {
        old_letters = letters;
        letters = next_text(letters, (uint64_t)(bytes / (double)sample->count));
    }
    while ((double)slots < 2 * count) {
        slots *= 2;
    }
    old_names *= sizeof(int64_t);
    uint64_t beside = slots / 2 * sizeof(int32_t); /* held while the last growth goes on */
    beside = old_names > beside ? old_names : beside;
    beside = old_letters > beside ? old_letters : beside;
    twi_labels_guess guess = {.count =
                                  count < TWI_MOST_VERTICES ? (int64_t)count : TWI_MOST_VERTICES,
                              .guessed = sample->zeros > 0,
                              .kept = names * sizeof(int64_t) + letters};
    guess.end = guess.kept + slots * sizeof(int32_t);
    guess.end -= guess.end > sizeof *sample ? sizeof *sample : guess.end;
    guess.kept -= guess.kept > sizeof *sample ? sizeof *sample : guess.kept;
    guess.reading = guess.end + beside;
    return guess;
}

tw_status twi_labels_vertex(tw_context *ctx, twi_labels *labels, const char *name, size_t length,
                            int32_t *out)
{
    if (labels->sample != NULL) {
        sample_name(labels->sample, name, length);
        *out = 0;
        return TW_OK;
    }
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
    twi_free(labels->sample);
    twi_free(labels->slots);
    twi_free(labels->offsets);
    twi_free(labels->text);
    *labels = (twi_labels){0};
}
