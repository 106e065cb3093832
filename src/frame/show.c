/* Numbers for a reader: see show.h. */
#include "frame/show.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *cli_show_scaled(char out[CLI_SHOWN], double value)
{
    static const char *const names[] = {"", " k", " M", " G", " T", " P", " E"};
    size_t step = 0;
    while (fabs(value) >= 999.5 && step + 1 < sizeof names / sizeof *names) {
        value /= 1000;
        step++;
    }
    int digits = step == 0 && value == floor(value) ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(out, CLI_SHOWN, "%.*f%s", digits, value, names[step]);
    return out;
}

const char *cli_show_bytes(char out[CLI_SHOWN], double bytes)
{
    cli_show_scaled(out, bytes);
    size_t used = strlen(out);
    bool scaled = used > 0 && isalpha((unsigned char)out[used - 1]);
    snprintf(out + used, CLI_SHOWN - used, "%s", scaled ? "B" : " B");
    return out;
}

uint64_t cli_show_limit(char out[CLI_SHOWN], uint64_t bytes)
{
    static const char units[] = "\0kMGTP";
    size_t unit = 0;
    uint64_t scale = 1;
    bytes += bytes / 16 + 700000;
    while (bytes >= 10000 && unit + 2 < sizeof units) {
        bytes = bytes / 1000 + (bytes % 1000 != 0);
        scale *= 1000;
        unit++;
    }
    snprintf(out, CLI_SHOWN, "%llu%.1s", (unsigned long long)bytes, units + unit);
    return bytes * scale;
}

const char *cli_show_seconds(char out[CLI_SHOWN], double seconds)
{
    const double whole = floor(seconds + 0.5);
    if (seconds < 0.9995e-3) {
        snprintf(out, CLI_SHOWN, "%.3g us", seconds * 1e6);
    } else if (seconds < 0.9995) {
        snprintf(out, CLI_SHOWN, "%.3g ms", seconds * 1e3);
    } else if (whole < 120) {
        snprintf(out, CLI_SHOWN, "%.3g s", seconds);
    } else if (whole < 7200) {
        snprintf(out, CLI_SHOWN, "%.0f min %02.0f s", floor(whole / 60), fmod(whole, 60));
    } else {
        snprintf(out, CLI_SHOWN, "%.*f h",
                 seconds < 36000    ? 2
                 : seconds < 360000 ? 1
                                    : 0,
                 seconds / 3600);
    }
    return out;
}

const char *cli_show_value(char out[CLI_SHOWN], double value)
{
    if (value == floor(value) && fabs(value) < 0x1p53) {
        snprintf(out, CLI_SHOWN, "%.0f", value);
    } else { /* processors differ in the sign of a NaN that they make */
        snprintf(out, CLI_SHOWN, "%.10g", isnan(value) ? (double)NAN : value);
    }
    return out;
}

const char *cli_show_vertex(char out[CLI_SHOWN], const tw_graph *graph, int64_t vertex)
{
    const char *label = graph != NULL ? tw_graph_label(graph, vertex) : NULL;
    if (label != NULL) {
        return label;
    }
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    if (graph != NULL && tw_graph_describe(graph, &about) == TW_OK) {
        vertex += about.first;
    }
    snprintf(out, CLI_SHOWN, "%lld", (long long)vertex);
    return out;
}
