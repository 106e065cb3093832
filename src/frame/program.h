/*
 * What a program is besides its commands: its name and what it says about itself as a whole. The
 * parser, the help texts and main.c serve every program that links them; each has one file that
 * defines cli_program.
 */
#ifndef FRAME_PROGRAM_H
#define FRAME_PROGRAM_H

#include "frame/command.h"

/* A section of the manual. */
typedef struct cli_topic {
    const char *title; /* NULL ends the list */
    const char *text;
} cli_topic;

typedef struct cli_about {
    const char *name;
    const char *one_line;
    const cli_example *first_steps;
    const cli_topic *topics;
    const cli_command *const *commands; /* in the order of the overview; NULL ends the list */
    const char *refusals;               /* what exit status 1 means, in a few words */
} cli_about;

extern const cli_about cli_program;

#endif
