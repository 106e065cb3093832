/*
 * Edge lists as they are written: blanks, commas or tabs by the extension; a .csv has titles. The
 * number of vertices is a comment where the edges do not tell it. See edges.c for the reader.
 */
#include "io/graph/format.h"

#include <string.h>
#include <strings.h>

/* In quotes where the reader would take something in it for the end of the name. */
static void print_vertex(twi_printer *printer, const tw_graph *graph, int64_t vertex,
                         char separator)
{
    const char *label = tw_graph_label(graph, vertex);
    if (label != NULL) {
        twi_print_field(printer, label, separator == ' ' ? ",;|\"\t#% " : ",;|\"\t#%");
    } else {
        twi_print_whole(printer, vertex);
    }
}

/* The last vertex has an arc of its own, so the list says by itself how many there are. */
static bool tells_its_size(const tw_graph *graph)
{
    int64_t last = graph->n - 1;
    if (last < 0 || graph->offsets[last + 1] > graph->offsets[last]) {
        return true;
    }
    for (int64_t a = 0; a < graph->arcs; a++) {
        if (graph->targets[a] == last) {
            return true;
        }
    }
    return false;
}

tw_status twi_edges_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    const bool tabs = strcasecmp(extension, "tsv") == 0 || strcasecmp(extension, "tab") == 0;
    const char separator = strcasecmp(extension, "csv") == 0 ? ',' : tabs ? '\t' : ' ';
    if (!tells_its_size(graph) || graph->arcs == 0) {
        twi_print_text(printer, "# vertices: ");
        twi_print_whole(printer, graph->n);
        twi_print_char(printer, '\n');
    }
    if (separator == ',' && graph->arcs > 0) {
        twi_print_text(printer, "source,target,weight\n");
    }
    for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            print_vertex(printer, graph, u, separator);
            twi_print_char(printer, separator);
            print_vertex(printer, graph, graph->targets[a], separator);
            twi_print_char(printer, separator);
            twi_print_weight(printer, graph, a);
            twi_print_char(printer, '\n');
        }
        printer->done = (double)graph->offsets[u + 1];
    }
    return printer->status;
}
