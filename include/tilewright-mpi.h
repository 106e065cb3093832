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
 *    of its processes call it, with the same arguments. What differs is found and is
 *    TW_ERR_ARGUMENT on all of them.
 *  - Collective functions return the same status on every process, with the same sentence in the
 *    context: that of the lowest rank that failed. tw_cancel on one rank cancels all.
 *  - Communicators are duplicated; no message of the library meets one of the caller's.
 */
#ifndef TILEWRIGHT_MPI_H
#define TILEWRIGHT_MPI_H

#include <mpi.h>
#include <tilewright.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Agree on a status: TW_OK if it is that on all ranks; else, on all of them, the status and the
 * sentence of the lowest rank that has another. */
TW_API TW_CHECKED tw_status tw_mpi_agree(tw_context *ctx, MPI_Comm comm, tw_status status);

/* ------------------------------------------------------------------------------------- graphs */

/* A graph of which each process holds some arcs. */
typedef struct tw_mpi_graph tw_mpi_graph;

/*
 * Read a graph. Edge triples are read in parts, by each process its own; other formats by rank 0,
 * which deals the arcs out. The file is the same on all processes, and "-" is refused.
 */
TW_API TW_CHECKED tw_status tw_mpi_graph_read(tw_context *ctx, tw_mpi_graph **out, MPI_Comm comm,
                                              const char *path, const tw_graph_read_options *opts);

/*
 * The union of what the processes have: each gives a graph of the same number of vertices and the
 * same type of weights with some of the arcs, or NULL for none; one at least is not NULL. The parts
 * must outlive the graph. It counts as undirected if all parts are.
 */
TW_API TW_CHECKED tw_status tw_mpi_graph_from_parts(tw_context *ctx, tw_mpi_graph **out,
                                                    MPI_Comm comm, const tw_graph *part);

/* What the whole graph is; on each process the same. Not collective. */
TW_API TW_CHECKED tw_status tw_mpi_graph_describe(const tw_mpi_graph *graph, tw_graph_info *out);

/* This process's part: vertices and their numbers are those of the whole graph, and so is what
 * tw_graph_describe says of weights; the arcs are those that lie here. It is the graph's. */
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
    /* Filled on every process, NULL: none. One for each of them, created alike, with the sources
     * and targets of the options. It needs no matrix: neither here nor, by a search or a sweep, on
     * the way. */
    tw_apsp_summary *summary;
    /* Likewise, of the nearest and of the farthest vertices of every row. */
    tw_apsp_nearest *nearest;
    tw_apsp_nearest *farthest;
    /* Of rank 0, NULL on all others; NULL: none. It is given all rows of the result in their order,
     * once they are made and verified, and `path` is not written: beside it the rows lie until
     * then, as elements, in a file that nobody sees. So is text written, which is of rank 0's
     * making: "csv" has such a sink by itself. */
    tw_sink *sink;
    /* The path of a matrix of predecessors, as tw_apsp_plan_run gives them to its sink; NULL: none.
     * The format goes by the extension. Each machine holds the whole graph then, also of a closure.
     */
    const char *predecessors;
    tw_sink *predecessor_sink; /* in its place, likewise */
} tw_mpi_apsp_output;
#define TW_MPI_APSP_OUTPUT_INIT                                                           \
    {                                                                                     \
        sizeof(tw_mpi_apsp_output), NULL, NULL, -1, 1, NULL, NULL, NULL, NULL, NULL, NULL \
    }

typedef struct tw_mpi_apsp_report {
    size_t size;
    int32_t ranks;
    int32_t grid_rows; /* of a closure: ranks form a grid of this many rows and columns */
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
    double seconds_wait; /* of that, this process waiting for others */
    double seconds_output;
    double seconds_verify;
    uint64_t memory_peak;     /* of the process that used the most */
    uint64_t bytes_broadcast; /* panels that this process received or sent */
    int64_t verified_rows;
    double seconds_plan; /* of searches: bringing the graph to all, and choosing the method */
    tw_apsp_method method;
    int32_t machines;      /* of searches: that the ranks run on, each having the graph once */
    double seconds_device; /* of a closure on GPUs: its rounds, without the way there and back */
    int64_t helped; /* of a closure on CPUs: tasks of other processes of its machine that it did */
} tw_mpi_apsp_report;
#define TW_MPI_APSP_REPORT_INIT                                                                    \
    {                                                                                              \
        sizeof(tw_mpi_apsp_report), 0, 0, 0, 0, TW_AUTO, TW_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0                                                                       \
    }

/*
 * Distances between all pairs, or from the sources of the options to their targets. A closure has
 * the matrix in tiles, of which each process holds its share. A search or a sweep has the whole
 * graph on every machine, in memory that its processes share, and rows are dealt out among them: no
 * process ever holds more than some rows. Which it is `method` says; TW_APSP_METHOD_AUTO decides as
 * a plan of tw_apsp does, except that a dense graph is closed at once. TW_APSP_METHOD_REFERENCE is
 * refused, and so are negative weights by a closure; a run with a `checkpoint`, a file in a folder
 * that all ranks see, is a closure.
 *
 * The context's device is where a closure computes: "auto" and "cpu" are threads of the CPU. Of the
 * GPUs that a name lists each process takes one, the processes of a machine in turn; "cuda" lists
 * all that the machine has. Processes may share one. Other methods compute on the CPU, and refuse a
 * GPU.
 *
 * Integers have the bytes that tw_apsp gives them, floats those that it gives them by the same
 * method, whatever the number of processes and threads. A file appears whole, under its name, or
 * not at all. TW_ERR_VERIFY if a row is wrong; no file then. opts, output and report may be NULL.
 */
TW_API TW_CHECKED tw_status tw_mpi_apsp(tw_context *ctx, const tw_mpi_graph *graph,
                                        const tw_apsp_options *opts,
                                        const tw_mpi_apsp_output *output,
                                        tw_mpi_apsp_report *report);

/* ----------------------------------------------------------------------------------- forecasts */

/* What a run will take, as far as that can be told before it. */
typedef struct tw_mpi_forecast {
    size_t size;
    int32_t ranks;
    int32_t grid_rows; /* of a closure, as in the report */
    int32_t grid_cols;
    int32_t block;
    int32_t threads;  /* of a rank; of a cluster that is only described, 1 */
    int32_t machines; /* 0 for such a cluster */
    tw_apsp_method method;
    tw_type work_type; /* the first that is tried */
    tw_type type;
    int32_t symmetric;
    uint64_t memory;         /* bytes of the rank that needs the most */
    double rate;             /* of a closure: relaxations per second of a rank */
    double filled;           /* of a closure: the share of n^3 that empty tiles leave to do */
    double ideal;            /* the share of that rate that is used: 1 if ranks never wait */
    double seconds_plan;     /* that the plan took, which a run makes, too */
    double seconds_prepare;  /* of a closure: arcs to their owners, the certificate */
    double seconds_compute;  /* of a rank that never waits */
    double seconds_exchange; /* what panels on their way add to that */
    double seconds_output;
    uint64_t device_memory; /* of a closure on GPUs: bytes there, of the rank that needs the most */
    double seconds_copy;    /* and the way of the shares to the GPUs and back */
    int32_t sharing;        /* and the ranks on the GPU of this one; 0: on CPUs */
    int32_t direct; /* and 1: MPI reads panels from GPU memory; 0: from pinned host memory */
    /* Of a closure on CPUs: 1: ranks of this machine do tasks of each other; 2: they do not, since
     * TW_MPI_HELP says so; 3: nor can they, since they cannot map each other's memory; 0: there is
     * but one. */
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
 * second how fast ranks update tiles and broadcast panels here and now, all of them at once. Of
 * GPUs the rates are those of their architecture, and the messages are measured. A closure that
 * some rank has no memory for, or its GPU, is TW_ERR_MEMORY. Collective. opts and output may be
 * NULL; of the output path and summary count.
 */
TW_API TW_CHECKED tw_status tw_mpi_apsp_explain(tw_context *ctx, const tw_mpi_graph *graph,
                                                const tw_apsp_options *opts,
                                                const tw_mpi_apsp_output *output,
                                                tw_mpi_forecast *out);

/* Ranks on a cluster that need not be there, and a dense graph. */
typedef struct tw_mpi_cluster {
    size_t size;
    int64_t vertices;
    int32_t ranks;
    int32_t block;     /* 0: as a run would choose it */
    tw_type work_type; /* TW_AUTO: i32 */
    tw_type type;      /* TW_AUTO: that */
    int32_t undirected;
    int32_t flat;     /* 1: a broadcast goes from its root to each rank by itself; 0: down a tree */
    double rate;      /* relaxations per second of a rank in updates; 0: measured on this machine */
    double bandwidth; /* bytes per second into or out of a rank */
    double latency;   /* seconds of a message */
    uint64_t memory;  /* bytes of a rank; 0: as much as there is on this machine */
} tw_mpi_cluster;
#define TW_MPI_CLUSTER_INIT                                                         \
    {                                                                               \
        sizeof(tw_mpi_cluster), 0, 1, 0, TW_AUTO, TW_AUTO, 0, 0, 0, 12.5e9, 2e-6, 0 \
    }

/*
 * What a closure would take there, by a model that docs/scaling.md describes. Reading and writing
 * are not in it. TW_ERR_MEMORY, with the number of ranks that would do, if a rank has too little
 * memory. Not collective, and MPI need not be initialised.
 */
TW_API TW_CHECKED tw_status tw_mpi_predict(tw_context *ctx, const tw_mpi_cluster *cluster,
                                           tw_mpi_forecast *out);

#ifdef __cplusplus
}
#endif

#endif
