/*
 * Buffered printing into an output file. A failure stays: whoever prints need not look at every
 * call, only at the status of the last flush.
 */
#ifndef TWI_IO_PRINT_H
#define TWI_IO_PRINT_H

#include "graph/graph.h"
#include "io/output.h"

typedef struct twi_printer {
    tw_context *ctx;
    twi_output *output;
    tw_status status;
    char *buffer;
    size_t used;
    double done; /* of `total` in `unit`, for progress: set by the format */
    double total;
    const char *unit;
} twi_printer;

#define TWI_PRINT_BUFFER ((size_t)1 << 18)

TW_CHECKED tw_status twi_print_flush(twi_printer *printer);
void twi_print_bytes(twi_printer *printer, const void *bytes, size_t count);
void twi_print_text(twi_printer *printer, const char *text);
void twi_print_whole(twi_printer *printer, int64_t value);
/* 15 digits, or 17 where it takes them to read back as the same double; never without a point or
 * an exponent. */
void twi_print_real(twi_printer *printer, double value);
/* The weight of an arc: whole for TW_I32, else as twi_print_real. */
void twi_print_weight(twi_printer *printer, const tw_graph *graph, int64_t arc);

/* A field, in quotes if it is empty, begins or ends with a blank, has a special character or reads
 * as a number that is not whole; a quote is written twice. */
void twi_print_field(twi_printer *printer, const char *text, const char *special);
/* A vertex in a field of csv, by its name or by its number as its file counts; without a graph by
 * its number. */
void twi_print_vertex(twi_printer *printer, const tw_graph *graph, int64_t vertex);

static inline void twi_print_char(twi_printer *printer, char c)
{
    if (printer->used == TWI_PRINT_BUFFER && twi_print_flush(printer) != TW_OK) {
        return;
    }
    printer->buffer[printer->used++] = c;
}

#endif
