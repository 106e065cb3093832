/* Buffered printing: see print.h. */
#include "io/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tw_status twi_print_flush(twi_printer *printer)
{
    if (printer->status == TW_OK) {
        printer->status = twi_check_cancel(printer->ctx);
    }
    if (printer->status == TW_OK && printer->used > 0) {
        printer->status =
            twi_output_write(printer->ctx, printer->output, printer->buffer, printer->used);
        twi_progress(printer->ctx, "write", printer->done, printer->total, printer->unit);
    }
    printer->used = 0;
    return printer->status;
}

void twi_print_bytes(twi_printer *printer, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0 && printer->status == TW_OK) {
        size_t room = TWI_PRINT_BUFFER - printer->used;
        size_t part = count < room ? count : room;
        memcpy(printer->buffer + printer->used, from, part);
        printer->used += part;
        from += part;
        count -= part;
        if (printer->used == TWI_PRINT_BUFFER && twi_print_flush(printer) != TW_OK) {
            return;
        }
    }
}

void twi_print_text(twi_printer *printer, const char *text)
{
    twi_print_bytes(printer, text, strlen(text));
}

void twi_print_whole(twi_printer *printer, int64_t value)
{
    char digits[24];
    size_t first = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--first] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        digits[--first] = '-';
    }
    twi_print_bytes(printer, digits + first, sizeof digits - first);
}

/* The caller has set the "C" locale. */
void twi_print_real(twi_printer *printer, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value) {
        snprintf(text, sizeof text, "%.17g", value);
    }
    if (strpbrk(text, ".en") == NULL) {
        twi_print_text(printer, text);
        twi_print_text(printer, ".0");
        return;
    }
    twi_print_text(printer, text);
}

/* A number with a sign, a point or an exponent. */
static bool is_decimal(const char *text)
{
    static const char digits[] = "0123456789";
    const size_t sign = *text == '-' || *text == '+' ? 1 : 0;
    const char *at = text + sign;
    const size_t whole = strspn(at, digits);
    at += whole;
    const size_t part = *at == '.' ? strspn(at + 1, digits) : 0;
    const bool pointed = *at == '.';
    at += pointed ? part + 1 : 0;
    if (whole + part == 0) {
        return false;
    }
    const bool scaled = *at == 'e' || *at == 'E';
    if (scaled) {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        at += strspn(at, digits);
    }
    return *at == '\0' && (sign > 0 || pointed || scaled);
}

/* Readers cut blanks off the ends of a field, take an empty one for none, and a decimal for a name
 * only in quotes. */
static bool is_plain(const char *text, const char *special)
{
    const size_t length = strlen(text);
    return length > 0 && strpbrk(text, special) == NULL && text[0] != ' ' &&
           text[length - 1] != ' ' && !is_decimal(text);
}

void twi_print_field(twi_printer *printer, const char *text, const char *special)
{
    if (is_plain(text, special)) {
        twi_print_text(printer, text);
        return;
    }
    twi_print_char(printer, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            twi_print_char(printer, '"');
        }
        twi_print_char(printer, *text);
    }
    twi_print_char(printer, '"');
}

void twi_print_vertex(twi_printer *printer, const tw_graph *graph, int64_t vertex)
{
    const char *label = graph != NULL ? tw_graph_label(graph, vertex) : NULL;
    if (label == NULL) {
        twi_print_whole(printer, vertex + (graph != NULL ? graph->first : 0));
        return;
    }
    twi_print_field(printer, label, ",;\"\t#%\r\n");
}

void twi_print_weight(twi_printer *printer, const tw_graph *graph, int64_t arc)
{
    if (graph->weight_type == TW_I32) {
        twi_print_whole(printer, ((const int32_t *)graph->weights)[arc]);
    } else {
        twi_print_real(printer, twi_graph_weight(graph, arc));
    }
}
