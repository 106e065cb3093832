/* The program tilewright: its commands, and what it says about itself as a whole. */
#include "commands.h"
#include "frame/program.h"

static const cli_command *const commands[] = {
    &cli_apsp,     &cli_path,    &cli_summary,  &cli_reach, &cli_entropy, &cli_map,
    &cli_generate, &cli_devices, &cli_selftest, &cli_bench, NULL};

static const cli_example first_steps[] = {
    {"tilewright generate graph grid roads.gr --vertices 2000", "make a graph to play with"},
    {"tilewright apsp roads.gr", "solve it and describe the result"},
    {"tilewright apsp roads.gr distances.npy --verify", "keep the distances, checked"},
    {"tilewright path roads.gr distances.npy 0 1999", "show one route"},
    {NULL, NULL}};

static const cli_topic topics[] = {
    {"Formats",
     "Graphs are read from edge triples (triples, .bin: int32 V, E, then E times source, target, "
     "weight, little-endian), DIMACS .gr, Matrix Market .mtx, edge lists (.el .txt .csv .tsv), "
     "METIS .graph and square .npy matrices. Matrices are written as raw (row-major elements and "
     "nothing else), .npy or .csv. The extension decides; a graph without a telling one is "
     "recognised by its content. '-' is standard input or standard output."},
    {"No path",
     "A pair without a path has the distance 1073741823 (2^30-1) in i32, 65535 in u16, 255 in u8 "
     "and infinity in f32 and f64."},
    {"Files",
     "An output file appears whole or not at all, and an existing one survives a run that fails "
     "or is interrupted. Ctrl-C, and any other signal that would end the program, stops within "
     "moments and cleans up; a second one ends at once. What a killed run left in a folder is "
     "removed by the next that writes there."},
    {"Exit status",
     "0: done. 1: done, but the answer is no (a verification failed, there is a negative cycle, "
     "there is no path, a self-test failed). 2: wrong usage, bad input, interrupted, or it could "
     "not be done; one line on standard error says what, where and what to do."},
    {NULL, NULL}};

const cli_about cli_program = {
    .name = "tilewright",
    .one_line = "computing on big dense grids at the speed of the hardware",
    .first_steps = first_steps,
    .topics = topics,
    .commands = commands,
};
