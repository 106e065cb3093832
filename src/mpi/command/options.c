/* The options of tilewright-mpi: those of tilewright apsp, and what only processes have. */
#include "mpi/command/settings.h"

#include <math.h>
#include <stddef.h>

#define VERIFY_ROWS 16

const mpi_settings mpi_defaults = {.reading = CLI_READING_INIT,
                                   .cutoff = (double)NAN,
                                   .verify = -1,
                                   .every = 600,
                                   .answers = CLI_ANSWERS_INIT,
                                   .link = 12.5,
                                   .latency = 2};

static const cli_option result_options[] = {
    CLI_PICK_OPTIONS(mpi_settings),
    {"predecessors", 0, CLI_TEXT, "FILE", offsetof(mpi_settings, predecessors), 0,
     "Also write the vertex before each target on its shortest path, as int32 of the same shape; "
     "-9999 where there is none. Vertices are numbered from 0, but in a .csv as in the graph's "
     "file; where they have names, a .csv is a table of names, empty where there is none. Each "
     "machine then holds the whole graph, even for a closure. Not with --targets."},
    {"output", 'o', CLI_TEXT, "OUT", offsetof(mpi_settings, output), 0, "The same as OUT."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(mpi_settings, format), 0,
     "The format of OUT: raw, npy or csv. Default: chosen by extension; .raw, .bin, .out or none "
     "is raw, others are refused."},
    {"long", 0, CLI_FLAG, NULL, offsetof(mpi_settings, in_lines), 1,
     "Write OUT, a .csv, as lines from,to,distance below a header instead of a matrix: with "
     "names, without pairs that have no path and without the distance of a vertex to itself."},
    {"labels", 0, CLI_FLAG, NULL, offsetof(mpi_settings, labels), 1,
     "Also write the vertices of the rows and columns of OUT, one per line, in quotes where a .csv "
     "needs them: for d.npy into "
     "d.rows.txt and d.cols.txt."},
    CLI_VERIFY_OPTION(mpi_settings, VERIFY_ROWS),
    {0}};

static const cli_option answer_options[] = {
    CLI_SUMMARY_OPTION(mpi_settings), CLI_ANSWER_OPTIONS(mpi_settings), {0}};

static const cli_option method_options[] = {
    {"method", 0, CLI_METHOD, "NAME", offsetof(mpi_settings, method), CLI_METHODS_OF_RANKS,
     "auto (the default: what tilewright apsp would choose), closure (blocked Floyd-Warshall; each "
     "process holds a share of the matrix), dijkstra, bfs (equal weights only) or sweep "
     "(elimination, then a sweep over blocks of sources). For the last three each machine holds "
     "the whole graph, and processes take rows in turn."},
    {"work-type", 0, CLI_TYPE, "TYPE", offsetof(mpi_settings, work_type), CLI_MATRIX_TYPES,
     "The type the closure or sweep computes in: u8, u16, i32, f32, f64, or auto (the default): "
     "the narrowest that gives an exact result."},
    {"block", 0, CLI_COUNT, "B", offsetof(mpi_settings, block), 0,
     "The pivot width of the closure and the side of the tiles that ranks hold; 0, the default, "
     "leaves it to the plan. It may change the last bit of float distances."},
    {"no-cache", 0, CLI_FLAG, NULL, offsetof(mpi_settings, no_cache), 1,
     "Neither read nor write the elimination orders kept in $XDG_CACHE_HOME/tilewright or "
     "~/.cache/tilewright of the first process. A sweep needs such an order, which depends only on "
     "which vertices are joined."},
    {"checkpoint", 0, CLI_TEXT, "FILE", offsetof(mpi_settings, checkpoint), 0,
     "Write the state of the closure to FILE, in a folder that all processes see, every so often; "
     "the previous one is kept as FILE.previous. The same command, started again on any number of "
     "processes, continues from there and gives the same bytes; so does tilewright apsp, and vice "
     "versa. Both files are removed when the run succeeds."},
    CLI_EVERY_OPTION(mpi_settings),
    {0}};

static const cli_option explain_options[] = {
    {"explain", 0, CLI_FLAG, NULL, offsetof(mpi_settings, explain), 1,
     "Explain the plan: the grid of processes, the memory of each, and the time of each part, from "
     "rates measured here and now. Nothing is computed unless OUT, --summary, --predecessors, "
     "--verify or an answer is also given."},
    {"ranks", 0, CLI_TEXT, "LIST", offsetof(mpi_settings, ranks), 0,
     "With --explain: predict a closure on these numbers of processes, such as 64,256,4096, of a "
     "cluster described by the options below. It needs no mpirun."},
    {"vertices", 0, CLI_COUNT, "N", offsetof(mpi_settings, vertices), 0,
     "With --ranks, in place of GRAPH: a dense graph of N vertices."},
    {"rate", 0, CLI_NUMBER, "G", offsetof(mpi_settings, rate), 0,
     "With --ranks: the rate of one process, in 10^9 relaxations per second. Default: what one "
     "thread reaches here."},
    {"link", 0, CLI_NUMBER, "GB/s", offsetof(mpi_settings, link), 0,
     "With --ranks: the bandwidth of one process. Default: 12.5."},
    {"latency", 0, CLI_NUMBER, "US", offsetof(mpi_settings, latency), 0,
     "With --ranks: the latency of a message in microseconds. Default: 2."},
    {0}};

static const cli_option machine_options[] = {
    {"threads", 0, CLI_COUNT, "N", offsetof(cli_common, threads), 0,
     "Use N threads in each process; 0 (the default) shares the processors of a machine among its "
     "processes. The result does not depend on it. In a closure, idle processes of a machine "
     "take tasks from the others; TW_MPI_HELP=never in the environment of all processes prevents "
     "that."},
    {"memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, memory), 0,
     "Hold at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory in each process."},
    {"device-memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, device_memory), 0,
     "Hold at most SIZE on its GPU in each process, whatever --memory says; a share of the matrix "
     "that needs more is refused: use more processes on more GPUs. Default: the same as --memory, "
     "or what is free there."},
    {"device", 0, CLI_TEXT, "DEVICE", offsetof(cli_common, device), 0,
     "Where a closure computes: cpu (the default), or in a build with GPU code cuda (or hip): each "
     "process takes one of its machine's GPUs, in turn; with cuda:0 all take that one, with "
     "cuda:0,2 these two in turn. A process's share of the matrix must fit in the memory of its "
     "GPU. Panels are sent from there if the MPI says that it reads GPU memory, else from pinned "
     "host memory; TW_MPI_STAGING=never or always in the environment of all processes forces "
     "either. Other methods compute on the CPU."},
    {"isa", 0, CLI_TEXT, "NAME", offsetof(cli_common, isa), 0,
     "Force an instruction set: scalar, neon, avx2 or avx512."},
    {0}};

const cli_group mpi_groups[] = {{"The graph", cli_reading_options},
                                {"The result", result_options},
                                {"Answers without a matrix", answer_options},
                                {"How it is computed", method_options},
                                {"What it will take", explain_options},
                                {"Resources", machine_options},
                                {"Messages", cli_talk_options},
                                {NULL, NULL}};

const cli_operand mpi_operands[] = {
    {"GRAPH",
     "The graph, in any format that tilewright apsp reads. Each process reads its own part of a "
     "file of edge triples; other formats are read by one process, which distributes the edges."},
    {"OUT", "The output file for the distance matrix: .npy, .csv, or raw (.raw, .bin, .out or no "
            "extension). Where vertices have names, a .csv has them above its columns and before "
            "its rows; text is written by the first process, from a temporary binary file beside "
            "OUT. Without OUT a summary of the result is printed."},
    {NULL, NULL}};
