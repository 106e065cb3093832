/* Element types: sizes and names. */
#include "base/type.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [TW_AUTO] = {"auto", 0}, [TW_U8] = {"u8", 1},   [TW_U16] = {"u16", 2},
    [TW_I16] = {"i16", 2},   [TW_I32] = {"i32", 4}, [TW_F32] = {"f32", 4},
    [TW_F64] = {"f64", 8},   [TW_F16] = {"f16", 2}, [TW_I64] = {"i64", 8},
};
#define TYPES ((tw_type)(sizeof types / sizeof *types))

static int known(tw_type type)
{
    return type >= 0 && type < TYPES;
}

size_t tw_type_size(tw_type type)
{
    return known(type) ? types[type].size : 0;
}

const char *tw_type_name(tw_type type)
{
    return known(type) ? types[type].name : "?";
}

bool twi_type_is_element(tw_type type)
{
    return tw_type_size(type) > 0 && type != TW_F16 && type != TW_I64;
}

bool twi_type_is_whole(tw_type type)
{
    return type == TW_U8 || type == TW_U16 || type == TW_I16 || type == TW_I32 || type == TW_I64;
}

tw_status tw_type_parse(tw_type *out, const char *name)
{
    for (tw_type type = 0; out != NULL && name != NULL && type < TYPES; type++) {
        if (strcmp(name, types[type].name) == 0) {
            *out = type;
            return TW_OK;
        }
    }
    return TW_ERR_ARGUMENT;
}
