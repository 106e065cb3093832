/* The commands of tilewright; each is a table and a function in its own cmd_*.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "frame/options.h"

extern const cli_command cli_apsp;
extern const cli_command cli_path;
extern const cli_command cli_summary;
extern const cli_command cli_reach;
extern const cli_command cli_entropy;
extern const cli_command cli_map;
extern const cli_command cli_convert;
extern const cli_command cli_compare;
extern const cli_command cli_generate;
extern const cli_command cli_devices;
extern const cli_command cli_selftest;
extern const cli_command cli_bench;

#endif
