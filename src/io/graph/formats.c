/*
 * The table of graph formats, and recognition: by extension, else by content. Binary formats come
 * first, because they can be told for certain; what nothing recognises is taken for an edge list,
 * whose reader says what is wrong with it.
 */
#include "io/extension.h"
#include "io/graph/format.h"
#include "io/matrix/format.h"

#include <string.h>
#include <strings.h>

enum { TRIPLES, DIMACS, MTX, EDGES, METIS, NPY, NPZ, FORMATS };

static const twi_graph_format formats[FORMATS] = {
    [TRIPLES] = {"triples", "bin triples", false, twi_triples_read, twi_triples_check,
                 twi_triples_write},
    [DIMACS] = {"gr", "gr", true, twi_dimacs_read, NULL, twi_dimacs_write},
    [MTX] = {"mtx", "mtx", true, twi_mtx_read, NULL, twi_mtx_write},
    [EDGES] = {"edges", "el txt csv tsv tab edges", true, twi_edges_read, NULL, twi_edges_write},
    [METIS] = {"metis", "graph metis", true, twi_metis_read, NULL, twi_metis_write},
    [NPY] = {"npy", "npy", false, twi_npy_read, twi_npy_check, twi_npy_write},
    [NPZ] = {"npz", "npz", false, twi_npz_read, twi_npz_check, twi_npz_write},
};

const twi_graph_format *twi_graph_format_named(tw_context *ctx, const char *name)
{
    for (int f = 0; f < FORMATS; f++) {
        if (strcmp(name, formats[f].name) == 0) {
            return &formats[f];
        }
    }
    (void)tw_fail(ctx, TW_ERR_ARGUMENT,
                  "unknown graph format '%.40s'; use triples, gr, mtx, edges, metis, npy or "
                  "npz",
                  name);
    return NULL;
}

/* One of the words of a list by blanks, whatever its case. */
static bool listed(const char *words, const char *wanted)
{
    size_t length = strlen(wanted);
    while (*words != '\0') {
        size_t word = strcspn(words, " ");
        if (word == length && strncasecmp(words, wanted, length) == 0) {
            return true;
        }
        words += word + (words[word] == ' ');
    }
    return false;
}

const twi_graph_format *twi_graph_format_of_path(const char *path)
{
    const char *extension = twi_extension(path);
    for (int f = 0; f < FORMATS; f++) {
        if (listed(formats[f].extensions, extension)) {
            return &formats[f];
        }
    }
    return NULL;
}

const twi_graph_format *twi_graph_format_of_bytes(const twi_input *input)
{
    if (twi_npy_recognised(input->bytes, input->size)) {
        return &formats[NPY];
    }
    if (twi_npz_recognised(input)) {
        return &formats[NPZ];
    }
    if (twi_mtx_recognised(input)) {
        return &formats[MTX];
    }
    if (twi_triples_recognised(input)) {
        return &formats[TRIPLES];
    }
    if (twi_dimacs_recognised(input)) {
        return &formats[DIMACS];
    }
    return &formats[EDGES];
}
