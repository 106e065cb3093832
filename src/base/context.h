/*
 * The context: everything a call needs that is not its data. It carries the error sentence, the
 * limits, the callbacks and the cancel flag; it holds no threads, and of a GPU what the next call
 * would have to wait for (gpu/store.h).
 *
 * Inside the library names begin with twi_, so that a static link cannot collide with the user's.
 */
#ifndef TWI_BASE_CONTEXT_H
#define TWI_BASE_CONTEXT_H

#include "tilewright.h"

#include "base/isa.h"
#include "base/meter.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What is kept for later calls, and how it is given back; all NULL if nothing is. */
typedef enum twi_store_part {
    TWI_STORE_HOST,    /* idle memory of the host, which is counted */
    TWI_STORE_DEVICES, /* idle memory of devices */
    TWI_STORE_ALL
} twi_store_part;
typedef struct twi_store {
    void *self;
    uint64_t (*idle)(void *self);                     /* bytes of the host, any thread */
    void (*release)(void *self, twi_store_part part); /* any thread */
    void (*abandon)(void *self); /* give all back, now or once it is out of use */
} twi_store;

struct tw_context {
    char error[1024];
    twi_meter *meter;    /* counts memory; outlives the context while blocks of it live */
    int32_t threads;     /* as asked for; 0: all */
    int32_t threads_had; /* as many as the system gave, if it was fewer; else 0 */
    uint64_t memory_limit;
    uint64_t memory_floor;     /* what is never refused, whatever the limit */
    tw_graph_use_fn graph_use; /* what the caller takes beside a graph; NULL: nothing */
    void *graph_use_user;
    int32_t compression;          /* of image files, 0 to 9; -1: as the format likes */
    uint64_t device_memory_limit; /* of each GPU; 0: memory_limit, or what is free there */
    twi_isa isa; /* as forced by tw_set_isa; TWI_ISA_NONE: the environment, or the best */
    char device[64];
    tw_progress_fn progress;
    void *progress_user;
    double progress_last; /* when the callback was last called */
    tw_log_fn log;
    void *log_user;
    atomic_int cancelled;
    int32_t *cycle; /* the last negative cycle */
    int64_t cycle_count;
    struct twi_background *startup; /* of a GPU, while it goes on: see gpu/startup.h */
    int32_t startup_device;
    double startup_seconds; /* 0: not started */
    twi_store store;
    char processor[128]; /* text behind tw_machine */
    char isa_list[64];
    char gpu_driver[32];
    char gpu_runtime[32];
};

/* Write the sentence and return the status: `return tw_fail(ctx, TW_ERR_FORMAT, ...)`. A second
 * failure while unwinding must not hide the first, so only the outermost caller of a failing
 * function calls it. */
#ifdef __clang_analyzer__ /* it checks one file at a time: tell it that the status comes back */
#define tw_fail(ctx, status, ...) ((void)tw_fail(ctx, status, __VA_ARGS__), (status))
#endif

/* An argument that may not be NULL, by its name in the header. */
typedef struct twi_argument {
    const char *name;
    const void *pointer;
} twi_argument;

/* TW_ERR_ARGUMENT if the context or one of the arguments is NULL, with a sentence that names the
 * function and the argument: TWI_REQUIRE(ctx, {"out", out}, {"graph", graph}). */
#define TWI_REQUIRE(ctx, ...)                                       \
    twi_require(ctx, __func__, (const twi_argument[]){__VA_ARGS__}, \
                (int)(sizeof((const twi_argument[]){__VA_ARGS__}) / sizeof(twi_argument)))
/* Nothing into what `out` points to, a handle or a struct, unless it is NULL: what a function that
 * fails leaves there. */
TWI_SHARED void twi_clear_handle(void *out);
#define TWI_CLEAR(out) twi_clear(out, sizeof *(out))
void twi_clear(void *out, size_t bytes);
TWI_SHARED TW_CHECKED tw_status twi_require(tw_context *ctx, const char *function,
                                            const twi_argument *arguments, int count);

/* The ISA of this context: forced, else TW_ISA, else the best. */
TWI_SHARED TW_CHECKED tw_status twi_isa_resolve(tw_context *ctx, twi_isa *out);

/* TW_ERR_CANCELLED with its sentence if tw_cancel was called, else TW_OK. For the calling thread;
 * workers look at twi_is_cancelled and stop. */
TWI_SHARED TW_CHECKED tw_status twi_check_cancel(tw_context *ctx);

static inline bool twi_is_cancelled(tw_context *ctx)
{
    return atomic_load_explicit(&ctx->cancelled, memory_order_relaxed) != 0;
}

/* The same for a loop whose turns take so many steps each, arcs of a vertex as a rule: it looks
 * once in so many steps, the first time with *left at 0. */
enum { TWI_STEPS_BETWEEN_LOOKS = 1 << 16 };
static inline bool twi_is_stopped(tw_context *ctx, int64_t *left, int64_t steps)
{
    *left -= steps + 1;
    if (*left >= 0) {
        return false;
    }
    *left = TWI_STEPS_BETWEEN_LOOKS;
    return twi_is_cancelled(ctx);
}

/* Report progress, at most ten times per second (`done == total` always passes). Calling thread
 * only. */
TWI_SHARED void twi_progress(tw_context *ctx, const char *stage, double done, double total,
                             const char *unit);

/* Bytes of host memory that are counted, but kept for later calls and can be given back. */
uint64_t twi_store_idle(const tw_context *ctx);
/* Give back that part of what is kept. */
void twi_store_release(const tw_context *ctx, twi_store_part part);

TWI_SHARED void twi_log(tw_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes that may be held on each GPU; 0: what is free there. */
static inline uint64_t twi_gpu_limit(const tw_context *ctx)
{
    return ctx->device_memory_limit > 0 ? ctx->device_memory_limit : ctx->memory_limit;
}

#endif
