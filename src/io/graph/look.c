/* What a line looks like: see look.h. */
#include "io/graph/look.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* "# vertices: N" */
static void read_remark(twi_text head, int64_t *vertices)
{
    static const char words[] = "vertices:";
    head.at++;
    twi_text_skip_blanks(&head);
    size_t left = (size_t)(head.end - head.at);
    int64_t value;
    if (left < sizeof words - 1 || memcmp(head.at, words, sizeof words - 1) != 0) {
        return;
    }
    head.at += sizeof words - 1;
    if (twi_text_count(&head, &value, "a number of vertices", TWI_MOST_VERTICES)) {
        *vertices = value;
    }
}

bool twi_look_for_line(twi_text *head, int64_t *vertices)
{
    do {
        const char *begin = head->at;
        if (!twi_text_line_ends(head)) {
            if (*head->at == '#' || *head->at == '%') {
                read_remark(*head, vertices);
            } else if (!twi_text_is_hollow(head, *head->at)) {
                head->at = twi_text_first_field(begin, head->at);
                return true;
            }
            twi_text_skip_line(head);
        }
    } while (twi_text_next_line(head));
    return false;
}

/* Meant for a number, one or not: "1.0.0", "1e999", "-x", "nan2", but not "info". No column is
 * called that, so a field with a slip of the pen in it is reported and not passed over as a title.
 */
static bool begins_like_a_number(const char *begin, size_t length)
{
    if (length == 0) {
        return false;
    }
    if (isdigit((unsigned char)*begin) || strchr("+-.", *begin) != NULL) {
        return true;
    }
    return length >= 3 &&
           (strncasecmp(begin, "inf", 3) == 0 || strncasecmp(begin, "nan", 3) == 0) &&
           (length == 3 || !isalpha((unsigned char)begin[3]));
}

static void list_field(twi_look *out, const twi_field *field)
{
    size_t used = strlen(out->list);
    if (used >= TWI_LISTED - 8) {
        return;
    }
    (void)twi_text_show(out->list + used, TWI_LISTED - 7 - used, field->begin, field->end);
    memcpy(out->list + strlen(out->list), ", ", 3);
}

static void look_at_end(twi_look *out, twi_text *text, const twi_field *field, int end, bool table,
                        bool number, bool like)
{
    const int title =
        twi_title_of(field->begin, (size_t)(field->end - field->begin)) & TWI_TITLE_END;
    out->titles += title != 0;
    out->told |= title & 1 << end;
    out->spelt |= (title & 1 << end) != 0 && field->end - field->begin > 1;
    out->ends[end] = *field;
    out->numbers += number;
    out->number_like |= like;
    out->names |= twi_field_is_name(field, table);
    const char *blank = field->begin;
    while (blank < field->end && !twi_text_is_blank(*blank)) {
        blank++;
    }
    twi_field word = {.begin = field->begin, .end = blank};
    out->torn |= !field->quoted && blank < field->end && twi_field_is_number(text->rules, &word);
}

static bool has_odd_quotes(const twi_field *field)
{
    bool odd = false;
    for (const char *at = field->begin; at < field->end && !field->quoted; at++) {
        odd ^= *at == '"';
    }
    return odd;
}

/* Of the last column. */
static void look_at_title(twi_look *out, int title)
{
    for (int w = 0; w < TWI_WISHES; w++) {
        if ((title & 1 << w) != 0) {
            out->said[w] = out->said[w] == 0 ? out->fields : -1;
        }
    }
    if ((title & TWI_TITLE_WEIGHT) != 0) {
        out->weighted = out->weights++ == 0 ? out->fields : out->weighted;
    }
    for (int w = 0; w < TWI_WAYS; w++) {
        if ((title & TWI_TITLE_TYPE << w) != 0 && out->ways[w] == 0) {
            out->ways[w] = out->fields;
        }
    }
    out->all |= title;
    out->unknown |= title == 0 && !(out->hollow && out->fields == 1); /* pandas' index has none */
}

bool twi_look_at(twi_text text, char separator, twi_wish wishes[TWI_WISHES], twi_look *out,
                 twi_text *failed)
{
    *out = (twi_look){0};
    twi_field field;
    twi_found next;
    while ((next = twi_field_next(&text, separator, out->fields == 0, &field)) == TWI_FIELD) {
        const size_t length = (size_t)(field.end - field.begin);
        const bool number = twi_field_is_number(text.rules, &field);
        const bool like = number || begins_like_a_number(field.begin, length);
        out->fields++;
        out->figures += number;
        out->any_quote |= field.quoted;
        out->hollow |= out->fields == 1 && length == 0;
        out->quote_split |= has_odd_quotes(&field);
        out->braced |= out->fields == TWI_ENDS + 1 && length > 0 && *field.begin == '{';
        list_field(out, &field);
        for (int w = 0; w < TWI_WISHES; w++) {
            const char *name = wishes[w].name;
            if (name != NULL && strlen(name) == length && memcmp(name, field.begin, length) == 0) {
                wishes[w].twice |= wishes[w].column != 0 && wishes[w].column != out->fields;
                wishes[w].column = wishes[w].column == 0 ? out->fields : wishes[w].column;
            }
        }
        if (out->fields == wishes[TWI_FROM].column || out->fields == wishes[TWI_TO].column) {
            look_at_end(out, &text, &field,
                        out->fields == wishes[TWI_TO].column ? TWI_TO : TWI_FROM, separator != ' ',
                        number, like);
        } else {
            out->elsewhere += (twi_title_of(field.begin, length) & TWI_TITLE_END) != 0;
        }
        const int title = twi_title_of(field.begin, length);
        look_at_title(out, title);
        if (out->fields == wishes[TWI_WEIGHT].column) {
            out->weight_like = like;
            out->weight_title = title;
            out->weight_field = field;
        }
    }
    if (next == TWI_BROKEN) {
        out->any_quote |= text.error_at < text.end && *text.error_at == '"';
        *failed = text;
        return false;
    }
    out->list[strlen(out->list) >= 2 ? strlen(out->list) - 2 : 0] = '\0';
    return true;
}
