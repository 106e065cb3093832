/* The program tilewright: its commands, and what it says about itself as a whole. */
#include "cli/shared/commands.h"
#include "frame/program.h"

static const cli_command *const commands[] = {
    &cli_apsp,    &cli_path,     &cli_summary, &cli_reach,    &cli_entropy, &cli_map, &cli_convert,
    &cli_compare, &cli_generate, &cli_devices, &cli_selftest, &cli_bench,   NULL};

static const cli_example first_steps[] = {
    {"tilewright generate graph grid roads.gr --vertices 2000",
     "generate a graph to try things on"},
    {"tilewright apsp roads.gr", "compute all distances and summarise them"},
    {"tilewright apsp roads.gr distances.npy --verify", "save the distances, after checking some"},
    {"tilewright path roads.gr distances.npy 1 2000", "show one route"},
    {NULL, NULL}};

static const cli_topic topics[] = {
    {"Formats",
     "Graphs are read from edge triples (triples, .bin: int32 V, E, then E times source, target, "
     "weight, little-endian), DIMACS .gr, Matrix Market .mtx, edge lists (.el .txt .csv .tsv), "
     "METIS .graph, square .npy matrices and sparse .npz of SciPy, also compressed (.gz .zst .xz). "
     "Matrices are written as raw (row-major elements and nothing else), .npy or .csv. The format "
     "is chosen by extension; a graph file without a known one is recognised by its content. '-' "
     "is standard input or standard output."},
    {"Vertices", "A vertex is shown and given by its name where the graph has names, else by its "
                 "number in the file: from 1 in DIMACS, Matrix Market and METIS files, else from "
                 "0. Rows and columns of matrices follow the vertices in order."},
    {"No path",
     "A pair without a path has the distance 1073741823 (2^30-1) in i32, 65535 in u16, 255 in u8 "
     "and infinity in f32 and f64."},
    {"Files",
     "An output file is written completely or not at all, and an existing one is kept if the run "
     "fails or is interrupted. Ctrl-C, and any other signal that would end the program, stops the "
     "run promptly and cleans up; a second one ends it at once. Temporary files left by a killed "
     "run are removed by the next run that writes to the same folder."},
    {"Exit status",
     "0: success. 1: finished, but a verification or self-test failed, the graph has a negative "
     "cycle, there is no path, or two files differ. 2: wrong usage, bad input, ended by another "
     "signal than those below, or any other error; one line on standard error says what is wrong, "
     "where, and what to do. "
     "After Ctrl-C, SIGTERM or SIGHUP the program ends by that signal (130, 143 or 129 for a "
     "shell); Ctrl-C thus ends a loop of the shell, too."},
    {NULL, NULL}};

const cli_about cli_program = {
    .name = "tilewright",
    .one_line = "shortest paths, local entropy and array expressions at the speed of the hardware",
    .first_steps = first_steps,
    .topics = topics,
    .commands = commands,
    .refusals = "check failed, files differ, no path or negative cycle",
};
