/* Everything the program says about itself, made from the tables of the commands. */
#ifndef FRAME_HELP_H
#define FRAME_HELP_H

#include "frame/command.h"

#include <stdio.h>

void cli_help_overview(FILE *file);
void cli_help_command(FILE *file, const cli_command *command);

/* The manual page (roff, man macros). */
void cli_manual(FILE *file);

/* The completion script for a shell: bash, zsh or fish. False if `shell` is none of these. */
bool cli_completion(FILE *file, const char *shell);

/* "-q, --quiet" or "--verify[=K]": an option as the help writes it. */
#define CLI_SPELLING 64
const char *cli_spelling(char out[CLI_SPELLING], const cli_option *option);

#endif
