/*
 * tilewright over MPI: shortest paths between all pairs of vertices, on as many processes as the
 * matrix needs. A library of its own, libtilewright-mpi, beside libtilewright of the same version.
 *
 * The conventions are those of tilewright.h. Beyond them:
 *
 *  - MPI is the caller's: it is initialised before the first call and finalised after the last one.
 *    The library needs MPI_THREAD_FUNNELED to compute on several threads per process, and the
 *    thread that calls it must be the main one; with MPI_THREAD_SINGLE it computes on one.
 *  - Every function that takes a communicator, or a graph made with one, is collective over it: all
 *    of its processes call it, with the same arguments. Arguments that differ are detected, and are
 *    TW_ERR_ARGUMENT on all of them.
 *  - Collective functions return the same status on every process, with the same sentence in the
 *    context: that of the lowest rank that failed. tw_cancel on one rank cancels all.
 *  - Communicators are duplicated, so the library's messages never mix with the caller's.
 */
#ifndef TILEWRIGHT_MPI_H
#define TILEWRIGHT_MPI_H

#include <mpi.h>
#include <tilewright.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Agree on a status: TW_OK if all ranks have that; else, on all of them, the status and the
 * sentence of the lowest rank that has another. */
TW_API TW_CHECKED tw_status tw_mpi_agree(tw_context *ctx, MPI_Comm comm, tw_status status);

/* ------------------------------------------------------------------------------------- graphs */

/* A graph of which each process holds some arcs. */
typedef struct tw_mpi_graph tw_mpi_graph;

/*
 * Read a graph. Each process reads its own part of a file of edge triples; other formats are read
 * by rank 0, which distributes the arcs. The file must be the same on all processes; "-" is
 * refused.
 */
TW_API TW_CHECKED tw_status tw_mpi_graph_read(tw_context *ctx, tw_mpi_graph **out, MPI_Comm comm,
                                              const char *path, const tw_graph_read_options *opts);

/*
 * The union of the processes' parts: each passes a graph with some of the arcs, all with the same
 * number of vertices and the same type of weights, or NULL for none; at least one is not NULL. The
 * parts must outlive the graph. It counts as undirected if all parts are.
 */
TW_API TW_CHECKED tw_status tw_mpi_graph_from_parts(tw_context *ctx, tw_mpi_graph **out,
                                                    MPI_Comm comm, const tw_graph *part);

/* Describe the whole graph; the same on every process. Not collective. */
TW_API TW_CHECKED tw_status tw_mpi_graph_describe(const tw_mpi_graph *graph, tw_graph_info *out);

/* This process's part: vertices and their numbers are those of the whole graph, and so is what
 * tw_graph_describe says of weights; the arcs are those held here. Owned by the graph. */
TW_API const tw_graph *tw_mpi_graph_part(const tw_mpi_graph *graph);

/* Collective. */
TW_API void tw_mpi_graph_destroy(tw_mpi_graph *graph);

/* ------------------------------------------------------------------------------ shortest paths */

/* What becomes of the distances. */
typedef struct tw_mpi_apsp_output {
    size_t size;
    const char *path;   /* of the matrix; NULL: it is not kept */
    const char *format; /* "npy", "raw" or "csv"; NULL: by extension, as tw_sink_to_file */
    int64_t verify;     /* rows to check against another search; 0: all; -1: none */
    uint64_t seed;      /* which rows */
    /* Filled on every process; NULL: none. Each process passes its own, all created alike, with the
     * sources and targets of the options. It needs no `path`; a search or a sweep then makes no
     * matrix at all. */
    tw_apsp_summary *summary;
    /* Likewise, for the nearest and the farthest vertices of every row. */
    tw_apsp_nearest *nearest;
    tw_apsp_nearest *farthest;
    /* On rank 0, NULL on all others; NULL: none. It receives all rows of the result in order, once
     * they are computed and verified; until then they lie in a temporary file beside `path`, which
     * itself is not written. Rank 0 writes text in the same way: "csv" needs no sink for that. */
    tw_sink *sink;
    /* The path of a matrix of predecessors, as tw_apsp_plan_run passes them to its sink; NULL:
     * none. The extension decides the format. Each machine then holds the whole graph, even for a
     * closure. */
    const char *predecessors;
    tw_sink *predecessor_sink; /* instead of that path, like `sink` */
} tw_mpi_apsp_output;
#define TW_MPI_APSP_OUTPUT_INIT                                                           \
    {                                                                                     \
        sizeof(tw_mpi_apsp_output), NULL, NULL, -1, 1, NULL, NULL, NULL, NULL, NULL, NULL \
    }

typedef struct tw_mpi_apsp_report {
    size_t size;
    int32_t ranks;
    int32_t grid_rows; /* for a closure: ranks form a grid of this many rows and columns */
    int32_t grid_cols;
    int32_t block; /* vertices of a pivot, and of a tile of the matrix; 0 for other methods */
    tw_type work_type;
    tw_type type;
    int32_t attempts; /* working types tried */
    int32_t threads;  /* of this process */
    int32_t symmetric;
    int32_t tiles_skipped; /* percent of all tiles that stayed empty and were not computed */
    double relaxations;
    double seconds_compute;
    double seconds_wait; /* the part of it for which this process waited for others */
    double seconds_output;
    double seconds_verify;
    uint64_t memory_peak;     /* of the process that used the most */
    uint64_t bytes_broadcast; /* panels that this process received or sent */
    int64_t verified_rows;
    double seconds_plan; /* for searches: distributing the graph and choosing the method */
    tw_apsp_method method;
    int32_t machines;      /* for searches: of the ranks; each holds the graph once */
    double seconds_device; /* for a closure on GPUs: its rounds, without copying there and back */
    int64_t helped;        /* for a closure on CPUs: tasks done for others of its machine */
} tw_mpi_apsp_report;
#define TW_MPI_APSP_REPORT_INIT                                                                    \
    {                                                                                              \
        sizeof(tw_mpi_apsp_report), 0, 0, 0, 0, TW_AUTO, TW_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0                                                                       \
    }

/*
 * Distances between all pairs, or from the sources of the options to their targets. A closure cuts
 * the matrix into tiles, of which each process holds its share. For a search or a sweep every
 * machine holds the whole graph, in memory that its processes share, and rows are distributed among
 * them: no process ever holds more than some rows. `method` chooses; TW_APSP_METHOD_AUTO decides as
 * a plan of tw_apsp does, except that a dense graph always uses the closure.
 * TW_APSP_METHOD_REFERENCE is refused, and so are negative weights in a closure; a run with a
 * `checkpoint`, a file in a folder that all ranks see, is a closure.
 *
 * The context's device is where a closure computes: "auto" and "cpu" are threads of the CPU. Each
 * process takes one of the GPUs that the name lists, the processes of a machine in turn; "cuda"
 * lists all GPUs of the machine. Processes may share one. Other methods compute on the CPU, and
 * refuse a GPU.
 *
 * Integer results have the same bytes as those of tw_apsp, floats the same as with the same method
 * there, whatever the number of processes and threads. A file appears whole, under its name, or not
 * at all. A wrong row is TW_ERR_VERIFY, without a file. opts, output and report may be NULL.
 */
TW_API TW_CHECKED tw_status tw_mpi_apsp(tw_context *ctx, const tw_mpi_graph *graph,
                                        const tw_apsp_options *opts,
                                        const tw_mpi_apsp_output *output,
                                        tw_mpi_apsp_report *report);

/* ----------------------------------------------------------------------------------- forecasts */

/* What a run will take, as far as that can be told in advance. */
typedef struct tw_mpi_forecast {
    size_t size;
    int32_t ranks;
    int32_t grid_rows; /* for a closure, as in the report */
    int32_t grid_cols;
    int32_t block;
    int32_t threads;  /* of a rank; 1 for a cluster that is only described */
    int32_t machines; /* 0 for such a cluster */
    tw_apsp_method method;
    tw_type work_type; /* the first that is tried */
    tw_type type;
    int32_t symmetric;
    uint64_t memory;         /* bytes of the rank that needs the most */
    double rate;             /* for a closure: relaxations per second of a rank */
    double filled;           /* for a closure: the share of n^3 that empty tiles leave to do */
    double ideal;            /* the share of that rate that is used: 1 if ranks never wait */
    double seconds_plan;     /* of planning, which a run does, too */
    double seconds_prepare;  /* for a closure: sending arcs to their owners, the certificate */
    double seconds_compute;  /* of a rank that never waits */
    double seconds_exchange; /* what waiting for panels adds to that */
    double seconds_output;
    uint64_t device_memory; /* for a closure on GPUs: bytes there of the rank that needs most  */
    double seconds_copy;    /* and copying the shares to the GPUs and back */
    int32_t sharing;        /* and the ranks that share this one's GPU; 0: on CPUs */
    int32_t direct; /* and 1: MPI reads panels from GPU memory; 0: from pinned host memory */
    /* For a closure on CPUs: 1: idle ranks of this machine take tasks from the others; 2: they do
     * not, because of TW_MPI_HELP; 3: they cannot, because they cannot map each other's memory; 0:
     * there is only one. */
    int32_t help;
    int32_t reserved;
} tw_mpi_forecast;
#define TW_MPI_FORECAST_INIT                                                                       \
    {                                                                                              \
        sizeof(tw_mpi_forecast), 0, 0, 0, 0, 0, 0, TW_APSP_METHOD_AUTO, TW_AUTO, TW_AUTO, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                  \
    }

/*
 * What tw_mpi_apsp would do with these arguments: it plans, and measures for some tenths of a
 * second how fast all ranks at once update tiles and broadcast panels here and now. For GPUs the
 * rates are those known for their architecture, and messages are measured. A closure that does not
 * fit the memory of some rank, or of its GPU, is TW_ERR_MEMORY. Collective. opts and output may be
 * NULL; of the output only path and summary matter.
 */
TW_API TW_CHECKED tw_status tw_mpi_apsp_explain(tw_context *ctx, const tw_mpi_graph *graph,
                                                const tw_apsp_options *opts,
                                                const tw_mpi_apsp_output *output,
                                                tw_mpi_forecast *out);

/* Ranks on a cluster that need not exist, and a dense graph. */
typedef struct tw_mpi_cluster {
    size_t size;
    int64_t vertices;
    int32_t ranks;
    int32_t block;     /* 0: as a run would choose it */
    tw_type work_type; /* TW_AUTO: i32 */
    tw_type type;      /* TW_AUTO: the same */
    int32_t undirected;
    int32_t flat;     /* 1: a broadcast goes from its root to each rank in turn; 0: down a tree  */
    double rate;      /* relaxations per second of a rank in updates; 0: measured on this machine */
    double bandwidth; /* bytes per second into or out of a rank */
    double latency;   /* seconds of a message */
    uint64_t memory;  /* bytes of a rank; 0: as much as this machine has */
} tw_mpi_cluster;
#define TW_MPI_CLUSTER_INIT                                                         \
    {                                                                               \
        sizeof(tw_mpi_cluster), 0, 1, 0, TW_AUTO, TW_AUTO, 0, 0, 0, 12.5e9, 2e-6, 0 \
    }

/*
 * What a closure would take there, by a model that docs/scaling.md describes. Reading and writing
 * are not included. TW_ERR_MEMORY, with the number of ranks that would be enough, if a rank has too
 * little memory. Not collective, and MPI need not be initialised.
 */
TW_API TW_CHECKED tw_status tw_mpi_predict(tw_context *ctx, const tw_mpi_cluster *cluster,
                                           tw_mpi_forecast *out);

#ifdef __cplusplus
}
#endif

#endif
