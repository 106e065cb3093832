/*
 * Structs that cross the interface, by their size. A caller that was compiled with an older or a
 * newer header has shorter or longer structs than this library, and says how long in their first
 * member, a multiple of 8 bytes as members of all versions end at. Whatever crosses goes through
 * here, so that nothing is read or written past that:
 *
 *     tw_map_options opts = TW_MAP_OPTIONS_INIT;
 *     status = TWI_TAKE(ctx, tw_map_options, &opts, given);    options; NULL: the defaults
 *
 *     status = TWI_CHECK_ROOM(ctx, tw_map_report, report);     before the work; NULL is fine
 *     ...
 *     TWI_GIVE(tw_map_report, report, &seen);                  after it; NULL: nobody wants it
 *
 *     return TWI_DESCRIBE(ctx, tw_graph_info, out, &ours);     both at once; NULL is an error
 *
 * The macros check that the pointers are of the type, whose name appears in the sentences together
 * with that of its TW_*_INIT macro.
 */
#ifndef TWI_BASE_GIVEN_H
#define TWI_BASE_GIVEN_H

#include "base/context.h"

/* The caller's bytes over the defaults that `ours` holds; ours->size stays. A shorter struct keeps
 * the defaults for the rest, a longer one is refused unless what we do not know of it is zero. */
#define TWI_TAKE(ctx, type, ours, given) \
    twi_take(ctx, #type, (type *){ours}, (const type *){given}, sizeof(type))

/* TW_ERR_ARGUMENT if out->size is no size of such a struct. */
#define TWI_CHECK_ROOM(ctx, type, out) twi_check_room(ctx, #type, (const type *){out})

/* The same for a struct that is of no use unless it reaches through the member `last`. */
#define TWI_CHECK_THROUGH(ctx, type, given, last)        \
    twi_check_through(ctx, #type, (const type *){given}, \
                      offsetof(type, last) + sizeof((given)->last))

/* As much of `ours` as the caller has room for, once TWI_CHECK_ROOM has passed; out->size stays,
 * and so do members that we do not know. */
#define TWI_GIVE(type, out, ours) twi_give((type *){out}, (const type *){ours}, sizeof(type))

/* The answer of a function that describes something; ctx may be NULL. */
#define TWI_DESCRIBE(ctx, type, out, ours) \
    twi_describe(ctx, #type, (type *){out}, (const type *){ours}, sizeof(type))

TWI_SHARED TW_CHECKED tw_status twi_take(tw_context *ctx, const char *type, void *ours,
                                         const void *given, size_t bytes);
TWI_SHARED TW_CHECKED tw_status twi_check_room(tw_context *ctx, const char *type, const void *out);
TW_CHECKED tw_status twi_check_through(tw_context *ctx, const char *type, const void *given,
                                       size_t end);
TWI_SHARED void twi_give(void *out, const void *ours, size_t bytes);
TW_CHECKED tw_status twi_describe(tw_context *ctx, const char *type, void *out, const void *ours,
                                  size_t bytes);

/* Element i of an array of them: they lie as far apart as the first says that it is long. */
const void *twi_given_at(const void *array, int32_t i);
/* TW_ERR_ARGUMENT unless the size of element i is that of the first. */
TW_CHECKED tw_status twi_check_alike(tw_context *ctx, const char *type, const void *array,
                                     int32_t i);

#endif
