/* The commands of tilewright-lab. */
#ifndef LAB_COMMANDS_H
#define LAB_COMMANDS_H

#include "frame/options.h"

extern const cli_command lab_list;
extern const cli_command lab_show;
extern const cli_command lab_diff;
extern const cli_command lab_run_command;
extern const cli_command lab_report;
extern const cli_command lab_compare;

#endif
