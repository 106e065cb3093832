/* The context: see context.h. */
#include "base/context.h"

#include "base/background.h"
#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_INTERVAL 0.1 /* seconds between two calls of the user's callback */

const char *tw_version(void)
{
    return TW_VERSION_STRING;
}

const char *tw_status_name(tw_status status)
{
    static const char *const names[] = {"TW_OK",
                                        "TW_ERR_ARGUMENT",
                                        "TW_ERR_MEMORY",
                                        "TW_ERR_IO",
                                        "TW_ERR_FORMAT",
                                        "TW_ERR_RANGE",
                                        "TW_ERR_UNSUPPORTED",
                                        "TW_ERR_CANCELLED",
                                        "TW_ERR_NEGATIVE_CYCLE",
                                        "TW_ERR_VERIFY",
                                        "TW_ERR_DEVICE",
                                        "TW_ERR_INTERNAL"};
    if (status < 0 || status >= (tw_status)(sizeof names / sizeof *names)) {
        return "TW_ERR_UNKNOWN";
    }
    return names[status];
}

tw_status tw_context_create(tw_context **out)
{
    if (out == NULL) {
        return TW_ERR_ARGUMENT;
    }
    *out = NULL;
    tw_context *ctx = calloc(1, sizeof *ctx);
    twi_meter *meter = twi_meter_create();
    if (ctx == NULL || meter == NULL) {
        free(ctx);
        twi_meter_release(meter);
        return TW_ERR_MEMORY;
    }
    ctx->meter = meter;
    ctx->compression = -1;
    atomic_init(&ctx->cancelled, 0);
    strcpy(ctx->device, "auto");
    *out = ctx;
    return TW_OK;
}

void tw_context_destroy(tw_context *ctx)
{
    if (ctx == NULL) {
        return;
    }
    twi_background_join(ctx->startup);
    tw_device_release(ctx);
    twi_free(ctx->cycle);
    twi_meter_keep(ctx->meter, false);
    twi_meter_release(ctx->meter);
    free(ctx);
}

void tw_device_release(tw_context *ctx)
{
    if (ctx != NULL && ctx->store.self != NULL) {
        ctx->store.abandon(ctx->store.self);
        ctx->store = (twi_store){0};
    }
    if (ctx != NULL) {
        twi_meter_keep(ctx->meter, false);
        twi_meter_keep(ctx->meter, ctx->memory_limit == 0);
    }
}

uint64_t twi_store_idle(const tw_context *ctx)
{
    return ctx->store.self != NULL ? ctx->store.idle(ctx->store.self) : 0;
}

void twi_store_release(const tw_context *ctx, twi_store_part part)
{
    if (ctx->store.self != NULL) {
        ctx->store.release(ctx->store.self, part);
    }
}

const char *tw_last_error(const tw_context *ctx)
{
    return ctx != NULL ? ctx->error : "there is no context";
}

#undef tw_fail
tw_status tw_fail(tw_context *ctx, tw_status status, const char *format, ...)
{
    /* The arguments may point into ctx->error itself (a caller that adds a place to a sentence). */
    char text[sizeof ctx->error];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (ctx != NULL) {
        memcpy(ctx->error, text, sizeof text);
    }
    return status;
}

void tw_set_error(tw_context *ctx, const char *text)
{
    (void)tw_fail(ctx, TW_OK, "%s", text != NULL ? text : "");
}

void twi_clear_handle(void *out)
{
    twi_clear(out, sizeof(void *));
}

void twi_clear(void *out, size_t bytes)
{
    if (out != NULL) {
        memset(out, 0, bytes);
    }
}

tw_status twi_require(tw_context *ctx, const char *function, const twi_argument *arguments,
                      int count)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    for (int i = 0; i < count; i++) {
        if (arguments[i].pointer == NULL) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s: %s is NULL", function, arguments[i].name);
        }
    }
    return TW_OK;
}

tw_status tw_set_memory(tw_context *ctx, uint64_t bytes)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    ctx->memory_limit = bytes;
    twi_meter_keep(ctx->meter, bytes == 0);
    twi_store_release(ctx, TWI_STORE_DEVICES);
    return TW_OK;
}

tw_status tw_set_memory_floor(tw_context *ctx, uint64_t bytes)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    ctx->memory_floor = bytes;
    return TW_OK;
}

tw_status tw_set_graph_use(tw_context *ctx, tw_graph_use_fn use, void *user)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    ctx->graph_use = use;
    ctx->graph_use_user = user;
    return TW_OK;
}

tw_status tw_set_device_memory(tw_context *ctx, uint64_t bytes)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    ctx->device_memory_limit = bytes;
    twi_store_release(ctx, TWI_STORE_DEVICES);
    return TW_OK;
}

tw_status tw_set_compression(tw_context *ctx, int32_t level)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    if (level < -1 || level > 9) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "compression level %d; use 0 to 9, or -1", level);
    }
    ctx->compression = level;
    return TW_OK;
}

uint64_t tw_memory_limit(const tw_context *ctx)
{
    if (ctx == NULL || ctx->memory_limit != 0) {
        return ctx != NULL ? ctx->memory_limit : 0;
    }
    return twi_meter_limit(ctx->meter);
}

uint64_t tw_memory_used(const tw_context *ctx)
{
    return ctx != NULL ? twi_meter_live(ctx->meter) : 0;
}

uint64_t tw_memory_peak(const tw_context *ctx)
{
    return ctx != NULL ? twi_meter_peak(ctx->meter) : 0;
}

/* TWI_GPU_NAME alone, or followed by ":0", ":0,1", ...: whether such devices exist is seen when
 * they are used. */
#ifdef TWI_GPU_NAME
static bool names_gpus(const char *name)
{
    const size_t prefix = sizeof TWI_GPU_NAME - 1;
    if (strncmp(name, TWI_GPU_NAME, prefix) != 0) {
        return false;
    }
    const char *at = name + prefix;
    for (char mark = ':'; *at != '\0'; mark = ',') {
        size_t digits = strspn(at + 1, "0123456789");
        if (*at != mark || digits == 0 || digits > 3) {
            return false;
        }
        at += 1 + digits;
    }
    return true;
}
#define DEVICES_OF_THIS_BUILD "use 'cpu', 'auto', '" TWI_GPU_NAME "' or '" TWI_GPU_NAME ":0'"
#else
static bool names_gpus(const char *name)
{
    (void)name;
    return false;
}
#define DEVICES_OF_THIS_BUILD "this build computes on the CPU only; use 'cpu' or 'auto'"
#endif

tw_status tw_set_device(tw_context *ctx, const char *name)
{
    tw_status missing = TWI_REQUIRE(ctx, {"name", name});
    if (missing != TW_OK) {
        return missing;
    }
    bool known = strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0 || names_gpus(name);
    if (!known || strlen(name) >= sizeof ctx->device) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device '%.40s': " DEVICES_OF_THIS_BUILD, name);
    }
    snprintf(ctx->device, sizeof ctx->device, "%s", name);
    return TW_OK;
}

static tw_status isa_by_name(tw_context *ctx, twi_isa *out, const char *name, const char *where)
{
    char have[64];
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        if (strcmp(name, twi_isa_name(isa)) == 0 && twi_isa_usable(isa)) {
            *out = isa;
            return TW_OK;
        }
    }
    twi_isa_names(have);
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "%s'%.40s' is not an instruction set of this machine and build; it has: %s",
                   where, name, have);
}

tw_status tw_set_isa(tw_context *ctx, const char *name)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    twi_isa isa = TWI_ISA_NONE;
    tw_status status = TW_OK;
    if (name != NULL) {
        status = isa_by_name(ctx, &isa, name, "");
    }
    if (status == TW_OK) {
        ctx->isa = isa;
    }
    return status;
}

tw_status twi_isa_resolve(tw_context *ctx, twi_isa *out)
{
    if (ctx->isa != TWI_ISA_NONE) {
        *out = ctx->isa;
        return TW_OK;
    }
    const char *forced = getenv("TW_ISA");
    if (forced != NULL && forced[0] != '\0') {
        return isa_by_name(ctx, out, forced, "TW_ISA=");
    }
    *out = twi_isa_best();
    if (*out != TWI_ISA_NONE) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_INTERNAL, "no instruction set is usable, not even scalar");
}

void tw_set_progress(tw_context *ctx, tw_progress_fn fn, void *user)
{
    if (ctx != NULL) {
        ctx->progress = fn;
        ctx->progress_user = user;
    }
}

void tw_set_log(tw_context *ctx, tw_log_fn fn, void *user)
{
    if (ctx != NULL) {
        ctx->log = fn;
        ctx->log_user = user;
    }
}

void tw_cancel(tw_context *ctx)
{
    if (ctx != NULL) {
        atomic_store_explicit(&ctx->cancelled, 1, memory_order_relaxed);
    }
}

void tw_clear_cancel(tw_context *ctx)
{
    if (ctx != NULL) {
        atomic_store_explicit(&ctx->cancelled, 0, memory_order_relaxed);
    }
}

tw_status twi_check_cancel(tw_context *ctx)
{
    if (twi_is_cancelled(ctx)) {
        return tw_fail(ctx, TW_ERR_CANCELLED, "stopped on request before the result was complete");
    }
    return TW_OK;
}

void twi_progress(tw_context *ctx, const char *stage, double done, double total, const char *unit)
{
    if (ctx->progress == NULL) {
        return;
    }
    double now = twi_seconds();
    if (done != total && now - ctx->progress_last < PROGRESS_INTERVAL) {
        return;
    }
    ctx->progress_last = now;
    ctx->progress(ctx->progress_user, stage, done, total, unit);
}

void twi_log(tw_context *ctx, const char *format, ...)
{
    if (ctx->log == NULL) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ctx->log(ctx->log_user, line);
}
