/* Structs that cross the interface: see given.h. */
#include "base/given.h"

#include <string.h>

/* No struct of ours will be longer: a size above this was never set, and is not followed through
 * memory in search of something that is not zero. */
#define SIZE_MOST 4096

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

/* Refuse a size, naming the macro that sets it: TW_MAP_OPTIONS_INIT for tw_map_options. */
static tw_status refuse(tw_context *ctx, const char *type, size_t size, const char *why)
{
    char macro[64] = "";
    for (size_t i = 0; type[i] != '\0' && i + 1 < sizeof macro; i++) {
        macro[i] = (char)(type[i] >= 'a' && type[i] <= 'z' ? type[i] - 'a' + 'A' : type[i]);
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT, "%s.size is %zu, %s: initialise it with %s_INIT", type,
                   size, why, macro);
}

tw_status twi_check_room(tw_context *ctx, const char *type, const void *out)
{
    if (out == NULL) {
        return TW_OK;
    }
    const size_t size = size_of(out);
    if (size < sizeof size) {
        return refuse(ctx, type, size, "less than the member itself takes");
    }
    if (size % sizeof size != 0) { /* it would cut a pointer or a number in two */
        return refuse(ctx, type, size, "which is not a multiple of 8");
    }
    return size <= SIZE_MOST ? TW_OK : refuse(ctx, type, size, "which no such struct has");
}

tw_status twi_check_through(tw_context *ctx, const char *type, const void *given, size_t end)
{
    const tw_status status = twi_check_room(ctx, type, given);
    if (status != TW_OK || given == NULL || size_of(given) >= end) {
        return status;
    }
    return refuse(ctx, type, size_of(given), "which is less than any version of it has");
}

tw_status twi_take(tw_context *ctx, const char *type, void *ours, const void *given, size_t bytes)
{
    if (given == NULL) {
        return TW_OK;
    }
    const tw_status status = twi_check_room(ctx, type, given);
    if (status != TW_OK) {
        return status;
    }
    const size_t size = size_of(given);
    for (size_t i = bytes; i < size; i++) {
        if (((const unsigned char *)given)[i] != 0) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%s.size is %zu and byte %zu is not 0, but version %s knows only %zu "
                           "bytes and would ignore the rest; use a newer library",
                           type, size, i, TW_VERSION_STRING, bytes);
        }
    }
    twi_give(ours, given, size < bytes ? size : bytes);
    return TW_OK;
}

void twi_give(void *out, const void *ours, size_t bytes)
{
    if (out == NULL) {
        return;
    }
    const size_t room = size_of(out);
    const size_t known = room < bytes ? room : bytes;
    const size_t first = sizeof(size_t); /* each keeps its own size */
    memcpy((char *)out + first, (const char *)ours + first, known - first);
}

tw_status twi_describe(tw_context *ctx, const char *type, void *out, const void *ours, size_t bytes)
{
    if (out == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the %s to fill is NULL", type);
    }
    const tw_status status = twi_check_room(ctx, type, out);
    if (status == TW_OK) {
        twi_give(out, ours, bytes);
    }
    return status;
}

const void *twi_given_at(const void *array, int32_t i)
{
    return (const char *)array + (size_t)i * size_of(array);
}

tw_status twi_check_alike(tw_context *ctx, const char *type, const void *array, int32_t i)
{
    const size_t size = size_of(twi_given_at(array, i));
    if (size == size_of(array)) {
        return TW_OK;
    }
    return tw_fail(
        ctx, TW_ERR_ARGUMENT,
        "%s %d has size %zu and the first of the array has %zu: all of one array must have "
        "the same size",
        type, (int)i, size, size_of(array));
}
