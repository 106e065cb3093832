/* Weights of tables: see decimals.h. */
#include "io/graph/decimals.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 }; /* characters of a number with a comma */

/* The only comma, between two digits; NULL without one. */
static const char *find_comma(const twi_field *field)
{
    const size_t length = (size_t)(field->end - field->begin);
    const char *comma = memchr(field->begin, ',', length);
    if (comma == NULL || comma == field->begin || comma + 1 == field->end || length > LONGEST ||
        memchr(comma + 1, ',', (size_t)(field->end - comma - 1)) != NULL ||
        memchr(field->begin, '.', length) != NULL || !isdigit((unsigned char)comma[-1]) ||
        !isdigit((unsigned char)comma[1])) {
        return NULL;
    }
    return comma;
}

/* The field with a point in place of its comma; false if that is no number either. */
static bool read_comma(const twi_text_rules *rules, const twi_field *field, const char *comma,
                       twi_number *out)
{
    char plain[LONGEST + 1];
    const size_t length = (size_t)(field->end - field->begin);
    memcpy(plain, field->begin, length);
    plain[comma - field->begin] = '.';
    plain[length] = '\0';
    twi_text alone = {.rules = rules, .at = plain, .end = plain + length};
    return twi_text_number(&alone, out, "a number") && alone.at == alone.end;
}

/* "1,234", "-12,000", but neither "0,125" nor "1234,500". */
static bool may_be_thousands(const twi_field *field, const char *comma)
{
    const char *first = field->begin + (*field->begin == '-' || *field->begin == '+');
    bool digits = field->end - comma == 4;
    for (const char *at = comma + 1; at < field->end; at++) {
        digits &= isdigit((unsigned char)*at) != 0;
    }
    return digits && comma - first <= 3 && *first != '0';
}

bool twi_decimal_has_comma(const twi_field *field)
{
    const char *comma = find_comma(field);
    twi_number ignored;
    return comma != NULL && read_comma(NULL, field, comma, &ignored);
}

bool twi_decimal_read(twi_text *text, const twi_field *field, twi_decimals *seen, twi_number *out)
{
    if (field->begin == field->end) {
        return twi_text_fail(text, TW_ERR_FORMAT, field->begin, "the weight is missing");
    }
    const char *comma = find_comma(field);
    if (comma != NULL && read_comma(text->rules, field, comma, out)) {
        atomic_bool *kind = may_be_thousands(field, comma) ? &seen->thousands : &seen->commas;
        if (!atomic_load_explicit(kind, memory_order_relaxed)) {
            atomic_store(kind, true);
        }
        return true;
    }
    twi_cell cell = twi_field_enter(text, field);
    comma = memchr(field->begin, ',', (size_t)(field->end - field->begin));
    if (!twi_field_leave(text, field, cell, twi_text_number(text, out, "a weight"),
                         comma != NULL ? "a weight: write decimals with a point"
                                       : "a weight: text follows the number")) {
        return false;
    }
    twi_decimals_note_point(seen, out, field->begin, field->end);
    return true;
}

tw_status twi_decimals_check(tw_context *ctx, const twi_input *input, const twi_decimals *seen)
{
    const bool commas = atomic_load(&seen->commas);
    const bool thousands = atomic_load(&seen->thousands);
    if ((commas || thousands) && atomic_load(&seen->points)) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: some weights have points, others commas; write decimals with a "
                       "point, and no separators of thousands",
                       input->name);
    }
    if (thousands && !commas) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.400s: commas in weights such as 1,234 may separate thousands or decimals; "
            "write decimals with a point, and no separators of thousands",
            input->name);
    }
    if (commas) {
        twi_log(ctx, "%.400s: commas in weights are read as decimal points", input->name);
    }
    return TW_OK;
}
