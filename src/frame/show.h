/* How numbers and vertices are shown to a reader. */
#ifndef FRAME_SHOW_H
#define FRAME_SHOW_H

#include <tilewright.h>

/* Each returns `out`: "1.5 GB", "12.3 G" (for a rate), "0.41 s". */
#define CLI_SHOWN 40
const char *cli_show_bytes(char out[CLI_SHOWN], double bytes);
/* A limit for --memory that is enough where so many bytes were held, and for what little there may
 * be besides: "1235k". Returns it in bytes. */
uint64_t cli_show_limit(char out[CLI_SHOWN], uint64_t bytes);
const char *cli_show_scaled(char out[CLI_SHOWN], double value);
const char *cli_show_seconds(char out[CLI_SHOWN], double seconds);
/* A distance or weight: whole numbers whole, others with ten digits. */
const char *cli_show_value(char out[CLI_SHOWN], double value);

/* A name for a vertex: its label, or its number, as its file counts, written into `out`. */
const char *cli_show_vertex(char out[CLI_SHOWN], const tw_graph *graph, int64_t vertex);

#endif
