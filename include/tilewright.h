/*
 * tilewright: computing on large graphs and arrays at the speed of the hardware.
 *
 * This is the whole public interface. It is plain C with fixed-width integers, so that other
 * languages can call it; nothing here depends on a build option.
 *
 * Rules that hold for every function
 * ----------------------------------
 *  - A function that can fail returns tw_status. On anything but TW_OK, tw_last_error(ctx) is one
 *    sentence that says what was wrong, where, and what to do. Handles are then NULL. A matrix or
 *    image that was to receive a result may hold some of its rows, which mean nothing; other
 *    outputs are unchanged, unless their comment says what a failure leaves in them.
 *  - A pointer may be NULL where its comment says so and in option structs; elsewhere NULL, like an
 *    unknown enum value or a negative size, is TW_ERR_ARGUMENT (without a sentence if the context
 *    itself is NULL). A function that cannot fail then does nothing and returns 0, NULL or "".
 *  - The library never prints, never exits and never aborts. It talks through the callbacks of the
 *    context.
 *  - Handles (tw_context, tw_graph, tw_apsp_plan, ...) are opaque, made by *_create, *_read and
 *    the like, and released by *_destroy, which accepts NULL.
 *  - A context belongs to one thread at a time. Different contexts are independent. The only call
 *    that may come from another thread or from a signal handler is tw_cancel.
 *  - A process that has computed may fork, and the child may compute too; the thread that forked
 *    may then run single-threaded; threads created later run as usual. The shared library stays
 *    loaded after dlclose.
 *    Where METIS is part of the build, the plan of a long sweep may run it in a child process,
 *    unless the program has a handler for SIGCHLD; waitpid(-1) elsewhere may return that child.
 *  - A graph is immutable once made: several contexts may read it at the same time. It may outlive
 *    the context that made it.
 *  - Strings that go in are copied; strings that come out belong to the object they come from.
 *  - Structs that a caller fills or receives begin with `size`, set by the TW_*_INIT macro of their
 *    name, which also sets every default. So a later version can add members, always at the end and
 *    so that the size grows, or in the place of one called `reserved`, and programs compiled with
 *    an older header keep working: what their structs do not reach has its default, and nothing is
 *    read or written past their size. A longer struct, from a newer header, is refused unless all
 *    that this version does not know is zero. A size that no version of the struct has, such as 0
 *    or one that is not a multiple of 8, is TW_ERR_ARGUMENT. In an array of such structs (sinks,
 *    sources) all elements have the size of the first, and are spaced by that size. tw_matrix,
 *    tw_shape and tw_constant are plain values, without a size, and never grow.
 */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 2
#define TW_VERSION_PATCH 0
#define TW_VERSION_STRING "0.2.0"

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#define TW_CHECKED __attribute__((warn_unused_result))
#else
#define TW_API
#define TW_CHECKED
#endif

/* The version of the library that is running, as "major.minor.patch". */
TW_API const char *tw_version(void);
/* The optional parts of this build, separated by blanks, out of "openmp png tiff jpeg metis zlib
 * zstd lzma cuda hip". tw_machine_describe says which GPUs it was built for. */
TW_API const char *tw_features(void);

/* ------------------------------------------------------------------------------------- status */

typedef int32_t tw_status;
enum {
    TW_OK = 0,
    TW_ERR_ARGUMENT = 1,       /* the call itself is wrong: a size, an index, a NULL, an option */
    TW_ERR_MEMORY = 2,         /* refused by the system, or over the limit of tw_set_memory */
    TW_ERR_IO = 3,             /* open, read, write, rename, disk full */
    TW_ERR_FORMAT = 4,         /* a file violates its format */
    TW_ERR_RANGE = 5,          /* a value that the requested type cannot hold */
    TW_ERR_UNSUPPORTED = 6,    /* this build or this machine cannot do it */
    TW_ERR_CANCELLED = 7,      /* tw_cancel was called */
    TW_ERR_NEGATIVE_CYCLE = 8, /* no shortest paths exist; tw_apsp_negative_cycle shows why */
    TW_ERR_VERIFY = 9,         /* a check of a result failed */
    TW_ERR_DEVICE = 10,        /* an accelerator or its driver reported an error */
    TW_ERR_INTERNAL = 11       /* a bug in this library; please report it */
};

/* The name of a status, such as "TW_ERR_FORMAT"; never NULL. */
TW_API const char *tw_status_name(tw_status status);

/* -------------------------------------------------------------------------------------- types */

typedef int32_t tw_type;
enum {
    TW_AUTO = 0, /* let the library choose */
    TW_U8 = 1,
    TW_U16 = 2,
    TW_I16 = 3,
    TW_I32 = 4,
    TW_F32 = 5,
    TW_F64 = 6,
    TW_F16 = 7, /* in files only, from tw_sink_scaled; nothing is computed in it */
    TW_I64 = 8  /* NumPy's integers, from which graphs can be made: indices are kept in 32 bits,
                   weights in 32 bits or f64; nothing is computed or written in it */
};

TW_API size_t tw_type_size(tw_type type);      /* bytes; 0 for TW_AUTO or an unknown type */
TW_API const char *tw_type_name(tw_type type); /* "u8", "i32", ...; "auto"; "?" if unknown */
/* The inverse; exact names only. */
TW_API TW_CHECKED tw_status tw_type_parse(tw_type *out, const char *name);

/*
 * A view of a row-major matrix that the caller owns. Element (i, j) is at
 * (char *)data + (i * stride + j) * tw_type_size(type); stride >= cols, counted in elements. A view
 * whose data is not aligned for its elements is refused.
 */
typedef struct tw_matrix {
    void *data;
    int64_t rows;
    int64_t cols;
    int64_t stride;
    tw_type type;
} tw_matrix;

/* ------------------------------------------------------------------------------------ context */

typedef struct tw_context tw_context;

/* Called on the thread that made the long call, a few times per second at most. `done` of `total`
 * are in `unit` ("rows", "relaxations", "bytes"); total is 0 when unknown. */
typedef void (*tw_progress_fn)(void *user, const char *stage, double done, double total,
                               const char *unit);
/* One line of explanation that is not an error; no newline at the end. */
typedef void (*tw_log_fn)(void *user, const char *line);

/* TW_ERR_MEMORY is the only failure. */
TW_API TW_CHECKED tw_status tw_context_create(tw_context **out);
TW_API void tw_context_destroy(tw_context *ctx);

/* The sentence of the last failed call on this context; "" if none failed. Valid until the next
 * call on the context. */
TW_API const char *tw_last_error(const tw_context *ctx);

/* 0 (the default) is one for each processor that this process may use. If the system does not grant
 * that many threads (a limit on processes or memory), the context uses fewer from then on;
 * tw_threads says how many, and tw_set_threads makes it try again. */
TW_API TW_CHECKED tw_status tw_set_threads(tw_context *ctx, int32_t threads);
TW_API int32_t tw_threads(const tw_context *ctx);

/* The maximum memory this context may hold on the host, in bytes; 0 (the default) is what the
 * machine has available when asked, within the limits of the process (its control groups, RLIMIT_AS
 * and RLIMIT_DATA). What does not fit is refused before it starts. It also limits what is held on
 * each GPU, unless tw_set_device_memory says otherwise. */
TW_API TW_CHECKED tw_status tw_set_memory(tw_context *ctx, uint64_t bytes);
TW_API uint64_t tw_memory_limit(const tw_context *ctx);
/* Never refuse a run that needs at most this many bytes, even if the limit of tw_set_memory is
 * lower: plans, blocks and buffers still follow that limit, but what cannot do with less is allowed
 * up to this one. 0 (the default): whatever exceeds the limit is refused. The command sets 4 MB,
 * since a process takes about as much by itself. */
TW_API TW_CHECKED tw_status tw_set_memory_floor(tw_context *ctx, uint64_t bytes);
/* How much memory the caller will need beside a graph of that size, in bytes. It is called when a
 * graph being read does not fit the limit, so that the limit named in the error is enough for what
 * follows, too: see tw_apsp_least_memory and tw_reach_least_memory. NULL (the default): nothing. Of
 * the library's functions it may call only those two with this context. */
typedef uint64_t (*tw_graph_use_fn)(void *user, int64_t vertices, int64_t arcs, tw_type weights);
TW_API TW_CHECKED tw_status tw_set_graph_use(tw_context *ctx, tw_graph_use_fn use, void *user);
/* The maximum memory it may hold on each GPU; 0 (the default) is the limit of tw_set_memory, or
 * what is free there. A matrix that needs more than one GPU may give is streamed through it from
 * host memory, where it has to fit the limit of tw_set_memory as a whole. */
TW_API TW_CHECKED tw_status tw_set_device_memory(tw_context *ctx, uint64_t bytes);
/* TW_ERR_MEMORY if `bytes` more than are used now do not fit the limit, with a sentence that names
 * a sufficient limit: for a caller who knows what several steps need together, each of which would
 * name its own. `what` begins the sentence: "the table". Nothing is reserved. */
TW_API TW_CHECKED tw_status tw_memory_check(tw_context *ctx, uint64_t bytes, const char *what);
/* Bytes that are held; those of freed blocks that a context without a limit keeps for its next
 * calls, at most four of 4 MiB each, are not counted. tw_device_release gives these back. */
TW_API uint64_t tw_memory_used(const tw_context *ctx);
TW_API uint64_t tw_memory_peak(const tw_context *ctx);

/* The compression level of image files, in formats that have one: 0 (none) to 9 (smallest); -1 (the
 * default) is fast. */
TW_API TW_CHECKED tw_status tw_set_compression(tw_context *ctx, int32_t level);

/* Force an instruction set: "scalar", "neon", "avx2", "avx512"; NULL takes the environment's
 * TW_ISA, or else the best one for this processor. An unknown name, or one that this processor
 * lacks, is TW_ERR_UNSUPPORTED. A bad TW_ISA is reported by the first call that computes. */
TW_API TW_CHECKED tw_status tw_set_isa(tw_context *ctx, const char *name);

/* "auto" (the default) or "cpu"; a build with CUDA or HIP also takes "cuda", "cuda:0", "cuda:0,1",
 * "hip:...". "auto" uses a GPU if there is one and it is estimated to finish earlier, including the
 * start of its driver unless that already runs in this process; if shortest paths or reachability
 * then fail there, the CPU takes over and the log says so. */
TW_API TW_CHECKED tw_status tw_set_device(tw_context *ctx, const char *name);

/* Start the GPU that tw_set_device named (with "auto", the first of the machine) in the background,
 * while the caller does something else, such as reading a graph: a driver takes some tenths of a
 * second. Never needed, never fails, and does nothing for "cpu". tw_context_destroy waits until it
 * is done. */
TW_API void tw_device_start(tw_context *ctx);

/* Release what the context keeps between calls: freed blocks (see tw_memory_used), and for GPUs at
 * most 64 MiB of pinned host memory (counted by tw_memory_used, and released automatically where
 * tw_set_memory would otherwise refuse something), 256 MiB in the memory of GPUs, streams, and
 * compiled maps. Never needed: tw_context_destroy does it. What plans still use is released with
 * them. */
TW_API void tw_device_release(tw_context *ctx);

TW_API void tw_set_progress(tw_context *ctx, tw_progress_fn fn, void *user);
TW_API void tw_set_log(tw_context *ctx, tw_log_fn fn, void *user);

/* Ask the running call to stop: it returns TW_ERR_CANCELLED and leaves no part of a file. It aims
 * to do so within 50 ms; a few calls with matrices of gigabytes, mostly on a GPU, take longer.
 * Async-signal-safe. The request stays until tw_clear_cancel. */
TW_API void tw_cancel(tw_context *ctx);
TW_API void tw_clear_cancel(tw_context *ctx);

/* ------------------------------------------------------------------------------------- graphs */

/*
 * A weighted directed graph on vertices 0 ... n-1, as compressed rows. An undirected edge is two
 * arcs. Parallel arcs are kept (the minimum counts); self loops of weight >= 0 are dropped when the
 * graph is made, a negative one is kept, since it is a negative cycle.
 */
typedef struct tw_graph tw_graph;

/* Each edge counts in both directions; one of negative weight is then a negative cycle, which a
 * plan reports. */
enum { TW_GRAPH_UNDIRECTED = 1 };

/* Edges as three arrays, which are copied. weight_type is TW_I32, TW_F32, TW_F64 or TW_I64; weight
 * NULL makes every weight 1 (of TW_I32). Weights of TW_I64 are kept as TW_I32 if all of them fit,
 * else as TW_F64; one beyond 2^53 is TW_ERR_RANGE. */
typedef struct tw_edges {
    size_t size;
    int64_t count;
    const void *source; /* of index_type */
    const void *target;
    const void *weight;
    tw_type weight_type;
    tw_type index_type; /* TW_I32 or TW_I64 */
} tw_edges;
#define TW_EDGES_INIT                                         \
    {                                                         \
        sizeof(tw_edges), 0, NULL, NULL, NULL, TW_I32, TW_I32 \
    }

TW_API TW_CHECKED tw_status tw_graph_from_edges(tw_context *ctx, tw_graph **out, int64_t vertices,
                                                const tw_edges *edges, uint32_t flags);

/* A square adjacency matrix of TW_I32, TW_F32, TW_F64, also TW_U8, TW_U16 and TW_I16, which are
 * read as i32, and TW_I64, whose weights are kept as those of tw_edges are. An entry equal to
 * `no_edge`, or at or above tw_apsp_infinity of its type, is no edge; pass no_edge = NULL for the
 * latter alone. In TW_I64 only no_edge means that (from 2^63 on: INT64_MAX, which no double equals)
 * or, if it is NULL or not a whole number, 2^30-1 and INT64_MAX. Entries >= 0 on the diagonal are
 * no edges. */
TW_API TW_CHECKED tw_status tw_graph_from_matrix(tw_context *ctx, tw_graph **out,
                                                 const tw_matrix *matrix, const double *no_edge,
                                                 uint32_t flags);

/*
 * Compressed rows, as SciPy's csr_matrix has them (indptr, indices, data): the arcs of vertex u lie
 * at offsets[u] ... offsets[u+1]-1 of targets and values. offsets start at 0 and never decrease.
 * Arcs of +inf and self loops >= 0 are dropped; an entry of 0 is an edge of weight 0. Values of
 * TW_I64 are kept as the weights of tw_edges are.
 */
typedef struct tw_csr {
    size_t size;
    int64_t vertices;
    const void *offsets; /* vertices + 1; NULL if there are no vertices */
    tw_type offset_type; /* TW_I32 or TW_I64 */
    const void *targets; /* offsets[vertices] */
    tw_type target_type; /* TW_I32 or TW_I64 */
    const void *values;  /* as many; NULL: every weight is 1 */
    tw_type value_type;  /* TW_I32, TW_I64, TW_F32 or TW_F64 */
    int32_t borrow;      /* 1: targets and values must stay unchanged until the graph is destroyed,
                            because it does not copy what it can use as it is: targets of TW_I32,
                            values of TW_I32, TW_F32 or TW_F64, aligned, no arc dropped, and not
                            TW_GRAPH_UNDIRECTED. 0: everything is copied */
} tw_csr;
#define TW_CSR_INIT                                                    \
    {                                                                  \
        sizeof(tw_csr), 0, NULL, TW_I64, NULL, TW_I32, NULL, TW_F64, 0 \
    }

/* An error in the arrays is TW_ERR_ARGUMENT, with its position; an integer that is too large is
 * TW_ERR_RANGE. */
TW_API TW_CHECKED tw_status tw_graph_from_csr(tw_context *ctx, tw_graph **out, const tw_csr *csr,
                                              uint32_t flags);

TW_API void tw_graph_destroy(tw_graph *graph);

typedef struct tw_graph_info {
    size_t size;
    int64_t vertices;
    int64_t arcs;        /* stored arcs: an undirected edge counts twice */
    tw_type weight_type; /* TW_I32, TW_F32 or TW_F64 */
    int32_t undirected;  /* made or read as undirected */
    int32_t equal;       /* every weight is the same positive number */
    int32_t integral;    /* every weight is a whole number within i32, whatever its type */
    int32_t labelled;    /* vertices carry names of their own (tw_graph_read_options.ids) */
    double min_weight;   /* over the stored arcs; 0 without arcs */
    double max_weight;
    int32_t header; /* the first line of an edge list was taken for a header by its looks alone, not
                       because of the words in it or TW_GRAPH_HEADER_YES */
    int32_t first;  /* the number that its file gives vertex 0: 1 in .gr, .mtx and METIS files, else
                       0. Show v + first to users; the library itself counts from 0 */
} tw_graph_info;
#define TW_GRAPH_INFO_INIT                                           \
    {                                                                \
        sizeof(tw_graph_info), 0, 0, TW_AUTO, 0, 0, 0, 0, 0, 0, 0, 0 \
    }

TW_API TW_CHECKED tw_status tw_graph_describe(const tw_graph *graph, tw_graph_info *out);

/* The compressed rows: the arcs of u are offsets[u] ... offsets[u+1]-1 in targets and weights
 * (elements of weight_type). Owned by the graph. */
TW_API void tw_graph_rows(const tw_graph *graph, const int64_t **offsets, const int32_t **targets,
                          const void **weights);

/* The name of a vertex in a labelled graph, NULL if it has none; and the vertex of that name, or
 * -1. */
TW_API const char *tw_graph_label(const tw_graph *graph, int64_t vertex);
TW_API int64_t tw_graph_find(const tw_graph *graph, const char *label);

enum { TW_GRAPH_DIRECTED_AS_FILE = -1, TW_GRAPH_DIRECTED_NO = 0, TW_GRAPH_DIRECTED_YES = 1 };

/* Whether the first line of an edge list names the columns; AUTO: judged by its content. */
enum { TW_GRAPH_HEADER_AUTO = -1, TW_GRAPH_HEADER_NO = 0, TW_GRAPH_HEADER_YES = 1 };

typedef struct tw_graph_read_options {
    size_t size;
    const char *format;    /* NULL: by extension, else by content. "triples", "gr", "mtx",
                              "edges", "metis", "npy", "npz" */
    int32_t directed;      /* TW_GRAPH_DIRECTED_* */
    int32_t unweighted;    /* 1: ignore weights, each edge counts 1 */
    int32_t ids;           /* 1: vertices of an edge list have arbitrary names; 0: only if one of
                              them cannot be an index: anything but a number in a table (.csv,
                              .tsv), leading zeros or a number above 2^31 - 2 in any list */
    int32_t header;        /* edge lists: TW_GRAPH_HEADER_* */
    const char *weight;    /* edge lists: the column of the weight, by number from 1 or by name;
                              NULL: what a header says, or the third if there is one */
    const double *no_edge; /* .npy: the entry that means "no edge" */
    const char *from;      /* edge lists: the columns of the ends, likewise; NULL: those whose */
    const char *to;        /* titles are unambiguous, or the first and the second */
} tw_graph_read_options;
#define TW_GRAPH_READ_OPTIONS_INIT                                            \
    {                                                                         \
        sizeof(tw_graph_read_options), NULL, TW_GRAPH_DIRECTED_AS_FILE, 0, 0, \
            TW_GRAPH_HEADER_AUTO, NULL, NULL, NULL, NULL                      \
    }

/* Read a graph. `path` "-" is standard input. opts NULL takes the defaults. */
TW_API TW_CHECKED tw_status tw_graph_read(tw_context *ctx, tw_graph **out, const char *path,
                                          const tw_graph_read_options *opts);

/* Write a graph; format NULL follows the extension. The file appears whole or not at all;
 * "-" is standard output. */
TW_API TW_CHECKED tw_status tw_graph_write(tw_context *ctx, const tw_graph *graph, const char *path,
                                           const char *format);

/*
 * Generators. The same options give the same graph on every machine and thread count.
 *   "complete"    every ordered pair (every pair, if undirected)
 *   "dense"       each pair with probability `density`
 *   "sparse"      `degree` * n arcs between random distinct vertices
 *   "grid"        rows x cols lattice, road-like: each lattice edge with probability `density`,
 *                 undirected by default; if directed, each direction has its own weight
 *   "preferential" each new vertex attaches to `degree` earlier ones, by their degree; undirected
 *   "rmat"        degree * n arcs by R-MAT (0.57, 0.19, 0.19, 0.05); n is rounded up to a power
 *                 of two for drawing and cut back to n
 */
typedef struct tw_graph_generate_options {
    size_t size;
    const char *kind;
    int64_t vertices;
    int64_t rows, cols; /* grid only; 0: near-square for `vertices` */
    double degree;      /* sparse, preferential, rmat */
    double density;     /* dense, grid */
    uint64_t seed;
    tw_type weight_type; /* TW_I32 or TW_F32 or TW_F64 */
    int32_t directed;    /* TW_GRAPH_DIRECTED_AS_FILE: the kind's own default */
    double min_weight;   /* whole numbers for TW_I32; both ends included */
    double max_weight;
} tw_graph_generate_options;
#define TW_GRAPH_GENERATE_OPTIONS_INIT                                                \
    {                                                                                 \
        sizeof(tw_graph_generate_options), "sparse", 1000, 0, 0, 5.0, 0.5, 1, TW_I32, \
            TW_GRAPH_DIRECTED_AS_FILE, 1, 1000                                        \
    }

/* opts NULL takes the defaults. */
TW_API TW_CHECKED tw_status tw_graph_generate(tw_context *ctx, tw_graph **out,
                                              const tw_graph_generate_options *opts);

/* -------------------------------------------------------------------------------------- sinks */

/*
 * Where results go. Whatever computes or copies rows into sinks calls, from the thread of the long
 * call and in this order:
 *
 *  1. begin of every sink, in the order of the array, with the shape of the result. A sink whose
 *     begin fails has not begun: it keeps nothing, and none of its other functions is called.
 *  2. rows of every sink with consecutive blocks, the first row being the number of rows given
 *     before, until all rows are there. A result without rows has no such call.
 *  3. end of every sink, in the order of the array.
 *
 * A sink for predecessors counts as the last of the array.
 *
 * When a begin, rows or end fails, or the work behind them does, or the call is cancelled before
 * the first end, every sink that has begun and has not ended successfully gets abort, once, the
 * failing one included, and nothing further is called. So a sink that has begun gets either
 * an end that succeeds or abort as its last call. abort discards the result: a file does not appear
 * and an earlier one of that name stays as it was, memory taken for the run is freed; rows that
 * went into the caller's memory (tw_sink_to_matrix, tw_sink_to_image) stay there and mean nothing.
 * A sink that ended before a later one failed has its complete result, and keeps it.
 *
 * A function that fails returns a status other than TW_OK, which the long call then returns, and
 * says why with tw_set_error or tw_fail; abort cannot fail, and does not change the sentence. A
 * sink can be used again, from begin on, after its last call; a run on a GPU that fails and starts
 * over on the CPU does so by itself (tw_set_device, "auto").
 */
typedef struct tw_shape {
    int64_t rows;
    int64_t cols;
    tw_type type;
} tw_shape;

typedef struct tw_sink {
    size_t size;
    void *self;
    tw_status (*begin)(void *self, tw_context *ctx, const tw_shape *shape);
    tw_status (*rows)(void *self, tw_context *ctx, int64_t first, int64_t count, const void *data,
                      int64_t stride);
    tw_status (*end)(void *self, tw_context *ctx);
    void (*abort)(void *self, tw_context *ctx);
    void (*destroy)(void *self); /* used by tw_sink_destroy; may be NULL */
} tw_sink;
#define TW_SINK_INIT                                        \
    {                                                       \
        sizeof(tw_sink), NULL, NULL, NULL, NULL, NULL, NULL \
    }

/* Set the error sentence of the context, which copies it (NULL clears it): for sinks and sources,
 * also those in other languages. */
TW_API void tw_set_error(tw_context *ctx, const char *text);

/* The same, printf-like, and return `status`. */
TW_API tw_status tw_fail(tw_context *ctx, tw_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Into the caller's matrix, whose shape and type must be those of the result. */
TW_API TW_CHECKED tw_status tw_sink_to_matrix(tw_context *ctx, tw_sink *out, tw_matrix *target);

/* Into a file: "raw" (row-major elements, nothing else), "npy" or "csv"; format NULL follows the
 * extension: none, .raw, .bin and .out are raw, an unknown one is TW_ERR_ARGUMENT. The file appears
 * under its name, whole, when the sink ends. "-" is standard output. */
TW_API TW_CHECKED tw_status tw_sink_to_file(tw_context *ctx, tw_sink *out, const char *path,
                                            const char *format);

/*
 * Distances as lines "from,to,distance" below a header, into a .csv file or "-" for standard
 * output. Pairs without a path, and of a vertex with itself, are left out. Vertices are named as
 * their file names them, by the labels or numbers of `graph` (NULL: by number, from 0); `sources`
 * and `targets` as for a summary. All three are read until the sink's end.
 */
TW_API TW_CHECKED tw_status tw_sink_to_pairs(tw_context *ctx, tw_sink *out, const char *path,
                                             const tw_graph *graph, const int32_t *sources,
                                             const int32_t *targets);

/*
 * A matrix as a table of comma-separated fields, whose first line names the columns and whose first
 * field in every other line names the row; the first field of all is empty. Vertices are named as
 * above, and all three are read until the sink's end. With `vertices` the entries are vertices of
 * the graph, i32 as a sink of predecessors receives them, and are named, too; where there is no
 * vertex, the field is empty. Tables of distances are read by tw_matrix_file_create, which passes
 * over the names, and tw_matrix_source, which has them (tw_matrix_source_names). "-" is standard
 * output, any other name is the file's, whatever its extension.
 */
TW_API TW_CHECKED tw_status tw_sink_to_table(tw_context *ctx, tw_sink *out, const char *path,
                                             const tw_graph *graph, const int32_t *sources,
                                             const int32_t *targets, int32_t vertices);

/*
 * One number for each of `count` vertices as lines "vertex,NAME" below a header of those words,
 * into a .csv file or "-": `values` of `type` (TW_I32, TW_I64 or TW_F64), vertices as above,
 * `vertices` saying which (NULL: the first ones). Without `values` only the vertices, one per line
 * without a header, into a file of any name.
 */
TW_API TW_CHECKED tw_status tw_vertices_write(tw_context *ctx, const char *path,
                                              const tw_graph *graph, const int32_t *vertices,
                                              int64_t count, const char *name, const void *values,
                                              tw_type type);

/* Bytes into a file, which appears whole or not at all, as all outputs do; "-" is standard
 * output. */
TW_API TW_CHECKED tw_status tw_file_write(tw_context *ctx, const char *path, const void *bytes,
                                          size_t count);

/*
 * Rows of f32 on their way into `inner`, as another type. For TW_U8 and TW_U16 0 to maximum becomes
 * 0 to 255 or 65535, rounded to the nearest; values outside become the nearer end, NaN becomes 0.
 * TW_F16: the nearest half-precision number, whatever `maximum`. `inner` stays the caller's and
 * must outlive this one.
 */
TW_API TW_CHECKED tw_status tw_sink_scaled(tw_context *ctx, tw_sink *out, tw_sink *inner,
                                           tw_type type, double maximum);

/* A picture of f32 rows, in an image file whose extension is the format (.png, .ppm): 0 ... maximum
 * in a colour map of evenly rising lightness, grey where all is NaN. Results of more than 1024 rows
 * or columns are downsampled; a log line says so. */
TW_API TW_CHECKED tw_status tw_sink_to_preview(tw_context *ctx, tw_sink *out, const char *path,
                                               double maximum);

/* Tell a sink into a file what is coming, before anything is computed: the file is opened, and
 * space for a large file is reserved in the background. A hint: other sinks ignore it, a begin with
 * another shape starts over, and what goes wrong is reported by begin. */
TW_API void tw_sink_expect(tw_context *ctx, tw_sink *sink, const tw_shape *shape);

/* Bytes that a sink into a file will hold at most while a result of that shape passes, which no
 * plan counts: lines of csv, or a large file's rows, on their way to the disk; 0 for other sinks.
 * Where memory is short it uses less, down to one line or none. */
TW_API uint64_t tw_sink_memory(const tw_sink *sink, const tw_shape *shape);

/* Release what a tw_sink_to_* or *_sink function put into *sink, which is then as TW_SINK_INIT left
 * it; NULL, and a sink into which nothing was put, are accepted. */
TW_API void tw_sink_destroy(tw_sink *sink);

/*
 * A source of rows that need not be in memory, the counterpart of a sink: `rows` reads `count`
 * rows, from row `first` on, into `data`, their elements side by side, the rows `stride` elements
 * apart.
 */
typedef struct tw_source {
    size_t size;
    void *self;
    tw_shape shape;
    int32_t in_order; /* 1: rows can be read once, from the first to the last */
    tw_status (*rows)(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                      int64_t stride);
    void (*destroy)(void *self); /* used by tw_source_destroy; may be NULL */
} tw_source;
#define TW_SOURCE_INIT                                          \
    {                                                           \
        sizeof(tw_source), NULL, {0, 0, TW_AUTO}, 0, NULL, NULL \
    }

/* Release what a *_source function put into *source, as tw_sink_destroy does. */
TW_API void tw_source_destroy(tw_source *source);

/* Push a matrix through sinks, as a computation would. */
TW_API TW_CHECKED tw_status tw_feed(tw_context *ctx, const tw_matrix *matrix, tw_sink *sinks,
                                    int32_t sink_count);

/* Push the rows of a source through sinks, a block of them in memory at a time. */
TW_API TW_CHECKED tw_status tw_feed_source(tw_context *ctx, const tw_source *source, tw_sink *sinks,
                                           int32_t sink_count);

/* A matrix file read into memory. raw needs `type` (and is taken as square); npy carries its own;
 * csv becomes f32 or f64 if `type` says so, else i32 if all are whole, else f64. Text that was
 * written from f32 holds the decimals of f32: pass TW_F32 to compare it with a graph
 * (tw_apsp_path_create, tw_apsp_verifier). */
typedef struct tw_matrix_file tw_matrix_file;
TW_API TW_CHECKED tw_status tw_matrix_file_create(tw_context *ctx, tw_matrix_file **out,
                                                  const char *path, const char *format,
                                                  tw_type type);
TW_API const tw_matrix *tw_matrix_file_view(const tw_matrix_file *file);
TW_API void tw_matrix_file_destroy(tw_matrix_file *file);

/* The same file row by row: raw and npy rows are read when they are asked for, so that the file may
 * be larger than the memory; csv, pipes and standard input ("-") are read as a whole. A file that
 * is cut short meanwhile is TW_ERR_IO. */
TW_API TW_CHECKED tw_status tw_matrix_source(tw_context *ctx, tw_source *out, const char *path,
                                             const char *format, tw_type type);

/* The names that a csv table has before its rows, or with `columns` above its columns: a line for
 * each, in quotes where the file has quotes. Valid as long as the source. NULL if it has none or
 * did not come from tw_matrix_source. */
TW_API const char *tw_matrix_source_names(const tw_source *source, int32_t columns);

/* ------------------------------------------------------------------------ arrays in GPU memory */

/*
 * What every *_device call takes besides its problem; NULL takes the defaults. The work is put on
 * `stream` of the GPU that holds the arrays, after what is on it already, and is not waited for. An
 * error of the device while it runs is reported by a later call. Until the work is done the arrays
 * and the workspace must remain valid.
 */
typedef struct tw_device_options {
    size_t size;
    void *stream;    /* a cudaStream_t or hipStream_t; NULL: the default stream */
    void *workspace; /* memory of the same GPU, aligned to 256 bytes; NULL where none is needed */
    uint64_t workspace_bytes; /* at least what the *_device_workspace function says */
} tw_device_options;
#define TW_DEVICE_OPTIONS_INIT                   \
    {                                            \
        sizeof(tw_device_options), NULL, NULL, 0 \
    }

/* ------------------------------------------------------------------ all-pairs shortest paths */

/* "No path" in a distance matrix: the cap of the unsigned types, 2^30-1 in i32 (and, as "no edge",
 * in i64), +inf in floats. */
#define TW_APSP_INF_U8 255
#define TW_APSP_INF_U16 65535
#define TW_APSP_INF_I32 1073741823
TW_API double tw_apsp_infinity(tw_type type); /* the same for every type; +inf if it is unknown */

/* "No predecessor" in a predecessor matrix. */
#define TW_APSP_NO_VERTEX (-9999)

typedef int32_t tw_apsp_method;
enum {
    TW_APSP_METHOD_AUTO = 0,
    TW_APSP_METHOD_CLOSURE = 1, /* blocked Floyd-Warshall over (min,+) products */
    /* one search per source; with potentials when weights are negative. On a GPU many at once, by
     * label correction */
    TW_APSP_METHOD_DIJKSTRA = 2,
    TW_APSP_METHOD_BFS = 3,       /* many sources at once, one bit each; equal weights only */
    TW_APSP_METHOD_REFERENCE = 4, /* the plain triple loop in f64 or i64: slow, trusted */
    TW_APSP_METHOD_SWEEP = 5 /* elimination, then a sweep over blocks of sources: for graphs with
                                small separators (roads, grids, meshes) */
};
TW_API const char *tw_apsp_method_name(tw_apsp_method method);
TW_API TW_CHECKED tw_status tw_apsp_method_parse(tw_apsp_method *out, const char *name);

/*
 * The order in which a sweep eliminates the vertices of a graph. It depends on which vertices are
 * joined and on nothing else: graphs that differ in their weights, or in the directions of arcs,
 * can share one, and a plan that is given one need not make its own, which for a road network or a
 * mesh takes about as long as a sweep of all pairs on a few processors:
 *
 *     tw_apsp_order_create(ctx, &order, graph);
 *     opts.order = order;
 *     tw_apsp(ctx, &distances, graph, &opts);
 *     tw_apsp(ctx, &others, same_graph_with_new_weights, &opts);
 *
 * A plan given an order of a graph with other edges is TW_ERR_ARGUMENT. An order does not change:
 * plans of any number of contexts and threads may share it. It may outlive the graph, and plans
 * that were made with it do not need it.
 *
 * tw_apsp_options.order_cache also keeps orders from run to run, in files in
 * $XDG_CACHE_HOME/tilewright or ~/.cache/tilewright that may be deleted at any time: at most 128 of
 * them and 256 MiB in all; those unused for longest go first. A file is checked to be whole and to
 * hold an order of this very structure. If none can be read or written, the order is made as usual.
 */
typedef struct tw_apsp_order tw_apsp_order;
TW_API TW_CHECKED tw_status tw_apsp_order_create(tw_context *ctx, tw_apsp_order **out,
                                                 const tw_graph *graph);
TW_API void tw_apsp_order_destroy(tw_apsp_order *order);

typedef struct tw_apsp_options {
    size_t size;
    tw_apsp_method method;
    tw_type type; /* of the result; TW_AUTO: the type of the weights */
    tw_type
        work_type; /* of the closure or the sweep; TW_AUTO: the narrowest that proves exact, or for
                      floats the wider of weights and result. TW_F32 needs a result of f32 */
    int32_t block; /* pivot width of the closure; 0: chosen. May change the last bits of floats */
    const int32_t *sources; /* rows of the result; NULL: all vertices. Read until the run ends. */
    int64_t source_count;
    const int32_t *targets; /* columns of the result; NULL: all vertices. Likewise. */
    int64_t target_count;
    double cutoff;     /* distances above it become "no path"; negative: no cutoff */
    int32_t symmetric; /* for tw_apsp_device: 1 if the matrix is symmetric, so that half of the work
                          is enough. Must be 0 for a graph, where it is detected */
    int32_t summary_only; /* 1 if the run will feed nothing but summaries without a histogram, and
                             no predecessors: a sweep then need not make rows, and the plan counts
                             on that. A run with other sinks is still correct. 0: rows */
    const tw_apsp_order *order; /* of this graph, for a sweep; NULL: it makes its own. Needed only
                                   while the plan is made */
    int32_t order_cache; /* 1: an order that a sweep has to make is kept in the user's cache folder,
                            and found there the next time; see tw_apsp_order. 0: no file is read or
                            written */
    int32_t predecessors;    /* 1: include the memory for predecessors in the plan and in the limit
                                named by a refusal. 0: leave it out. A run may request them
                                either way */
    const char *checkpoint;  /* a file from which an interrupted run can resume; see below. NULL:
                                none. Read until the run ends */
    double checkpoint_every; /* seconds from one checkpoint to the next, about; 0: as often as
                                possible */
    uint64_t beside; /* bytes of the context's memory that the caller's sinks will take beside the
                        run: they are then in the memory of the plan, and in the limit that a
                        refusal names. Lists of nearest vertices take 12 for each entry. 0: none */
} tw_apsp_options;
#define TW_APSP_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(tw_apsp_options), TW_APSP_METHOD_AUTO, TW_AUTO, TW_AUTO, 0, NULL, 0, NULL, 0, -1.0, \
            0, 0, NULL, 0, 0, NULL, 600.0, 0                                                       \
    }

/*
 * Checkpoints. With tw_apsp_options.checkpoint the method is the closure (tw_mpi_apsp: the closure
 * over ranks), and the unfinished matrix is written to that file every so often. A run that finds
 * the file resumes from it and ends with the same bytes as an uninterrupted one: on any number of
 * threads, ranks or GPUs, begun by tw_apsp or by tw_mpi_apsp; whole weights also on another kind of
 * device. Floats resume where they have the same pivots, and the last bits then are those of the
 * device. A run that succeeds removes the file. On GPUs the host must have room for the matrix, and
 * no GPU is taken for floats unless one is named.
 *
 * Two generations are kept, the older as "FILE.previous"; while a third is written under a
 * temporary name there must be room for three. Whenever the process ends, one of the two is whole;
 * if the newest is damaged, the other is used. A checkpoint that cannot be written is logged
 * (tw_set_log), and the run continues. A file of another graph, of other options that matter (a
 * working type that is set or, for floats, a block) or of another version, a damaged file without
 * an intact older one, or a file that is not a checkpoint is TW_ERR_ARGUMENT or TW_ERR_FORMAT and
 * is left unchanged.
 */

/*
 * A plan holds the choice of method, working type, block and threads for one graph and one set of
 * options, with its reasons. The graph must outlive it. Making one measures rates for a few
 * milliseconds, unless another plan of the process just did, and refuses (TW_ERR_MEMORY, with
 * numbers) what cannot fit. With negative weights it looks for a negative cycle on a walk from a
 * source to a target and, finding one, returns TW_ERR_NEGATIVE_CYCLE.
 */
typedef struct tw_apsp_plan tw_apsp_plan;
/* The minimum memory of a plan, in bytes besides the graph, for a graph of that many vertices and
 * arcs and that type of weights: a plan can be made if the limit of tw_set_memory leaves this much
 * beside the graph. Only the counts of sources and targets are used, where the lists are not NULL.
 * This is an estimate, since the weights are not known. */
TW_API TW_CHECKED tw_status tw_apsp_least_memory(tw_context *ctx, uint64_t *bytes, int64_t vertices,
                                                 int64_t arcs, tw_type weights,
                                                 const tw_apsp_options *opts);
TW_API TW_CHECKED tw_status tw_apsp_plan_create(tw_context *ctx, tw_apsp_plan **out,
                                                const tw_graph *graph, const tw_apsp_options *opts);
TW_API void tw_apsp_plan_destroy(tw_apsp_plan *plan);

/* Several lines: the candidates with estimated seconds and bytes, the choice and the reason. */
TW_API const char *tw_apsp_plan_explain(const tw_apsp_plan *plan);

typedef struct tw_apsp_plan_info {
    size_t size;
    tw_apsp_method method;
    tw_type type;      /* of the result */
    tw_type work_type; /* the first one to be tried */
    uint64_t memory;   /* bytes that the run will hold at most, the graph included; besides what the
                          sinks and predecessors take, and in the first working type: a wider one,
                          where it is needed, takes more */
    uint64_t device_memory; /* maximum bytes on each of its devices, in addition; 0 on the CPU */
    double seconds;         /* estimated run time, excluding work that the plan has already done,
                               such as the order of a sweep or rows of searches that it tried */
    const char *device;     /* "cpu", "cuda", "cuda:1", ...; owned by the plan */
    const char *order; /* where the order of a sweep came from: "computed", "cached" or "given"; ""
                          for other methods */
    int32_t threads;   /* that the run will use: small graphs and few sources have work for fewer
                          than the context has */
    int32_t reserved;  /* 0 */
} tw_apsp_plan_info;
#define TW_APSP_PLAN_INFO_INIT                                    \
    {                                                             \
        sizeof(tw_apsp_plan_info), 0, 0, 0, 0, 0, 0, "", "", 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_apsp_plan_describe(const tw_apsp_plan *plan, tw_apsp_plan_info *out);

typedef struct tw_apsp_report {
    size_t size;
    tw_apsp_method method;
    tw_type work_type; /* the one whose result was certified exact */
    tw_type type;      /* of the result */
    int32_t threads;
    int32_t block;     /* pivot width; 0 for searches */
    int32_t attempts;  /* working types tried */
    int32_t symmetric; /* half of the work was enough */
    const char *isa;
    double relaxations;  /* d = min(d, a + b) of the whole problem: n^3 for a closure, scanned
                            arcs for searches, steps on vectors for a sweep */
    double seconds_plan; /* without waiting for a GPU to start */
    double seconds_compute;
    double seconds_output;   /* converting and the sinks */
    uint64_t memory_peak;    /* of the context during the run */
    const char *device;      /* "cpu", or as in tw_set_device; owned by the plan */
    double seconds_startup;  /* of the GPU's driver, in the background where it could be; 0: CPU */
    double seconds_wait;     /* the part of it that was waited for */
    double seconds_device;   /* of the closure on a GPU; 0: CPU. If it was resident, of the closure
                                alone, by the GPU's clock; else by the host's, with pinning and
                                copying of the matrix. For a sweep: all batches, by GPU clocks  */
    double seconds_upload;   /* to the GPU, if resident: allocating on both sides, and the graph.
                                For a sweep: the factor */
    double seconds_download; /* from the GPU, if resident or for a sweep: what the sinks' time did
                                not hide */
    int32_t resident;        /* one GPU held the whole matrix; else it lay in host memory */
    const char *fallback;    /* why the CPU computed what was planned for a GPU; "": it did not.
                                Valid as long as the plan */
} tw_apsp_report;
#define TW_APSP_REPORT_INIT                                                                      \
    {                                                                                            \
        sizeof(tw_apsp_report), 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0, 0, 0, "", 0, 0, 0, 0, 0, 0, "" \
    }

/* Compute and push the rows into every sink. A distance that the result's type cannot hold (too
 * large, not whole, a positive one that f32 would turn into 0, one of whole weights that it would
 * round, as f64 does from 2^53 on) or that is beyond f64 is TW_ERR_RANGE, with the pair. `report`
 * may be NULL. `predecessors`, if not NULL, receives a TW_I32 matrix of the same shape (targets
 * must then be all vertices): the vertex before v on a shortest path from the row's source,
 * TW_APSP_NO_VERTEX where there is none. */
TW_API TW_CHECKED tw_status tw_apsp_plan_run(tw_context *ctx, tw_apsp_plan *plan, tw_sink *sinks,
                                             int32_t sink_count, tw_sink *predecessors,
                                             tw_apsp_report *report);

/* Plan and run in one call, into the caller's matrix (out->type is the result's type). */
TW_API TW_CHECKED tw_status tw_apsp(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                                    const tw_apsp_options *opts);

/*
 * All pairs in place, for a matrix that already lies in GPU memory: square, of TW_I32, TW_F32 or
 * TW_F64, any size, stride and alignment. On entry an element is the weight of an edge, or "no
 * path"; integers above TW_APSP_INF_I32 count as that, and the diagonal counts as 0. Weights must
 * be neither negative nor NaN: others give undefined distances, but are memory-safe, and the call
 * ends. A sum of floats beyond the type is +inf, as "no path" is.
 *
 * Only the options `work_type` and `symmetric` are used; any other that is not left at its default
 * is TW_ERR_ARGUMENT. work_type is TW_AUTO, the matrix's own type, or, for i32, TW_U16: 16 bits,
 * twice as fast, are tried first and kept where they prove exact, which is where every pair has a
 * path shorter than 2^15 - 1.
 *
 * The call does wait for room in the driver's queue if there are more launches (up to five for
 * every 64 vertices) than that holds.
 */
TW_API TW_CHECKED tw_status tw_apsp_device(tw_context *ctx, tw_matrix *matrix,
                                           const tw_apsp_options *opts,
                                           const tw_device_options *device);
/* The workspace that tw_apsp_device needs for this matrix and these options. */
TW_API TW_CHECKED tw_status tw_apsp_device_workspace(tw_context *ctx, uint64_t *bytes,
                                                     const tw_matrix *matrix,
                                                     const tw_apsp_options *opts);

/* C = min(C, A (x) B) where (A (x) B)[i][j] = min over k of A[i][k] + B[k][j]. All have the same
 * type: TW_U8, TW_U16, TW_I32, TW_F32 or TW_F64. Integer sums stop at the type's infinity; entries
 * above it (i32) or below 0 (i32) are refused. C may not overlap A or B. */
TW_API TW_CHECKED tw_status tw_minplus(tw_context *ctx, tw_matrix *c, const tw_matrix *a,
                                       const tw_matrix *b);

/* After TW_ERR_NEGATIVE_CYCLE: its vertices in order (the last leads back to the first). Valid
 * until the next call on the context. */
TW_API int64_t tw_apsp_negative_cycle(const tw_context *ctx, const int32_t **vertices);

/* -------------------------------------------------------------- routes, summaries, checks */

/* One shortest path. Only a negative cycle on a walk from `from` to `to` matters. `distances` is
 * the matrix of all pairs, or its row `from` alone (1 x n), or NULL to search the graph alone; a
 * matrix that contradicts the graph is TW_ERR_VERIFY. If `to` cannot be reached there is still a
 * handle, of a path without vertices. A path no longer needs the graph or the matrix. */
typedef struct tw_apsp_path tw_apsp_path;
TW_API TW_CHECKED tw_status tw_apsp_path_create(tw_context *ctx, tw_apsp_path **out,
                                                const tw_graph *graph, const tw_matrix *distances,
                                                int32_t from, int32_t to);
TW_API void tw_apsp_path_destroy(tw_apsp_path *path);

typedef struct tw_apsp_path_info {
    size_t size;
    int64_t count;           /* of vertices: one more than arcs; 0 when there is no path */
    const int32_t *vertices; /* from ... to, owned by the path; NULL when there is no path */
    double distance;         /* +inf when there is no path */
} tw_apsp_path_info;
#define TW_APSP_PATH_INFO_INIT                \
    {                                         \
        sizeof(tw_apsp_path_info), 0, NULL, 0 \
    }
TW_API TW_CHECKED tw_status tw_apsp_path_describe(const tw_apsp_path *path, tw_apsp_path_info *out);

/* Statistics of a distance matrix, collected as rows pass by. Pairs (v, v) are not counted. */
typedef struct tw_apsp_summary tw_apsp_summary;
typedef struct tw_apsp_summary_info {
    size_t size;
    int64_t rows, cols;
    tw_type type;
    int64_t reachable; /* ordered pairs with a path */
    int64_t unreachable;
    double diameter;                    /* maximum finite distance; 0 without any */
    int64_t diameter_from, diameter_to; /* a pair that has it; -1 without any */
    double radius;  /* minimum eccentricity over rows that reach something; 0 without any */
    int64_t center; /* a row that has it; -1 without any */
    double mean;    /* over reachable pairs; 0 without any */
    double minimum; /* over distinct pairs; 0 without any */
} tw_apsp_summary_info;
#define TW_APSP_SUMMARY_INFO_INIT                                              \
    {                                                                          \
        sizeof(tw_apsp_summary_info), 0, 0, TW_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }

/* `bins` histogram bins (0: none; at most 32768) of equal width from 0 (from the minimum distance,
 * if that is negative) to the diameter. A bin holds its lower edge and not its upper one, except
 * the last. Integer matrices with fewer values than bins have one bin per value. Floats, and
 * integers whose diameter is 2^16 or more, are binned while the range is still unknown: edges are
 * then multiples of a power of two no wider than 2^-15 of the range, the last may lie beyond the
 * diameter, and there may be fewer bins than requested; the counts are exact for the edges
 * reported. `sources` maps rows to vertices for the diagonal when the rows are only some of the
 * vertices; NULL: row i is vertex i. Likewise `targets`. Both are read until the sink's end. */
TW_API TW_CHECKED tw_status tw_apsp_summary_create(tw_context *ctx, tw_apsp_summary **out,
                                                   int32_t bins, const int32_t *sources,
                                                   const int32_t *targets);
TW_API TW_CHECKED tw_status tw_apsp_summary_sink(tw_apsp_summary *summary, tw_sink *out);
TW_API TW_CHECKED tw_status tw_apsp_summary_describe(const tw_apsp_summary *summary,
                                                     tw_apsp_summary_info *out);
/*
 * How closeness is scaled; TW_APSP_CLOSENESS_NETWORKX unless set before the sink's begin. With r
 * vertices reached, not counting the row's own, at distances whose sum is s:
 *
 *  - TW_APSP_CLOSENESS_NETWORKX: r / s * r / (cols - 1), as NetworkX has it for distances along the
 *    arcs (its closeness_centrality takes those against them: reverse the graph there); 0 unless
 *    s > 0. cols is counted in full when the row's own vertex is not among the columns.
 *  - TW_APSP_CLOSENESS_IGRAPH: r / s, the inverse of the mean distance, as igraph has it (mode
 *    "out", normalized); NaN when nothing is reached.
 */
typedef int32_t tw_apsp_closeness;
enum { TW_APSP_CLOSENESS_NETWORKX = 0, TW_APSP_CLOSENESS_IGRAPH = 1 };
TW_API TW_CHECKED tw_status tw_apsp_summary_set_closeness(tw_context *ctx, tw_apsp_summary *summary,
                                                          tw_apsp_closeness scale);
/* Ask, before the sink's begin, for the harmonic centrality of each row too (on != 0): the sum of
 * 1 / d over the vertices reached at distances d, those at distance 0 left out, as NetworkX has it
 * for distances along the arcs. Every distance is then passed to the summary, which takes longer
 * than the sums and maxima that some methods compute by themselves. */
TW_API TW_CHECKED tw_status tw_apsp_summary_set_harmonic(tw_context *ctx, tw_apsp_summary *summary,
                                                         int32_t on);
/* Per row: maximum finite distance (0 if it reaches nothing), closeness, the sum of the distances
 * to all that it reaches and how many those are, and harmonic centrality (NULL unless asked for).
 * All belong to the summary. */
TW_API const double *tw_apsp_summary_eccentricity(const tw_apsp_summary *summary);
TW_API const double *tw_apsp_summary_closeness(const tw_apsp_summary *summary);
TW_API const double *tw_apsp_summary_sum(const tw_apsp_summary *summary);
TW_API const int64_t *tw_apsp_summary_reached(const tw_apsp_summary *summary);
TW_API const double *tw_apsp_summary_harmonic(const tw_apsp_summary *summary);
/* Bin count actually used; *edges has one more element than *counts. */
TW_API int32_t tw_apsp_summary_histogram(const tw_apsp_summary *summary, const double **edges,
                                         const int64_t **counts);
TW_API void tw_apsp_summary_destroy(tw_apsp_summary *summary);

/* The nearest vertices of each row, or the farthest, kept as rows of distances pass by: `count` of
 * them, or as many as there are columns if those are fewer, the row's own left out, nearest (or
 * farthest) first; among equal distances, earlier columns first. `sources` and `targets` as for a
 * summary. */
typedef struct tw_apsp_nearest tw_apsp_nearest;
typedef struct tw_apsp_nearest_options {
    size_t size;
    int32_t count;    /* of vertices kept for each row; at least 1 */
    int32_t farthest; /* not 0: the farthest of those that are reached */
    const int32_t *sources;
    const int32_t *targets;
} tw_apsp_nearest_options;
#define TW_APSP_NEAREST_OPTIONS_INIT                       \
    {                                                      \
        sizeof(tw_apsp_nearest_options), 10, 0, NULL, NULL \
    }
typedef struct tw_apsp_nearest_info {
    size_t size;
    int64_t rows, cols;
    tw_type type;  /* of the distances */
    int32_t count; /* of vertices for each row; as many as asked for until a matrix has passed */
    int32_t farthest;
    int32_t reserved;
} tw_apsp_nearest_info;
#define TW_APSP_NEAREST_INFO_INIT                            \
    {                                                        \
        sizeof(tw_apsp_nearest_info), 0, 0, TW_AUTO, 0, 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_apsp_nearest_create(tw_context *ctx, tw_apsp_nearest **out,
                                                   const tw_apsp_nearest_options *options);
TW_API TW_CHECKED tw_status tw_apsp_nearest_sink(tw_apsp_nearest *nearest, tw_sink *out);
TW_API TW_CHECKED tw_status tw_apsp_nearest_describe(const tw_apsp_nearest *nearest,
                                                     tw_apsp_nearest_info *out);
/* rows x count of tw_apsp_nearest_info, row after row: vertices, TW_APSP_NO_VERTEX where fewer are
 * reached, and their distances, +inf there. NULL before a matrix has passed. */
TW_API const int32_t *tw_apsp_nearest_vertices(const tw_apsp_nearest *nearest);
TW_API const double *tw_apsp_nearest_distances(const tw_apsp_nearest *nearest);
/* Lines "source,target,distance" below a header into a .csv file, or "-" for standard output;
 * vertices by the names of `graph` where it has them (NULL: by number). */
TW_API TW_CHECKED tw_status tw_apsp_nearest_write(tw_context *ctx, const tw_apsp_nearest *nearest,
                                                  const tw_graph *graph, const char *path);
TW_API void tw_apsp_nearest_destroy(tw_apsp_nearest *nearest);

/* A check of a distance matrix that shares no code with the engines: `samples` random rows (all of
 * them if 0) against a textbook Dijkstra or Bellman-Ford, and the matrix's own invariants. */
typedef struct tw_apsp_verifier tw_apsp_verifier;
TW_API TW_CHECKED tw_status tw_apsp_verifier_create(tw_context *ctx, tw_apsp_verifier **out,
                                                    const tw_graph *graph,
                                                    const tw_apsp_options *opts, int64_t samples,
                                                    uint64_t seed);
TW_API TW_CHECKED tw_status tw_apsp_verifier_sink(tw_apsp_verifier *verifier, tw_sink *out);
/* TW_OK, or TW_ERR_VERIFY with the first wrong entry in tw_last_error. *rows (may be NULL): rows
 * compared. */
TW_API TW_CHECKED tw_status tw_apsp_verifier_result(tw_context *ctx,
                                                    const tw_apsp_verifier *verifier,
                                                    int64_t *rows);
TW_API void tw_apsp_verifier_destroy(tw_apsp_verifier *verifier);

/* ------------------------------------------------------------------------------- reachability */

/*
 * Which vertices can be reached from which: the reflexive transitive closure of a graph. A vertex
 * reaches itself, by the walk without arcs; weights do not matter, whatever they are.
 *
 * A plan finds the strongly connected components, whose vertices reach each other and so reach the
 * same vertices, and the condensation, which has one vertex per component and no cycles. What a run
 * does depends on that alone: with one component every answer is yes. The plan may outlive the
 * graph.
 */
typedef int32_t tw_reach_layout;
enum {
    TW_REACH_BYTES = 0, /* a row is a TW_U8 for each vertex: 1 if it is reached, else 0 */
    TW_REACH_BITS = 1   /* a row is (n + 7) / 8 elements of TW_U8: vertex v is bit v % 8 of element
                           v / 8, as numpy.packbits(..., bitorder="little") has it; unused bits are
                           0 */
};

typedef struct tw_reach_options {
    size_t size;
    const int32_t *sources; /* rows of the result; NULL: all vertices. Copied */
    int64_t source_count;
    tw_reach_layout layout;
    int32_t reserved; /* 0 */
} tw_reach_options;
#define TW_REACH_OPTIONS_INIT                                \
    {                                                        \
        sizeof(tw_reach_options), NULL, 0, TW_REACH_BYTES, 0 \
    }

typedef struct tw_reach_plan tw_reach_plan;
/* An upper bound on the minimum memory of a plan and its run, in bytes besides the graph: on one
 * thread with the smallest blocks, for the worst graph of that many vertices and arcs. */
TW_API TW_CHECKED tw_status tw_reach_least_memory(tw_context *ctx, uint64_t *bytes,
                                                  int64_t vertices, int64_t arcs,
                                                  const tw_reach_options *opts);
TW_API TW_CHECKED tw_status tw_reach_plan_create(tw_context *ctx, tw_reach_plan **out,
                                                 const tw_graph *graph,
                                                 const tw_reach_options *opts);
TW_API void tw_reach_plan_destroy(tw_reach_plan *plan);

typedef struct tw_reach_plan_info {
    size_t size;
    int64_t vertices;
    int64_t components; /* strongly connected ones */
    int64_t largest;    /* vertices of the largest component */
    int64_t arcs;       /* of the condensation: pairs of components with an arc between them */
    tw_shape shape;     /* of the result */
    uint64_t memory;    /* bytes that a run with sinks will hold at most besides the graph, the plan
                           included; without sinks, about half of it */
    const char *device; /* "cpu", "cuda", ...; owned by the plan */
} tw_reach_plan_info;
#define TW_REACH_PLAN_INFO_INIT                                        \
    {                                                                  \
        sizeof(tw_reach_plan_info), 0, 0, 0, 0, {0, 0, TW_AUTO}, 0, "" \
    }
TW_API TW_CHECKED tw_status tw_reach_plan_describe(const tw_reach_plan *plan,
                                                   tw_reach_plan_info *out);

/* The component of each vertex, numbered from 0 so that arcs of the condensation lead from lower to
 * higher numbers; and the condensation as compressed rows: the successors of component c,
 * ascending, are offsets[c] ... offsets[c+1]-1 of targets. Owned by the plan. */
TW_API const int32_t *tw_reach_plan_components(const tw_reach_plan *plan);
TW_API void tw_reach_plan_condensation(const tw_reach_plan *plan, const int64_t **offsets,
                                       const int32_t **targets);

typedef struct tw_reach_report {
    size_t size;
    int64_t pairs; /* (source, vertex) where the source reaches the vertex, itself included */
    int32_t threads;
    int32_t reserved; /* 0 */
    double seconds_compute;
    double seconds_output; /* the sinks */
    uint64_t memory_peak;  /* of the context during the run */
    const char *device;    /* "cpu", or as in tw_set_device; owned by the plan */
    double seconds_device; /* of the closure on a GPU, by its clock; 0: CPU */
} tw_reach_report;
#define TW_REACH_REPORT_INIT                             \
    {                                                    \
        sizeof(tw_reach_report), 0, 0, 0, 0, 0, 0, "", 0 \
    }

/* Push the rows into every sink, in the plan's layout. `counts`, if not NULL, receives for each row
 * how many vertices its source reaches, itself included; without sinks (sink_count 0) that needs no
 * matrix, only some hundred bytes per vertex and thread. `report` may be NULL. */
TW_API TW_CHECKED tw_status tw_reach_plan_run(tw_context *ctx, tw_reach_plan *plan, tw_sink *sinks,
                                              int32_t sink_count, int64_t *counts,
                                              tw_reach_report *report);

/* Plan and run in one call, into the caller's matrix: of TW_U8, with rows and columns as the
 * options say. */
TW_API TW_CHECKED tw_status tw_reach(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                                     const tw_reach_options *opts);

/* ------------------------------------------------------------------------------------- images */

/*
 * Arrays and images as planes: matrices one after the other, each of its own size and type. A grey
 * image and an array have one plane, a colour image three, a file of records one for each.
 */
typedef struct tw_image tw_image;

/* Make an image without planes; add a plane of zeros, whose data the caller may write. */
TW_API TW_CHECKED tw_status tw_image_create(tw_context *ctx, tw_image **out);
TW_API TW_CHECKED tw_status tw_image_add(tw_context *ctx, tw_image *image, int64_t rows,
                                         int64_t cols, tw_type type);
TW_API void tw_image_destroy(tw_image *image);

TW_API int64_t tw_image_planes(const tw_image *image);
/* A view of a plane, owned by the image and valid until a plane is added; NULL if there is none.
 * Planes that were read may lie in the file itself: do not write to them. */
TW_API const tw_matrix *tw_image_plane(const tw_image *image, int64_t plane);

/* A sink that adds a plane to the image, of the shape and type of the result. After a failed run
 * the plane is there, but its elements are undefined. */
TW_API TW_CHECKED tw_status tw_sink_to_image(tw_context *ctx, tw_sink *out, tw_image *image);

/* Read "npy" (one plane of u8, u16, i16, i32, f32 or f64; three dimensions are a stack of planes),
 * "pnm" (PGM, PPM: u8 or u16), "pfm" (f32), "png" (grey, grey and alpha, colours, colours and
 * alpha: u8 or u16), "tiff" (pages and their channels, of any size each: u8, u16, i16, i32, f32,
 * f64), "jpeg" (grey or colours: u8; never written) or "records" (u8). format NULL follows the
 * extension, else the content. "-" is standard input. */
TW_API TW_CHECKED tw_status tw_image_read(tw_context *ctx, tw_image **out, const char *path,
                                          const char *format);

/*
 * One plane of an image file, row by row, without the file as a whole in memory: every format but
 * text (P2, P3) and interlaced PNG. Rows come in order from PNG and TIFF, in any order from the
 * others. TW_ERR_UNSUPPORTED if the file can only be read as a whole. "-" has no such source.
 */
typedef struct tw_image_info {
    size_t size;
    int64_t planes;
    uint64_t bytes; /* of memory that tw_image_read takes */
} tw_image_info;
#define TW_IMAGE_INFO_INIT          \
    {                               \
        sizeof(tw_image_info), 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_image_source(tw_context *ctx, tw_source *out, const char *path,
                                            const char *format, int64_t plane, tw_image_info *info);

/*
 * Planes of an image file from `plane` on in one pass: of those that are interleaved with it and
 * decoded together, as the bands of a TIFF may be, as many as `bytes` and the limit of
 * tw_set_memory hold. A source for each plane would decode all of them each time.
 * TW_ERR_UNSUPPORTED if these are fewer than two. The image has no tags.
 */
TW_API TW_CHECKED tw_status tw_image_read_some(tw_context *ctx, tw_image **out, const char *path,
                                               const char *format, int64_t plane, uint64_t bytes);

/* Write "npy" (one plane, or a stack of planes of one size and type), "pnm" (one or three planes of
 * u8 or u16), "pfm" (one or three of f32), "png" (one to four of u8 or u16), "tiff" (a page each),
 * "records" (any number of u8, or of f32 as lines of text with five decimals). format NULL follows
 * the extension. The file appears whole or not at all; "-" is standard output. */
TW_API TW_CHECKED tw_status tw_image_write(tw_context *ctx, const tw_image *image, const char *path,
                                           const char *format);

/* A sink for one plane into such a file, which appears whole when the sink ends. Rows are written
 * as they come, except those of "pfm", whose last row comes first (see tw_sink_to_image_planes). */
TW_API TW_CHECKED tw_status tw_sink_to_image_file(tw_context *ctx, tw_sink *out, const char *path,
                                                  const char *format);

/*
 * What an image file says besides its elements. For a TIFF: its place on Earth (GeoTIFF), the value
 * that means "no data" and names of bands (GDAL), resolution, descriptions. For others: what their
 * planes are. Tags are copied unchanged into the TIFF that tw_sink_to_image_planes writes, except
 * those about the values of elements.
 */
typedef struct tw_image_tags tw_image_tags;
typedef struct tw_image_tags_info {
    size_t size;
    int64_t planes;  /* of the file; 0: not known without reading it */
    int64_t bands;   /* planes that belong together as one picture: those of a page of a TIFF, the
                        colours of a photograph; 1: each stands for itself */
    int64_t alpha;   /* the plane that is opacity, likewise in each further page; -1: none */
    int32_t colours; /* not 0: planes 0 to 2 are red, green and blue, likewise in further pages */
    int32_t has_no_data; /* not 0: elements equal to no_data are missing */
    double no_data;
    int32_t made_here;     /* not 0: the file says that tilewright wrote it */
    int32_t has_place;     /* not 0: it says where on Earth it lies */
    int32_t colour_table;  /* not 0: elements of the first plane are indices of colours */
    int32_t zero_is_white; /* not 0: the larger an element, the darker */
} tw_image_tags_info;
#define TW_IMAGE_TAGS_INFO_INIT                                   \
    {                                                             \
        sizeof(tw_image_tags_info), 0, 1, -1, 0, 0, 0, 0, 0, 0, 0 \
    }
/* Read the tags of a file, not its elements; arguments as for tw_image_read, except that "-" is
 * refused. */
TW_API TW_CHECKED tw_status tw_image_tags_read(tw_context *ctx, tw_image_tags **out,
                                               const char *path, const char *format);
/* Those of the file that an image was read from, owned by the image; NULL if it was not read. */
TW_API const tw_image_tags *tw_image_tags_of(const tw_image *image);
TW_API void tw_image_tags_destroy(tw_image_tags *tags);
/* NULL stands for a file without tags. */
TW_API TW_CHECKED tw_status tw_image_tags_describe(const tw_image_tags *tags,
                                                   tw_image_tags_info *out);
/* The name of a plane, or NULL. */
TW_API const char *tw_image_tags_name(const tw_image_tags *tags, int64_t plane);

/* How the elements of a TIFF are compressed. Deflate and Zstandard are available if the library was
 * built with zlib and libzstd; tw_set_compression sets their level. */
typedef int32_t tw_tiff_codec;
enum { TW_TIFF_NONE = 0, TW_TIFF_LZW = 1, TW_TIFF_DEFLATE = 2, TW_TIFF_ZSTD = 3 };

/*
 * A sink for several planes into one file, one run each, in order; the file appears at the end of
 * the last. "tiff", "npy" and "records" take their rows as they come. "png" and "pnm" have the
 * elements of all planes side by side, so all but the last one wait, in memory or, where that is
 * short, in a temporary file beside this one; in a "pfm" all of them do. The same bytes for any
 * number of threads.
 */
typedef struct tw_image_file_options {
    size_t size;
    const char *format; /* NULL: by the extension */
    int64_t planes;     /* 1 or more */
    int64_t bands;      /* planes of a page, of one size and type; 0: all. 1: a page for each */
    const tw_image_tags
        *tags;             /* copied into the file; NULL: none. Must stay until the sink's end */
    int64_t first_plane;   /* the plane of the tags' file that the first plane written stems from,
                              for the names of bands; -1: none */
    const double *no_data; /* of the elements written; NULL: none. Copied */
    tw_tiff_codec codec;   /* to a pipe only TW_TIFF_NONE */
    int32_t tile;          /* tiles of this many rows and columns, a multiple of 16; 0: strips */
    int32_t predictor;     /* not 0: differences of neighbours are compressed */
    int32_t big;           /* not 0: BigTIFF; else from 4 GB on */
    int32_t colours;       /* not 0: bands 0 to 2 of a page are red, green and blue */
    int32_t alpha; /* not 0: a band of a page is opacity: the same one as in the tags' file if
                      first_plane is 0 and a page has its bands, else the last. 0: none is; a page
                      with one band less than the tags' file lacks its opacity */
    int64_t first_row, first_col; /* of the tags' file: where element (0, 0) lies, for its place on
                                     Earth */
    int64_t place_plane; /* the plane of the tags' file whose page says where the planes lie; -1:
                            each lies where the plane of the same number does, from plane 0 on */
    int32_t unchanged;   /* not 0: elements are those of the tags' file, whose colour table, scale,
                            offset and unit are kept, and whether 0 is white. Planes are matched as
                            place_plane says */
    int32_t reserved;    /* 0 */
} tw_image_file_options;
#define TW_IMAGE_FILE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(tw_image_file_options), NULL, 1, 0, NULL, -1, NULL, TW_TIFF_NONE, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0                                                                             \
    }
TW_API TW_CHECKED tw_status tw_sink_to_image_planes(tw_context *ctx, tw_sink *out, const char *path,
                                                    const tw_image_file_options *opts);

/*
 * Images to try things on, of u8 for up to 256 levels, else u16. The same options give the same
 * image on every machine.
 *   "noise"     each element by itself, every level as likely
 *   "gradient"  levels rise from the upper left to the lower right corner
 *   "checker"   squares of 8 x 8 of the lowest and the highest level
 *   "natural"   noise of many sizes at once, the larger the stronger, as in photographs
 */
typedef struct tw_image_options {
    size_t size;
    const char *kind;
    int64_t rows, cols;
    int32_t levels; /* 2 ... 65536 */
    uint64_t seed;
} tw_image_options;
#define TW_IMAGE_OPTIONS_INIT                                   \
    {                                                           \
        sizeof(tw_image_options), "natural", 1000, 1000, 256, 1 \
    }

TW_API TW_CHECKED tw_status tw_image_generate(tw_context *ctx, tw_image **out,
                                              const tw_image_options *opts);

/* ------------------------------------------------------------------------------- local entropy */

/*
 * For each element of a 2-D array, the Shannon entropy of the values in the window around it:
 *     H = log N - (1/N) sum over values of n log n
 * where a value occurs n times among the N elements that count. Counts are whole numbers and
 * n log n is a table of whole numbers (docs/methods.md), so the result has the same bits for every
 * instruction set, on a GPU, and for any number of threads. f32 results are within 1 ulp of the
 * exact entropy, f64 results within 2. A window of equal values gives exactly 0, one in which
 * nothing counts gives NaN.
 */
typedef int32_t tw_entropy_border;
enum {
    TW_ENTROPY_BORDER_CROP = 0,      /* windows end at the edge: only elements inside count */
    TW_ENTROPY_BORDER_REFLECT = 1,   /* d c b | a b c d | c b a: mirrored about the edge element */
    TW_ENTROPY_BORDER_SYMMETRIC = 2, /* c b a | a b c d | d c b: mirrored about the edge */
    TW_ENTROPY_BORDER_CLAMP = 3,     /* a a a | a b c d | d d d */
    TW_ENTROPY_BORDER_WRAP = 4,      /* b c d | a b c d | a b c */
    TW_ENTROPY_BORDER_VALID = 5      /* only windows that lie inside: the result is smaller */
};
/* "crop", "reflect", ...; "?" if unknown; and the inverse. */
TW_API const char *tw_entropy_border_name(tw_entropy_border border);
TW_API TW_CHECKED tw_status tw_entropy_border_parse(tw_entropy_border *out, const char *name);

typedef int32_t tw_entropy_base;
enum {
    TW_ENTROPY_BASE_E = 0,
    TW_ENTROPY_BASE_2 = 2,
    TW_ENTROPY_BASE_10 = 10,
    TW_ENTROPY_BASE_LEVELS =
        -1 /* logarithms to the base `levels`: the result lies between 0 and 1 */
};

typedef struct tw_entropy_options {
    size_t size;
    int32_t levels; /* 2 ... 65536; values are 0 ... levels-1, unless there is a range */
    /* The window: window_rows x window_cols elements, from -(k/2) to k-1-k/2 around the centre,
     * or a disk of `radius` (>= 0) when that is not negative, or a footprint when there is one:
     * a TW_U8 matrix whose nonzero elements belong to the window, placed so that element
     * (anchor_row, anchor_col) lies on the centre; -1 takes rows/2 and cols/2. At most 4095 rows
     * and columns and 2^20 elements. */
    int32_t window_rows;
    int32_t window_cols;
    int32_t radius;
    const tw_matrix *footprint;
    int32_t anchor_row;
    int32_t anchor_col;
    tw_entropy_border border;
    tw_entropy_base base;
    const double *range; /* two numbers lo < hi: values are put into `levels` equal bins from lo to
                            hi, hi itself into the last, as in exact arithmetic; NULL: values are
                            levels */
    const tw_matrix *mask; /* TW_U8, as large as the input: elements where it is 0 do not count */
    const double *no_data; /* elements equal to it do not count; NaN means NaN */
    int64_t verify;        /* recompute this many elements by the definition, drawn by the seed, and
                              compare: 0 all, -1 none. TW_ERR_VERIFY names the first wrong one  */
    uint64_t verify_seed;
    int32_t skip_nan; /* not 0: elements that are NaN do not count, besides those of no_data */
    tw_type type;     /* of the result: TW_F32, within 1 ulp of the exact entropy, or TW_F64,
                         within 2. tw_entropy takes that of its matrix */
} tw_entropy_options;
#define TW_ENTROPY_OPTIONS_INIT                                                          \
    {                                                                                    \
        sizeof(tw_entropy_options), 256, 5, 5, -1, NULL, -1, -1, TW_ENTROPY_BORDER_CROP, \
            TW_ENTROPY_BASE_E, NULL, NULL, NULL, -1, 1, 0, TW_F32                        \
    }

typedef struct tw_entropy_report {
    size_t size;
    const char *method; /* "counters", "bins", "stacks", "lanes" or "list", on a GPU "gpu-pairs",
                           "gpu-slide" or "gpu-list": see docs/methods.md and docs/gpu-entropy.md */
    const char *isa;    /* on a GPU "cuda" or "hip" */
    int32_t threads;
    int64_t rows, cols;     /* of the result */
    int64_t window;         /* elements of a whole window */
    double seconds_compute; /* checking the values included */
    double seconds_output;  /* the sinks */
    double seconds_read;    /* the source of a stream, checking its values included */
    double seconds_verify;
    int64_t verified; /* elements */
    int64_t block;    /* rows of the result that were in memory at a time */
} tw_entropy_report;
#define TW_ENTROPY_REPORT_INIT                                          \
    {                                                                   \
        sizeof(tw_entropy_report), "", "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }

/*
 * A plan: the window, its tables and a method for arrays of one shape and type, checked and made
 * once, so that running it again costs nothing but the run. It runs on the device that the context
 * has when it is made, one run at a time. The options are copied, and so are their footprint, range
 * and no_data. The elements of the mask stay the caller's: each run reads them, so they may change
 * in between and must stay until the last one. `in` is the shape of the arrays, TW_U8, TW_U16,
 * TW_I16 or TW_F32; opts NULL takes the defaults.
 */
typedef struct tw_entropy_plan tw_entropy_plan;
TW_API TW_CHECKED tw_status tw_entropy_plan_create(tw_context *ctx, tw_entropy_plan **out,
                                                   const tw_shape *in,
                                                   const tw_entropy_options *opts);
TW_API void tw_entropy_plan_destroy(tw_entropy_plan *plan);

/* Several lines: the window, the method and the reason for it, and the memory. */
TW_API const char *tw_entropy_plan_explain(const tw_entropy_plan *plan);

typedef struct tw_entropy_plan_info {
    size_t size;
    tw_shape shape; /* of the result: that of the array, except with TW_ENTROPY_BORDER_VALID, where
                       it is smaller by the window less one, and 0 x 0 if the window does not
                       fit */
    const char *method; /* as in tw_entropy_report */
    const char *isa;
    const char *why; /* the reason for the method */
    int32_t threads;
    int64_t window; /* elements of a whole window */
    int64_t block;  /* rows of the result in memory at a time, under the memory limit when the plan
                       was made */
    uint64_t bytes; /* memory for them, not counting the array */
    double largest; /* the largest value there can be: the logarithm of the minimum of levels and
                       elements of a window, in the base of the options */
} tw_entropy_plan_info;
#define TW_ENTROPY_PLAN_INFO_INIT                                          \
    {                                                                      \
        sizeof(tw_entropy_plan_info), {0, 0, 0}, "", "", "", 0, 0, 0, 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_entropy_plan_describe(const tw_entropy_plan *plan,
                                                     tw_entropy_plan_info *out);

/* Elements per second, measured on a small sample of random levels; takes some milliseconds. */
TW_API TW_CHECKED tw_status tw_entropy_plan_rate(tw_context *ctx, tw_entropy_plan *plan,
                                                 double *rate);

/* Into the caller's matrix, whose shape and type must be those of the result, and which must lie
 * apart from the array and the mask. A value that is not a level, or outside the range, or NaN, and
 * that no mask or no_data excludes, is TW_ERR_RANGE with its place. `report` may be NULL. */
TW_API TW_CHECKED tw_status tw_entropy_plan_apply(tw_context *ctx, tw_entropy_plan *plan,
                                                  tw_matrix *out, const tw_matrix *in,
                                                  tw_entropy_report *report);

/* Pushed through sinks in blocks of rows. */
TW_API TW_CHECKED tw_status tw_entropy_plan_run(tw_context *ctx, tw_entropy_plan *plan,
                                                const tw_matrix *in, tw_sink *sinks,
                                                int32_t sink_count, tw_entropy_report *report);

/* The same for an array that need not fit in memory: its rows are read as the result proceeds, in
 * blocks as large as tw_set_memory allows, with the same bits. A mask is held in memory as a whole.
 * A source whose rows only come in order cannot have wrapped borders. */
TW_API TW_CHECKED tw_status tw_entropy_plan_stream(tw_context *ctx, tw_entropy_plan *plan,
                                                   const tw_source *source, tw_sink *sinks,
                                                   int32_t sink_count, tw_entropy_report *report);

/* The same as tw_entropy_plan_apply for arrays that already lie in GPU memory: array, result and
 * mask on one GPU, of any stride and alignment, whatever device the plan was made for. Values are
 * not checked: one that is not a level gives undefined entropies, but nothing outside the result is
 * touched. */
TW_API TW_CHECKED tw_status tw_entropy_plan_apply_device(tw_context *ctx, tw_entropy_plan *plan,
                                                         tw_matrix *out, const tw_matrix *in,
                                                         const tw_device_options *device);
/* The workspace that it needs for these arrays, which may be 0. */
TW_API TW_CHECKED tw_status tw_entropy_plan_device_workspace(tw_context *ctx,
                                                             const tw_entropy_plan *plan,
                                                             uint64_t *bytes, const tw_matrix *out,
                                                             const tw_matrix *in);

/* Plan and apply in one call. The type of the result is that of its matrix, whatever the options
 * say. */
TW_API TW_CHECKED tw_status tw_entropy(tw_context *ctx, tw_matrix *out, const tw_matrix *in,
                                       const tw_entropy_options *opts);

/* -------------------------------------------------------------------------------------- maps */

/*
 * An expression computed at every element of arrays. Infix, as in C:
 *   numbers      12  0.5  1e-3  .25
 *   names        inputs and constants as declared; row col rows cols (counted from 0); pi e
 *   operators    + - * / %  ^ or ** (power, from right to left, before a unary minus on its left)
 *                < <= > >= == !=  && || !  c ? a : b    with C's precedence
 *   functions    abs sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh
 *                cosh tanh asinh acosh atanh floor ceil round rint trunc sign isnan isinf
 *                isfinite; fmod pow atan2 hypot copysign nextafter; min max of two or more;
 *                clamp(v, low, high); where(c, a, b)
 *
 * Everything is a floating-point number of the compute type, f32 or f64. A comparison gives 1 or 0,
 * a number is true unless it is 0. % is the remainder of C's fmod (it takes the sign of its left
 * side); row % k and col % k are computed in whole numbers. Nothing traps: 1 / 0 is inf, log(-1) is
 * NaN. Arithmetic and sqrt are correctly rounded, each operation separately; the other functions
 * have the bounds of docs/functions.md, and small whole powers keep that of pow: x^2 and x^-1 are
 * correctly rounded.
 */
typedef struct tw_expr tw_expr;

typedef struct tw_constant {
    const char *name;
    double value;
} tw_constant;

typedef struct tw_expr_options {
    size_t size;
    const char *const *inputs; /* their names, in the order of the matrices; NULL: "x" alone */
    int32_t input_count;       /* at most 32 */
    const tw_constant *constants;
    int32_t constant_count;
    int64_t *column; /* receives the column of an error, in characters from 1; 0 if it has none */
} tw_expr_options;
#define TW_EXPR_OPTIONS_INIT                            \
    {                                                   \
        sizeof(tw_expr_options), NULL, 0, NULL, 0, NULL \
    }

/* Read an expression. An error in it is TW_ERR_FORMAT, with the column and what was expected. Names
 * are letters, digits and _. opts NULL takes the defaults. */
TW_API TW_CHECKED tw_status tw_expr_create(tw_context *ctx, tw_expr **out, const char *text,
                                           const tw_expr_options *opts);
TW_API void tw_expr_destroy(tw_expr *expr);

typedef struct tw_expr_info {
    size_t size;
    int32_t inputs;       /* declared */
    uint32_t inputs_used; /* bit k: input k occurs */
    int32_t operations;   /* operators and functions, equal sub-expressions counted once */
    int32_t uses_row;     /* `row` occurs */
    int32_t uses_col;
    int32_t reserved; /* 0 */
} tw_expr_info;
#define TW_EXPR_INFO_INIT                      \
    {                                          \
        sizeof(tw_expr_info), 0, 0, 0, 0, 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_expr_describe(const tw_expr *expr, tw_expr_info *out);

typedef struct tw_map_options {
    size_t size;
    tw_type compute; /* TW_F32 or TW_F64; TW_AUTO: f64 if an input or the result is i32 or f64, else
                        f32 */
    tw_type type;    /* of the result; TW_AUTO: the compute type, f32 unless an input is i32 or f64.
                        Integers are rounded to the nearest, ties to even, and clamped; NaN becomes
                        no_data, or 0 without one */
    int64_t repeat;  /* apply the expression this many times, input "x" (the first input, if none
                        has that name) being the previous result: the same bits as that many calls.
                        1 or more */
    int32_t fast;    /* 1: functions within 3.5 ulp instead of 1 */
    const double *no_data; /* where an input equals it (as numbers of the compute type; NaN means
                              NaN) so does the result */
} tw_map_options;
#define TW_MAP_OPTIONS_INIT                                  \
    {                                                        \
        sizeof(tw_map_options), TW_AUTO, TW_AUTO, 1, 0, NULL \
    }

/*
 * A plan: the expression compiled for arrays of given shapes and types. The result has the rows and
 * columns of the inputs; an input of one row or one column is repeated along the other direction.
 * Inputs are of any type. A plan keeps the tables and the machine code it made, so running it again
 * costs nothing but the run. It does not need the expression any more.
 */
typedef struct tw_map_plan tw_map_plan;
TW_API TW_CHECKED tw_status tw_map_plan_create(tw_context *ctx, tw_map_plan **out,
                                               const tw_expr *expr, const tw_shape *inputs,
                                               int32_t input_count, const tw_map_options *opts);
TW_API void tw_map_plan_destroy(tw_map_plan *plan);

/* Several lines: the program or the generated kernel, its specialisation, bytes and operations per
 * element, and what bounds it. */
TW_API const char *tw_map_plan_explain(const tw_map_plan *plan);

typedef struct tw_map_plan_info {
    size_t size;
    tw_shape shape; /* of the result */
    tw_type compute;
    const char *method;             /* "direct", "table" or "gpu" */
    int32_t row_period, col_period; /* a program or table for each residue; 1: the same for all */
    double bytes;                   /* read and written per element */
    double operations;              /* per element, functions counted as one */
} tw_map_plan_info;
#define TW_MAP_PLAN_INFO_INIT                                              \
    {                                                                      \
        sizeof(tw_map_plan_info), {0, 0, TW_AUTO}, TW_AUTO, "", 0, 0, 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_map_plan_describe(const tw_map_plan *plan, tw_map_plan_info *out);

typedef struct tw_map_report {
    size_t size;
    const char *method;
    const char *isa;
    int32_t threads;
    double seconds_compute;
    double seconds_output;  /* the sinks */
    double seconds_read;    /* the sources */
    int64_t became_no_data; /* elements that are no_data although no input is: the expression gives
                               that number there, or NaN if the result is of integers. Counted by
                               tw_map_plan_run and tw_map_plan_stream, unless no_data is NaN */
} tw_map_report;
#define TW_MAP_REPORT_INIT                           \
    {                                                \
        sizeof(tw_map_report), "", "", 0, 0, 0, 0, 0 \
    }

/* Into the caller's matrix, whose shape and type must be those of the result. It may be an input
 * itself (same data, stride and type) and may not overlap one otherwise. `report` may be NULL. */
TW_API TW_CHECKED tw_status tw_map_plan_apply(tw_context *ctx, tw_map_plan *plan, tw_matrix *out,
                                              const tw_matrix *inputs, int32_t input_count,
                                              tw_map_report *report);

/* The same for arrays that already lie in the memory of one GPU, by a plan that was made while the
 * context's device was a GPU. Only the stream of `device` is used: no workspace is needed. The
 * plan, too, must stay until the work is done. */
TW_API TW_CHECKED tw_status tw_map_plan_apply_device(tw_context *ctx, tw_map_plan *plan,
                                                     tw_matrix *out, const tw_matrix *inputs,
                                                     int32_t input_count,
                                                     const tw_device_options *device);

/* Pushed through sinks in blocks of rows. */
TW_API TW_CHECKED tw_status tw_map_plan_run(tw_context *ctx, tw_map_plan *plan,
                                            const tw_matrix *inputs, int32_t input_count,
                                            tw_sink *sinks, int32_t sink_count,
                                            tw_map_report *report);

/* The same for inputs that need not fit in memory: input i is sources[i], whose rows are read as
 * the result proceeds, each once and in order, or, if that has no function `rows`, the matrix
 * inputs[i] (`inputs` may be NULL if there is none). The same bits, in blocks as large as
 * tw_set_memory allows. */
TW_API TW_CHECKED tw_status tw_map_plan_stream(tw_context *ctx, tw_map_plan *plan,
                                               const tw_matrix *inputs, const tw_source *sources,
                                               int32_t input_count, tw_sink *sinks,
                                               int32_t sink_count, tw_map_report *report);

/* The rows of such a block and the bytes it takes, not counting inputs that lie in memory, by the
 * limit and the use of memory at the time of the call. sources NULL: all inputs lie in memory.
 * `rows` and `bytes` may be NULL. */
TW_API TW_CHECKED tw_status tw_map_plan_block(tw_context *ctx, const tw_map_plan *plan,
                                              const tw_source *sources, int64_t *rows,
                                              uint64_t *bytes);

/* Plan and run in one call. */
TW_API TW_CHECKED tw_status tw_map(tw_context *ctx, tw_matrix *out, const tw_expr *expr,
                                   const tw_matrix *inputs, int32_t input_count,
                                   const tw_map_options *opts);

/* A check of a map that shares no code with the evaluators: `samples` random elements (all of them
 * if 0) are recomputed in interval arithmetic, each operation with its own bound, and must lie
 * inside. The expression and the inputs must stay until the sink's end; a map in place overwrites
 * them, so it cannot be checked. */
typedef struct tw_map_verifier tw_map_verifier;
TW_API TW_CHECKED tw_status tw_map_verifier_create(tw_context *ctx, tw_map_verifier **out,
                                                   const tw_expr *expr, const tw_matrix *inputs,
                                                   int32_t input_count, const tw_map_options *opts,
                                                   int64_t samples, uint64_t seed);
/* The same for the inputs of tw_map_plan_stream: the verifier reads the rows that it needs by
 * itself, so a source must be one that can be read out of order and again. */
TW_API TW_CHECKED tw_status tw_map_verifier_stream(tw_context *ctx, tw_map_verifier **out,
                                                   const tw_expr *expr, const tw_matrix *inputs,
                                                   const tw_source *sources, int32_t input_count,
                                                   const tw_map_options *opts, int64_t samples,
                                                   uint64_t seed);
TW_API TW_CHECKED tw_status tw_map_verifier_sink(tw_map_verifier *verifier, tw_sink *out);
/* TW_OK, or TW_ERR_VERIFY with the first wrong element in tw_last_error. *checked (may be NULL):
 * elements compared. */
TW_API TW_CHECKED tw_status tw_map_verifier_result(tw_context *ctx, const tw_map_verifier *verifier,
                                                   int64_t *checked);
TW_API void tw_map_verifier_destroy(tw_map_verifier *verifier);

/* ------------------------------------------------------------------------ the machine, measured */

typedef struct tw_machine {
    size_t size;
    const char *processor; /* a name, or "" */
    int32_t threads;       /* processors this process may use */
    uint64_t memory;       /* bytes, all of it */
    uint64_t memory_available;
    const char *isa;         /* the one in use; "" if TW_ISA names one that this machine lacks */
    const char *isas;        /* all this machine and build have, best first, separated by spaces */
    const char *gpu;         /* "this build has no GPU code", "no driver", "no device" or a count */
    int32_t gpus;            /* that count */
    const char *gpu_driver;  /* the newest version it supports: "CUDA 13.0"; "" without one */
    const char *gpu_runtime; /* what this build brings or loads: "CUDA 13.0"; "" for none */
} tw_machine;
#define TW_MACHINE_INIT                                        \
    {                                                          \
        sizeof(tw_machine), "", 0, 0, 0, "", "", "", 0, "", "" \
    }
TW_API TW_CHECKED tw_status tw_machine_describe(tw_context *ctx, tw_machine *out);

typedef struct tw_gpu {
    size_t size;
    char name[64];
    char architecture[32]; /* the compute capability, "9.0", or AMD's name, "gfx90a" */
    int32_t processors;
    uint64_t memory; /* bytes, all of it */
    uint64_t memory_available;
} tw_gpu;
#define TW_GPU_INIT                     \
    {                                   \
        sizeof(tw_gpu), "", "", 0, 0, 0 \
    }
/* GPU `index` of 0 ... gpus - 1; starts it. */
TW_API TW_CHECKED tw_status tw_gpu_describe(tw_context *ctx, tw_gpu *out, int32_t index);

typedef struct tw_gpu_link {
    size_t size;
    int32_t direct;   /* copies do not go through host memory */
    int32_t atomics;  /* atomic operations reach across: NVLink, Infinity Fabric */
    int32_t rank;     /* of speed among the direct links of this machine; 0 is the fastest */
    int32_t reserved; /* 0 */
} tw_gpu_link;
#define TW_GPU_LINK_INIT                \
    {                                   \
        sizeof(tw_gpu_link), 0, 0, 0, 0 \
    }
/* How GPU `from` reaches the memory of GPU `to`, another one. */
TW_API TW_CHECKED tw_status tw_gpu_link_describe(tw_context *ctx, tw_gpu_link *out, int32_t from,
                                                 int32_t to);

/* The register-only rate of d = min(d, a + b) in relaxations per second, on `threads` threads, with
 * the context's ISA: the ceiling of every product of that type. Takes some milliseconds. With GPUs
 * as the context's device, the sum over them, each card once, whatever `threads`; 0 for a type they
 * do not compute in. */
TW_API TW_CHECKED tw_status tw_minplus_ceiling(tw_context *ctx, double *rate, tw_type type,
                                               int32_t threads);

/* Bytes read and written per second by a plain copy of large arrays on `threads` threads (0: those
 * of the context), with memcpy or with stores past the caches, whichever is faster. Maps are
 * compared with it; one that reads more than it writes can be somewhat faster. Takes a second or
 * less. */
TW_API TW_CHECKED tw_status tw_copy_rate(tw_context *ctx, double *rate, int32_t threads);

/* Test every method, type and ISA of this machine against the references, over sizes around the
 * tile edges. `problem` is "apsp", "reach", "entropy", "map", or NULL for all of them; `line` (may
 * be NULL) is called once per case. Returns TW_ERR_VERIFY if any case failed. */
typedef void (*tw_selftest_fn)(void *user, const char *name, int32_t passed, const char *detail);
typedef struct tw_selftest_counts {
    size_t size;
    int64_t passed;
    int64_t failed;
    int64_t skipped;
} tw_selftest_counts;
#define TW_SELFTEST_COUNTS_INIT             \
    {                                       \
        sizeof(tw_selftest_counts), 0, 0, 0 \
    }
TW_API TW_CHECKED tw_status tw_selftest(tw_context *ctx, tw_selftest_counts *counts,
                                        const char *problem, uint64_t seed, tw_selftest_fn line,
                                        void *user);

#ifdef __cplusplus
}
#endif

#endif
