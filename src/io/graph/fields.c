/* The fields of a line: see fields.h. */
#include "io/graph/fields.h"

twi_found twi_field_find(twi_text *text, char separator, bool first)
{
    const char between = separator == ' ' ? ',' : separator;
    const bool tabs = separator == '\t';
    while (text->at < text->end && twi_text_is_blank(*text->at) && !(tabs && *text->at == '\t')) {
        text->at++;
    }
    if (text->at == text->end || *text->at == '\n') {
        return TWI_LINE_END;
    }
    if (*text->at == between && !first) {
        text->at++;
        if (separator == ' ' && twi_text_line_ends(text)) {
            return TWI_LINE_END;
        }
    }
    if (separator == ' ') {
        if (*text->at == ',') {
            twi_text_fail(text, TW_ERR_FORMAT, NULL, "there is nothing before this comma");
            return TWI_BROKEN;
        }
        if (*text->at == '#' || *text->at == '%') {
            twi_text_skip_line(text);
            return TWI_LINE_END;
        }
    }
    return TWI_FIELD;
}

/* Behind the closing quote of the field that begins at text->at. */
static bool skip_quoted(twi_text *text, char separator, twi_field *out)
{
    const char *at = text->at + 1;
    *out = (twi_field){.begin = at, .quoted = true};
    while (at < text->end && *at != '\n' && (*at != '"' || (at + 1 < text->end && at[1] == '"'))) {
        out->doubled |= *at == '"';
        at += *at == '"' ? 2 : 1;
    }
    if (at >= text->end || *at != '"') {
        return twi_text_fail(text, TW_ERR_FORMAT, text->at, "a quote is not closed on its line");
    }
    out->end = at++;
    while (at < text->end && twi_text_is_blank(*at) && !(separator == '\t' && *at == '\t')) {
        at++;
    }
    const bool apart = separator == ' ' && at > out->end + 1;
    if (at < text->end && *at != '\n' && *at != (separator == ' ' ? ',' : separator) && !apart) {
        return twi_text_fail(text, TW_ERR_FORMAT, at, "text after a closing quote");
    }
    text->at = at;
    return true;
}

static void skip_bare(twi_text *text, char separator, twi_field *out)
{
    const char *at = text->at;
    const char *end = text->end;
    if (separator == ' ') {
        while (at < end && !twi_text_is_break(*at)) {
            at++;
        }
    } else {
        while (at < end && *at != separator && *at != '\n') {
            at++;
        }
    }
    *out = (twi_field){.begin = text->at, .end = at};
    while (out->begin < out->end && twi_text_is_blank(*out->begin)) {
        out->begin++;
    }
    while (out->end > out->begin && twi_text_is_blank(out->end[-1])) {
        out->end--;
    }
    text->at = at;
}

twi_found twi_field_next(twi_text *text, char separator, bool first, twi_field *out)
{
    twi_found next = twi_field_find(text, separator, first);
    if (next != TWI_FIELD) {
        return next;
    }
    if (separator != ' ') { /* what is left of them is in the field */
        const char *at = text->at;
        while (at < text->end && twi_text_is_blank(*at) && *at != separator) {
            at++;
        }
        text->at = at < text->end && *at == '"' ? at : text->at;
    }
    if (text->at < text->end && *text->at == '"') {
        return skip_quoted(text, separator, out) ? TWI_FIELD : TWI_BROKEN;
    }
    skip_bare(text, separator, out);
    return TWI_FIELD;
}

bool twi_field_is_missing(const twi_text *text, char separator, bool first)
{
    const char *at = text->at;
    bool passed = first;
    while (separator == '\t' && at < text->end && twi_text_is_blank(*at) &&
           (*at != '\t' || !passed)) {
        passed |= *at == '\t';
        at++;
    }
    return separator == '\t' && at < text->end && *at == '\t';
}

twi_cell twi_field_enter(twi_text *text, const twi_field *field)
{
    twi_cell cell = {text->at, text->end};
    text->at = field->begin;
    text->end = field->end;
    return cell;
}

bool twi_field_leave(twi_text *text, const twi_field *field, twi_cell cell, bool good,
                     const char *wanted)
{
    if (good && text->at < text->end) {
        twi_text_skip_blanks(text);
        if (*text->at != '#' && *text->at != '%') { /* what a comment follows is fine */
            char shown[29];
            (void)twi_text_show(shown, sizeof shown, field->begin, field->end);
            good =
                twi_text_fail(text, TW_ERR_FORMAT, field->begin, "'%s' is not %s", shown, wanted);
        }
    }
    text->at = cell.at;
    text->end = cell.end;
    return good;
}

bool twi_field_is_number(const twi_text_rules *rules, const twi_field *field)
{
    twi_text alone = {.rules = rules, .at = field->begin, .end = field->end};
    twi_number ignored;
    return field->begin < field->end && twi_text_number(&alone, &ignored, "a number") &&
           alone.at == alone.end;
}

bool twi_field_is_name(const twi_field *field, bool table)
{
    const char *at = field->begin;
    const int64_t length = field->end - at;
    int64_t value = 0;
    while (at < field->end && *at >= '0' && *at <= '9' && value < TWI_MOST_VERTICES) {
        value = value * 10 + (*at++ - '0');
    }
    const bool large = value >= TWI_MOST_VERTICES;
    while (at < field->end && *at >= '0' && *at <= '9') {
        at++;
    }
    if (at == field->end) {
        return length > 0 && (large || (length > 1 && field->begin[0] == '0'));
    }
    while (at < field->end && ((*at >= '0' && *at <= '9') || *at == ' ')) {
        at++;
    }
    /* "2 3" lacks a separator. */
    return table && (field->quoted || (at < field->end && !twi_field_is_number(NULL, field)));
}
