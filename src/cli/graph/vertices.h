/* Vertices as a user names them: "7", "0,5,7-9", "@FILE", or names when the graph has them. */
#ifndef CLI_VERTICES_H
#define CLI_VERTICES_H

#include <tilewright.h>

typedef struct cli_vertices {
    int32_t *list; /* NULL: all vertices */
    int64_t count;
} cli_vertices;

/* One vertex. `what` begins the sentence of an error: "FROM". */
TW_CHECKED tw_status cli_vertex(tw_context *ctx, int32_t *out, const tw_graph *graph,
                                const char *what, const char *text);

/* A list, or "@FILE" with one. Text NULL leaves *out empty. Free with cli_vertices_clear. */
TW_CHECKED tw_status cli_vertices_parse(tw_context *ctx, cli_vertices *out, const tw_graph *graph,
                                        const char *what, const char *text);
/* How many a list will be of, before there is a graph: at most all `vertices`. */
int64_t cli_vertices_guess(const char *text, int64_t vertices);
void cli_vertices_clear(cli_vertices *vertices);

#endif
