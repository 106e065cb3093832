/* Answers about distances that need no matrix: numbers of each row, its nearest and farthest
 * vertices, a histogram. What the commands that give them have in common. */
#ifndef CLI_ANSWERS_H
#define CLI_ANSWERS_H

#include "cli/shared/files.h"
#include "frame/job.h"

#include <tilewright.h>

#define CLI_ANSWER_FILES 8

typedef struct cli_answers {
    int64_t histogram; /* bins; 0: none */
    const char *plot;
    const char *eccentricity;
    const char *closeness;
    const char *closeness_as;
    const char *harmonic;
    const char *sum;
    const char *reached;
    const char *nearest;
    const char *farthest;
    int64_t count; /* of nearest and farthest vertices */
} cli_answers;

#define CLI_ANSWERS_INIT                        \
    {                                           \
        .closeness_as = "networkx", .count = 10 \
    }

/* The rows of an option table, for settings with a member `answers`. */
#define CLI_ANSWER_OPTIONS(settings)                                                               \
    {"histogram",                                                                                  \
     0,                                                                                            \
     CLI_OPTIONAL_COUNT,                                                                           \
     "BINS",                                                                                       \
     offsetof(settings, answers.histogram),                                                        \
     20,                                                                                           \
     "Also print a histogram of the distances with BINS equal bins (default: 20; at most "         \
     "32768)."},                                                                                   \
        {"plot",                                                                                   \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.plot),                                                         \
         0,                                                                                        \
         "Draw the histogram, of 20 bins or as --histogram says, into FILE, an .svg or .png."},    \
        {"eccentricity",                                                                           \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.eccentricity),                                                 \
         0,                                                                                        \
         "Write the largest distance of each row to FILE (.csv: one per line, after the name of "  \
         "the vertex if the graph has names; .npy: one column)."},                                 \
        {"closeness",                                                                              \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.closeness),                                                    \
         0,                                                                                        \
         "Write the closeness centrality of each row to FILE, in the same way."},                  \
        {"closeness-as",                                                                           \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "NAME",                                                                                   \
         offsetof(settings, answers.closeness_as),                                                 \
         0,                                                                                        \
         "How closeness is scaled, from r vertices reached and the sum s of their "                \
         "distances: networkx, the default, is r/s * r/(n-1), 0 if nothing is reached or s <= 0; " \
         "igraph is r/s, nan if nothing is reached. Distances are from the row's vertex; "         \
         "NetworkX's closeness_centrality takes those to it, so reverse a directed graph "         \
         "there."},                                                                                \
        {"harmonic",                                                                               \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.harmonic),                                                     \
         0,                                                                                        \
         "Write the harmonic centrality of each row, the sum of 1/d over the vertices it reaches " \
         "at distances d other than 0, to FILE; a negative d is taken as it is."},                 \
        {"sum",                                                                                    \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.sum),                                                          \
         0,                                                                                        \
         "Write the sum of the distances of each row to FILE."},                                   \
        {"reached",                                                                                \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.reached),                                                      \
         0,                                                                                        \
         "Write how many vertices each row reaches, itself not counted, to FILE."},                \
        {"nearest",                                                                                \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.nearest),                                                      \
         0,                                                                                        \
         "Write the nearest vertices of each row to FILE, a .csv of source,target,distance."},     \
        {"farthest",                                                                               \
         0,                                                                                        \
         CLI_TEXT,                                                                                 \
         "FILE",                                                                                   \
         offsetof(settings, answers.farthest),                                                     \
         0,                                                                                        \
         "Write the farthest vertices of each row to FILE, in the same way."},                     \
    {                                                                                              \
        "count", 0, CLI_COUNT, "K", offsetof(settings, answers.count), 0,                          \
            "How many nearest or farthest vertices, at most all of them; 10 by default."           \
    }

/* Options that apsp has here and over MPI. */
#define CLI_PICK_OPTIONS(settings)                                                                \
    {"type",                                                                                      \
     0,                                                                                           \
     CLI_TYPE,                                                                                    \
     "TYPE",                                                                                      \
     offsetof(settings, type),                                                                    \
     CLI_MATRIX_TYPES,                                                                            \
     "The type of the distances: u8, u16, i32, f32 or f64. Default: the type of the weights. A "  \
     "distance that does not fit is an error, never wrapped; float distances are rounded to "     \
     "TYPE."},                                                                                    \
        {"sources",                                                                               \
         0,                                                                                       \
         CLI_TEXT,                                                                                \
         "LIST",                                                                                  \
         offsetof(settings, sources),                                                             \
         0,                                                                                       \
         "Compute only these rows: vertices such as 0,5,7-9, names such as Bern,\"Boston, MA\", " \
         "or "                                                                                    \
         "@FILE with a list, one name per line. Vertices are numbered as in the file: from 1 in " \
         "DIMACS, Matrix Market and METIS files, else from 0."},                                  \
        {"targets",                                                                               \
         0,                                                                                       \
         CLI_TEXT,                                                                                \
         "LIST",                                                                                  \
         offsetof(settings, targets),                                                             \
         0,                                                                                       \
         "Compute only these columns, given in the same way; not with --predecessors."},          \
    {                                                                                             \
        "cutoff", 0, CLI_NUMBER, "D", offsetof(settings, cutoff), 0,                              \
            "Treat distances above D as unreachable."                                             \
    }
#define CLI_SUMMARY_OPTION(settings)                                   \
    {                                                                  \
        "summary", 0, CLI_FLAG, NULL, offsetof(settings, summary), 1,  \
            "Print the summary of the distances even if OUT is given." \
    }
#define CLI_VERIFY_OPTION(settings, rows)                                                    \
    {                                                                                        \
        "verify", 0, CLI_OPTIONAL_COUNT, "K", offsetof(settings, verify), rows,              \
            "Check K rows (16 if no number is given, 0: all) against an independent search " \
            "before OUT appears; exit 1 and write nothing if one is wrong."                  \
    }
#define CLI_EVERY_OPTION(settings)                                                            \
    {                                                                                         \
        "every", 0, CLI_TIME, "TIME", offsetof(settings, every), 0,                           \
            "The time from one checkpoint to the next, such as 30s, 10m or 1h. Default: 10m." \
    }

/* Answers on their way: a summary where one is wanted, and what else collects rows. */
typedef struct cli_answering {
    const cli_answers *asked;
    const int32_t *sources;     /* the vertices of the rows; NULL: all */
    tw_apsp_summary *summary;   /* NULL: none */
    tw_apsp_summary_info about; /* of it, once the files are written */
    tw_apsp_nearest *nearest;
    tw_apsp_nearest *farthest;
} cli_answering;

bool cli_answers_any(const cli_answers *asked);

/* Bytes of the context's memory that what collects the answers holds while so many rows pass. */
uint64_t cli_answers_memory(tw_context *ctx, const cli_answers *asked, bool summary, int64_t rows,
                            int64_t cols);

/* The status of what was refused, with a word on --count where most of the memory is its lists. */
TW_CHECKED tw_status cli_answers_advise(tw_context *ctx, const cli_answers *asked, int64_t rows,
                                        int64_t cols, tw_status status);

/* Whether what was asked for is in the numbers of each row that need no look at its distances. */
bool cli_answers_are_folds(const cli_answers *asked);

/* The files that are written, with the options they come from; some have no path. */
void cli_answers_files(const cli_answers *asked, cli_file out[CLI_ANSWER_FILES]);

/* Refuse what can be told to be wrong before anything is read. */
TW_CHECKED tw_status cli_answers_check(const cli_job *job, const cli_answers *asked);

/* Make what collects the answers, a summary in any case if `summary`, and append their sinks, at
 * most three, to those used. */
TW_CHECKED tw_status cli_answers_begin(tw_context *ctx, cli_answering *a, const int32_t *sources,
                                       const int32_t *targets, bool summary, tw_sink *sinks,
                                       int32_t *used);

/* Write the files, once the rows have passed. Vertices have the names of `graph`, if it is there.
 */
TW_CHECKED tw_status cli_answers_write(tw_context *ctx, cli_answering *a, const tw_graph *graph);

void cli_answers_clear(cli_answering *a);

#endif
