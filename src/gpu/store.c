/*
 * What a context keeps of its GPUs: see store.h. A list of idle pieces, the last one given first;
 * there are some dozen, so whoever looks for one looks at all of them. A lock guards the list,
 * since a plan may be destroyed on another thread than its context works on, and workers that run
 * out of memory have idle pieces freed.
 */
#include "gpu/store.h"

#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { PINNED, DEVICE, STREAM, CODE, KINDS } kind;

typedef struct twi_store_piece {
    struct store *owner;
    kind kind;
    int32_t device;
    void *data; /* memory */
    cudaStream_t stream;
    uint64_t bytes; /* of a stream and of code 1, so that they are bounded as memory is */
    char *text;     /* that the code was made from */
    void *module, *function;
    void (*unload)(void *module);
    twi_counted counted;
    struct twi_store_piece *next;
} piece;

typedef struct store {
    pthread_mutex_t lock;
    piece *idle;
    uint64_t idle_bytes[KINDS];
    uint64_t bounds[KINDS];
    int64_t taken;  /* pieces in use */
    bool abandoned; /* by its context: nothing is kept any more */
} store;

/* --------------------------------------------------------------------------------------- pieces */

static void unload(const piece *p)
{
    int before = 0;
    const bool entered = cudaGetDevice(&before) == cudaSuccess;
    (void)cudaSetDevice(p->device);
    p->unload(p->module);
    if (entered) {
        (void)cudaSetDevice(before);
    }
}

/* The pieces of a list, which nobody else can see any more. */
static void free_pieces(piece *first)
{
    while (first != NULL) {
        piece *p = first;
        first = p->next;
        if (p->kind == PINNED) {
            (void)cudaFreeHost(p->data);
        } else if (p->kind == DEVICE) {
            (void)cudaFree(p->data);
        } else if (p->stream != NULL) {
            (void)cudaStreamDestroy(p->stream);
        } else if (p->module != NULL) {
            unload(p);
        }
        twi_free(p->text);
        twi_uncount(&p->counted);
        twi_free(p);
    }
}

/* Take the piece at *at out of the list, into another one. */
static piece *unlink_piece(store *s, piece **at, piece *onto)
{
    piece *p = *at;
    *at = p->next;
    s->idle_bytes[p->kind] -= p->bytes;
    p->next = onto;
    return p;
}

/* Of one kind, or of all (KINDS), those that lie idle beyond `bound`, the longest idle first. */
static piece *take_beyond(store *s, kind which, uint64_t bound)
{
    piece *out = NULL;
    uint64_t seen = 0;
    for (piece **at = &s->idle; *at != NULL;) {
        const bool counts = which == KINDS || (*at)->kind == which;
        seen += counts ? (*at)->bytes : 0;
        if (counts && seen > bound) {
            out = unlink_piece(s, at, out);
        } else {
            at = &(*at)->next;
        }
    }
    return out;
}

/* When its context has left it and the last piece is back: nobody knows it any more. */
static void free_store(store *s)
{
    pthread_mutex_destroy(&s->lock);
    twi_free(s);
}

/* ------------------------------------------------------------------------ what the context calls
 */

static uint64_t idle_bytes(void *self)
{
    store *s = self;
    pthread_mutex_lock(&s->lock);
    const uint64_t bytes = s->idle_bytes[PINNED];
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

/* Whether there was something. */
static bool free_idle(store *s, twi_store_part part)
{
    pthread_mutex_lock(&s->lock);
    piece *out = take_beyond(s,
                             part == TWI_STORE_HOST      ? PINNED
                             : part == TWI_STORE_DEVICES ? DEVICE
                                                         : KINDS,
                             0);
    pthread_mutex_unlock(&s->lock);
    free_pieces(out);
    return out != NULL;
}

static void release(void *self, twi_store_part part)
{
    (void)free_idle(self, part);
}

static void abandon(void *self)
{
    store *s = self;
    (void)free_idle(s, TWI_STORE_ALL);
    pthread_mutex_lock(&s->lock);
    s->abandoned = true;
    const bool over = s->taken == 0;
    pthread_mutex_unlock(&s->lock);
    if (over) {
        free_store(s);
    }
}

static tw_status find_store(tw_context *ctx, store **out)
{
    store *s = ctx->store.self;
    tw_status status = TW_OK;
    if (s == NULL) {
        status = twi_alloc_zeroed(ctx, &s, 1, sizeof *s, "what is kept of a GPU");
        if (status == TW_OK) {
            pthread_mutex_init(&s->lock, NULL);
            s->bounds[PINNED] = TWI_MOST_PINNED;
            s->bounds[STREAM] = TWI_MOST_STREAMS;
            s->bounds[CODE] = TWI_MOST_CODES;
            ctx->store = (twi_store){s, idle_bytes, release, abandon};
        }
    }
    *out = s;
    return status;
}

/* -------------------------------------------------------------------------------- taking, giving
 */

/* The smallest idle one that is large enough. Where the memory of devices is limited, none of it
 * lies idle: together with what is in use it could pass the limit. */
static piece *find_idle(store *s, kind which, int32_t device, uint64_t bytes, bool limited)
{
    piece **best = NULL;
    pthread_mutex_lock(&s->lock);
    s->bounds[DEVICE] = limited ? 0 : TWI_MOST_DEVICE;
    for (piece **at = &s->idle; *at != NULL; at = &(*at)->next) {
        const piece *p = *at;
        if (p->kind == which && p->device == device && p->bytes >= bytes &&
            (best == NULL || p->bytes < (*best)->bytes)) {
            best = at;
        }
    }
    piece *found = best != NULL ? unlink_piece(s, best, NULL) : NULL;
    s->taken += found != NULL;
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* What a piece is made of, from the runtime. */
static cudaError_t acquire(piece *p)
{
    return p->kind == PINNED   ? cudaMallocHost(&p->data, p->bytes)
           : p->kind == DEVICE ? cudaMalloc(&p->data, p->bytes)
                               : cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking);
}

static tw_status make_piece(tw_context *ctx, store *s, piece **out, piece like, const char *what)
{
    piece *p = NULL;
    char text[32];
    char sentence[160];
    tw_status status = twi_alloc_zeroed(ctx, &p, 1, sizeof *p, what);
    if (status != TW_OK) {
        return status;
    }
    *p = like;
    if (p->kind == PINNED) {
        status = twi_count(ctx, &p->counted, p->bytes, what);
    }
    if (status == TW_OK) {
        snprintf(sentence, sizeof sentence,
                 p->kind == STREAM ? "creating %s%s" : "allocating %s for %s",
                 p->kind == STREAM ? "" : twi_bytes(text, (double)p->bytes), what);
        cudaError_t error = acquire(p);
        if (error == cudaErrorMemoryAllocation && free_idle(s, TWI_STORE_ALL)) {
            (void)cudaGetLastError();
            error = acquire(p); /* what nobody used was what was missing */
        }
        status = twi_gpu_check(ctx, (int)error, sentence);
    }
    if (status != TW_OK) {
        p->data = NULL;
        p->stream = NULL;
        free_pieces(p);
        return status;
    }
    pthread_mutex_lock(&s->lock);
    s->taken++;
    pthread_mutex_unlock(&s->lock);
    *out = p;
    return TW_OK;
}

static tw_status take(tw_context *ctx, piece **out, kind which, int32_t device, uint64_t bytes,
                      const char *what)
{
    store *s = NULL;
    tw_status status = find_store(ctx, &s);
    if (status != TW_OK) {
        return status;
    }
    *out =
        find_idle(s, which, device, bytes, ctx->device_memory_limit > 0 || ctx->memory_limit > 0);
    const piece like = {.owner = s, .kind = which, .device = device, .bytes = bytes};
    return *out != NULL ? TW_OK : make_piece(ctx, s, out, like, what);
}

static void give(piece *p, bool keep)
{
    store *s = p->owner;
    piece *out = p;
    pthread_mutex_lock(&s->lock);
    s->taken--;
    p->next = NULL;
    if (keep && !s->abandoned) {
        p->next = s->idle;
        s->idle = p;
        s->idle_bytes[p->kind] += p->bytes;
        out = take_beyond(s, p->kind, s->bounds[p->kind]);
    }
    const bool over = s->abandoned && s->taken == 0;
    pthread_mutex_unlock(&s->lock);
    free_pieces(out);
    if (over) {
        free_store(s);
    }
}

tw_status twi_gpu_take(tw_context *ctx, twi_gpu_block *out, int32_t device, uint64_t bytes,
                       const char *what)
{
    piece *p = NULL;
    *out = (twi_gpu_block){0};
    tw_status status = take(ctx, &p, device == TWI_PINNED ? PINNED : DEVICE, device, bytes, what);
    if (status == TW_OK) {
        *out = (twi_gpu_block){p->data, p->bytes, p};
    }
    return status;
}

void twi_gpu_give(twi_gpu_block *block)
{
    if (block->piece != NULL) {
        give(block->piece, true);
    }
    *block = (twi_gpu_block){0};
}

tw_status twi_gpu_take_stream(tw_context *ctx, twi_gpu_stream *out, int32_t device)
{
    piece *p = NULL;
    *out = (twi_gpu_stream){0};
    tw_status status = take(ctx, &p, STREAM, device, 1, "a stream");
    if (status == TW_OK) {
        *out = (twi_gpu_stream){p->stream, p};
    }
    return status;
}

void twi_gpu_give_stream(twi_gpu_stream *stream)
{
    if (stream->piece != NULL) {
        give(stream->piece, cudaStreamSynchronize(stream->stream) == cudaSuccess);
    }
    *stream = (twi_gpu_stream){0};
}

/* Where the list has it, or where the list ends. */
static piece **code_place(store *s, int32_t device, const char *text)
{
    piece **at = &s->idle;
    while (*at != NULL &&
           ((*at)->kind != CODE || (*at)->device != device || strcmp((*at)->text, text) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

static piece *find_code(store *s, int32_t device, const char *text)
{
    pthread_mutex_lock(&s->lock);
    piece **at = code_place(s, device, text);
    piece *found = *at != NULL ? unlink_piece(s, at, NULL) : NULL;
    s->taken += found != NULL;
    pthread_mutex_unlock(&s->lock);
    return found;
}

bool twi_gpu_keeps_code(const tw_context *ctx, int32_t device, const char *text)
{
    store *s = ctx->store.self;
    if (s == NULL) {
        return false;
    }
    pthread_mutex_lock(&s->lock);
    const bool found = *code_place(s, device, text) != NULL;
    pthread_mutex_unlock(&s->lock);
    return found;
}

tw_status twi_gpu_take_code(tw_context *ctx, twi_gpu_code *out, int32_t device, const char *text)
{
    store *s = NULL;
    *out = (twi_gpu_code){0};
    tw_status status = find_store(ctx, &s);
    piece *p = status == TW_OK ? find_code(s, device, text) : NULL;
    if (p != NULL) {
        *out = (twi_gpu_code){p->module, p->function, p};
    }
    return status;
}

tw_status twi_gpu_own_code(tw_context *ctx, twi_gpu_code *out, int32_t device, const char *text,
                           void *module, void *function, void (*unload_module)(void *module))
{
    const uint64_t length = strlen(text) + 1;
    store *s = NULL;
    piece *p = NULL;
    *out = (twi_gpu_code){0};
    tw_status status = find_store(ctx, &s);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &p, 1, sizeof *p, "a kernel");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &p->text, length, 1, "the text of a kernel");
    }
    if (status != TW_OK) {
        twi_free(p);
        unload_module(module);
        return status;
    }
    p->owner = s;
    p->kind = CODE;
    p->device = device;
    p->bytes = 1;
    p->module = module;
    p->function = function;
    p->unload = unload_module;
    memcpy(p->text, text, length);
    pthread_mutex_lock(&s->lock);
    s->taken++;
    pthread_mutex_unlock(&s->lock);
    *out = (twi_gpu_code){module, function, p};
    return TW_OK;
}

void twi_gpu_give_code(twi_gpu_code *code)
{
    if (code->piece != NULL) {
        give(code->piece, true);
    }
    *code = (twi_gpu_code){0};
}
